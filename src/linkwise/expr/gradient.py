"""The derivatives of one expression by many symbols, in a few times its own operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.expr.node import Expr
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.order import operations_needed


def gradient(output: Any, variables: Sequence[Expr]) -> list[Any]:
    """Return d output / d variables, in reverse mode: from the result back to the symbols, each operation once.

    S. Linnainmaa, "Taylor expansion of the accumulated rounding error", BIT 16, 1976.

    Parameters
    ----------
    output : Expr or float
        A scalar.
    variables : sequence of Expr
        Symbols.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> x, y = symbol("x"), symbol("y")
    >>> gradient(x * y + x, [x, y])
    [Expr(1 + y), Expr(x)]
    """
    felt: dict[Expr, Any] = {output: 1.0} if isinstance(output, Expr) else {}
    for node in reversed(operations_needed([output])):
        share = felt.pop(node, 0.0)
        for arg, partial in zip(node.args, OPERATIONS[node.op].partials(node, *node.args), strict=True):
            if arg.op != "const":
                felt[arg] = felt.get(arg, 0.0) + share * partial
    return [felt.get(variable, 0.0) for variable in variables]
