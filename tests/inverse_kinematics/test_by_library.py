"""All solutions of poses and ways along paths as arrays of libraries, with the derivatives of their equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Pose, robots
from linkwise.errors import ArgumentError
from linkwise.spatial.rotation import rotation_about
from support.libraries import DIFFERENTIABLE, library_of

#: (torch itself warns of what it uses of its own)
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit", "ignore::DeprecationWarning:torch")

ARM, START = robots.puma560(), np.array([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
T = ARM.forward_kinematics(START)
AXIS, SHIFT, STEP = np.array([0.6, 0.0, -0.8]), np.array([0.1, -0.2, 0.05]), 1e-5


def moved(share: float) -> Any:
    pose = T.copy()
    pose[:3, :3] = np.asarray(rotation_about(AXIS, 0.3 * share), dtype=float) @ T[:3, :3]
    pose[:3, 3] += share * SHIFT
    return pose


def change(call: Any) -> Any:
    """By central differences, whose error is of the order of 1e-9."""
    return (call(moved(STEP)) - call(moved(-STEP))) / (2 * STEP)


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_all_solutions(module: str) -> None:
    poses = np.stack([T, moved(0.3), np.eye(4)])
    rate, wanted = change(lambda pose: pose), change(lambda pose: ARM.all_inverse_kinematics(pose, q0=START).q)
    known = ARM.all_inverse_kinematics(poses, q0=START)
    with library_of(module) as library:
        pose = library.array(T)
        for jacobian in (library.jacrev, library.jacfwd):
            slopes = np.asarray(jacobian(lambda pose: ARM.all_inverse_kinematics(pose, q0=START).q)(pose))
            assert np.abs(np.einsum("...ij,ij", slopes, rate) - wanted).max() < 1e-7
        solutions = ARM.all_inverse_kinematics(library.array(poses), q0=START)
        assert type(solutions.q) is type(solutions.count) is type(pose)
        for name in ("q", "count", "complete", "unreachable", "reason"):
            value = np.asarray(getattr(solutions, name))
            assert np.array_equal(value, getattr(known, name), equal_nan=name == "q"), name
        assert repr(solutions) == repr(known)
        assert [rows.shape for rows in solutions] == [rows.shape for rows in known]
        assert np.array_equal(np.asarray(solutions.nearest(START)), known.nearest(START), equal_nan=True)
        kept = [each.where(known.q[..., 4] > 0.0) for each in (solutions, known)]
        assert np.array_equal(np.asarray(kept[0].q), kept[1].q, equal_nan=True)
        words = [each.configuration["elbow"] for each in (solutions, known)]
        assert np.array_equal(*words)


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_rows_without_a_solution_leave_derivatives_as_they_are(module: str) -> None:
    poses = np.stack([T, ARM.forward_kinematics([1.0, 1.2, -1.0, 0.3, 0.9, 0.2])])
    counts = ARM.all_inverse_kinematics(poses).count
    assert counts.min() < counts.max()
    with library_of(module) as library:
        first = library.jacrev(lambda poses: ARM.all_inverse_kinematics(poses, q0=START).q[:, 0].sum())
        assert np.isfinite(np.asarray(first(library.array(poses)))).all()


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_held_joints_do_not_move(module: str) -> None:
    arm, q = robots.panda(), np.array([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
    pose = arm.forward_kinematics(q)
    with library_of(module) as library:
        call = library.jacrev(lambda pose: arm.all_inverse_kinematics(pose, fixed={"link7": 0.7}).q)
        slopes = np.asarray(call(library.array(pose)))
        assert np.isfinite(slopes).all()
        assert not slopes[..., 6, :, :].any()
        free = library.jacrev(lambda pose: arm.inverse_kinematics(pose, q0=q).q)
        assert np.isnan(np.asarray(free(library.array(pose)))).any()


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_a_way_along_a_path(module: str) -> None:
    poses = np.stack([moved(share) for share in (0.0, 0.05, 0.1)])
    way = ARM.follow_path(poses, q0=START)
    with library_of(module) as library:
        tracked = ARM.follow_path(library.array(poses), q0=START)
        assert type(tracked.q) is type(library.array(poses))
        assert np.array_equal(np.asarray(tracked.q), way.q)
        slopes = np.asarray(library.jacrev(lambda poses: ARM.follow_path(poses, q0=START).q)(library.array(poses)))
        wanted = change(lambda pose: ARM.inverse_kinematics(pose, q0=way.q[0]).q)
        assert np.abs(np.einsum("aij,ij", slopes[0, :, 0], change(lambda pose: pose)) - wanted).max() < 1e-7
        assert not slopes[0, :, 1:].any()


def test_a_number_of_solutions_is_not_known_where_jax_traces() -> None:
    with library_of("jax") as library, pytest.raises(ArgumentError, match="the number of results depends on values"):
        library.jit(lambda pose: ARM.all_inverse_kinematics(pose).q)(library.array(T))


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_reasons_are_whole_words_and_limits_are_known(module: str) -> None:
    pose = ARM.forward_kinematics(ARM.random_configuration(0))
    at = START.copy()
    at[0] = ARM.q_max[0]
    edge = ARM.forward_kinematics(at)
    known = ARM.inverse_kinematics(edge, q0=at)
    with library_of(module) as library:
        asked = ARM.inverse_kinematics(library.array(pose), configuration={"shoulder": "left", "elbow": "up"})
        assert asked.reason == "configuration"
        assert "has the configuration asked for" in asked.explain()
        goal = library.array(edge)
        for solution in (ARM.inverse_kinematics(goal, q0=at), ARM.solve(Pose("tool", goal), q0=at)):
            assert np.array_equal(solution.active_limits, known.active_limits)
        assert known.active_limits.tolist() == [1, 0, 0, 0, 0, 0]
