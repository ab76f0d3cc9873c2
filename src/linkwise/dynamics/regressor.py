"""The regressor: inverse dynamics as a matrix times the inertial parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.motors import joint_friction
from linkwise.dynamics.sweep import BodyMotion, inward, motions
from linkwise.kinematics.joint_transform import joint_transforms
from linkwise.model.drive import Drive
from linkwise.model.motor import Motor
from linkwise.model.parameters import LINK, MOTOR, to_body
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross, skew
from linkwise.spatial.scalar import Array, blank


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"Y": "nv P"}, open_only=True)
def regressor(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Y (nv, P), with tau = Y @ parameters: ten columns for each link, then four for each motor.

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
    made = moving_bodies(tree)
    joints = joint_transforms(made, q)
    moved = motions(made, joints, qd, qdd, tree.gravity)
    of_bodies = [blank(tree.nv, len(LINK)) for _ in made.bodies]
    for k, table in enumerate(of_bodies):
        for carrier, forces in inward(made, joints, k, list(_forces(moved[k]).T)):
            for freedom in made.bodies[carrier].freedoms:
                table[freedom.speed] = [freedom.screw @ force for force in forces]
    columns = [blank(tree.nv, len(LINK)) if b < 0 else of_bodies[b] @ to_body(t) for b, t in made.frames]
    motors = [_motor(tree, drive, qd, qdd) for drive in tree.drives]
    for rotor in made.rotors:
        i, state = rotor.speed, moved[rotor.body]
        motors[rotor.drive][i, 0] = motors[rotor.drive][i, 0] + rotor.turning @ state.acceleration[3:]
        couple = rotor.turning * qdd[i] + cross(state.velocity[3:], rotor.turning) * qd[i]
        for carrier, (there,) in inward(made, joints, rotor.body, [couple]):
            for freedom in made.bodies[carrier].freedoms:
                j = freedom.speed
                motors[rotor.drive][j, 0] = motors[rotor.drive][j, 0] + freedom.angular @ there
    return np.concatenate([*columns, *motors], axis=1)


def _forces(moved: BodyMotion) -> Array:
    """Force and moment (6, 10) on a body per unit of each of its parameters."""
    linear, angular = moved.velocity[:3], moved.velocity[3:]
    acceleration = moved.acceleration[:3] + cross(angular, linear)
    turning, spin = moved.acceleration[3:], skew(angular)
    made = blank(6, len(LINK))
    made[:3, 0] = acceleration
    made[:3, 1:4] = skew(turning) + spin @ spin
    made[3:, 1:4] = -skew(acceleration)
    made[3:, 4:] = _of_tensor(turning) + spin @ _of_tensor(angular)
    return made


def _of_tensor(x: Array) -> Array:
    """L (3, 6) with I x = L (XX, YY, ZZ, XY, YZ, XZ)."""
    zero: Any = 0.0
    rows = [[x[0], zero, zero, x[1], zero, x[2]], [zero, x[1], zero, x[0], x[2], zero], [zero, zero, x[2], zero, x[1], x[0]]]
    return np.array(rows, dtype=object)


def _motor(tree: Tree, drive: Drive, qd: Array, qdd: Array) -> Array:
    """The columns (nv, 4) of a motor, as if no link carried it."""
    made, i = blank(tree.nv, len(MOTOR)), tree.nv - tree.n + drive.coordinate
    motor = drive.motor
    shared: dict[str, Any] = {"gear_ratio": motor.gear_ratio, "friction_rule": motor.friction_rule}
    units = ({"viscous": 1.0}, {"coulomb": (1.0, 0.0)}, {"coulomb": (0.0, -1.0)})
    made[i, 0] = motor.gear_ratio**2 * qdd[i]
    felt = [joint_friction(Motor(**shared, **unit), qd[i]) for unit in units]
    made[i, 1:] = [felt[0], felt[1], -felt[2]]
    return made
