"""From branches to answers, over scalars: angles near the start, whole turns into the limits, no answer twice, in order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from linkwise.expr.node import Expr
from linkwise.solve.closed_form.subproblems import Turn
from linkwise.spatial.scalar import atan2, select

SAME = 1e-6
"""Two answers are one where their angles (rad) and ways (m) differ by less than this, in the root of the sum of squares. A
double root is known to about 1e-8 only."""


def clamped(x: Any, low: Any, high: Any) -> Any:
    """The value nearest to x between two bounds."""
    return select(low - x, low, select(x - high, high, x))


def towards(turn: Turn, start: Turn) -> Any:
    """How far an angle is beyond another, in (-pi, pi]; of an angle half a turn from one already known, by that one."""
    y, x = turn.s * start.c - turn.c * start.s, turn.c * start.c + turn.s * start.s
    if _negative(y) and _negative(x):
        other = atan2(-y, -x)
        return select(other, other - math.pi, other + math.pi)
    return atan2(y, x)


def _negative(value: Any) -> bool:
    return isinstance(value, Expr) and value.op == "neg"


def into_limits(q: Any, low: Any, high: Any, period: float, tol: Any) -> tuple[Any, Any]:
    """A coordinate within its limits, whole periods added where that helps; and above zero where it is within them.

    q lies within half a period of some value between the limits, so that one period at most is added or taken off. By `tol`
    it may be outside; it is then moved onto the limit.
    """
    moved = q
    if period:
        moved = select(q - high - tol, q - period, select(low - tol - q, q + period, q))
    inside = select(low - tol - moved, 0.0, select(moved - high - tol, 0.0, 1.0))
    return select(inside, clamped(moved, low, high), moved), inside


def apart(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Half the squared distance of two answers, each a sequence of Turns and ways.

    1 - cos of an angle is half its square.
    """
    total: Any = 0.0
    for one, other in zip(a, b, strict=True):
        if isinstance(one, Turn):
            if one.c is not other.c or one.s is not other.s:
                total = total + (1.0 - (one.c * other.c + one.s * other.s))
        elif one is not other:
            total = total + 0.5 * (one - other) * (one - other)
    return total


def unlike(answers: Sequence[Sequence[Any]], valid: Sequence[Any]) -> list[Any]:
    """What is valid (above zero) of answers, without those that are one with a valid one before."""
    kept: list[Any] = []
    for k, answer in enumerate(answers):
        now = valid[k]
        for j in range(k):
            now = select(0.5 * SAME * SAME - apart(answers[j], answer), select(kept[j], 0.0, now), now)
        kept.append(now)
    return kept


def ordered(keys: Sequence[Any], rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rows in the order of their keys, the least first, by comparisons that are the same whatever the keys are.

    K. E. Batcher's sorting network by merging ("Sorting networks and their applications", 1968), as D. E. Knuth writes it
    for any number (*The Art of Computer Programming* 3, algorithm 5.2.2M).
    """
    found = [[key, *row] for key, row in zip(keys, rows, strict=True)]
    for i, j in _network(len(found)):
        swap = found[i][0] - found[j][0]
        pairs = [(select(swap, b, a), select(swap, a, b)) for a, b in zip(found[i], found[j], strict=True)]
        found[i], found[j] = [a for a, _ in pairs], [b for _, b in pairs]
    return [row[1:] for row in found]


def _network(count: int) -> Iterator[tuple[int, int]]:
    """Which places are compared one after the other."""
    top = 1 << max(0, (count - 1).bit_length() - 1)
    p = top if count > 1 else 0
    while p:
        q, r, d = top, 0, p
        while d:
            yield from ((i, i + d) for i in range(count - d) if i & p == r)
            d, q, r = q - p, q >> 1, p
        p >>= 1
