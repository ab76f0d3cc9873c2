"""The option that starts the solver all over the joint ranges, for targets that nothing near by leads to."""

import numpy as np
import pytest

from linkwise import robots
from linkwise.control import Chain, rotation_angles
from linkwise.control.cycle.setpoints import ChainProblem, GlobalSearch
from support.chains import EPS, PRECISION, enable, inside, place_of, puma, solved

DT, SPEED, CHANGE = 0.01, 2.0, 8.0


def jumped(seed: int, *, search: bool) -> tuple[Chain, np.ndarray]:
    """The arm somewhere, limited, with a target that is reached from somewhere else; and that place."""
    chain, rng = puma(), np.random.default_rng([seed, 5])
    low, high = chain.mechanism.q_min, chain.mechanism.q_max
    start, goal = rng.uniform(low, high), rng.uniform(low, high)
    T = place_of(chain.mechanism, goal, -1)
    chain.reset(start)
    enable(chain, "target", position=T[:3, 3], angles=rotation_angles(T[:3, :3]))
    chain["chain.global_search"] = search
    for link, letter in chain.layout.joints:
        chain[f"{link}.max_{letter}_speed"] = SPEED
        chain[f"{link}.max_{letter}_acceleration"] = chain[f"{link}.max_{letter}_deceleration"] = CHANGE
    return chain, T


def moved(chain: Chain, cycles: int) -> np.ndarray:
    """Rows (T, n) of solved values until the chain is there, or for so many cycles."""
    rows = [chain.solved_q]
    for _ in range(cycles):
        chain.step(DT)
        rows.append(solved(chain))
        if not chain.unsolved and not chain["chain.limited"]:
            break
    return np.array(rows)


def test_a_target_far_away_is_found_and_approached_within_the_limits() -> None:
    """Of these some are never found from where the arm is; with the search all are, though each has an answer.

    Speeds are differences of joint values over a cycle, accelerations differences of those: rounding of values of some rad.
    """
    lost = 0
    for seed in range(12):
        plain, _ = jumped(seed, search=False)
        moved(plain, 300)
        lost += plain.unsolved
        chain, T = jumped(seed, search=True)
        rows = moved(chain, 600)
        assert not chain.unsolved, seed
        end = place_of(chain.mechanism, rows[-1], -1)
        assert np.abs(end[:3, 3] - T[:3, 3]).max() <= 2 * PRECISION
        assert inside(chain, rows)
        speeds = np.diff(np.vstack([rows[:1], rows]), axis=0) / DT
        assert np.abs(speeds).max() <= SPEED + 64 * EPS / DT
        assert np.abs(np.diff(speeds, axis=0)).max() / DT <= CHANGE + 256 * EPS / DT**2
    assert lost >= 4


def test_measured_joints_are_led_there_too() -> None:
    chain, _ = jumped(4, search=True)
    for _ in range(800):
        chain.feed(chain.predicted_q)
        chain.step(DT)
        if not chain.unsolved and not chain["chain.limited"]:
            break
    assert not chain.unsolved
    for link, letter in chain.layout.joints:
        chain.ports.route(f"{link}.{letter}_solved", f"{link}.{letter}")


def test_what_cannot_be_reached_stays_unsolved() -> None:
    """The answer then is the same as without a search: the best from where the chain is."""
    ends = []
    for search in (False, True):
        chain, _ = jumped(1, search=search)
        chain["target.position"] = [9.0, 0.0, 0.0]
        moved(chain, 200)
        assert chain.unsolved
        ends.append(chain.solved_q)
    assert np.array_equal(*ends)


def test_a_state_goes_on_with_the_same_starts() -> None:
    chain, _ = jumped(2, search=True)
    chain["target.position"] = [9.0, 0.0, 0.0]
    moved(chain, 7)
    saved, searched = chain.save(), chain._cycle.searched.copy()
    chain.step(DT)
    after = chain._cycle.searched.copy()
    assert not np.array_equal(after, searched)
    chain.restore(saved)
    assert np.array_equal(chain._cycle.searched, searched)
    chain.step(DT)
    assert np.array_equal(chain._cycle.searched, after)


@pytest.mark.parametrize("mechanism", [robots.planar_2r, robots.puma560])
def test_starts_fill_the_joint_ranges_evenly(mechanism) -> None:
    """Each tenth of each range gets a tenth of 1200 starts, to a third; within the limits, or half a turn where none are."""
    tree = mechanism()
    search, n, state = GlobalSearch(ChainProblem(tree, [])), tree.n, np.zeros(tree.n)
    low, high = tree.q_min, tree.q_max
    here = np.full(n, 0.4)
    rows = []
    for _ in range(300):
        starts, state = search(np.r_[low, high], here, state)
        rows.append(np.array(starts, dtype=float))
    every = np.concatenate(rows)
    first = np.where(np.isfinite(low), low, here - np.pi)
    last = np.where(np.isfinite(high), high, here + np.pi)
    shares = (every - first) / (last - first)
    assert ((shares >= 0.0) & (shares <= 1.0)).all()
    counts = np.array([np.histogram(column, bins=10, range=(0.0, 1.0))[0] for column in shares.T])
    assert np.abs(counts - 120).max() <= 40
