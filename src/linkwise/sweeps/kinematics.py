"""Kinematics in steps over bodies: poses, Jacobians and their rates, motion of links."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spatial.matrix_method import velocity_matrix
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform
from linkwise.sweeps.declaration import looped
from linkwise.sweeps.drivers import Row, Sweeps, at_rest

_LAST = np.array([[0.0, 0.0, 0.0, 1.0]])


def place(body: Row) -> Array:
    """Pose of a body in the world (3, 4), from its parent's."""
    joint, before = body.joint, body.parent["world"]
    body["world"] = np.concatenate(
        [before[:, :3] @ joint.rotation, (before[:, 3] + before[:, :3] @ joint.origin)[:, None]], axis=1
    )
    return body["world"]


def framed(row: Row) -> Array:
    """Pose (4, 4) of a link or frame in the world, from its body's."""
    world = row.body["world"]
    pose = row.pose
    position = world[:, 3] + world[:, :3] @ pose[:3, 3]
    return transform(world[:, :3] @ pose[:3, :3], position)


@looped("forward_kinematics", path=True)
def forward_kinematics(sweeps: Sweeps) -> None:
    """T_world_frame of the tool or a link: the product of the placements."""
    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(lambda body: at_rest(place(body)))
    sweeps.outward(lambda frame: frame.write("T", framed(frame), ". ."), "frames")


@looped("link_poses")
def link_poses(sweeps: Sweeps) -> None:
    """T_world_link of every link."""
    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(lambda body: at_rest(place(body)))
    sweeps.outward(lambda link: link.write("T", framed(link), "r . ."), "links")


@looped("jacobian", path=True)
def jacobian(sweeps: Sweeps, *, frame: str = "world") -> None:
    """Column by column from the poses of the bodies (D. E. Whitney, 1972)."""
    sweeps.ground(world=np.eye(4)[:3])
    sweeps.temporary("tip", 3, 4)
    sweeps.outward(lambda body: at_rest(place(body)))
    sweeps.outward(lambda row: row.write("tip", framed(row)[:3], ". ."), "frames")

    def column(body: Row) -> None:
        tip, world = body.read("tip", ". ."), body["world"]
        turn = tip[:, :3].T @ world[:, :3] if frame == "body" else world[:, :3]
        arm = tip[:, 3] - world[:, 3]
        arm = tip[:, :3].T @ arm if frame == "body" else arm
        columns = [_column(turn, arm, freedom.linear, freedom.angular) for freedom in body.joint.freedoms]
        body.write("J", np.stack(columns, axis=1), ". v")

    sweeps.outward(column)


def _column(turn: Array, arm: Array, linear: Array, angular: Array) -> Array:
    axis = turn @ angular
    return np.concatenate([cross(axis, arm) + turn @ linear, axis])


@looped("jacobian_dot", path=True)
def jacobian_dot(sweeps: Sweeps, *, frame: str = "world") -> None:
    """The rate of each column: see `linkwise.kinematics.jacobian_dot`."""
    zero = np.zeros(3)
    sweeps.ground(world=np.eye(4)[:3], omega=zero, speed=zero)
    sweeps.temporary("tip", 3, 4)
    sweeps.temporary("tip velocity", 6)

    def outward(body: Row) -> None:
        before, world = body.parent["world"], place(body)
        omega, speed = body.parent["omega"], body.parent["speed"]
        speed = speed + cross(omega, world[:, 3] - before[:, 3])
        rate = body.joint.rate(body.read("qd"))
        body["omega"] = omega + world[:, :3] @ rate[3:]
        body["speed"] = speed + world[:, :3] @ rate[:3]

    def tip(row: Row) -> None:
        pose = framed(row)
        row.write("tip", pose[:3], ". .")
        omega = row.body["omega"]
        linear = row.body["speed"] + cross(omega, pose[:3, 3] - row.body["world"][:, 3])
        row.write("tip velocity", np.concatenate([linear, omega]), ".")

    def column(body: Row) -> None:
        tip, velocity, world, omega = body.read("tip", ". ."), body.read("tip velocity", "."), body["world"], body["omega"]
        arm, turn = tip[:, 3] - world[:, 3], world[:, :3]
        columns = []
        for freedom in body.joint.freedoms:
            axis, along = turn @ freedom.angular, turn @ freedom.linear
            turned = cross(omega, axis)
            linear = cross(turned, arm) + cross(axis, velocity[:3] - body["speed"]) + cross(omega, along)
            if frame == "body":
                still = cross(axis, arm) + along
                linear, turned = linear - cross(velocity[3:], still), turned - cross(velocity[3:], axis)
                linear, turned = tip[:, :3].T @ linear, tip[:, :3].T @ turned
            columns.append(np.concatenate([linear, turned]))
        body.write("Jd", np.stack(columns, axis=1), ". v")

    sweeps.outward(outward)
    sweeps.outward(tip, "frames")
    sweeps.outward(column)


@looped("motion")
def motion(sweeps: Sweeps) -> None:
    """Pose, velocity and acceleration matrices of every link (G. Legnani et al., 1996)."""
    sweeps.ground(world=np.eye(4)[:3], angular=np.zeros(3), linear=np.zeros(3), H=np.zeros((3, 4)))

    def outward(body: Row) -> None:
        world, joint = place(body), body.joint
        w = _matrix(body.parent["angular"], body.parent["linear"])
        rate = _at_origin(world, joint.rate(body.read("qd")))
        rise = _at_origin(world, joint.rate(body.read("qdd")))
        relative = velocity_matrix(rate[3:], rate[:3])
        h = velocity_matrix(rise[3:], rise[:3]) + relative @ relative + 2.0 * (w @ relative)
        body["angular"], body["linear"] = body.parent["angular"] + rate[3:], body.parent["linear"] + rate[:3]
        body["H"] = body.parent["H"] + h[:3]

    def link(row: Row) -> None:
        row.write("T", framed(row), "r . .")
        row.write("W", _matrix(row.body["angular"], row.body["linear"]), "r . .")
        row.write("H", np.concatenate([row.body["H"], np.zeros((1, 4))]), "r . .")

    sweeps.outward(outward)
    sweeps.outward(link, "links")


def _matrix(angular: Array, linear: Array) -> Any:
    return velocity_matrix(angular, linear)


def _at_origin(world: Array, motion: Array) -> Array:
    """A motion (6,) of a body, in the world's axes and about the world's origin."""
    angular = world[:, :3] @ motion[3:]
    return np.concatenate([world[:, :3] @ motion[:3] + cross(world[:, 3], angular), angular])
