"""How a trajectory function makes its result: evaluated at the instants, checked against the limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.checks import ROUNDING, SAMPLES, closed, count, instants, limited, scalar
from linkwise.trajectory.state import Evaluator
from linkwise.trajectory.trajectory import Trajectory


def planned(t: FloatArray, evaluate: Evaluator, limits: Any, names: Sequence[str]) -> Trajectory:
    """Return the trajectory of an evaluator at instants (T,), which must stay within limits (n, 2) if any are given."""
    q, qd, qdd = closed(*evaluate(t))
    if not isinstance(names, (list, tuple)):
        raise ArgumentError(f"names is {shown(names)}; expected a sequence of words")
    made = Trajectory(t, q, qd, qdd, names=tuple(names), evaluate=evaluate)
    limited(limits, made.names, made.t, made.q)
    return made


def schedule(duration: float, t: Any, rate: Any) -> FloatArray:
    """Instants (T,) of a motion whose duration follows from its limits.

    Parameters
    ----------
    duration : float
        What the motion, or the longest of a batch, takes, s.
    t : (T,) array_like or None
        Instants; the motion begins at the first.
    rate : float or None
        Instants a second, from 0 to the first at which all is at rest. With neither, 101 instants over the duration.
    """
    if t is not None:
        if rate is not None:
            raise ArgumentError("t and rate are both given; expected one of them, or neither")
        made = instants(t)
        if made[-1] - made[0] < duration * (1.0 - 1e-12):
            raise ArgumentError(f"t lasts {made[-1] - made[0]:g} s; the motion takes {duration:.9g} s")
        return made
    if rate is None:
        return np.linspace(0.0, duration, SAMPLES if duration else 1)
    steps = math.ceil(duration * scalar("rate", rate, expected="instants a second, > 0") * (1.0 - 1e-12))
    return np.asarray(np.arange(steps + 1) / float(rate))


def instants_of(due: FloatArray, t: Any, samples: int | None) -> FloatArray:
    """Instants (T,) of a motion through points that are due at known times (K,): as given, or so many samples.

    With neither they are 101, or where there are more points the times of these.
    """
    if t is None:
        if samples is None and len(due) > SAMPLES and (np.diff(due) > 0.0).all():
            return due.copy()
        return np.linspace(due[0], due[-1], count(samples)) if due[-1] > due[0] else due[:1].copy()
    if samples is not None:
        raise ArgumentError("t and samples are both given; expected one of them, or neither")
    made = instants(t)
    room = ROUNDING * (due[-1] - due[0])
    if made[0] < due[0] - room or made[-1] > due[-1] + room:
        raise ArgumentError(f"t is from {made[0]:g} to {made[-1]:g} s; the motion lasts from {due[0]:g} to {due[-1]:g} s")
    return np.clip(made, due[0], due[-1])
