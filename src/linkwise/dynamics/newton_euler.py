"""The Newton-Euler recursion in steps over bodies, and steps that other algorithms share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.expr.derivative import derivative
from linkwise.expr.evaluate import substitute
from linkwise.expr.node import symbol
from linkwise.model.body_transform import JointTransform
from linkwise.model.joints import Joint
from linkwise.model.spring import EndStop, ForceElement, Spring
from linkwise.model.symbolic import any_nonzero
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, root, select, sign
from linkwise.sweeps.drivers import Row, Sweeps, at_rest, body_pose

ZERO = np.zeros(3)


@dataclass(frozen=True)
class Turning:
    """Rotational motion of one body, in its axes.

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
    """Build it from angular velocity and acceleration."""
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
    """Set the motion of the ground, which accelerates upward instead of gravity."""
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
    """Acceleration (3,) of a joint's moved end in its axes at constant joint position, from the motion of the parent."""
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
    """Subtract external wrenches from the forces on the bodies, in their own axes or in those that are `upright`."""

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
    """Its derivative by the speed."""
    speed, width = motor.read("qd", "v")[0], motor.number("width")[()]
    square = speed * speed + select(width, width * width, 1.0)
    viscous, coulomb, asymmetry = (motor.number(name)[()] for name in ("viscous", "coulomb", "asymmetry"))
    smooth = width * width / (square * root(square)) * (coulomb + asymmetry * sign(speed))
    return viscous + select(width, smooth, 0.0)


# ── springs, dampers and end stops on joint coordinates ───────────────────────────────────────────
# The rows of a spring over several joints follow one another, a strand for each joint: lengths are added up inward to the
# first, and its tension passes outward.

_SPRING, _STOP = Spring("joint"), EndStop("joint", 0.0)


def element_of(row: Row) -> ForceElement | None:
    """The element on the numbers of a row; None of a strand that is not the first."""
    names = {"spring": ("stiffness", "rest", "damping", "force"), "stop": ("stiffness", "damping")}.get(row.kind.name)
    if names is None:
        return None
    numbers: dict[str, Any] = {name: row.number(name)[()] for name in names}
    if row.kind.name == "spring":
        return _SPRING.unchecked(**numbers)
    return _STOP.unchecked(**numbers, limits=(row.number("low")[()], row.number("high")[()]))


def measure_lengths(sweeps: Sweeps, *, rates: bool = True) -> None:
    """Set "length" (1,) of every row, and "rate": of the first row of a spring those of the whole spring."""

    def outward(row: Row) -> None:
        ratio = row.number("ratio")[()]
        row["length"] = np.array([ratio * row.read("q")[0] + row.number("shift")[()]])
        if rates:
            row["rate"] = np.array([ratio * row.read("qd")[0]])

    def inward(row: Row) -> None:
        for name in ("length", "rate") if rates else ("length",):
            row.parent.add(name, row[name])

    sweeps.outward(outward, "springs")
    sweeps.inward(inward, "springs")


def add_spring_efforts(sweeps: Sweeps, array: str, sense: float = 1.0) -> None:
    """Add the efforts of springs to an array (nv,), or subtract them."""

    def outward(row: Row) -> None:
        element = element_of(row)
        if element is None:
            row["tension"] = row.parent["tension"]
        else:
            row["tension"] = np.array([element.tension(row["length"][0], row["rate"][0])])
        row.write(array, [sense * (row.number("ratio")[()] * row["tension"][0])], "v", add=True)

    measure_lengths(sweeps)
    sweeps.outward(outward, "springs")


def add_spring_energy(sweeps: Sweeps, array: str) -> None:
    """Add the energy of springs to an array of one number."""
    measure_lengths(sweeps, rates=False)
    _first_rows(sweeps, lambda row, element: row.write(array, element.energy(row["length"][0]), add=True))


def add_spring_slopes(sweeps: Sweeps, by_q: str, by_qd: str) -> None:
    """Add the derivatives of the efforts of springs on single joints to arrays (nv, nv)."""
    length, rate = symbol("length"), symbol("rate")

    def slopes(row: Row, element: ForceElement) -> None:
        tension = np.asarray(element.tension(length, rate), dtype=object)
        values = substitute(derivative([tension[()]], [length, rate]), {length: row["length"][0], rate: row["rate"][0]})[0]
        square = row.number("ratio")[()] * row.number("ratio")[()]
        for array, value in zip((by_q, by_qd), values, strict=True):
            row.write(array, [square * value], "v v", add=True)

    measure_lengths(sweeps)
    _first_rows(sweeps, slopes)


def _first_rows(sweeps: Sweeps, step: Callable[[Row, ForceElement], None]) -> None:
    def outward(row: Row) -> None:
        element = element_of(row)
        if element is not None:
            step(row, element)

    sweeps.outward(outward, "springs")


# ── momenta of motors of joints with quaternions: `linkwise.dynamics.recursions.rotor_coriolis` ───────


def add_turning_efforts(sweeps: Sweeps, array: str, sense: float = 1.0) -> None:
    """Add C qd to an array (nv,), or take it off."""

    def effort(body: Row, joint: Joint, reflected: Array, qd: Array) -> None:
        body.write(array, sense * joint.coadjoint(qd, reflected * qd), "v", add=True)

    _turning(sweeps, effort)


def add_turning_coriolis(sweeps: Sweeps, array: str, *, slope: bool = False) -> None:
    """Add C to an array (nv, nv), or the derivative of C qd by qd."""

    def block(body: Row, joint: Joint, reflected: Array, qd: Array) -> None:
        columns = [joint.coadjoint(unit, reflected * qd) for unit in np.eye(len(qd))]
        if slope:
            momenta = np.diag(reflected)
            columns = [a + joint.coadjoint(qd, momentum) for a, momentum in zip(columns, momenta, strict=True)]
        body.write(array, np.stack(columns, axis=1), "v v", add=True)

    _turning(sweeps, block)


def _turning(sweeps: Sweeps, step: Callable[[Row, Joint, Array, Array], None]) -> None:
    """Run a step on bodies of joints with quaternions, with their reflected inertias (nv,) and velocities (nv,)."""

    def outward(body: Row) -> None:
        if body.kind.joint is not None:
            step(body, body.kind.joint, body.read("armature"), body.read("qd"))

    sweeps.temporary("armature", "nv")
    sweeps.outward(lambda body: body.write("armature", [0.0] * body.kind.nv, "v"))
    sweeps.outward(lambda motor: motor.write("armature", motor.number("reflected"), "v", add=True), "motors")
    sweeps.outward(outward)
