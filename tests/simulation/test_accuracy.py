"""How well the integrators follow the motion: orders, closed forms, conserved quantities, SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.simulation import simulate
from support.random_mechanisms import random_mechanism

LENGTH, GRAVITY = 0.7, 9.81
PENDULUM = Mechanism([Link(axis=(0, 1, 0), mass=2.0, com=(0, 0, -LENGTH))])


def floating(seed: int, gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Mechanism:
    """Two bodies on a free one."""
    chain = random_mechanism(seed, ["revolute", "revolute"], motors=False)
    base = Link(joint="fixed", mass=3.0, com=(0.05, 0.02, -0.03), inertia=(0.05, 0.06, 0.07), name="hull", parent="base")
    return Mechanism([base, *chain.links], floating=True, gravity=gravity)


def floating_state(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=4)
    return np.concatenate([rng.normal(size=3), turn / np.linalg.norm(turn), rng.normal(size=2)]), rng.normal(size=8)


def slopes(errors: list[float]) -> np.ndarray:
    """Powers of the step, where it is halved each time."""
    return np.diff(-np.log2(errors))


def test_rk4_energy_drift_falls_as_the_fourth_power_of_the_step() -> None:
    arm = robots.puma560().without_friction()
    start = (np.array([0.3, 0.4, -0.5, 0.6, 0.7, -0.8]), np.full(6, 0.5))
    drifts = []
    for steps in (50, 100, 200, 400):
        energy = simulate(arm, *start, t=(1.0, 1.0 / steps), energies=True).energy
        drifts.append(float(np.abs(energy - energy[0]).max()))
    print(drifts, slopes(drifts))
    # RK4 is of order 4; its energy error falls as h^5 where the leading term is an oscillation, and no slower than h^4
    assert np.all(slopes(drifts) > 3.8)
    assert drifts[-1] < 1e-6


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("semi_implicit_euler", 1), ("euler", 1), ("ros2", 2)])
@pytest.mark.parametrize(
    "mech", [robots.puma560().without_friction(), floating(3, (0, 0, -9.81))], ids=["puma560", "floating"]
)
def test_order(mech: Mechanism, method: str, order: int) -> None:
    q0, qd0 = floating_state(1) if mech.floating else (np.full(6, 0.4), np.full(6, -0.3))
    exact = simulate(mech, q0, qd0, t=np.array([0.0, 0.25, 0.5]), method="dop853", rtol=1e-13, atol=1e-14)
    errors = []
    for steps in (32, 64, 128, 256):
        made = simulate(mech, q0, qd0, t=(0.5, 0.5 / steps), method=method)
        errors.append(float(np.abs(made.q[-1] - exact.q[-1]).max() + np.abs(made.qd[-1] - exact.qd[-1]).max()))
    print(errors, slopes(errors))
    assert np.allclose(slopes(errors)[-1], order, atol=0.25)


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.5])
def test_pendulum_has_the_period_of_the_elliptic_integral(amplitude: float) -> None:
    # T = 2 pi sqrt(l/g) / agm(1, cos(a/2)), C. F. Gauss; the mean is reached to rounding in six steps
    a, b = 1.0, np.cos(amplitude / 2)
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    period = 2 * np.pi * np.sqrt(LENGTH / GRAVITY) / a

    def bottom(t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return q[..., 0]

    made = simulate(PENDULUM, [amplitude], t=(4.0 * period, period / 2000), events=bottom)
    times = np.array([event.time for event in made.events])
    error = np.abs(times - period * (np.arange(len(times)) / 2 + 0.25)).max() / period
    print(f"{error:.1e}")
    assert len(times) == 8
    assert error < 1e-11  # h^4 of RK4 with 2000 steps a period is 6e-14, over four periods; measured 3e-12 at most


@pytest.mark.parametrize("seed", range(3))
def test_rk4_agrees_with_dop853_on_random_mechanisms(seed: int) -> None:
    mech = random_mechanism(seed, motors=False)
    rng = np.random.default_rng(seed)
    q0, qd0 = rng.uniform(-1, 1, (2, mech.nq))
    t = np.linspace(0.0, 0.2, 2001)
    made = simulate(mech, q0, qd0, t=t, record=500)
    peer = simulate(mech, q0, qd0, t=t[::500], method="dop853", rtol=1e-12, atol=1e-13)
    error = max(np.abs(made.q - peer.q).max(), np.abs(made.qd - peer.qd).max()) / np.abs(peer.qd).max()
    print(f"{error:.1e}")
    assert error < 1e-11  # asked of DOP853 is 1e-12 a step; h^4 of RK4 is 1e-16 times powers of the speeds


@pytest.mark.parametrize("method", ["rk23", "rk45", "dop853", "radau", "bdf", "lsoda"])
def test_adaptive_methods_of_scipy(method: str) -> None:
    made = simulate(PENDULUM, [1.0], t=np.linspace(0, 1, 11), method=method, rtol=1e-7, atol=1e-9)
    fine = simulate(PENDULUM, [1.0], t=np.linspace(0, 1, 10001), record=1000)
    error = np.abs(made.q - fine.q).max()
    print(f"{error:.1e}")
    assert error < 2e-5  # the tolerance is per step, and its dense output is of lower order
    assert np.allclose(made.qdd[:, 0], -GRAVITY / LENGTH * np.sin(made.q[:, 0]), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:simulate. the energy error")  # that is what is shown
def test_semi_implicit_euler_keeps_energy_bounded_where_euler_does_not() -> None:
    bands = {}
    for method in ("semi_implicit_euler", "euler"):
        energy = simulate(PENDULUM, [1.0], t=(200.0, 0.01), method=method, energies=True).energy
        bands[method] = (np.ptp(energy[:2000]), np.ptp(energy))
        print(method, bands[method])
    first, whole = bands["semi_implicit_euler"]
    assert whole < 1.01 * first  # the band of the first 12 periods holds 120 of them
    assert bands["euler"][1] > 100 * whole  # where that of Euler's method grows with time


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_momentum_of_a_floating_body_stays(method: str) -> None:
    mech = floating(5)
    q0, qd0 = floating_state(2)
    steps = 2000
    made = simulate(mech, q0, qd0, t=(1.0, 1.0 / steps), method=method, energies=True)
    momentum = mech.momentum(made.q, made.qd)
    drift = float(np.abs(momentum - momentum[0]).max() / np.abs(momentum[0]).max())
    norms = np.abs(np.linalg.norm(made.q[:, 3:7], axis=1) - 1.0).max()
    print(f"momentum {drift:.1e}, energy {np.ptp(made.kinetic) / made.kinetic[0]:.1e}, quaternion {norms:.1e}")
    assert drift < (1e-12 if method == "rk4" else 1e-3)  # h^4 and h, times powers of the speeds
    assert norms < 4e-16  # made unit after each step: the rounding of a square root and a product
    if method == "rk4":
        assert np.ptp(made.kinetic) / made.kinetic[0] < 1e-12


def test_floating_base_at_the_origin_unless_said() -> None:
    made = simulate(floating(5, (0.0, 0.0, -10.0)), t=(0.5, 1e-3))
    assert np.array_equal(made.q[0], [0, 0, 0, 1, 0, 0, 0, 0, 0])
    com = floating(5).center_of_mass(made.q)
    fallen = np.abs(com[-1] - com[0] - [0, 0, -1.25]).max()
    print(f"{fallen:.1e}")
    assert fallen < 1e-11  # g t^2 / 2; RK4 is exact for the parabola, the turning links round
