"""Comparison of mass matrix, gravity and friction of two chains whose joints correspond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.comparison.alignment import Alignment, angle_about, wrapped
from linkwise.comparison.axis_chain import JointAxes, JointAxis, beside, configuration_of, names, ties_between
from linkwise.comparison.result import Comparison
from linkwise.errors import ArgumentError, members
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.formatting.table import number, vector
from linkwise.model.tree import Tree
from linkwise.spatial.quaternion import quaternion_rotation, random_quaternions
from linkwise.spatial.scalar import FloatArray

MASS_SAMPLES = 16

#: Zeros of the end joints are changed if that reduces the differences to this share.
BETTER = 0.1

#: A length, an angle or a moment that is not worth a turn.
NOTHING = 1e-9


def with_dynamics(comparison: Comparison, seed: int) -> Comparison:
    """The same comparison with the efforts compared too; nothing to compare where the chains do not correspond.

    Raises
    ------
    ArgumentError
        Where a mechanism floats, has loops, or has joints beside those on the way.
    """
    for chain in comparison.chains:
        _check_whole(chain)
    if comparison.signs is None:
        return comparison
    weighted = _compared(comparison, seed)
    if not _same(weighted, weighted.mass_error, weighted.gravity_error):
        weighed = _compared(_weighed(comparison), seed)
        weighted = weighed if _worst(weighed) <= comparison.tol or _worst(weighed) < BETTER * _worst(weighted) else weighted
    first, second = (chain.mechanism for chain in comparison.chains)
    texts = _gravity_text(first, second, np.asarray(weighted.base))
    if not _same(weighted, weighted.mass_error, weighted.gravity_error):
        texts += _bodies(weighted) + _rotors(weighted)
        texts = texts or [f"mass matrix or gravity differ (by {_worst(weighted):.3g} of the largest element)"]
    if not _same(weighted, weighted.friction_error):
        subject = "friction or springs differ" if any(x.mechanism.springs for x in weighted.chains) else "friction differs"
        texts.append(f"{subject} (by {weighted.friction_error:.3g} of the largest)")
    return replace(weighted, same=comparison.same and not texts, differences=(*comparison.differences, *texts))


def _same(comparison: Comparison, *errors: float | None) -> bool:
    return all(error is not None and error <= comparison.tol for error in errors)


def _worst(comparison: Comparison) -> float:
    return max(comparison.mass_error or 0.0, comparison.gravity_error or 0.0)


def _compared(comparison: Comparison, seed: int) -> Comparison:
    """The errors of the efforts under the map."""
    first, second = (chain.mechanism for chain in comparison.chains)
    at, qd = _states(comparison.chains[0], seed)
    pairs = zip(comparison.chains, (at, comparison.transferred(at)), strict=True)
    (q, mapped), slopes = (configuration_of(chain, values) for chain, values in pairs), _slopes(comparison)
    mass = _difference(_of(first, "mass_matrix", q), slopes.T @ _of(second, "mass_matrix", mapped) @ slopes)
    gravity = _difference(_of(first, "gravity_torque", q), _of(second, "gravity_torque", mapped) @ slopes)
    friction = _difference(_passive(first, q, qd), _passive(second, mapped, qd @ slopes.T) @ slopes)
    return replace(comparison, mass_error=mass, gravity_error=gravity, friction_error=friction)


def _slopes(comparison: Comparison) -> FloatArray:
    """The derivative (nv, nv) of the second one's velocities by the first one's.

    The quaternion of a ball joint is before * q * beyond, so that its angular velocity, in the child's axes, is turned back
    by the turn beyond.
    """
    first, second = (chain.mechanism for chain in comparison.chains)
    resting, n = _resting(comparison.chains[0], first.n + 1), first.n
    resting[1:, resting.shape[1] - n :] = np.eye(n)
    moved = comparison.transferred(resting)[:, -n:] if n else np.zeros((1, 0))
    result = np.zeros((second.nv, first.nv))
    result[second.nv - n :, first.nv - n :] = (moved[1:] - moved[:1]).T
    places = ({at.name: at.v for at in mechanism.manifold_joints} for mechanism in (first, second))
    turns = zip(*(chain.axes for chain in comparison.chains), np.asarray(comparison.turns), strict=True)
    mine, its = places
    for axis, image, (_, beyond) in turns:
        if axis.is_ball:
            result[its[image.name], mine[axis.name]] = np.asarray(quaternion_rotation(beyond), dtype=float).T
    return result


def _resting(chain: JointAxes, count: int) -> FloatArray:
    """Identity quaternions of the chain's ball joints, and zero joint coordinates."""
    balls = sum(axis.is_ball for axis in chain.axes)
    return np.tile([*(1.0, 0.0, 0.0, 0.0) * balls, *np.zeros(chain.mechanism.n)], (count, 1))


def _passive(mechanism: Tree, q: FloatArray, qd: FloatArray) -> FloatArray:
    """The efforts (k, nv) of friction and springs."""
    friction = _of(mechanism, "friction_torque", qd)
    return friction + _of(mechanism, "spring_torque", q, qd) if mechanism.springs else friction


def _weighed(comparison: Comparison) -> Comparison:
    """The first and last offset, which the places of the axes leave free, from gravity and from where the last body is."""
    first, second = comparison.chains
    turns = np.tile(np.eye(3), (len(first.axes), 1, 1))
    alignment = Alignment(np.asarray(comparison.base), np.asarray(comparison.signs), np.asarray(comparison.offsets), turns)
    tied = {place for tie in ties_between(first.axes, second.axes) for place in (tie.joint, tie.leader)}
    axis, sign = first.axes[0], float(alignment.signs[0])
    if axis.periodic and 0 not in tied:
        turned = alignment.base[:3, :3] @ second.mechanism.gravity
        angle = _turn_about(axis.direction, turned, first.mechanism.gravity)
        alignment = alignment.rebased(second, wrapped(float(alignment.offsets[0]) - sign * angle)) if angle else alignment
    axis, sign = first.axes[-1], float(alignment.signs[-1])
    if len(first.axes) - 1 in tied:
        return replace(comparison, base=alignment.base, offsets=alignment.offsets, tool=alignment.tool(first, second))
    left, right = (inertias[-1] for inertias in _inertias(comparison))
    offset = float(alignment.offsets[-1])
    if axis.periodic:
        angle = _turn_of_body(axis, left, right)
        alignment = alignment.with_offset(-1, wrapped(offset + sign * angle)) if angle else alignment
    elif not axis.has_line and left[3, 3] > 0 and right[3, 3] > 0:
        shift = float(axis.direction @ (left[:3, 3] / left[3, 3] - right[:3, 3] / right[3, 3]))
        alignment = alignment.with_offset(-1, offset + sign * shift) if abs(shift) > NOTHING else alignment
    return replace(comparison, base=alignment.base, offsets=alignment.offsets, tool=alignment.tool(first, second))


def _turn_of_body(axis: JointAxis, left: FloatArray, right: FloatArray) -> float:
    """The turn about an axis that brings the other body over the one: by first moments, else by products of inertia."""
    arms = [inertia[:3, 3] - inertia[3, 3] * axis.point for inertia in (right, left)]
    angle = _turn_about(axis.direction, *arms)
    if angle or any(np.linalg.norm(np.cross(axis.direction, arm)) > NOTHING for arm in arms):
        return angle
    x = np.linalg.svd(axis.direction[None, :])[2][1]
    y = np.cross(axis.direction, x)
    planes = [np.array([x @ j[:3, :3] @ x - y @ j[:3, :3] @ y, 2.0 * (x @ j[:3, :3] @ y)]) for j in (right, left)]
    flat = [np.append(plane, 0.0) for plane in planes]
    return 0.5 * _turn_about(np.array([0.0, 0.0, 1.0]), *flat)


def _turn_about(w: FloatArray, start: FloatArray, end: FloatArray) -> float:
    """The turn about w that takes one vector over another, 0 where one is along w or nothing is to be turned."""
    if min(np.linalg.norm(np.cross(w, v)) for v in (start, end)) <= NOTHING:
        return 0.0
    angle = angle_about(w, start, end)
    return angle if abs(angle) > NOTHING else 0.0


def _check_whole(chain: JointAxes) -> None:
    mechanism = chain.mechanism
    if mechanism.floating or mechanism.loops:
        reason = "floats" if mechanism.floating else "has loops"
        raise ArgumentError(f"dynamics=True compares chains on the ground, and {mechanism.name!r} {reason}")
    if balls := [axis.name for axis in (chain.axes[0], chain.axes[-1]) if axis.is_ball]:
        ends = f"{mechanism.name!r} has {members(dict.fromkeys(balls))} at an end of the way"
        raise ArgumentError(f"dynamics=True takes ball joints between others, which fix how all bodies are turned; {ends}")
    others = beside(chain)
    if others:
        text = f"dynamics=True compares mechanisms whose joints all lie on the way to the link; {mechanism.name!r} has"
        raise ArgumentError(f"{text} {members(others)} beside it")


def _states(chain: JointAxes, seed: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng([seed, 1])
    shape, velocities = (MASS_SAMPLES, chain.mechanism.n), (MASS_SAMPLES, chain.mechanism.nv)
    q, qd = rng.uniform(-1.5, 1.5, shape), rng.choice([-1.0, 1.0], velocities) * rng.uniform(0.1, 2.0, velocities)
    return np.concatenate([*(random_quaternions(rng, MASS_SAMPLES) for axis in chain.axes if axis.is_ball), q], axis=1), qd


def _of(mechanism: Tree, name: str, *args: FloatArray) -> FloatArray:
    return np.asarray(kernel_of(mechanism, name, "numpy", {})(*args))


def _difference(left: FloatArray, right: FloatArray) -> float:
    """The largest difference as a share of the largest element; 0 where both are zero."""
    size = max(float(np.abs(left).max(initial=0.0)), float(np.abs(right).max(initial=0.0)))
    return float(np.abs(left - right).max(initial=0.0)) / size if size else 0.0


def _gravity_text(first: Tree, second: Tree, base: FloatArray) -> list[str]:
    turned = base[:3, :3] @ second.gravity
    if np.abs(first.gravity - turned).max() <= 1e-6 * max(1.0, float(np.linalg.norm(first.gravity))):
        return []
    seen = vector(np.round(turned, 9))
    return [f"gravity: {vector(first.gravity)} m/s2 against {seen} m/s2, seen in the first one's world"]


def _bodies(comparison: Comparison) -> list[str]:
    """Bodies with different mass, first moment or inertia, in the position with all joints of the first at zero."""
    left, right = _inertias(comparison)
    size = max(float(np.abs(left).max()), float(np.abs(right).max()), 1e-300)
    texts = []
    for k, (a, b) in enumerate(zip(left, right, strict=True)):
        if np.abs(a - b).max() <= comparison.tol * size:
            continue
        label = f"what moves with joint {k + 1} ({names(comparison.chains[0].axes[k], comparison.chains[1].axes[k])})"
        if abs(a[3, 3] - b[3, 3]) > comparison.tol * size:
            texts.append(f"{label}: {number(a[3, 3])} kg against {number(b[3, 3])} kg")
        elif np.abs(a[:3, 3] - b[:3, 3]).max() > comparison.tol * size:
            moments = [vector(np.round(j[:3, 3], 9)) for j in (a, b)]
            texts.append(f"{label}: mass times centre of mass {moments[0]} against {moments[1]} kg m, in the first's world")
        else:
            diagonals = [vector(np.round(np.trace(j[:3, :3]) - j.diagonal()[:3], 9)) for j in (a, b)]
            text = f"inertia {diagonals[0]} kg m2 against {diagonals[1]} kg m2 about x, y and z of the first's world"
            texts.append(f"{label}: {text}" if diagonals[0] != diagonals[1] else f"{label}: products of inertia")
    return texts


def _inertias(comparison: Comparison) -> tuple[FloatArray, FloatArray]:
    """Pseudo-inertias (m, 4, 4) moved by each joint, all joints of the first at zero, in the first one's world."""
    first, second = comparison.chains
    zero = _resting(first, 1)
    inertias = _inertias_at(first.mechanism, configuration_of(first, zero)[0], np.eye(4))
    mapped = configuration_of(second, comparison.transferred(zero))[0]
    return inertias, _inertias_at(second.mechanism, mapped, np.asarray(comparison.base))


def _inertias_at(mechanism: Tree, q: FloatArray, base: FloatArray) -> FloatArray:
    joints = coupling(mechanism)
    tree = moving_bodies(joints.uncoupled)
    poses = body_poses(tree, joints.coordinates(q))
    at = [base @ np.asarray(poses[k], dtype=float) for k in range(len(tree.bodies))]
    return np.array([t @ body.inertia @ t.T for t, body in zip(at, tree.bodies, strict=True)])


def _rotors(comparison: Comparison) -> list[str]:
    """Joints at which another rotor inertia is felt."""
    inertias = []
    for chain in comparison.chains:
        sums = np.zeros(len(chain.axes))
        places = {axis.name: k for k, axis in enumerate(chain.axes)}
        for at in chain.mechanism.manifold_joints:
            places |= dict.fromkeys(chain.mechanism.velocity_names[at.v], places[at.name])
        for drive in chain.mechanism.drives:
            sums[places[drive.joint]] += drive.motor.reflected_inertia
        inertias.append(sums)
    texts = []
    for k, (a, b) in enumerate(zip(*inertias, strict=True)):
        if abs(a - b) > comparison.tol * max(a, b):
            label = names(comparison.chains[0].axes[k], comparison.chains[1].axes[k])
            texts.append(f"rotor inertia felt at joint {k + 1} ({label}): {number(a)} kg m2 against {number(b)} kg m2")
    return texts
