"""The geometric Jacobian: joint speeds to the velocity of a frame."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.errors import ArgumentError, choices
from linkwise.kinematics.forward import body_poses, frame_of
from linkwise.model.bodies import Freedom
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank

FRAMES = ("base", "body")


@algorithm(inputs={"q": "nq"}, outputs={"J": "6 nv"})
def jacobian(tree: Tree, q: Array, *, link: int | str = -1, frame: str = "base") -> Array:
    """J (6, nv): rows 0-2 the linear velocity of the frame's origin, rows 3-5 the angular velocity, per speed.

    Column i is [z_i x (p - o_i); z_i] for a revolute joint and [z_i; 0] for a prismatic one (D. E. Whitney, "The mathematics
    of coordinated control of prosthetic arms and manipulators", 1972).
    """
    check_frame(frame)
    made = moving_bodies(tree)
    end, t = frame_of(tree, made, link)
    path = made.path(end)
    poses = body_poses(made, q, path)
    tip = poses[end] @ t
    jac = blank(6, tree.nv)
    for k in path:
        for freedom in made.bodies[k].freedoms:
            jac[:, freedom.speed] = column(freedom, poses[k], tip[:3, 3])
    return jac if frame == "base" else in_body_axes(tip[:3, :3], jac)


def column(freedom: Freedom, pose: Array, point: Array) -> Array:
    """Velocity (6,) of a point (3,) and of its carrier per unit of one speed, world axes."""
    axis, along = pose[:3, :3] @ freedom.angular, pose[:3, :3] @ freedom.linear
    return np.concatenate([cross(axis, point - pose[:3, 3]) + along, axis])


def in_body_axes(rotation: Array, jac: Array) -> Array:
    """A Jacobian (6, nv) in the axes that R_world_body (3, 3) describes."""
    return np.concatenate([rotation.T @ jac[:3], rotation.T @ jac[3:]])


def check_frame(frame: str) -> None:
    """Raise `ArgumentError` unless the frame is one there is."""
    if frame not in FRAMES:
        raise ArgumentError(f"frame is {frame!r}; expected {choices(FRAMES)}")
