"""Whether a matrix of symbols is a position matrix, found from its numbers at random places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import Expr
from linkwise.expr.order import schedule
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
    rng = np.random.default_rng(20)
    items = m.ravel().tolist()
    values = _expressions if any(isinstance(item, Expr) for item in items) else _sympy
    for _ in range(PLACES):
        found = values(items, rng)
        if found is None or not is_rigid(found.reshape(4, 4), NEAR):
            return False
    return True


def _is_number(item: Any, value: int) -> bool:
    return not isinstance(item, Expr) and not getattr(item, "free_symbols", None) and float(item) == value


def _expressions(items: Sequence[Any], rng: np.random.Generator) -> FloatArray | None:
    symbols = [node for node in schedule([item for item in items if isinstance(item, Expr)]) if node.op == "symbol"]
    try:
        return np.array(evaluate(items, {node: rng.uniform(0.1, 1.0) for node in symbols}))
    except (ArithmeticError, ValueError):
        return None


def _sympy(items: Sequence[Any], rng: np.random.Generator) -> FloatArray | None:
    """Functions of time and their derivatives count as symbols of their own."""
    import sympy
    from sympy.core.function import AppliedUndef

    given = [sympy.sympify(item) for item in items]
    for kinds in (sympy.Derivative, AppliedUndef, sympy.Symbol):
        found = set().union(*(item.atoms(kinds) for item in given))
        numbers = {atom: sympy.Float(rng.uniform(0.1, 1.0)) for atom in sorted(found, key=sympy.default_sort_key)}
        given = [item.xreplace(numbers) for item in given]
    try:
        return np.array([float(item) for item in given])
    except (TypeError, ValueError):
        return None
