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
from linkwise.dynamics.closed_loops.derivatives import closed_acceleration_derivatives
from linkwise.dynamics.closed_loops.forward_dynamics import held_efforts, solved_motion
from linkwise.dynamics.external import Wrenches, external_efforts
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.mass_matrix import add_rotors, mass_matrix
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import (
    composite_inertias,
    friction_slope,
    momenta,
    pairs,
    rotor_bias_slope,
    spring_efforts,
    summed_inward,
)
from linkwise.expr.derivative import derivative
from linkwise.expr.evaluate import substitute
from linkwise.expr.node import symbol
from linkwise.kinematics.body_motion import BodyMotion, StepEffect, motions, step_effect
from linkwise.kinematics.body_transform import JointTransform
from linkwise.kinematics.configuration import tangent_derivative
from linkwise.model.body import Bodies, Freedom, moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.linear import factor
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.spatial_vectors import (
    coriolis_times,
    coriolis_transposed_times,
    force_cross,
    inertia_times,
)

SHAPES = {"dtau_dq": "nv nv", "dtau_dqd": "nv nv", "dtau_dqdd": "nv nv"}


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs=SHAPES, open_only=True)
def inverse_dynamics_derivatives(tree: Tree, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
    """Return d tau/dq, d tau/dqd and d tau/dqdd = M, each (nv, nv); row i is joint i's effort.

    S. Singh, R. P. Russell, P. M. Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector
    algebra", IEEE Robotics and Automation Letters 7(2), 2022, in body axes, with the momentum matrix W J in
    the place of the 6x6 Coriolis matrix. With a floating base dq is a small motion in the base's own axes. Coulomb
    friction that jumps adds nothing.

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
    bodies = moving_bodies(tree).regrouped()
    return with_springs(tree, q, qd, effort_derivatives(tree, *carried_axes(bodies, q), qd, qdd))


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv", "external": "W 6"}, outputs=SHAPES, open_only=True)
def inverse_dynamics_external_derivatives(
    tree: Tree, q: Array, qd: Array, qdd: Array, external: Array, *, wrenches: Wrenches = None
) -> tuple[Array, Array, Array]:
    """Return the same three with wrenches on links, which are held: J' w changes with q."""
    by_q, by_qd, mass = inverse_dynamics_derivatives(tree, q, qd, qdd)
    return by_q - tangent_derivative(tree, lambda x: external_efforts(tree, x, external, wrenches=wrenches), q), by_qd, mass


@dataclass(frozen=True)
class Composites:
    """Each body with all that it carries, taken as one, in motion.

    Attributes
    ----------
    moved : list of BodyMotion
        The motion of each body.
    inertia, momentum, force : list of ndarray (4, 4), (3, 4), (6,)
        Pseudo-inertia and momentum matrix W J of each composite, and the force that it takes.
    effects : dict of int to StepEffect
        Of a step of each joint coordinate, by its index into qd.
    """

    moved: list[BodyMotion]
    inertia: list[Array]
    momentum: list[Array]
    force: list[Array]
    effects: dict[int, StepEffect]

    @classmethod
    def of(cls, bodies: Bodies, joints: Sequence[JointTransform], qd: Array, qdd: Array, gravity: Array) -> Composites:
        """Those of bodies whose joint transforms are known."""
        moved = motions(bodies, joints, qd, qdd, gravity)
        each = momenta(bodies, [motion.velocity for motion in moved], qd)
        inertia = composite_inertias(bodies, joints)
        momentum = summed_inward(bodies, joints, each, JointTransform.momentum_to_parent)
        force = _composite_forces(bodies, joints, moved, each, qd, qdd)
        effects = {f.speed: step_effect(f, m) for body, m in zip(bodies.bodies, moved, strict=True) for f in body.freedoms}
        return cls(moved, inertia, momentum, force, effects)

    def forces(self, k: int, freedom: Freedom) -> tuple[Array, Array, Array]:
        """What bodies before a joint of body k feel (6,): per unit of its acceleration, of its velocity, and of a step."""
        screw, step = freedom.screw, self.effects[freedom.speed]
        along = inertia_times(self.inertia[k], screw)
        by_speed = 2.0 * coriolis_times(self.momentum[k], screw) + inertia_times(self.inertia[k], step.velocity + step.rate)
        by_step = 2.0 * coriolis_times(self.momentum[k], step.velocity) + inertia_times(self.inertia[k], step.acceleration)
        return along, by_speed, by_step + force_cross(screw, self.force[k])


def effort_derivatives(
    tree: Tree, bodies: Bodies, joints: Sequence[JointTransform], qd: Array, qdd: Array
) -> tuple[Array, Array, Array]:
    """The three derivatives (nv, nv) of bodies whose joint transforms are known."""
    composites = Composites.of(bodies, joints, qd, qdd, tree.gravity)
    effects = composites.effects
    by_q, by_qd, mass = blank(tree.nv, tree.nv), blank(tree.nv, tree.nv), blank(tree.nv, tree.nv)
    for k, joint in enumerate(joints):
        for freedom in joint.freedoms:
            j, (along, by_speed, by_step) = freedom.speed, composites.forces(k, freedom)
            turning = 2.0 * coriolis_transposed_times(composites.momentum[k], freedom.screw)
            for carrier, other, (row, couple, for_speed, for_step) in pairs(
                bodies, joints, k, [along, turning, by_speed, by_step]
            ):
                i, there = other.speed, effects[other.speed]
                mass[i, j] = mass[j, i] = other.screw @ row
                by_q[j, i] = couple @ there.velocity[3:] + row @ there.acceleration
                by_qd[j, i] = couple @ other.angular + row @ (there.velocity + there.rate)
                if carrier != k:
                    by_q[i, j], by_qd[i, j] = other.screw @ for_step, other.screw @ for_speed
    _add_spin(bodies, joints, composites, (by_q, by_qd))
    add_rotors(tree, bodies, joints, mass)
    for j, damping in enumerate(friction_slope(tree, qd)):
        by_qd[j, j] = by_qd[j, j] + damping
    return by_q, by_qd + rotor_bias_slope(tree, qd), mass


def with_springs(tree: Tree, q: Array, qd: Array, tables: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """The three derivatives (nv, nv) with those of springs, from their graph."""
    if not tree.springs:
        return tables
    by_q, by_qd, mass = tables
    speeds = np.array([symbol(f"\1{k}") for k in range(tree.nv)], dtype=object)
    efforts = spring_efforts(tree, q, speeds)
    by_speed = substitute(derivative(list(efforts), list(speeds)), dict(zip(speeds, qd, strict=True)))
    by_q = by_q + tangent_derivative(tree, lambda x: spring_efforts(tree, x, qd), q)
    return by_q, by_qd + by_speed, mass


def _composite_forces(
    bodies: Bodies,
    joints: Sequence[JointTransform],
    moved: Sequence[BodyMotion],
    momentum: Sequence[Array],
    qd: Array,
    qdd: Array,
) -> list[Array]:
    """The force (6,) that each body with all that it carries takes: the sum of I a + B v, and of what spins its rotors."""
    total = [
        inertia_times(body.inertia, m.acceleration) + coriolis_times(p, m.velocity)
        for body, m, p in zip(bodies.bodies, moved, momentum, strict=True)
    ]
    for rotor in bodies.rotors:  # B has half of the spin already
        half = 0.5 * cross(moved[rotor.body].velocity[3:], rotor.spin) * qd[rotor.speed]
        total[rotor.body] = total[rotor.body] + np.concatenate([np.zeros(3), half + rotor.spin * qdd[rotor.speed]])
    return summed_inward(bodies, joints, total, JointTransform.force_to_parent)


def _add_spin(
    bodies: Bodies,
    joints: Sequence[JointTransform],
    composites: Composites,
    derivatives: tuple[Array, Array],
) -> None:
    """Add what rotors and their carriers exchange: G Jm (qdd s + qd w x s) on the carrier, G Jm s.w' on the joint."""
    by_q, by_qd = derivatives
    for rotor in bodies.rotors:
        j, turned = rotor.speed, cross(composites.moved[rotor.body].velocity[3:], rotor.spin)
        for _, other, (spin, couple) in pairs(bodies, joints, rotor.body, [rotor.spin, turned]):
            i, there = other.speed, composites.effects[other.speed]
            shared = couple @ other.angular
            by_q[j, i] = by_q[j, i] + spin @ there.acceleration[3:] + couple @ there.velocity[3:]
            by_qd[j, i] = by_qd[j, i] + spin @ (there.velocity + there.rate)[3:] + shared
            by_qd[i, j] = by_qd[i, j] + shared


FORWARD_SHAPES = {"dqdd_dq": "nv nv", "dqdd_dqd": "nv nv", "dqdd_dtau": "nv nv"}


@algorithm(inputs={"q": "nq", "qd": "nv", "tau": "nv"}, outputs=FORWARD_SHAPES, spread=False)
def forward_dynamics_derivatives(tree: Tree, q: Array, qd: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Return d qdd/dq, d qdd/dqd and d qdd/dtau = inverse(M), each (nv, nv).

    M d(qdd) = d(tau) - d(tau of the inverse dynamics) at the acceleration there is (J. Carpentier, N. Mansard, "Analytical
    derivatives of rigid body dynamics algorithms", RSS 2018), with M = L' D L.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> dq, dqd, dtau = arm.forward_dynamics_derivatives([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])
    >>> (dtau @ arm.mass_matrix([0.0, 0.5])).round(9) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    return acceleration_derivatives(tree, q, qd, tau)


@algorithm(inputs={"q": "nq", "qd": "nv", "tau": "nv", "external": "W 6"}, outputs=FORWARD_SHAPES, spread=False)
def forward_dynamics_external_derivatives(
    tree: Tree, q: Array, qd: Array, tau: Array, external: Array, *, wrenches: Wrenches = None
) -> tuple[Array, Array, Array]:
    """Return the same three with wrenches on links, which are held."""
    return acceleration_derivatives(tree, q, qd, tau, external, wrenches)


def acceleration_derivatives(
    tree: Tree, q: Array, qd: Array, tau: Array, external: Array | None = None, wrenches: Wrenches = None
) -> tuple[Array, Array, Array]:
    """The three derivatives (nv, nv) of forward dynamics, from those of inverse dynamics."""
    if tree.loops:
        system, qdd, forces, sound = solved_motion(tree, q, qd, tau, external, wrenches)
        of_tree = _at_acceleration(tree.replace(loops=()), q, qd, qdd, external, wrenches)
        tables = closed_acceleration_derivatives(tree, system, (q, qd, qdd, forces), *of_tree)
        by_q, by_qd, by_tau = (table * sound for table in tables)
        return by_q, by_qd, by_tau
    check_inertia(tree)
    solver = factor(mass_matrix(tree, q))
    qdd = solver.solve(tau - held_efforts(tree, q, qd, external, wrenches))
    by_q, by_qd = _at_acceleration(tree, q, qd, qdd, external, wrenches)
    for table in (by_q, by_qd):
        for j in range(tree.nv):
            table[:, j] = -solver.solve(table[:, j])
    return by_q, by_qd, solver.inverse()


def _at_acceleration(
    tree: Tree, q: Array, qd: Array, qdd: Array, external: Array | None, wrenches: Wrenches
) -> tuple[Array, Array]:
    """The derivatives (nv, nv) of inverse dynamics by q and qd."""
    if external is None:
        tables = inverse_dynamics_derivatives(tree, q, qd, qdd)
    else:
        tables = inverse_dynamics_external_derivatives(tree, q, qd, qdd, external, wrenches=wrenches)
    return tables[0], tables[1]
