"""Common factors of sums; products and sums of two that occur repeatedly are computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, count
from typing import Any

from linkwise.expr.node import Expr, simplified
from linkwise.expr.ordering import operations_needed

#: A sign, and the numbers of the factors.
Term = tuple[int, tuple[int, ...]]


#: Users into which an operation is expanded as a part.
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
        """True if an operation has one user, which is of its kind or uses it as a term."""
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


#: Longer sums and products are left as they are.
LONGEST = 60

#: A sum and which of its terms, or a product and -1.
Place = tuple[int, int]

#: A sign and a number.
Signed = tuple[int, int]


def factored(outputs: Sequence[Expr]) -> list[Expr]:
    """The same outputs with common factors extracted: a x + b x = (a + b) x."""
    return _with_factors(WrittenOut(outputs))


def shared(outputs: Sequence[Expr]) -> list[Expr]:
    """The same outputs with repeated products and sums of two computed once; then factored."""
    written = WrittenOut(outputs)
    _share_products(written)
    _share_sums(written)
    return _with_factors(written)


def _with_factors(written: WrittenOut) -> list[Expr]:
    for k in list(written.sums):
        if _is_short(written.sums[k]):
            written.sums[k] = _factored(written, written.sums[k])
    return written.outputs()


def _is_short(terms: Sequence[Term]) -> bool:
    return len(terms) <= LONGEST and all(len(factors) <= LONGEST for _, factors in terms)


def _factored(written: WrittenOut, terms: list[Term]) -> list[Term]:
    """Extract the most common factor of products repeatedly."""
    while True:
        counts = Counter(factor for _, factors in terms if len(factors) > 1 for factor in dict.fromkeys(factors))
        common, most = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
        if most < 2:
            return terms
        inner: list[Term] = []
        outer: list[Term] = []
        for sign, factors in terms:
            if len(factors) > 1 and common in factors:
                at = factors.index(common)
                inner.append((sign, factors[:at] + factors[at + 1 :]))
            else:
                outer.append((sign, factors))
        terms = [*outer, (1, (common, written.new_sum(_factored(written, inner))))]


def _share_products(written: WrittenOut) -> None:
    lists: dict[Place, list[Signed]] = {(k, -1): _plain(factors) for k, (_, factors) in written.products.items()}
    for k, terms in written.sums.items():
        lists.update({(k, i): _plain(factors) for i, (_, factors) in enumerate(terms) if len(factors) > 1})
    _share(lists, lambda pair: written.new_product((pair[0], pair[1])))
    for (k, i), elements in lists.items():
        factors = tuple(number for _, number in elements)
        if i < 0:
            written.products[k] = written.products[k][0], factors
        else:
            written.sums[k][i] = written.sums[k][i][0], factors


def _plain(factors: Sequence[int]) -> list[Signed]:
    return [(1, factor) for factor in factors]


def _share_sums(written: WrittenOut) -> None:
    lists = {(k, 0): [(sign, of[0]) for sign, of in terms if len(of) == 1] for k, terms in written.sums.items()}
    _share(lists, lambda pair: written.new_sum([(1, (pair[0],)), (pair[2], (pair[1],))]))
    for (k, _), elements in lists.items():
        products = [term for term in written.sums[k] if len(term[1]) > 1]
        written.sums[k] = [(sign, (number,)) for sign, number in elements] + products


def _share(lists: dict[Any, list[Signed]], make: Callable[[tuple[int, int, int]], int]) -> None:
    """Replace pairs of elements that occur in two lists or more, those that occur most often first."""
    while True:
        where: dict[tuple[int, int, int], list[Any]] = {}
        for place, elements in lists.items():
            if len(elements) <= LONGEST:
                for pair in dict.fromkeys(_pair(a, b) for a, b in combinations(elements, 2)):
                    where.setdefault(pair, []).append(place)
        often = sorted((pair for pair in where if len(where[pair]) > 1), key=lambda pair: (-len(where[pair]), pair))
        changed = False
        for pair in often:
            places = [place for place in where[pair] if _holds(lists[place], pair)]
            if len(places) > 1:
                number, changed = make(pair), True
                for place in places:
                    lists[place] = _with(lists[place], pair, number)
        if not changed:
            return


def _pair(a: Signed, b: Signed) -> tuple[int, int, int]:
    """Two numbers in order and their relative sign."""
    low, high = min(a[1], b[1]), max(a[1], b[1])
    return low, high, a[0] * b[0]


def _sign_of(elements: Sequence[Signed], pair: tuple[int, int, int]) -> int:
    """Sign of a pair in a list, 0 if it does not occur."""
    low, high, relative = pair
    for sign in (1, -1):
        a, b = (sign, low), (sign * relative, high)
        if a in elements and b in elements and (a != b or elements.count(a) > 1):
            return sign
    return 0


def _holds(elements: Sequence[Signed], pair: tuple[int, int, int]) -> bool:
    return _sign_of(elements, pair) != 0


def _with(elements: Sequence[Signed], pair: tuple[int, int, int], number: int) -> list[Signed]:
    """A list with a pair replaced, in the place of its first element."""
    sign, left = _sign_of(elements, pair), list(elements)
    for element in ((sign, pair[0]), (sign * pair[2], pair[1])):
        left.remove(element)
    return [*left, (sign, number)]
