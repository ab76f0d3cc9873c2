"""Exact derivatives of a graph, as a graph: forward, in reverse, and in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.ordering import operations_needed, schedule
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
    columns = [_forward(nodes, {variable: 1.0}, partials) for variable in variables]
    table = np.zeros((len(outputs), len(variables)), dtype=object)
    for place in np.ndindex(table.shape):
        output = outputs[place[0]]
        table[place] = columns[place[1]].get(output, 0.0) if isinstance(output, Expr) else 0.0
    return table


def _forward(nodes: Sequence[Expr], seeds: Mapping[Expr, Any], partials: dict[Expr, tuple[Any, ...]]) -> dict[Expr, Any]:
    """The rates of nodes, operands first, from those of symbols; `partials` keeps the partial derivatives of operations."""
    rate = dict(seeds)
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
    return rate


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


def rates(outputs: Sequence[Any], seeds: Mapping[Expr, Any]) -> list[Any]:
    """The rates of expressions, by the chain rule over the partial derivatives in `linkwise.expr.operations.OPERATIONS`.

    Parameters
    ----------
    outputs : sequence of Expr or float
        What changes.
    seeds : mapping of Expr to Expr or float
        The rate of each symbol; that of others is 0.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> q, qd = symbol("q"), symbol("qd")
    >>> rates([q.sin() * 2.0, 3.0], {q: qd})
    [Expr(2 * qd * cos(q)), 0.0]
    """
    rate = _forward(operations_needed(outputs), seeds, {})
    return [rate.get(output, 0.0) if isinstance(output, Expr) else 0.0 for output in outputs]
