"""Gauss-Jordan elimination with the pivot sought in all rows and columns, exactly, on symbols.

The system is A x = b for several b at once (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 4.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class System:
    """The rows of (A, b) while they are reduced.

    Parameters
    ----------
    rows : list of list
        The coefficients and the right-hand sides of each equation; changed in place.
    m : int
        How many columns A has.
    main : sequence of int
        Variables that are to be main variables, from 0; pivots are sought among them first.

    Attributes
    ----------
    order : list of int
        Which variable each column of A belongs to.
    rank : int
        Pivots found so far.
    arm : scalar
        Size of the largest element found in the last search for a pivot.
    """

    def __init__(self, rows: list[list[Any]], m: int, main: Sequence[int] = ()) -> None:
        self.rows = rows
        self.m = m
        self.order = list(range(m))
        self.main = set(main)
        self.rank = 0
        self.arm: Any = 0

    def bring(self, i: int, j: int) -> None:
        """Swap the row i and the column j with those of the next pivot."""
        k, rows = self.rank, self.rows
        rows[k], rows[i] = rows[i], rows[k]
        if j != k:
            for row in rows:
                row[k], row[j] = row[j], row[k]
            self.order[k], self.order[j] = self.order[j], self.order[k]

    def wanted(self) -> list[int]:
        """The remaining columns of main variables."""
        return [j for j in range(self.rank, self.m) if self.order[j] in self.main] if self.main else []

    def places(self, columns: Sequence[int]) -> list[tuple[int, int]]:
        """Where a pivot may be, row by row."""
        return [(i, j) for i in range(self.rank, len(self.rows)) for j in columns]


def reduce_exactly(system: System, is_zero: Callable[[Any], bool], tidy: Callable[[Any], Any]) -> None:
    """Reduce a system of symbols: the first element that is not identically zero is the pivot.

    Parameters
    ----------
    system : System
        Of SymPy's objects.
    is_zero : callable
        Whether an expression is identically zero.
    tidy : callable
        Brings an expression to a short form.
    """
    rows, m = system.rows, system.m
    while system.rank < min(len(rows), m):
        k = system.rank
        wanted = system.wanted()
        rest = [j for j in range(k, m) if j not in wanted]
        places = system.places(wanted) + system.places(rest) if wanted else system.places(rest)
        found = next(((i, j) for i, j in places if not is_zero(rows[i][j])), None)
        if found is None:
            system.arm = 0
            break
        system.arm = abs(rows[found[0]][found[1]])
        system.bring(*found)
        pivot = rows[k]
        rows[k] = [tidy(value / pivot[k]) for value in pivot]
        for i, row in enumerate(rows):
            if i != k and not is_zero(row[k]):
                rows[i] = [tidy(value - row[k] * up) for value, up in zip(row, rows[k], strict=True)]
        system.rank += 1
    for row in rows[system.rank :]:
        row[:] = [value * 0 if j < m or is_zero(value) else value for j, value in enumerate(row)]
