"""Solve poses that are arrays of another library: what the solver of NumPy arrays gives, as arrays of that library."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from linkwise.arrays import Framework, Signature
from linkwise.arrays.framework import DifferentiableFramework
from linkwise.inverse_kinematics.implicit import differentiable
from linkwise.model.tree import Tree
from linkwise.solve.solution import ROWS, Solution

#: What each of `ROWS` holds.
DTYPES = ("float64", "bool", "<U11", "float64", "float64", "int64")


def solve_by(
    library: Framework, solver: Callable[..., Solution], mechanism: Tree, T: Any, q0: Any = None, **options: Any
) -> Solution:
    """A solution whose rows are arrays of a library; with Dask, none of them is computed yet."""
    starts = () if q0 is None else (q0,)
    shapes = ((4, 4), *((mechanism.nq,) for _ in starts))
    library.check(solver.__name__, dict(zip(("T", "q0"), zip((T, *starts), shapes, strict=True), strict=False)))
    differentiated = isinstance(library, DifferentiableFramework) and library.differentiates((T, *starts))
    signature = Signature(shapes, ((mechanism.nq,), (), (), (), (), ()), DTYPES)
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


def _device_rows(
    solver: Callable[..., Solution], mechanism: Tree, options: dict[str, Any], names: tuple[str, ...], *arrays: Any
) -> tuple[Any, ...]:
    solution = solver(mechanism, *arrays, **options)
    return tuple(getattr(solution, name) for name in names)


def _rows(solver: Callable[..., Solution], mechanism: Tree, options: dict[str, Any], T: Any, *q0: Any) -> tuple[Any, ...]:
    solution = solver(mechanism, T, **({"q0": q0[0]} if q0 else {}), **options)
    return tuple(np.asarray(getattr(solution, name), dtype) for name, dtype in zip(ROWS, DTYPES, strict=True))
