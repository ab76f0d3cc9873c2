"""Linearised motion, and modes, against finite differences, analytic chains, and a pendulum that is balanced."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Wrench, robots, simulate
from linkwise.errors import ArgumentError
from linkwise.spatial.transform import translation
from support.random_mechanisms import column_by_column, random_state, relative, variant


def chain(count: int, length: float = 0.5, mass: float = 0.3) -> Mechanism:
    """Point masses one below the other, on rods that turn about y."""
    down = translation(0.0, 0.0, -length)
    return Mechanism([Link(axis=(0, 1, 0), before=down if k else None, mass=mass, com=down[:3, 3]) for k in range(count)])


@pytest.mark.parametrize("name", ["joints 0", "rotors 3", "floating 0", "floating rotors 3", "coupled 0"])
def test_linearized_motion_is_that_of_neighbours(name: str) -> None:
    """Derivatives by finite differences of the motion itself; the errors of Richardson's differences are some 1e-9."""
    mech = variant(name).without_friction(viscous=False)
    q, qd, _ = random_state(mech, 1)
    tau = np.linspace(-1.0, 1.0, mech.nv)
    near = mech.linearize(q, qd, tau)
    n = mech.nv

    def acceleration(step: np.ndarray) -> np.ndarray:
        moved = mech.integrate(q, step[:n])
        return np.asarray(mech.forward_dynamics(moved, qd + step[n : 2 * n], tau + step[2 * n :]))

    wanted = column_by_column(acceleration, 3 * n, 1e-3)
    errors = [relative(near.A[n:], wanted[:, : 2 * n]), relative(near.B[n:], wanted[:, 2 * n :])]
    time = 1e-3

    def deviation(step: np.ndarray) -> np.ndarray:
        """How a neighbour is seen from the state after a short time at constant velocities."""
        ahead = mech.integrate(mech.integrate(q, step[:n]), qd + step[n:], time)
        return np.asarray(mech.difference(mech.integrate(q, qd, time), ahead))

    rate = (column_by_column(deviation, 2 * n, 1e-2) - np.eye(n, 2 * n)) / time
    errors.append(np.abs(rate - near.A[:n]).max())
    print([f"{error:.1e}" for error in errors])
    assert max(errors[:2]) < 1e-6
    assert errors[2] < 1e-2, "the second order in time of the motion of the base"


def test_efforts_that_hold_are_the_default() -> None:
    arm = robots.puma560()
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    near = arm.linearize(q)
    assert np.abs(near.qdd).max() < 1e-9
    assert relative(near.tau, arm.gravity_torque(q)) < 1e-13
    held = arm.linearize(q, external={"tool": Wrench((0, 0, -10.0), frame="world")})
    assert np.abs(held.qdd).max() < 1e-9
    assert np.abs(held.tau - near.tau).max() > 1.0
    many = arm.linearize(np.stack([q, q + 0.1]), np.zeros((2, 6)))
    assert (many.A[0] == near.A).all()


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_modes_of_a_hanging_chain(count: int) -> None:
    """Squares are g/l times the zeros of Laguerre's polynomial (D. Bernoulli, 1733; exact for point masses)."""
    found = chain(count).modes(np.zeros(count))
    roots = np.polynomial.laguerre.lagroots(np.eye(count + 1)[count])
    error = relative(found.squares, 9.81 / 0.5 * np.sort(roots))
    mass, stiff = chain(count).mass_matrix(np.zeros(count)), chain(count).linearize(np.zeros(count))
    print(f"{error:.1e}")
    assert error < 1e-10, "zeros of Laguerre's polynomial of degree 8 are as ill-conditioned as that"
    assert relative(found.shapes.T @ mass @ found.shapes, np.eye(count)) < 1e-11
    assert relative(np.sort(np.abs(np.linalg.eigvals(stiff.A).imag))[::2], found.frequencies) < 1e-6


def test_modes_of_an_upright_chain_grow() -> None:
    up = chain(3).modes([np.pi, 0.0, 0.0])
    assert (up.squares < 0).all()
    assert np.isnan(up.frequencies).all()


def test_a_neutral_mode_has_frequency_zero() -> None:
    """A slide across gravity, beside a pendulum that it does not carry: (0, sqrt(g / l))."""
    slide = Link(name="slide", joint="prismatic", axis=(1, 0, 0), mass=1.0)
    both = Mechanism([slide, Link(axis=(0, 1, 0), parent="base", mass=0.3, com=(0, 0, -0.5))])
    found = both.modes([0.2, 0.0]).frequencies
    assert found[0] == 0.0
    assert abs(found[1] - np.sqrt(9.81 / 0.5)) < 1e-14 * found[1]


def test_refusals() -> None:
    bars = robots.four_bar()
    for call in (bars.linearize, bars.modes):
        with pytest.raises(ArgumentError, match="'four_bar' are open"):
            call(bars.neutral + np.array([0.3, 0.0, 0.0]))
    with pytest.raises(ArgumentError, match=r"modes: q.*\(2,\)"):
        chain(3).modes([0.0, 0.0])


def test_a_rotary_pendulum_is_balanced() -> None:
    """K. Furuta's pendulum: the arm alone has a motor. A gain catches the pendulum from 8 degrees."""
    linalg = pytest.importorskip("scipy.linalg")
    arm = Link(name="arm", mass=0.2, com=(0.1, 0, 0), inertia=(0, 1e-3, 1e-3))
    rod = Link(
        name="rod", axis=(1, 0, 0), before=translation(0.2, 0, 0), mass=0.1, com=(0, 0, 0.15), inertia=(8e-4, 8e-4, 0)
    )
    furuta = Mechanism([arm, rod], name="furuta")
    near = furuta.linearize([0.0, 0.0])
    assert np.linalg.eigvals(near.A).real.max() > 1.0, "it falls by itself"
    B = near.B[:, :1]
    cost = linalg.solve_continuous_are(near.A, B, np.diag([4.0, 40.0, 0.1, 0.1]), np.eye(1))
    gain = B.T @ cost

    def torque(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        state = np.concatenate([q, qd], axis=-1)
        return np.concatenate([-state @ gain.T, np.zeros((*q.shape[:-1], 1))], axis=-1)

    run = simulate(furuta, [0.0, np.radians(8.0)], [0.0, 0.0], torque=torque, t=(6.0, 2e-3))
    print(np.degrees(np.abs(run.q[:, 1]).max()), run.q[-1], run.qd[-1])
    assert np.abs(run.q[-1]).max() < 1e-2
    assert np.abs(run.qd[-1]).max() < 1e-2
    assert np.degrees(np.abs(run.q[:, 1]).max()) < 20.0
