"""The mass matrix, by composite bodies."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithm import algorithm
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import composite_inertias, pairs, reflected_inertias
from linkwise.kinematics.body_transform import JointTransform
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.spatial_vectors import inertia_times


@algorithm(inputs={"q": "nq"}, outputs={"M": "nv nv"})
def mass_matrix(tree: Tree, q: Array) -> Array:
    """M (nv, nv), symmetric and positive definite, rotors counted: the kinetic energy is qd' M qd / 2.

    Column j is the force on the composite body beyond joint j that unit acceleration there takes, passed inward (M. W.
    Walker, D. E. Orin, "Efficient dynamic computer simulation of robotic mechanisms", 1982, method 3).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.mass_matrix([0.0, 0.0]).round(3)
    array([[2.667, 0.833],
           [0.833, 0.333]])
    """
    bodies = moving_bodies(tree).regrouped()
    return composite_mass_matrix(tree, *carried_axes(bodies, q, tips=False))


def composite_mass_matrix(tree: Tree, bodies: Bodies, joints: Sequence[JointTransform]) -> Array:
    """M (nv, nv) of bodies whose joint transforms are known."""
    composite = composite_inertias(bodies, joints)
    mass = blank(tree.nv, tree.nv)
    for k, joint in enumerate(joints):
        for freedom in joint.freedoms:
            j = freedom.speed
            for _, other, (force,) in pairs(bodies, joints, k, [inertia_times(composite[k], freedom.screw)]):
                mass[other.speed, j] = mass[j, other.speed] = other.screw @ force
    add_rotors(tree, bodies, joints, mass)
    return mass


def add_rotors(tree: Tree, bodies: Bodies, joints: Sequence[JointTransform], mass: Array) -> None:
    """Add G^2 Jm on the diagonal, and what a spinning rotor and its turning carrier exchange, G Jm s beside it."""
    for j, reflected in enumerate(reflected_inertias(tree)):
        mass[j, j] = mass[j, j] + reflected
    for rotor in bodies.rotors:
        for _, other, (couple,) in pairs(bodies, joints, rotor.body, [rotor.spin]):
            shared = other.angular @ couple
            mass[other.speed, rotor.speed] = mass[other.speed, rotor.speed] + shared
            mass[rotor.speed, other.speed] = mass[rotor.speed, other.speed] + shared
