"""Joint velocities with ball joints, and beside bodies that float: they turn and move in their own axes."""

from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import joint_accelerations, joint_velocities, velocity_step
from linkwise.inverse_kinematics.velocity import follow, manipulability_gradient, towards_middle
from linkwise.solve.lengths import characteristic_length
from linkwise.spatial.rotation import rotation_about
from linkwise.trajectory import cartesian

EXACT = 1e-12
"""Residual of velocities of some 10 rad/s, of which each product with the Jacobian rounds by some 1e-14."""


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    place = np.eye(4)
    place[:3, 3] = x, y, z
    return place


@pytest.fixture(scope="module")
def limb() -> lw.Mechanism:
    """A shoulder on a slide, an elbow and a wrist, beside a ball that floats: nq 17, nv 14."""
    links = [
        lw.Link(name="cart", joint="prismatic", limits=(-0.2, 0.4), qd_max=0.5),
        lw.Link(name="upper", joint="ball", limits=(0, 1.2)),
        lw.Link(name="lower", before=at(z=-0.3), axis=(0, 1, 0), qd_max=2.0),
        lw.Link(name="hand", before=at(z=-0.25), joint="ball"),
        lw.Link(name="ball", joint="floating", parent="base"),
    ]
    return lw.Mechanism(links, tool=at(0.02, 0.0, -0.1), tool_link="hand", name="limb")


def motion(mech: lw.Mechanism, q: np.ndarray, qd: np.ndarray, **options: Any) -> np.ndarray:
    return (mech.jacobian(q, **options) @ qd[..., None])[..., 0]


@pytest.mark.parametrize("frame", ["world", "body"])
def test_the_frame_moves_as_asked_and_what_floats_rests(limb: lw.Mechanism, frame: str) -> None:
    q = limb.random_configuration(3, 200)
    twist = np.random.default_rng(3).normal(size=(200, 6))
    found = joint_velocities(limb, q, twist, frame=frame, limits=None)
    residual = np.abs(motion(limb, q, found.qd, frame=frame) - twist)[found.damping == 0.0].max()
    achieved = np.abs(motion(limb, q, found.qd, frame=frame) - found.achieved).max()
    print(f"limb, {frame}: {(found.damping == 0).mean():.0%} undamped, frame to {residual:.1e}, said to {achieved:.1e}")
    assert (found.damping == 0.0).mean() > 0.9
    assert residual < EXACT
    assert achieved < EXACT
    assert not found.qd[:, limb.manifold_joints[-1].v].any()


def test_of_all_velocities_it_is_the_shortest(limb: lw.Mechanism) -> None:
    """The pseudoinverse, with the slide and what floats over the characteristic length."""
    q = limb.random_configuration(4, 50)
    twist = np.random.default_rng(4).normal(size=(50, 6))
    found = joint_velocities(limb, q, twist, limits=None, damping=None)
    size = characteristic_length(limb)
    share = np.where(limb.is_linear_velocity, size, 1.0)
    expected = share * (np.linalg.pinv(limb.jacobian(q) * share) @ twist[..., None])[..., 0]
    residual = (np.abs(found.qd - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()
    print(f"limb: shortest to {residual:.1e}, relative")
    assert residual < 1e-10  # (the pseudoinverse by singular values, of positions with condition numbers up to 1e4)


def test_finite_differences_of_the_pose(limb: lw.Mechanism) -> None:
    q = limb.random_configuration(5, 20)
    twist = np.random.default_rng(5).normal(size=(20, 6))
    found, h = joint_velocities(limb, q, twist, limits=None), 1e-6
    after, before = (limb.forward_kinematics(limb.integrate(q, found.qd, step)) for step in (h, -h))
    residual = np.abs((after - before)[:, :3, 3] / (2 * h) - found.achieved[:, :3]).max()
    print(f"limb: velocity of the tool to {residual:.1e} m/s by differences")
    assert residual < np.abs(found.qd).max() ** 3 * h**2 + 1e-15 / h


@pytest.mark.usefixtures("uncompiled")
def test_accelerations(limb: lw.Mechanism) -> None:
    rng = np.random.default_rng(6)
    q, qd, wanted = limb.random_configuration(6, 50), rng.normal(size=(50, limb.nv)), rng.normal(size=(50, 6))
    for frame in ("world", "body"):
        found = joint_accelerations(limb, q, qd, wanted, frame=frame, limits=None)
        achieved = limb.frame_acceleration(q, qd, found.qdd, frame=frame)
        met = np.abs(achieved - wanted)[found.damping == 0.0].max()
        print(f"limb, {frame}: acceleration to {met:.1e}, said to {np.abs(achieved - found.achieved).max():.1e}")
        assert met < 1e-10  # (centripetal terms of several 10 m/s2 are compensated for)
        assert np.abs(achieved - found.achieved).max() < 1e-11


def test_bounds_weights_and_the_step_for_control_loops(limb: lw.Mechanism) -> None:
    q, twist = limb.random_configuration(7), np.array([0.4, -0.2, 0.3, 0.5, 0.1, -0.3])
    slow = joint_velocities(limb, q, 20.0 * twist)
    lower = limb.velocity_names.index("lower")
    assert slow.scale < 1.0
    assert np.isfinite(slow.high).tolist() == [False] * 12 + [True, True]
    assert max(abs(slow.qd[-2]) / 0.5, abs(slow.qd[lower]) / 2.0) == pytest.approx(1.0, abs=1e-12)
    assert "At a bound" in slow.explain()
    turned = joint_velocities(limb, q, twist, qd_max=np.full(limb.nv, 0.3), limits="qp")
    assert (np.abs(turned.qd) <= 0.3).all()
    weights = np.ones(limb.nv)
    weights[limb.manifold_joints[0].v] = np.inf
    held = joint_velocities(limb, q, twist, weights=weights, mask=[1, 1, 0, 1, 1, 1], limits=None, damping=None)
    assert not held.qd[limb.manifold_joints[0].v].any()
    step = velocity_step(limb)
    assert np.array_equal(step(q, twist)[0], joint_velocities(limb, q, twist).qd)
    near = limb.neutral.copy()
    near[-2] = 0.4 - 1e-4
    assert joint_velocities(limb, near, [1.0, 0, 0, 0, 0, 0], dt=0.01).high[-2] == pytest.approx(0.01)


def test_a_batch_equals_a_loop(limb: lw.Mechanism) -> None:
    q = limb.random_configuration(8, 5)
    twist = np.random.default_rng(8).normal(size=(5, 6))
    together = joint_velocities(limb, q, twist, dt=0.1)
    assert np.array_equal(together.qd, [joint_velocities(limb, *row, dt=0.1).qd for row in zip(q, twist, strict=True)])


def test_a_path_is_followed(limb: lw.Mechanism) -> None:
    q = limb.integrate(limb.neutral, np.random.default_rng(9).uniform(-0.5, 0.5, limb.nv), 1.0)
    q[-2] = 0.1
    start = limb.forward_kinematics(q)
    end = start @ at(0.05, 0.04, -0.03)
    end[:3, :3] = end[:3, :3] @ rotation_about(np.array([0.6, 0.0, 0.8]), 0.4)
    found = follow(limb, cartesian(start, end, 1.0), q, dt=0.01)
    print(f"limb: {found}")
    assert found.success
    assert (found.q.shape[1], found.qd.shape[1]) == (17, 14)
    assert np.abs(np.linalg.norm(found.q[:, limb.manifold_joints[0].quaternion], axis=1) - 1.0).max() < 1e-14
    rates = limb.difference(found.q[:-1], found.q[1:]) / np.diff(found.t)[:, None]
    assert np.abs(rates - 0.5 * (found.qd[1:] + found.qd[:-1])).max() < 1e-2 * np.abs(found.qd).max()


def test_secondary_motions(limb: lw.Mechanism) -> None:
    q, h = limb.random_configuration(10), 1e-6
    back = towards_middle(limb, q, 2.0)
    assert not back[:12].any()
    assert back[12:] == pytest.approx([2.0 * (0.1 - q[-2]), 0.0])
    slope = manipulability_gradient(limb, q)
    unit = np.repeat([1.0 / characteristic_length(limb), 1.0], 3)[:, None]
    measures = [
        np.sqrt(np.linalg.det((unit * (jac := limb.jacobian(limb.integrate(q, step, 1.0)))) @ (unit * jac).T))
        for step in np.concatenate([h * np.eye(limb.nv), -h * np.eye(limb.nv)])
    ]
    expected = (np.array(measures[: limb.nv]) - measures[limb.nv :]) / (2 * h)
    print(f"limb: slope of the manipulability to {np.abs(slope - expected).max():.1e}, of {np.abs(slope).max():.2g}")
    assert np.abs(slope - expected).max() < 1e-8 * max(measures)


def test_a_loop_through_a_ball_joint_stays_closed() -> None:
    """A crank drives a slider by a rod on a ball joint, which ends in a point of the slider."""
    links = [
        lw.Link(name="crank"),
        lw.Link(name="rod", joint="ball", parent="crank", before=at(0.1)),
        lw.Link(name="slider", joint="prismatic", axis=(1, 0, 0), parent="base"),
    ]
    loop = lw.Loop("point", "rod", "slider", at(0.3), at(0.3, 0.0, 0.05))
    mech = lw.Mechanism(links, loops=[loop], tool_link="slider", name="slider crank")
    q = mech.linkage(["crank"]).position([0.7]).q
    found = mech.joint_velocities(q, [0.2, 0, 0, 0, 0, 0], mask=[1, 0, 0, 0, 0, 0], damping=None)
    opened = np.abs(mech.kernel("closure_jacobian")(q) @ found.qd).max()
    print(f"{mech.name}: {found}, open at {opened:.1e} m/s")
    assert found.exact
    assert opened < 1e-14 * max(1.0, np.abs(found.qd).max())
    assert found.qd[-1] == pytest.approx(0.2, abs=1e-13)


def test_mistakes_are_named(limb: lw.Mechanism) -> None:
    cases = [
        ({"q": np.zeros(14)}, r"q has the shape \(14,\); expected \(\.\.\., 17\)"),
        ({"secondary": np.zeros(17)}, r"secondary.*14"),
        ({"weights": np.ones(17)}, "weights.*14 numbers"),
        ({"qd_max": np.ones(2)}, "qd_max.*14 numbers"),
    ]
    for wrong, pattern in cases:
        with pytest.raises(ArgumentError, match=pattern):
            joint_velocities(limb, **{"q": limb.neutral, "twist": np.zeros(6)} | wrong)


def test_a_floating_base_moves_as_a_link_that_floats() -> None:
    """To rounding, velocities and accelerations; weights hold it, and the arm alone then moves the frame."""
    links = [lw.Link(name=f"l{k}", before=at(0.1, 0.0, 0.3), axis=axis) for k, axis in enumerate(np.eye(3))]
    links += [lw.Link(name=f"m{k}", before=at(0.0, 0.1, 0.2), axis=axis) for k, axis in enumerate(np.eye(3))]
    craft = lw.Mechanism(links, floating=True)
    body = lw.Mechanism([lw.Link(name="body", joint="floating"), *links])
    rng = np.random.default_rng(8)
    q, (twist, other) = craft.random_configuration(8, 20), rng.normal(size=(2, 20, 6))
    qd = joint_velocities(craft, q, twist, limits=None).qd
    assert np.abs(qd - joint_velocities(body, q, twist, limits=None).qd).max() < EXACT
    assert np.abs(motion(craft, q, qd) - twist).max() < EXACT
    qdd = joint_accelerations(craft, q, qd, other, limits=None).qdd
    assert np.abs(qdd - joint_accelerations(body, q, qd, other, limits=None).qdd).max() < 10 * EXACT
    held = joint_velocities(craft, q, twist, limits=None, damping=None, weights=[np.inf] * 6 + [1.0] * 6)
    assert not held.qd[:, :6].any()
    assert np.abs(motion(craft, q, held.qd) - twist).max() < EXACT * (1 + np.abs(held.qd).max())
    bodily = np.abs(manipulability_gradient(craft, q) - manipulability_gradient(body, q)).max()
    assert bodily < EXACT
