"""Joint speeds for a twist: exact where they can be, told where they cannot, never too fast near singular positions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, Mimic
from linkwise.inverse_kinematics import VELOCITY_REASONS, joint_velocities, velocity_step
from linkwise.inverse_kinematics.velocity.kernel import frame_motion
from linkwise.solve.lengths import characteristic_length
from support.random_mechanisms import sample

Robots = Callable[[str], Mechanism]

EXACT = 1e-12
"""Residual of speeds up to 50 rad/s, of which each product with the Jacobian rounds by some 1e-14."""


def states(mech: Mechanism, count: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-2.5, 2.5, (count, mech.n)), rng.normal(size=(count, 6))


def apart(a: Any, b: Any) -> float:
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


def given(mech: Mechanism, q: np.ndarray, qd: np.ndarray, **options: Any) -> np.ndarray:
    """The twist by the Jacobian that the mechanism has."""
    return (mech.jacobian(q, **options) @ qd[..., None])[..., 0]


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_away_from_singular_positions_it_is_exact_and_the_shortest(robot: Robots, name: str) -> None:
    mech = robot(name)
    q, twist = states(mech)
    made = joint_velocities(mech, q, twist, weights=np.ones(mech.n))
    far = made.damping == 0.0
    assert far.mean() > 0.8
    assert apart(given(mech, q, made.qd)[far], twist[far]) < EXACT
    assert apart(made.achieved, given(mech, q, made.qd)) < EXACT  # another recursion than the Jacobian's
    pinv = (np.linalg.pinv(mech.jacobian(q)) @ twist[..., None])[..., 0]
    assert apart(made.qd[far], pinv[far]) < 50 * EXACT  # the condition number of J, below 50
    assert np.array_equal(made.exact, made.reason == "met")
    assert made.exact[far].all()


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_near_singular_positions_only_what_is_lost_is_damped(robot: Robots, name: str) -> None:
    """Against the same filter by NumPy's singular values, at positions with joints at zero, where arms are singular."""
    mech = robot(name)
    q, twist = states(mech)
    q = np.where(np.random.default_rng(1).random(q.shape) < 0.4, 0.0, q)
    q[:100, 4] = np.random.default_rng(2).normal(scale=0.02, size=100)
    made = joint_velocities(mech, q, twist)
    unit = np.repeat([1.0 / characteristic_length(mech), 1.0], 3)
    left, values, right = np.linalg.svd(mech.jacobian(q) * unit[:, None], full_matrices=False)
    gains = np.where(values > 1e-12 * values[:, :1], values / np.maximum(values, 0.02) ** 2, 0.0)
    along = np.sum(left * (twist * unit)[:, :, None], axis=1)
    expected = np.sum(right * (gains * along)[:, :, None], axis=1)
    assert apart(made.qd, expected) < 1e-9  # singular vectors round by eps over the gap, times 1/0.02
    assert apart(made.singular_value, values[:, -1]) < 1e-14
    assert apart(made.damping, np.sqrt(np.maximum(0.02**2 - values[:, -1] ** 2, 0.0))) < 1e-8  # the root of the rounding
    damped = made.damping > 0.0
    assert 0.2 < damped.mean() < 0.95
    assert np.all(np.linalg.norm(made.qd, axis=-1) <= np.linalg.norm(twist * unit, axis=-1) / 0.02 * (1 + 1e-12))
    residual = made.achieved - twist
    assert apart(made.linear_residual, np.linalg.norm(residual[:, :3], axis=-1)) < EXACT
    assert apart(made.angular_residual, np.linalg.norm(residual[:, 3:], axis=-1)) < EXACT
    assert set(made.reason[damped]) == {"damped"}


def test_a_twist_that_a_singular_position_can_give_is_met(robot: Robots) -> None:
    mech = robot("puma560")
    q = np.array([0.3, 0.9, -2.6, 0.4, 0.0, 0.2])  # the wrist is straight
    qd = np.array([0.2, -0.1, 0.3, 0.4, -0.2, 0.1])
    made = joint_velocities(mech, q, given(mech, q, qd))
    assert made.damping > 0.0
    assert made.singular_value < 1e-15
    assert made.exact
    assert apart(made.achieved, given(mech, q, qd)) < EXACT


def test_damping_by_a_number_is_the_plain_damped_least_squares(robot: Robots) -> None:
    mech = robot("puma560")
    q, twist = states(mech, 50)
    made = joint_velocities(mech, q, twist, damping=0.1)
    unit = np.repeat([1.0 / characteristic_length(mech), 1.0], 3)
    jac = mech.jacobian(q) * unit[:, None]
    turned = np.swapaxes(jac, -1, -2)
    expected = (turned @ np.linalg.solve(jac @ turned + 0.01 * np.eye(6), (twist * unit)[..., None]))[..., 0]
    assert apart(made.qd, expected) < 1e-12
    assert np.all(made.damping == 0.1)
    assert set(made.reason) == {"damped"}


def test_without_damping_only_true_zeros_are_left_out(robot: Robots) -> None:
    mech = robot("puma560")
    q = np.array([0.3, 0.9, -2.6, 0.4, 1e-6, 0.2])
    made = joint_velocities(mech, q, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], damping=None)
    assert made.exact
    assert made.damping == 0.0
    assert np.abs(made.qd).max() > 1e4
    there = joint_velocities(mech, np.where(np.arange(6) == 4, 0.0, q), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], damping=None)
    assert there.reason == "lacking"
    assert np.abs(there.qd).max() < 10
    assert "joints give 5 independently" in there.explain()


def test_finite_differences_of_the_pose(robot: Robots) -> None:
    mech = robot("panda")
    q, twist = states(mech, 20, seed=3)
    made = joint_velocities(mech, q, twist)
    h = 1e-6
    after, before = (mech.forward_kinematics(q + step * made.qd) for step in (h, -h))
    velocity = (after[..., :3, 3] - before[..., :3, 3]) / (2 * h)
    turn = (
        (after[..., :3, :3] - before[..., :3, :3]) @ np.swapaxes(mech.forward_kinematics(q)[..., :3, :3], -1, -2) / (2 * h)
    )
    spin = np.stack([turn[..., 2, 1], turn[..., 0, 2], turn[..., 1, 0]], axis=-1)
    size = np.abs(made.qd).max() ** 3
    assert apart(made.achieved, np.concatenate([velocity, spin], axis=-1)) < size * h**2 + 1e-16 / h * 10


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(("seed", "frame"), [(0, "world"), (2, "body"), (3, "body"), (6, "world")])
def test_any_tree_with_any_joints_gets_what_its_joints_can_give(seed: int, frame: str) -> None:
    """Screws, slides, branches, few joints: twists that speeds give are found again, whatever the number of joints."""
    mech = sample(seed).replace(name="own")
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-2, 2, (60, mech.n)), rng.normal(size=(60, mech.n))
    twist = given(mech, q, qd, frame=frame)
    made = joint_velocities(mech, q, twist, frame=frame)
    far = made.damping == 0.0
    assert far.any()
    assert apart(made.achieved[far], twist[far]) < EXACT
    assert apart(made.achieved, given(mech, q, made.qd, frame=frame)) < EXACT
    assert np.all(np.linalg.norm(made.qd, axis=-1)[far] <= 1.5 * np.linalg.norm(qd, axis=-1)[far] * (1 + _most_weight(made)))


def _most_weight(made: Any) -> float:
    """By how much weights may make an answer longer than another one."""
    weights = made.task.weights
    return float(np.sqrt(weights.max() / weights.min()))


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("seed", [1, 5])
def test_joints_that_follow_others_have_no_speed_of_their_own(seed: int) -> None:
    links = list(sample(seed).links)
    moving = [k for k, link in enumerate(links) if link.moves]
    links[moving[-1]] = links[moving[-1]].replace(mimic=Mimic(links[moving[0]].coordinate_name, -0.7, 0.2), dh_row=None)
    mech = sample(seed).replace(links=links)
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-2, 2, (20, mech.n)), rng.normal(size=(20, mech.n))
    twist = given(mech, q, qd)
    made = joint_velocities(mech, q, twist)
    far = made.damping == 0.0
    assert far.any()
    assert apart(made.achieved[far], twist[far]) < EXACT
    assert apart(made.achieved, given(mech, q, made.qd)) < EXACT


def test_fewer_joints_than_components(robot: Robots) -> None:
    arm = robot("planar_3r")
    q, twist = states(arm, 50, seed=4)
    plane = joint_velocities(arm, q, twist, mask=[1, 1, 0, 0, 0, 1])
    far = plane.damping == 0.0
    assert far.mean() > 0.9
    assert apart(plane.achieved[far][:, [0, 1, 5]], twist[far][:, [0, 1, 5]]) < EXACT
    assert plane.exact[far].all()
    whole = joint_velocities(arm, q, twist, length=1.0)
    expected = np.array(
        [np.linalg.lstsq(j, t, rcond=None)[0] for j, t in zip(arm.jacobian(q[far]), twist[far], strict=True)]
    )
    assert apart(whole.qd[far], expected) < 1e-11
    assert set(whole.reason[far]) == {"lacking"}
    assert "Of the 6 components that count the joints give 3 independently." in whole.explain(int(np.flatnonzero(far)[0]))
    missing = np.linalg.norm((whole.achieved - twist)[:, :3], axis=-1)
    assert apart(whole.linear_residual, missing) < EXACT


@pytest.mark.usefixtures("uncompiled")
def test_a_planar_arm_asked_for_a_whole_twist_of_its_plane_is_exact_with_any_number_of_joints() -> None:
    """The Jacobian of 6 rows has rank 3: what is always zero is no reason to damp the rest."""
    snake = Mechanism.from_dh([(0, 0, 0.2, 0)] * 5, convention="standard")
    rng = np.random.default_rng(0)
    q, twist = rng.uniform(-1, 1, (20, 5)), rng.normal(size=(20, 6)) * [1, 1, 0, 0, 0, 1]
    for mask in (None, [1, 1, 1, 0, 0, 1]):  # more rows than joints, and fewer
        made = joint_velocities(snake, q, twist, mask=mask)
        assert made.exact.all()
        assert apart(made.achieved, twist) < EXACT


@pytest.mark.usefixtures("uncompiled")
def test_size_of_the_arm_does_not_matter() -> None:
    """A model in other units: the same share of what was asked for, the same singular values, the same filter."""
    rows = [(0, 0.4, 0.1, np.pi / 2), (0, 0.0, 0.5, -np.pi / 2), (0, 0.1, 0.05, np.pi / 2), (0, 0.4, 0.3, 0.0)]
    small = [(theta, d / 8, a / 8, alpha) for theta, d, a, alpha in rows]
    arm, tiny = (Mechanism.from_dh(table, convention="standard", joints="RRPR") for table in (rows, small))
    length = characteristic_length(arm)
    rng = np.random.default_rng(0)
    q, twist, slides = rng.uniform(-1, 1, (50, 4)), rng.normal(size=(50, 6)), np.arange(4) == 2
    unit = np.repeat([1 / 8, 1.0], 3)
    mask = [1, 1, 1, 0, 0, 0]
    one = joint_velocities(arm, q, twist, length=length, region=0.3, mask=mask)
    other = joint_velocities(tiny, np.where(slides, q / 8, q), twist * unit, length=length / 8, region=0.3, mask=mask)
    assert (one.damping > 0).any()
    assert apart(one.singular_value, other.singular_value) < 1e-14
    assert apart(one.qd, np.where(slides, 8 * other.qd, other.qd)) < 1e-9
    assert abs(characteristic_length(tiny) / characteristic_length(arm) - 1 / 8) < 0.01  # to two digits


def test_weights_shift_the_motion_to_light_joints(robot: Robots) -> None:
    mech = robot("panda")
    q, twist = states(mech, 50, seed=5)
    weights = np.array([1.0, 5.0, 0.2, 1.0, 10.0, 1.0, 3.0])
    made = joint_velocities(mech, q, twist, weights=weights, damping=None)
    jac = mech.jacobian(q)
    shared = np.swapaxes(jac, -1, -2) / weights[:, None]
    expected = (shared @ np.linalg.solve(jac @ shared, twist[..., None]))[..., 0]
    assert apart(made.qd, expected) < 1e-9 * np.abs(expected).max()
    rest = joint_velocities(mech, q, twist, weights=[1, 1, 1, np.inf, 1, 1, 1], secondary=np.ones(7))
    assert np.all(rest.qd[:, 3] == 0.0)
    assert rest.exact.any()


@pytest.mark.usefixtures("uncompiled")
def test_locked_joints_are_no_singular_position() -> None:
    """An arm without a joint lacks a component everywhere: that is said, and the others are met as if there were no such."""
    arm = Mechanism.from_dh([(0, 0, 0.5, 0)] * 3, convention="standard")
    q, mask = np.array([0.3, 0.8, -0.5]), [1, 1, 0, 0, 0, 1]
    locked = joint_velocities(arm, q, [0.1, 0.2, 0, 0, 0, 0.5], mask=mask, weights=[1, np.inf, 1])
    assert locked.reason == "lacking"
    assert locked.damping == 0.0
    assert locked.singular_value > 0.02
    assert locked.qd[1] == 0.0
    assert "the joints give 2 independently" in locked.explain()
    possible = arm.jacobian(q) @ [0.3, 0.0, -0.4]
    assert joint_velocities(arm, q, possible, mask=mask, weights=[1, np.inf, 1]).exact


@pytest.mark.usefixtures("uncompiled")
def test_slides_are_counted_by_the_length() -> None:
    """A slide and a turn that give the same: metres weigh one over the square of the length."""
    arm = Mechanism([Link(joint="prismatic", axis=(0, 1, 0)), Link(joint="revolute")], tool=_ahead(2.0))
    made = joint_velocities(arm, [0.0, 0.0], [0, 1, 0, 0, 0, 0], mask=[0, 1, 0, 0, 0, 0])
    length = made.task.length
    assert length == 2.0
    assert apart(made.qd, [0.5, 0.25]) < 1e-15  # least (d/2)^2 + t^2 with d + 2 t = 1
    plain = joint_velocities(arm, [0.0, 0.0], [0, 1, 0, 0, 0, 0], mask=[0, 1, 0, 0, 0, 0], weights=[1, 1])
    assert apart(plain.qd, [0.2, 0.4]) < 1e-15


def _ahead(x: float) -> np.ndarray:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def test_another_link_of_the_arm(robot: Robots) -> None:
    mech = robot("puma560")
    q, qd = states(mech, 10)[0], np.random.default_rng(8).normal(size=(10, 6))
    name = mech.link_names[2]
    twist = given(mech, q, qd, link=name)
    made = joint_velocities(mech, q, twist, link=name)
    assert apart(made.achieved, twist) < EXACT
    assert apart(made.qd[:, 3:], 0.0) < 1e-15


def test_a_batch_equals_a_loop_and_shapes_broadcast(robot: Robots) -> None:
    mech = robot("puma560")
    q, twist = states(mech, 12)
    q[:4, 4] = 0.0
    made = joint_velocities(mech, q.reshape(3, 4, 6), twist.reshape(3, 4, 6), qd_max=1.0)
    assert made.qd.shape == (3, 4, 6)
    assert made.scale.shape == made.reason.shape == (3, 4)
    for k in range(12):
        one = joint_velocities(mech, q[k], twist[k], qd_max=1.0)
        place = np.unravel_index(k, (3, 4))
        assert np.array_equal(one.qd, made.qd[place])
        assert np.array_equal(one.diagnostics, made.diagnostics[place])
        assert one.reason == made.reason[place]
        assert one.explain() == made.explain(tuple(int(i) for i in place))
    assert joint_velocities(mech, q[0], twist).qd.shape == (12, 6)
    assert joint_velocities(mech, np.zeros((0, 6)), twist[0]).qd.shape == (0, 6)
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(again.reason, made.reason)
    assert again.explain((1, 2)) == made.explain((1, 2))
    assert repr(made).startswith("<VelocitySolution: (3, 4): ")


def test_the_step_for_control_loops_gives_the_same(robot: Robots) -> None:
    mech = robot("puma560")
    q, twist = states(mech, 5)
    step = velocity_step(mech, qd_max=1.0)
    for k in range(5):
        qd, twist_given, diagnostics = step(q[k], twist[k])
        made = joint_velocities(mech, q[k], twist[k], qd_max=1.0)
        assert np.array_equal(qd, made.qd)
        assert np.array_equal(twist_given, made.achieved)
        assert np.array_equal(diagnostics, made.diagnostics)


def test_every_reason_is_explained(robot: Robots) -> None:
    mech = robot("puma560")
    q = np.array([0.3, 0.9, -2.6, 0.4, 0.0, 0.2])
    made = joint_velocities(mech, q, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    text = made.explain()
    assert text.startswith(f"damped: {VELOCITY_REASONS['damped']}.")
    assert "The least singular value is 0, damped below 0.02; the motion that goes with it: " in text
    worst = made.task.matrix(q).T @ (made.task.unit * [0, 0, 0, 1, 1, 1])
    assert np.isfinite(worst).all()
    assert f"Missing: {made.linear_residual:.4g} m/s, {made.angular_residual:.4g} rad/s." in text


@pytest.mark.usefixtures("uncompiled")
def test_forward_pass_agrees_with_the_jacobian_on_symbols_too() -> None:
    mech = sample(2).replace(name="own")
    rng = np.random.default_rng(2)
    q, qd, qdd = (rng.normal(size=mech.n) for _ in range(3))
    for frame in ("world", "body"):
        velocity, acceleration = frame_motion(mech, q, qd, qdd, "tool", frame)
        jac, rate = mech.jacobian(q, frame=frame), mech.jacobian_dot(q, qd, frame=frame)
        assert apart(velocity.astype(float), jac @ qd) < 1e-13
        assert apart(acceleration.astype(float), jac @ qdd + rate @ qd) < 1e-12
