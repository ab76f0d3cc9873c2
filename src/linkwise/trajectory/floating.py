"""Interpolation of the motion of a floating base: position and quaternion, with the twist in the base's own axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.spatial.quaternion import conjugated, multiplied, rotated
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.hermite import Hermite


@dataclass(frozen=True, eq=False)
class FloatingHermite:
    """The quintic Hermite interpolant of a motion with a floating base.

    Position and quaternion are interpolated by their components, the quaternion is brought to unit length, and the
    twist is that of the result, so that qd and qdd are consistent with q. With u the quaternion as interpolated, of
    whatever length, the angular velocity in the body's axes is 2 vec(u* u') / |u|^2 (J. B. Kuipers, *Quaternions and
    Rotation Sequences*, 1999, chapter 11, for |u| = 1; a change of length alone makes u* u' real).

    Attributes
    ----------
    t : ndarray (m,)
        Times, s.
    q, qd, qdd : ndarray (..., m, nq), (..., m, nv), (..., m, nv)
        Configuration, twist and joint speeds, and their derivatives.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "_inner", Hermite(self.t, *coordinates(self.q, self.qd, self.qdd)))

    def __call__(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q (..., K, nq), qd and qdd (..., K, nv) at times (K,) within the nodes."""
        inner: Hermite = self.__dict__["_inner"]
        return twists(*inner(time))


def coordinates(q: FloatArray, qd: FloatArray, qdd: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Derivatives of the coordinates themselves, each (..., m, nq); neighbouring quaternions on the same side."""
    u = _same_side(q[..., 3:7] / np.linalg.norm(q[..., 3:7], axis=-1, keepdims=True))
    v, w, a, alpha = qd[..., :3], qd[..., 3:6], qdd[..., :3], qdd[..., 3:6]
    square = np.sum(w * w, axis=-1, keepdims=True)
    first = rotated(u, v), 0.5 * multiplied(u, _pure(w))
    second = rotated(u, a + np.cross(w, v)), 0.5 * multiplied(u, _pure(alpha)) - 0.25 * square * u
    joints = qd[..., 6:], qdd[..., 6:]
    return (
        np.concatenate((q[..., :3], u, q[..., 7:]), axis=-1),
        np.concatenate((*first, joints[0]), axis=-1),
        np.concatenate((*second, joints[1]), axis=-1),
    )


def twists(x: FloatArray, xd: FloatArray, xdd: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """From coordinates and their derivatives back to q, qd, qdd."""
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


def _pure(v: FloatArray) -> FloatArray:
    """The quaternion (0, v)."""
    return np.concatenate((np.zeros_like(v[..., :1]), v), axis=-1)
