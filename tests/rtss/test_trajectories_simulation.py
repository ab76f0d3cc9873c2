"""Forward dynamics in time."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError, ModelError
from linkwise.rtss import rt_fdyn, rt_gravload, rt_nofriction, rt_poses, rt_puma560, rt_rne, rt_stanford, rt_twolink

FREE = rt_nofriction(rt_puma560(), "all")
T = np.array([0.0, 0.05, 0.2, 0.5])  # at no equal distances
QN = rt_poses("puma560")["qn"]


def test_a_fall_keeps_its_energy() -> None:
    """To the tolerance of the integrator, 1e-8 a step of some 35 J, for some hundred steps that partly cancel."""
    q, qd = rt_fdyn(FREE, 0.0, T, q0=QN)
    assert q.shape == qd.shape == (4, 6)
    assert np.array_equal(q[0], QN)
    assert not qd[0].any()
    mechanism = FREE.mechanism()
    energy = mechanism.kinetic_energy(q, qd) + mechanism.potential_energy(q)
    assert mechanism.kinetic_energy(q[-1], qd[-1]) > 1
    assert np.ptp(energy) < 1e-6
    fine = lw.simulate(mechanism, QN, t=(0.5, 1e-3))
    assert np.abs(q[-1] - fine.q[-1]).max() < 1e-7  # the same tolerance, over half a second


def test_held_by_gravity_compensation_it_stands_still() -> None:
    """The torque function gets time, state, and what else was given."""
    seen = []

    def hold(t: float, q: np.ndarray, qd: np.ndarray, robot: object, share: float) -> np.ndarray:
        seen.append((t, q.shape, qd.shape))
        return share * rt_gravload(robot, q)  # type: ignore[arg-type]

    q, qd = rt_fdyn(FREE, 0.0, T, hold, QN, np.zeros(6), FREE, 1.0)
    assert np.abs(q - QN).max() < 1e-13  # rounding of efforts that cancel
    assert np.abs(qd).max() < 1e-13
    assert {shapes for _, *both in seen for shapes in both} == {(6,)}
    assert 0 <= min(t for t, *_ in seen) <= max(t for t, *_ in seen) <= 0.6
    less, _ = rt_fdyn(FREE, 0.0, T, hold, QN, np.zeros(6), FREE, 0.5)
    assert np.abs(less - QN).max() > 0.1


def test_time_may_begin_before_the_first_instant() -> None:
    """The state is asked for at t alone; the motion does not depend on when it begins."""
    whole = rt_fdyn(FREE, 0.0, T, q0=QN)
    later = rt_fdyn(FREE, 10.0, 10.0 + T[2:], q0=QN)
    one = rt_fdyn(FREE, 10.0, 10.5, q0=QN)
    for a, b, c in zip(whole, later, one, strict=True):
        assert b.shape == (2, 6)
        assert c.shape == (1, 6)
        assert np.abs(b - a[2:]).max() < 1e-11  # the same steps but for rounding
        assert np.abs(c[0] - a[-1]).max() < 1e-11


def test_methods_with_fixed_steps_and_starts_at_zero() -> None:
    t = np.linspace(0, 0.2, 201)
    made = rt_fdyn(rt_twolink(), 0.0, t, lambda t, q, qd: [1.0, -0.5], method="rk4")
    expected = lw.simulate(rt_twolink().mechanism(), torque=[1.0, -0.5], t=t)
    assert np.abs(made[0] - expected.q).max() < 1e-14
    adaptive = rt_fdyn(rt_twolink(), 0.0, t, lambda t, q, qd: [1.0, -0.5])
    assert np.abs(adaptive[0] - made[0]).max() < 1e-8  # the tolerance of a step, for some tens of steps


def test_it_comes_to_where_the_torques_of_a_motion_bring_it() -> None:
    """Inverse dynamics along a quintic, integrated: both ways meet."""
    move = lw.trajectory.quintic(np.zeros(2), [0.5, -1.0], 1.0)

    def torque(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return rt_rne(rt_twolink(), *(part[0] for part in move.at([min(t, 1.0)])))

    q, _ = rt_fdyn(rt_twolink(), 0.0, [0.5, 1.0], torque)
    assert np.abs(q - move.at([0.5, 1.0])[0]).max() < 1e-8  # the same


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rt_fdyn(FREE, 0.0, T, "taufun"),
            "rt_fdyn: torqfun is 'taufun'; expected a function torqfun(t, q, qd, ...) or None",
        ),
        (
            lambda: rt_fdyn(FREE, 1.0, T),
            "rt_fdyn: t is [0.0, 0.05, 0.2, 0.5]; expected times from t0 = 1.0 on, and after it",
        ),
        (lambda: rt_fdyn(FREE, 0.0, [0.0]), "rt_fdyn: t is [0.0]; expected times from t0 = 0.0 on, and after it"),
        (lambda: rt_fdyn(FREE, [0.0], T), "rt_fdyn: t0 has the shape (1,); expected a time, s"),
        (
            lambda: rt_fdyn(FREE, 0.0, "t"),
            "rt_fdyn: t holds <U1; expected finite times (T,), s, ascending: 1 instant or more",
        ),
        (lambda: rt_fdyn(FREE, 0.0, [0.0, 0.2, 0.1]), "rt_fdyn: t does not ascend: rt_fdyn: t[2] is 0.1 after 0.2"),
        (lambda: rt_fdyn(FREE.links[0], 0.0, T), "rt_fdyn: robot is"),
    ],
)
def test_what_cannot_be_is_told(call: object, message: str) -> None:
    with pytest.raises(ArgumentError) as told:
        call()  # type: ignore[operator]
    assert str(told.value) == message or (message.endswith(" is") and str(told.value).startswith(message))


def test_masses_are_needed() -> None:
    with pytest.raises(ModelError, match="link1 of robot 'Stanford arm': m is None"):
        rt_fdyn(rt_stanford(), 0.0, T)
