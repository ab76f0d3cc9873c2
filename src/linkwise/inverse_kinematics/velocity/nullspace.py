"""Joint speeds worth taking beside the motion of the frame: to the middle of the ranges, away from singular positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.velocity.joint_velocities import vectors
from linkwise.inverse_kinematics.velocity.kernel import kept
from linkwise.inverse_kinematics.velocity.task import check_mechanism
from linkwise.kernel import trace
from linkwise.kinematics.configuration import tangent_derivative
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import TOOL, Tree
from linkwise.solve.lengths import characteristic_length
from linkwise.solve.validation import positive
from linkwise.spatial.scalar import Array, FloatArray, root, select
from linkwise.spatial.validation import rows_of


def towards_middle(mechanism: Tree, q: npt.ArrayLike, gain: float = 1.0) -> FloatArray:
    """Joint speeds (..., nv) towards the middle of each joint's range, 0 for joints without one and for ball joints.

    gain (middle - q): minus the gradient of the sum of the squared distances, half of it (A. Liégeois, 1977, who divides by
    the ranges). For ``secondary=`` of `joint_velocities`.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base. `joint_velocities` takes of it what closed loops allow.
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
    check_mechanism(mechanism, loops=True)
    at, share = vectors("q", q, mechanism.nq), positive("gain", gain, zero=True)
    low, high = mechanism.q_min, mechanism.q_max
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0))
    towards = np.where(bounded, share * (middle - at[..., mechanism.nq - mechanism.n :]), 0.0)
    return np.concatenate([np.zeros((*at.shape[:-1], mechanism.nv - mechanism.n)), towards], axis=-1)


def manipulability_gradient(
    mechanism: Tree, q: npt.ArrayLike, *, link: int | str = "tool", mask: npt.ArrayLike | None = None
) -> FloatArray:
    """How the manipulability changes with each velocity (..., nv), exact; 0 where it is zero itself and has no derivative.

    The manipulability is the product of the singular values of the Jacobian's rows that count, linear ones divided by the
    characteristic length. Times a gain, for ``secondary=`` of `joint_velocities` (T. Yoshikawa, "Manipulability of robotic
    mechanisms", Int. J. Robotics Research 4(2), 1985).

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops.
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
    place: int | str = TOOL if link == TOOL else mechanism.link_index(link)
    at = vectors("q", q, mechanism.nq)

    def gradient(q: Array) -> Array:
        return _gradient(mechanism, place, rows, characteristic_length(mechanism, place), q)

    kernel = kept(
        mechanism,
        ("manipulability_gradient", place, rows),
        lambda: trace(gradient, "manipulability_gradient", {"q": (mechanism.nq,)}, {"gradient": (mechanism.nv,)}),
    )
    return np.asarray(kernel(at))


def _gradient(tree: Tree, link: int | str, rows: tuple[int, ...], length: float, q: Array) -> Array:
    unit = np.array([1.0 / length if row < 3 else 1.0 for row in rows])

    def squared(x: Array) -> Array:
        jac = jacobian(tree, x, link=link)[list(rows)] * unit[:, None]
        return np.array(_determinant(jac @ jac.T if jac.shape[0] <= jac.shape[1] else jac.T @ jac), dtype=object)

    product, slope = squared(q).item(), tangent_derivative(tree, squared, q)
    half = root(select(product, product, 1.0))
    return np.array([select(product, 0.5 * rate / half, 0.0) for rate in slope], dtype=object)


def _determinant(gram: Array) -> Any:
    """The product of the pivots of a symmetric matrix without negative ones; zero from the first that is zero on."""
    left, product = np.array(gram, dtype=object), 1.0
    for k in range(len(left)):
        pivot = left[k, k]
        product = product * select(pivot, pivot, 0.0)
        inverse = 1.0 / select(pivot, pivot, 1.0)
        for i in range(k + 1, len(left)):
            for j in range(k + 1, i + 1):
                left[i, j] = left[j, i] = left[i, j] - left[i, k] * inverse * left[j, k]
    return product
