"""Momentum and the centre of mass: what changes them, and that nothing else does. Rates are exact ones of the graphs."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism
from support.exact_derivatives import along, by_motion, rates
from support.random_mechanisms import FLOATING, VARIANTS, direct, random_state, relative, variant

at_each = pytest.mark.parametrize("name", VARIANTS)
BOUND = 5e-14
"""Rounding; seen: 4e-15."""


def total_mass(mech: Mechanism) -> float:
    """Of links, payload and carried rotors."""
    rotors = [d.motor.mass for d in mech.drives if d.carrier is not None]
    return sum(link.body.mass for link in mech.links) + mech.payload.mass + sum(rotors)


def about_origin(force: np.ndarray, point: np.ndarray) -> np.ndarray:
    return np.concatenate([force, np.cross(point, force)])


def rate(mech: Mechanism, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, about: str = "origin") -> np.ndarray:
    return along(mech, "momentum", (q, qd), (rates(mech, q) @ qd, qdd), about=about)


@at_each
def test_momentum_changes_by_weight_and_by_what_the_ground_gives(name: str) -> None:
    """dp/dt = weight at the centre of mass + the actions on the links that stand on a fixed base."""
    mech = variant(name).with_payload(0.7, (0.1, -0.05, 0.2), (0.01, 0.02, 0.015))
    q, qd, qdd = random_state(mech, 1)
    center = direct(mech, "center_of_mass", q)
    weight = about_origin(total_mass(mech) * mech.gravity, center)
    if mech.floating:
        tau = direct(mech, "inverse_dynamics", q, qd, qdd)
        pose = base_pose(mech, q)
        force, moment = pose[:3, :3] @ tau[:3], pose[:3, :3] @ tau[3:6]
        given = about_origin(force, pose[:3, 3]) + np.concatenate([np.zeros(3), moment])
    else:
        actions = direct(mech, "joint_wrenches", q, qd, qdd)
        given = np.sum([actions[k] for k, parent in enumerate(mech.parents) if parent < 0], axis=0)
        for drive in mech.drives:
            if drive.carrier == -1:  # what stands on the base itself is no link: the ground holds and turns it
                motor = drive.motor
                given += about_origin(-motor.mass * mech.gravity, (mech.base @ np.append(motor.com, 1.0))[:3])
                ratio = next(
                    joint.ratio
                    for link, joint in zip(mech.links, mech.followers, strict=True)
                    if drive.joint in (link.coordinate_names or (link.coordinate_name,))
                )
                turning = ratio * motor.gear_ratio * qdd[mech.nv - mech.n + drive.coordinate]
                given[3:] += motor.inertia * turning * (mech.base[:3, :3] @ motor.axis)
    found = rate(mech, q, qd, qdd)
    error = np.abs(found - weight - given).max() / (np.abs(weight).max() + np.abs(given).max())
    print(f"{error:.1e}")
    assert error <= BOUND


def base_pose(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    """T_world_base of a floating base, to which the first link is fixed."""
    hull = np.asarray(mech.links[0].placement(0.0), dtype=float)
    return np.asarray(direct(mech, "link_poses", q)[0] @ np.linalg.inv(hull))


@pytest.mark.parametrize("name", FLOATING)
def test_momentum_is_constant_where_nothing_acts(name: str) -> None:
    """A floating mechanism without gravity and without a wrench on its base, its motors doing what they like.

    Solving for the accelerations loses the condition of M.
    """
    mech = variant(name).replace(gravity=(0, 0, 0))
    q, qd, tau = random_state(mech, 2)
    tau[:6] = 0.0
    qdd = direct(mech, "forward_dynamics", q, qd, tau)
    loss = 10 * np.finfo(float).eps * np.linalg.cond(direct(mech, "mass_matrix", q))
    for about in ("origin", "com"):
        columns = np.stack([direct(mech, "momentum", q, unit, about=about) for unit in np.eye(mech.nv)], axis=1)
        size = np.abs(columns * qdd).max()
        error = np.abs(rate(mech, q, qd, qdd, about)).max() / size
        print(f"{error:.1e}")
        assert error <= loss
    falling = mech.replace(gravity=(1.0, 2.0, -9.0))
    down = rate(falling, q, qd, direct(falling, "forward_dynamics", q, qd, tau), "com")
    assert np.abs(down - [*(total_mass(mech) * falling.gravity), 0, 0, 0]).max() <= loss * size


@at_each
def test_momentum_is_linear_and_moves_the_centre_of_mass(name: str) -> None:
    mech = variant(name)
    q, qd, _ = random_state(mech, 3)
    momentum, about_com = direct(mech, "momentum", q, qd), direct(mech, "momentum", q, qd, about="com")
    center, jacobian = direct(mech, "center_of_mass", q), direct(mech, "center_of_mass_jacobian", q)
    table = np.stack([direct(mech, "momentum", q, unit) for unit in np.eye(mech.nv)], axis=1)
    moved = np.cross(center, momentum[:3])
    size = np.abs(momentum).max()
    errors = {
        "linear": np.abs(table @ qd - momentum).max() / size,
        "linear momentum": np.abs(total_mass(mech) * jacobian @ qd - momentum[:3]).max() / size,
        "Jacobian": relative(jacobian, by_motion(mech, "center_of_mass", q)),
        "about the centre": np.abs(about_com - momentum + [0, 0, 0, *moved]).max() / size,
        "energy": relative(mech.gravity @ center * -total_mass(mech), direct(mech, "potential_energy", q)),
    }
    print(errors)
    assert max(errors.values()) <= BOUND


def test_teeth() -> None:
    mech = variant("floating rotors 1")
    q, qd, _ = random_state(mech, 1)
    off = qd * (1 + 1e-9)
    assert relative(direct(mech, "momentum", q, off), direct(mech, "momentum", q, qd)) > 1e3 * BOUND
