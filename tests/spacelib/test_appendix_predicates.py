"""The tests of matrices and vectors that the Maple release has."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import symbol
from linkwise.spacelib.appendix import Mcheck, Miszero, viszero
from linkwise.spacelib.constants import NOTOK, OK
from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.transform import transform
from support.messages import unnamed

RNG = np.random.default_rng(24)


def test_position_and_rotation_matrices() -> None:
    R = rotation_x(0.3) @ rotation_z(-2.0)
    M = transform(R, [1.0, -2.0, 3.0])
    assert Mcheck(R) == Mcheck(M) == OK
    assert Mcheck(R.round(4)) == NOTOK
    assert Mcheck(R.round(4), 1e-3) == OK
    last = M.copy()
    last[3, 0] = 1e-9
    for bad in (
        -R,
        2 * R,
        R + 1e-5,
        M @ np.diag([1.0, 1.0, -1.0, 1.0]),
        last,
        np.zeros((4, 4)),
        np.diag([1.0, 1.0, 1.0, 2.0]),
    ):
        assert Mcheck(bad) == NOTOK
    batch = np.stack([M, -M, M])
    assert Mcheck(batch).tolist() == [OK, NOTOK, OK]
    assert Mcheck(batch[:, :3, :3]).tolist() == [OK, NOTOK, OK]


def test_position_matrices_of_symbols() -> None:
    q, x = sympy.symbols("q x", real=True)
    c, s = sympy.cos(q), sympy.sin(q)
    R = sympy.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    M = R.row_join(sympy.Matrix([x, 0, 0])).col_join(sympy.Matrix([[0, 0, 0, 1]]))
    assert Mcheck(R) == Mcheck(M) == OK
    assert Mcheck(R * x) == Mcheck(R * sympy.diag(1, 1, -1)) == Mcheck(M * sympy.diag(1, 1, 1, 2)) == NOTOK


def test_zeros() -> None:
    assert Miszero(np.zeros((2, 3))) == viszero(np.zeros(4)) == OK
    assert Miszero(np.zeros((2, 3)) + 1e-300) == viszero([0.0, -1e-300]) == NOTOK
    assert Miszero([[1e-9]], 1e-8) == viszero([-1e-9], 1e-8) == OK
    assert Miszero([[1e-7]], 1e-8) == viszero([-1e-7], 1e-8) == NOTOK
    assert Miszero(np.stack([np.zeros((2, 2)), np.eye(2)])).tolist() == [OK, NOTOK]
    assert viszero([[0.0, 0.0], [1.0, 0.0]]).tolist() == [OK, NOTOK]
    q = sympy.Symbol("q", real=True)
    one = sympy.sin(q) ** 2 + sympy.cos(q) ** 2
    assert Miszero([[0, one - 1]]) == viszero([one - 1, 0]) == OK
    assert Miszero([[0, one]]) == viszero([q, 0]) == NOTOK


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Mcheck(np.eye(2)), "Mcheck: A is of shape (2, 2); expected (..., 3, 3) or (..., 4, 4)"),
        (lambda: Mcheck(np.eye(3), -1.0), "Mcheck: tolerance is -1.0; expected a number of 0 or more"),
        (lambda: Miszero(np.zeros(3)), "Miszero: A is of shape (3,); expected a matrix (..., m, n)"),
        (lambda: Miszero(np.zeros((3, 3)), "x"), "Miszero: tolerance is 'x'; expected a number of 0 or more"),
        (lambda: viszero(0.0), "viszero: v is 0.0; expected a vector (..., n)"),
        (lambda: viszero([np.nan]), "viszero: v is nan at (0,); expected finite numbers"),
        (
            lambda: viszero([symbol("x")]),
            "viszero: whether a Linkwise expression is always zero is not known; expected numbers or SymPy symbols",
        ),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []
