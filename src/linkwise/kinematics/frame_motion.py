"""Velocity and acceleration of one frame, their derivatives, and the second derivatives of its pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.body_motion import BodyMotion, step_effect
from linkwise.kinematics.configuration import tangent_derivative
from linkwise.kinematics.forward_kinematics import body_poses, frame_of
from linkwise.kinematics.jacobian import check_frame, jacobian
from linkwise.kinematics.jacobian_dot import jacobian_dot
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import motion_cross
from linkwise.sweeps.drivers import Row, Sweeps, body_pose, framed, looped
from linkwise.sweeps.unrolled import unrolled


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
        tables = _by_steps("frame_velocity_derivatives", tree, q, qd, link=link, frame=frame)
        return tables[0], tables[1]
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
        tables = _by_steps("frame_acceleration_derivatives", tree, q, qd, qdd, link=link, frame=frame)
        return tables[0], tables[1], tables[2]
    by_q = tangent_derivative(tree, lambda x: frame_acceleration(tree, x, qd, qdd, link=link, frame=frame), q)
    rate = jacobian_dot(tree, q, qd, link=link, frame=frame)
    columns = [
        rate[:, j] + jacobian_dot(tree, q, unit, link=link, frame=frame) @ qd for j, unit in enumerate(np.eye(tree.nv))
    ]
    return by_q, np.stack(columns, axis=1), jacobian(tree, q, link=link, frame=frame)


def _by_steps(name: str, tree: Tree, q: Array, *motion: Array, link: int | str, frame: str) -> tuple[Array, ...]:
    """Run the steps of an algorithm on the bodies that carry a frame."""
    bodies = moving_bodies(tree)
    poses = body_poses(bodies, q, bodies.path(frame_of(tree, bodies, link)[0]))
    joints = joint_transforms(bodies, q)
    tables: tuple[Array, ...] = unrolled(name, tree, bodies, joints, q, *motion, poses=poses, link=link, frame=frame)
    return tables


@looped("frame_velocity_derivatives", path=True)
def frame_velocity_derivatives_in_steps(sweeps: Sweeps, *, frame: str = "world") -> None:
    """Compute the derivatives from the motion subspaces of the joints, and from what steps of these change."""

    def columns(motion: Array, steps: Sequence[Array]) -> tuple[Array, Array]:
        column, by_q = steps[0], steps[1]
        return by_q + (_turned(column[3:], motion[:6]) if frame == "world" else 0.0), column

    _changes(sweeps, frame, ("dv_dq", "dv_dqd"), columns)


@looped("frame_acceleration_derivatives", path=True)
def frame_acceleration_derivatives_in_steps(sweeps: Sweeps, *, frame: str = "world") -> None:
    """Compute the derivatives of the acceleration of the frame's origin and of the angular one, from those of spatial ones.

    S. Singh, R. P. Russell, P. M. Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector
    algebra", 2022.
    """

    def columns(motion: Array, steps: Sequence[Array]) -> tuple[Array, Array, Array]:
        (column, step, second, rate), velocity = steps, motion[:6]
        linear, spin, zero = velocity[:3], velocity[3:], np.zeros(3)
        by_q, by_qd = second - motion_cross(velocity, step), rate - motion_cross(velocity, column)
        if frame == "world":
            point = motion[6:9] + cross(spin, linear)  # the acceleration of the frame's origin
            by_q = by_q + _turned(column[3:], np.concatenate([point, motion[9:]]))
            across, along = (cross(part[3:], linear) + cross(spin, part[:3]) for part in (step, column))
            by_q, by_qd = by_q + np.concatenate([across, zero]), by_qd + np.concatenate([along, zero])
        return by_q, by_qd, column

    _changes(sweeps, frame, ("da_dq", "da_dqd", "da_dqdd"), columns)


def _turned(turning: Array, motion: Array) -> Array:
    """Change of a motion (6,) per turn of its frame, in the axes of the world."""
    return np.concatenate([cross(turning, motion[:3]), cross(turning, motion[3:])])


def _changes(sweeps: Sweeps, frame: str, tables: Sequence[str], columns: Callable[..., Sequence[Array]]) -> None:
    """Write the columns of each joint into tables (6, nv).

    ``columns(motion, steps)`` has the velocity and the spatial acceleration (12,) of the frame, and of a freedom its motion
    subspace, what a step of it adds to both (see `linkwise.kinematics.body_motion.StepEffect`), and the rate of that motion
    subspace with what the step adds: (6,) each, seen at the frame's origin in the axes that are asked for.
    """
    check_frame(frame)
    accelerating = len(tables) > 2
    still = np.zeros(6)
    sweeps.temporary("tip", 3, 4)
    sweeps.temporary("tip motion", 12)

    def seen(tip: Array, pose: Array, motion: Array) -> Array:
        turn, arm = pose[:, :3], tip[:, 3] - pose[:, 3]
        if frame == "body":
            turn, arm = tip[:, :3].T @ turn, tip[:, :3].T @ arm
        angular = turn @ motion[3:]
        return np.concatenate([turn @ motion[:3] + cross(angular, arm), angular])

    def carried(body: Row) -> tuple[Array, Array]:
        joint, parent = body.joint, body.parent
        velocity = joint.motion_from_parent(parent["velocity"])
        return velocity, joint.motion_from_parent(parent["acceleration"]) if accelerating else still

    def outward(body: Row) -> None:
        body_pose(body)
        (velocity, acceleration), rate = carried(body), body.joint.rate(body.read("qd"))
        body["velocity"], body["acceleration"] = velocity + rate, still
        if accelerating:
            body["acceleration"] = acceleration + body.joint.rate(body.read("qdd")) + motion_cross(velocity, rate)

    def tip(row: Row) -> None:
        pose = framed(row)[:3]
        row.write("tip", pose, ". .")
        whole = [seen(pose, row.body["world"], row.body[name]) for name in ("velocity", "acceleration")]
        row.write("tip motion", np.concatenate(whole), ".")

    def write(body: Row) -> None:
        at, motion, moved = body.read("tip", ". ."), body.read("tip motion", "."), carried(body)
        results = []
        for freedom in body.joint.freedoms:
            effect = step_effect(freedom, BodyMotion(body["velocity"], body["acceleration"], *moved))
            parts = (freedom.screw, effect.velocity, effect.acceleration, effect.velocity + effect.rate)
            results.append(columns(motion, [seen(at, body["world"], part) for part in parts]))
        for table, values in zip(tables, zip(*results, strict=True), strict=True):
            body.write(table, np.stack(values, axis=1), ". v")

    sweeps.ground(world=np.eye(4)[:3], velocity=still, acceleration=still)
    sweeps.outward(outward)
    sweeps.outward(tip, "frames")
    sweeps.outward(write)


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
