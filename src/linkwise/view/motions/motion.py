"""A motion as it is shown: where the mechanism is at any time, what that takes, and its curves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.model.tree import BASE_EFFORTS
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Trajectory
from linkwise.view.curves import TURN, UNITS
from linkwise.view.motions.efforts import efforts_of
from linkwise.view.motions.given import given_motion
from linkwise.view.motions.remarks import remarks_on
from linkwise.view.thinned import Thinned

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

KINDS = ("position", "speed", "acceleration", "effort")


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """A motion of a mechanism. All times are s from its first instant.

    Attributes
    ----------
    mechanism : Mechanism
        What moves.
    trajectory : Trajectory
        How it moves.
    efforts : ndarray (T, nv) or None
        What it takes at each instant, N m or N: those recorded with the motion, else by inverse dynamics, friction included
        as in ``linkwise run``; with loops those of the driven coordinates. None where they are not known.
    why_no_efforts : str
        Why they are not, a sentence; empty where they are.
    remarks : tuple of str
        What is odd: joints outside their limits, loops that are open. The motion is shown as it is all the same.
    """

    mechanism: Mechanism
    trajectory: Trajectory
    efforts: FloatArray | None
    why_no_efforts: str
    remarks: tuple[str, ...]

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        motion: Any,
        *,
        external: npt.ArrayLike | None = None,
        driven: Any = None,
    ) -> Motion:
        """Take a motion from whatever holds it.

        Parameters
        ----------
        mechanism : Mechanism
            What moves.
        motion : Trajectory, str, Path, or tuple
            A trajectory; a file that ``linkwise run`` reads (.mot, .csv) or that `Trajectory.save` wrote (.npz); or
            ``(t, q)`` or ``(t, q, qd, qdd)``, with t (T,) in s, q (T, nq), qd and qdd (T, nv). Without qd and qdd both are
            taken from parabolas through three instants each, and with loops brought to what keeps them closed.
        external : (6,) array_like, optional
            Force (N) and moment (N m) that act on the tool, in tool axes.
        driven : sequence of int or str, optional
            Of a mechanism with loops, the coordinates that drive it; those with motors by default.

        Raises
        ------
        ArgumentError
            Where it does not fit the mechanism, is a batch, or holds what is no finite number.
        FileError
            Where a file cannot be read.

        Examples
        --------
        >>> from linkwise import robots, trajectory
        >>> arm = robots.planar_2r()
        >>> motion = Motion.of(arm, trajectory.quintic([0.0, 0.0], [1.0, 0.5], 2.0))
        >>> motion.duration, motion.efforts.shape[1], motion.remarks
        (2.0, 2, ())
        """
        mechanism.require_numbers("Motion")
        made, notes = given_motion(mechanism, motion)
        found = efforts_of(mechanism, made, external, driven)
        remarks = (*notes, *remarks_on(mechanism, made, found.efforts))
        return cls(mechanism, made, found.efforts, found.why_not, remarks)

    @cached_property
    def t(self) -> FloatArray:
        """The instants (T,), s from the first one."""
        return np.asarray(self.trajectory.t - self.trajectory.t[0])

    @property
    def q(self) -> FloatArray:
        """Coordinates (T, nq), rad or m."""
        return self.trajectory.q

    @property
    def qd(self) -> FloatArray:
        """Speeds (T, nv)."""
        return self.trajectory.qd

    @property
    def qdd(self) -> FloatArray:
        """Accelerations (T, nv)."""
        return self.trajectory.qdd

    @property
    def duration(self) -> float:
        """Time from the first instant to the last, s."""
        return self.trajectory.duration

    def at(self, time: float) -> FloatArray:
        """Coordinates (nq,) at a time, s from the first instant; those of the end that is nearer, beyond the ends.

        Raises
        ------
        ArgumentError
            Where the time is no number.

        Examples
        --------
        >>> from linkwise import robots
        >>> motion = Motion.of(robots.planar_2r(), ([0.0, 2.0], [[0.0, 0.0], [1.0, 0.5]]))
        >>> motion.at(1.0).round(9).tolist(), motion.at(9.0).tolist()
        ([0.5, 0.25], [1.0, 0.5])
        """
        t = self.trajectory.t
        if isnan(time):
            raise ArgumentError("time is nan; expected a number, in s")
        if time <= 0.0:
            return np.array(self.q[0])
        if time >= self.duration:
            return np.array(self.q[-1])
        return np.array(self.trajectory.at(min(float(t[0] + time), float(t[-1])))[0])

    def series(self, kind: str, most: int = 600) -> tuple[FloatArray, FloatArray, tuple[str, ...], tuple[str, ...]]:
        """The curves of one quantity, with few points, but with every peak.

        Parameters
        ----------
        kind : {"position", "speed", "acceleration", "effort"}
            Which.
        most : int
            Points of a curve at most; 4 or more.

        Returns
        -------
        t : ndarray (k,)
            s from the first instant, ascending.
        columns : ndarray (k, c)
            A column for each curve.
        names : tuple of str (c,)
            Of the coordinates.
        units : tuple of str (c,)
            Theirs; "quaternion" for its four numbers.

        Raises
        ------
        ArgumentError
            For another kind, too few points, or efforts where there are none, with the reason.

        Examples
        --------
        >>> from linkwise import robots
        >>> motion = Motion.of(robots.planar_2r(), ([0.0, 2.0], [[0.0, 0.0], [1.0, 0.5]]))
        >>> motion.series("position")[2:]
        (('link1', 'link2'), ('rad', 'rad'))
        """
        if kind not in KINDS:
            raise ArgumentError(f"kind is {shown(kind)}; expected {choices(KINDS)}")
        if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 4:
            raise ArgumentError(f"most is {shown(most)}; expected a whole number >= 4")
        if kind == "effort" and self.efforts is None:
            raise ArgumentError(f"there are no efforts: {self.why_no_efforts}")
        values = {"position": self.q, "speed": self.qd, "acceleration": self.qdd, "effort": self.efforts}[kind]
        assert values is not None
        t, columns = _thinned(self.t, np.asarray(values), int(most))
        return t, columns, self._names(kind), self._units(kind)

    def _names(self, kind: str) -> tuple[str, ...]:
        mech = self.mechanism
        if kind == "effort":
            return (BASE_EFFORTS if mech.floating else ()) + mech.names
        return mech.coordinate_names if kind == "position" else mech.speed_names

    def _units(self, kind: str) -> tuple[str, ...]:
        turns, slides = UNITS[kind]
        base = (slides,) * 3 + ((TURN,) * 4 if kind == "position" else (turns,) * 3)
        joints = tuple(slides if slide else turns for slide in self.mechanism.slides)
        return (base if self.mechanism.floating else ()) + joints

    def __repr__(self) -> str:
        efforts = "with efforts" if self.efforts is not None else "without efforts"
        return f"<Motion of {self.mechanism.name!r}: {len(self.trajectory)} instants, {self.duration:g} s, {efforts}>"


def motion_of(mechanism: Mechanism, motion: Motion | Trajectory | str | Path | tuple[Any, ...], **options: Any) -> Motion:
    """The motion itself where it is one of this mechanism already, else `Motion.of`."""
    if isinstance(motion, Motion):
        return motion if motion.mechanism is mechanism else Motion.of(mechanism, motion.trajectory, **options)
    return Motion.of(mechanism, motion, **options)


def trajectory_of(mechanism: Mechanism, motion: Motion | Trajectory | str | Path | tuple[Any, ...]) -> Trajectory:
    """How a mechanism moves, from whatever holds a motion: what `Motion.of` takes, or a `Motion`.

    Raises
    ------
    ArgumentError
        Where it does not fit the mechanism, is a batch, or holds what is no finite number.
    FileError
        Where a file cannot be read.
    """
    return given_motion(mechanism, motion.trajectory if isinstance(motion, Motion) else motion)[0]


def _thinned(t: FloatArray, values: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """At most so many points: all of them, or both extremes of stretches of time."""
    if len(t) <= most:
        return t, values
    kept = Thinned(values.shape[1], most // 2)
    kept.add(t, values)
    return kept.points()
