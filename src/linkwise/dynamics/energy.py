"""Kinetic and potential energy."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.center_of_mass import first_moment
from linkwise.dynamics.recursions import reflected_inertias, spring_energy
from linkwise.kinematics.body_motion import velocities
from linkwise.kinematics.body_transform import joint_transforms
from linkwise.model.body import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import inertia_times


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"T": ""})
def kinetic_energy(tree: Tree, q: Array, qd: Array) -> Any:
    """T (J) of links, payload and rotors: the sum of v' I v / 2 over the bodies.

    H. Goldstein, *Classical Mechanics* (1980), section 5.3.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> qd = [1.0, 2.0]
    >>> float(round(arm.kinetic_energy([0.0, 0.5], qd), 4))
    3.483
    >>> float(round(qd @ arm.mass_matrix([0.0, 0.5]) @ qd / 2, 4))
    3.483
    """
    bodies = moving_bodies(tree).regrouped()
    velocity = velocities(bodies, joint_transforms(bodies, q), qd)
    twice: Any = 0.0
    for body, v in zip(bodies.bodies, velocity, strict=True):
        twice = twice + v @ inertia_times(body.inertia, v)
    for j, reflected in enumerate(reflected_inertias(tree)):
        twice = twice + reflected * (qd[j] * qd[j])
    for rotor in bodies.rotors:
        twice = twice + 2.0 * ((rotor.spin @ velocity[rotor.body][3:]) * qd[rotor.speed])
    return np.asarray(0.5 * twice)


@algorithm(inputs={"q": "nq"}, outputs={"U": ""})
def potential_energy(tree: Tree, q: Array) -> Any:
    """U (J) in the field of gravity, zero with all mass at the world origin: -m g'c; and that of springs.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> [float(round(arm.potential_energy([angle, 0.0]), 3)) for angle in (0.0, 1.5707963)]
    [0.0, 19.62]
    """
    bodies = moving_bodies(tree)
    energy = -(np.asarray(tree.gravity) @ first_moment(tree, bodies, joint_transforms(bodies, q))[:3])
    return np.asarray(energy + spring_energy(tree, q) if tree.springs else energy)
