"""Inverse dynamics: the joint efforts that a motion takes, by the Newton-Euler recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.carried_axes import carried_axes
from linkwise.dynamics.motors import motor_effort
from linkwise.dynamics.point_masses import PointMasses, Way, parts, point_masses
from linkwise.dynamics.turning import Plan, Turning, at_rest, plans, turned, turned_freely
from linkwise.kinematics.joint_transform import JointTransform, is_number, is_zero, joint_rate
from linkwise.model.bodies import Bodies, Body
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.six_vector import on_body


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"tau": "nv"}, open_only=True)
def inverse_dynamics(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Return tau (nv,): what the motors must supply, links, gravity, rotors and friction counted.

    J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical manipulators", 1980, in
    body frames, with the pseudo-inertia of the 4x4 matrix method and regrouped inertial parameters (see
    `Bodies.regrouped`).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3)
    array([19.62 ,  4.905])
    >>> arm.inverse_dynamics([0.0, 0.5], [1.0, 2.0], [0.3, 0.4], external=[0, 10, 0, 0, 0, 0]).round(3)
    array([-0.602, -5.091])
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

    ``accel``: acceleration of the origin less gravity; ``force``, ``moment``: received from the parent, at the origin;
    ``way``: steps on the parent towards the origin, with the force on the point mass at the end of each; ``rest``: what is
    left of the way.
    """

    joint: JointTransform
    turning: Turning
    accel: Array
    force: Array
    moment: Array
    way: list[tuple[Array, Array]]
    rest: Array


def recursion(tree: Tree, made: Bodies, q: Array, qd: Array, qdd: Array, external: Array | None = None) -> Array:
    """Efforts (nv,) of the bodies and of the spin of carried rotors: outward for the motion, inward for the forces."""
    moves = not all(is_zero(value) for value in (*qd, *qdd))
    points = point_masses(made) if moves else PointMasses(made, {})
    return recursion_of_points(tree, points, q, qd, qdd, external)


def recursion_of_points(
    tree: Tree, points: PointMasses, q: Array, qd: Array, qdd: Array, external: Array | None = None
) -> Array:
    """The same of bodies from which point masses were taken out."""
    made, joints = carried_axes(points.made, q)
    states = _outward(tree, made, joints, points.ways, q, qd, qdd)
    if external is not None and made.tool[0] >= 0:
        state, push = states[made.tool[0]], on_body(external, made.tool[1])
        state.force, state.moment = state.force - push[:3], state.moment - push[3:]
    tau = blank(tree.nv)
    for rotor in made.rotors:
        state = states[rotor.body]
        tau[rotor.speed] = tau[rotor.speed] + rotor.spin @ state.turning.alpha
        turning = rotor.spin * qdd[rotor.speed] + cross(state.turning.omega, rotor.spin) * qd[rotor.speed]
        state.moment = state.moment + turning
    for k in reversed(range(len(made.bodies))):
        body, state = made.bodies[k], states[k]
        for freedom in body.freedoms:
            own = freedom.angular @ state.moment + freedom.linear @ state.force
            tau[freedom.speed] = tau[freedom.speed] + own
        if body.parent >= 0:
            _inward(state, states[body.parent])
    return tau


def _outward(
    tree: Tree,
    made: Bodies,
    joints: Sequence[JointTransform],
    ways: Mapping[int, Way],
    q: Array,
    qd: Array,
    qdd: Array,
) -> list[State]:
    """The motion of every body, and the force and moment that this motion takes."""
    zero = np.zeros(3)
    still = JointTransform(np.eye(3), zero, np.eye(3), zero)
    ground = State(still, at_rest(), -np.asarray(tree.gravity), zero, zero, [], zero)
    states: list[State] = []
    for k, (body, joint, plan) in enumerate(zip(made.bodies, joints, plans(made, joints), strict=True)):
        parent = states[body.parent] if body.parent >= 0 else ground
        point, way = parent.accel, []
        steps, rest = parts(joint.shift, ways.get(k, ()), turned=parent.joint.planar is None)
        for step, mass in steps:
            point = point + parent.turning.spin @ step
            way.append((step, mass * point))
        accel = joint.vector_from_parent(point + parent.turning.spin @ rest)
        if body.free:
            turning, accel = _free(body, accel, qd, qdd)
        else:
            turning = turned(body, joint, parent.turning, qd[body.speed], qdd[body.speed], plan)
            if body.slides:
                accel = accel + _sliding(body, turning, q, qd, qdd)
        states.append(State(joint, turning, accel, *_inertial(body.inertia, accel, turning, plan), way, rest))
    return states


def _free(body: Body, carried_accel: Array, qd: Array, qdd: Array) -> tuple[Turning, Array]:
    """Motion of a floating base, whose speeds are its velocity in its own axes: a = d(v)/dt + omega x v."""
    motion, rise = joint_rate(body, qd), joint_rate(body, qdd)
    return turned_freely(motion[3:], rise[3:]), carried_accel + rise[:3] + cross(motion[3:], motion[:3])


def _sliding(body: Body, turning: Turning, q: Array, qd: Array, qdd: Array) -> Array:
    """What sliding along z adds to the acceleration of the origin."""
    way, speed, rise = (body.pitch * value for value in (q[body.position], qd[body.speed], qdd[body.speed]))
    x, y, _ = turning.omega
    return np.asarray(turning.spin[:, 2] * way + np.array([y * (2.0 * speed), x * (-2.0 * speed), rise]))


def _inertial(inertia: Array, accel: Array, turning: Turning, plan: Plan) -> tuple[Array, Array]:
    """Force and moment about the origin that accelerate a body: m a + U h, and h x a + axial part of U S."""
    s, first, mass = inertia[:3, :3], inertia[:3, 3], inertia[3, 3]
    u, gaps = turning.spin, turning.gaps
    x = u[2, 0] * s[0, 1] - u[1, 0] * s[0, 2] + (u[2, 1] * s[1, 1] - u[1, 2] * s[2, 2]) + gaps[0] * s[1, 2]
    y = u[0, 1] * s[1, 2] - u[2, 1] * s[0, 1] + (u[0, 2] * s[2, 2] - u[2, 0] * s[0, 0]) + gaps[1] * s[0, 2]
    z = u[1, 2] * s[0, 2] - u[0, 2] * s[1, 2] + _about_axis(s, turning, plan) + gaps[2] * s[0, 1]
    return mass * accel + u @ first, np.array([x, y, z]) + cross(first, accel)


def _about_axis(s: Array, turning: Turning, plan: Plan) -> Any:
    """U_yx S_xx - U_xy S_yy, where U_yx = omega_x omega_y + alpha_z and U_xy = omega_x omega_y - alpha_z."""
    sxx, syy, up = s[0, 0], s[1, 1], turning.alpha[2]
    if is_zero(turning.product) or is_zero(sxx - syy):
        return up * (sxx + syy)
    if all(plan.sides) or not (is_number(sxx) and is_number(syy)):
        return turning.spin[1, 0] * sxx - turning.spin[0, 1] * syy
    if plan.sides[0]:
        return turning.spin[1, 0] * (sxx - syy) + up * (2.0 * syy)
    if plan.sides[1]:
        return turning.spin[0, 1] * (sxx - syy) + up * (2.0 * sxx)
    return turning.product * (sxx - syy) + up * (sxx + syy)


def _inward(state: State, parent: State) -> None:
    """Pass on to the parent what the body receives from it, and what point masses on the way to it need."""
    rotation = state.joint.rotation
    force, moment = rotation @ state.force, rotation @ state.moment
    moment = moment + cross(state.rest + state.joint.fixed @ state.joint.slide, force)
    for step, load in reversed(state.way):
        force = force + load
        moment = moment + cross(step, force)
    parent.force, parent.moment = parent.force + force, parent.moment + moment
