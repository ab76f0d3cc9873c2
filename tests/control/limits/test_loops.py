"""Loops stay closed on the way to a goal, and the ends of links keep their limits with them."""

from collections.abc import Callable

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, robots
from linkwise.control.limits.path_scaling import Pace
from linkwise.loops.loop_solver import closed_near, closing
from linkwise.solve import Coordinate, solve
from support.limit_account import FREE, Driven
from support.random_linkages import parallelogram

CLOSED = 1e-10


def limited(mech: Mechanism, pace: Pace, points: list[int], q: np.ndarray, speed: float, change: float) -> Driven:
    """The chain at rest, the same limits for all points."""
    k, n = len(points), mech.n
    values = {"max_speed": speed, "max_acceleration": change, "max_deceleration": change}
    return Driven(mech, pace, points, q, {name: [value] * k + [FREE] * n for name, value in values.items()})


def at_crank(mech: Mechanism, angle: float, near: np.ndarray) -> np.ndarray:
    """A closed position with its first joint at an angle, closed to the last digits."""
    found = solve(mech, [Coordinate(0, angle)], q0=near, tol=1e-13)
    assert found.success
    return found.q


def most_open(mech: Mechanism, chain: Driven) -> float:
    return float(np.abs(mech.kernel("closure")(np.array(chain.outputs))).max())


@pytest.fixture(scope="module", params=["four_bar", "five_bar"])
def linkage(request: pytest.FixtureRequest) -> tuple[Mechanism, Pace, list[int], np.ndarray]:
    made: Callable[[], Mechanism] = getattr(robots, request.param)
    mech = made()
    points = list(range(len(mech.links)))
    start = solve(mech, [Coordinate(0, 0.5)], tol=1e-13)
    return mech, Pace(mech, points), points, start.q


@pytest.mark.parametrize(
    ("angle", "dt", "speed", "change"), [(1.0, 0.01, 0.2, 1.0), (2.2, 0.02, 0.6, 3.0), (-0.4, 0.01, 0.3, 1.0)]
)
def test_a_linkage_keeps_its_loops_and_its_limits(
    linkage: tuple[Mechanism, Pace, list[int], np.ndarray], angle: float, dt: float, speed: float, change: float
) -> None:
    mech, pace, points, start = linkage
    chain = limited(mech, pace, points, start, speed, change)
    goal = at_crank(mech, angle, start)
    chain.arrive(goal, dt, 2000)
    assert most_open(mech, chain) <= CLOSED
    assert chain.broken() <= 0
    assert all(report["kept"] for report in chain.reports)


def test_a_goal_that_jumps_on_the_way(linkage: tuple[Mechanism, Pace, list[int], np.ndarray]) -> None:
    mech, pace, points, start = linkage
    chain = limited(mech, pace, points, start, 0.5, 2.0)
    goals = [at_crank(mech, angle, start) for angle in (1.2, 0.2, 0.9)]
    for k in range(90):
        chain.cycle(goals[k // 15 % 3], 0.01)
    assert most_open(mech, chain) <= CLOSED
    assert chain.broken() <= 0


@pytest.fixture(scope="module")
def stewart() -> tuple[Mechanism, Pace, list[int]]:
    mech = robots.stewart()
    points = [len(mech.links) - 1, 4]
    return mech, Pace(mech, points), points


def test_a_stewart_platform(stewart: tuple[Mechanism, Pace, list[int]]) -> None:
    mech, pace, points = stewart
    task, rng = closing(mech), np.random.default_rng(0)
    ends = []
    for size in (0.0, 0.15):
        q, error, _ = closed_near(task, rng.normal(0.0, size, (1, mech.n)), iterations=80)
        assert error[0] <= 1e-12
        ends.append(q[0])
    chain = limited(mech, pace, points, ends[0], 0.2, 1.0)
    chain.arrive(ends[1], 0.01, 2000)
    assert most_open(mech, chain) <= CLOSED
    assert chain.broken() <= 0


def test_a_parallelogram_through_its_flat_position() -> None:
    """All in one line two ways part, and the loop's equations lose rank: it stays closed and within its speeds."""
    mech = parallelogram()
    chain = limited(mech, Pace(mech, [0, 1, 2]), [0, 1, 2], np.array([0.5, -0.5, 0.5]), 0.3, 1.0)
    goal = np.array([-0.5, 0.5, -0.5])
    assert np.abs(mech.kernel("closure")(goal)).max() <= 1e-12
    chain.follow([goal] * 400, [0.01] * 400)
    assert most_open(mech, chain) <= CLOSED
    speeds = np.linalg.norm(chain.chords()[0][0], axis=2)
    assert speeds.max() <= 0.3 * (1 + 1e-9)
    assert (chain.outputs[-1] == goal).all()


def test_ends_that_are_held_together_by_a_switch() -> None:
    """Two fingers apart, switched on: they close on the way, within the limits, and then move as one."""
    finger = {"convention": "standard", "parent": "base"}
    links = [
        Link.dh(a=0.5, name="left 1", theta=2.0, **finger),
        Link.dh(a=0.5, name="left 2", theta=-1.5, convention="standard"),
        Link.dh(a=0.4, name="right 1", theta=1.0, **finger),
        Link.dh(a=0.4, name="right 2", theta=1.0, convention="standard", parent="right 1"),
    ]
    mech = Mechanism(links, name="grip")
    points = [1, 3]
    pace = Pace(mech, points, closures=[("left 2", "right 2", "point")])
    task = [Coordinate(0, 0.3), Coordinate(1, 0.2)]
    closed = mech.replace(loops=[Loop("point", "left 2", "right 2")])
    goal = solve(closed, task, tol=1e-13)
    assert goal.success
    chain = limited(mech, pace, points, np.zeros(4), 0.4, 2.0)
    chain.arrive(goal.q, 0.01, 2000)
    second = solve(closed, [Coordinate(0, 0.1), Coordinate(1, 0.1)], q0=goal.q, tol=1e-13)
    assert second.success
    first = len(chain.outputs) - 1
    chain.arrive(second.q, 0.01, 2000)
    assert chain.broken() <= 0
    ends = chain.places(np.array(chain.outputs[first:]))
    assert np.abs(ends[:, 0] - ends[:, 1]).max() <= CLOSED
    chain.give(closures=0.0)
    chain.arrive(np.zeros(4), 0.01, 2000)
    assert chain.broken() <= 0
