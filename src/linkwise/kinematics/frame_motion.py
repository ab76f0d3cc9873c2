"""Velocity and acceleration of one frame, their derivatives, and the second derivatives of its pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.body_motion import motions, step_effect
from linkwise.kinematics.configuration import tangent_derivative
from linkwise.kinematics.forward_kinematics import body_poses, frame_of
from linkwise.kinematics.jacobian import check_frame, jacobian
from linkwise.kinematics.jacobian_dot import jacobian_dot
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.spatial_vectors import motion_cross


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
    if moving_bodies(tree).constant_subspaces:
        changes = _Changes.of(tree, q, qd, np.zeros(tree.nv), link, frame)
        return changes.velocity_by_q(), changes.jacobian
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
    if moving_bodies(tree).constant_subspaces:
        changes = _Changes.of(tree, q, qd, qdd, link, frame)
        return *changes.acceleration_derivatives(), changes.jacobian
    by_q = tangent_derivative(tree, lambda x: frame_acceleration(tree, x, qd, qdd, link=link, frame=frame), q)
    rate = jacobian_dot(tree, q, qd, link=link, frame=frame)
    columns = [
        rate[:, j] + jacobian_dot(tree, q, unit, link=link, frame=frame) @ qd for j, unit in enumerate(np.eye(tree.nv))
    ]
    return by_q, np.stack(columns, axis=1), jacobian(tree, q, link=link, frame=frame)


@dataclass(frozen=True)
class _Changes:
    """Derivatives of the motion of a frame by the joints, at its origin in the selected axes.

    Attributes
    ----------
    in_world : bool
        Whether the axes are the world's, beside which a step turns the frame.
    velocity, acceleration : ndarray (6,)
        Of the frame: spatial ones, without gravity.
    jacobian : ndarray (6, nv)
        Its columns are the motion subspaces of the joints.
    steps, second_steps, rates : ndarray (6, nv)
        What `linkwise.kinematics.body_motion.StepEffect` has of each, after S. Singh, R. P. Russell, P. M. Wensing,
        "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra", 2022.
    """

    in_world: bool
    velocity: Array
    acceleration: Array
    jacobian: Array
    steps: Array
    second_steps: Array
    rates: Array

    @classmethod
    def of(cls, tree: Tree, q: Array, qd: Array, qdd: Array, link: int | str, frame: str) -> _Changes:
        """Derivatives for a frame on a link."""
        check_frame(frame)
        bodies = moving_bodies(tree)
        end, t = frame_of(tree, bodies, link)
        path = bodies.path(end)
        moved = motions(bodies, joint_transforms(bodies, q), qd, qdd, np.zeros(3))
        poses = body_poses(bodies, q, path)
        tip = poses[end] @ t
        to = np.eye(3) if frame == "world" else tip[:3, :3].T

        def seen(k: int, motion: Array) -> Array:
            turn, arm = to @ poses[k][:3, :3], to @ (tip[:3, 3] - poses[k][:3, 3])
            angular = turn @ motion[3:]
            return np.concatenate([turn @ motion[:3] + cross(angular, arm), angular])

        still: Array = np.zeros(6)
        whole = [seen(end, moved[end].velocity), seen(end, moved[end].acceleration)] if end >= 0 else [still, still]
        tables = [blank(6, tree.nv) for _ in range(4)]
        for k in path:
            for freedom in bodies.bodies[k].freedoms:
                effect = step_effect(freedom, moved[k])
                columns = (freedom.screw, effect.velocity, effect.acceleration, effect.velocity + effect.rate)
                for table, column in zip(tables, columns, strict=True):
                    table[:, freedom.speed] = seen(k, column)
        return cls(frame == "world", *whole, *tables)

    def velocity_by_q(self) -> Array:
        """The derivative (6, nv) of the frame's velocity."""
        result = self.steps.copy()
        if self.in_world:
            for j, turning in enumerate(self.jacobian[3:].T):
                result[:3, j] = result[:3, j] + cross(turning, self.velocity[:3])
                result[3:, j] = result[3:, j] + cross(turning, self.velocity[3:])
        return result

    def acceleration_derivatives(self) -> tuple[Array, Array]:
        """The derivatives (6, nv) of the rate of the frame's velocity by q and by qd."""
        by_q, by_qd = self.second_steps.copy(), self.rates.copy()
        linear, spin = self.velocity[:3], self.velocity[3:]
        point = self.acceleration[:3] + cross(spin, linear)  # the acceleration of the frame's origin
        for j, (column, step) in enumerate(zip(self.jacobian.T, self.steps.T, strict=True)):
            by_q[:, j] = by_q[:, j] - motion_cross(self.velocity, step)
            by_qd[:, j] = by_qd[:, j] - motion_cross(self.velocity, column)
            if self.in_world:
                turned = cross(column[3:], point) + cross(step[3:], linear) + cross(spin, step[:3])
                by_q[:3, j] = by_q[:3, j] + turned
                by_q[3:, j] = by_q[3:, j] + cross(column[3:], self.acceleration[3:])
                by_qd[:3, j] = by_qd[:3, j] + cross(column[3:], linear) + cross(spin, column[:3])
        return by_q, by_qd


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


@algorithm(inputs={"q": "nq", "weights": "6"}, outputs={"wdJ_dq": "nv nv"})
def kinematic_hessian_product(
    tree: Tree, q: Array, weights: Array, *, link: int | str = "tool", frame: str = "world"
) -> Array:
    """The sum (nv, nv) of weights[r] times `kinematic_hessian` [r, i, j] over the rows r.

    The derivative of J' w: how the efforts of a force and moment w on the frame change with q where these keep their
    components, the geometric stiffness. The product with velocities is `jacobian_dot`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.kinematic_hessian_product([0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]) + 0.0
    array([[-2., -1.],
           [-1., -1.]])
    """
    return tangent_derivative(tree, lambda x: jacobian(tree, x, link=link, frame=frame).T @ weights, q)
