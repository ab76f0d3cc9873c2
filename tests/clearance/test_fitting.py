"""Capsules contain their shapes, and reach beyond them as far as they say."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.clearance import fit_capsules
from linkwise.clearance.fitting import enclosing_capsule
from linkwise.clearance.kernels import segment_gaps
from linkwise.errors import ArgumentError, ModelError
from linkwise.spatial.transform import transform

RNG = np.random.default_rng(0)
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
TURN[:, 0] *= np.linalg.det(TURN)
PLACE = transform(TURN, RNG.normal(size=3))
HULL = RNG.normal(size=(60, 3)) * [1.0, 0.3, 0.2]

SHAPES = [
    ("sphere", (0.3,)),
    ("capsule", (0.1, 0.6)),
    ("cylinder", (0.1, 0.8)),
    ("cylinder", (0.5, 0.1)),
    ("box", (0.1, 0.12, 1.0)),
    ("box", (1.0, 0.8, 0.02)),
    ("box", (0.3, 0.3, 0.3)),
    ("box", (1.0, 0.0, 0.0)),
    ("ellipsoid", (0.5, 0.2, 0.1)),
    ("mesh", (1.0, 0.5, 2.0)),
]


def surface(shape, count=4000):
    """Points of a shape's surface, in its own frame."""
    u = RNG.normal(size=(count, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    size = np.array(shape.size)
    if shape.kind == "sphere":
        return u * size
    if shape.kind == "ellipsoid":
        return u * size
    if shape.kind == "mesh":
        return HULL * size
    if shape.kind == "box":
        return 0.5 * size * np.where(RNG.uniform(size=(count, 3)) < 0.7, np.sign(u), RNG.uniform(-1, 1, (count, 3)))
    radius, length = size
    if shape.kind == "cylinder":
        flat = u[:, :2] / np.linalg.norm(u[:, :2], axis=1, keepdims=True)
        return np.column_stack([radius * flat, np.sign(u[:, 2]) * 0.5 * length])
    return u * radius + np.sign(u[:, 2:]) * [0, 0, 0.5 * length]


@pytest.mark.parametrize(("kind", "size"), SHAPES)
def test_every_point_is_inside_a_capsule(kind, size):
    filled = {"filename": "hull.stl", "vertices": HULL} if kind == "mesh" else {}
    shape = lw.Shape("arm", kind, size, origin=PLACE, **filled)
    points = surface(shape) @ TURN.T + PLACE[:3, 3]
    capsules = fit_capsules(shape)
    outside = np.min(
        [
            segment_gaps(c.start, c.end - c.start, points, np.zeros(3))[0] - c.radius
            for c in capsules
        ],
        axis=0,
    )  # fmt: skip
    print(kind, size, len(capsules), outside.max(), [round(c.excess, 4) for c in capsules])
    assert outside.max() < 1e-15 * 4
    assert all(c.excess == 0.0 for c in capsules) == (kind in {"sphere", "capsule"} or size == (1.0, 0.0, 0.0))


@pytest.mark.parametrize(("kind", "size"), SHAPES)
def test_no_point_reaches_farther_beyond_than_stated(kind, size):
    """Against coal, which measures the distance of points of a capsule from the shape."""
    pytest.importorskip("coal")
    filled = {"filename": "hull.stl", "vertices": HULL} if kind == "mesh" else {}
    shape = lw.Shape("link1", kind, size, role="collision", **filled)
    capsules = fit_capsules(shape)
    u = RNG.normal(size=(150, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    points = np.concatenate([c.radius * u + np.where(u @ (c.end - c.start) > 0, 1, 0)[:, None] * (c.end - c.start) + c.start
                             for c in capsules[:2]])  # fmt: skip
    arm = lw.Mechanism([lw.Link(joint="revolute")], shapes=[shape])
    dots = [lw.Shape("world", "sphere", 0.0, origin=p) for p in points]
    far = arm.clearance([0.0], dots, exact=True).distance
    excess = max(c.excess for c in capsules)
    print(kind, size, far.max(), excess)
    assert far.max() <= excess + (1e-3 * excess if kind == "mesh" else 1e-9)
    assert far.max() > 0.8 * excess - 1e-9


def test_a_mesh_without_vertices_is_refused():
    with pytest.raises(ArgumentError, match="vertices"):
        fit_capsules(lw.Shape("arm", "mesh", (1, 1, 1), filename="a.stl"))


def test_lengths_below_zero_are_refused():
    with pytest.raises(ModelError, match="size"):
        lw.Shape("arm", "sphere", -0.1)


def test_the_capsule_of_any_points_contains_them():
    """Few points, flat ones and those in a line too; the radius has 1e-12 of its size to spare."""
    rng = np.random.default_rng(2)
    worst = -np.inf
    for k in range(60):
        points = rng.normal(size=(rng.integers(1, 12), 3)) * 10.0 ** rng.uniform(-2, 0, 3)
        points[:, 3 - k % 3 :] = 0.0
        capsule = enclosing_capsule(points)
        distance = segment_gaps(points, np.zeros(3), capsule.start, capsule.end - capsule.start)[0]
        worst = max(worst, float((distance - capsule.radius).max()) / float(np.abs(points).max()))
    print(f"a point outside by {worst:.1e} of the size")
    assert worst <= 1e-15
