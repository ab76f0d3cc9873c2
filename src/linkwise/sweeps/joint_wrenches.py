"""Joint wrenches in steps over bodies and links."""

from __future__ import annotations

import numpy as np

from linkwise.dynamics.inverse_dynamics import _inertial, turned_freely
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.sweeps.declaration import looped
from linkwise.sweeps.drivers import Row, Sweeps
from linkwise.sweeps.dynamics import ZERO, move, spin
from linkwise.sweeps.kinematics import framed, place


@looped("joint_wrenches")
def joint_wrenches(sweeps: Sweeps) -> None:
    """What links, rotors and the payload need, summed from the tips to the base, about the world's origin."""
    _wrenches(sweeps, external=False)


@looped("joint_wrenches_external")
def joint_wrenches_external(sweeps: Sweeps) -> None:
    """The same with wrenches."""
    _wrenches(sweeps, external=True)


def _wrenches(sweeps: Sweeps, *, external: bool) -> None:
    def outward(body: Row) -> None:
        place(body)
        move(body)

    def needed(link: Row) -> None:
        pose, body, turn = framed(link), link.body, link.pose[:3, :3]
        spinning = turned_freely(body["omega"], body["alpha"]).spin
        accel = turn.T @ (body["accel"] + spinning @ link.pose[:3, 3])
        turning = turned_freely(turn.T @ body["omega"], turn.T @ body["alpha"])
        link["wrench"] = _at_origin(pose, np.concatenate(_inertial(link.inertia, accel, turning)))

    def carried(rotor: Row) -> None:
        couple = spin(rotor) * rotor.read("qdd", "v")[0]
        couple = couple + cross(rotor.body["omega"], spin(rotor)) * rotor.read("qd", "v")[0]
        rotor.link.add("wrench", np.concatenate([ZERO, rotor.body["world"][:, :3] @ couple]))

    def applied(row: Row) -> None:
        wrench, pose = row.read("external"), framed(row)
        if row.kind.name == "body":
            wrench = _at_origin(pose, wrench)
        elif row.kind.name == "world":
            wrench = np.concatenate([wrench[:3], wrench[3:] + cross(pose[:3, 3], wrench[:3])])
        row.link.add("wrench", -wrench)

    def inward(link: Row) -> None:
        link.write("actions", link["wrench"], "r .")
        link.parent.add("wrench", link["wrench"])

    sweeps.ground(world=np.eye(4)[:3], omega=ZERO, alpha=ZERO, accel=-sweeps.constant("gravity"))
    sweeps.outward(outward)
    sweeps.outward(needed, "links")
    sweeps.outward(carried, "rotors")
    if external:
        sweeps.outward(applied, "wrenches")
    sweeps.inward(inward, "links")


def _at_origin(pose: Array, wrench: Array) -> Array:
    """A wrench (6,) on a frame, in its axes, in the world's axes and about the world's origin."""
    force = pose[:3, :3] @ wrench[:3]
    return np.concatenate([force, pose[:3, :3] @ wrench[3:] + cross(pose[:3, 3], force)])
