"""The order in which a graph is computed, chosen so that few values are alive at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from linkwise.expr.node import Expr


def schedule(outputs: Sequence[Any]) -> list[Expr]:
    """Every node that the outputs need, operands first, each once.

    Of two orders the one in which fewer values wait at a time: the order in which the nodes were made, which suits a
    recursion, for it goes on with what it has just computed; and depth first, the operand that needs more registers first,
    which is the best for a tree (R. Sethi, J. D. Ullman, "The generation of optimal code for arithmetic expressions",
    J. ACM 17(4), 1970).

    Parameters
    ----------
    outputs : sequence of Expr or float
        Numbers are skipped.
    """
    roots = [node for node in outputs if isinstance(node, Expr)]
    need = _register_need(roots)
    deep = _postorder(roots, lambda node: sorted(node.args, key=lambda arg: -need[arg]))
    made = sorted(deep, key=lambda node: node.serial)
    return min((made, deep), key=most_alive)


def most_alive(order: Sequence[Expr]) -> int:
    """The greatest number of values that are computed and still needed at some time, in an order of computation."""
    last = {arg: k for k, node in enumerate(order) for arg in node.args}
    ending = Counter(last[node] for node in order if node.args and node in last)
    alive = most = 0
    for k, node in enumerate(order):
        alive += bool(node.args and node in last)
        most = max(most, alive)
        alive -= ending[k]
    return most


def _register_need(roots: Iterable[Expr]) -> dict[Expr, int]:
    """The Sethi-Ullman number of each node, as if the graph were a tree."""
    need: dict[Expr, int] = {}
    for node in _postorder(roots, lambda node: node.args):
        inner = sorted((need[arg] for arg in node.args if arg.op != "const"), reverse=True)
        need[node] = max((value + k for k, value in enumerate(inner)), default=0 if node.op == "const" else 1)
    return need


def _postorder(roots: Iterable[Expr], children: Any) -> list[Expr]:
    done: dict[Expr, None] = {}
    for root in roots:
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            node, expanded = stack.pop()
            if node in done:
                continue
            if expanded:
                done[node] = None
                continue
            stack.append((node, True))
            stack += [(arg, False) for arg in reversed(list(children(node))) if arg not in done]
    return list(done)
