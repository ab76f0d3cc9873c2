"""Motions between configurations and poses."""

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.rtss import (
    rt_ctraj,
    rt_jtraj,
    rt_poses,
    rt_qinterp,
    rt_quaternion,
    rt_rotvec,
    rt_rotx,
    rt_rotz,
    rt_rpy2tr,
    rt_transl,
    rt_trinterp,
)
from linkwise.trajectory import cartesian, quintic
from support.messages import unnamed

EPS = np.finfo(float).eps
Q0, Q1 = (rt_poses("puma560")[name] for name in ("qz", "qready"))
RNG = np.random.default_rng(5)
T0 = rt_transl(1, 2, 3) @ rt_rpy2tr(0.1, 0.2, 0.3)
T1 = rt_transl(-1, 0, 2) @ rt_rpy2tr(1.1, -0.4, 0.9)


def test_jtraj_is_linkwise_s_quintic() -> None:
    t = np.arange(0, 2.01, 0.056)
    move = quintic(Q0, Q1, t)
    q, qd, qdd = rt_jtraj(Q0, Q1, t)
    for found, expected in ((q, move.q), (qd, move.qd), (qdd, move.qdd)):
        assert np.array_equal(found, expected)
    assert q.shape == (36, 6)


def test_jtraj_with_a_number_of_points_takes_one_second() -> None:
    q, qd, qdd = rt_jtraj(Q0, Q1, 5)
    again = rt_jtraj(Q0, Q1, [0, 0.25, 0.5, 0.75, 1.0])
    assert all(np.array_equal(a, b) for a, b in zip((q, qd, qdd), again, strict=True))
    assert q[2] == pytest.approx(0.5 * (Q0 + Q1), abs=EPS)
    assert qd[2] == pytest.approx(15 / 8 * (Q1 - Q0), abs=8 * EPS)
    assert not qd[[0, -1]].any()
    assert not qdd[[0, -1]].any()


def test_jtraj_meets_the_speeds_at_its_ends() -> None:
    """By the polynomial in time scaled to 1: 6 D - 3 (v1 + v0), -15 D + 8 v0 + 7 v1, 10 D - 6 v0 - 4 v1."""
    v0, v1, t = *RNG.standard_normal((2, 6)), np.linspace(0, 3, 31)
    q, qd, _ = rt_jtraj(Q0, Q1, t, v0, v1)
    assert np.array_equal(qd[[0, -1]], [v0, v1])
    s, a, b, d = (t / 3)[:, None], 3 * v0, 3 * v1, Q1 - Q0
    expected = Q0 + s * a + s**3 * (10 * d - 6 * a - 4 * b) + s**4 * (-15 * d + 8 * a + 7 * b) + s**5 * (6 * d - 3 * (a + b))
    assert np.abs(q - expected).max() < 1e-13  # coefficients of some 50, each rounded a few times


def test_jtraj_begins_at_time_zero_wherever_its_times_begin() -> None:
    whole, part = rt_jtraj(Q0, Q1, [0.0, 1.0, 2.0])[0], rt_jtraj(Q0, Q1, [1.0, 2.0])[0]
    assert np.array_equal(part, whole[1:])
    mixed = rt_jtraj(Q0, Q1, [[2.0], [1.0]])[0]
    assert np.array_equal(mixed, whole[[2, 1]])


def test_jtraj_of_one_joint_paces_ctraj() -> None:
    r = rt_jtraj(0, 1, 9)[0]
    assert r.shape == (9, 1)
    T = rt_ctraj(T0, T1, r)
    assert T.shape == (9, 4, 4)
    assert np.abs(rt_transl(T) - (rt_transl(T0) + r * (rt_transl(T1) - rt_transl(T0)))).max() < 4 * EPS
    assert rt_jtraj(np.zeros((4, 2)), np.ones(2), 9)[0].shape == (4, 9, 2)


def test_ctraj_is_linkwise_s_straight_line() -> None:
    """The quintic profile of `cartesian`, asked for at the ratios that it has."""
    t = np.linspace(0, 1, 11)
    poses = cartesian(T0, T1, t).poses
    found = rt_ctraj(T0, T1, rt_jtraj(0, 1, t)[0])
    assert np.abs(found - poses).max() < 16 * EPS
    evenly = rt_ctraj(T0, T1, 5)
    assert np.array_equal(evenly, rt_trinterp(T0, T1, np.linspace(0, 1, 5)))
    assert np.abs(evenly[[0, -1]] - [T0, T1]).max() < 16 * EPS
    steps = np.linalg.inv(evenly[:-1, :3, :3]) @ evenly[1:, :3, :3]
    assert np.ptp(steps, axis=0).max() < 16 * EPS  # one axis, one pace


def test_trinterp_goes_by_the_quaternions_of_the_original() -> None:
    for r in (0.0, 0.3, 1.0):
        arc = rt_qinterp(rt_quaternion(T0), rt_quaternion(T1), r, shortest=True)
        T = rt_trinterp(T0, T1, r)
        assert T.shape == (4, 4)
        assert np.abs(T[:3, :3] - arc.r).max() < 16 * EPS
        assert np.array_equal(T[:3, 3], (1 - r) * T0[:3, 3] + r * T1[:3, 3])


def test_the_turn_is_the_shortest() -> None:
    """From 3 rad to 4 rad it is 1 rad; quaternions with positive scalar parts have a negative product there."""
    a, b = rt_rotz(3.0), rt_rotz(4.0)
    assert rt_quaternion(a).d @ rt_quaternion(b).d < 0
    assert np.abs(rt_trinterp(a, b, 0.5) - rt_rotvec([0, 0, 1], 3.5)).max() < 8 * EPS
    assert np.abs(rt_ctraj(a, a, 3) - a).max() < 4 * EPS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rt_jtraj(Q0, Q1, [0.0, -1.0]),
            "rt_jtraj: t is [0.0, -1.0]; expected a whole number above 1, or times (m,), s, none below 0 and one above it",
        ),
        (
            lambda: rt_jtraj(Q0, Q1, [0.0]),
            "rt_jtraj: t is [0.0]; expected a whole number above 1, or times (m,), s, none below 0 and one above it",
        ),
        (
            lambda: rt_jtraj(Q0, Q1, []),
            "rt_jtraj: t is []; expected a whole number above 1, or times (m,), s, none below 0 and one above it",
        ),
        (lambda: rt_jtraj(Q0, Q1, 1), "rt_jtraj: t is 1; expected a whole number above 1"),
        (lambda: rt_jtraj(Q0, Q1, 2.5), "rt_jtraj: t is 2.5; expected a whole number above 1"),
        (lambda: rt_jtraj(Q0, [1.0, 2.0], 5), "q1 has the shape (2,); expected (..., 6), as q0 is for 6 joints"),
        (lambda: rt_ctraj(T0, T1, True), "rt_ctraj: n is True; expected a whole number above 1"),
        (lambda: rt_ctraj(T0, T1, [0.0, 1.5]), "rt_ctraj: n is 1.5; expected numbers from 0 to 1"),
        (lambda: rt_trinterp(T0, T1, -0.1), "rt_trinterp: r is -0.1; expected numbers from 0 to 1"),
        (
            lambda: rt_trinterp(np.stack([T0, T0]), T1, 0.5),
            "rt_trinterp: T0 and T1 have the shapes (2, 4, 4) and (4, 4); expected (4, 4)",
        ),
        (
            lambda: rt_trinterp(np.eye(4), rt_rotx(np.pi), 0.5),
            "rt_trinterp: T0 and T1 are half a turn apart; the direction of rotation is ambiguous",
        ),
    ],
)
def test_what_cannot_be_is_told(call: object, message: str) -> None:
    with pytest.raises(ArgumentError) as told:
        call()  # type: ignore[operator]
    assert unnamed(told.value, message) == []
