"""What is defined where something changes, is missing or is wrong: limits that change, no length, no number, no link."""

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.control.limits.path_scaling import Pace
from linkwise.errors import ArgumentError
from linkwise.kernel.sequence import Sequence
from support.limit_account import FREE, Driven

GOAL = np.array([1.2, -0.9])

LIMITS = {"low": -2.0, "high": 2.0, "max_speed": [1.0, FREE, FREE], "max_acceleration": 3.0, "max_deceleration": 3.0}


@pytest.fixture(scope="module")
def arm() -> tuple[Mechanism, Pace]:
    mech = robots.planar_2r()
    return mech, Pace(mech, [-1])


def moving(arm: tuple[Mechanism, Pace], cycles: int = 30) -> Driven:
    """The arm on its way."""
    chain = Driven(*arm, [-1], np.zeros(2), dict(LIMITS))
    chain.follow([GOAL] * cycles, [0.01] * cycles)
    return chain


def test_a_cycle_without_length_changes_nothing(arm: tuple[Mechanism, Pace]) -> None:
    chain, twin = moving(arm), moving(arm)
    for dt in (0.0, -1.0, np.nan):
        before = chain.row.copy()
        q = chain.cycle(GOAL, dt)
        assert (q == before[chain.pace.input_parts["q"]]).all()
        assert (chain.out[chain.pace.output_parts["carry"]] == before[chain.pace.input_parts["carry"]]).all()
    assert (chain.cycle(GOAL, 0.01) == twin.cycle(GOAL, 0.01)).all()


def test_a_goal_that_is_no_number_is_answered_by_braking(arm: tuple[Mechanism, Pace]) -> None:
    chain = moving(arm)
    for bad in ([np.nan, 0.0], [0.0, np.nan], [np.inf, np.nan], [np.nan, np.nan]):
        for _ in range(40):
            assert np.isfinite(chain.cycle(bad, 0.01)).all()
    assert np.array_equal(chain.outputs[-1], chain.outputs[-2])
    assert chain.broken() <= 0
    chain.arrive(GOAL, 0.01)
    assert chain.broken() <= 0


def test_a_lowered_speed_is_come_down_to_by_braking(arm: tuple[Mechanism, Pace]) -> None:
    chain = moving(arm, 60)
    chain.give(max_speed=[0.2, FREE, FREE])
    first = len(chain.outputs)
    chain.follow([GOAL] * 100, [0.01] * 100)
    speed = np.linalg.norm(chain.chords()[0][0][:, 0], axis=1)
    low = int(np.argmax(speed[first:] <= 0.2)) + first
    assert speed[first - 1] > 0.9
    assert (np.diff(speed[first - 1 : low]) < 0).all()
    assert (speed[low:] <= 0.2 * (1 + 1e-12)).all()
    chain.give(max_speed=[1.0, FREE, FREE])
    assert chain.broken() <= 0  # accelerations all the while


def test_a_limit_drawn_in_is_come_back_to_without_a_jump(arm: tuple[Mechanism, Pace]) -> None:
    chain = moving(arm, 60)
    inner = chain.outputs[-1][0] - 0.1
    chain.give(high=[inner, 2.0])
    back = np.array([inner - 0.05, GOAL[1]])
    chain.arrive(back, 0.01)
    assert chain.broken() <= 0
    beyond = np.array(chain.outputs)[:, 0]
    turn = int(np.argmax(beyond))
    assert (np.diff(beyond[turn:]) <= 0).all()


def test_limits_violated_at_the_start(arm: tuple[Mechanism, Pace]) -> None:
    chain = Driven(*arm, [-1], np.array([2.5, -2.2]), dict(LIMITS))
    chain.arrive(GOAL, 0.01)
    assert chain.broken() <= 0
    assert (np.abs(np.diff(np.array(chain.outputs), axis=0)) > 0).any()


def test_a_goal_outside_the_limits_is_not_followed_there(arm: tuple[Mechanism, Pace]) -> None:
    chain = Driven(*arm, [-1], np.zeros(2), dict(LIMITS))
    chain.follow([[5.0, 1.0]] * 700, [0.01] * 700)
    assert chain.outside() <= 0
    assert chain.outputs[-1][0] == 2.0
    assert chain.broken() <= 0


def test_a_lowered_deceleration_holds_far_from_the_goal(arm: tuple[Mechanism, Pace]) -> None:
    chain = moving(arm, 25)
    chain.give(max_deceleration=2.0)
    first = len(chain.outputs) - 1
    chain.arrive(GOAL, 0.01)
    assert all(report["kept"] for report in chain.reports)
    chain.outputs, chain.lengths = chain.outputs[first - 1 :], chain.lengths[first - 1 :]
    speed = np.linalg.norm(chain.chords()[0][0][1:, 0], axis=1)
    assert (np.diff(speed) >= -2.0 * 0.01 - 1e-9).all()
    assert (np.diff(speed)[-20:] < -1.5 * 0.01).any()


def test_rows_side_by_side_equal_rows_alone(arm: tuple[Mechanism, Pace]) -> None:
    """In machine code called from a sequence, and from Python."""
    _, pace = arm
    chains = [moving(arm, k) for k in (5, 40)]
    for chain in chains:
        chain.give(goal=GOAL, dt=0.01, dt_before=0.01)
    given, made = np.array([chain.row for chain in chains]), np.zeros((2, pace.output_row))
    Sequence(pace.steps(given, made))()
    together = np.zeros_like(made)
    pace.run(given, together)
    for chain, one, other in zip(chains, made, together, strict=True):
        pace.run(chain.row, chain.out)
        assert (chain.out == one).all()
        assert (chain.out == other).all()


def test_without_machine_code_the_same_is_kept(arm: tuple[Mechanism, Pace]) -> None:
    """Products and sums are not contracted there, so the search may end elsewhere within 1e-4 of a limit: 1e-3 in all."""
    mech, pace = arm
    chains = [Driven(mech, which, [-1], np.zeros(2), dict(LIMITS)) for which in (pace, Pace(mech, [-1], backend="numpy"))]
    for chain in chains:
        chain.follow([GOAL] * 60, [0.01] * 60)
        assert chain.broken() <= 0
    apart = np.abs(np.array(chains[0].outputs) - np.array(chains[1].outputs)).max()
    assert apart <= 1e-3


def test_mechanisms_and_links_that_have_no_pace() -> None:
    arm = robots.planar_2r()
    with pytest.raises(ArgumentError, match="no link 'hand'"):
        Pace(arm, ["hand"])
    with pytest.raises(ArgumentError, match=r"link is True.*expected a name, an index"):
        Pace(arm, [True])
    with pytest.raises(ArgumentError, match="no joint that moves"):
        Pace(Mechanism([Link.dh(joint="fixed", convention="standard", name="post")]), [-1])
    with pytest.raises(ArgumentError, match=r"q has the shape \(3,\); expected \(2,\)"):
        Pace(arm, [-1]).rest(np.zeros(3))
