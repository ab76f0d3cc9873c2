"""The centroidal momentum matrix, its rate, and the derivatives of centroidal momentum."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.center_of_mass import center, center_of_mass, first_moments, some_mass
from linkwise.dynamics.derivatives import column_forces, composites_in_motion
from linkwise.dynamics.newton_euler import ZERO, spin, upright_spin
from linkwise.dynamics.recursions import composite_inertias
from linkwise.kinematics.configuration import tangent_derivative, time_derivative
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.spatial_vectors import force_cross, inertia_times, momentum_of, on_body
from linkwise.sweeps.drivers import Row, Sweeps, body_pose, looped
from linkwise.sweeps.tables import moments_of
from linkwise.sweeps.unrolled import unrolled


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
    center = center_of_mass(tree, q)
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

    The rate of momentum is the force on all bodies without gravity; what a step, a velocity and an acceleration of each
    joint add to it is what its composite body passes on (`linkwise.dynamics.derivatives`), as in J. Carpentier, N. Mansard,
    "Analytical derivatives of rigid body dynamics algorithms", RSS 2018. With a floating base dq is a small motion in the
    base's own axes.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> by_q = arm.centroidal_momentum_derivatives([0.0, 0.0], [1.0, 0.0], [0.0, 0.0])[0]
    >>> by_q[0].round(3)
    array([-2. , -0.5])
    """
    bodies = moving_bodies(tree)
    if not bodies.constant_subspaces:
        return _differentiated(tree, q, qd, qdd)
    some_mass(tree, sum(moment[3] for moment in moments_of(tree, bodies, "base")))
    joints, poses = joint_transforms(bodies, q), body_poses(bodies, q)
    tables = unrolled("centroidal_momentum_derivatives", tree, bodies, joints, q, qd, qdd, poses=poses)
    return tables[0], tables[1], tables[2], tables[3]


@looped("centroidal_momentum_derivatives", moment=True)
def centroidal_momentum_derivatives_in_steps(sweeps: Sweeps) -> None:
    """Compute the derivatives by composite bodies in motion; a step of a joint moves the centre of mass too."""
    share = 1.0 / sweeps.constant("mass")[()]

    def columns(body: Row) -> None:
        momentum, effects = momentum_of(body["momentum"]), body.read("step velocity", "v .")
        world = body_pose(body)
        turn, arm = world[:, :3] @ body["axes"].T, world[:, 3] - center(sweeps, body)
        whole = (momentum_of(body.ground["momentum"])[:3], body.ground["force"][:3])
        forces = []
        for freedom, effect, passed in zip(body.upright.freedoms, effects, column_forces(body), strict=True):
            along, by_speed, by_step = passed
            carried = force_cross(freedom.screw, momentum) + inertia_times(body["composite"], effect)
            seen = [_about(arm, turn @ force[:3], turn @ force[3:]) for force in (carried, by_step, by_speed, along)]
            step = seen[3][:3] * share
            still = [np.concatenate([ZERO, cross(step, moved)]) for moved in whole]
            forces.append([seen[0] - still[0], seen[1] - still[1], *seen[2:]])
        for name, values in zip(SHAPES, zip(*forces, strict=True), strict=True):
            body.write(name, np.stack(values, axis=1), ". v")

    def spinning(rotor: Row) -> None:
        turn, couple = rotor.body["world"][:, :3], cross(rotor.body["velocity"][3:], upright_spin(rotor))
        for name, moment in (("dhd_dqdd", spin(rotor)), ("dhd_dqd", rotor.body["axes"].T @ couple)):
            rotor.write(name, np.concatenate([ZERO, turn @ moment])[:, None], ". v", add=True)

    first_moments(sweeps)
    sweeps.ground(world=np.eye(4)[:3], momentum=np.zeros((3, 4)), force=np.zeros(6))
    composites_in_motion(sweeps, "qdd", ZERO, whole=True)
    sweeps.outward(columns)
    sweeps.outward(spinning, "rotors")


def _about(arm: Array, force: Array, moment: Array) -> Array:
    """Move a force and a moment (6,) to the point where an arm to them begins."""
    return np.concatenate([force, moment + cross(arm, force)])


def _differentiated(tree: Tree, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array, Array]:
    """The same from graphs, where motion subspaces depend on coordinates."""

    def momentum(x: Array) -> Array:
        return np.asarray(centroidal_momentum_matrix(tree, x) @ qd)

    def rate(x: Array) -> Array:
        return np.asarray(centroidal_momentum_matrix(tree, x) @ qdd + centroidal_momentum_matrix_dot(tree, x, qd) @ qd)

    by_q = tangent_derivative(tree, momentum, q)
    matrix, along = centroidal_momentum_matrix(tree, q), centroidal_momentum_matrix_dot(tree, q, qd)
    return by_q, tangent_derivative(tree, rate, q), by_q + along, matrix
