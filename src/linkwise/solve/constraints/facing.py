"""An axis that must point along a direction: two equations that hold only where it does, from wherever one begins."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array, FloatArray, atan2, root, select

OPPOSED = 1e-4
"""Below this the cosine of half the angle is too small to tell which way round is shorter: one way is taken for all."""


def facing(u: Array, turning: Array) -> tuple[Array, Array]:
    """What is lacking until the z axis of a frame points along u, and the rates of that.

    With t the angle between z and u, the residual is 4 sin(t/4) times the direction in which the tip of z must move. It
    grows all the way to t = pi, where an axis points the opposite way. The rates are cos(t/4) times those of the rotation,
    so that their slope is exactly that of half the squared residual, 8 sin(t/4)^2, whose derivative in t is 2 sin(t/2).

    Parameters
    ----------
    u : ndarray (3,)
        Unit vector in the axes of the frame, scalars.
    turning : ndarray (3, nv)
        Angular velocity of the frame against u, in the axes of the frame, per speed.

    Returns
    -------
    residual : ndarray (2,)
        rad.
    rates : ndarray (2, nv)
        Of rotation about y, which moves the tip of z along x, and about -x, which moves it along y.
    """
    square = 0.5 * (1.0 + u[2])
    near = square - OPPOSED * OPPOSED
    half = root(select(near, square, OPPOSED * OPPOSED))
    quarter = root(0.5 * (1.0 + half))
    scale = 1.0 / (half * quarter)
    residual = np.array([select(near, u[0] * scale, 2.0 * np.sqrt(2.0)), select(near, u[1] * scale, 0.0)])
    return residual, np.array([turning[1] * quarter, -turning[0] * quarter])


def angle_to(u: Array) -> Any:
    """The angle between z and a vector u (3,), from 0 to pi, rad."""
    return atan2(root(u[0] * u[0] + u[1] * u[1]), u[2])


def basis(axis: FloatArray) -> FloatArray:
    """A rotation (3, 3) whose z is the unit vector given.

    Examples
    --------
    >>> basis(np.array([1.0, 0.0, 0.0]))
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    aside = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    x = aside - axis * (aside @ axis)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1) + 0.0
