"""The functions that only the C or the Maple release has."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib import appendix
from linkwise.spacelib.cardan import cardompt
from linkwise.spatial.rotation import skew

RNG = np.random.default_rng(25)
A, M, V, P = RNG.normal(size=(5, 3, 3)), RNG.normal(size=(5, 4, 4)), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 4))
P[:, 3] = 1.0
EPS = np.finfo(float).eps


def test_products() -> None:
    bound = 16 * EPS * max(np.abs(A).max(), np.abs(M).max()) * np.abs(V).max()
    assert np.abs(appendix.moltmv3(A, V) - np.einsum("nij,nj->ni", A, V)).max() <= bound
    assert np.abs(appendix.moltp(M, P) - np.einsum("nij,nj->ni", M, P)).max() <= 16 * EPS * np.abs(M).max() * np.abs(P).max()
    for k in range(5):
        assert np.array_equal(appendix.moltmv3(A, V)[k], appendix.moltmv3(A[k], V[k]))
        assert np.array_equal(appendix.moltp(M, P)[k], appendix.moltp(M[k], P[k, :3]))
    assert np.array_equal(appendix.rmoltv(V, 2.5), 2.5 * V)
    assert np.array_equal(appendix.rmoltv(V, P[:, 0])[3], P[3, 0] * V[3])


def test_constant_matrices_and_copies() -> None:
    assert np.array_equal(appendix.clear3(), np.zeros((3, 3)))
    assert np.array_equal(appendix.clear4(), np.zeros((4, 4)))
    assert np.array_equal(appendix.clearv3(), np.zeros(3))
    assert np.array_equal(appendix.idmat3(), np.eye(3))
    assert np.array_equal(appendix.idmat4(), np.eye(4))
    assert appendix.Origin.tolist() == [0.0, 0.0, 0.0, 1.0]
    for made, wanted in [(appendix.vcopy(V), V), (appendix.pcopy(P), P), (appendix.vect3(P), P[:, :3])]:
        assert np.array_equal(made, wanted)
        assert not np.shares_memory(made, wanted)
    assert np.array_equal(appendix.mcopy43(M), M[:, :3, :3])
    put = appendix.mcopy34(A[0], M)
    assert np.array_equal(put[:, :3, :3], np.stack([A[0]] * 5))
    assert np.array_equal(put[:, 3], M[:, 3])
    assert np.array_equal(put[:, :, 3], M[:, :, 3])


def test_symmetric_and_skew_parts() -> None:
    assert np.array_equal(appendix.n_simm(A), 0.5 * (A + A.swapaxes(1, 2)))
    assert np.array_equal(appendix.n_skew(M), 0.5 * (M - M.swapaxes(1, 2)))
    for function, sign in ((appendix.n_simm34, 1), (appendix.n_skew34, -1)):
        made = function(M)
        assert np.array_equal(made[:, :3, :3], 0.5 * (M[:, :3, :3] + sign * M[:, :3, :3].swapaxes(1, 2)))
        assert np.array_equal(made[:, 3], M[:, 3])
        assert np.array_equal(made[:, :, 3], M[:, :, 3])


def test_norm_remainder_and_machine_zeros() -> None:
    assert np.allclose(appendix.norm(M), np.sqrt((M * M).sum(axis=(1, 2))), rtol=8 * EPS, atol=0)
    assert appendix.norm([3.0, 4.0]) == appendix.norm([[3.0], [4.0]]) == 5.0
    assert appendix.fmod([7.5, -7.5, 7.5], [2.0, 2.0, -2.0]).tolist() == [1.5, -1.5, 1.5]
    assert 1.0 + appendix.zerom() > 1.0
    assert 1.0 + appendix.zerom() / 2 == 1.0
    assert np.float32(1.0) + np.float32(appendix.fzerom()) > np.float32(1.0)
    assert np.float32(1.0) + np.float32(appendix.fzerom() / 2) == np.float32(1.0)


def test_angular_acceleration_as_a_matrix() -> None:
    q, qp, qpp = V[:3]
    made = appendix.omegapto_matrix(q, qp, qpp, 0, 2, 1)
    assert np.array_equal(made, skew(cardompt(q, qp, qpp, 0, 2, 1)))


def test_matrix_to_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    appendix.printmat([[1.0, 2.0]])
    assert capsys.readouterr().out == "  1.0000  2.0000\n\n"


def test_symbols() -> None:
    x, y = sympy.symbols("x y", real=True)
    N = sympy.Matrix([[x, y, 0], [0, 1, 0], [0, 0, 1]])
    assert appendix.moltmv3(N, [1, 1, x]).tolist() == [x + y, 1, x]
    assert appendix.moltp(N.row_join(sympy.zeros(3, 1)).col_join(sympy.Matrix([[0, 0, 0, 1]])), [1, 1, x]).tolist() == [
        x + y,
        1,
        x,
        1,
    ]
    assert appendix.rmoltv([x, 0.5, 0], y).tolist() == [x * y, y / 2, 0]
    assert appendix.vect3([x, y, 0, 1]).tolist() == [x, y, 0]
    assert appendix.norm([[x, 0], [0, 2]]) == sympy.sqrt(x**2 + 4)
    assert appendix.n_skew(N).tolist() == [[0, y / 2, 0], [-y / 2, 0, 0], [0, 0, 0]]
    assert appendix.mcopy34(N, np.eye(4))[0].tolist() == [x, y, 0, 0]
    v = symbol("v")
    assert evaluate(list(appendix.moltmv3(np.eye(3), [v, 0.0, v * v])), {v: 3.0}) == [3.0, 0.0, 9.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: appendix.moltmv3(np.eye(4), V), "moltmv3: A is of shape (4, 4); expected a matrix (..., 3, 3)"),
        (
            lambda: appendix.moltp(np.eye(4), [1.0, 2.0, 3.0, 2.0]),
            "moltp: P is [1.0, 2.0, 3.0, 2.0]; expected a point (..., 3), or ",
        ),
        (
            lambda: appendix.mcopy34(np.eye(4), np.eye(4)),
            "mcopy34: A is of shape (4, 4) and B of shape (4, 4); expected (3, 3) and ",
        ),
        (lambda: appendix.n_simm34(np.eye(3)), "n_simm34: A is of shape (3, 3); expected (..., 4, 4)"),
        (lambda: appendix.fmod(1.0, [1.0, 0.0]), "fmod: y is 0; expected another number"),
        (lambda: appendix.fmod(sympy.Symbol("x"), 2.0), "fmod: a remainder is a number; expected numbers, not symbols"),
        (lambda: appendix.norm([np.nan]), "norm: A is nan at (0,); expected finite numbers"),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert str(caught.value).startswith(message)
