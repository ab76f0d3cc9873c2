"""A frame that follows a target on open chains and trees: near, within limits, without a jump, verified."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from linkwise import Link, Mechanism, Mimic, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.interactive.follower import PoseAim, TargetFollower, angle_between
from linkwise.solve.trust_region import LONGEST, descend
from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.transform import translation

ROUNDING = 1e-9
"""What Newton's method leaves of a pose, m and rad: the last step is below 1e-7, and squares what is left."""

PUMA = np.array([0.3, 0.8, -2.4, 0.4, 0.7, 0.2])


@cache
def puma():
    return TargetFollower(robots.puma560())


@cache
def flat(joints: int = 3, **rest):
    links = [Link.dh(a=1.0, convention="standard", name=f"l{k}", **rest) for k in range(joints)]
    return TargetFollower(Mechanism(links, name="flat"))


@cache
def tree():
    """Three branches of ten joints each."""
    links = []
    for branch in "abc":
        for k in range(10):
            parent = "base" if k == 0 else f"{branch}{k - 1}"
            turn = (np.pi / 2, -np.pi / 2, 0.0)[k % 3]
            made = Link.dh(d=0.05, a=0.1, alpha=turn, convention="standard", name=f"{branch}{k}", parent=parent)
            links.append(made.replace(limits=(-2.5, 2.5)))
    return Mechanism(links, name="tree")


def moved(T, shift=(0.0, 0.0, 0.0), turn=None):
    made = np.array(T)
    made[:3, 3] += shift
    if turn is not None:
        made[:3, :3] = turn @ made[:3, :3]
    return made


def verified(follower, found, target):
    """What is said of an answer agrees with a forward pass, and it is within the limits."""
    mech = follower.mechanism
    T = mech.forward_kinematics(found.q, follower.link)
    assert np.array_equal(T, found.T)
    assert found.position_error == pytest.approx(np.linalg.norm(T[:3, 3] - target[:3, 3]), abs=1e-15)
    assert np.cos(found.rotation_error) == pytest.approx((np.trace(T[:3, :3].T @ target[:3, :3]) - 1) / 2, abs=1e-13)
    low, high = mech.q_min, mech.q_max
    assert ((found.q[mech.nq - mech.n :] >= low) & (found.q[mech.nq - mech.n :] <= high)).all()
    return found


def test_a_small_drag_is_followed_exactly_and_by_little():
    follower, q = puma(), PUMA
    start = follower.mechanism.forward_kinematics(q)
    for angle in np.linspace(0.0, 2.0 * np.pi, 61):
        shift = 0.05 * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.5 * np.sin(2 * angle)])
        target = moved(start, shift, rotation_z(0.2 * np.sin(angle)))
        found = verified(follower, follower.follow(target, q), target)
        assert found.reached
        assert found.settled
        assert found.reason == ""
        assert max(found.position_error, found.rotation_error) < ROUNDING
        assert np.abs(found.q - q).max() < 0.1
        q = found.q
    assert q == pytest.approx(PUMA, abs=1e-8)  # (back on the branch on which it began)


@pytest.mark.parametrize("drag", [1e-2, 1e-3, 1e-5])
def test_joints_to_spare_move_no_more_than_the_drag_needs(drag):
    """Three joints for two directions: what leaves the tool where it is rests. The least motion is the pseudo-inverse's."""
    mech, rng = flat().mechanism, np.random.default_rng(4)
    for _ in range(30):
        q, way = rng.uniform(-1.5, 1.5, 3), rng.uniform(0.0, 2.0 * np.pi)
        jac = mech.jacobian(q)[:2]
        if np.linalg.svd(jac, compute_uv=False)[1] < 0.1:
            continue
        shift = drag * np.array([np.cos(way), np.sin(way), 0.0])
        found = flat().follow(moved(mech.forward_kinematics(q), shift), q, rotation=False)
        assert found.reached
        # (to first order 1; the second is the drag times curvatures of some 1 m over squared singular values above 0.01 m2)
        assert np.linalg.norm(found.q - q) < 1.6 * np.linalg.norm(np.linalg.pinv(jac) @ shift[:2])


def test_no_step_is_long_and_each_leads_nearer():
    follower, q = flat(), np.array([2.0, 1.0, -0.5])
    aim = PoseAim(follower._pose, follower._rates, translation(2.9), 0.0, follower._allowed.size)
    for _ in range(12):
        there, taken = descend(follower._allowed, aim, q, rounds=1, done=0.0)
        assert taken == 1
        assert 0.0 < np.linalg.norm(there - q) <= LONGEST + 1e-12
        assert aim.value(there) < aim.value(q)
        q = there
    assert LONGEST == 0.3  # (as the class says)


def test_the_same_call_gives_the_same_answer():
    target = moved(puma().mechanism.forward_kinematics(PUMA), (0.3, -0.4, 0.9))
    first, second = (TargetFollower(robots.puma560()).follow(target, PUMA) for _ in range(2))
    assert np.array_equal(first.q, second.q)
    assert first.reason == second.reason


def test_out_of_reach_an_arm_stretches_towards_its_target():
    found = verified(flat(), flat().follow(target := translation(4.0, 3.0, 0.0), [0.3, 0.4, 0.5]), target)
    assert not found.reached
    assert found.q == pytest.approx([np.arctan2(3.0, 4.0), 0.0, 0.0], abs=1e-7)
    assert found.position_error == pytest.approx(2.0, abs=1e-12)
    assert "2 m and 36.9 deg off" in found.reason


def test_from_being_stretched_it_folds_again():
    for x in (2.999, 2.0, 0.5):
        found = flat().follow(translation(x), np.zeros(3))
        assert found.position_error < ROUNDING
        assert found.reached == (found.rotation_error <= 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_near_is_nearer(seed):
    """SciPy's optimiser finds no nearer position from the answer, and with the position all but held no nearer rotation."""
    rng = np.random.default_rng(seed)
    follower = puma()
    mech = follower.mechanism
    target = moved(mech.forward_kinematics(PUMA), rng.normal(0.0, 0.5, 3), rotation_x(rng.uniform(-2.0, 2.0)))
    found = follower.follow(target, PUMA)
    while not found.settled:
        found = follower.follow(target, found.q)
    verified(follower, found, target)

    def away(q, weight):
        gap = mech.forward_kinematics(q) - target
        return gap[:3, 3] @ gap[:3, 3] + weight * (gap[:3, :3] ** 2).sum()

    for weight in (0.0, 1e-3):
        best = minimize(
            away,
            found.q,
            (weight,),
            "L-BFGS-B",
            bounds=np.column_stack([mech.q_min, mech.q_max]),
            options={"ftol": 1e-15, "gtol": 1e-10},
        )
        # (1e-3 lets the position go by 1e-3 m2 of what the rotation gains; L-BFGS-B stops at slopes of 1e-10)
        assert away(found.q, weight) <= best.fun + (1e-9 if weight == 0.0 else 1e-4)


def test_position_comes_first_and_then_what_rotation_there_is():
    wrist = Mechanism(
        [Link.dh(a=1.0, convention="standard"), Link.dh(a=1.0, convention="standard"), Link.dh(convention="standard")]
    )
    follower = TargetFollower(wrist)
    q = np.array([0.2, 0.9, 0.1])
    target = moved(wrist.forward_kinematics(q), (0.05, -0.1, 0.3), rotation_z(0.4) @ rotation_x(0.3))
    found = verified(follower, follower.follow(target, q), target)
    # out of its plane by 0.3 m and 0.3 rad; in the plane it gets there
    assert found.position_error == pytest.approx(0.3, abs=ROUNDING)
    assert found.T[:2, 3] == pytest.approx(target[:2, 3], abs=ROUNDING)
    heading = np.arctan2(target[1, 0] - target[0, 1], target[0, 0] + target[1, 1])
    assert found.q.sum() == pytest.approx(heading, abs=1e-3)  # (the weight of rotation is 0.05 squared)


def test_rotation_may_be_left_out():
    target = translation(1.0, 1.5, 0.0)
    found = flat().follow(target, [0.1, 0.5, 0.5], rotation=False)
    assert found.reached
    assert found.reason == ""
    assert found.rotation_error > 0.1


def test_limits_hold_and_are_told():
    follower = TargetFollower(
        Mechanism([Link.dh(a=1.0, convention="standard", limits=(-0.5, 0.5), name=f"l{k}") for k in range(2)])
    )
    target = translation(-1.5, 1.0, 0.0)
    found = verified(follower, follower.follow(target, [0.1, 0.1]), target)
    assert found.q == pytest.approx([0.5, 0.5], abs=1e-15)
    assert "at its limit: l0, l1" in found.reason
    back = verified(follower, follower.follow(goal := follower.mechanism.forward_kinematics([0.2, -0.1]), found.q), goal)
    assert back.reached  # (it comes off its limits again)


def test_what_is_given_outside_the_limits_is_brought_to_them():
    follower = TargetFollower(Mechanism([Link.dh(a=1.0, convention="standard", limits=(-0.5, 0.5))]))
    assert follower.move(0, 0.1, [3.0]).q.tolist() == [0.1]
    assert follower.follow(translation(9.0, 20.0, 0.0), [3.0]).q.tolist() == [0.5]


def test_on_a_tree_the_other_branches_rest():
    mech, rng = tree(), np.random.default_rng(3)
    q = rng.uniform(-1.0, 1.0, 30)
    follower = TargetFollower(mech, "b9")
    target = moved(mech.forward_kinematics(q, "b9"), (0.05, 0.02, -0.04))
    found = verified(follower, follower.follow(target, q), target)
    assert found.reached
    assert np.array_equal(found.q[:10], q[:10])
    assert np.array_equal(found.q[20:], q[20:])
    assert np.abs(found.q[10:20] - q[10:20]).max() > 1e-3
    inner = TargetFollower(mech, "c3").follow(mech.forward_kinematics(q, "c3"), q)
    assert inner.reached
    assert np.array_equal(inner.q, q)


def test_joints_that_follow_others_do_so():
    finger = Mechanism(
        [
            Link.dh(a=1.0, convention="standard", name="first"),
            Link.dh(a=1.0, convention="standard", name="second", mimic=Mimic("first", 0.5, 0.1)),
        ]
    )
    follower = TargetFollower(finger)
    goal = finger.forward_kinematics([0.9])
    found = verified(follower, follower.follow(goal, [0.2]), goal)
    assert found.q == pytest.approx([0.9], abs=ROUNDING)


def test_a_floating_base_stays():
    craft = Mechanism(robots.puma560().links, floating=True)
    follower = TargetFollower(craft)
    q = np.array([1.0, -2.0, 0.5, 0.6, 0.0, 0.8, 0.0, *PUMA])
    target = moved(craft.forward_kinematics(q), (0.02, 0.03, -0.05))
    found = verified(follower, follower.follow(target, q), target)
    assert found.reached
    assert np.array_equal(found.q[:7], q[:7])
    assert follower.move(8, 0.5, q).q[8] == 0.5
    with pytest.raises(ArgumentError, match="7 to 12"):
        follower.move(3, 0.5, q)
    with pytest.raises(ArgumentError, match="quaternion 0, 0, 0, 0"):
        follower.follow(target, np.zeros(13))


def test_an_open_joint_takes_what_it_is_given_within_its_limits():
    follower = puma()
    name, high = follower.mechanism.names[1], follower.mechanism.q_max[1]
    found = follower.move(name, 0.25, PUMA)
    assert (found.reached, found.q[1], found.reason) == (True, 0.25, "")
    assert np.array_equal(np.delete(found.q, 1), np.delete(PUMA, 1))
    over = follower.move(1, high + 1.0, PUMA)
    assert (over.reached, over.q[1], over.rotation_error) == (False, high, pytest.approx(1.0))
    assert over.reason == f"{name!r} is at its limit"
    assert np.array_equal(over.T, follower.mechanism.forward_kinematics(over.q))


def test_it_starts_at_zero_or_the_limit_next_to_it():
    arm = robots.panda()
    start = TargetFollower(arm, 0).start()
    assert start.tolist() == np.clip(np.zeros(7), arm.q_min, arm.q_max).tolist()


def test_a_target_far_away_is_come_to_in_more_calls():
    follower, q, calls = flat(3), np.array([0.1, 0.1, 0.1]), 0
    goal = follower.mechanism.forward_kinematics([3.0, -2.0, 2.5])
    while calls < 5:
        found, calls = follower.follow(goal, q), calls + 1
        q = found.q
        if found.settled:
            break
        assert "on its way" in found.reason
    assert found.settled


def test_the_angle_between_rotations_is_exact_where_it_is_small():
    for angle in (0.0, 1e-9, 1e-4, 1.0, 3.0):
        assert angle_between(np.eye(3), rotation_z(angle)) == pytest.approx(angle, rel=1e-14, abs=0.0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: TargetFollower(robots.planar_2r(), "hand"), "no link 'hand'"),
        (lambda: TargetFollower(robots.planar_2r(), 1.0), "link is 1.0"),
        (lambda: puma().follow(np.eye(3), PUMA), r"T_target has the shape \(3, 3\)"),
        (lambda: puma().follow(2.0 * np.eye(4), PUMA), "T_target has no rotation"),
        (lambda: puma().follow(np.diag([1.0, 1.0, -1.0, 1.0]), PUMA), "T_target has no rotation"),
        (lambda: puma().follow(np.full((4, 4), np.nan), PUMA), "T_target"),
        (
            lambda: puma().follow([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0.5, 1]], PUMA),
            "the last row of T_target",
        ),
        (lambda: puma().follow(np.eye(4), PUMA[:5]), r"q has the shape \(5,\); expected \(6,\)"),
        (lambda: puma().move("elbow joint", 0.0, PUMA), "coordinate is 'elbow joint'"),
        (lambda: puma().move(6, 0.0, PUMA), "coordinate is 6; expected .* 0 to 5"),
        (lambda: puma().move(0, np.inf, PUMA), "value"),
    ],
)
def test_what_cannot_be_followed_is_refused(call, said):
    with pytest.raises(ArgumentError, match=said):
        call()
