"""Limits of a motion along a path, validated, and the share of each that a motion uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers

#: Limits of joints: of the first and second order, and those of the third, which `time_optimal` keeps by smoothing.
JOINT_FIELDS = ("qd_max", "qdd_max", "tau_max")
JERK_FIELDS = ("qddd_max", "taud_max")

TOOL_FIELDS = ("tool_speed", "tool_acceleration")
MOMENTUM_FIELDS = ("linear_momentum", "angular_momentum")


@dataclass(frozen=True)
class MotionLimits:
    """Limits of joints and tool for `time_optimal`; None means no limit.

    Parameters
    ----------
    qd_max, qdd_max, tau_max : float or (n,) array_like, optional
        Greatest joint velocities, accelerations and efforts, both ways; ``inf`` for a joint without.
    qddd_max, taud_max : float or (n,) array_like, optional
        Greatest joint jerks and rates of efforts, both ways; those of efforts where friction reverses do not count.
    tool_speed, tool_acceleration : float, optional
        Greatest speed (m/s) and acceleration (m/s2) of the tool's origin.
    linear_momentum, angular_momentum : float or (3,) array_like, optional
        Greatest momentum of the mechanism (kg m/s), and angular momentum about its centre of mass (kg m2/s): its size, or
        both ways along each axis of the world.

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
    qddd_max: Any = None
    taud_max: Any = None
    linear_momentum: Any = None
    angular_momentum: Any = None

    @classmethod
    def of(cls, mechanism: Tree) -> MotionLimits:
        """Limits of a mechanism's joints."""
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
        joints, plain = JOINT_FIELDS + JERK_FIELDS, ("qd_max", "qdd_max", "qddd_max")
        for field in joints + TOOL_FIELDS + MOMENTUM_FIELDS:
            value, expected = getattr(self, field), "a number > 0"
            shapes: list[tuple[int, ...]] = [()]
            if field in joints:
                shapes, expected = [(), (n,)], f"numbers >= 0, one or {n}"
            elif field in MOMENTUM_FIELDS:
                shapes, expected = [(), (3,)], "a number > 0, or three"
            if value is None:
                continue
            array, least = numbers(field, value, expected, finite=False), field in JOINT_FIELDS
            if array.shape not in shapes or not np.all(array >= 0.0 if least else array > 0.0):
                expected = expected if least else expected.replace(">=", ">")
                raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
            if mechanism is None and field not in plain:
                raise ArgumentError(f"{field} needs the mechanism: time_optimal(path, mechanism, limits)")
            limits[field] = np.broadcast_to(array, (n,)) if field in joints else array
        if not any(np.isfinite(value).any() for value in limits.values()):
            fields = ", ".join(JOINT_FIELDS + TOOL_FIELDS + MOMENTUM_FIELDS)
            raise ArgumentError(f"there is no limit; expected one or more of {fields}")
        return limits
