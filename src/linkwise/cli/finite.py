"""The numbers that options take: finite, and in a range."""

from __future__ import annotations

import math
from typing import Any

import click


class Finite(click.FloatRange):
    """A finite number, in a range if one is said; a range of click's own lets NaN through.

    Examples
    --------
    >>> Finite(0).convert("0.5", None, None)
    0.5
    >>> Finite(0).convert("nan", None, None)
    Traceback (most recent call last):
    click.exceptions.BadParameter: 'nan' is no finite number.
    """

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not math.isfinite(number):
            self.fail(f"{value[:40]!r} is no finite number." if isinstance(value, str) else f"{value} is no finite number.")
        return super().convert(value, param, ctx)


POSITIVE = Finite(0, min_open=True)
"""A finite number above 0."""
