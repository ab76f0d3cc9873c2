"""Distances, witness points and gradients against coal and differences, and which pairs are left out."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.spatial.transform import transform
from support.collision import panda, scattered

RODS = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]


@pytest.fixture(scope="module")
def arm():
    return panda()


@pytest.fixture(scope="module")
def measured(arm):
    q, obstacles = arm.random_configuration(3, 40), scattered(0, 10, 10)
    return q, obstacles, arm.clearance(q, obstacles)


def test_spheres_and_capsules_agree_with_coal(arm, measured):
    pytest.importorskip("coal")
    q, obstacles, result = measured
    exact = arm.clearance(q, obstacles, exact=True)
    error = abs(result.distance - exact.distance).max()
    apart = exact.distance > 0
    points = abs(result.points - exact.points)[apart].max()
    print(result, error, points, (~apart).sum())
    assert error < 1e-14  # (rounding of sums of lengths up to 2 m)
    assert points < 1e-12
    assert (~apart).any()
    assert not result.excess.any()


def test_gradients_are_those_of_the_distances(arm, measured):
    """Central differences of 1e-6 rad: an error of 1e-12 / 1e-6 from rounding, 1e-12 from the third derivative."""
    q, obstacles, result = measured
    h = 1e-6 * np.eye(7)
    shifted = [[arm.clearance(q + side * step, obstacles).distance for side in (1, -1)] for step in h]
    differences = np.stack([(up - down) / 2e-6 for up, down in shifted], axis=-1)
    error = abs(differences - result.gradient).max(axis=-1)
    print(np.sort(error.ravel())[-3:])
    assert error.max() < 1e-8


def test_witness_points_lie_on_the_shapes_at_that_distance(measured):
    _, _, result = measured
    between = np.linalg.norm(result.points[..., 1, :] - result.points[..., 0, :], axis=-1)
    assert abs(between - abs(result.distance)).max() < 1e-14


def test_a_batch_is_a_loop(arm, measured):
    q, obstacles, result = measured
    assert np.array_equal(arm.clearance(q.reshape(2, 20, 7), obstacles).distance, result.distance.reshape(2, 20, -1))
    assert np.array_equal(arm.clearance(q[5], obstacles).distance, result.distance[5])
    assert tuple(arm.clearance(q[5], obstacles).nearest) == tuple(result.nearest[5])


@pytest.mark.parametrize(
    ("kind", "size"), [("box", (0.3, 0.02, 0.4)), ("cylinder", (0.1, 0.3)), ("ellipsoid", (0.2, 0.1, 0.05))]
)
def test_other_shapes_bound_the_distances_of_coal_from_below(kind, size):
    """And by no more than they say.

    A box of coal reaches 1e-10 of its half edges farther on its negative sides where the first direction in the process that
    coal took of a box had a component of zero (`inflate` in its `support_functions.cpp`).
    """
    pytest.importorskip("coal")
    arm = lw.robots.planar_2r().with_shapes(RODS)
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    obstacle = lw.Shape("world", kind, size, origin=transform(turn * np.linalg.det(turn), [0.5, 1.2, 0.1]))
    q = arm.random_configuration(2, 200)
    bound, exact = arm.clearance(q, [obstacle]), arm.clearance(q, [obstacle], exact=True)
    slack = exact.distance - bound.distance
    apart = exact.distance > 0
    print(kind, slack[apart].min(), slack[apart].max(), bound.excess)
    farther = 1e-10 * np.linalg.norm(size) / 2.0 if kind == "box" else 0.0
    assert slack[apart].min() > -1e-12 - farther
    assert (slack[apart].max(axis=0) if slack[apart].ndim > 1 else slack[apart].max()) <= bound.excess.max() + 1e-9


def _reach(kind, size, u):
    """Support functions."""
    if kind == "sphere":
        return np.full(len(u), size)
    if kind == "cylinder":
        return size[0] * np.hypot(u[:, 0], u[:, 1]) + 0.5 * size[1] * np.abs(u[:, 2])
    return np.abs(u) @ np.array(size) / 2.0 if kind == "box" else np.linalg.norm(u * np.array(size), axis=1)


@pytest.mark.parametrize("kind", ["sphere", "box", "ellipsoid"])
def test_no_direction_leads_out_of_an_overlap_sooner_than_the_exact_depth(kind):
    """Support functions in 4,000 directions; coal alone is wrong by up to three times, or by 1e308, once in 200 pairs."""
    pytest.importorskip("coal")
    rng = np.random.default_rng(0)
    size = {"sphere": 0.15, "box": (0.23, 0.25, 0.49), "ellipsoid": (0.05, 0.1, 0.2)}[kind]
    turns = np.linalg.qr(rng.normal(size=(300, 3, 3)))[0]
    turns *= np.linalg.det(turns)[:, None, None]
    offsets = rng.uniform(-0.12, 0.12, size=(300, 3))
    obstacles = [lw.Shape("world", kind, size, origin=transform(R, p)) for R, p in zip(turns, offsets, strict=True)]
    can = lw.Mechanism([lw.Link(name="can")], shapes=[lw.Shape("can", "cylinder", (0.19, 0.29), role="collision")])
    exact = can.clearance([0.0], obstacles, exact=True)
    u = rng.normal(size=(4000, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    own = _reach("cylinder", (0.19, 0.29), u)
    apart = [(u @ p - own - _reach(kind, size, -u @ R)).max() for R, p in zip(turns, offsets, strict=True)]
    print(kind, exact.distance.min(), (exact.distance - apart).min(), (exact.distance - apart).max())
    assert (exact.distance >= np.array(apart) - 2e-6).all()
    assert (exact.distance <= np.array(apart) + 0.03).all()  # (0.06 rad between 4,000 directions, half a metre)


@pytest.mark.parametrize(
    ("kind", "size", "depth"),
    [("cylinder", (0.1, 0.3), 0.2), ("ellipsoid", (0.1, 0.2, 0.3), 0.2), ("capsule", (0.1, 0.3), 0.2)],
)
def test_exact_depth_of_concentric_shapes(kind, size, depth):
    pytest.importorskip("coal")
    body = lw.Mechanism([lw.Link(name="a")], shapes=[lw.Shape("a", kind, size, role="collision")])
    result = body.clearance([[0.0], [0.0]], [lw.Shape("world", kind, size)], exact=True)
    assert np.abs(result.distance + depth).max() < 1e-8
    assert np.abs(np.linalg.norm(result.points[..., 0, :] - result.points[..., 1, :], axis=-1) - depth).max() < 1e-8
    assert body.clearance(np.zeros((0, 1)), [lw.Shape("world", kind, size)], exact=True).distance.shape == (0, 1)


def test_pairs_left_out_are_stated():
    """Neighbours; what the base never meets; what always meets."""
    links = [lw.Link(joint="revolute", name="a"), lw.Link(name="b", before=transform(None, [0.5, 0, 0]))]
    links += [lw.Link(name="c", before=transform(None, [0.1, 0, 0])), lw.Link(name="d", before=transform(None, [2.0, 0, 0]))]
    shapes = [lw.Shape(name, "sphere", 0.3, role="collision") for name in "abcd"]
    arm = lw.Mechanism(links, shapes=shapes)
    result = arm.clearance(np.zeros(4))
    reasons = {(left.first, left.second): left.reason for left in result.left_out}
    assert reasons["a", "b"] == reasons["b", "c"] == reasons["c", "d"] == "neighbours"
    assert reasons["a", "c"] == "always"
    assert {("a", "d"), ("b", "d")} <= {*reasons, *result.pairs}
    named = arm.clearance(np.zeros(4), disabled=[("d", "a", "Never"), ("c", "a")])
    assert named.pairs == (("b", "d"),)
    assert {left.reason for left in named.left_out} == {"neighbours", "disabled"}


def test_fixed_links_count_as_one_body():
    links = [lw.Link(name="a"), lw.Link(name="plate", joint="fixed", before=transform(None, [1.0, 0, 0])), lw.Link(name="b")]
    arm = lw.Mechanism(links, shapes=[lw.Shape(name, "sphere", 0.1, role="collision") for name in ("a", "plate", "b")])
    assert arm.clearance([0.0, 0.0]).pairs == ()
    assert np.isinf(arm.clearance([0.0, 0.0]).least)


def test_a_floating_base_and_joints_that_follow():
    """Gradients by moving along each velocity."""
    links = [lw.Link(name="body", joint="fixed", mass=1.0), lw.Link(name="a", before=transform(None, [0.2, 0, 0]))]
    follower = lw.Link(name="b", before=transform(None, [0.5, 0, 0]), axis=(0, 1, 0), mimic=lw.Mimic("a", -2.0, 0.1))
    shapes = [lw.Shape.rod(name, (0, 0, 0), (0.4, 0.1, 0), 0.05) for name in ("base", "a", "b")]
    boat = lw.Mechanism([*links, follower], floating=True, shapes=shapes)
    q, ball = boat.random_configuration(1), lw.Shape("world", "sphere", 0.1, origin=(2.0, 0, 0))
    result = boat.clearance(q, [ball])
    steps = 1e-6 * np.eye(boat.nv)
    differences = [(boat.clearance(boat.integrate(q, s), [ball]).distance
                    - boat.clearance(boat.integrate(q, -s), [ball]).distance) / 2e-6 for s in steps]  # fmt: skip
    print(abs(np.stack(differences, -1) - result.gradient).max(), result.pairs)
    assert abs(np.stack(differences, -1) - result.gradient).max() < 1e-8


def test_shapes_stay_with_their_links():
    """Attached, cut out and locked mechanisms have the same distances."""
    arm, ball = lw.robots.planar_2r().with_shapes(RODS), lw.Shape("world", "sphere", 0.1, origin=(1.5, 0.7, 0.2))
    whole = arm.clearance([0.3, 0.4], [ball]).distance[-1]
    assert abs(arm.subtree("link2", [0.3, 0.0]).clearance([0.4], [ball]).distance[-1] - whole) < 1e-15
    assert abs(arm.lock({"link1": 0.3}).clearance([0.4], [ball]).distance[-1] - whole) < 1e-15
    pair = arm.attach(arm, to="base", prefix="other_")
    assert abs(pair.clearance([1.3, 0.1, 0.3, 0.4], [ball]).distance[-1] - whole) < 1e-15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda arm: lw.robots.planar_2r().clearance([0, 0]), "no collision shapes"),
        (lambda arm: arm.clearance([0, 0], "ball"), "obstacles"),
        (lambda arm: arm.clearance([0, 0], [1.0]), "obstacles"),
        (lambda arm: arm.clearance([0, 0], {"link1": lw.Shape("world", "sphere", 1.0)}), "name of a shape"),
        (lambda arm: arm.clearance([0, 0], [lw.Shape("world", "sphere", 1.0, name="x")] * 2), "twice"),
        (lambda arm: arm.clearance([0, 0, 0]), r"q has the shape|q is"),
        (lambda arm: arm.clearance([0, 0], disabled=[("link1", "arm")]), "arm"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(lw.robots.planar_2r().with_shapes(RODS))


def test_a_shape_on_no_link_is_refused():
    with pytest.raises(lw.errors.ModelError, match="elbow"):
        lw.robots.planar_2r().with_shapes([lw.Shape("elbow", "sphere", 0.1)])


def upright(name: str, joint: str = "revolute", **fields) -> lw.Mechanism:
    """A link of that name, and a bar on it, with a sphere each."""
    bar = lw.Link(name="bar", parent=name, mass=1.0, before=np.asarray(transform(None, [1.0, 0.0, 0.0])))
    shapes = [lw.Shape(link, "sphere", 0.1, role="collision") for link in (name, "bar")]
    return lw.Mechanism([lw.Link(name=name, joint=joint, mass=1.0, inertia=(1, 1, 1)), bar], shapes=shapes, **fields)


def test_an_obstacle_on_a_link_is_refused():
    """It stands in the world frame: on a link that is called "world", or any other, it would be read in two ways."""
    ball = lw.Shape("world", "sphere", 0.1, origin=(2.0, 0.0, 0.0), name="ball")
    at_bar, q = lw.Shape("bar", "sphere", 0.1, origin=(2.0, 0.0, 0.0)), [0.3, 0.1]
    moving = upright("world")
    lifted = moving.replace(base=np.asarray(transform(None, [0.0, 0.0, 0.5]))).lock({"world": 0.0})
    floating = upright("world", "fixed", floating=True)
    states = ((moving, q), (lifted, q[:1]), (floating, [0, 0, 0, 1, 0, 0, 0, 0.1]))
    for mechanism, state in states:
        with pytest.raises(ArgumentError, match="'ball' is on 'world', a link of"):
            mechanism.clearance(state, [ball])
    with pytest.raises(ArgumentError, match="'obstacle1' is on 'bar', a link of"):
        moving.clearance(q, [at_bar])
    with pytest.raises(ArgumentError, match="'ball' is on 'world', a link of"):
        lw.clearance.plan(moving, q, [0.5, 0.1], [ball])
    with pytest.raises(ArgumentError, match="'ball' is on 'world', a link of"):
        moving.solve([lw.Coordinate("bar", 0.1), lw.Clear(0.01, [ball])])
    with pytest.raises(ArgumentError, match="'ball' is on 'world', a link of"):
        lw.control.Chain(moving, [lw.Clear(0.01, [ball])], q0=q)


def test_a_link_whose_frame_is_the_worlds_may_be_named():
    """As the root of many URDFs is: both readings are one."""
    fixed = upright("world", "fixed")
    ball = lw.Shape("world", "sphere", 0.1, origin=(2.0, 0.0, 0.0), name="ball")
    elsewhere = lw.Shape("room", "sphere", 0.1, origin=(2.0, 0.0, 0.0), name="ball")
    assert fixed.clearance([0.3], [ball]).distance == pytest.approx([0.8], abs=1e-15)
    assert np.array_equal(fixed.clearance([0.3], [ball]).distance, fixed.clearance([0.3], [elsewhere]).distance)
    assert upright("world").clearance([0.3, 0.1], [elsewhere]).distance.shape == (2,)
