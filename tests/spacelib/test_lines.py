"""Lines: made of points and vectors, feet of perpendiculars, and two lines in every relative position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib.constants import ORIGIN
from linkwise.spacelib.lines import intersec, line2p, linpvect, projponl
from support.messages import unnamed
from support.random_mechanisms import random_rotation
from support.spacelib_figures import (
    EPS,
    inner,
    lines,
    on_expressions,
    on_sympy,
    parts,
    random_lines,
    random_points,
    same_bits,
    unit,
)

OBLIQUE, CROSSING, PARALLEL, SAME = 1, 0, 2, -1
RESULTS = ("lmindist", "mindist", "pl", "I", "inttype")


def rigid(rng: np.random.Generator, *vectors: Any) -> list[np.ndarray]:
    """Vectors turned by one random rotation."""
    turn = random_rotation(rng)
    return [np.asarray(vector, dtype=float) @ turn.T for vector in vectors]


def two_lines(
    rng: np.random.Generator, kind: int, sine: float = 0.7, size: float = 1.0
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Two lines of a kind, given by random points and directions of any length, and what is known of them.

    For lines that are not parallel: the common normal, the middle of the common perpendicular, the gap.
    """
    along, across, normal = rigid(rng, *np.eye(3))
    middle = rng.uniform(-2, 2, 3)
    gap = size * rng.uniform(0.1, 2) if kind in (OBLIQUE, PARALLEL) else 0.0
    first = along
    if kind in (OBLIQUE, CROSSING):
        second = math.sqrt(1 - sine**2) * along + sine * across
        starts = middle - normal * gap / 2, middle + normal * gap / 2
    else:
        second = along
        starts = middle, middle + across * gap
    shifts, lengths, senses = rng.uniform(-2, 2, 2), 10 ** rng.uniform(-3, 3, 2), rng.choice([-1, 1], 2)
    made = [
        lines(start + shift * direction, scale * sense * direction)
        for start, shift, direction, scale, sense in zip(starts, shifts, (first, second), lengths, senses, strict=True)
    ]
    return made[0], made[1], {"normal": normal * senses.prod(), "middle": middle, "gap": gap, "across": across}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", [OBLIQUE, CROSSING])
@pytest.mark.parametrize("sine", [1.0, 0.7, 1e-2, 1e-4, 1e-6, 1e-8, 2e-9])
def test_lines_that_are_not_parallel(kind: int, sine: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    l1, l2, known = two_lines(rng, kind, sine)
    lmindist, mindist, pl, point, inttype = intersec(l1, l2)
    # Coordinates up to 5 m with a few roundings; over the sine for what two nearly parallel lines determine no better.
    near, far = 40 * EPS, 40 * EPS / sine
    assert inttype == kind
    assert type(inttype) is int
    assert np.abs(lmindist[:3, 1] - known["normal"]).max() <= far
    # Where the normal tilts, a part of the gap comes to lie in the plane of both directions.
    assert np.abs(point[:3] - known["middle"]).max() <= far + far * known["gap"] / sine
    assert (mindist == 0) if kind == CROSSING else abs(mindist - known["gap"]) <= far
    # The normal is at right angles to both lines, and the middle between both, however near to parallel they are.
    assert np.abs(inner(lmindist[:3, 1], [unit(l1[:3, 1]), unit(l2[:3, 1])])).max() <= 8 * EPS
    assert abs(np.linalg.norm(lmindist[:3, 1]) - 1) <= 4 * EPS
    gaps = [projponl(point, line)[1] for line in (l1, l2)]
    assert np.abs(np.array(gaps) - known["gap"] / 2).max() <= near * max(1, np.linalg.norm(point))
    assert np.array_equal(lmindist[:, 0], point)
    assert lmindist[3].tolist() == [1, 0]
    assert point[3] == 1
    assert np.array_equal(pl[:3], lmindist[:3, 1])
    assert abs(pl[3] + inner(pl[:3], point[:3])) <= near


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_parallel_lines(size: float, seed: int) -> None:
    l1, l2, known = two_lines(np.random.default_rng(seed), PARALLEL, size=size)
    lmindist, mindist, pl, point, inttype = intersec(l1, l2)
    bound = 40 * EPS / known["gap"]  # coordinates up to 4 m, as a direction over the gap
    assert inttype == PARALLEL
    assert abs(mindist - known["gap"]) <= 40 * EPS
    assert np.array_equal(lmindist[:, 0], l1[:, 0])
    assert np.abs(lmindist[:3, 1] - known["across"]).max() <= bound
    assert abs(inner(lmindist[:3, 1], unit(l1[:3, 1]))) <= 8 * EPS
    assert np.isnan(point).all()
    for line in (l1, l2):
        assert abs(inner(pl[:3], unit(line[:3, 1]))) <= 8 * EPS
        assert abs(inner(pl, line[:, 0])) <= 40 * EPS
    assert np.abs(pl[:3] - unit(np.cross(unit(l1[:3, 1]), known["across"]))).max() <= bound


@pytest.mark.parametrize("seed", range(20))
def test_the_same_line(seed: int) -> None:
    l1, l2, _ = two_lines(np.random.default_rng(seed), SAME)
    lmindist, mindist, pl, point, inttype = intersec(l1, l2)
    assert (inttype, mindist) == (SAME, 0.0)
    for part in (lmindist, pl, point):
        assert np.isnan(part).all()
    assert intersec(l1, l1)[4] == SAME


def test_the_order_of_the_lines() -> None:
    rng = np.random.default_rng(1)
    l1, l2 = random_lines(rng, 200), random_lines(rng, 200)
    there, back = intersec(l1, l2), intersec(l2, l1)
    sines = np.linalg.norm(np.cross(unit(l1[:, :3, 1]), unit(l2[:, :3, 1])), axis=-1)
    assert sines.min() > 0.05
    for k, sign in ((1, 1), (3, 1), (2, -1)):
        # The least sine is 0.05, and the points on the lines are up to 100 m away.
        assert np.abs(there[k] - sign * back[k]).max() <= 100 * 16 * EPS / 0.05
    assert np.abs(there[0][:, :3, 1] + back[0][:, :3, 1]).max() <= 16 * EPS / 0.05


def test_the_tolerance_on_the_angle() -> None:
    for tilt, crossing, gap in (
        (0.99e-9, SAME, 0.0),
        (1.01e-9, CROSSING, 0.0),
        (0.99e-9, PARALLEL, 0.5),
        (1.01e-9, OBLIQUE, 0.5),
    ):
        l1 = lines([0, 0, 0], [5, 0, 0])
        for l2 in (lines([0, 0, gap], [3, 3 * tilt, 0]), lines([0, 0, gap], [-0.01, 0.01 * tilt, 0])):
            _, mindist, _, _, inttype = intersec(l1, l2)
            assert (inttype, mindist) == (crossing, gap)


@pytest.mark.parametrize("angle", [1.0, 0.0])
def test_the_tolerance_on_the_distance(angle: float) -> None:
    l1 = lines([0, 0, 0], [1, 0, 0])
    for gap, apart in ((0.99e-9, False), (1.01e-9, True)):
        l2 = lines([2, 0, 2 * gap], [math.cos(angle), math.sin(angle), 0])
        _, mindist, _, _, inttype = intersec(l1, l2)
        near, far = (CROSSING, OBLIQUE) if angle else (SAME, PARALLEL)
        assert inttype == (far if apart else near)
        assert mindist == (2 * gap if apart else 0.0)
    # Not where only the coordinates are large, but their rounding is none.
    shift = lines([1000, 1000, 1000], [0, 0, 0]) - NOWHERE
    assert intersec(l1 + shift, lines([1000, 1000, 1000 + 1e-10], [math.cos(angle), math.sin(angle), 0]))[1] > 0


def test_far_lines_cross_within_their_rounding() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        l1, l2, _ = two_lines(rng, CROSSING)
        far = np.array([1e6, -2e6, 3e6, 0])
        l1[:, 0] += far
        l2[:, 0] += far
        assert intersec(l1, l2)[4] == CROSSING
    for sine in (1e-4, 1e-6, 1e-8):  # that cross a long way from their points
        for _ in range(50):
            along, across, _ = rigid(rng, *np.eye(3))
            l1 = lines(rng.uniform(-1, 1, 3), along)
            l2 = lines(l1[:3, 0] + across, math.sqrt(1 - sine**2) * along - sine * across)
            assert intersec(l1, l2)[4] == CROSSING
    l1 = lines([0.1 + 0.2, 1, 1], [1, 0, 0])
    assert intersec(l1, lines([0.3, 1, 1], [0, 1, 0]))[4] == CROSSING
    assert intersec(l1, lines([0.3, 1, 1], [0, 1, 1]))[4] == CROSSING


def test_a_batch_of_all_kinds_is_a_loop() -> None:
    rng = np.random.default_rng(3)
    kinds = [OBLIQUE, CROSSING, PARALLEL, SAME] * 5
    rng.shuffle(kinds)
    pairs = [two_lines(rng, kind)[:2] for kind in kinds]
    l1, l2 = (np.stack(side).reshape(4, 5, 4, 2) for side in zip(*pairs, strict=True))
    many = intersec(l1, l2)
    assert many[4].ravel().tolist() == kinds
    assert many[4].dtype == int
    assert [part.shape for part in many] == [(4, 5, 4, 2), (4, 5), (4, 5, 4), (4, 5, 4), (4, 5)]
    assert same_bits(tuple(part.reshape(20, *part.shape[2:]) for part in many), [intersec(*pair) for pair in pairs])
    one = intersec(l1[0, 0], l2)
    assert same_bits(tuple(part[1] for part in one), [intersec(l1[0, 0], l2[1, k]) for k in range(5)])


def test_lines_from_points_and_vectors() -> None:
    rng = np.random.default_rng(4)
    a, b = random_points(rng, 300), random_points(rng, 300)
    made = line2p(a, b)
    assert np.array_equal(made[..., 0], a)
    assert np.array_equal(made[:, 3, 1], np.zeros(300))
    assert np.abs(np.linalg.norm(made[:, :3, 1], axis=1) - 1).max() <= 4 * EPS
    assert projponl(b, made)[1].max() <= 16 * EPS * 5  # coordinates up to 5 m
    assert inner(made[:, :3, 1], (b - a)[:, :3]).min() > 0
    assert np.array_equal(linpvect(a, (b - a)[:, :3]), made)
    assert np.array_equal(linpvect(a, b - a), made)
    scaled = linpvect(a, 1e9 * (b - a))
    assert np.abs(scaled - made).max() <= 4 * EPS
    far = np.array([1e6, 0, 0])
    assert line2p(far, np.add(far, [0, 0, 1e-8]))[:3, 1].tolist() == [0, 0, 1]


def test_feet_of_perpendiculars() -> None:
    rng = np.random.default_rng(5)
    points, given = random_points(rng, 500), random_lines(rng, 500)
    foot, dist = projponl(points, given)
    size = 16 * EPS * 10  # coordinates up to 5 m, and as much again on the way along the line
    assert np.abs(inner(unit(given[:, :3, 1]), (foot - points)[:, :3])).max() <= size
    assert np.abs(np.cross(unit(given[:, :3, 1]), (foot - given[..., 0])[:, :3])).max() <= size
    assert np.abs(dist - np.linalg.norm(foot - points, axis=1)).max() <= size
    assert np.array_equal(foot[:, 3], np.ones(500))
    again, none = projponl(foot, given)
    assert np.abs(again - foot).max() <= size
    assert none.max() <= size
    for a, b in zip((foot, dist), projponl(given, points), strict=True):
        assert np.array_equal(a, b)
    # No other point of the line is nearer.
    for step in (-0.1, 0.1):
        other = foot[:, :3] + step * unit(given[:, :3, 1])
        assert (np.linalg.norm(other - points[:, :3], axis=1) > dist).all()


def test_both_orders_of_a_point_and_a_line() -> None:
    line = [[0, 2], [0, 0], [0, 0], [1, 0]]
    for point in ([5, 3, 4], [5, 3, 4, 1], [[5], [3], [4]], [[5], [3], [4], [1]], np.array([5.0, 3, 4, 1])):
        for call in ((point, line), (line, point), (np.array(line), point)):
            foot, dist = projponl(*call)
            assert (foot.tolist(), dist) == ([5, 0, 0, 1], 5.0)
    assert projponl(P1=[5, 3, 4], l=line)[1] == 5.0
    points = [[5, 3, 4], [6, 0, 0], [0, 0, 1], [0, 1, 0]]  # four points of three entries are no line
    assert projponl(line, points)[1].tolist() == projponl(points, line)[1].tolist() == [5.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("function", [line2p, linpvect, projponl])
def test_a_batch_is_a_loop(function: Any) -> None:
    rng = np.random.default_rng(6)
    args = [random_points(rng, 17), random_lines(rng, 17) if function is projponl else random_points(rng, 17)]
    assert same_bits(function(*args), [function(*(arg[k] for arg in args)) for k in range(17)])


@pytest.mark.parametrize("function", [line2p, linpvect, projponl, intersec])
@pytest.mark.parametrize("made", [on_sympy, on_expressions])
def test_symbols(function: Any, made: Any) -> None:
    rng = np.random.default_rng(7)
    second = random_points if function in (line2p, linpvect) else random_lines
    args = [random_lines(rng) if function is intersec else random_points(rng), second(rng)]
    for found, wanted in zip(made(function, *args), parts(function(*args)), strict=True):
        # A few dozen roundings of coordinates up to 5 m; SymPy multiplies out, with directions up to 1000 long.
        assert np.abs(found - wanted).max() <= 256 * EPS * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("kind", [OBLIQUE, CROSSING, PARALLEL, SAME])
def test_one_expression_serves_every_relative_position(kind: int) -> None:
    l1, l2, _ = two_lines(np.random.default_rng(8), kind)
    found = on_expressions(intersec, l1, l2)
    for got, wanted in zip(found, parts(intersec(l1, l2)), strict=True):
        known = ~np.isnan(wanted)
        # A compiled function rounds a product and a sum at once.
        assert np.allclose(got[known], wanted[known], rtol=64 * EPS, atol=64 * EPS)
    assert found[4] == kind


def test_constant_lines_with_a_symbol() -> None:
    h = symbol("h")
    l1 = [[0, 1], [0, 0], [0, 0], [1, 0]]
    results = intersec(l1, [[0, 1], [h, 0], [0, 0], [1, 0]])
    for value, kind in ((0.5, PARALLEL), (-0.5, PARALLEL), (0.0, SAME)):
        assert list(evaluate([results[1], results[4]], {h: value})) == [abs(value), kind]
    results = intersec(l1, [[2, 0], [0, 1], [h, 0], [1, 0]])
    assert list(evaluate([results[1], results[4]], {h: 3.0})) == [3.0, OBLIQUE]
    assert list(evaluate([results[1], results[4]], {h: 0.0})) == [0.0, CROSSING]


def test_the_relative_position_of_symbolic_lines() -> None:
    a, b, h, q = sympy.symbols("a b h q", real=True)
    c, s = sympy.cos(q), sympy.sin(q)
    l1 = sympy.Matrix([[0, 1], [0, 0], [0, 0], [1, 0]])

    lmindist, mindist, pl, point, inttype = intersec(l1, [[a, c], [b, s], [h, 0], [1, 0]])
    assert inttype == OBLIQUE
    assert sympy.simplify(mindist - sympy.Abs(h)) == 0
    assert [sympy.simplify(item) for item in point - [a - b * c / s, 0, h / 2, 1]] == [0] * 4
    assert sympy.simplify(lmindist[2, 1] - sympy.sign(s)).subs(q, 1) == 0
    assert [pl[0], pl[1]] == [0, 0]

    _, mindist, _, point, inttype = intersec(l1, [[a, c], [b, s], [0, 0], [1, 0]])
    assert (inttype, mindist) == (CROSSING, 0)
    assert [sympy.simplify(item) for item in point - [a - b * c / s, 0, 0, 1]] == [0] * 4

    lmindist, mindist, pl, point, inttype = intersec(
        [[0, c], [0, s], [0, 0], [1, 0]], [[-b * s, -c], [b * c, -s], [0, 0], [1, 0]]
    )
    assert inttype == PARALLEL
    assert sympy.simplify(mindist - sympy.Abs(b)) == 0
    assert all(item is sympy.nan for item in point)
    assert [
        sympy.simplify(item * b - wanted * sympy.Abs(b)) for item, wanted in zip(lmindist[:3, 1], (-s, c, 0), strict=True)
    ] == [
        0,
        0,
        0,
    ]

    lmindist, mindist, pl, point, inttype = intersec(
        [[a, c], [b, s], [h, 1], [1, 0]], [[a - 2 * c, c], [b - 2 * s, s], [h - 2, 1], [1, 0]]
    )
    assert (inttype, mindist) == (SAME, 0)
    assert all(item is sympy.nan for part in (lmindist, pl, point) for item in part.ravel())


def test_functions_of_time_and_assumptions() -> None:
    t = sympy.Symbol("t")
    q = sympy.Function("q")(t)
    n = sympy.Symbol("n", negative=True, integer=True)
    moving = [[0, sympy.cos(q)], [0, sympy.sin(q)], [q.diff(t), 0], [1, 0]]
    assert intersec(moving, [[1, 1], [0, 0], [0, 0], [1, 0]])[4] == OBLIQUE
    assert intersec(moving, [[1, -sympy.cos(q)], [0, -sympy.sin(q)], [0, 0], [1, 0]])[4] == PARALLEL
    assert intersec([[0, 0], [0, 1], [sympy.sqrt(-n), 0], [1, 0]], [[0, 1], [0, 0], [0, 0], [1, 0]])[1] == sympy.sqrt(-n)
    # Of the signs of x half make the lines parallel; they are taken as what they are in general.
    x = sympy.Symbol("x", real=True)
    assert intersec([[0, 1], [0, x - sympy.Abs(x)], [0, 0], [1, 0]], [[0, 1], [1, 0], [0, 0], [1, 0]])[4] == CROSSING


def test_exact_results() -> None:
    x, y, z, a = sympy.symbols("x y z a", positive=True)
    size = sympy.sqrt(x**2 + y**2 + z**2)
    made = linpvect([a, 0, 0.5], [x, y, z])
    wanted = sympy.Matrix([[a, x / size], [0, y / size], [sympy.Rational(1, 2), z / size], [1, 0]])
    assert (sympy.Matrix(made) - wanted).applyfunc(sympy.simplify) == sympy.zeros(4, 2)
    assert np.array_equal(line2p([a, 0, 0.5], [a + x, y, z + 0.5]), made)
    foot, dist = projponl([a, 0, 0], [[0, x], [0, y], [0, 0], [1, 0]])
    assert [sympy.simplify(item) for item in foot - np.array([a * x**2, a * x * y, 0, 0]) / (x**2 + y**2)] == [0, 0, 0, 1]
    assert sympy.simplify(dist - a * y / sympy.sqrt(x**2 + y**2)) == 0


@pytest.mark.parametrize("size", [2.0**-20, 1.0, 2.0**20])
@pytest.mark.parametrize("kind", [OBLIQUE, CROSSING, PARALLEL, SAME])
def test_lengths_do_not_matter(kind: int, size: float) -> None:
    for seed in range(20):
        l1, l2, _ = two_lines(np.random.default_rng(seed), kind)
        one, scaled = intersec(l1, l2), intersec(*(np.column_stack([[*size * l[:3, 0], 1.0], l[:, 1]]) for l in (l1, l2)))  # noqa: E741
        assert scaled[4] == one[4] == kind
        assert scaled[1] == size * one[1]
        assert np.array_equal(scaled[3][:3], size * one[3][:3], equal_nan=True)


def test_lines_that_meet_in_the_origin() -> None:
    """Points of lines that are found by a computation lie off the origin by rounding, and show no greater length."""
    rng = np.random.default_rng(16)
    for _ in range(50):
        starts, directions = 4e-16 * rng.uniform(-1, 1, (2, 3)), rng.normal(size=(2, 3))
        l1, l2 = map(linpvect, starts, directions)
        assert intersec(l1, l2)[4] == CROSSING
        assert intersec(l1, linpvect(starts[1], -2 * directions[0]))[4] == SAME
        assert intersec(l1, linpvect(starts[1] + 1e-12 * np.cross(*directions), directions[1]))[4] == OBLIQUE


NO_LINE = "{} has no direction, or a coordinate beyond 1e70"
XAXIS = [[0, 1], [0, 0], [0, 0], [1, 0]]
LINE = "expected a line (..., 4, 2): a point that ends in 1 and a direction that ends in 0, as columns"
NOWHERE = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
POINT = "expected a point (..., 3), or (..., 4) that ends in 1"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: line2p([1, 2, 3], [1, 2, 3, 1]), "line2p: P1 and P2 coincide"),
        (lambda: line2p([1, 2, 0.3], [1, 2, 0.1 + 0.2]), "line2p: P1 and P2 coincide"),
        (lambda: line2p([0, 0, 0], [0, 0, 0]), "line2p: P1 and P2 coincide"),
        (lambda: line2p([[0, 0, 0], [1, 1, 1]], [1, 1, 1]), "line2p: P1 and P2 coincide, at (1,) of the batch"),
        (lambda: line2p([1, 2], [1, 2, 3]), f"line2p: P1 is [1, 2]; {POINT}"),
        (lambda: linpvect([1, 2, 3], [0, 0, 0]), "linpvect: v is null"),
        (lambda: linpvect([1, 2, 3], [0, 0, 1e-80]), "linpvect: v is null"),
        (lambda: linpvect([1, 2, 3], [0, 0, 1e80]), "linpvect: v is longer than 1e70"),
        (lambda: line2p([0, 0, 0], [0, 0, 1e80]), "line2p: P1 and P2 are more than 1e70 apart"),
        (lambda: intersec(np.array([[0, 1], [0, 1], [0, 1], [1, 1]]), XAXIS), f"intersec: l1 is of shape (4, 2); {LINE}"),
        (lambda: intersec(XAXIS, np.array(XAXIS)[:, ::-1]), f"intersec: l2 is of shape (4, 2); {LINE}"),
        (lambda: linpvect([1, 2, 3], [0, np.nan, 1]), "linpvect: v is nan at (1,); expected finite numbers"),
        (lambda: projponl([1, 2, 3], NOWHERE), "projponl: l has no direction, or a coordinate beyond 1e70"),
        (lambda: projponl([1, 2, 3], [1, 2, 3]), f"projponl: l is [1, 2, 3]; {LINE}"),
        (lambda: projponl(XAXIS, XAXIS), f"projponl: P1 is of shape (4, 2); {POINT}"),
        (lambda: projponl(XAXIS, [1, 2]), f"projponl: P1 is [1, 2]; {POINT}"),
        (lambda: projponl([[1, 2], [1]], XAXIS), f"projponl: P1 is not an array; {POINT}"),
        (lambda: intersec(NOWHERE, XAXIS), f"intersec: {NO_LINE.format('l1')}"),
        (lambda: intersec(XAXIS, NOWHERE), f"intersec: {NO_LINE.format('l2')}"),
        (lambda: intersec(XAXIS, lines([1e80, 0, 0], [0, 1, 0])), f"intersec: {NO_LINE.format('l2')}"),
        (lambda: intersec(XAXIS, lines([0, 0, 0], [0, 1e80, 0])), f"intersec: {NO_LINE.format('l2')}"),
        (lambda: intersec(lines([1e200, 0, 0], [0, 1, 0]), XAXIS), f"intersec: {NO_LINE.format('l1')}"),
        (
            lambda: intersec(np.array([XAXIS, NOWHERE]), XAXIS),
            f"intersec: {NO_LINE.format('l1')}, at (1,) of the batch",
        ),
        (lambda: intersec(ORIGIN, XAXIS), f"intersec: l1 is array([0., 0., 0., 1.]); {LINE}"),
        (
            lambda: intersec(XAXIS, lines([0, 0, 0], [0, np.inf, 0])),
            "intersec: l2 is inf at (1, 1); expected finite numbers",
        ),
        (
            lambda: intersec([[sympy.sqrt(-1 - sympy.Symbol("x", real=True) ** 2), 1], [0, 0], [0, 0], [1, 0]], XAXIS),
            "intersec: the arguments are not real numbers at random values of x",
        ),
    ],
)
def test_malformed(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []
