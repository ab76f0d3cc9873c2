"""No speed, acceleration or deceleration of a link's end or a joint is ever exceeded, whatever is asked of the chain."""

import numpy as np
import pytest

from linkwise.control.limits.path_scaling import Pace
from support.limit_account import FREE, Driven, followers, random_mechanism

FOLLOWERS = 100
"""In the place of a seed: a mechanism with a screw, and joints that follow."""


@pytest.fixture(scope="module", params=[0, 2, 3, 5, FOLLOWERS], ids=lambda seed: f"mechanism {seed}")
def drawn(request: pytest.FixtureRequest) -> tuple[Driven, np.random.Generator]:
    """A random mechanism with a pace for the ends of all links and the tool; its row is written anew by each test."""
    mech = followers() if request.param == FOLLOWERS else random_mechanism(request.param)
    points = [*range(len(mech.links)), -1]
    return Driven(mech, Pace(mech, points), points, np.zeros(mech.n)), np.random.default_rng(request.param)


def fresh(drawn: Driven, rng: np.random.Generator) -> tuple[Driven, np.ndarray, np.ndarray]:
    """The same chain at rest somewhere, with other limits: a part of them, over two decades and more."""
    n, count = drawn.mech.n, drawn.mech.n + len(drawn.points)
    none = rng.choice([0.1, 0.5, 0.9])

    def limits(low: float, high: float) -> np.ndarray:
        return np.where(rng.random(count) < none, FREE, 10 ** rng.uniform(low, high, count))

    low, high = -rng.uniform(1, 3, n), rng.uniform(1, 3, n)
    given = {"max_speed": limits(-1.5, 1), "max_acceleration": limits(-1, 1.5), "max_deceleration": limits(-1, 1.5)}
    return (
        Driven(drawn.mech, drawn.pace, drawn.points, rng.uniform(low, high), {"low": low, "high": high, **given}),
        low,
        high,
    )


def verified(chain: Driven) -> None:
    assert chain.broken() <= 0
    assert chain.outside() <= 0
    assert all(report["kept"] for report in chain.reports)


@pytest.mark.parametrize("unequal", [False, True], ids=["equal cycles", "unequal cycles"])
def test_goals_that_jump(drawn: tuple[Driven, np.random.Generator], unequal: bool) -> None:
    chain, low, high = fresh(*drawn)
    rng = drawn[1]
    base = 10 ** rng.uniform(-3, -1)
    goal = rng.uniform(low, high)
    for _ in range(250):
        if rng.random() < 0.04:
            goal = rng.uniform(low, high)
        chain.cycle(goal, base * (10 ** rng.uniform(-0.7, 0.7) if unequal else 1.0))
    verified(chain)


@pytest.mark.parametrize("told", [False, True], ids=["speed not told", "speed told"])
def test_goals_that_move(drawn: tuple[Driven, np.random.Generator], told: bool) -> None:
    chain, low, high = fresh(*drawn)
    rng = drawn[1]
    goal, speed = rng.uniform(low, high), 0.3 * rng.normal(size=chain.mech.n)
    for _ in range(250):
        dt = 0.02 * 10 ** rng.uniform(-0.7, 0.7)
        if rng.random() < 0.05:
            speed = 0.3 * rng.normal(size=chain.mech.n)
        goal = np.clip(goal + speed * dt, low, high)
        chain.cycle(goal, dt, speed if told else 0.0)
    verified(chain)


def test_goals_that_reverse(drawn: tuple[Driven, np.random.Generator]) -> None:
    chain, low, high = fresh(*drawn)
    ends = [drawn[1].uniform(low, high) for _ in range(2)]
    for k in range(300):
        chain.cycle(ends[k // 20 % 2], 0.02)
    verified(chain)


def test_from_rest_the_line_of_joint_values_is_kept_to_the_goal(drawn: tuple[Driven, np.random.Generator]) -> None:
    """All joints together, none beyond the goal or back, and the end exactly."""
    chain, low, high = fresh(*drawn)
    goal = drawn[1].uniform(low, high)
    chain.arrive(goal, 0.05)
    chain.cycle(goal, 0.05)
    q = np.array(chain.outputs)
    assert (q[-1] == goal).all()
    way = goal - q[0]
    share = (q - q[0]) @ way / (way @ way)
    # (every cycle rounds each joint once, 1e-16 of some 3 rad; there are up to some thousand of them)
    assert np.abs(q - q[0] - share[:, None] * way).max() <= 1e-12
    assert (np.diff(share) >= 0).all()
    assert share.max() <= 1.0 + 1e-15  # (a share of 1 is rounded, too)
    assert (np.diff(q, axis=0) * np.sign(way) >= 0).all()
    verified(chain)
