"""Forward dynamics: accelerations under given efforts, by the articulated-body algorithm or the mass matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.closed_loops.forward_dynamics import closed_motion, held_efforts
from linkwise.dynamics.external import Loads, Wrenches, wrenches_on_bodies, wrenches_on_frames
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.dynamics.mass_matrix import composite_mass_matrix, mass_matrix
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import friction, momenta, reflected_inertias, rotor_bias, spring_efforts
from linkwise.expr.count import operation_count
from linkwise.kinematics.body_motion import velocities
from linkwise.kinematics.body_transform import JointTransform
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree
from linkwise.spatial.linear import Factor, factor
from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.spatial_vectors import coriolis_times, motion_cross, spatial_inertia


@dataclass(frozen=True)
class ArticulatedJoint:
    """What the recursion keeps of one joint.

    Attributes
    ----------
    response : ndarray (6, k)
        U = P S: the force on the articulated body per unit of each of its k accelerations.
    pivot : Factor
        Of D = S' U + rotor inertia (k, k).
    effort : ndarray (k,)
        What is left of the joint's effort to accelerate it; zeros where only inertia was asked for.
    """

    response: Array
    pivot: Factor
    effort: Array


def articulated_acceleration(tree: Tree, bodies: Bodies, q: Array, qd: Array, left: Array, loads: Loads = ()) -> Array:
    """Return qdd (nv,) under the efforts that friction leaves and wrenches on links, without carried rotors.

    R. Featherstone, "The calculation of robot dynamics using articulated-body inertias", Int. J. Robotics Research 2(1),
    1983, in body axes.
    """
    bodies, joints = carried_axes(bodies, q, tips=False, frames=bool(loads))
    velocity = velocities(bodies, joints, qd)
    across = [motion_cross(v, joint.rate(qd)) + joint.bias(qd) for joint, v in zip(joints, velocity, strict=True)]
    held = [coriolis_times(p, v) for p, v in zip(momenta(bodies, velocity, qd), velocity, strict=True)]
    for k, wrench in wrenches_on_bodies(bodies, loads).items():
        held[k] = held[k] - wrench
    inertia = [spatial_inertia(body.inertia) for body in bodies.bodies]
    reflected = reflected_inertias(tree)
    kept: list[ArticulatedJoint] = []
    for k in reversed(range(len(bodies.bodies))):
        body = bodies.bodies[k]
        here = articulated_joint(joints[k], inertia[k], reflected, left, held[k])
        kept.insert(0, here)
        if body.parent >= 0:
            carried, response = carried_inertia(inertia[k], here), here.pivot.solve(here.effort)
            force = held[k] + carried @ across[k] + here.response @ response
            inertia[body.parent] = inertia[body.parent] + to_parent(joints[k], carried)
            held[body.parent] = held[body.parent] + joints[k].force_to_parent(force)
    return _outward(tree, bodies, joints, kept, across)


def _outward(
    tree: Tree, bodies: Bodies, joints: Sequence[JointTransform], kept: Sequence[ArticulatedJoint], across: Sequence[Array]
) -> Array:
    qdd = blank(tree.nv)
    falling = np.concatenate([-np.asarray(tree.gravity), np.zeros(3)])
    acceleration: list[Array] = []
    for k, (body, here) in enumerate(zip(bodies.bodies, kept, strict=True)):
        carrier = acceleration[body.parent] if body.parent >= 0 else falling
        carried = joints[k].motion_from_parent(carrier) + across[k]
        accelerations = here.pivot.solve(here.effort - here.response.T @ carried)
        for freedom, value in zip(joints[k].freedoms, accelerations, strict=True):
            qdd[freedom.speed] = value
        acceleration.append(carried + joints[k].rate(qdd))
    return qdd


def articulated_joint(
    joint: JointTransform, inertia: Array, reflected: Sequence[float], left: Array, held: Array
) -> ArticulatedJoint:
    """U, D and what is left of the effort at one joint."""
    freedoms = joint.freedoms
    response = np.stack([inertia @ freedom.screw for freedom in freedoms], axis=1)
    block = np.array([[f.screw @ response[:, j] for j in range(len(freedoms))] for f in freedoms], dtype=object)
    for j, freedom in enumerate(freedoms):
        block[j, j] = block[j, j] + reflected[freedom.speed]
    effort = np.array([left[freedom.speed] - freedom.screw @ held for freedom in freedoms], dtype=object)
    return ArticulatedJoint(response, factor(block), effort)


def carried_inertia(inertia: Array, joint: ArticulatedJoint) -> Array:
    """P - U D^-1 U': what the parent feels of an articulated body whose joint is free; its lower half is its upper one."""
    solved = [joint.pivot.solve(row) for row in joint.response]
    result = np.empty((6, 6), dtype=object)
    for i in range(6):
        for j in range(i, 6):
            result[i, j] = result[j, i] = inertia[i, j] - joint.response[i] @ solved[j]
    return result


def to_parent(joint: JointTransform, inertia: Array) -> Array:
    """A symmetric 6x6 inertia about the parent's origin in its axes."""
    turned = _shifted(_turned(inertia, joint.turn), joint.slide)
    return _shifted(_turned(turned, joint.fixed), joint.shift)


def _turned(inertia: Array, rotation: Array) -> Array:
    result = np.empty((6, 6), dtype=object)
    for a, b in ((0, 0), (0, 3), (3, 3)):
        half = rotation @ inertia[a : a + 3, b : b + 3]
        for i in range(3):
            for j in range(i if a == b else 0, 3):
                result[a + i, b + j] = result[b + j, a + i] = half[i] @ rotation[j]
    return result


def _shifted(inertia: Array, shift: Array) -> Array:
    """About a point from which the old one is seen at ``shift``: H - M d~ and I - H' d~ + d~ (H - M d~)."""
    moved, result = skew(shift), np.array(inertia)
    mass, mixed = inertia[:3, :3], inertia[:3, 3:]
    result[:3, 3:] = mixed - mass @ moved
    result[3:, :3] = result[:3, 3:].T
    whole = inertia[3:, 3:] - mixed.T @ moved + moved @ result[:3, 3:]
    for i in range(3):
        for j in range(i, 3):
            result[3 + i, 3 + j] = result[3 + j, 3 + i] = whole[i, j]
    return result


STATE = {"q": "nq", "qd": "nv", "tau": "nv"}


@algorithm(inputs=STATE, outputs={"qdd": "nv"}, spread=False)
def forward_dynamics(tree: Tree, q: Array, qd: Array, tau: Array) -> Array:
    """Return qdd (nv,) under the efforts tau of the motors, gravity and friction, by the cheaper of two recursions.

    Short chains: M from composite bodies, M = L' D L, and M qdd = tau - bias - friction solved (M. W. Walker, D. E. Orin,
    1982; R. Featherstone, 2005). Long ones: articulated bodies (R. Featherstone, 1983). Which takes fewer operations on this
    mechanism is counted. Closed loops: M and the closure equations together (see
    `linkwise.dynamics.closed_loops.forward_dynamics.closed_motion`).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> tau = arm.inverse_dynamics([0.0, 0.5], [1.0, 2.0], [0.3, 0.4])
    >>> arm.forward_dynamics([0.0, 0.5], [1.0, 2.0], tau).round(9)
    array([0.3, 0.4])
    """
    return cheapest(tree, q, qd, tau)


@algorithm(inputs={**STATE, "external": "W 6"}, outputs={"qdd": "nv"}, spread=False)
def forward_dynamics_external(
    tree: Tree, q: Array, qd: Array, tau: Array, external: Array, *, wrenches: Wrenches = None
) -> Array:
    """Return qdd (nv,) with wrenches that act on links; on the tool, in its axes, unless `wrenches` names frames."""
    return cheapest(tree, q, qd, tau, external, wrenches)


def cheapest(tree: Tree, q: Array, qd: Array, tau: Array, external: Array | None = None, wrenches: Wrenches = None) -> Array:
    """Return qdd (nv,) by the recursion that takes fewer operations, or with the loops closed."""
    if tree.loops:
        return closed_motion(tree, q, qd, tau, external, wrenches)[0]
    check_inertia(tree)
    if tree.coupled:
        return factor(mass_matrix(tree, q)).solve(tau - held_efforts(tree, q, qd, external, wrenches))
    bodies = moving_bodies(tree).regrouped()
    left = tau - friction(tree, qd) - rotor_bias(tree, qd)
    left = left - spring_efforts(tree, q, qd) if tree.springs else left
    loads = () if external is None else tuple(wrenches_on_frames(tree, q, external, wrenches))
    results = [composite_acceleration(tree, bodies, q, qd, left, loads)]
    if not any_nonzero([rotor.inertia for rotor in bodies.rotors]):
        results.append(articulated_acceleration(tree, bodies, q, qd, left, loads))
    return min(results, key=lambda qdd: sum(operation_count(list(qdd)).values()))


def composite_acceleration(tree: Tree, bodies: Bodies, q: Array, qd: Array, left: Array, loads: Loads = ()) -> Array:
    """Return qdd (nv,) from the mass matrix and the efforts that friction leaves."""
    bias = recursion(tree, bodies, q, qd, blank(tree.nv), loads)
    return factored_mass_matrix(tree, bodies, q).solve(left - bias)


def factored_mass_matrix(tree: Tree, bodies: Bodies, q: Array) -> Factor:
    """M = L' D L at q."""
    return factor(composite_mass_matrix(tree, *carried_axes(bodies, q, tips=False)))
