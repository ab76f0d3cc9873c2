"""How far rounding can take a computation from the exact value: an error bound that is computed along with it.

Running error analysis: J. H. Wilkinson, "Error analysis revisited", IMA Bulletin 22, 1986; N. J. Higham, "Accuracy and
Stability of Numerical Algorithms", 2nd edition, 2002, section 3.3. Here it is carried through the operations of a tape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from linkwise.expr.operations import OPERATIONS
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

UNITS = {"double": 2.0**-53, "single": 2.0**-24}
"""The unit roundoff of each precision: the greatest relative error of one rounding."""

SMALLEST = {"double": 2.0**-1074, "single": 2.0**-149}
"""What a result that is too small for full precision may be off besides."""

LIBRARY = 4.0
"""Unit roundoffs that a sine, a cosine or an arctangent may be off: 2 units in the last place, as CUDA's manual says of its
own; those of the C libraries in use, and of the machine code here, are closer."""


@dataclass(frozen=True)
class Bounded:
    """A computed value, and how far the exact one is away at most."""

    value: float
    error: float


def bounded(tape: Tape, point: Sequence[float] | FloatArray, precision: str = "double") -> list[Bounded]:
    """Compute a tape, and bound what rounding does to it.

    Parameters
    ----------
    tape : Tape
        What is computed.
    point : sequence of float
        The elements of the inputs, in order; they count as exact.
    precision : {"double", "single"}
        In which operations are rounded. The numbers of the tape are rounded to it too.

    Returns
    -------
    list of Bounded
        For each element of the outputs its value, computed in double, and a bound of the difference between the exact value
        and any computation in that precision of the same operations, products and sums fused or not. The bound is infinite
        where rounding can change what is chosen, or lead across a pole.
    """
    unit, tiny = UNITS[precision], SMALLEST[precision]
    held = 0.0 if precision == "double" else unit
    values = [*map(float, point), *tape.constants]
    errors = [0.0] * len(point) + [held * abs(number) for number in tape.constants]
    for instruction in tape.code:
        given = [values[arg] for arg in instruction.args]
        value = OPERATIONS[instruction.op].value(*given)
        carried, roundings = _CARRIED[instruction.op](value, given, [errors[arg] for arg in instruction.args])
        values.append(value)
        if roundings:  # the rounding is of the value computed, which is off itself
            carried += (roundings * unit + UNITS["double"]) * (abs(value) + carried) + tiny
        unknown = math.isnan(carried)  # (0 times infinity)
        errors.append(0.0 if not math.isfinite(value) else math.inf if unknown else carried)
    # 1.01: the bound is itself computed, with some thousand roundings at most of numbers that are never subtracted
    return [Bounded(values[slot], 1.01 * errors[slot]) for slot in tape.results]


def _sum(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    return e[0] + e[1], 1.0


def _product(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    return abs(x[0]) * e[1] + abs(x[1]) * e[0] + e[0] * e[1], 1.0


def _quotient(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    left = abs(x[1]) - e[1]
    return ((e[0] + abs(z) * e[1]) / left if left > 0 else math.inf), 1.0


def _root(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    if e[0] == 0:
        return 0.0, 1.0
    return (e[0] / z if x[0] > e[0] else math.inf), 1.0


def _circular(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    return min(e[0], 2.0), LIBRARY


def _angle(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    """By the distance from the origin; infinite where rounding can lead across the cut behind it."""
    radius, off = math.hypot(*x), math.hypot(*e)
    crosses = x[1] - e[1] <= 0 and 0 < e[0] >= abs(x[0])
    return (off / (radius - off) if off < radius and not crosses else math.inf if off else 0.0), LIBRARY


def _same(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    return e[0], 0.0


def _sign(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    return (0.0 if abs(x[0]) > e[0] or e[0] == 0 else math.inf), 0.0


def _select(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    if math.isnan(x[0]) or abs(x[0]) > e[0] or e[0] == 0:
        return (e[1] if x[0] > 0 else e[2]), 0.0
    return abs(x[1] - x[2]) + e[1] + e[2], 0.0


_CARRIED: dict[str, Callable[[float, list[float], list[float]], tuple[float, float]]] = {
    "add": _sum,
    "sub": _sum,
    "mul": _product,
    "div": _quotient,
    "neg": _same,
    "sqrt": _root,
    "sin": _circular,
    "cos": _circular,
    "abs": _same,
    "sign": _sign,
    "atan2": _angle,
    "select": _select,
}
"""For each operation: how far errors of its operands take its value, and how many unit roundoffs it adds."""
