"""Newton-Raphson: what it solves, how fast, what it says where it does not, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import newton_raphson, steepest_descent
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.model.loop import Loop
from linkwise.model.mimic import Mimic
from linkwise.solve import REASONS, Solution
from linkwise.solve.joint_limits import start_position
from support.messages import unnamed
from support.random_mechanisms import SEEDS, sample

TOL = 1e-9


def near(mech: Mechanism, count: int, away: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Poses within the limits, and starts not far from them."""
    rng = np.random.default_rng(4)
    low, high = np.clip(np.column_stack([mech.q_min, mech.q_max]), -3.0, 3.0).T
    q = rng.uniform(low, high, (count, mech.n))
    return mech.forward_kinematics(q), q + rng.uniform(-away, away, q.shape)


def assert_truthful(mech: Mechanism, found: Solution, poses: np.ndarray, *, limits: bool = True) -> None:
    """Success is what a forward pass and the limits say, nothing else."""
    error = pose_error(mech.forward_kinematics(found.q), poses)
    position, rotation = np.linalg.norm(error[..., :3], axis=-1), np.linalg.norm(error[..., 3:], axis=-1)
    assert np.allclose(found.position_error, position, rtol=0, atol=1e-14)  # the target is made orthonormal first
    assert np.allclose(found.rotation_error, rotation, rtol=0, atol=1e-14)
    inside = np.all((found.q >= mech.q_min) & (found.q <= mech.q_max), axis=-1) | (not limits)
    reached = (found.position_error <= TOL) & (found.rotation_error <= TOL)
    assert np.array_equal(found.success, reached & inside)
    assert np.array_equal(found.success, found.reason == "converged")
    assert set(np.unique(found.reason)) <= set(REASONS)


@pytest.mark.parametrize("name", ["puma560", "ur5", "panda", "stanford", "elbow"])
def test_from_nearby_it_finds_most_and_never_lies(name: str) -> None:
    mech = robots.load(name)
    poses, starts = near(mech, 200)
    found = newton_raphson(mech, poses, starts)
    print(found)
    assert_truthful(mech, found, poses)
    assert np.mean(found.success) > 0.95  # the rest starts across a singular position, or leads outside the limits
    free = newton_raphson(mech, poses, starts, limits=False)
    assert_truthful(mech, free, poses, limits=False)
    assert np.mean(free.success) >= np.mean(found.success)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", [newton_raphson, steepest_descent])
def test_on_any_tree_of_any_joints_it_never_lies(seed: int, method: Callable[..., Solution]) -> None:
    """Screws, slides, offsets, branches, with fewer joints than a pose has numbers, in general positions and far off."""
    mech = sample(seed)
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2, 2, (20, mech.n))
    poses = mech.forward_kinematics(q)
    poses[10:, :3, 3] += rng.uniform(-1, 1, (10, 3))
    found = method(mech, poses, q + rng.uniform(-0.2, 0.2, q.shape), iterations=60)
    assert_truthful(mech, found, poses)
    if method is newton_raphson:
        assert found.success[:10].all()


def test_the_error_is_squared_at_every_step() -> None:
    mech = robots.puma560()
    q = np.array([0.3, 0.8, -2.0, 0.4, 0.7, 0.2])
    T, start = mech.forward_kinematics(q), q + 0.01
    sizes = [newton_raphson(mech, T, start, iterations=k).position_error for k in (1, 2, 3)]
    assert sizes[0] < 1e-3
    assert sizes[1] < 10 * sizes[0] ** 2  # the second derivatives of this arm, less than 10 m/rad2 times |pinv(J)|^2
    assert newton_raphson(mech, T, start).iterations <= 4


def test_with_full_rank_the_first_step_is_the_pseudoinverse_times_the_error() -> None:
    mech = robots.panda()
    rng = np.random.default_rng(0)
    q = start_position(mech)
    T = mech.forward_kinematics(q + rng.uniform(-0.05, 0.05, 7))
    found = newton_raphson(mech, T, q, iterations=1, limits=False)
    error = pose_error(mech.forward_kinematics(q), T)
    # the rate is an invertible matrix times J that leaves the error as it is: the same step, but for the condition, some 30
    assert np.allclose(found.q, q + np.linalg.pinv(mech.jacobian(q)) @ error, rtol=0, atol=1e-13)


def test_a_batch_has_the_bits_of_a_loop_and_of_the_next_run() -> None:
    mech = robots.puma560()
    poses, starts = near(mech, 30, 1.0)
    found, again = newton_raphson(mech, poses, starts), newton_raphson(mech, poses, starts)
    loop = [newton_raphson(mech, pose, start) for pose, start in zip(poses, starts, strict=True)]
    for field in ("q", "success", "reason", "position_error", "rotation_error", "iterations"):
        assert np.array_equal(getattr(found, field), getattr(again, field))
        assert np.array_equal(getattr(found, field), np.array([getattr(one, field) for one in loop]))


def test_shapes_are_those_that_broadcast() -> None:
    mech = robots.planar_2r()
    q = np.array([[0.4, 1.0], [0.5, 1.1], [0.6, 1.2]])
    T, starts = mech.forward_kinematics(q), np.broadcast_to([0.3, 0.9], (2, 1, 2))
    found = newton_raphson(mech, T, starts)
    assert found.q.shape == (2, 3, 2)
    assert found.success.shape == found.reason.shape == found.iterations.shape == (2, 3)
    assert np.allclose(found.q, q, rtol=0, atol=1e-8)  # the tolerance, times the inverse of the Jacobian
    one = newton_raphson(mech, T[0], starts[0, 0])
    assert (type(one.success), type(one.reason), type(one.position_error)) == (bool, str, float)
    none = newton_raphson(mech, T[:0])
    assert (none.q.shape, none.success.shape, repr(none)) == ((0, 2), (0,), "<Solution: (0,) poses>")


def test_a_pose_already_reached_takes_no_step() -> None:
    mech = robots.puma560()
    q = start_position(mech)
    found = newton_raphson(mech, mech.forward_kinematics(q))
    assert (found.iterations, found.reason) == (0, "converged")
    assert np.array_equal(found.q, q)


def test_out_of_reach_is_never_a_success() -> None:
    mech = robots.puma560()
    T = mech.forward_kinematics(start_position(mech))
    T[:3, 3] *= 3.0
    found = newton_raphson(mech, T)
    assert not found.success
    assert found.reason in {"iterations", "singular"}
    assert found.position_error > 0.5


@pytest.mark.parametrize("turns", [-3, -1, 0, 2])
def test_full_turns_bring_a_revolute_joint_into_its_limits(turns: int) -> None:
    mech = robots.puma560()
    q = np.array([0.3, 0.8, -2.0, 0.4, 0.7, 0.2])
    found = newton_raphson(mech, mech.forward_kinematics(q), q + 2 * np.pi * turns)
    assert found.success
    assert np.allclose(found.q, q, rtol=0, atol=1e-8)
    free = newton_raphson(mech, mech.forward_kinematics(q), q + 2 * np.pi * turns, limits=False)
    assert np.allclose(free.q, q + 2 * np.pi * turns, rtol=0, atol=1e-8)


def test_a_solution_outside_the_limits_is_none() -> None:
    arm = robots.planar_2r()
    low = arm.replace_link(1, limits=(0.0, 2.0))
    T = arm.forward_kinematics([0.3, -0.9])
    found = newton_raphson(low, T, [0.2, -0.8])
    assert (found.success, found.reason) == (False, "limit")
    assert found.position_error < TOL
    assert newton_raphson(low, T, [0.2, -0.8], limits=False).success


def test_a_solution_on_a_limit_counts_and_lies_within_it() -> None:
    arm = robots.planar_2r().replace_link(1, limits=(0.0, 0.9))
    found = newton_raphson(arm, arm.forward_kinematics([0.3, 0.9]), [0.2, 0.6], tol=1e-6)
    assert found.success
    assert found.q[1] <= 0.9


def test_slides_and_followed_joints_are_not_turned_round() -> None:
    slide = Mechanism([Link(joint="prismatic", limits=(-1.0, 1.0))])
    found = newton_raphson(slide, slide.forward_kinematics([7.0]))
    assert (found.reason, found.q.tolist()) == ("limit", [7.0])
    coupled = Mechanism(
        [Link(name="a", limits=(-1.0, 1.0)), Link(name="b", before=_shift(1.0), mimic=Mimic("a", ratio=0.5))]
    )
    far = newton_raphson(coupled, coupled.forward_kinematics([2 * np.pi + 0.2]), [2 * np.pi])
    assert far.reason == "limit"
    assert np.allclose(far.q, 2 * np.pi + 0.2)


def _shift(x: float) -> np.ndarray:
    made = np.eye(4)
    made[0, 3] = x
    return made


@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_mask_leaves_an_axis_free_and_still_converges_fast(frame: str) -> None:
    mech = robots.puma560()
    rng = np.random.default_rng(1)
    q = np.array([0.3, 0.8, -2.0, 0.4, 0.7, 0.2])
    T = mech.forward_kinematics(q)
    mask = [1, 1, 1, 1, 1, 0]
    spun = T.copy()
    spun[:3, :3] = T[:3, :3] @ _about_z(1.4) if frame == "body" else _about_z(1.4) @ T[:3, :3]
    found = newton_raphson(mech, spun, q + rng.uniform(-0.1, 0.1, 6), mask=mask, frame=frame)
    assert found.success
    assert found.iterations <= 6
    error = pose_error(mech.forward_kinematics(found.q), spun, frame)
    assert np.linalg.norm(error[:5]) < 2e-9
    assert abs(error[5]) > 0.1  # the free axis was not closed by chance


def _about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def test_another_link_by_name() -> None:
    mech = robots.puma560()
    q = np.array([0.3, 0.8, -2.0, 0.4, 0.7, 0.2])
    T = mech.forward_kinematics(q, link="link3")
    found = newton_raphson(mech, T, q + 0.1, link="link3")
    assert found.success
    assert np.allclose(found.q[:3], q[:3], rtol=0, atol=1e-8)
    assert np.allclose(found.q[3:], q[3:] + 0.1)  # the wrist does not move it


def test_a_start_in_a_singular_position_still_gets_away() -> None:
    mech = robots.puma560()
    T = mech.forward_kinematics([0.1, 0.5, -1.0, 0.2, 0.3, 0.1])
    found = newton_raphson(mech, T, np.zeros(6), limits=False)
    assert found.success


def test_at_rest_in_a_singular_position_it_says_so() -> None:
    arm = robots.planar_2r()
    T = arm.forward_kinematics([0.0, 0.0])
    T[0, 3] += 1.0  # straight ahead, out of reach: the stretched arm cannot move that way
    found = newton_raphson(arm, T, [0.0, 0.0], mask=[1, 1, 0, 0, 0, 0])
    assert (found.success, found.reason, found.iterations) == (False, "singular", 0)
    assert repr(found) == "<Solution: singular after 0 iterations, errors 1 m and 0 rad>"


def test_a_pose_with_printed_digits_is_reached_as_its_nearest_rotation() -> None:
    mech = robots.puma560()
    q = np.array([0.3, 0.8, -2.0, 0.4, 0.7, 0.2])
    found = newton_raphson(mech, mech.forward_kinematics(q).round(7), q + 0.05)
    assert found.success
    assert np.allclose(found.q, q, rtol=0, atol=1e-5)  # seven digits, times the inverse of the Jacobian


def test_every_mechanism_has_a_start_within_its_limits() -> None:
    for name in robots.names():
        mech = robots.load(name)
        q = start_position(mech)
        assert np.all((q >= mech.q_min) & (q <= mech.q_max))
    half = Mechanism([Link(limits=(1.0, np.inf)), Link(limits=(-np.inf, -1.0)), Link(limits=(0.5, 0.5))])
    assert start_position(half).tolist() == [1.0, -1.0, 0.5]


ARM, POSE = robots.planar_2r(), np.eye(4)
FLOATING = Mechanism([Link(joint="fixed", mass=1.0), Link()], floating=True, name="craft")
CLOSED = Mechanism([Link(name="a"), Link(name="b")], loops=[Loop("full", "b", "base")], name="ring")


@pytest.mark.parametrize(
    ("mech", "change", "message"),
    [
        (FLOATING, {}, "'craft' has a floating base; a pose is solved for on a fixed one"),
        (CLOSED, {}, "'ring' has loops; a pose solved for on its tree alone would open them"),
        (Mechanism([Link(joint="fixed")], name="post"), {}, "'post' has no joint that moves"),
        (ARM, {"frame": "tool"}, "frame is 'tool'; expected 'world' or 'body'"),
        (ARM, {"limits": 1}, "limits is 1; expected True or False"),
        (ARM, {"tol": 0.0}, "tol is 0.0; expected a number > 0"),
        (ARM, {"iterations": 0}, "iterations is 0; expected a whole number from 1"),
        (ARM, {"largest_step": -1}, "largest_step is -1; expected a number > 0"),
        (ARM, {"q0": [0.0] * 3}, "q0 has the shape (3,); expected (..., 2)"),
        (ARM, {"q0": [0.0, np.nan]}, "q0 is nan at (1,); expected real numbers (..., 2)"),
        (ARM, {"T": np.eye(3)}, "T has the shape (3, 3); expected rigid poses (..., 4, 4)"),
        (ARM, {"T": [np.eye(4)] * 2, "q0": np.zeros((3, 2))}, "the batch shapes do not fit each other: T (2,), q0 (3,)"),
        (
            ARM,
            {"T": [np.eye(4), 2 * np.eye(4)]},
            "T[1] is [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0,...; expected a rigid "
            "pose: orthonormal right-handed rotation, last row 0 0 0 1",
        ),
        (
            ARM,
            {"mask": [1, 1, 2, 0, 0, 0]},
            "mask is [1, 1, 2, 0, 0, 0]; expected six of 0 or 1, not all 0: x, y, z, about x, about y, about z; "
            "or 'all', 'translation' or 'rotation'",
        ),
        (
            ARM,
            {"mask": [0] * 6},
            "mask is [0, 0, 0, 0, 0, 0]; expected six of 0 or 1, not all 0: x, y, z, about x, about y, about z; "
            "or 'all', 'translation' or 'rotation'",
        ),
        (
            ARM,
            {"T": np.diag([1.0, 1, 1, 1]) + 2e50 * np.eye(4, k=3)},
            "T has the position 2e+50 m; expected positions up to 1e+50 m",
        ),
        (ARM, {"link": "hand"}, "no link 'hand'; this mechanism has 'link1' and 'link2', or indices -2 to 1"),
    ],
)
def test_what_is_refused(mech: Mechanism, change: dict[str, Any], message: str) -> None:
    given = {"T": POSE, **change}
    with pytest.raises(ArgumentError) as caught:
        newton_raphson(mech, **given)
    assert unnamed(caught.value, message) == []
