"""Exact derivatives of a graph, as a graph: forward, in reverse, and in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.ordering import operations_needed, schedule
from linkwise.spatial.scalar import Array, is_number, select

#: Region of a node that is used for every selection.
_EVERYWHERE = 1.0


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
    """Return d output / d variables, in reverse mode: see `pullback`.

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
    return pullback([output], [1.0], variables)


def pullback(outputs: Sequence[Any], weights: Sequence[Any], variables: Sequence[Expr]) -> list[Any]:
    """Return weights · d outputs / d variables, in reverse mode: from the results back to the symbols, each operation once.

    S. Linnainmaa, "Taylor expansion of the accumulated rounding error", BIT 16, 1976. What a selection does not choose adds
    exactly nothing, even where its own derivatives are not finite.

    Parameters
    ----------
    outputs : sequence of Expr or float
        What is differentiated.
    weights : sequence of Expr or float
        One for each output; they are held.
    variables : sequence of Expr
        Symbols.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> x, y, w = symbol("x"), symbol("y"), symbol("w")
    >>> pullback([x * y, y.sin()], [w, 2.0], [x, y])
    [Expr(y * w), Expr(2 * cos(y) + x * w)]
    """
    roots = [(output, weight) for output, weight in zip(outputs, weights, strict=True) if isinstance(output, Expr)]
    depending = set(variables)
    nodes = []
    for node in operations_needed([output for output, _ in roots]):
        if not depending.isdisjoint(node.args):
            depending.add(node)
            nodes.append(node)
    regions = _regions(nodes, [*variables, *(output for output, _ in roots)])
    totals: dict[Expr, Any] = {}
    for output, weight in roots:
        totals[output] = totals.get(output, 0.0) + weight
    for node in reversed(nodes):
        operation, total, region = OPERATIONS[node.op], totals.pop(node, 0.0), regions.get(node, _EVERYWHERE)
        if operation.regions is None:
            terms = [(total * partial, region) for partial in operation.partials(node, *node.args)]
        else:
            terms = [(total, chosen) for chosen in operation.regions(region, *node.args)]
        for arg, (term, chosen) in zip(node.args, terms, strict=True):
            if arg in depending:
                inside = chosen is regions.get(arg, _EVERYWHERE)
                totals[arg] = totals.get(arg, 0.0) + (term if inside else select(chosen, term, 0.0))
    return [totals.get(variable, 0.0) for variable in variables]


def _regions(nodes: Sequence[Expr], ends: Sequence[Expr]) -> dict[Expr, Any]:
    """Region of each node, operands first, in which it affects the results: a positive scalar there; omitted for everywhere.

    The ends, results and variables, count everywhere: there what comes from a smaller region is set to 0 outside of it.
    """
    if all(OPERATIONS[node.op].regions is None for node in nodes):
        return {}
    parts: dict[Expr, list[Any]] = {node: [_EVERYWHERE] for node in ends}
    regions: dict[Expr, Any] = {}

    def region_of(node: Expr) -> Any:
        if node not in regions:
            places = parts.get(node, [])
            regions[node] = _EVERYWHERE if any(is_number(x) and x > 0 for x in places) else sum(dict.fromkeys(places), 0.0)
        return regions[node]

    for node in reversed(nodes):
        region, of_args = region_of(node), OPERATIONS[node.op].regions
        for arg, chosen in zip(
            node.args, of_args(region, *node.args) if of_args else [region] * len(node.args), strict=True
        ):
            parts.setdefault(arg, []).append(chosen)
    return {node: region_of(node) for node in parts}


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
