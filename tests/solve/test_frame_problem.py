"""Solvers of frames that many bodies move: NumPy takes the steps of the one iteration over kernels that loop over bodies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import algorithm
from linkwise.errors import KernelError
from linkwise.kernel import iteration
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.looped import kernel
from linkwise.solve import (
    Aligned,
    CenterOfMass,
    Coordinate,
    LimitMargin,
    Orientation,
    Pose,
    Position,
    Posture,
    PrioritySolution,
    frame_problem,
    levenberg_marquardt,
    solve,
)
from linkwise.solve.compiled_problem import CompiledProblem, LoopedProblem, system_of
from linkwise.solve.levels import LevelSystem, LoopedLevels, level_system
from linkwise.spatial.transform import translation

FEW = 4
"""Bodies from which on these tests loop, so that what both tiers give is compiled in little time."""


def looped_from(monkeypatch: pytest.MonkeyPatch, bodies: int) -> None:
    """Loop over so many bodies and more."""
    for module in (algorithm, kernel, frame_problem):
        monkeypatch.setattr(module, "BODIES", bodies)


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    looped_from(monkeypatch, FEW)
    monkeypatch.setattr(levenberg_marquardt, "MOST_OPERATIONS", 0)  # (no exact Hessian: that of many bodies is too long)


def arm(**options: Any) -> lw.Mechanism:
    """Seven joints, one a slide, one within a narrow range, one without limits; two more beside the way to the tool."""
    limits = [(-2.0, 2.5), None, (-0.3, 0.5), (-3.5, 3.0), (-2.0, 2.0), (-0.2, 0.1), (-4.0, 4.0)]
    joints = [
        lw.Link(
            name=f"link{k}", joint="prismatic" if k == 4 else "revolute", before=translation(0.3 * (k % 2), 0.1, 0.3),
            axis=np.eye(3)[k % 3], limits=limits[k], mass=1.0, parent="base" if k == 0 else f"link{k - 1}",
        )
        for k in range(7)
    ]  # fmt: skip
    beside = [lw.Link(name=f"beside{k}", axis=(1, 0, 0), parent="link2", before=np.eye(4)) for k in range(2)]
    return lw.Mechanism([*joints[:3], *beside, *joints[3:]], **options)


ARM = arm()
FLOATING = arm(floating=True)
WITH_BALL = lw.Mechanism(
    [lw.Link(joint="ball"), *(lw.Link(before=np.eye(4) + 0.3 * np.eye(4, k=3), axis=np.eye(3)[k % 3]) for k in range(4))]
)
MECHANISMS = {"arm": ARM, "floating": FLOATING, "ball": WITH_BALL}

#: Constraints for poses (N, 4, 4) of a tool.
TASKS: dict[str, Callable[[np.ndarray], list[Any]]] = {
    "pose": lambda T: [Pose("tool", T)],
    "body axes": lambda T: [Pose("tool", T, mask=[1, 0, 1, 0, 1, 1], frame="body")],
    "point": lambda T: [Position("tool", T[:, :3, 3], point=[0.0, 0.1, 0.0])],
    "height": lambda T: [Position("tool", T[:, :3, 3], mask=[0, 0, 1])],
    "box": lambda T: [Position("tool", lower=T[:, :3, 3] - 0.05, upper=[np.inf, np.inf, np.inf])],
    "orientation": lambda T: [Orientation("tool", T[:, :3, :3], upper=0.1)],
    "axis": lambda T: [Aligned("tool", [0, 0, 1], T[:, :3, 2]), Position("tool", T[:, :3, 3])],
}


def poses(mechanism: lw.Mechanism, count: int, *, away: float = 0.0) -> np.ndarray:
    """Poses of the tool at random configurations, moved away, m."""
    result = np.array(mechanism.forward_kinematics(mechanism.random_configuration(7, count)))
    result[:, 0, 3] += away
    return result


@pytest.mark.parametrize(("name", "task"), [*(("arm", task) for task in TASKS), ("floating", "pose"), ("ball", "body axes")])
def test_the_steps_are_those_of_machine_code(name: str, task: str) -> None:
    mechanism = MECHANISMS[name]
    constraints = TASKS[task](poses(mechanism, 4))
    looped, compiled = system_of(mechanism, constraints), system_of(mechanism, constraints, backend="numpy")
    assert isinstance(looped, LoopedProblem)
    assert not isinstance(compiled, LoopedProblem)
    assert looped.idle.tolist() == compiled.idle.tolist()
    ours, theirs = (solve(mechanism, constraints, backend=backend) for backend in (None, "numpy"))
    assert ours.success.all()
    assert ours.iterations.tolist() == theirs.iterations.tolist()
    assert np.abs(ours.q - theirs.q).max() < 1e-9  # the tolerance; both go the same way
    for k in range(2):
        alone = solve(mechanism, TASKS[task](poses(mechanism, 4)[k : k + 1]))
        assert np.array_equal(alone.q[0], ours.q[k])  # a batch has the bits of a loop


LEVELS: dict[str, Callable[[np.ndarray], list[Any]]] = {
    "pose and posture": lambda T: [Pose("tool", T), Posture(np.zeros(9))],
    "three levels": lambda T: [
        Position("tool", T[:, :3, 3]), Coordinate("link3", 0.2, priority=1), Posture(np.zeros(9), priority=2)
    ],
    "weights alone": lambda T: [Position("tool", T[:, :3, 3], weight=[2.0, 0.0]), Posture(np.full(9, 0.1), weight=0.5)],
}  # fmt: skip


@pytest.mark.parametrize("task", LEVELS)
@pytest.mark.parametrize("name", ["arm", "floating"])
def test_weights_and_priorities_are_those_of_machine_code(name: str, task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = MECHANISMS[name]
    near = mechanism.random_configuration(7, 2)
    constraints = LEVELS[task](np.array(mechanism.forward_kinematics(near)))
    start = mechanism.integrate(near, np.full(mechanism.nv, 0.05))
    ours = solve(mechanism, constraints, q0=start)
    assert type(level_system(mechanism, constraints, limits=True)) is LoopedLevels
    looped_from(monkeypatch, 100)
    mechanism = mechanism.replace()  # (which keeps no system)
    theirs = solve(mechanism, constraints, q0=start)
    assert type(level_system(mechanism, constraints, limits=True)) is LevelSystem
    assert isinstance(ours, PrioritySolution)
    assert isinstance(theirs, PrioritySolution)
    assert ours.success.all()
    assert ours.reason.tolist() == theirs.reason.tolist()
    # both rest where the slope is 1e-6 of rates times residual: where the sum of squares is flat they are that far apart
    assert np.abs(ours.levels - theirs.levels).max() < 1e-8
    assert np.abs(ours.constraint_errors - theirs.constraint_errors).max() < 1e-5


def test_coordinates_beside_a_frame_and_ranges() -> None:
    """A value of a coordinate is looped over with a frame; ranges of levels are compiled."""
    near = ARM.random_configuration(7)
    pose = np.array(ARM.forward_kinematics(near))
    constraints = [Position("tool", pose[:3, 3]), Coordinate("link0", near[0])]
    assert type(system_of(ARM, constraints)) is LoopedProblem
    solution = solve(ARM, constraints, q0=near + 0.02)
    assert solution.success
    assert abs(solution.q[0] - near[0]) < 1e-8  # the tolerance
    assert np.abs(ARM.forward_kinematics(solution.q)[:3, 3] - pose[:3, 3]).max() < 1e-8
    for kind in (Coordinate("link0", lower=0.1), Position("tool", lower=[0.0, 0.0, 0.0]), LimitMargin(0.1)):
        assert type(level_system(ARM, [Pose("tool", pose, weight=1.0), kind], limits=True)) is LevelSystem


@pytest.mark.parametrize("limits", [True, False])
def test_what_is_out_of_reach_has_the_reason_of_machine_code(*, limits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MORE_STARTS", 4), ("NEAREST_STARTS", 3), ("LONGEST", 60.0)):
        monkeypatch.setattr(import_module("linkwise.solve.solve"), name, value)
    constraints = [Position("tool", poses(ARM, 2, away=30.0)[:, :3, 3])]
    ours, theirs = (solve(ARM, constraints, limits=limits, backend=backend) for backend in (None, "numpy"))
    assert not ours.success.any() or not limits
    assert ours.reason.tolist() == theirs.reason.tolist()
    assert np.abs(ours.position_error - theirs.position_error).max() < 1e-6  # where the descent rests, the slope is small
    ranges = np.stack([ARM.q_min, ARM.q_max])
    assert not limits or ((ours.q >= ranges[0]) & (ours.q <= ranges[1])).all()


def test_random_starts_follow_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a start with joints pressed against their limits; the first start that leads to a solution counts."""
    wanted = poses(ARM, 4)
    start = np.clip(np.full(ARM.nq, 9.0), ARM.q_min, ARM.q_max)
    ours, theirs = (ARM.inverse_kinematics(wanted, q0=start, backend=backend, seed=3) for backend in (None, "numpy"))
    assert ours.success.tolist() == theirs.success.tolist()
    assert np.abs(ours.q - theirs.q)[ours.success].max() < 1e-9
    for name in ("AT_ONCE", "ROOM"):  # start after start, and task after task, gives the same bits
        monkeypatch.setattr(iteration, name, 1)
    assert np.array_equal(ARM.inverse_kinematics(wanted, q0=start, seed=3).q, ours.q)


def test_other_constraints_and_short_ways_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(system_of(ARM, [Pose("tool", np.eye(4))])) is LoopedProblem
    for constraint in (Coordinate("link0", 0.1), CenterOfMass([0.0, 0.0, 0.1]), Pose("link2", np.eye(4))):
        assert type(system_of(ARM, [constraint])) is CompiledProblem
    assert type(system_of(ARM, [Pose("tool", np.eye(4)), Pose("link6", np.eye(4))])) is CompiledProblem  # too many rows
    looped_from(monkeypatch, 32)
    assert type(system_of(arm(), [Pose("tool", np.eye(4))])) is CompiledProblem


def test_an_unknown_back_end_is_refused() -> None:
    goal = Pose("tool", np.eye(4))
    closed = lw.robots.puma560()  # (a closed form asks no back end)
    for ask in (
        partial(ARM.inverse_kinematics, goal.T),
        partial(solve, ARM, goal),
        partial(closed.inverse_kinematics, goal.T),
    ):
        with pytest.raises(KernelError, match="backend is 'gpu'"):
            ask(backend="gpu")


@pytest.mark.parametrize("joints", [40, 400])
def test_chains_of_any_length_are_solved_without_compiling(joints: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looped_from(monkeypatch, 32)
    links = [
        lw.Link(before=np.eye(4) + 0.1 * np.eye(4, k=3), axis=np.eye(3)[k % 3], limits=(-2.0, 2.0)) for k in range(joints)
    ]
    chain = lw.Mechanism(links)
    near = np.random.default_rng(0).uniform(-0.3, 0.3, (2, joints))
    wanted = np.array(chain.forward_kinematics(near))
    monkeypatch.setattr(CompiledProblem, "reaching", property(lambda _: pytest.fail("it is compiled")))
    solution = chain.inverse_kinematics(wanted, q0=near + 0.02)
    assert solution.success.all()
    reached = forward_kinematics(chain, solution.q[0]) if joints < 100 else chain.forward_kinematics(solution.q[0])
    assert np.abs(reached - wanted[0]).max() < 1e-8  # the tolerance, in each element
    assert ((solution.q >= -2.0) & (solution.q <= 2.0)).all()
