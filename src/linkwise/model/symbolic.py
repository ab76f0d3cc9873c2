"""Symbols in place of numbers: storage in fields of a model, search, and substitution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.evaluate import evaluate, substitute
from linkwise.expr.node import Expr, is_parameter, origin_of, steps_of
from linkwise.expr.ordering import schedule
from linkwise.spatial.scalar import Array, array
from linkwise.spatial.validation import readable


def expression_of(value: Any) -> Expr | None:
    """The expression that a value is, from SymPy where it has symbols there; None for anything else.

    Raises
    ------
    TypeError
        For an expression in symbols that are not `linkwise.symbols`.
    """
    if isinstance(value, Expr):
        steps_of(value)
        return value
    if getattr(value, "free_symbols", None) and hasattr(value, "as_coeff_Mul"):
        from linkwise.expr.sympy.from_sympy import model_expression

        result = model_expression(value)
        return result if isinstance(result, Expr) else None
    return None


def has_symbols(values: Any) -> bool:
    """True if an array or a number contains an expression."""
    if isinstance(values, np.ndarray):
        return values.dtype == object and any(isinstance(value, Expr) for value in values.flat)
    return isinstance(values, Expr)


def with_expressions(value: Any) -> Array | None:
    """Convert a nested sequence to an array of floats and expressions, a copy; None if it contains no expression.

    Raises
    ------
    TypeError
        Where what stands beside an expression is not a number.
    """
    if isinstance(value, (str, bytes)) or (isinstance(value, np.ndarray) and value.dtype != object):
        return None
    try:
        elements = np.array(readable("value", value), dtype=object)
    except (TypeError, ValueError):
        return None
    results = [expression_of(item) for item in elements.flat]
    if all(item is None for item in results):
        return None
    result = np.empty(elements.shape, dtype=object)
    for place, item, known in zip(np.ndindex(elements.shape), elements.flat, results, strict=True):
        if known is None and (isinstance(item, (str, bytes, bool)) or np.iscomplexobj(item)):
            raise TypeError(f"holds {item!r}")
        try:
            result[place] = float(item) if known is None else known
        except OverflowError as error:
            raise TypeError(f"holds {shown(item, 40)}") from error
    return result


def any_nonzero(values: Any) -> bool:
    """True if an element is nonzero; expressions count as nonzero."""
    if isinstance(values, float):
        return values != 0.0
    return any(isinstance(value, Expr) or bool(value) for value in np.asarray(values).ravel().tolist())


def content(value: Any) -> object:
    """Equal for equal fields, hashable: of numbers, arrays of either kind, expressions, anything else as it is."""
    if isinstance(value, np.ndarray):
        return tuple(map(content, value.flat)) if value.dtype == object else value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(content, value))
    if isinstance(value, np.floating):
        return float(value)  # a float compares with anything, where NumPy's would convert the other
    return ("expression", value) if isinstance(value, Expr) else value


def same(a: Any, b: Any) -> bool:
    """True if two arrays have equal numbers and the same expressions at the same places."""
    first, second = np.asarray(a), np.asarray(b)
    if first.dtype.kind == second.dtype.kind == "f":
        return np.array_equal(first, second)
    return first.shape == second.shape and [*map(content, first.flat)] == [*map(content, second.flat)]


def parameters_in(values: Iterable[Any]) -> tuple[Expr, ...]:
    """Distinct symbols of expressions, in the order of occurrence; other values are skipped."""
    results: dict[Expr, None] = {}
    for value in _flat(values):
        results.update(dict.fromkeys(node for node in schedule([value]) or [value] if is_parameter(node)))
    return tuple(results)


def united(parameters: Sequence[Expr]) -> tuple[dict[Expr, Expr], dict[str, list[Any]]]:
    """Replacements that make symbols of one name identical.

    Returns
    -------
    replacements : dict
        For a symbol of `linkwise.symbols` the one of the same name that was read from SymPy.
    conflicts : dict
        By name, the SymPy symbols that differ in what is assumed of them.
    """
    named: dict[str, list[Expr]] = {}
    for node in parameters:
        named.setdefault(str(node.value), []).append(node)
    replacements: dict[Expr, Expr] = {}
    conflicts: dict[str, list[Any]] = {}
    for name, nodes in named.items():
        known = [node for node in nodes if origin_of(node) is not None]
        if len(known) > 1:
            conflicts[name] = [origin_of(node) for node in known]
        elif len(nodes) > 1:
            replacements.update({node: known[0] for node in nodes if node is not known[0]})
    return replacements, conflicts


def values_by_name(values: Mapping[Any, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
    """Values for symbols by their names, from those by symbols of either kind or by names.

    Raises
    ------
    ArgumentError
        Where a symbol has two values.
    """
    results: dict[str, Any] = {}
    for key, value in [*(values or {}).items(), *named.items()]:
        name = getattr(key, "name", getattr(key, "value", key))
        if name in results:
            raise ArgumentError(f"symbol {name!r} has two values, {shown(results[name])} and {shown(value)}; expected one")
        results[name] = value
    return results


def substituted(value: Any, numbers: Mapping[Expr, Any]) -> Any:
    """Replace symbols in a field by numbers or other expressions.

    Right angles become exact, as they are where a table has them. Where no symbol is left the result is a plain number, or
    an array of float64.
    """
    if isinstance(value, np.ndarray):
        return array(substitute(value, numbers)) if value.dtype == object else value
    if isinstance(value, tuple):
        return tuple(substituted(item, numbers) for item in value)
    return substitute(np.array(value), numbers)[()] if isinstance(value, Expr) else value


def numbers_at(values: Array, point: Mapping[Expr, float]) -> Array:
    """An array with every expression evaluated at values for the symbols, as float64."""
    return np.array(evaluate(list(values.flat), point), dtype=np.float64).reshape(values.shape)


def _flat(values: Iterable[Any]) -> Iterator[Expr]:
    for value in values:
        if isinstance(value, Expr):
            yield value
        elif isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.dtype == object):
            yield from _flat(value.flat if isinstance(value, np.ndarray) else value)
