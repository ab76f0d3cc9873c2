"""Exact first derivatives of inverse dynamics, in as few operations as a recursion over composite bodies takes.

Turning one joint turns what it carries as one body. What the bodies beyond feel of it is a change of velocity and of
acceleration that is the same for all of them, so that inertias, momenta and forces can be summed before, and each pair of
joints needs a few scalar products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.carried_axes import carried_axes
from linkwise.dynamics.mass_matrix import add_rotors
from linkwise.dynamics.motors import viscous
from linkwise.dynamics.sweep import BodyMotion, composite_inertias, composite_momenta, inward, momenta, motions
from linkwise.kinematics.joint_transform import JointTransform
from linkwise.model.bodies import Bodies, Freedom
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.six_vector import (
    coriolis_times,
    coriolis_transposed_times,
    force_cross,
    inertia_times,
    motion_cross,
)

SHAPES = {"dtau_dq": "nv nv", "dtau_dqd": "nv nv", "dtau_dqdd": "nv nv"}


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs=SHAPES, open_only=True)
def inverse_dynamics_derivatives(tree: Tree, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
    """Return d tau/dq, d tau/dqd and d tau/dqdd = M, each (nv, nv); row i is joint i's effort.

    S. Singh, R. P. Russell, P. M. Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector
    algebra", IEEE Robotics and Automation Letters 7(2), 2022, in body axes, with the momentum matrix W J in
    the place of the 6x6 Coriolis matrix. With a floating base dq is a small motion in the base's own axes. Coulomb
    friction, which jumps, adds nothing.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> dq, dqd, dqdd = arm.inverse_dynamics_derivatives([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])
    >>> dqd.round(3)
    array([[-0.959, -1.438],
           [ 0.479,  0.   ]])
    >>> bool(abs(dqdd - arm.mass_matrix([0.0, 0.5])).max() < 1e-12)
    True
    """
    made = moving_bodies(tree).regrouped()
    return effort_derivatives(tree, *carried_axes(made, q), qd, qdd)


@dataclass(frozen=True)
class _Change:
    """What the bodies beyond a joint feel of a small step of it: psi' and psi'' of Singh et al., and S' = v x S."""

    velocity: Array
    acceleration: Array
    rate: Array


def effort_derivatives(
    tree: Tree, made: Bodies, joints: Sequence[JointTransform], qd: Array, qdd: Array
) -> tuple[Array, Array, Array]:
    """The three derivatives (nv, nv) of bodies whose joint transforms are known."""
    moved = motions(made, joints, qd, qdd, tree.gravity)
    own = momenta(made, [motion.velocity for motion in moved], qd)
    inertia, momentum = composite_inertias(made, joints), composite_momenta(made, joints, own)
    force = _composite_forces(made, joints, moved, own, qd, qdd)
    change = {f.speed: _change(f, m) for body, m in zip(made.bodies, moved, strict=True) for f in body.freedoms}
    by_q, by_qd, mass = blank(tree.nv, tree.nv), blank(tree.nv, tree.nv), blank(tree.nv, tree.nv)
    for k, body in enumerate(made.bodies):
        for freedom in body.freedoms:
            j, screw, step = freedom.speed, freedom.screw, change[freedom.speed]
            along = inertia_times(inertia[k], screw)
            turning = 2.0 * coriolis_transposed_times(momentum[k], screw)
            by_speed = 2.0 * coriolis_times(momentum[k], screw) + inertia_times(inertia[k], step.velocity + step.rate)
            by_step = 2.0 * coriolis_times(momentum[k], step.velocity) + inertia_times(inertia[k], step.acceleration)
            by_step = by_step + force_cross(screw, force[k])
            for carrier, (row, couple, for_speed, for_step) in inward(made, joints, k, [along, turning, by_speed, by_step]):
                for other in made.bodies[carrier].freedoms:
                    i, there = other.speed, change[other.speed]
                    mass[i, j] = mass[j, i] = other.screw @ row
                    by_q[j, i] = couple @ there.velocity[3:] + row @ there.acceleration
                    by_qd[j, i] = couple @ other.angular + row @ (there.velocity + there.rate)
                    if carrier != k:
                        by_q[i, j], by_qd[i, j] = other.screw @ for_step, other.screw @ for_speed
    _add_spin(made, joints, moved, change, (by_q, by_qd))
    add_rotors(tree, made, joints, mass)
    for j, damping in enumerate(viscous(tree)):
        by_qd[j, j] = by_qd[j, j] + damping
    return by_q, by_qd, mass


def _change(freedom: Freedom, moved: BodyMotion) -> _Change:
    velocity = motion_cross(moved.carried_velocity, freedom.screw)
    acceleration = motion_cross(moved.carried_acceleration, freedom.screw) + motion_cross(moved.carried_velocity, velocity)
    return _Change(velocity, acceleration, motion_cross(moved.velocity, freedom.screw))


def _composite_forces(
    made: Bodies,
    joints: Sequence[JointTransform],
    moved: Sequence[BodyMotion],
    momentum: Sequence[Array],
    qd: Array,
    qdd: Array,
) -> list[Array]:
    """The force (6,) that each body with all that it carries takes: the sum of I a + B v, and of what spins its rotors."""
    total = [
        inertia_times(body.inertia, m.acceleration) + coriolis_times(p, m.velocity)
        for body, m, p in zip(made.bodies, moved, momentum, strict=True)
    ]
    for rotor in made.rotors:  # B has half of the spin already
        half = 0.5 * cross(moved[rotor.body].velocity[3:], rotor.spin) * qd[rotor.speed]
        total[rotor.body] = total[rotor.body] + np.concatenate([np.zeros(3), half + rotor.spin * qdd[rotor.speed]])
    for k in reversed(range(len(total))):
        parent = made.bodies[k].parent
        if parent >= 0:
            total[parent] = total[parent] + joints[k].force_to_parent(total[k])
    return total


def _add_spin(
    made: Bodies,
    joints: Sequence[JointTransform],
    moved: Sequence[BodyMotion],
    change: dict[int, _Change],
    derivatives: tuple[Array, Array],
) -> None:
    """Add what rotors and their carriers exchange: G Jm (qdd s + qd w x s) on the carrier, G Jm s.w' on the joint."""
    by_q, by_qd = derivatives
    for rotor in made.rotors:
        j, turned = rotor.speed, cross(moved[rotor.body].velocity[3:], rotor.spin)
        for carrier, (spin, couple) in inward(made, joints, rotor.body, [rotor.spin, turned]):
            for other in made.bodies[carrier].freedoms:
                i, there = other.speed, change[other.speed]
                shared = couple @ other.angular
                by_q[j, i] = by_q[j, i] + spin @ there.acceleration[3:] + couple @ there.velocity[3:]
                by_qd[j, i] = by_qd[j, i] + spin @ (there.velocity + there.rate)[3:] + shared
                by_qd[i, j] = by_qd[i, j] + shared
