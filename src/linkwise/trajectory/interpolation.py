"""Interpolation of recorded motions: of joints, of a floating base, and of a frame."""

from __future__ import annotations

from functools import partial

import numpy as np

from linkwise.spatial.quaternion import conjugated, multiplied, quaternion_rotation, rotated, rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.trajectory.motion import Evaluator, State
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial


def interpolant(
    t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray, before: FloatArray | None = None, *, floating: bool
) -> Evaluator:
    """Return the quintic Hermite interpolant of a motion.

    Parameters
    ----------
    t : ndarray (m,) or (..., m, 1)
        Times, s.
    q, qd, qdd : ndarray (..., m, nq), (..., m, nv), (..., m, nv)
        Configuration, velocity and acceleration.
    before : ndarray (..., m - 1, nv), optional
        The acceleration at the end of each interval, where it jumps at the times.
    floating : bool
        Whether q begins with the position and quaternion of a base, and qd with its twist in its own axes.

    Examples
    --------
    >>> up_and_down = interpolant(  # accelerated by 2, then by -2
    ...     np.array([0.0, 1.0, 2.0]),
    ...     q=np.array([[0.0], [1.0], [2.0]]),
    ...     qd=np.array([[0.0], [2.0], [0.0]]),
    ...     qdd=np.array([[2.0], [-2.0], [-2.0]]),
    ...     before=np.array([[2.0], [-2.0]]),
    ...     floating=False,
    ... )
    >>> [value.tolist() for value in up_and_down(np.array([0.5, 1.0]))]
    [[[0.25], [1.0]], [[1.0], [2.0]], [[2.0], [-2.0]]]
    """
    if not floating:
        return PiecewisePolynomial(t, q, qd, qdd, before)
    u = _same_side(q[..., 3:7] / np.linalg.norm(q[..., 3:7], axis=-1, keepdims=True))
    if before is not None:
        before = _component_rates(u[..., 1:, :], qd[..., 1:, :], before)[1]
    x = np.concatenate((q[..., :3], u, q[..., 7:]), axis=-1)
    return partial(_floating_state, PiecewisePolynomial(t, x, *_component_rates(u, qd, qdd), before))


def pose_interpolant(t: FloatArray, poses: FloatArray, twist: FloatArray, acceleration: FloatArray) -> Evaluator:
    """Return the interpolant of poses (..., m, 4, 4), twists and accelerations (..., m, 6) in the axes of the poses.

    Position and quaternion are interpolated as those of a floating base.
    """
    u = rotation_quaternion(poses[..., :3, :3])
    back = conjugated(u)
    v, w, a, alpha = (
        rotated(back, values[..., part]) for values in (twist, acceleration) for part in (slice(0, 3), slice(3, 6))
    )
    q = np.concatenate((poses[..., :3, 3], u), axis=-1)
    rates = np.concatenate((v, w), axis=-1), np.concatenate((a - np.cross(w, v), alpha), axis=-1)
    return partial(_pose_state, interpolant(t, q, *rates, floating=True))


def _pose_state(body: Evaluator, time: FloatArray) -> State:
    """Poses (..., K, 4, 4), twists and accelerations (..., K, 6) of a frame that moves as a floating base."""
    q, qd, qdd = body(time)
    u, v, w = q[..., 3:7], qd[..., :3], qd[..., 3:6]
    rotation = np.moveaxis(quaternion_rotation(np.moveaxis(u, -1, 0)), (0, 1), (-2, -1))
    twist = np.concatenate((rotated(u, v), rotated(u, w)), axis=-1)
    derivatives = rotated(u, qdd[..., :3] + np.cross(w, v)), rotated(u, qdd[..., 3:6])
    return transforms(rotation, q[..., :3]), twist, np.concatenate(derivatives, axis=-1)


def _component_rates(u: FloatArray, qd: FloatArray, qdd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First and second derivatives (..., m, nq) of the coordinates, at unit quaternions u (..., m, 4)."""
    v, w, a, alpha = qd[..., :3], qd[..., 3:6], qdd[..., :3], qdd[..., 3:6]
    square = np.sum(w * w, axis=-1, keepdims=True)
    first = rotated(u, v), 0.5 * multiplied(u, np.insert(w, 0, 0.0, axis=-1))
    second = rotated(u, a + np.cross(w, v)), 0.5 * multiplied(u, np.insert(alpha, 0, 0.0, axis=-1)) - 0.25 * square * u
    return np.concatenate((*first, qd[..., 6:]), axis=-1), np.concatenate((*second, qdd[..., 6:]), axis=-1)


def _floating_state(components: PiecewisePolynomial, time: FloatArray) -> State:
    """Q (..., K, nq), qd and qdd (..., K, nv) of a motion with a floating base, of the interpolated coordinates.

    The quaternion is brought to unit length, and the twist is that of the result, so that qd and qdd are consistent with q.
    With u the quaternion as interpolated, of whatever length, the angular velocity in the body's axes is
    2 vec(u* u') / |u|^2 (J. B. Kuipers, *Quaternions and Rotation Sequences*, 1999, chapter 11, for |u| = 1; a change of
    length alone makes u* u' real).
    """
    x, xd, xdd = components(time)
    u, ud, udd = x[..., 3:7], xd[..., 3:7], xdd[..., 3:7]
    square = np.sum(u * u, axis=-1, keepdims=True)
    back = conjugated(u)
    w = 2.0 * multiplied(back, ud)[..., 1:] / square
    growth = np.sum(u * ud, axis=-1, keepdims=True)
    alpha = 2.0 * (multiplied(back, udd)[..., 1:] - growth * w) / square
    v = rotated(back, xd[..., :3])
    a = rotated(back, xdd[..., :3]) - np.cross(w, v)
    q = np.concatenate((x[..., :3], u / np.sqrt(square), x[..., 7:]), axis=-1)
    return q, np.concatenate((v, w, xd[..., 7:]), axis=-1), np.concatenate((a, alpha, xdd[..., 7:]), axis=-1)


def _same_side(u: FloatArray) -> FloatArray:
    """The quaternions (..., m, 4), each with the sign that brings it nearer to the one before: q and -q are one rotation."""
    turned = np.sum(u[..., 1:, :] * u[..., :-1, :], axis=-1) < 0.0
    flips = np.cumsum(turned, axis=-1) % 2
    signs = np.concatenate((np.ones((*u.shape[:-2], 1)), 1.0 - 2.0 * flips), axis=-1)
    return np.asarray(u * signs[..., None])
