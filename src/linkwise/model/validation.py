"""The checks of one number, one vector or one transform; each gathers a `Problem` instead of stopping at the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self, get_type_hints

import numpy as np

from linkwise.errors import ArgumentError, ModelError, Problem, choices, members
from linkwise.expr.node import Expr
from linkwise.model.symbolic import content, expression_of, numbers_at, parameters_in, united, with_expressions
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import is_rigid
from linkwise.spatial.validation import real, real_or_empty, unreadable

#: The largest accepted constant angle, rad: a full turn, plus rounding to three places.
TURN = 2.0 * math.pi + 1e-3

#: The largest magnitude of a number of a model; products of a few such numbers (G^2 Jm, m r^2) are finite still.
LARGEST = 1e50

#: A direction this near to a unit vector is one already, so that normalising twice changes nothing.
UNIT_SLACK = 1e-15


_FIELDS: dict[type, tuple[str, ...]] = {}


def field_names(kind: Any) -> tuple[str, ...]:
    """Names of the fields of a dataclass, cached."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(field.name for field in fields(kind))
    return _FIELDS[kind]


class Record:
    """Immutable model data, built by keyword from its fields; equality, hash and pickle go by them."""

    def _assign(self, values: Mapping[str, object]) -> None:
        """Set the fields, once."""
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def _values(self) -> dict[str, Any]:
        """The arguments that make this object."""
        return {name: getattr(self, name) for name in field_names(type(self))}

    def unchecked(self, **values: object) -> Self:
        """A copy with other values for fields, which are not checked."""
        result = object.__new__(type(self))
        result.__dict__.update({name: getattr(self, name) for name in field_names(type(self))}, **values)
        return result

    def _with(self, changes: Mapping[str, Any], known: Mapping[str, Any], item: str) -> dict[str, Any]:
        """The arguments with changes, which must be among the known ones."""
        unknown = sorted(changes.keys() - known.keys())
        if unknown:
            raise ArgumentError(f"{item} has no field {choices(unknown)}; it has {members(known)}")
        return {**known, **changes}

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal objects, hashable."""
        return tuple(map(content, self._values().values()))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Record) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self._values())


def _rebuilt(kind: type[Record], values: dict[str, Any]) -> Record:
    return kind(**values)


class Checker:
    """Collects the problems of one item; `finish` raises them all at once."""

    def __init__(self, item: str) -> None:
        self.item = item
        self.problems: list[Problem] = []

    def report(self, field: str, value: object, expected: str) -> None:
        """Note one problem; also why NumPy would not see all of the value, where that is so."""
        reason = unreadable(value)
        self.problems.append(Problem(self.item, field, value, f"{expected}: it {reason}" if reason else expected))

    def finish(self) -> None:
        """Raise `ModelError` if anything was noted."""
        if self.problems:
            raise ModelError(self.problems)

    def number(
        self,
        field: str,
        value: Any,
        *,
        least: float | None = None,
        most: float = LARGEST,
        default: float = 0.0,
        known: bool = False,
    ) -> float:
        """A finite float of magnitude ``most`` at most, at least ``least``; an expression as it is: its value is not known.

        With ``known`` an expression is refused too. The type says float, for whoever reads a number computes with it the
        same way.
        """
        if type(value) in {float, int} and math.isfinite(value) and abs(value) <= most and (least is None or value >= least):
            return float(value)
        match = None if known else self._expression(field, value)
        if match is not None:
            return match  # type: ignore[no-any-return]
        expected = "a finite number" if least is None else f"a finite number >= {least:g}"
        result = real_or_empty(value)
        if (
            result.ndim
            or isinstance(value, (bool, np.bool_))
            or not np.isfinite(result)
            or (least is not None and result < least)
        ):
            self.report(field, value, expected)
            return default
        if abs(result) > most:
            self.report(field, value, f"{expected} of magnitude {most:g} at most")
            return default
        return float(result)

    def angle(self, field: str, value: Any) -> float:
        """A constant angle, rad, of a turn at most: more is mostly one in degrees. An expression is not judged."""
        result = self.number(field, value)
        if isinstance(result, float) and abs(result) > TURN:
            expected = "rad, and this is more than a turn; if these are degrees, numpy.radians makes radians of them"
            self.report(field, value, expected)
            return 0.0
        return result

    def vector(self, field: str, value: Any, size: int = 3) -> FloatArray:
        """Read-only finite vector of the given size; elements may be expressions."""
        return self.finite(field, value, (size,), f"{size} finite numbers")

    def finite(self, field: str, value: Any, shape: tuple[int, ...], expected: str, *, most: float = LARGEST) -> FloatArray:
        """Read-only finite array of the given shape, elements of magnitude ``most`` at most; zeros after a report.

        With expressions among the elements it is an array of objects.
        """
        try:
            match = None if type(value) is np.ndarray and value.dtype == np.float64 else with_expressions(value)
            result = real(value).copy() if match is None else match
        except (TypeError, ArgumentError):
            result = np.empty(0)
        if result.dtype == object:
            size = 0.0 if all(map(_is_finite, result.flat)) else math.inf
        else:
            size = float(np.abs(result).max(initial=0.0))
        if result.shape != shape or not math.isfinite(size):
            self.report(field, value, expected)
            result = np.zeros(shape)
        elif size > most:
            self.report(field, value, f"{expected} of magnitude {most:g} at most")
            result = np.zeros(shape)
        return frozen(result)

    def direction(self, field: str, value: Any) -> FloatArray:
        """Read-only unit vector (3,) along the given one; along z after a report."""
        known = len(self.problems)
        vector = self.finite(field, value, (3,), "3 finite numbers", most=math.inf)
        if vector.dtype == object:
            self.report(field, value, "3 finite numbers (for a direction with symbols give before= or a DH row)")
            return frozen(np.array([0.0, 0.0, 1.0]))
        length = math.hypot(*vector.tolist())
        if len(self.problems) == known and not 0 < length < math.inf:
            self.report(field, value, "a vector other than zero")
        if len(self.problems) > known:
            return frozen(np.array([0.0, 0.0, 1.0]))
        return vector if abs(length - 1.0) <= UNIT_SLACK else frozen(np.asarray(vector / length))

    def rigid(self, field: str, value: Any) -> FloatArray:
        """Read-only rigid transform (4, 4); None means the identity."""
        if value is None:
            return frozen(np.eye(4))
        expected = "a rigid transform (4, 4): orthonormal right-handed rotation, last row 0 0 0 1"
        result = self.finite(field, value, (4, 4), expected)
        if not self.problems or self.problems[-1].field != field:
            if not _is_rigid(result):
                self.report(field, value, expected)
            else:
                return result
        return frozen(np.eye(4))

    def _expression(self, field: str, value: Any) -> Any:
        """The expression that a value is; None for anything else."""
        try:
            return expression_of(value)
        except TypeError:
            self.report(field, value, "a number, or an expression in linkwise.symbols")
        except ArgumentError as error:  # SymPy's, with something in it that is not computed here
            self.report(field, value, f"a number, or a real expression: {error}")
        return 0.0

    def one_of_each_name(self, parameters: Sequence[Expr]) -> dict[Expr, Expr]:
        """Replacements that make symbols of one name identical; reports SymPy symbols that share a name."""
        replacements, conflicts = united(parameters)
        for name, symbols in conflicts.items():
            from linkwise.extras import sympy_module

            both = " and ".join(map(sympy_module().srepr, symbols))
            self.report("symbols", symbols, f"one symbol called {name!r}, with the same assumptions everywhere, not {both}")
        return replacements

    def flag(self, field: str, value: Any) -> bool:
        """True or False, nothing that merely counts as such."""
        if not isinstance(value, (bool, np.bool_)):
            self.report(field, value, "True or False")
        return bool(value) if isinstance(value, (bool, np.bool_)) else False

    def word(self, field: str, value: Any, expected: str = "a word, or None", *, needed: bool = False) -> str | None:
        """A word, or None unless one is needed; None as well after a report."""
        if (value is None and not needed) or (isinstance(value, str) and value.strip()):
            return value
        self.report(field, value, expected)
        return None

    def several(self, field: str, values: Any, kind: type, expected: str) -> tuple[Any, ...]:
        """Objects of a kind as a tuple; nothing after a report."""
        result = items(values)
        if all(isinstance(value, kind) for value in result):
            return result
        self.report(field, values, f"a sequence of {expected}")
        return ()

    def known(self, item: str, field: str, name: Any, names: Sequence[Any]) -> None:
        """Report a name in a field of something else than the item, where it is not among the known names."""
        if name not in names:
            self.problems.append(Problem(item, field, name, choices(names)))

    def choice(self, field: str, value: Any, allowed: Iterable[str]) -> str:
        """One of the allowed keywords."""
        names = tuple(allowed)
        if not isinstance(value, str) or value not in names:
            self.report(field, value, choices(names))
            return names[0]
        return value


#: Validates the value of a field, reports its errors, and returns it in the stored form.
Read = Callable[[Checker, str, Any], Any]


def unset_or(read: Read) -> Read:
    """The check of a field that may be None."""
    return lambda check, field, value: None if value is None else read(check, field, value)


class CheckedRecord(Record):
    """A record whose fields are read by their annotations, ``Annotated[type, read]``, then checked together."""

    _word: ClassVar[str]
    _reads: ClassVar[dict[str, Read]]

    def __init_subclass__(cls) -> None:
        hints = get_type_hints(cls, include_extras=True).items()
        cls._reads = {name: hint.__metadata__[0] for name, hint in hints if hasattr(hint, "__metadata__")}

    def __post_init__(self) -> None:
        check = Checker(self._item)
        arguments = self._values()
        self._assign({name: read(check, name, arguments[name]) for name, read in self._reads.items()})
        self._check(check, arguments)
        check.finish()

    @property
    def _item(self) -> str:
        """Name of the record in messages."""
        name = getattr(self, "name", None)
        return f"{self._word} {name!r}" if isinstance(name, str) and name else self._word

    def _check(self, check: Checker, arguments: Mapping[str, Any]) -> None:
        """Report inconsistent fields, from the arguments and the stored values."""


def _is_finite(value: Any) -> bool:
    """True if an element is a finite number, or an expression."""
    return not isinstance(value, float) or math.isfinite(value)


def _is_rigid(t: Any) -> bool:
    """True if an array is a rigid transform; with expressions, if it is one at three random points."""
    if t.dtype != object:
        return is_rigid(t)
    symbols, rng = parameters_in([t]), np.random.default_rng(0)
    points = rng.uniform(0.2, 1.2, (3, len(symbols)))
    return all(is_rigid(numbers_at(t, dict(zip(symbols, point.tolist(), strict=True)))) for point in points)


def items(values: Any) -> tuple[Any, ...]:
    """The elements of an iterable other than a word; anything else itself, as the only element."""
    try:
        return (values,) if isinstance(values, (str, bytes)) else tuple(values)
    except TypeError:
        return (values,)


def frozen(values: FloatArray) -> FloatArray:
    """The same array, closed to writing."""
    values.setflags(write=False)
    return values
