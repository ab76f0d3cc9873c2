"""The cylindrical joint: a turn about an axis, and a slide along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from linkwise.model.joints.joint import CompositeJoint, OneScrew, joint
from linkwise.model.joints.prismatic import Prismatic
from linkwise.model.joints.revolute import Revolute
from linkwise.spatial.scalar import FloatArray


@joint
@dataclass(frozen=True, eq=False)
class Cylindrical(CompositeJoint):
    """Turns by q[0] (rad) about a unit axis (3,), and slides by q[1] (m) along it."""

    kind: ClassVar[str] = "cylindrical"
    letter: ClassVar[str] = "C"
    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    suffixes: ClassVar[tuple[str, ...]] = ("_angle", "_distance")
    axis: FloatArray

    @property
    def parts(self) -> tuple[OneScrew, ...]:
        """A revolute and a prismatic joint."""
        return Revolute(self.axis), Prismatic(self.axis)
