"""What the motors themselves take: rotor inertia and friction."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.model.motor import Motor
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array


def motor_effort(tree: Tree, qd: Array, qdd: Array) -> Array:
    """G^2 Jm qdd + friction (n,) of each joint's motor, 0 where there is none."""
    motors = tree.motors
    inertia = [motor.reflected_inertia * qdd[i] if motor else 0.0 for i, motor in enumerate(motors)]
    friction = [joint_friction(motor, qd[i]) if motor else 0.0 for i, motor in enumerate(motors)]
    return np.asarray(np.array(inertia, dtype=object) + np.array(friction, dtype=object))


def joint_friction(motor: Motor, speed: Any) -> Any:
    """Friction felt at the joint, N m: viscous, plus Coulomb by the sign of the joint speed, none at rest.

    With s = sign(speed), Tc+ for s = 1 and Tc- for s = -1 is s (Tc+ - Tc-)/2 + |s| (Tc+ + Tc-)/2.
    """
    positive, negative = motor.reflected_coulomb
    total = motor.reflected_viscous * speed
    if positive or negative:
        s = np.sign(speed) if isinstance(speed, float) else speed.sign()
        total = total + 0.5 * (positive - negative) * s
        if positive + negative:
            total = total + 0.5 * (positive + negative) * abs(s)
    return total
