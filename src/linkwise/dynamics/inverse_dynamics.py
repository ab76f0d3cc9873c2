"""Inverse dynamics by the Newton-Euler recursion, and its gravity, bias and friction terms.

The angular motion of a body is kept as U = alpha~ + omega~ omega~.

A point r of a body accelerates by a + U r. Points on a joint's axis move with both bodies, so that U of a body and U of its
parent agree on the axis: the column U z needs one rotation, and makes those of the angular acceleration, and the products of
the angular velocity with the joint's speed, unnecessary. The rest of U follows from omega, for U + U' = 2 omega~ omega~.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics import recursions
from linkwise.dynamics.external import Loads, Wrenches, wrenches_on_bodies, wrenches_on_frames
from linkwise.dynamics.length_inertias import length_inertia_efforts
from linkwise.dynamics.newton_euler import (
    Turning,
    add_spring_efforts,
    add_turning_efforts,
    inertial,
    motor_friction,
    newton_euler,
    turned_freely,
)
from linkwise.dynamics.newton_euler import motor_effort as motor_effort_step
from linkwise.dynamics.optimise.first_moment_split import PointMasses, Way, parts, point_masses
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import motor_effort
from linkwise.model.body import Bodies, Body, moving_bodies
from linkwise.model.body_transform import JointTransform
from linkwise.model.potential import ConstantForce
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank, is_zero
from linkwise.sweeps.drivers import Sweeps, looped
from linkwise.sweeps.unrolled import unrolled

X, Y, Z = range(3)


@dataclass(frozen=True)
class RecursionPlan:
    """Choice among equal formulas by operations.

    Attributes
    ----------
    alpha : ndarray (3,) of bool
        Elements of the angular acceleration from which the bodies that it carries take theirs; U_zx and U_zy follow from
        these where they are there.
    from_parent : bool
        Whether U_yy is taken from U_zz, which is an element of the parent's U that is needed there: it saves the square of
        omega_x.
    """

    alpha: Array
    from_parent: bool


def turned(body: Body, joint: JointTransform, parent: Turning, rate: Any, rise: Any, plan: RecursionPlan) -> Turning:
    """Rotational motion from the parent's, with the joint's velocity and acceleration."""
    fixed, asked = joint.fixed, plan.alpha
    if not body.turn and joint.planar is None:
        result = turned_freely(fixed.T @ parent.omega, fixed.T @ parent.alpha)
        return Turning(result.omega, result.alpha, fixed.T @ parent.spin @ fixed) if permutes(fixed) else result
    omega, up = joint.vector_from_parent(parent.omega), parent.alpha @ fixed[:, Z]
    column = joint.turn.T @ _axis_column(fixed, parent)
    if body.turn:
        omega, up = omega + np.array([0.0, 0.0, rate]), up + rise
    x, y, z = omega
    xx, yy, zz, xy, yz, xz = x * x, y * y, z * z, x * y, y * z, x * z
    alpha = np.array([yz - column[Y], column[X] - xz, up])
    zx = xz - alpha[Y] if asked[Y] else 2.0 * xz - column[X]
    zy = yz + alpha[X] if asked[X] else 2.0 * yz - column[Y]
    if not (asked[X] or asked[Y]):
        zx, zy = x * (2.0 * z) - column[X], y * (2.0 * z) - column[Y]
    second = column[Z] + (yy - zz) if plan.from_parent else -(xx + zz)
    rows = [[-(yy + zz), xy - up, column[X]], [xy + up, second, column[Y]], [zx, zy, column[Z]]]
    return Turning(omega, alpha, np.array(rows))


def _axis_column(fixed: Array, parent: Turning) -> Array:
    """U z, z the joint's axis, before the joint's own rotation: from the parent's U where the placement exchanges axes."""
    if permutes(fixed):
        return np.asarray(fixed.T @ (parent.spin @ fixed[:, Z]))
    return np.asarray(turned_freely(fixed.T @ parent.omega, fixed.T @ parent.alpha).spin[:, Z])


def plans(bodies: Bodies, joints: Sequence[JointTransform]) -> list[RecursionPlan]:
    """The plan of each body (saves 3 % of the products of a PUMA's inverse dynamics)."""
    asked = [np.zeros(3, dtype=bool) for _ in joints]
    levers = [np.array([not is_zero(value) for value in body.inertia[:3, 3]]) for body in bodies.bodies]
    for rotor in bodies.rotors:
        asked[rotor.body][:] = True
    for k in reversed(range(len(joints))):
        body, fixed, parent = bodies.bodies[k], joints[k].fixed, bodies.bodies[k].parent
        if parent < 0:
            continue
        levers[parent] |= [not is_zero(value) for value in joints[k].shift]
        if body.joint is not None or not permutes(fixed) or (joints[k].planar is not None and not body.turn):
            asked[parent][:] = True
        else:
            wanted = [False, False, True] if body.turn else asked[k]
            asked[parent] |= [any(wanted[j] and not is_zero(fixed[i, j]) for j in range(3)) for i in range(3)]
    return [RecursionPlan(asked[k], _known(bodies.bodies[k], joints[k], levers)) for k in range(len(joints))]


def _known(body: Body, joint: JointTransform, levers: Sequence[Array]) -> bool:
    """True if U_zz is an element of the parent's U that acts there on a first moment, or on the next joint."""
    if body.parent < 0 or joint.planar is None or not permutes(joint.fixed):
        return False
    along = next(i for i in range(3) if not is_zero(joint.fixed[i, Z]))
    return along == Z or bool(levers[body.parent][along])


def permutes(rotation: Array) -> bool:
    """True if a rotation is known to be a signed permutation of axes."""
    return sum(is_zero(value) for value in rotation.flat) == 6


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"tau": "nv"}, open_only=True)
def inverse_dynamics(
    tree: Tree, q: Array, qd: Array, qdd: Array, external: Array | None = None, *, wrenches: Wrenches = None
) -> Array:
    """Return tau (nv,): efforts of the motors, with links, gravity, rotors, friction and springs.

    J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical manipulators", 1980, in
    body frames, with the pseudo-inertia of the 4x4 matrix method and regrouped inertial parameters (see
    `Bodies.regrouped`). What wrenches on links do is taken off: on the tool, in its axes, unless `wrenches` names frames.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3)
    array([19.62 ,  4.905])
    >>> arm.inverse_dynamics([0.0, 0.5], [1.0, 2.0], [0.3, 0.4], external=[0, 10, 0, 0, 0, 0]).round(3)
    array([-0.602, -5.091])
    """
    loads = () if external is None else tuple(wrenches_on_frames(tree, q, external, wrenches))
    bodies = moving_bodies(tree).regrouped()
    return recursion(tree, bodies, q, qd, qdd, loads) + _of_joints(tree, q, qd, qdd)


def _of_joints(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Efforts of motors and springs (nv,)."""
    efforts = motor_effort(tree, qd, qdd)
    if tree.has_length_inertias:
        efforts = efforts + length_inertia_efforts(tree, q, qd, qdd)
    return efforts + recursions.spring_efforts(tree, q, qd) if tree.springs else efforts


@dataclass
class BodyState:
    """Joint of one body, its motion in its own axes, and the forces on it.

    ``accel``: acceleration of the origin less gravity; ``force``, ``moment``: received from the parent, at the origin;
    ``path``: steps on the parent towards the origin, with the force on the point mass at the end of each;
    ``remainder``: what is left of the path.
    """

    joint: JointTransform
    turning: Turning
    accel: Array
    force: Array
    moment: Array
    path: list[tuple[Array, Array]]
    remainder: Array


def recursion(tree: Tree, bodies: Bodies, q: Array, qd: Array, qdd: Array, loads: Loads = ()) -> Array:
    """Efforts (nv,) of the bodies and of the spin of carried rotors: outward for the motion, inward for the forces.

    The loads are wrenches on frames, in the axes of these.
    """
    moves = not all(is_zero(value) for value in (*qd, *qdd))
    points = point_masses(bodies) if moves else PointMasses(bodies, {})
    return recursion_of_points(tree, points, q, qd, qdd, loads)


def recursion_of_points(tree: Tree, points: PointMasses, q: Array, qd: Array, qdd: Array, loads: Loads = ()) -> Array:
    """Recursion on bodies with separated point masses."""
    bodies, joints = carried_axes(points.built, q, frames=bool(loads))
    states = _outward(tree, bodies, joints, points.ways, q, qd, qdd)
    for k, wrench in wrenches_on_bodies(bodies, loads).items():
        states[k].force, states[k].moment = states[k].force - wrench[:3], states[k].moment - wrench[3:]
    tau = blank(tree.nv)
    for rotor in bodies.rotors:
        state = states[rotor.body]
        tau[rotor.speed] = tau[rotor.speed] + rotor.spin @ state.turning.alpha
        turning = rotor.spin * qdd[rotor.speed] + cross(state.turning.omega, rotor.spin) * qd[rotor.speed]
        state.moment = state.moment + turning
    for k in reversed(range(len(bodies.bodies))):
        body, state = bodies.bodies[k], states[k]
        for freedom in state.joint.freedoms:
            effort = freedom.angular @ state.moment + freedom.linear @ state.force
            tau[freedom.speed] = tau[freedom.speed] + effort
        if body.parent >= 0:
            _inward(state, states[body.parent])
    return tau


def _outward(
    tree: Tree,
    bodies: Bodies,
    joints: Sequence[JointTransform],
    ways: Mapping[int, Way],
    q: Array,
    qd: Array,
    qdd: Array,
) -> list[BodyState]:
    """The motion of every body, and the force and moment that this motion takes."""
    zero = np.zeros(3)
    still = JointTransform(np.eye(3), zero, np.eye(3), zero)
    ground = BodyState(still, Turning(zero, zero, np.zeros((3, 3))), -np.asarray(tree.gravity), zero, zero, [], zero)
    states: list[BodyState] = []
    for k, (body, joint, plan) in enumerate(zip(bodies.bodies, joints, plans(bodies, joints), strict=True)):
        parent = states[body.parent] if body.parent >= 0 else ground
        point, path = parent.accel, []
        steps, remainder = parts(joint.shift, ways.get(k, ()), turned=parent.joint.planar is None)
        for step, mass in steps:
            point = point + parent.turning.spin @ step
            path.append((step, mass * point))
        if body.joint is not None:
            accel = joint.vector_from_parent(point + parent.turning.spin @ (remainder + joint.fixed @ joint.slide))
            turning, accel = _general(joint, parent.turning, accel, qd, qdd)
        else:
            accel = joint.vector_from_parent(point + parent.turning.spin @ remainder)
            turning = turned(body, joint, parent.turning, qd[body.speed], qdd[body.speed], plan)
            if body.advances:
                accel = accel + _sliding(body, turning, q, qd, qdd)
        states.append(BodyState(joint, turning, accel, *inertial(body.inertia, accel, turning), path, remainder))
    return states


def _general(joint: JointTransform, parent: Turning, carried: Array, qd: Array, qdd: Array) -> tuple[Turning, Array]:
    """Motion of a body on a joint with any motion subspace S, from the acceleration of its origin carried with the parent.

    The relative velocity is S qd, the relative acceleration S qdd + dS/dt qd (both in the axes of the body).
    """
    velocity, rise = joint.rate(qd), joint.rate(qdd) + joint.bias(qd)
    omega = joint.vector_from_parent(parent.omega)
    alpha = joint.vector_from_parent(parent.alpha) + rise[3:] + cross(omega, velocity[3:])
    across = cross(2.0 * omega + velocity[3:], velocity[:3])
    return turned_freely(omega + velocity[3:], alpha), carried + rise[:3] + across


def _sliding(body: Body, turning: Turning, q: Array, qd: Array, qdd: Array) -> Array:
    """Acceleration of the origin by sliding along z."""
    slide, speed, rise = (body.pitch * value for value in (q[body.position], qd[body.speed], qdd[body.speed]))
    x, y, _ = turning.omega
    return np.asarray(turning.spin[:, 2] * slide + np.array([y * (2.0 * speed), x * (-2.0 * speed), rise]))


def _inward(state: BodyState, parent: BodyState) -> None:
    """Pass the forces of the body and of the point masses before it on to the parent."""
    rotation = state.joint.rotation
    force, moment = rotation @ state.force, rotation @ state.moment
    moment = moment + cross(state.remainder + state.joint.fixed @ state.joint.slide, force)
    for step, load in reversed(state.path):
        force = force + load
        moment = moment + cross(step, force)
    parent.force, parent.moment = parent.force + force, parent.moment + moment


@algorithm(inputs={"q": "nq"}, outputs={"tau": "nv"}, open_only=True)
def gravity_torque(tree: Tree, q: Array, external: Array | None = None, *, wrenches: Wrenches = None) -> Array:
    """Efforts g (nv,) that balance the mechanism at rest, by the Newton-Euler recursion without velocities.

    What wrenches on links do is taken off, as in `inverse_dynamics`: g - J' w.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.gravity_torque([0.0, 0.0]).round(3)
    array([19.62 ,  4.905])
    >>> arm.gravity_torque([0.0, 0.0], external=[0, 10, 0, 0, 0, 0]).round(3)
    array([-0.38 , -5.095])
    """
    moving = moving_bodies(tree).regrouped()
    if external is not None:
        loads = tuple(wrenches_on_frames(tree, q, external, wrenches))
        return recursion(tree, moving, q, blank(tree.nv), blank(tree.nv), loads)
    bodies, joints = carried_axes(moving, q)
    return np.asarray(unrolled("gravity_torque", tree, bodies, joints, q))


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"tau": "nv"}, open_only=True)
def bias_torque(tree: Tree, q: Array, qd: Array) -> Array:
    """Efforts C qd + g (nv,): Coriolis, centrifugal and gravity efforts, friction apart, by the Newton-Euler recursion.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.bias_torque([0.0, 0.5], [1.0, 2.0]).round(3)
    array([17.102,  4.544])
    """
    bodies = moving_bodies(tree).regrouped()
    bias = np.asarray(recursion(tree, bodies, q, qd, blank(tree.nv)) + recursions.rotor_bias(tree, qd))
    return bias + length_inertia_efforts(tree, q, qd, blank(tree.nv)) if tree.has_length_inertias else bias


@algorithm(inputs={"qd": "nv"}, outputs={"tau": "nv"})
def friction_torque(tree: Tree, qd: Array) -> Array:
    """Friction (nv,) of the motors as the joints feel it, which they must overcome: see `linkwise.Motor`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> arm.friction_torque([1.0, 0.0, 0.0, 0.0, 0.0, -1.0]).round(3)
    array([30.533,  0.   ,  0.   ,  0.   ,  0.   , -1.021])
    """
    return recursions.friction(tree, qd)


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"tau": "nv"})
def spring_torque(tree: Tree, q: Array, qd: Array) -> Array:
    """Efforts (nv,) of springs, dampers and end stops, which the motors must supply: see `linkwise.Spring`.

    Examples
    --------
    >>> from linkwise import Spring, robots
    >>> arm = robots.planar_2r().replace(springs=[Spring("link1", stiffness=2.0), Spring("link2", damping=3.0)])
    >>> arm.spring_torque([0.5, 0.1], [0.0, 1.0])
    array([1., 3.])
    """
    return recursions.spring_efforts(tree, q, qd)


#: Coordinates of a base at its reference frame.
AT_REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"w": "6"})
def base_wrench(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Force and moment (6,) that the base receives from the ground, at its origin, in its axes.

    All links, the payload and carried rotors are held by it, those on the base too, against constant forces on links. With a
    floating base these are the first six efforts of `inverse_dynamics`, but for what motors of the base's own velocities and
    springs take of those: they stand on the ground, and what they do to the base is part of what it receives. A fixed base
    is a floating one that is held (R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 9.5). Of a motion that
    keeps loops closed it is the same: their forces act between links, and those on the base are part of what the ground
    carries.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.base_wrench([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3) + 0.0
    array([ 0.  , 19.62,  0.  ,  0.  ,  0.  , 19.62])
    """
    if not tree.floating:
        tree = tree.replace(floating=True)
        q, qd, qdd = np.concatenate([AT_REST, q]), np.concatenate([np.zeros(6), qd]), np.concatenate([np.zeros(6), qdd])
    forces = (element for element in tree.springs if isinstance(element, ConstantForce))
    held = [recursions.line_effort(tree, force, q, qd)[:6] for force in forces]
    return sum(held, recursion(tree, moving_bodies(tree).regrouped(), q, qd, qdd)[:6])


# ── in steps, for loops ───────────────────────────────────────────────────────────────────────────


@looped("inverse_dynamics", regrouped=True, external=True)
def inverse_dynamics_in_steps(
    sweeps: Sweeps, wrenches: bool = False, *, springs: bool = False, turning: bool = False
) -> None:
    """Newton-Euler, rotors, friction, springs on joints."""
    newton_euler(sweeps, wrenches=wrenches)
    sweeps.outward(motor_effort_step, "motors")
    if turning:
        add_turning_efforts(sweeps, "tau")
    if springs:
        add_spring_efforts(sweeps, "tau")


@looped("gravity_torque", regrouped=True, external=True)
def gravity_torque_in_steps(sweeps: Sweeps, wrenches: bool = False) -> None:
    """Newton-Euler at rest."""
    newton_euler(sweeps, moving=False, accelerating=False, wrenches=wrenches)


@looped("bias_torque", regrouped=True)
def bias_torque_in_steps(sweeps: Sweeps, *, turning: bool = False) -> None:
    """Newton-Euler without accelerations."""
    newton_euler(sweeps, accelerating=False)
    if turning:
        add_turning_efforts(sweeps, "tau")


@looped("friction_torque", regrouped=True)
def friction_torque_in_steps(sweeps: Sweeps) -> None:
    """Friction of all motors."""
    sweeps.outward(lambda body: body.write("tau", [0.0] * body.kind.nv, "v"))
    sweeps.outward(lambda motor: motor.write("tau", [motor_friction(motor)], "v", add=True), "motors")


@looped("spring_torque")
def spring_torque_in_steps(sweeps: Sweeps) -> None:
    """Springs on joints."""
    sweeps.outward(lambda body: body.write("tau", [0.0] * body.kind.nv, "v"))
    add_spring_efforts(sweeps, "tau")
