"""Common subexpression elimination: equal or opposite values are computed once, recognised by residues in finite fields.

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
from math import isnan, pi
from operator import add, mul, neg, sub
from random import Random

from linkwise.expr.factor import positive
from linkwise.expr.node import Expr, simplified
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.ordering import operations_needed

LARGE = (1 << 61) - 1

#: Mersenne primes; products of residues of the small one fit into 64 bits.
SMALL = (1 << 31) - 1

#: Greatest number of terms of an analysed angle.
MOST = 64

_MODULAR: dict[str, Callable[..., int]] = {"add": add, "sub": sub, "mul": mul, "neg": neg}

#: A sum of multiples of angles: integer factors by angle.
Combination = dict[Hashable, int]


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
        """Add operations, operands before their users; symbols and constants are optional."""
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
        if op in _MODULAR:
            return _MODULAR[op](*args)
        if op == "div" and args[1]:
            return args[0] * pow(args[1], -1, self.prime)
        return self._drawn((op, *args))

    def _drawn(self, key: Hashable) -> int:
        """A random residue for a value that is not rational, equal for the same operation on the same residues."""
        if key not in self._opaque:
            self._opaque[key] = self._random.randrange(1, self.prime)
        return self._opaque[key]

    def _turn(self, angle: Expr) -> tuple[int, int]:
        """Residues of cosine and sine of an angle, from those of its terms."""
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
        """Terms of an angle; one with more than `MOST` terms is a term itself."""
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


#: Number of trial points for magnitudes.
TRIALS = 5

#: Up to this factor the sum of magnitudes may grow: one bit.
GROWTH = 2.0


Numbers = tuple[float, ...]


class Bounds:
    """Numeric bounds of each node of a graph, and the inputs on which it depends.

    The magnitude of a node is its value with every difference taken as a sum, |x - y| as |x| + |y|: rounding errors are at
    most a few units in the last place of it (J. H. Wilkinson, *Rounding Errors in Algebraic Processes*, 1963). It is taken
    at points some of which lie near 0 and near a right angle, where a difference of large numbers gives itself away. What
    is not asked for is not computed.

    A value without inaccurate cancellation, of products, quotients and roots, with sums and differences of nothing but
    inputs and numbers, has nearly all its digits wherever it is taken (J. Demmel, I. Dumitriu, O. Holtz, P. Koev, "Accurate
    and efficient expression evaluation and linear algebra", Acta Numerica 17, 2008). It stays one: (x - y) z does not
    become x z - y z, which has no digits left where x and y nearly agree.
    """

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)
        self._values: dict[Expr, Numbers] = {}
        self._magnitudes: dict[Expr, Numbers] = {}
        self._inputs: dict[Expr, int] = {}
        self._sharp: dict[Expr, bool] = {}
        self._bits = 0

    def allows(self, node: Expr, op: str, args: tuple[Expr, ...]) -> bool:
        """True if a node may be computed by another operation: rounding is no worse, and it needs no further input."""
        self._learn((node, *args))
        if any(self._inputs[arg] & ~self._inputs[node] for arg in args):
            return False
        if self._sharp[node] and not self._is_sharp(op, args):
            return False
        result = self._magnitudes[args[0]] if op == "same" else _size(op, [self._magnitudes[arg] for arg in args])
        pairs = [(new, old) for new, old in zip(result, self._magnitudes[node], strict=True) if not isnan(old)]
        return bool(pairs) and all(new <= GROWTH * old for new, old in pairs)

    def agree(self, node: Expr, other: Expr, share: float) -> bool:
        """True if two expressions agree at the trial points, up to a share of the first one's magnitude."""
        self._learn((node, other))
        rows = zip(self._values[node], self._values[other], self._magnitudes[node], strict=True)
        return all(abs(x - y) <= share * size or x == y or (isnan(x) and isnan(y)) for x, y, size in rows)

    def magnitude(self, node: Expr) -> Numbers:
        """The magnitude of a node at the trial points."""
        self._learn((node,))
        return self._magnitudes[node]

    def _learn(self, wanted: Iterable[Expr]) -> None:
        """Compute missing bounds, operands first."""
        waiting = list(wanted)
        while waiting:
            node = waiting[-1]
            missing = [arg for arg in node.args if arg not in self._values] if node not in self._values else []
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if node not in self._values:
                self._operation(node) if node.args else self._leaf(node)

    def _leaf(self, node: Expr) -> None:
        if node.op == "const":
            self._values[node], self._inputs[node] = (float(node.value),) * TRIALS, 0
        else:
            self._values[node], self._inputs[node] = tuple(self._input() for _ in range(TRIALS)), self._bit()
        self._magnitudes[node], self._sharp[node] = tuple(map(abs, self._values[node])), True

    def _is_sharp(self, op: str, args: Sequence[Expr]) -> bool:
        """True if an operation has no inaccurate cancellation."""
        if op in _SUMS or op in _CIRCULAR:
            return all(not positive(arg)[1].args for arg in args)
        return op in _SHARP and all(self._sharp[arg] for arg in args)

    def _bit(self) -> int:
        self._bits += 1
        return 1 << self._bits

    def _input(self) -> float:
        """Random input of the order of 1, or near 0, or near a right angle."""
        kind, sign = self._random.random(), self._random.choice((-1.0, 1.0))
        if kind < 0.4:
            return float(sign * self._random.uniform(0.4, 2.8))
        small = 10.0 ** self._random.uniform(-4.0, -1.0)
        return float(sign * (small if kind < 0.7 else pi / 2 - small))

    def _operation(self, node: Expr) -> None:
        op, args = node.op, node.args
        inputs = 0
        for arg in args:
            inputs |= self._inputs[arg]
        self._inputs[node] = inputs | self._bit() if op in _PARTIAL else inputs
        self._sharp[node] = self._is_sharp(op, args)
        values = tuple(map(OPERATIONS[op].value, *[self._values[arg] for arg in args]))
        self._values[node] = values
        if op in _RATIONAL:
            self._magnitudes[node] = _size(op, [self._magnitudes[arg] for arg in args])
        else:
            self._magnitudes[node] = tuple(map(abs, values))


def _size(op: str, sizes: Sequence[Numbers]) -> Numbers:
    """The magnitudes of a result, from those of its operands."""
    return sizes[0] if op == "neg" else tuple(map(mul if op == "mul" else add, *sizes))


_RATIONAL = {"add", "sub", "mul", "neg"}

_SUMS, _CIRCULAR, _SHARP = {"add", "sub"}, {"sin", "cos"}, {"same", "mul", "neg", "div", "sqrt", "abs"}

#: Operations that may be NaN, or are not always selected: their results count as independent inputs.
_PARTIAL = {"div", "sqrt", "atan2", "select"}


class Facts:
    """Properties of the values of a graph: residues in two fields, and bounds; extended as the graph is rewritten.

    ``searched`` are the operations for which `combined` has looked for something better.
    """

    def __init__(self) -> None:
        self.residues, self.small, self.bounds = Residues(), Residues(SMALL), Bounds()
        self.searched: set[Expr] = set()

    def learn(self, nodes: Sequence[Expr]) -> None:
        """Add operations, operands before their users."""
        for known in (self.residues, self.small):
            known.learn(nodes)


def merged(outputs: Sequence[Expr], facts: Facts) -> list[Expr]:
    """The same outputs with equal and opposite values computed once: the oldest node is kept."""
    nodes = operations_needed(outputs)
    facts.learn(nodes)
    residues, bounds = facts.residues, facts.bounds
    first: dict[int, Expr] = {}
    new: dict[Expr, Expr] = {}
    for node in nodes:
        value = residues[node]
        result = first.setdefault(min(value, LARGE - value), node) if node.op != "neg" else node
        if result is not node and bounds.allows(node, "same", (result,)):
            kept = new[result]
            new[node] = kept if residues[result] == value else simplified("neg", (kept,))
        else:
            new[node] = simplified(node.op, tuple(new.get(arg, arg) for arg in node.args))
    return [new.get(output, output) for output in outputs]
