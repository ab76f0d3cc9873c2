"""Cartesian trajectories: straight lines of a frame, its orientation turning about one axis, with blends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.rotation import rotations_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.spatial.validation import choice, common_batch, first_place, numbers, rigid_poses
from linkwise.trajectory.motion import Evaluator, Motion, State, pose_interpolant
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial
from linkwise.trajectory.trapezoidal import TrapezoidalProfile, motion_of, quickest
from linkwise.trajectory.validation import closed, grid, instants, instants_of, record, scalar, schedule


@dataclass(frozen=True, eq=False, repr=False)
class CartesianTrajectory(Motion):
    """Poses, twists and accelerations of a frame at T instants, and between them.

    `cartesian` and `cartesian_through` make them, `load` reads one.

    Attributes
    ----------
    t : ndarray (T,)
        Time, s, ascending.
    poses : ndarray (..., T, 4, 4)
        Where the frame is, in the frame that the given poses are in.
    twist : ndarray (..., T, 6)
        Velocity of its origin (m/s), then angular velocity (rad/s), in the axes that the poses are in: the product of the
        Jacobian (``frame="world"``) and the joint velocities.
    acceleration : ndarray (..., T, 6)
        The derivative of the twist: of the origin (m/s2), then angular (rad/s2).
    evaluate : callable, optional
        Takes times (K,) within those of t and returns the three (..., K, ...); what `at` uses. Where there is none, the
        quintic Hermite interpolant of the samples, in position and quaternion, takes its place.

    Raises
    ------
    ArgumentError
        Where the shapes do not fit, or the times do not ascend.

    Notes
    -----
    Arrays are copied, but for those that are closed to writing together with what they are views of; those of the
    trajectory are closed to writing.

    Examples
    --------
    >>> import numpy as np
    >>> still = CartesianTrajectory([0.0, 1.0], [np.eye(4)] * 2, np.zeros((2, 6)), np.zeros((2, 6)))
    >>> still.at(0.5)[0].tolist() == np.eye(4).tolist()
    True
    """

    STATE: ClassVar = {"poses": 2, "twist": 1, "acceleration": 1}

    t: FloatArray
    poses: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    evaluate: Evaluator | None = None

    def __post_init__(self) -> None:
        values = {"t": instants(self.t)}
        values |= {field: record(field, getattr(self, field)) for field in self.STATE}
        shapes = [values[field].shape for field in self.STATE]
        count = values["t"].size
        if shapes[0][-3:] != (count, 4, 4) or not shapes[1] == shapes[2] == (*shapes[0][:-2], 6):
            raise ArgumentError(
                f"poses, twist and acceleration have the shapes {shapes[0]}, {shapes[1]} and {shapes[2]}; expected "
                f"(..., {count}, 4, 4), and (..., {count}, 6) for the other two"
            )
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @classmethod
    def made(cls, t: FloatArray, evaluate: Evaluator) -> CartesianTrajectory:
        """The trajectory of an evaluator at instants (T,)."""
        poses, twist, acceleration = closed(*evaluate(t))
        return cls(t, poses, twist, acceleration, evaluate)

    def __repr__(self) -> str:
        return f"<CartesianTrajectory: {self._span}{f', batch {self.batch}' if self.batch else ''}>"

    def at(self, time: npt.ArrayLike) -> State:
        """Return pose (..., 4, 4), twist and acceleration (..., 6) at any time of the motion.

        A planned trajectory is evaluated exactly, a recorded one interpolated, with an error of the poses that falls as the
        sixth power of the interval, as in `Trajectory.at`. With times (K,) instead of one the shapes are (..., K, 4, 4) and
        (..., K, 6).

        Raises
        ------
        ArgumentError
            For a time before the first instant or after the last.

        Examples
        --------
        >>> from linkwise.trajectory import cartesian
        >>> from linkwise.spatial.transform import translation
        >>> import numpy as np
        >>> pose, twist, _ = cartesian(np.eye(4), translation(x=2.0), 1.0).at(0.5)
        >>> pose[:3, 3].tolist(), twist.tolist()
        ([1.0, 0.0, 0.0], [3.75, 0.0, 0.0, 0.0, 0.0, 0.0])
        """
        return self._at(time)

    @cached_property
    def _interpolant(self) -> Evaluator:
        return pose_interpolant(self.t, self.poses, self.twist, self.acceleration)

    def plot(self, title: str = "") -> Any:
        """Draw position and orientation, velocities and accelerations against time; nothing is shown or blocked.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ArgumentError
            For a batch: draw one `member`.
        MissingExtraError
            Where matplotlib is not installed.
        """
        from linkwise.plot.curves import draw_cartesian

        return draw_cartesian(self, title)

    def save(self, path: str | Path) -> None:
        """Write t, poses, twist and acceleration to an ``.npz``, whole or not at all; `load` reads it.

        Raises
        ------
        FileError
            Where the suffix is another or the file cannot be written.
        """
        from linkwise.trajectory.trajectory import save_frame

        save_frame(self, path)

    @staticmethod
    def load(path: str | Path, *, max_bytes: int | None = None) -> CartesianTrajectory:
        """Read a file of `save`. Between the instants the motion is then interpolated, see `at`.

        Parameters
        ----------
        path : str or Path
            The file.
        max_bytes : int, optional
            How much it may hold: 96 MiB of arrays, or eight times its own size where that is more, if left out.

        Raises
        ------
        ArgumentError
            Where max_bytes is no positive whole number.
        FileError
            Where it cannot be read, or holds something else.
        """
        from linkwise.trajectory.trajectory import load

        return load(CartesianTrajectory, path, max_bytes)


#: An angle this near to pi, rad, has an uncertain axis: the rounding of the poses decides its sense.
HALF_TURN = 1e-6


@dataclass(frozen=True, eq=False)
class Legs:
    """Motion of a frame between each two of K poses: arrays (..., K - 1, ·).

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
    def between(cls, poses: FloatArray) -> Legs:
        """Take them from poses (..., K, 4, 4); half turns are refused."""
        rotations = orthonormal(poses[..., :3, :3])
        relative = np.swapaxes(rotations[..., :-1, :, :], -1, -2) @ rotations[..., 1:, :, :]
        axis, angle = axis_and_angle(relative)
        if np.any(angle > np.pi - HALF_TURN):
            place = first_place(angle > np.pi - HALF_TURN)
            where = f" in member {place[:-1]}" if place[:-1] else ""
            raise ArgumentError(
                f"poses {place[-1]} and {place[-1] + 1}{where} are half a turn apart: the rotation is ambiguous; "
                "put a pose between them"
            )
        line = np.diff(poses[..., :3, 3], axis=-2)
        return cls(poses[..., 0, :3, 3], rotations[..., 0, :, :], line, axis, angle)

    @property
    def sizes(self) -> tuple[FloatArray, FloatArray]:
        """Length (m) and angle (rad) of the legs, each (..., K - 1)."""
        return np.linalg.norm(self.line, axis=-1), self.angle

    def state(self, progress: PiecewisePolynomial, time: FloatArray) -> State:
        """Return poses (..., K, 4, 4), twists and accelerations (..., K, 6) at times (K,).

        The origin is at p0 + sum of d_k s_k, s_k the progress of leg k from 0 to 1.
        """
        s, sd, sdd = progress(time)
        rotation, w, wd = self.turning(s, sd, sdd)
        twist, acceleration = (np.concatenate(pair, axis=-1) for pair in ((sd @ self.line, w), (sdd @ self.line, wd)))
        return transforms(rotation, self.position[..., None, :] + s @ self.line), twist, acceleration

    def turning(self, s: FloatArray, sd: FloatArray, sdd: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return rotations (..., 3, 3), angular velocities and accelerations (..., 3) for the progress (..., K - 1) of legs.

        The orientation is R0 exp(f_1 s_1) exp(f_2 s_2) ..., f_k the turn of leg k and s_k its progress from 0 to 1. With
        w_k = R_k f_k s_k', R_k the product before leg k, the angular velocity is the sum of the w_k; its derivative the sum
        of R_k f_k s_k'' and (w_1 + ... + w_k-1) x w_k. This is exact, whether legs overlap or not.
        """
        batch = np.broadcast_shapes((*self.angle.shape[:-1], 1), s.shape[:-1])
        rotation = np.broadcast_to(self.rotation[..., None, :, :], (*batch, 3, 3))
        w = wd = np.zeros((*batch, 3))
        for k in range(self.angle.shape[-1]):
            axis, angle = self.axis[..., None, k, :], self.angle[..., None, k]
            turn = (rotation @ (axis * angle[..., None])[..., None])[..., 0]
            relative = turn * sd[..., k, None]
            wd = wd + turn * sdd[..., k, None] + np.cross(w, relative)
            w = w + relative
            rotation = rotation @ rotations_about(axis, angle * s[..., k])
        return rotation, w, wd


def orthonormal(rotation: FloatArray) -> FloatArray:
    """The rotation (..., 3, 3) nearest to a matrix that is one but for rounding, of its numbers as printed at worst.

    Two steps of Newton's iteration for the polar factor, R (3 - R'R) / 2 (N. J. Higham, *Functions of Matrices*, 2008,
    eq. 8.20): an error of 1e-6 becomes 1e-12, then 1e-24.
    """
    r = rotation
    for _ in range(2):
        r = 0.5 * r @ (3.0 * np.eye(3) - np.swapaxes(r, -1, -2) @ r)
    return np.asarray(r)


PROFILES = ("quintic", "trapezoidal")

#: Parts of a leg at given times with trapezoidal velocity: a third each for acceleration and braking.
SHARE = 1.0 / 3.0


def cartesian(
    T0: npt.ArrayLike,
    T1: npt.ArrayLike,
    t: npt.ArrayLike | None = None,
    *,
    samples: int | None = None,
    profile: str = "quintic",
    speed: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    rate: float | None = None,
) -> CartesianTrajectory:
    """Move a frame from pose to pose, at rest at both: its origin on a straight line, its orientation about one axis.

    With s from 0 to 1, the origin is at p0 + (p1 - p0) s and the orientation is R0 exp(s log(R0' R1)), the shortest turn
    (K. Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985: slerp).

    Parameters
    ----------
    T0, T1 : (..., 4, 4) array_like
        Rigid poses in one frame; batch axes broadcast. Orientations half a turn apart, which have no shortest turn, are
        refused: use `cartesian_through` with a pose between.
    t : float or (T,) array_like, optional
        The duration, s, from 0; or instants, ascending, of which the first is the beginning and the last the end.
        With speed and acceleration: instants by the last of which the motion must be over.
    samples : int, optional
        Number of instants; 101 unless given.
    profile : {"quintic", "trapezoidal"}
        How s grows: smoothly, or with constant accelerations. In a given duration the trapezoid starts for a third of it and
        brakes for a third.
    speed, acceleration : (2,) array_like, optional
        Instead of a duration: greatest speed of the origin (m/s) and of turning (rad/s), greatest acceleration (m/s2,
        rad/s2). The motion is as fast as all four allow the profile to be.
    rate : float, optional
        With speed and acceleration, instead of t: instants a second.

    Returns
    -------
    CartesianTrajectory
        Poses, twists and their derivatives.

    Raises
    ------
    ArgumentError
        Where a pose is not rigid, the orientations are half a turn apart, or times and limits do not fit.

    Examples
    --------
    >>> from linkwise.spatial.rotation import rotation_z
    >>> from linkwise.spatial.transform import transform
    >>> move = cartesian(np.eye(4), transform(rotation_z(1.0), [2.0, 0.0, 0.0]), 4.0)
    >>> move
    <CartesianTrajectory: 101 instants from 0 to 4 s>
    >>> pose, twist, _ = move.at(2.0)
    >>> pose[:3, 3].tolist(), twist.round(6).tolist()
    ([1.0, 0.0, 0.0], [0.9375, 0.0, 0.0, 0.0, 0.0, 0.46875])
    """
    first, last = rigid_poses("T0", T0), rigid_poses("T1", T1)
    common_batch(T0=first.shape[:-2], T1=last.shape[:-2])
    poses = np.stack(np.broadcast_arrays(first, last), axis=-3)
    choice("profile", profile, PROFILES)
    lines = Legs.between(poses)
    if speed is not None or acceleration is not None:
        if samples is not None:
            raise ArgumentError("samples goes with a duration; speed and acceleration go with t or rate")
        law = _quickest_legs(lines, profile, speed, acceleration)
        longest = float(np.max(law.duration, initial=0.0))
        time = schedule(longest, t, rate)
        return _along(lines, time, profile, law, time[0] + 0.0 * law.duration)
    if t is None or rate is not None:
        raise ArgumentError("give t, or speed and acceleration with t or rate or neither")
    time = grid(t, samples)
    start, duration = np.asarray(time[:1]), np.asarray(time[-1:] - time[:1])
    return _along(lines, time, profile, _thirds(duration), start)


def cartesian_through(
    poses: npt.ArrayLike,
    times: npt.ArrayLike | None = None,
    *,
    blend: float = 0.0,
    profile: str = "quintic",
    speed: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    t: npt.ArrayLike | None = None,
    samples: int | None = None,
) -> CartesianTrajectory:
    """Move a frame through several poses on straight lines, with a stop at each, or with blends from line to line.

    Each leg is as in `cartesian`. Where legs overlap, their motions add up: the origin cuts the corner smoothly, and the
    turns are carried out one after the other, exp(f1 s1) exp(f2 s2). The pose itself is then not met.

    Parameters
    ----------
    poses : (..., K, 4, 4) array_like
        Rigid poses, K >= 2, two neighbours less than half a turn apart.
    times : (K,) array_like, optional
        When each is due, s, ascending.
    blend : float
        How long two legs overlap at an inner pose, s: half of it before the pose's time the next leg begins, half of it
        after that time the leg before ends. 0 stops at each pose. At most the duration of the shortest leg.
    profile : {"quintic", "trapezoidal"}
        How each leg proceeds, see `cartesian`.
    speed, acceleration : (2,) array_like, optional
        Instead of times, without blends: the limits of the origin and of turning, see `cartesian`. A batch shares the
        times.
    t : (T,) array_like, optional
        Instants within times; unless given, so many from the first to the last as samples says, or 101, or where there are
        more way-points the times of these.
    samples : int, optional
        Number of instants, in the place of t.

    Returns
    -------
    CartesianTrajectory

    Raises
    ------
    ArgumentError
        Where a pose is not rigid, neighbours are half a turn apart, or times, limits and blend do not fit.

    Examples
    --------
    >>> from linkwise.spatial.transform import translation
    >>> square = [translation(), translation(1.0), translation(1.0, 1.0)]
    >>> cartesian_through(square, [0.0, 1.0, 2.0]).at(1.0)[0][:3, 3].tolist()
    [1.0, 0.0, 0.0]
    >>> cartesian_through(square, [0.0, 1.0, 2.0], blend=0.5).at(1.0)[0][:3, 3].round(3).tolist()
    [0.942, 0.058, 0.0]
    """
    stations = rigid_poses("poses", poses)
    if stations.ndim < 3 or stations.shape[-3] < 2:
        raise ArgumentError(f"poses has the shape {stations.shape}; expected (..., K, 4, 4), K >= 2")
    choice("profile", profile, PROFILES)
    lines = Legs.between(stations)
    law: TrapezoidalProfile | None = None
    if times is None:
        law = _quickest_legs(lines, profile, speed, acceleration)
        legs = np.max(law.duration.reshape(-1, law.duration.shape[-1]), axis=0)
        due = np.concatenate(([0.0], np.cumsum(legs)))
        law = law.stretched(legs)
    else:
        if speed is not None or acceleration is not None:
            raise ArgumentError("times and limits of speed and acceleration are both given; expected one of them")
        due = instants(times, "times", least=2)
        if due.size != stations.shape[-3]:
            raise ArgumentError(f"there are {due.size} times for {stations.shape[-3]} poses")
    early, late = _overlap(due, blend, times is None)
    law = law or _thirds(late - early)
    return _along(lines, instants_of(due, t, samples), profile, law, early)


def _overlap(due: FloatArray, blend: Any, limited: bool) -> tuple[FloatArray, FloatArray]:
    """Begin and end of each leg, each (K - 1,)."""
    half = 0.5 * scalar("blend", blend, above=-1e-300, expected="a time >= 0, s")
    shortest = float(np.min(np.diff(due)))
    if half and limited:
        raise ArgumentError("blend goes with times; under limits of speed and acceleration the motion stops at each pose")
    if 2.0 * half > shortest:
        raise ArgumentError(f"blend is {2.0 * half:g}; expected at most {shortest:g} s, the duration of the shortest leg")
    early, late = due[:-1].copy(), due[1:].copy()
    early[1:] -= half
    late[:-1] += half
    return early, late


def _along(lines: Legs, time: FloatArray, profile: str, law: TrapezoidalProfile, start: FloatArray) -> CartesianTrajectory:
    """Return the motion along lines whose legs begin at start and follow the law, each (..., K - 1)."""
    zero = 0.0 * law.duration
    if profile == "trapezoidal":
        progress = motion_of(law, zero, zero + 1.0, start, law.duration)
    else:
        times = np.stack(np.broadcast_arrays(start + zero, start + law.duration), axis=-2)
        s, at_rest = np.stack((zero, zero + 1.0), axis=-2), np.stack((zero, zero), axis=-2)
        progress = PiecewisePolynomial(times, s, at_rest, at_rest)
    return CartesianTrajectory.made(time, partial(lines.state, progress))


def _quickest_legs(lines: Legs, profile: str, speed: Any, acceleration: Any) -> TrapezoidalProfile:
    """The quickest law of each leg (..., K - 1) from 0 to 1 under limits of the origin and of turning."""
    limits = []
    for field, value in (("speed", speed), ("acceleration", acceleration)):
        if value is None:
            raise ArgumentError("give times, or both speed and acceleration")
        expected = "two numbers > 0: of the origin and of turning"
        limit = numbers(field, value, expected)
        if limit.shape != (2,) or not np.all(limit > 0):
            raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
        limits.append(limit)
    length, angle = lines.sizes
    moves = (length > 0) | (angle > 0)
    with np.errstate(divide="ignore"):
        v, a = (np.where(moves, np.minimum(top[0] / length, top[1] / angle), 1.0) for top in limits)
    if profile == "trapezoidal":
        return quickest(moves.astype(np.float64), v, a, a)
    return _thirds(np.where(moves, np.maximum(15.0 / 8.0 / v, np.sqrt(10.0 / np.sqrt(3.0) / a)), 0.0))


def _thirds(duration: FloatArray) -> TrapezoidalProfile:
    """Profile from 0 to 1 in a given time: a third of it each for acceleration, cruising and braking."""
    part = SHARE * duration
    top = 1.0 / np.where(duration > 0, duration - part, 1.0)
    steep = top / np.where(duration > 0, part, 1.0)
    return TrapezoidalProfile(part, duration - 2.0 * part, part, top, steep, steep)
