"""The value of expressions: on plain floats, the reference for every lowering, and on scalars of any kind."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwise.expr.node import Expr, is_parameter, symbol
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.ordering import operations_needed, schedule
from linkwise.spatial.scalar import Array, atan2, cos_sin, is_number, root, select, sign

_ON_SCALARS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "sqrt": root,
    "sign": sign,
    "sin": lambda angle: cos_sin(angle)[1],
    "cos": lambda angle: cos_sin(angle)[0],
    "atan2": atan2,
    "select": select,
}


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


def substitute(outputs: Array, values: Mapping[Expr, Any]) -> Array:
    """Compute the outputs, of any shape, with scalars of any kind in the place of symbols.

    Parameters
    ----------
    outputs : ndarray of Expr and float
        What to compute.
    values : mapping
        A float, an expression or a SymPy symbol for each symbol that is replaced; others stay.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> x, y = symbol("x"), symbol("y")
    >>> substitute(np.array([x * x, 2.0]), {x: y + 1.0})
    array([Expr((1 + y) * (1 + y)), 2.0], dtype=object)
    """
    known = {node: value for node, value in values.items() if node is not value}
    for node in operations_needed(outputs.flat) if known else ():
        args = [arg.value if arg.op == "const" else known.get(arg, arg) for arg in node.args]
        exact = node.op in {"cos", "sin"} or not all(map(is_number, args))
        known[node] = (_ON_SCALARS[node.op] if exact else OPERATIONS[node.op].value)(*args)
    results = np.empty(outputs.shape, dtype=object)
    for place in np.ndindex(outputs.shape):
        output: Any = outputs[place]
        results[place] = known.get(output, output) if isinstance(output, Expr) else output
    return results


def as_symbols(*arrays: Array) -> list[list[Expr]]:
    """Symbols for differentiation, which `substitute` replaces by values afterwards.

    The values themselves where they are different symbols, none of them of a mechanism; else new ones. Symbols that stay
    cost fewer operations than those that are replaced.
    """
    scalars = [value for values in arrays for value in values]
    free = all(isinstance(value, Expr) and value.op == "symbol" and not is_parameter(value) for value in scalars)
    if free and len(set(scalars)) == len(scalars):
        return [list(values) for values in arrays]
    return [[symbol(f"x{k}") for k in range(len(values))] for values in arrays]
