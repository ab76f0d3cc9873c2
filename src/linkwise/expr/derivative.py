"""Exact derivatives of a graph, as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.order import schedule
from linkwise.spatial.scalar import Array


def derivative(outputs: Sequence[Any], variables: Sequence[Expr]) -> Array:
    """Return d outputs / d variables, (len(outputs), len(variables)), dtype object.

    Forward mode: each node's derivative once per variable, shared by all outputs, by the chain rule over the partial
    derivatives in `linkwise.expr.operations.OPERATIONS`; a selection's is the selection of the derivatives.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> x = symbol("x")
    >>> str(derivative([x.sin() * x], [x])[0, 0])
    'sin(x) + x * cos(x)'
    """
    nodes = schedule(outputs)
    partials: dict[Expr, tuple[Any, ...]] = {}
    table = np.zeros((len(outputs), len(variables)), dtype=object)
    for column, variable in enumerate(variables):
        rate: dict[Expr, Any] = {variable: 1.0}
        for node in nodes:
            if not any(arg in rate for arg in node.args):
                continue
            operation = OPERATIONS[node.op]
            if operation.rate is not None:
                rate[node] = operation.rate(node.args, [rate.get(arg, 0.0) for arg in node.args])
                continue
            if node not in partials:
                partials[node] = operation.partials(node, *node.args)
            terms = [p * rate[arg] for p, arg in zip(partials[node], node.args, strict=True) if arg in rate]
            rate[node] = sum(terms[1:], terms[0])
        for row, output in enumerate(outputs):
            table[row, column] = rate.get(output, 0.0) if isinstance(output, Expr) else 0.0
    return table
