"""Secondary joint velocities: towards the middle of the ranges, away from singular positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.algorithm import kernel_of, loops_over
from linkwise.arrays import Signature
from linkwise.inverse_kinematics.velocity.joint_velocities import vectors
from linkwise.inverse_kinematics.velocity.kernel import RANK, kept
from linkwise.inverse_kinematics.velocity.task import SINGULAR, check_mechanism
from linkwise.kernel import trace
from linkwise.kinematics.manipulability import volume_and_slope
from linkwise.loops.loop_solver import closing
from linkwise.model.tree import Tree
from linkwise.solve.lengths import characteristic_length
from linkwise.solve.validation import positive
from linkwise.spatial.linear import product
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import rows_of, shaped


@arrays.array_in_graphs(("nv",), q=("nq",))
def towards_middle(mechanism: Tree, q: npt.ArrayLike, gain: float = 1.0) -> FloatArray:
    """Joint velocities (..., nv) towards the middle of each joint's range, 0 for joints without one and for ball joints.

    gain (middle - q): minus the gradient of the sum of the squared distances, half of it (A. Liégeois, 1977, who divides by
    the ranges). For ``secondary=`` of `joint_velocities`.

    Parameters
    ----------
    mechanism : Mechanism
        Any: `joint_velocities` takes of it what closed loops allow.
    q : (..., nq) array_like
        Configuration.
    gain : float
        1/s.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> towards_middle(robots.panda(), np.zeros(7), 2.0).round(3).tolist()
    [0.0, 0.0, 0.0, -3.142, 0.0, 3.735, 0.0]
    """
    check_mechanism(mechanism)
    at, share = vectors("q", q, mechanism.nq), positive("gain", gain, zero=True)
    nq, nv, n = mechanism.nq, mechanism.nv, mechanism.n
    low, high = mechanism.q_min, mechanism.q_max
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0))

    def towards(module: Any, q: Any) -> tuple[Any]:
        gains, ends, none = (
            module.asarray(x, dtype=q.dtype) for x in (share * bounded, middle, np.zeros((*q.shape[:-1], nv - n)))
        )
        return (module.concatenate([none, gains * (ends - q[..., nq - n :])], axis=-1),)

    return arrays.apply("towards_middle", towards, Signature(((nq,),), ((nv,),), ("float64",)), [at])[0]  # type: ignore[no-any-return]


@arrays.array_in_graphs(("nv",), q=("nq",))
def manipulability_gradient(
    mechanism: Tree, q: npt.ArrayLike, *, link: int | str = "tool", mask: npt.ArrayLike | None = None
) -> FloatArray:
    """Derivative of the manipulability by each velocity (..., nv), exact; 0 where the manipulability itself is zero.

    The manipulability is the product of the singular values of the Jacobian's rows that count, linear ones divided by the
    characteristic length. Times a gain, for ``secondary=`` of `joint_velocities` (T. Yoshikawa, "Manipulability of robotic
    mechanisms", Int. J. Robotics Research 4(2), 1985).

    Parameters
    ----------
    mechanism : Mechanism
        With loops the Jacobian is that of motions which keep them closed, and the result is such a motion.
    q : (..., nq) array_like
        Configuration.
    link, mask
        As for `joint_velocities`.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> slope = manipulability_gradient(robots.planar_2r(), [0.3, 1.0], mask=[1, 1, 0, 0, 0, 0])
    >>> slope.round(3).tolist()
    [0.0, 0.375]
    """
    check_mechanism(mechanism)
    rows = rows_of(mask)
    place = mechanism.frame_index(link)
    if mechanism.loops:
        return _closed_gradient(mechanism, place, rows, shaped("q", q, ..., mechanism.nq))
    if loops_over(mechanism, place):
        return _open_gradient(mechanism, place, rows, vectors("q", q, mechanism.nq))

    def gradient(q: Array) -> Array:
        return volume_and_slope(mechanism, place, rows, characteristic_length(mechanism, place), q)[1]

    kernel = kept(
        mechanism,
        ("manipulability_gradient", place, rows),
        lambda: trace(gradient, "manipulability_gradient", {"q": (mechanism.nq,)}, {"gradient": (mechanism.nv,)}),
    )
    return kernel(vectors("q", q, mechanism.nq))  # type: ignore[no-any-return]


def _scaled(tree: Tree, link: int | str, rows: tuple[int, ...], q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows (..., m, nv) of the Jacobian that count, and their slopes (..., m, nv, nv), linear ones by the length."""
    unit = np.array([1.0 / characteristic_length(tree, link) if row < 3 else 1.0 for row in rows])
    jac, slopes = (
        kernel_of(tree, name, None, {"link": link})(q)[(..., list(rows), *[slice(None)] * order)]
        * unit.reshape(-1, *[1] * order)
        for name, order in (("jacobian", 1), ("kinematic_hessian", 2))
    )
    return jac, slopes


def _open_gradient(tree: Tree, link: int | str, rows: tuple[int, ...], q: FloatArray) -> FloatArray:
    """The gradient (..., nv) over kernels that loop over bodies: w tr(pinv(A) dA), as of `_closed_gradient`."""
    jac, slopes = _scaled(tree, link, rows, q)
    left, values, right = np.linalg.svd(jac, full_matrices=False)
    there = values > RANK * values[..., :1]
    inverse = (left / np.where(there, values, 1.0)[..., None, :]) @ right
    size = (*jac.shape[:-2], jac.shape[-2] * tree.nv)
    along = product(np.swapaxes(slopes.reshape(*size, tree.nv), -1, -2), inverse.reshape(size))
    return np.asarray(np.where(there.all(axis=-1), np.prod(values, axis=-1), 0.0)[..., None] * along)


def _closed_gradient(tree: Tree, link: int | str, rows: tuple[int, ...], q: FloatArray) -> FloatArray:
    """The gradient (..., nv) along motions that keep the loops closed.

    With A the rows of the Jacobian, B the closure Jacobian and P = 1 - pinv(B) B, the product w of the singular values of
    M = A P changes by w tr(pinv(M) dM), dM = dA P + A dP, dP = -pinv(B) dB P - (pinv(B) dB P)' (G. H. Golub, V. Pereyra,
    "The differentiation of pseudo-inverses and nonlinear least squares problems", SIAM J. Numerical Analysis 10(2), 1973).
    """
    loops, units = closing(tree), np.eye(tree.nv)
    loops.require_closed(q, "manipulability_gradient: ")
    jac, slopes = _scaled(tree, link, rows, q)
    rates = kernel_of(tree, "closure_derivatives")(q[..., None, :], units, 0.0 * units, np.zeros(len(loops.rows)))[1]
    turns = np.moveaxis(rates, -3, -2) * loops.rows[:, None, None]  # (..., K, nv, nv): of column i by motion j
    closed = kernel_of(tree, "closure_jacobian")(q) * loops.rows[:, None]
    opened = np.linalg.pinv(closed, rcond=SINGULAR)
    free = units - opened @ closed
    matrix = jac @ free
    values, count = np.linalg.svd(matrix, compute_uv=False), int(np.round(np.trace(free, axis1=-2, axis2=-1)).min())
    volume = np.prod(values[..., : min(len(rows), count)], axis=-1)
    inverse = np.linalg.pinv(matrix, rcond=RANK)
    projected = inverse @ jac
    along = np.einsum("...ir,...rij->...j", inverse, slopes)
    along -= np.einsum("...ik,...kij->...j", free @ projected @ opened, turns)
    along -= np.einsum("...ki,...kij->...j", np.swapaxes(opened, -1, -2) @ projected @ free, turns)
    return np.asarray(volume[..., None] * (free @ along[..., None])[..., 0])
