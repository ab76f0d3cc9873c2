"""Expressions in named parameters as plain data: what pickles, and what is equal for equal expressions."""

from __future__ import annotations

from typing import Any

from linkwise.expr.node import Expr, constant, interned, is_parameter, ordered, origin_of, parameter
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.order import schedule

Steps = tuple[tuple[str, Any], ...]
"""Each node, operands first: (op, value) of a leaf, (op, places of the operands) of an operation.

The value of a symbol that was read from another object is the pair of its name and that object.
"""


def reduced(node: Expr) -> tuple[Any, ...]:
    """What `object.__reduce__` gives of an expression whose symbols are all parameters.

    Raises
    ------
    TypeError
        Where it depends on a symbol that only lives in one graph.
    """
    return rebuilt, (steps_of(node),)


def steps_of(node: Expr) -> Steps:
    """The expression as plain data."""
    places: dict[Expr, int] = {}
    made: list[tuple[str, Any]] = []
    for k, part in enumerate(schedule([node]) or [node]):
        if part.op == "symbol" and not is_parameter(part):
            raise TypeError("an expression alone does not pickle; a kernel's graph does")
        places[part] = k
        origin = origin_of(part)
        value = part.value if origin is None else (part.value, origin)
        made.append((part.op, tuple(places[arg] for arg in part.args) if part.args else value))
    return tuple(made)


def rebuilt(steps: Steps) -> Expr:
    """The expression that `steps_of` wrote down."""
    made: list[Expr] = []
    for op, what in steps:
        if op == "symbol":
            made.append(parameter(*what) if isinstance(what, tuple) else parameter(what))
        elif op == "const":
            made.append(constant(what))
        else:
            args = tuple(made[k] for k in what)
            made.append(interned(op, ordered(args) if OPERATIONS[op].commutes else args))
    return made[-1]
