"""Position, velocity and acceleration of every link as 4x4 matrices."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import Tree
from linkwise.spatial.matrix_method import velocity_matrix
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.sweeps.drivers import Row, Sweeps, body_pose, framed, looped
from linkwise.sweeps.unrolled import unrolled


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"T": "L 4 4", "W": "L 4 4", "H": "L 4 4"})
def motion(tree: Tree, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
    """Return T, W and H (L, 4, 4) of every link, absolute, in the world frame.

    A point p = (x, y, z, 1) of link k, in world coordinates, has velocity W[k] p and acceleration H[k] p. The joint
    adds W = L qd and H = L qdd + L^2 qd^2 to its carrier's by Coriolis' theorem (G. Legnani et al., "A homogeneous
    matrix approach to 3D kinematics and dynamics", Mech. Mach. Theory 31(5), 1996, part 1).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> T, W, H = arm.motion([0.0, 0.0], [1.0, 0.0], [0.0, 0.0])
    >>> (W[1] @ T[1] @ [0, 0, 0, 1]).round(9) + 0.0
    array([0., 2., 0., 0.])
    >>> (H[1] @ T[1] @ [0, 0, 0, 1]).round(9) + 0.0
    array([-2.,  0.,  0.,  0.])
    """
    bodies = moving_bodies(tree)
    joints, poses = joint_transforms(bodies, q), body_poses(bodies, q)
    T, W, H = unrolled("motion", tree, bodies, joints, q, qd, qdd, poses=poses)
    return T, W, H


@looped("motion")
def motion_in_steps(sweeps: Sweeps) -> None:
    """Pose, velocity and acceleration matrices of every link (G. Legnani et al., 1996)."""
    sweeps.ground(world=np.eye(4)[:3], angular=np.zeros(3), linear=np.zeros(3), H=np.zeros((3, 4)))

    def outward(body: Row) -> None:
        world, joint = body_pose(body), body.joint
        w = velocity_matrix(body.parent["angular"], body.parent["linear"])
        rate = _at_origin(world, joint.rate(body.read("qd")))
        rise = _at_origin(world, joint.rate(body.read("qdd")) + joint.bias(body.read("qd")))
        relative = velocity_matrix(rate[3:], rate[:3])
        h = velocity_matrix(rise[3:], rise[:3]) + relative @ relative + 2.0 * (w @ relative)
        body["angular"], body["linear"] = body.parent["angular"] + rate[3:], body.parent["linear"] + rate[:3]
        body["H"] = body.parent["H"] + h[:3]

    def link(row: Row) -> None:
        row.write("T", framed(row), "v . .")
        row.write("W", velocity_matrix(row.body["angular"], row.body["linear"]), "v . .")
        row.write("H", np.concatenate([row.body["H"], np.zeros((1, 4))]), "v . .")

    sweeps.outward(outward)
    sweeps.outward(link, "links")


def _at_origin(world: Array, motion: Array) -> Array:
    """A motion (6,) of a body, in the world's axes and about the world's origin."""
    angular = world[:, :3] @ motion[3:]
    return np.concatenate([world[:, :3] @ motion[:3] + cross(world[:, 3], angular), angular])
