"""The centroidal momentum matrix, its rate, and the derivatives of centroidal momentum."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.center_of_mass import first_moment, some_mass
from linkwise.dynamics.recursions import composite_inertias
from linkwise.kinematics.body_transform import joint_transforms
from linkwise.kinematics.configuration import tangent_derivative, time_derivative
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.spatial_vectors import inertia_times, on_body


@algorithm(inputs={"q": "nq"}, outputs={"A": "6 nv"})
def centroidal_momentum_matrix(tree: Tree, q: Array) -> Array:
    """A (6, nv): linear momentum, and angular momentum about the centre of mass, per joint velocity, world axes.

    Column i is the momentum of the composite body beyond joint i that moves with unit velocity (D. E. Orin, A. Goswami,
    S.-H. Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35, 2013). Rotors count as in `momentum`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.centroidal_momentum_matrix([0.0, 0.0])[[1, 5]].round(3) + 0.0
    array([[2.   , 0.5  ],
           [0.667, 0.333]])
    """
    bodies = moving_bodies(tree)
    joints, poses = joint_transforms(bodies, q), body_poses(bodies, q)
    composite = composite_inertias(bodies, joints)
    moment = first_moment(tree, bodies, joints)
    center = moment[:3] * (1.0 / some_mass(tree, moment[3]))
    matrix = blank(6, tree.nv)
    for k, joint in enumerate(joints):
        for freedom in joint.freedoms:
            matrix[:, freedom.speed] = on_body(inertia_times(composite[k], freedom.screw), poses[k])
    for rotor in (*bodies.rotors, *bodies.ground_rotors):
        matrix[3:, rotor.speed] = matrix[3:, rotor.speed] + poses[rotor.body][:3, :3] @ rotor.spin
    for j in range(tree.nv):
        matrix[3:, j] = matrix[3:, j] - cross(center, matrix[:3, j])
    return matrix


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"Ad": "6 nv"})
def centroidal_momentum_matrix_dot(tree: Tree, q: Array, qd: Array) -> Array:
    """The rate (6, nv) of the centroidal momentum matrix: momentum changes by A qdd + Ad qd.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.centroidal_momentum_matrix_dot([0.0, 0.0], [1.0, 0.0])[0].round(3)
    array([-2. , -0.5])
    """
    return time_derivative(tree, lambda x: centroidal_momentum_matrix(tree, x), q, qd)


SHAPES = {"dh_dq": "6 nv", "dhd_dq": "6 nv", "dhd_dqd": "6 nv", "dhd_dqdd": "6 nv"}


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs=SHAPES)
def centroidal_momentum_derivatives(tree: Tree, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array, Array]:
    """Derivatives (6, nv) of the momentum h by q, and of its rate by q, qd and qdd, the last of these A.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> by_q = arm.centroidal_momentum_derivatives([0.0, 0.0], [1.0, 0.0], [0.0, 0.0])[0]
    >>> by_q[0].round(3)
    array([-2. , -0.5])
    """

    def momentum(x: Array) -> Array:
        return np.asarray(centroidal_momentum_matrix(tree, x) @ qd)

    def rate(x: Array) -> Array:
        matrix = centroidal_momentum_matrix(tree, x)
        return np.asarray(matrix @ qdd + centroidal_momentum_matrix_dot(tree, x, qd) @ qd)

    by_qd = [
        centroidal_momentum_matrix_dot(tree, q, unit) @ qd + centroidal_momentum_matrix_dot(tree, q, qd) @ unit
        for unit in np.eye(tree.nv)
    ]
    matrix = centroidal_momentum_matrix(tree, q)
    return tangent_derivative(tree, momentum, q), tangent_derivative(tree, rate, q), np.stack(by_qd, axis=1), matrix
