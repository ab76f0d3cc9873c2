"""Linear algebra on symbols: zeros recognised, expressions kept short, inverse and pseudo-inverse by formula."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import Expr
from linkwise.expr.order import schedule
from linkwise.spacelib.arrays import is_sympy
from linkwise.spacelib.elimination import System, reduce_exactly
from linkwise.spatial.determinant import adjugate, determinant
from linkwise.spatial.scalar import Array
from linkwise.spatial.with_sympy import sympy_module

BY_MINORS = 6
"""Up to this size inverses are written by minors; above it there are too many of them."""


def is_zero(value: Any) -> bool:
    """Whether an expression is identically zero, as far as can be shown; a number of SymPy or of Linkwise, or a symbol.

    Examples
    --------
    >>> import sympy
    >>> q = sympy.Symbol("q", real=True)
    >>> is_zero(sympy.sin(q) ** 2 + sympy.cos(q) ** 2 - 1), is_zero(q)
    (True, False)
    """
    if isinstance(value, Expr):
        return False
    if not hasattr(value, "free_symbols"):
        return bool(value == 0)
    known = value.is_zero
    if known is None:
        return not _is_seen(value) and bool(value.equals(0))
    return bool(known)


def _is_seen(value: Any) -> bool:
    """Whether a SymPy expression is plainly not zero at one arbitrary point, which is quicker to find than a proof."""
    sympy = sympy_module()

    draw = random.Random(7)
    names = sorted(value.free_symbols, key=str)
    found = value.xreplace({name: sympy.Rational(draw.randint(50, 150), 101) for name in names}).evalf()
    return bool(found.is_number and found.is_finite and abs(found) > 1e-9)


def tidy(value: Any) -> Any:
    """A SymPy expression as one fraction with nothing common above and below."""
    sympy = sympy_module()

    return sympy.cancel(value) if hasattr(value, "free_symbols") else value


def inverse(name: str, a: Array, field: str = "A") -> Array:
    """The inverse (n, n): the adjugate over the determinant. Messages call the matrix by the field's name.

    Raises
    ------
    ArgumentError
        Where the determinant is identically zero, or a is larger than can be written.
    """
    n = len(a)
    if n > BY_MINORS:
        if is_sympy(a):
            return _by_elimination(name, a, field)
        raise ArgumentError(
            f"{name}: {field} is {n} x {n}; of Linkwise expressions at most {BY_MINORS} x {BY_MINORS} can be inverted"
        )
    below = _short(determinant(a))
    if is_zero(below):
        raise ArgumentError(f"{name}: {field} is singular: its determinant is identically zero")
    above = adjugate(a)
    return np.array([[_over(above[i, j], below) for j in range(n)] for i in range(n)], dtype=object)


def pseudo_inverse(name: str, a: Array) -> tuple[Array, int]:
    """The Moore-Penrose inverse (n, m) of a real matrix (m, n), and its rank, of symbols in general.

    The rank is that of almost all values of the symbols; for those where it is less, the formula divides by zero.

    Raises
    ------
    ArgumentError
        For Linkwise expressions that are not of full rank.
    """
    m, n = a.shape
    if is_sympy(a):
        system = System(a.tolist(), n)
        reduce_exactly(system, is_zero, tidy)
        rank = system.rank
        if 0 < rank < min(m, n):
            return _by_factors(name, a, system), rank
        if rank == 0:
            return a.T * 0, 0
    else:
        rank = _usual_rank(a)
        if rank < min(m, n):
            raise ArgumentError(
                f"{name}: A is of rank {rank}; of Linkwise expressions only matrices of full rank are inverted"
            )
    if m == n:
        return inverse(name, a), rank
    if m > n:
        return inverse(name, a.T @ a) @ a.T, rank
    return a.T @ inverse(name, a @ a.T), rank


def _by_factors(name: str, a: Array, system: System) -> Array:
    """A = B C of full rank, B the columns of the pivots, C the reduced rows: pinv = C' (C C')^-1 (B' B)^-1 B'.

    T. N. E. Greville, "Some applications of the pseudoinverse of a matrix", SIAM Review 2(1), 1960.
    """
    rank = system.rank
    b = a[:, system.order[:rank]]
    c = np.empty((rank, a.shape[1]), dtype=object)
    c[:, system.order] = np.array(system.rows[:rank], dtype=object)
    return np.asarray(c.T @ inverse(name, c @ c.T) @ inverse(name, b.T @ b) @ b.T)


def _by_elimination(name: str, a: Array, field: str) -> Array:
    n = len(a)
    system = System([[*row, *(int(i == k) for k in range(n))] for i, row in enumerate(a.tolist())], n)
    reduce_exactly(system, is_zero, tidy)
    if system.rank < n:
        raise ArgumentError(f"{name}: {field} is singular: its rank is {system.rank}, of {n} rows")
    made = np.empty((n, n), dtype=object)
    made[system.order] = np.array([row[n:] for row in system.rows], dtype=object)
    return made


def _usual_rank(a: Array) -> int:
    """The rank at arbitrary values of the symbols, the largest of three draws."""
    items = list(a.ravel())
    symbols = [node for node in schedule(items) if node.op == "symbol"]
    draw = np.random.default_rng(20250101)
    found = 0
    for _ in range(3):
        values = dict(zip(symbols, draw.uniform(0.5, 1.5, len(symbols)), strict=True))
        numbers = np.array(evaluate(items, values)).reshape(a.shape)
        if np.isfinite(numbers).all():
            found = max(found, int(np.linalg.matrix_rank(numbers)))
    return found


def _short(value: Any) -> Any:
    """The determinant of symbols with sums of squares of sines and cosines gathered."""
    if not hasattr(value, "free_symbols"):
        return value
    sympy = sympy_module()

    expanded = sympy.expand(value)
    return sympy.trigsimp(expanded) if expanded.has(sympy.sin, sympy.cos) else value


def _over(above: Any, below: Any) -> Any:
    return above if not isinstance(below, Expr) and below == 1 else above / below
