"""Fields of an object that changes: each value is checked as it is assigned, and every change can be noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from linkwise.errors import LinkwiseError, members
from linkwise.expr.node import Expr
from linkwise.model.inertia import tensor_from
from linkwise.model.validation import Checker, frozen
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import real

T = TypeVar("T")


class FieldError(LinkwiseError, AttributeError):
    """An unknown field, or one that cannot be assigned."""


class Field(Generic[T]):
    """One field: it returns values of one type, and accepts whatever its check converts to it.

    Parameters
    ----------
    check : callable
        From a `Checker`, the field's name and the value given to the value kept; reports what is wrong.
    doc : str
        What the field holds, with its unit.
    """

    def __init__(self, check: Callable[[Checker, str, Any], T], doc: str) -> None:
        self.check, self.__doc__ = check, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, thing: None, owner: type) -> Self: ...
    @overload
    def __get__(self, thing: Fields, owner: type) -> T: ...
    def __get__(self, thing: Fields | None, owner: type) -> T | Self:
        if thing is None:
            return self
        value: T = thing.__dict__[self.name]
        return value

    def __set__(self, thing: Fields, value: Any) -> None:
        thing.assign({self.name: value})


class Fields:
    """An object with `Field`s only; arrays that are read from it are read-only."""

    _kind = "object"

    def assign(self, values: dict[str, Any], item: str | None = None) -> None:
        """Assign several fields, all or none.

        Raises
        ------
        ModelError
            With every problem found, under the name `item`.
        """
        check = Checker(item or self._kind)
        for name, value in values.items():
            if holds_symbols(value):
                check.report(name, value, "numbers; linkwise.Link.dh and robot.mechanism().symbolic() take symbols")
        check.finish()
        checked = {name: getattr(type(self), name).check(check, name, value) for name, value in values.items()}
        check.finish()
        self.__dict__.update(checked, _stamp=object())

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """Return the names of the fields, in order."""
        return tuple(name for name, member in vars(cls).items() if isinstance(member, Field))

    @property
    def stamp(self) -> object:
        """Identity of the values: another object after each change."""
        return self.__dict__["_stamp"]

    def __setattr__(self, name: str, value: Any) -> None:
        member = getattr(type(self), name, None)
        if _is_settable(member):
            object.__setattr__(self, name, value)
            return
        settable = [key for key, member in vars(type(self)).items() if _is_settable(member)]
        problem = f"has no field {name!r}" if member is None else f"does not take {name}"
        raise FieldError(f"a {self._kind} {problem}; fields that can be assigned are {members(settable)}")

    def __delattr__(self, name: str) -> None:
        raise FieldError(f"the fields of a {self._kind} stay; assign another value to {name}")


def _is_settable(member: Any) -> bool:
    return isinstance(member, Field) or (isinstance(member, property) and member.fset is not None)


# ── checks ────────────────────────────────────────────────────────────────────────────────────────


def is_empty(value: Any) -> bool:
    """True if the value means that a field is not set: None, or an empty sequence."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(item, (list, tuple, np.ndarray)) and is_empty(item) for item in value)
    return value is None or (isinstance(value, np.ndarray) and value.size == 0)


def holds_symbols(value: Any) -> bool:
    """True if a value is an expression with symbols, of Linkwise or of SymPy, or a sequence with one."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object and value.ndim):
        return any(map(holds_symbols, value))
    return isinstance(value, Expr) or bool(getattr(value, "free_symbols", None))


def text(check: Checker, field: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        check.report(field, value, "a text")
        return ""
    return value


def not_negative(check: Checker, field: str, value: Any) -> float:
    """A finite number, at least 0."""
    return check.number(field, value, least=0.0)


def joint_type(check: Checker, field: str, value: Any) -> int:
    """0 for revolute; 1 for whatever else, prismatic."""
    return int(check.number(field, value) != 0)


def convention(check: Checker, field: str, value: Any) -> int:
    """0 for standard, 1 for modified."""
    number = _real(value)
    if number.ndim or number not in (0.0, 1.0):
        check.report(field, value, "0 (standard) or 1 (modified)")
    return int(not number.ndim and bool(number))


def vector3(check: Checker, field: str, value: Any) -> FloatArray:
    """Three finite numbers, in a row or in a column."""
    return check.vector(field, _in_a_row(value))


def tensor(check: Checker, field: str, value: Any) -> FloatArray:
    """A symmetric matrix from a matrix, from its diagonal, or from Ixx Iyy Izz Ixy Iyz Ixz."""
    return tensor_from(check, value, field)


def coulomb(check: Checker, field: str, value: Any) -> FloatArray:
    """Tc+ >= 0 and Tc- <= 0, or one number for both."""
    pair = _real(value)
    if pair.ndim == 0:
        pair = np.array([pair, -pair])
    if pair.shape != (2,) or not np.isfinite(pair).all() or pair[0] < 0 or pair[1] > 0:
        check.report(field, value, "one number >= 0 for both directions, or Tc+ >= 0 and Tc- <= 0")
    return frozen(pair + 0.0)


def limits(check: Checker, field: str, value: Any) -> FloatArray:
    """Least and greatest coordinate."""
    pair = _real(value).copy()
    if pair.shape != (2,) or not pair[0] <= pair[1]:
        check.report(field, value, "two numbers, the least and the greatest coordinate, or None")
    return frozen(pair)


def unset_or(check_value: Callable[[Checker, str, Any], T]) -> Callable[[Checker, str, Any], T | None]:
    """The same check, which takes None and an empty list for "not set"."""

    def checked(check: Checker, field: str, value: Any) -> T | None:
        return None if is_empty(value) else check_value(check, field, value)

    return checked


def _real(value: Any) -> FloatArray:
    """Real numbers, as a row or a column; empty for other values."""
    try:
        return real(_in_a_row(value))
    except TypeError:
        return np.empty(0)


def _in_a_row(value: Any) -> Any:
    """A matrix of one row or of one column as a vector; anything else as it is."""
    if not isinstance(value, (list, tuple, np.ndarray)):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths, which the check of the field refuses
        return value
    return array.ravel() if array.ndim == 2 and 1 in array.shape else value
