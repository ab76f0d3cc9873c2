"""Inverse dynamics: the joint efforts that a motion takes, by the Newton-Euler recursion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.motors import motor_effort
from linkwise.model.bodies import Bodies, Body, moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray


@algorithm(inputs={"q": "n", "qd": "n", "qdd": "n"}, outputs={"tau": "n"})
def inverse_dynamics(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Return tau (n,): what the motors must supply, links, gravity, rotors and friction counted.

    J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical manipulators", 1980, in
    body frames, with the pseudo-inertia of the 4x4 matrix method and regrouped inertial parameters (see
    `Bodies.regrouped`).
    """
    made = moving_bodies(tree).regrouped()
    return recursion(tree, made, q, qd, qdd) + motor_effort(tree, qd, qdd)


@algorithm(inputs={"q": "n", "qd": "n", "qdd": "n", "external": "6"}, outputs={"tau": "n"})
def inverse_dynamics_external(tree: Tree, q: Array, qd: Array, qdd: Array, external: Array) -> Array:
    """Return tau (n,) with a force and a moment (6,) acting on the tool at its origin, in tool axes."""
    made = moving_bodies(tree).regrouped()
    return recursion(tree, made, q, qd, qdd, external) + motor_effort(tree, qd, qdd)


@dataclass
class State:
    """Motion of one body in its own axes, and what acts on it.

    ``omega``, ``alpha``: angular velocity and acceleration; ``accel``: acceleration of the origin less gravity;
    ``spin``: U = alpha~ + omega~ omega~, so that a point r of the body accelerates by accel + U r; ``force``,
    ``moment``: received from the parent, at the origin.
    """

    rotation: Array
    shift: Array
    omega: Array
    alpha: Array
    accel: Array
    spin: Array
    force: Array
    moment: Array


def recursion(tree: Tree, made: Bodies, q: Array, qd: Array, qdd: Array, external: Array | None = None) -> Array:
    """Joint efforts (n,) of the bodies alone: outward for the motion, inward for the forces."""
    zero = np.zeros(3)
    ground = State(np.eye(3), zero, zero, zero, -np.asarray(tree.gravity), np.zeros((3, 3)), zero, zero)
    states: list[State] = []
    for body in made.bodies:
        parent = states[body.parent] if body.parent >= 0 else ground
        i = body.coordinate
        states.append(_outward(body, parent, q[i], qd[i], qdd[i]))
    if external is not None and made.tool[0] >= 0:
        _apply_external(states[made.tool[0]], made.tool[1], external)
    tau = np.zeros(tree.n, dtype=object)
    tau[:] = 0.0
    for k in reversed(range(len(made.bodies))):
        body, state = made.bodies[k], states[k]
        tau[body.coordinate] = (state.moment[2] if body.turns else 0.0) + (
            body.pitch * state.force[2] if body.slides else 0.0
        )
        if body.parent >= 0:
            _inward(body, state, states[body.parent])
    return tau


def _outward(body: Body, parent: State, q: Any, qd: Any, qdd: Any) -> State:
    """The body's motion from its parent's, and the force and moment that this motion takes."""
    fixed, shift = body.placement[:3, :3], body.placement[:3, 3]
    omega, alpha = fixed.T @ parent.omega, fixed.T @ parent.alpha
    accel = fixed.T @ (parent.accel + parent.spin @ shift)
    slide = np.zeros(3)
    turn = np.eye(3)
    if body.turns:
        c, s = body.cos_sin(q)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        omega, alpha, accel = turn.T @ omega, turn.T @ alpha, turn.T @ accel
    if body.slides:
        way, rate = body.pitch * q, body.pitch * qd
        slide = np.array([0.0, 0.0, way])
        accel = accel + _spin(omega, alpha)[:, 2] * way
        accel = accel + np.array([omega[1] * (2.0 * rate), omega[0] * (-2.0 * rate), body.pitch * qdd])
    if body.turns:
        alpha = alpha + np.array([omega[1] * qd, -omega[0] * qd, qdd])
        omega = omega + np.array([0.0, 0.0, qd])
    spin = _spin(omega, alpha)
    force, moment = _inertial(body.inertia, accel, spin)
    return State(np.asarray(fixed @ turn), shift + fixed @ slide, omega, alpha, accel, spin, force, moment)


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


def _apply_external(state: State, t_body_tool: FloatArray, external: Array) -> None:
    """Take a wrench that acts on the tool off what the body must receive from its parent."""
    rotation = t_body_tool[:3, :3]
    force = rotation @ external[:3]
    state.force = state.force - force
    state.moment = state.moment - rotation @ external[3:] - cross(t_body_tool[:3, 3], force)


def _inward(body: Body, state: State, parent: State) -> None:
    """Pass on to the parent what the body receives from it."""
    force = state.rotation @ state.force
    parent.force = parent.force + force
    parent.moment = parent.moment + state.rotation @ state.moment + cross(state.shift, force)
