"""The geometric Jacobian: joint speeds to the velocity of a frame."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.errors import ArgumentError, choices
from linkwise.kinematics.forward import body_poses, frame_of
from linkwise.model.bodies import Body, moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array

FRAMES = ("base", "body")


@algorithm(inputs={"q": "n"}, outputs={"J": "6 n"})
def jacobian(tree: Tree, q: Array, *, link: int | str = -1, frame: str = "base") -> Array:
    """J (6, n): rows 0-2 the linear velocity of the frame's origin, rows 3-5 the angular velocity, per joint speed.

    Column i is [z_i x (p - o_i); z_i] for a revolute joint and [z_i; 0] for a prismatic one (D. E. Whitney, "The mathematics
    of coordinated control of prosthetic arms and manipulators", 1972).
    """
    check_frame(frame)
    made = moving_bodies(tree)
    end, t = frame_of(tree, made, link)
    path = made.path(end)
    poses = body_poses(made, q, path)
    tip = poses[end] @ t
    jac = blank(tree.n)
    for k in path:
        jac[:, made.bodies[k].coordinate] = column(made.bodies[k], poses[k], tip[:3, 3])
    return jac if frame == "base" else in_body_axes(tip[:3, :3], jac)


def blank(n: int) -> Array:
    """Zeros (6, n) to be filled with scalars of any kind."""
    made = np.zeros((6, n), dtype=object)
    made[:] = 0.0
    return made


def column(body: Body, pose: Array, point: Array) -> Array:
    """Velocity (6,) of a point (3,) and of its carrier per speed of one joint, world axes."""
    z = pose[:3, 2]
    linear, angular = np.zeros(3), np.zeros(3)
    if body.turns:
        linear, angular = cross(z, point - pose[:3, 3]), z
    if body.slides:
        linear = linear + body.pitch * z
    return np.concatenate([linear, angular])


def in_body_axes(rotation: Array, jac: Array) -> Array:
    """A Jacobian (6, n) in the axes that R_world_body (3, 3) describes."""
    return np.concatenate([rotation.T @ jac[:3], rotation.T @ jac[3:]])


def check_frame(frame: str) -> None:
    """Raise `ArgumentError` unless the frame is one there is."""
    if frame not in FRAMES:
        raise ArgumentError(f"frame is {frame!r}; expected {choices(FRAMES)}")
