import numpy as np
import pytest

from linkwise.trajectory import trapezoidal

from .conftest import EPS

RNG = np.random.default_rng(11)
Q0, Q1 = RNG.uniform(-3, 3, (2, 40, 6))
SPEED, START, STOP = RNG.uniform(0.2, 3, 6), RNG.uniform(0.2, 5, 6), RNG.uniform(0.2, 5, 6)


def moved(**more: object) -> object:
    return trapezoidal(Q0, Q1, qd_max=SPEED, qdd_max=START, deceleration=STOP, **more)


@pytest.mark.parametrize(
    ("distance", "v", "a", "b", "duration"),
    [
        (2.0, 1.0, 2.0, 2.0, 2.5),  # cruises: D/v + v/2 (1/a + 1/b)
        (2.0, 1.0, 2.0, 0.5, 3.25),
        (0.5, 1.0, 2.0, 2.0, 1.0),  # the limit of both: v reached for an instant
        (0.125, 1.0, 2.0, 2.0, 0.5),  # a triangle: sqrt(2 D (1/a + 1/b))
        (1.0, 100.0, 1.0, 0.5, np.sqrt(6.0)),
    ],
)
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_one_joint_takes_the_least_time(distance: float, v: float, a: float, b: float, duration: float, way: float) -> None:
    """Closed forms: Biagiotti and Melchiorri (2008), section 3.2."""
    move = trapezoidal([1.0], [1.0 + way * distance], qd_max=v, qdd_max=a, deceleration=b)
    assert move.duration == pytest.approx(duration, rel=8 * EPS)


def test_no_quicker_motion_keeps_the_limits() -> None:
    """No motion within the limits is faster, anywhere on the way, than full acceleration, full speed or full braking."""
    for q0, q1, v, a, b in zip(Q0[:, 0], Q1[:, 0], *RNG.uniform(0.2, 3, (3, 40)), strict=True):
        move = trapezoidal([q0], [q1], qd_max=v, qdd_max=a, deceleration=b, rate=1000.0)
        way = np.abs(move.q[:, 0] - q0)
        left = abs(q1 - q0) - way
        most = np.minimum(v, np.sqrt(2 * np.minimum(a * way, b * np.maximum(left, 0.0))))  # v^2 = 2 a s, the phase plane
        # where s is small, its rounding of some eps |q| is felt as the square root
        assert np.abs(np.abs(move.qd[:, 0]) - most).max() < 10 * np.sqrt(EPS)


def test_limits_are_kept_and_touched() -> None:
    move = moved(rate=2000.0)
    q, qd, qdd = move.at(np.linspace(0, move.t[-1], 30011))
    assert np.all(np.abs(qd) <= SPEED)  # to the bit
    assert np.all(qdd * np.sign(Q1 - Q0)[:, None] <= START)
    assert np.all(-qdd * np.sign(Q1 - Q0)[:, None] <= STOP)
    assert np.all((q >= np.minimum(Q0, Q1)[:, None]) & (q <= np.maximum(Q0, Q1)[:, None]))
    touched = (np.abs(qd).max(axis=-2) >= SPEED * (1 - 1e-9)) | (
        (qdd * np.sign(Q1 - Q0)[:, None] >= START * (1 - 1e-9)).any(axis=-2)
        & (-qdd * np.sign(Q1 - Q0)[:, None] >= STOP * (1 - 1e-9)).any(axis=-2)
    )
    assert np.all(touched.sum(axis=-1) >= 1)  # the joint that takes longest


def test_all_joints_start_and_end_together() -> None:
    move = moved(rate=5000.0)
    for k in range(len(Q0)):
        turning = np.abs(move.qd[k]) > 0
        first, last = turning.argmax(axis=0), turning[::-1].argmax(axis=0)
        assert np.ptp(first) == 0
        assert np.ptp(last) <= 1  # the last instant of some may fall on the end by rounding


def test_ends_are_met_to_the_bit_and_are_at_rest() -> None:
    move = moved()
    assert np.array_equal(move.q[:, 0], Q0)
    assert np.array_equal(move.q[:, -1], Q1)
    assert not move.qd[:, [0, -1]].any()


def test_speed_and_acceleration_are_derivatives() -> None:
    """Parabolas: central differences are exact but for rounding, where no knot is near."""
    move = moved()
    knots = move.evaluate.t
    t, h = np.linspace(0, move.t[-1], 1003)[1:-1], 1e-3
    calm = np.all(np.abs(t[:, None, None] - knots[:, None]) > h, axis=-2)
    (q0, v0, _), (_, v, a), (q1, v1, _) = move.at(t - h), move.at(t), move.at(t + h)
    speed, acceleration = (np.abs((b - a) / (2 * h) - c)[calm].max() for a, b, c in ((q0, q1, v), (v0, v1, a)))
    bound = 8 * EPS * 10.0 / h  # some roundings of q < 3 and of what is subtracted from it, over 2 h
    print(f"speed {speed:.1e}, acceleration {acceleration:.1e}, bound {bound:.1e}")
    assert calm.mean() > 0.9
    assert max(speed, acceleration) < bound


def test_position_and_speed_do_not_jump_at_the_knots() -> None:
    move = moved()
    for knot in move.evaluate.t[:, 1:3].ravel():
        before, after = move.at(np.nextafter(knot, 0)), move.at(knot)
        assert np.abs(before[0] - after[0]).max() < 32 * EPS * 3
        assert (
            np.abs(before[1] - after[1]).max() < 64 * EPS * 5 * move.t[-1]
        )  # the time's own rounding times the acceleration


def test_batch_equals_loop() -> None:
    t = np.linspace(0, moved().duration, 57)
    many = moved(t=t)
    for k in range(len(Q0)):
        one = trapezoidal(Q0[k], Q1[k], qd_max=SPEED, qdd_max=START, deceleration=STOP, t=t)
        assert np.array_equal(many.q[k], one.q)
        assert np.array_equal(many.qd[k], one.qd)
        assert np.array_equal(many.qdd[k], one.qdd)


def test_limits_may_differ_over_the_batch() -> None:
    move = trapezoidal([0.0, 0.0], [1.0, 1.0], qd_max=[[1.0, 1.0], [0.5, 2.0]], qdd_max=10.0)
    assert move.batch == (2,)
    assert np.abs(move.qd).max(axis=-2) == pytest.approx(np.array([[1.0, 1.0], [0.5, 2.0 * 0.7 / 2.05]]), rel=8 * EPS)


def test_the_motion_begins_at_the_first_instant() -> None:
    late = trapezoidal([0.0], [2.0], qd_max=1.0, qdd_max=2.0, t=[5.0, 6.25, 7.5, 9.0])
    assert late.q.ravel().tolist() == [0.0, 1.0, 2.0, 2.0]
    assert late.qdd.ravel().tolist() == [2.0, 0.0, -2.0, 0.0]  # the end is the end of braking; then rest


def test_rate_gives_multiples_of_a_step_to_rest() -> None:
    move = trapezoidal([0.0], [2.0], qd_max=1.0, qdd_max=2.0, rate=30.0)
    assert len(move) == 76  # 2.5 s
    assert np.array_equal(move.t, np.arange(76) / 30.0)
    assert move.q[-1, 0] == 2.0


def test_in_a_straight_line_all_proceed_alike() -> None:
    move, quickest = moved(straight=True, rate=1000.0), moved(rate=1000.0)
    share = (move.q - Q0[:, None]) / (Q1 - Q0)[:, None]
    assert np.abs(share - share[..., :1]).max() < 100 * EPS / np.abs(Q1 - Q0).min()  # some roundings of q, over the way
    assert np.all(np.abs(move.qd) <= SPEED)
    assert np.all(move.qdd * np.sign(Q1 - Q0)[:, None] <= START)
    assert np.all(-move.qdd * np.sign(Q1 - Q0)[:, None] <= STOP)
    longer = move.evaluate.t[..., -1, :].max(axis=-1) / quickest.evaluate.t[..., -1, :].max(axis=-1)
    print(f"longer by up to {longer.max():.3f}")
    assert np.all(longer > 1 - 8 * EPS)
    alone = [trapezoidal([0.0], [2.0], qd_max=1.0, qdd_max=2.0, straight=straight).q for straight in (False, True)]
    assert np.abs(alone[0] - alone[1]).max() < 8 * EPS


def test_in_a_straight_line_what_does_not_move_stands_still() -> None:
    move = trapezoidal([[0.0, 1.0], [1.0, 1.0]], [1.0, 1.0], qd_max=1.0, qdd_max=1.0, straight=True)
    assert np.all(move.q[:, :, 1] == 1.0)
    assert np.all(move.q[1] == 1.0)
    assert not move.qd[1].any()
    assert move.q[0, -1, 0] == 1.0


def test_what_does_not_move_stands_still() -> None:
    move = trapezoidal([0.0, 1.0], [1.0, 1.0], qd_max=1.0, qdd_max=1.0)
    assert np.all(move.q[:, 1] == 1.0)
    assert not move.qd[:, 1].any()
    assert not move.qdd[:, 1].any()
    nowhere = trapezoidal([1.0], [1.0], qd_max=1.0, qdd_max=1.0, rate=100.0)
    assert len(nowhere) == 1
    assert nowhere.at(0.0)[0].tolist() == [1.0]
    partly = trapezoidal([[0.0], [1.0]], [[1.0], [1.0]], qd_max=1.0, qdd_max=1.0)
    assert np.all(partly.q[1] == 1.0)
