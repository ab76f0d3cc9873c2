"""Regressors: efforts, energies and the centre of mass as matrices times the inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.center_of_mass import some_mass
from linkwise.dynamics.newton_euler import ZERO, moving
from linkwise.dynamics.recursions import joint_friction
from linkwise.kinematics.body_motion import motions
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.body_transform import JointTransform, joint_transforms
from linkwise.model.parameters import LINK, MOTOR
from linkwise.model.transmission import Drive
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross, skew
from linkwise.spatial.scalar import Array, blank, root, select, sign
from linkwise.spatial.spatial_vectors import energies, motion_cross
from linkwise.sweeps.drivers import Row, Sweeps, at_rest, body_pose, framed, looped
from linkwise.sweeps.tables import moments_of
from linkwise.sweeps.unrolled import unrolled


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"Y": "nv P"}, open_only=True)
def regressor(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Y (nv, P), with tau = Y @ parameters, springs left out: ten columns for each link, then four for each motor.

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
    screws = _carried_screws(bodies, joints)
    first = len(LINK) * len(tree.links)
    result = blank(tree.nv, first + len(MOTOR) * len(tree.drives))
    for k, (body, t) in enumerate(bodies.frames):
        if body < 0:
            continue
        turn, arm = t[:3, :3], t[:3, 3]
        forces = _forces(*(_relative(turn, arm, motion) for motion in (moved[body].velocity, moved[body].acceleration)))
        for speed, screw in screws[body]:
            result[speed, len(LINK) * k : len(LINK) * (k + 1)] = _relative(turn, arm, screw) @ forces
    for k, drive in enumerate(tree.drives):
        result[:, first + len(MOTOR) * k : first + len(MOTOR) * (k + 1)] = _motor(tree, drive, qd, qdd)
    for rotor in bodies.rotors:
        i, state, column = rotor.speed, moved[rotor.body], first + len(MOTOR) * rotor.drive
        result[i, column] = result[i, column] + rotor.turning @ state.acceleration[3:]
        couple = rotor.turning * qdd[i] + cross(state.velocity[3:], rotor.turning) * qd[i]
        for speed, screw in screws[rotor.body]:
            result[speed, column] = result[speed, column] + screw[3:] @ couple
    return result


def _carried_screws(bodies: Bodies, joints: Sequence[JointTransform]) -> list[list[tuple[int, Array]]]:
    """Freedoms that move each body: the index of the velocity, and the motion (6,) in the body's own frame."""
    results: list[list[tuple[int, Array]]] = []
    for body, joint in zip(bodies.bodies, joints, strict=True):
        carrier = results[body.parent] if body.parent >= 0 else []
        results.append([(speed, joint.motion_from_parent(screw)) for speed, screw in carrier])
        results[-1] += [(freedom.speed, freedom.screw) for freedom in joint.freedoms]
    return results


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
    bodies, first = moving_bodies(tree), len(LINK) * len(tree.links)
    lifted: list[tuple[Array, list[tuple[int, Any, Array]]]] = [(-np.asarray(tree.gravity), [])]
    for body, joint in zip(bodies.bodies, joint_transforms(bodies, q), strict=True):
        up, carrier = lifted[body.parent + 1]
        up = joint.vector_from_parent(up)
        rows = [(k, lift + slope @ joint.origin, joint.vector_from_parent(slope)) for k, lift, slope in carrier]
        rows += [(freedom.speed, up @ freedom.linear, cross(up, freedom.angular)) for freedom in joint.freedoms]
        lifted.append((up, rows))
    result = blank(tree.nv, first + len(MOTOR) * len(tree.drives))
    for k, (b, t) in enumerate(bodies.frames):
        for speed, lift, slope in lifted[b + 1][1]:
            result[speed, len(LINK) * k : len(LINK) * k + 4] = [lift + slope @ t[:3, 3], *(t[:3, :3].T @ slope)]
    return result


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
    """Two rows (P,) with kinetic and potential energy = row @ parameters (M. Gautier, W. Khalil, CDC 1988).

    The masses of rotors that the base carries are no parameters: what they add to the potential energy, a constant, is not
    in it.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> kinetic, potential = arm.energy_regressor([0.0, 0.5], [1.0, 2.0])
    >>> bool(abs(kinetic @ arm.parameters - arm.kinetic_energy([0.0, 0.5], [1.0, 2.0])) < 1e-12)
    True
    """
    bodies = moving_bodies(tree)
    both = unrolled("energy_regressor", tree, bodies, joint_transforms(bodies, q), q, qd, poses=body_poses(bodies, q))
    return both[0], both[1]


@looped("energy_regressor")
def energy_regressor_in_steps(sweeps: Sweeps) -> None:
    """Compute the energies of each link and rotor per unit of its parameters."""
    down = -sweeps.constant("gravity")

    def outward(body: Row) -> None:
        body_pose(body)
        body["velocity"] = moving(body)

    def of_link(link: Row) -> None:
        there, pose = framed(link), link.pose
        seen = _relative(pose[:3, :3], pose[:3, 3], link.body["velocity"])
        link.write("kinetic", 0.5 * energies(seen, seen), "10v", add=True)
        link.write("potential", [down @ there[:3, 3], *(down @ there[:3, :3]), *[0.0] * 6], "10v", add=True)

    def of_drive(drive: Row) -> None:
        speed = drive.read("qd", "v")[0]
        drive.write("kinetic", [drive.number("units")[0] * (0.5 * speed * speed)], "drive", add=True)

    def carried(rotor: Row) -> None:
        spinning = rotor.number("turning") @ rotor.body["velocity"][3:]
        rotor.write("kinetic", [rotor.read("qd", "v")[0] * spinning], "drive", add=True)

    sweeps.ground(world=np.eye(4)[:3], velocity=np.zeros(6))
    sweeps.outward(outward)
    sweeps.outward(of_link, "links")
    sweeps.outward(of_drive, "drives")
    sweeps.outward(carried, "rotors")


@algorithm(inputs={"q": "nq"}, outputs={"Y": "3 P"})
def center_of_mass_regressor(tree: Tree, q: Array) -> Array:
    """Y (3, P), with center_of_mass = Y @ parameters for the mass that the mechanism has.

    Of each link the position of its frame and its axes, over the mass of all. The masses of rotors that the base carries
    are no parameters: what they add to the centre of mass, a constant, is not in it.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> (arm.center_of_mass_regressor([0.0, 0.5]) @ arm.parameters - arm.center_of_mass([0.0, 0.5])).round(9) + 0.0
    array([0., 0., 0.])
    """
    bodies = moving_bodies(tree)
    some_mass(tree, sum(moment[3] for moment in moments_of(tree, bodies, "base")))
    joints, poses = joint_transforms(bodies, q), body_poses(bodies, q)
    return np.asarray(unrolled("center_of_mass_regressor", tree, bodies, joints, q, poses=poses))


@looped("center_of_mass_regressor", moment=True)
def center_of_mass_regressor_in_steps(sweeps: Sweeps) -> None:
    """The poses of the links over the mass."""
    share = 1.0 / sweeps.constant("mass")[()]

    def of_link(link: Row) -> None:
        there = framed(link)
        columns = [share * column for column in (there[:3, 3], *there[:3, :3].T)]
        link.write("Y", np.stack([*columns, *[ZERO] * 6], axis=1), ". 10v", add=True)

    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(lambda body: at_rest(body_pose(body)))
    sweeps.outward(of_link, "links")


def _forces(velocity: Array, falling: Array) -> Array:
    """Force and moment (6, 10) on a link per unit of each of its parameters, by its motion (6,) and its acceleration."""
    angular, turning = velocity[3:], falling[3:]
    acceleration, spin = falling[:3] + cross(angular, velocity[:3]), skew(angular)
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
    friction = [joint_friction(bare.replace(**unit), qd[i]) for unit in units]
    result[i, 1:] = [friction[0], friction[1], -friction[2]]
    if drive.coordinate < 0:
        at = next(at for at in tree.manifold_joints if at.v.start <= i < at.v.stop)
        momentum = motor.gear_ratio**2 * qd[i] * np.eye(at.joint.nv)[i - at.v.start]
        result[at.v, 0] = result[at.v, 0] + at.joint.coadjoint(qd[at.v], momentum)
    return result


@looped("regressor")
def regressor_in_steps(sweeps: Sweeps) -> None:
    """The force of each parameter of each link, passed to the ground (C. G. Atkeson, C. H. An, J. M. Hollerbach, 1986)."""

    def outward(body: Row) -> None:
        joint, parent, rate = body.upright, body.parent, body.upright.rate(body.read("qd"))
        carried = joint.motion_from_parent(parent["velocity"])
        body["velocity"] = carried + rate
        falling = joint.motion_from_parent(parent["falling"]) + joint.rate(body.read("qdd"))
        body["falling"] = falling + motion_cross(carried, rate) + joint.bias(body.read("qd"))

    def start(link: Row) -> list[Array]:
        pose = link.pose
        axes = link.body["axes"]
        turn, arm = axes @ pose[:3, :3], axes @ pose[:3, 3]
        velocity, falling = (_relative(turn, arm, link.body[name]) for name in ("velocity", "falling"))
        forces = _forces(velocity, falling)
        return [np.concatenate([_passed(turn, arm, force) for force in forces.T])]

    def visit(body: Row, state: Array, same: bool) -> Array:
        joint, forces = body.upright, state.reshape(len(LINK), 6)
        body.write("Y", np.array([[freedom.screw @ force for force in forces] for freedom in joint.freedoms]), "v 10w")
        return np.concatenate([joint.force_to_parent(force) for force in forces])

    def couple(rotor: Row) -> list[Array]:
        turning = rotor.body["axes"] @ rotor.number("turning")
        return [turning * rotor.read("qdd", "v")[0] + cross(rotor.body["velocity"][3:], turning) * rotor.read("qd", "v")[0]]

    def carry(body: Row, couple: Array, same: bool) -> Array:
        body.write("Y", [freedom.angular @ couple for freedom in body.upright.freedoms], "v drive", add=True)
        return body.upright.vector_to_parent(couple)

    def driven(rotor: Row) -> None:
        rotor.write("Y", [(rotor.body["axes"] @ rotor.number("turning")) @ rotor.body["falling"][3:]], "v drive", add=True)

    sweeps.ground(velocity=np.zeros(6), falling=np.concatenate([-sweeps.constant("gravity"), np.zeros(3)]), axes=np.eye(3))
    sweeps.outward(outward)
    sweeps.walk(start, visit, "links")
    sweeps.outward(_motor_columns, "drives")
    sweeps.walk(couple, carry, "rotors")
    sweeps.outward(driven, "rotors")


def _motor_columns(drive: Row) -> None:
    """The columns of a motor, as if no link carried it: rotor inertia, viscous and two-sided Coulomb friction."""
    ratio, viscous, width, up, up_both, down, down_both = drive.number("units")
    speed, rise = drive.read("qd", "v")[0], drive.read("qdd", "v")[0]
    smooth: Any = speed / root(speed * speed + select(width, width * width, 1.0))
    s = select(width, smooth, sign(speed))
    columns = [ratio * rise, viscous * speed, up * s + up_both * abs(s), down * s + down_both * abs(s)]
    drive.write("Y", [columns], "v drive4")


def _relative(turn: Array, arm: Array, motion: Array) -> Array:
    """A motion (6,) of a body, in the world's axes, as a frame on it sees it in its own."""
    return np.concatenate([turn.T @ (motion[:3] + cross(motion[3:], arm)), turn.T @ motion[3:]])


def _passed(turn: Array, arm: Array, force: Array) -> Array:
    """A force (6,) on that frame, in its axes, as one on the body in the world's."""
    linear = turn @ force[:3]
    return np.concatenate([linear, turn @ force[3:] + cross(arm, linear)])
