"""The order in which a graph is computed, chosen so that few values are alive at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from linkwise.expr.node import Expr


def schedule(outputs: Sequence[Any]) -> list[Expr]:
    """Every node that the outputs need, operands first, each once.

    Depth first, the operand that needs more registers first (R. Sethi, J. D. Ullman, "The generation of optimal code for
    arithmetic expressions", J. ACM 17(4), 1970; on a graph with shared nodes it is a good heuristic, not the optimum).

    Parameters
    ----------
    outputs : sequence of Expr or float
        Numbers are skipped.
    """
    roots = [node for node in outputs if isinstance(node, Expr)]
    need = _register_need(roots)
    return _postorder(roots, lambda node: sorted(node.args, key=lambda arg: -need[arg]))


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
