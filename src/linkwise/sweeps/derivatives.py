"""Derivatives of inverse and forward dynamics in steps over bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.kinematics.body_motion import BodyMotion, step_effect
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
from linkwise.sweeps.declaration import looped
from linkwise.sweeps.drivers import Row, Sweeps
from linkwise.sweeps.dynamics import ZERO, acceleration, add_rotors, friction_slope, half_spin, upright_spin

#: The derivatives by coordinates and velocities, and the mass matrix.
TABLES = ("dtau_dq", "dtau_dqd", "dtau_dqdd")


@looped("inverse_dynamics_derivatives", regrouped=True)
def inverse_dynamics_derivatives(sweeps: Sweeps) -> None:
    """See `linkwise.dynamics.derivatives`."""
    effort_derivatives(sweeps, "qdd", *TABLES)


@looped("forward_dynamics_derivatives", regrouped=True)
def forward_dynamics_derivatives(sweeps: Sweeps, *, rotors: bool = False) -> None:
    """Those of inverse dynamics at the acceleration there is, times the inverse of M (J. Carpentier, N. Mansard, 2018)."""
    sweeps.temporary("acceleration", "nv")
    sweeps.temporary("M", "nv", "nv")
    acceleration(sweeps, "acceleration", rotors=rotors)
    effort_derivatives(sweeps, "acceleration", "dqdd_dq", "dqdd_dqd", "M")
    sweeps.solve("M", ("dqdd_dq", "negative solve"), ("dqdd_dqd", "negative solve"), ("dqdd_dtau", "inverse"))


#: What steps of the joints do to the velocities and accelerations of what they carry: see `StepEffect`.
STEPS = ("step velocity", "step acceleration", "step rate")


def effort_derivatives(sweeps: Sweeps, qdd: str, by_q: str, by_qd: str, mass: str) -> None:
    """By composite bodies in motion (S. Singh, R. P. Russell, P. M. Wensing, 2022)."""
    for name in STEPS:
        sweeps.temporary(name, "nv", 6)
    steps = _Steps(qdd, by_q, by_qd, mass)
    sweeps.ground(velocity=np.zeros(6), falling=np.concatenate([-sweeps.constant("gravity"), ZERO]), axes=np.eye(3))
    sweeps.outward(steps.outward)
    sweeps.outward(half_spin, "rotors")
    sweeps.outward(steps.forced)
    sweeps.outward(steps.loaded, "rotors")
    sweeps.inward(steps.inward)
    sweeps.walk(steps.start, steps.visit)
    _add_spin(sweeps, by_q, by_qd)
    add_rotors(sweeps, mass)
    sweeps.outward(lambda motor: motor.write(by_qd, [friction_slope(motor)], "v v", add=True), "motors")


@dataclass(frozen=True)
class _Steps:
    """The steps of the derivatives of efforts, and the arrays that they read the accelerations from and write into."""

    qdd: str
    by_q: str
    by_qd: str
    mass: str

    def outward(self, body: Row) -> None:
        """Motion of a body, and what steps of its joint do to it."""
        joint, parent = body.upright, body.parent
        carried_v, carried_a = (joint.motion_from_parent(parent[name]) for name in ("velocity", "falling"))
        rate = joint.rate(body.read("qd"))
        velocity = carried_v + rate
        body["velocity"] = velocity
        body["falling"] = carried_a + joint.rate(body.read(self.qdd)) + motion_cross(carried_v, rate)
        moved = BodyMotion(velocity, body["falling"], carried_v, carried_a)
        effects = [step_effect(freedom, moved) for freedom in joint.freedoms]
        body.write("step velocity", [effect.velocity for effect in effects], "v .")
        body.write("step acceleration", [effect.acceleration for effect in effects], "v .")
        body.write("step rate", [effect.velocity + effect.rate for effect in effects], "v .")
        body["composite"] = body.upright_inertia
        body["momentum"] = momentum_matrix(body["composite"], velocity)

    def forced(self, body: Row) -> None:
        """The force that a body takes."""
        body["force"] = inertia_times(body["composite"], body["falling"]) + coriolis_times(
            body["momentum"], body["velocity"]
        )

    def loaded(self, rotor: Row) -> None:
        """What spins a rotor acts on its carrier; the momentum has half of it already."""
        half = 0.5 * cross(rotor.body["velocity"][3:], upright_spin(rotor)) * rotor.read("qd", "v")[0]
        rotor.body.add("force", np.concatenate([ZERO, half + upright_spin(rotor) * rotor.read(self.qdd, "v")[0]]))

    def inward(self, body: Row) -> None:
        """Composite bodies."""
        body.parent.add("composite", body.upright.inertia_to_parent(body["composite"]))
        body.parent.add("momentum", body.upright.momentum_to_parent(body["momentum"]))
        body.parent.add("force", body.upright.force_to_parent(body["force"]))

    def start(self, body: Row) -> list[Array]:
        """What is passed on for each column."""
        inertia, momentum, states = body["composite"], body["momentum"], []
        steps = (body.read(name, "v .") for name in STEPS)
        for freedom, by_v, by_a, rate in zip(body.upright.freedoms, *steps, strict=True):
            along = inertia_times(inertia, freedom.screw)
            by_speed = 2.0 * coriolis_times(momentum, freedom.screw) + inertia_times(inertia, rate)
            by_step = 2.0 * coriolis_times(momentum, by_v) + inertia_times(inertia, by_a)
            by_step = by_step + force_cross(freedom.screw, body["force"])
            turning = 2.0 * coriolis_transposed_times(momentum, freedom.screw)
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
        moved = [joint.force_to_parent(force) for force in (row, for_speed, for_step)]
        return np.concatenate([moved[0], joint.vector_to_parent(couple), *moved[1:]])


def _add_spin(sweeps: Sweeps, by_q: str, by_qd: str) -> None:
    """What rotors and their carriers exchange: G Jm (qdd s + qd w x s) on the carrier, G Jm s.w' on the joint."""

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
