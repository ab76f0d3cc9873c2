"""One of seven joints given: the true position is among the answers, the joint keeps its value, a refusal says why."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.closed_form import closed_form
from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
from linkwise.inverse_kinematics.closed_form.decomposition import fixed_joint, joints_to_fix
from linkwise.inverse_kinematics.closed_form.program import ClosedFormProgram
from support.axis_arms import Arm, X, Y, Z, apart, arm, branches, direction, in_plane, loose, meeting, run

COUNT = 40
EXACT = 1e-9
"""m and rad: what counts as reached."""

FOUND = 1e-6
"""Near a double root a branch is known to half the digits only."""

SHOULDER, ELBOW, WRIST = np.zeros(3), np.array([0, 0, 0.42]), np.array([0, 0, 0.82])
IIWA = [
    *[("R", axis, SHOULDER) for axis in (Z, Y, Z)],
    ("R", -Y, ELBOW),
    *[("R", axis, WRIST) for axis in (Z, Y, Z)],
]


def _complete(made: Arm, joint: int) -> None:
    chain, _ = chain_of(made.mech)
    assert chain is not None
    found = fixed_joint(chain, joint)
    assert found is not None
    q = np.random.default_rng(joint).uniform(-2.5, 2.5, (COUNT, made.mech.n))
    poses = made.forward(q)
    answers = branches(made.mech, found, poses, q)
    assert apart(answers, q, made.axes).max() < FOUND
    away = np.remainder(answers[..., joint] - q[:, None, joint] + np.pi, 2 * np.pi) - np.pi
    assert np.nanmax(np.abs(away)) < (1e-14 if made.axes[joint][0] == "R" else np.inf)
    miss = np.abs(made.forward(answers) - poses[:, None]).max(axis=(-1, -2))
    assert np.nanmin(miss, axis=1).max() < EXACT


@pytest.mark.parametrize("joint", [0, 1, 2, 4, 5, 6])
def test_spherical_shoulder_elbow_and_spherical_wrist(joint: int) -> None:
    _complete(arm(IIWA), joint)


@pytest.mark.parametrize("joint", [1, 6])
def test_the_same_with_axes_at_random(joint: int) -> None:
    rng = np.random.default_rng(1)
    _complete(arm([*meeting(3, rng), *loose("R", rng), *meeting(3, rng)], rng), joint)


@pytest.mark.parametrize("joint", [0, 2])
def test_an_arm_on_a_track(joint: int) -> None:
    rng = np.random.default_rng(2)
    _complete(arm([*loose("PRRR", rng), *meeting(3, rng)], rng), joint)


@pytest.mark.parametrize("joint", [0, 6])
def test_a_further_joint_at_an_end_of_three_parallel_axes(joint: int) -> None:
    rng = np.random.default_rng(3)
    six = [*loose("R", rng), *in_plane("RRR", rng), *loose("RR", rng)]
    one = loose("R", rng)
    _complete(arm([*one, *six] if joint == 0 else [*six, *one], rng), joint)


@pytest.mark.parametrize(("kinds", "joint"), [("RRR", 1), ("RPR", 0), ("RR", 1)])
def test_few_joints_with_one_given(kinds: str, joint: int) -> None:
    rng = np.random.default_rng(4)
    _complete(arm(loose(kinds, rng), rng), joint)


@pytest.mark.parametrize("joint", [1, 5])
def test_singular_positions_have_answers(joint: int) -> None:
    made = arm(IIWA)
    chain, _ = chain_of(made.mech)
    assert chain is not None
    found = fixed_joint(chain, joint)
    assert found is not None
    rng = np.random.default_rng(5)
    q = rng.uniform(-2.5, 2.5, (300, 7))
    special = rng.choice([0.0, np.pi / 2], q.shape)
    one = np.arange(7) == rng.integers(0, 7, 300)[:, None]
    q = np.where(one, special, q)
    poses = made.forward(q)
    q0 = np.where(np.arange(7) == joint, q, 0.3)
    answers, count = run(ClosedFormProgram(made.mech, "tool", *found).kernel("numpy"), poses, q0, EXACT)
    assert count.min() >= 1
    rows = np.arange(answers.shape[1])[None] < count[:, None]
    miss = np.abs(made.forward(np.where(rows[..., None], answers, 0.0)) - poses[:, None]).max(axis=(-1, -2))
    assert miss[rows].max() < 2 * EXACT  # an element of a matrix, and the rounding of another forward pass
    assert np.array_equal(answers[rows][:, joint], np.broadcast_to(q[:, None, joint], rows.shape)[rows])


def test_which_joints_can_be_given() -> None:
    panda, _ = chain_of(robots.panda())
    iiwa, _ = chain_of(arm(IIWA).mech)
    assert panda is not None
    assert iiwa is not None
    assert joints_to_fix(panda) == (3, 4, 5, 6)
    assert joints_to_fix(iiwa) == (0, 1, 2, 4, 5, 6)


def test_another_joint_is_named_where_the_given_one_will_not_do() -> None:
    form = closed_form(robots.panda(), fixed={"link2": 0.3})
    assert not form.exists
    assert "'link2' fixed" in form.why
    assert "'link4', 'link5', 'link6' and 'link7' can be fixed" in form.why


def test_the_value_is_of_any_batch_shape() -> None:
    mech = robots.panda()
    q = np.random.default_rng(6).uniform(mech.q_min, mech.q_max, (5, 1, 7))
    values = np.stack([q[..., 0, 6], q[..., 0, 6] + 0.1], axis=-1).clip(
        *np.column_stack([mech.q_min, mech.q_max])[6]
    )  # (5, 2)
    found = closed_form(mech, fixed={6: values}).all(mech.forward_kinematics(q), q0=q)
    assert found.q.shape == (5, 2, 8, 7)
    assert found.count[:, 0].min() >= 1
    assert np.abs(found.q[:, 0, 0] - q[:, 0]).max() < FOUND  # the nearest to q is q
    assert np.array_equal(found.q[..., 6][~np.isnan(found.q[..., 6])], np.repeat(values.ravel(), found.count.ravel()))
    alone = closed_form(mech, fixed={6: values[2, 1]}).all(mech.forward_kinematics(q[2, 0]), q0=q[2, 0])
    assert np.array_equal(alone, found.q[2, 1, : found.count[2, 1]])


def test_one_kernel_serves_every_value() -> None:
    mech = robots.panda()
    q = np.random.default_rng(8).uniform(mech.q_min, mech.q_max, (2, 7))
    poses = mech.forward_kinematics(q)
    one, other = (closed_form(mech, fixed={6: value}) for value in q[:, 6])
    by_name = closed_form(mech, fixed={mech.names[6]: q[1, 6]})
    assert one._solver is other._solver is by_name._solver
    assert np.array_equal(one.all(poses[0])[:, 6], np.full(len(one.all(poses[0])), q[0, 6]))
    assert np.array_equal(one.holding(q[1, 6]).all(poses[1]), other.all(poses[1]))
    again = pickle.loads(pickle.dumps(other))
    assert np.array_equal(again.all(poses[1]), by_name.all(poses[1]))
    with pytest.raises(ArgumentError, match="no fixed joint"):
        closed_form(robots.puma560()).holding(0.0)
    with pytest.raises(ArgumentError, match="fixed is nan"):
        one.holding(np.nan)


def test_a_value_outside_the_limits_has_no_answer_unless_they_are_left_out() -> None:
    mech = robots.panda()
    q = np.array([0.1, 0.2, 0.3, -1.5, 0.5, 1.6, 3.0])  # the last joint stops at 2.8973 rad
    T = mech.forward_kinematics(q)
    form = closed_form(mech, fixed={6: 3.0})
    assert len(form.all(T, q0=q)) == 0
    found = form.all(T, q0=q, limits=False)
    assert np.abs(found[0] - q).max() < FOUND


def test_axes_of_the_arm_are_made_as_they_are_described() -> None:
    rng = np.random.default_rng(7)
    made = arm([("R", direction(rng), X), ("P", Y, X), ("R", Z, Y)], rng)
    q = rng.uniform(-2, 2, (10, 3))
    assert np.abs(made.mech.forward_kinematics(q) - made.forward(q)).max() < 1e-14  # two passes, a few units of rounding


def test_a_joint_is_given_to_the_method_too() -> None:
    mech = robots.panda()
    q = np.array([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
    T = mech.forward_kinematics(q)
    found = mech.all_inverse_kinematics(T, q0=q, fixed={mech.names[-1]: 0.7})
    assert np.abs(found[0] - q).max() < 1e-9
    with pytest.raises(ArgumentError, match="no closed form for this frame: 7 joints"):
        mech.all_inverse_kinematics(T)
