"""Limits of the third order along paths: limits at any instant, straight lines beside Ruckig, rests, batches, messages."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.trajectory import MotionLimits, OptimalMotion, jerk_limited, path_through, time_optimal
from linkwise.trajectory.peaks import greatest
from linkwise.trajectory.smoothed import Smoothed, along_path, shares

POINTS = np.random.default_rng(5).uniform(-1.5, 1.5, (4, 3))
SECOND = {"qd_max": [1.0, 1.5, 2.0], "qdd_max": [4.0, 3.0, 5.0]}


def excess(move: OptimalMotion) -> float:
    """By what share any limit is exceeded at 10 kHz."""
    assert isinstance(move.profile, Smoothed)
    t = np.arange(0.0, move.duration, 1e-4)
    state = along_path(move.profile.path, move.profile.averages[()], t)
    taken = shares(move.limits, move.mechanism, *state)
    return max(float(share.max()) for share in taken.values()) - 1.0


@pytest.fixture(scope="module")
def smooth() -> OptimalMotion:
    return time_optimal(POINTS, limits=MotionLimits(**SECOND, qddd_max=20.0), intervals=80)


@pytest.mark.parametrize(
    ("way", "qd_max", "qdd_max", "qddd_max", "longer"),
    [
        (2.0, 1.0, 2.0, 8.0, 1e-4),  # the average of the trapezoid is the optimum; the grid leaves 1e-5
        (1.0, 50.0, 3.0, 30.0, 1e-3),  # no velocity binds: a plateau at the top as long as the window, to a node
        (5.0, 1.0, 2.0, 3.0, 5e-3),  # the acceleration is never reached: of a few windows
        (0.1, 1.0, 2.0, 8.0, 3e-2),
        (1e-3, 1.0, 1.0, 1.0, 2e-2),  # neither velocity nor acceleration comes near its limit
        (100.0, 1.0, 1.0, 1e6, 2e-4),  # the window is a part in 1e8 of the motion
    ],
)
def test_straight_lines_are_nearly_as_fast_as_possible(
    way: float, qd_max: float, qdd_max: float, qddd_max: float, longer: float
) -> None:
    pytest.importorskip("ruckig")
    limits = {"qd_max": qd_max, "qdd_max": qdd_max, "qddd_max": qddd_max}
    move = time_optimal([[0.0], [way]], limits=MotionLimits(**limits))
    shortest = jerk_limited([0.0], [way], **limits).duration
    print(move.duration / shortest - 1.0, excess(move))
    assert -1e-9 < move.duration / shortest - 1.0 < longer
    assert excess(move) < 1e-9


@pytest.mark.parametrize("seed", [2, 22])
def test_instants_that_rounding_keeps_apart_do_not_slow_a_motion(seed: int) -> None:
    """Of 40 such motions 17 were slowed, by up to 27 %, for a jump of the jerk that lasted 4e-16 s."""
    points = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, 2))
    limits = MotionLimits(qd_max=1.0, qdd_max=5.0, qddd_max=100.0)
    move = time_optimal(points, limits=limits, rests=[1.0, 2.0], intervals=60)
    assert move.usage.max() > 0.999
    assert excess(move) < 1e-9


def test_limits_hold_at_any_instant(smooth: OptimalMotion) -> None:
    assert excess(smooth) < 1e-9  # peaks by parabolas, beside a margin of 5e-8
    second = time_optimal(POINTS, limits=MotionLimits(**SECOND), intervals=80)
    print(smooth.duration / second.duration)
    assert 1.0 < smooth.duration / second.duration < 1.2
    assert 0.9 < smooth.usage.max() < 1.0 + 1e-9
    assert any("jerk" in part.name for part in smooth.binding)


def test_derivatives_and_ends(smooth: OptimalMotion) -> None:
    q, qd, qdd = smooth.at(np.array([0.0, smooth.duration]))
    assert np.allclose(q, POINTS[[0, -1]], atol=1e-12)
    assert np.abs(qd).max() < 1e-10
    assert np.abs(qdd).max() < 1e-8
    assert isinstance(smooth.profile, Smoothed)
    t, h = np.linspace(0.1, smooth.duration - 0.1, 50), 1e-5
    state = along_path(smooth.profile.path, smooth.profile.averages[()], t)
    for k in range(3):
        low, high = (along_path(smooth.profile.path, smooth.profile.averages[()], t + side)[k] for side in (-h, h))
        error = np.abs((high - low) / (2.0 * h) - state[k + 1]).max()
        print(k, error)
        assert error < (1e-4 if k < 2 else 1e-2)  # the jerk jumps by some 10 within h of a few of these instants


def test_efforts_rests_and_a_batch() -> None:
    arm = lw.robots.planar_2r().replace(gravity=(0.0, -9.81, 0.0))
    limits = MotionLimits(qd_max=3.0, tau_max=[80.0, 25.0], taud_max=[2000.0, 600.0])
    points = np.array([[[0.2, -0.4], [0.8, 0.9], [1.4, 0.1]], [[0.1, 0.4], [0.5, 0.2], [1.0, 0.7]]])
    many = time_optimal(points, arm, limits, intervals=60, rests=[1.0])
    one = time_optimal(points[1], arm, limits, intervals=60, rests=[1.0])
    assert many.batch == (2,)
    assert abs(many.durations[1] / one.duration - 1.0) < 1e-9
    assert np.allclose(many.member(1).at(one.t)[0], one.q, atol=1e-9)
    for move in (many.member(0), one):
        assert excess(move) < 1e-9
    k = int(np.flatnonzero(one.profile.pieces.s == 1.0)[0])
    q, qd, _ = one.at(one.profile.times[k])
    assert np.allclose(q, points[1, 1], atol=1e-9)
    assert np.abs(qd).max() < 1e-5  # the instant is known to a rounding, at which the speed has a double zero


def test_parabolas_find_peaks() -> None:
    t = np.linspace(0.0, 1.0, 9)
    values = np.array([3.0 - 2.0 * (t - 0.4) ** 2, t, -t])
    assert np.allclose(greatest(values), [3.0, 1.0, 0.0], atol=1e-14)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limits": MotionLimits(qddd_max=1.0)}, "nothing limits the speed"),
        ({"limits": MotionLimits(qd_max=1.0, qddd_max=0.0)}, "qddd_max is 0.0; expected numbers > 0"),
        ({"limits": MotionLimits(qd_max=1.0, taud_max=1.0)}, "taud_max needs the mechanism"),
        ({"sd0": 0.1}, "sd0 is 0.1; with limits of qddd_max or taud_max it must be 0"),
    ],
)
def test_messages(change: dict, message: str) -> None:
    call = {"path": path_through([[0.0], [1.0]]), "limits": MotionLimits(qd_max=1.0, qdd_max=1.0, qddd_max=5.0)} | change
    with pytest.raises(ArgumentError, match=message):
        time_optimal(call.pop("path"), **call)
