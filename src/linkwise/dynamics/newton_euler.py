"""The Newton-Euler recursion in steps over bodies, and steps that other algorithms share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.model.body_transform import JointTransform
from linkwise.model.symbolic import any_nonzero
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, root, select, sign
from linkwise.sweeps.drivers import Row, Sweeps, at_rest
from linkwise.sweeps.poses import body_pose

ZERO = np.zeros(3)


@dataclass(frozen=True)
class Turning:
    """How one body turns, in its axes.

    Attributes
    ----------
    omega, alpha : ndarray (3,)
        Angular velocity and acceleration.
    spin : ndarray (3, 3)
        U = alpha~ + omega~ omega~.
    """

    omega: Array
    alpha: Array
    spin: Array


def turned_freely(omega: Array, alpha: Array) -> Turning:
    """From angular velocity and acceleration."""
    x, y, z = omega
    xx, yy, zz, xy, yz, xz = x * x, y * y, z * z, x * y, y * z, x * z
    spin = [
        [-(yy + zz), xy - alpha[2], xz + alpha[1]],
        [xy + alpha[2], -(xx + zz), yz - alpha[0]],
        [xz - alpha[1], yz + alpha[0], -(xx + yy)],
    ]
    return Turning(omega, alpha, np.array(spin))


def inertial(inertia: Array, accel: Array, turning: Turning) -> tuple[Array, Array]:
    """Force and moment about the origin that accelerate a body: m a + U h, and h x a + axial part of U S."""
    block, first, mass = inertia[:3, :3], inertia[:3, 3], inertia[3, 3]
    product = turning.spin @ block
    moment = np.array([product[2, 1] - product[1, 2], product[0, 2] - product[2, 0], product[1, 0] - product[0, 1]])
    return mass * accel + turning.spin @ first, moment + cross(first, accel)


def newton_euler(
    sweeps: Sweeps, effort: str = "tau", *, moving: bool = True, accelerating: bool = True, wrenches: bool = False
) -> None:
    """Efforts by the Newton-Euler recursion, with wrenches and carried rotors.

    J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical manipulators", 1980.
    """

    def outward(body: Row) -> None:
        move(body, moving=moving, accelerating=accelerating)
        turning = turned_freely(body["omega"], body["alpha"])
        body["force"] = np.concatenate(inertial(body.inertia, body["accel"], turning))

    def inward(body: Row) -> None:
        force = body["force"]
        body.write(effort, [freedom.screw @ force for freedom in body.joint.freedoms], "v")
        body.parent.add("force", body.joint.force_to_parent(force))

    def load(rotor: Row) -> None:
        couple = cross(rotor.body["omega"], spin(rotor)) * rotor.read("qd", "v")[0]
        if accelerating:
            couple = couple + spin(rotor) * rotor.read("qdd", "v")[0]
        rotor.body.add("force", np.concatenate([ZERO, couple]))

    def driven(rotor: Row) -> None:
        rotor.write(effort, [spin(rotor) @ rotor.body["alpha"]], "v", add=True)

    resting(sweeps)
    sweeps.outward(outward)
    if moving:
        sweeps.outward(load, "rotors")
    if wrenches:
        apply_wrenches(sweeps, "force")
    sweeps.inward(inward)
    if moving:
        sweeps.outward(driven, "rotors")


def resting(sweeps: Sweeps) -> None:
    """The ground, which accelerates upward by what gravity would pull."""
    sweeps.ground(omega=ZERO, alpha=ZERO, accel=-sweeps.constant("gravity"))


def move(body: Row, *, moving: bool = True, accelerating: bool = True) -> None:
    """Angular velocity and acceleration, and the acceleration of the origin, less gravity, in the body's axes."""
    joint, parent = body.joint, body.parent
    if not moving and not accelerating:
        body["omega"], body["alpha"] = ZERO, ZERO
        body["accel"] = joint.vector_from_parent(parent["accel"])
        return
    rate, rise = np.zeros(6), np.zeros(6)
    if moving:
        rate, rise = joint.rate(body.read("qd")), joint.bias(body.read("qd"))
    if accelerating:
        rise = joint.rate(body.read("qdd")) + rise
    before = joint.vector_from_parent(parent["omega"])
    body["omega"] = before + rate[3:]
    body["alpha"] = joint.vector_from_parent(parent["alpha"]) + rise[3:] + cross(before, rate[3:])
    accel = _carried(joint, *(parent[name] for name in ("omega", "alpha", "accel"))) + rise[:3]
    body["accel"] = accel + cross(2.0 * before + rate[3:], rate[:3])


def _carried(joint: JointTransform, omega: Array, alpha: Array, accel: Array) -> Array:
    """Acceleration (3,) of a joint's moved end in its axes, while the joint stands still, from how the parent moves."""
    if any_nonzero(joint.shift):
        return joint.vector_from_parent(accel + turned_freely(omega, alpha).spin @ joint.origin)
    omega, alpha, accel = (joint.fixed.T @ vector for vector in (omega, alpha, accel))
    return np.asarray(joint.turn.T @ (accel + turned_freely(omega, alpha).spin @ joint.slide))


def spin(rotor: Row) -> Array:
    """G Jm s (3,) of a rotor, in the axes of its carrier."""
    return rotor.number("inertia")[()] * rotor.number("turning")


def upright_spin(rotor: Row) -> Array:
    """The same in the axes of the world."""
    return np.asarray(rotor.body["axes"] @ spin(rotor))


def moving(body: Row) -> Array:
    """Velocity (6,) of a body in its own axes, from its parent's."""
    joint = body.joint
    return np.asarray(joint.motion_from_parent(body.parent["velocity"]) + joint.rate(body.read("qd")))


def apply_wrenches(sweeps: Sweeps, force: str, *, upright: bool = False) -> None:
    """Take the wrenches from outside off what the bodies need, in their own axes or in those that are `upright`."""

    def outward(row: Row) -> None:
        wrench, arm = row.read("external"), row.pose[:3, 3]
        linear, moment = wrench[:3], wrench[3:]
        if row.kind.name == "body":
            linear, moment = row.pose[:3, :3] @ linear, row.pose[:3, :3] @ moment
            moment = moment + cross(arm, linear)
            if upright:
                linear, moment = row.body["axes"] @ linear, row.body["axes"] @ moment
        else:
            turn, origin = row.body["world"][:, :3], row.body["world"][:, 3]
            moment = moment - cross(origin, linear) if row.kind.name == "spatial" else moment + cross(turn @ arm, linear)
            if not upright:
                linear, moment = turn.T @ linear, turn.T @ moment
        row.body.add(force, -np.concatenate([linear, moment]))

    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(lambda body: at_rest(body_pose(body)))
    sweeps.outward(outward, "wrenches")


def motor_effort(motor: Row) -> None:
    """Reflected inertia and friction."""
    effort = motor.number("reflected")[()] * motor.read("qdd", "v")[0] + motor_friction(motor)
    motor.write("tau", [effort], "v", add=True)


def motor_friction(motor: Row) -> Any:
    """Friction of a motor felt at its joint: see `linkwise.dynamics.recursions.joint_friction`."""
    speed, width = motor.read("qd", "v")[0], motor.number("width")[()]
    smooth = speed / root(speed * speed + select(width, width * width, 1.0))
    s = select(width, smooth, sign(speed))
    viscous, coulomb, asymmetry = (motor.number(name)[()] for name in ("viscous", "coulomb", "asymmetry"))
    return viscous * speed + coulomb * s + asymmetry * abs(s)


def motor_friction_slope(motor: Row) -> Any:
    """Its derivative by the speed: see `linkwise.dynamics.recursions.friction_slope`."""
    speed, width = motor.read("qd", "v")[0], motor.number("width")[()]
    square = speed * speed + select(width, width * width, 1.0)
    viscous, coulomb, asymmetry = (motor.number(name)[()] for name in ("viscous", "coulomb", "asymmetry"))
    smooth = width * width / (square * root(square)) * (coulomb + asymmetry * sign(speed))
    return viscous + select(width, smooth, 0.0)
