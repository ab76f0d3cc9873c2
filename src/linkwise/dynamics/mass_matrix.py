"""The mass matrix, by composite bodies."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithm import algorithm
from linkwise.dynamics.carried_axes import carried_axes
from linkwise.dynamics.motors import reflected_inertias
from linkwise.dynamics.sweep import composite_inertias, inward
from linkwise.kinematics.joint_transform import JointTransform
from linkwise.model.bodies import Bodies
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.six_vector import inertia_times


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
    made = moving_bodies(tree).regrouped()
    return composite_mass_matrix(tree, *carried_axes(made, q, tips=False))


def composite_mass_matrix(tree: Tree, made: Bodies, joints: Sequence[JointTransform]) -> Array:
    """M (nv, nv) of bodies whose joint transforms are known."""
    composite = composite_inertias(made, joints)
    mass = blank(tree.nv, tree.nv)
    for k, body in enumerate(made.bodies):
        for freedom in body.freedoms:
            j = freedom.speed
            for carrier, (force,) in inward(made, joints, k, [inertia_times(composite[k], freedom.screw)]):
                for other in made.bodies[carrier].freedoms:
                    mass[other.speed, j] = mass[j, other.speed] = other.screw @ force
    add_rotors(tree, made, joints, mass)
    return mass


def add_rotors(tree: Tree, made: Bodies, joints: Sequence[JointTransform], mass: Array) -> None:
    """Add G^2 Jm on the diagonal, and what a spinning rotor and its turning carrier exchange, G Jm s beside it."""
    for j, reflected in enumerate(reflected_inertias(tree)):
        mass[j, j] = mass[j, j] + reflected
    for rotor in made.rotors:
        for carrier, (couple,) in inward(made, joints, rotor.body, [rotor.spin]):
            for other in made.bodies[carrier].freedoms:
                shared = other.angular @ couple
                mass[other.speed, rotor.speed] = mass[other.speed, rotor.speed] + shared
                mass[rotor.speed, other.speed] = mass[rotor.speed, other.speed] + shared
