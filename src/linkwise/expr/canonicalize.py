"""Copy of a graph on its own symbols, independent of other graphs in memory."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from linkwise.expr.node import Expr, simplified, symbol
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.ordering import operations_needed


def made_anew(outputs: Sequence[Any], parameters: Sequence[Expr]) -> tuple[list[Any], list[Expr]]:
    """The same outputs with new symbols in the places of parameters, and these symbols.

    Parameters of one name are one symbol, so expressions of parameters alone are shared with all graphs that have them, and
    are as old as the first of these; what commutes, and what is computed first, is ordered by age. Here they are made again,
    each just before what takes it first, the operands of what commutes in an order of their own.

    Parameters
    ----------
    outputs : sequence of Expr or float
        What is computed. Numbers stay.
    parameters : sequence of Expr
        The symbols made by `parameter` that the outputs depend on; all others are nobody else's.

    Examples
    --------
    >>> from linkwise.expr.node import parameter
    >>> b, a, q = parameter("b"), parameter("a"), symbol("q")
    >>> made, (new_a, new_b) = made_anew([q * (a * b)], [a, b])
    >>> made[0], a in made[0].args[0].args
    (Expr(q * a * b), False)
    """
    new: dict[Expr, Expr] = {node: symbol(str(node.value)) for node in parameters}
    keys = {node: k.to_bytes(4, "big") for k, node in enumerate(parameters)}
    for node in operations_needed(outputs):
        if all(arg in keys or arg.op == "const" for arg in node.args):
            keys[node] = _key(node, keys)
    for node in operations_needed(outputs):
        if node not in keys:
            for arg in node.args:
                _make(arg, keys, new)
            new[node] = simplified(node.op, tuple(new.get(arg, arg) for arg in node.args))
    for output in outputs:
        if isinstance(output, Expr):
            _make(output, keys, new)
    results = [new.get(output, output) if isinstance(output, Expr) else output for output in outputs]
    return [node.value if isinstance(node, Expr) and node.op == "const" else node for node in results], [
        new[node] for node in parameters
    ]


def _key(node: Expr, keys: dict[Expr, bytes]) -> bytes:
    """Short key of an expression of parameters, independent of the order of commuting operands."""
    parts = [float(arg.value).hex().encode() if arg.op == "const" else keys[arg] for arg in node.args]
    parts = sorted(parts) if OPERATIONS[node.op].commutes else parts
    return blake2b(b"/".join([node.op.encode(), *parts]), digest_size=16).digest()


def _make(wanted: Expr, keys: dict[Expr, bytes], new: dict[Expr, Expr]) -> None:
    """Build an expression of parameters, after its operands."""
    waiting = [wanted] if wanted in keys else []
    while waiting:
        node = waiting.pop()
        missing = [arg for arg in node.args if arg in keys and arg not in new]
        if missing:
            waiting += [node, *sorted(missing, key=keys.__getitem__, reverse=True)]
        elif node not in new:
            new[node] = simplified(node.op, tuple(new.get(arg, arg) for arg in node.args))
