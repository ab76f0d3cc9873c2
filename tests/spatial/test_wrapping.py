"""Paths around spheres and cylinders: beside MuJoCo, beside their own derivatives, and where they begin to wrap."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
import pytest

from linkwise.expr.derivative import derivative
from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import symbol
from linkwise.spatial.wrapping import PathLength, around_cylinder, around_sphere, straight
from support.mujoco_model import tendon_jacobian

RADIUS = 0.5
SURFACES: dict[str, Callable[..., PathLength]] = {"sphere": around_sphere, "cylinder": around_cylinder}
OUTSIDE = {"none": None, "beside": (0.6, 0.2, -0.3), "above": (0.0, 0.0, 0.9), "near": (0.1, 0.1, 0.6)}
INSIDE = (0.05, 0.1, 0.02)

ROUNDING = 2e-14
"""Lengths of 10 m, slopes of 1: some ten operations, and arcs by differences of angles of 3 rad."""

FREE_POINT = """<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide"/>
<geom size=".01"/><site name="{}"/></body>"""


def mujoco_model(kind: str, side: Any) -> mujoco.MjModel:
    """Two points that move freely, and a tendon between them past a geom at the origin."""
    at = "0 0 0" if side is None else " ".join(map(str, side))
    chosen = "" if side is None else 'sidesite="side"'
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom name="g" type="{kind}" size="{RADIUS} 1"/>'
        f'<site name="side" pos="{at}"/>{FREE_POINT.format("a")}{FREE_POINT.format("b")}</worldbody><tendon><spatial>'
        f'<site site="a"/><geom geom="g" {chosen}/><site site="b"/></spatial></tendon></mujoco>'
    )


def of_mujoco(kind: str, side: Any, count: int) -> tuple[float, float, int]:
    """The largest differences of length and slope over random ends, and how many paths are wrapped."""
    model, rng = mujoco_model(kind, side), np.random.default_rng(1)
    data, place = mujoco.MjData(model), None if side is None else np.array(side)
    lengths, slopes, wrapped = 0.0, 0.0, 0
    for _ in range(count):
        ends = rng.normal(size=6) * rng.choice([0.3, 0.6, 1.0, 3.0])
        data.qpos[:] = ends
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        path = SURFACES[kind](ends[:3], ends[3:], RADIUS, place)
        lengths = max(lengths, abs(float(path.length) - data.ten_length[0]))
        ours = np.concatenate([path.first, path.second]).astype(float)
        slopes = max(slopes, np.abs(ours - tendon_jacobian(model, data)[0]).max())
        wrapped += bool(path.length > straight(ends[:3], ends[3:]).length * (1.0 + 1e-9))
    return lengths, slopes, wrapped


@pytest.mark.parametrize("side", OUTSIDE)
@pytest.mark.parametrize("kind", SURFACES)
def test_around_is_that_of_mujoco(kind: str, side: str) -> None:
    lengths, slopes, wrapped = of_mujoco(kind, OUTSIDE[side], 1500)
    print(f"{lengths:.1e} {slopes:.1e}, {wrapped} wrapped")
    assert wrapped > 150
    assert max(lengths, slopes) < ROUNDING


@pytest.mark.parametrize("kind", SURFACES)
def test_through_is_that_of_mujoco(kind: str) -> None:
    """MuJoCo stops where its equation holds to 1e-6, and takes a rough point where a line almost touches: the point of
    contact is off by 1e-5 of the radius at most, the length by its square."""
    lengths, slopes, wrapped = of_mujoco(kind, INSIDE, 1500)
    print(f"{lengths:.1e} {slopes:.1e}, {wrapped} wrapped")
    assert wrapped > 300
    assert lengths < 1e-11
    assert slopes < 2e-5


@pytest.mark.parametrize("side", [*OUTSIDE.values(), INSIDE])
@pytest.mark.parametrize("kind", SURFACES)
def test_slopes_are_the_derivatives_of_the_length(kind: str, side: Any) -> None:
    """Of the graph, exactly: also beyond a path that is not taken, where its own numbers have no meaning."""
    x = [symbol(f"x{k}") for k in range(6)]
    place = None if side is None else np.array(side)
    path = SURFACES[kind](np.array(x[:3], dtype=object), np.array(x[3:], dtype=object), RADIUS, place)
    slopes = [*path.first, *path.second]
    gradient = [*derivative([path.length], x)[0]]
    curvature = [*derivative(slopes, x).ravel()]
    rng = np.random.default_rng(2)
    ends = rng.normal(size=(200, 6)) * rng.choice([0.3, 0.6, 1.0, 3.0], size=(200, 1))
    values = np.array([evaluate([*slopes, *gradient, *curvature], dict(zip(x, row, strict=True))) for row in ends])
    assert np.isfinite(values).all()
    error = np.abs(values[:, :6] - values[:, 6:12]).max()
    table = values[:, 12:].reshape(-1, 6, 6)
    unsymmetric = np.abs(table - table.swapaxes(1, 2)).max(axis=(1, 2)) / np.maximum(1.0, np.abs(table).max(axis=(1, 2)))
    print(f"{error:.1e}, symmetric to {unsymmetric.max():.1e}")
    assert error < 1e-12  # (of a path through, the terms of the derivative are up to 1e3 times their sum)
    assert unsymmetric.max() < 1e-10


@pytest.mark.parametrize("kind", SURFACES)
def test_a_side_point_that_moves_is_as_one_that_does_not(kind: str) -> None:
    """Inside, outside and on the axis: the graph of a path by any side point has the value of the path by this one."""
    x = [symbol(f"x{k}") for k in range(9)]
    p, q, side = (np.array(x[k : k + 3], dtype=object) for k in (0, 3, 6))
    path = SURFACES[kind](p, q, RADIUS, side)
    rng = np.random.default_rng(5)
    for k in range(200):
        ends, place = rng.normal(size=6) * 0.8, rng.normal(size=3) * (0.0, 0.2, 1.0)[k % 3] + [0.0, 0.0, 0.9 * (k % 3 == 0)]
        values = dict(zip(x, [*ends, *place], strict=True))
        fixed = SURFACES[kind](ends[:3], ends[3:], RADIUS, place)
        found = evaluate([path.length, *path.first, *path.second], values)
        assert np.abs(np.array([fixed.length, *fixed.first, *fixed.second], dtype=float) - found).max() < 1e-13


@pytest.mark.parametrize("side", [None, (0.0, 0.7, 0.0), (0.0, 0.1, 0.0)])
@pytest.mark.parametrize("kind", SURFACES)
def test_length_and_slope_are_continuous_where_the_path_begins_to_wrap(kind: str, side: Any) -> None:
    """A line moves across the surface by 1e-7 of the radius: its slope by about as much, its length by the square."""
    place, rise = None if side is None else np.array(side), 0.1 if kind == "cylinder" else 0.0
    paths = [
        SURFACES[kind](np.array([-1.0, y, 0.0]), np.array([2.0, y, rise]), RADIUS, place)
        for y in RADIUS * np.array([1.0 - 1e-7, 1.0, 1.0 + 1e-7])
    ]
    steps = np.abs(np.diff([float(path.length) for path in paths]))
    turns = [np.abs(np.array(a.first - b.first, dtype=float)).max() for a, b in pairwise(paths)]
    print(steps, turns)
    assert steps.max() < 1e-12
    assert max(turns) < 2e-7


def test_known_lengths() -> None:
    """Half around a great circle, half a turn of a helix, and a ring that is touched at equal angles."""
    p, q = np.array([-1.0, 1e-12, 0.0]), np.array([1.0, 0.0, 0.0])
    tangent, angle = np.sqrt(0.75), np.arccos(0.5)
    assert abs(around_sphere(p, q, 0.5).length - (2 * tangent + 0.5 * (np.pi - 2 * angle))) < 1e-11
    helix = around_cylinder(p, np.array([1.0, 0.0, 3.0]), 0.5).length
    assert abs(helix - np.hypot(2 * tangent + 0.5 * (np.pi - 2 * angle), 3.0)) < 1e-11
    ring = around_sphere(np.array([-1.0, 2.0, 0.0]), np.array([1.0, 2.0, 0.0]), 0.5, np.array([0.0, 0.1, 0.0]))
    assert abs(ring.length - 2 * np.hypot(1.0, 1.5)) < 1e-15
    opposite = around_sphere(np.array([-1.0, 0.6, 0.0]), np.array([1.0, 0.6, 0.0]), 0.5, np.array([0.0, -0.9, 0.0]))
    reach = np.hypot(1.0, 0.6)
    shares = np.arccos(0.5 / reach)
    whole = 2 * np.sqrt(reach**2 - 0.25) + 0.5 * (2 * np.pi - 2 * np.arctan2(1.0, 0.6) - 2 * shares)
    assert abs(opposite.length - whole) < 1e-14
    inside = around_sphere(np.array([0.1, 0.0, 0.0]), np.array([1.0, 0.2, 0.0]), 0.5)
    assert inside.length == straight(np.array([0.1, 0.0, 0.0]), np.array([1.0, 0.2, 0.0])).length
