"""Random numbers in the place of SymPy symbols: they tell what holds for all values, such as that two lines are parallel."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.spacelib.kinds import is_symbolic
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.with_sympy import sympy_module

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

    given = [np.asarray(array, dtype=object) for array in arrays]
    items = [sympy.sympify(item) for array in given for item in array.ravel()]
    free = sorted(set().union(*map(_free, items)), key=str)
    rng = np.random.default_rng(0)
    found: list[list[float]] = []
    for _ in range(_DRAWS * count):
        values = {symbol: _drawn(rng, symbol) for symbol in free}
        row = [_real(item.xreplace(values)) for item in items]
        if None not in row:
            found.append([value for value in row if value is not None])
        if len(found) == count:
            return _shaped(np.array(found), given)
    raise ArgumentError(f"{name}: the arguments are not real numbers at random values of {', '.join(map(str, free))}")


def holds_symbols(results: tuple[Any, ...]) -> bool:
    """Whether there is a symbol or expression among the results of a function."""
    return any(isinstance(part, Expr) or (isinstance(part, np.ndarray) and is_symbolic(part)) for part in results)


def in_sympy(*arrays: Any) -> bool:
    """Whether there is a SymPy object among the elements of arrays."""
    return any(hasattr(item, "free_symbols") for array in arrays for item in np.asarray(array, dtype=object).ravel())


def undefined(*shape: int) -> Array:
    """An array of SymPy's NaN."""
    sympy = sympy_module()

    made = np.empty(shape, dtype=object)
    made[...] = sympy.nan
    return made


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


def _shaped(values: FloatArray, given: list[Array]) -> list[FloatArray]:
    """The columns of a table, in the shapes of the arrays that they came from."""
    ends = np.cumsum([array.size for array in given])
    parts = np.split(values, ends[:-1], axis=1)
    return [part.reshape(len(values), *array.shape) for part, array in zip(parts, given, strict=True)]
