"""Cardan and Euler angles: both solutions, the lock, every layout, batches, symbols, and what is refused."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib.cardan import cardatol, cardatom, cardator, cardtowp, inva, mtocarda, rtocarda
from linkwise.spacelib.constants import NOTOK, OK, ORIGIN, PIG, PIG_2, X, Y, Z
from support.messages import unnamed

SEQUENCES = [axes for axes in itertools.product(range(3), repeat=3) if axes[1] not in (axes[0], axes[2])]
SMALL = 3e-15
"""A dozen roundings of numbers up to 1."""
LOCK = 64 * np.finfo(float).eps

every_sequence = pytest.mark.parametrize("axes", SEQUENCES, ids=lambda axes: "".join("XYZ"[a] for a in axes))
SOME = [(X, Y, Z), (Z, X, Z), (Y, X, Z)]
some_sequences = pytest.mark.parametrize("axes", SOME, ids=["XYZ", "ZXZ", "YXZ"])


@pytest.fixture(autouse=True)
def _some_are_compiled(request: pytest.FixtureRequest) -> None:
    """Three sequences by machine code, the others by NumPy: each of the twelve is a kernel of its own in every function."""
    if "axes" in request.fixturenames and request.getfixturevalue("axes") not in SOME:
        request.getfixturevalue("uncompiled")


def sense(axes: tuple[int, int, int]) -> int:
    return 1 if axes[:2] in ((X, Y), (Y, Z), (Z, X)) else -1


@every_sequence
def test_rotation_and_angles(axes: tuple[int, int, int]) -> None:
    q = np.random.default_rng(1).uniform(-PIG, PIG, (200, 3))
    rotation = cardator(q, *axes)
    wanted = Rotation.from_euler("".join("XYZ"[a] for a in axes), q).as_matrix()
    assert np.abs(rotation - wanted).max() <= SMALL
    first, second = rtocarda(rotation, *axes)
    for found in (first, second):
        assert np.abs(cardator(found, *axes) - rotation).max() <= SMALL
        assert np.all((found > -PIG) & (found <= PIG))
    euler = axes[0] == axes[2]
    assert np.all(first[:, 1] >= 0) if euler else np.all(np.abs(first[:, 1]) <= PIG_2)
    mirrored = -first[:, 1] if euler else PIG - first[:, 1]
    apart = second - np.stack([first[:, 0] + PIG, mirrored, first[:, 2] + PIG], axis=1)
    assert np.abs(np.sin(apart / 2)).max() <= SMALL


@every_sequence
def test_near_the_lock_and_in_it(axes: tuple[int, int, int]) -> None:
    middles = (0.0, PIG) if axes[0] == axes[2] else (PIG_2, -PIG_2)
    distances = [0.0, *(sign * 10.0**power for power in range(-18, 0) for sign in (-1, 1))]
    q = np.array([[a, b + d, c] for a, c in ((0.3, 0.7), (-2.5, 3.0), (0.0, 0.0)) for b in middles for d in distances])
    rotation = cardator(q, *axes)
    first, second = rtocarda(rotation, *axes)
    locked = np.all(first == second, axis=1)
    assert np.all(first[locked, 2] == 0)
    apart = np.abs((q[:, 1] - middles[0] + PIG_2) % PIG - PIG_2)
    # A middle angle near pi is itself rounded, and so are the elements.
    assert np.all(locked[apart < LOCK - 2e-15])
    assert not np.any(locked[apart > LOCK + 2e-15])
    error = np.abs(cardator([first, second], *axes) - rotation).max(axis=(0, 2, 3))
    assert error[~locked].max() <= SMALL
    # In the lock c is put to 0: elements up to LOCK are turned by that angle.
    assert error[locked].max() <= 2 * LOCK + SMALL


@every_sequence
def test_the_lock_of_a_product(axes: tuple[int, int, int]) -> None:
    """A rotation that is locked but for the rounding of three products counts as locked."""
    rng = np.random.default_rng(2)
    middle = 0.0 if axes[0] == axes[2] else PIG_2
    for _ in range(10):
        parts = Rotation.random(2, random_state=rng).as_matrix()
        locked = cardator([rng.uniform(-3, 3), middle, rng.uniform(-3, 3)], *axes)
        rotation = parts[0] @ (parts[0].T @ locked @ parts[1]) @ parts[1].T
        first, second = rtocarda(rotation, *axes)
        assert np.array_equal(first, second)
        assert np.abs(cardator(first, *axes) - rotation).max() <= 2 * LOCK + SMALL


@pytest.mark.parametrize(
    ("axes", "matrix", "first", "second"),
    [
        ((X, Y, Z), np.eye(3), [0, 0, 0], [PIG, PIG, PIG]),
        ((X, Y, Z), np.diag([-1, 1, -1]), [PIG, 0, PIG], [0, PIG, 0]),
        ((Z, X, Z), np.eye(3), [0, 0, 0], [0, 0, 0]),
        ((Z, X, Z), np.diag([1, -1, -1]), [0, PIG, 0], [0, PIG, 0]),
        ((Z, X, Z), [[1, 0, 0], [0, 0, -1], [0, 1, 0]], [0, PIG_2, 0], [PIG, -PIG_2, PIG]),
        ((X, Y, Z), [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], [0, PIG_2, 0], [0, PIG_2, 0]),
        ((X, Y, Z), [[0, 0, -1], [0, -1, 0], [-1, 0, 0]], [PIG, -PIG_2, 0], [PIG, -PIG_2, 0]),
    ],
)
def test_whole_numbers(axes: Any, matrix: Any, first: Any, second: Any) -> None:
    """Quarter and half turns, exactly: the half turn is +pi, whatever the sign of a zero."""
    for sign in (1.0, -1.0):
        given = np.array(matrix, dtype=float)
        given[given == 0] = sign * 0.0
        found = rtocarda(given, *axes)
        assert np.array_equal(found, [first, second])


@every_sequence
def test_matrices_of_rates(axes: tuple[int, int, int]) -> None:
    """A has the axes of the turns as columns, B their products, Ai is the inverse of A; the third angle plays no part."""
    q = np.random.default_rng(3).uniform(-PIG, PIG, (50, 3))
    a, b = cardatol(q, *axes), cardtowp(q, *axes)
    one, two, three = (np.eye(3)[axis] for axis in axes)
    turned = [cardator(q * kept, *axes) for kept in ([1, 0, 0], [1, 1, 0])]
    assert np.abs(a - np.stack([np.broadcast_to(one, (50, 3)), turned[0] @ two, turned[1] @ three], axis=-1)).max() <= SMALL
    c1, c2, c3 = np.moveaxis(a, -1, 0)
    assert np.abs(b - np.stack([np.cross(c2, c3), np.cross(c1, c3), np.cross(c1, c2)], axis=-1)).max() <= SMALL
    inverse, test = inva(q[:, 0], q[:, 1], sense(axes), *axes)
    assert np.array_equal(test, np.full(50, OK))
    size = np.abs(inverse).max(axis=(1, 2))
    assert (np.abs(inverse @ a - np.eye(3)).max(axis=(1, 2)) / size).max() <= SMALL
    assert np.array_equal(cardatol(q * [1, 1, 0], *axes), a)


def test_no_inverse_in_the_lock() -> None:
    inverse, test = inva(0.3, [0.0, 1e-15, 1e-13, PIG], 1, Z, X, Z)
    assert test.tolist() == [NOTOK, NOTOK, OK, NOTOK]
    assert not inverse[[0, 1, 3]].any()
    assert inverse[2].any()
    inverse, test = inva(0.3, -PIG_2, -1, Y, X, Z)
    assert test == NOTOK
    assert isinstance(test, int)
    assert np.array_equal(inverse, np.zeros((3, 3)))


def test_zeros_around() -> None:
    q = [0.1, 0.2, 0.3]
    made = cardtowp(q, X, Z, Y, 4)
    assert np.abs(made - np.pad(cardtowp(q, X, Z, Y, 3), (0, 1))).max() <= SMALL
    assert not made[3].any()
    assert not made[:, 3].any()
    assert np.array_equal(cardtowp(q, X, Z, Y), cardtowp(q, X, Z, Y, 3))


def test_position_matrices() -> None:
    q, point = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    made = cardatom(q, X, Z, Y, point)
    assert np.abs(made[:3, :3] - cardator(q, X, Z, Y)).max() <= SMALL
    assert made[:, 3].tolist() == [1.0, 2.0, 3.0, 1.0]
    assert made[3].tolist() == [0.0, 0.0, 0.0, 1.0]
    for matrix in (made, made[:3, :3]):
        assert np.abs(np.array(mtocarda(made, X, Z, Y)) - rtocarda(matrix, X, Z, Y)).max() <= SMALL


def test_layouts() -> None:
    wanted = cardatom(np.array([1.0, 2.0, 3.0]), X, Y, Z, ORIGIN)
    for q, point in (([1, 2, 3], [0, 0, 0]), ([[1], [2], [3]], [[0], [0], [0], [1]]), ((1, 2.0, 3), np.zeros((3, 1)))):
        assert np.array_equal(cardatom(q, X, Y, Z, point), wanted)
    assert np.array_equal(cardatom(k=np.int64(Z), j=Y, i=X, O=ORIGIN, q=[1, 2, 3]), wanted)


@some_sequences
def test_batches_are_loops(axes: tuple[int, int, int]) -> None:
    """Bit for bit, and broadcast over each other."""
    rng = np.random.default_rng(4)
    q, points = rng.uniform(-3, 3, (13, 3)), rng.uniform(-3, 3, (5, 1, 3))
    made = cardatom(q, *axes, points)
    assert made.shape == (5, 13, 4, 4)
    assert np.array_equal(made, [[cardatom(one, *axes, point[0]) for one in q] for point in points])
    for function, given in ((cardator, q), (cardatol, q), (cardtowp, q)):
        assert np.array_equal(function(given, *axes), [function(one, *axes) for one in given])
    first, second = mtocarda(made, *axes)
    assert np.array_equal(first[2], [mtocarda(one, *axes)[0] for one in made[2]])
    assert np.array_equal(second[2], [mtocarda(one, *axes)[1] for one in made[2]])
    inverse, _ = inva(q[:, 0], q[:, 1], sense(axes), *axes)
    assert np.array_equal(inverse, [inva(one[0], one[1], sense(axes), *axes)[0] for one in q])


def test_formulas_on_symbols() -> None:
    """What people would write: no cases, no decimal numbers."""
    a, b, c, x, y, z = sympy.symbols("a b c x y z", real=True)
    turn = sympy.Matrix([[1, 0, 0], [0, sympy.cos(a), -sympy.sin(a)], [0, sympy.sin(a), sympy.cos(a)]])
    turn = turn * sympy.Matrix([[sympy.cos(b), 0, sympy.sin(b)], [0, 1, 0], [-sympy.sin(b), 0, sympy.cos(b)]])
    turn = turn * sympy.Matrix([[sympy.cos(c), -sympy.sin(c), 0], [sympy.sin(c), sympy.cos(c), 0], [0, 0, 1]])
    q = [a, b, c]
    assert sympy.simplify(sympy.Matrix(cardator(q, X, Y, Z)) - turn) == sympy.zeros(3)
    made = sympy.Matrix(cardatom(q, X, Y, Z, [x, y, z]))
    assert sympy.simplify(made[:3, :3] - turn) == sympy.zeros(3)
    assert list(made[:, 3]) == [x, y, z, 1]
    axes = [sympy.Matrix([1, 0, 0]), sympy.Matrix([0, sympy.cos(a), sympy.sin(a)]), turn[:, 2]]
    rates = sympy.Matrix.hstack(*axes)
    assert sympy.simplify(sympy.Matrix(cardatol(q, X, Y, Z)) - rates) == sympy.zeros(3)
    inverse, test = inva(a, b, 1, X, Y, Z)
    assert test == OK
    assert sympy.simplify(sympy.Matrix(inverse) * rates) == sympy.eye(3)
    products = sympy.Matrix.hstack(axes[1].cross(axes[2]), axes[0].cross(axes[2]), axes[0].cross(axes[1]))
    assert sympy.simplify(sympy.Matrix(cardtowp(q, X, Y, Z)) - products) == sympy.zeros(3)
    m = np.array(sympy.symbols("m:3(:3)", real=True)).reshape(3, 3)
    first, second = rtocarda(m, Z, X, Z)
    sine = sympy.sqrt(1 - m[2, 2] ** 2)
    assert list(first) == [sympy.atan2(m[0, 2], -m[1, 2]), sympy.atan2(sine, m[2, 2]), sympy.atan2(m[2, 0], m[2, 1])]
    assert list(second) == [sympy.atan2(-m[0, 2], m[1, 2]), sympy.atan2(-sine, m[2, 2]), sympy.atan2(-m[2, 0], -m[2, 1])]


@some_sequences
def test_symbols_and_expressions_have_the_numbers(axes: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(5)
    q, point = np.array([0.4, 0.7, -2.0]), rng.uniform(-1, 1, 3)
    m = cardatom(q, *axes, point)
    cases: list[tuple[Any, list[Any]]] = [
        (lambda q: cardator(q, *axes), [q]),
        (lambda q, o: cardatom(q, *axes, o), [q, point]),
        (lambda q: cardatol(q, *axes), [q]),
        (lambda q: cardtowp(q, *axes), [q]),
        (lambda q: cardtowp(q, *axes, 4), [q]),
        (lambda q: inva(q[0], q[1], sense(axes), *axes)[0], [q]),
        (lambda r: np.array(rtocarda(r, *axes)), [m[:3, :3]]),
        (lambda r: np.array(mtocarda(r, *axes)), [m]),
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
                found = np.array([float(entry.subs(dict(zip(letters, values, strict=True)))) for entry in made.ravel()])
            assert np.abs(found - wanted.ravel()).max() <= 2 * SMALL


AXES = "expected 'X (0)', 'Y (1)' or 'Z (2)'"
NEIGHBOURS = "expected axes whose neighbours differ, such as X, Y, Z or Z, X, Z"
TRIPLE = "expected three numbers (..., 3), one for each angle"
NO_ROTATION = "the 3x3 block is not a rotation: R'R is off the identity by 0.1 or more, or the determinant is negative"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cardator([1, 2, 3], X, X, Z), f"i, j, k are X, X, Z; {NEIGHBOURS}"),
        (lambda: rtocarda(np.eye(3), X, Z, Z), f"i, j, k are X, Z, Z; {NEIGHBOURS}"),
        (lambda: inva(0.1, 0.2, 1, Y, Y, Y), f"i, j, k are Y, Y, Y; {NEIGHBOURS}"),
        (lambda: cardator(sympy.symbols("a b c"), Z, Z, X), f"i, j, k are Z, Z, X; {NEIGHBOURS}"),
        (lambda: cardator([1, 2, 3], X, Y, 3), f"cardator: k is 3; {AXES}"),
        (lambda: cardatom([1, 2, 3], -1, Y, Z, ORIGIN), f"cardatom: i is -1; {AXES}"),
        (lambda: cardatol([1, 2, 3], X, "Y", Z), f"cardatol: j is 'Y'; {AXES}"),
        (lambda: cardator([1, 2], X, Y, Z), f"cardator: q is [1, 2]; {TRIPLE}"),
        (lambda: cardator([1, 2, 3, 1], X, Y, Z), f"cardator: q is [1, 2, 3, 1]; {TRIPLE}"),
        (lambda: cardtowp(np.zeros((3, 2)), X, Y, Z), f"cardtowp: q is of shape (3, 2); {TRIPLE}"),
        (lambda: cardtowp([1, 2, 3], X, Y, Z, 5), "cardtowp: dim is 5; expected '3' or '4'"),
        (lambda: cardator([1, math.nan, 3], X, Y, Z), "cardator: q is nan at (1,); expected finite numbers"),
        (lambda: inva(0.1, math.inf, 1, X, Y, Z), "inva: beta is inf; expected finite numbers"),
        (lambda: inva(0.1, 0.2, 1, Y, X, Z), "inva: sig is 1; expected -1 for i, j = Y, X"),
        (lambda: inva(0.1, 0.2, 2, X, Y, Z), "inva: sig is 2; expected '1' or '-1'"),
        (lambda: mtocarda(np.eye(3), X, Y, Z), "mtocarda: m is of shape (3, 3); expected a position matrix (..., 4, 4)"),
        (
            lambda: rtocarda([[1, 0], [0, 1]], X, Y, Z),
            "rtocarda: R is [[1, 0], [0, 1]]; expected a matrix (..., 3, 3) or larger",
        ),
        (lambda: rtocarda(np.diag([1, 1, -1]), X, Y, Z), f"rtocarda: {NO_ROTATION}"),
        (lambda: rtocarda(np.zeros((3, 3)), X, Y, Z), f"rtocarda: {NO_ROTATION}"),
        (lambda: mtocarda(np.diag([1.05, 1.05, 1.05, 1]), X, Y, Z), f"mtocarda: {NO_ROTATION}"),
        (
            lambda: mtocarda([np.eye(4), np.diag([1e200, 1e200, 1e200, 1])], X, Y, Z),
            f"mtocarda: {NO_ROTATION}, at (1,) of the batch",
        ),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []


def test_two_digits_pass() -> None:
    """A matrix as it stands in print is a rotation for this purpose."""
    q = np.random.default_rng(6).uniform(-1.2, 1.2, (500, 3))
    first, _ = rtocarda(cardator(q, X, Y, Z).round(2), X, Y, Z)
    # Half a unit of the second digit in two elements, each over a cosine of at least cos(1.2).
    assert np.abs(first - q).max() <= 2 * 0.005 / math.cos(1.2)
