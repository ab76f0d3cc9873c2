"""Linear algebra on symbols: zero tests by random numbers, elimination, inverse and pseudo-inverse."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import Expr
from linkwise.expr.ordering import schedule
from linkwise.extras import sympy_module
from linkwise.spacelib.kinds import in_sympy, is_symbolic
from linkwise.spatial.linear import adjugate, determinant
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import is_rigid

#: Default number of sets of random numbers.
SAMPLES = 8

#: Greatest number of draws per set until the numbers are real.
_DRAWS = 50


def at_random(name: str, *arrays: Any, count: int = SAMPLES) -> list[FloatArray]:
    """Arrays of SymPy expressions at random real values of their symbols, a batch of ``count``.

    Functions without a formula, such as q(t), and their derivatives are drawn like symbols. The same symbols give the same
    numbers at every call.

    Parameters
    ----------
    name : str
        What the numbers are for, for the message.
    *arrays : array_like
        Numbers and SymPy expressions.
    count : int
        How many sets of numbers.

    Returns
    -------
    list of ndarray (count, ...)

    Raises
    ------
    ArgumentError
        Where the expressions are not real at the values that were drawn.

    Examples
    --------
    >>> import sympy
    >>> q = sympy.Symbol("q")
    >>> one, = at_random("example", [sympy.cos(q) ** 2, sympy.sin(q) ** 2])
    >>> bool(abs(one.sum(axis=1) - 1).max() < 1e-15)
    True
    """
    sympy = sympy_module()

    templates = [np.asarray(array, dtype=object) for array in arrays]
    items = [sympy.sympify(item) for array in templates for item in array.ravel()]
    free = sorted(set().union(*map(_free, items)), key=str)
    rng = np.random.default_rng(0)
    samples: list[list[float]] = []
    for _ in range(_DRAWS * count):
        values = {symbol: _drawn(rng, symbol) for symbol in free}
        row = [_real(item.xreplace(values)) for item in items]
        if None not in row:
            samples.append([value for value in row if value is not None])
        if len(samples) == count:
            return _shaped(np.array(samples), templates)
    raise ArgumentError(f"{name}: the arguments are not real numbers at random values of {', '.join(map(str, free))}")


def holds_symbols(results: tuple[Any, ...]) -> bool:
    """True if the results of a function contain a symbol or expression."""
    return any(isinstance(part, Expr) or (isinstance(part, np.ndarray) and is_symbolic(part)) for part in results)


def undefined(*shape: int) -> Array:
    """An array of SymPy's NaN."""
    sympy = sympy_module()

    array = np.empty(shape, dtype=object)
    array[...] = sympy.nan
    return array


def _free(item: Any) -> set[Any]:
    """Unknown numbers of an expression: derivatives, functions, symbols."""
    from sympy import Derivative, Symbol
    from sympy.core.function import AppliedUndef

    return set(item.atoms(Derivative, AppliedUndef, Symbol))


def _drawn(rng: np.random.Generator, symbol: Any) -> Any:
    """A number between 1/2 and 3/2, or a small whole one, with the sign that the symbol is known to have, or either."""
    sympy = sympy_module()

    size = sympy.Integer(int(rng.integers(1, 9))) if symbol.is_integer else sympy.Float(rng.uniform(0.5, 1.5))
    negative = rng.random() < 0.5
    if symbol.is_nonnegative or symbol.is_nonpositive:
        negative = bool(symbol.is_nonpositive)
    return -size if negative else size


def _real(item: Any) -> float | None:
    """An expression without symbols as a float; None where it is complex or infinite."""
    try:
        value = complex(item.evalf())
    except TypeError:
        return None
    return value.real if np.isfinite(value) and abs(value.imag) <= 1e-12 * abs(value.real) else None


def _shaped(values: FloatArray, templates: list[Array]) -> list[FloatArray]:
    """The columns of a table, in the shapes of the arrays that they came from."""
    ends = np.cumsum([array.size for array in templates])
    parts = np.split(values, ends[:-1], axis=1)
    return [part.reshape(len(values), *array.shape) for part, array in zip(parts, templates, strict=True)]


#: Number of random places; one would do apart from an unlucky draw.
PLACES = 3

#: Tolerance of R'R - 1 by rounding in the longest expressions.
NEAR = 1e-9


def is_position(m: Array) -> bool:
    """True if a matrix is (4, 4), its last row is 0 0 0 1, and its block a rotation for all values of symbols.

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
        draws = expressions_at_random(items, 0.1, 1.0)
        return all(numbers is not None and is_rigid(numbers.reshape(4, 4), NEAR) for numbers in draws)
    try:
        (samples,) = at_random("is_position", m, count=PLACES)
    except ArgumentError:  # not real anywhere
        return False
    return all(is_rigid(numbers, NEAR) for numbers in samples)


def _is_number(item: Any, value: int) -> bool:
    return not isinstance(item, Expr) and not getattr(item, "free_symbols", None) and float(item) == value


def expressions_at_random(items: Sequence[Any], low: float, high: float) -> list[FloatArray | None]:
    """The values of Linkwise's expressions and of numbers at random places; None where there are none."""
    rng = np.random.default_rng(20)
    symbols = [node for node in schedule([item for item in items if isinstance(item, Expr)]) if node.op == "symbol"]
    draws: list[FloatArray | None] = []
    for _ in range(PLACES):
        try:
            values = np.array(evaluate(items, {node: rng.uniform(low, high) for node in symbols}), dtype=float)
        except (ArithmeticError, ValueError):
            values = np.array([np.nan])
        draws.append(values if np.isfinite(values).all() else None)
    return draws


#: Up to this size inverses are written by minors; above it there are too many of them.
BY_MINORS = 6


def is_zero(value: Any) -> bool:
    """True if an expression is provably zero; a number of SymPy or of Linkwise, or a symbol.

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
    """True if a SymPy expression is clearly nonzero at one arbitrary point, which is faster than a proof."""
    sympy = sympy_module()

    draw = random.Random(7)
    names = sorted(value.free_symbols, key=str)
    sample = value.xreplace({name: sympy.Rational(draw.randint(50, 150), 101) for name in names}).evalf()
    return bool(sample.is_number and sample.is_finite and abs(sample) > 1e-9)


def tidy(value: Any) -> Any:
    """A SymPy expression as one fraction with nothing common above and below."""
    sympy = sympy_module()

    return sympy.cancel(value) if hasattr(value, "free_symbols") else value


class Reduced(NamedTuple):
    """The rows of (A, b) after the elimination, the variable of each column of A, the rank, and the last pivot's size."""

    rows: list[list[Any]]
    order: list[int]
    rank: int
    arm: Any


def reduce_exactly(rows: list[list[Any]], m: int, main: Sequence[int] = ()) -> Reduced:
    """Reduce a system of SymPy's expressions: the first element that is not identically zero is the pivot.

    The system is A x = b for several b at once (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 4.3).

    Parameters
    ----------
    rows : list of list
        The coefficients and the right-hand sides of each equation; changed in place.
    m : int
        Columns of A.
    main : sequence of int
        Variables that are to be main variables, from 0; pivots are sought among them first.
    """
    order, rank, arm = list(range(m)), 0, 0
    while rank < min(len(rows), m):
        groups = ([j for j in range(rank, m) if (order[j] in main) == wanted] for wanted in (True, False))
        places = ((i, j) for group in groups for i in range(rank, len(rows)) for j in group)
        place = next(((i, j) for i, j in places if not is_zero(rows[i][j])), None)
        arm = 0 if place is None else abs(rows[place[0]][place[1]])
        if place is None:
            break
        i, j = place
        rows[rank], rows[i] = rows[i], rows[rank]
        for line in (*rows, order):
            line[rank], line[j] = line[j], line[rank]
        top = rows[rank] = [tidy(value / rows[rank][rank]) for value in rows[rank]]
        for k, row in enumerate(rows):
            if k != rank and not is_zero(row[rank]):
                rows[k] = [tidy(value - row[rank] * up) for value, up in zip(row, top, strict=True)]
        rank += 1
    for row in rows[rank:]:
        row[:] = [value * 0 if j < m or is_zero(value) else value for j, value in enumerate(row)]
    return Reduced(rows, order, rank, arm)


def inverse(name: str, a: Array, field: str = "A") -> Array:
    """The inverse (n, n): the adjugate over the determinant. Messages call the matrix by the field's name.

    Raises
    ------
    ArgumentError
        Where the determinant is identically zero, or a is larger than can be written.
    """
    n = len(a)
    if n > BY_MINORS:
        if in_sympy(a):
            return _by_elimination(name, a, field)
        raise ArgumentError(
            f"{name}: {field} is {n} x {n}; of Linkwise expressions at most {BY_MINORS} x {BY_MINORS} can be inverted"
        )
    below = _short(determinant(a))
    if is_zero(below):
        raise ArgumentError(f"{name}: {field} is singular: its determinant is identically zero")
    above = adjugate(a)
    return above if not isinstance(below, Expr) and below == 1 else np.asarray(above / below)


def pseudo_inverse(name: str, a: Array) -> tuple[Array, int]:
    """The Moore-Penrose inverse (n, m) of a real matrix (m, n), and its rank, of symbols in general.

    The rank is that of almost all values of the symbols; for those where it is less, the formula divides by zero.

    Raises
    ------
    ArgumentError
        For Linkwise expressions that are not of full rank.
    """
    m, n = a.shape
    if in_sympy(a):
        system = reduce_exactly(a.tolist(), n)
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


def _by_factors(name: str, a: Array, system: Reduced) -> Array:
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
    system = reduce_exactly([[*row, *(int(i == k) for k in range(n))] for i, row in enumerate(a.tolist())], n)
    if system.rank < n:
        raise ArgumentError(f"{name}: {field} is singular: its rank is {system.rank}, of {n} rows")
    inverted = np.empty((n, n), dtype=object)
    inverted[system.order] = np.array([row[n:] for row in system.rows], dtype=object)
    return inverted


def _usual_rank(a: Array) -> int:
    """The rank at arbitrary values of the symbols, the largest of a few draws."""
    draws = [numbers for numbers in expressions_at_random(list(a.ravel()), 0.5, 1.5) if numbers is not None]
    return max((int(np.linalg.matrix_rank(numbers.reshape(a.shape))) for numbers in draws), default=0)


def _short(value: Any) -> Any:
    """The determinant of symbols with sums of squares of sines and cosines gathered."""
    if not hasattr(value, "free_symbols"):
        return value
    sympy = sympy_module()

    expanded = sympy.expand(value)
    return sympy.trigsimp(expanded) if expanded.has(sympy.sin, sympy.cos) else value
