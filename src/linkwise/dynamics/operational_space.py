"""What inertia a tool, or any link, shows to what pushes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import algorithm, kernel_of
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.errors import ArgumentError
from linkwise.kinematics.jacobian import jacobian
from linkwise.kinematics.manipulability import manipulability
from linkwise.model.tree import Tree
from linkwise.spatial.linear import factor
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import rows_of

#: A direction in which the scaled inverse inertia is less than this is one in which the frame cannot accelerate.
SINGULAR = 1e-10


@algorithm(inputs={"q": "nq"}, outputs={"inverse": "6 6"}, spread=False, open_only=True)
def inverse_operational_space_inertia(tree: Tree, q: Array, *, link: int | str = "tool", frame: str = "world") -> Array:
    """J inverse(M) J' (6, 6): the acceleration of a frame per force and moment on it, at rest (see `jacobian`).

    The inverse of the operational-space inertia of O. Khatib, "A unified approach for motion and force control of robot
    manipulators: the operational space formulation", IEEE J. Robotics and Automation 3(1), 1987; it exists at singular
    positions too. From M = L' D L, as Y' inverse(D) Y with L' Y = J'.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.kernel("inverse_operational_space_inertia")([0.0, 1.0])[:2, :2].round(3)
    array([[ 2.542, -1.02 ],
           [-1.02 ,  1.159]])
    """
    check_inertia(tree)
    jac = jacobian(tree, q, link=link, frame=frame)
    solver = factor(mass_matrix(tree, q))
    half = [solver.half_solve(row) for row in jac]
    result = np.empty((6, 6), dtype=object)
    weight = np.array(solver.inverse_pivots, dtype=object)
    for i in range(6):
        for j in range(i, 6):
            result[i, j] = result[j, i] = (half[i] * weight) @ half[j]
    return result


def operational_space_inertia(inverse: npt.ArrayLike, mask: npt.ArrayLike = "all") -> FloatArray:
    """Return the operational-space inertia (..., k, k) from its inverse (..., 6, 6), in the directions asked for.

    In a direction in which the frame cannot accelerate, at a singular position, its inertia is unbounded; there the
    result is the pseudo-inverse and has zero. What is singular is decided with each row and column scaled to one, so that
    heavy bodies with light links, and m beside rad, do not matter.

    Parameters
    ----------
    inverse : (..., 6, 6) array_like
        From `inverse_operational_space_inertia`.
    mask : {"all", "translation", "rotation"} or (6,) array_like
        Which rows and columns count, before the inverse is taken.

    Raises
    ------
    ArgumentError
        For another mask, or another shape.

    Examples
    --------
    >>> import numpy as np
    >>> operational_space_inertia(np.diag([2.0, 2.0, 0.0, 1.0, 1.0, 1.0]), "translation").tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    matrix = np.asarray(inverse)
    if matrix.shape[-2:] != (6, 6):
        raise ArgumentError(f"inverse has the shape {matrix.shape}; expected (..., 6, 6)")
    chosen = list(rows_of(mask))
    rows: Any = matrix[..., chosen, :][..., chosen].astype(float)
    known = np.isfinite(rows).all(axis=(-2, -1), keepdims=True)
    result = np.where(known, _inverted(np.where(known, rows, 0.0)), np.nan)
    return result.astype(np.result_type(matrix.dtype, np.float32), copy=False)


@dataclass(frozen=True)
class OperationalSpace:
    """The dynamics of a frame: F = inertia a + coriolis + gravity, and how forces and joint motions divide.

    O. Khatib, 1987 (see `inverse_operational_space_inertia`); k is the number of directions asked for.

    Attributes
    ----------
    inertia : ndarray (..., k, k)
        The operational-space inertia.
    coriolis, gravity : ndarray (..., k)
        Force that velocities, and gravity, take at the frame. Friction and springs are left out.
    inverse : ndarray (..., nv, k)
        The dynamically consistent inverse of the Jacobian, inverse(M) J' inertia.
    nullspace : ndarray (..., nv, nv)
        N = 1 - J' inverse': efforts N tau do not accelerate the frame.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_3r()
    >>> found = arm.operational_space_dynamics([0.1, 0.5, 0.4], [0.0, 0.0, 0.0], mask=[1, 1, 0, 0, 0, 0])
    >>> found.inertia.shape, found.nullspace.shape
    ((2, 2), (3, 3))
    """

    inertia: FloatArray
    coriolis: FloatArray
    gravity: FloatArray
    inverse: FloatArray
    nullspace: FloatArray


def operational_space_dynamics(
    tree: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    link: int | str = "tool",
    frame: str = "world",
    mask: npt.ArrayLike = "all",
) -> OperationalSpace:
    """Return the dynamics of a frame in the directions asked for: see `OperationalSpace`.

    At a singular position it is that of the directions in which the frame can accelerate.

    Parameters
    ----------
    tree : Mechanism
        Without closed loops.
    q, qd : (..., nq), (..., nv) array_like
        State.
    link, frame
        As for `Mechanism.jacobian`.
    mask : {"all", "translation", "rotation"} or (6,) array_like
        Which directions count.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> space = operational_space_dynamics(arm, [0.0, 1.0], [0.5, 0.0], mask="translation")
    >>> (space.nullspace @ arm.jacobian([0.0, 1.0])[:3].T).round(9) + 0.0
    array([[0., 0., 0.],
           [0., 0., 0.]])
    """
    rows = list(rows_of(mask))
    options = {"link": link, "frame": frame}
    inverse_inertia = kernel_of(tree, "inverse_operational_space_inertia", None, options)(q)
    inertia = operational_space_inertia(inverse_inertia, mask)
    jac = kernel_of(tree, "jacobian", None, options)(q)[..., rows, :]
    rate = kernel_of(tree, "jacobian_dot", None, options)(q, qd)[..., rows, :]
    response = np.linalg.solve(kernel_of(tree, "mass_matrix")(q), np.swapaxes(jac, -1, -2))
    inverse = response @ inertia
    weight = kernel_of(tree, "gravity_torque")(q)
    bias = kernel_of(tree, "bias_torque")(q, qd) - weight
    turning = np.einsum("...ij,...j->...i", rate, np.asarray(qd))
    coriolis = np.einsum("...ji,...j->...i", inverse, bias) - np.einsum("...ij,...j->...i", inertia, turning)
    gravity = np.einsum("...ji,...j->...i", inverse, weight)
    nullspace = np.eye(tree.nv) - np.swapaxes(jac, -1, -2) @ np.swapaxes(inverse, -1, -2)
    return OperationalSpace(inertia, coriolis, gravity, inverse, nullspace)


def dynamic_manipulability(
    tree: Tree, q: npt.ArrayLike, link: int | str = "tool", mask: npt.ArrayLike = "all", measure: str = "volume"
) -> FloatArray:
    """Return how easily a frame is accelerated (...,): of the singular values of J inverse(M), or of its inertia.

    Parameters
    ----------
    tree : Mechanism
        Without closed loops.
    q : (..., nq) array_like
        Configuration.
    link, mask
        As for `Mechanism.manipulability`.
    measure : {"volume", "least", "isotropy", "asada"}
        Of J inverse(M) as in `linkwise.kinematics.manipulability` (T. Yoshikawa, "Dynamic manipulability of robot
        manipulators", J. Robotic Systems 2(1), 1985); ``"asada"``: the least eigenvalue of the operational-space inertia by
        the greatest, 1 where the frame is equally heavy in all directions, 0 at a singular position (H. Asada, J. Dynamic
        Systems, Measurement and Control 105(3), 1983).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> plane = [1, 1, 0, 0, 0, 0]
    >>> [float(dynamic_manipulability(arm, [0.0, 1.5], "tool", plane, m).round(3)) for m in ("volume", "asada")]
    [2.251, 0.249]
    """
    if measure == "asada":
        rows = list(rows_of(mask))
        inverse = kernel_of(tree, "inverse_operational_space_inertia", None, {"link": link})(q)[..., rows, :][..., rows]
        values = np.linalg.eigvalsh(inverse)
        return np.asarray(np.maximum(values[..., 0], 0.0) / np.where(values[..., -1] > 0, values[..., -1], 1.0))
    jac = kernel_of(tree, "jacobian", None, {"link": link})(q)
    mass = kernel_of(tree, "mass_matrix")(q)
    return manipulability(np.swapaxes(np.linalg.solve(mass, np.swapaxes(jac, -1, -2)), -1, -2), mask, measure)


def _inverted(matrix: FloatArray) -> FloatArray:
    """The inverse of positive semidefinite matrices (..., k, k) where they have one, else the pseudo-inverse."""
    size = np.sqrt(np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), 0.0))
    scale = np.where(size > 0, size, 1.0)
    scales = scale[..., :, None] * scale[..., None, :]
    values, vectors = np.linalg.eigh(matrix / scales)
    there = values > SINGULAR
    whole = np.einsum("...ik,...k,...jk->...ij", vectors, np.where(there, 1.0 / np.where(there, values, 1.0), 0.0), vectors)
    rank = there.sum(axis=-1, keepdims=True)
    count = matrix.shape[-1]
    plain, axes = np.linalg.eigh(matrix)
    kept = (np.arange(count) >= count - rank) & (plain > 0)
    part = np.einsum("...ik,...k,...jk->...ij", axes, np.where(kept, 1.0 / np.where(kept, plain, 1.0), 0.0), axes)
    return np.asarray(np.where(rank[..., None] == count, whole / scales, part))
