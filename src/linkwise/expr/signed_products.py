"""A graph as sums of signed products: operations of one kind are written out where nothing else needs what is between."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from linkwise.expr.node import Expr, simplified
from linkwise.expr.ordering import operations_needed

#: A sign, and the numbers of the factors.
Term = tuple[int, tuple[int, ...]]


#: Of what an operation is written out as a part.
_WITHIN = {"add": {"add", "sub"}, "sub": {"add", "sub"}, "mul": {"add", "sub", "mul"}}


class WrittenOut:
    """Sums and products of more than two, by number.

    Attributes
    ----------
    sums : dict of int to list of Term
        The terms of each sum.
    products : dict of int to Term
        The factors of each product that is no term of a single sum.
    """

    def __init__(self, outputs: Sequence[Expr]) -> None:
        self._outputs = outputs
        self._nodes = [node for node in operations_needed(outputs) if node.op != "neg"]
        self._users: dict[Expr, list[str]] = {}
        for node in self._nodes:
            for arg in node.args:
                self._users.setdefault(positive(arg)[1], []).append(node.op)
        for output in outputs:
            self._users.setdefault(positive(output)[1], []).append("output")
        self._counter = count()
        self._number: dict[Expr, int] = {}
        self._made: dict[int, Expr] = {}
        self.sums: dict[int, list[Term]] = {}
        self.products: dict[int, Term] = {}
        for node in self._nodes:
            if self._inside(node):
                continue
            if node.op in {"add", "sub"}:
                self.sums[self.number(node)] = self._terms(node, 1, True)
            elif node.op == "mul":
                self.products[self.number(node)] = self._factors(node, True)

    def number(self, node: Expr) -> int:
        """The number of an operation, symbol or constant."""
        if node not in self._number:
            self._number[node] = k = next(self._counter)
            if not node.args:
                self._made[k] = node
        return self._number[node]

    def new_product(self, factors: tuple[int, ...]) -> int:
        """A new product, by its number."""
        k = next(self._counter)
        self.products[k] = 1, factors
        return k

    def new_sum(self, terms: list[Term]) -> int:
        """A new sum, by its number."""
        k = next(self._counter)
        self.sums[k] = terms
        return k

    def outputs(self) -> list[Expr]:
        """The graph with operations of two operands again."""
        for node in self._nodes:
            if not self._inside(node):
                self._build(self.number(node), node)
        return [self._signed(output) for output in self._outputs]

    def _inside(self, node: Expr) -> bool:
        """Whether an operation has one user, which is of its kind or takes it as a term."""
        users = self._users.get(node, [])
        return len(users) == 1 and users[0] in _WITHIN.get(node.op, ())

    def _terms(self, node: Expr, sign: int, top: bool = False) -> list[Term]:
        terms: list[Term] = []
        waiting = [(sign, node, top)]
        while waiting:
            sign, node, top = waiting.pop()
            turned, node = positive(node)
            sign *= turned
            if node.op in {"add", "sub"} and (top or self._inside(node)):
                waiting.append((sign if node.op == "add" else -sign, node.args[1], False))
                waiting.append((sign, node.args[0], False))
            elif node.op == "mul" and self._inside(node):
                factor_sign, factors = self._factors(node, True)
                terms.append((sign * factor_sign, factors))
            else:
                terms.append((sign, (self.number(node),)))
        return terms

    def _factors(self, node: Expr, top: bool = False) -> Term:
        sign, factors = 1, list[int]()
        waiting = [(node, top)]
        while waiting:
            node, top = waiting.pop()
            turned, node = positive(node)
            sign *= turned
            if node.op == "mul" and (top or self._inside(node)):
                waiting += [(node.args[1], False), (node.args[0], False)]
            else:
                factors.append(self.number(node))
        return sign, tuple(factors)

    def _build(self, k: int, node: Expr | None = None) -> Expr:
        if k not in self._made:
            if k in self.sums:
                self._made[k] = self._total(self.sums[k])
            elif k in self.products:
                sign, factors = self.products[k]
                result = self._product(factors)
                self._made[k] = result if sign > 0 else simplified("neg", (result,))
            elif node is not None:
                self._made[k] = simplified(node.op, tuple(self._signed(arg) for arg in node.args))
        return self._made[k]

    def _product(self, factors: tuple[int, ...]) -> Expr:
        result = self._build(factors[0])
        for factor in factors[1:]:
            result = simplified("mul", (result, self._build(factor)))
        return result

    def _total(self, terms: Sequence[Term]) -> Expr:
        """A sum, from its first positive term on."""
        start = next((k for k, (sign, _) in enumerate(terms) if sign > 0), 0)
        turn = terms[start][0]
        result = self._product(terms[start][1])
        for sign, factors in (*terms[:start], *terms[start + 1 :]):
            result = simplified("add" if sign == turn else "sub", (result, self._product(factors)))
        return result if turn > 0 else simplified("neg", (result,))

    def _signed(self, node: Expr) -> Expr:
        sign, node = positive(node)
        result = self._made[self.number(node)]
        return result if sign > 0 else simplified("neg", (result,))


def positive(node: Expr) -> tuple[int, Expr]:
    """An expression as a sign times one that is no negation."""
    sign = 1
    while node.op == "neg":
        sign, node = -sign, node.args[0]
    return sign, node
