"""Forward dynamics: accelerations under efforts, by the articulated-body algorithm or the mass matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.closed_loops.forward_dynamics import closed_motion, held_efforts
from linkwise.dynamics.external import Loads, Wrenches, wrenches_on_frames
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.dynamics.mass_matrix import composite_bodies, composite_mass_matrix, mass_matrix
from linkwise.dynamics.newton_euler import (
    ZERO,
    add_spring_efforts,
    add_turning_efforts,
    apply_wrenches,
    motor_friction,
    newton_euler,
)
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import friction, rotor_bias, spring_efforts
from linkwise.expr.count import operation_count
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.body_transform import JointTransform
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree
from linkwise.spatial.linear import Factor, factor
from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.spatial_vectors import coriolis_times, momentum_matrix, motion_cross, spatial_inertia
from linkwise.sweeps.drivers import Row, Sweeps, looped
from linkwise.sweeps.tables import MechanismRows
from linkwise.sweeps.unrolled import UnrolledSweeps


@dataclass(frozen=True)
class ArticulatedJoint:
    """Quantities of one joint that the recursion keeps.

    Attributes
    ----------
    response : ndarray (6, k)
        U = P S: the force on the articulated body per unit of each of its k accelerations.
    pivot : Factor
        Of D = S' U + rotor inertia (k, k).
    effort : ndarray (k,)
        What is left of the joint's effort to accelerate it; zeros where only inertia was asked for.
    """

    response: Array
    pivot: Factor
    effort: Array


def articulated_acceleration(tree: Tree, bodies: Bodies, q: Array, qd: Array, left: Array, loads: Loads = ()) -> Array:
    """Return qdd (nv,) under the efforts that friction leaves and wrenches on links, without carried rotors.

    R. Featherstone, "The calculation of robot dynamics using articulated-body inertias", Int. J. Robotics Research 2(1),
    1983, in body axes.
    """
    bodies, joints = carried_axes(bodies, q, tips=False, frames=bool(loads))
    on = tuple((frame, "body") for frame, _ in loads)
    arrays: dict[str, Any] = {"q": (("nq",), q), "qd": (("nv",), qd), "tau": (("nv",), left)}
    arrays["external"] = (("wrenches", 6), np.array([wrench for _, wrench in loads]))
    sweeps = UnrolledSweeps(MechanismRows(tree, bodies, {"wrenches": on}), joints, arrays)
    sweeps.temporary("qdd", "nv")
    articulated_bodies(sweeps, "qdd", frictionless=True, wrenches=bool(loads))
    return sweeps.arrays["qdd"]


def articulated_joint(
    joint: JointTransform, inertia: Array, reflected: Sequence[float], left: Array, held: Array
) -> ArticulatedJoint:
    """U, D and the remaining effort of one joint."""
    freedoms = joint.freedoms
    response = np.stack([inertia @ freedom.screw for freedom in freedoms], axis=1)
    block = np.array([[f.screw @ response[:, j] for j in range(len(freedoms))] for f in freedoms], dtype=object)
    for j, freedom in enumerate(freedoms):
        block[j, j] = block[j, j] + reflected[freedom.speed]
    effort = np.array([left[freedom.speed] - freedom.screw @ held for freedom in freedoms], dtype=object)
    return ArticulatedJoint(response, factor(block), effort)


def carried_inertia(inertia: Array, joint: ArticulatedJoint) -> Array:
    """P - U D^-1 U': inertia of an articulated body with free joint at the parent; the matrix is exactly symmetric."""
    solved = [joint.pivot.solve(row) for row in joint.response]
    result = np.empty((6, 6), dtype=object)
    for i in range(6):
        for j in range(i, 6):
            result[i, j] = result[j, i] = inertia[i, j] - joint.response[i] @ solved[j]
    return result


def to_parent(joint: JointTransform, inertia: Array) -> Array:
    """A symmetric 6x6 inertia about the parent's origin in its axes."""
    turned = _shifted(_turned(inertia, joint.turn), joint.slide)
    return _shifted(_turned(turned, joint.fixed), joint.shift)


def _turned(inertia: Array, rotation: Array) -> Array:
    result = np.empty((6, 6), dtype=object)
    for a, b in ((0, 0), (0, 3), (3, 3)):
        half = rotation @ inertia[a : a + 3, b : b + 3]
        for i in range(3):
            for j in range(i if a == b else 0, 3):
                result[a + i, b + j] = result[b + j, a + i] = half[i] @ rotation[j]
    return result


def _shifted(inertia: Array, shift: Array) -> Array:
    """About a point from which the old one is seen at ``shift``: H - M d~ and I - H' d~ + d~ (H - M d~)."""
    moved, result = skew(shift), np.array(inertia)
    mass, mixed = inertia[:3, :3], inertia[:3, 3:]
    result[:3, 3:] = mixed - mass @ moved
    result[3:, :3] = result[:3, 3:].T
    whole = inertia[3:, 3:] - mixed.T @ moved + moved @ result[:3, 3:]
    for i in range(3):
        for j in range(i, 3):
            result[3 + i, 3 + j] = result[3 + j, 3 + i] = whole[i, j]
    return result


STATE = {"q": "nq", "qd": "nv", "tau": "nv"}


@algorithm(inputs=STATE, outputs={"qdd": "nv"}, spread=False)
def forward_dynamics(
    tree: Tree, q: Array, qd: Array, tau: Array, external: Array | None = None, *, wrenches: Wrenches = None
) -> Array:
    """Return qdd (nv,) under the efforts tau of the motors, gravity and friction, by the cheaper of two recursions.

    Short chains: M from composite bodies, M = L' D L, and M qdd = tau - bias - friction solved (M. W. Walker, D. E. Orin,
    1982; R. Featherstone, 2005). Long ones: articulated bodies (R. Featherstone, 1983). Which takes fewer operations on this
    mechanism is counted. Closed loops: M and the closure equations together (see
    `linkwise.dynamics.closed_loops.forward_dynamics.closed_motion`). Wrenches are as for `inverse_dynamics`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> tau = arm.inverse_dynamics([0.0, 0.5], [1.0, 2.0], [0.3, 0.4])
    >>> arm.forward_dynamics([0.0, 0.5], [1.0, 2.0], tau).round(9)
    array([0.3, 0.4])
    """
    if tree.loops:
        return closed_motion(tree, q, qd, tau, external, wrenches)[0]
    check_inertia(tree)
    if tree.coupled or tree.has_length_inertias:
        return factor(mass_matrix(tree, q)).solve(tau - held_efforts(tree, q, qd, external, wrenches))
    bodies = moving_bodies(tree).regrouped()
    left = tau - friction(tree, qd) - rotor_bias(tree, qd)
    left = left - spring_efforts(tree, q, qd) if tree.springs else left
    loads = () if external is None else tuple(wrenches_on_frames(tree, q, external, wrenches))
    results = [composite_acceleration(tree, bodies, q, qd, left, loads)]
    if not any_nonzero([rotor.inertia for rotor in bodies.rotors]):
        results.append(articulated_acceleration(tree, bodies, q, qd, left, loads))
    return min(results, key=lambda qdd: sum(operation_count(list(qdd)).values()))


def composite_acceleration(tree: Tree, bodies: Bodies, q: Array, qd: Array, left: Array, loads: Loads = ()) -> Array:
    """Return qdd (nv,) from the mass matrix and the efforts that friction leaves."""
    bias = recursion(tree, bodies, q, qd, blank(tree.nv), loads)
    return factor(composite_mass_matrix(tree, *carried_axes(bodies, q, tips=False))).solve(left - bias)


# ── in steps ──────────────────────────────────────────────────────────────────────────────────────


@looped("forward_dynamics", regrouped=True, external=True)
def forward_dynamics_in_steps(
    sweeps: Sweeps, wrenches: bool = False, *, rotors: bool = False, springs: bool = False, turning: bool = False
) -> None:
    """Articulated bodies, or the mass matrix where rotors are carried."""
    acceleration(sweeps, "qdd", rotors=rotors, wrenches=wrenches, springs=springs, turning=turning)


def acceleration(
    sweeps: Sweeps, qdd: str, *, rotors: bool, wrenches: bool = False, springs: bool = False, turning: bool = False
) -> None:
    """Accelerations under efforts: into the array `qdd`."""
    if not rotors:
        articulated_bodies(sweeps, qdd, wrenches=wrenches, springs=springs, turning=turning)
        return
    sweeps.temporary("mass", "nv", "nv")
    sweeps.temporary("bias", "nv")
    composite_bodies(sweeps, "mass")
    newton_euler(sweeps, "bias", accelerating=False, wrenches=wrenches)
    sweeps.outward(lambda body: body.write(qdd, body.read("tau") - body.read("bias"), "v"))
    sweeps.outward(lambda motor: motor.write(qdd, [-motor_friction(motor)], "v", add=True), "motors")
    if springs:
        add_spring_efforts(sweeps, qdd, -1.0)
    if turning:
        add_turning_efforts(sweeps, qdd, -1.0)
    sweeps.solve("mass", (qdd, "solve vector"))


def articulated_bodies(
    sweeps: Sweeps,
    qdd: str,
    *,
    wrenches: bool = False,
    frictionless: bool = False,
    springs: bool = False,
    turning: bool = False,
) -> None:
    """Articulated bodies (R. Featherstone, "The calculation of robot dynamics...", 1983)."""
    for name in ("left", "reflected", "pivot"):
        sweeps.temporary(name, "nv")
    sweeps.temporary("response", "nv", 6)
    sweeps.temporary("lower", "nv", 6)

    def outward(body: Row) -> None:
        joint, nv = body.upright, body.kind.nv
        inertia, rate = body.upright_inertia, joint.rate(body.read("qd"))
        velocity = body["velocity"] = joint.motion_from_parent(body.parent["velocity"]) + rate
        body["across"] = motion_cross(velocity, rate) + joint.bias(body.read("qd"))
        body["held"] = coriolis_times(momentum_matrix(inertia, velocity), velocity)
        body["articulated"] = spatial_inertia(inertia)
        body.write("left", body.read("tau"), "v")
        body.write("reflected", [0.0] * nv, "v")

    def motor(motor: Row) -> None:
        if not frictionless:
            motor.write("left", [-motor_friction(motor)], "v", add=True)
        motor.write("reflected", motor.number("reflected"), "v", add=True)

    def inward(body: Row) -> None:
        joint, inertia, nv = body.upright, body["articulated"], body.kind.nv
        here = articulated_joint(joint, inertia, list(body.read("reflected")), body.read("left"), body["held"])
        body.write("left", here.effort, "v")
        body.write("response", here.response.T, "v .")
        body.write("pivot", here.pivot.inverse_pivots, "v")
        if nv > 1:
            body.write("lower", np.pad(here.pivot.lower, ((0, 0), (0, 6 - nv))), "v .")
        if body.rooted:
            return
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
    if springs:
        add_spring_efforts(sweeps, "left", -1.0)
    if turning:
        add_turning_efforts(sweeps, "left", -1.0)
    if wrenches:
        apply_wrenches(sweeps, "held", upright=True)
    sweeps.inward(inward)
    sweeps.outward(back)
