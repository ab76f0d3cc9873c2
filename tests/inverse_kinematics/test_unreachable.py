"""Targets out of reach: what is proven, and what is only likely."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import linkwise as lw
from linkwise.inverse_kinematics import closed_form
from linkwise.solve.solution import Solution

#: Joint coordinates whose poses are within the reach.
INSIDE = {"puma560": [0.1, 0.8, -2.0, 0.3, 0.5, 0.2], "ur5": [0.1, -0.8, 1.0, 0.3, 0.5, 0.2]}


def pushed_out(arm: lw.Mechanism, q: list[float], factor: float = 3.0) -> np.ndarray:
    """The pose at q, its place so many times as far from the base."""
    T = np.array(arm.forward_kinematics(q))
    T[:3, 3] *= factor
    return T


@pytest.mark.parametrize("name", INSIDE)
def test_a_closed_form_proves_that_a_target_is_out_of_reach(name: str) -> None:
    arm = lw.robots.load(name)
    T = np.stack([arm.forward_kinematics(INSIDE[name]), pushed_out(arm, INSIDE[name])])
    one = arm.inverse_kinematics(T[1])
    assert (one.success, one.reason, one.proven) == (False, "unreachable", True)
    assert "proven" in one.explain()
    both = arm.inverse_kinematics(T)
    assert both.success.tolist() == [True, False]
    assert both.reason.tolist() == ["converged", "unreachable"]
    assert both.proven.tolist() == [False, True]
    assert "proven" in both.explain(1)
    assert arm.all_inverse_kinematics(T).unreachable.tolist() == [False, True]
    assert [arm.inverse_kinematics(T[:1], method=way).proven.tolist() for way in ("auto", "numeric")] == [[False], [False]]


def test_a_closed_form_proves_that_limits_stand_in_the_way() -> None:
    arm = lw.robots.load("ur5")
    narrow = arm.replace(links=[link.replace(limits=(-0.1, 0.1)) for link in arm.links])
    T = arm.forward_kinematics([0.0, -0.8, 1.0, 0.3, 0.5, 0.2])
    solution = narrow.inverse_kinematics(T)
    assert (solution.success, solution.reason, solution.proven) == (False, "limit", True)
    assert narrow.all_inverse_kinematics(T).unreachable
    assert not narrow.all_inverse_kinematics(T, limits=False).unreachable


def test_elimination_goes_on_where_no_start_led_to_a_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is one that fails, so that nothing but what follows it takes time."""
    arm = lw.robots.load("gen3_lite")
    q = np.array([0.1, 0.5, -0.4, 0.3, 0.8, 0.2])
    T = np.stack([pushed_out(arm, q.tolist()), arm.forward_kinematics(q)])
    bounds = np.stack([arm.q_min, arm.q_max], axis=1)

    def fails(_: lw.Mechanism, T: np.ndarray, *others: object) -> Solution:
        batch = T.shape[:-2]
        errors = dict.fromkeys(("position_error", "rotation_error"), np.full(batch, 0.5))
        rows = {"success": np.zeros(batch, bool), "reason": np.full(batch, "stalled"), "iterations": np.ones(batch, int)}
        nearest = np.tile(q + 0.7, (*batch, 1))
        solution = Solution.of(q=nearest.reshape(-1, 6), **rows, **errors)
        return solution.shaped(batch, limits=bounds, names=arm.names, tol=1e-9, away=None, reach=math.inf, proven=False)

    monkeypatch.setattr(sys.modules["linkwise.inverse_kinematics.inverse_kinematics"], "_plain", fails)
    both = arm.inverse_kinematics(T, q0=q + 0.01)
    assert (both.reason.tolist(), both.proven.tolist()) == (["unreachable", "converged"], [True, False])
    assert np.abs(both.q - [q + 0.7, q]).max() < 1e-8
    column = arm.inverse_kinematics(T[:, None], q0=q + 0.01)
    assert (column.reason.tolist(), column.proven.tolist()) == ([["unreachable"], ["converged"]], [[True], [False]])
    assert "proven" in column.explain((0, 0))
    one = arm.inverse_kinematics(T[0], q0=q + 0.01)
    assert (one.success, one.reason, one.proven) == (False, "unreachable", True)
    assert "proven" in one.explain()
    solved = arm.inverse_kinematics(T[1], q0=q + 0.01)
    assert (solved.success, solved.reason, solved.proven, solved.iterations) == (True, "converged", False, 0)
    searched = arm.inverse_kinematics(T[0], q0=q + 0.01, method="numeric")
    assert (searched.reason, searched.proven) == ("stalled", False)


def test_solutions_that_are_left_out_do_not_make_a_pose_unreachable() -> None:
    arm = lw.robots.load("ur5")
    solutions = arm.all_inverse_kinematics(arm.forward_kinematics(INSIDE["ur5"]))
    none = solutions.where(np.zeros(len(solutions), dtype=bool))
    assert none.count == 0
    assert none.complete
    assert not none.unreachable


def test_on_both_sides_of_the_boundary() -> None:
    """The last place along a ray with a solution, to 1e-15 m: a pose counts as reached up to 1e-9 m beyond."""
    arm = lw.robots.load("puma560")
    T = np.array(arm.forward_kinematics(INSIDE["puma560"]))
    ray = T[:3, 3] / np.linalg.norm(T[:3, 3])
    form = closed_form(arm)

    def at(distances: np.ndarray) -> lw.inverse_kinematics.Solutions:
        poses = np.tile(T, (len(distances), 1, 1))
        poses[:, :3, 3] = np.outer(distances, ray)
        return form.all(poses, limits=False)

    low, high = 0.3, 3.0
    while high - low > 1e-14:
        grid = np.linspace(low, high, 33)
        last = int(np.flatnonzero(at(grid).count)[-1])
        low, high = grid[last], grid[last + 1]
    beside = at(low + np.array([-1e-3, -1e-6, 1e-8, 1e-6, 1e-3]))
    print(low, beside.count, beside.complete)
    assert beside.count.tolist() == [8, 8, 0, 0, 0]
    assert beside.unreachable.tolist() == [False, False, True, True, True]


def test_numeric_solutions_differ_by_more_than_whole_turns() -> None:
    arm = lw.robots.load("ur5")
    T = arm.forward_kinematics([math.pi, -0.8, 1.0, 0.3, 0.5, 0.2])
    wide = arm.replace(links=[link.replace(limits=(-2.0 * math.pi, 2.0 * math.pi)) for link in arm.links])
    numeric = wide.all_inverse_kinematics(T, method="numeric", starts=60)
    turns = np.remainder(numeric.q[:, None] - numeric.q + math.pi, 2.0 * math.pi) - math.pi
    assert (np.abs(turns).max(axis=-1) + np.eye(len(numeric))).min() > 1e-6
    assert len(numeric) <= len(wide.all_inverse_kinematics(T))


def at_its_limits(arm: lw.Mechanism, q: list[float], below: tuple[int, ...]) -> lw.Mechanism:
    """The arm with limits that end at q, of some joints from below and of the others from above."""
    links = [
        link.replace(limits=(value - 1.5, value) if k in below else (value, value + 1.5))
        for k, (link, value) in enumerate(zip(arm.links, q, strict=True))
    ]
    return arm.replace(links=links)


def test_a_stretched_arm_at_its_limits_is_not_out_of_reach() -> None:
    """Where the elbow is straight two solutions are one, known to 4e-8 rad: it came out beyond the limits by that."""
    ur5 = lw.robots.load("ur5")
    for q, below in (
        ([1.4, -1.9, 0.0, -1.3, 1.5, 0.2], (0, 1, 2, 3)),
        ([-0.1, 1.6, 0.0, -0.6, 0.3, -0.7], (1, 2, 4)),
        ([-1.8, 0.9, 0.0, -1.9, 0.9, -1.9], (3, 5)),
    ):
        arm = at_its_limits(ur5, q, below)
        solutions = arm.all_inverse_kinematics(arm.forward_kinematics(q))
        assert not solutions.unreachable
        assert np.abs(solutions.q - q).max(axis=1).min() < 1e-7


def test_sliding_joints_that_are_parallel_at_a_pose_are_not_out_of_reach() -> None:
    """They move and leave the pose; the one position that stands for all is outside the limits, others are within."""
    right = 0.5 * math.pi
    axes = [(0.0, 0.6, 0.8), (0, -1, 0), (-0.5, 0.3, -0.3), (1, 0, 0), (0, 0, 1), (0, -1, 0)]
    places = [(-0.4, 0.5, 0.3), (-0.4, 0, 1), (-1, 0, -1), (-1, 0.3, -0.4), (1, 1, 1), (-0.4, 0.5, 1)]
    links = []
    for axis, place, kind in zip(axes, places, "RPRRPR", strict=True):
        before = np.eye(4)
        before[:3, 3] = place
        links.append(lw.Link(axis=axis, before=before, joint="prismatic" if kind == "P" else "revolute"))
    q = [right, -0.5, 0.0, right, -0.5, 0.8]
    arm = lw.Mechanism(links)
    T = arm.forward_kinematics(q)
    assert arm.all_inverse_kinematics(T, limits=False).count
    assert not at_its_limits(arm, q, (1, 4)).all_inverse_kinematics(T).unreachable


@pytest.mark.parametrize(("name", "bent"), [("ur5", 2), ("ur5", 4), ("puma560", 4)])
def test_complete_sets_hold_what_is_planted_at_limits(uncompiled: None, name: str, bent: int) -> None:
    """A straight elbow makes two solutions one, a straight wrist leaves a continuum, on which some joints are still.

    Other solutions of the pose may be within the limits, so that the set is not empty without the one that is planted.
    """
    free, rng = lw.robots.load(name), np.random.default_rng(bent)
    low, high = np.full(6, -1.0), np.full(6, 2.0)
    low[bent] = 0.0
    pairs = zip(free.links, low, high, strict=True)
    arm = free.replace(links=[link.replace(limits=limits) for link, *limits in pairs])
    q = rng.uniform(low, high, (40, 6))
    q[:30, bent] = 0.0
    at_limit = rng.random(q.shape) < 0.3
    at_limit[:, bent] = False
    q = np.where(at_limit, np.where(rng.random(q.shape) < 0.5, low, high), q)
    solutions = arm.all_inverse_kinematics(arm.forward_kinematics(q))
    _, values, directions = np.linalg.svd(arm.jacobian(q))
    leaves = (values[:, -1] < 1e-9) & (bent == 4)
    still = np.where(leaves[:, None], np.abs(directions[:, -1]) < 1e-6, True)
    away = np.remainder(solutions.q - q[:, None] + math.pi, 2.0 * math.pi) - math.pi
    near = (np.nan_to_num(np.where(still[:, None], np.abs(away), 0.0), nan=9.0).max(axis=-1) < 1e-6).any(axis=1)
    assert (near | ~solutions.complete).all()
    assert (solutions.reason[~solutions.complete] == "limits").all()
    assert solutions.complete[~leaves].all()
    assert name == "ur5" or solutions.complete.all()  # (of the UR5 three joints move with the wrist, on no line)


def test_a_continuum_beyond_its_limits_is_proven_to_be_so(uncompiled: None) -> None:
    """With a straight wrist joints 4 and 6 share an angle of 2 rad, of which their limits allow 1."""
    puma = lw.robots.load("puma560")
    limits = {3: (-0.5, 0.5), 5: (-0.5, 0.5)}
    tight = puma.replace(links=[link.replace(limits=limits.get(k)) for k, link in enumerate(puma.links)])
    q = np.array([0.3, 0.9, -1.2, 0.5, 0.0, 0.5])
    assert tight.all_inverse_kinematics(tight.forward_kinematics(q)).count
    q[5] = 1.5
    solutions = tight.all_inverse_kinematics(puma.forward_kinematics(q))
    assert solutions.complete
    assert not any(np.abs(row[:3] - q[:3]).max() < 1e-6 for row in solutions)
