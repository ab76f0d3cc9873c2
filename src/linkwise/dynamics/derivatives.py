"""Exact first derivatives of inverse dynamics, in as few operations as a recursion over composite bodies takes.

Turning one joint turns what it carries as one body. What the bodies beyond feel of it is a change of velocity and of
acceleration that is the same for all of them, so that inertias, momenta and forces can be summed before, and each pair of
joints needs a few scalar products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.closed_loops.derivatives import closed_acceleration_derivatives
from linkwise.dynamics.closed_loops.forward_dynamics import held_efforts, solved_motion
from linkwise.dynamics.coriolis_matrix import half_spin
from linkwise.dynamics.external import Wrenches, external_efforts
from linkwise.dynamics.forward_dynamics import acceleration
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.length_inertias import length_inertia_efforts, length_inertia_matrix
from linkwise.dynamics.mass_matrix import add_rotors, mass_matrix
from linkwise.dynamics.newton_euler import (
    ZERO,
    add_spring_slopes,
    add_turning_coriolis,
    apply_wrenches,
    motor_friction_slope,
    upright_spin,
)
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import rotor_bias_slope, spring_efforts, turning_rotors
from linkwise.expr.derivative import derivative
from linkwise.expr.evaluate import substitute
from linkwise.expr.node import symbol
from linkwise.kinematics.body_motion import BodyMotion, step_effect
from linkwise.kinematics.configuration import derivative_by_vector, tangent_derivative
from linkwise.model.body import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.linear import factor
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import (
    coriolis_times,
    coriolis_transposed_times,
    force_cross,
    inertia_times,
    momentum_matrix,
    motion_cross,
)
from linkwise.sweeps.drivers import Row, Sweeps, looped
from linkwise.sweeps.unrolled import unrolled

SHAPES = {"dtau_dq": "nv nv", "dtau_dqd": "nv nv", "dtau_dqdd": "nv nv"}


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs=SHAPES, open_only=True)
def inverse_dynamics_derivatives(
    tree: Tree, q: Array, qd: Array, qdd: Array, external: Array | None = None, *, wrenches: Wrenches = None
) -> tuple[Array, Array, Array]:
    """Return d tau/dq, d tau/dqd and d tau/dqdd = M, each (nv, nv); row i is joint i's effort.

    S. Singh, R. P. Russell, P. M. Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector
    algebra", IEEE Robotics and Automation Letters 7(2), 2022, in body axes, with the momentum matrix W J in
    the place of the 6x6 Coriolis matrix. With a floating base dq is a small motion in the base's own axes. Coulomb
    friction that jumps adds nothing. Wrenches, as for `inverse_dynamics`, are held: J' w changes with q.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> dq, dqd, dqdd = arm.inverse_dynamics_derivatives([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])
    >>> dqd.round(3)
    array([[-0.959, -1.438],
           [ 0.479,  0.   ]])
    >>> bool(abs(dqdd - arm.mass_matrix([0.0, 0.5])).max() < 1e-12)
    True
    """
    bodies = moving_bodies(tree).regrouped()
    _ = [body.freedoms for body in bodies.bodies]  # (constant ones, or an error)
    by_q, by_qd, mass = unrolled("inverse_dynamics_derivatives", tree, *carried_axes(bodies, q), q, qd, qdd)
    if turning_rotors(tree):
        by_qd = by_qd + rotor_bias_slope(tree, qd)
    if tree.has_length_inertias:
        by_q = by_q + tangent_derivative(tree, lambda x: length_inertia_efforts(tree, x, qd, qdd), q)
        by_qd = by_qd + derivative_by_vector(lambda v: length_inertia_efforts(tree, q, v, qdd), qd)
        mass = mass + length_inertia_matrix(tree, q)
    by_q, by_qd, mass = with_springs(tree, q, qd, (by_q, by_qd, mass))
    if external is not None:
        by_q = by_q - tangent_derivative(tree, lambda x: external_efforts(tree, x, external, wrenches=wrenches), q)
    return by_q, by_qd, mass


def with_springs(tree: Tree, q: Array, qd: Array, tables: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """The three derivatives (nv, nv) with those of springs, from their graph."""
    if not tree.springs:
        return tables
    by_q, by_qd, mass = tables
    speeds = np.array([symbol(f"\1{k}") for k in range(tree.nv)], dtype=object)
    efforts = spring_efforts(tree, q, speeds)
    by_speed = substitute(derivative(list(efforts), list(speeds)), dict(zip(speeds, qd, strict=True)))
    by_q = by_q + tangent_derivative(tree, lambda x: spring_efforts(tree, x, qd), q)
    return by_q, by_qd + by_speed, mass


FORWARD_SHAPES = {"dqdd_dq": "nv nv", "dqdd_dqd": "nv nv", "dqdd_dtau": "nv nv"}


@algorithm(inputs={"q": "nq", "qd": "nv", "tau": "nv"}, outputs=FORWARD_SHAPES, spread=False)
def forward_dynamics_derivatives(
    tree: Tree, q: Array, qd: Array, tau: Array, external: Array | None = None, *, wrenches: Wrenches = None
) -> tuple[Array, Array, Array]:
    """Return d qdd/dq, d qdd/dqd and d qdd/dtau = inverse(M), each (nv, nv).

    M d(qdd) = d(tau) - d(tau of the inverse dynamics) at the acceleration there is (J. Carpentier, N. Mansard, "Analytical
    derivatives of rigid body dynamics algorithms", RSS 2018), with M = L' D L. Wrenches are held.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> dq, dqd, dtau = arm.forward_dynamics_derivatives([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])
    >>> (dtau @ arm.mass_matrix([0.0, 0.5])).round(9) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    if tree.loops:
        system, qdd, forces, sound = solved_motion(tree, q, qd, tau, external, wrenches)
        of_tree = _at_acceleration(tree.replace(loops=()), q, qd, qdd, external, wrenches)
        tables = closed_acceleration_derivatives(tree, system, (q, qd, qdd, forces), *of_tree)
        by_q, by_qd, by_tau = (table * sound for table in tables)
        return by_q, by_qd, by_tau
    check_inertia(tree)
    solver = factor(mass_matrix(tree, q))
    qdd = solver.solve(tau - held_efforts(tree, q, qd, external, wrenches))
    by_q, by_qd = _at_acceleration(tree, q, qd, qdd, external, wrenches)
    for table in (by_q, by_qd):
        for j in range(tree.nv):
            table[:, j] = -solver.solve(table[:, j])
    return by_q, by_qd, solver.inverse()


def motion_and_slopes(tree: Tree, q: Array, qd: Array, tau: Array, qdd: Array) -> tuple[Array, Array, Array, Array]:
    """Both sides of M qdd = efforts, (nv, nv) and (nv,), without qdd; the derivatives of inverse dynamics by q and qd."""
    by_q, by_qd, mass = inverse_dynamics_derivatives(tree, q, qd, qdd)
    return mass, tau - held_efforts(tree, q, qd), by_q, by_qd


def _at_acceleration(
    tree: Tree, q: Array, qd: Array, qdd: Array, external: Array | None, wrenches: Wrenches
) -> tuple[Array, Array]:
    """The derivatives (nv, nv) of inverse dynamics by q and qd."""
    by_q, by_qd, _ = inverse_dynamics_derivatives(tree, q, qd, qdd, external, wrenches=wrenches)
    return by_q, by_qd


# ── in steps ──────────────────────────────────────────────────────────────────────────────────────

#: The derivatives by coordinates and velocities, and the mass matrix.
TABLES = ("dtau_dq", "dtau_dqd", "dtau_dqdd")


@looped("inverse_dynamics_derivatives", regrouped=True, external=True)
def inverse_dynamics_derivatives_in_steps(
    sweeps: Sweeps, wrenches: bool = False, *, springs: bool = False, turning: bool = False
) -> None:
    """Compute the derivatives by composite bodies in motion."""
    effort_derivatives(sweeps, "qdd", *TABLES, wrenches=wrenches)
    if springs:
        add_spring_slopes(sweeps, *TABLES[:2])
    if turning:
        add_turning_coriolis(sweeps, TABLES[1], slope=True)


@looped("forward_dynamics_derivatives", regrouped=True, external=True)
def forward_dynamics_derivatives_in_steps(
    sweeps: Sweeps, wrenches: bool = False, *, rotors: bool = False, springs: bool = False, turning: bool = False
) -> None:
    """Derivatives of inverse dynamics at the actual acceleration, times inverse(M) (J. Carpentier, N. Mansard, 2018)."""
    sweeps.temporary("acceleration", "nv")
    sweeps.temporary("M", "nv", "nv")
    acceleration(sweeps, "acceleration", rotors=rotors, wrenches=wrenches, springs=springs, turning=turning)
    effort_derivatives(sweeps, "acceleration", "dqdd_dq", "dqdd_dqd", "M", wrenches=wrenches)
    if springs:
        add_spring_slopes(sweeps, "dqdd_dq", "dqdd_dqd")
    if turning:
        add_turning_coriolis(sweeps, "dqdd_dqd", slope=True)
    sweeps.solve("M", ("dqdd_dq", "negative solve"), ("dqdd_dqd", "negative solve"), ("dqdd_dtau", "inverse"))


#: Effects of joint steps on the velocities and accelerations of the bodies beyond: see `StepEffect`.
STEPS = ("step velocity", "step acceleration", "step rate")


def effort_derivatives(sweeps: Sweeps, qdd: str, by_q: str, by_qd: str, mass: str, *, wrenches: bool = False) -> None:
    """Compute the derivatives by composite bodies in motion (S. Singh, R. P. Russell, P. M. Wensing, 2022)."""
    composites_in_motion(sweeps, qdd, -sweeps.constant("gravity"), wrenches=wrenches)
    steps = _Columns(by_q, by_qd, mass)
    sweeps.walk(steps.start, steps.visit)
    _add_spin(sweeps, by_q, by_qd)
    add_rotors(sweeps, mass)
    sweeps.outward(lambda motor: motor.write(by_qd, [motor_friction_slope(motor)], "v v", add=True), "motors")


def composites_in_motion(sweeps: Sweeps, qdd: str, rise: Array, *, whole: bool = False, wrenches: bool = False) -> None:
    """Composite body of each subtree: "composite" (4, 4), "momentum" W J (3, 4), and its "force".

    ``rise`` (3,) is the acceleration of the ground; with ``whole`` it gets the momentum and the force of everything.
    Wrenches in the axes of links turn with their bodies, as the rest of the force does.
    """

    def outward(body: Row) -> None:
        joint, parent = body.upright, body.parent
        carried_v, carried_a = (joint.motion_from_parent(parent[name]) for name in ("velocity", "falling"))
        rate = joint.rate(body.read("qd"))
        velocity = carried_v + rate
        body["velocity"] = velocity
        body["composite"] = body.upright_inertia
        body["momentum"] = momentum_matrix(body["composite"], velocity)
        body["falling"] = carried_a + joint.rate(body.read(qdd)) + motion_cross(carried_v, rate)
        moved = BodyMotion(velocity, body["falling"], carried_v, carried_a)
        effects = [step_effect(freedom, moved) for freedom in joint.freedoms]
        body.write("step velocity", [effect.velocity for effect in effects], "v .")
        body.write("step acceleration", [effect.acceleration for effect in effects], "v .")
        body.write("step rate", [effect.velocity + effect.rate for effect in effects], "v .")

    def forced(body: Row) -> None:
        body["force"] = inertia_times(body["composite"], body["falling"]) + coriolis_times(
            body["momentum"], body["velocity"]
        )

    def loaded(rotor: Row) -> None:
        half = 0.5 * cross(rotor.body["velocity"][3:], upright_spin(rotor)) * rotor.read("qd", "v")[0]
        rotor.body.add("force", np.concatenate([ZERO, half + upright_spin(rotor) * rotor.read(qdd, "v")[0]]))

    def inward(body: Row) -> None:
        if not body.rooted:
            body.parent.add("composite", body.upright.inertia_to_parent(body["composite"]))
        if whole or not body.rooted:
            body.parent.add("momentum", body.upright.momentum_to_parent(body["momentum"]))
            body.parent.add("force", body.upright.force_to_parent(body["force"]))

    for name in STEPS:
        sweeps.temporary(name, "nv", 6)
    sweeps.ground(velocity=np.zeros(6), falling=np.concatenate([rise, ZERO]), axes=np.eye(3))
    sweeps.outward(outward)
    sweeps.outward(half_spin, "rotors")
    sweeps.outward(forced)
    sweeps.outward(loaded, "rotors")
    if wrenches:
        apply_wrenches(sweeps, "force", upright=True)
    sweeps.inward(inward)


def column_forces(body: Row) -> list[tuple[Array, Array, Array]]:
    """Forces (6,) on the bodies before each freedom of a joint, per unit of its acceleration, velocity and position."""
    inertia, momentum, columns = body["composite"], body["momentum"], []
    effects = (body.read(name, "v .") for name in STEPS)
    for freedom, by_v, by_a, rate in zip(body.upright.freedoms, *effects, strict=True):
        along = inertia_times(inertia, freedom.screw)
        by_speed = 2.0 * coriolis_times(momentum, freedom.screw) + inertia_times(inertia, rate)
        by_step = 2.0 * coriolis_times(momentum, by_v) + inertia_times(inertia, by_a)
        columns.append((along, by_speed, by_step + force_cross(freedom.screw, body["force"])))
    return columns


@dataclass(frozen=True)
class _Columns:
    """States passed inward for the columns of effort derivatives, and the arrays to be filled."""

    by_q: str
    by_qd: str
    mass: str

    def start(self, body: Row) -> list[Array]:
        """Initial state of each column."""
        states = []
        for freedom, (along, by_speed, by_step) in zip(body.upright.freedoms, column_forces(body), strict=True):
            turning = 2.0 * coriolis_transposed_times(body["momentum"], freedom.screw)
            states.append(np.concatenate([along, turning, by_speed, by_step]))
        return states

    def visit(self, body: Row, state: Array, same: bool) -> Array:
        """The elements of a column at one joint."""
        joint, row, couple, for_speed, for_step = body.upright, state[:6], state[6:9], state[9:15], state[15:]
        freedoms = joint.freedoms
        steps = zip(*(body.read(name, "v .") for name in STEPS), strict=True)
        pairs = list(zip(freedoms, steps, strict=True))
        masses = [freedom.screw @ row for freedom in freedoms]
        body.write(self.mass, masses, "v w")
        body.write(self.mass, masses, "w v")
        body.write(self.by_q, [couple @ by_v[3:] + row @ by_a for _, (by_v, by_a, _) in pairs], "w v")
        body.write(self.by_qd, [couple @ freedom.angular + row @ rate for freedom, (_, _, rate) in pairs], "w v")
        if not same:
            body.write(self.by_q, [freedom.screw @ for_step for freedom in freedoms], "v w")
            body.write(self.by_qd, [freedom.screw @ for_speed for freedom in freedoms], "v w")
        if body.rooted:
            return state
        moved = [joint.force_to_parent(force) for force in (row, for_speed, for_step)]
        return np.concatenate([moved[0], joint.vector_to_parent(couple), *moved[1:]])


def _add_spin(sweeps: Sweeps, by_q: str, by_qd: str) -> None:
    """Add the exchange between rotors and carriers: G Jm (qdd s + qd w x s) on the carrier, G Jm s.w' on the joint."""

    def start(rotor: Row) -> list[Array]:
        return [np.concatenate([upright_spin(rotor), cross(rotor.body["velocity"][3:], upright_spin(rotor))])]

    def passed(body: Row, state: Array) -> Array:
        return np.concatenate([body.upright.vector_to_parent(state[:3]), body.upright.vector_to_parent(state[3:])])

    def visit(body: Row, state: Array, same: bool) -> Array:
        by_v, by_a, rate = (body.read(name, "v .")[:, 3:] for name in STEPS)
        shared = [state[3:] @ freedom.angular for freedom in body.upright.freedoms]
        body.write(by_q, by_a @ state[:3] + by_v @ state[3:], "w v", add=True)
        body.write(by_qd, rate @ state[:3] + np.array(shared, dtype=object), "w v", add=True)
        return passed(body, state)

    def transposed(body: Row, state: Array, same: bool) -> Array:
        body.write(by_qd, [state[3:] @ freedom.angular for freedom in body.upright.freedoms], "v w", add=True)
        return passed(body, state)

    sweeps.walk(start, visit, "rotors")
    sweeps.walk(start, transposed, "rotors")
