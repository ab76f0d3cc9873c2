"""The result of `time_optimal`: a trajectory that knows which limit binds where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.least_clearance import LeastClearance
from linkwise.trajectory.path_dynamics import CHECKED, PathDynamics, along, share_of
from linkwise.trajectory.retimed import Retimed
from linkwise.trajectory.smoothed import Smoothed
from linkwise.trajectory.trajectory import Trajectory

#: What the limits of joints are called.
JOINT_WORDS = {
    "qd_max": "velocity",
    "qdd_max": "acceleration",
    "tau_max": "effort",
    "qddd_max": "jerk",
    "taud_max": "rate of effort",
}
OTHER_WORDS = {
    "tool_speed": "speed of the tool",
    "tool_acceleration": "acceleration of the tool",
    "linear_momentum": "momentum",
    "angular_momentum": "angular momentum",
}

#: Of limits whose shares differ by less than this the one that bound before is taken to bind.
EQUAL = 1e-4


class Binding(NamedTuple):
    """A limit that binds in a part of a motion.

    Attributes
    ----------
    name : str
        Name of the limit: ``"effort of shoulder"``.
    begin, end : float
        When, s.
    s0, s1 : float
        Where along the path.
    share : float
        The least of the shares of it that are taken in the intervals of that part.

    Examples
    --------
    >>> from linkwise.trajectory import MotionLimits, time_optimal
    >>> move = time_optimal([[0.0], [2.0]], limits=MotionLimits(qd_max=1.0, qdd_max=2.0), refinements=1)
    >>> limit = move.binding[1]
    >>> limit.name, round(limit.begin, 1), round(limit.end, 1), round(limit.share, 6)
    ('velocity of q1', 0.5, 2.0, 1.0)
    """

    name: str
    begin: float
    end: float
    s0: float
    s1: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class OptimalMotion(Trajectory):
    """A `Trajectory` along a path as fast as limits allow: see `time_optimal`.

    Attributes
    ----------
    limits : mapping of str to ndarray
        What it keeps.
    mechanism : Mechanism, optional
        The mechanism.
    stretch : ndarray (...)
        By what factors it was slowed in the end so that no limit is exceeded between nodes, its speeds at start and end with
        it; 1 with limits of velocity and acceleration alone.
    least_clearance : LeastClearance, optional
        Where `time_optimal` was given obstacles.

    Examples
    --------
    >>> from linkwise.trajectory import MotionLimits, time_optimal
    >>> move = time_optimal([[0.0, 0.0], [2.0, 1.0]], limits=MotionLimits(qd_max=1.0, qdd_max=2.0))
    >>> move.limit_names[:2], float(move.stretch), bool(move.usage.max() <= 1.0 + 1e-9)
    (('velocity of q1', 'velocity of q2'), 1.0, True)
    """

    limits: Mapping[str, FloatArray] = field(default_factory=dict)
    mechanism: Any = None
    stretch: FloatArray | float = 1.0
    least_clearance: LeastClearance | None = None

    @property
    def profile(self) -> Retimed:
        """The motion along the path: nodes ``pieces.s``, squared speeds ``x``, ``times`` of the nodes."""
        if not isinstance(self.evaluate, Retimed):
            raise ArgumentError("this motion has lost its path; time_optimal returns one that has it")
        return self.evaluate

    @property
    def durations(self) -> FloatArray:
        """What each motion of a batch takes (...), s; `duration` is that of the longest."""
        return np.asarray(self.profile.times[..., -1])

    def member(self, index: int | tuple[int, ...]) -> Self:
        """Return one motion, or a smaller batch, of a batch; its instants are those of the longest of the whole."""
        part = super().member(index)
        least = None if self.least_clearance is None else self.least_clearance.member(index)
        return replace(part, stretch=np.broadcast_to(self.stretch, self.batch)[index], least_clearance=least)

    @cached_property
    def limit_names(self) -> tuple[str, ...]:
        """The limits, in the order of the columns of `usage`."""
        names: list[str] = []
        for key in self.limits:
            names += [f"{JOINT_WORDS[key]} of {name}" for name in self.names] if key in JOINT_WORDS else [OTHER_WORDS[key]]
        return tuple(names)

    @cached_property
    def usage(self) -> FloatArray:
        """The greatest share (..., N, L) of each of L limits that is taken in each of N intervals of the path."""
        profile = self.profile
        if isinstance(profile, Smoothed):
            return profile.usage(self.limits, self.mechanism)
        _, qd, qdd = profile.pieces.motion(*along(profile, CHECKED))
        rates = {"qd_max": qd, "qdd_max": qdd}
        others = {key: value for key, value in self.limits.items() if key not in rates}
        dynamic = PathDynamics(profile.pieces, self.mechanism, others).used(profile) if others else {}
        columns = []
        for key, limit in self.limits.items():
            share = share_of(rates[key], limit).max(axis=-2) if key in rates else dynamic[key]
            columns.append(share if key in JOINT_WORDS else share[..., None])
        return np.concatenate(columns, axis=-1)

    @property
    def binding(self) -> list[Binding]:
        """Which limit is used most where, in order of time: intervals in a row with the same one are one part.

        Raises
        ------
        ArgumentError
            For a batch: take one `member`.
        """
        if self.batch:
            raise ArgumentError(f"binding is of one motion, not of a batch of shape {self.batch}; take a member(...)")
        usage, profile = self.usage, self.profile
        greatest = np.argmax(usage, axis=-1)
        for k in range(1, greatest.size):
            if usage[k, greatest[k - 1]] >= usage[k, greatest[k]] - EQUAL:
                greatest[k] = greatest[k - 1]
        starts = np.flatnonzero(np.diff(greatest, prepend=-1))
        parts = []
        for begin, end in zip(starts, [*starts[1:], greatest.size], strict=True):
            which, t, s = int(greatest[begin]), profile.times, profile.pieces.s
            share = float(usage[begin:end, which].min())
            ends = float(t[begin]), float(t[end]), float(s[begin]), float(s[end])
            parts.append(Binding(self.limit_names[which], *ends, share))
        return parts

    def plot_binding(self, title: str = "") -> Any:
        """Draw the speed along the path and the share of each limit that is taken against time.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ArgumentError
            For a batch.
        MissingExtraError
            Where matplotlib is not installed.
        """
        from linkwise.plot.limits import draw_binding

        return draw_binding(self, title)
