"""Equilibria: of chains against paper, of closed loops against the potential energy along the motions that they allow."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import LinearSpringDamper, Link, LinkWrenches, Loop, Mechanism, Spring, Wrench, robots
from linkwise.errors import ArgumentError
from linkwise.spatial.transform import translation
from support.random_linkages import random_loop
from support.random_mechanisms import random_state, relative, variant


def chain(count: int, length: float = 0.5, mass: float = 0.3) -> Mechanism:
    """Point masses one below the other, on rods that turn about y."""
    down = translation(0.0, 0.0, -length)
    return Mechanism([Link(axis=(0, 1, 0), before=down if k else None, mass=mass, com=down[:3, 3]) for k in range(count)])


def test_equilibria() -> None:
    arm = chain(3)
    starts = np.array([[0.3, -0.2, 0.5], [np.pi - 0.1, 0.1, 0.05]])
    found = arm.static_equilibrium(starts)
    assert found.success.all()
    assert found.stable.tolist() == [True, False]
    assert np.abs(found.q - [[0, 0, 0], [np.pi, 0, 0]]).max() < 1e-9
    pushed = arm.static_equilibrium(starts[0], external={"link3": Wrench((2.0, 0, 0), point=(0, 0, -0.5), frame="body")})
    world = arm.static_equilibrium(starts[0], external={"link3": Wrench((2.0, 0, 0), frame="world")})
    for rest in (pushed, world):
        assert bool(rest.success)
    tension = [np.arctan2(2.0, -9.81 * 0.3 * (3 - k)) for k in range(3)]
    angles = np.cumsum(world.q)
    wanted = np.array([-np.arctan2(2.0, 9.81 * 0.3 * (3 - k)) if k < 2 else 0.0 for k in range(3)])
    print(tension, angles)
    assert np.abs(angles - wanted).max() < 1e-9, "each rod along the sum of the forces below its upper end"
    torque = arm.static_equilibrium([0.1, 0.0, 0.0], tau=[0.0, 0.0, 0.3])
    assert bool(torque.success)
    assert relative(arm.gravity_torque(torque.q), [0.0, 0.0, 0.3]) < 1e-9


def test_where_there_is_no_equilibrium() -> None:
    rest = chain(1).static_equilibrium([0.2], tau=[100.0])
    assert not bool(rest.success)
    assert float(rest.residual) > 0.5


def test_a_start_from_which_no_step_helps_falls() -> None:
    """The torque of gravity is greatest where a pendulum is horizontal, and has no slope there."""
    rest = chain(1).static_equilibrium([[np.pi / 2], [-np.pi / 2], [np.pi - 0.1]])
    assert rest.success.all()
    assert rest.stable.tolist() == [True, True, False]
    assert np.abs(rest.q.ravel() - [0.0, 0.0, np.pi]).max() < 1e-12


def test_without_any_stiffness_there_is_no_step() -> None:
    """What turns about the vertical feels no gravity: nothing holds an effort, and anywhere it rests without."""
    disc = Mechanism([Link(mass=1.0, com=(0.5, 0.0, 0.0))])
    rest = disc.static_equilibrium([[0.3], [0.3]], [[0.2], [0.0]])
    assert rest.success.tolist() == [False, True]
    assert rest.neutral.all()
    assert np.array_equal(rest.q, [[0.3], [0.3]])


def test_a_start_at_rest_or_without_any_slope() -> None:
    """At rest gravity takes no effort to compare with; of a chain stretched level no effort has a slope, to the last bit."""
    starts = np.array([[0.0, 0.0, 0.0], [1e-9, 0.0, 0.0], [np.pi, 0.0, 0.0]])
    with np.errstate(over="raise", invalid="raise"):
        rest, fallen = chain(3).static_equilibrium(starts), robots.planar_3r().static_equilibrium([0.0, 0.0, 0.0])
    assert rest.success.all()
    assert rest.stable.tolist() == [True, True, False]
    assert np.abs(rest.q - [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [np.pi, 0.0, 0.0]]).max() < 1e-12
    assert bool(fallen.success & fallen.stable)
    assert np.abs(fallen.q - [-np.pi / 2, 0.0, 0.0]).max() < 1e-12


def test_loops_rest_where_the_potential_energy_is_least() -> None:
    """The energy along the branch of a four-bar, by its crank, a parabola through the least of some thousand."""
    bars = robots.four_bar()
    rest = bars.static_equilibrium(bars.neutral)
    assert rest.success
    assert rest.stable
    path = bars.linkage("crank")
    at = float(rest.q[0]) + np.linspace(-1e-3, 1e-3, 21)
    turned = path.position(at[:, None], q0=rest.q)
    assert turned.success.all()
    fit = np.polynomial.Polynomial.fit(at - rest.q[0], bars.potential_energy(turned.q), 4).convert().coef
    lowest = -fit[1] / (2 * fit[2])
    print(f"crank at {float(rest.q[0]):.6f}, energy lowest {lowest:.1e} rad beside it, its curvature {2 * fit[2]:.3f}")
    assert fit[2] > 0
    assert abs(lowest) < 1e-9, "1e-15 of the energy, over curvature and width"
    assert not np.abs(bars.actuator_efforts(rest.q, np.zeros(3), np.zeros(3), "crank")).max() > 1e-10
    assert (bars.modes(rest.q).squares > 0).all()


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("seed", [2, 5])
def test_loops_in_space_with_springs_efforts_and_wrenches(seed: int) -> None:
    """The power of all that acts, along every motion that the loop allows; and a batch is its rows one by one."""
    mech, q = random_loop(seed, "point", ["revolute"] * 5, motor=False)
    mech = mech.replace(springs=[Spring(name, 40.0, rest=float(q[k])) for k, name in enumerate(mech.names)])
    wrench, tau = {"a4": Wrench((1.0, -2.0, 0.5), frame="world")}, np.linspace(-0.5, 0.5, mech.nv)
    rest = mech.static_equilibrium(np.stack([q, q + 0.01]), tau, wrench)
    print(f"{seed}: {rest.success}, {rest.stable}, {rest.residual}, moved by {np.abs(rest.q - q).max():.2g}")
    assert rest.success.all()
    still = np.zeros(mech.nv)
    left = mech.replace(loops=()).inverse_dynamics(rest.q, still, still, external=wrench) - tau
    jac = mech.kernel("closure_jacobian")(rest.q)
    assert np.abs(mech.kernel("closure")(rest.q)).max() < 1e-12
    for table, efforts in zip(jac, left, strict=True):
        along = np.linalg.svd(table)[2][3:] @ efforts
        assert np.abs(along).max() < 1e-11 * np.abs(efforts).max()
    alone = mech.static_equilibrium(q + 0.01, tau, wrench)
    assert np.array_equal(alone.q, rest.q[1])
    assert alone.stable == rest.stable[1]


def test_wrenches_of_a_batch_on_a_linkage() -> None:
    """Each of a batch of wrenches, however they are said, at one configuration: as it is alone."""
    bars = robots.five_bar()
    q, tables = bars.linkage().position([0.3, 0.4]).q, np.random.default_rng(0).normal(size=(2, 4, 6)) * 0.01
    first = bars.link_names[0]
    for said in (
        lambda w: w[..., 0, :],
        lambda w: LinkWrenches(w, "world"),
        lambda w: {"tool": Wrench(w[..., 0, :3], point=(0.1, 0, 0)), first: [0, 0.1, 0, 0, 0, 0]},
    ):
        both = bars.static_equilibrium(q, external=said(tables))
        assert both.success.all()
        assert all(np.array_equal(both.q[k], bars.static_equilibrium(q, external=said(tables[k])).q) for k in range(2))


def test_bodies_that_float_are_held_by_springs_loops_and_wrenches() -> None:
    """A machine on four springs hangs lower by m g / (4 k); pinned by a loop it hangs below the pin; a wrench carries it."""
    body = Link(name="machine", joint="floating", parent="base", mass=10.0, com=(0, 0, -0.1), inertia=(0.3, 0.4, 0.5))
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.4, 0.4)]
    springs = [LinearSpringDamper([("machine", (x, y, 0.0)), ("base", (x, y, 1.0))], 500.0, 1.0) for x, y in corners]
    machine = Mechanism([body], springs=springs)
    near = machine.integrate(machine.neutral, [0.05, -0.03, 0.02, 0.1, -0.05, 0.05])
    rest = machine.static_equilibrium(near)
    assert rest.success
    assert rest.stable
    assert np.abs(rest.q - [0, 0, -10.0 * 9.81 / 2000.0, 1, 0, 0, 0]).max() < 1e-9
    heave = machine.modes(rest.q)
    assert np.abs(heave.squares - 200.0).min() < 1e-9, "up and down as a mass on four springs: 4 k / m"
    pinned = Mechanism([body], loops=[Loop("point", "base", "machine", second_frame=translation(0.2, 0.0, 0.2))])
    hung = pinned.static_equilibrium(near)
    assert hung.success
    assert np.abs(pinned.center_of_mass(hung.q) - [0, 0, -np.hypot(0.2, 0.3)]).max() < 1e-9
    carried = Mechanism([body]).static_equilibrium(near, external={"machine": Wrench((0, 0, 98.1), frame="world")})
    assert carried.success
    assert carried.neutral


def test_mistakes_are_named() -> None:
    with pytest.raises(ArgumentError, match="no spring, loop, effort or wrench holds it"):
        variant("floating 0").static_equilibrium(random_state(variant("floating 0"))[0])
    bars = robots.four_bar()
    links = [link.replace(before=translation(9.0)) if link.name == "rocker" else link for link in bars.links]
    apart = bars.replace(links=links)
    with pytest.raises(ArgumentError, match=f"loops of '{apart.name}' cannot be closed near q0"):
        apart.static_equilibrium(apart.neutral)
    with pytest.raises(ArgumentError, match=r"q0 \(2,\), tau \(3,\)"):
        bars.static_equilibrium(np.zeros((2, 3)), np.zeros((3, 3)))
    none = bars.static_equilibrium(np.zeros((0, 3)))
    assert (none.q.shape, none.success.shape, none.success.dtype) == ((0, 3), (0,), np.dtype(bool))
