"""What the motors themselves take: rotor inertia and friction."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.model.motor import Motor
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank


def motor_effort(tree: Tree, qd: Array, qdd: Array) -> Array:
    """G^2 Jm qdd + friction (nv,) of all motors."""
    return np.asarray(rotor_effort(tree, qdd) + friction(tree, qd))


def rotor_effort(tree: Tree, qdd: Array) -> Array:
    """G^2 Jm qdd (nv,) of all motors."""
    return np.asarray(np.array(reflected_inertias(tree), dtype=object) * qdd)


def reflected_inertias(tree: Tree) -> list[float]:
    """G^2 Jm felt by each speed (nv), kg m2; 0 where there is no motor."""
    felt = [0.0] * tree.nv
    for drive in tree.drives:
        felt[tree.nv - tree.n + drive.coordinate] += drive.motor.reflected_inertia
    return felt


def friction(tree: Tree, qd: Array) -> Array:
    """Friction (nv,) of all motors as the joints feel it."""
    felt = blank(tree.nv)
    for drive in tree.drives:
        i = tree.nv - tree.n + drive.coordinate
        felt[i] = felt[i] + joint_friction(drive.motor, qd[i])
    return felt


def joint_friction(motor: Motor, speed: Any) -> Any:
    """Friction felt at the joint, N m: viscous, plus Coulomb by the sign of the joint speed, none at rest.

    With s = sign(speed), Tc+ for s = 1 and Tc- for s = -1 is s (Tc+ - Tc-)/2 + |s| (Tc+ + Tc-)/2.
    """
    positive, negative = motor.reflected_coulomb
    total = motor.reflected_viscous * speed
    if any_nonzero((positive, negative)):
        s = np.sign(speed) if isinstance(speed, float) else speed.sign()
        total = total + 0.5 * (positive - negative) * s
        if any_nonzero(positive + negative):
            total = total + 0.5 * (positive + negative) * abs(s)
    return total


def viscous(tree: Tree) -> list[float]:
    """Viscous friction felt by each speed (nv), N m s/rad."""
    felt = [0.0] * tree.nv
    for drive in tree.drives:
        felt[tree.nv - tree.n + drive.coordinate] += drive.motor.reflected_viscous
    return felt
