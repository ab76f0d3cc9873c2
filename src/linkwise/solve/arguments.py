"""Single numbers that solvers are given, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.numbers import numbers


def positive(field: str, value: Any, *, zero: bool = False) -> float:
    """One finite number above zero, or zero where that is allowed."""
    expected = f"a number {'>=' if zero else '>'} 0"
    made = numbers(field, value, expected)
    if made.ndim or isinstance(value, (bool, np.bool_)) or not (made > 0 or (zero and made == 0)):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return float(made)


def count(field: str, value: Any) -> int:
    """One whole number above zero."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ArgumentError(f"{field} is {shown(value)}; expected a whole number >= 1")
    return int(value)


def whole(field: str, value: Any) -> int:
    """One whole number, zero or above."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ArgumentError(f"{field} is {shown(value)}; expected a whole number >= 0")
    return int(value)
