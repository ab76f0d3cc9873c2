"""Linear and angular momentum."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.center_of_mass import first_moment, some_mass
from linkwise.dynamics.recursions import summed_inward
from linkwise.errors import ArgumentError, choices
from linkwise.kinematics.body_motion import velocities
from linkwise.kinematics.body_transform import JointTransform, joint_transforms
from linkwise.model.body import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import inertia_times

POINTS = ("origin", "com")


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"p": "6"})
def momentum(tree: Tree, q: Array, qd: Array, *, about: str = "origin") -> Array:
    """Linear (kg m/s) and angular momentum (kg m2/s) (6,) of everything that moves, world axes.

    The angular momentum is about the world origin, or about the centre of mass (D. E. Orin, A. Goswami, S.-H. Lee,
    "Centroidal dynamics of a humanoid robot", Autonomous Robots 35, 2013). Rotors count with the spin that their carrier
    feels; a motor without a carrier has no known axis and adds nothing.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.momentum([0.0, 0.0], [1.0, 0.0]).round(3) + 0.0
    array([0.   , 2.   , 0.   , 0.   , 0.   , 2.667])
    """
    if about not in POINTS:
        raise ArgumentError(f"about is {about!r}; expected {choices(POINTS)}")
    bodies = moving_bodies(tree)
    joints = joint_transforms(bodies, q)
    velocity = velocities(bodies, joints, qd)
    total: list[Array] = [inertia_times(body.inertia, v) for body, v in zip(bodies.bodies, velocity, strict=True)]
    for rotor in bodies.rotors:
        total[rotor.body] = total[rotor.body] + np.concatenate([np.zeros(3), rotor.spin * qd[rotor.speed]])
    whole: Array = np.zeros(6)
    for rotor in bodies.ground_rotors:
        whole = whole + np.concatenate([np.zeros(3), rotor.spin * qd[rotor.speed]])
    carried = summed_inward(bodies, joints, total, JointTransform.force_to_parent)
    for k in reversed(range(len(carried))):
        if bodies.bodies[k].parent < 0:
            whole = whole + joints[k].force_to_parent(carried[k])
    if about == "origin":
        return whole
    moment = first_moment(tree, bodies, joints)
    center = moment[:3] * (1.0 / some_mass(tree, moment[3]))
    return np.concatenate([whole[:3], whole[3:] - cross(center, whole[:3])])
