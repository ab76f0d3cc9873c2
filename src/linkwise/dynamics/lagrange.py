"""Inverse dynamics a second time, from energies alone: Lagrange's equations, for teaching and as a check.

It shares nothing with the Newton-Euler recursion but the description of the mechanism and the friction of its motors: links
as they were given, their poses in the world, kinetic less potential energy, and derivatives that are taken on the graph. It
costs several times as many operations; `inverse_dynamics` is what to compute with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.inverse_dynamics import friction_torque, spring_torque
from linkwise.dynamics.length_inertias import length_inertia_energy
from linkwise.dynamics.recursions import spring_energy
from linkwise.expr.derivative import gradient, rates
from linkwise.expr.evaluate import as_symbols, substitute
from linkwise.expr.node import Expr
from linkwise.kinematics.configuration import configuration_rate, tangent_derivative
from linkwise.kinematics.loop_constraints import closure
from linkwise.model.inertia import Inertia
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import Array


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"L": ""}, spread=False)
def lagrangian(tree: Tree, q: Array, qd: Array) -> Array:
    """Return L = T - U (J): kinetic less potential energy of links, payload and rotors.

    T is the sum of tr(P' J P'^T) / 2, with P' the rate of a body's pose P (3, 4) and J its pseudo-inertia; U is the sum of
    -g'P J e4, zero with all mass at the world origin (J. J. Uicker, "On the dynamic analysis of spatial linkages using 4x4
    matrices", 1965; R. P. Paul, *Robot Manipulators*, 1981, chapter 6). A rotor that spins at s = G qd about an axis a of
    its carrier, which turns at w, adds Jm s (a'w) + Jm s^2 / 2. Of a floating base T is worked out in its own axes, for it
    does not depend on where the base is.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> found = arm.kernel("lagrangian")([0.0, 0.5], [1.0, 2.0])
    >>> bool(abs(found - arm.kinetic_energy([0.0, 0.5], [1.0, 2.0]) + arm.potential_energy([0.0, 0.5])) < 1e-12)
    True
    """
    x, speed = as_symbols(q, qd)
    values = dict(zip([*x, *speed], [*q, *qd], strict=True))
    return substitute(np.array(_lagrangian(tree, x, speed), dtype=object), values)


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"tau": "nv"}, spread=False, open_only=True)
def lagrange_dynamics(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Return tau (nv,) as `inverse_dynamics` does, by Lagrange's equations: d/dt dL/dqd - dL/dq + friction.

    J.-L. Lagrange, *Mécanique analytique* (1788); H. Goldstein, *Classical Mechanics* (1980), section 1.4. The speeds of a
    floating base are no derivatives of coordinates; for them H. Poincaré, "Sur une forme nouvelle des équations de la
    mécanique", C. R. Acad. Sci. 132, 1901: with v, w the velocity of the base in its own axes and p, h the derivatives of L
    by them, tau = dp/dt + w x p - dL/dx is the force, and dh/dt + w x h + v x p - dL/dturn the moment.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> lagrange = arm.kernel("lagrange_dynamics")([0.0, 0.5], [1.0, 2.0], [0.3, 0.4])
    >>> (lagrange - arm.inverse_dynamics([0.0, 0.5], [1.0, 2.0], [0.3, 0.4])).round(9) + 0.0
    array([0., 0.])
    """
    return _efforts(tree, q, qd, qdd)


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv", "forces": "K"}, outputs={"tau": "nv"}, spread=False, needs_loops=True)
def closed_lagrange_dynamics(tree: Tree, q: Array, qd: Array, qdd: Array, forces: Array) -> Array:
    """Return tau (nv,) by Lagrange's equations with multipliers: d/dt dL/dqd - dL/dq + friction - (de/dq)' f.

    e are the closure equations (K,) of the loops, differentiated on their graph, and the multipliers f the forces of the
    loops, as `constraint_forces` counts them (J.-L. Lagrange, *Mécanique analytique*, 1788; H. Goldstein, *Classical
    Mechanics*, 1980, section 2.4). Of a motion that keeps the loops closed they are the efforts that make it.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> from linkwise.dynamics import closed_inverse_dynamics
    >>> bars, still = robots.four_bar(), np.zeros(3)
    >>> tau, forces = closed_inverse_dynamics(bars, bars.neutral, still, still)
    >>> by_energy = bars.kernel("closed_lagrange_dynamics")(bars.neutral, still, still, forces)
    >>> bool(abs(by_energy - tau).max() < 1e-12)
    True
    """
    gradient_of_closure = tangent_derivative(tree, lambda x: closure(tree, x), q)
    return np.asarray(_efforts(tree, q, qd, qdd) - gradient_of_closure.T @ forces)


def _efforts(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Lagrange's equations of a tree, or of that cut open."""
    x, speed, rise = as_symbols(q, qd, qdd)
    result = _lagrangian(tree, x, speed)
    momentum, slope = gradient(result, speed), np.array(gradient(result, x), dtype=object)
    moving = dict(zip([*x, *speed], [*_motion(tree, x, speed), *rise], strict=True))
    tau = np.array(rates(momentum, moving), dtype=object)
    for k in range(tree.nv):
        unit = [float(i == k) for i in range(tree.nv)]
        tau[k] = tau[k] - slope @ np.array(_motion(tree, x, unit), dtype=object)
    for at in tree.manifold_joints:
        parts = (np.array(part[at.v], dtype=object) for part in (speed, momentum))
        tau[at.v] = tau[at.v] + at.joint.coadjoint(*parts)
    values = dict(zip([*x, *speed, *rise], [*q, *qd, *qdd], strict=True))
    damped = [a - b for a, b in zip(spring_torque(tree, q, qd), spring_torque(tree, q, np.zeros(tree.nv)), strict=True)]
    return np.asarray(substitute(tau, values) + friction_torque(tree, qd) + damped)


def _lagrangian(tree: Tree, q: Sequence[Expr], qd: Sequence[Expr]) -> Any:
    """L over symbols q (nq,) and qd (nv,)."""
    poses = _poses(tree, q)
    kinetic: Any = 0.0
    moment: Array = np.zeros(4)
    for inertia, pose in _masses(tree, poses):
        rate = _rate(tree, pose, q, qd)
        upper = np.array([[inertia[i, j] * (0.5, 1.0)[j > i] if j >= i else 0.0 for j in range(4)] for i in range(4)])
        kinetic = kinetic + sum(row @ (upper @ row) for row in rate)  # J is symmetric: each product is computed once
        moment = moment + pose @ inertia[:, 3]
    for drive, ratio in zip(tree.drives, tree.drive_ratios, strict=True):
        speed = ratio * qd[tree.nv - tree.n + drive.coordinate]
        motor, spin = drive.motor, drive.motor.gear_ratio * speed
        kinetic = kinetic + 0.5 * (motor.inertia * (spin * spin))
        if drive.carrier is not None:
            pose = poses[drive.carrier]
            turn = pose[:3, :3].T @ _rate(tree, pose, q, qd)[:, :3]
            omega = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
            kinetic = kinetic + motor.inertia * spin * (np.asarray(motor.axis) @ omega)
    if tree.has_length_inertias:
        kinetic = kinetic + length_inertia_energy(tree, np.array(q, dtype=object), np.array(qd, dtype=object))
    if tree.floating:
        base = tree.manifold_joints[0]
        moment = np.asarray(tree.base) @ base.joint.placement(np.array(q[base.q])) @ moment
    return kinetic + np.asarray(tree.gravity) @ moment[:3] - spring_energy(tree, np.array(q, dtype=object))


def _motion(tree: Tree, q: Sequence[Any], qd: Sequence[Any]) -> list[Any]:
    """Derivative dq/dt (nq,): qd itself, except for quaternions."""
    return list(configuration_rate(tree, np.array(q, dtype=object), np.array(qd, dtype=object)))


def _poses(tree: Tree, q: Sequence[Any]) -> dict[int, Array]:
    """Pose (4, 4) of each link in the world, or in the axes of a floating base; -1 is the base."""
    poses: dict[int, Array] = {-1: np.eye(4) if tree.floating else np.asarray(tree.base)}
    for k in tree.order:
        coordinates = tree.joint_coordinates(k, np.array(q, dtype=object))
        poses[k] = np.asarray(poses[tree.parents[k]] @ tree.links[k].placement(coordinates))
    return poses


def _rate(tree: Tree, pose: Array, q: Sequence[Any], qd: Sequence[Any]) -> Array:
    """The rate (3, 4) of a pose: by the joints, and by the velocity v + w x p of a floating base."""
    first = tree.manifold_joints[0].q.stop if tree.floating else 0
    moving = dict(zip(q[first:], _motion(tree, q, qd)[first:], strict=True))
    rate = np.array(rates(list(pose[:3].flat), moving), dtype=object).reshape(3, 4)
    if tree.floating:
        rate = rate + skew(np.array(qd[3:6], dtype=object)) @ pose[:3]
        rate[:, 3] = rate[:, 3] + np.array(qd[:3], dtype=object)
    return rate


def _masses(tree: Tree, poses: dict[int, Array]) -> Iterator[tuple[Array, Array]]:
    """Pseudo-inertia (4, 4) of all bodies with mass, and the pose of its axes."""
    bodies: list[tuple[Inertia, Array]] = [(link.body, poses[k]) for k, link in enumerate(tree.links)]
    bodies += [(drive.motor.locked, poses[drive.carrier]) for drive in tree.drives if drive.carrier is not None]
    bodies.append((tree.payload, np.asarray(poses[tree.tool_index] @ tree.tool)))
    return ((body.pseudo, pose) for body, pose in bodies if not body.is_zero)
