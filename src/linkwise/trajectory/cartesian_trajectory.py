"""`CartesianTrajectory`: the motion of a frame in time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.interpolation import pose_interpolant
from linkwise.trajectory.motion import Evaluator, Motion, State
from linkwise.trajectory.validation import closed, instants, record


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
        Jacobian (``frame="world"``) and the joint speeds.
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
        """Draw position and orientation, speeds and accelerations against time; nothing is shown or blocked.

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
        from linkwise.plot.trajectory import draw_cartesian

        return draw_cartesian(self, title)

    def save(self, path: str | Path) -> None:
        """Write t, poses, twist and acceleration to an ``.npz``, whole or not at all; `load` reads it.

        Raises
        ------
        FileError
            Where the suffix is another or the file cannot be written.
        """
        from linkwise.trajectory.saving import save_frame

        save_frame(self, path)

    @staticmethod
    def load(path: str | Path, *, max_bytes: int | None = None) -> CartesianTrajectory:
        """Read what `save` wrote. Between the instants it is then interpolated, see `at`.

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
        from linkwise.trajectory.saving import load

        return load(CartesianTrajectory, path, max_bytes)
