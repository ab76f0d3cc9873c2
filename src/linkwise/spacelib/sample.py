"""Random numbers in the place of symbols: they show what holds for all values, such as that two lines are parallel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import Expr
from linkwise.expr.ordering import schedule
from linkwise.extras import sympy_module
from linkwise.spacelib.kinds import is_symbolic
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import is_rigid

SAMPLES = 8
"""How many sets of numbers are drawn, if nothing else is asked for."""

_DRAWS = 50
"""How often for each set, until the numbers are real."""


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
    """Whether there is a symbol or expression among the results of a function."""
    return any(isinstance(part, Expr) or (isinstance(part, np.ndarray) and is_symbolic(part)) for part in results)


def undefined(*shape: int) -> Array:
    """An array of SymPy's NaN."""
    sympy = sympy_module()

    array = np.empty(shape, dtype=object)
    array[...] = sympy.nan
    return array


def _free(item: Any) -> set[Any]:
    """What stands for an unknown number in an expression: derivatives, functions, symbols."""
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
