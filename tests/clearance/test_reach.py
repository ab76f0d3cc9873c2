"""Levers of the joints between two shapes bound how much the distance between them changes."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.clearance.clearance import measured
from linkwise.clearance.kernels import distance_kernel
from linkwise.clearance.pairs import collision_shapes
from linkwise.clearance.reach import levers, pair_levers
from linkwise.clearance.shapes import CapsuleSet, CollisionShapes, obstacle_set
from linkwise.errors import ArgumentError
from support.collision import panda, scattered
from support.random_mechanisms import coupled, random_mechanism

SINGLE = ("revolute", "prismatic", "screw", "fixed")
SEVERAL = ("revolute", "universal", "cylindrical", "planar")


def random_arm(seed: int) -> lw.Mechanism:
    """Six links in a tree, all joints with limits, each link with a rod of its own; joints of odd seeds follow others."""
    draw = np.random.default_rng(seed)
    arm = random_mechanism(seed, ["revolute", *map(str, draw.choice(SINGLE if seed % 2 else SEVERAL, 5))], motors=False)
    links = []
    for link in arm.links:
        limits = [(draw.uniform(-1.5, -1.0), draw.uniform(1.0, 1.5)) for _ in link.coordinate_names]
        links.append(link.replace(limits=None if not limits else limits[0] if len(limits) == 1 else limits))
    rods = [lw.Shape.rod(name, *draw.normal(size=(2, 3)) * 0.4, 0.05) for name in arm.link_names]
    arm = arm.replace(links=links, shapes=[*rods, lw.Shape("base", "sphere", 0.1, role="collision")])
    if seed % 2 == 0:
        return arm
    turning = {link.name for link in arm.links if link.joint == "revolute"}  # (these need no limits)
    links = [link.replace(limits=None) if link.name in turning else link for link in coupled(arm, seed).links]
    return arm.replace(links=links)


def grouped(shapes: CollisionShapes, obstacles: CapsuleSet, q: np.ndarray) -> np.ndarray:
    """Distances of groups, from those of pairs: of two links, or of one and all obstacles."""
    result = measured(shapes, obstacles, q)
    links = dict(zip(shapes.own.names, shapes.links, strict=True))
    keys = [tuple(links.get(name, "obstacle") for name in pair) for pair in result.pairs]
    return np.stack([result.distance[..., [k == key for k in keys]].min(axis=-1) for key in dict.fromkeys(keys)], axis=-1)


@pytest.mark.parametrize("seed", range(8))
def test_distances_change_by_no_more_than_the_levers_of_the_joints_between(seed: int, uncompiled: None) -> None:
    arm, obstacles = random_arm(seed), obstacle_set(scattered(seed, 2, 1))
    shapes, draw = collision_shapes(arm, ()), np.random.default_rng(seed)
    rows, most = pair_levers(shapes, True), levers(shapes)
    a, b = (arm.random_configuration(draw, 300) for _ in range(2))
    b = a + (b - a) * draw.uniform(size=(300, 1)) ** 3 * (draw.random(b.shape) < 0.5)
    change = np.abs(grouped(shapes, obstacles, a) - grouped(shapes, obstacles, b))
    assert (change <= np.abs(b - a) @ rows.T + 1e-12).all()  # rounding of lengths of a few metres
    assert (rows <= most + 1e-12).all()
    assert (change.max(axis=1) <= np.abs(b - a) @ most + 1e-12).all()


def test_levers_are_the_distance_from_the_axis_where_one_joint_lies_between() -> None:
    """The first row is of the first and the third link: that reaches 0.9 m from the axis of joint 2, this 2 m."""
    arm = lw.robots.planar_3r()
    arm = arm.with_shapes([lw.Shape.rod(name, (-0.9, 0, 0.2), (0, 0, 0.2), 0.05) for name in arm.link_names])
    rows = pair_levers(collision_shapes(arm, ()), True)
    assert rows.round(12).tolist() == [[0, 0.9, 1], [1, 0, 0], [2, 1, 0], [3, 2, 1]]


def test_groups_are_the_least_of_their_pairs(uncompiled: None) -> None:
    arm, obstacles = panda(), obstacle_set(scattered(0, 2, 1))
    shapes, q = collision_shapes(arm), arm.random_configuration(0, 20)
    result = distance_kernel(shapes, obstacles.kinds, grouped=True)(q, obstacles.rows.ravel())
    assert result.shape[1] == len(pair_levers(shapes, True))
    assert np.abs(result - grouped(shapes, obstacles, q)).max() <= 1e-15
    alone = distance_kernel(shapes, (), grouped=True)(q)
    assert np.array_equal(alone, result[:, : alone.shape[1]])


def test_a_sliding_joint_without_limits_is_named_by_its_mechanism() -> None:
    arm = lw.robots.planar_2r()
    slide = lw.Link(joint="prismatic", name="slide", parent="link2")
    arm = arm.replace(links=[*arm.links, slide, lw.Link(joint="revolute", name="hand", parent="slide")])
    arm = arm.with_shapes([lw.Shape.rod("hand", (0, 0, 0), (0.1, 0, 0), 0.02)])
    for act in (lambda: levers(collision_shapes(arm, ())), lambda: pair_levers(collision_shapes(arm, ()), True)):
        with pytest.raises(ArgumentError, match="sliding joints without limits"):
            act()
