"""Where the tool of a mechanism stands at a configuration, and which joints are outside their limits there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.model.limits import resting
from linkwise.model.table import number, plain
from linkwise.spatial.rotation import rotation_to_rpy

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

OUTSIDE = 1e-9
"""A coordinate this far beyond a limit (rad or m) is outside; less is rounding."""

ROUNDING = 1e-12
"""A coordinate of the tool (m or degrees) smaller than this is printed as zero."""


def tool_text(mechanism: Mechanism, q: Sequence[float]) -> str:
    """Say where the tool stands in the world at q (nq,): its origin, m, and roll, pitch and yaw, degrees.

    Examples
    --------
    >>> from linkwise import robots
    >>> tool_text(robots.planar_2r(), [0.0, np.pi / 2])
    'tool at 1 1 0 m, roll 0° pitch 0° yaw 90°'
    """
    pose = mechanism.forward_kinematics(q)
    at = " ".join(_cell(value) for value in pose[:3, 3].tolist())
    turns = zip(("roll", "pitch", "yaw"), np.degrees(rotation_to_rpy(pose[:3, :3])).tolist(), strict=True)
    return f"tool at {at} m, {' '.join(f'{name} {_cell(angle)}°' for name, angle in turns)}"


def tool_facts(mechanism: Mechanism, q: Sequence[float]) -> dict[str, Any]:
    """Say it for programs: position (3,), m, roll, pitch and yaw (3,), rad, and T_world_tool (4, 4)."""
    pose = mechanism.forward_kinematics(q)
    return {"position": pose[:3, 3], "rpy": rotation_to_rpy(pose[:3, :3]), "matrix": pose}


def outside(mechanism: Mechanism, q: Sequence[float] | None) -> Iterator[str]:
    """Say which joints are outside their limits at q (nq,); without q, which would be at zero, and where they are shown."""
    joints = slice(mechanism.nq - mechanism.n, mechanism.nq)
    given = np.asarray(mechanism.neutral if q is None else q, dtype=float)[joints]
    drawn = resting(mechanism)[joints]
    for name, slides, value, limits, shown in zip(
        mechanism.names, mechanism.slides, given, np.asarray(mechanism.limits), drawn, strict=True
    ):
        low, high = limits.tolist()
        if low - OUTSIDE <= value <= high + OUTSIDE:
            continue
        unit = "m" if slides else "rad"
        said = f"{plain(name)} {number(value)} is outside {number(low)} .. {number(high)} {unit}"
        yield said if q is not None or shown == value else f"{said}; without --q it is shown at {number(shown)}"


def _cell(value: float) -> str:
    return number(0.0 if abs(value) < ROUNDING else value)
