"""Common base of planar links and loops: frozen fields, equality by value, checked replacement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from linkwise.expr.node import Expr
from linkwise.model.symbolic import substituted
from linkwise.model.validation import Checker, Record


class PlanarRecord(Record):
    """A link or a loop of the plane."""

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
        return type(self)(**self._with(changes, self._values(), f"a planar {type(self).__name__.lower()}"))

    def substituted(self, numbers: Mapping[Expr, Any]) -> Self:
        """The same with numbers, or other expressions, put in for symbols; checked again."""
        return type(self)(**{field: substituted(value, numbers) for field, value in self._values().items()})


def word(check: Checker, field: str, value: Any, expected: str = "a word, or None") -> str | None:
    """A word; None after a report."""
    if isinstance(value, str) and value.strip():
        return value
    check.report(field, value, expected)
    return None


def number_text(value: Any) -> str:
    """A number, or an expression, as messages and tables show it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def point_text(point: Any) -> str:
    """A point or a triple as messages and tables show it."""
    return f"({', '.join(map(number_text, point))})"
