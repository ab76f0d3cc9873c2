"""The Coriolis matrix in Christoffel form."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.length_inertias import length_inertia_coriolis
from linkwise.dynamics.newton_euler import add_turning_coriolis, upright_spin
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import rotor_coriolis, turning_rotors
from linkwise.model.body import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross, skew
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import (
    coriolis_times,
    coriolis_transposed_times,
    inertia_times,
    momentum_matrix,
    motion_cross,
)
from linkwise.sweeps.drivers import Row, Sweeps, looped
from linkwise.sweeps.unrolled import unrolled


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"C": "nv nv"})
def coriolis_matrix(tree: Tree, q: Array, qd: Array) -> Array:
    """C (nv, nv) with C qd the Coriolis and centrifugal efforts, and dM/dt - 2C skew-symmetric.

    For joints it is the matrix of Christoffel symbols. S. Echeandia, P. M. Wensing, "Numerical methods to compute the
    Coriolis matrix and Christoffel symbols for rigid-body systems", J. Computational and Nonlinear Dynamics 16(9), 2021,
    algorithm 1, with the momentum matrix W J of the composite bodies in the place of their 6x6 matrices.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.coriolis_matrix([0.0, 0.5], [1.0, 2.0]).round(3)
    array([[-0.479, -0.719],
           [ 0.24 ,  0.   ]])
    """
    bodies, joints = carried_axes(moving_bodies(tree).regrouped(), q)
    _ = [body.freedoms for body in bodies.bodies]  # (constant ones, or an error)
    matrix = np.asarray(unrolled("coriolis_matrix", tree, bodies, joints, q, qd))
    if tree.has_length_inertias:
        matrix = matrix + length_inertia_coriolis(tree, q, qd)
    return matrix + rotor_coriolis(tree, qd) if turning_rotors(tree) else matrix


@looped("coriolis_matrix", regrouped=True)
def coriolis_matrix_in_steps(sweeps: Sweeps, *, turning: bool = False) -> None:
    """Composite bodies in motion (S. Echeandia, P. M. Wensing, 2021, algorithm 1)."""

    def outward(body: Row) -> None:
        joint = body.upright
        body["velocity"] = joint.motion_from_parent(body.parent["velocity"]) + joint.rate(body.read("qd"))
        body["composite"] = body.upright_inertia
        body["momentum"] = momentum_matrix(body["composite"], body["velocity"])

    def inward(body: Row) -> None:
        if not body.rooted:
            body.parent.add("composite", body.upright.inertia_to_parent(body["composite"]))
            body.parent.add("momentum", body.upright.momentum_to_parent(body["momentum"]))

    def start(body: Row) -> list[Array]:
        states = []
        for freedom in body.upright.freedoms:
            rate = motion_cross(body["velocity"], freedom.screw)
            across = coriolis_times(body["momentum"], freedom.screw) + inertia_times(body["composite"], rate)
            along = inertia_times(body["composite"], freedom.screw)
            states.append(np.concatenate([across, along, coriolis_transposed_times(body["momentum"], freedom.screw)]))
        return states

    def visit(body: Row, state: Array, same: bool) -> Array:
        joint, column, row, couple = body.upright, state[:6], state[6:12], state[12:]
        body.write("C", [freedom.screw @ column for freedom in joint.freedoms], "v w")
        if not same:
            rates = [motion_cross(body["velocity"], freedom.screw) for freedom in joint.freedoms]
            pairs = zip(joint.freedoms, rates, strict=True)
            body.write("C", [row @ rate + couple @ freedom.angular for freedom, rate in pairs], "w v")
        if body.rooted:
            return state
        return np.concatenate([joint.force_to_parent(column), joint.force_to_parent(row), joint.vector_to_parent(couple)])

    def of_rotor(rotor: Row) -> list[Array]:
        return [np.concatenate([upright_spin(rotor), 0.5 * cross(rotor.body["velocity"][3:], upright_spin(rotor))])]

    def exchanged(at: str) -> None:
        def visit(body: Row, state: Array, same: bool) -> Array:
            joint, values = body.upright, []
            for freedom in joint.freedoms:
                value = state[3:] @ freedom.angular
                if at == "w v":
                    value = value + state[:3] @ motion_cross(body["velocity"], freedom.screw)[3:]
                values.append(value)
            body.write("C", values, at, add=True)
            return np.concatenate([joint.vector_to_parent(state[:3]), joint.vector_to_parent(state[3:])])

        sweeps.walk(of_rotor, visit, "rotors")

    sweeps.ground(velocity=np.zeros(6), axes=np.eye(3))
    sweeps.outward(outward)
    sweeps.outward(half_spin, "rotors")
    sweeps.inward(inward)
    sweeps.walk(start, visit)
    exchanged("v w")
    exchanged("w v")
    if turning:
        add_turning_coriolis(sweeps, "C")


def half_spin(rotor: Row) -> None:
    """Add half the spin of a rotor to the momentum matrix of its carrier."""
    rotor.body.add("momentum", np.pad(skew(0.5 * upright_spin(rotor) * rotor.read("qd", "v")[0]), ((0, 0), (0, 1))))
