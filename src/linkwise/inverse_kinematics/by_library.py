"""Solve poses that are arrays of another library: what the solver of NumPy arrays gives, as arrays of that library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from linkwise.arrays import DifferentiableFramework, Framework, Signature
from linkwise.inverse_kinematics.implicit import differentiable
from linkwise.model.tree import Tree
from linkwise.solve.solution import DTYPES, ROWS, Solution
from linkwise.solve.validation import joint_index


def solve_by(
    library: Framework, solver: Callable[..., Solution], mechanism: Tree, T: Any, q0: Any = None, **options: Any
) -> Solution:
    """A solution whose rows are arrays of a library; with Dask, none of them is computed yet."""
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
    return Solution.of(**rows, names=mechanism.names, tol=options.get("tol", 1e-9))


def solutions_in_graph(mechanism: Tree, options: dict[str, Any], **rows: Any) -> Solution:
    """A solution within a graph of `torch.compile`, where there are no texts."""
    rows["success"] = rows["success"] != 0.0
    return Solution(reason=None, tol=options.get("tol", 1e-9), **rows)


def graph_rows(mechanism: Tree, **_: Any) -> dict[str, tuple[int, ...]]:
    """The shapes of what a solution has in graphs."""
    return {name: (mechanism.nq,) if name == "q" else () for name in ROWS if name != "reason"}


def _device_rows(
    solver: Callable[..., Solution], mechanism: Tree, options: dict[str, Any], names: tuple[str, ...], *arrays: Any
) -> tuple[Any, ...]:
    solution = solver(mechanism, *arrays, **options)
    return tuple(getattr(solution, name) for name in names)


def _rows(solver: Callable[..., Solution], mechanism: Tree, options: dict[str, Any], T: Any, *q0: Any) -> tuple[Any, ...]:
    solution = solver(mechanism, T, **({"q0": q0[0]} if q0 else {}), **options)
    return tuple(np.asarray(getattr(solution, name), dtype) for name, dtype in zip(ROWS, DTYPES, strict=True))


#: What of all solutions is arrays, and what each holds.
LISTED = {"q": "float64", "count": "int64", "complete": "bool", "unreachable": "bool", "cause": "float64"}


def all_solutions_by(
    library: Framework, solver: Callable[..., Any], mechanism: Tree, T: Any, q0: Any = None, **options: Any
) -> Any:
    """All solutions, as arrays of a library with derivatives by T; self-motions, and those of others, as of NumPy."""
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
        held = joint_index(mechanism, "fixed", next(iter(options["fixed"]))) if options.get("fixed") else None
        safe = library.where(filled[..., None], q, q[..., :1, :])  # (what is not there adds no NaN to derivatives)
        tracked = differentiable(library, mechanism, safe, T[..., None, :, :], filled | ~filled, held=held, **known)
        rows["q"] = library.where(filled[..., None], tracked, q)
    return replace(solutions, **rows)


def path_by(
    library: Framework, solver: Callable[..., Any], mechanism: Tree, T: Any, *, q0: Any = None, **options: Any
) -> Any:
    """The way along a path whose poses are arrays of a library: its q has derivatives by them, all else is of NumPy."""
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
    """What a function of NumPy arrays returns, and some of its fields as arrays of a library."""
    results: list[Any] = []

    def run(*arrays: Any) -> tuple[Any, ...]:
        results.append(solve(*arrays))
        return tuple(getattr(results[-1], name) for name in names)

    rows = library.map(run, signature, arguments)
    return results[-1], dict(zip(names, rows, strict=True))
