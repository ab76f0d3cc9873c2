"""Axes that do not rotate with their joint: the inertia is rotated instead of the vectors passed between bodies.

The axes in which a body is described need not turn with it. In the axes in which its joint axis lies still on the parent the
constants of the body become functions of its angle, but velocities, accelerations and forces pass between it and the parent
without a rotation, and a further body with a parallel axis is turned by the sum of the angles. That takes fewer operations
where nothing beyond the body needs its own axes: for the last body of a branch, and for all but the last of several with
parallel axes. (Sums of angles for parallel axes: W. Khalil, J. F. Kleinfinger, "Minimum operations and minimum parameters of
the dynamic models of tree structure robots", IEEE J. Robotics and Automation 3(6), 1987.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwise.model.body import Bodies, Body, cos_sin_of_sum, rotation_of
from linkwise.model.body_transform import JointTransform, joint_transform, turned_inertia
from linkwise.spatial.scalar import Array, FloatArray, is_zero
from linkwise.spatial.transform import transform


class _Lag(NamedTuple):
    """Angle of a body against its describing axes: variable and constant part."""

    angle: Any
    constant: Any
    turn: Array


def carried_axes(moving: Bodies, q: Array, tips: bool = True, frames: bool = False) -> tuple[Bodies, list[JointTransform]]:
    """Bodies in axes that rotate with the joint or not, whichever is shorter, and the transforms between these axes.

    Joint axes stay along z, so freedoms are as before. Inertias, rotors and the tool's frame are in the new axes, which
    makes some of them functions of q; so are the links' frames where they are asked for, and else left out.

    Parameters
    ----------
    moving : Bodies
        In axes that turn.
    q : ndarray (nq,)
        The coordinates.
    tips : bool
        Whether that may be done for bodies that carry none. It pays where forces follow from velocities and accelerations,
        not where composite inertias are passed on.
    frames : bool
        Whether the links' frames are asked for.
    """
    still = resting(moving, tips)
    bodies: list[Body] = []
    joints: list[JointTransform] = []
    lags: list[_Lag | None] = []
    for k, body in enumerate(moving.bodies):
        before = lags[body.parent] if body.parent >= 0 else None
        joint, lag = _joint(body, q, before)
        if k in still and lag is not None and joint.planar is not None:
            bodies.append(replace(body, inertia=turned_inertia(body.inertia, *joint.planar)))
            joints.append(replace(joint, turn=np.eye(3), planar=None))
            lags.append(lag)
        else:
            bodies.append(body)
            joints.append(joint)
            lags.append(None)
    return _described(moving if frames else replace(moving, frames=()), bodies, lags), joints


def resting(bodies: Bodies, tips: bool = True) -> set[int]:
    """Mark bodies described in axes that do not rotate with their joint.

    Not those before which all axes are parallel (see `level`): there is too little to turn.
    """
    children = made_children(bodies)
    flat = level(bodies)
    results = set()
    for k, body in enumerate(bodies.bodies):
        turning = (body.turn or body.parent in results) and (tips or children[k])
        if turning and body.joint is None and not flat[k] and all(parallel(bodies.bodies[child]) for child in children[k]):
            results.add(k)
    return results


def level(bodies: Bodies) -> list[bool]:
    """Mark bodies whose axis and all axes before it are parallel: they rotate about that direction only."""
    results: list[bool] = []
    for body in bodies.bodies:
        results.append(body.joint is None and (body.parent < 0 or (results[body.parent] and parallel(body))))
    return results


def parallel(body: Body) -> bool:
    """True if a body's axis is known to be parallel to its parent's for all values of symbols."""
    return body.joint is None and all(is_zero(value) for value in (*body.placement[:2, 2], *body.placement[2, :2]))


def made_children(bodies: Bodies) -> list[list[int]]:
    """The bodies that each body carries."""
    results: list[list[int]] = [[] for _ in bodies.bodies]
    for k, body in enumerate(bodies.bodies):
        if body.parent >= 0:
            results[body.parent].append(k)
    return results


def _joint(body: Body, q: Array, before: _Lag | None) -> tuple[JointTransform, _Lag | None]:
    """Transform from the parent's describing axes to the body's own axes, and the angle between its two sets of axes."""
    joint = joint_transform(body, q)
    if before is None:
        return joint, _Lag(q[body.position], body.angle, joint.turn) if body.turn else None
    sense = 1.0 if body.placement[2, 2] > 0 else -1.0
    angle, constant = sense * before.angle, sense * before.constant
    if body.turn:
        angle, constant = angle + q[body.position], constant + body.angle
    planar = cos_sin_of_sum(angle, constant)
    result = replace(joint, shift=before.turn @ joint.shift, turn=rotation_of(*planar), planar=planar)
    return result, _Lag(angle, constant, result.turn)


def _described(moving: Bodies, bodies: list[Body], lags: list[_Lag | None]) -> Bodies:
    """The bodies with their rotors, the links' frames and the tool in the new axes."""

    def turned(frame: tuple[int, FloatArray]) -> tuple[int, FloatArray]:
        body, t = frame
        lag = lags[body] if body >= 0 else None
        return frame if lag is None else (body, np.asarray(transform(lag.turn, None)) @ t)

    rotors = []
    for rotor in moving.rotors:
        lag = lags[rotor.body]
        rotors.append(rotor if lag is None else replace(rotor, turning=lag.turn @ rotor.turning))
    frames = tuple(map(turned, moving.frames))
    return replace(moving, bodies=tuple(bodies), frames=frames, rotors=tuple(rotors), tool=turned(moving.tool))
