"""Dynamics in steps over bodies: inverse and forward dynamics, mass and Coriolis matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.dynamics.forward_dynamics import ArticulatedJoint, articulated_joint, carried_inertia, to_parent
from linkwise.dynamics.inverse_dynamics import _inertial, turned_freely
from linkwise.spatial.linear import Factor
from linkwise.spatial.rotation import cross, skew
from linkwise.spatial.scalar import Array, root, select, sign
from linkwise.spatial.spatial_vectors import (
    coriolis_times,
    coriolis_transposed_times,
    inertia_times,
    momentum_matrix,
    motion_cross,
    spatial_inertia,
)
from linkwise.sweeps.declaration import looped
from linkwise.sweeps.drivers import Row, Sweeps, at_rest
from linkwise.sweeps.kinematics import place

ZERO = np.zeros(3)


# ── inverse dynamics ──────────────────────────────────────────────────────────────────────────────


def newton_euler(
    sweeps: Sweeps, effort: str = "tau", *, moving: bool = True, accelerating: bool = True, wrenches: bool = False
) -> None:
    """Efforts by the Newton-Euler recursion, with wrenches and carried rotors.

    J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical manipulators", 1980.
    """

    def outward(body: Row) -> None:
        move(body, moving=moving, accelerating=accelerating)
        turning = turned_freely(body["omega"], body["alpha"])
        body["force"] = np.concatenate(_inertial(body.inertia, body["accel"], turning))

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
    rate = joint.rate(body.read("qd")) if moving else np.zeros(6)
    rise = joint.rate(body.read("qdd")) if accelerating else np.zeros(6)
    before = joint.vector_from_parent(parent["omega"])
    carried = turned_freely(parent["omega"], parent["alpha"]).spin @ joint.origin
    body["omega"] = before + rate[3:]
    body["alpha"] = joint.vector_from_parent(parent["alpha"]) + rise[3:] + cross(before, rate[3:])
    accel = joint.vector_from_parent(parent["accel"] + carried) + rise[:3]
    body["accel"] = accel + cross(2.0 * before + rate[3:], rate[:3])


def spin(rotor: Row) -> Array:
    """G Jm s (3,) of a rotor, in the axes of its carrier."""
    return rotor.number("inertia")[()] * rotor.number("turning")


def upright_spin(rotor: Row) -> Array:
    """The same in the axes of the world."""
    return np.asarray(rotor.body["axes"] @ spin(rotor))


def apply_wrenches(sweeps: Sweeps, force: str, *, upright: bool = False) -> None:
    """Take the wrenches from outside off what the bodies need, in their own axes or, `upright`, in the world's."""

    def outward(row: Row) -> None:
        wrench, pose, world = row.read("external"), row.pose, row.body["world"]
        turn = world[:, :3]
        linear, moment = wrench[:3], wrench[3:]
        if row.kind.name == "body":
            linear, moment = turn @ (pose[:3, :3] @ linear), turn @ (pose[:3, :3] @ moment)
        if row.kind.name == "spatial":
            moment = moment - cross(world[:, 3], linear)
        else:
            moment = moment + cross(turn @ pose[:3, 3], linear)
        parts = (linear, moment) if upright else (turn.T @ linear, turn.T @ moment)
        row.body.add(force, -np.concatenate(parts))

    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(lambda body: at_rest(place(body)))
    sweeps.outward(outward, "wrenches")


@looped("inverse_dynamics", regrouped=True)
def inverse_dynamics(sweeps: Sweeps) -> None:
    """Newton-Euler, rotors, friction."""
    newton_euler(sweeps)
    sweeps.outward(motor_effort, "motors")


@looped("inverse_dynamics_external", regrouped=True)
def inverse_dynamics_external(sweeps: Sweeps) -> None:
    """The same with wrenches."""
    newton_euler(sweeps, wrenches=True)
    sweeps.outward(motor_effort, "motors")


@looped("gravity_torque", regrouped=True)
def gravity_torque(sweeps: Sweeps) -> None:
    """Newton-Euler at rest."""
    newton_euler(sweeps, moving=False, accelerating=False)


@looped("bias_torque", regrouped=True)
def bias_torque(sweeps: Sweeps) -> None:
    """Newton-Euler without accelerations."""
    newton_euler(sweeps, accelerating=False)


@looped("friction_torque", regrouped=True)
def friction_torque(sweeps: Sweeps) -> None:
    """Friction of all motors."""
    sweeps.outward(lambda body: body.write("tau", [0.0] * body.kind.nv, "v"))
    sweeps.outward(lambda motor: motor.write("tau", [friction(motor)], "v", add=True), "motors")


def motor_effort(motor: Row) -> None:
    """Reflected inertia and friction."""
    effort = motor.number("reflected")[()] * motor.read("qdd", "v")[0] + friction(motor)
    motor.write("tau", [effort], "v", add=True)


def friction(motor: Row) -> Any:
    """Friction of a motor felt at its joint: see `linkwise.dynamics.recursions.joint_friction`."""
    speed, width = motor.read("qd", "v")[0], motor.number("width")[()]
    smooth = speed / root(speed * speed + select(width, width * width, 1.0))
    s = select(width, smooth, sign(speed))
    viscous, coulomb, asymmetry = (motor.number(name)[()] for name in ("viscous", "coulomb", "asymmetry"))
    return viscous * speed + coulomb * s + asymmetry * abs(s)


def friction_slope(motor: Row) -> Any:
    """Its derivative by the speed: see `linkwise.dynamics.recursions.friction_slope`."""
    speed, width = motor.read("qd", "v")[0], motor.number("width")[()]
    square = speed * speed + select(width, width * width, 1.0)
    viscous, coulomb, asymmetry = (motor.number(name)[()] for name in ("viscous", "coulomb", "asymmetry"))
    smooth = width * width / (square * root(square)) * (coulomb + asymmetry * sign(speed))
    return viscous + select(width, smooth, 0.0)


# ── mass matrix, Coriolis matrix ──────────────────────────────────────────────────────────────────


@looped("mass_matrix", regrouped=True)
def mass_matrix(sweeps: Sweeps) -> None:
    """Composite bodies (M. W. Walker, D. E. Orin, 1982, method 3)."""
    composite_mass_matrix(sweeps, "M")


def composite_mass_matrix(sweeps: Sweeps, mass: str) -> None:
    """M (nv, nv), rotors counted."""

    def outward(body: Row) -> None:
        _ = body.upright
        body["composite"] = body.upright_inertia

    def visit(body: Row, force: Array, same: bool) -> Array:
        values = [freedom.screw @ force for freedom in body.upright.freedoms]
        body.write(mass, values, "v w")
        body.write(mass, values, "w v")
        return body.upright.force_to_parent(force)

    sweeps.ground(axes=np.eye(3))
    sweeps.outward(outward)
    sweeps.inward(lambda body: body.parent.add("composite", body.upright.inertia_to_parent(body["composite"])))
    sweeps.walk(lambda body: [inertia_times(body["composite"], f.screw) for f in body.upright.freedoms], visit)
    add_rotors(sweeps, mass)


def add_rotors(sweeps: Sweeps, mass: str) -> None:
    """G^2 Jm on the diagonal, and what a spinning rotor and its turning carrier exchange, G Jm s beside it."""

    def exchanged(at: str) -> None:
        def visit(body: Row, couple: Array, same: bool) -> Array:
            body.write(mass, [freedom.angular @ couple for freedom in body.upright.freedoms], at, add=True)
            return body.upright.vector_to_parent(couple)

        sweeps.walk(lambda rotor: [upright_spin(rotor)], visit, "rotors")

    exchanged("v w")
    exchanged("w v")
    sweeps.outward(lambda motor: motor.write(mass, motor.number("reflected"), "v v", add=True), "motors")


@looped("coriolis_matrix", regrouped=True)
def coriolis_matrix(sweeps: Sweeps) -> None:
    """Composite bodies in motion (S. Echeandia, P. M. Wensing, 2021, algorithm 1)."""

    def outward(body: Row) -> None:
        joint = body.upright
        body["velocity"] = joint.motion_from_parent(body.parent["velocity"]) + joint.rate(body.read("qd"))
        body["composite"] = body.upright_inertia
        body["momentum"] = momentum_matrix(body["composite"], body["velocity"])

    def inward(body: Row) -> None:
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


def half_spin(rotor: Row) -> None:
    """Add half the spin of a rotor to the momentum matrix of its carrier: see `linkwise.dynamics.recursions.momenta`."""
    rotor.body.add("momentum", np.pad(skew(0.5 * upright_spin(rotor) * rotor.read("qd", "v")[0]), ((0, 0), (0, 1))))


# ── forward dynamics ──────────────────────────────────────────────────────────────────────────────


@looped("forward_dynamics", regrouped=True)
def forward_dynamics(sweeps: Sweeps, *, rotors: bool = False) -> None:
    """Articulated bodies, or the mass matrix where rotors are carried."""
    acceleration(sweeps, "qdd", rotors=rotors)


@looped("forward_dynamics_external", regrouped=True)
def forward_dynamics_external(sweeps: Sweeps, *, rotors: bool = False) -> None:
    """The same with wrenches."""
    acceleration(sweeps, "qdd", rotors=rotors, wrenches=True)


def acceleration(sweeps: Sweeps, qdd: str, *, rotors: bool, wrenches: bool = False) -> None:
    """Accelerations under efforts: into the array `qdd`."""
    if not rotors:
        articulated_bodies(sweeps, qdd, wrenches=wrenches)
        return
    sweeps.temporary("mass", "nv", "nv")
    sweeps.temporary("bias", "nv")
    composite_mass_matrix(sweeps, "mass")
    newton_euler(sweeps, "bias", accelerating=False, wrenches=wrenches)
    sweeps.outward(lambda body: body.write(qdd, body.read("tau") - body.read("bias"), "v"))
    sweeps.outward(lambda motor: motor.write(qdd, [-friction(motor)], "v", add=True), "motors")
    sweeps.solve("mass", (qdd, "solve vector"))


def articulated_bodies(sweeps: Sweeps, qdd: str, *, wrenches: bool = False) -> None:
    """Articulated bodies in the axes of the world (R. Featherstone, "The calculation of robot dynamics...", 1983)."""
    for name in ("left", "reflected", "pivot"):
        sweeps.temporary(name, "nv")
    sweeps.temporary("response", "nv", 6)
    sweeps.temporary("lower", "nv", 6)

    def outward(body: Row) -> None:
        joint, nv = body.upright, body.kind.nv
        inertia, rate = body.upright_inertia, joint.rate(body.read("qd"))
        velocity = body["velocity"] = joint.motion_from_parent(body.parent["velocity"]) + rate
        body["across"] = motion_cross(velocity, rate)
        body["held"] = coriolis_times(momentum_matrix(inertia, velocity), velocity)
        body["articulated"] = spatial_inertia(inertia)
        body.write("left", body.read("tau"), "v")
        body.write("reflected", [0.0] * nv, "v")

    def motor(motor: Row) -> None:
        motor.write("left", [-friction(motor)], "v", add=True)
        motor.write("reflected", motor.number("reflected"), "v", add=True)

    def inward(body: Row) -> None:
        joint, inertia, nv = body.upright, body["articulated"], body.kind.nv
        here = articulated_joint(joint, inertia, list(body.read("reflected")), body.read("left"), body["held"])
        body.write("left", here.effort, "v")
        body.write("response", here.response.T, "v .")
        body.write("pivot", here.pivot.inverse_pivots, "v")
        if nv > 1:
            body.write("lower", np.pad(here.pivot.lower, ((0, 0), (0, 6 - nv))), "v .")
        carried, response = carried_inertia(inertia, here), here.pivot.solve(here.effort)
        body.parent.add("articulated", to_parent(joint, carried))
        force = body["held"] + carried @ body["across"] + here.response @ response
        body.parent.add("held", joint.force_to_parent(force))

    def back(body: Row) -> None:
        joint, nv = body.upright, body.kind.nv
        carried = joint.motion_from_parent(body.parent["acceleration"]) + body["across"]
        lower = body.read("lower", "v .")[:, :nv] if nv > 1 else np.zeros((1, 1))
        here = ArticulatedJoint(body.read("response", "v .").T, Factor(lower, tuple(body.read("pivot"))), body.read("left"))
        values = here.pivot.solve(here.effort - here.response.T @ carried)
        body.write(qdd, values, "v")
        body["acceleration"] = carried + joint.rate(values)

    sweeps.ground(velocity=np.zeros(6), acceleration=np.concatenate([-sweeps.constant("gravity"), ZERO]), axes=np.eye(3))
    sweeps.outward(outward)
    sweeps.outward(motor, "motors")
    if wrenches:
        apply_wrenches(sweeps, "held", upright=True)
    sweeps.inward(inward)
    sweeps.outward(back)
