"""Forward kinematics: where links and tool are for given joint coordinates."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.model.bodies import Bodies, Body
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform


@algorithm(inputs={"q": "nq"}, outputs={"T": "4 4"})
def forward_kinematics(tree: Tree, q: Array, *, link: int | str = -1) -> Array:
    """T_world_link (4, 4): the product of the placements from the base out (J. J. Craig, 1986, eq. 3.8)."""
    made = moving_bodies(tree)
    body, t = frame_of(tree, made, link)
    return np.asarray(body_poses(made, q, made.path(body))[body] @ t)


@algorithm(inputs={"q": "nq"}, outputs={"T": "L 4 4"})
def link_poses(tree: Tree, q: Array) -> Array:
    """T_world_link (L, 4, 4) of every link."""
    made = moving_bodies(tree)
    poses = body_poses(made, q)
    return np.array([poses[body] @ t for body, t in made.frames])


def body_poses(made: Bodies, q: Array, which: tuple[int, ...] | None = None) -> dict[int, Array]:
    """T_world_body (4, 4) of the bodies asked for (all by default); -1 is the ground."""
    poses: dict[int, Array] = {-1: np.eye(4)}
    for k in range(len(made.bodies)) if which is None else which:
        body = made.bodies[k]
        poses[k] = place(body, poses[body.parent], q)
    return poses


def place(body: Body, parent: Array, q: Array) -> Array:
    """T_world_body from the pose of the parent and the coordinates (nq,)."""
    t = parent @ body.placement
    if body.free:
        return np.asarray(t @ transform(quaternion_rotation(q[3:7]), q[:3]))
    rotation, position, own = t[:3, :3], t[:3, 3], q[body.position]
    if body.slides:
        position = position + rotation[:, 2] * (body.pitch * own)
    if body.turns:
        c, s = body.cos_sin(own)
        x, y = rotation[:, 0], rotation[:, 1]
        rotation = np.stack([x * c + y * s, y * c - x * s, rotation[:, 2]], axis=1)
    return transform(rotation, position)


def frame_of(tree: Tree, made: Bodies, link: int | str) -> tuple[int, FloatArray]:
    """The body that carries a frame, and T_body_frame: -1 is the tool, another index or a name that link's own frame."""
    return made.tool if link == -1 else made.frames[tree.link_index(link)]
