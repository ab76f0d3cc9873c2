"""Poses of bodies, and of what sits on them, in steps."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform
from linkwise.sweeps.drivers import Row


def body_pose(body: Row) -> Array:
    """Pose of a body in the world (3, 4), from its parent's; computed once, at the first step that asks."""
    if "world" not in body:
        joint, before = body.joint, body.parent["world"]
        fixed = before[:, :3] @ joint.fixed
        origin = before[:, 3] + before[:, :3] @ joint.shift + fixed @ joint.slide
        body["world"] = np.concatenate([fixed @ joint.turn, origin[:, None]], axis=1)
    return body["world"]


def framed(row: Row) -> Array:
    """Pose (4, 4) of a link or frame in the world, from its body's."""
    world = row.body["world"]
    pose = row.pose
    position = world[:, 3] + world[:, :3] @ pose[:3, 3]
    return transform(world[:, :3] @ pose[:3, :3], position)
