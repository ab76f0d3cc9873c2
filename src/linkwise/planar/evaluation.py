"""From a planar mechanism and a configuration to numbers by a compiled kernel, or to symbols by the same function."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.expr.node import Expr, origins_of
from linkwise.kernel import Kernel, trace
from linkwise.model.checks import Checker
from linkwise.model.symbolic import expression_of, parameters_in
from linkwise.planar import transforms as over_scalars
from linkwise.spatial.numbers import numbers, real
from linkwise.spatial.scalar import Array, FloatArray, array

if TYPE_CHECKING:
    from linkwise.planar.mechanism import Mechanism

_making = threading.RLock()

_FUNCTIONS = {
    "transforms": over_scalars.transforms,
    "poses": over_scalars.poses,
    "gaps": over_scalars.gaps,
    "place": over_scalars.place,
}

FEW = 200
"""Up to so many points of polygons, placing them is one kernel; the time to compile it is in proportion."""


def evaluated(mechanism: Mechanism, name: str, configuration: npt.ArrayLike) -> Array:
    """One of the functions of `linkwise.planar.transforms` at configurations (..., nq).

    Where the symbols of the mechanism or of the configuration are SymPy's, the results are SymPy expressions in these.

    Raises
    ------
    ArgumentError
        Where the shape is wrong, or there are symbols in a batch.
    """
    q = _given(mechanism, configuration)
    if name == "gaps" and not mechanism.loops:
        return np.zeros((*q.shape[:-1], 0, 3))
    if q.dtype != object and not mechanism.symbols:
        return np.asarray(_kernel(mechanism, name)(q))
    if q.ndim != 1:
        raise ArgumentError(f"configuration has the shape {q.shape}; expected ({mechanism.nq},) where there are symbols")
    function = _FUNCTIONS[name]
    if not mechanism.symbols or any(map(_is_expression, q.flat)):
        return array(function(mechanism, q))
    if q.dtype == object or origins_of(mechanism.parameters_used):
        from linkwise.equations.from_sympy import model_expression
        from linkwise.equations.graph import expressions_to_sympy

        read = q if q.dtype != object else model_expression(q)
        _check_names(mechanism, read)
        return np.asarray(expressions_to_sympy(function(mechanism, read)))
    return array(function(mechanism, q))


def _check_names(mechanism: Mechanism, configuration: Array) -> None:
    """Refuse a configuration with a symbol that has the name of another one in the mechanism."""
    check = Checker(f"mechanism {mechanism.name!r}")
    check.one_of_each_name(tuple(dict.fromkeys((*mechanism.parameters_used, *parameters_in([configuration])))))
    check.finish()


def placed(mechanism: Mechanism, configuration: npt.ArrayLike) -> tuple[tuple[Array, ...], ...]:
    """Every polygon in the world; see `Mechanism.place`.

    Mechanisms of few points have one kernel for all of them, which folds their coordinates in; where there are many, a
    kernel for one point is broadcast over each polygon.
    """
    if 0 < sum(len(shape) for link in mechanism.links for shape in link.polygons) <= FEW:
        return _shared_out(mechanism, evaluated(mechanism, "place", configuration))
    poses = evaluated(mechanism, "poses", configuration)
    if poses.dtype == object:
        return _shared_out(mechanism, over_scalars.placed(mechanism, poses))
    put = over_scalars.placing()
    return tuple(
        tuple(put(poses[..., k, None, :, :], shape) for shape in link.polygons) for k, link in enumerate(mechanism.links)
    )


def _shared_out(mechanism: Mechanism, points: Array) -> tuple[tuple[Array, ...], ...]:
    """All points (..., V, 2) as they belong to links and polygons."""
    spans: list[list[slice]] | None = mechanism.__dict__.get("_spans")
    if spans is None:
        spans = mechanism.__dict__.setdefault("_spans", _spans(mechanism))
    return tuple(tuple([points[..., span, :] for span in several]) for several in spans)


def _spans(mechanism: Mechanism) -> list[list[slice]]:
    """Which points belong to which polygon of which link."""
    ends = iter(accumulate(len(shape) for link in mechanism.links for shape in link.polygons))
    return [[slice((end := next(ends)) - len(shape), end) for shape in link.polygons] for link in mechanism.links]


def require_numbers(mechanism: Mechanism) -> None:
    """Refuse a mechanism with symbols.

    Raises
    ------
    ArgumentError
        Naming them.
    """
    if mechanism.symbols:
        raise ArgumentError(
            f"{mechanism.name!r} has symbols, {members(mechanism.symbols)}; expected numbers: substitute them"
        )


def finite(mechanism: Mechanism, configuration: Any) -> FloatArray:
    """Configurations (..., nq) of finite numbers, rad or m; the caller's own array where it is such.

    Raises
    ------
    ArgumentError
        Where they are something else, or of another shape.
    """
    q = numbers("configuration", configuration, f"finite real numbers (..., {mechanism.nq})", copy=False)
    if q.shape[-1:] != (mechanism.nq,):
        raise ArgumentError(f"configuration has the shape {q.shape}; expected (..., {mechanism.nq})")
    return q


def substitute(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, Any]:
    """Links and loops with numbers, or other expressions, for symbols by their names.

    Raises
    ------
    ArgumentError
        Naming the symbols there are.
    """
    unknown = [name for name in given if name not in mechanism.symbols]
    if unknown:
        there = members(mechanism.symbols) if mechanism.symbols else "none"
        raise ArgumentError(f"{mechanism.name!r} has no symbol {choices(unknown)}; there is {there}")
    put = {node: _scalar(str(node.value), given[node.value]) for node in mechanism.parameters_used if node.value in given}
    return with_values(mechanism, put)


def with_values(mechanism: Mechanism, values: Mapping[Expr, Any]) -> dict[str, Any]:
    """Links and loops with numbers, or other expressions, for symbols."""
    return {
        "links": [link.substituted(values) for link in mechanism.links],
        "loops": [loop.substituted(values) for loop in mechanism.loops],
    }


def _given(mechanism: Mechanism, configuration: npt.ArrayLike) -> Array:
    """The configuration as float64 (..., nq), or as objects where it has symbols."""
    if (
        type(configuration) is np.ndarray
        and configuration.dtype == np.float64
        and configuration.shape[-1:] == (mechanism.nq,)
    ):
        return configuration
    made: Array = np.asarray(configuration) if _is_regular(configuration) else np.empty(0, dtype=object)
    if made.dtype != object or not _symbols_in(made):
        try:
            made = real(configuration)
        except TypeError as error:
            found = shown(configuration)
            raise ArgumentError(f"configuration is {found}; expected real numbers (..., {mechanism.nq})") from error
    elif any(map(_is_expression, made.flat)) and any(bool(getattr(value, "free_symbols", None)) for value in made.flat):
        raise ArgumentError(
            f"configuration is {shown(configuration)}; expected symbols of SymPy or of Linkwise, not of both"
        )
    if made.shape[-1:] != (mechanism.nq,):
        named = f" for {members(mechanism.coordinate_names)}" if mechanism.nq else ""
        raise ArgumentError(f"configuration has the shape {made.shape}; expected (..., {mechanism.nq}){named}")
    return made


def _is_regular(value: Any) -> bool:
    """Whether NumPy makes an array of it."""
    try:
        np.asarray(value)
    except ValueError:
        return False
    return True


def _symbols_in(made: Array) -> bool:
    return any(bool(getattr(value, "free_symbols", None)) or _is_expression(value) for value in made.flat)


def _is_expression(value: Any) -> bool:
    return isinstance(value, Expr)


def _scalar(name: str, value: Any) -> Any:
    """A number or an expression to put in for a symbol."""
    found = expression_of(value)
    if found is not None:
        return found
    made = numbers(f"symbol {name!r}", value, "a finite number, or an expression")
    if made.shape:
        raise ArgumentError(f"symbol {name!r} is {shown(value)}; expected one number, or an expression")
    return float(made)


def _kernel(mechanism: Mechanism, name: str) -> Kernel:
    """The compiled function, kept with the mechanism."""
    kernels: dict[str, Kernel] = mechanism.__dict__.setdefault("_kernels", {})
    if name not in kernels:
        with _making:
            if name not in kernels:
                kernels[name] = _made(mechanism, name)
    return kernels[name]


def _made(mechanism: Mechanism, name: str) -> Kernel:
    links, points = len(mechanism.links), sum(len(shape) for link in mechanism.links for shape in link.polygons)
    shapes = {"gaps": (len(mechanism.loops), 3), "place": (points, 2)}
    function = _FUNCTIONS[name]
    outputs = {name: shapes.get(name, (links, 3, 3))}
    tape = trace(lambda q: function(mechanism, q), name, {"configuration": (mechanism.nq,)}, outputs)
    return Kernel(tape, doc=function.__doc__ or "")
