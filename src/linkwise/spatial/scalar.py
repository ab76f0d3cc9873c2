"""Functions of one scalar, whatever kind of scalar it is, and arrays of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.extras import sympy_module

#: An array of scalars: float64, or object where elements are expressions or symbols.
Array = npt.NDArray[Any]

FloatArray = npt.NDArray[np.float64]

#: Types of elements of plain numeric arrays.
_NUMBERS = frozenset({float, int, bool, np.float64, np.int64})

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
    if is_number(angle):
        value = float(angle)
        quarter = round(value / (math.pi / 2)) if abs(value) < 1e6 else 0
        if quarter and abs(value - quarter * (math.pi / 2)) <= 2 * math.ulp(value):
            return _QUARTERS[quarter % 4]
        return math.cos(value), math.sin(value)
    if hasattr(angle, "cos"):
        return angle.cos(), angle.sin()
    sympy = sympy_module()
    return sympy.cos(angle), sympy.sin(angle)


def cos_sin_of_all(angles: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Cosines and sines of many numbers, each to the last bit as `cos_sin` has it.

    Examples
    --------
    >>> cos_sin_of_all([0.0, math.pi])
    (array([ 1., -1.]), array([0., 0.]))
    """
    values = np.asarray(angles, dtype=np.float64)
    result = np.array([[*map(math.cos, angles)], [*map(math.sin, angles)]])
    quarter = np.where(np.abs(values) < 1e6, np.rint(values / (math.pi / 2)), 0.0)
    exact = (quarter != 0.0) & (np.abs(values - quarter * (math.pi / 2)) <= 2 * np.spacing(np.abs(values)))
    result[:, exact] = np.array(_QUARTERS)[quarter[exact].astype(int) % 4].T
    return result[0], result[1]


def is_number(value: Any) -> bool:
    """True if a scalar is a number, not an expression."""
    return isinstance(value, (float, int, np.floating, np.integer))


def is_zero(value: Any) -> bool:
    """True if a scalar is known to be zero."""
    return is_number(value) and bool(value == 0)


def array(rows: Any) -> Array:
    """An array of scalars: float64 when every element is a plain number, else object."""
    result = np.array(rows, dtype=object)
    if not _NUMBERS.issuperset(map(type, result.flat)) and _expression(*result.flat) is not None:
        return result  # tested first: the refused conversion of an expression to float formats it
    try:
        return result.astype(np.float64)
    except (TypeError, ValueError):
        return result


def blank(*shape: int) -> Array:
    """Zeros to be filled with scalars of any kind."""
    result = np.zeros(shape, dtype=object)
    result[...] = 0.0
    return result


def root(square: Any) -> Any:
    """The square root of a scalar of any kind, or of those of an array."""
    if hasattr(square, "sqrt"):
        return square.sqrt()
    if hasattr(square, "free_symbols"):
        sympy = sympy_module()
        return sympy.sqrt(square)
    return np.sqrt(square if np.ndim(square) else float(square))


def sign(value: Any) -> Any:
    """-1, 0 or 1 by the sign of a scalar of any kind; NaN for NaN.

    Examples
    --------
    >>> sign(-2.0), sign(0.0)
    (-1.0, 0.0)
    """
    if is_number(value):
        return float(np.sign(value))
    return value.sign() if hasattr(value, "sign") else sympy_module().sign(value)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), scalars of any kind, from the x axis towards the y axis (rad), in (-pi, pi].

    Zero at the origin. No zero has a sign: -0.0 counts as 0.0, so the angle of every point on the negative x axis is +pi.
    NaN where a coordinate is NaN or both are infinite; where one is infinite, the limit.

    Examples
    --------
    >>> atan2(1.0, 0.0), atan2(-0.0, -1.0)
    (1.5707963267948966, 3.141592653589793)
    >>> import sympy
    >>> atan2(sympy.Symbol("y"), 2)
    atan2(y, 2)
    """
    if is_number(y) and is_number(x):
        y, x = float(y), float(x)
        return math.nan if math.isinf(y) and math.isinf(x) else math.atan2(y + 0.0, x + 0.0)
    expression = _expression(y, x)
    if expression is not None:
        return expression.apply("atan2", y, x)
    sympy = sympy_module()
    return sympy.atan2(y, x)


def select(c: Any, x: Any, y: Any) -> Any:
    """Choose x where the scalar c is greater than 0, else y: also where c is 0 or NaN. All are of any kind.

    Where c is a number the chosen operand itself is returned. What is not chosen does not enter the result: it may be NaN.
    Of an array of numbers, those of the rows of a batch, each element chooses.

    Examples
    --------
    >>> select(0.5, "up", "down"), select(0.0, "up", "down")
    ('up', 'down')
    >>> import sympy
    >>> q = sympy.Symbol("q", real=True)
    >>> select(q, q, 0)
    Piecewise((q, q > 0), (0, True))
    """
    if is_number(c):
        return x if c > 0 else y
    if isinstance(c, np.ndarray):
        return np.where(c > 0, x, y)
    expression = _expression(c, x, y)
    if expression is not None:
        return expression.apply("select", c, x, y)
    sympy = sympy_module()
    return sympy.Piecewise((x, c > 0), (y, True))


def least(a: Any, b: Any) -> Any:
    """The smaller of two scalars of any kind; NaN where either is NaN.

    Examples
    --------
    >>> least(2.0, -1.0), greatest(2.0, -1.0)
    (-1.0, 2.0)
    """
    a, b = _number_first(a, b)
    return select(1.0 + abs(a), select(b - a, a, b), a)


def greatest(a: Any, b: Any) -> Any:
    """The greater of two scalars of any kind; NaN where either is NaN."""
    a, b = _number_first(a, b)
    return select(1.0 + abs(a), select(a - b, a, b), a)


def _number_first(a: Any, b: Any) -> tuple[Any, Any]:
    """Order operands of `least` and `greatest` so that the first one need not be tested for NaN at run time."""
    a, b = (float(value) if is_number(value) else value for value in (a, b))
    return (b, a) if isinstance(b, float) else (a, b)


def _expression(*operands: Any) -> Any:
    """First operand that is an expression of `linkwise.expr`, None if there is none."""
    return next((operand for operand in operands if hasattr(operand, "apply") and hasattr(operand, "op")), None)
