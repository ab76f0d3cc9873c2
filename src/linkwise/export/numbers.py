"""Numbers as generated code writes them."""

from __future__ import annotations

import math

import numpy as np

from linkwise.errors import ArgumentError, KernelError, choices, shown
from linkwise.kernel.tape import Tape

PRECISIONS = ("double", "single")


def check_precision(precision: str) -> None:
    """Raise `ArgumentError` unless there is such a precision."""
    if precision not in PRECISIONS:
        raise ArgumentError(f"precision is {shown(precision)}; expected {choices(PRECISIONS)}")


def decimal(value: float, precision: str = "double") -> str:
    """The fewest digits that read back as the number in that precision, always with a point or an exponent.

    Examples
    --------
    >>> decimal(0.1), decimal(0.1 + 0.2), decimal(0.1 + 0.2, "single"), decimal(2)
    ('0.1', '0.30000000000000004', '0.3', '2.0')
    """
    return repr(float(value)) if precision == "double" else repr(float(str(np.float32(value))))


def check_numbers(tape: Tape, precision: str) -> None:
    """Raise `KernelError` where a number of a tape does not exist in a precision."""
    if precision == "double":
        return
    for number in tape.constants:
        with np.errstate(over="ignore", under="ignore"):
            held = float(np.float32(number))
        if not math.isfinite(held) or (held == 0 and number != 0):
            raise KernelError(f"{tape.name} contains {number!r}, which single precision does not hold; export it in double")
