"""Whether two mechanisms that move alike also weigh alike: mass matrix, gravity and friction under the map between them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from linkwise.comparison.alignment import Alignment, wrapped
from linkwise.comparison.chain import Axis, Chain, beside
from linkwise.comparison.invariants import names
from linkwise.comparison.refinement import rebased, retooled, tool_of
from linkwise.comparison.result import Comparison
from linkwise.comparison.ties import ties_between
from linkwise.errors import ArgumentError, members
from linkwise.kinematics.forward import body_poses
from linkwise.mechanism import Mechanism
from linkwise.model.coupling import coupling
from linkwise.model.reduction import moving_bodies
from linkwise.model.table import number, vector
from linkwise.spatial.scalar import FloatArray

SAMPLES = 16

BETTER = 0.1
"""Other zeros of the ends are taken where they bring the differences down to this share."""

NOTHING = 1e-9
"""A length, an angle or a moment that is not worth a turn."""


def with_dynamics(found: Comparison, seed: int) -> Comparison:
    """The same comparison with the efforts compared too; nothing to compare where the chains do not correspond.

    Raises
    ------
    ArgumentError
        Where a mechanism floats, has loops, or has joints beside those on the way.
    """
    for chain in found.chains:
        _check_whole(chain)
    if found.signs is None:
        return found
    made = _compared(found, seed)
    if not _same(made, made.mass_error, made.gravity_error):
        weighed = _compared(_weighed(found), seed)
        made = weighed if _worst(weighed) <= found.tol or _worst(weighed) < BETTER * _worst(made) else made
    first, second = (chain.mechanism for chain in found.chains)
    told = _gravity_text(first, second, np.asarray(made.base))
    if not _same(made, made.mass_error, made.gravity_error):
        told += _bodies(made) + _rotors(made)
        told = told or [f"mass matrix or gravity differ (by {_worst(made):.3g} of the largest element)"]
    if not _same(made, made.friction_error):
        told.append(f"friction differs (by {made.friction_error:.3g} of the largest)")
    return replace(made, same=found.same and not told, differences=(*found.differences, *told))


def _same(found: Comparison, *errors: float | None) -> bool:
    return all(error is not None and error <= found.tol for error in errors)


def _worst(found: Comparison) -> float:
    return max(found.mass_error or 0.0, found.gravity_error or 0.0)


def _compared(found: Comparison, seed: int) -> Comparison:
    """The errors of the efforts under the map."""
    first, second = (chain.mechanism for chain in found.chains)
    q, qd = _states(found.chains[0], seed)
    mapped = found.transferred(q)
    slopes = (found.transferred(np.eye(first.n)) - found.transferred(np.zeros((1, first.n)))).T  # d q2 / d q1
    mass = _difference(_of(first, "mass_matrix", q), slopes.T @ _of(second, "mass_matrix", mapped) @ slopes)
    gravity = _difference(_of(first, "gravity_torque", q), _of(second, "gravity_torque", mapped) @ slopes)
    friction = _difference(_of(first, "friction_torque", qd), _of(second, "friction_torque", qd @ slopes.T) @ slopes)
    return replace(found, mass_error=mass, gravity_error=gravity, friction_error=friction)


def _weighed(found: Comparison) -> Comparison:
    """The first and last offset, which the places of the axes leave free, from gravity and from where the last body is."""
    first, second = found.chains
    made = Alignment(np.asarray(found.base), np.asarray(found.signs), np.asarray(found.offsets))
    tied = {place for tie in ties_between(first.axes, second.axes) for place in (tie.joint, tie.leader)}
    axis, sign = first.axes[0], float(made.signs[0])
    if axis.kind == "revolute" and 0 not in tied:
        turned = made.base[:3, :3] @ second.mechanism.gravity
        angle = _turn_about(axis.direction, turned, first.mechanism.gravity)
        made = rebased(second, made, wrapped(float(made.offsets[0]) - sign * angle)) if angle else made
    axis, sign = first.axes[-1], float(made.signs[-1])
    if len(first.axes) - 1 in tied:
        return replace(found, base=made.base, offsets=made.offsets, tool=tool_of(first, second, made))
    zero = np.zeros(first.mechanism.n)
    one = _inertias(first.mechanism, zero, np.eye(4))[-1]
    other = _inertias(second.mechanism, found.transferred(zero), np.asarray(found.base))[-1]
    offset = float(made.offsets[-1])
    if axis.kind == "revolute":
        angle = _turn_of_body(axis, one, other)
        made = retooled(made, wrapped(offset + sign * angle)) if angle else made
    elif axis.kind == "prismatic" and one[3, 3] > 0 and other[3, 3] > 0:
        shift = float(axis.direction @ (one[:3, 3] / one[3, 3] - other[:3, 3] / other[3, 3]))
        made = retooled(made, offset + sign * shift) if abs(shift) > NOTHING else made
    return replace(found, base=made.base, offsets=made.offsets, tool=tool_of(first, second, made))


def _turn_of_body(axis: Axis, one: FloatArray, other: FloatArray) -> float:
    """The turn about an axis that brings the other body over the one: by first moments, else by products of inertia."""
    arms = [inertia[:3, 3] - inertia[3, 3] * axis.point for inertia in (other, one)]
    angle = _turn_about(axis.direction, *arms)
    if angle or any(np.linalg.norm(np.cross(axis.direction, arm)) > NOTHING for arm in arms):
        return angle
    x = np.linalg.svd(axis.direction[None, :])[2][1]
    y = np.cross(axis.direction, x)
    planes = [np.array([x @ j[:3, :3] @ x - y @ j[:3, :3] @ y, 2.0 * (x @ j[:3, :3] @ y)]) for j in (other, one)]
    flat = [np.append(plane, 0.0) for plane in planes]
    return 0.5 * _turn_about(np.array([0.0, 0.0, 1.0]), *flat)


def _turn_about(w: FloatArray, start: FloatArray, end: FloatArray) -> float:
    """The turn about w that takes one vector over another, 0 where one is along w or nothing is to be turned."""
    a, b = (v - w * float(w @ v) for v in (start, end))
    if min(np.linalg.norm(a), np.linalg.norm(b)) <= NOTHING:
        return 0.0
    angle = math.atan2(float(w @ np.cross(a, b)), float(a @ b))
    return angle if abs(angle) > NOTHING else 0.0


def _check_whole(chain: Chain) -> None:
    mechanism = chain.mechanism
    if mechanism.floating or mechanism.loops:
        what = "floats" if mechanism.floating else "has loops"
        raise ArgumentError(f"dynamics=True compares chains on the ground, and {mechanism.name!r} {what}")
    others = beside(chain)
    if others:
        said = f"dynamics=True compares mechanisms whose joints all lie on the way to the link; {mechanism.name!r} has"
        raise ArgumentError(f"{said} {members(others)} beside it")


def _states(chain: Chain, seed: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng([seed, 1])
    shape = (SAMPLES, chain.mechanism.n)
    return rng.uniform(-1.5, 1.5, shape), rng.choice([-1.0, 1.0], shape) * rng.uniform(0.1, 2.0, shape)


def _of(mechanism: Mechanism, name: str, *args: FloatArray) -> FloatArray:
    return np.asarray(mechanism.kernel(name, backend="numpy")(*args))


def _difference(one: FloatArray, other: FloatArray) -> float:
    """The largest difference as a share of the largest element; 0 where both are zero."""
    size = max(float(np.abs(one).max(initial=0.0)), float(np.abs(other).max(initial=0.0)))
    return float(np.abs(one - other).max(initial=0.0)) / size if size else 0.0


def _gravity_text(first: Mechanism, second: Mechanism, base: FloatArray) -> list[str]:
    turned = base[:3, :3] @ second.gravity
    if np.abs(first.gravity - turned).max() <= 1e-6 * max(1.0, float(np.linalg.norm(first.gravity))):
        return []
    seen = vector(np.round(turned, 9))
    return [f"gravity: {vector(first.gravity)} m/s2 against {seen} m/s2, seen in the first one's world"]


def _bodies(found: Comparison) -> list[str]:
    """Bodies with another mass, first moment or inertia, where they stand with all joints of the first at zero."""
    zero = np.zeros(found.chains[0].mechanism.n)
    one = _inertias(found.chains[0].mechanism, zero, np.eye(4))
    other = _inertias(found.chains[1].mechanism, found.transferred(zero), np.asarray(found.base))
    size = max(float(np.abs(one).max()), float(np.abs(other).max()), 1e-300)
    told = []
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        if np.abs(a - b).max() <= found.tol * size:
            continue
        label = f"what moves with joint {k + 1} ({names(found.chains[0].axes[k], found.chains[1].axes[k])})"
        if abs(a[3, 3] - b[3, 3]) > found.tol * size:
            told.append(f"{label}: {number(a[3, 3])} kg against {number(b[3, 3])} kg")
        elif np.abs(a[:3, 3] - b[:3, 3]).max() > found.tol * size:
            moments = [vector(np.round(j[:3, 3], 9)) for j in (a, b)]
            told.append(f"{label}: mass times centre of mass {moments[0]} against {moments[1]} kg m, in the first's world")
        else:
            diagonals = [vector(np.round(np.trace(j[:3, :3]) - j.diagonal()[:3], 9)) for j in (a, b)]
            said = f"inertia {diagonals[0]} kg m2 against {diagonals[1]} kg m2 about x, y and z of the first's world"
            told.append(f"{label}: {said}" if diagonals[0] != diagonals[1] else f"{label}: products of inertia")
    return told


def _inertias(mechanism: Mechanism, q: FloatArray, base: FloatArray) -> FloatArray:
    """Pseudo-inertias (m, 4, 4) of what moves with each joint, in the first one's world."""
    how = coupling(mechanism)
    made = moving_bodies(how.free)
    poses = body_poses(made, how.coordinates(q))
    at = [base @ np.asarray(poses[k], dtype=float) for k in range(len(made.bodies))]
    return np.array([t @ body.inertia @ t.T for t, body in zip(at, made.bodies, strict=True)])


def _rotors(found: Comparison) -> list[str]:
    """Joints at which another rotor inertia is felt."""
    felt = []
    for chain in found.chains:
        sums = np.zeros(len(chain.axes))
        places = {axis.name: k for k, axis in enumerate(chain.axes)}
        for drive in chain.mechanism.drives:
            sums[places[drive.joint]] += drive.motor.reflected_inertia
        felt.append(sums)
    told = []
    for k, (a, b) in enumerate(zip(*felt, strict=True)):
        if abs(a - b) > found.tol * max(a, b):
            label = names(found.chains[0].axes[k], found.chains[1].axes[k])
            told.append(f"rotor inertia felt at joint {k + 1} ({label}): {number(a)} kg m2 against {number(b)} kg m2")
    return told
