"""The planar joint: slides in a plane, and a turn about its normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkwise.model.joints.joint import CompositeJoint, OneScrew, joint
from linkwise.model.joints.prismatic import Prismatic
from linkwise.model.joints.revolute import Revolute
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray


@joint
@dataclass(frozen=True, eq=False)
class Planar(CompositeJoint):
    """Slides by q[0] and q[1] (m) in the plane normal to a unit axis (3,), then turns by q[2] (rad) about it.

    The directions of the slides are the x and y axes of the parent, brought into the plane by the shortest turn of z onto
    the axis; they stay in the parent.
    """

    kind: ClassVar[str] = "planar"
    letter: ClassVar[str] = "E"
    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3
    suffixes: ClassVar[tuple[str, ...]] = ("_x", "_y", "_angle")
    axis: FloatArray

    @property
    def parts(self) -> tuple[OneScrew, ...]:
        """Two prismatic joints and a revolute one."""
        x, y, _ = np.asarray(rotation_between((0.0, 0.0, 1.0), self.axis)).T
        return Prismatic(x), Prismatic(y), Revolute(self.axis)
