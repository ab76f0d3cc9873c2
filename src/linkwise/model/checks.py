"""The checks of one number, one vector or one transform; each gathers a `Problem` instead of stopping at the first."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwise.errors import ModelError, Problem, choices
from linkwise.spatial.numbers import real
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import is_rigid

UNIT_SLACK = 1e-15
"""A direction this near to a unit vector is one already, so that normalising twice changes nothing."""


class Checker:
    """Gathers the problems of one item; `finish` raises them all at once."""

    def __init__(self, item: str) -> None:
        self.item = item
        self.problems: list[Problem] = []

    def report(self, field: str, value: object, expected: str) -> None:
        """Note one problem."""
        self.problems.append(Problem(self.item, field, value, expected))

    def finish(self) -> None:
        """Raise `ModelError` if anything was noted."""
        if self.problems:
            raise ModelError(self.problems)

    def number(self, field: str, value: Any, *, least: float | None = None, default: float = 0.0) -> float:
        """A finite float, at least ``least`` if that is given."""
        expected = "a finite number" if least is None else f"a finite number >= {least:g}"
        try:
            made = real(value)
        except TypeError:
            made = np.empty(0)
        if made.ndim or isinstance(value, (bool, np.bool_)) or not np.isfinite(made) or (least is not None and made < least):
            self.report(field, value, expected)
            return default
        return float(made)

    def vector(self, field: str, value: Any, size: int = 3) -> FloatArray:
        """A finite vector of the given size, read-only."""
        return self.finite(field, value, (size,), f"{size} finite numbers")

    def finite(self, field: str, value: Any, shape: tuple[int, ...], expected: str) -> FloatArray:
        """A finite array of the given shape, a read-only copy; zeros where it is not one."""
        try:
            made = real(value).copy()
        except TypeError:
            made = np.empty(0)
        if made.shape != shape or not np.all(np.isfinite(made)):
            self.report(field, value, expected)
            made = np.zeros(shape)
        return frozen(made)

    def direction(self, field: str, value: Any) -> FloatArray:
        """A unit vector (3,), read-only, along the given one; along z where that is none."""
        known = len(self.problems)
        given = self.vector(field, value)
        length = math.hypot(*given.tolist())
        if len(self.problems) == known and not 0 < length < math.inf:
            self.report(field, value, "a vector other than zero")
        if len(self.problems) > known:
            return frozen(np.array([0.0, 0.0, 1.0]))
        return given if abs(length - 1.0) <= UNIT_SLACK else frozen(np.asarray(given / length))

    def rigid(self, field: str, value: Any) -> FloatArray:
        """A rigid transform (4, 4), read-only; None stands for the identity."""
        if value is None:
            return frozen(np.eye(4))
        expected = "a rigid transform (4, 4): orthonormal right-handed rotation, last row 0 0 0 1"
        made = self.finite(field, value, (4, 4), expected)
        if not self.problems or self.problems[-1].field != field:
            if not is_rigid(made):
                self.report(field, value, expected)
            else:
                return made
        return frozen(np.eye(4))

    def flag(self, field: str, value: Any) -> bool:
        """True or False, nothing that merely counts as such."""
        if not isinstance(value, (bool, np.bool_)):
            self.report(field, value, "True or False")
        return bool(value) if isinstance(value, (bool, np.bool_)) else False

    def choice(self, field: str, value: Any, allowed: Iterable[str]) -> str:
        """One of the allowed words."""
        names = tuple(allowed)
        if not isinstance(value, str) or value not in names:
            self.report(field, value, choices(names))
            return names[0]
        return value


def frozen(values: FloatArray) -> FloatArray:
    """The same array, closed to writing."""
    values.setflags(write=False)
    return values
