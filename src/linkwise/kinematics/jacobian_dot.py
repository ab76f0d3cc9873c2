"""The rate of the Jacobian along a motion."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.forward_kinematics import body_poses, frame_of
from linkwise.kinematics.jacobian import check_frame
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.sweeps.drivers import Row, Sweeps, body_pose, framed, looped
from linkwise.sweeps.unrolled import unrolled


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"Jd": "6 nv"})
def jacobian_dot(tree: Tree, q: Array, qd: Array, *, link: int | str = "tool", frame: str = "world") -> Array:
    """dJ/dt (6, nv) at velocities qd, so that the frame's acceleration is J qdd + Jd qd.

    Each column is differentiated as it stands, with dz_i/dt = w_i x z_i, and w_i, v_i the velocities of body i:
    [(w_i x z_i) x (p - o_i) + z_i x (v - v_i); w_i x z_i]. In body axes, d(R'J)/dt = R'(Jd - w~ J).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.jacobian_dot([0.0, 0.0], [1.0, 0.0])[:3] + 0.0
    array([[-2., -1.],
           [ 0.,  0.],
           [ 0.,  0.]])
    """
    check_frame(frame)
    bodies = moving_bodies(tree)
    options = {} if frame == "world" else {"frame": frame}
    poses = body_poses(bodies, q, bodies.path(frame_of(tree, bodies, link)[0]))
    joints = joint_transforms(bodies, q)
    return np.asarray(unrolled("jacobian_dot", tree, bodies, joints, q, qd, poses=poses, link=link, **options))


@looped("jacobian_dot", path=True)
def jacobian_dot_in_steps(sweeps: Sweeps, *, frame: str = "world") -> None:
    """The rate of each column."""
    zero = np.zeros(3)
    sweeps.ground(world=np.eye(4)[:3], omega=zero, speed=zero)
    sweeps.temporary("tip", 3, 4)
    sweeps.temporary("tip velocity", 6)

    def outward(body: Row) -> None:
        before, world = body.parent["world"], body_pose(body)
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
        for freedom, rate in zip(body.joint.freedoms, body.joint.rates(body.read("qd")), strict=True):
            axis, along = turn @ freedom.angular, turn @ freedom.linear
            turned = cross(omega, axis)
            linear = cross(turned, arm) + cross(axis, velocity[:3] - body["speed"]) + cross(omega, along)
            linear = linear + cross(turn @ rate.angular, arm) + turn @ rate.linear
            turned = turned + turn @ rate.angular
            if frame == "body":
                still = cross(axis, arm) + along
                linear, turned = linear - cross(velocity[3:], still), turned - cross(velocity[3:], axis)
                linear, turned = tip[:, :3].T @ linear, tip[:, :3].T @ turned
            columns.append(np.concatenate([linear, turned]))
        body.write("Jd", np.stack(columns, axis=1), ". v")

    sweeps.outward(outward)
    sweeps.outward(tip, "frames")
    sweeps.outward(column)
