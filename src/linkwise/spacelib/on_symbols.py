"""The result of a function over scalars on symbols: in SymPy's expressions, or in Linkwise's.

In SymPy a special case is met where it is known to be there: a null vector, a translation as the displacement. Else the
result is the formula of the general case.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from linkwise.equations.decided import decided
from linkwise.equations.squares import gathered
from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.spacelib.arrays import exact
from linkwise.spacelib.declaration import Declaration
from linkwise.spacelib.plan import Plan


def on_symbols(declared: Declaration, given: Sequence[Any]) -> Any:
    """Arrays (dtype object) of expressions; a scalar as the expression itself.

    Raises
    ------
    ArgumentError
        For a batch, where SymPy's symbols and Linkwise's come together, and where a call is known to be one that numbers
        are refused for.
    """
    items: list[Any] = []
    for _, name, kind, value in declared.arrays(given):
        if np.ndim(value) != kind.axes:
            found = np.shape(value)
            raise ArgumentError(f"{declared.name}: {name} has the shape {found}; symbols are taken one at a time, no batch")
        items += np.ravel(value).tolist() if isinstance(value, np.ndarray) else [value]
    ours = any(isinstance(item, Expr) for item in items)
    if ours and any(hasattr(item, "free_symbols") for item in items):
        raise ArgumentError(f"{declared.name}: SymPy symbols and Linkwise expressions do not mix")
    if not ours and not declared.direct and declared.symbolic is declared.body:
        return _in_sympy(declared, given)
    filled = list(given)
    for place, _, _, value in declared.arrays(given):
        filled[place] = _opened(value if ours else exact(value))
    return _closed(declared, declared.symbolic(*filled))


def _in_sympy(declared: Declaration, given: Sequence[Any]) -> Any:
    """The traced body in SymPy; of a choice between cases the general one, unless the other is known to hold."""
    plan = Plan(declared, given)
    made = iter(decided(plan.tape, [item for place in plan.places for item in exact(given[place]).ravel()]))
    arrays = []
    for shape in plan.tape.outputs.values():
        array = np.empty(shape, dtype=object)
        array.ravel()[:] = list(islice(made, array.size))
        arrays.append(array)
    return _closed(declared, arrays[0] if plan.single else tuple(arrays))


def _closed(declared: Declaration, made: Any) -> Any:
    """Short, without the measures, which are known to be above zero or not known at all; known codes as whole numbers."""
    parts = made if isinstance(made, tuple) else (made,)
    keep = len(parts) - len(declared.refuse)
    for message, measure in zip(declared.refuse, map(_opened, parts[keep:]), strict=True):
        if getattr(measure, "is_extended_nonpositive", False):
            raise ArgumentError(f"{declared.name}: {message}")
    results = [_opened(_short(part)) for part in parts[:keep]]
    for k in declared.codes:
        if not isinstance(results[k], Expr) and not getattr(results[k], "free_symbols", None):
            results[k] = int(results[k])
    return results[0] if len(results) == 1 else tuple(results)


def _short(part: Any) -> Any:
    """An array of SymPy's expressions with the squares of sines and cosines gathered."""
    if not isinstance(part, np.ndarray):
        return gathered(part) if hasattr(part, "free_symbols") else part
    if part.dtype == object:
        for place in np.ndindex(part.shape):
            if hasattr(part[place], "free_symbols"):
                part[place] = gathered(part[place])
    return part


def _opened(value: Any) -> Any:
    """The scalar itself of an array without axes."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
