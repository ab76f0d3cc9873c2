"""Joint accelerations for that of a frame: J qdd = a - dJ/dt qd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.inverse_kinematics import joint_accelerations, joint_velocities
from linkwise.spacelib.programs import formats
from linkwise.spacelib.programs.elbow import elb_d_dh, read_guess, read_lengths
from linkwise.spacelib.programs.elbow_inverse import elb_i_dh, six, target
from linkwise.spacelib.programs.laws import joint_motion
from support.random_mechanisms import sample

pytestmark = pytest.mark.usefixtures("uncompiled")  # (the robot is of this folder alone)


def apart(a: Any, b: Any) -> float:
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


def test_exact_away_from_singular_positions(elbow: Mechanism) -> None:
    mech = elbow
    rng = np.random.default_rng(0)
    q, qd, wanted = rng.uniform(-2, 2, (300, mech.n)), rng.normal(size=(300, mech.n)), rng.normal(size=(300, 6))
    made = joint_accelerations(mech, q, qd, wanted)
    far = made.damping == 0.0
    assert far.mean() > 0.8
    jac, rate = mech.jacobian(q), mech.jacobian_dot(q, qd)
    there = (jac @ made.qdd[..., None] + rate @ qd[..., None])[..., 0]
    assert apart(made.achieved, there) < 1e-11  # accelerations up to 500 rad/s2
    assert apart(there[far], wanted[far]) < 1e-11
    assert made.exact[far].all()
    assert apart(made.damping, joint_velocities(mech, q, wanted).damping) < 1e-15


def test_second_differences_of_the_pose(elbow: Mechanism) -> None:
    mech = elbow
    rng = np.random.default_rng(1)
    q, qd, wanted = rng.uniform(-2, 2, (20, 6)), rng.normal(size=(20, 6)), rng.normal(size=(20, 6))
    made = joint_accelerations(mech, q, qd, wanted)
    h = 1e-4
    places = [mech.forward_kinematics(q + t * qd + 0.5 * t * t * made.qdd)[..., :3, 3] for t in (-h, 0.0, h)]
    found = (places[0] - 2 * places[1] + places[2]) / h**2
    size = max(1.0, np.abs(qd).max() + np.sqrt(np.abs(made.qdd).max())) ** 4
    assert apart(found, made.achieved[:, :3]) < size * h**2 + 10 * 2e-16 / h**2


@pytest.mark.parametrize(("seed", "frame"), [(0, "world"), (3, "body")])
def test_any_tree_with_any_joints(seed: int, frame: str) -> None:
    mech = sample(seed).replace(name="own")
    rng = np.random.default_rng(seed)
    q, qd, qdd = (rng.normal(size=(30, mech.n)) for _ in range(3))
    jac, rate = mech.jacobian(q, frame=frame), mech.jacobian_dot(q, qd, frame=frame)
    wanted = (jac @ qdd[..., None] + rate @ qd[..., None])[..., 0]
    made = joint_accelerations(mech, q, qd, wanted, frame=frame)
    far = made.damping == 0.0
    assert far.any()
    assert apart(made.achieved[far], wanted[far]) < 1e-11
    assert made.exact[far].all()


def test_wrist_singularity_is_damped_and_told(elbow: Mechanism) -> None:
    mech = elbow
    q = np.array([0.3, 0.9, -1.6, 0.4, 0.0, 0.2])
    made = joint_accelerations(mech, q, np.full(6, 0.3), np.ones(6))
    assert made.reason == "damped"
    assert np.abs(made.qdd).max() < 100
    assert made.angular_residual > 0.01
    assert "rad/s2" in made.explain()
    with pytest.raises(AttributeError, match=r"joint.*accelerations"):
        _ = made.qd


def test_the_elbow_program_of_spacelib(elbow: Mechanism) -> None:
    """Section 7.6.7: speeds and accelerations of the joints from those of the gripper, by another formulation."""
    arm, lengths = elbow, read_lengths(formats.path("ELBOW.DAT"))
    wanted = elb_d_dh(lengths, joint_motion()).gripper
    theirs = elb_i_dh(lengths, wanted, read_guess(formats.path("GUESS.1ST"))).motion
    poses, velocity, acceleration = target(wanted)
    assert apart(arm.forward_kinematics(theirs.q), poses) < 1e-10
    point = poses[:, :3, 3]
    spin = six(velocity)[:, 3:]
    ahead = np.append(np.zeros(3), 1.0)
    twist = np.concatenate([(velocity @ (poses @ ahead)[..., None])[:, :3, 0], spin], axis=-1)
    rise = (acceleration @ (poses @ ahead)[..., None])[:, :3, 0]
    turning = 0.5 * (acceleration[:, :3, :3] - np.swapaxes(acceleration[:, :3, :3], -1, -2))
    spin_rate = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=-1)
    assert point.shape == twist[:, :3].shape
    speeds = joint_velocities(arm, theirs.q, twist)
    rates = joint_accelerations(arm, theirs.q, theirs.qp, np.concatenate([rise, spin_rate], axis=-1))
    regular = speeds.damping == 0.0
    assert regular.mean() > 0.5
    size, greater = np.abs(theirs.qp).max(), np.abs(theirs.qpp).max()
    assert apart(speeds.qd[regular], theirs.qp[regular]) < 1e-9 * size  # q is found to 1e-11, over singular values of 0.02
    assert apart(rates.qdd[regular], theirs.qpp[regular]) < 1e-8 * greater
