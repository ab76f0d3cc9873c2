"""A port: one named value of a chain with its kind, shape, unit and bounds, their validation and conversion."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown, suggestion
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import first_place, real

Direction: TypeAlias = Literal["in", "out"]
Kind: TypeAlias = Literal["float", "int", "bool", "choice"]
Value: TypeAlias = float | int | bool | str | npt.NDArray[Any]

DIRECTIONS: tuple[str, ...] = get_args(Direction)
KINDS: tuple[str, ...] = get_args(Kind)

#: Up to here every whole number is a float64.
LARGEST_WHOLE = 2.0**53

_LARGEST = sys.float_info.max
_SMALLEST = math.ulp(0.0)


@dataclass(frozen=True)
class Port:
    """One named value of a chain.

    Attributes
    ----------
    name : str
        The entity and the quantity, with a dot between: ``"tool.position"``.
    direction : {"in", "out"}
        Whether it is written from outside or by the cycle.
    kind : {"float", "int", "bool", "choice"}
        What it is. Among a chain's values an int is a whole number, a bool 0 or 1, a choice the place of its word.
    shape : tuple of int
        (), (3,), (4,) for a quaternion, or (3, 3); a choice is always ().
    unit : str
        ``"rad"``, ``"m/s"``; ``"1"`` where there is none, which is all that an int, a bool or a choice may have.
    description : str
        What it means, for people.
    initial : float, int, bool, str or array_like, optional
        The value at first: zero, False or the first word if left out. Kept as a float, int, bool, str or nested tuples.
    least, most : float, optional
        Bounds of every element, both admitted.
    positive : bool
        Whether every element must be more than zero.
    finite : bool
        Whether infinity is refused. NaN is refused where this is set and where there is any bound.
    choices : tuple of str
        The words of a choice.

    Raises
    ------
    ArgumentError
        Where one of them cannot be, naming the port, the field, the value and what would have been accepted.

    Examples
    --------
    >>> port = Port("tool.max_speed", "in", "float", unit="m/s", initial=float("inf"), positive=True, finite=False)
    >>> port.check(0.5)
    array(0.5)
    >>> port.check(0.0)
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: port 'tool.max_speed' is given 0.0; expected a number above 0, in m/s
    """

    name: str
    direction: Direction
    kind: Kind = "float"
    shape: tuple[int, ...] = ()
    unit: str = "1"
    description: str = ""
    initial: Any = None
    least: float | None = None
    most: float | None = None
    positive: bool = False
    finite: bool = True
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_name(self.name)
        for field, known in (("direction", DIRECTIONS), ("kind", KINDS)):
            if getattr(self, field) not in known:
                raise self._wrong(field, getattr(self, field), choices(known))
        if self.shape not in ((), *ELEMENTS) or (self.kind == "choice" and self.shape):
            raise self._wrong("shape", self.shape, "()" if self.kind == "choice" else "(), (3,), (4,) or (3, 3)")
        self._check_unit()
        self._check_choices()
        self._check_bounds()
        initial = self._first() if self.initial is None else self.initial
        try:
            object.__setattr__(self, "initial", _frozen(self.decode(self.check(initial))))
        except ArgumentError as error:
            raise self._wrong("initial", initial, self.expected) from error

    @cached_property
    def size(self) -> int:
        """Number of elements in the vector of values."""
        return math.prod(self.shape)

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The least and the most that every element may be as a number, both admitted; None where NaN is welcome too."""
        if self.kind == "bool":
            return 0.0, 1.0
        if self.kind == "choice":
            return 0.0, len(self.choices) - 1.0
        if self.kind == "float" and not self.finite and self.least is None and self.most is None and not self.positive:
            return None
        widest = LARGEST_WHOLE if self.kind == "int" else _LARGEST if self.finite else math.inf
        low = max(-widest, -math.inf if self.least is None else self.least, _SMALLEST if self.positive else -math.inf)
        return low, min(widest, math.inf if self.most is None else self.most)

    @property
    def elements(self) -> tuple[str, ...]:
        """The name of each number of it: the port's own, or with the axis; of a matrix with the axes of row and column.

        Examples
        --------
        >>> Port("tool.position", "out", shape=(3,), unit="m").elements
        ('tool.position.x', 'tool.position.y', 'tool.position.z')
        """
        return element_names(self.name, self.shape)

    def check(self, value: Any) -> FloatArray:
        """Convert a value to numbers of the port's shape, validated.

        Raises
        ------
        ArgumentError
            Where it is of another kind or shape, or out of bounds.
        """
        if type(value) is float and self.kind == "float" and not self.shape and self._takes(value):
            return np.asarray(value)
        numbers = self._numbers(value)
        if numbers.shape != self.shape:
            raise ArgumentError(f"port {self.name!r} is given the shape {numbers.shape}; expected {self.expected}")
        if not self.admits(numbers):
            where = first_place(~self._fits(numbers))
            element = self._shown(numbers[where])
            raise ArgumentError(
                f"port {self.name!r} is given {element}{f' at {where}' if where else ''}; expected {self.expected}"
            )
        return numbers

    def admits(self, numbers: FloatArray) -> bool:
        """True if numbers, in the representation of the vector of values, are valid."""
        return bool(self._fits(numbers).all())

    def decode(self, numbers: FloatArray) -> Value:
        """Convert numbers of the port's shape to its value: a float, int, bool or str, or a new array.

        Raises
        ------
        ArgumentError
            Where they say none: half a bool, a word that there is not.
        """
        if self.kind == "float":
            return numbers.astype(np.float64) if self.shape else float(numbers)
        low, high = (-LARGEST_WHOLE, LARGEST_WHOLE) if self.kind == "int" else self.interval or (0.0, 0.0)
        elements = numbers.ravel().tolist()
        if not all(low <= number <= high and number.is_integer() for number in elements):
            raise ArgumentError(
                f"port {self.name!r} holds {shown(numbers.tolist())}, which is not a value of kind {self.kind!r}"
            )
        if self.shape:
            return numbers.astype(np.int64 if self.kind == "int" else np.bool_)
        number = int(elements[0])
        return self.choices[number] if self.kind == "choice" else number if self.kind == "int" else bool(number)

    @cached_property
    def expected(self) -> str:
        """Describe the valid values in words.

        Examples
        --------
        >>> Port("target.position", "in", shape=(3,), unit="m").expected
        'finite numbers of shape (3,), in m'
        """
        if self.kind == "choice":
            return choices(self.choices)
        if self.kind == "bool":
            return f"True and False of shape {self.shape}" if self.shape else "True or False"
        words = {"float": "finite number" if self.finite else "number", "int": "whole number"}[self.kind]
        low = "" if self.least is None else f" from {_short(self.least)}"
        high = "" if self.most is None else f" {'to' if low else 'up to'} {_short(self.most)}"
        words = f"{words}s of shape {self.shape}" if self.shape else f"a {words}"
        return f"{words}{' above 0' if self.positive else ''}{low}{high}{'' if self.unit == '1' else f', in {self.unit}'}"

    def _fits(self, numbers: FloatArray) -> npt.NDArray[np.bool_]:
        if self.interval is None:
            return np.ones(np.shape(numbers), dtype=np.bool_)
        low, high = self.interval
        fits = np.greater_equal(numbers, low) & np.less_equal(numbers, high)
        return np.asarray(fits if self.kind == "float" else fits & (np.floor(numbers) == numbers))

    def _takes(self, number: float) -> bool:
        """The same of one float, without an array."""
        return self.interval is None or self.interval[0] <= number <= self.interval[1]

    def _numbers(self, value: Any) -> FloatArray:
        """The value as numbers, of whatever shape."""
        if self.kind == "choice":
            return np.asarray(float(self._place(value)))
        if isinstance(value, (str, bytes)):
            raise self._as_array(value)
        boolean = isinstance(value, (bool, np.bool_)) or _booleans(value)
        if boolean != (self.kind == "bool"):
            raise self._as_array(value)
        try:
            return np.array(real(value), dtype=np.float64)
        except TypeError as error:
            raise ArgumentError(f"port {self.name!r}: what is given {error}; expected {self.expected}") from error

    def _place(self, value: Any) -> int:
        if not isinstance(value, str):
            raise self._as_array(value)
        if value not in self.choices:
            guess = suggestion(value[:40], self.choices)
            raise ArgumentError(f"port {self.name!r} is given {shown(value)}{guess}; expected {self.expected}")
        return self.choices.index(value)

    def _shown(self, number: Any) -> str:
        whole = self.kind == "int" and math.isfinite(number) and number == math.floor(number)
        return str(int(number)) if whole else repr(float(number))

    def _as_array(self, value: object) -> ArgumentError:
        return ArgumentError(f"port {self.name!r} is given {shown(value)}; expected {self.expected}")

    def _wrong(self, field: str, value: object, expected: str) -> ArgumentError:
        return ArgumentError(f"port {self.name!r}: {field} is {shown(value)}; expected {expected}")

    def _first(self) -> Any:
        if self.kind == "choice":
            return self.choices[0]
        if self.shape:
            return np.zeros(self.shape, dtype=np.bool_ if self.kind == "bool" else np.float64)
        return False if self.kind == "bool" else 0.0

    def _check_unit(self) -> None:
        if self.unit == "":
            object.__setattr__(self, "unit", "1")
        if not isinstance(self.unit, str) or not plain(self.unit) or self.unit == "int":
            raise self._wrong("unit", self.unit, "a text such as 'rad', without '[', ']' and '|'")
        if self.unit != "1" and self.kind != "float":
            raise self._wrong("unit", self.unit, f"'1' for kind {self.kind!r}")

    def _check_choices(self) -> None:
        words = self.choices
        expected = "different words, without '[', ']' and '|'"
        if not isinstance(words, tuple) or not all(isinstance(word, str) for word in words):
            raise self._wrong("choices", words, f"a tuple of {expected}")
        if len(set(words)) < len(words) or not all(plain(word) for word in words):
            raise self._wrong("choices", words, expected)
        if (self.kind == "choice") != bool(words):
            raise self._wrong(
                "choices", words, "at least one word" if self.kind == "choice" else f"() for kind {self.kind!r}"
            )

    def _check_bounds(self) -> None:
        for field in ("least", "most"):
            bound = getattr(self, field)
            if bound is None:
                continue
            if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not math.isfinite(bound):
                raise self._wrong(field, bound, "a finite number or None")
        for field in ("least", "most", "positive"):
            bound = getattr(self, field)
            if self.kind in ("bool", "choice") and bound is not None and bound is not False:
                raise self._wrong(field, bound, f"none for kind {self.kind!r}")
        if self.interval is not None and self.interval[0] > self.interval[1]:
            raise self._wrong("most", self.most, f"at least {'a number above 0' if self.positive else self.least}")


def _booleans(value: Any) -> bool:
    """True if an array or a nested list contains only True and False."""
    if isinstance(value, (int, float)):
        return False
    if isinstance(value, np.ndarray):
        return bool(value.dtype == np.bool_)
    items = list(value) if isinstance(value, (list, tuple)) else []
    return bool(items) and all(isinstance(item, (bool, np.bool_)) or _booleans(item) for item in items)


def _frozen(value: Any) -> Any:
    """A value that can be compared and hashed: arrays as nested tuples."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _short(number: float) -> str:
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


_AXES = "xyz"

#: Names of the elements of a vector (3,), a quaternion (4,) and a matrix (3, 3).
ELEMENTS: dict[tuple[int, ...], tuple[str, ...]] = {
    (3,): tuple(_AXES),
    (4,): ("qw", "qx", "qy", "qz"),
    (3, 3): tuple(row + column for row in _AXES for column in _AXES),
}

#: The shape that each of these words is of; no port may end in one of them.
ELEMENT_SHAPES: dict[str, tuple[int, ...]] = {word: shape for shape, words in ELEMENTS.items() for word in words}


def element_names(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """The name of each number of a port.

    Examples
    --------
    >>> element_names("tool.rotation_matrix", (3, 3))[1]
    'tool.rotation_matrix.xy'
    """
    if not shape:
        return (name,)
    return tuple(f"{name}.{ending}" for ending in ELEMENTS[shape])


def check_name(name: object) -> None:
    """Refuse a value that is not a port name."""
    if isinstance(name, str) and name.isprintable() and name == name.strip():
        entity, dot, quantity = name.rpartition(".")
        if dot and entity and quantity and quantity not in ELEMENT_SHAPES:
            return
    raise ArgumentError(
        f"a port's name is {shown(name)}; expected an entity, a dot and a quantity, such as 'tool.position',"
        f" not ending in an axis ('.x', '.xy')"
    )


def plain(word: str) -> bool:
    """True if a word is valid in the header of a table, where brackets and bars have a meaning."""
    return bool(word) and word.isprintable() and word == word.strip() and not set(word) & set("[]|")
