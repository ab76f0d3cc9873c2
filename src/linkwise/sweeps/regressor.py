"""The regressor in steps over bodies, links and motors."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.dynamics.regressor import _forces
from linkwise.kinematics.body_motion import BodyMotion
from linkwise.model.parameters import LINK
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, root, select, sign
from linkwise.spatial.spatial_vectors import motion_cross
from linkwise.sweeps.declaration import looped
from linkwise.sweeps.drivers import Row, Sweeps


@looped("regressor")
def regressor(sweeps: Sweeps) -> None:
    """The force of each parameter of each link, passed to the ground (C. G. Atkeson, C. H. An, J. M. Hollerbach, 1986)."""

    def outward(body: Row) -> None:
        joint, parent, rate = body.upright, body.parent, body.upright.rate(body.read("qd"))
        carried = joint.motion_from_parent(parent["velocity"])
        body["velocity"] = carried + rate
        falling = joint.motion_from_parent(parent["falling"]) + joint.rate(body.read("qdd"))
        body["falling"] = falling + motion_cross(carried, rate)

    def start(link: Row) -> list[Array]:
        pose = link.pose
        axes = link.body["axes"]
        turn, arm = axes @ pose[:3, :3], axes @ pose[:3, 3]
        velocity, falling = (_seen(turn, arm, link.body[name]) for name in ("velocity", "falling"))
        forces = _forces(BodyMotion(velocity, falling, velocity, falling))
        return [np.concatenate([_passed(turn, arm, force) for force in forces.T])]

    def visit(body: Row, state: Array, same: bool) -> Array:
        joint, forces = body.upright, state.reshape(len(LINK), 6)
        body.write("Y", np.array([[freedom.screw @ force for force in forces] for freedom in joint.freedoms]), "v 10w")
        return np.concatenate([joint.force_to_parent(force) for force in forces])

    def couple(rotor: Row) -> list[Array]:
        turning = rotor.body["axes"] @ rotor.number("turning")
        return [turning * rotor.read("qdd", "v")[0] + cross(rotor.body["velocity"][3:], turning) * rotor.read("qd", "v")[0]]

    def felt(body: Row, couple: Array, same: bool) -> Array:
        body.write("Y", [freedom.angular @ couple for freedom in body.upright.freedoms], "v drive", add=True)
        return body.upright.vector_to_parent(couple)

    def driven(rotor: Row) -> None:
        rotor.write("Y", [(rotor.body["axes"] @ rotor.number("turning")) @ rotor.body["falling"][3:]], "v drive", add=True)

    sweeps.ground(velocity=np.zeros(6), falling=np.concatenate([-sweeps.constant("gravity"), np.zeros(3)]), axes=np.eye(3))
    sweeps.outward(outward)
    sweeps.walk(start, visit, "links")
    sweeps.outward(_motor, "drives")
    sweeps.walk(couple, felt, "rotors")
    sweeps.outward(driven, "rotors")


def _motor(drive: Row) -> None:
    """The columns of a motor, as if no link carried it: rotor inertia, viscous and two-sided Coulomb friction."""
    ratio, viscous, width, up, up_both, down, down_both = drive.number("units")
    speed, rise = drive.read("qd", "v")[0], drive.read("qdd", "v")[0]
    smooth: Any = speed / root(speed * speed + select(width, width * width, 1.0))
    s = select(width, smooth, sign(speed))
    columns = [ratio * rise, viscous * speed, up * s + up_both * abs(s), down * s + down_both * abs(s)]
    drive.write("Y", [columns], "v drive4")


def _seen(turn: Array, arm: Array, motion: Array) -> Array:
    """A motion (6,) of a body, in the world's axes, as a frame on it sees it in its own."""
    return np.concatenate([turn.T @ (motion[:3] + cross(motion[3:], arm)), turn.T @ motion[3:]])


def _passed(turn: Array, arm: Array, force: Array) -> Array:
    """A force (6,) on that frame, in its axes, as one on the body in the world's."""
    linear = turn @ force[:3]
    return np.concatenate([linear, turn @ force[3:] + cross(arm, linear)])
