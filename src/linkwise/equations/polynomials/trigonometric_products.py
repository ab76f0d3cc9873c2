"""Fewer terms: cosines and sines of sums as products, where that puts two terms into one.

Two angles a and b (or one angle twice), A cos(a + b) + B cos(a - b): with A = B it is 2 A cos a cos b, with A = -B it is
-2 A sin a sin b; in general 2 A cos a cos b + (B - A) cos(a - b), so that sin^2 stands for 1 - cos^2. The same for sines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from linkwise.equations.polynomials.key_packing import IntArray
from linkwise.equations.polynomials.polynomial import ROUNDING
from linkwise.equations.polynomials.trigonometric import Vector, Wave, Waves, identified, joined

MANY = 30_000
"""Terms above which only one order of the groups is tried."""


FREE, EVEN, ODD = range(3)
"""Ways to write A cos(a + b) + B cos(a - b): as cos a cos b but where sin a sin b alone is enough; or always as one."""


@dataclass(frozen=True)
class Pair:
    """A combination of angles that is a + b, with the two angles."""

    total: Vector
    a: Vector
    b: Vector

    @property
    def difference(self) -> tuple[Vector, int]:
        """A - b, its first multiple positive, and with which sign; zeros where a is b."""
        made = tuple(x - y for x, y in zip(self.a, self.b, strict=True))
        sign = next((1 if x > 0 else -1 for x in made if x), 1)
        return tuple(sign * x for x in made), sign


def with_products(made: Waves, sums: Sequence[Sequence[Vector]]) -> Waves:
    """Rewrite terms with the sums of angles of each group.

    Which group comes first decides how well it goes; each owner gets the order that leaves it the fewest terms, of some.

    Parameters
    ----------
    made : Waves
        As `linkwise.equations.polynomials.trigonometric.in_waves` gives them.
    sums : sequence of sequence of tuple
        For each group the combinations of its angles that are angles of their own.
    """
    pairs = [_pairs([_positive(vector) for vector in vectors]) for vectors in sums]
    made = _with_all_products(made, pairs)
    best = _rewritten(made, pairs, range(len(sums)))
    owners = int(made.owner.max(initial=-1)) + 1
    if made.terms <= MANY:
        for first, way in product(range(len(sums)), (FREE, EVEN, ODD)):
            count = np.bincount(best.owner, minlength=owners)
            hard = made.part(count[made.owner] > 2)
            rest = [k for k in range(len(sums)) if k != first]
            for order in (rest, rest[::-1]) if len(rest) > 1 else (rest,):
                other = _rewritten(_rewritten(hard, pairs, (first,), way), pairs, order)
                terms = np.bincount(other.owner, minlength=owners)
                better = (terms > 0) & (terms < np.bincount(best.owner, minlength=owners))
                best = joined(best.part(~better[best.owner]), other.part(better[other.owner]))
    return best.merged()


def _positive(vector: Vector) -> Vector:
    return vector if next((x for x in vector if x), 1) > 0 else tuple(-x for x in vector)


def _pairs(vectors: Sequence[Vector]) -> list[Pair]:
    """The sums of two of them, with the first multiple positive; the same sum once."""
    found: dict[Vector, Pair] = {}
    for i, a in enumerate(vectors):
        for b in vectors[i:]:
            total = tuple(x + y for x, y in zip(a, b, strict=True))
            if next((x for x in total if x), 0) > 0 and total not in vectors:
                found.setdefault(total, Pair(total, a, b))
    return list(found.values())


def _with_all_products(made: Waves, pairs: Sequence[Sequence[Pair]]) -> Waves:
    """The same with tables that have every wave that rewriting may need."""
    tables = []
    for before, some in zip(made.tables, pairs, strict=True):
        table = list(before)
        for pair in some:
            for name in ("cos", "sin"):
                if ((name, pair.total, 1),) in table:
                    for wave in (_difference(pair, name), *_products(pair, name)):
                        if wave is not None and wave not in table:
                            table.append(wave)
        tables.append(table)
    return replace(made, tables=tuple(tables))


def _difference(pair: Pair, name: str) -> Wave | None:
    """The partner of the cosine or sine of a sum; None for sin 0."""
    vector, _ = pair.difference
    if any(vector):
        return ((name, vector, 1),)
    return () if name == "cos" else None


def _products(pair: Pair, name: str) -> tuple[Wave, Wave]:
    """Cos a cos b and sin a sin b for a cosine, sin a cos b and cos a sin b for a sine."""
    pattern = ("cos", "cos", "sin", "sin") if name == "cos" else ("sin", "cos", "cos", "sin")
    return _product((pattern[0], pair.a), (pattern[1], pair.b)), _product((pattern[2], pair.a), (pattern[3], pair.b))


def _product(one: tuple[str, Vector], other: tuple[str, Vector]) -> Wave:
    """A product of two waves; sines before cosines, so that equal ones look equal."""
    if one == other:
        return ((*one, 2),)
    first, second = sorted((one, other), key=lambda wave: (wave[0] == "cos", wave[1][::-1]))
    return (*first, 1), (*second, 1)


def _rewritten(made: Waves, pairs: Sequence[Sequence[Pair]], order: Sequence[int], way: int = FREE) -> Waves:
    """Rewrite one group after the other."""
    for group in order:
        table = made.tables[group]
        for pair in pairs[group]:
            for name in ("cos", "sin"):
                wave: Wave = ((name, pair.total, 1),)
                if wave in table and (made.codes[:, group] == table.index(wave)).any():
                    made = _put_together(made, group, pair, name, way)
    return made


def _put_together(made: Waves, group: int, pair: Pair, name: str, way: int) -> Waves:
    """One cosine or sine of a sum, and its partner, rewritten in all terms."""
    table = made.tables[group]
    even, odd = (table.index(wave) for wave in _products(pair, name))
    partner = _difference(pair, name)
    codes, values, sizes = made.codes.copy(), made.values.copy(), made.sizes.copy()
    rows = np.flatnonzero(codes[:, group] == table.index(((name, pair.total, 1),)))
    if partner is None:  # sin 2a = 2 sin a cos a
        codes[rows, group], values[rows], sizes[rows] = even, 2 * values[rows], 2 * sizes[rows]
        return Waves(made.owner, codes, values, sizes, made.tables)
    sign = pair.difference[1] if name == "sin" else 1
    rows, others = _partners(made, group, rows, table.index(partner))
    a, b = values[rows], sign * values[others]
    near = ROUNDING * (sizes[rows] + sizes[others])
    same, opposite = np.abs(a - b) <= near, np.abs(a + b) <= near
    other = opposite if way == FREE else np.full(len(rows), way == ODD)
    codes[rows, group] = np.where(other, odd, even)
    values[rows] = np.where(other, -2 * a if name == "cos" else 2 * a, 2 * a)
    values[others] = sign * np.where(other, np.where(opposite, 0.0, b + a), np.where(same, 0.0, b - a))
    sizes[others] = sizes[others] + sizes[rows]
    sizes[rows] *= 2
    kept = values != 0
    return Waves(made.owner[kept], codes[kept], values[kept], sizes[kept], made.tables)


def _partners(made: Waves, group: int, rows: IntArray, partner: int) -> tuple[IntArray, IntArray]:
    """Of some terms those that have a partner, which differs in the wave of one group alone, and these partners."""
    rest = made.codes.copy()
    rest[:, group] = 0
    ids = identified([made.owner, *rest.T])
    candidates = np.flatnonzero(made.codes[:, group] == partner)
    order = candidates[np.argsort(ids[candidates], kind="stable")]
    place = np.searchsorted(ids[order], ids[rows])
    found = place < len(order)
    found[found] = ids[order[place[found]]] == ids[rows[found]]
    return rows[found], order[place[found]]
