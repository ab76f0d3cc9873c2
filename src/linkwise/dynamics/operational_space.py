"""What inertia a tool, or any link, shows to what pushes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import algorithm
from linkwise.dynamics.factor import factor
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.dynamics.singular import check_inertia
from linkwise.errors import ArgumentError, choices
from linkwise.kinematics.jacobian import jacobian
from linkwise.kinematics.manipulability import AXES
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray


@algorithm(inputs={"q": "nq"}, outputs={"mobility": "6 6"})
def inverse_operational_space_inertia(tree: Tree, q: Array, *, link: int | str = -1, frame: str = "base") -> Array:
    """J inverse(M) J' (6, 6): the acceleration of a frame per force and moment on it, at rest (see `jacobian`).

    The inverse of the operational-space inertia of O. Khatib, "A unified approach for motion and force control of robot
    manipulators: the operational space formulation", IEEE J. Robotics and Automation 3(1), 1987, eq. 23; it exists at
    singular positions too. From M = L' D L, as Y' inverse(D) Y with L' Y = J'.
    """
    check_inertia(tree)
    jac = jacobian(tree, q, link=link, frame=frame)
    solver = factor(mass_matrix(tree, q))
    half = [solver.half_solve(row) for row in jac]
    made = np.empty((6, 6), dtype=object)
    weight = np.array(solver.inverse_pivots, dtype=object)
    for i in range(6):
        for j in range(i, 6):
            made[i, j] = made[j, i] = (half[i] * weight) @ half[j]
    return made


def operational_space_inertia(mobility: npt.ArrayLike, axes: str = "all") -> FloatArray:
    """Return the operational-space inertia (..., k, k), the inverse of the mobility (..., 6, 6) on the axes asked for.

    In a direction in which the frame cannot accelerate, at a singular position, its inertia is unbounded; there the
    pseudo-inverse has zero, as O. Khatib (1987, section V) and the spatial operator algebra take it.

    Parameters
    ----------
    mobility : (..., 6, 6) array_like
        From `inverse_operational_space_inertia`.
    axes : {"all", "translation", "rotation"}
        Which rows and columns count, before the inverse is taken.

    Raises
    ------
    ArgumentError
        For other axes.

    Examples
    --------
    >>> import numpy as np
    >>> operational_space_inertia(np.diag([2.0, 2.0, 0.0, 1.0, 1.0, 1.0]), "translation").tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    if axes not in AXES:
        raise ArgumentError(f"axes is {axes!r}; expected {choices(AXES)}")
    rows: Any = np.asarray(mobility, dtype=float)[..., AXES[axes], AXES[axes]]
    known = np.isfinite(rows).all(axis=(-2, -1), keepdims=True)
    made = np.linalg.pinv(np.where(known, rows, 0.0), rcond=1e-10, hermitian=True)
    return np.where(known, made, np.nan)
