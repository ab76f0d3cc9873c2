"""Solve poses that are arrays of another library; the results are arrays of that library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from linkwise.arrays import (
    DifferentiableFramework,
    Framework,
    GraphOutput,
    Signature,
    constant_in_graphs,
    functions_of,
    no_graph,
)
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.branches.configuration import labels_of
from linkwise.inverse_kinematics.branches.turns import ROUNDING
from linkwise.inverse_kinematics.closed_form import Solutions, closed_form
from linkwise.inverse_kinematics.closed_form.solutions import MORE
from linkwise.inverse_kinematics.implicit import differentiable
from linkwise.model.tree import Tree
from linkwise.solve.by_library import shared_fields
from linkwise.solve.joint_limits import TURN, JointRanges
from linkwise.solve.solution import DTYPES, ROWS, Solution
from linkwise.solve.validation import joint_index

#: The arrays of functions that solve poses.
POSES: dict[str, tuple[Any, ...]] = {"T": (4, 4), "q0": ("nq",)}


def solve_by(
    library: Framework, solver: Callable[..., Solution], mechanism: Tree, T: Any, q0: Any = None, **options: Any
) -> Solution:
    """Return a solution whose rows are arrays of a library; Dask's are lazy."""
    starts = () if q0 is None else (q0,)
    shapes = ((4, 4), *((mechanism.nq,) for _ in starts))
    library.check(solver.__name__, dict(zip(("T", "q0"), zip((T, *starts), shapes, strict=True), strict=False)))
    differentiated = isinstance(library, DifferentiableFramework) and library.differentiates((T, *starts))
    signature = Signature(shapes, ((mechanism.nq,), (), (), (), (), ()), DTYPES, ROWS)
    if library.on_device((T, *starts)):
        from linkwise.inverse_kinematics.on_device import solve_on_device

        if not differentiated:
            return solve_on_device(mechanism, T, q0, **options)
        names = tuple(name for name in ROWS if name != "reason")
        run = partial(_device_rows, solve_on_device, mechanism, options, names)
        results = cast("DifferentiableFramework", library).opaque(run, signature, (T, *starts))
        rows = dict(zip(names, results, strict=True)) | {"reason": None}
    else:
        results = library.map(partial(_rows, solver, mechanism, options), signature, (T, *starts))
        rows = dict(zip(ROWS, results, strict=True))
    if differentiated:
        rows["q"] = differentiable(
            cast("DifferentiableFramework", library), mechanism, rows["q"], T, rows["success"], **options
        )
    shared = dict(shared_fields(mechanism, options.get("limits", True)))
    return Solution.of(**rows, **shared, tol=options.get("tol", 1e-9))


def _device_rows(
    solver: Callable[..., Solution], mechanism: Tree, options: dict[str, Any], names: tuple[str, ...], *arrays: Any
) -> tuple[Any, ...]:
    solution = solver(mechanism, *arrays, **options)
    return tuple(getattr(solution, name) for name in names)


def _rows(solver: Callable[..., Solution], mechanism: Tree, options: dict[str, Any], T: Any, *q0: Any) -> tuple[Any, ...]:
    solution = solver(mechanism, T, **({"q0": q0[0]} if q0 else {}), **options)
    return tuple(np.asarray(getattr(solution, name), dtype) for name, dtype in zip(ROWS, DTYPES, strict=True))


#: The greatest number of solutions that elimination finds for a regular pose.
ELIMINATED = 16

#: Fields of all solutions that are arrays, with their types.
LISTED = {"q": "float64", "count": "int64", "complete": "bool", "unreachable": "bool", "cause": "float64"}


def all_solutions_by(
    library: Framework, solver: Callable[..., Any], mechanism: Tree, T: Any, q0: Any = None, **options: Any
) -> Any:
    """Return all solutions as arrays of a library, differentiable by T; self-motions and their poses as NumPy arrays."""
    if not isinstance(library, DifferentiableFramework) or options.get("redundancy") is not None:
        return solver(mechanism, T, q0=q0, **options)
    starts = () if q0 is None else (q0,)

    def solve(T: Any, *q0: Any) -> Any:
        solutions = solver(mechanism, T, **({"q0": q0[0]} if q0 else {}), **options)
        cause = np.zeros(solutions.count.shape) if solutions.cause is None else solutions.cause
        return replace(solutions, cause=cause)

    inputs = ((4, 4), *((mechanism.nq,) for _ in starts))
    signature = Signature(inputs, ((None, mechanism.nq), (), (), (), ()), tuple(LISTED.values()))
    solutions, rows = _with_rows(library, solve, tuple(LISTED), signature, (T, *starts))
    if library.differentiates((T, *starts)):
        q = library.constant(rows["q"])
        filled = library.functions.isfinite(q).all(-1)
        known = {name: options[name] for name in ("link", "mask") if name in options}
        held = _fixed_coordinate(mechanism, options.get("fixed"))
        safe = library.functions.where(filled[..., None], q, q[..., :1, :])  # (missing solutions add no NaN to derivatives)
        tracked = differentiable(library, mechanism, safe, T[..., None, :, :], filled | ~filled, held=held, **known)
        rows["q"] = library.functions.where(filled[..., None], tracked, q)
    return replace(solutions, **rows)


def all_solutions_rows(
    mechanism: Tree,
    *,
    link: int | str,
    limits: bool,
    starts: int,
    method: str = "numeric",
    fixed: Any = None,
    turns: bool = False,
    redundancy: Any = None,
    **_: Any,
) -> dict[str, GraphOutput]:
    """Output declarations of all solutions in graphs of `torch.compile`: rows for the greatest number of a regular pose."""
    if redundancy is not None:
        raise ArgumentError(no_graph("all_inverse_kinematics with redundancy"))
    form = closed_form(mechanism, link, fixed=fixed)
    most = 1 + starts if method == "numeric" else form.branches if form.exists and method != "elimination" else ELIMINATED
    if turns:
        ranges = JointRanges.of(mechanism, limits=limits)
        turns_within = ((ranges.high - ranges.low) / TURN)[ranges.turning & np.isfinite(ranges.high - ranges.low)]
        most *= int(np.prod(np.ceil(turns_within - ROUNDING).clip(1.0)))  # (one more of a joint that is at both limits)
    return {
        name: GraphOutput((most, mechanism.nq) if name == "q" else (), kind, name == "q") for name, kind in LISTED.items()
    }


def all_solutions_in_rows(solver: Callable[..., Any], mechanism: Tree, T: Any, **options: Any) -> Any:
    """Return all solutions, padded with NaN to that number; beyond it the nearest, marked as incomplete."""
    solutions, (most, n) = solver(mechanism, T, **options), all_solutions_rows(mechanism, **options)["q"].shape
    q, count, module = solutions.q[..., :most, :], solutions.count, functions_of("all_inverse_kinematics", [T])
    absent = module.full((*q.shape[:-2], most - q.shape[-2], n), np.nan, dtype=q.dtype)
    left_out, q = count > most, module.concatenate([q, absent], axis=-2)
    fields = {"complete": solutions.complete & ~left_out, "cause": module.where(left_out, MORE, solutions.cause)}
    return replace(solutions, q=q, count=module.clip(count, max=most), **fields)


def all_solutions_in_graph(mechanism: Tree, tensors: Any, options: dict[str, Any], **rows: Any) -> Solutions:
    """Return all solutions within a graph."""
    return Solutions(labels=_labels(mechanism, tuple(options), *options.values()), **rows)


@constant_in_graphs
def _labels(mechanism: Tree, names: tuple[str, ...], *values: Any) -> Any:
    options = dict(zip(names, values, strict=True))
    if "method" not in options or options["mask"] is not None or mechanism.loops or mechanism.manifold_joints:
        return None  # (as `numeric_solutions` has none)
    return labels_of(mechanism, options["link"], _fixed_coordinate(mechanism, options["fixed"]))


def _fixed_coordinate(mechanism: Tree, fixed: Any) -> int | None:
    """The coordinate that does not move."""
    return joint_index(mechanism, "fixed", next(iter(fixed))) if fixed else None


def path_by(
    library: Framework, solver: Callable[..., Any], mechanism: Tree, T: Any, *, q0: Any = None, **options: Any
) -> Any:
    """Follow a path whose poses are arrays of a library: q is differentiable by them, all else are NumPy arrays."""
    if not isinstance(library, DifferentiableFramework):
        return solver(mechanism, T, q0=q0, **options)
    starts = () if q0 is None else (q0,)

    def solve(T: Any, *q0: Any) -> Any:
        return solver(mechanism, T, **({"q0": q0[0]} if q0 else {}), **options)

    inputs = ((None, 4, 4), *((mechanism.nq,) for _ in starts))
    signature = Signature(inputs, ((None, mechanism.nq),), ("float64",))
    path, rows = _with_rows(library, solve, ("q",), signature, (T, *starts))
    if library.differentiates((T,)):
        q = library.constant(rows["q"])
        known = {name: options[name] for name in ("link",) if name in options}
        rows["q"] = differentiable(library, mechanism, q, T, library.functions.isfinite(q).all(-1), **known)
    return replace(path, **rows)


def _with_rows(
    library: DifferentiableFramework, solve: Callable[..., Any], names: tuple[str, ...], signature: Signature, arguments: Any
) -> tuple[Any, dict[str, Any]]:
    """Call a function of NumPy arrays; return its result and some of its fields as arrays of a library."""
    results: list[Any] = []

    def run(*arrays: Any) -> tuple[Any, ...]:
        results.append(solve(*arrays))
        return tuple(getattr(results[-1], name) for name in names)

    rows = library.map(run, signature, arguments)
    return results[-1], dict(zip(names, rows, strict=True))
