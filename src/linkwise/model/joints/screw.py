"""The screw joint, a helical pair: a turn about an axis with an advance along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from linkwise.model.joints.joint import OneScrew, joint


@joint
@dataclass(frozen=True, eq=False)
class Screw(OneScrew):
    """Turns by q (rad) about a unit axis (3,), and advances by pitch q along it; pitch in m/rad."""

    kind: ClassVar[str] = "screw"
    letter: ClassVar[str] = "H"
    pitch: Any

    @property
    def advance(self) -> Any:
        """The pitch."""
        return self.pitch
