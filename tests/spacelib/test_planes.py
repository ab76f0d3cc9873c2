"""Planes: made of points and normals, distances with a sign, two planes, lines and planes in every relative position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import Expr, evaluate, symbol
from linkwise.spacelib.constants import NOTOK, OK, ORIGIN
from linkwise.spacelib.lines import distpp, inter2pl, interlpl, line2p, linpvect, plane, plane2, project
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
    random_planes,
    random_points,
    same_bits,
    unit,
)

PIERCING, INSIDE, BESIDE = 0, 1, -1

CASES: dict[Any, list[Any]] = {
    distpp: [random_planes, random_points],
    project: [random_points, random_planes],
    plane: [random_points] * 3,
    plane2: [random_points] * 2,
    inter2pl: [random_planes] * 2,
    interlpl: [random_lines, random_planes],
}
every_function = pytest.mark.parametrize("function", list(CASES), ids=lambda function: function.__name__)


def test_a_plane_through_points() -> None:
    rng = np.random.default_rng(1)
    a, b, c = (random_points(rng, 500) for _ in range(3))
    made = plane(a, b, c)
    sines = np.linalg.norm(np.cross(unit((b - a)[:, :3]), unit((c - a)[:, :3])), axis=1)
    for point in (a, b, c):
        # Coordinates up to 4 m; the normal tilts by a rounding over the sine of the angle at the first point.
        assert (np.abs(inner(made, point)) <= 64 * EPS / sines).all()
    assert np.abs(np.linalg.norm(made[:, :3], axis=1) - 1).max() <= 4 * EPS
    assert inner(made[:, :3], np.cross((b - a)[:, :3], (c - a)[:, :3])).min() > 0
    assert np.abs(plane(a, c, b) + made).max() <= 64 * EPS / sines.min()
    assert np.abs(plane2(a, made[:, :3]) - made).max() <= 16 * EPS * 4


@pytest.mark.parametrize("sine", [1e-2, 1e-5, 1e-8, 2e-9])
def test_a_plane_through_points_nearly_on_a_line(sine: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        along, across, normal = random_rotation(rng)
        a = rng.uniform(-1, 1, 3)
        made = plane(a, a + 2 * along, a - along + sine * across)
        assert np.abs(made[:3] - normal).max() <= 16 * EPS / sine
        assert abs(inner(made[:3], along)) <= 8 * EPS  # the points rounded apart by 2e-16 of 2 m, and the product
        assert max(abs(distpp(made, p)) for p in (a, a + 2 * along, a - along + sine * across)) <= 16 * EPS


def test_a_plane_through_a_point() -> None:
    rng = np.random.default_rng(3)
    a, v = random_points(rng, 200), rng.normal(size=(200, 3))
    made = plane2(a, v)
    assert np.abs(made[:, :3] - unit(v)).max() <= 4 * EPS
    assert np.abs(inner(made, a)).max() <= 16 * EPS * 4
    assert np.abs(plane2(a, 1e9 * v) - made).max() <= 4 * EPS * 8
    assert np.abs(plane2(a, -v) + made).max() == 0
    assert np.array_equal(plane2(a[:, :3], np.concatenate([v, np.zeros((200, 1))], axis=1)), made)


def test_distances_and_feet() -> None:
    rng = np.random.default_rng(4)
    pl, points = random_planes(rng, 500), random_points(rng, 500)
    dist = distpp(pl, points)
    foot, same = project(points, pl)
    normals = unit(pl[:, :3])
    size = 16 * EPS * (5 + np.abs(pl[:, 3]) / np.linalg.norm(pl[:, :3], axis=1))  # coordinates, and the plane's distance
    assert (np.abs(same - dist) <= size).all()
    assert (np.abs(distpp(pl, foot)) <= size).all()
    assert (np.linalg.norm((points - foot)[:, :3] - dist[:, None] * normals, axis=1) <= size).all()
    assert (np.abs(distpp(-pl, points) + dist) <= size).all()
    assert (np.abs(distpp(1e-9 * pl, points) - dist) <= size).all()
    assert np.array_equal(foot[:, 3], np.ones(500))
    assert dist.min() < 0 < dist.max()
    assert distpp([0, 0, 2, -2], [5, 6, 0]) == -1.0


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("sine", [1.0, 0.7, 1e-2, 1e-4, 1e-6, 1e-8, 2e-9])
def test_planes_that_meet(sine: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, across, along = random_rotation(rng)
    second = np.sqrt(1 - sine**2) * first + sine * across
    place = rng.uniform(-2, 2) * first + rng.uniform(-2, 2) * across  # nearest to the origin
    lengths = 10 ** rng.uniform(-3, 3, 2)
    pl1, pl2 = (size * np.array([*n, -n @ place]) for size, n in zip(lengths, (first, second), strict=True))
    line = inter2pl(pl1, pl2)
    # Coordinates up to 3 m with a few roundings; over the sine for what nearly parallel planes determine no better.
    far = 32 * EPS / sine
    assert np.abs(line[:3, 1] - along).max() <= far
    assert np.abs(line[:3, 0] - place).max() <= far
    assert line[3].tolist() == [1, 0]
    # The line lies in both planes, however near to parallel they are, and its point is the nearest to the origin.
    assert np.abs(inner(line[:3, 1], [first, second])).max() <= 8 * EPS
    assert max(abs(distpp(pl, line[:, 0])) for pl in (pl1, pl2)) <= 16 * EPS * 4
    assert abs(inner(line[:3, 1], line[:3, 0])) <= 8 * EPS * 4
    again, test = inter2pl(pl1, pl2, test=True)
    assert np.array_equal(again, line)
    assert (test, type(test)) == (OK, int)


def test_parallel_planes() -> None:
    for sine, fine in ((0.99e-9, False), (1.01e-9, True)):
        pl1, pl2 = [0, 0, 2, 1], [0, 3 * sine, -3, 5]
        line, test = inter2pl(pl1, pl2, test=True)
        assert test == (OK if fine else NOTOK)
        assert np.isnan(line).all() == (not fine)
        if not fine:
            with pytest.raises(ArgumentError, match=r"^inter2pl: the planes are parallel$"):
                inter2pl(pl1, pl2)
    pls = np.array([[0, 0, 1.0, -2], [0, 1, 0, 0], [0, 0, -3, 6], [1, 1, 1, 1]])
    found, tests = inter2pl([0, 0, 2, 1], pls, test=True)
    assert tests.tolist() == [NOTOK, OK, NOTOK, OK]
    assert tests.dtype == int
    assert np.isnan(found).all(axis=(1, 2)).tolist() == [True, False, True, False]
    assert same_bits((found, tests), [inter2pl([0, 0, 2, 1], pl, True) for pl in pls])
    with pytest.raises(ArgumentError, match=r"inter2pl.*\(0,\)"):
        inter2pl([0, 0, 2, 1], pls)


def line_and_plane(rng: np.random.Generator, kind: int, sine: float = 0.6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A line and a plane of a kind, with lengths of any size, and the point in which they meet, or the line's own."""
    normal, across, _ = random_rotation(rng)
    direction = across if kind != PIERCING else np.sqrt(1 - sine**2) * across + sine * normal
    place = rng.uniform(-2, 2, 3)
    level = -normal @ place + (rng.uniform(0.1, 2) * rng.choice([-1, 1]) if kind == BESIDE else 0.0)
    lengths, shift = 10 ** rng.uniform(-3, 3, 2) * rng.choice([-1, 1], 2), rng.uniform(-2, 2)
    start = place + shift * direction
    pl = lengths[0] * np.array([*normal, level])
    return lines(start, lengths[1] * direction), pl, place if kind == PIERCING else start


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("sine", [1.0, 0.6, 1e-2, 1e-4, 1e-6, 1e-8, 2e-9])
def test_a_line_that_pierces_a_plane(sine: float, seed: int) -> None:
    line, pl, place = line_and_plane(np.random.default_rng(seed), PIERCING, sine)
    point, inttype = interlpl(line, pl)
    assert (inttype, type(inttype)) == (PIERCING, int)
    # Coordinates up to 4 m with a few roundings, over the sine of the angle between line and plane.
    assert np.abs(point[:3] - place).max() <= 64 * EPS / sine
    assert point[3] == 1
    assert abs(distpp(pl, point)) <= 64 * EPS


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [INSIDE, BESIDE])
def test_a_line_parallel_to_a_plane(kind: int, seed: int) -> None:
    line, pl, start = line_and_plane(np.random.default_rng(seed), kind)
    point, inttype = interlpl(line, pl)
    assert inttype == kind
    if kind == BESIDE:
        assert np.isnan(point).all()
    else:
        assert point.tolist() == [*start, 1]


def test_the_tolerances_of_a_line_and_a_plane() -> None:
    for sine, height, kind in (
        (0.99e-9, 0.5, BESIDE),
        (1.01e-9, 0.5, PIERCING),
        (0.99e-9, 0.0, INSIDE),
        (1.01e-9, 0.0, PIERCING),
        (0.0, 2.9e-9, INSIDE),
        (0.0, 3.1e-9, BESIDE),
    ):
        # The point is 2 m from the origin and the plane 1 m: together 3 m.
        line = lines([np.sqrt(3), 0, 1 + height], [7, 0, 7 * sine])
        assert interlpl(line, [0, 0, 5, -5])[1] == kind


def test_a_line_through_points_of_a_plane_lies_in_it() -> None:
    rng = np.random.default_rng(5)
    a, b, c = (random_points(rng, 500) for _ in range(3))
    made = plane(a, b, c)
    assert (interlpl(line2p(b, c), made)[1] == INSIDE).all()
    other = random_points(rng, 500)
    point, inttype = interlpl(line2p(a, other), made)
    assert (inttype == PIERCING).all()
    assert np.median(np.abs(point - a)) <= 64 * EPS  # they meet in a; worse only where the line is nearly in the plane


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_a_line_in_a_plane_through_the_origin(size: float) -> None:
    """The plane's number d is rounding there, and the line's point may be the origin: neither is a length to go by."""
    rng = np.random.default_rng(15)
    turns = np.array([random_rotation(rng) for _ in range(300)])
    a, b = turns[:, :, 0] * rng.uniform(0.5, 2, (300, 1)) * size, turns[:, :, 1] * rng.uniform(0.5, 2, (300, 1)) * size
    c, normal = rng.uniform(-2, 2, (300, 1)) * a + rng.uniform(-2, 2, (300, 1)) * b, turns[:, :, 2]
    for pl in (plane(a, b, c), plane2(a, normal), plane2(c, -1e3 * normal)):
        assert (pl[:, 3] == 0).all()
        for line in (linpvect(np.zeros((300, 3)), a - b), linpvect(a, b), line2p(b, c), inter2pl(pl, plane2(b, a - b * 2))):
            assert (interlpl(line, pl)[1] == INSIDE).all()
        assert (interlpl(linpvect(pl[:, :3] * size * 1e-3, a - b), pl)[1] == BESIDE).all()
    # A plane that somebody else has made, in metres: d is what rounding leaves.
    made = np.column_stack([normal, 4e-16 * rng.uniform(-1, 1, 300)])
    assert (interlpl(linpvect(np.zeros((300, 3)), a - b), made)[1] == INSIDE).all()


@pytest.mark.parametrize("size", [2.0**-20, 2.0**20])
@pytest.mark.parametrize("kind", [PIERCING, INSIDE, BESIDE])
def test_lengths_do_not_matter(kind: int, size: float) -> None:
    for seed in range(20):
        line, pl, _ = line_and_plane(np.random.default_rng(seed), kind)
        larger, far = line * [size, 1.0], pl * [1.0, 1.0, 1.0, size]
        larger[3, 0] = 1.0
        point, inttype = interlpl(line, pl)
        scaled = interlpl(larger, far)
        assert scaled[1] == inttype == kind
        assert np.array_equal(scaled[0][:3], size * point[:3], equal_nan=True)


def test_a_batch_of_all_kinds_is_a_loop() -> None:
    rng = np.random.default_rng(6)
    kinds = [PIERCING, INSIDE, BESIDE] * 6
    rng.shuffle(kinds)
    pairs = [line_and_plane(rng, kind)[:2] for kind in kinds]
    given = [np.stack(side) for side in zip(*pairs, strict=True)]
    many = interlpl(*given)
    assert many[1].tolist() == kinds
    assert many[1].dtype == int
    assert same_bits(many, [interlpl(*pair) for pair in pairs])


@every_function
def test_a_batch_is_a_loop(function: Any) -> None:
    rng = np.random.default_rng(7)
    args = [make(rng, 3, 5) for make in CASES[function]]
    many = tuple(part.reshape(15, *part.shape[2:]) for part in parts(function(*args)))
    assert same_bits(many, [function(*(arg[i, j] for arg in args)) for i, j in np.ndindex(3, 5)])


@every_function
@pytest.mark.parametrize("made", [on_sympy, on_expressions])
def test_symbols(function: Any, made: Any) -> None:
    rng = np.random.default_rng(8)
    args = [make(rng) for make in CASES[function]]
    for found, wanted in zip(made(function, *args), parts(function(*args)), strict=True):
        # A few dozen roundings; SymPy multiplies out, with normals and directions up to 1000 long.
        assert np.abs(found - wanted).max() <= 256 * EPS * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("kind", [PIERCING, INSIDE, BESIDE])
def test_one_expression_serves_every_relative_position(kind: int) -> None:
    line, pl, _ = line_and_plane(np.random.default_rng(9), kind)
    point, inttype = on_expressions(interlpl, line, pl)
    wanted = interlpl(line, pl)
    assert inttype == wanted[1] == kind
    if kind != BESIDE:
        assert np.allclose(point, wanted[0], rtol=64 * EPS, atol=64 * EPS)


def test_expressions_of_two_planes() -> None:
    h = symbol("h")
    made = inter2pl([0, 0, 1, h], [1, h, 0, 0])
    assert isinstance(made[2, 0], Expr)
    line, test = inter2pl([0, 0, 1, 0], [0, h, 1, 0], test=True)
    assert [list(evaluate([test], {h: value})) for value in (1.0, 0.0, 1e-12)] == [[OK], [NOTOK], [NOTOK]]
    assert list(evaluate([line[0, 1]], {h: 2.0})) == [-1.0]


def test_the_relative_position_of_symbolic_planes_and_lines() -> None:
    a, b, c, d, q = sympy.symbols("a b c d q", real=True)
    cos, sin = sympy.cos(q), sympy.sin(q)
    floor = [0, 0, 1, -d]
    line, test = inter2pl(floor, [sin, -cos, 0, 0], test=True)
    assert test == OK
    assert (sympy.Matrix(line) - sympy.Matrix([[0, cos], [0, sin], [d, 0], [1, 0]])).applyfunc(sympy.simplify).is_zero_matrix
    line, test = inter2pl([a, b, c, d], [a * cos, b * cos, c * cos, 1], test=True)
    assert test == NOTOK
    assert all(item is sympy.nan for item in line.ravel())
    with pytest.raises(ArgumentError, match=r"^inter2pl: the planes are parallel$"):
        inter2pl([a, b, c, d], [a * cos, b * cos, c * cos, 1])

    point, inttype = interlpl([[a, cos], [0, 0], [b, sin], [1, 0]], floor)
    assert inttype == PIERCING
    assert [sympy.simplify(item) for item in point - [a - (b - d) * cos / sin, 0, d, 1]] == [0] * 4
    point, inttype = interlpl([[a, cos], [0.5, sin], [d, 0], [1, 0]], floor)
    assert inttype == INSIDE
    assert point.tolist() == [a, sympy.Rational(1, 2), d, 1]
    point, inttype = interlpl([[a, cos], [0, sin], [b, 0], [1, 0]], floor)
    assert inttype == BESIDE
    assert all(item is sympy.nan for item in point)


def test_exact_results() -> None:
    x, y, a, b, c = sympy.symbols("x y a b c", positive=True)
    size = sympy.sqrt(1 / a**2 + 1 / b**2 + 1 / c**2)
    made = plane([a, 0, 0], [0, b, 0], [0, 0, c])  # a plane by its intercepts
    assert [sympy.simplify(item) for item in made - np.array([1 / a, 1 / b, 1 / c, -1]) / size] == [0] * 4
    assert plane2([x, y, a], [0, 0, b]).tolist() == [0, 0, 1, -a]
    assert sympy.simplify(distpp([a, b, 0, -c], [x, y, 0]) - (a * x + b * y - c) / sympy.sqrt(a**2 + b**2)) == 0
    foot, dist = project([x, y, 0.5], [0, 0, 2, -a])
    assert foot.tolist() == [x, y, a / 2, 1]
    assert sympy.simplify(dist - (1 - a) / 2) == 0


NO_PLANE = "{} has no normal, or a number beyond 1e70"
NO_LINE = "l has no direction, or a coordinate beyond 1e70"
FLOOR = [0, 0, 1, 0]
XAXIS = [[0, 1], [0, 0], [0, 0], [1, 0]]
POINT = "expected a point (..., 3), or (..., 4) that ends in 1"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distpp([0, 0, 0, 1], ORIGIN), f"distpp: {NO_PLANE.format('pl')}"),
        (lambda: distpp([0, 0, 1], ORIGIN), "distpp: pl is [0, 0, 1]; expected a plane (..., 4)"),
        (lambda: distpp(ORIGIN, FLOOR), f"distpp: P is [0, 0, 1, 0]; {POINT}"),
        (lambda: distpp([0, 0, np.nan, 1], ORIGIN), "distpp: pl is nan at (2,); expected finite numbers"),
        (lambda: project(ORIGIN, [[0, 0, 1, 0], [0, 0, 0, 0]]), f"project: {NO_PLANE.format('pl')}, at (1,) of the batch"),
        (lambda: project(ORIGIN, [0, 0, 1e100, 0]), f"project: {NO_PLANE.format('pl')}"),
        (lambda: plane([0, 0, 0], [0.1, 0.2, 0.3], [0.3, 0.6, 0.9]), "plane: P1, P2 and P3 lie on one line"),
        (lambda: plane([1, 2, 3], [1, 2, 3], [0, 1, 0]), "plane: P1, P2 and P3 lie on one line"),
        (lambda: plane([1, 2, 3], [0, 1, 0], [1, 2, 3]), "plane: P1, P2 and P3 lie on one line"),
        (lambda: plane([0, 1, 0], [1, 2, 3], [1, 2, 3]), "plane: P1, P2 and P3 lie on one line"),
        (lambda: plane([0, 0, 0], [1, 0, 0], [1, 0.9e-9, 0]), "plane: P1, P2 and P3 lie on one line"),
        (lambda: plane2([0, 1, 0], [0, 0, 0]), "plane2: v is null"),
        (lambda: plane2([0, 1, 0], [0, 1e80, 0]), "plane2: v is longer than 1e70"),
        (lambda: plane([0, 0, 0], [1e80, 0, 0], [0, 1e80, 0]), "plane: P1, P2 and P3 are more than 1e70 apart"),
        (lambda: plane2([0, 1], [0, 0, 1]), f"plane2: P1 is [0, 1]; {POINT}"),
        (lambda: inter2pl([0, 0, 0, 1], FLOOR), f"inter2pl: {NO_PLANE.format('pl1')}"),
        (lambda: inter2pl(FLOOR, [0, 0, 0, 1], test=True), f"inter2pl: {NO_PLANE.format('pl2')}"),
        (lambda: inter2pl(FLOOR, [0, 1, 0, 1e80]), f"inter2pl: {NO_PLANE.format('pl2')}"),
        (lambda: inter2pl(FLOOR, FLOOR), "inter2pl: the planes are parallel"),
        (lambda: interlpl(XAXIS, [0, 0, 0, 1]), f"interlpl: {NO_PLANE.format('pl')}"),
        (lambda: interlpl([[0, 0], [0, 0], [0, 0], [1, 0]], FLOOR), f"interlpl: {NO_LINE}"),
        (
            lambda: interlpl(FLOOR, XAXIS),
            "interlpl: l is [0, 0, 1, 0]; "
            "expected a line (..., 4, 2): a point that ends in 1 and a direction that ends in 0, as columns",
        ),
        (
            lambda: interlpl([XAXIS] * 2, [FLOOR] * 3),
            "interlpl: the batch shapes do not fit each other: l (2,), pl (3,)",
        ),
        (
            lambda: interlpl(XAXIS, [0, 0, sympy.asin(2 + sympy.Symbol("x", positive=True)), 1]),
            "interlpl: the arguments are not real numbers at random values of x",
        ),
    ],
)
def test_malformed(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []
