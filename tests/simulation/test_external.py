"""A constant force and moment on the tool: in every method, on both backends, at events and between the instants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.simulation import Feedback, simulate

ARM = robots.puma560()
WRENCH = np.array([5.0, -3.0, 8.0, 0.4, -0.2, 0.3])
Q0 = np.array([0.1, -0.6, 0.4, 0.3, 0.5, -0.2])
METHODS = ("rk4", "semi_implicit_euler", "euler", "dop853")


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("method", METHODS)
def test_static_balance(method: str, backend: str) -> None:
    zero = np.zeros(6)
    arm = ARM.without_friction()
    torque = arm.inverse_dynamics(Q0, zero, zero, external=WRENCH)
    made = simulate(arm, Q0, torque=torque, external=WRENCH, t=(0.1, 0.01), method=method, backend=backend)
    residual = np.abs(made.q - Q0).max()
    print(method, backend, residual, np.abs(made.qdd).max())
    assert residual < 1e-12  # rounding of the torque, 1e-14 of 40 N m, over 0.1 s
    free = simulate(arm, Q0, torque=torque, t=(0.1, 0.01), method=method, backend=backend)
    assert np.abs(free.q - Q0).max() > 1e-3


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_steps_agree_with_the_adaptive_method(backend: str) -> None:
    arm, given = (
        ARM.without_friction(),
        {"external": WRENCH, "backend": backend, "torque": Feedback(lambda t, q, qd: -2.0 * qd)},
    )
    fixed = simulate(arm, Q0, t=(0.2, 1e-3), hold=False, **given)
    free = simulate(arm, Q0, t=(0.2, 1e-3), method="dop853", rtol=1e-12, atol=1e-13, **given)
    error = np.abs(fixed.q - free.q).max()
    print(error)
    assert error < 1e-7  # of order h^4, the wrist is light: its time constants are a few ms
    assert np.array_equal(simulate(arm, [Q0, Q0], t=(0.2, 1e-3), hold=False, **given).q[1], fixed.q)


def test_events_and_instants_between_know_the_wrench() -> None:
    lift = Mechanism([Link(joint="prismatic", axis=(0, 0, 1), mass=2.0)], gravity=(0, 0, -10.0))
    torque = np.array([[1.0], [2.0], [3.0], [4.0]])  # rows that hold, with jumps at the instants

    def there(t: Any, q: Any, qd: Any) -> Any:
        return q[..., 0] + 0.125

    made = simulate(lift, [0.0], torque=torque, external=[0, 0, -20.0, 0, 0, 0], t=(0.4, 0.1), events=there)
    plain = simulate(lift, [0.0], torque=torque + _effort(lift), t=(0.4, 0.1), events=there)
    print(made.qdd.ravel(), made.events)
    assert np.allclose(made.q, plain.q, rtol=0, atol=1e-15)
    assert np.allclose(made.at(0.17)[0], plain.at(0.17)[0], rtol=0, atol=1e-15)
    assert len(made.events) == 1
    assert abs(made.events[0].time - plain.events[0].time) < 1e-14


def _effort(lift: Mechanism) -> np.ndarray:
    """What the wrench does along the slide."""
    zero = np.zeros(1)
    return lift.inverse_dynamics(zero, zero, zero) - lift.inverse_dynamics(zero, zero, zero, external=[0, 0, -20.0, 0, 0, 0])


def test_another_wrench_is_another_motion() -> None:
    made = [simulate(ARM, Q0, external=wrench, t=(0.01, 1e-3)).q for wrench in (WRENCH, 2 * WRENCH, WRENCH)]
    assert np.array_equal(made[0], made[2])
    assert np.abs(made[1] - made[0]).max() > 1e-6
