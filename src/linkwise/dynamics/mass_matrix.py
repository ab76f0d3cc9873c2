"""The mass matrix, by composite bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.length_inertias import length_inertia_matrix
from linkwise.dynamics.newton_euler import upright_spin
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.body_transform import JointTransform
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import inertia_times
from linkwise.sweeps.drivers import Row, Sweeps, looped
from linkwise.sweeps.tables import MechanismRows
from linkwise.sweeps.unrolled import UnrolledSweeps


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
    matrix = composite_mass_matrix(tree, *carried_axes(bodies, q, tips=False))
    return matrix + length_inertia_matrix(tree, q) if tree.has_length_inertias else matrix


def composite_mass_matrix(tree: Tree, bodies: Bodies, joints: Sequence[JointTransform]) -> Array:
    """M (nv, nv) of bodies with known joint transforms."""
    sweeps = UnrolledSweeps(MechanismRows(tree, bodies), joints)
    sweeps.temporary("M", "nv", "nv")
    composite_bodies(sweeps, "M")
    return sweeps.arrays["M"]


@looped("mass_matrix", regrouped=True)
def mass_matrix_in_steps(sweeps: Sweeps) -> None:
    """Composite bodies (M. W. Walker, D. E. Orin, 1982, method 3)."""
    composite_bodies(sweeps, "M")


def composite_bodies(sweeps: Sweeps, mass: str) -> None:
    """M (nv, nv), rotors counted."""

    def outward(body: Row) -> None:
        _ = body.upright
        body["composite"] = body.upright_inertia

    def visit(body: Row, force: Array, same: bool) -> Array:
        values = [freedom.screw @ force for freedom in body.upright.freedoms]
        body.write(mass, values, "v w")
        body.write(mass, values, "w v")
        return force if body.rooted else body.upright.force_to_parent(force)

    def inward(body: Row) -> None:
        if not body.rooted:
            body.parent.add("composite", body.upright.inertia_to_parent(body["composite"]))

    sweeps.ground(axes=np.eye(3))
    sweeps.outward(outward)
    sweeps.inward(inward)
    sweeps.walk(lambda body: [inertia_times(body["composite"], f.screw) for f in body.upright.freedoms], visit)
    add_rotors(sweeps, mass)


def add_rotors(sweeps: Sweeps, mass: str) -> None:
    """Add G^2 Jm on the diagonal, and G Jm s of the exchange between a spinning rotor and its rotating carrier."""

    def exchanged(at: str) -> None:
        def visit(body: Row, couple: Array, same: bool) -> Array:
            body.write(mass, [freedom.angular @ couple for freedom in body.upright.freedoms], at, add=True)
            return body.upright.vector_to_parent(couple)

        sweeps.walk(lambda rotor: [upright_spin(rotor)], visit, "rotors")

    exchanged("v w")
    exchanged("w v")
    sweeps.outward(lambda motor: motor.write(mass, motor.number("reflected"), "v v", add=True), "motors")
