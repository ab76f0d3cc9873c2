"""Ranges of the joints: windows of a turn, what is held at a limit, what is outside."""

import numpy as np

from linkwise import Link, Mechanism, Mimic
from linkwise.solve.joint_limits import JointRanges, turning

TURN = 2 * np.pi


def chain(*links: Link) -> JointRanges:
    return JointRanges.of(Mechanism(list(links)))


def wrapped(ranges: JointRanges, q: list[float], q0: list[float]) -> list[float]:
    return [float(value) for value in ranges.wrapped(np.array(q), np.array(q0))]


def test_a_narrow_range_is_seen_from_its_middle() -> None:
    ranges = chain(Link(limits=(1.0, 3.0)))
    assert wrapped(ranges, [2.5], [0.0]) == [2.5]
    assert np.allclose(wrapped(ranges, [2.5 + TURN], [0.0]), [2.5])
    assert np.allclose(wrapped(ranges, [2.5 - TURN], [0.0]), [2.5])
    assert wrapped(ranges, [3.5], [0.0]) == [3.5], "no whole turn helps: it stays outside"
    assert float(ranges.outside(np.array([3.5]))) == 1.0
    assert float(ranges.outside(np.array([3.5]), 0.6)) == 0.0


def test_in_a_wide_range_the_window_is_nearest_to_the_start_and_inside() -> None:
    ranges = chain(Link(limits=(-7.0, 9.0)))
    rng = np.random.default_rng(0)
    for start in rng.uniform(-7.0, 9.0, 200):
        for value in rng.uniform(start - TURN, start + TURN, 5):
            (found,) = wrapped(ranges, [value], [start])
            (found,) = wrapped(ranges, [found], [start])
            assert -7.0 <= found <= 9.0
            others = value + TURN * np.arange(-4, 5)
            others = others[(others >= -7.0) & (others <= 9.0)]
            assert abs(found - start) <= abs(others - start).min() + 1e-12


def test_one_limit_or_none() -> None:
    ranges = chain(Link(limits=(1.0, np.inf)), Link(limits=(-np.inf, -1.0)), Link())
    found = wrapped(ranges, [0.5, 0.5, 50.0], [1.0, -1.0, 51.0])
    assert np.allclose(found, [0.5 + TURN, 0.5 - TURN, 50.0])


def test_what_slides_is_held_at_its_limits() -> None:
    ranges = chain(Link(joint="prismatic", limits=(0.0, 0.4)), Link(joint="prismatic"))
    assert wrapped(ranges, [0.7, 70.0], [0.0, 0.0]) == [0.4, 70.0]
    assert wrapped(ranges, [-0.7, -70.0], [0.0, 0.0]) == [0.0, -70.0]


def test_only_revolute_joints_that_nothing_follows_turn() -> None:
    links = [
        Link(name="a"),
        Link(name="b", mimic=Mimic("a", 2.0)),
        Link(joint="prismatic"),
        Link(joint="screw", pitch=0.1),
        Link(),
    ]
    assert turning(Mechanism(links)).tolist() == [False, False, False, True]


def test_a_narrow_joint_is_held_and_whole_turns_are_taken_off_a_start() -> None:
    ranges = chain(
        Link(limits=(0.0, 0.5)),
        Link(limits=(-4.0, 9.0)),
        Link(joint="prismatic", limits=(0.0, 0.5)),
        Link(limits=(1.0, np.inf)),
    )
    assert ranges.narrow.tolist() == [True, False, True, False]
    assert wrapped(ranges, [0.7, 0.0, 0.7, 2.0], [0.2] * 4)[:1] == [0.5]
    start = np.array([0.2, 1.0, 0.3, 2.0])
    assert ranges.hold(start)
    assert ranges.lifted(start) is start
    for turns in (-3, 2, 1000):
        found = ranges.lifted(start + turns * TURN)
        away = (found - start - turns * TURN) / TURN
        assert np.abs(away - away.round()).max() < 1e-12
        assert away[2] == 0, "a slide is not turned"
        joints = [0, 1, 3]
        assert ((found >= ranges.low - 1e-9) & (found <= ranges.high + 1e-9))[joints].all()
    assert not ranges.hold(np.array([0.2, np.nan, 0.3, 2.0]))
    assert not ranges.hold(np.array([0.2, 1.0, 0.3, np.inf])), "what has no limit is finite all the same"
    assert not ranges.hold(np.array([0.2, 9.1, 0.3, 2.0]))


def test_limits_beyond_all_measure_are_none() -> None:
    ranges = chain(Link(limits=(-np.finfo(float).max, 1.0)))
    assert ranges.low.tolist() == [-np.inf]
    assert ranges.high.tolist() == [1.0]


def test_whole_turns_lead_to_the_nearest_within_the_limits() -> None:
    ranges = chain(Link(limits=(-7.0, 9.0)), Link(limits=(1.0, 3.0)), Link(), Link(joint="prismatic"))
    rng = np.random.default_rng(1)
    for _ in range(200):
        q = rng.uniform([-7.0, 1.0, -50.0, -50.0], [9.0, 3.0, 50.0, 50.0])
        start = rng.uniform([-7.0, 1.0, -50.0, -50.0], [9.0, 3.0, 50.0, 50.0])
        found = ranges.nearest_turns(q + TURN * np.array([*rng.integers(-3, 4, 3), 0]), start)
        turns = q[:, None] + TURN * np.arange(-20, 21)
        allowed = (turns >= ranges.low[:, None]) & (turns <= ranges.high[:, None])
        for k in range(3):
            nearest = np.abs(turns[k][allowed[k]] - start[k]).min()
            assert abs(abs(found[k] - start[k]) - nearest) < 1e-9
        assert found[3] == q[3]
