"""The motion of a frame along straight legs, each turning about one axis, that may overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.parabolas import Parabolas
from linkwise.trajectory.state import State
from linkwise.trajectory.turn import orthonormal, turned

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
class Progress:
    """How far each leg is, 0 to 1, by the quintic blend from its start to its end; times (..., legs), s."""

    start: FloatArray
    end: FloatArray

    def __call__(self, time: FloatArray) -> State:
        """Return s and its derivatives (..., K, legs) at times (K,)."""
        h = (self.end - self.start)[..., None, :]
        still = h <= 0.0
        h = np.where(still, 1.0, h)
        since = time[:, None] - self.start[..., None, :]
        u = np.clip(np.where(still, since >= 0.0, since / h), 0.0, 1.0)
        rest = 1.0 - u
        s = np.where(u > 0.5, 1.0 - rest**3 * (10.0 - rest * (15.0 - 6.0 * rest)), u**3 * (10.0 - u * (15.0 - 6.0 * u)))
        return s, 30.0 * (u * rest) ** 2 / h, 60.0 * u * rest * (rest - u) / h**2


@dataclass(frozen=True, eq=False)
class Legs:
    """Poses, twists and accelerations of a frame whose legs progress as told.

    The origin is at p0 + sum of d_k s_k, the orientation R0 exp(f_1 s_1) exp(f_2 s_2) ..., f_k the turn of leg k. With
    w_k = R_k f_k s_k', R_k the product before leg k, the angular velocity is the sum of the w_k; its derivative the sum of
    R_k f_k s_k'' and (w_1 + ... + w_k-1) x w_k. This is exact, whether legs overlap or not.

    Attributes
    ----------
    ways : Ways
        The legs.
    progress : Progress or Parabolas
        How far each is.
    """

    ways: Ways
    progress: Progress | Parabolas

    def __call__(self, time: FloatArray) -> State:
        """Return poses (..., K, 4, 4), twists and accelerations (..., K, 6) at times (K,)."""
        ways = self.ways
        s, sd, sdd = self.progress(time)
        batch = np.broadcast_shapes(s.shape[:-1], (*ways.position.shape[:-1], 1))
        poses = np.zeros((*batch, 4, 4))
        poses[..., 3, 3] = 1.0
        poses[..., :3, 3] = ways.position[..., None, :] + s @ ways.line
        twist, acceleration = np.zeros((*batch, 6)), np.zeros((*batch, 6))
        twist[..., :3], acceleration[..., :3] = sd @ ways.line, sdd @ ways.line
        poses[..., :3, :3] = ways.rotation[..., None, :, :]
        for k in range(ways.angle.shape[-1]):
            self._turn(k, poses[..., :3, :3], twist[..., 3:], acceleration[..., 3:], (s[..., k], sd[..., k], sdd[..., k]))
        return poses, twist, acceleration

    def _turn(self, k: int, rotation: FloatArray, w: FloatArray, wd: FloatArray, progress: State) -> None:
        """Add leg k to rotation (..., K, 3, 3), angular velocity and acceleration (..., K, 3), in place."""
        axis, angle = self.ways.axis[..., None, k, :], self.ways.angle[..., None, k]
        s, sd, sdd = progress
        turn = (rotation @ (axis * angle[..., None])[..., None])[..., 0]
        own = turn * sd[..., None]
        wd += turn * sdd[..., None] + np.cross(w, own)
        w += own
        rotation[...] = rotation @ turned(axis, angle * s)
