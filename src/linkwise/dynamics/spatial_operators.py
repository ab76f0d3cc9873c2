"""The spatial operators of Rodriguez, Jain and Kreutz-Delgado, and the factors of the mass matrix and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of, refuse_loops
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.recursions import reflected_inertias
from linkwise.errors import ArgumentError
from linkwise.kinematics.forward_kinematics import place
from linkwise.model.assembly import separated
from linkwise.model.body import Body, moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.spatial_vectors import spatial_inertia
from linkwise.spatial.transform import inverse
from linkwise.spatial.validation import vectors


@dataclass(frozen=True, eq=False)
class SpatialOperators:
    """H, phi, M, D, K and psi at one configuration or many, N moving bodies from the base to the tips.

    Six-vectors are (linear, angular), each body's in its own frame: that of the link whose joint moves it, or the floating
    base's. A force on a body acts on its parent through phi, so phi and psi are upper triangular. With * for the transpose,
    R the inertia of rotors felt at the joints, and B the angular momentum of the rotors that bodies carry,

        mass_matrix          = H phi M phi* H* + H phi B + (H phi B)* + R = (1 + H phi K) D (1 + H phi K)*
        inverse(1 + H phi K) = 1 - H psi K
        inverse(mass_matrix) = (1 - H psi K)* inverse(D) (1 - H psi K).

    G. Rodriguez, A. Jain, K. Kreutz-Delgado, "Spatial operator algebra for multibody system dynamics", J. Astronautical
    Sciences 40(1), 1992; rotors by A. Jain, *Robot and Multibody Dynamics*, 2011.

    Attributes
    ----------
    H : ndarray (nv, 6N)
        The joint axes: velocities are phi* H* qd.
    phi : ndarray (..., 6N, 6N)
        The force on each body from forces on all: 1, and the transport from j to i where j is beyond i.
    M : ndarray (6N, 6N)
        The inertia of each body alone, on the diagonal.
    D : ndarray (..., nv, nv)
        The articulated inertia at each joint, on the diagonal (6x6 for a floating base).
    K : ndarray (..., 6N, nv)
        What a joint's articulated body shows to its parent per unit of effort left there.
    psi : ndarray (..., 6N, 6N)
        Phi with all joints free.
    R : ndarray (nv, nv)
        G^2 Jm, on the diagonal.
    B : ndarray (6N, nv)
        G Jm s: the angular momentum of each joint's rotor per unit of joint speed, relative to the body that carries it, in
        the rows of that body. Zero for motors without a carrier.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> made = arm.spatial_operators([0.0, 0.5])
    >>> made.H.shape, made.phi.shape, made.D.round(3)
    ((2, 12), (12, 12), array([[0.756, 0.   ],
           [0.   , 0.333]]))
    """

    H: FloatArray
    phi: FloatArray
    M: FloatArray
    D: FloatArray
    K: FloatArray
    psi: FloatArray
    R: FloatArray
    B: FloatArray


def spatial_operators(mechanism: Tree, q: npt.ArrayLike) -> SpatialOperators:
    """Build the operators of a mechanism at coordinates q (..., nq): see `SpatialOperators`.

    Raises
    ------
    ArgumentError
        Where loops are closed or joints follow others. Where q does not fit.
    ModelError
        Where a joint moves no inertia.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> arm, q = robots.planar_3r(), [0.1, 0.2, 0.3]
    >>> made = spatial_operators(arm, q)
    >>> half = np.eye(3) + made.H @ made.phi @ made.K
    >>> np.allclose(half @ made.D @ half.T, arm.mass_matrix(q), rtol=1e-12)
    True
    """
    mechanism.require_numbers("spatial_operators")
    if mechanism.loops:
        refuse_loops(mechanism, "spatial_operators")
    mechanism.require_no_length_inertias("spatial_operators")
    mechanism = separated(mechanism)
    if mechanism.coupled:
        subject = "joints that follow others"
        raise ArgumentError(f"{mechanism.name!r} has {subject}; the operators are those of trees whose joints are free")
    moving = moving_bodies(mechanism)
    check_inertia(mechanism)
    at = vectors("spatial_operators: q", q, mechanism.nq)
    bodies, batch = moving.bodies, at.shape[:-1]
    passed = _transports(mechanism, bodies, at)
    rotors = np.array(reflected_inertias(mechanism))
    frames = [np.eye(4) if body.link < 0 else moving.frames[body.link][1] for body in bodies]
    alone = [_inertia(body, frame) for body, frame in zip(bodies, frames, strict=True)]
    speeds = [slice(body.speed, body.speed + len(body.freedoms)) for body in bodies]
    axes = [_axes(body, frame) for body, frame in zip(bodies, frames, strict=True)]
    size, count = 6 * len(bodies), mechanism.nv
    h, m = np.zeros((count, size)), np.zeros((size, size))
    step = np.zeros((*batch, size, size))
    for i, body in enumerate(bodies):
        here = slice(6 * i, 6 * i + 6)
        h[speeds[i], here], m[here, here] = axes[i], alone[i]
        if body.parent >= 0:
            step[..., 6 * body.parent : 6 * body.parent + 6, here] = passed[i]
    spin = np.zeros((size, count))
    for rotor in moving.rotors:
        turn = np.asarray(frames[rotor.body][:3, :3], dtype=float).T
        spin[6 * rotor.body + 3 : 6 * rotor.body + 6, rotor.speed] += turn @ rotor.spin
    d, k = _eliminated(bodies, axes, passed, m, spin, np.diag(rotors))
    return SpatialOperators(h, _resolved(step), m, d, k, _resolved(step - k @ h), np.diag(rotors), spin)


def _eliminated(
    bodies: Sequence[Body],
    axes: Sequence[FloatArray],
    passed: Sequence[FloatArray],
    inertia: FloatArray,
    spin: FloatArray,
    rotors: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """D and K, by eliminating the joints one after the other from the tips to the base.

    What is left of the equations is kept as three matrices: forces on the bodies from their accelerations, which also are
    the joints' efforts from these, in `spin`, and the joints' efforts from their own accelerations. A rotor couples its
    joint with its carrier, wherever that is, so that bodies which are no neighbours may be coupled once it is eliminated.
    """
    batch, (size, count) = passed[0].shape[:-2], spin.shape
    a, b, r = (np.array(np.broadcast_to(operand, (*batch, *operand.shape))) for operand in (inertia, spin, rotors))
    d, k = np.zeros((*batch, count, count)), np.zeros((*batch, size, count))
    for i in reversed(range(len(bodies))):
        here, own = slice(6 * i, 6 * i + 6), slice(bodies[i].speed, bodies[i].speed + len(axes[i]))
        parent = slice(6 * bodies[i].parent, 6 * bodies[i].parent + 6) if bodies[i].parent >= 0 else slice(0, 0)
        force = a[..., :, here] @ axes[i].T + b[..., :, own]
        effort = r[..., :, own] + _transposed(b[..., here, :]) @ axes[i].T
        d[..., own, own] = axes[i] @ force[..., here, :] + effort[..., own, :]
        if bodies[i].parent >= 0:
            force[..., parent, :] += passed[i] @ force[..., here, :]
            a[..., parent, :] += passed[i] @ a[..., here, :]
            a[..., :, parent] += a[..., :, here] @ _transposed(passed[i])
            b[..., parent, :] += passed[i] @ b[..., here, :]
        force[..., here, :] = a[..., here, :] = b[..., here, :] = 0.0
        a[..., :, here] = 0.0
        effort[..., own, :] = r[..., own, :] = 0.0
        b[..., :, own] = r[..., :, own] = 0.0
        solved = np.linalg.inv(d[..., own, own])
        k[..., :, own] = _with_reactions(bodies[:i], axes, passed, force, effort) @ solved
        rows, columns = _occupied(force), _occupied(effort)
        some, few = force[..., rows, :], effort[..., columns, :]
        a[..., rows[:, None], rows] -= some @ solved @ _transposed(some)
        if columns.size:
            b[..., rows[:, None], columns] -= some @ solved @ _transposed(few)
            r[..., columns[:, None], columns] -= few @ solved @ _transposed(few)
    return d, k


def _with_reactions(
    bodies: Sequence[Body], axes: Sequence[FloatArray], passed: Sequence[FloatArray], force: FloatArray, effort: FloatArray
) -> FloatArray:
    """The forces on the bodies that leave these efforts at their joints.

    A rotor on a body beyond the joint that it drives acts on that joint without a force on a body between: the same as a
    pair of forces on the two bodies that the joint connects.
    """
    if not effort.any():
        return force
    result = force.copy()
    for m, body in enumerate(bodies):
        pair = axes[m].T @ np.linalg.solve(axes[m] @ axes[m].T, effort[..., body.speed : body.speed + len(axes[m]), :])
        result[..., 6 * m : 6 * m + 6, :] += pair
        if body.parent >= 0:
            result[..., 6 * body.parent : 6 * body.parent + 6, :] -= passed[m] @ pair
    return result


def _occupied(columns: FloatArray) -> npt.NDArray[np.int64]:
    """The rows that are not zero in all of a batch (..., rows, columns)."""
    return np.flatnonzero(columns.any(axis=(*range(columns.ndim - 2), -1)))


def _transposed(matrix: FloatArray) -> FloatArray:
    return np.swapaxes(matrix, -1, -2)


def _axes(body: Body, t_body_link: FloatArray) -> FloatArray:
    """S' (k, 6): the motions that the joint allows, in the link's frame."""
    back = np.asarray(inverse(t_body_link), dtype=float)
    turn, shift = back[:3, :3], back[:3, 3]
    pairs = [(turn @ f.linear, turn @ f.angular) for f in body.freedoms]
    return np.array([np.concatenate([linear + np.cross(shift, angular), angular]) for linear, angular in pairs])


def _inertia(body: Body, t_body_link: FloatArray) -> FloatArray:
    """The 6x6 inertia of a body about the origin of a frame on it, in its axes."""
    back = np.asarray(inverse(t_body_link), dtype=float)
    return np.asarray(spatial_inertia(back @ body.inertia @ back.T), dtype=float)


def _transports(mechanism: Tree, bodies: Sequence[Body], q: FloatArray) -> list[FloatArray]:
    """For each body, the matrix (..., 6, 6) that takes a force on it to its parent."""
    links = kernel_of(mechanism, "link_poses")(q)
    poses = {body.link: links[..., body.link, :, :] for body in bodies if body.link >= 0}
    if mechanism.floating:
        poses[-1] = np.apply_along_axis(partial(place, bodies[0], np.eye(4)), -1, q)
    results = []
    for body in bodies:
        parent = bodies[body.parent].link if body.parent >= 0 else None
        relative: Any = poses[body.link] if parent is None else np.linalg.solve(poses[parent], poses[body.link])
        results.append(_transport(relative))
    return results


def _transport(t: FloatArray) -> FloatArray:
    """[[R, 0], [p~ R, R]] (..., 6, 6): a force in the inner frame of T, as it is in the outer one."""
    rotation, p = t[..., :3, :3], t[..., :3, 3]
    result = np.zeros((*t.shape[:-2], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = rotation
    result[..., 3:, :3] = np.swapaxes(np.cross(p[..., None, :], np.swapaxes(rotation, -1, -2)), -1, -2)
    return result


def _resolved(step: FloatArray) -> FloatArray:
    """The inverse of 1 - E for a strictly block triangular E: every path from body to body, once."""
    return np.asarray(np.linalg.inv(np.eye(step.shape[-1]) - step), dtype=float)
