"""What expressions are worth in a finite field: equal expressions are recognised by equal residues.

Every symbol is given a random residue, every angle a random point of the circle x^2 + y^2 = 1; sines and cosines of sums and
differences follow by the addition theorems. Two expressions that differ as rational functions of symbols, sines and cosines
agree in one such trial with a chance of at most their degree over the prime (J. T. Schwartz, "Fast probabilistic algorithms
for verification of polynomial identities", J. ACM 27(4), 1980), with primes near 2^61 less than 1e-15. The residues are
drawn from a fixed seed: the same graph has the same residues in every process.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import add, mul, neg, sub
from random import Random

from linkwise.expr.node import Expr

LARGE = (1 << 61) - 1
SMALL = (1 << 31) - 1
"""Mersenne primes; products of residues of the small one fit into 64 bits."""

MOST = 64
"""Of how many parts the sum of an angle is looked into."""

_RATIONAL: dict[str, Callable[..., int]] = {"add": add, "sub": sub, "mul": mul, "neg": neg}

Combination = dict[Hashable, int]
"""A sum of multiples of angles: whole numbers by what they multiply."""


class Residues:
    """The residues of a graph for one prime.

    Parameters
    ----------
    prime : int
        The size of the field.
    seed : int
        What the residues of symbols are drawn with.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> from linkwise.expr.ordering import operations_needed
    >>> x, y = symbol("x"), symbol("y")
    >>> one, other = (x + y).cos(), x.cos() * y.cos() - x.sin() * y.sin()
    >>> residues = Residues()
    >>> residues.learn(operations_needed([one, other]))
    >>> residues[one] == residues[other]
    True
    """

    def __init__(self, prime: int = LARGE, seed: int = 1) -> None:
        self.prime = prime
        self.of: dict[Expr, int] = {}
        self._random = Random(seed)
        self._points: dict[Hashable, tuple[int, int]] = {}
        self._opaque: dict[Hashable, int] = {}
        self._angles: dict[Expr, Combination] = {}
        self._turns: dict[Expr, tuple[int, int]] = {}

    def learn(self, nodes: Iterable[Expr]) -> None:
        """Take operations in, operands before what takes them; symbols and constants need not be among them."""
        for node in nodes:
            if node not in self.of:
                self.of[node] = self._operation(node) % self.prime

    def __getitem__(self, node: Expr) -> int:
        return self.of[node] if node.args else self._leaf(node)

    def _leaf(self, node: Expr) -> int:
        if node not in self.of:
            self.of[node] = self._number(node.value) if node.op == "const" else self._random.randrange(1, self.prime)
        return self.of[node]

    def _number(self, value: float) -> int:
        """A float as the fraction that it is exactly."""
        if not math.isfinite(value):
            return self._drawn(("const", repr(value)))
        above, below = value.as_integer_ratio()
        return above % self.prime * pow(below, -1, self.prime) % self.prime

    def _operation(self, node: Expr) -> int:
        op = node.op
        if op in {"sin", "cos"}:
            return self._turn(node.args[0])[op == "sin"]
        args = [self[arg] for arg in node.args]
        if op in _RATIONAL:
            return _RATIONAL[op](*args)
        if op == "div" and args[1]:
            return args[0] * pow(args[1], -1, self.prime)
        return self._drawn((op, *args))

    def _drawn(self, key: Hashable) -> int:
        """A random residue for what is not rational, the same for the same operation on the same residues."""
        if key not in self._opaque:
            self._opaque[key] = self._random.randrange(1, self.prime)
        return self._opaque[key]

    def _turn(self, angle: Expr) -> tuple[int, int]:
        """Cosine and sine of an angle, from those of what it is the sum of."""
        if angle not in self._turns:
            cosine, sine = 1, 0
            for part, count in self._combination(angle).items():
                x, y = self._point(part)
                y = y if count > 0 else -y
                for _ in range(abs(count)):
                    cosine, sine = (cosine * x - sine * y) % self.prime, (sine * x + cosine * y) % self.prime
            self._turns[angle] = cosine, sine
        return self._turns[angle]

    def _combination(self, angle: Expr) -> Combination:
        """Of what an angle is the sum; an angle of more than `MOST` parts is one of its own."""
        waiting = [angle]
        while waiting:
            at = waiting.pop()
            parts = at.args if at.op in {"add", "sub", "neg"} else ()
            missing = [part for part in parts if part not in self._angles]
            if missing:
                waiting += [at, *missing]
            elif at not in self._angles:
                self._angles[at] = self._summed(at, [self._angles[part] for part in parts])
        return self._angles[angle]

    def _summed(self, angle: Expr, parts: Sequence[Combination]) -> Combination:
        if not parts:
            return {angle.value if angle.op == "const" else self[angle]: 1}
        result: Counter[Hashable] = Counter()
        signs = (1, -1) if angle.op == "sub" else (-1,) if angle.op == "neg" else (1, 1)
        for sign, combination in zip(signs, parts, strict=True):
            for part, count in combination.items():
                result[part] += sign * count
        return {part: count for part, count in result.items() if count} if len(result) <= MOST else {angle: 1}

    def _point(self, part: Hashable) -> tuple[int, int]:
        """A random point of the circle."""
        if part not in self._points:
            t = self._random.randrange(2, self.prime)
            scale = pow(1 + t * t, -1, self.prime)
            self._points[part] = (1 - t * t) * scale % self.prime, 2 * t * scale % self.prime
        return self._points[part]
