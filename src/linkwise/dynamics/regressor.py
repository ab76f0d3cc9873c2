"""The regressor: inverse dynamics as a matrix times the inertial parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.recursions import joint_friction, pairs
from linkwise.kinematics.body_motion import BodyMotion, motions, velocities
from linkwise.kinematics.body_transform import joint_transforms
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import moving_bodies
from linkwise.model.parameters import LINK, MOTOR, to_body
from linkwise.model.transmission import Drive
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross, skew
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.spatial_vectors import energies


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"Y": "nv P"}, open_only=True)
def regressor(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Y (nv, P), with tau = Y @ parameters but for springs: ten columns for each link, then four for each motor.

    C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of manipulator loads and links", Int. J.
    Robotics Research 5(3), 1986. The columns stand in the order of `linkwise.model.parameters`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> q, qd, qdd = [0.0, 0.5], [1.0, 2.0], [0.3, 0.4]
    >>> left = arm.regressor(q, qd, qdd) @ arm.parameters - arm.inverse_dynamics(q, qd, qdd)
    >>> left.round(9) + 0.0
    array([0., 0.])
    """
    bodies = moving_bodies(tree)
    joints = joint_transforms(bodies, q)
    moved = motions(bodies, joints, qd, qdd, tree.gravity)
    of_bodies = [blank(tree.nv, len(LINK)) for _ in bodies.bodies]
    for k, table in enumerate(of_bodies):
        for _, freedom, forces in pairs(bodies, joints, k, list(_forces(moved[k]).T)):
            table[freedom.speed] = [freedom.screw @ force for force in forces]
    columns = [blank(tree.nv, len(LINK)) if b < 0 else of_bodies[b] @ to_body(t) for b, t in bodies.frames]
    motors = [_motor(tree, drive, qd, qdd) for drive in tree.drives]
    for rotor in bodies.rotors:
        i, state = rotor.speed, moved[rotor.body]
        motors[rotor.drive][i, 0] = motors[rotor.drive][i, 0] + rotor.turning @ state.acceleration[3:]
        couple = rotor.turning * qdd[i] + cross(state.velocity[3:], rotor.turning) * qd[i]
        for _, freedom, (there,) in pairs(bodies, joints, rotor.body, [couple]):
            j = freedom.speed
            motors[rotor.drive][j, 0] = motors[rotor.drive][j, 0] + freedom.angular @ there
    return np.concatenate([*columns, *motors], axis=1)


@algorithm(inputs={"q": "nq"}, outputs={"Y": "nv P"}, open_only=True)
def gravity_regressor(tree: Tree, q: Array) -> Array:
    """Y (nv, P), with gravity_torque = Y @ parameters.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> (arm.gravity_regressor([0.0, 0.5]) @ arm.parameters - arm.gravity_torque([0.0, 0.5])).round(9) + 0.0
    array([0., 0.])
    """
    return np.asarray(regressor(tree, q, blank(tree.nv), blank(tree.nv)))


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"Y": "nv P"}, open_only=True)
def momentum_regressor(tree: Tree, q: Array, qd: Array) -> Array:
    """Y (nv, P), with the generalised momentum M qd = Y @ parameters (A. De Luca, R. Mattone, ICRA 2003).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> q, qd = [0.0, 0.5], [1.0, 2.0]
    >>> (arm.momentum_regressor(q, qd) @ arm.parameters - arm.mass_matrix(q) @ qd).round(9) + 0.0
    array([0., 0.])
    """
    return np.asarray(regressor(tree.replace(gravity=np.zeros(3)), q, blank(tree.nv), qd))


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"kinetic": "P", "potential": "P"})
def energy_regressor(tree: Tree, q: Array, qd: Array) -> tuple[Array, Array]:
    """Two rows (P,), with kinetic and potential energy of the masses = row @ parameters (M. Gautier, W. Khalil, CDC 1988).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> kinetic, potential = arm.energy_regressor([0.0, 0.5], [1.0, 2.0])
    >>> bool(abs(kinetic @ arm.parameters - arm.kinetic_energy([0.0, 0.5], [1.0, 2.0])) < 1e-12)
    True
    """
    ten, first = len(LINK), len(LINK) * len(tree.links)
    kinetic, potential = blank(2, first + len(MOTOR) * len(tree.drives))
    bodies, down = moving_bodies(tree), -np.asarray(tree.gravity)
    poses, velocity = body_poses(bodies, q), velocities(bodies, joint_transforms(bodies, q), qd)
    for k, (body, t) in enumerate(bodies.frames):
        pose = poses[body] @ t
        potential[ten * k] = down @ pose[:3, 3]
        potential[ten * k + 1 : ten * k + 4] = down @ pose[:3, :3]
        if body >= 0:
            back, moved = t[:3, :3].T, velocity[body]
            seen = np.concatenate([back @ (moved[:3] + cross(moved[3:], t[:3, 3])), back @ moved[3:]])
            kinetic[ten * k : ten * (k + 1)] = 0.5 * energies(seen, seen)
    for k, drive in enumerate(tree.drives):
        speed = drive.motor.gear_ratio * qd[tree.nv - tree.n + drive.coordinate]
        kinetic[first + len(MOTOR) * k] = 0.5 * speed * speed
    for rotor in bodies.rotors:
        carried = qd[rotor.speed] * (rotor.turning @ velocity[rotor.body][3:])
        kinetic[first + len(MOTOR) * rotor.drive] = kinetic[first + len(MOTOR) * rotor.drive] + carried
    return kinetic, potential


def _forces(moved: BodyMotion) -> Array:
    """Force and moment (6, 10) on a body per unit of each of its parameters."""
    linear, angular = moved.velocity[:3], moved.velocity[3:]
    acceleration = moved.acceleration[:3] + cross(angular, linear)
    turning, spin = moved.acceleration[3:], skew(angular)
    result = blank(6, len(LINK))
    result[:3, 0] = acceleration
    result[:3, 1:4] = skew(turning) + spin @ spin
    result[3:, 1:4] = -skew(acceleration)
    result[3:, 4:] = _of_tensor(turning) + spin @ _of_tensor(angular)
    return result


def _of_tensor(x: Array) -> Array:
    """L (3, 6) with I x = L (XX, YY, ZZ, XY, YZ, XZ)."""
    zero: Any = 0.0
    rows = [[x[0], zero, zero, x[1], zero, x[2]], [zero, x[1], zero, x[0], x[2], zero], [zero, zero, x[2], zero, x[1], x[0]]]
    return np.array(rows, dtype=object)


def _motor(tree: Tree, drive: Drive, qd: Array, qdd: Array) -> Array:
    """The columns (nv, 4) of a motor, as if no link carried it."""
    result, i = blank(tree.nv, len(MOTOR)), tree.nv - tree.n + drive.coordinate
    motor = drive.motor
    units: tuple[dict[str, Any], ...] = ({"viscous": 1.0}, {"coulomb": (1.0, 0.0)}, {"coulomb": (0.0, -1.0)})
    result[i, 0] = motor.gear_ratio**2 * qdd[i]
    bare = motor.replace(viscous=0.0, coulomb=0.0, breakaway=None)
    felt = [joint_friction(bare.replace(**unit), qd[i]) for unit in units]
    result[i, 1:] = [felt[0], felt[1], -felt[2]]
    if drive.coordinate < 0:
        at = next(at for at in tree.manifold_joints if at.v.start <= i < at.v.stop)
        momentum = motor.gear_ratio**2 * qd[i] * np.eye(at.joint.nv)[i - at.v.start]
        result[at.v, 0] = result[at.v, 0] + at.joint.coadjoint(qd[at.v], momentum)
    return result
