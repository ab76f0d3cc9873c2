"""Whether a matrix of symbols is a position matrix, found from its numbers at random places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import Expr
from linkwise.expr.order import schedule
from linkwise.spacelib.sample import at_random
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import is_rigid

PLACES = 3
"""How many random places; one would do but for an unlucky draw."""

NEAR = 1e-9
"""What rounding may leave of R'R - 1 in the longest of expressions."""


def is_position(m: Array) -> bool:
    """Whether a matrix is (4, 4), its last row is 0 0 0 1, and its block a rotation whatever the symbols stand for.

    Parameters
    ----------
    m : ndarray (n, n)
        SymPy's expressions, or Linkwise's, or both kinds of numbers among them.

    Examples
    --------
    >>> import sympy
    >>> c, s = sympy.cos(sympy.Symbol("q")), sympy.sin(sympy.Symbol("q"))
    >>> is_position(np.array([[c, -s, 0, 1], [s, c, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]))
    True
    """
    if m.shape != (4, 4) or not all(_is_number(item, value) for item, value in zip(m[3], (0, 0, 0, 1), strict=True)):
        return False
    items = m.ravel().tolist()
    if any(isinstance(item, Expr) for item in items):
        return all(is_rigid(numbers.reshape(4, 4), NEAR) for numbers in _expressions(items))
    try:
        (found,) = at_random("is_position", m, count=PLACES)
    except ArgumentError:  # not real anywhere
        return False
    return all(is_rigid(numbers, NEAR) for numbers in found)


def _is_number(item: Any, value: int) -> bool:
    return not isinstance(item, Expr) and not getattr(item, "free_symbols", None) and float(item) == value


def _expressions(items: Sequence[Any]) -> list[FloatArray]:
    """The values of Linkwise's expressions and of numbers at random places; NaN where there are none."""
    rng = np.random.default_rng(20)
    symbols = [node for node in schedule([item for item in items if isinstance(item, Expr)]) if node.op == "symbol"]
    try:
        return [
            np.array(evaluate(items, {node: rng.uniform(0.1, 1.0) for node in symbols}), dtype=float) for _ in range(PLACES)
        ]
    except (ArithmeticError, ValueError):
        return [np.full(16, np.nan)]
