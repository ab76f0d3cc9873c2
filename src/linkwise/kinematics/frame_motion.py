"""Velocity and acceleration of one frame, their derivatives, and the second derivatives of its pose."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.configuration import tangent_derivative
from linkwise.kinematics.jacobian import jacobian
from linkwise.kinematics.jacobian_dot import jacobian_dot
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"v": "6"})
def frame_velocity(tree: Tree, q: Array, qd: Array, *, link: int | str = "tool", frame: str = "world") -> Array:
    """Linear velocity of a frame's origin and angular velocity (6,): J qd.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.frame_velocity([0.0, 0.0], [1.0, 0.0]) + 0.0
    array([0., 2., 0., 0., 0., 1.])
    """
    return np.asarray(jacobian(tree, q, link=link, frame=frame) @ qd)


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"a": "6"})
def frame_acceleration(
    tree: Tree, q: Array, qd: Array, qdd: Array, *, link: int | str = "tool", frame: str = "world"
) -> Array:
    """The rate (6,) of `frame_velocity`, component by component: J qdd + Jd qd.

    In the world's axes it is the acceleration of the frame's origin, and the angular acceleration.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.frame_acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0]) + 0.0
    array([-2.,  0.,  0.,  0.,  0.,  0.])
    """
    bias = jacobian_dot(tree, q, qd, link=link, frame=frame) @ qd
    return np.asarray(jacobian(tree, q, link=link, frame=frame) @ qdd + bias)


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"dv_dq": "6 nv", "dv_dqd": "6 nv"})
def frame_velocity_derivatives(
    tree: Tree, q: Array, qd: Array, *, link: int | str = "tool", frame: str = "world"
) -> tuple[Array, Array]:
    """Derivatives (6, nv) of `frame_velocity` by q and by qd, the second the Jacobian.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> by_q, by_qd = arm.frame_velocity_derivatives([0.0, 0.0], [1.0, 0.0])
    >>> by_q[:2] + 0.0
    array([[-2., -1.],
           [ 0.,  0.]])
    """
    by_q = tangent_derivative(tree, lambda x: frame_velocity(tree, x, qd, link=link, frame=frame), q)
    return by_q, jacobian(tree, q, link=link, frame=frame)


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"da_dq": "6 nv", "da_dqd": "6 nv", "da_dqdd": "6 nv"})
def frame_acceleration_derivatives(
    tree: Tree, q: Array, qd: Array, qdd: Array, *, link: int | str = "tool", frame: str = "world"
) -> tuple[Array, Array, Array]:
    """Derivatives (6, nv) of `frame_acceleration` by q, qd and qdd, the third the Jacobian.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> by_q, by_qd, by_qdd = arm.frame_acceleration_derivatives([0.0, 0.0], [1.0, 0.0], [0.0, 0.0])
    >>> by_qd[:2] + 0.0
    array([[-4., -2.],
           [ 0.,  0.]])
    """
    by_q = tangent_derivative(tree, lambda x: frame_acceleration(tree, x, qd, qdd, link=link, frame=frame), q)
    rate = jacobian_dot(tree, q, qd, link=link, frame=frame)
    columns = [
        rate[:, j] + jacobian_dot(tree, q, unit, link=link, frame=frame) @ qd for j, unit in enumerate(np.eye(tree.nv))
    ]
    return by_q, np.stack(columns, axis=1), jacobian(tree, q, link=link, frame=frame)


@algorithm(inputs={"q": "nq"}, outputs={"dJ_dq": "6 nv nv"})
def kinematic_hessian(tree: Tree, q: Array, *, link: int | str = "tool", frame: str = "world") -> Array:
    """Derivative (6, nv, nv) of the Jacobian: H[:, i, j] that of column i by a small motion of joint j.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.kinematic_hessian([0.0, 0.0])[0] + 0.0
    array([[-2., -1.],
           [-1., -1.]])
    """
    return tangent_derivative(tree, lambda x: jacobian(tree, x, link=link, frame=frame), q)
