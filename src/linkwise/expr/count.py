"""Number of operations of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from linkwise.expr.node import Expr
from linkwise.expr.ordering import operations_needed

_COUNTED_AS = {"sub": "add"}


def operation_count(outputs: Sequence[Any]) -> dict[str, int]:
    """Count the operations that the outputs take, by kind; subtractions are counted as ``add``.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> x = symbol("x")
    >>> operation_count([x * x + x.sin()])
    {'mul': 1, 'add': 1, 'sin': 1}
    """
    return counted(node.op for node in operations_needed(outputs))


#: Cost of an operation where two computations are compared; an addition or a multiplication costs 1.
EFFORT = {"neg": 0, "div": 4, "sqrt": 5, "sin": 8, "cos": 8, "atan2": 20}


def effort(operations: Iterable[Expr]) -> int:
    """Cost of operations, in additions and multiplications.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> x = symbol("x")
    >>> effort(operations_needed([x * x + x.sin()]))
    10
    """
    return sum(EFFORT.get(node.op, 1) for node in operations)


def counted(operations: Iterable[str]) -> dict[str, int]:
    """Count names of operations by kind."""
    kinds = Counter(_COUNTED_AS.get(op, op) for op in operations)
    order = ("mul", "add", "div", "sqrt", "sin", "cos", "atan2", "neg", "abs", "sign", "select")
    return {kind: kinds[kind] for kind in order if kinds[kind]}
