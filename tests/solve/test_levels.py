"""What became of weights and priorities: levels, what holds, words, the configuration of a humanoid."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Shape, robots
from linkwise.solve import (
    Clear,
    Coordinate,
    LimitMargin,
    Manipulability,
    Pose,
    Position,
    Posture,
    PrioritySolution,
    Solution,
    solve,
)
from linkwise.solve.constraints.constraint import ConstraintEquations
from linkwise.solve.problem import ConstraintProblem

ARM = robots.planar_3r()
PLANE = [1, 1, 0]


def point(p: list[float], **importance: float) -> Position:
    return Position("tool", [*p, 0.0], mask=PLANE, **importance)  # type: ignore[arg-type]


def by_levels(*arguments: object, **options: object) -> PrioritySolution:
    solution = solve(*arguments, **options)  # type: ignore[arg-type]
    assert isinstance(solution, PrioritySolution)
    return solution


def test_a_weight_is_priority_1_and_without_either_nothing_changes() -> None:
    assert [point([1, 1]).level, point([1, 1], weight=2.0).level, point([1, 1], weight=1.0, priority=0).level] == [0, 1, 0]
    assert type(solve(ARM, point([1, 1]))) is Solution
    assert type(solve(ARM, point([1, 1], priority=0))) is Solution


def test_the_levels_are_told() -> None:
    solution = by_levels(ARM, [point([1.0, 1.0]), point([1.0, 2.0], priority=1), Posture(np.zeros(3), priority=5)])
    assert solution.success
    assert solution.reason == "converged"
    assert solution.holds.tolist() == [True, False, False]
    assert solution.priorities.tolist() == [0, 1, 5]
    assert abs(solution.constraint_errors[1, 0] - 1.0) < 1e-9
    size = solution.constraint_errors[1, 0] / solution.levels[1]
    assert abs(size - 1.5) < 1e-9  # (the mechanism's: half of three links of 1 m)
    words = solution.explain()
    assert "Priority 1: 0.667 lacking." in words
    assert words.count("holds") == 1


def test_equal_goals_of_one_level_are_met_in_the_ratio_of_their_weights() -> None:
    """Two points for one tip, 1 m apart: it stands between them, nearer to the heavier one."""
    weights = np.array([1.0, 3.0, 9.0])
    solution = by_levels(ARM, [point([1.0, 1.0], weight=1.0), point([2.0, 1.0], weight=weights)])
    tip = ARM.forward_kinematics(solution.q)[:, :2, 3]
    assert np.abs(tip[:, 0] - (1.0 + weights / (1.0 + weights))).max() < 1e-6
    assert np.abs(tip[:, 1] - 1.0).max() < 1e-6
    assert solution.success.all()


def test_what_cannot_hold_is_not_called_solved() -> None:
    both = by_levels(ARM, [point([1.0, 1.0], weight=1.0, priority=0), point([2.0, 1.0], weight=4.0, priority=0)])
    assert not both.success
    assert both.reason == "unreachable"
    assert abs(ARM.forward_kinematics(both.q)[0, 3] - 1.8) < 1e-6
    assert not both.holds.any()


def test_a_joint_at_its_limit_is_kept_there() -> None:
    """Level 0 presses joint 3 against its limit: the level after it must leave it there."""
    arm = ARM.replace_link(2, limits=(0.5, 2.0)).replace_link(1, limits=(0.5, 2.0))
    far = point([5.0, 0.0])
    plain = solve(arm, far)
    levels = by_levels(arm, [far, Posture([1.0, 1.0, 1.0])])
    assert np.abs(levels.q[1:] - 0.5).max() < 1e-9
    assert abs(levels.position_error - plain.position_error) < 1e-9


def test_objectives_use_what_is_left() -> None:
    panda = robots.panda()
    q0 = np.array([0.1, -0.5, 0.2, -2.9, 0.3, 1.6, 0.7])
    T = panda.forward_kinematics(q0)
    ranges = panda.q_max - panda.q_min
    solution = by_levels(panda, [Pose("tool", T), LimitMargin(0.08)], q0=q0)
    assert solution.success
    assert solution.holds.all()
    assert (np.minimum(solution.q - panda.q_min, panda.q_max - solution.q) >= 0.08 * ranges - 1e-9).all()
    assert (np.minimum(q0 - panda.q_min, panda.q_max - q0) < 0.08 * ranges).any()


def test_manipulability_grows() -> None:
    """To the greatest there is with the tip at rest, by a scan of the last link's angle."""
    q0 = np.array([0.1, 1.0, -0.9])
    tip = ARM.forward_kinematics(q0)[:2, 3]
    plane = [*PLANE, 0, 0, 0]
    solution = by_levels(ARM, [point(tip), Manipulability("tool", 10.0, plane)], q0=q0)
    turn = np.linspace(-np.pi, np.pi, 2001)
    elbow = tip - np.stack([np.cos(turn), np.sin(turn)], axis=1)
    far = np.linalg.norm(elbow, axis=1)
    bend = np.arccos(np.clip(far**2 / 2 - 1, -1, 1))
    first = np.arctan2(elbow[:, 1], elbow[:, 0]) - bend / 2
    scan = np.stack([first, bend, turn - first - bend], axis=1)[far <= 2.0]
    jac = ARM.jacobian(np.concatenate([[q0, solution.q], scan]))[:, :2]
    before, after, *others = np.sqrt(np.linalg.det(jac @ jac.transpose(0, 2, 1)))
    assert solution.success
    assert before < 1.41
    assert after >= max(others)
    assert after < max(others) + 1e-4  # (the scan is 0.003 rad fine: its square, times a curvature of some units)


def test_what_is_clear_stays_clear() -> None:
    arm = ARM.with_shapes([Shape.rod(name, (-0.9, 0, 0), (-0.1, 0, 0), 0.05) for name in ARM.link_names])
    ball = Shape("world", "sphere", 0.2, origin=(1.2, 0.5, 0.0))
    clear = Clear(0.05, [ball])
    inward = Posture([0.3, 0.2, 0.3])  # (through the ball)
    solution = by_levels(arm, [clear, inward], q0=[1.5, 0.3, 0.3])
    assert solution.success
    assert arm.clearance(solution.q, [ball]).least >= 0.05 - 1e-9
    assert arm.clearance([0.3, 0.2, 0.3], [ball]).least < 0.05
    assert solution.levels[1] < 1.3  # (it was 1.204 rad away, and 0.3 from where the ball stands in the way)


@pytest.mark.parametrize("weight", [0.0, [0.0, 1.0]])
def test_a_weight_of_zero_counts_for_nothing(weight: object) -> None:
    solution = by_levels(ARM, [point([1.0, 1.0]), point([1.0, 2.0], weight=weight), Posture(np.zeros(3), priority=2)])
    without = by_levels(ARM, [point([1.0, 1.0]), Posture(np.zeros(3), priority=2)])
    first = solution.q if np.ndim(weight) == 0 else solution.q[0]
    assert np.abs(first - without.q).max() < 1e-6


def test_a_range_with_a_weight_of_zero_counts_for_nothing() -> None:
    aside = Coordinate(0, lower=2.0, upper=2.1, weight=0.0)
    posture = Posture([0.3, 1.0, -1.0], priority=2)
    solution = by_levels(ARM, [point([1.0, 1.1]), aside, posture], q0=[0.3, 0.5, 0.4])
    without = by_levels(ARM, [point([1.0, 1.1]), posture], q0=[0.3, 0.5, 0.4])
    assert np.abs(solution.q - without.q).max() < 1e-6


def test_a_level_that_takes_no_motion_leaves_all_of_it() -> None:
    """The tip is at one point; that it cannot be at another too takes nothing from the posture."""
    tip, posture = point([1.0, 1.1]), Posture([0.3, 1.0, -1.0], priority=2)
    solution = by_levels(ARM, [tip, point([1.0, 2.0], priority=1), posture])
    free = np.linalg.svd(ARM.jacobian(solution.q)[:2])[2][-1]
    assert solution.success
    assert abs(free @ (solution.q - posture.q)) < 1e-6 * np.sqrt(3.0) * solution.levels[2]  # (rates times residual)


def test_what_rounding_does_not_let_levels_keep_is_not_called_solved() -> None:
    """In an arm of some 1e6 m 1e-9 m are a few units in the last place."""
    rng = np.random.default_rng(10)
    sizes = [(1e6 * rng.uniform(0.3, 1.0), rng.uniform(-2.0, 2.0)) for _ in range(6)]
    arm = Mechanism([Link.dh(a=a, alpha=alpha, convention="standard", joint="revolute") for a, alpha in sizes])
    tip = arm.forward_kinematics(rng.uniform(-2.0, 2.0, 6))[:3, 3]
    solution = by_levels(arm, [Position("tool", tip), Posture(rng.uniform(-1.0, 1.0, 6))])
    assert solution.holds[0]
    assert solution.success == solution.at_rest.all()


def test_what_is_no_number_does_not_hold() -> None:
    problem = ConstraintProblem(ARM, [point([1.0, 1.0], weight=1.0)])
    for lacks, holds in ((0.0, 1.0), (1.0, 0.0), (np.nan, 0.0)):
        rows = ConstraintEquations(np.array([0.0, lacks]), np.zeros((2, 3)), (False, False))
        assert problem.met([rows], rows.residual, np.full(2, 1e-18)) == holds
