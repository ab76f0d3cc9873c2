"""Inverse dynamics: the joint efforts that a motion takes, by the Newton-Euler recursion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.motors import motor_effort
from linkwise.kinematics.joint_transform import JointTransform, joint_rate, joint_transform
from linkwise.model.bodies import Bodies, Body
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, blank
from linkwise.spatial.six_vector import on_body


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"tau": "nv"}, open_only=True)
def inverse_dynamics(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Return tau (nv,): what the motors must supply, links, gravity, rotors and friction counted.

    J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical manipulators", 1980, in
    body frames, with the pseudo-inertia of the 4x4 matrix method and regrouped inertial parameters (see
    `Bodies.regrouped`).
    """
    made = moving_bodies(tree).regrouped()
    return recursion(tree, made, q, qd, qdd) + motor_effort(tree, qd, qdd)


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv", "external": "6"}, outputs={"tau": "nv"}, open_only=True)
def inverse_dynamics_external(tree: Tree, q: Array, qd: Array, qdd: Array, external: Array) -> Array:
    """Return tau (nv,) with a force and a moment (6,) acting on the tool at its origin, in tool axes."""
    made = moving_bodies(tree).regrouped()
    return recursion(tree, made, q, qd, qdd, external) + motor_effort(tree, qd, qdd)


@dataclass
class State:
    """How one body sits on its parent, its motion in its own axes, and what acts on it.

    ``omega``, ``alpha``: angular velocity and acceleration; ``accel``: acceleration of the origin less gravity;
    ``spin``: U = alpha~ + omega~ omega~, so that a point r of the body accelerates by accel + U r; ``force``,
    ``moment``: received from the parent, at the origin.
    """

    joint: JointTransform
    omega: Array
    alpha: Array
    accel: Array
    spin: Array
    force: Array
    moment: Array


def recursion(tree: Tree, made: Bodies, q: Array, qd: Array, qdd: Array, external: Array | None = None) -> Array:
    """Efforts (nv,) of the bodies and of the spin of carried rotors: outward for the motion, inward for the forces."""
    zero = np.zeros(3)
    still = JointTransform(np.eye(3), zero, np.eye(3), zero)
    ground = State(still, zero, zero, -np.asarray(tree.gravity), np.zeros((3, 3)), zero, zero)
    states: list[State] = []
    for body in made.bodies:
        parent = states[body.parent] if body.parent >= 0 else ground
        states.append((_outward_free if body.free else _outward)(body, parent, q, qd, qdd))
    if external is not None and made.tool[0] >= 0:
        state, push = states[made.tool[0]], on_body(external, made.tool[1])
        state.force, state.moment = state.force - push[:3], state.moment - push[3:]
    tau = blank(tree.nv)
    for rotor in made.rotors:
        state = states[rotor.body]
        tau[rotor.speed] = tau[rotor.speed] + rotor.spin @ state.alpha
        turning = rotor.spin * qdd[rotor.speed] + cross(state.omega, rotor.spin) * qd[rotor.speed]
        state.moment = state.moment + turning
    for k in reversed(range(len(made.bodies))):
        body, state = made.bodies[k], states[k]
        for freedom in body.freedoms:
            own = freedom.angular @ state.moment + freedom.linear @ state.force
            tau[freedom.speed] = tau[freedom.speed] + own
        if body.parent >= 0:
            _inward(state, states[body.parent])
    return tau


def _outward(body: Body, parent: State, q: Array, qd: Array, qdd: Array) -> State:
    """The body's motion from its parent's, and the force and moment that this motion takes."""
    joint = joint_transform(body, q)
    omega, alpha = joint.vector_from_parent(parent.omega), joint.vector_from_parent(parent.alpha)
    accel = joint.vector_from_parent(parent.accel + parent.spin @ joint.shift)
    rate, rise = qd[body.speed], qdd[body.speed]
    if body.slides:
        way, speed = body.pitch * q[body.position], body.pitch * rate
        accel = accel + _spin(omega, alpha)[:, 2] * way
        accel = accel + np.array([omega[1] * (2.0 * speed), omega[0] * (-2.0 * speed), body.pitch * rise])
    if body.turns:
        alpha = alpha + np.array([omega[1] * rate, -omega[0] * rate, rise])
        omega = omega + np.array([0.0, 0.0, rate])
    return _moving(body, joint, omega, alpha, accel)


def _outward_free(body: Body, parent: State, q: Array, qd: Array, qdd: Array) -> State:
    """The same for a floating base, whose speeds are its velocity in its own axes: a = d(v)/dt + omega x v."""
    joint = joint_transform(body, q)
    motion, rise = joint_rate(body, qd), joint_rate(body, qdd)
    accel = joint.vector_from_parent(parent.accel) + rise[:3] + cross(motion[3:], motion[:3])
    return _moving(body, joint, motion[3:], rise[3:], accel)


def _moving(body: Body, joint: JointTransform, omega: Array, alpha: Array, accel: Array) -> State:
    spin = _spin(omega, alpha)
    force, moment = _inertial(body.inertia, accel, spin)
    return State(joint, omega, alpha, accel, spin, force, moment)


def _spin(omega: Array, alpha: Array) -> Array:
    """U = alpha~ + omega~ omega~ (3, 3)."""
    x, y, z = omega
    xx, yy, zz, xy, yz, xz = x * x, y * y, z * z, x * y, y * z, x * z
    return np.array(
        [
            [-(yy + zz), xy - alpha[2], xz + alpha[1]],
            [xy + alpha[2], -(xx + zz), yz - alpha[0]],
            [xz - alpha[1], yz + alpha[0], -(xx + yy)],
        ]
    )


def _inertial(inertia: FloatArray, accel: Array, spin: Array) -> tuple[Array, Array]:
    """Force and moment about the origin that accelerate a body: m a + U h, and h x a + axial part of U S."""
    block, first, mass = inertia[:3, :3], inertia[:3, 3], inertia[3, 3]
    product = spin @ block
    turning = np.array([product[2, 1] - product[1, 2], product[0, 2] - product[2, 0], product[1, 0] - product[0, 1]])
    return mass * accel + spin @ first, turning + cross(first, accel)


def _inward(state: State, parent: State) -> None:
    """Pass on to the parent what the body receives from it."""
    rotation, origin = state.joint.rotation, state.joint.origin
    force = rotation @ state.force
    parent.force = parent.force + force
    parent.moment = parent.moment + rotation @ state.moment + cross(origin, force)
