"""Motions as they are shown: conversion from trajectories, files and arrays; positions, efforts, curves and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics import closed_inverse_dynamics
from linkwise.errors import ArgumentError, LinkwiseError, shown
from linkwise.files import open_motion
from linkwise.files.motion import positions
from linkwise.loops.loop_solver import NEARLY, closing
from linkwise.model.formatting.table import plain
from linkwise.model.quantities import names
from linkwise.model.tree import Tree
from linkwise.plot.curves import TURN, UNITS
from linkwise.plot.downsample import Thinned
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, number_within, numbers
from linkwise.trajectory import Trajectory
from linkwise.view.scene.layout import evaluate

DERIVED = "velocities and accelerations are computed from the positions, by parabolas through three instants each"


def given_motion(mechanism: Tree, motion: Any) -> tuple[Trajectory, tuple[str, ...]]:
    """Trajectory with the mechanism's names, and remarks on its computation."""
    notes: tuple[str, ...] = ()
    if isinstance(motion, Trajectory):
        trajectory = motion
    elif isinstance(motion, (str, Path)):
        trajectory, notes = _of_file(mechanism, Path(motion))
    elif isinstance(motion, (tuple, list)) and len(motion) in {2, 4}:
        trajectory, notes = _of_arrays(mechanism, *motion)
    else:
        expected = "expected a Trajectory, the path of a .mot, .csv or .npz, (t, q) or (t, q, qd, qdd)"
        raise ArgumentError(f"motion is {shown(motion)}; {expected}{_without_times(mechanism, motion)}")
    if trajectory.batch:
        raise ArgumentError(
            f"motion is a batch of shape {trajectory.batch}; expected one motion, such as trajectory.member(0)"
        )
    trajectory = trajectory.of(mechanism)
    wrong = ~np.all([np.isfinite(part).all(axis=1) for part in (trajectory.q, trajectory.qd, trajectory.qdd)], axis=0)
    if wrong.any():
        at = float(trajectory.t[int(np.argmax(wrong))])
        raise ArgumentError(f"motion is not finite at t = {at:g} s; until(...) cuts it before")
    _oriented(mechanism, trajectory.t, trajectory.q)
    return trajectory, notes


def _without_times(mechanism: Tree, motion: Any) -> str:
    """Describe the missing data if there are only configurations."""
    try:
        shape = np.shape(motion)
    except ValueError:
        return ""
    alone = len(shape) == 2 and shape[1] == mechanism.nq
    return f"; configurations alone have no times: (t, q) with the {shape[0]} times t, s" if alone else ""


def _oriented(mechanism: Tree, t: FloatArray, q: FloatArray) -> None:
    """Refuse quaternions of zeros."""
    for joint in mechanism.manifold_joints:
        turned = q[:, joint.quaternion].any(axis=1)
        if not turned.all():
            at, of = float(t[int(np.argmin(turned))]), "its base" if joint.link < 0 else f"joint {joint.name!r}"
            raise ArgumentError(f"motion has the quaternion 0, 0, 0, 0 of {of} at t = {at:g} s; expected one of norm 1")


def _of_file(mechanism: Tree, path: Path) -> tuple[Trajectory, tuple[str, ...]]:
    if path.suffix.lower() == ".npz":
        return Trajectory.load(path), ()
    if path.suffix.lower() == ".csv":
        alone = positions(path, mechanism.n, mechanism.names, floating=mechanism.manifold_joints)
        if alone is not None:
            return _of_arrays(mechanism, *alone)
    joints = mechanism.manifold_joints
    return Trajectory(*open_motion(path, mechanism.n, mechanism.names, floating=joints).read(), manifold_joints=joints), ()


def _of_arrays(mechanism: Tree, t: Any, q: Any, qd: Any = None, qdd: Any = None) -> tuple[Trajectory, tuple[str, ...]]:
    times, at = numbers("motion: t", t, "times (T,)"), numbers("motion: q", q, f"real numbers (T, {mechanism.nq})")
    if times.ndim != 1 or at.shape != (len(times), mechanism.nq) or not len(times):
        raise ArgumentError(
            f"motion: t and q have the shapes {times.shape} and {at.shape}; expected (T,) and (T, {mechanism.nq})"
        )
    if not (np.diff(times) > 0.0).all():
        raise ArgumentError("motion: the times t do not ascend")
    if qd is not None or qdd is not None:
        return Trajectory(times, at, qd, qdd, manifold_joints=mechanism.manifold_joints), ()
    _oriented(mechanism, times, at)
    rates, rises = _derived(mechanism, times, at)
    return Trajectory(times, at, rates, rises, manifold_joints=mechanism.manifold_joints), (DERIVED,)


def _derived(mechanism: Tree, t: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Velocities and accelerations (T, nv) of the parabola through each instant and its neighbours."""
    if len(t) == 1:
        return np.zeros((1, mechanism.nv)), np.zeros((1, mechanism.nv))
    steps = np.diff(t)[:, None]
    between = kernel_of(mechanism, "difference")(q[:-1], q[1:]) / steps
    if len(t) == 2:
        return np.repeat(between, 2, axis=0), np.zeros((2, mechanism.nv))
    before, after = steps[:-1], steps[1:]
    rises = 2.0 * np.diff(between, axis=0) / (before + after)
    inner = (after * between[:-1] + before * between[1:]) / (before + after)
    first = between[:1] - 0.5 * steps[:1] * rises[:1]
    last = between[-1:] + 0.5 * steps[-1:] * rises[-1:]
    rates, rises = np.concatenate([first, inner, last]), np.concatenate([rises[:1], rises, rises[-1:]])
    return _kept_closed(mechanism, q, rates, rises) if mechanism.loops else (rates, rises)


def _kept_closed(mechanism: Tree, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The nearest velocities and accelerations that keep closed loops closed: J qd = 0, J qdd + bias = 0."""
    task = closing(mechanism)
    units = np.ones(mechanism.nv)
    units[task.speeds] = task.columns
    jac = evaluate(mechanism, "closure_jacobian", q) * task.rows[:, None] * units
    back = np.linalg.pinv(jac, rcond=NEARLY) * units[:, None]
    speeds = qd - np.einsum("tvk,tk->tv", back, np.einsum("tkv,tv->tk", jac, qd / units))
    bias = evaluate(mechanism, "closure_bias", q, speeds) * task.rows
    return speeds, qdd - np.einsum("tvk,tk->tv", back, np.einsum("tkv,tv->tk", jac, qdd / units) + bias)


KINDS = {"position": "q", "velocity": "qd", "acceleration": "qdd", "effort": "tau"}

#: Relative tolerance of a joint's limits, for rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ShownMotion:
    """A motion of a mechanism. All times are s from its first instant.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
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

    mechanism: Tree
    trajectory: Trajectory
    efforts: FloatArray | None
    why_no_efforts: str
    remarks: tuple[str, ...]

    @classmethod
    def of(
        cls,
        mechanism: Tree,
        motion: Any,
        *,
        external: npt.ArrayLike | None = None,
        driven: Any = None,
    ) -> ShownMotion:
        """Convert any representation of a motion.

        Parameters
        ----------
        mechanism : Mechanism
            The mechanism.
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
            Where it does not fit the mechanism, is a batch, or holds what is not a finite number.
        FileError
            Where a file cannot be read.

        Examples
        --------
        >>> from linkwise import robots, trajectory
        >>> arm = robots.planar_2r()
        >>> motion = ShownMotion.of(arm, trajectory.quintic([0.0, 0.0], [1.0, 0.5], 2.0))
        >>> motion.duration, motion.efforts.shape[1], motion.remarks
        (2.0, 2, ())
        """
        mechanism.require_numbers("Motion")
        trajectory, notes = given_motion(mechanism, motion)
        efforts, why_none = efforts_of(mechanism, trajectory, external, driven)
        remarks = (*notes, *remarks_on(mechanism, trajectory, efforts))
        return cls(mechanism, trajectory, efforts, why_none, remarks)

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
            Where the time is not a number.

        Examples
        --------
        >>> from linkwise import robots
        >>> motion = ShownMotion.of(robots.planar_2r(), ([0.0, 2.0], [[0.0, 0.0], [1.0, 0.5]]))
        >>> motion.at(1.0).round(9).tolist(), motion.at(9.0).tolist()
        ([0.5, 0.25], [1.0, 0.5])
        """
        t = self.trajectory.t
        if math.isnan(time):
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
        kind : {"position", "velocity", "acceleration", "effort"}
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
            Names of the coordinates.
        units : tuple of str (c,)
            Theirs; "quaternion" for its four numbers.

        Raises
        ------
        ArgumentError
            For another kind, too few points, or efforts where there are none, with the reason.

        Examples
        --------
        >>> from linkwise import robots
        >>> motion = ShownMotion.of(robots.planar_2r(), ([0.0, 2.0], [[0.0, 0.0], [1.0, 0.5]]))
        >>> motion.series("position")[2:]
        (('link1', 'link2'), ('rad', 'rad'))
        """
        choice("kind", kind, KINDS)
        number_within("most", most, 4, math.inf, "a whole number >= 4", whole=True)
        if kind == "effort" and self.efforts is None:
            raise ArgumentError(f"there are no efforts: {self.why_no_efforts}")
        values = {"position": self.q, "velocity": self.qd, "acceleration": self.qdd, "effort": self.efforts}[kind]
        assert values is not None
        t, columns = _thinned(self.t, np.asarray(values), int(most))
        return t, columns, names(self.mechanism, KINDS[kind]), self._units(kind)

    def _units(self, kind: str) -> tuple[str, ...]:
        angle, length = UNITS[kind]
        base = (length,) * 3 + ((TURN,) * 4 if kind == "position" else (angle,) * 3)
        joints = tuple(length if is_length else angle for is_length in self.mechanism.is_length)
        return (base if self.mechanism.floating else ()) + joints

    def __repr__(self) -> str:
        efforts = "with efforts" if self.efforts is not None else "without efforts"
        return f"<Motion of {self.mechanism.name!r}: {len(self.trajectory)} instants, {self.duration:g} s, {efforts}>"


#: Whatever holds a motion.
MotionLike = ShownMotion | Trajectory | str | Path | tuple[Any, ...]


def motion_of(mechanism: Tree, motion: MotionLike, **options: Any) -> ShownMotion:
    """The motion itself where it is one of this mechanism already, else `ShownMotion.of`."""
    if isinstance(motion, ShownMotion):
        return motion if motion.mechanism is mechanism else ShownMotion.of(mechanism, motion.trajectory, **options)
    return ShownMotion.of(mechanism, motion, **options)


def trajectory_of(mechanism: Tree, motion: MotionLike) -> Trajectory:
    """Trajectory from any representation of a motion: the arguments of `ShownMotion.of`, or a `ShownMotion`.

    Raises
    ------
    ArgumentError
        Where it does not fit the mechanism, is a batch, or holds what is not a finite number.
    FileError
        Where a file cannot be read.
    """
    return given_motion(mechanism, motion.trajectory if isinstance(motion, ShownMotion) else motion)[0]


def _thinned(t: FloatArray, values: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Downsample to a number of points: all, or both extremes of each interval."""
    if len(t) <= most:
        return t, values
    kept = Thinned(values.shape[1], most // 2)
    kept.add(t, values)
    return kept.points()


# ── what it takes, and what is odd about it ───────────────────────────────────────────────────────


def efforts_of(
    mechanism: Tree, motion: Trajectory, external: npt.ArrayLike | None = None, driven: Any = None
) -> tuple[FloatArray | None, str]:
    """The efforts (T, nv) of a motion, N m or N; None where they are not known, and why.

    They are those recorded with it, else those of inverse dynamics; with loops those of the driven coordinates.
    """
    if motion.tau is not None:
        return motion.tau, ""
    if massless(mechanism):
        return None, f"no masses are given for {mechanism.name!r}"
    states = (motion.q, motion.qd, motion.qdd)
    if not mechanism.loops:
        name = "inverse_dynamics" if external is None else "inverse_dynamics_external"
        return np.asarray(evaluate(mechanism, name, *states, *(() if external is None else (external,)))), ""
    if driven is None and not mechanism.drives:
        return None, f"{mechanism.name!r} has loops and no motors, so its driven coordinates are unknown"
    try:
        efforts = closed_inverse_dynamics(mechanism, *states, driven, external, name="actuator_efforts")[0]
    except LinkwiseError as error:
        return None, str(error).removeprefix("closed_inverse_dynamics: ")
    return efforts, ""


def massless(mechanism: Tree) -> bool:
    """True if there are no masses, so that there are no dynamics."""
    bodies = [*(link.body for link in mechanism.links), mechanism.payload]
    return all(body.is_zero for body in bodies) and not any(drive.motor.mass for drive in mechanism.drives)


def remarks_on(mechanism: Tree, motion: Trajectory, efforts: FloatArray | None) -> tuple[str, ...]:
    """Joints outside their limits or faster than they may be, loops that are open, efforts that are no numbers."""
    endless = efforts is not None and not np.isfinite(efforts).all()
    last = ("some efforts are not finite numbers",) if endless else ()
    return (*_beyond(mechanism, motion), *_open(mechanism, motion), *last)


def _beyond(mechanism: Tree, motion: Trajectory) -> Iterator[str]:
    joints = motion.q[:, mechanism.nq - mechanism.n :]
    speeds = np.abs(motion.qd[:, mechanism.nv - mechanism.n :])
    low, high = mechanism.q_min, mechanism.q_max
    slack = ROUNDING * np.maximum(1.0, np.nan_to_num(np.maximum(np.abs(low), np.abs(high)), posinf=1.0))
    outside = ((joints < low - slack) | (joints > high + slack)).sum(axis=0)
    fast = (speeds > mechanism.qd_max * (1.0 + ROUNDING)).sum(axis=0)
    for name, where, quick in zip(mechanism.names, outside.tolist(), fast.tolist(), strict=True):
        if where:
            yield f"joint {plain(name)!r} is outside its limits at {where:,} of {len(motion):,} instants"
        if quick:
            yield f"joint {plain(name)!r} is faster than its limit at {quick:,} of {len(motion):,} instants"


def _open(mechanism: Tree, motion: Trajectory) -> Iterator[str]:
    if not mechanism.loops:
        return
    task = closing(mechanism)
    error = np.atleast_1d(task.error(motion.q))
    count = int((~(error <= NEARLY)).sum())
    if count:
        worst = int(np.argmax(error))
        time, most = float(motion.t[worst] - motion.t[0]), float(error[worst])
        yield (
            f"the loops are open at {count:,} of {len(motion):,} instants, most by {most:.2g} of the longest offset"
            f" ({task.size:g} m) or rad, at {time:g} s"
        )
