"""How fast expressions change while their symbols change: the total derivative in time, one pass for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkwise.expr.node import Expr
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.order import operations_needed


def rates(outputs: Sequence[Any], given: Mapping[Expr, Any]) -> list[Any]:
    """The rates of expressions, by the chain rule over the partial derivatives in `linkwise.expr.operations.OPERATIONS`.

    Parameters
    ----------
    outputs : sequence of Expr or float
        What changes.
    given : mapping of Expr to Expr or float
        The rate of each symbol; that of others is 0.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> q, qd = symbol("q"), symbol("qd")
    >>> rates([q.sin() * 2.0, 3.0], {q: qd})
    [Expr(2 * qd * cos(q)), 0.0]
    """
    rate: dict[Expr, Any] = dict(given)
    for node in operations_needed(outputs):
        if not any(arg in rate for arg in node.args):
            continue
        operation = OPERATIONS[node.op]
        if operation.rate is not None:
            rate[node] = operation.rate(node.args, [rate.get(arg, 0.0) for arg in node.args])
            continue
        terms = [
            partial * rate[arg]
            for partial, arg in zip(operation.partials(node, *node.args), node.args, strict=True)
            if arg in rate
        ]
        rate[node] = sum(terms[1:], terms[0])
    return [rate.get(output, 0.0) if isinstance(output, Expr) else 0.0 for output in outputs]
