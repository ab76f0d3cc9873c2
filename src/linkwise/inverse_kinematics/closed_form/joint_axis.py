"""One joint of a chain while its equations are being written: its axis, which what is known already may have moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain
from linkwise.inverse_kinematics.closed_form.subproblems import Turn, turned
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform

NO_TURN = Turn(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Axis:
    """The axis of one joint.

    Attributes
    ----------
    joint : int
        Which joint of the chain.
    frame : ndarray (3, 3)
        A rotation whose last column is the direction of the axis, of scalars.
    point : ndarray (3,)
        A point on the axis, m.
    slides : bool
        Whether the joint is prismatic.
    free : Turn or scalar
        What the joint does where every value would do.
    """

    joint: int
    frame: Array
    point: Array
    slides: bool
    free: Any = NO_TURN

    @property
    def along(self) -> Array:
        """The direction (3,)."""
        return self.frame[:, 2]

    @property
    def across(self) -> Array:
        """Two directions (3, 2) at right angles to it and to each other, right handed with it."""
        return self.frame[:, :2]

    def moved(self, displacement: Array) -> Axis:
        """The axis carried along by a displacement (4, 4)."""
        rotation, shift = displacement[:3, :3], displacement[:3, 3]
        return replace(self, frame=rotation @ self.frame, point=rotation @ self.point + shift)

    def rotation(self, value: Any) -> Array:
        """The rotation (3, 3) for a value of the joint: a `Turn`, or a length (m)."""
        if self.slides:
            return np.eye(3)
        across = self.frame @ np.array([[value.c, -value.s, 0.0], [value.s, value.c, 0.0], [0.0, 0.0, 1.0]], dtype=object)
        return np.asarray(across @ self.frame.T)

    def displacement(self, value: Any) -> Array:
        """The displacement (4, 4) for a value of the joint."""
        rotation = self.rotation(value)
        if self.slides:
            return transform(None, self.along * value)
        return transform(rotation, self.point - rotation @ self.point)

    def carried(self, value: Any, vector: Array) -> Array:
        """A direction (3,) as the joint turns it."""
        return vector if self.slides else turned(self.along, value, vector)


def axes_of(chain: AxisChain, free: Sequence[Any] | None = None) -> list[Axis]:
    """The joints of a chain; `free` has a value for each, 0 where it is left out."""
    values = free if free is not None else [0.0 if slides else NO_TURN for slides in chain.slides]
    return [
        Axis(joint, np.asarray(rotation_between((0.0, 0.0, 1.0), along)), point, slides, value)
        for joint, (along, point, slides, value) in enumerate(
            zip(chain.axes, chain.points, chain.slides, values, strict=True)
        )
    ]


def product(axes: Sequence[Axis], values: Sequence[Any]) -> Array:
    """The displacement (4, 4) of several joints, one after the other."""
    made = np.eye(4)
    for axis, value in zip(axes, values, strict=True):
        made = made @ axis.displacement(value)
    return made
