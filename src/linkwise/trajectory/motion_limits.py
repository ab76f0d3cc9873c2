"""Limits of a motion along a path, checked, and how much of each a motion takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers

JOINT_FIELDS = ("qd_max", "qdd_max", "tau_max")
TOOL_FIELDS = ("tool_speed", "tool_acceleration")


@dataclass(frozen=True)
class MotionLimits:
    """Limits of joints and tool for `time_optimal`; None stands for no limit.

    Parameters
    ----------
    qd_max, qdd_max, tau_max : float or (n,) array_like, optional
        Greatest joint velocities, accelerations and efforts, both ways; ``inf`` for a joint without.
    tool_speed, tool_acceleration : float, optional
        Greatest speed (m/s) and acceleration (m/s2) of the tool's origin.

    Examples
    --------
    >>> import linkwise as lw
    >>> MotionLimits.of(lw.robots.planar_2r().replace()) == MotionLimits()
    True
    """

    qd_max: Any = None
    qdd_max: Any = None
    tau_max: Any = None
    tool_speed: Any = None
    tool_acceleration: Any = None

    @classmethod
    def of(cls, mechanism: Tree) -> MotionLimits:
        """Those that the joints of a mechanism have."""
        values = {field: getattr(mechanism, field) for field in JOINT_FIELDS}
        return cls(**{field: value for field, value in values.items() if np.isfinite(value).any()})

    def checked(self, n: int, mechanism: Tree | None) -> dict[str, FloatArray]:
        """The limits that there are, those of joints (n,).

        Raises
        ------
        ArgumentError
            Where there is none at all, a value is negative or of a wrong shape, or one needs a mechanism.
        """
        limits = {}
        for field in JOINT_FIELDS + TOOL_FIELDS:
            value, expected = getattr(self, field), f"numbers >= 0, one or {n}" if field in JOINT_FIELDS else "a number > 0"
            if value is None:
                continue
            array = numbers(field, value, expected, finite=False)
            shapes = ((), (n,)) if field in JOINT_FIELDS else ((),)
            if array.shape not in shapes or not np.all(array >= 0.0) or (field in TOOL_FIELDS and not array > 0.0):
                raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
            if mechanism is None and field not in ("qd_max", "qdd_max"):
                raise ArgumentError(f"{field} needs the mechanism: time_optimal(path, mechanism, limits)")
            limits[field] = np.broadcast_to(array, (n,)) if field in JOINT_FIELDS else array
        if not any(np.isfinite(value).any() for value in limits.values()):
            raise ArgumentError(f"there is no limit; expected one or more of {', '.join(JOINT_FIELDS + TOOL_FIELDS)}")
        return limits
