"""Analytic Jacobians: joint velocities to the rates of a frame's position and of coordinates of its orientation."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.errors import ArgumentError, choices
from linkwise.kinematics.configuration import time_derivative
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, is_number, is_zero, root, select
from linkwise.spatial.validation import choice

#: A sine below half of its unit in the last place, 1e-13 or 6e-5 in single precision, is no more than rounding errors.
COARSE = 1024.0


@algorithm(inputs={"q": "nq"}, outputs={"J": "O nv"})
def analytic_jacobian(tree: Tree, q: Array, *, link: int | str = "tool", orientation: str = "rpy") -> Array:
    """Rates of the position and of the orientation's coordinates per joint velocity (6 or 7, nv), world axes.

    ``"rpy"``: roll, pitch, yaw, R = Rz(yaw) Ry(pitch) Rx(roll), undefined at a pitch of 90 degrees; ``"zyz"``: Euler angles,
    R = Rz(a) Ry(b) Rz(c) with b from 0 to pi, undefined at both; ``"quaternion"``: qw, qx, qy, qz, the one with the greatest
    component positive, defined everywhere. Where they are undefined, within 1e-13 (in float32 6e-5) of it, what depends on
    the angles is infinite or NaN, and an `ArgumentError` is raised for a frame that is never anywhere else. B. Siciliano, L.
    Sciavicco, L. Villani, G. Oriolo, *Robotics* (2009), section 3.6.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.analytic_jacobian([0.3, 0.4])[3:] + 0.0
    array([[0., 0.],
           [0., 0.],
           [1., 1.]])
    >>> arm.analytic_jacobian([0.0, 0.0], orientation="quaternion")[3:] + 0.0
    array([[0. , 0. ],
           [0. , 0. ],
           [0. , 0. ],
           [0.5, 0.5]])
    """
    rates = RATES[choice("orientation", orientation, RATES)]
    jac = jacobian(tree, q, link=link)
    pose = forward_kinematics(tree, q, link=link)
    turning = rates(np.asarray(pose[:3, :3], dtype=object if np.asarray(q).dtype == object else float))
    return np.concatenate([jac[:3], turning @ jac[3:]])


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"Jd": "O nv"})
def analytic_jacobian_dot(tree: Tree, q: Array, qd: Array, *, link: int | str = "tool", orientation: str = "rpy") -> Array:
    """The rate (6 or 7, nv) of the analytic Jacobian at the velocities qd.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.analytic_jacobian_dot([0.0, 0.0], [1.0, 0.0])[:2] + 0.0
    array([[-2., -1.],
           [ 0.,  0.]])
    """
    return time_derivative(tree, lambda x: analytic_jacobian(tree, x, link=link, orientation=orientation), q, qd)


def refuse_orientation(orientation: str) -> NoReturn:
    """Raise `ArgumentError`: the coordinates are undefined in all configurations of the frame."""
    message = f"orientation is {orientation!r}, which this frame has in no configuration; expected another of"
    raise ArgumentError(f"{message} {choices(RATES)}")


def _reciprocal(orientation: str, R: Array, first: Any, second: Any) -> Any:
    """1 / sine of two elements of a rotation, infinite where the sine is lost in the rounding errors of these.

    A sum with `COARSE` rounds such a sine away, whatever the precision; the selection keeps it from being simplified. Raises
    `ArgumentError` for a sine that the expressions show to be zero.
    """
    sine = root(first * first + second * second)
    if R.dtype == object and is_zero(sine):
        refuse_orientation(orientation)
    known = sine * select(select(sine, COARSE + sine, COARSE) - COARSE, 1.0, 0.0)  # (NaN where the sine is)
    return np.inf if is_number(known) and known == 0.0 else 1.0 / known


def _rpy_rates(R: Array) -> Array:
    """Rates of roll, pitch and yaw (3, 3) per angular velocity, world axes."""
    inverse = _reciprocal("rpy", R, R[0, 0], R[1, 0])
    c, s = R[0, 0] * inverse, R[1, 0] * inverse
    tangent = -R[2, 0] * inverse
    return np.array([[c * inverse, s * inverse, 0.0], [-s, c, 0.0], [c * tangent, s * tangent, 1.0]], dtype=object)


def _zyz_rates(R: Array) -> Array:
    """Rates of the angles about z, y and z (3, 3) per angular velocity, world axes."""
    inverse = _reciprocal("zyz", R, R[0, 2], R[1, 2])
    c, s, cotangent = R[0, 2] * inverse, R[1, 2] * inverse, R[2, 2] * inverse
    return np.array([[-c * cotangent, -s * cotangent, 1.0], [-s, c, 0.0], [c * inverse, s * inverse, 0.0]], dtype=object)


def _quaternion_rates(R: Array) -> Array:
    """Rates of qw, qx, qy, qz (4, 3) per angular velocity, world axes: half the quaternion's left product."""
    w, x, y, z = _quaternion(R)
    return 0.5 * np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]], dtype=object)


def _quaternion(R: Array) -> list[Any]:
    """Unit quaternion of a rotation, its greatest component positive.

    S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1(3), 1978.
    """
    sums = [
        [1.0 + R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
        [R[2, 1] - R[1, 2], 1.0 + R[0, 0] - R[1, 1] - R[2, 2], R[1, 0] + R[0, 1], R[0, 2] + R[2, 0]],
        [R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], 1.0 - R[0, 0] + R[1, 1] - R[2, 2], R[2, 1] + R[1, 2]],
        [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2], 1.0 - R[0, 0] - R[1, 1] + R[2, 2]],
    ]
    row, square = sums[0], sums[0][0]
    for k in range(1, 4):
        larger = sums[k][k] - square
        row = [select(larger, new, old) for new, old in zip(sums[k], row, strict=True)]
        square = select(larger, sums[k][k], square)
    scale = 0.5 / root(square)
    return [value * scale for value in row]


#: The rates of an orientation's coordinates from its rotation, by the name of the coordinates.
RATES = {"rpy": _rpy_rates, "zyz": _zyz_rates, "quaternion": _quaternion_rates}
