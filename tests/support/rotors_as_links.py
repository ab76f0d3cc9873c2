"""A mechanism whose carried rotors are links of their own, tied to the joints that they drive."""

from __future__ import annotations

import numpy as np

from linkwise import Link, Mechanism, Motor


def rotor_link(mech: Mechanism, k: int) -> list[Link]:
    """The rotor of drive k as a link. One whose own body is not given is a part of its carrier: that part is taken off."""
    motor, carrier = mech.drives[k].motor, mech.drives[k].carrier
    assert carrier is not None
    parent = "base" if carrier < 0 else mech.link_names[carrier]
    name, tensor = f"rotor{k}", motor.rotor_inertia
    if not tensor.any():
        axis = np.asarray(motor.axis)
        tensor = motor.inertia * (0.8 * np.eye(3) + 0.2 * np.outer(axis, axis))
        rest = Link(joint="fixed", name=f"hole{k}", parent=parent, inertia=-tensor, physical=False)
        return [Link(name=name, parent=parent, axis=axis, inertia=tensor, physical=False), rest]
    to_axis = np.eye(4)
    to_axis[:3, 3] = motor.com
    return [Link(name=name, parent=parent, before=to_axis, axis=motor.axis, mass=motor.mass, inertia=tensor)]


def freed(mech: Mechanism) -> tuple[Mechanism, np.ndarray]:
    """The mechanism with a link for each carried rotor, before its own links, and the tie P (nv_all, nv)."""
    carried = [k for k, drive in enumerate(mech.drives) if drive.carrier is not None]
    rotors = [link for k in carried for link in rotor_link(mech, k)]

    def kept(motor: Motor, joint: str) -> Motor:
        rotor = {"inertia": 0.0} if motor.carrier is not None else {"inertia": motor.inertia}
        return Motor(
            gear_ratio=motor.gear_ratio, viscous=motor.viscous, coulomb=motor.coulomb, joint=joint,
            friction_rule=motor.friction_rule, **rotor,
        )  # fmt: skip

    motors = [kept(drive.motor, mech.names[drive.coordinate]) for drive in mech.drives]
    links = [link.replace(motor=None) for link in mech.links]
    made = mech.replace(links=[*rotors, *links], motors=motors)
    base = mech.nv - mech.n
    tie = np.zeros((made.nv, mech.nv))
    tie[:base, :base] = np.eye(base)
    tie[base + len(carried) :, base:] = np.eye(mech.n)
    for row, k in enumerate(carried):
        tie[base + row, base + mech.drives[k].coordinate] = mech.drives[k].motor.gear_ratio
    return made, tie


def anywhere(mech: Mechanism, made: Mechanism, q: np.ndarray, seed: int) -> np.ndarray:
    """The coordinates of all, the rotors turned by any angle."""
    base = mech.nq - mech.n
    turned = np.random.default_rng(seed).uniform(-9, 9, made.n - mech.n)
    return np.concatenate([q[:base], turned, q[base:]])
