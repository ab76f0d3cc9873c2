"""One node for each value: what is equal, or opposite, is computed once."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.expr.bounds import Bounds
from linkwise.expr.node import Expr, simplified
from linkwise.expr.order import operations_needed
from linkwise.expr.residues import LARGE, SMALL, Residues


class Facts:
    """What is known of the values of a graph: residues in two fields, and bounds; it grows as the graph is rewritten.

    ``searched`` are the operations for which `combined` has looked for something better.
    """

    def __init__(self) -> None:
        self.residues, self.small, self.bounds = Residues(), Residues(SMALL), Bounds()
        self.searched: set[Expr] = set()

    def learn(self, nodes: Sequence[Expr]) -> None:
        """Take operations in, operands before what takes them."""
        for known in (self.residues, self.small):
            known.learn(nodes)


def merged(outputs: Sequence[Expr], facts: Facts) -> list[Expr]:
    """The same outputs with equal values, and opposite ones, computed once: the oldest stays."""
    nodes = operations_needed(outputs)
    facts.learn(nodes)
    residues, bounds = facts.residues, facts.bounds
    first: dict[int, Expr] = {}
    new: dict[Expr, Expr] = {}
    for node in nodes:
        value = residues[node]
        found = first.setdefault(min(value, LARGE - value), node) if node.op != "neg" else node
        if found is not node and bounds.allows(node, "same", (found,)):
            kept = new[found]
            new[node] = kept if residues[found] == value else simplified("neg", (kept,))
        else:
            new[node] = simplified(node.op, tuple(new.get(arg, arg) for arg in node.args))
    return [new.get(output, output) for output in outputs]
