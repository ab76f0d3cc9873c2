"""Position and rotation matrices, and their screws: inverse pairs, SciPy, full precision at both ends, refusals."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import ORIGIN, PIG, PIG_2, Pri, Rev, U, X, Y, Z
from linkwise.spacelib.position import (
    dhtom,
    dhtomstd,
    extract,
    mtoscrew,
    rotat,
    rotat2,
    rotat24,
    rotat34,
    screwtom,
    traslat,
    traslat2,
    traslat24,
)
from linkwise.spacelib.transformations import invers
from support.random_mechanisms import random_pose, random_rotation
from support.spacelib_figures import EPS, on_expressions, on_sympy, parts, random_points, same_bits

SMALL = 16 * EPS
"""A dozen roundings of numbers up to 1."""


def vectors(rng: np.random.Generator, *batch: int) -> np.ndarray:
    return rng.normal(size=(*batch, 3))


def angles(rng: np.random.Generator, *batch: int) -> Any:
    made = rng.uniform(0.3, 2.5, batch)
    return made if batch else float(made)


def poses(rng: np.random.Generator, *batch: int) -> np.ndarray:
    return np.array([random_pose(rng) for _ in range(*batch)]) if batch else random_pose(rng)


CASES: list[tuple[Any, ...]] = [
    (dhtom, Rev, *[angles] * 6),
    (dhtom, Pri, *[angles] * 6),
    (dhtomstd, *[angles] * 4),
    (extract, poses),
    (mtoscrew, poses),
    (screwtom, vectors, angles, random_points, angles),
    (rotat, vectors, angles),
    *((rotat2, a, angles) for a in (X, Y, Z, U)),
    (rotat24, Y, angles, random_points),
    (rotat34, X, angles, random_points),
    (traslat, vectors, angles),
    (traslat2, Z, angles),
    (traslat24, Y, angles, random_points),
]
every_function = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case[0].__name__}-{case[1] if case[1] in range(4) else ''}"
)


def arguments(case: tuple[Any, ...], rng: np.random.Generator, *batch: int) -> list[Any]:
    return [make(rng, *batch) if callable(make) else make for make in case[1:]]


@every_function
def test_a_batch_is_a_loop(case: tuple[Any, ...]) -> None:
    given = arguments(case, np.random.default_rng(1), 17)
    loop = [case[0](*(arg[k] if isinstance(arg, np.ndarray) else arg for arg in given)) for k in range(17)]
    assert same_bits(case[0](*given), loop)


@every_function
def test_symbols(case: tuple[Any, ...]) -> None:
    given = arguments(case, np.random.default_rng(2))
    wanted = parts(case[0](*given))
    for on_symbols in (on_sympy, on_expressions):
        for found, value in zip(on_symbols(case[0], *given), wanted, strict=True):
            assert np.abs(found - value).max() <= 64 * EPS  # some dozens of roundings of numbers up to 3


def test_rotations_are_scipys() -> None:
    rng = np.random.default_rng(3)
    u, phi = vectors(rng, 100), rng.uniform(-7, 7, 100)
    axis = u / np.linalg.norm(u, axis=1, keepdims=True)
    assert np.abs(rotat(u, phi) - Rotation.from_rotvec(axis * phi[:, None]).as_matrix()).max() <= SMALL * 7
    for a, name in ((X, "x"), (Y, "y"), (Z, "z")):
        assert np.abs(rotat2(a, phi) - Rotation.from_euler(name, phi[:, None]).as_matrix()).max() <= SMALL * 7
        assert np.abs(rotat2(a, phi) - rotat(np.eye(3)[a], phi)).max() <= SMALL
        assert np.array_equal(rotat24(a, phi, ORIGIN)[:, :3, :3], rotat2(a, phi))
    assert rotat2(U, 0.4).tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-3, 7.0, 1e200, 1e308])
def test_an_axis_may_have_any_length(size: float) -> None:
    assert rotat([0, 0, size], 0.7).tolist() == rotat([0, 0, 1], 0.7).tolist()
    assert np.abs(rotat([size, size, 0], 0.7) - rotat([1, 1, 0], 0.7)).max() <= SMALL
    assert traslat([0, size, 0], 2.0).tolist() == traslat2(Y, 2.0).tolist()
    assert screwtom([0, size, 0], 0.3, ORIGIN, 2.0)[:, U].tolist() == [0, 2, 0, 1]


def test_no_axis_is_no_motion() -> None:
    assert rotat([0, 0, 0], 1.0).tolist() == np.eye(3).tolist()
    assert traslat([0, 0, 0], 3.0).tolist() == np.eye(4).tolist()
    assert screwtom([0, 0, 0], 1.0, [1, 2, 3], 0.5).tolist() == np.eye(4).tolist()


def test_denavit_hartenberg_by_elementary_motions() -> None:
    rng = np.random.default_rng(4)
    theta, d, b, a, alpha, q = rng.uniform(-2, 2, (6, 50))
    for jtype in (Rev, Pri):
        turn, lift = (theta + q, d) if jtype == Rev else (theta, d + q)
        shifts = traslat2(Z, lift) @ traslat2(X, a) @ traslat2(Y, b)
        wanted = rotat24(Z, turn, ORIGIN) @ shifts @ rotat24(X, alpha, ORIGIN)
        assert np.abs(dhtom(jtype, theta, d, b, a, alpha, q) - wanted).max() <= SMALL * 4
    assert np.array_equal(dhtomstd(theta, d, a, alpha), dhtom(Rev, theta, d, 0.0, a, alpha, 0.0))
    assert np.array_equal(dhtomstd(0.1, d, a, alpha), dhtom(Pri, 0.1, 0.0, 0.0, a, alpha, d))


def test_put_then_turned_about_its_own_or_the_base_axis() -> None:
    rng = np.random.default_rng(5)
    place, phi = random_points(rng), 0.8
    shift = traslat24(U, 0.0, place)
    turn = rotat24(Y, phi, ORIGIN)
    assert np.abs(rotat24(Y, phi, place) - shift @ turn).max() <= SMALL
    assert np.abs(rotat34(Y, phi, place) - turn @ shift).max() <= SMALL
    assert rotat24(U, phi, place).tolist() == rotat34(U, phi, place).tolist() == shift.tolist()
    assert traslat24(X, 2.0, [1, 2, 3]).tolist() == (traslat2(X, 2.0) @ traslat24(U, 9.0, [1, 2, 3])).tolist()
    assert traslat2(U, 2.0).tolist() == np.eye(4).tolist()


def exact_rotation(u: np.ndarray, phi: float) -> tuple[np.ndarray, Any]:
    """The rotation to 40 digits, rounded once; and the unit axis."""
    with mpmath.workdps(40):
        axis = mpmath.matrix(u.tolist()) / mpmath.norm(mpmath.matrix(u.tolist()))
        x, y, z = axis
        tilde = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        c, s = mpmath.cos(mpmath.mpf(phi)), mpmath.sin(mpmath.mpf(phi))
        made = mpmath.eye(3) + s * tilde + (1 - c) * tilde * tilde
        return np.array(made.tolist(), dtype=float), np.array(axis.tolist(), dtype=float)[:, 0]


@pytest.mark.parametrize("phi", [1e-300, 1e-100, 1e-16, 1e-8, 1e-3, 1.0, 2.0943, 2.0945, 3.0])
@pytest.mark.parametrize("from_a_half_turn", [False, True])
def test_axis_and_angle_keep_all_digits(phi: float, from_a_half_turn: bool) -> None:
    if from_a_half_turn:
        phi = math.pi - max(phi, 2e-15)
    rng = np.random.default_rng(6)
    for _ in range(10):
        rotation, axis = exact_rotation(rng.normal(size=3), phi)
        u, found = extract(rotation)
        # Each element of the rotation is rounded: at a small angle in proportion to it, else by half an EPS of 1.
        assert abs(found - phi) <= 3 * EPS * min(phi, 1.0) + EPS * (phi > 1) * 4
        assert np.abs(u - axis).max() <= 3 * EPS


def test_extract_of_rotat() -> None:
    rng = np.random.default_rng(7)
    u, phi = vectors(rng, 300), rng.uniform(0, PIG, 300)
    axis, found = extract(rotat(u, phi))
    assert np.abs(found - phi).max() <= SMALL
    # What the elements are rounded by turns the axis by that, over the angle where it is small.
    error = np.abs(axis - u / np.linalg.norm(u, axis=1, keepdims=True)).max(axis=1)
    assert (error <= SMALL / np.minimum(phi, 1.0)).all()
    axis, found = extract(rotat(u, -phi))
    assert np.abs(rotat(axis, found) - rotat(u, -phi)).max() <= SMALL


def test_extract_at_the_ends() -> None:
    u, phi = extract(np.eye(3))
    assert (u.tolist(), phi) == ([0, 0, 0], 0)
    for axis in ([0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0.6, -0.8], [0.6, 0, 0.8], [1 / 3, -2 / 3, 2 / 3]):
        for sign in (1, -1):
            for half in (2 * np.outer(axis, axis) - np.eye(3), rotat(sign * np.array(axis), PIG)):
                u, phi = extract(half)
                assert phi == pytest.approx(PIG, abs=2 * EPS)
                assert np.abs(u - axis).max() <= 4 * EPS
    # Short of a half turn the sense of the axis is known.
    u, _ = extract(rotat([0, 0.6, -0.8], -(PIG - 1e-14)))
    assert np.abs(u - [0, -0.6, 0.8]).max() <= 4 * EPS


def test_only_the_block_counts() -> None:
    rng = np.random.default_rng(8)
    big = rng.normal(size=(5, 6))
    big[:3, :3] = rotat([1, 2, 2], 1.2)
    assert extract(big)[1] == extract(big[:3, :3])[1] == pytest.approx(1.2, abs=2 * EPS)


@pytest.mark.parametrize("phi", [1e-9, 1e-3, 0.5, 2.0, 3.1, math.pi - 1e-9])
def test_screw_there_and_back(phi: float) -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        u, point, h = random_rotation(rng)[0], random_points(rng), rng.normal()
        q = screwtom(u, phi, point, h)
        axis, angle, nearest, distance = mtoscrew(q)
        # The point is found from a displacement of the size of h + 1, over the angle.
        bound = SMALL * 4 * (1 + abs(h)) / min(phi, 1.0)
        assert abs(angle - phi) <= SMALL
        assert np.abs(axis - u).max() <= SMALL * 4
        assert abs(distance - h) <= SMALL * 16
        assert nearest[3] == 1
        assert abs(nearest[:3] @ axis) <= bound
        assert np.linalg.norm(np.cross(nearest[:3] - point[:3], u)) <= bound * 4
        again = screwtom(axis, angle, nearest, distance)
        assert np.abs(again - q).max() <= SMALL * 8 * (1 + abs(h))
        on_axis = point + np.append(0.7 * u, 0.0)
        assert np.abs(q @ on_axis - on_axis - np.append(h * u, 0)).max() <= SMALL * 4 * (1 + abs(h))


def test_screw_of_a_half_turn() -> None:
    u, phi, point, h = mtoscrew([[-1, 0, 0, 2], [0, -1, 0, 4], [0, 0, 1, 5], [0, 0, 0, 1]])
    assert (u.tolist(), phi, point.tolist(), h) == ([0, 0, 1], PIG, [1, 2, 0, 1], 5)


def test_screw_of_a_translation() -> None:
    u, phi, point, h = mtoscrew(traslat([0, 3, -4], 2.0))
    assert (u.tolist(), phi, point.tolist(), h) == ([0, 0.6, -0.8], 0, [0, 0, 0, 1], 2)
    u, phi, point, h = mtoscrew(np.eye(4))
    assert (u.tolist(), phi, point.tolist(), h) == ([0, 0, 0], 0, [0, 0, 0, 1], 0)
    rng = np.random.default_rng(10)
    for _ in range(50):  # rounding alone turns these
        m = random_pose(rng)
        q = m @ traslat([0, 3, -4], 2.0) @ invers(m)
        u, phi, point, h = mtoscrew(q)
        assert (phi, point.tolist()) == (0, [0, 0, 0, 1])
        assert np.abs(u * h - q[:3, 3]).max() <= SMALL
    # A small rotation without any rounding is one.
    q = np.eye(4)
    q[1, 0], q[0, 1], q[2, 3] = 1e-20, -1e-20, 3.0
    u, phi, point, h = mtoscrew(q)
    assert (u.tolist(), phi, point.tolist(), h) == ([0, 0, 1], 1e-20, [0, 0, 0, 1], 3)


def test_turns_that_cancel() -> None:
    """Two ways of a chain of parallel joints to one orientation differ by a translation; rounding alone turns."""
    rng = np.random.default_rng(14)
    for _ in range(200):
        axis, q = rng.normal(size=3), rng.uniform(-3, 3, (2, 4))
        q[1, 3] += q[0].sum() - q[1].sum()
        start = rotat24(X, rng.uniform(-3, 3), ORIGIN) @ screwtom(axis, 1.0, ORIGIN, 0.0)
        ends = [start, start]
        for k in range(4):
            ends = [end @ dhtom(Rev, 0.0, 0.1, 0.0, 0.3, 0.0, angle) for end, angle in zip(ends, q[:, k], strict=True)]
        Q = ends[0] @ invers(ends[1])
        u, phi, point, h = mtoscrew(Q)
        assert (phi, point.tolist()) == (0, [0, 0, 0, 1])
        assert np.abs(u * h - Q[:3, 3]).max() <= SMALL


def test_both_orders_of_screwtom() -> None:
    rng = np.random.default_rng(11)
    point, u = random_points(rng), vectors(rng)
    wanted = screwtom(u, 0.4, point, 0.3).tolist()
    column = point[:3, None]
    for last in ((0.3, point), (column, 0.3), (0.3, column), (point[:3].tolist(), 0.3), (0.3, tuple(point.tolist()))):
        assert screwtom(u, 0.4, *last).tolist() == wanted
    assert screwtom(u=u, phi=0.4, h=0.3, P=point).tolist() == wanted
    points, heights = random_points(rng, 5), rng.normal(size=5)
    assert np.array_equal(screwtom(u, 0.4, points, heights), screwtom(u, 0.4, heights, points))
    # Where both could be points it is the manual's order.
    assert screwtom(u, 0.4, point, np.full(4, 0.3)).tolist() == [wanted] * 4
    h, phi = sympy.symbols("h phi", real=True)
    assert screwtom([0, 0, 1], phi, h, [1, 2, 3]).tolist() == screwtom([0, 0, 1], phi, [1, 2, 3], h).tolist()


def test_layouts() -> None:
    for u in ([0, 0, 1], (0, 0, 1, 0), [[0], [0], [1]], np.array([[0], [0], [1], [0]])):
        assert rotat(u, 1).tolist() == rotat([0.0, 0.0, 1.0], 1.0).tolist()
    for place in ([1, 2, 3], (1, 2, 3, 1), [[1], [2], [3]], np.array([[1], [2], [3], [1]])):
        assert rotat24(Z, 0, place)[:, 3].tolist() == [1, 2, 3, 1]


def test_what_symbols_give() -> None:
    phi, a, b, h = sympy.symbols("phi a b h", real=True)
    c, s = sympy.cos(phi), sympy.sin(phi)
    turn = sympy.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    assert sympy.Matrix(rotat([0, 0, 1], phi)) == turn
    assert sympy.Matrix(rotat2(Z, phi)) == turn
    assert sympy.Matrix(rotat2(U, phi)) == sympy.eye(3)
    wanted = [[c, -s, 0, a], [s, c, 0, b], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert rotat24(Z, phi, [a, b, 0]).tolist() == wanted
    moved = turn * sympy.Matrix([a, b, 0])
    assert list(rotat34(Z, phi, [a, b, 0])[:3, 3]) == list(moved)
    assert traslat24(X, h, [a, b, 0])[:, 3].tolist() == [a + h, b, 0, 1]
    q = screwtom([0, 0, 1], phi, [a, b, 0], h)
    block = (sympy.eye(3) - turn) * sympy.Matrix([a, b, 0]) + sympy.Matrix([0, 0, h])
    assert sympy.simplify(sympy.Matrix(q[:3, 3]) - block) == sympy.zeros(3, 1)
    u, angle = extract(turn)
    assert sympy.simplify(u[2] - sympy.sign(s)) == 0 or u[2] == s / sympy.Abs(s)
    assert angle == sympy.atan2(sympy.Abs(s), c)
    p = sympy.symbols("p1:4", real=True)
    n = sympy.symbols("n1:4", real=True)
    size = sympy.sqrt(sum(k * k for k in n))
    tilde = sympy.Matrix([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]]) / size
    rodrigues = sympy.eye(3) + s * tilde + (1 - c) * tilde * tilde
    assert sympy.simplify(sympy.Matrix(rotat(n, phi)) - rodrigues) == sympy.zeros(3, 3)
    shift = (sympy.eye(3) - rodrigues) * sympy.Matrix(p) + h * sympy.Matrix(n) / size
    assert sympy.simplify(sympy.Matrix(screwtom(n, phi, p, h)[:3, 3]) - shift) == sympy.zeros(3, 1)


NO_ROTATION = "the 3x3 block is not a rotation: RR is off the identity by 0.1 or more, or the determinant is negative"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dhtom(2, 0, 0, 0, 0, 0, 0), "dhtom: jtype is 2; expected Rev (0) or Pri (1)"),
        (lambda: dhtomstd(0, math.nan, 0, 0), "dhtomstd: d is nan; expected finite numbers"),
        (lambda: extract(np.zeros((3, 3))), f"extract: {NO_ROTATION}"),
        (lambda: extract(-np.eye(3)), f"extract: {NO_ROTATION}"),
        (lambda: extract([np.eye(3), np.ones((3, 3))]), f"extract: {NO_ROTATION}, at (1,) of the batch"),
        (
            lambda: extract(np.ones((2, 2))),
            "extract: A is array([[1., 1.], [1., 1.]]); expected a matrix (..., 3, 3) or larger",
        ),
        (lambda: mtoscrew(np.diag([0.0, 0.0, 0.0, 1.0])), f"mtoscrew: {NO_ROTATION}"),
        (
            lambda: mtoscrew(traslat2(X, 1.0).T),
            "mtoscrew: Q does not end in the row 0 0 0 1; expected a position matrix (..., 4, 4)",
        ),
        (lambda: mtoscrew(np.eye(3)), "mtoscrew: Q is of shape (3, 3); expected a position matrix (..., 4, 4)"),
        (lambda: screwtom([1, 2], 0, ORIGIN, 0), "screwtom: u is [1, 2]; expected a vector (..., 3) or (..., 4)"),
        (
            lambda: screwtom([1, 0, 0], 0, 1.0, 2.0),
            "screwtom: P is 1.0; expected a point (..., 3), or (..., 4) that ends in 1",
        ),
        (lambda: rotat([1, 0, 0], [1.0, math.inf]), "rotat: phi is inf at (1,); expected finite numbers"),
        (lambda: rotat2(4, 0.1), "rotat2: a is 4; expected X (0), Y (1), Z (2) or U (3)"),
        (
            lambda: rotat24(X, 0.1, [1, 2, 3, 0]),
            "rotat24: O is [1, 2, 3, 0]; expected a point (..., 3), or (..., 4) that ends in 1",
        ),
        (lambda: rotat34(-1, 0.1, ORIGIN), "rotat34: a is -1; expected X (0), Y (1), Z (2) or U (3)"),
        (lambda: traslat([math.nan, 0, 0], 1), "traslat: u is nan at (0,); expected finite numbers"),
        (lambda: traslat2(X, "1"), "traslat2: h holds <U1; expected a real number"),
        (lambda: traslat24(1.5, 1, ORIGIN), "traslat24: a is 1.5; expected X (0), Y (1), Z (2) or U (3)"),
        (
            lambda: rotat2(3, 0.1),
            "rotat2: a is 3; expected X (0), Y (1) or Z (2), for axes count from 0; or the constant U for none",
        ),
        (lambda: rotat(np.ones((2, 3)), np.ones(3)), "rotat: the batch shapes do not fit each other: u (2,), phi (3,)"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert str(error.value).replace("'", "") == message


def test_a_rotation_printed_with_two_decimals_passes() -> None:
    rng = np.random.default_rng(12)
    for _ in range(50):
        rotation = random_rotation(rng)
        u, phi = extract(rotation.round(2))
        back = rotat(u, phi)
        assert np.abs(back - rotation).max() <= 0.05  # ten times what the decimals leave


def test_quarter_turns_are_exact_enough() -> None:
    assert np.abs(rotat2(X, PIG_2) - [[1, 0, 0], [0, 0, -1], [0, 1, 0]]).max() <= EPS
