"""The prismatic joint: a slide along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from linkwise.model.joints.joint import OneScrew, joint


@joint
@dataclass(frozen=True, eq=False)
class Prismatic(OneScrew):
    """Slides by q (m) along a unit axis (3,)."""

    kind: ClassVar[str] = "prismatic"
    letter: ClassVar[str] = "P"
    is_length: ClassVar[bool] = True
    dh_parameter: ClassVar[str | None] = "d"
    turn: ClassVar[float] = 0.0

    @property
    def advance(self) -> float:
        """1."""
        return 1.0
