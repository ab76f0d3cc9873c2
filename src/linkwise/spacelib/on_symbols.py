"""The result of a function over scalars on symbols: in SymPy's expressions, or in Linkwise's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.equations.graph import to_sympy
from linkwise.equations.symbols import number
from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.spacelib.declaration import Declaration
from linkwise.spacelib.plan import Plan
from linkwise.spatial.scalar import Array


def on_symbols(declared: Declaration, given: Sequence[Any]) -> Any:
    """Arrays (dtype object) of expressions; a scalar as the expression itself.

    Raises
    ------
    ArgumentError
        For a batch, or where SymPy's symbols and Linkwise's come together.
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
        filled[place] = _opened(value if ours else _exact(value))
    return _closed(declared, declared.symbolic(*filled))


def _in_sympy(declared: Declaration, given: Sequence[Any]) -> Any:
    """The traced body, written out in SymPy; of a choice between cases the general one."""
    plan = Plan(declared, given)
    items = [item for place in plan.places for item in _exact(given[place]).ravel()]
    made = to_sympy(plan.tape, items, evaluate=True, general=True)
    arrays = []
    for name, shape in plan.tape.outputs.items():
        array = np.empty(shape, dtype=object)
        array.ravel()[:] = made[name].flat()
        arrays.append(array)
    return _closed(declared, arrays[0] if plan.single else tuple(arrays))


def _closed(declared: Declaration, made: Any) -> Any:
    """Without what only numbers can be refused for; codes that are known as whole numbers."""
    if not isinstance(made, tuple):
        return _opened(made)
    results = [_opened(part) for part in made[: len(made) - len(declared.refuse)]]
    for k in declared.codes:
        if not isinstance(results[k], Expr) and not getattr(results[k], "free_symbols", None):
            results[k] = int(results[k])
    return results[0] if len(results) == 1 else tuple(results)


def _opened(value: Any) -> Any:
    """The scalar itself of an array without axes."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _exact(value: Any) -> Array:
    """The array in SymPy's objects; a plain number as the exact SymPy number where there is a simple one."""
    given = np.asarray(value)
    made = np.empty(given.shape, dtype=object)
    for place in np.ndindex(given.shape):
        item = given[place]
        made[place] = item if hasattr(item, "free_symbols") else number(float(item))
    return made
