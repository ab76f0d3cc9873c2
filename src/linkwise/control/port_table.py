"""The ports of a chain as a text for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from linkwise.control.ports import Ports

HEADS = ("port", "way", "kind", "unit", "value", "from")


def table(ports: Ports, names: Sequence[str]) -> str:
    """A line for each port: name, direction, kind, unit, value and the port that feeds it."""
    sources = ports.routes
    rows = [HEADS, *(_row(ports, name, sources.get(name, "")) for name in names)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _row(ports: Ports, name: str, source: str) -> tuple[str, str, str, str, str, str]:
    port, value = ports[name], ports.read(name)
    unit = "" if port.unit == "1" else port.unit
    said = _array(value) if isinstance(value, np.ndarray) else str(value)
    return name, port.direction, port.kind, unit, said, source


def _array(value: npt.NDArray[Any]) -> str:
    """A vector to six digits; a matrix row by row to three, for it is long, and what is rounding as zero."""
    if value.ndim == 1:
        return np.array2string(value, separator=" ", precision=6)
    rows = ["[" + " ".join(f"{round(number, 9) + 0.0:.3g}" for number in row) + "]" for row in value.tolist()]
    return "[" + " ".join(rows) + "]"
