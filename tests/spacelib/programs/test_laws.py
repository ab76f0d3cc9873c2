"""The laws behind JOINT.MOT and TEST.MOT: what they are, and that they give the numbers that the manual prints."""

import math

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.spacelib.programs import laws
from linkwise.spacelib.programs.laws import JOINT_LAWS, MOTOR_LAW, cycloidal, joint_motion, motor_motion, three_part
from support.messages import unnamed

LAWS = (three_part, cycloidal)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("amplitude", "duration"), [(2.0, 3.0), (-0.7, 0.25)])
def test_from_rest_to_rest_and_nothing_outside(law, amplitude, duration) -> None:
    q, qp, qpp = law([-1.0, 0.0, duration, duration + 1.0], amplitude, duration)
    assert np.allclose(q, [0.0, 0.0, amplitude, amplitude], rtol=1e-15, atol=0.0)
    assert np.array_equal(qp, np.zeros(4))
    assert np.array_equal(qpp[[0, 3]], np.zeros(2))


@pytest.mark.parametrize("law", LAWS)
def test_speed_and_acceleration_are_derivatives(law) -> None:
    # away from the jumps of the first law; central differences err by step^2 / 6 = 2e-11 times derivatives of about 10
    step = 1e-5
    t = np.linspace(0.031, 2.971, 61)
    t = t[np.abs(t[:, None] - [1.0, 2.0]).min(axis=1) > 2 * step]
    _, qp, qpp = law(t, 1.3, 3.0)
    after, before = law(t + step, 1.3, 3.0), law(t - step, 1.3, 3.0)
    assert np.abs((after[0] - before[0]) / (2 * step) - qp).max() < 1e-9
    assert np.abs((after[1] - before[1]) / (2 * step) - qpp).max() < 1e-9


@pytest.mark.parametrize("law", LAWS)
def test_symmetric_about_the_middle(law) -> None:
    t = np.linspace(0.0, 0.199, 23)  # a third of the time is not among them
    (q, qp, qpp), (q_back, qp_back, qpp_back) = law(t, 0.8, 0.4), law(0.4 - t, 0.8, 0.4)
    # a few roundings of numbers up to amplitude, 2 amplitude / duration and 2 pi amplitude / duration^2
    assert np.abs(q + q_back - 0.8).max() < 4e-16
    assert np.abs(qp - qp_back).max() < 4e-15
    assert np.abs(qpp + qpp_back)[1:].max() < 1e-13


def test_three_equal_parts() -> None:
    q, qp, qpp = three_part([0.5, 1.0, 1.5, 2.0, 2.5], 4.0, 3.0)
    assert q.tolist() == [0.25, 1.0, 2.0, 3.0, 3.75]
    assert qp.tolist() == [1.0, 2.0, 2.0, 2.0, 1.0]
    assert qpp.tolist() == [2.0, 0.0, 0.0, -2.0, -2.0]


def test_the_cycloid_is_one_period_of_a_sine() -> None:
    t = np.linspace(0.0, 1.0, 9)[:-1]
    _, _, qpp = cycloidal(t, 1.0, 1.0)
    assert np.abs(qpp - 2.0 * math.pi * np.sin(2.0 * math.pi * t)).max() < 1e-15 * 8.0


# Table 7.9, the first instant and two joints of the second: position, speed, acceleration.
PRINTED_JOINTS = [
    [(0.00114, 0.2545, 28.2744), (0.00106, 0.2356, 26.1799), (0.00153, 0.3393, 37.6991)],
    [(-0.00153, -0.3393, -37.6991), (0.00358, 0.7952, 88.3573), (0.02863, 6.3617, 706.858)],
    [(0.0051, 0.5372, 28.2744), (0.00473, 0.4974, 26.1799)],
]


def test_joints_print_as_in_the_manual() -> None:
    made = joint_motion()
    found = np.stack((made.q, made.qp, made.qpp), axis=-1)
    printed = np.array([numbers for part in PRINTED_JOINTS for numbers in part])
    got = np.concatenate([found[0], found[1, :2]])
    assert np.abs(got[:, 1] - printed[:, 1]).max() <= 0.5e-4  # speeds have four decimals
    six_digits = 0.5 * 10.0 ** (np.floor(np.log10(np.abs(printed[:, 2]))) - 5)
    assert (np.abs(got[:, 2] - printed[:, 2]) <= six_digits).all()
    # Positions have five decimals; the first, 0.00114, is a unit too low: 28.2744 * 0.009^2 / 2 = 0.0011451.
    assert np.abs(got[1:, 0] - printed[1:, 0]).max() <= 0.5e-5
    assert 0.5e-5 < got[0, 0] - printed[0, 0] < 0.6e-5


def test_joints_come_to_rest_at_their_amplitudes() -> None:
    made = joint_motion()
    assert (made.dt, made.t[0], len(made.t)) == (0.01, 0.009, 61)
    assert np.allclose(made.q[-1], [law[0] for law in JOINT_LAWS], rtol=1e-15, atol=0.0)
    assert not made.qp[-1].any()
    assert made.qp[-2].any()
    assert np.allclose(np.degrees(made.q[-1]), [90, 120, 120, -120, 180, 360], rtol=3e-6, atol=0.0)
    assert joint_motion(first=0.0).q[0].tolist() == [0.0] * 6


# Table 7.7 without its first row; the speed of the second row is misprinted there and left out.
PRINTED_MOTOR = [
    (5.556963e-07, 8.334976e-04, 8.333988e-01),
    (4.444593e-06, math.nan, 1.665613),
    (1.499523e-05, 7.494372e-03, 2.495461),
    (3.552638e-05, 1.331228e-02, 3.321762),
    (6.934328e-05, 2.077827e-02, 4.143342),
]


def test_motor_is_the_one_of_the_manual() -> None:
    made = motor_motion()
    printed = np.array(PRINTED_MOTOR)
    last_digit = 10.0 ** (np.floor(np.log10(printed)) - 6)
    off = np.abs(np.concatenate((made.q, made.qp, made.qpp), axis=1)[1:6] - printed)
    assert np.nanmax(off[:, 1:] / last_digit[:, 1:]) <= 2.0
    assert (off[:, 0] / printed[:, 0]).max() < 1e-5
    assert made.qp[2, 0] == pytest.approx(3.332806e-03, abs=0.5e-9)  # what should stand for the misprint


def test_the_printed_positions_do_not_fit_the_printed_speeds_better() -> None:
    # For small t position over speed is t / 3 in any cycloid, but for 2e-5; the ratio of the first row is 7e-6 off.
    (q, qp, _), (found_q, found_qp, _) = PRINTED_MOTOR[0], cycloidal(0.002, *MOTOR_LAW)
    assert 5e-6 < (q / qp) / (found_q / found_qp) - 1.0 < 1e-5


def test_motor_comes_to_rest() -> None:
    made = motor_motion()
    assert (made.dt, len(made.t)) == (0.002, 168)
    assert made.q[-1, 0] == MOTOR_LAW[0]
    assert made.qp[-1, 0] == made.qpp[-1, 0] == 0.0
    assert made.qp[-2, 0] > 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: three_part(0.0, 1.0, 0.0), "duration is 0.0; expected a time > 0"),
        (lambda: cycloidal(0.0, 1.0, math.nan), "duration is nan; expected a time > 0"),
        (lambda: cycloidal(0.0, math.inf, 1.0), "amplitude is inf; expected a finite number"),
        (lambda: three_part([0.0, math.nan], 1.0, 1.0), "t is [0.0, nan]; expected finite times"),
        (lambda: cycloidal(math.nan, 1.0, 1.0), "t is nan; expected finite times"),
        (
            lambda: laws.joint_motion(dt=1e-12),
            "dt is 1e-12; expected a time step that gives at most 10,000,000 instants, not 5.9e+11",
        ),
        (
            lambda: laws.motor_motion(dt=1e-320),
            "dt is 1e-320; expected a time step that gives at most 10,000,000 instants, not inf",
        ),
        (lambda: laws.joint_motion(dt=0.0), "dt is 0.0; expected a time step > 0"),
        (lambda: laws.joint_motion(first=-1.0), "first is -1.0; expected a time >= 0"),
        (lambda: laws.motor_motion(math.nan), "dt is nan; expected a time step > 0"),
    ],
)
def test_what_is_refused(call, message) -> None:
    with pytest.raises(ArgumentError) as told:
        call()
    assert unnamed(told.value, message) == []
