"""Energies, momentum and centre of mass in steps over bodies."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import inertia_times
from linkwise.sweeps.declaration import looped
from linkwise.sweeps.drivers import Row, Sweeps
from linkwise.sweeps.dynamics import ZERO, spin
from linkwise.sweeps.kinematics import place


@looped("kinetic_energy", regrouped=True)
def kinetic_energy(sweeps: Sweeps) -> None:
    """The sum of v' I v / 2 over the bodies, and the spin of rotors."""

    def outward(body: Row) -> None:
        velocity = body["velocity"] = _velocity(body)
        body.write("T", 0.5 * (velocity @ inertia_times(body.inertia, velocity)), add=True)

    def rotor(rotor: Row) -> None:
        rotor.write("T", (spin(rotor) @ rotor.body["velocity"][3:]) * rotor.read("qd", "v")[0], add=True)

    def motor(motor: Row) -> None:
        speed = motor.read("qd", "v")[0]
        motor.write("T", 0.5 * motor.number("reflected")[()] * (speed * speed), add=True)

    sweeps.ground(velocity=np.zeros(6))
    sweeps.outward(outward)
    sweeps.outward(rotor, "rotors")
    sweeps.outward(motor, "motors")


def _velocity(body: Row) -> Array:
    joint = body.joint
    return np.asarray(joint.motion_from_parent(body.parent["velocity"]) + joint.rate(body.read("qd")))


@looped("potential_energy", moment=True)
def potential_energy(sweeps: Sweeps) -> None:
    """-m g'c of all bodies and of what the ground holds."""
    gravity = sweeps.constant("gravity")

    def outward(body: Row) -> None:
        body.write("U", -(gravity @ _first_moment(body)), add=True)

    def held(frame: Row) -> None:
        frame.write("U", -(gravity @ sweeps.constant("held")[:3]), add=True)

    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(outward)
    sweeps.outward(held, "frames")


def _first_moment(body: Row) -> Array:
    """The first moment of a body about the world's origin, in the world's axes."""
    world, inertia = place(body), body.inertia
    return np.asarray(world[:, :3] @ inertia[:3, 3] + world[:, 3] * inertia[3, 3])


@looped("center_of_mass", moment=True)
def center_of_mass(sweeps: Sweeps) -> None:
    """The first moment over the mass."""
    share = 1.0 / sweeps.constant("mass")[()]
    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(lambda body: body.write("c", _first_moment(body) * share, ".", add=True))
    sweeps.outward(lambda frame: frame.write("c", sweeps.constant("held")[:3] * share, ".", add=True), "frames")


@looped("center_of_mass_jacobian", moment=True)
def center_of_mass_jacobian(sweeps: Sweeps) -> None:
    """A joint moves the mass that it carries as one body (T. Sugihara, Y. Nakamura, H. Inoue, 2002)."""
    share = 1.0 / sweeps.constant("mass")[()]

    def outward(body: Row) -> None:
        place(body)
        body["moment"] = body.inertia[:, 3]

    def inward(body: Row) -> None:
        joint, moment, turn = body.joint, body["moment"], body["world"][:, :3]
        moved = [moment[3] * freedom.linear + cross(freedom.angular, moment[:3]) for freedom in joint.freedoms]
        body.write("J", np.stack([turn @ column * share for column in moved], axis=1), ". v")
        there = joint.rotation @ moment[:3] + joint.origin * moment[3]
        body.parent.add("moment", np.concatenate([there, moment[3:]]))

    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(outward)
    sweeps.inward(inward)


@looped("momentum", moment=True)
def momentum(sweeps: Sweeps, *, about: str = "origin") -> None:
    """The sum of I v over the bodies, and the spin of rotors, about the world's origin or the centre of mass."""

    def outward(body: Row) -> None:
        body["velocity"] = _velocity(body)
        body["momentum"] = inertia_times(body.inertia, body["velocity"])
        if about == "com":
            body.write("center", _first_moment(body), ".", add=True)

    def rotor(rotor: Row) -> None:
        rotor.body.add("momentum", np.concatenate([ZERO, spin(rotor) * rotor.read("qd", "v")[0]]))

    def whole(frame: Row) -> None:
        total = frame.ground["momentum"]
        if about == "com":
            center = (frame.read("center", ".") + sweeps.constant("held")[:3]) * (1.0 / sweeps.constant("mass")[()])
            total = np.concatenate([total[:3], total[3:] - cross(center, total[:3])])
        frame.write("p", total, ".")

    if about == "com":
        sweeps.temporary("center", 3)
    sweeps.ground(velocity=np.zeros(6), world=np.eye(4)[:3])
    sweeps.outward(outward)
    sweeps.outward(rotor, "rotors")
    sweeps.inward(lambda body: body.parent.add("momentum", body.joint.force_to_parent(body["momentum"])))
    sweeps.outward(whole, "frames")
