"""Functions of one scalar, whatever kind of scalar it is, and arrays of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""An array of scalars: float64, or object where elements are expressions or symbols."""

FloatArray = npt.NDArray[np.float64]

_QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


def cos_sin(angle: Any) -> tuple[Any, Any]:
    """Cosine and sine of an angle (rad).

    For a float within two units in the last place of a multiple of pi/2 the result is exact (0, 1 or -1), so
    that a right angle in a table of parameters gives true zeros.

    Examples
    --------
    >>> import math
    >>> cos_sin(math.pi / 2)
    (0.0, 1.0)
    """
    if isinstance(angle, (float, int, np.floating, np.integer)):
        value = float(angle)
        quarter = round(value / (math.pi / 2)) if abs(value) < 1e6 else 0
        if quarter and abs(value - quarter * (math.pi / 2)) <= 2 * math.ulp(value):
            return _QUARTERS[quarter % 4]
        return math.cos(value), math.sin(value)
    if hasattr(angle, "cos"):
        return angle.cos(), angle.sin()
    import sympy

    return sympy.cos(angle), sympy.sin(angle)


def array(rows: Any) -> Array:
    """An array of scalars: float64 when every element is a plain number, else object."""
    made = np.array(rows, dtype=object)
    try:
        return made.astype(np.float64)
    except (TypeError, ValueError):
        return made


def blank(*shape: int) -> Array:
    """Zeros to be filled with scalars of any kind."""
    made = np.zeros(shape, dtype=object)
    made[...] = 0.0
    return made


def root(square: Any) -> Any:
    """The square root of a scalar of any kind."""
    return square.sqrt() if hasattr(square, "sqrt") else np.sqrt(float(square))
