"""Change of frame: the four rules, there and back, general and singular matrices, position matrices of symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib.constants import UNIT4, Rev, X, Y, Z
from linkwise.spacelib.exact import is_position
from linkwise.spacelib.inertia import PseDot, actom, jtoj
from linkwise.spacelib.position import rotat24, screwtom
from linkwise.spacelib.transformations import invers, mami, mamt, miam, miamit
from linkwise.spacelib.velocity import vactowh3
from support.messages import unnamed
from support.random_mechanisms import random_pose
from support.spacelib_figures import EPS, on_expressions, on_sympy, same_bits

SMALL = 64 * EPS
"""Some dozens of roundings of numbers of about 1."""

RULES: dict[Any, Any] = {
    mami: lambda a, m, i: m @ a @ i,
    miam: lambda a, m, i: i @ a @ m,
    miamit: lambda a, m, i: i @ a @ i.swapaxes(-1, -2),
    mamt: lambda a, m, i: m @ a @ m.swapaxes(-1, -2),
}
every_rule = pytest.mark.parametrize("function", list(RULES), ids=lambda function: function.__name__)


@every_rule
def test_the_name_is_the_rule(function: Any) -> None:
    rng = np.random.default_rng(1)
    a, m = rng.normal(size=(20, 4, 4)), np.array([random_pose(rng) for _ in range(20)])
    assert np.abs(function(a, m) - RULES[function](a, m, invers(m))).max() <= SMALL
    for n in (1, 2, 3, 6, 20):  # any matrix that is far from singular
        a, m = rng.normal(size=(n, n)), np.eye(n) + 0.2 * rng.normal(size=(n, n)) / n
        assert np.abs(function(a, m) - RULES[function](a, m, np.linalg.inv(m))).max() <= SMALL * n * 4


@every_rule
def test_a_batch_is_a_loop(function: Any) -> None:
    rng = np.random.default_rng(2)
    a, m = rng.normal(size=(17, 4, 4)), np.array([random_pose(rng) for _ in range(17)])
    assert same_bits(function(a, m), [function(*pair) for pair in zip(a, m, strict=True)])
    assert same_bits(function(a, m[0]), [function(one, m[0]) for one in a])
    assert function(a[:, None], m).shape == (17, 17, 4, 4)


def test_there_and_back() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, m = rng.normal(size=(4, 4)), random_pose(rng)
        assert np.abs(miam(mami(a, m), m) - a).max() <= SMALL
        assert np.abs(miamit(mamt(a, m), m) - a).max() <= SMALL
        assert np.abs(invers(m) @ m - UNIT4).max() <= SMALL
        assert np.array_equal(invers(invers(m))[:3, :3], m[:3, :3])


def test_power_is_the_same_in_every_frame() -> None:
    rng = np.random.default_rng(4)
    w, _ = vactowh3(Rev, X, 1.5, 0.0, rng.normal(size=3))
    f, m = actom(*rng.normal(size=6)), random_pose(rng)
    assert PseDot(mami(w, m), mamt(f, m)) == pytest.approx(PseDot(w, f), abs=SMALL * 8)
    j = jtoj(2, 1, 1, 1, 0, 0, 0, 0.1, 0.2, 0.3)
    moved = mamt(j, m)
    assert np.abs(moved[:3, 3] - 2 * (m @ [0.1, 0.2, 0.3, 1])[:3]).max() <= SMALL


def test_far_away_frames_are_not_singular() -> None:
    """Lengths in small units make a large last column; that is no reason to refuse, and costs only its own digits."""
    rng = np.random.default_rng(5)
    m = random_pose(rng)
    w, _ = vactowh3(Rev, X, 1.5, 0.0, rng.normal(size=3))
    for far in (1e3, 1e6, 1e12):
        m[:3, 3] = far * rng.normal(size=3)
        assert np.abs(mami(w, m) - m @ w @ invers(m)).max() <= SMALL * far * 4
    scaled = np.diag([1e-150, 1.0, 1e150, 1.0])
    assert np.array_equal(mami(np.diag([1.0, 2.0, 3.0, 4.0]), scaled), np.diag([1.0, 2.0, 3.0, 4.0]))


@every_rule
def test_symbols(function: Any) -> None:
    rng = np.random.default_rng(6)
    a, m = rng.normal(size=(4, 4)), random_pose(rng)
    assert np.abs(on_expressions(function, a, m)[0] - function(a, m)).max() <= 8 * SMALL
    a, m = rng.normal(size=(3, 3)), np.eye(3) + 0.3 * rng.normal(size=(3, 3))
    for on_symbols in (on_sympy, on_expressions):
        assert np.abs(on_symbols(function, a, m)[0] - function(a, m)).max() <= 8 * SMALL


def test_inverse_on_symbols() -> None:
    m = random_pose(np.random.default_rng(7))
    for on_symbols in (on_sympy, on_expressions):
        assert np.abs(on_symbols(invers, m)[0] - invers(m)).max() <= SMALL


def test_a_position_matrix_of_symbols_has_its_plain_inverse() -> None:
    t = sympy.Symbol("t", real=True)
    q = sympy.Function("q", real=True)(t)
    a, b = sympy.symbols("a b", real=True)
    w, h = vactowh3(Rev, Z, q.diff(t), q.diff(t, 2), [0, 0, 0])
    m = rotat24(Z, q, [a, b, 0])
    assert is_position(m)
    back = miam(np.array(sympy.eye(4).tolist(), dtype=object), m)
    assert sympy.simplify(sympy.Matrix(back)) == sympy.eye(4)
    assert not any(item.has(sympy.Pow) and item.as_numer_denom()[1] != 1 for item in invers(m).ravel())
    there, _ = vactowh3(Rev, Z, q.diff(t), q.diff(t, 2), [a, b, 0])
    assert sympy.simplify(sympy.Matrix(mami(w, m) - there)) == sympy.zeros(4, 4)
    assert sympy.simplify(sympy.Matrix(miam(mami(h, m), m) - h)) == sympy.zeros(4, 4)
    assert all(item.as_numer_denom()[1] == 1 for item in mami(w, m).ravel())  # no determinant is divided by
    # Exact numbers stay exact.
    quarter = [[0, -1, 0, sympy.sqrt(2)], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    assert mami(w, quarter)[0].tolist() == [0, -q.diff(t), 0, 2 * q.diff(t)]
    x, y = symbol("x"), symbol("y")
    ours = rotat24(Z, x, [1.0, y, 0.0])
    assert is_position(ours)
    turning, _ = vactowh3(Rev, Z, y, 0.0, [0, 0, 0])
    found = evaluate(list(mami(turning, ours).ravel()), {x: 0.7, y: 1.5})
    numbers = mami(vactowh3(Rev, Z, 1.5, 0.0, [0, 0, 0])[0], rotat24(Z, 0.7, [1.0, 1.5, 0.0]))
    assert np.abs(np.reshape(found, (4, 4)) - numbers).max() <= SMALL


@pytest.mark.parametrize(
    "change",
    [
        lambda m, s: m.__setitem__((3, 0), s),  # not affine
        lambda m, s: m.__setitem__((3, 3), 2),
        lambda m, s: m.__setitem__((0, 0), s),  # not orthogonal
        lambda m, s: m.__setitem__((slice(0, 3), 2), -m[:3, 2]),  # a reflection
    ],
)
def test_what_is_no_position_matrix_of_symbols(change: Any) -> None:
    for s in (sympy.Symbol("s"), symbol("s")):
        m = rotat24(Z, s, [1, 2, 3])
        assert is_position(m)
        change(m, s)
        assert not is_position(m)
    assert not is_position(rotat24(Z, sympy.Symbol("s"), [1, 2, 3])[:3, :3])


def test_a_general_matrix_of_symbols() -> None:
    a, b, c, d = sympy.symbols("a b c d")
    m = [[a, b], [c, d]]
    made = miam(m, m)
    assert sympy.simplify(sympy.Matrix(made) - sympy.Matrix(m)) == sympy.zeros(2, 2)
    assert miam([[1, 0], [0, 2]], [[a, 0], [0, b]]).tolist() == [[1, 0], [0, 2]]


SINGULAR = np.arange(16.0).reshape(4, 4)
ALWAYS_SINGULAR = "mami: M is singular: its determinant is identically zero"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mami(UNIT4, SINGULAR), "mami: M is singular"),
        (lambda: miam(UNIT4, np.zeros((4, 4))), "miam: M is singular"),
        (lambda: miamit(UNIT4, [UNIT4, SINGULAR]), "miamit: M is singular, at (1,) of the batch"),
        (lambda: miamit(UNIT4, [UNIT4, UNIT4 * 0]), "miamit: M is singular, at (1,) of the batch"),
        (
            lambda: mami(np.eye(3), UNIT4),
            "mami: the shapes are A1 (3, 3), M (4, 4); expected (n, n) and (n, n)",
        ),
        (
            lambda: mamt(np.zeros((2, 4, 4)), np.zeros((3, 4, 4))),
            "mamt: the batch shapes do not fit each other: A1 (2,), M (3,)",
        ),
        (lambda: miam(np.ones((2, 3)), UNIT4), "miam: A1 is of shape (2, 3); expected a square matrix (..., n, n)"),
        (lambda: mamt(UNIT4, UNIT4 * np.nan), "mamt: M is nan at (0, 0); expected finite numbers"),
        (
            lambda: mami(np.eye(2), np.full((2, 2), sympy.Symbol("a"))),
            "mami: M is singular: its determinant is identically zero",
        ),
        (lambda: mami(np.eye(2), np.full((2, 2), symbol("a"))), "mami: M is singular: its determinant is identically zero"),
        (lambda: invers(np.eye(3)), "invers: m is of shape (3, 3); expected a position matrix (..., 4, 4)"),
        (
            lambda: invers(np.array([[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]).T),
            "invers: m does not end in the row 0 0 0 1; expected a position matrix (..., 4, 4)",
        ),
        (
            lambda: invers(np.diag([2.0, 2.0, 2.0, 1.0])),
            "invers: the 3x3 block is not a rotation: R'R is off the identity by 0.1 or more, or the determinant "
            "is negative",
        ),
        (
            lambda: mami([np.eye(2)] * 2, np.full((2, 2), sympy.Symbol("a"))),
            "mami: A1 has the shape (2, 2, 2); symbols are taken one at a time, no batch",
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert unnamed(error.value, message) == []


def test_the_displacement_between_two_frames_in_either() -> None:
    """A screw displacement seen from another frame has its axis and point moved."""
    rng = np.random.default_rng(8)
    m, u, point = random_pose(rng), rng.normal(size=3), np.append(rng.normal(size=3), 1.0)
    there = screwtom(m[:3, :3] @ u, 0.8, m @ point, 0.3)
    assert np.abs(mami(screwtom(u, 0.8, point, 0.3), m) - there).max() <= SMALL


def test_position_matrices_of_any_size_and_what_is_near_one() -> None:
    """By minors: to rounding, also for an origin as far as 1e20, where elimination calls the matrix singular."""
    rng = np.random.default_rng(12)
    for far in (1e-20, 1.0, 1e20):
        m = rotat24(Z, 0.7, [far, -2 * far, 3 * far]) @ rotat24(X, 0.4, [0, 0, 0])
        back = miam(np.eye(4), m) - np.eye(4)
        assert np.abs(back[:3, :3]).max() <= 4 * EPS
        assert np.abs(back[:3, 3]).max() <= 16 * EPS * far
    m = rotat24(Y, 1.1, [1.0, 2.0, 3.0])
    m[:3, :3] += rng.uniform(-0.02, 0.02, (3, 3))
    a = rng.normal(size=(4, 4))
    wanted = m @ a @ np.linalg.inv(m)
    assert np.abs(mami(a, m) - wanted).max() <= 32 * EPS * np.abs(wanted).max()


def test_a_batch_of_positions_and_others_is_a_loop() -> None:
    rng = np.random.default_rng(13)
    m = np.stack([rotat24(X, 0.3, [1, 2, 3]), rng.normal(size=(4, 4)), np.eye(4), np.diag([1.0, 1.0, 1.0, 2.0])])
    a = rng.normal(size=(4, 4, 4))
    for rule in (mami, miam, miamit):
        assert same_bits(rule(a, m), [rule(one, other) for one, other in zip(a, m, strict=True)])
    m[1, 2] = m[1, 0]
    with pytest.raises(ArgumentError, match=r"^mami: M is singular, at \(1,\) of the batch$"):
        mami(a, m)
