"""The printed page of a program: titled matrices, vectors, angles and values."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from linkwise.spacelib.printing import fprintm

SMALL = 1e-3
"""Numbers that are all smaller are written with an exponent: six decimals would not say much of them."""


class Sheet:
    """Text that grows; ``str`` of it is the page."""

    def __init__(self) -> None:
        self._text = io.StringIO()

    def line(self, text: str = "") -> None:
        """Add a line."""
        self._text.write(f"{text}\n")

    def matrix(self, title: str, values: Any) -> None:
        """Add a matrix under its title, as `fprintm` writes it."""
        fprintm(self._text, title, np.asarray(values))

    def vector(self, title: str, values: Any) -> None:
        """Add a vector in one line."""
        entries = np.asarray(values).tolist()
        size = max(map(abs, entries), default=0.0)
        self.line(f"{title} = [{' '.join(rounded(value, size) for value in entries)}]")

    def angle(self, title: str, radians: float) -> None:
        """Add an angle, rad, in radians and in degrees."""
        self.line(f"{title} = {rounded(radians)} rad = {rounded(math.degrees(radians))} deg")

    def value(self, title: str, value: float, unit: str = "") -> None:
        """Add a number with its unit."""
        self.line(f"{title} = {rounded(value)} {unit}".rstrip())

    def __str__(self) -> str:
        return self._text.getvalue()


def rounded(value: float, size: float = 1.0) -> str:
    """Write a number to six decimals, without the zeros at its end; what is below shows as zero.

    Parameters
    ----------
    value : float
        The number.
    size : float
        Of the greatest number beside it: where that is small, the digits are counted from it.

    Examples
    --------
    >>> rounded(1.5707963), rounded(-1.0), rounded(-1e-17)
    ('1.570796', '-1', '0')
    >>> rounded(2.5e-7, 2.5e-7), rounded(-1e-20, 2.5e-7)
    ('2.5e-07', '0')
    """
    if 0.0 < size < SMALL:
        return f"{value:.7g}" if abs(value) > 1e-6 * size else "0"
    text = f"{round(value, 6) + 0.0:.6f}".rstrip("0").rstrip(".")
    return text if abs(value) < 1e9 else repr(value)
