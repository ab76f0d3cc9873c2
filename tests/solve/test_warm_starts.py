"""Starting near a solution: the answer stays near, along paths, at joint limits, and whole turns away."""

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.inverse_kinematics import inverse_kinematics
from linkwise.solve import Pose
from linkwise.solve.compiled_problem import system_of

TURN = 2 * np.pi


def path(mech: Mechanism, seed: int, count: int = 1001) -> np.ndarray:
    """Joint positions (count, n) along a smooth path that uses 95 % of each range."""
    rng, s = np.random.default_rng(seed), np.linspace(0.0, 1.0, count)[:, None]
    low, high = mech.q_min, mech.q_max
    q = sum(rng.normal(size=mech.n) * np.sin(TURN * (k * s + rng.random(mech.n))) / k for k in (1, 2))
    return (low + high) / 2 + 0.95 * q / np.abs(q).max(axis=0) * (high - low) / 2


def follow(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    """Solutions for the poses of a path, each from the one before."""
    T, made = mech.forward_kinematics(q), [q[0]]
    for pose in T[1:]:
        found = inverse_kinematics(mech, pose, q0=made[-1], method="numeric")
        assert found.success
        made.append(found.q)
    return np.array(made)


@pytest.mark.parametrize(("name", "seed"), [("puma560", 1), ("puma560", 5), ("ur5", 1), ("ur5", 3), ("panda", 2)])
def test_a_smooth_path_is_followed_without_a_jump(name: str, seed: int) -> None:
    mech = robots.load(name)
    q = path(mech, seed)
    made = follow(mech, q)
    longest, given = (np.abs(np.diff(rows, axis=0)).max() for rows in (made, q))
    at_limit = (np.abs(made[:, :, None] - np.column_stack([mech.q_min, mech.q_max])) < 1e-9).any(axis=(1, 2)).sum()
    print(f"{name}: steps up to {longest:.3f} rad, those of the path up to {given:.3f} rad; {at_limit} at a limit")
    assert longest < 0.5  # (a jump to another branch is of the order of 1 rad)
    if name == "panda":
        assert at_limit > 20, "the redundant arm drifts to a limit and runs along it, where a way without limits jumps"


@pytest.mark.parametrize("seed", [1, 4, 9])
def test_a_jump_is_made_only_where_there_is_nothing_near(seed: int) -> None:
    """The redundant arm can drift into a corner of its limits; no descent within the limits leads on from there either."""
    mech = robots.panda()
    q = path(mech, seed)
    T, made = mech.forward_kinematics(q), follow(mech, q)
    jumps = np.flatnonzero(np.abs(np.diff(made, axis=0)).max(axis=1) > 0.5)
    system = system_of(mech, [Pose("tool", np.eye(4))])
    near = system.approaching(T[jumps + 1].reshape(-1, 16), made[jumps], np.zeros((0, 7)), system.settings(1e-9))
    avoidable = (near[:, -1] > 0) & (np.abs(near[:, :7] - made[jumps]).max(axis=1) < 0.5)
    print(f"{len(jumps)} jumps in {len(q)} steps, {avoidable.sum()} of them avoidable")
    assert 0 < len(jumps) < 20
    assert avoidable.sum() <= 1  # (one of a thousand, next to a singular position)


@pytest.mark.parametrize("turns", [-20, -1, 1, 3, 1000])
def test_a_start_whole_turns_outside_the_limits_counts_as_the_one_inside(turns: int) -> None:
    mech = robots.panda()
    low, high = mech.q_min, mech.q_max
    q = np.random.default_rng(turns + 50).uniform(low + 0.2, high - 0.2, (50, 7))
    T = mech.forward_kinematics(q)
    near = inverse_kinematics(mech, T, q0=q + 0.01, method="numeric")
    found = inverse_kinematics(mech, T, q0=q + 0.01 + turns * TURN, method="numeric")
    assert found.success.all()
    close = np.abs(near.q - q).max(axis=1) < 0.3
    assert close.mean() > 0.9
    # (the turns are rounded as multiples of pi are: 1e-15 of their size, and the solution moves no more than that
    # times the condition of the arm)
    assert np.abs(found.q - near.q)[close].max() < 1e-6


def test_without_limits_a_start_stays_in_its_turn() -> None:
    mech = robots.ur5()
    q = np.random.default_rng(1).uniform(-3.0, 3.0, (20, 6))
    T = mech.forward_kinematics(q)
    found = inverse_kinematics(mech, T, q0=q + 0.01 + 5 * TURN, method="numeric", limits=False)
    assert found.success.all()
    assert np.median(np.abs(found.q - q - 5 * TURN).max(axis=1)) < 1e-6


@pytest.mark.parametrize("wide", [0.0, 1e-6, 0.3])
def test_a_locked_joint_of_a_redundant_arm(wide: float) -> None:
    mech = robots.panda().replace_link(2, limits=(0.3 - wide / 2, 0.3 + wide / 2))
    q = np.random.default_rng(2).uniform(mech.q_min, mech.q_max, (100, 7))
    found = inverse_kinematics(mech, mech.forward_kinematics(q), method="numeric")
    assert found.success.all()
    low, high = np.column_stack([mech.q_min, mech.q_max])[2]
    assert ((found.q[:, 2] >= low) & (found.q[:, 2] <= high)).all()
