"""Axes that do not turn with their joint: bodies whose inertia is turned, instead of all that passes between them.

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

from linkwise.kinematics.joint_transform import JointTransform, about_z, is_zero, joint_transform, turned_inertia
from linkwise.model.bodies import Bodies, Body
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform


class _Lag(NamedTuple):
    """By what angle a body is turned against the axes that it is described in: its variable and its constant part."""

    angle: Any
    constant: Any
    turn: Array


def carried_axes(made: Bodies, q: Array, tips: bool = True) -> tuple[Bodies, list[JointTransform]]:
    """The bodies in axes that turn with the joint or not, whichever is shorter, and how these axes sit on each other.

    Joint axes stay along z, so freedoms are as before. Inertias, rotors and the tool's frame are in the new axes, which
    makes some of them functions of q; `Bodies.frames` is empty.

    Parameters
    ----------
    made : Bodies
        In axes that turn.
    q : ndarray (nq,)
        The coordinates.
    tips : bool
        Whether that may be done for bodies that carry none. It pays where forces follow from speeds and accelerations, not
        where composite inertias are passed on.
    """
    still = resting(made, tips)
    bodies: list[Body] = []
    joints: list[JointTransform] = []
    lags: list[_Lag | None] = []
    for k, body in enumerate(made.bodies):
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
    return _described(made, bodies, lags), joints


def resting(made: Bodies, tips: bool = True) -> set[int]:
    """Which bodies are described in axes that do not turn with their joint.

    Not those before which all axes are parallel (see `level`): there is too little to turn.
    """
    children = made_children(made)
    flat = level(made)
    found = set()
    for k, body in enumerate(made.bodies):
        turning = (body.turns or body.parent in found) and (tips or children[k])
        if turning and not (body.free or flat[k]) and all(parallel(made.bodies[child]) for child in children[k]):
            found.add(k)
    return found


def level(made: Bodies) -> list[bool]:
    """Of each body, whether its axis and those of all bodies before it are parallel: it turns about that direction alone."""
    found: list[bool] = []
    for body in made.bodies:
        found.append(not body.free and (body.parent < 0 or (found[body.parent] and parallel(body))))
    return found


def parallel(body: Body) -> bool:
    """Whether a body's axis is known to be parallel to its parent's, whatever the values of symbols."""
    return not body.free and all(is_zero(value) for value in (*body.placement[:2, 2], *body.placement[2, :2]))


def made_children(made: Bodies) -> list[list[int]]:
    """The bodies that each body carries."""
    found: list[list[int]] = [[] for _ in made.bodies]
    for k, body in enumerate(made.bodies):
        if body.parent >= 0:
            found[body.parent].append(k)
    return found


def _joint(body: Body, q: Array, before: _Lag | None) -> tuple[JointTransform, _Lag | None]:
    """How a body's own axes sit on those that its parent is described in, and how far they are turned."""
    joint = joint_transform(body, q)
    if before is None:
        return joint, _Lag(q[body.position], body.angle, joint.turn) if body.turns else None
    way = 1.0 if body.placement[2, 2] > 0 else -1.0
    angle, constant = way * before.angle, way * before.constant
    if body.turns:
        angle, constant = angle + q[body.position], constant + body.angle
    planar = replace(body, angle=constant).cos_sin(angle)
    made = replace(joint, shift=before.turn @ joint.shift, turn=about_z(*planar), planar=planar)
    return made, _Lag(angle, constant, made.turn)


def _described(made: Bodies, bodies: list[Body], lags: list[_Lag | None]) -> Bodies:
    """The bodies with their rotors and the tool in the new axes."""
    rotors = []
    for rotor in made.rotors:
        lag = lags[rotor.body]
        rotors.append(rotor if lag is None else replace(rotor, turning=lag.turn @ rotor.turning))
    body, t_body_tool = made.tool
    lag = lags[body] if body >= 0 else None
    if lag is not None:
        t_body_tool = np.asarray(transform(lag.turn, None)) @ t_body_tool
    return replace(made, bodies=tuple(bodies), frames=(), rotors=tuple(rotors), tool=(body, t_body_tool))
