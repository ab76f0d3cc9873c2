"""Velocity and acceleration of a frame, from the base outward: the pass that confirms what was solved with a Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.kinematics.forward import body_poses, frame_of
from linkwise.model.coupling import coupling
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array


def frame_motion(tree: Tree, q: Array, qd: Array, qdd: Array | None, link: int | str, frame: str) -> tuple[Array, Array]:
    """Velocity and acceleration (6,) of a frame for coordinates q, speeds qd and accelerations qdd (n,).

    From each body to the next: w = w' + z qd, v = v' + w' x r + l qd, and their derivatives (J. J. Craig, *Introduction to
    Robotics*, sections 5.6 and 6.3). Linear rows first, as in `jacobian`; in the axes of the frame ("body") the acceleration
    is the rate of the velocity's components, as with `jacobian_dot`. Without qdd the acceleration is zero.
    """
    if tree.coupled:
        how = coupling(tree)
        free = None if qdd is None else how.speeds(qdd)
        return frame_motion(how.free, how.coordinates(q), how.speeds(qd), free, link, frame)
    made = moving_bodies(tree)
    end, t = frame_of(tree, made, link)
    path = made.path(end)
    poses = body_poses(made, q, path)
    zero, known = np.zeros(3), qdd is not None
    at, w, v, dw, dv = zero, zero, zero, zero, zero
    for k in path:
        pose = poses[k]
        arm, turn, slide, turn_rate, slide_rate = pose[:3, 3] - at, zero, zero, zero, zero
        for freedom in made.bodies[k].freedoms:
            z, along, i = pose[:3, :3] @ freedom.angular, pose[:3, :3] @ freedom.linear, freedom.speed
            turn, slide = turn + z * qd[i], slide + along * qd[i]
            if qdd is not None:
                turn_rate, slide_rate = turn_rate + z * qdd[i], slide_rate + along * qdd[i]
        if known:
            dv = dv + cross(dw, arm) + cross(w, cross(w, arm) + slide) + slide_rate + cross(w + turn, slide)
            dw = dw + turn_rate + cross(w + turn, turn)
        v, w, at = v + cross(w, arm) + slide, w + turn, pose[:3, 3]
    tip = poses[end] @ t
    arm = tip[:3, 3] - at
    if known:
        dv = dv + cross(dw, arm) + cross(w, cross(w, arm))
    v = v + cross(w, arm)
    if frame == "base":
        return np.concatenate([v, w]), np.concatenate([dv, dw])
    dv = dv - cross(w, v) if known else dv
    axes = tip[:3, :3].T
    return _turned(axes, v, w), _turned(axes, dv, dw)


def _turned(axes: Array, linear: Any, angular: Any) -> Array:
    return np.concatenate([axes @ linear, axes @ angular])
