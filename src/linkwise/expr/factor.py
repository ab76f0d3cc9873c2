"""Common factors taken out of sums; products and sums of two that occur in several computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from linkwise.expr.node import Expr
from linkwise.expr.signed_products import Term, WrittenOut

#: Longer sums and products are left as they are.
LONGEST = 60

#: A sum and which of its terms, or a product and -1.
Place = tuple[int, int]

#: A sign and a number.
Signed = tuple[int, int]


def factored(outputs: Sequence[Expr]) -> list[Expr]:
    """The same outputs with common factors taken out: a x + b x = (a + b) x."""
    return _with_factors(WrittenOut(outputs))


def shared(outputs: Sequence[Expr]) -> list[Expr]:
    """The same outputs, where products and sums of two that occur in several are computed once; then factored."""
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
    """Terms with the factor that most products among them have taken out, again and again."""
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
    """The sign with which a list holds a pair, 0 where it does not."""
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
