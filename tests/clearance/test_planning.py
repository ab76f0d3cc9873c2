"""Ways around obstacles: proven, checked again, and never a proof that there is none."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.clearance.pairs import collision_shapes
from linkwise.clearance.planning import _Space
from linkwise.clearance.reach import levers
from linkwise.clearance.shapes import obstacle_set
from linkwise.errors import ArgumentError
from linkwise.spatial.transform import transform
from support.collision import panda, scattered

RODS = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
BALL = lw.Shape("world", "sphere", 0.2, origin=(0.0, 1.6, 0.0), name="ball")


@pytest.fixture(scope="module")
def planar():
    return lw.robots.planar_2r().with_shapes(RODS)


@pytest.fixture(scope="module")
def arm():
    return panda()


def test_ways_are_clear_at_many_more_configurations(arm):
    """At 20,000 along the way; clearance by the exact distances of capsules."""
    found = 0
    for seed in range(6):
        obstacles = scattered(seed)
        q = arm.random_configuration(seed, 200)
        q = q[arm.clearance(q, obstacles).least > 0.01][:2]
        way = arm.plan(q[0], q[1], obstacles, margin=0.005)
        assert way.success
        found += way.iterations > 0
        least = arm.clearance(way.sample(20_000), obstacles).least.min()
        print(way, way.iterations, way.checked, least)
        assert least >= 0.005
        assert way.least >= 0.005
        assert np.array_equal(way.q[0], q[0])
        assert np.array_equal(way.q[-1], q[1])
        again = arm.plan(q[0], q[1], obstacles, margin=0.005)
        assert np.array_equal(again.q, way.q)
    assert found > 1


def test_no_point_moves_farther_than_the_levers_say(arm):
    shapes = collision_shapes(arm)
    a, b = arm.random_configuration(1, 500), arm.random_configuration(2, 500)
    b = a + (b - a) * np.random.default_rng(0).uniform(size=(500, 1)) ** 2
    pairs = arm.clearance(a), arm.clearance(b)
    change = abs(pairs[0].distance - pairs[1].distance).max(axis=1)
    bound = abs(b - a) @ levers(shapes)
    print((change / bound).max())
    assert (change <= bound).all()


def test_levers_of_sliding_and_following_joints():
    links = [
        lw.Link(name="slide", joint="prismatic", limits=(-0.5, 2.0)),
        lw.Link(name="turn", before=transform(None, [1, 0, 0])),
    ]
    links.append(lw.Link(name="other", mimic=lw.Mimic("turn", -2.0), before=transform(None, [0, 0.5, 0])))
    machine = lw.Mechanism(links, shapes=[lw.Shape.rod("other", (0, 0, 0), (1, 0, 0), 0.1)])
    found = levers(collision_shapes(machine))
    assert found.tolist() == [1.0, (0.5 + 1.1) + 2 * 1.1]


def test_what_is_proven_is_clear_and_what_is_not_is_near_a_collision(planar):
    """Extents against a fine look at each straight way: short by no more than a few times the resolution."""
    space = _Space(collision_shapes(planar), obstacle_set([BALL]), 0.0, 0.01)
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-3, 3, (2, 400, 2))
    keep = space.distance(a) >= 0.0
    a, b = a[keep], b[keep]
    reached, whole = space.extents(a, b), space.extents(a, b, whole=True)
    s = np.linspace(0, 1, 2001)
    values = space.distance((a[:, None] + (b - a)[:, None] * s[:, None]).reshape(-1, 2)).reshape(len(a), -1)
    true = np.where((values < 0).any(axis=1), s[(values < 0).argmax(axis=1)], 1.0)
    short = (true - reached) * space.motion(a, b)
    print(short.min(), short.max(), (true < 1).sum())
    assert short.min() > -1e-12
    assert np.array_equal(whole == 1.0, reached == 1.0)
    assert short.max() < 0.1  # (an interval ends at 8 times the resolution where one end is not clear)


def test_one_of_several_goals(planar):
    way = planar.plan([0.0, 0.0], [[np.pi / 2, 0.0], [1.0, -1.0]], [BALL])
    assert way.success
    assert way.q[-1].tolist() == [1.0, -1.0]


def test_no_way_is_said_to_be_not_found(planar):
    ring = [lw.Shape("world", "sphere", 0.3, origin=(1.8 * np.cos(t), 1.8 * np.sin(t), 0)) for t in (-0.6, 0.6)]
    ring += [lw.Shape("world", "sphere", 0.3, origin=(0.9 * np.cos(t), 0.9 * np.sin(t), 0)) for t in (-0.6, 0.6)]
    way = planar.plan([0.0, 0.0], [np.pi, 0.0], ring, iterations=20)
    assert not way.success
    assert way.reason == "not found"
    assert len(way.q) == 0
    with pytest.raises(ArgumentError, match="no path"):
        way.sample(10)


@pytest.mark.parametrize(
    ("q0", "goal", "message"),
    [
        ([np.pi / 2, 0.0], [0.0, 0.0], r"q0 is not clear.*ball.*apart at"),
        ([0.0, 0.0], [np.pi / 2, 0.0], r"goal is not clear.*link2"),
        ([0.0, 0.0], [100.0, 0.0], "goal: link1 is 100"),
        ([[0.0, 0.0]], [1.0, 0.0], "shapes"),
    ],
)
def test_bad_input(q0, goal, message):
    limited = lw.robots.planar_2r()
    limited = limited.replace(links=[link.replace(limits=(-4, 4)) for link in limited.links], shapes=RODS)
    with pytest.raises(ArgumentError, match=message):
        limited.plan(q0, goal, [BALL])


def test_loops_and_slides_without_limits_are_refused():
    slide = lw.Mechanism([lw.Link(joint="prismatic", name="a")], shapes=[lw.Shape("a", "sphere", 0.1, role="collision")])
    turning = lw.Mechanism([lw.Link(name="b"), *[link.replace(parent="b") for link in slide.links]], shapes=slide.shapes)
    with pytest.raises(ArgumentError, match="limits"):
        turning.plan([0.0, 0.0], [1.0, 0.0], [BALL])
