"""The motion of a frame along straight legs, each turning about one axis, that may overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.trajectory.motion import State
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial

HALF_TURN = 1e-6
"""An angle that is so near to pi, rad, has no sure axis: the rounding of the poses decides which way round."""


@dataclass(frozen=True, eq=False)
class Ways:
    """What a frame does from each of K poses to the next: arrays (..., K - 1, ·).

    Attributes
    ----------
    position, rotation : ndarray (..., 3), (..., 3, 3)
        Where it begins.
    line : ndarray (..., K - 1, 3)
        From origin to origin, m.
    axis, angle : ndarray (..., K - 1, 3), (..., K - 1)
        What it turns about, in the axes of the leg's first pose, and by how much, rad.
    """

    position: FloatArray
    rotation: FloatArray
    line: FloatArray
    axis: FloatArray
    angle: FloatArray

    @classmethod
    def between(cls, poses: FloatArray) -> Ways:
        """Take them from poses (..., K, 4, 4); half turns are refused."""
        rotations = orthonormal(poses[..., :3, :3])
        relative = np.swapaxes(rotations[..., :-1, :, :], -1, -2) @ rotations[..., 1:, :, :]
        axis, angle = axis_and_angle(relative)
        if np.any(angle > np.pi - HALF_TURN):
            place = tuple(int(k) for k in np.argwhere(angle > np.pi - HALF_TURN)[0])
            where = f" in member {place[:-1]}" if place[:-1] else ""
            raise ArgumentError(
                f"poses {place[-1]} and {place[-1] + 1}{where} are half a turn apart, and which way round is not said; "
                "put a pose between them"
            )
        line = np.diff(poses[..., :3, 3], axis=-2)
        return cls(poses[..., 0, :3, 3], rotations[..., 0, :, :], line, axis, angle)

    @property
    def sizes(self) -> tuple[FloatArray, FloatArray]:
        """Length (m) and angle (rad) of the legs, each (..., K - 1)."""
        return np.linalg.norm(self.line, axis=-1), self.angle


@dataclass(frozen=True, eq=False)
class Legs:
    """Poses, twists and accelerations of a frame along straight legs.

    The origin is at p0 + sum of d_k s_k, the orientation R0 exp(f_1 s_1) exp(f_2 s_2) ..., f_k the turn of leg k. With
    w_k = R_k f_k s_k', R_k the product before leg k, the angular velocity is the sum of the w_k; its derivative the sum of
    R_k f_k s_k'' and (w_1 + ... + w_k-1) x w_k. This is exact, whether legs overlap or not.

    Attributes
    ----------
    ways : Ways
        The legs.
    progress : PiecewisePolynomial
        How far each is, 0 to 1 (..., legs).
    """

    ways: Ways
    progress: PiecewisePolynomial

    def __call__(self, time: FloatArray) -> State:
        """Return poses (..., K, 4, 4), twists and accelerations (..., K, 6) at times (K,)."""
        ways = self.ways
        s, sd, sdd = self.progress(time)
        position = ways.position[..., None, :] + s @ ways.line
        rotation = np.broadcast_to(ways.rotation[..., None, :, :], (*position.shape[:-1], 3, 3))
        w = wd = np.zeros_like(position)
        for k in range(ways.angle.shape[-1]):
            axis, angle = ways.axis[..., None, k, :], ways.angle[..., None, k]
            turn = (rotation @ (axis * angle[..., None])[..., None])[..., 0]
            relative = turn * sd[..., k, None]
            wd = wd + turn * sdd[..., k, None] + np.cross(w, relative)
            w = w + relative
            rotation = rotation @ turned(axis, angle * s[..., k])
        twist, acceleration = (np.concatenate(pair, axis=-1) for pair in ((sd @ ways.line, w), (sdd @ ways.line, wd)))
        return transforms(rotation, position), twist, acceleration


def orthonormal(rotation: FloatArray) -> FloatArray:
    """The rotation (..., 3, 3) nearest to a matrix that is one but for rounding, of its numbers as printed at worst.

    Two steps of Newton's iteration for the polar factor, R (3 - R'R) / 2 (N. J. Higham, *Functions of Matrices*, 2008,
    eq. 8.20): an error of 1e-6 becomes 1e-12, then 1e-24.
    """
    r = rotation
    for _ in range(2):
        r = 0.5 * r @ (3.0 * np.eye(3) - np.swapaxes(r, -1, -2) @ r)
    return np.asarray(r)


def cross_matrices(v: FloatArray) -> FloatArray:
    """The matrices (..., 3, 3) that take vectors to their cross products with v (..., 3), v on the left."""
    return np.swapaxes(np.cross(v[..., None, :], np.eye(3)), -1, -2)


def turned(axis: FloatArray, angle: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) about unit axes (..., 3) by angles (...), broadcast: Rodrigues' formula (O. Rodrigues, 1840)."""
    k = cross_matrices(axis)
    s, half = np.sin(angle)[..., None, None], np.sin(0.5 * angle)[..., None, None]
    return np.asarray(np.eye(3) + s * k + 2.0 * half**2 * (k @ k))
