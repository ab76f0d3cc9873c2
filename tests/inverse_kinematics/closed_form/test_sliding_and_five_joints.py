"""Six joints some of which slide, and five joints: planted positions are found again; what is complete misses none."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwise as lw
from linkwise.inverse_kinematics.closed_form import Elimination, closed_form, elimination
from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
from linkwise.inverse_kinematics.closed_form.elimination import eliminates
from linkwise.model.mimic import Mimic

#: Sliding coordinates are planted within this range (m), about the size of the arms.
WAY = 0.5


def arm_of_kinds(kinds: str, seed: int = 0) -> lw.Mechanism:
    """An arm of no special geometry: a letter R or P for each joint."""
    rng = np.random.default_rng(seed)
    links = []
    for kind in kinds:
        a, alpha, d, theta = (
            rng.uniform(-0.5, 0.5),
            rng.uniform(-math.pi, math.pi),
            rng.uniform(-0.5, 0.5),
            rng.uniform(-2, 2),
        )
        row = {"d": d} if kind == "R" else {"theta": theta, "joint": "prismatic"}
        links.append(lw.Link.dh(a=a, alpha=alpha, convention="standard", **row))
    return lw.Mechanism(links, name=kinds)


def arm_of_axes(relations: dict[int, str], count: int = 5) -> lw.Mechanism:
    """An arm of revolute joints; of joint k (from 1) it says whether its axis is parallel to the one before."""
    rng = np.random.default_rng(0)
    links, before, axis = [], np.zeros(3), np.zeros(3)
    for k in range(count):
        point, other = rng.normal(size=3) * 0.4, rng.normal(size=3)
        axis = axis if relations.get(k) == "parallel" else other / np.linalg.norm(other)
        placement = np.eye(4)
        placement[:3, 3], before = point - before, point
        links.append(lw.Link(axis=list(axis), before=placement))
    tool = np.eye(4)
    tool[:3, 3] = [0.3, 0.2, 0.4]
    return lw.Mechanism(links, tool=tool)


def planted(arm: lw.Mechanism, count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates at random, and their poses."""
    q = np.random.default_rng(seed).uniform(-math.pi, math.pi, (count, arm.n))
    q[:, arm.is_length] *= WAY / math.pi
    return q, arm.forward_kinematics(q)


def recovered(arm: lw.Mechanism, solutions: lw.inverse_kinematics.Solutions, q: np.ndarray) -> np.ndarray:
    """Which planted coordinates (N, n) are among the solutions of their pose."""
    away = solutions.q - q[:, None]
    turns = ~np.asarray(arm.is_length)
    away[..., turns] = np.remainder(away[..., turns] + math.pi, 2.0 * math.pi) - math.pi
    return np.nanmin(np.where(np.isnan(away), np.inf, np.abs(away)).max(axis=-1), axis=-1) < 1e-5


def least_distance(arm: lw.Mechanism, solutions: lw.inverse_kinematics.Solutions) -> float:
    """How near two solutions of one pose are to each other at least, in their greatest coordinate."""
    away = solutions.q[:, :, None] - solutions.q[:, None]
    turns = ~np.asarray(arm.is_length)
    away[..., turns] = np.remainder(away[..., turns] + math.pi, 2.0 * math.pi) - math.pi
    distance = np.abs(away).max(axis=-1) + 10.0 * np.eye(solutions.q.shape[1])
    return float(np.nanmin(distance, initial=10.0))


def check(arm: lw.Mechanism, count: int, most: int) -> None:
    """Plant positions: all are found, once, each row reaches its pose, and nearly all are proven to be complete."""
    q, T = planted(arm, count)
    solutions = arm.all_inverse_kinematics(T, limits=False)
    hit = recovered(arm, solutions, q)
    rows = ~np.isnan(solutions.q[..., 0])
    errors = np.abs(arm.forward_kinematics(np.nan_to_num(solutions.q)) - T[:, None])[rows].max()
    print(arm.name, "missed", int((~hit).sum()), "complete", solutions.complete.mean(), "error", errors)
    assert hit.all()
    assert least_distance(arm, solutions) > 1e-6  # (nearer ones are one)
    assert errors < 1e-9  # (the tolerance of a solution)
    assert solutions.count.max() <= most
    assert solutions.complete.mean() >= 0.99  # (0.999 to 1 of 2,000)


def test_one_joint_slides() -> None:
    arm = arm_of_kinds("RRPRRR")
    assert not closed_form(arm).exists
    check(arm, 300, 16)
    assert "degree 16" in arm.explain_solver()


@pytest.mark.parametrize("kinds", ["RPRRPR", "PPRRRR"])
def test_two_joints_slide(kinds: str) -> None:
    arm = arm_of_kinds(kinds)
    check(arm, 300, 8)
    assert "degree 8. A pose has up to 8 solutions" in arm.explain_solver()


def test_a_batch_of_sliding_joints_is_a_loop() -> None:
    arm = arm_of_kinds("RPRRPR", 1)
    _, T = planted(arm, 20)
    for pose, rows in zip(T, arm.all_inverse_kinematics(T), strict=True):
        assert (
            np.abs(arm.all_inverse_kinematics(pose).q - rows).max() < 1e-12
        )  # (the vector code of one differs by rounding)


def test_limits_of_a_sliding_joint() -> None:
    arm = arm_of_kinds("RPRRPR", 1)
    limited = arm.replace(
        links=[
            link.replace(limits=(0.0, 0.4) if slides else None)
            for link, slides in zip(arm.links, arm.is_length, strict=True)
        ]
    )
    _, T = planted(arm, 60)
    for rows, all_rows in zip(limited.all_inverse_kinematics(T), arm.all_inverse_kinematics(T), strict=True):
        slides = all_rows[:, arm.is_length]
        assert len(rows) == ((slides >= 0.0) & (slides <= 0.4)).all(axis=1).sum()


@pytest.mark.parametrize("kinds", ["RRRRR", "RRPRR"])
def test_five_joints(kinds: str) -> None:
    arm = arm_of_kinds(kinds)
    assert not closed_form(arm).exists
    check(arm, 300, 16)
    _, T = planted(arm, 300)
    T[:, :3, 3] += 1e-3 * np.random.default_rng(0).normal(size=(300, 3))
    beside = arm.all_inverse_kinematics(T, limits=False)
    print("unreachable", beside.unreachable.mean())
    assert not beside.count.any()  # (poses that five joints reach are a surface: nothing at random is on it)
    assert beside.unreachable.mean() >= 0.99


@pytest.mark.parametrize(
    ("parallel", "most"),
    [((1, 4), 1), ((1, 2, 4), 4), ((1, 3, 4), 4)],
    ids=["12, 45", "123, 45", "12, 345"],
)
def test_five_joints_with_parallel_axes(parallel: tuple[int, ...], most: int) -> None:
    """Those of the families of five joints that no other closed form takes apart."""
    arm = arm_of_axes(dict.fromkeys(parallel, "parallel"))
    form = closed_form(arm)
    assert form.exists
    q, T = planted(arm, 300)
    solutions = form.all(T, limits=False)
    assert recovered(arm, solutions, q).all()
    assert solutions.complete.all()
    assert 1 <= solutions.count.max() <= most
    turned = T.copy()
    turned[:, :3, :3] = T[:, [1, 2, 0], :3]  # (another rotation)
    assert form.all(turned, limits=False).unreachable.all()


def test_two_parallel_neighbours_of_six_joints_are_eliminated() -> None:
    """But not where the third joint before and after is parallel to its neighbour too: every determinant vanishes then."""
    arm = arm_of_axes({1: "parallel", 3: "parallel"}, 6)
    q, T = planted(arm, 200)
    solutions = arm.all_inverse_kinematics(T, limits=False)
    assert recovered(arm, solutions, q).all()
    assert solutions.complete.mean() >= 0.97
    opposite = arm_of_axes({1: "parallel", 4: "parallel"}, 6)
    q, T = planted(opposite, 20)
    assert not opposite.all_inverse_kinematics(T, limits=False).complete.any()


def test_a_triple_root_is_one_solution() -> None:
    """The root of three solutions in one is known to the third root of rounding, about 1e-5, in a curve of the joints."""
    axes = [(0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1), (0, -1, 0), (0, -1, 0)]
    places = [(0, 0, 0.5), (-1, -0.5, 1), (0, 0, 0), (-0.5, -1, -0.5), (0, -1, 1), (0.5, 0, -0.5)]
    links = []
    for axis, place, kind in zip(axes, places, "RPRRPR", strict=True):
        before = np.eye(4)
        before[:3, 3] = place
        links.append(lw.Link(axis=axis, before=before, joint="prismatic" if kind == "P" else "revolute"))
    tool = np.eye(4)
    tool[:3, 3] = [-0.048, -0.079, 0.0]
    arm = lw.Mechanism(links, tool=tool)
    right = 0.5 * math.pi
    T = arm.forward_kinematics([[-right, 0.5, right, right, 1.0, -right]])
    solutions = arm.all_inverse_kinematics(T, limits=False)
    assert solutions.count[0] == 4
    assert least_distance(arm, solutions) > 1e-3


def test_a_joint_that_follows_at_another_ratio() -> None:
    """At twice the angle half a turn of its leader leaves the arm where it is: each position is listed once."""
    arm = lw.robots.load("gen3_lite")
    moving = [k for k, link in enumerate(arm.links) if link.moves][:6]
    leader = lw.Link(name="motor", axis=[0.0, 0.0, 1.0], parent=None, limits=(-2.0, 2.0))
    links = [*arm.links, leader]
    links[moving[0]] = links[moving[0]].replace(mimic=Mimic(leader.coordinate_name, 2.0, 0.1), limits=None)
    other = lw.Mechanism(links, base=arm.base, tool=arm.tool, name="driven")
    solver = elimination(other, arm.links[moving[-1]].name)
    chain, _ = chain_of(other, arm.links[moving[-1]].name)
    assert chain is not None
    assert eliminates(chain)
    assert isinstance(solver, Elimination)
    assert sorted(np.abs(chain.ratios)) == [1.0] * 5 + [2.0]
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (40, other.n))
    T = other.forward_kinematics(q, link=arm.links[moving[-1]].name)
    solutions = solver.all(T, q)
    away = np.abs(solutions.q - q[:, None])
    assert np.nanmin(np.where(np.isnan(away), np.inf, away).max(axis=-1), axis=-1).max() < 1e-5
    for rows in solutions:
        assert (np.abs(rows[:, -1]) <= 2.0).all()
        turns = np.exp(1j * (rows * np.append(np.ones(other.n - 1), 2.0)))
        assert (np.abs(turns[:, None] - turns).max(axis=-1) + np.eye(len(rows))).min(initial=1.0) > 1e-6
