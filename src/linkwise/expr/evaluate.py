"""The value of expressions on plain floats: the reference that every lowering is tested against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkwise.expr.node import Expr
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.order import schedule


def evaluate(outputs: Sequence[Any], values: Mapping[Expr, float]) -> list[float]:
    """Compute the outputs one operation at a time, in float64.

    Parameters
    ----------
    outputs : sequence of Expr or float
        What to compute.
    values : mapping
        The number for each symbol.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> x = symbol("x")
    >>> evaluate([x * x + 1.0], {x: 3.0})
    [10.0]
    """
    known: dict[Expr, float] = {}
    for node in schedule(outputs):
        if node.op == "const":
            known[node] = node.value
        elif node.op == "symbol":
            known[node] = float(values[node])
        else:
            known[node] = OPERATIONS[node.op].value(*(known[arg] for arg in node.args))
    return [known[node] if isinstance(node, Expr) else float(node) for node in outputs]
