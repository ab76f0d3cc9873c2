"""The fixed joint: no motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkwise.model.joints.joint import Joint, OneScrew, joint
from linkwise.spatial.scalar import Array


@joint
@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """Holds the child in its place on the parent."""

    kind: ClassVar[str] = "fixed"
    letter: ClassVar[str] = "F"
    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0
    dh_parameter: ClassVar[str | None] = ""

    @property
    def screws(self) -> Array:
        """S' (0, 6)."""
        return np.zeros((0, 6))

    @property
    def parts(self) -> tuple[OneScrew, ...]:
        """None."""
        return ()

    def placement(self, q: Array) -> Array:
        """The identity (4, 4)."""
        return np.eye(4)
