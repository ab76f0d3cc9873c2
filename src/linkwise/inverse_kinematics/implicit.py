"""Derivatives of a solution of inverse kinematics by the pose, from the equations that it solves.

At a solution q of r(q, T) = 0 with a square and regular Jacobian J = dr/dq, q is a function of T near it, and
dq/dT = -inverse(J) dr/dT (the implicit function theorem; M. Spivak, *Calculus on Manifolds*, 1965, theorem 2-12). The steps
q <- q - inverse(J) r(q, T) with the inverse at the solution leave q as it is, and each makes the derivatives of one order
more right.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from linkwise.algorithm import find
from linkwise.arrays.framework import DifferentiableFramework, Signature
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import axial
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import mask_of

#: To which order derivatives are right.
ORDER = 3

#: A Jacobian is singular whose least singular value is less than this share of the greatest.
SINGULAR = 1e-9


def differentiable(
    library: DifferentiableFramework,
    mechanism: Tree,
    q: Any,
    T: Any,
    success: Any,
    *,
    link: int | str = "tool",
    mask: Any = None,
    frame: str = "world",
    **_: Any,
) -> Any:
    """The solutions q (..., nq) of poses T (..., 4, 4), the same numbers, with derivatives by the poses.

    They are NaN where there are none: without success, at a singular position, where joints are left over or joints with
    quaternions or loops are moved, and where the mask leaves a rotation about single axes free.
    """
    rows = [k for k, counts in enumerate(mask_of(mask)) if counts]
    kernel = residual(mechanism, link, tuple(rows), frame)
    shapes = ((mechanism.nq,), (4, 4), ())
    signature = Signature(shapes, ((mechanism.nq, len(rows)), ()), ("float64", "bool"))
    q, fixed = library.constant(q), library.constant(T)
    arrays = (q, fixed, success)
    if library.on_device(arrays):
        inverse, exists = library.opaque(partial(_device_inverse, library, mechanism, kernel, rows), signature, arrays)
    else:
        inverse, exists = library.map(partial(_inverse, mechanism, kernel, rows), signature, arrays)
    inverse, exists = library.constant(inverse), exists[..., None]
    function = library.of_kernel(kernel)
    at_solution = library.constant(function(q, fixed))
    for _step in range(ORDER):
        defect = function(q, T) - at_solution
        q = q - (inverse @ defect[..., None])[..., 0]
    # The root of the square of 0 has no derivative: it is 0, and its derivative NaN.
    defect = (function(library.constant(q), T) - at_solution).sum(-1)[..., None]
    unknown = (library.where(exists, defect * 0.0 + 1.0, defect) ** 2) ** 0.5
    return q + library.where(exists, unknown * 0.0, unknown)


def residual(mechanism: Tree, link: int | str, rows: tuple[int, ...], frame: str) -> Kernel:
    """What of a pose is missing: r (rows,) of q (nq,) and T (4, 4), zero at a solution; the turn to first order."""

    def function(q: Array, wanted: Array) -> Array:
        reached = find("forward_kinematics").function(mechanism, q, link=link)
        r, shift = reached[:3, :3], wanted[:3, 3] - reached[:3, 3]
        turn = axial(r.T @ wanted[:3, :3])
        both = np.concatenate([r.T @ shift if frame == "body" else shift, turn])
        return both[list(rows)]

    def make() -> Kernel:
        return Kernel(trace(function, "pose_residual", {"q": (mechanism.nq,), "T": (4, 4)}, {"r": (len(rows),)}))

    return mechanism.memo("inverse_kinematics", ("residual", link, rows, frame), make)


def _inverse(
    mechanism: Tree, kernel: Kernel, rows: list[int], q: FloatArray, T: FloatArray, success: Any
) -> tuple[FloatArray, Any]:
    """The inverse (..., nq, rows) of the Jacobian over the joints that move the frame, and whether there is one."""
    jacobian = np.asarray(kernel.derivative("q")(q, T))
    batch = jacobian.shape[:-2]
    moving = np.flatnonzero(np.any(jacobian != 0.0, axis=tuple(range(jacobian.ndim - 1))))
    inverse, exists = np.zeros((*batch, mechanism.nq, len(rows))), np.zeros(batch, dtype=bool)
    if len(moving) != len(rows) or not _determined(mechanism, rows):
        return inverse, exists
    square = jacobian[..., moving]
    finite = np.isfinite(square).all(axis=(-2, -1))
    values = np.linalg.svd(np.where(finite[..., None, None], square, 0.0), compute_uv=False)
    exists = finite & np.asarray(success, dtype=bool) & (values[..., -1] > SINGULAR * values[..., 0])
    inverse[..., moving, :] = np.linalg.inv(np.where(exists[..., None, None], square, np.eye(len(rows))))
    return np.where(exists[..., None, None], inverse, 0.0), exists


def _determined(mechanism: Tree, rows: list[int]) -> bool:
    """Whether the rows of a pose can determine joints: no rotation about single axes, no loops, no quaternions."""
    partial_turn = 0 < sum(row >= 3 for row in rows) < 3
    return not (partial_turn or mechanism.loops or mechanism.manifold_joints)


def _device_inverse(
    library: DifferentiableFramework, mechanism: Tree, kernel: Kernel, rows: list[int], q: Any, T: Any, success: Any
) -> tuple[Any, Any]:
    """The same by functions of the library, where all joints move the frame."""
    module, count = library.functions, len(rows)
    if mechanism.nq != count or not _determined(mechanism, rows):
        still = library.constant(np.zeros((mechanism.nq, count)), near=q)
        return q[..., None] * 0.0 + still, success & ~success
    identity = library.constant(np.eye(count), near=q)
    jacobian = library.of_kernel(kernel.derivative("q"))(q, T)
    finite = module.isfinite(jacobian).all(-1).all(-1)
    values = module.linalg.svdvals(library.where(finite[..., None, None], jacobian, identity))
    exists = finite & success & (values[..., -1] > SINGULAR * values[..., 0])
    return module.linalg.inv(library.where(exists[..., None, None], jacobian, identity)), exists
