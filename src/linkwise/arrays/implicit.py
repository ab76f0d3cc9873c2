"""Derivatives of the solution of equations by their parameters, from the equations alone.

At a solution q of r(q, p) = 0 with a square and regular Jacobian J = dr/dq, q is a function of p near it, and
dq/dp = -inverse(J) dr/dp (the implicit function theorem; M. Spivak, *Calculus on Manifolds*, 1965, theorem 2-12). The steps
q <- q - inverse(J) r(q, p) with the inverse at the solution leave q as it is, and each makes the derivatives of one order
more right.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from linkwise.arrays.framework import DifferentiableFramework, Signature

#: To which order derivatives are right.
ORDER = 3

#: A Jacobian is singular if its least singular value is less than this share of the greatest.
SINGULAR = 1e-9


def implicit_function(
    library: DifferentiableFramework,
    kernel: Any,
    q: Any,
    parameters: Sequence[Any],
    success: Any,
    *,
    determined: bool = True,
    held: int | None = None,
) -> Any:
    """The solutions q (..., nq), the same numbers, with derivatives by the parameters.

    They are NaN where there are none: without success, at a singular position, and where coordinates are left over.

    Parameters
    ----------
    library : DifferentiableFramework
        Whose arrays these are.
    kernel : Kernel
        The equations r (m,) of q and the parameters, zero at a solution.
    q : array (..., nq)
        The solutions.
    parameters : sequence of array
        What they are functions of.
    success : array (...) of bool
        Whether they are solutions.
    determined : bool
        Whether the equations can determine the coordinates; with False all derivatives are NaN.
    held : int, optional
        A coordinate that stays where it is.
    """
    (size, *cores), (rows,) = (list(shapes.values()) for shapes in (kernel.tape.inputs, kernel.tape.outputs))
    signature = Signature((size, *cores, ()), ((*size, *rows), ()), ("float64", "bool"))
    q, fixed = library.constant(q), [library.constant(x) for x in parameters]
    arguments = (q, *fixed, success)
    if library.on_device(arguments):
        run = partial(_device_inverse, library, kernel, determined and held is None)
        inverse, exists = library.opaque(run, signature, arguments)
    else:
        inverse, exists = library.map(partial(_inverse, kernel, determined, held), signature, arguments)
    inverse, exists = library.constant(inverse), exists[..., None]
    function = library.of_kernel(kernel)
    at_solution = library.constant(function(q, *fixed))
    for _step in range(ORDER):
        defect = function(q, *parameters) - at_solution
        q = q - (inverse @ defect[..., None])[..., 0]
    # The root of the square of 0 has no derivative: it is 0, and its derivative NaN.
    defect = (function(library.constant(q), *parameters) - at_solution).sum(-1)[..., None]
    unknown = (library.functions.where(exists, defect * 0.0 + 1.0, defect) ** 2) ** 0.5
    return q + library.functions.where(exists, unknown * 0.0, unknown)


def _inverse(kernel: Any, determined: bool, held: int | None, q: Any, *arguments: Any) -> tuple[Any, Any]:
    """Inverse (..., nq, rows) of the Jacobian over the determined coordinates, and whether it exists."""
    *parameters, success = arguments
    jacobian = np.asarray(kernel.derivative("q")(q, *parameters))
    *batch, count, nq = jacobian.shape
    counting = np.any(jacobian != 0.0, axis=tuple(range(jacobian.ndim - 1))) & (np.arange(nq) != held)
    inverse, exists = np.zeros((*batch, nq, count)), np.zeros(batch, dtype=bool)
    if counting.sum() != count or not determined:
        return inverse, exists
    square = jacobian[..., counting]
    finite = np.isfinite(square).all(axis=(-2, -1))
    values = np.linalg.svd(np.where(finite[..., None, None], square, 0.0), compute_uv=False)
    exists = finite & np.asarray(success, dtype=bool) & (values[..., -1] > SINGULAR * values[..., 0])
    inverse[..., counting, :] = np.linalg.inv(np.where(exists[..., None, None], square, np.eye(count)))
    return np.where(exists[..., None, None], inverse, 0.0), exists


def _device_inverse(
    library: DifferentiableFramework, kernel: Any, determined: bool, q: Any, *arguments: Any
) -> tuple[Any, Any]:
    """The same by functions of the library, where all coordinates count."""
    *parameters, success = arguments
    (nq, *_), (rows, *_) = (next(iter(shapes.values())) for shapes in (kernel.tape.inputs, kernel.tape.outputs))
    if nq != rows or not determined:
        still = library.constant(np.zeros((nq, rows)), near=q)
        return q[..., None] * 0.0 + still, success & ~success
    module, unit = library.functions, library.constant(np.eye(rows), near=q)
    jacobian = library.of_kernel(kernel.derivative("q"))(q, *parameters)
    finite = module.isfinite(jacobian).all(-1).all(-1)
    values = module.linalg.svdvals(module.where(finite[..., None, None], jacobian, unit))
    exists = finite & success & (values[..., -1] > SINGULAR * values[..., 0])
    return module.linalg.inv(module.where(exists[..., None, None], jacobian, unit)), exists
