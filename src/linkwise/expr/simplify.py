"""A finished graph rewritten to fewer operations, and proved to be the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from linkwise.expr.count import effort
from linkwise.expr.cse import Facts, merged
from linkwise.expr.factor import factored, shared
from linkwise.expr.node import Expr
from linkwise.expr.ordering import operations_needed
from linkwise.expr.resynthesis import combined

#: Graphs of more operations are left as they are.
LARGEST = 30_000

#: Greatest number of repetitions of the passes.
ROUNDS = 3

#: Graphs of more operations are merged and factored only, once: the rest saves some two in a hundred there, and takes three
#: times as long.
FEW = 500

#: Tolerance of the results at the trial points, relative to their terms.
EXACTNESS = 1e-12


def shortened(outputs: Sequence[Any]) -> list[Any]:
    """Return the same outputs from fewer operations, or as they are.

    Equal values, and opposite ones, are computed once; a value that is the sum, the difference or the product of two others
    is taken from them where that saves operations; common factors are taken out of sums; sums and products of two that occur
    in several are computed once. The passes are repeated until nothing is saved. That two values are equal is known from
    their residues (see `linkwise.expr.cse`); the results are compared with the given ones at the trial points as well.

    No rewriting cancels: what the result is added up from may not be larger, by more than a factor of two at any of several
    trial points, than what it was added up from before; and what is made of sums and differences of inputs by products alone
    stays so (see `linkwise.expr.cse`). So sin^2 does not become 1 - cos^2, nor is a product written out as a
    difference of squares. Neither does a value get to depend on an input, a quotient, a root or a selection that it did not
    depend on: what is not a number there stays where it was.

    What is repeated or refined for the sake of rounding alone, as a projection done twice, changes nothing in exact
    arithmetic, and is done once: graphs that hold such things must not be shortened.

    Parameters
    ----------
    outputs : sequence of Expr or float
        What is computed. Numbers stay.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> x, y, z = symbol("x"), symbol("y"), symbol("z")
    >>> [str(made) for made in shortened([x * y + z * x, (z + y) * 2.0])]
    ['x * (y + z)', '2 * (y + z)']
    """
    wanted = [output for output in outputs if isinstance(output, Expr) and output.args]
    if not 2 <= len(operations_needed(wanted)) <= LARGEST:
        return list(outputs)
    facts = Facts()
    result = _passes(wanted, facts)
    if not all(facts.bounds.agree(old, new, EXACTNESS) for old, new in zip(wanted, result, strict=True)):
        return list(outputs)
    new = dict(zip(wanted, result, strict=True))
    results = [new.get(output, output) if isinstance(output, Expr) else output for output in outputs]
    return [node.value if isinstance(node, Expr) and node.op == "const" else node for node in results]


def _passes(wanted: list[Expr], facts: Facts) -> list[Expr]:
    best, least = wanted, _effort(wanted)
    thorough = least <= FEW
    passes: list[Callable[[list[Expr]], list[Expr]]] = [partial(merged, facts=facts), factored]
    passes += [partial(combined, facts=facts), shared] if thorough else []
    for _ in range(ROUNDS if thorough else 1):
        before = least
        for rewrite in passes:
            result = rewrite(best)
            needed = _effort(result)
            if needed < least:
                best, least = result, needed
        if least == before:
            break
    return best


def _effort(outputs: Sequence[Expr]) -> int:
    return effort(operations_needed(outputs))
