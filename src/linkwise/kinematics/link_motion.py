"""Position, velocity and acceleration of every link as 4x4 matrices."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import Bodies, Freedom, moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.matrix_method import compose_acceleration, velocity_matrix
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"T": "L 4 4", "W": "L 4 4", "H": "L 4 4"})
def motion(tree: Tree, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
    """Return T, W and H (L, 4, 4) of every link, absolute, in the world frame.

    A point p = (x, y, z, 1) of link k, in world coordinates, has velocity W[k] p and acceleration H[k] p. The joint
    adds W = L qd and H = L qdd + L^2 qd^2 to its carrier's by Coriolis' theorem (G. Legnani et al., "A homogeneous
    matrix approach to 3D kinematics and dynamics", Mech. Mach. Theory 31(5), 1996, part 1).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> T, W, H = arm.motion([0.0, 0.0], [1.0, 0.0], [0.0, 0.0])
    >>> (W[1] @ T[1] @ [0, 0, 0, 1]).round(9) + 0.0
    array([0., 2., 0., 0.])
    >>> (H[1] @ T[1] @ [0, 0, 0, 1]).round(9) + 0.0
    array([-2.,  0.,  0.,  0.])
    """
    bodies = moving_bodies(tree)
    poses = body_poses(bodies, q)
    w, h = body_motion(bodies, poses, q, qd, qdd)
    carriers = [body for body, _ in bodies.frames]
    return (
        np.array([poses[body] @ t for body, t in bodies.frames]),
        np.array([w[body] for body in carriers]),
        np.array([h[body] for body in carriers]),
    )


def body_motion(
    bodies: Bodies, poses: dict[int, Array], q: Array, qd: Array, qdd: Array
) -> tuple[dict[int, Array], dict[int, Array]]:
    """W and H (4, 4) of every body in the world frame; -1 is the ground, at rest."""
    w: dict[int, Array] = {-1: np.zeros((4, 4))}
    h: dict[int, Array] = {-1: np.zeros((4, 4))}
    for k, body in enumerate(bodies.bodies):
        w_joint, h_joint = np.zeros((4, 4)), np.zeros((4, 4))
        freedoms = body.freedoms_at(q)
        for freedom, rate in zip(freedoms, body.rates_at(q, qd), strict=True):
            screw = joint_screw(freedom, poses[k])
            w_joint = w_joint + screw * qd[freedom.speed]
            h_joint = h_joint + screw * qdd[freedom.speed] + joint_screw(rate, poses[k]) * qd[freedom.speed]
        if len(freedoms) > 1:
            h_joint = h_joint + w_joint @ w_joint
        else:
            screw, speed = joint_screw(freedoms[0], poses[k]), qd[body.speed]
            h_joint = h_joint + (screw @ screw) * (speed * speed)
        w[k] = w[body.parent] + w_joint
        h[k] = compose_acceleration(h[body.parent], h_joint, w[body.parent], w_joint)
    return w, h


def joint_screw(freedom: Freedom, pose: Array) -> Array:
    """L (4, 4): the velocity matrix of a body per unit of one speed, in the frame that the pose leads to."""
    axis, along = pose[:3, :3] @ freedom.angular, pose[:3, :3] @ freedom.linear
    return velocity_matrix(axis, cross(pose[:3, 3], axis) + along)
