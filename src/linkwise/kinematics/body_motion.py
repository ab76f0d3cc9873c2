"""Velocities and accelerations of all bodies, from the base outward, and their derivatives by a joint's coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.model.body import Bodies, Freedom
from linkwise.model.body_transform import JointTransform
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import motion_cross


@dataclass(frozen=True)
class BodyMotion:
    """Velocity and acceleration of one body, six-vectors in its own axes about its own origin.

    Attributes
    ----------
    velocity, acceleration : ndarray (6,)
        The body's own. Accelerations are spatial ones, less gravity.
    carried_velocity, carried_acceleration : ndarray (6,)
        Those that it would have if it were fixed to its parent.
    """

    velocity: Array
    acceleration: Array
    carried_velocity: Array
    carried_acceleration: Array


def velocities(bodies: Bodies, joints: Sequence[JointTransform], qd: Array) -> list[Array]:
    """Velocity (6,) of every body in its own axes."""
    still = np.zeros(6)
    results: list[Array] = []
    for body, joint in zip(bodies.bodies, joints, strict=True):
        carrier = results[body.parent] if body.parent >= 0 else still
        results.append(joint.motion_from_parent(carrier) + joint.rate(qd))
    return results


def motions(bodies: Bodies, joints: Sequence[JointTransform], qd: Array, qdd: Array, gravity: Array) -> list[BodyMotion]:
    """Motion of every body; the ground accelerates upward instead of gravity."""
    still, falling = np.zeros(6), np.concatenate([-np.asarray(gravity), np.zeros(3)])
    results: list[BodyMotion] = []
    for body, joint in zip(bodies.bodies, joints, strict=True):
        carrier = results[body.parent] if body.parent >= 0 else BodyMotion(still, falling, still, falling)
        carried_v = joint.motion_from_parent(carrier.velocity)
        carried_a = joint.motion_from_parent(carrier.acceleration)
        rate = joint.rate(qd)
        acceleration = carried_a + joint.rate(qdd) + motion_cross(carried_v, rate) + joint.bias(qd)
        results.append(BodyMotion(carried_v + rate, acceleration, carried_v, carried_a))
    return results


@dataclass(frozen=True)
class StepEffect:
    """Effect of a small step of a joint on the bodies beyond it: psi' and psi'' of Singh et al., and S' = v x S."""

    velocity: Array
    acceleration: Array
    rate: Array


def step_effect(freedom: Freedom, moved: BodyMotion) -> StepEffect:
    """Effect of a step of a joint's freedom on the body with known motion."""
    velocity = motion_cross(moved.carried_velocity, freedom.screw)
    acceleration = motion_cross(moved.carried_acceleration, freedom.screw) + motion_cross(moved.carried_velocity, velocity)
    return StepEffect(velocity, acceleration, motion_cross(moved.velocity, freedom.screw))
