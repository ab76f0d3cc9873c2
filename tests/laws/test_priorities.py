"""A level of priority never disturbs those before it, the squares of one level are weighed as asked, and ranges in which
everything is change nothing: on trees with random numbers, for random targets."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from linkwise import Link, Mechanism, robots
from linkwise.solve import PrioritySolution, solve
from linkwise.solve.constraints import Aligned, Coordinate, Distance, Position, Posture

KEPT = 1e-9
"""What a level may lose for those after it: the tolerance of the solver, m and rad."""

FEW = settings(max_examples=6, deadline=None, derandomize=True)
NUMBERS = arrays(np.float64, 9, elements=st.floats(-1.0, 1.0, width=32))


@cache
def tree(seed: int) -> Mechanism:
    """A trunk of three joints with limits, and two arms of two."""
    rng = np.random.default_rng(seed)

    def link(name: str, parent: str) -> Link:
        before = np.eye(4)
        before[:3, 3] = rng.uniform(-0.5, 0.5, 3)
        axis = rng.normal(size=3)
        return Link(name=name, parent=parent, axis=axis / np.linalg.norm(axis), before=before, limits=(-1.5, 2.0))

    chain = [
        ("a", "base"),
        ("b", "a"),
        ("c", "b"),
        ("left", "c"),
        ("left hand", "left"),
        ("right", "c"),
        ("right hand", "right"),
    ]
    return Mechanism([link(*names) for names in chain])


def point(mech: Mechanism, link: str, numbers: np.ndarray) -> np.ndarray:
    """Where a link is at a configuration within the limits."""
    q = 0.25 + 1.6 * np.resize(numbers, mech.n)
    return mech.forward_kinematics(q, link=link)[:3, 3]


@FEW
@given(NUMBERS)
def test_levels_do_not_disturb_those_before(numbers: np.ndarray) -> None:
    mech = tree(1)
    first = Position("left hand", point(mech, "left hand", numbers))
    second = Position("right hand", 2.0 * numbers[:3], priority=1)  # (seldom within reach)
    third = Posture(np.resize(numbers, mech.n), priority=2)
    two, all_three = solve(mech, [first, second]), solve(mech, [first, second, third])
    assert isinstance(two, PrioritySolution)
    assert isinstance(all_three, PrioritySolution)
    assert two.holds[0]
    assert all_three.holds[0]
    assert abs(all_three.levels[1] - two.levels[1]) <= KEPT
    assert ((all_three.q >= mech.q_min) & (all_three.q <= mech.q_max)).all()
    here = mech.forward_kinematics(all_three.q, link="right hand")[:3, 3]
    assert abs(np.linalg.norm(here - 2.0 * numbers[:3]) - all_three.constraint_errors[1, 0]) < 1e-14 * 10


@pytest.mark.parametrize("target", [[5.0, 1.0, 0.0], [-1.0, 4.0, 0.0]])
def test_what_is_out_of_reach_is_met_as_well_with_levels_after_it(target: list[float]) -> None:
    """Along a straight arm the Jacobian lets the elbow move, the second derivative does not."""
    arm = robots.planar_3r()
    far = Position("tool", target, mask=[1, 1, 0])
    plain = solve(arm, far)
    levels = solve(arm, [far, Posture([0.3, 1.0, -1.0])])
    assert isinstance(levels, PrioritySolution)
    assert not levels.success
    assert levels.at_rest.all()
    assert abs(plain.position_error - levels.position_error) <= KEPT
    assert abs(plain.position_error - (np.linalg.norm(target) - 3.0)) <= KEPT


@FEW
@given(NUMBERS, st.floats(0.1, 10.0))
@example(np.array([0.93, 0.0, 0.1, -0.825, -0.825, -0.655, 0.0, 0.0, 0.0]), 6.9)
def test_one_level_is_the_optimum_of_the_weighted_squares(numbers: np.ndarray, weight: float) -> None:
    """No step beside it, within the limits, has a smaller sum; not even where a plane of symmetry leads to a saddle."""
    mech = tree(1)
    left, right = 1.5 * numbers[:3], 1.5 * numbers[3:6]
    task = [Position("left hand", left, weight=weight), Position("right hand", right, weight=1.0)]
    solution = solve(mech, task, q0=np.zeros(mech.n))
    assert isinstance(solution, PrioritySolution)
    assert solution.success

    def cost(q: np.ndarray) -> np.ndarray:
        there = [mech.forward_kinematics(q, link=link)[..., :3, 3] for link in ("left hand", "right hand")]
        return weight * np.sum((there[0] - left) ** 2, axis=-1) + np.sum((there[1] - right) ** 2, axis=-1)

    least = cost(solution.q)
    for size in (1e-2, 1e-4):
        steps = size * np.random.default_rng(3).normal(size=(200, mech.n))
        beside = np.clip(solution.q + steps, mech.q_min, mech.q_max)
        # (the slope that may be left is 1e-6 of rates times residual, both of the order of 10 at most)
        assert (cost(beside) >= least - 1e-5 * size - 1e-14).all()


@FEW
@given(NUMBERS)
def test_ranges_in_which_it_is_change_nothing(numbers: np.ndarray) -> None:
    mech = tree(1)
    goal, posture = Position("left hand", point(mech, "left hand", numbers)), Posture(np.resize(numbers, mech.n))
    without = solve(mech, [goal, posture], q0=np.zeros(mech.n))
    wide = [
        Position("right hand", lower=[-5.0, -5.0, -5.0], upper=[5.0, 5.0, np.inf]),
        Aligned("right hand", [0, 0, 1], [0, 0, 1], upper=np.pi),
        Coordinate(1, lower=-10.0),
        Distance("left hand", "right hand", upper=9.0),
    ]
    within = solve(mech, [goal, *wide, posture], q0=without.q)  # (from elsewhere it may come to another valley)
    assert within.success
    assert np.abs(within.q - without.q).max() < 1e-6  # (the descent ends where steps are below 1e-7)


@FEW
@given(NUMBERS)
def test_a_range_holds_and_is_used_up(numbers: np.ndarray) -> None:
    """The hand comes as near to a point outside of the box as the box lets it."""
    mech = tree(1)
    center = point(mech, "left hand", 0.5 * numbers)
    box = Position("left hand", lower=center - 0.05, upper=center + 0.05)
    wanted = Position("left hand", center + np.array([0.07, 0.0, 0.0]), weight=1.0)
    solution = solve(mech, [box, wanted])
    assert isinstance(solution, PrioritySolution)
    assert solution.holds[0]
    here = mech.forward_kinematics(solution.q, link="left hand")[:3, 3]
    assert (np.abs(here - center) <= 0.05 + KEPT).all()
    assert np.linalg.norm(here - center - [0.07, 0.0, 0.0]) < 0.0701


def test_a_batch_is_a_loop_bit_for_bit() -> None:
    mech = tree(1)
    rng = np.random.default_rng(5)
    points = np.array([point(mech, "left hand", rng.uniform(-1, 1, 9)) for _ in range(4)])
    weights = np.array([0.1, 1.0, 3.0, 0.0])

    def task(k: slice | int) -> list[Position]:
        return [Position("left hand", points[k]), Position("right hand", [0.4, 0.0, 0.3], weight=weights[k])]

    whole = solve(mech, task(slice(None)))
    assert isinstance(whole, PrioritySolution)
    for k in range(4):
        one = solve(mech, task(k))
        assert isinstance(one, PrioritySolution)
        assert np.array_equal(one.q, whole.q[k])
        assert (one.success, one.reason, one.iterations) == (whole.success[k], whole.reason[k], whole.iterations[k])
        assert np.array_equal(one.levels, whole.levels[k])
        assert np.array_equal(one.holds, whole.holds[k])


def test_targets_in_series_give_joints_without_leaps() -> None:
    """Steps of the joints go with those of the target: each begins where the last ended, and stays near to it."""
    mech, q = tree(1), np.full(7, 0.2)
    center = mech.forward_kinematics(q, link="left hand")[:3, 3]
    jumps = []
    for s in np.linspace(0.0, 2 * np.pi, 60):
        target = center + 0.1 * np.array([1 - np.cos(s), np.sin(s), 0.0])
        onward = solve(mech, [Position("left hand", target), Posture(q)], q0=q)
        assert onward.success
        jumps.append(np.abs(onward.q - q).max())
        q = onward.q
    assert max(jumps) < 0.1  # (the target moves by 0.0107 m a step; an arm of half a metre turns by some 0.03 rad for it)
