"""What several algorithms of dynamics sweep over a mechanism: motions outward, inertias and momenta inward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.kinematics.joint_transform import JointTransform, joint_rate
from linkwise.model.bodies import Bodies
from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import Array
from linkwise.spatial.six_vector import momentum_matrix, motion_cross


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


def velocities(made: Bodies, joints: Sequence[JointTransform], qd: Array) -> list[Array]:
    """Velocity (6,) of every body in its own axes."""
    still = np.zeros(6)
    found: list[Array] = []
    for body, joint in zip(made.bodies, joints, strict=True):
        carrier = found[body.parent] if body.parent >= 0 else still
        found.append(joint.motion_from_parent(carrier) + joint_rate(body, qd))
    return found


def motions(made: Bodies, joints: Sequence[JointTransform], qd: Array, qdd: Array, gravity: Array) -> list[BodyMotion]:
    """The motion of every body; the ground accelerates upward by what gravity would pull."""
    still, falling = np.zeros(6), np.concatenate([-np.asarray(gravity), np.zeros(3)])
    found: list[BodyMotion] = []
    for body, joint in zip(made.bodies, joints, strict=True):
        carrier = found[body.parent] if body.parent >= 0 else BodyMotion(still, falling, still, falling)
        carried_v = joint.motion_from_parent(carrier.velocity)
        carried_a = joint.motion_from_parent(carrier.acceleration)
        rate = joint_rate(body, qd)
        acceleration = carried_a + joint_rate(body, qdd) + motion_cross(carried_v, rate)
        found.append(BodyMotion(carried_v + rate, acceleration, carried_v, carried_a))
    return found


def composite_inertias(made: Bodies, joints: Sequence[JointTransform]) -> list[Array]:
    """Pseudo-inertia (4, 4) of each body with all that it carries, as if the joints beyond were locked."""
    total: list[Array] = [body.inertia for body in made.bodies]
    for k in reversed(range(len(total))):
        parent = made.bodies[k].parent
        if parent >= 0:
            total[parent] = total[parent] + joints[k].inertia_to_parent(total[k])
    return total


def composite_momenta(made: Bodies, joints: Sequence[JointTransform], own: Sequence[Array]) -> list[Array]:
    """The sum of the momentum matrices W J (3, 4) of each body and of all that it carries."""
    total = list(own)
    for k in reversed(range(len(total))):
        parent = made.bodies[k].parent
        if parent >= 0:
            total[parent] = total[parent] + joints[k].momentum_to_parent(total[k])
    return total


def momenta(made: Bodies, velocity: Sequence[Array], qd: Array) -> list[Array]:
    """The momentum matrix (3, 4) of each body, with half the spin of the rotors that it carries (see `coriolis_times`)."""
    own = [momentum_matrix(body.inertia, v) for body, v in zip(made.bodies, velocity, strict=True)]
    for rotor in made.rotors:
        own[rotor.body] = own[rotor.body] + np.pad(skew(0.5 * rotor.spin * qd[rotor.speed]), ((0, 0), (0, 1)))
    return own


def inward(
    made: Bodies, joints: Sequence[JointTransform], body: int, forces: Sequence[Array]
) -> Iterator[tuple[int, tuple[Array, ...]]]:
    """Pass forces (6,) or couples (3,) on a body from parent to parent: each body on the way, and what they are there."""
    there = tuple(forces)
    while body >= 0:
        yield body, there
        joint = joints[body]
        there = tuple(joint.force_to_parent(f) if len(f) == 6 else joint.vector_to_parent(f) for f in there)
        body = made.bodies[body].parent
