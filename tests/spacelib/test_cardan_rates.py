"""Rates of Cardan and Euler angles: exact derivatives, both solutions, batches, symbols, and what is refused."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib.cardan import (
    cardatog,
    cardatoh,
    cardatom,
    cardator,
    cardatow,
    cardompt,
    cardtome,
    cardtoom,
    htocarda,
    wtocarda,
)
from linkwise.spacelib.constants import ORIGIN, PIG, PIG_2, X, Y, Z
from linkwise.spacelib.position import dhtom, screwtom
from linkwise.spacelib.transformations import mami
from linkwise.spacelib.velocity import makel2
from support.messages import unnamed

SEQUENCES = [axes for axes in itertools.product(range(3), repeat=3) if axes[1] not in (axes[0], axes[2])]
SMALL = 3e-15
"""A dozen roundings of numbers up to 1."""

every_sequence = pytest.mark.parametrize("axes", SEQUENCES, ids=lambda axes: "".join("XYZ"[a] for a in axes))
SOME = [(X, Y, Z), (Z, X, Z), (Y, X, Z)]
some_sequences = pytest.mark.parametrize("axes", SOME, ids=["XYZ", "ZXZ", "YXZ"])


@pytest.fixture(autouse=True)
def _some_are_compiled(request: pytest.FixtureRequest) -> None:
    """Three sequences by machine code, the others by NumPy: each of the twelve is a kernel of its own in every function."""
    if "axes" in request.fixturenames and request.getfixturevalue("axes") not in SOME:
        request.getfixturevalue("uncompiled")


def drawn(axes: tuple[int, int, int], seed: int, *shape: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles at least half a radian away from the lock, rates and second derivatives."""
    q, qp, qpp = np.random.default_rng(seed).uniform(-1, 1, (3, *shape, 3))
    if axes[0] == axes[2]:
        q[..., 1] += PIG_2
    return q, qp, qpp


def crossed(v: np.ndarray) -> np.ndarray:
    """The matrices (..., 3, 3) of vector products."""
    return np.moveaxis(np.cross(v[..., None, :], np.eye(3)), -1, -2)


def turn(axis: int, angle: Any) -> sympy.Matrix:
    """A rotation about one axis, on symbols."""
    made = sympy.eye(3)
    one, two = (axis + 1) % 3, (axis + 2) % 3
    made[one, one] = made[two, two] = sympy.cos(angle)
    made[two, one] = sympy.sin(angle)
    made[one, two] = -sympy.sin(angle)
    return made


@every_sequence
def test_rates_are_derivatives(axes: tuple[int, int, int]) -> None:
    """Omega = R' R^t and G = R'' R^t, from the exact derivatives of the product of three turns."""
    t = sympy.Symbol("t", real=True)
    q, qp, qpp = drawn(axes, 1)
    angles = [a + b * t + c * t**2 / 2 for a, b, c in zip(q.tolist(), qp.tolist(), qpp.tolist(), strict=True)]
    moving = turn(axes[0], angles[0]) * turn(axes[1], angles[1]) * turn(axes[2], angles[2])
    now, first, second = (np.array(moving.diff(t, order).subs(t, 0), dtype=float) for order in (0, 1, 2))
    omega, alpha = cardtoom(q, qp, *axes), cardompt(q, qp, qpp, *axes)
    # Elements of the second derivative are sums of up to 30 products of rates up to 1.
    assert np.abs(crossed(omega) - first @ now.T).max() <= 2 * SMALL
    assert np.abs(cardtome(q, qp, *axes) - first @ now.T).max() <= 2 * SMALL
    assert np.abs(cardatog(q, qp, qpp, *axes) - second @ now.T).max() <= 10 * SMALL
    assert np.abs(crossed(alpha) + crossed(omega) @ crossed(omega) - second @ now.T).max() <= 10 * SMALL


@every_sequence
def test_there_and_back(axes: tuple[int, int, int]) -> None:
    """Both solutions have the motion that was given; one of them is where it came from."""
    q, qp, qpp = drawn(axes, 2, 40)
    point = np.random.default_rng(3).uniform(-1, 1, (40, 3))
    m, w, h = cardatom(q, *axes, point), cardatow(q, qp, *axes, point), cardatoh(q, qp, qpp, *axes, point)
    q1, q2, qp1, qp2, qpp1, qpp2 = htocarda(m, w, h, *axes)
    assert np.abs(np.array(wtocarda(m, w, *axes)) - [q1, qp1, q2, qp2]).max() <= 2 * SMALL
    # The inverse of A has elements up to 2, and stands three times in a row.
    bound = 40 * SMALL
    for found, rates, seconds in ((q1, qp1, qpp1), (q2, qp2, qpp2)):
        assert np.abs(cardator(found, *axes) - m[:, :3, :3]).max() <= SMALL
        assert np.abs(cardtome(found, rates, *axes) - w[:, :3, :3]).max() <= bound
        assert np.abs(cardatog(found, rates, seconds, *axes) - h[:, :3, :3]).max() <= bound
    assert np.abs(np.concatenate([q1 - q, qp1 - qp, qpp1 - qpp])).max() <= bound
    assert np.array_equal(qp2, qp1 * [1, -1, 1])
    assert np.array_equal(qpp2, qpp1 * [1, -1, 1])


@every_sequence
def test_the_point_at_rest(axes: tuple[int, int, int]) -> None:
    q, qp, qpp = drawn(axes, 4, 20)
    point = np.append(np.random.default_rng(5).uniform(-1, 1, (20, 3)), np.ones((20, 1)), axis=1)
    w, h = cardatow(q, qp, *axes, point), cardatoh(q, qp, qpp, *axes, point)
    for made, block in ((w, cardtome(q, qp, *axes)), (h, cardatog(q, qp, qpp, *axes))):
        assert np.abs(made[:, :3, :3] - block).max() <= SMALL
        assert not made[:, 3].any()
        assert np.abs(made @ point[..., None]).max() <= 4 * SMALL  # elements of H are up to 10


def test_both_calls_for_the_angular_velocity() -> None:
    q, qp = [10, 5, 12], [0, 2, 1]
    wanted = cardtome(q, qp, Z, Y, X)
    assert np.abs(wanted - crossed(cardtoom(q, qp, Z, Y, X))).max() <= SMALL
    assert np.array_equal(cardtome(q, qp, [7, 8, 9], Z, Y, X), wanted)
    assert np.array_equal(cardtome([[10], [5], [12]], np.reshape(qp, (3, 1)), Z, Y, X), wanted)


@some_sequences
def test_batches_are_loops(axes: tuple[int, int, int]) -> None:
    """Bit for bit, and broadcast over each other."""
    q, qp, qpp = drawn(axes, 6, 11)
    points = np.random.default_rng(7).uniform(-1, 1, (3, 1, 3))
    for function, given in ((cardtoom, (q, qp)), (cardtome, (q, qp)), (cardompt, (q, qp, qpp)), (cardatog, (q, qp, qpp))):
        made = function(*given, *axes)
        assert np.array_equal(made, [function(*one, *axes) for one in zip(*given, strict=True)])
    w, h = cardatow(q, qp, *axes, points), cardatoh(q, qp, qpp, *axes, points)
    assert w.shape == h.shape == (3, 11, 4, 4)
    assert np.array_equal(w[1], [cardatow(*one, *axes, points[1, 0]) for one in zip(q, qp, strict=True)])
    assert np.array_equal(h[2], [cardatoh(*one, *axes, points[2, 0]) for one in zip(q, qp, qpp, strict=True)])
    m = cardatom(q, *axes, ORIGIN)
    found = htocarda(m, w, h, *axes)
    assert found[0].shape == (3, 11, 3)
    assert np.array_equal(
        [part[1] for part in found], np.swapaxes([htocarda(*g, *axes) for g in zip(m, w[1], h[1], strict=True)], 0, 1)
    )
    found = wtocarda(m, w[0], *axes)
    assert np.array_equal(found, np.swapaxes([wtocarda(*g, *axes) for g in zip(m, w[0], strict=True)], 0, 1))


def is_zero(expression: Any, angles: list[Any]) -> bool:
    """Whether it is nothing once the squares of sines are written as 1 less those of cosines."""
    for angle in angles:
        sine, square = sympy.sin(angle), 1 - sympy.cos(angle) ** 2
        expression = sympy.expand(expression).replace(
            lambda part, s=sine: part.is_Pow and part.base == s,
            lambda part, s=sine, c=square: c ** (part.exp // 2) * s ** (part.exp % 2),
        )
    return bool(sympy.expand(expression) == 0)


def test_formulas_on_symbols() -> None:
    """Nautical angles as functions of time: the exact derivatives."""
    t = sympy.Symbol("t", real=True)
    q = [sympy.Function(name, real=True)(t) for name in "abc"]
    qp, qpp = [angle.diff(t) for angle in q], [angle.diff(t, 2) for angle in q]
    moving = turn(Z, q[0]) * turn(Y, q[1]) * turn(X, q[2])
    spin = moving.diff(t) * moving.T
    grown = spin.diff(t) + spin * spin
    omega = sympy.Matrix(cardtoom(q, qp, Z, Y, X))
    point = sympy.Matrix(sympy.symbols("x y z", real=True))
    for found, wanted in (
        (cardtome(q, qp, Z, Y, X), spin),
        (omega, sympy.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])),
        (cardompt(q, qp, qpp, Z, Y, X), omega.diff(t)),
        (cardatog(q, qp, qpp, Z, Y, X), grown),
        (cardatow(q, qp, Z, Y, X, list(point))[:3], spin.row_join(-spin * point)),
        (cardatoh(q, qp, qpp, Z, Y, X, list(point))[:3], grown.row_join(-grown * point)),
    ):
        assert all(is_zero(entry, q) for entry in sympy.Matrix(found) - wanted)


@some_sequences
def test_symbols_and_expressions_have_the_numbers(axes: tuple[int, int, int]) -> None:
    q, qp, qpp = (drawn(axes, 8)[k] for k in range(3))
    point = np.array([0.3, -0.6, 0.9])
    m, w, h = cardatom(q, *axes, point), cardatow(q, qp, *axes, point), cardatoh(q, qp, qpp, *axes, point)
    cases: list[tuple[Any, list[Any]]] = [
        (lambda q, qp: cardtoom(q, qp, *axes), [q, qp]),
        (lambda q, qp: cardtome(q, qp, *axes), [q, qp]),
        (lambda q, qp, qpp: cardompt(q, qp, qpp, *axes), [q, qp, qpp]),
        (lambda q, qp, qpp: cardatog(q, qp, qpp, *axes), [q, qp, qpp]),
        (lambda q, qp, o: cardatow(q, qp, *axes, o), [q, qp, point]),
        (lambda q, qp, qpp, o: cardatoh(q, qp, qpp, *axes, o), [q, qp, qpp, point]),
        (lambda m, w: np.array(wtocarda(m, w, *axes)), [m, w]),
        (lambda m, w, h: np.array(htocarda(m, w, h, *axes)), [m, w, h]),
    ]
    for function, given in cases:
        wanted = function(*given)
        values = [float(value) for array in given for value in array.ravel()]
        for make in (lambda name: sympy.Symbol(name, real=True), symbol):
            letters = [make(f"v{k}") for k in range(len(values))]
            parts = iter(letters)
            made = np.asarray(
                function(*[np.array([next(parts) for _ in array.ravel()]).reshape(array.shape) for array in given])
            )
            if make is symbol:
                found = np.array(evaluate(list(made.ravel()), dict(zip(letters, values, strict=True))))
            else:
                found = np.array(sympy.lambdify(letters, list(made.ravel()), "math")(*values))
            assert np.abs(found - wanted.ravel()).max() <= 40 * SMALL  # as there and back


NEIGHBOURS = "expected axes whose neighbours differ, such as X, Y, Z or Z, X, Z"
LOCKED = (
    "the angles are locked: the cosine (Cardan) or sine (Euler) of the middle one is zero, and the rates are undetermined"
)
NO_ROTATION = "the 3x3 block is not a rotation: R'R is off the identity by 0.1 or more, or the determinant is negative"
COUNT = "expected q, qp, i, j, k or q, qp, qpp, i, j, k"
Q, W0 = [0.1, 0.2, 0.3], np.zeros((4, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cardtoom(Q, Q, X, X, Z), f"i, j, k are X, X, Z; {NEIGHBOURS}"),
        (lambda: wtocarda(np.eye(4), W0, X, Y, Y), f"i, j, k are X, Y, Y; {NEIGHBOURS}"),
        (lambda: cardatow(Q, Q, X, Y, 3, ORIGIN), "cardatow: k is 3; expected 'X (0)', 'Y (1)' or 'Z (2)'"),
        (lambda: cardtome(Q, Q, X, Y, 3), "cardtome: k is 3; expected 'X (0)', 'Y (1)' or 'Z (2)'"),
        (lambda: cardtome(Q, Q, X, Y), f"cardtome: the number of arguments is 4; {COUNT}"),
        (lambda: cardtome(Q, Q, Q, X, Y, Z, 3), f"cardtome: the number of arguments is 7; {COUNT}"),
        (
            lambda: cardtome(Q, Q, [1, 2], X, Y, Z),
            "cardtome: qpp is [1, 2]; expected three numbers (..., 3), one for each angle",
        ),
        (
            lambda: cardatog(Q, [1, 2], Q, X, Y, Z),
            "cardatog: qp is [1, 2]; expected three numbers (..., 3), one for each angle",
        ),
        (lambda: cardompt(Q, Q, [0, math.nan, 0], X, Y, Z), "cardompt: qpp is nan at (1,); expected finite numbers"),
        (
            lambda: cardatoh(Q, Q, Q, X, Y, Z, [1, 2, 3, 0]),
            "cardatoh: O is [1, 2, 3, 0]; expected a point (..., 3), or (..., 4) that ends in 1",
        ),
        (
            lambda: cardtoom(np.zeros((2, 3)), np.zeros((4, 3)), X, Y, Z),
            "cardtoom: the batch shapes do not fit each other: q (2,), qp (4,)",
        ),
        (lambda: wtocarda(np.eye(3), W0, X, Y, Z), "wtocarda: m is of shape (3, 3); expected a position matrix (..., 4, 4)"),
        (lambda: wtocarda(np.diag([2, 2, 2, 1]), W0, X, Y, Z), f"wtocarda: {NO_ROTATION}"),
        (lambda: htocarda(np.diag([-1, -1, -1, 1]), W0, W0, Z, X, Z), f"htocarda: {NO_ROTATION}"),
        (
            lambda: wtocarda(np.eye(4), np.eye(4), X, Y, Z),
            "wtocarda: W does not end in the row 0 0 0 0; expected a matrix W, H or L (..., 4, 4)",
        ),
        (
            lambda: wtocarda(np.eye(4), np.diag([1.0, 1.0, 1.0, 0.0]), X, Y, Z),
            "wtocarda: the 3x3 block of W is no angular velocity: its symmetric part is 0.1 of its skew-symmetric part"
            " or more",
        ),
        (lambda: wtocarda(np.eye(4), W0, Z, X, Z), f"wtocarda: {LOCKED}"),
        (lambda: htocarda(np.diag([1, -1, -1, 1]), W0, W0, Z, X, Z), f"htocarda: {LOCKED}"),
        (lambda: wtocarda(cardatom([0.3, PIG_2, 0.7], X, Y, Z, ORIGIN), W0, X, Y, Z), f"wtocarda: {LOCKED}"),
        (
            lambda: htocarda(cardatom([Q, [0.3, -PIG_2, 0.7]], Y, X, Z, ORIGIN), W0, W0, Y, X, Z),
            f"htocarda: {LOCKED}, at (1,) of the batch",
        ),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []


@every_sequence
def test_up_to_the_lock(axes: tuple[int, int, int]) -> None:
    """Rates lose digits in proportion to the distance, and are refused before there are none."""
    middle = 0.0 if axes[0] == axes[2] else PIG_2
    for power in range(-17, 0):
        distance = 10.0**power
        q, qp = [0.4, middle + distance, -1.3], [0.5, 0.6, 0.7]
        m, w = cardatom(q, *axes, ORIGIN), cardatow(q, qp, *axes, ORIGIN)
        if distance < 64 * np.finfo(float).eps:
            with pytest.raises(ArgumentError, match="the angles are locked"):
                wtocarda(m, w, *axes)
            continue
        solutions = wtocarda(m, w, *axes)
        error = min(np.abs(solutions[k] - qp).max() for k in (1, 3))
        assert error <= 4 * SMALL / distance
        assert abs(PIG - abs(solutions[0][0] - solutions[2][0])) <= SMALL


@some_sequences
def test_rates_of_parallel_joints_cancel(axes: tuple[int, int, int]) -> None:
    """The angular part of W is rounding: the angles have no rates but such, and are not refused."""
    rng = np.random.default_rng(12)
    for k in range(100):
        m = cardatom(drawn(axes, k)[0], *axes, rng.normal(size=4)[:3])
        turn = screwtom(rng.normal(size=3), rng.uniform(-3, 3), rng.normal(size=3), 0.0)
        first = mami(makel2(0, Z, 0.0, ORIGIN), turn)
        W = first - mami(makel2(0, Z, 0.0, ORIGIN), turn @ dhtom(0, 0.3, 0.2, 0.0, (k % 2) * 0.5, 0.0, k))
        _, rates, _, others = wtocarda(m, W, *axes)
        # Rates of 1 rad/s cancel to a few units in the last place; the lock is half a radian off.
        assert np.abs([rates, others]).max() <= 16 * SMALL
        seconds = htocarda(m, W, W @ W, *axes)[4:]
        assert np.abs(seconds).max() <= 16 * SMALL


def test_the_arguments_of_cardtome_have_names() -> None:
    q, qp, qpp = drawn((X, Y, Z), 3)
    wanted = cardtome(q, qp, X, Y, Z).tolist()
    for call in (
        lambda: cardtome(q, qp, i=X, j=Y, k=Z),
        lambda: cardtome(q=q, qp=qp, i=X, k=Z, j=Y),
        lambda: cardtome(q, qp, X, k=Z, j=Y),
        lambda: cardtome(q, qp, qpp, X, Y, Z),
        lambda: cardtome(q, qp, qpp, i=X, j=Y, k=Z),
        lambda: cardtome(q, qp, qpp=qpp, i=X, j=Y, k=Z),
    ):
        assert call().tolist() == wanted
    with pytest.raises(TypeError, match=r"^cardtome"):
        cardtome(q, qp, X, Y, a=Z)
    with pytest.raises(ArgumentError, match="number of arguments is 4"):
        cardtome(q, qp, i=X, j=Y)
    with pytest.raises(ArgumentError, match=r"^cardtome: qpp is"):
        cardtome(q, qp, qpp=[1.0], i=X, j=Y, k=Z)


def test_what_is_no_velocity() -> None:
    m = cardatom([0.1, 0.2, 0.3], X, Y, Z, ORIGIN)
    for wrong in (np.diag([1.0, 1.0, 1.0, 0.0]), np.diag([1e-8, 0.0, 0.0, 0.0])):
        for call in (lambda W: wtocarda(m, W, X, Y, Z), lambda W: htocarda(m, W, W, X, Y, Z)):
            with pytest.raises(ArgumentError, match="no angular velocity"):
                call(wrong)
