"""Derivatives of solutions of inverse kinematics by the pose, from the equations that they solve."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.algorithm import find
from linkwise.arrays.framework import DifferentiableFramework
from linkwise.arrays.implicit import implicit_function
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import axial
from linkwise.spatial.scalar import Array
from linkwise.spatial.validation import mask_of


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
    held: int | None = None,
    **_: Any,
) -> Any:
    """The solutions q (..., nq) of poses T (..., 4, 4), the same numbers, with derivatives by the poses.

    They are NaN where there are none, see `implicit_function`; where joints with quaternions or loops are moved, and where
    the mask leaves a rotation about single axes free.
    """
    rows = [k for k, counts in enumerate(mask_of(mask)) if counts]
    partial_turn = 0 < sum(row >= 3 for row in rows) < 3
    determined = not (partial_turn or mechanism.loops or mechanism.manifold_joints)
    kernel = residual(mechanism, link, tuple(rows), frame)
    return implicit_function(library, kernel, q, (T,), success, determined=determined, held=held)


def residual(mechanism: Tree, link: int | str, rows: tuple[int, ...], frame: str) -> Kernel:
    """Pose residual r (rows,) of q (nq,) and T (4, 4), zero at a solution; the rotation to first order."""

    def function(q: Array, wanted: Array) -> Array:
        reached = find("forward_kinematics").function(mechanism, q, link=link)
        r, shift = reached[:3, :3], wanted[:3, 3] - reached[:3, 3]
        turn = axial(r.T @ wanted[:3, :3])
        both = np.concatenate([r.T @ shift if frame == "body" else shift, turn])
        return both[list(rows)]

    def make() -> Kernel:
        return Kernel(trace(function, "pose_residual", {"q": (mechanism.nq,), "T": (4, 4)}, {"r": (len(rows),)}))

    return mechanism.memo("inverse_kinematics", ("residual", link, rows, frame), make)
