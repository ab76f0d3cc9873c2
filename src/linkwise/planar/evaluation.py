"""Evaluation of planar transforms at configurations: by a compiled kernel, or on symbols by the same function."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.expr.node import Expr, origins_of
from linkwise.kernel import Kernel, trace
from linkwise.model.symbolic import parameters_in
from linkwise.model.validation import Checker
from linkwise.planar import transforms as over_scalars
from linkwise.planar.tree import PlanarTree
from linkwise.spatial.scalar import Array, array
from linkwise.spatial.validation import real

_FUNCTIONS = {
    "transforms": over_scalars.transforms,
    "poses": over_scalars.poses,
    "gaps": over_scalars.gaps,
    "place": over_scalars.place,
}

FEW = 200
"""Up to so many points of polygons, placing them is one kernel; the time to compile it is in proportion."""


def evaluated(mechanism: PlanarTree, name: str, configuration: npt.ArrayLike) -> Array:
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
        return np.asarray(mechanism.memo("planar.evaluation", name, lambda: _compiled(mechanism, name))(q))
    if q.ndim != 1:
        raise ArgumentError(f"configuration has the shape {q.shape}; expected ({mechanism.nq},) where there are symbols")
    function = _FUNCTIONS[name]
    if not mechanism.symbols or any(isinstance(value, Expr) for value in q.flat):
        return array(function(mechanism, q))
    if q.dtype == object or origins_of(mechanism.parameters_used):
        from linkwise.equations.tape_to_sympy import expressions_to_sympy
        from linkwise.expr.sympy.from_sympy import model_expression

        read = q if q.dtype != object else model_expression(q)
        _check_names(mechanism, read)
        return np.asarray(expressions_to_sympy(function(mechanism, read)))
    return array(function(mechanism, q))


def _check_names(mechanism: PlanarTree, configuration: Array) -> None:
    """Refuse a configuration with a symbol that has the name of another one in the mechanism."""
    check = Checker(f"mechanism {mechanism.name!r}")
    check.one_of_each_name(tuple(dict.fromkeys((*mechanism.parameters_used, *parameters_in([configuration])))))
    check.finish()


def place_polygons(mechanism: PlanarTree, configuration: npt.ArrayLike) -> tuple[tuple[Array, ...], ...]:
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


def _shared_out(mechanism: PlanarTree, points: Array) -> tuple[tuple[Array, ...], ...]:
    """All points (..., V, 2) as they belong to links and polygons."""
    spans = mechanism.memo("planar.evaluation", "spans", lambda: _spans(mechanism))
    return tuple(tuple([points[..., span, :] for span in several]) for several in spans)


def _spans(mechanism: PlanarTree) -> list[list[slice]]:
    """Which points belong to which polygon of which link."""
    ends = iter(accumulate(len(shape) for link in mechanism.links for shape in link.polygons))
    return [[slice((end := next(ends)) - len(shape), end) for shape in link.polygons] for link in mechanism.links]


def _given(mechanism: PlanarTree, configuration: npt.ArrayLike) -> Array:
    """The configuration as float64 (..., nq), or as objects where it has symbols."""
    if (
        type(configuration) is np.ndarray
        and configuration.dtype == np.float64
        and configuration.shape[-1:] == (mechanism.nq,)
    ):
        return configuration
    try:
        values: Array = np.asarray(configuration)
    except ValueError:
        values = np.empty(0, dtype=object)
    symbolic = values.dtype == object
    ours = symbolic and any(isinstance(value, Expr) for value in values.flat)
    theirs = symbolic and any(bool(getattr(value, "free_symbols", None)) for value in values.flat)
    if ours and theirs:
        raise ArgumentError(
            f"configuration is {shown(configuration)}; expected symbols of SymPy or of Linkwise, not of both"
        )
    if not (ours or theirs):
        try:
            values = real(configuration)
        except TypeError as error:
            wrong = shown(configuration)
            raise ArgumentError(f"configuration is {wrong}; expected real numbers (..., {mechanism.nq})") from error
    if values.shape[-1:] != (mechanism.nq,):
        named = f" for {members(mechanism.coordinate_names)}" if mechanism.nq else ""
        raise ArgumentError(f"configuration has the shape {values.shape}; expected (..., {mechanism.nq}){named}")
    return values


def _compiled(mechanism: PlanarTree, name: str) -> Kernel:
    links, points = len(mechanism.links), sum(len(shape) for link in mechanism.links for shape in link.polygons)
    shapes = {"gaps": (len(mechanism.loops), 3), "place": (points, 2)}
    function = _FUNCTIONS[name]
    outputs = {name: shapes.get(name, (links, 3, 3))}
    tape = trace(lambda q: function(mechanism, q), name, {"configuration": (mechanism.nq,)}, outputs)
    return Kernel(tape, doc=function.__doc__ or "")
