"""The motion of a frame in time: what the Cartesian trajectory functions return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.batch import place_in
from linkwise.trajectory.checks import within
from linkwise.trajectory.state import OfMember, State


@dataclass(frozen=True, eq=False, repr=False)
class CartesianTrajectory:
    """Poses, twists and accelerations of a frame at T instants, and between them.

    `cartesian` and `cartesian_through` make them.

    Attributes
    ----------
    t : ndarray (T,)
        Time, s, ascending.
    poses : ndarray (..., T, 4, 4)
        Where the frame is, in the frame that the given poses are in.
    twist : ndarray (..., T, 6)
        Velocity of its origin (m/s), then angular velocity (rad/s), in the axes that the poses are in: the product of the
        Jacobian (``frame="base"``) and the joint speeds.
    acceleration : ndarray (..., T, 6)
        The derivative of the twist: of the origin (m/s2), then angular (rad/s2).
    evaluate : callable
        Takes times (K,) within those of t and returns the three (..., K, ...); what `at` uses.
    """

    t: FloatArray
    poses: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    evaluate: Callable[[FloatArray], State]

    @classmethod
    def made(cls, t: FloatArray, evaluate: Callable[[FloatArray], State]) -> CartesianTrajectory:
        """Evaluate at instants (T,)."""
        arrays = (np.asarray(t, dtype=np.float64), *evaluate(t))
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays, evaluate)

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch shape ``...``; () for one motion."""
        return tuple(self.twist.shape[:-2])

    @property
    def duration(self) -> float:
        """Time from the first instant to the last, s."""
        return float(self.t[-1] - self.t[0])

    def __len__(self) -> int:
        return int(self.t.size)

    def __repr__(self) -> str:
        span = f"{len(self)} instants from {self.t[0]:g} to {self.t[-1]:g} s" if len(self) > 1 else f"at {self.t[0]:g} s"
        return f"<CartesianTrajectory: {span}{f', batch {self.batch}' if self.batch else ''}>"

    def at(self, time: npt.ArrayLike) -> State:
        """Return pose (..., 4, 4), twist and acceleration (..., 6) at any time of the motion, exactly.

        With times (K,) instead of one the shapes are (..., K, 4, 4) and (..., K, 6).

        Raises
        ------
        ArgumentError
            For a time before the first instant or after the last.

        Examples
        --------
        >>> from linkwise.trajectory import cartesian
        >>> from linkwise.spatial.transform import translation
        >>> pose, twist, _ = cartesian(np.eye(4), translation(x=2.0), 1.0).at(0.5)
        >>> pose[:3, 3].tolist(), twist.tolist()
        ([1.0, 0.0, 0.0], [3.75, 0.0, 0.0, 0.0, 0.0, 0.0])
        """
        times = within(time, self.t)
        poses, twist, acceleration = self.evaluate(np.atleast_1d(times))
        return (
            (poses, twist, acceleration) if times.ndim else (poses[..., 0, :, :], twist[..., 0, :], acceleration[..., 0, :])
        )

    def member(self, index: int | tuple[int, ...]) -> CartesianTrajectory:
        """Return one motion, or a smaller batch, of a batch.

        Raises
        ------
        ArgumentError
            Where there is no such motion.
        """
        place = place_in(self.batch, index)
        values = {field: getattr(self, field)[place] for field in ("poses", "twist", "acceleration")}
        return replace(self, **values, evaluate=OfMember(self.evaluate, place))

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
        from linkwise.trajectory.drawing import draw_cartesian

        return draw_cartesian(self, title)

    def save(self, path: str | Path) -> None:
        """Write t, poses, twist and acceleration to an ``.npz``, whole or not at all.

        Raises
        ------
        FileError
            Where the suffix is another or the file cannot be written.
        """
        from linkwise.trajectory.saving import save_cartesian

        save_cartesian(self, path)
