"""Branches along a path: continuous, in the margins, with the least travel, and breaks where there are none."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.inverse_kinematics import follow_path

START = np.array([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])


@pytest.fixture(scope="module")
def puma() -> Mechanism:
    return robots.puma560()


def _line(arm: Mechanism, q: np.ndarray, shift: Any) -> Any:
    start = arm.forward_kinematics(q)

    def at(s: float) -> np.ndarray:
        T = start.copy()
        T[:3, 3] += s * np.asarray(shift)
        return T

    return at


def test_a_branch_that_leads_along_the_path(puma: Mechanism) -> None:
    line = _line(puma, START, (0.0, 0.0, -0.7))
    way = follow_path(puma, line, samples=51)
    assert way.success
    assert not way.breaks
    assert np.abs(puma.forward_kinematics(way.q) - np.array([line(s) for s in way.s])).max() < 1e-12
    assert ((way.q >= puma.q_min) & (way.q <= puma.q_max)).all()
    fine = follow_path(puma, line, samples=501)
    # a path is continuous where ten times as many samples make steps ten times as small, and its length is the same
    assert np.abs(np.diff(fine.q, axis=0)).max() < 0.15 * np.abs(np.diff(way.q, axis=0)).max()
    assert abs(fine.travel - way.travel) < 1e-3 * way.travel
    numbers = [rows[node] for rows, node in zip(way.branch, way.chosen, strict=True)]
    assert len(set(numbers)) == 1  # one branch, one number


def test_the_travel_is_the_least_of_all_ways(puma: Mechanism) -> None:
    line = _line(puma, START, (0.0, 0.0, -0.2))
    way = follow_path(puma, line, samples=4, weights=[1.0, 2.0, 3.0, 1.0, 1.0, 0.5])
    lengths = []
    for nodes in product(*(range(len(rows)) for rows in way.solutions)):
        rows = np.array([part[k] for part, k in zip(way.solutions, nodes, strict=True)])
        steps = np.diff(rows, axis=0)
        if np.abs(steps).max() < 1.0:
            lengths.append(np.sqrt(steps**2 @ [1.0, 2.0, 3.0, 1.0, 1.0, 0.5]).sum())
    assert abs(way.travel - min(lengths)) < 1e-12


def test_where_the_path_leaves_the_reach(puma: Mechanism) -> None:
    way = follow_path(puma, _line(puma, START, (0.0, 0.5, 0.0)), samples=51)
    (only,) = way.breaks
    assert (way.success, only.reason, only.end) == (False, "unreachable", 1.0)
    assert "no solution reaches the pose" in way.explain()
    inside = way.s <= only.start
    assert (~np.isnan(way.q[inside])).all()
    assert np.isnan(way.q[~inside]).all()
    # the place is known to a sixty-fourth of a sample: there the wrist is at the end of its reach
    alone = puma.all_inverse_kinematics(_line(puma, START, (0.0, 0.5, 0.0))(only.start + 1.1 / 64 / 50), limits=False)
    assert len(alone) == 0


def test_margins_are_kept(puma: Mechanism) -> None:
    line = _line(puma, START, (0.0, 0.0, -0.7))
    free = follow_path(puma, line, samples=26)
    room = np.minimum(free.q - puma.q_min, puma.q_max - free.q).min()
    kept = follow_path(puma, line, samples=26, limit_margin=0.5 * room)
    assert (kept.q == free.q).all()
    tight = follow_path(puma, line, samples=26, limit_margin=1.01 * room)
    assert not np.array_equal(tight.q, free.q)
    if not tight.success:
        assert {gap.reason for gap in tight.breaks} <= {"limits", "apart"}


def test_singular_positions_are_left_out(puma: Mechanism) -> None:
    poses = np.array([puma.forward_kinematics([0.1, 0.8, -2.0, 0.3, bend, 0.2]) for bend in np.linspace(-0.2, 0.2, 21)])
    words = puma.configuration_labels(START)
    same = {"shoulder": words["shoulder"], "elbow": words["elbow"]}
    through = follow_path(puma, poses, configuration=same)
    assert through.success  # the wrist passes through its singular position
    assert abs(through.travel - 0.4) < 1e-9
    around = follow_path(puma, poses, configuration=same, singularity_margin=0.01)
    assert [gap.reason for gap in around.breaks] == ["singularity"]
    other = follow_path(puma, poses, singularity_margin=0.01)
    assert other.success  # with the elbow or the shoulder the other way
    assert np.linalg.svd(puma.jacobian(other.q), compute_uv=False)[:, -1].min() > 0.005  # (lengths of this are in m)


def test_a_leap_between_branches_is_said(puma: Mechanism) -> None:
    near = puma.forward_kinematics(np.linspace(START, START + 0.2, 11))
    turned = puma.forward_kinematics(START + np.linspace(1.2, 1.3, 5)[:, None] * [1, 0, 0, 0, 0, 0])
    way = follow_path(puma, np.concatenate([near[:6], turned]), s=np.arange(11))
    (only,) = way.breaks
    assert (only.reason, only.start, only.end) == ("apart", 5.0, 6.0)
    assert only.leap > 0.9


def test_turns_are_unwound_within_the_limits() -> None:
    arm = robots.ur5()
    q = np.linspace([0.1, -1.2, 1.5, 0.3, 0.9, 3.0], [0.1, -1.2, 1.5, 0.3, 0.9, 9.0], 16)
    way = follow_path(arm, arm.forward_kinematics(q))
    assert way.success  # almost one turn of the last joint, which has two: it begins where it has room
    assert abs(way.travel - 6.0) < 1e-9
    assert ((way.q >= arm.q_min) & (way.q <= arm.q_max)).all()


def test_a_redundant_arm_takes_all_values() -> None:
    arm = robots.panda()
    q = np.array([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
    line = _line(arm, q, (0.0, 0.2, 0.0))
    way = follow_path(arm, line, samples=9, redundancy={"link7": 9}, limit_margin=0.05)
    assert way.success
    assert np.abs(arm.forward_kinematics(way.q) - np.array([line(s) for s in way.s])).max() < 1e-12


def test_leaps_are_chosen_for_the_least_travel_of_all() -> None:
    """Poses that no branch joins: of all ways through their solutions the shortest, as an enumeration of them finds it."""
    arm = robots.puma560()
    q = np.random.default_rng(5).uniform(arm.q_min, arm.q_max, (4, 6))
    way = follow_path(arm, arm.forward_kinematics(q))
    lengths = [np.linalg.norm(b[None] - a[:, None], axis=-1) for a, b in zip(way.solutions, way.solutions[1:], strict=False)]
    least = min(
        sum(step[i, j] for step, i, j in zip(lengths, nodes, nodes[1:], strict=False))
        for nodes in product(*(range(len(rows)) for rows in way.solutions))
    )
    travel = np.linalg.norm(np.diff(way.q, axis=0), axis=1).sum()
    print([len(rows) for rows in way.solutions], len(way.breaks), travel - least)
    assert len(way.breaks) == 3
    assert abs(travel - least) < 1e-12
