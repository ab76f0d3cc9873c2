"""Springs, dampers and end stops on joint coordinates in steps over their rows.

The rows of a spring over several joints follow one another, a strand for each joint: lengths are added up inward to the
first, and its tension passes outward.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.expr.derivative import derivative
from linkwise.expr.evaluate import substitute
from linkwise.expr.node import symbol
from linkwise.model.spring import EndStop, ForceElement, Spring
from linkwise.sweeps.drivers import Row, Sweeps

_SPRING, _STOP = Spring("joint"), EndStop("joint", 0.0)


def element_of(row: Row) -> ForceElement | None:
    """The element on the numbers of a row; None of a strand that is not the first."""
    names = {"spring": ("stiffness", "rest", "damping", "force"), "stop": ("stiffness", "damping")}.get(row.kind.name)
    if names is None:
        return None
    numbers: dict[str, Any] = {name: row.number(name)[()] for name in names}
    if row.kind.name == "spring":
        return _SPRING.unchecked(**numbers)
    return _STOP.unchecked(**numbers, limits=(row.number("low")[()], row.number("high")[()]))


def measure_lengths(sweeps: Sweeps, *, rates: bool = True) -> None:
    """Set "length" (1,) of every row, and "rate": of the first row of a spring those of the whole spring."""

    def outward(row: Row) -> None:
        ratio = row.number("ratio")[()]
        row["length"] = np.array([ratio * row.read("q")[0] + row.number("shift")[()]])
        if rates:
            row["rate"] = np.array([ratio * row.read("qd")[0]])

    def inward(row: Row) -> None:
        for name in ("length", "rate") if rates else ("length",):
            row.parent.add(name, row[name])

    sweeps.outward(outward, "springs")
    sweeps.inward(inward, "springs")


def add_spring_efforts(sweeps: Sweeps, array: str, sense: float = 1.0) -> None:
    """Add what springs take to an array (nv,), or take it off."""

    def outward(row: Row) -> None:
        element = element_of(row)
        if element is None:
            row["tension"] = row.parent["tension"]
        else:
            row["tension"] = np.array([element.tension(row["length"][0], row["rate"][0])])
        row.write(array, [sense * (row.number("ratio")[()] * row["tension"][0])], "v", add=True)

    measure_lengths(sweeps)
    sweeps.outward(outward, "springs")


def add_spring_energy(sweeps: Sweeps, array: str) -> None:
    """Add what is stored in springs to an array of one number."""
    measure_lengths(sweeps, rates=False)
    _first_rows(sweeps, lambda row, element: row.write(array, element.energy(row["length"][0]), add=True))


def add_spring_slopes(sweeps: Sweeps, by_q: str, by_qd: str) -> None:
    """Add the derivatives of the efforts of springs on single joints to arrays (nv, nv)."""
    length, rate = symbol("length"), symbol("rate")

    def slopes(row: Row, element: ForceElement) -> None:
        tension = np.asarray(element.tension(length, rate), dtype=object)
        values = substitute(derivative([tension[()]], [length, rate]), {length: row["length"][0], rate: row["rate"][0]})[0]
        square = row.number("ratio")[()] * row.number("ratio")[()]
        for array, value in zip((by_q, by_qd), values, strict=True):
            row.write(array, [square * value], "v v", add=True)

    measure_lengths(sweeps)
    _first_rows(sweeps, slopes)


def _first_rows(sweeps: Sweeps, step: Callable[[Row, ForceElement], None]) -> None:
    def outward(row: Row) -> None:
        element = element_of(row)
        if element is not None:
            step(row, element)

    sweeps.outward(outward, "springs")
