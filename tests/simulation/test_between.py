"""Between the instants of a simulated motion."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.simulation import Feedback, simulate
from linkwise.trajectory import Trajectory

SLIDE = Mechanism([Link(joint="prismatic", axis=(1, 0, 0), mass=1.0)], gravity=(0, 0, 0))
"""A mass of 1 kg that slides freely: its acceleration is the force."""

AFLOAT = Mechanism(
    [
        Link(joint="fixed", mass=2.0, inertia=(0.3, 0.4, 0.5), name="hull"),
        Link(axis=(0, 1, 0), mass=0.5, com=(0.1, 0, 0.2), inertia=(0.01, 0.01, 0.01), name="arm"),
    ],
    floating=True,
)


def alternating(count: int, size: int = 1) -> np.ndarray:
    """Rows of +1 and -1 in turn."""
    return np.where(np.arange(count) % 2 == 0, 1.0, -1.0)[:, None] * np.ones(size)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_parabolas_of_an_alternating_force_are_exact(method: str) -> None:
    made = simulate(SLIDE, [0.0], torque=alternating(10), t=(1.0, 0.1), method=method, rtol=1e-13, atol=1e-14)
    u = np.linspace(0.0, 0.1, 7)[:-1]
    for k in range(10):
        q, qd, qdd = made.at(made.t[k] + u)
        expected = made.q[k] + u[:, None] * (made.qd[k] + 0.5 * u[:, None] * made.tau[k])
        assert np.abs(q - expected).max() < 1e-15  # one rounding of each of a few terms below 0.2
        assert np.abs(qd - made.qd[k] - u[:, None] * made.tau[k]).max() < 1e-14  # the same, divided by the interval
        assert np.abs(qdd - made.tau[k]).max() < 1e-12  # and again
    assert all(np.array_equal(a, b) for a, b in zip(made.at(made.t), (made.q, made.qd, made.qdd), strict=True))


@pytest.mark.parametrize("name", ["arm", "floating"])
def test_error_under_a_held_torque_falls_as_the_sixth_power(name: str) -> None:
    """The torque jumps at three instants only, which are instants of every record; what differs is how fine it is."""
    mech = AFLOAT if name == "floating" else robots.planar_2r()
    exact = {"t": (0.4, 0.4 / 256), "method": "dop853", "rtol": 1e-13, "atol": 1e-14}
    fine = simulate(mech, mech.neutral, torque=np.repeat(3.0 * alternating(4, mech.nv), 64, axis=0), **exact)
    errors = []
    for every in (32, 16, 8):
        torque = np.repeat(3.0 * alternating(4, mech.nv), 64 // every, axis=0)
        made = simulate(mech, mech.neutral, torque=torque, **{**exact, "t": (0.4, 0.4 * every / 256)})
        alone = Trajectory(made.t, made.q, made.qd, made.qdd)
        errors.append([np.abs(one.at(fine.t)[0] - fine.q).max() for one in (made, alone)])
    print(name, [[f"{error:.1e}" for error in pair] for pair in errors])
    held, plain = np.array(errors).T
    assert held[0] / held[1] > 0.5 * 2.0**6  # with eight intervals there is more than the leading power
    assert held[1] / held[2] > 0.8 * 2.0**6
    assert plain[2] > 1000 * held[2]  # what the record alone gives, at the jumps


def test_held_law() -> None:
    """A law asked once a step jumps at every instant."""
    arm = robots.planar_2r()
    law = Feedback(lambda t, q, qd, kp, kd: -kp * q - kd * qd + 5.0 * np.sin(40.0 * t), kp=20.0, kd=2.0)
    made = simulate(arm, [0.5, -0.5], torque=law, t=(0.5, 0.01))
    fine = simulate(arm, [0.5, -0.5], torque=np.repeat(made.tau[:-1], 20, axis=0), t=(0.5, 5e-4))
    error = np.abs(made.at(fine.t)[0] - fine.q).max()
    plain = np.abs(Trajectory(made.t, made.q, made.qd, made.qdd).at(fine.t)[0] - fine.q).max()
    print(f"{error:.1e}, the record alone {plain:.1e}")
    assert error < 1e-5  # RK4 with steps of 10 ms
    assert plain > 10 * error


def test_batches_members_files(tmp_path: Path) -> None:
    torque = np.stack([alternating(10, 2), 2.0 * alternating(10, 2)])
    made = simulate(robots.planar_2r(), torque=torque, t=(1.0, 0.1), energies=True)
    for time in (0.05, [0.05, 0.77]):
        whole = made.at(time)
        for k in range(2):
            one = simulate(robots.planar_2r(), torque=torque[k], t=(1.0, 0.1))
            for a, b, c in zip(whole, made.member(k).at(time), one.at(time), strict=True):
                assert np.array_equal(a[k], b)
                assert np.array_equal(b, c)
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(again.at(0.05)[0], made.at(0.05)[0])
    made.save(tmp_path / "a.npz")
    read = Trajectory.load(tmp_path / "a.npz")
    assert np.array_equal(read.q, made.q)
    off = np.abs(read.at(0.05)[0] - made.at(0.05)[0]).max()
    jump = np.abs(np.diff(made.qdd, axis=-2)).max()
    print(f"{off:.1e}, at most {0.1**2 / 57 * jump:.1e}")
    assert (
        0.0 < off <= 0.1**2 / 57 * jump
    )  # the docstring of `at`: the greatest of s^3 (1 - s)^2 / 2, times h^2 and the jump


def test_motion_without_jumps_needs_nothing_more() -> None:
    """A constant torque, and a law that is asked at every stage: the record says all."""
    arm = robots.planar_2r()
    law = Feedback(lambda t, q, qd, kp: -kp * q, kp=9.0)
    cases: list[dict[str, Any]] = [{"torque": [1.0, 2.0]}, {"torque": law, "hold": False}, {}]
    for more in cases:
        assert simulate(arm, [0.1, 0.2], t=(0.1, 0.01), **more).evaluate is None
    one = simulate(arm, [0.1, 0.2], torque=law, t=[0.0])
    assert np.array_equal(one.at(0.0)[0], [0.1, 0.2])


def test_rollout_that_ended_stays_so() -> None:
    def far(t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return q[..., 0] - 0.35

    far.terminal = True  # type: ignore[attr-defined]
    made = simulate(SLIDE, [0.0], [1.0], torque=alternating(10), t=(1.0, 0.1), events=far)
    assert np.isfinite(made.at(0.0)[0]).all()
    assert np.isnan(made.at(0.95)[0]).all()


def test_arrays_of_a_simulation_are_not_copied() -> None:
    made = simulate(robots.planar_2r(), np.zeros((3, 2)), t=(0.1, 0.01), energies=True)
    again = made.of(robots.planar_2r())
    for field in ("q", "qd", "qdd", "tau", "kinetic"):
        assert np.shares_memory(getattr(made, field), getattr(again, field))
        assert np.shares_memory(getattr(made, field), getattr(made.member(1), field))
        assert not getattr(made, field).flags.writeable
