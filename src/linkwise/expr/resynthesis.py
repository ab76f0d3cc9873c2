"""Replace long computations of a value by one operation on two other values of the graph."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from linkwise.expr.count import effort
from linkwise.expr.cse import LARGE, SMALL, Facts, Residues
from linkwise.expr.node import Expr, simplified
from linkwise.expr.ordering import operations_needed

#: Greatest number of pairs examined in one pass; the remaining operations are unchanged.
BUDGET = 1_500_000

#: Pairs examined at a time.
BLOCK = 30_000

_DIRECT = {"add", "sub", "mul"}

Residue = npt.NDArray[np.uint64]

#: An operation, its operands, and whether its result is to be negated.
Replacement = tuple[str, tuple[Expr, ...], bool]


def combined(outputs: Sequence[Expr], facts: Facts) -> list[Expr]:
    """The same outputs, with sum, difference or product of two known values in place of long computations."""
    nodes = operations_needed(outputs)
    facts.learn(nodes)
    choice = _Choice(nodes, outputs, facts)
    replaced = {node: match for node in reversed(nodes) for match in choice.best(node)}
    if not replaced:
        return list(outputs)
    new: dict[Expr, Expr] = {}
    for node in nodes:
        op, args, negated = replaced.get(node, (node.op, node.args, False))
        result = simplified(op, tuple(new.get(arg, arg) for arg in args))
        new[node] = simplified("neg", (result,)) if negated else result
    return [new.get(output, output) for output in outputs]


class _Pairs:
    """Pairs of older values that give operations of a graph by one operation."""

    def __init__(self, nodes: Sequence[Expr], wanted: Sequence[Expr], facts: Facts) -> None:
        self._residues, small = facts.residues, facts.small
        self._age = {node: k for k, node in enumerate(dict.fromkeys([*_leaves(nodes), *nodes]))}
        self._by_value: dict[int, Expr] = {}
        for node in self._age:
            if node.op != "neg":
                self._by_value.setdefault(min(small[node], SMALL - small[node]), node)
        self._pool = list(self._by_value.values())
        self._ages = [self._age[node] for node in self._pool]
        self._values = np.array([small[node] for node in self._pool], dtype=np.uint64)
        self._inverses = np.array([pow(v, -1, SMALL) if v else 0 for v in self._values.tolist()], dtype=np.uint64)
        self._mask = np.uint64((1 << (20 if len(self._pool) < 1000 else 23)) - 1)
        self._known = np.zeros(int(self._mask) + 1, dtype=bool)
        self._known[self._values & self._mask] = True
        self._known[(np.uint64(SMALL) - self._values) & self._mask] = True
        self.of: dict[Expr, list[Replacement]] = {}
        size = max(1, BLOCK // max(len(self._pool), 1))
        limit = BUDGET // max(len(self._pool), 1)
        for start in range(0, min(len(wanted), limit), size):
            self._block(wanted[start : start + size], small)

    def _block(self, wanted: Sequence[Expr], small: Residues) -> None:
        """The pairs for some operations."""
        outputs = np.array([[small[node]] for node in wanted], dtype=np.uint64)
        count = bisect_left(self._ages, self._age[wanted[-1]])
        prime, older, inverses = np.uint64(SMALL), self._values[None, :count], self._inverses[None, :count]
        for node, x, y in self._matches(wanted, _reduced(outputs * inverses)):
            product = self._residues[x] * self._residues[y] % LARGE
            if product in (self._residues[node], LARGE - self._residues[node]):
                self._add(node, "mul", (x, y), product != self._residues[node])
        for node, x, y in self._matches(wanted, _reduced(outputs + (prime - older))):
            value, first, second = self._residues[node], self._residues[x], self._residues[y]
            if (first + second - value) % LARGE == 0:
                self._add(node, "add", (x, y), False)
            elif (first - second - value) % LARGE == 0:
                self._add(node, "sub", (x, y), False)
        for node, x, y in self._matches(wanted, _reduced(outputs + older)):
            value, first, second = self._residues[node], self._residues[x], self._residues[y]
            if (second - first - value) % LARGE == 0:
                self._add(node, "sub", (y, x), False)
            elif (first + second + value) % LARGE == 0:
                self._add(node, "add", (x, y), True)

    def _matches(self, wanted: Sequence[Expr], partners: Residue) -> Iterator[tuple[Expr, Expr, Expr]]:
        """The operations, and the two older values of which the second has the residue that the first one asks for."""
        flat = partners.ravel()
        places = np.flatnonzero(self._known[flat & self._mask])
        width = partners.shape[1]
        for place, partner in zip(places.tolist(), flat[places].tolist(), strict=True):
            node, x, y = wanted[place // width], self._pool[place % width], self._by_value.get(min(partner, SMALL - partner))
            if y is not None and self._age[y] < self._age[node] and self._age[x] < self._age[node]:
                yield node, x, y

    def _add(self, node: Expr, op: str, args: tuple[Expr, Expr], negated: bool) -> None:
        if args != node.args:
            self.of.setdefault(node, []).append((op, args, negated))


def _reduced(values: Residue) -> Residue:
    """Residues modulo the small prime, which is one less than a power of two, of numbers up to its square."""
    prime, bits = np.uint64(SMALL), np.uint64(31)
    once = (values & prime) + (values >> bits)
    return (once & prime) + (once >> bits)


class _Choice:
    """Selection of profitable replacements, from the outputs inward, with counts of remaining uses."""

    def __init__(self, nodes: Sequence[Expr], outputs: Sequence[Expr], facts: Facts) -> None:
        self.args = {node: node.args for node in nodes}
        self.uses = Counter(arg for node in nodes for arg in node.args)
        self.uses.update(outputs)
        self.bounds = facts.bounds
        wanted = [node for node in nodes if node not in facts.searched and self._may(node)]
        facts.searched.update(wanted)
        self.pairs = _Pairs(nodes, wanted, facts)

    def _may(self, node: Expr) -> bool:
        """True if an operation may have operands without other users."""
        return node.op in _DIRECT and any(arg.args and self.uses[arg] <= 2 for arg in node.args)

    def best(self, node: Expr) -> Iterator[Replacement]:
        """The replacement that saves most, if one saves anything; the counts of uses are those with it then."""
        ways = self.pairs.of.get(node)
        if not ways or not self.uses[node]:
            return
        removable = self._exclusive(node)
        before = effort(removable)
        best, gain = None, 0
        for op, args, negated in ways:
            if before > 1 and all(map(self._lives, args)):
                saved = before - 1 - effort(self._shared(removable, args))
                if saved > gain and self.bounds.allows(node, op, args):
                    best, gain = (op, args, negated), saved
        if best is not None:
            self._replace(node, removable, best[1])
            yield best

    def _lives(self, node: Expr) -> bool:
        """True if a value is still computed, not made unnecessary by a replacement."""
        return not node.args or self.uses[node] > 0

    def _exclusive(self, node: Expr) -> list[Expr]:
        """A node with the operations that nothing else needs."""
        freed, waiting, dropped = [], [node], Counter[Expr]()
        while waiting:
            at = waiting.pop()
            freed.append(at)
            for arg in self.args[at]:
                dropped[arg] += 1
                if arg.args and dropped[arg] == self.uses[arg]:
                    waiting.append(arg)
        return freed

    def _shared(self, removable: Sequence[Expr], args: Sequence[Expr]) -> set[Expr]:
        """Operations of a node that the operands of its replacement still need."""
        candidates, kept = set(removable), set[Expr]()
        waiting = list(args)
        while waiting:
            at = waiting.pop()
            if at in candidates and at not in kept:
                kept.add(at)
                waiting += self.args[at]
        return kept

    def _replace(self, node: Expr, removable: Sequence[Expr], args: tuple[Expr, ...]) -> None:
        for at in removable:
            self.uses.subtract(self.args[at])
        kept = self._shared(removable, args)
        self.args[node] = args
        self.uses.update(args)
        for at in kept:
            self.uses.update(self.args[at])


def _leaves(nodes: Sequence[Expr]) -> Iterator[Expr]:
    return (arg for node in nodes for arg in node.args if not arg.args)
