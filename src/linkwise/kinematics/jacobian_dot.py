"""The rate of the Jacobian along a motion."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.forward_kinematics import body_poses, frame_of
from linkwise.kinematics.jacobian import check_frame, column, in_body_axes
from linkwise.model.body import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross, skew
from linkwise.spatial.scalar import Array, blank


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"Jd": "6 nv"})
def jacobian_dot(tree: Tree, q: Array, qd: Array, *, link: int | str = "tool", frame: str = "world") -> Array:
    """dJ/dt (6, nv) at speeds qd, so that the frame's acceleration is J qdd + Jd qd.

    Each column is differentiated as it stands, with dz_i/dt = w_i x z_i, and w_i, v_i the velocities of body i:
    [(w_i x z_i) x (p - o_i) + z_i x (v - v_i); w_i x z_i]. In body axes, d(R'J)/dt = R'(Jd - w~ J).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.jacobian_dot([0.0, 0.0], [1.0, 0.0])[:3] + 0.0
    array([[-2., -1.],
           [ 0.,  0.],
           [ 0.,  0.]])
    """
    check_frame(frame)
    bodies = moving_bodies(tree)
    end, t = frame_of(tree, bodies, link)
    path = bodies.path(end)
    poses = body_poses(bodies, q, path)
    tip = poses[end] @ t
    omega: dict[int, Array] = {-1: np.zeros(3)}
    speed: dict[int, Array] = {-1: np.zeros(3)}
    for k in path:
        body, pose = bodies.bodies[k], poses[k]
        parent = np.zeros(3) if body.parent < 0 else poses[body.parent][:3, 3]
        speed[k] = speed[body.parent] + cross(omega[body.parent], pose[:3, 3] - parent)
        omega[k] = omega[body.parent]
        for freedom in body.freedoms_at(q):
            omega[k] = omega[k] + (pose[:3, :3] @ freedom.angular) * qd[freedom.speed]
            speed[k] = speed[k] + (pose[:3, :3] @ freedom.linear) * qd[freedom.speed]
    origin = np.zeros(3) if end < 0 else poses[end][:3, 3]
    tip_speed = speed[end] + cross(omega[end], tip[:3, 3] - origin)

    rate_of, jac = blank(6, tree.nv), blank(6, tree.nv)
    for k in path:
        pose = poses[k]
        arm = tip[:3, 3] - pose[:3, 3]
        for freedom, rate in zip(bodies.bodies[k].freedoms_at(q), bodies.bodies[k].rates_at(q, qd), strict=True):
            axis, i = pose[:3, :3] @ freedom.angular, freedom.speed
            turned = cross(omega[k], axis)
            jac[:, i] = column(freedom, pose, tip[:3, 3])
            rate_of[:3, i] = cross(turned, arm) + cross(axis, tip_speed - speed[k])
            rate_of[:3, i] = rate_of[:3, i] + cross(omega[k], pose[:3, :3] @ freedom.linear)
            rate_of[3:, i] = turned
            rate_of[:, i] = rate_of[:, i] + column(rate, pose, tip[:3, 3])
    if frame == "world":
        return rate_of
    turned = skew(omega[end]) if end >= 0 else np.zeros((3, 3))
    carried = np.concatenate([rate_of[:3] - turned @ jac[:3], rate_of[3:] - turned @ jac[3:]])
    return in_body_axes(tip[:3, :3], carried)
