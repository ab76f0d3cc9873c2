"""Simulations of many bodies: steps taken by Python over kernels that loop over the bodies."""

from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.simulation.integrators import INTEGRATORS, explicit_stage, integrator
from linkwise.simulation.plant import Plant

BODIES = 33
"""Joints, one more than from which on forward dynamics loop over the bodies."""


def chain(**options: Any) -> lw.Mechanism:
    """A chain about axes in turn, on a body that floats, with a ball joint in it."""
    bob: dict[str, Any] = {"mass": 1.0, "com": (0.05, 0.0, 0.0), "inertia": (0.01, 0.02, 0.03)}
    kinds: list[dict[str, Any]] = [{"joint": "ball"} if k == 5 else {"axis": (0, k % 2, 1 - k % 2)} for k in range(BODIES)]
    moving = [lw.Link(before=np.eye(4) + 0.1 * np.eye(4, k=3), **kind, **bob) for kind in kinds]
    return lw.Mechanism([lw.Link(joint="fixed", mass=2.0, inertia=(0.1, 0.2, 0.2)), *moving], floating=True, **options)


MECH = chain()
Q0 = MECH.random_configuration(seed=3, count=3)
QD0 = np.random.default_rng(0).normal(size=(3, MECH.nv))
TORQUE = np.random.default_rng(1).normal(size=MECH.nv)


def run(q0: np.ndarray = Q0, qd0: np.ndarray = QD0, **options: Any) -> Any:
    """A motion of ten steps."""
    return lw.simulate(MECH, q0, qd0, **{"t": (0.01, 1e-3), "torque": TORQUE, **options})


def test_the_steps_are_those_of_machine_code() -> None:
    assert Plant(MECH).is_looped
    motion, compiled = run(method="semi_implicit_euler"), run(method="semi_implicit_euler", backend="llvm")
    gaps = [
        np.abs(getattr(motion, name) - getattr(compiled, name)).max() / np.abs(getattr(compiled, name)).max()
        for name in ("q", "qd", "qdd", "tau")
    ]
    print(gaps)
    assert max(gaps) < 1e-12  # both tiers agree to 1e-13 here, in ten accelerations that add up


@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit_euler"])
def test_a_batch_has_the_bits_of_a_loop(method: str) -> None:
    batch = run(method=method)
    for k in range(len(Q0)):
        alone = run(Q0[k], QD0[k], method=method)
        assert all(np.array_equal(getattr(batch, name)[k], getattr(alone, name)) for name in ("q", "qd", "qdd", "tau"))


def test_fixed_and_adaptive_steps_meet() -> None:
    """RK4 beside a method of order 8: its error falls with the fourth power of the step."""
    coarse, fine = (run(Q0[0], QD0[0], t=(0.01, step)).qd[-1] for step in (1e-3, 5e-4))
    adaptive = run(Q0[0], QD0[0], method="dop853", rtol=1e-12, atol=1e-13).qd[-1]
    errors = [float(np.abs(qd - adaptive).max() / np.abs(adaptive).max()) for qd in (coarse, fine)]
    print(errors, errors[0] / errors[1])
    assert errors[1] < 1e-11
    assert 12 < errors[0] / errors[1] < 20  # order 4: a sixteenth with half the step


def test_laws_functions_and_wrenches() -> None:
    """A law compiled in, the same law as a function, and a wrench that does nothing."""

    def law(_t: Any, q: Any, qd: Any) -> Any:
        return np.concatenate([np.zeros(9), -2.0 * qd[9:]]) if qd.ndim == 1 else np.pad(-2.0 * qd[:, 9:], ((0, 0), (9, 0)))

    def damped(_t: Any, q: Any, qd: Any) -> Any:
        return np.array([0.0] * 9 + [-2.0 * speed for speed in qd[9:]], dtype=object)

    compiled, function = run(torque=lw.Feedback(damped)), run(torque=law)
    still = run(torque=law, external=np.zeros(6))
    gaps = [float(np.abs(motion.qd - function.qd).max()) for motion in (compiled, still)]
    print(gaps)
    assert max(gaps) < 1e-13  # (a wrench of zeros is added up with the rest: rounding)


def test_energy_and_quaternions_are_kept() -> None:
    motion = run(Q0[0], QD0[0], torque=None, t=(0.05, 1e-3), energies=True)
    drift = float(np.abs(motion.energy_error).max() / motion.kinetic.max())
    lengths = np.linalg.norm(motion.q[:, [list(range(3, 7)), list(range(7, 11))]], axis=-1)
    print(drift, np.abs(lengths - 1).max())
    assert drift < 1e-9  # the fourth power of 1 ms times some ten rad/s
    assert np.abs(lengths - 1).max() < 1e-15


def test_an_integrator_from_outside_goes_the_same_way() -> None:
    integrator("midpoint", (0.5, 0.0, 0.0), (0.0, 1.0, 0.5))(explicit_stage)
    try:
        assert INTEGRATORS["midpoint"].explicit
        error = float(np.abs(run(method="midpoint").qd - run().qd).max())
    finally:
        del INTEGRATORS["midpoint"]
    print(error)
    assert 0 < error < 1e-4  # of order 2: ten times the square of 1 ms times ten rad/s, at most
