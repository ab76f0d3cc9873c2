"""Arguments of any size: read as arrays of finite numbers, or of symbols, whatever their shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import Expr
from linkwise.extras import sympy_module
from linkwise.spacelib.kinds import Kind, as_it_is, is_symbolic, whole_number
from linkwise.spatial.scalar import Array, FloatArray

TWELFTH = math.pi / 12


def read_arrays(name: str, expected: str, **values: Any) -> list[Array]:
    """Each value as an array in its own shape: float64, or object where any of them holds symbols.

    Plain numbers beside SymPy's symbols become SymPy's exact numbers where there are simple ones.

    Parameters
    ----------
    name : str
        The function that asks, for messages.
    expected : str
        What each must be, for messages.
    **values : array_like
        What to read.

    Raises
    ------
    ArgumentError
        For what is no array of numbers, is not finite, or mixes SymPy's symbols with Linkwise's.
    """
    kind = Kind(expected, 0, as_it_is)
    arrays = [np.asarray(kind.read(f"{name}: {field}", value)) for field, value in values.items()]
    if not any(is_symbolic(array) for array in arrays):
        return arrays
    in_sympy = check_unmixed(name, *arrays)
    return [exact(array) if in_sympy else array.astype(object) for array in arrays]


def check_unmixed(name: str, *values: Any) -> bool:
    """Refuse SymPy's symbols beside Linkwise's expressions; whether they are SymPy's.

    Raises
    ------
    ArgumentError
        Where both are there.
    """
    ours = any(isinstance(item, Expr) for value in values for item in np.ravel(np.asarray(value, dtype=object)))
    if ours and in_sympy(*values):
        raise ArgumentError(f"{name}: SymPy symbols and Linkwise expressions do not mix")
    return not ours


def batches_fit(*shapes: tuple[int, ...]) -> bool:
    """Whether batch shapes fit each other."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def common_batch(name: str, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The batch shape of arguments together.

    Raises
    ------
    ArgumentError
        Where those of the arguments do not fit each other.
    """
    if not batches_fit(*shapes.values()):
        listed = ", ".join(f"{field} {shape}" for field, shape in shapes.items())
        raise ArgumentError(f"{name}: the batch shapes do not fit each other: {listed}")
    return np.broadcast_shapes(*shapes.values())


def read_matrix(field: str, value: Any, expected: str = "a matrix (..., m, n)") -> Array:
    """A matrix of numbers or symbols, or a batch of them: `read_arrays`, then `matrix`."""
    name, _, argument = field.partition(": ")
    return matrix(field, read_arrays(name, expected, **{argument: value})[0], expected)


def exact(value: Any) -> Array:
    """An array with SymPy's objects as they are, and plain numbers as SymPy's exact numbers where there are simple ones.

    A number that is a twelfth of pi, or a multiple of it up to two turns, is this, but for two units in its last place: so
    `PIG_2` is a right angle.

    Examples
    --------
    >>> exact([0.5, math.pi / 2, 0.3]).tolist()
    [1/2, pi/2, 0.300000000000000]
    """
    array = np.asarray(value)
    result = np.empty(array.shape, dtype=object)
    for place in np.ndindex(array.shape):
        item = array[place]
        result[place] = item if hasattr(item, "free_symbols") else _exact_number(float(item))
    return result


def _exact_number(value: float) -> Any:
    from linkwise.expr.sympy.symbols import number

    count = round(value / TWELFTH) if abs(value) < 49 * TWELFTH else 0
    if count and abs(value - count * TWELFTH) <= 2 * math.ulp(value):
        sympy = sympy_module()

        return sympy.Rational(count, 12) * sympy.pi
    return number(value)


def in_sympy(*arrays: Any) -> bool:
    """Whether there is a SymPy object among the elements of arrays."""
    return any(hasattr(item, "free_symbols") for array in arrays for item in np.asarray(array, dtype=object).ravel())


def whole(field: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """A whole number in a range.

    Raises
    ------
    ArgumentError
        For anything else.
    """
    number = whole_number(value)
    if number is None or number < least or (most is not None and number > most):
        wanted = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise ArgumentError(f"{field} is {shown(value)}; expected a whole number {wanted}")
    return number


def room(name: str, *shape: int) -> FloatArray:
    """An array of zeros.

    Raises
    ------
    ArgumentError
        Where there is no memory for it.
    """
    try:
        return np.zeros(shape)
    except (ValueError, MemoryError) as error:
        raise no_room(name, *shape) from error


def no_room(name: str, *shape: int) -> ArgumentError:
    """The error for an array of a size for which there is no memory."""
    return ArgumentError(f"{name}: there is no memory for {' x '.join(map(shown, shape))} numbers")


def matrix(field: str, value: Array, expected: str = "a matrix (..., m, n)") -> Array:
    """The value, which must have two axes or more, of which the last two are not empty.

    Raises
    ------
    ArgumentError
        For a scalar, a vector, and a matrix without elements.
    """
    if value.ndim < 2 or 0 in value.shape[-2:]:
        raise ArgumentError(f"{field} is of shape {value.shape}; expected {expected}")
    return value


def one(name: str, *values: Array) -> None:
    """Refuse batches of matrices of symbols.

    Raises
    ------
    ArgumentError
        For an array of more than two axes.
    """
    for value in values:
        if value.ndim > 2:
            raise ArgumentError(f"{name}: the shape is {value.shape}; symbols are taken one matrix at a time, no batch")


def opened(value: Any) -> Any:
    """The scalar itself of an array without axes."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
