"""Targets followed by ball joints and by bodies that float: along their tangents, within their cones, loops closed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, robots
from linkwise.inverse_kinematics.interactive.feasible_set import ASIDE, FeasibleSet
from linkwise.inverse_kinematics.interactive.follower import PoseAim, TargetFollower
from linkwise.kinematics.configuration import random_configuration
from linkwise.spatial.rotation import rotation_about, rotation_x, rotation_z
from linkwise.spatial.transform import translation

ROUNDING = 1e-9
"""What Newton's method leaves of a pose, m and rad: the last step is below 1e-7, and squares what is left."""

CLOSED = 1e-9
"""How far loops may be open, m."""


@cache
def limb() -> TargetFollower:
    """A shoulder and a wrist, both ball joints with cones, an elbow between, and a ball that lies beside."""
    return TargetFollower(
        Mechanism(
            [
                Link(name="upper", joint="ball", limits=(0, 2.0), axis=(0, 0, 1)),
                Link(name="fore", axis=(0, 1, 0), before=translation(0, 0, 0.4), limits=(-2.5, 2.5)),
                Link(name="hand", joint="ball", limits=(0, 1.0), axis=(0, 0, 1), before=translation(0, 0, 0.3)),
                Link(name="loose", joint="floating", parent="base"),
            ],
            tool_link="hand",
            tool=translation(0, 0, 0.1),
        )
    )


def rod_between_balls(most: float = np.inf) -> Mechanism:
    """A crank, a rod between two ball joints, with a cone, a rocker, a tip on a ball joint of the rod, and a free body."""
    cone = {"axis": (1, 0, 0), "limits": (0, most)} if np.isfinite(most) else {}
    ground = np.eye(4)
    ground[:3] = [[1, 0, 0, 0.4], [0, 0, -1, 0.1], [0, 1, 0, 0.05]]
    return Mechanism(
        [
            Link(name="crank"),
            Link(name="rod", joint="ball", parent="crank", before=translation(0.1), **cone),
            Link(name="rocker", parent="base", before=ground),
            Link(name="tip", joint="ball", parent="rod", before=translation(0.2, 0.1), limits=(0, 0.5), axis=(0, 0, 1)),
            Link(name="box", joint="floating", parent="base"),
        ],
        loops=[Loop("point", "rod", "rocker", translation(0.42), translation(0.2), name="socket")],
        tool_link="rocker",
        tool=translation(0.1),
    )


def test_a_path_is_followed_exactly_and_by_little():
    follower = limb()
    mech = follower.mechanism
    q = random_configuration(mech, 3)
    q[-1] = 0.9
    start, loose, far, worst = mech.forward_kinematics(q), q[mech.manifold_joints[2].q], 0.0, 0.0
    for angle in np.linspace(0.0, 2.0 * np.pi, 61):
        target = np.array(start)
        target[:3, 3] += 0.05 * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.5 * np.sin(2 * angle)])
        target[:3, :3] = rotation_z(0.2 * np.sin(angle)) @ start[:3, :3]
        found = follower.follow(target, q)
        far = max(far, float(np.abs(mech.difference(q, found.q)).max()))
        worst = max(worst, found.position_error, found.rotation_error)
        assert found.reached, found.reason
        assert np.array_equal(found.T, mech.forward_kinematics(found.q))
        q = found.q
    units = max(abs(np.linalg.norm(q[at.quaternion]) - 1.0) for at in mech.manifold_joints)
    print(f"errors {worst:.1e} m, rad; steps up to {far:.3f} rad; quaternions to {units:.1e}")
    assert worst < ROUNDING
    assert far < 0.2  # (steps of the target of up to 12 mm on an arm of 0.8 m, and of 0.02 rad)
    assert units < 1e-15
    assert np.array_equal(q[mech.manifold_joints[2].q], loose)  # (what floats beside rests, to the bit)


def test_slopes_are_those_of_differences():
    """Central differences along `integrate`: truncation by the square of the step, rounding against it."""
    follower = limb()
    mech, step = follower.mechanism, 1e-5
    target = mech.forward_kinematics(random_configuration(mech, 8))
    aim = PoseAim(follower._pose, follower._rates, target, 0.3, follower._allowed.size)
    q = random_configuration(mech, 9)
    ends = [mech.integrate(np.tile(q, (mech.nv, 1)), sign * step * np.eye(mech.nv)) for sign in (1, -1)]
    differences = (aim.values(ends[0]) - aim.values(ends[1])) / (2 * step)
    excess, slopes = follower._allowed._lean(np.stack([q, *ends[0], *ends[1]]))
    lean = (excess[1 : mech.nv + 1] - excess[mech.nv + 1 :]).T / (2 * step)
    errors = np.abs(aim.slope(q) - differences).max(), np.abs(slopes[0] - lean).max()
    print(f"slopes of the aim to {errors[0]:.1e}, of the cones to {errors[1]:.1e}")
    assert max(errors) < 1e-9  # (1e-10 of the third derivative, and 1e-16 / 1e-5)


def test_an_axis_stops_at_its_cone_where_that_is_nearest():
    """A rod on a ball joint, the target beyond its cone: the nearest point of the circle lies in the target's plane."""
    lean, length = 0.8, 0.5
    rod = Mechanism(
        [Link(name="rod", joint="ball", limits=(0, lean), axis=(0, 0, 1))], tool=translation(0, 0, length), name="rod"
    )
    follower, q = TargetFollower(rod), np.array([1.0, 0, 0, 0])
    for way in np.linspace(0.0, 2.0 * np.pi, 13):
        target = np.array(translation(0.6 * np.cos(way), 0.6 * np.sin(way), 0.1), dtype=float)
        nearest = length * np.array([np.sin(lean) * np.cos(way), np.sin(lean) * np.sin(way), np.cos(lean)])
        found = follower.follow(target, q, rotation=False)
        while not found.settled:
            found = follower.follow(target, found.q, rotation=False)
        off = np.linalg.norm(found.T[:3, 3] - nearest)
        over = float(rod.manifold_joints[0].joint.excess(found.q, lean))
        print(f"{found.iterations} steps, {off:.1e} m off, {over:.1e} rad beyond the cone")
        assert off < ROUNDING
        assert over < 1e-15
        assert found.reason.endswith("at its limit: rod")
        assert found.position_error == pytest.approx(np.linalg.norm(nearest - target[:3, 3]), abs=1e-12)
        q = found.q


def test_steps_beside_a_cone_stay_on_it():
    """Values for the curvature are taken on the cone: Newton leaves of its excess the square, which is rounding."""
    rod = Mechanism([Link(joint="ball", limits=(0, 0.8), axis=(0, 0, 1))])
    allowed = FeasibleSet(rod, np.ones(3, dtype=bool))
    q = allowed.settled(np.array([np.cos(0.6), np.sin(0.6), 0, 0]))
    tangent = allowed.with_active(q, allowed.tangent(q), np.array([0]))
    beside = allowed.beside(q, tangent, ASIDE * np.vstack([np.eye(2), -np.eye(2)]))
    excess = allowed._lean(beside)[0]
    print(f"{tangent.basis.shape[1]} motions, {np.abs(excess).max():.1e} rad off the cone")
    assert tangent.basis.shape == (3, 2)
    assert np.abs(excess).max() < 1e-14


def test_a_body_that_floats_is_dragged_itself_and_nothing_else_moves():
    arm = robots.puma560()
    scene = Mechanism([*arm.links, Link(name="box", joint="floating", parent="base")], tool_link="link6")
    q = random_configuration(scene, 1)
    box = TargetFollower(scene, "box")
    target = np.eye(4)
    target[:3, :3], target[:3, 3] = rotation_about((0.6, 0, 0.8), 2.0), (0.7, -0.4, 0.3)
    found = box.follow(target, q)
    while not found.settled:
        found = box.follow(target, found.q)
    print(found)
    assert found.reached
    assert max(found.position_error, found.rotation_error) < ROUNDING
    assert np.array_equal(found.q[7:], q[7:])
    tool = TargetFollower(scene)
    near = scene.forward_kinematics(q)
    near[:3, 3] += (0.01, -0.02, 0.01)
    held = tool.follow(near, q)
    assert held.reached
    assert np.array_equal(held.q[:7], q[:7])


def test_a_craft_is_dragged_by_its_own_body_and_stays_where_a_joint_can_do_it():
    craft = Mechanism([Link(name="hull", joint="fixed"), Link(name="arm", before=translation(1.0))], floating=True)
    target = np.array(translation(0.1, 0.2, -0.1), dtype=float)
    target[:3, :3] = rotation_x(0.2)
    whole = TargetFollower(craft, "hull").follow(target, craft.neutral)
    assert whole.reached
    assert np.array_equal(TargetFollower(craft, "arm").follow(target, craft.neutral).q[:7], craft.neutral[:7])


def test_a_loop_through_a_ball_joint_stays_closed():
    follower = TargetFollower(rod_between_balls())
    mech = follower.mechanism
    linkage = mech.linkage(["crank"])
    q, open_by, apart = follower.start(), 0.0, 0.0
    closure = mech.kernel("closure")
    crank_at, rocker_at = mech.nq - 2, mech.nq - 1
    for crank in q[crank_at] + np.linspace(0.0, 2.0 * np.pi, 49):
        found = follower.move("crank", crank, q)
        assert found.reached, found.reason
        other = linkage.position([crank], q)
        open_by = max(open_by, float(np.abs(closure(found.q)).max()))
        apart = max(apart, abs(found.q[rocker_at] - other.q[rocker_at]))
        q = found.q
    target = mech.forward_kinematics(q)
    target[:3, 3] += (0.01, 0.02, 0.01)
    dragged = follower.follow(target, q, rotation=False)
    open_by = max(open_by, float(np.abs(closure(dragged.q)).max()))
    print(f"open by {open_by:.1e} m, rocker as of the linkage to {apart:.1e} rad; {dragged}")
    assert open_by < CLOSED
    assert apart < 1e-9  # (both close the loops to 1e-12 of the longest offset)
    assert dragged.position_error < np.linalg.norm((0.01, 0.02, 0.01))


@pytest.mark.parametrize("most", [0.5, 1.2])
def test_loops_and_cones_hold_together(most):
    """The tip is pulled about at random, past what cone and loop allow."""
    follower, rng = TargetFollower(rod_between_balls(most), "tip"), np.random.default_rng(0)
    mech, q = follower.mechanism, follower.start()
    box = next(at for at in mech.manifold_joints if at.name == "box")
    closure, open_by, over, steps = mech.kernel("closure"), 0.0, -1.0, 0
    for turn in range(40):
        target = mech.forward_kinematics(q, "tip")
        target[:3, 3] += rng.normal(0.0, 0.08, 3)
        for _ in range(20):
            found = follower.follow(target, q, rotation=bool(turn % 2))
            q, steps = found.q, steps + found.iterations
            if found.settled:
                break
        assert found.settled
        open_by = max(open_by, float(np.abs(closure(q)).max()))
        over = max(over, *(float(at.joint.excess(q[at.q], at.most)) for at in mech.manifold_joints))
        assert np.array_equal(q[box.q], mech.neutral[box.q])
    print(f"open by {open_by:.1e} m, {over:.1e} rad beyond the cones, {steps / 40:.1f} steps a target")
    assert open_by < CLOSED
    assert over <= 1e-12  # (as the steps allow)


def test_any_chain_comes_to_rest_where_nothing_near_is_nearer():
    """Random chains of ball, revolute and sliding joints, with limits and without, to targets in reach and out of it."""
    rng, count, reached, gain = np.random.default_rng(0), 0, 0, -np.inf
    for _ in range(12):
        links = []
        for k in range(int(rng.integers(1, 5))):
            kind = str(rng.choice(["ball", "ball", "revolute", "prismatic"]))
            limits = {"ball": (0, rng.choice([0.3, 1.0, 1.57, 2.5])), "revolute": (-1.0, 1.2), "prismatic": (-0.2, 0.4)}[
                kind
            ]
            free = {} if kind != "prismatic" and rng.random() < 0.4 else {"limits": limits}
            place = translation(*rng.normal(0.0, 0.3, 3))
            links.append(Link(name=f"l{k}", joint=kind, axis=rng.normal(size=3), before=place, **free))
        mech = Mechanism(links, tool=translation(0.1, 0.1, 0.3))
        follower = TargetFollower(mech)
        for _ in range(4):
            q, other = random_configuration(mech, int(rng.integers(1e6)), 2)
            goal = mech.forward_kinematics(other)
            goal[:3, 3] += rng.choice([0.0, 1.0]) * rng.normal(0.0, 0.5, 3)
            found = follower.follow(goal, q)
            for _ in range(20):
                if found.settled:
                    break
                found = follower.follow(goal, found.q)
            assert found.settled
            count, reached = count + 1, reached + found.reached
            over = [float(at.joint.excess(found.q[at.q], at.most)) for at in mech.manifold_joints]
            joints = found.q[mech.nq - mech.n :]
            assert max(over, default=0.0) <= 1e-12
            assert ((joints >= mech.q_min) & (joints <= mech.q_max)).all()
            for motion in rng.normal(0.0, 1e-3, (40, mech.nv)):
                near = mech.integrate(found.q, motion)
                near[mech.nq - mech.n :] = np.clip(near[mech.nq - mech.n :], mech.q_min, mech.q_max)
                for at in mech.manifold_joints:
                    near[at.q] = np.asarray(at.joint.clipped(near[at.q], at.most), dtype=float)
                gap = np.linalg.norm(mech.forward_kinematics(near)[:3, 3] - goal[:3, 3])
                gain = max(gain, found.position_error - gap)
    print(f"{reached} of {count} targets reached; none of 40 places beside is nearer by more than {gain:.1e} m")
    assert gain < 1e-8  # (a slope of 1e-5, below which steps end, over motions of 1e-3 rad)
