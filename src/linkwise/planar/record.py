"""Common base of planar links and loops: frozen fields, equality by value, checked replacement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

from linkwise.errors import ArgumentError, choices, members
from linkwise.expr.node import Expr
from linkwise.model.symbolic import substituted


class Record:
    """A frozen dataclass whose constructor checks all fields."""

    numeric: ClassVar[tuple[str, ...]]
    """Fields that may hold symbols."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal ones, hashable."""
        raise NotImplementedError

    def replace(self, **changes: Any) -> Self:
        """The same with other values for some fields (any argument of the constructor); checked again.

        Raises
        ------
        ArgumentError
            Naming the fields there are.

        Examples
        --------
        >>> from linkwise import planar
        >>> planar.Link(name="rod").replace(a=2.0).a
        2.0
        """
        values = self._values()
        unknown = sorted(changes.keys() - values.keys())
        if unknown:
            kind = type(self).__name__.lower()
            raise ArgumentError(f"a planar {kind} has no field {choices(unknown)}; it has {members(values)}")
        return type(self)(**{**values, **changes})

    def substituted(self, numbers: Mapping[Expr, Any]) -> Self:
        """The same with numbers, or other expressions, put in for symbols; checked again."""
        return self.replace(**{field: substituted(getattr(self, field), numbers) for field in self.numeric})

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._values())


def _rebuild(kind: type[Record], values: dict[str, Any]) -> Record:
    return kind(**values)


def number_text(value: Any) -> str:
    """A number, or an expression, as messages and tables show it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def point_text(point: Any) -> str:
    """A point or a triple as messages and tables show it."""
    return f"({', '.join(map(number_text, point))})"
