"""Recursions that several algorithms share: motions outward, inertias and momenta inward, and motor terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.kinematics.loop_constraints import loop_seen
from linkwise.model.body import Bodies
from linkwise.model.body_transform import JointTransform
from linkwise.model.loop import Loop
from linkwise.model.motor import Motor
from linkwise.model.potential import BallSpring, ConstantForce
from linkwise.model.spring import ForceElement, LinearSpringDamper
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tendon_path import PathPiece, Point
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank, root, sign
from linkwise.spatial.transform import inverse, translation
from linkwise.spatial.wrapping import line_length


def summed_inward(
    bodies: Bodies,
    joints: Sequence[JointTransform],
    values: Sequence[Array],
    to_parent: Callable[[JointTransform, Array], Array],
) -> list[Array]:
    """Sum values over the subtree of each body, transforming them to the parent on the way."""
    total = list(values)
    for k in reversed(range(len(total))):
        parent = bodies.bodies[k].parent
        if parent >= 0:
            total[parent] = total[parent] + to_parent(joints[k], total[k])
    return total


def composite_inertias(bodies: Bodies, joints: Sequence[JointTransform]) -> list[Array]:
    """Pseudo-inertia (4, 4) of each body with all that it carries, as if the joints beyond were locked."""
    return summed_inward(bodies, joints, [body.inertia for body in bodies.bodies], JointTransform.inertia_to_parent)


def motor_effort(tree: Tree, qd: Array, qdd: Array) -> Array:
    """G^2 Jm qdd + friction (nv,) of all motors, and the gyroscopic effort of those at joints with quaternions."""
    rotors = np.array(reflected_inertias(tree), dtype=object) * qdd
    return np.asarray(rotors + friction(tree, qd) + rotor_bias(tree, qd))


def reflected_inertias(tree: Tree) -> list[float]:
    """Reflected rotor inertia G^2 Jm of each velocity (nv,), kg m2; 0 without a motor."""
    inertias = [0.0] * tree.nv
    for drive in tree.drives:
        inertias[tree.nv - tree.n + drive.coordinate] += drive.motor.reflected_inertia
    return inertias


def rotor_bias(tree: Tree, qd: Array, reflected: Sequence[Any] | None = None) -> Array:
    """Gyroscopic efforts of rotors at joints with quaternions (nv,): see `rotor_coriolis`; zeros if there are none."""
    turns = turning_rotors(tree, reflected)
    return np.asarray(rotor_coriolis(tree, qd, reflected) @ qd) if turns else blank(tree.nv)


def turning_rotors(tree: Tree, reflected: Sequence[Any] | None = None) -> list[ManifoldJoint]:
    """Joints with quaternions whose motors have rotating momenta, except where three rotations alone share one inertia."""
    reflected = reflected_inertias(tree) if reflected is None else reflected
    results = []
    for at in tree.manifold_joints:
        values = reflected[at.v]
        turns, slides = values[-3:], values[:-3]
        if any_nonzero(slides) or any_nonzero([value - turns[0] for value in turns]):
            results.append(at)
    return results


def rotor_coriolis(tree: Tree, qd: Array, reflected: Sequence[Any] | None = None) -> Array:
    """C (nv, nv), skew-symmetric, of the motors of joints with quaternions.

    The kinetic energy qd' A qd / 2 has the momentum A qd in axes that move with qd; its rate is A qdd + C qd (H. Poincaré,
    "Sur une forme nouvelle des équations de la mécanique", C. R. Acad. Sci. 132, 1901). A is that of the motors, or
    ``reflected`` (nv,).
    """
    reflected, matrix = reflected_inertias(tree) if reflected is None else reflected, blank(tree.nv, tree.nv)
    for at in turning_rotors(tree, reflected):
        momentum = np.array(reflected[at.v], dtype=object) * qd[at.v]
        matrix[at.v, at.v] = np.stack([at.joint.coadjoint(unit, momentum) for unit in np.eye(at.joint.nv)], axis=1)
    return matrix


def rotor_bias_slope(tree: Tree, qd: Array) -> Array:
    """The derivative (nv, nv) of `rotor_bias` by qd."""
    reflected, slope = reflected_inertias(tree), rotor_coriolis(tree, qd)
    for at in turning_rotors(tree):
        momenta = np.diag(np.array(reflected[at.v], dtype=object))
        columns = np.stack([at.joint.coadjoint(qd[at.v], column) for column in momenta], axis=1)
        slope[at.v, at.v] = slope[at.v, at.v] + columns
    return slope


def friction(tree: Tree, qd: Array) -> Array:
    """Friction efforts (nv,) of all motors at the joints, N m or N."""
    efforts = blank(tree.nv)
    for drive in tree.drives:
        i = tree.nv - tree.n + drive.coordinate
        efforts[i] = efforts[i] + joint_friction(drive.motor, qd[i])
    return efforts


def spring_efforts(tree: Tree, q: Array, qd: Array) -> Array:
    """Efforts (nv,) that motors must supply against springs, dampers and end stops, N m or N."""
    taken, first = blank(tree.nv), tree.nv - tree.n
    for element in (element for element in tree.springs if not element.terms):
        taken = taken + line_effort(tree, element, q, qd)
    for term in tree.force_terms:
        length = sum((ratio * q[tree.nq - tree.n + k] for k, ratio in term.ratios), term.shift)
        rate = sum(ratio * qd[first + k] for k, ratio in term.ratios)
        tension = term.element.tension(length, rate)
        for k, ratio in term.ratios:
            taken[first + k] = taken[first + k] + ratio * tension
    for stop, at in tree.ball_stops:
        angle, slope = at.joint.lean(q[at.q])
        taken[at.v] = taken[at.v] + stop.tension(angle, slope @ qd[at.v]) * slope
    return taken


def spring_energy(tree: Tree, q: Array) -> Any:
    """Energy of springs and end stops, J."""
    total: Any = 0.0
    for term in tree.force_terms:
        length = sum((ratio * q[tree.nq - tree.n + k] for k, ratio in term.ratios), term.shift)
        total = total + term.element.energy(length)
    for element in (element for element in tree.springs if not element.terms):
        if isinstance(element, LinearSpringDamper) and element.is_linear:
            gap = _gap(tree, element, q)[0]
            total = total + 0.5 * element.stiffness * (gap @ gap)
        else:
            total = total + element.energy(line_slope(tree, element, q)[0])
    return sum((stop.energy(at.joint.lean(q[at.q])[0]) for stop, at in tree.ball_stops), total)


def line_effort(tree: Tree, element: ForceElement, q: Array, qd: Array) -> Array:
    """Effort (nv,) of an element along a length: its tension times the derivative of the length, or of its energy."""
    if isinstance(element, LinearSpringDamper) and element.is_linear:
        gap, rates = _gap(tree, element, q)
        return np.asarray(element.stiffness * (gap @ rates))
    length, slope = line_slope(tree, element, q)
    return np.asarray(element.tension(length, slope @ qd) * slope)


def _gap(tree: Tree, element: LinearSpringDamper, q: Array) -> tuple[Array, Array]:
    """The vector (3,) from the first of two points to the second, and its derivative (3, nv)."""
    (piece,) = element.pieces
    return _seen(tree, piece.first[0], translation(*piece.first[1]), piece.second, q)


def line_slope(tree: Tree, element: ForceElement, q: Array) -> tuple[Any, Array]:
    """The length of an element along lines between points, or the energy of another, and its derivative (nv,)."""
    if isinstance(element, ConstantForce):
        pose, force = forward_kinematics(tree, q, link=element.link), np.array(element.force)
        rates, point = jacobian(tree, q, link=element.link, frame="world"), pose @ [*element.point, 1.0]
        return -(force @ point[:3]), -(force @ rates[:3] + cross(point[:3] - pose[:3, 3], force) @ rates[3:])
    if isinstance(element, BallSpring):
        at, slope = next(at for at in tree.manifold_joints if at.name == element.joint), blank(tree.nv)
        turn = at.joint.difference(np.array(element.rest), q[at.q])
        slope[at.v] = element.stiffness * turn
        return 0.5 * element.stiffness * (turn @ turn), slope
    parts = [_piece_slope(tree, piece, q) for piece in element.pieces]
    return sum(length for length, _ in parts), np.asarray(sum((slope for _, slope in parts), blank(tree.nv)))


def _piece_slope(tree: Tree, piece: PathPiece, q: Array) -> tuple[Any, Array]:
    """What a part of a path adds to the length, and to its derivative (nv,)."""
    if piece.wrap is None:
        gap, rates = _seen(tree, piece.first[0], translation(*piece.first[1]), piece.second, q)
        length = line_length(gap)
        return piece.share * length, piece.share * (gap @ rates / length)
    first, second = (_seen(tree, piece.wrap.link, piece.wrap.frame, point, q) for point in (piece.first, piece.second))
    side = None if piece.wrap.side is None else _seen(tree, piece.wrap.link, piece.wrap.frame, piece.wrap.side, q)[0]
    path = piece.wrap.path(first[0], second[0], side)
    return piece.share * path.length, piece.share * (path.first @ first[1] + path.second @ second[1])


def _seen(tree: Tree, link: str, frame: Array, point: Point, q: Array) -> tuple[Array, Array]:
    """A point (3,) as seen from a frame on a link, in its axes, and its velocity (3, nv) there per joint velocity."""
    name, at = point
    if name == link:
        return np.asarray((inverse(frame) @ [*at, 1.0])[:3]), blank(3, tree.nv)
    gap, _, rates = loop_seen(tree, Loop("point", link, name, frame, translation(*at)), q)
    return gap, rates[:3]


def joint_friction(motor: Motor, speed: Any) -> Any:
    """Friction at the joint, N m: viscous, plus Coulomb by the sign of the joint velocity, none at rest.

    With s = sign(speed), Tc+ for s = 1 and Tc- for s = -1 is s (Tc+ - Tc-)/2 + |s| (Tc+ + Tc-)/2; in the place of the
    sign, s = v / sqrt(v^2 + vt^2) with a transition speed vt.
    """
    positive, negative = motor.reflected_coulomb
    total = motor.reflected_viscous * speed
    if any_nonzero((positive, negative)):
        width = motor.joint_transition_speed
        s = speed / root(speed * speed + width * width) if any_nonzero(width) else sign(speed)
        total = total + 0.5 * (positive - negative) * s
        if any_nonzero(positive + negative):
            total = total + 0.5 * (positive + negative) * abs(s)
    return total
