"""Velocity, acceleration and screw axis matrices: against the derivatives of the motions, and there and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import NULL4, ORIGIN, Pri, Rev, U, X, Y, Z
from linkwise.spacelib.position import dhtom, screwtom, traslat2
from linkwise.spacelib.programs.robscara import robscara
from linkwise.spacelib.transformations import mami
from linkwise.spacelib.velocity import (
    coriolis,
    gtom,
    gtomgapt,
    makel,
    makel2,
    vactowh2,
    vactowh3,
    veactowh,
    wtol,
    wtovel,
)
from linkwise.spatial.matrix_method import acceleration_matrix, velocity_matrix
from support.random_mechanisms import random_pose, random_rotation
from support.spacelib_figures import EPS, on_expressions, on_sympy, parts, random_points, same_bits

SMALL = 32 * EPS
"""Two dozen roundings of numbers of about 1."""


def scalars(rng: np.random.Generator, *batch: int) -> Any:
    made = rng.uniform(0.5, 1.5, batch)
    return made if batch else float(made)


def vectors(rng: np.random.Generator, *batch: int) -> np.ndarray:
    return rng.normal(size=(*batch, 3))


def velocities(rng: np.random.Generator, *batch: int) -> np.ndarray:
    if batch:
        return np.array([velocities(rng) for _ in range(*batch)])
    return np.asarray(velocity_matrix(rng.normal(size=3), rng.normal(size=3)))


def accelerations(rng: np.random.Generator, *batch: int) -> np.ndarray:
    if batch:
        return np.array([accelerations(rng) for _ in range(*batch)])
    return np.asarray(acceleration_matrix(*rng.normal(size=(3, 3))))


CASES: list[tuple[Any, ...]] = [
    (gtom, scalars, scalars, scalars),
    (gtomgapt, accelerations),
    (makel, Rev, vectors, scalars, random_points),
    (makel, Pri, vectors, scalars, random_points),
    (makel2, Rev, Y, scalars, random_points),
    (makel2, Pri, Z, scalars, random_points),
    (wtol, velocities),
    (wtovel, velocities),
    (veactowh, Rev, scalars, scalars),
    (vactowh2, Rev, X, scalars, scalars),
    (vactowh2, Pri, Y, scalars, scalars),
    (vactowh3, Rev, X, scalars, scalars, random_points),
    (coriolis, accelerations, accelerations, velocities, velocities),
]
every_function = pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)


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
            assert np.abs(found - value).max() <= 4 * SMALL * max(1.0, np.abs(value).max())


@pytest.mark.parametrize("a", [X, Y, Z])
@pytest.mark.parametrize("jtype", [Rev, Pri])
def test_velocity_and_acceleration_are_derivatives(jtype: int, a: int) -> None:
    """W = M' M^-1 and H = M'' M^-1 of the joint's motion, derived on symbols."""
    t = sympy.Symbol("t", real=True)
    q = sympy.Function("q", real=True)(t)
    place = [sympy.Rational(2, 5), sympy.Rational(1, 10), sympy.Rational(-3, 2)]
    u = [int(k == a) for k in range(3)]
    m = sympy.Matrix(screwtom(u, q, place, 0) if jtype == Rev else traslat2(a, q))
    w, h = vactowh3(jtype, a, q.diff(t), q.diff(t, 2), place)
    assert sympy.simplify(m.diff(t) - sympy.Matrix(w) * m) == sympy.zeros(4, 4)
    assert sympy.simplify(m.diff(t, 2) - sympy.Matrix(h) * m) == sympy.zeros(4, 4)


def test_screw_axis_is_the_derivative_of_the_screw() -> None:
    rng = np.random.default_rng(3)
    step = 1e-5
    for _ in range(20):
        u, point, pitch, q = rng.normal(size=3), random_points(rng), rng.normal(), rng.uniform(-3, 3)
        at = [screwtom(u, q + k * step, point, pitch * (q + k * step)) for k in (-1, 0, 1)]
        found = (at[2] - at[0]) / (2 * step) @ np.linalg.inv(at[1])
        # The third derivative of the motion is of the size of P, times step squared; rounding is divided by the step.
        assert np.abs(found - makel(Rev, u, pitch, point)).max() <= 4 * (step**2 + 8 * EPS * 10 / step)


def test_coriolis_of_two_joints() -> None:
    """H of one joint on another is the second derivative of the product of their motions."""
    t = sympy.Symbol("t", real=True)
    q, p = (sympy.Function(name, real=True)(t) for name in "qp")
    first, second = screwtom([0, 0, 1], q, [1, 0, 0], 0), screwtom([1, 0, 0], p, [0, 2, 0], 3 * p)
    m = sympy.Matrix(first) * sympy.Matrix(second)
    w0, h0 = vactowh3(Rev, Z, q.diff(t), q.diff(t, 2), [1, 0, 0])
    w1, h1 = vactowh3(Rev, X, p.diff(t), p.diff(t, 2), [0, 2, 0])
    slide = vactowh2(Pri, X, 3 * p.diff(t), 3 * p.diff(t, 2))
    h1, w1 = coriolis(h1, slide[1], w1, slide[0]), w1 + slide[0]
    w1, h1 = mami(w1, first), mami(h1, first)
    h = coriolis(h0, h1, w0, w1)
    assert sympy.simplify(m.diff(t, 2) - sympy.Matrix(h) * m) == sympy.zeros(4, 4)


def test_one_joint_in_three_ways() -> None:
    qp, qpp = np.random.default_rng(4).normal(size=(2, 30))
    for jtype in (Rev, Pri):
        for a, b in zip(veactowh(jtype, qp, qpp), vactowh2(jtype, Z, qp, qpp), strict=True):
            assert np.array_equal(a, b)
        for axis in (X, Y, Z):
            for a, b in zip(vactowh2(jtype, axis, qp, qpp), vactowh3(jtype, axis, qp, qpp, ORIGIN), strict=True):
                assert np.array_equal(a, b)
        assert all((part == 0).all() for part in vactowh2(jtype, U, qp, qpp))
        assert all((part == 0).all() for part in vactowh3(jtype, U, qp, qpp, [1, 2, 3]))
    far = vactowh3(Pri, X, qp, qpp, [1e6, 2.0, 3.0])
    assert all(np.array_equal(a, b) for a, b in zip(far, vactowh2(Pri, X, qp, qpp), strict=True))
    w, h = vactowh3(Rev, Y, qp, qpp, [1, 2, 3])
    assert np.abs(h - w @ w - vactowh3(Rev, Y, qpp, 0.0, [1, 2, 3])[0]).max() <= 8 * SMALL  # squares up to 9, times 3
    assert np.array_equal(gtomgapt(h), qpp[:, None] * [0, 1, 0])


def test_screw_axis_matrices() -> None:
    rng = np.random.default_rng(5)
    u, point = rng.normal(size=3), random_points(rng)
    axis = u / np.linalg.norm(u)
    for size in (1e-200, 1e-3, 1.0, 1e200):
        assert np.abs(makel(Rev, u * size, 0.5, point) - makel(Rev, axis, 0.5, point)).max() <= SMALL
        assert np.abs(makel(Pri, u * size, 0.5, point)[:3, 3] - axis).max() <= SMALL
    turn = makel(Rev, u, 0.5, point)
    on_axis = turn @ (point + np.append(3 * axis, 0))
    assert np.abs(on_axis[:3] - 0.5 * axis).max() <= SMALL * 4
    assert makel(Pri, u, 0.5, point).tolist() == makel(Pri, u, 7.0, ORIGIN).tolist()
    for a in (X, Y, Z):
        for jtype in (Rev, Pri):
            assert makel2(jtype, a, 0.5, point).tolist() == makel(jtype, np.eye(3)[a], 0.5, point).tolist()
    for jtype in (Rev, Pri):
        assert makel2(jtype, U, 0.5, point).tolist() == makel(jtype, [0, 0, 0], 0.5, point).tolist() == NULL4.tolist()


@pytest.mark.parametrize("size", [1e-180, 1e-9, 1.0, 1e9, 1e160])
def test_screw_of_a_velocity(size: float) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        axis, point = random_rotation(rng)[0], random_points(rng)
        omega, pitch = rng.uniform(0.5, 2) * size, rng.normal()
        w = omega * makel(Rev, axis, pitch, point)
        u, rate, vel, nearest = wtovel(w)
        assert np.abs(u - axis).max() <= SMALL
        assert abs(rate - omega) <= SMALL * omega
        assert abs(vel - pitch * omega) <= SMALL * omega * 4
        assert abs(nearest[:3] @ axis) <= SMALL * 4
        assert np.linalg.norm(np.cross(nearest[:3] - point[:3], axis)) <= SMALL * 8
        assert np.abs(wtol(w) - makel(Rev, axis, pitch, point)).max() <= SMALL
        assert np.abs(rate * makel(Rev, u, vel / rate, nearest) - w).max() <= SMALL * 8 * omega


def test_screw_of_a_translation() -> None:
    w = np.zeros((4, 4))
    w[:3, 3] = [0, 3, -4]
    u, omega, vel, point = wtovel(w)
    assert (u.tolist(), omega, vel, point.tolist()) == ([0, 0.6, -0.8], 0, 5, [0, 0, 0, 1])
    assert np.array_equal(wtol(w), w / 5)
    u, omega, vel, point = wtovel(NULL4)
    assert (u.tolist(), omega, vel, point.tolist()) == ([0, 0, 0], 0, 0, [0, 0, 0, 1])
    assert wtol(NULL4).tolist() == NULL4.tolist()
    many = np.stack([w, NULL4, makel(Rev, [0, 0, 2], -1.0, [1, 0, 0]) * 3])
    u, omega, vel, point = wtovel(many)
    assert u.tolist() == [[0, 0.6, -0.8], [0, 0, 0], [0, 0, 1]]
    assert (omega.tolist(), vel.tolist()) == ([0, 0, 3], [5, 0, -3])
    assert point.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 1]]


def test_screw_in_another_frame() -> None:
    rng = np.random.default_rng(7)
    m = random_pose(rng)
    u, point = rng.normal(size=3), random_points(rng)
    assert np.abs(mami(makel(Rev, u, 0.3, point), m) - makel(Rev, m[:3, :3] @ u, 0.3, m @ point)).max() <= SMALL * 4


def test_what_symbols_give() -> None:
    w, a, gx, h, t = sympy.symbols("w a gx h t", real=True)
    turning, pushed = veactowh(Rev, w, a)
    assert turning.tolist() == [[0, -w, 0, 0], [w, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert pushed.tolist() == [[-(w**2), -a, 0, 0], [a, -(w**2), 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert gtom(gx, 0, 0)[0].tolist() == [0, 0, 0, gx]
    x, y = sympy.symbols("x y", real=True)
    around = makel2(Rev, Z, h, [x, y, 0])
    assert around.tolist() == [[0, -1, 0, y], [1, 0, 0, -x], [0, 0, 0, h], [0, 0, 0, 0]]
    assert gtomgapt(pushed).tolist() == [0, 0, a]
    assert sympy.simplify(sympy.Matrix(wtol(around * w) - around * w / sympy.Abs(w))) == sympy.zeros(4, 4)
    u, omega, vel, point = wtovel(sympy.Matrix(around).subs(h, t))
    assert (u.tolist(), omega, vel, point.tolist()) == ([0, 0, 1], 1, t, [x, y, 0, 1])
    assert coriolis(pushed, pushed, turning, turning).tolist() == veactowh(Rev, 2 * w, 2 * a)[1].tolist()


def parallel_joints(rng: np.random.Generator, size: float, rate: float, coaxial: bool = False) -> tuple[Any, Any]:
    """W of the last of two to four parallel joints whose rates cancel, with its terms; offsets are of a size (m)."""
    M = screwtom(rng.normal(size=3), rng.uniform(-3, 3), rng.normal(size=3) * size, rng.normal() * size)
    rates = rng.normal(size=rng.integers(2, 5)) * rate
    rates[-1] = -rates[:-1].sum()
    terms = []
    for qp in rates:
        terms.append(mami(makel2(Rev, Z, 0.0, ORIGIN) * qp, M))
        offset = 0.0 if coaxial else rng.uniform(0.1, 1) * size
        M = M @ dhtom(Rev, 0.0, rng.uniform(-1, 1) * size, 0.0, offset, 0.0, rng.uniform(-3, 3))
    return sum(terms), np.array(terms)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("rate", [1e-3, 1.0, 1e3])
def test_rates_of_parallel_joints_cancel(size: float, rate: float) -> None:
    """What is left of the angular part is rounding, and no part of a screw: a translation, however long the links are."""
    rng = np.random.default_rng(8)
    made = [parallel_joints(rng, size, rate, coaxial=k % 5 == 4) for k in range(150)]
    W = np.array([w for w, _ in made])
    u, omega, vel, point = wtovel(W)
    assert (omega == 0).all()
    assert (point == [0, 0, 0, 1]).all()
    # The velocity is kept: the greatest term of each sum, a few roundings of it.
    kept = np.array([np.abs(terms[..., :3, 3]).max() for _, terms in made])
    assert (np.abs(u * vel[:, None] - W[:, :3, 3]).max(axis=1) <= 4 * EPS * kept).all()
    L = wtol(W)
    assert not L[:, :3, :3].any()
    assert (np.abs(L[:, :3, 3] - u) <= 4 * EPS).all()


def test_the_manuals_scara_with_opposite_rates() -> None:
    rng = np.random.default_rng(9)
    rates, angles = rng.uniform(-2, 2, 200), rng.uniform(-3, 3, (200, 3))
    for qp, q in zip(rates, angles, strict=True):
        u, omega, vel, _ = wtovel(robscara(q, [qp, -qp, 0.0]).W04)
        assert omega == 0
        # The gripper goes round the elbow of 0.33 m as the first arm turns.
        assert np.abs(u * vel - 0.33 * qp * np.array([-np.sin(q[0]), np.cos(q[0]), 0.0])).max() <= 16 * EPS


@pytest.mark.parametrize("size", [2.0**-20, 2.0**20, 1e-6, 1e6])
def test_a_screw_scales_with_lengths(size: float) -> None:
    """Slow and fast rotations about near axes are such at every scale; powers of two change no digit."""
    rng = np.random.default_rng(10)
    for _ in range(50):
        W = makel(Rev, rng.normal(size=3), rng.normal(), rng.normal(size=3)) * 10 ** rng.uniform(-8, 8)
        larger = W.copy()
        larger[:3, 3] *= size
        (u, omega, vel, point), scaled = wtovel(W), wtovel(larger)
        slack = 0.0 if np.log2(size) % 1 == 0 else 8 * EPS
        assert np.array_equal(scaled[0], u)
        assert scaled[1] == omega
        assert abs(scaled[2] - size * vel) <= slack * size * omega * 4
        assert np.abs(scaled[3][:3] - size * point[:3]).max() <= slack * size * 8


def test_the_last_row_of_a_large_matrix() -> None:
    """What an elimination leaves in the last row is a part of the greatest element; a row that counts is refused."""
    W = 1e12 * makel(Rev, [0, 0, 1], 0.0, [1, 0, 0])
    W[3] = 1e-4 * np.array([1, -1, 0, 1])
    assert wtovel(W)[1] == 1e12
    assert wtovel(np.stack([W, W]))[1].tolist() == [1e12] * 2
    small = W / 1e12
    small[3] = W[3]
    for wrong in (W + np.diag([0, 0, 0, 1.0]), np.stack([W, small])):
        with pytest.raises(ArgumentError, match="end in the row"):
            wtovel(wrong)


def test_what_is_no_rounding_turns() -> None:
    """A slow rotation without rounding, a block with few digits, and one whose axis is as far off as the sun."""
    slow = 1e-15 * makel(Rev, [0, 0, 1], 0.0, [3e6, 0, 0])  # a continent goes round its pole
    assert wtovel(slow)[1] == 1e-15
    assert wtol(slow)[1, 0] == 1.0
    coarse = np.array([[0, -1.52, 0, 0], [1.5, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    assert wtovel(coarse)[1] == 1.51
    W = 2e-7 * makel(Rev, [0, 0, 1], 0.0, [1.5e11, 0, 0])
    assert wtovel(W)[3].tolist() == [1.5e11, 0, 0, 1]
    assert wtovel(1e-200 * makel(Rev, [0, 0, 1], 0.0, [1, 0, 0]))[1] == 1e-200
    assert wtovel(1e200 * makel(Rev, [0, 0, 1], 0.0, [1, 0, 0]))[1] == 1e200


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gtom(0, 0, math.nan), "gtom: gz is nan; expected finite numbers"),
        (lambda: gtomgapt([1, 2, 3]), "gtomgapt: G is [1, 2, 3]; expected a matrix (..., 3, 3) or larger"),
        (lambda: makel(2, [0, 0, 1], 0, ORIGIN), "makel: jtype is 2; expected Rev (0) or Pri (1)"),
        (lambda: makel(Rev, [0, 0], 0, ORIGIN), "makel: u is [0, 0]; expected a vector (..., 3) or (..., 4)"),
        (lambda: makel2(Rev, 7, 0, ORIGIN), "makel2: a is 7; expected X (0), Y (1), Z (2) or U (3)"),
        (lambda: makel2(Rev, X, None, ORIGIN), "makel2: pitch holds None; expected a real number"),
        (
            lambda: wtovel(np.ones((4, 4)) - np.diag([0, 0, 0, 1])),
            "wtovel: W does not end in the row 0 0 0 0; expected a matrix W, H or L (..., 4, 4)",
        ),
        (
            lambda: wtol([np.zeros((4, 4)), np.diag([1.0, 0, 0, 0])]),
            "wtol: the 3x3 block of W is no angular velocity: its symmetric part is 0.1 of its skew-symmetric part or more,"
            " at (1,) of the batch",
        ),
        (lambda: wtol(np.eye(3)), "wtol: W is of shape (3, 3); expected a matrix W, H or L (..., 4, 4)"),
        (lambda: wtovel(np.full((4, 4), math.inf)), "wtovel: W is inf at (0, 0); expected finite numbers"),
        (lambda: veactowh(True, 1, 1), "veactowh: jtype is True; expected Rev (0) or Pri (1)"),
        (lambda: vactowh2(Rev, "Z", 1, 1), "vactowh2: a is Z; expected X (0), Y (1), Z (2) or U (3)"),
        (
            lambda: vactowh3(Rev, Z, 1, 1, [1, 2]),
            "vactowh3: O is [1, 2]; expected a point (..., 3), or (..., 4) that ends in 1",
        ),
        (
            lambda: coriolis(np.zeros((2, 4, 4)), NULL4, np.zeros((3, 4, 4)), NULL4),
            "coriolis: the batch shapes do not fit each other: H0 (2,), H1 (), W0 (3,), W1 ()",
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert str(error.value).replace("'", "") == message
