"""The revolute joint: a turn about an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from linkwise.model.joints.joint import OneScrew, joint


@joint
@dataclass(frozen=True, eq=False)
class Revolute(OneScrew):
    """Turns by q (rad) about a unit axis (3,)."""

    kind: ClassVar[str] = "revolute"
    letter: ClassVar[str] = "R"
    periodic: ClassVar[bool] = True
    dh_parameter: ClassVar[str | None] = "theta"
