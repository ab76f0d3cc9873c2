"""How much time limits take: against the fastest motion that there is, one limited point on a line or a circle."""

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.control.limits.path_scaling import Pace
from support.limit_account import FREE, Driven


def fastest(way: float, speed: float, faster: float, slower: float) -> float:
    """The time of the trapezoid of speeds, or of the triangle where the speed is not reached, s."""
    ramps = 0.5 * speed * speed * (1 / faster + 1 / slower)
    if ramps <= way:
        return way / speed + 0.5 * speed * (1 / faster + 1 / slower)
    peak = np.sqrt(2 * way * faster * slower / (faster + slower))
    return float(peak / faster + peak / slower)


@pytest.fixture(scope="module")
def slide() -> tuple[Mechanism, Pace]:
    mech = Mechanism([Link.dh(convention="standard", joint="prismatic", name="slide")])
    return mech, Pace(mech, [0])


@pytest.fixture(scope="module")
def boom() -> tuple[Mechanism, Pace]:
    mech = Mechanism([Link.dh(a=1.0, convention="standard", name="boom")])
    return mech, Pace(mech, [0])


@pytest.mark.parametrize(("faster", "slower"), [(1.0, 2.0), (2.0, 1.0), (3.0, 3.0)])
@pytest.mark.parametrize("dt", [0.01, 0.001])
def test_on_a_line(slide: tuple[Mechanism, Pace], faster: float, slower: float, dt: float) -> None:
    """Within three cycles, and a thousandth for braking with a little less than all."""
    limits = {"max_speed": [0.5, FREE], "max_acceleration": [faster, FREE], "max_deceleration": [slower, FREE]}
    chain = Driven(*slide, [0], np.zeros(1), limits)
    ideal = fastest(1.0, 0.5, faster, slower)
    assert abs(chain.arrive([1.0], dt) * dt - ideal) <= 3 * dt + 1e-3 * ideal
    assert chain.broken() <= 0


def test_on_a_circle_with_all_limits(boom: tuple[Mechanism, Pace]) -> None:
    """The change of direction takes half of the greatest acceleration at full speed, and some of the braking."""
    limits = {"max_speed": [1.0, FREE], "max_acceleration": [2.0, FREE], "max_deceleration": [2.0, FREE]}
    chain = Driven(*boom, [0], np.zeros(1), limits)
    assert chain.arrive([2.0], 0.01) * 0.01 <= 1.03 * fastest(2.0, 1.0, 2.0, 2.0)
    assert chain.broken() <= 0


def test_on_a_circle_with_deceleration_only(boom: tuple[Mechanism, Pace]) -> None:
    """The change of direction has no limit then; the bounds do not know that of the circle, and cost two fifths at most."""
    limits = {"max_speed": [1.0, FREE], "max_deceleration": [0.5, FREE]}
    chain = Driven(*boom, [0], np.zeros(1), limits)
    assert chain.arrive([2.0], 0.01) * 0.01 <= 1.4 * fastest(2.0, 1.0, 1e9, 0.5)
    assert chain.broken() <= 0


def test_a_joint_alone(boom: tuple[Mechanism, Pace]) -> None:
    limits = {"max_speed": [FREE, 1.0], "max_acceleration": [FREE, 2.0], "max_deceleration": [FREE, 2.0]}
    chain = Driven(*boom, [0], np.zeros(1), limits)
    assert abs(chain.arrive([1.5], 0.01) * 0.01 - fastest(1.5, 1.0, 2.0, 2.0)) <= 0.03


def test_nothing_is_limited(boom: tuple[Mechanism, Pace]) -> None:
    chain = Driven(*boom, [0], np.zeros(1))
    assert chain.arrive([3.0], 0.01) == 1
    assert chain.reports[-1] == {"limited": 0.0, "kept": 1.0, "lam": 1.0, "looks": 1.0}


def test_a_moving_goal_is_caught_and_held_without_lag(slide: tuple[Mechanism, Pace]) -> None:
    limits = {"max_speed": [1.0, FREE], "max_acceleration": [2.0, FREE], "max_deceleration": [2.0, FREE]}
    chain = Driven(*slide, [0], np.zeros(1), limits)
    lag = []
    for k in range(400):
        goal = 0.3 + 0.4 * 0.01 * k
        lag.append(goal - chain.cycle([goal], 0.01, [0.4])[0])
    caught = int(np.argmax(np.array(lag) == 0))
    assert 0 < caught < 150
    assert not np.any(lag[caught:])
    assert chain.broken() <= 0
