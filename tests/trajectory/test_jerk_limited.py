"""Jerk-limited motion by Ruckig, planned and cycle by cycle."""

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.trajectory import OnlineTrajectory, jerk_limited

pytest.importorskip("ruckig")

LIMITS = {"qd_max": 1.0, "qdd_max": 2.0, "qddd_max": 8.0}


def test_rest_to_rest_is_the_textbook_profile() -> None:
    """With all three limits reached: d / v + v / a + a / j (L. Biagiotti and C. Melchiorri 2008, eq. 3.30)."""
    move = jerk_limited([0.0, 0.0], [1.0, 0.2], **LIMITS)
    assert np.isclose(move.duration, 1.0 / 1.0 + 1.0 / 2.0 + 2.0 / 8.0, rtol=1e-12)
    assert np.allclose(move.q[-1], [1.0, 0.2], atol=1e-12)


def test_any_state_to_any_state_within_limits() -> None:
    rng = np.random.default_rng(2)
    states = {name: rng.uniform(-0.5, 0.5, (4, 3)) for name in ("q0", "q1", "qd0", "qd1", "qdd0")}
    many = jerk_limited(**states, **LIMITS, rate=1000.0)
    assert many.batch == (4,)
    for k in range(4):
        one = many.member(k)
        end = float(one.evaluate.durations)
        q, qd, _ = one.at(end)
        assert np.allclose(q, states["q1"][k], atol=1e-9)
        assert np.allclose(qd, states["qd1"][k], atol=1e-9)
        until = one.t <= end
        assert np.abs(one.qd[until]).max() <= 1.0 + 1e-9
        assert np.abs(one.qdd[until]).max() <= 2.0 + 1e-9
        assert np.abs(np.diff(one.qdd[until], axis=0)).max() <= 8.0 * 1e-3 * (1.0 + 1e-6)


def test_a_target_that_changes_in_every_cycle() -> None:
    follow, last, jerk = OnlineTrajectory(0.01, [0.0, 0.0], **LIMITS), np.zeros((3, 2)), 0.0
    for k in range(600):
        state = np.array(follow.step([np.sin(0.01 * k) if k < 300 else 0.5, 0.2]))
        jerk = max(jerk, float(np.abs(state[2] - last[2]).max()) / 0.01)
        assert np.abs(state[0] - last[0] - 0.005 * (state[1] + last[1])).max() < 8.0 * 0.01**3  # trapezoid: jerk h^3 / 12
        last = state
        if follow.arrived:
            break
    assert follow.arrived
    assert jerk <= 8.0 * (1.0 + 1e-9)
    assert np.allclose(last[0], [0.5, 0.2], atol=1e-9)


def test_messages() -> None:
    with pytest.raises(ArgumentError, match="qd_max is 0"):
        jerk_limited([0.0], [1.0], **(LIMITS | {"qd_max": 0}))
    with pytest.raises(ArgumentError, match="qd1 is 3 for joint 0; qd_max is 1"):
        jerk_limited([0.0], [1.0], **LIMITS, qd1=3.0)
    follow = OnlineTrajectory(0.01, [0.0, 0.0], **LIMITS)
    with pytest.raises(ArgumentError, match=r"target has the shape \(3,\); expected \(2,\)"):
        follow.step([1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match="velocity is 5 for joint 0; qd_max is 1"):
        follow.step([1.0, 2.0], 5.0)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ArgumentError, match=rf"target is {wrong} at \(1,\)"):
            follow.step(np.array([1.0, wrong]))
    q, qd, qdd = follow.step(np.array([1.0, 2.0]))
    again = OnlineTrajectory(0.01, [0.0, 0.0], **LIMITS).step([1, 2], [0, 0])
    assert np.array_equal([q, qd, qdd], again)  # both ways of checking a target; and the state stayed as it was


@pytest.mark.parametrize("synchronization", ["time", "none"])
def test_what_has_ended_goes_on_with_its_last_velocity_and_not_with_its_acceleration(synchronization: str) -> None:
    options = {"qd_max": 1.0, "qdd_max": 2.0, "qddd_max": 8.0, "qd1": 0.5, "qdd1": 1.0, "synchronization": synchronization}
    move = jerk_limited([[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.5], [5.0, 4.0]], **options)
    q, qd, qdd = move.at(np.linspace(0.0, move.duration, 2001))
    print(np.abs(qd).max(), move.evaluate.durations)
    assert np.abs(qd).max() <= 1.0 + 1e-9
    assert np.abs(np.diff(q, axis=1)).max() <= 1.001 * move.duration / 2000
    ends = move.evaluate.durations[0]
    assert (qd[0, -1] == 0.5).all()
    assert not qdd[0, -1].any()
    assert np.allclose(q[0, -1], [1.0, 0.5] + 0.5 * (move.duration - ends), atol=1e-9) or synchronization == "none"
