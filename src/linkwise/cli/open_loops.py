"""How far the loops of a mechanism are open at coordinates that were typed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwise.kinematics.closing import NEARLY, closing
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.model.table import number, plain
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism


def open_loops(mechanism: Mechanism, q: Sequence[float] | None) -> Iterator[str]:
    """Say of each loop that is open at the coordinates that were given, by how much."""
    if not mechanism.loops or q is None:
        return
    size = closing(mechanism).size
    rows = np.cumsum([0, *(CLOSURE_ROWS[loop.kind] for loop in mechanism.loops)])
    left, facing = (mechanism.kernel(name)(q) for name in ("closure", "closure_facing"))
    for k, loop in enumerate(mechanism.loops):
        part = left[rows[k] : rows[k + 1]]
        gap, turned = float(np.linalg.norm(part[:3])), _turned(loop.kind, part[3:], float(facing[k]))
        said = [f"{number(gap)} m"] * (gap > NEARLY * size) + [f"{number(turned)} rad"] * (turned > NEARLY)
        if said:
            yield f"loop {plain(loop.name) if loop.name else k + 1} is open by {' and '.join(said)}"


def _turned(kind: str, rows: FloatArray, facing: float) -> float:
    """The angle between the frames, or the axes of a hinge; a point asks for none."""
    size = float(np.linalg.norm(rows))
    return math.atan2(size, facing) if kind == "hinge" else 2.0 * math.asin(min(1.0, size / 2.0))
