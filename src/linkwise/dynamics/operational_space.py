"""Operational-space dynamics of a tool or link frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.algorithm import algorithm, kernel_of
from linkwise.arrays import Signature
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_rates
from linkwise.dynamics.closed_loops.nullspace import allowed_motions, cut_open, freedom_at
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.errors import ArgumentError
from linkwise.kinematics.jacobian import jacobian
from linkwise.kinematics.manipulability import MEASURES, manipulability
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.linear import factor
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import choice, rows_of, vectors

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
    """Return the operational-space inertia (..., k, k) from its inverse (..., 6, 6), in the selected directions.

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
    matrix = arrays.numbers("operational_space_inertia: inverse", inverse)
    if tuple(matrix.shape)[-2:] != (6, 6):
        raise ArgumentError(f"inverse has the shape {tuple(matrix.shape)}; expected (..., 6, 6)")
    rows = list(rows_of(mask))
    signature = Signature(((6, 6),), ((len(rows), len(rows)),), ("float64",), ("inertia",))
    (result,) = arrays.apply(
        "operational_space_inertia", lambda numpy, whole: (_inertia(numpy, whole, rows),), signature, [matrix]
    )
    return result  # type: ignore[no-any-return]


@dataclass(frozen=True)
class OperationalSpace:
    """The dynamics of a frame: F = inertia a + coriolis + gravity, and the division of forces and joint motions.

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
    """Return the dynamics of a frame in the selected directions: see `OperationalSpace`.

    At a singular position it is that of the directions in which the frame can accelerate. With loops N inverse(N' M N) N'
    takes the place of inverse(M), N the motions that they allow: their forces are counted, and the state must close them.

    Parameters
    ----------
    tree : Mechanism
        The mechanism.
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
    require_numeric_tree(tree, "operational_space_dynamics")
    rows, options = list(rows_of(mask)), {"link": link, "frame": frame}
    if tree.loops:
        return _closed_dynamics(tree, q, qd, rows, options)
    terms = [kernel_of(tree, name, None, options)(q) for name in ("inverse_operational_space_inertia", "jacobian")]
    terms += [kernel_of(tree, "jacobian_dot", None, options)(q, qd)]
    terms += [kernel_of(tree, "mass_matrix")(q), kernel_of(tree, "gravity_torque")(q), kernel_of(tree, "bias_torque")(q, qd)]

    def compute(numpy: Any, inverse_inertia: Any, jac: Any, rate: Any, mass: Any, weight: Any, bias: Any, qd: Any) -> Any:
        inertia, jac, rate = _inertia(numpy, inverse_inertia, rows), jac[..., rows, :], rate[..., rows, :]
        inverse = numpy.linalg.solve(mass, numpy.swapaxes(jac, -1, -2)) @ inertia
        coriolis = numpy.einsum("...ji,...j->...i", inverse, bias - weight)
        coriolis = (
            coriolis - (inertia @ (rate @ qd[..., None]))[..., 0]
        )  # (products of matrices: a batch has the bits of a loop)
        gravity = numpy.einsum("...ji,...j->...i", inverse, weight)
        nullspace = _identity(numpy, mass) - numpy.swapaxes(jac, -1, -2) @ numpy.swapaxes(inverse, -1, -2)
        return inertia, coriolis, gravity, inverse, nullspace

    k, n = len(rows), terms[1].shape[-1]
    inputs = ((6, 6), (6, n), (6, n), (n, n), (n,), (n,), (n,))
    names = tuple(OperationalSpace.__annotations__)
    signature = Signature(inputs, ((k, k), (k,), (k,), (n, k), (n, n)), ("float64",) * 5, names)
    terms.append(arrays.numbers("operational_space_dynamics", qd))
    return OperationalSpace(*arrays.apply("operational_space_dynamics", compute, signature, terms))


def closed_inverse_inertia(tree: Tree, q: npt.ArrayLike, link: int | str, frame: str = "world") -> FloatArray:
    """`inverse_operational_space_inertia` (..., 6, 6) with loops closed: the frame's accelerations by forces on it."""
    jac = kernel_of(tree, "jacobian", None, {"link": link, "frame": frame})(q)
    return np.asarray(jac @ _response(tree, q, "operational_space_inertia") @ np.swapaxes(jac, -1, -2))


def _response(tree: Tree, q: npt.ArrayLike, name: str) -> FloatArray:
    """Accelerations by efforts (..., nv, nv), the loops closed."""
    free = allowed_motions(tree, q, name)
    onto = np.swapaxes(free, -1, -2)
    return np.asarray(free @ np.linalg.solve(onto @ kernel_of(tree, "mass_matrix")(q) @ free, onto))


def _closed_dynamics(
    tree: Tree, q: npt.ArrayLike, qd: npt.ArrayLike, rows: list[int], options: dict[str, Any]
) -> OperationalSpace:
    """Dynamics with closed loops, NumPy arrays; the free acceleration is the part of any solution that moves no inertia."""
    name, open_tree = "operational_space_dynamics", cut_open(tree)
    response, speeds = _response(tree, q, name), vectors(f"{name}: qd", qd, tree.nv)
    closed_rates(tree, freedom_at(tree, q, name), q, name, qd=speeds)
    jac, rate = (kernel_of(tree, part, None, options) for part in ("jacobian", "jacobian_dot"))
    jac, rate = jac(q)[..., rows, :], rate(q, speeds)[..., rows, :]
    across = np.swapaxes(jac, -1, -2)
    inertia = _inertia(np, jac @ response @ across, list(range(len(rows))))
    inverse = response @ across @ inertia
    weight, bias = kernel_of(open_tree, "gravity_torque")(q), kernel_of(open_tree, "bias_torque")(q, speeds)
    closing = -np.linalg.pinv(kernel_of(tree, "closure_jacobian")(q), rcond=SINGULAR)
    coasting = (closing @ kernel_of(tree, "closure_bias")(q, speeds)[..., None])[..., 0]
    momentum_rate = (kernel_of(tree, "mass_matrix")(q) @ coasting[..., None])[..., 0]
    coasting = coasting - (response @ momentum_rate[..., None])[..., 0]
    moved = (jac @ coasting[..., None] + rate @ speeds[..., None])[..., 0]
    coriolis = ((bias - weight)[..., None, :] @ inverse)[..., 0, :] - (inertia @ moved[..., None])[..., 0]
    gravity = (weight[..., None, :] @ inverse)[..., 0, :]
    return OperationalSpace(inertia, coriolis, gravity, inverse, np.eye(tree.nv) - across @ np.swapaxes(inverse, -1, -2))


def dynamic_manipulability(
    tree: Tree, q: npt.ArrayLike, link: int | str = "tool", mask: npt.ArrayLike = "all", measure: str = "volume"
) -> FloatArray:
    """Return the dynamic manipulability of a frame (...,) from the singular values of J inverse(M), or of its inertia.

    Parameters
    ----------
    tree : Mechanism
        What moves; with loops, by the motions that they allow.
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
    require_numeric_tree(tree, "dynamic_manipulability")
    rows = list(rows_of(mask))
    choice("measure", measure, (*MEASURES, "asada"))
    if measure == "asada":

        def compute(numpy: Any, inverse: Any) -> tuple[Any, ...]:
            values = numpy.linalg.eigvalsh(inverse[..., rows, :][..., rows])
            return (numpy.clip(values[..., 0], 0.0, None) / numpy.where(values[..., -1] > 0, values[..., -1], 1.0),)

        if tree.loops:
            inverse = closed_inverse_inertia(tree, q, link)
        else:
            inverse = kernel_of(tree, "inverse_operational_space_inertia", None, {"link": link})(q)
        (result,) = arrays.apply("dynamic_manipulability", compute, Signature(((6, 6),), ((),), ("float64",)), [inverse])
        return result  # type: ignore[no-any-return]

    if tree.loops:
        jac = kernel_of(tree, "jacobian", None, {"link": link})(q)
        free = allowed_motions(tree, q, "dynamic_manipulability")
        return manipulability(jac @ _response(tree, q, "dynamic_manipulability") @ free, mask, measure)

    def response(numpy: Any, jac: Any, mass: Any) -> tuple[Any, ...]:
        return (numpy.swapaxes(numpy.linalg.solve(mass, numpy.swapaxes(jac, -1, -2)), -1, -2),)

    terms = [kernel_of(tree, "jacobian", None, {"link": link})(q), kernel_of(tree, "mass_matrix")(q)]
    n = terms[0].shape[-1]
    signature = Signature(((6, n), (n, n)), ((6, n),), ("float64",))
    return manipulability(arrays.apply("dynamic_manipulability", response, signature, terms)[0], mask, measure)


def _inertia(numpy: Any, inverse: Any, rows: list[int]) -> Any:
    """Inverse of positive semidefinite matrices (..., 6, 6), in some rows; the pseudo-inverse where it is singular."""
    matrix = inverse[..., rows, :][..., rows]
    known = numpy.isfinite(matrix).all(axis=(-2, -1))[..., None, None]
    matrix, unit = numpy.where(known, matrix, 0.0), _identity(numpy, matrix)
    diagonal = numpy.einsum("...ii->...i", matrix)
    size = numpy.where(diagonal > 0, diagonal, 1.0) ** 0.5
    scaled = matrix / (size[..., :, None] * size[..., None, :])
    rank = (numpy.linalg.eigvalsh(scaled) > max(SINGULAR, 100.0 * numpy.finfo(matrix.dtype).eps)).sum(axis=-1)[..., None]
    full = (rank == len(rows))[..., None]
    whole = numpy.linalg.inv(numpy.where(full, scaled, unit)) / (size[..., :, None] * size[..., None, :])
    values, axes = numpy.linalg.eigh(numpy.where(full, unit * numpy.cumsum(numpy.ones_like(unit), axis=-1), matrix))
    kept = (numpy.cumsum(numpy.ones_like(values), axis=-1) > len(rows) - rank) & (values > 0)
    part = numpy.einsum("...ik,...k,...jk->...ij", axes, kept / numpy.where(kept, values, 1.0), axes)
    return numpy.where(known, numpy.where(full, whole, part), numpy.nan)


def _identity(numpy: Any, like: Any) -> Any:
    """Identity matrices of the shape, and on the device, of others."""
    return numpy.tril(numpy.triu(numpy.ones_like(like)))
