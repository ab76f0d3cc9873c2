"""Conversion of trajectories, files and arrays to a trajectory of the mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.files import open_motion
from linkwise.files.motion import positions
from linkwise.kinematics import difference
from linkwise.loops.loop_solver import NEARLY, closing
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers
from linkwise.trajectory import Trajectory
from linkwise.view.scene import evaluate

DERIVED = "speeds and accelerations are taken from the positions, by parabolas through three instants each"


def given_motion(mechanism: Tree, motion: Any) -> tuple[Trajectory, tuple[str, ...]]:
    """The trajectory, named as the mechanism is, and what is to be said of how it came about."""
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
        raise ArgumentError(f"motion holds what is no finite number at t = {at:g} s; until(...) cuts it before")
    _oriented(mechanism, trajectory.t, trajectory.q)
    return trajectory, notes


def _without_times(mechanism: Tree, motion: Any) -> str:
    """What is missing where configurations alone are given."""
    try:
        shape = np.shape(motion)
    except ValueError:
        return ""
    alone = len(shape) == 2 and shape[1] == mechanism.nq
    return f"; configurations alone have no times: (t, q) with the {shape[0]} times t, s" if alone else ""


def _oriented(mechanism: Tree, t: FloatArray, q: FloatArray) -> None:
    """Refuse a base that floats without an orientation."""
    turned = q[:, 3:7].any(axis=1)
    if mechanism.floating and not turned.all():
        at = float(t[int(np.argmin(turned))])
        raise ArgumentError(f"motion has the quaternion 0, 0, 0, 0 of its base at t = {at:g} s; expected one of norm 1")


def _of_file(mechanism: Tree, path: Path) -> tuple[Trajectory, tuple[str, ...]]:
    if path.suffix.lower() == ".npz":
        return Trajectory.load(path), ()
    if path.suffix.lower() == ".csv":
        alone = positions(path, mechanism.n, mechanism.names, floating=mechanism.floating)
        if alone is not None:
            return _of_arrays(mechanism, *alone)
    return Trajectory(*open_motion(path, mechanism.n, mechanism.names, floating=mechanism.floating).read()), ()


def _of_arrays(mechanism: Tree, t: Any, q: Any, qd: Any = None, qdd: Any = None) -> tuple[Trajectory, tuple[str, ...]]:
    times, at = numbers("motion: t", t, "times (T,)"), numbers("motion: q", q, f"real numbers (T, {mechanism.nq})")
    if times.ndim != 1 or at.shape != (len(times), mechanism.nq) or not len(times):
        raise ArgumentError(
            f"motion: t and q have the shapes {times.shape} and {at.shape}; expected (T,) and (T, {mechanism.nq})"
        )
    if not (np.diff(times) > 0.0).all():
        raise ArgumentError("motion: the times t do not ascend")
    if qd is not None or qdd is not None:
        return Trajectory(times, at, qd, qdd), ()
    _oriented(mechanism, times, at)
    rates, rises = _derived(mechanism, times, at)
    return Trajectory(times, at, rates, rises), (DERIVED,)


def _derived(mechanism: Tree, t: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Speeds and accelerations (T, nv) of the parabola through each instant and its neighbours."""
    if len(t) == 1:
        return np.zeros((1, mechanism.nv)), np.zeros((1, mechanism.nv))
    steps = np.diff(t)[:, None]
    between = difference(mechanism, q[:-1], q[1:]) / steps
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
    """The nearest speeds and accelerations that keep closed loops closed: J qd = 0, J qdd + bias = 0."""
    task = closing(mechanism)
    units = np.concatenate([np.ones(mechanism.nv - mechanism.n), task.columns])
    jac = evaluate(mechanism, "closure_jacobian", q) * task.rows[:, None] * units
    back = np.linalg.pinv(jac, rcond=NEARLY) * units[:, None]
    speeds = qd - np.einsum("tvk,tk->tv", back, np.einsum("tkv,tv->tk", jac, qd / units))
    bias = evaluate(mechanism, "closure_bias", q, speeds) * task.rows
    return speeds, qdd - np.einsum("tvk,tk->tv", back, np.einsum("tkv,tv->tk", jac, qdd / units) + bias)
