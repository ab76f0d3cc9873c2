"""The universal joint: a turn about each of two axes that meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from linkwise.model.joints.joint import CompositeJoint, OneScrew, joint
from linkwise.model.joints.revolute import Revolute
from linkwise.spatial.scalar import FloatArray


@joint
@dataclass(frozen=True, eq=False)
class Universal(CompositeJoint):
    """Turns by q[0] about the first of two unit axes (2, 3), which the parent carries, then by q[1] about the second (rad).

    The axes are those where both angles are zero; they are not parallel.
    """

    kind: ClassVar[str] = "universal"
    letter: ClassVar[str] = "U"
    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    axes: ClassVar[int] = 2
    axis: FloatArray

    @property
    def parts(self) -> tuple[OneScrew, ...]:
        """Two revolute joints."""
        return Revolute(self.axis[0]), Revolute(self.axis[1])
