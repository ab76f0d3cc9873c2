"""Kinds of arguments of SpaceLib's functions and their conversion to arrays of numbers or symbols.

A point or a vector is taken as a list, a 1-D array or a column, with three or four entries; whatever stands before its
axes is a batch. So a row (1, 3) is a batch of one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from linkwise.errors import ArgumentError, choices, shown
from linkwise.expr.node import Expr
from linkwise.extras import sympy_module
from linkwise.spacelib.constants import NoAxis, U
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import refuse_elements, unreadable

#: Up to this size Python's sum of an array is faster than NumPy's test for finite numbers.
SMALL = 32

FLOAT64 = np.dtype(np.float64)


#: Tolerance of the last row of a position or motion matrix, as after an inverse by elimination.
LAST_ROW = 1e-9

#: The same relative to the greatest element of the matrix, if that is more than `LAST_ROW`.
ROUNDED = 64 * sys.float_info.epsilon


@dataclass(frozen=True)
class Kind:
    """Requirements of an argument.

    Attributes
    ----------
    expected : str
        How messages say it.
    axes : int
        How many axes it has of its own.
    fit : callable
        Brings an array to the kind's own shape, whatever stands before; None where it is of another shape.
    checked : bool
        Whether numbers that are not finite are refused here. Otherwise the caller checks.
    last_row : tuple of float
        What a matrix (..., 4, 4) must end in, but for `LAST_ROW`; empty for anything.
    names : tuple of str
        Names of the axes: those with one name in the arguments of a function must have one size. Empty for any sizes.
    """

    expected: str
    axes: int
    fit: Callable[[Array], Array | None]
    checked: bool = True
    last_row: tuple[float, ...] = ()
    names: tuple[str, ...] = ()

    def read(self, field: str, value: Any) -> Array:
        """The value as an array of finite float64, or of symbols (dtype object), in the kind's shape."""
        array = value if value.__class__ is np.ndarray and value.dtype is FLOAT64 else _plain(field, self, value)
        if self.checked and not array.dtype.hasobject:
            _finite(field, array)
        fitted = self.fit(array)
        if fitted is None:
            held = shown(value) if array.size <= 4 else f"of shape {array.shape}"
            raise ArgumentError(f"{field} is {held}; expected {self.expected}")
        if self.last_row and fitted.size and not _ends_in(fitted, self.last_row):
            row = " ".join(f"{number:g}" for number in self.last_row)
            raise ArgumentError(f"{field} does not end in the row {row}; expected {self.expected}")
        return fitted


@dataclass(frozen=True)
class Choice:
    """A whole number that must be one of a few: an axis, a kind of joint.

    Attributes
    ----------
    names : dict of int to str
        What there is.
    """

    names: dict[int, str]

    def read(self, field: str, value: Any) -> int:
        """The value as an int."""
        number = whole_number(value)
        if number is None or number not in self.names:
            raise ArgumentError(f"{field} is {shown(value)}; expected {choices(self.names.values())}")
        return number


@dataclass(frozen=True)
class FrameAxis(Choice):
    """An axis of a frame, or `U` for none: the constant, as a plain 3 means MATLAB's third axis."""

    def read(self, field: str, value: Any) -> int:
        """The value as an int."""
        number = super().read(field, value)
        if number == U and not isinstance(value, NoAxis):
            raise ArgumentError(
                f"{field} is {shown(value)}; expected X (0), Y (1) or Z (2), for axes count from 0;"
                " or the constant U for none"
            )
        return number


def whole_number(value: Any) -> int | None:
    """A whole number of any type, also one stored as a float or in an array of one element; None for anything else.

    Examples
    --------
    >>> whole_number(2), whole_number(np.float64(2.0)), whole_number(np.array([2])), whole_number(2.5), whole_number(True)
    (2, 2, 2, None, None)
    """
    number = value.item() if isinstance(value, (np.ndarray, np.generic)) and value.size == 1 else value
    if isinstance(number, bool):
        return None
    if isinstance(number, int) or getattr(number, "is_Integer", False):
        return int(number)
    return int(number) if isinstance(number, float) and number.is_integer() else None


def shape_of(value: Any) -> tuple[int, ...]:
    """Shape of a value that may be an array; () without a shape."""
    try:
        return value.shape if isinstance(value, np.ndarray) else np.shape(value)
    except (ValueError, TypeError):
        return ()


def is_symbolic(value: Array) -> bool:
    """True if an array contains symbols."""
    return value.dtype == object


def _plain(field: str, kind: Kind, value: Any) -> Array:
    """An array of float64, or of symbols if there is any among the elements."""
    if reason := unreadable(value):
        raise ArgumentError(f"{field} {reason}; expected {kind.expected}")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"{field} is not an array; expected {kind.expected}") from error
    if array.dtype.kind in "fiu":
        return array if array.dtype == np.float64 else array.astype(np.float64)
    if array.dtype == object:
        return _of_objects(field, kind, array)
    raise ArgumentError(f"{field} holds {array.dtype}; expected {kind.expected}")


def _of_objects(field: str, kind: Kind, array: Array) -> Array:
    items = array.ravel()
    if any(isinstance(item, Expr) or hasattr(item, "free_symbols") for item in items):
        for item in items:
            if not isinstance(item, (Expr, int, float, np.number)) and not hasattr(item, "free_symbols"):
                raise ArgumentError(f"{field} holds {shown(item)}; expected {kind.expected}")
            if not isinstance(item, Expr) and not _may_be_real(item):
                raise ArgumentError(f"{field} holds {shown(item)}; expected finite real numbers and symbols")
        return array
    try:
        return np.array([_number(item) for item in items]).reshape(array.shape)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{field} holds {shown(items[0] if items.size else None)}; expected {kind.expected}") from error


def _may_be_real(item: Any) -> bool:
    """False if a number, or a SymPy object, is known to be infinite, complex or not a number."""
    if not hasattr(item, "free_symbols"):
        return math.isfinite(item)
    return bool(item.free_symbols) or (item.is_extended_real is not False and item.is_finite is True)


def _number(item: Any) -> float:
    if isinstance(item, (str, bytes, complex)):
        raise TypeError
    return float(item)


def _finite(field: str, value: Array) -> None:
    if value.size <= SMALL and math.isfinite(sum(value.ravel().tolist())):  # no sum is, with an element that is not
        return
    refuse_elements(~np.isfinite(value), field, value, "finite numbers")


def _column_off(value: Array, lengths: tuple[int, ...]) -> Array:
    """A column (..., k, 1) as (..., k)."""
    if value.ndim >= 2 and value.shape[-1] == 1 and value.shape[-2] in lengths:
        return value[..., 0]
    return value


def as_it_is(value: Array) -> Array:
    """An array of any shape."""
    return value


def _fit_vector_of(size: int) -> Callable[[Array], Array | None]:
    def fit(value: Array) -> Array | None:
        value = _column_off(value, (size,))
        return value if value.ndim and value.shape[-1] == size else None

    return fit


def _fit_matrix(value: Array) -> Array | None:
    return value if value.ndim >= 2 and 0 not in value.shape[-2:] else None


def _fit_vector(value: Array) -> Array | None:
    value = _column_off(value, (3, 4))
    return value[..., :3] if value.ndim and value.shape[-1] in (3, 4) else None


def _fit_point(value: Array) -> Array | None:
    value = _column_off(value, (3, 4))
    if value.ndim == 0 or value.shape[-1] not in (3, 4):
        return None
    if value.shape[-1] == 4:
        return value if _ends_in_one(value) else None
    return np.concatenate([value, np.ones((*value.shape[:-1], 1), dtype=value.dtype)], axis=-1)


def _ends_in_one(value: Array) -> bool:
    return bool(value[3] == 1.0) if value.dtype is FLOAT64 and value.ndim == 1 else _all_are(value[..., 3], 1.0)


def _fit_line(value: Array) -> Array | None:
    if value.shape[-2:] != (4, 2):
        return None
    return value if _all_are(value[..., 3, 0], 1.0) and _all_are(value[..., 3, 1], 0.0) else None


def _ends_in(value: Array, row: tuple[float, ...]) -> bool:
    """True if matrices have this last row, up to rounding; for symbols, if it is possible."""
    last = value[..., 3, :]
    if last.dtype.hasobject:
        return all(_may_be(item, number) for item, number in zip(last.ravel().tolist(), row, strict=True))
    if last.ndim == 1 and all(abs(item - number) <= LAST_ROW for item, number in zip(last.tolist(), row, strict=True)):
        return True
    off = np.abs(last - row)
    return bool((off <= LAST_ROW).all() or (off <= ROUNDED * np.abs(value).max(axis=(-2, -1), keepdims=True)[..., 0]).all())


def _all_are(value: Array, number: float) -> bool:
    """True if all elements equal a number; for symbols, if it is possible."""
    if value.dtype.hasobject:
        return all(_may_be(item, number) for item in value.ravel().tolist())
    return bool((value == number).all())


def _may_be(item: Any, number: float) -> bool:
    if isinstance(item, Expr):
        return item.op != "const" or item.value == number
    return bool(getattr(item, "free_symbols", None)) or float(item) == number


def _fit_block(value: Array) -> Array | None:
    ok = value.ndim >= 2 and value.shape[-2] >= 3 and value.shape[-1] >= 3
    return value[..., :3, :3] if ok else None


def _fit_square(value: Array) -> Array | None:
    return value if value.ndim >= 2 and value.shape[-1] == value.shape[-2] > 0 else None


def _fit_row(value: Array) -> Array | None:
    value = _column_off(value, (value.shape[-2],) if value.ndim >= 2 else ())
    return value if value.ndim and value.shape[-1] else None


def _exactly(*shape: int) -> Callable[[Array], Array | None]:
    def fit(value: Array) -> Array | None:
        return value if value.shape[max(0, value.ndim - len(shape)) :] == shape else None

    return fit


_POINT = Kind("a point (..., 3), or (..., 4) that ends in 1", 1, _fit_point)
_MAT4 = Kind("a matrix (..., 4, 4)", 2, _exactly(4, 4))

SCALAR = Annotated[Any, Kind("a real number", 0, as_it_is)]
VECTOR = Annotated[Any, Kind("a vector (..., 3) or (..., 4)", 1, _fit_vector)]
TRIPLE = Annotated[Any, Kind("three numbers (..., 3), one for each angle", 1, _fit_vector_of(3))]
POINT = Annotated[Any, _POINT]
UNCHECKED_POINT = Annotated[Any, replace(_POINT, checked=False)]
PLANE = Annotated[Any, Kind("a plane (..., 4)", 1, _fit_vector_of(4))]
LINE = Annotated[
    Any, Kind("a line (..., 4, 2): a point that ends in 1 and a direction that ends in 0, as columns", 2, _fit_line)
]
BLOCK = Annotated[Any, Kind("a matrix (..., 3, 3) or larger", 2, _fit_block)]
MAT3 = Annotated[Any, Kind("a matrix (..., 3, 3)", 2, _exactly(3, 3))]
MAT4 = Annotated[Any, _MAT4]
POSITION = Annotated[Any, replace(_MAT4, expected="a position matrix (..., 4, 4)", last_row=(0.0, 0.0, 0.0, 1.0))]
MOTION = Annotated[Any, replace(_MAT4, expected="a matrix W, H or L (..., 4, 4)", last_row=(0.0, 0.0, 0.0, 0.0))]
SQUARE = Annotated[Any, Kind("a square matrix (..., n, n)", 2, _fit_square, names=("n", "n"))]
MATRIX = Annotated[Any, Kind("a matrix (..., m, n)", 2, _fit_matrix, names=("m", "n"))]
MATRIX_NK = Annotated[Any, Kind("a matrix (..., n, k)", 2, _fit_matrix, names=("n", "k"))]
MATRIX_MK = Annotated[Any, Kind("a matrix (..., m, k)", 2, _fit_matrix, names=("m", "k"))]
ROW = Annotated[Any, Kind("a vector (..., n) of one number or more", 1, _fit_row, names=("n",))]
SIX = Annotated[Any, Kind("six numbers", 1, as_it_is)]

JOINT = Annotated[int, Choice({0: "Rev (0)", 1: "Pri (1)"})]
AXIS = Annotated[int, FrameAxis({0: "X (0)", 1: "Y (1)", 2: "Z (2)", 3: "U (3)"})]
MOVING_AXIS = Annotated[int, Choice({0: "X (0)", 1: "Y (1)", 2: "Z (2)"})]
SIGN = Annotated[int, Choice({1: "1", -1: "-1"})]
PART = Annotated[int, Choice({1: "SYMM_ (1)", -1: "SKEW_ (-1)"})]
SIZE = Annotated[int, Choice({3: "3", 4: "4"})]
MASK = Annotated[int, Choice({k: str(k) for k in range(64)})]
LINE_OF = Annotated[int, Choice({0: "Row (0)", 1: "Col (1)"})]


def kind_of(annotation: Any) -> Kind | Choice | None:
    """Kind of an annotation; None for another annotation."""
    kind = getattr(annotation, "__metadata__", (None,))[0]
    return kind if isinstance(kind, (Kind, Choice)) else None


def read(annotation: Any, field: str, value: Any) -> Any:
    """A value read as of a kind, such as `POINT`; messages call it by the field.

    Raises
    ------
    ArgumentError
        For what is not of the kind.
    """
    kind = kind_of(annotation)
    if kind is None:
        raise TypeError(f"{annotation} is no kind of argument")
    return kind.read(field, value)


TWELFTH = math.pi / 12


def read_arrays(name: str, expected: str, **values: Any) -> list[Array]:
    """Each value as an array in its own shape: float64, or object if any of them contains symbols.

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
    """True if there is a SymPy object among the elements of arrays."""
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
    """Error for an array of a size for which there is no memory."""
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
