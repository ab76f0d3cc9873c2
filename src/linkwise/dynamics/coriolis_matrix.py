"""The Coriolis matrix in Christoffel form."""

from __future__ import annotations

from linkwise.algorithm import algorithm
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import composite_inertias, momenta, pairs, rotor_coriolis, summed_inward
from linkwise.kinematics.body_motion import velocities
from linkwise.kinematics.body_transform import JointTransform
from linkwise.model.body import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import coriolis_times, coriolis_transposed_times, inertia_times, motion_cross


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
    velocity = velocities(bodies, joints, qd)
    inertia = composite_inertias(bodies, joints)
    momentum = summed_inward(bodies, joints, momenta(bodies, velocity, qd), JointTransform.momentum_to_parent)
    rates = {
        f.speed: motion_cross(v, f.screw) for body, v in zip(bodies.bodies, velocity, strict=True) for f in body.freedoms
    }
    matrix = rotor_coriolis(tree, qd)
    for k, joint in enumerate(joints):
        for freedom in joint.freedoms:
            j, screw = freedom.speed, freedom.screw
            across = coriolis_times(momentum[k], screw) + inertia_times(inertia[k], rates[j])
            along = inertia_times(inertia[k], screw)
            turning = coriolis_transposed_times(momentum[k], screw)
            for carrier, other, (column, row, couple) in pairs(bodies, joints, k, [across, along, turning]):
                i = other.speed
                matrix[i, j] = matrix[i, j] + other.screw @ column
                if carrier != k:
                    matrix[j, i] = matrix[j, i] + row @ rates[i] + couple @ other.angular
    for rotor in bodies.rotors:
        j, turned = rotor.speed, 0.5 * cross(velocity[rotor.body][3:], rotor.spin)
        for _, other, (spin, couple) in pairs(bodies, joints, rotor.body, [rotor.spin, turned]):
            i, shared = other.speed, couple @ other.angular
            matrix[i, j] = matrix[i, j] + shared
            matrix[j, i] = matrix[j, i] + shared + spin @ rates[i][3:]
    return matrix
