"""Zeros that an alignment leaves free, the best fit of chains that are nearly the same, and joints that follow others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from linkwise.comparison.alignment import Alignment
from linkwise.comparison.axis_chain import JointAxes, JointAxis, Tie, alike, leaders_of, names, ties_between
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, transform

ROUNDS = 8

#: Whole turns of a joint, either way, that are tried where others follow it: a third of one turn is another place than a
#: third of two.
LAPS = 24


#: rad or m: turns that bring the followers no nearer than this are coincidence.
NEAR = 1e-2


def tool_of(first: JointAxes, second: JointAxes, alignment: Alignment) -> FloatArray:
    """The tool (4, 4) that an alignment needs: T_end2_end1."""
    pose = alignment.base
    for k in range(len(second.axes)):
        pose = pose @ alignment.motion(second, k)
    return np.asarray(inverse(pose @ second.end) @ first.end, dtype=float)


def simplest(first: JointAxes, second: JointAxes, alignment: Alignment, tol: float) -> Alignment:
    """The same alignment with the base, or the tool, the identity where the first, or last, zero can do it.

    A turn of the base about the first axis does what an offset of the first joint does, and so do the tool and the last
    joint. The offset is zero unless with one the base (the tool) is the identity.
    """
    start, base, last = alignment, alignment.base, len(second.axes) - 1
    if not _is_identity(base, tol):
        beyond = np.asarray(base @ alignment.motion(second, 0))
        changed = _with_motion(second, 0, alignment, beyond, tol)
        if changed is not None:
            alignment = replace(changed, base=np.eye(4))
        elif second.axes[0].is_ball:
            alignment = replace(alignment.with_turn(0, np.eye(3)), base=beyond)
    if last > 0 or alignment is start:
        tool = tool_of(first, second, alignment)
        if not _is_identity(tool, tol):
            turned = alignment.motion(second, last) @ second.end @ tool @ inverse(second.end)
            alignment = _with_motion(second, last, alignment, np.asarray(turned, dtype=float), tol) or alignment
    return alignment


def rebased(second: JointAxes, alignment: Alignment, value: float) -> Alignment:
    """The same alignment with another offset of the first joint; the base makes up for it."""
    axis = second.axes[0]
    base = alignment.base @ axis.displacement(float(alignment.offsets[0])) @ axis.displacement(-value)
    return replace(alignment.with_offset(0, value), base=np.asarray(base))


def _is_identity(pose: FloatArray, tol: float) -> bool:
    return bool(np.abs(pose - np.eye(4)).max() <= tol)


def _with_motion(chain: JointAxes, k: int, alignment: Alignment, motion: FloatArray, tol: float) -> Alignment | None:
    """The alignment with the offset of joint k that makes this motion (4, 4), if there is one."""
    axis = chain.axes[k]
    value: Any
    if axis.is_ball:
        value = motion[:3, :3]
    elif not axis.has_line:
        value = float(axis.direction @ motion[:3, 3])
    else:
        about, angle = axis_and_angle(motion[:3, :3])
        value = math.copysign(float(angle), float(about @ axis.direction)) if angle > 0 else 0.0
    if np.abs(axis.displacement(value) - motion).max() > tol:
        return None
    return alignment.with_turn(k, value) if axis.is_ball else alignment.with_offset(k, value)


# ── nearly the same ───────────────────────────────────────────────────────────────────────────────


def best_fit(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie] = ()) -> Alignment:
    """The alignment with the least sum of squares of what the axes miss each other by, from one that is near.

    Directions count in rad, lengths as a share of the reach; so does what the offsets of joints that follow others miss.
    Gauss-Newton over the base and all offsets; what nothing determines stays as it is.
    """
    best, least = alignment, _misses(first, second, alignment, ties)[0]
    for _ in range(ROUNDS):
        size, misses, slopes = _misses(first, second, best, ties, slopes=True)
        step = np.asarray(-np.linalg.lstsq(slopes, misses, rcond=1e-9)[0], dtype=np.float64)
        tried = _stepped(second, best, step, first.size)
        size = _misses(first, second, tried, ties)[0]
        if not size < least:
            break
        best, least = tried, size
    return best


def misfit(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie] = ()) -> float:
    """What the axes miss each other by, and the ties, as the root of the sum of squares."""
    return math.sqrt(_misses(first, second, alignment, ties)[0])


def _stepped(second: JointAxes, alignment: Alignment, step: FloatArray, size: float) -> Alignment:
    base = np.asarray(transform(_rotation(step[:3]), size * step[3:6]) @ alignment.base, dtype=float)
    offsets, turns, facing = alignment.offsets.copy(), alignment.ball_rotations.copy(), alignment.base[:3, :3]
    for k, (axis, at) in enumerate(zip(second.axes, _columns(second), strict=True)):
        if axis.is_ball:
            turns[k] = facing.T @ _rotation(step[at]) @ facing @ turns[k]
        else:
            offsets[k] += step[at][0]
        facing = facing @ alignment.motion(second, k)[:3, :3]
    return Alignment(base, alignment.signs, offsets, turns)


def _rotation(vector: FloatArray) -> FloatArray:
    """The rotation (3, 3) of a rotation vector (3,)."""
    angle = float(np.linalg.norm(vector))
    return np.asarray(rotation_about(vector / angle, angle), dtype=float) if angle > 0 else np.eye(3)


def _columns(chain: JointAxes) -> list[slice]:
    """The places of each joint among all that may change, behind the six of the base: one, or three of a ball joint."""
    ends = list(accumulate((3 if axis.is_ball else 1 for axis in chain.axes), initial=6))
    return [slice(*pair) for pair in pairwise(ends)]


def _misses(
    first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie], *, slopes: bool = False
) -> tuple[float, FloatArray, FloatArray]:
    """Their sum of squares, what each axis and each tie misses, and how that changes with base and offsets."""
    size, places = first.size, _columns(second)
    values, changes = [], []
    twists = np.zeros((places[-1].stop, 6))  # turning, shift of the world's origin: of the base, then of each joint
    twists[:3, :3], twists[3:6, 3:] = np.eye(3), size * np.eye(3)
    pose = alignment.base
    for k, (axis, wanted) in enumerate(zip(second.axes, first.axes, strict=True)):
        u, p = pose[:3, :3] @ axis.direction, pose[:3, :3] @ axis.point + pose[:3, 3]
        across = np.eye(3) - (0.0 if axis.is_ball else np.outer(wanted.direction, wanted.direction))
        if not axis.is_ball:
            values.append(u - alignment.signs[k] * wanted.direction)
            if slopes:
                changes.append(np.cross(twists[:, :3], u).T)
        if axis.has_line:
            values.append(across @ (p - wanted.point) / size)
            if slopes:
                changes.append(across @ (np.cross(twists[:, :3], p) + twists[:, 3:]).T / size)
        along = axis.pitch if axis.has_line else 1.0
        turning = np.eye(3) if axis.is_ball else u[None] * axis.has_line
        twists[places[k]] = np.concatenate([turning, np.cross(p, turning) + along * u], axis=1)
        pose = pose @ alignment.motion(second, k)
    for tie in ties:
        axis = second.axes[tie.joint]
        unit = 1.0 if axis.has_line else size
        values.append(np.array([tie.error(axis.periodic, alignment.signs, alignment.offsets) / unit]))
        row = np.zeros((1, len(twists)))
        row[:, places[tie.joint]], row[:, places[tie.leader]] = 1.0 / unit, -tie.ratios[1] / unit
        changes.append(row)
    misses = np.concatenate(values)
    return float(misses @ misses), misses, np.concatenate(changes) if slopes else np.zeros((0, 0))


def follower_differences(first: Sequence[JointAxis], second: Sequence[JointAxis]) -> list[str]:
    """Joints that follow another one in one description and not in the other, or by another ratio."""
    leaders = [leaders_of(axes) for axes in (first, second)]
    if not alike(*leaders):
        lines = []
        for k, pair in enumerate(zip(*leaders, strict=True)):
            if pair[0] != pair[1]:
                texts = ["has a coordinate of its own" if j == k else f"follows joint {j + 1}" for j in pair]
                lines.append(f"joint {k + 1} ({names(first[k], second[k])}): {texts[0]} against {texts[1]}")
        return lines
    return [
        f"ratio by which joint {tie.joint + 1} follows joint {tie.leader + 1}: {abs(left):g} against {abs(right):g}"
        for tie in ties_between(first, second)
        for left, right in [tie.ratios]
        if not np.isclose(abs(left), abs(right), rtol=1e-9, atol=0)
    ]


def with_followers(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> Alignment:
    """The alignment with the zeros of the first and last joint, which are free, chosen so that what follows fits.

    Whole turns of the leaders are then chosen so that this holds for all their followers.
    """
    last = len(first.axes) - 1
    for tie in ties:
        k, j, ratio = tie.joint, tie.leader, tie.ratios[1]
        chosen = next((joint for joint in (k, j) if joint in {0, last}), None)
        if chosen is None or not ratio:
            continue
        shift = tie.shift(alignment.signs)
        value = ratio * alignment.offsets[j] + shift if chosen == k else (alignment.offsets[k] - shift) / ratio
        alignment = rebased(second, alignment, float(value)) if chosen == 0 else alignment.with_offset(-1, float(value))
    return _lapped(second, alignment, ties)


def tie_error(second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> float:
    """By how much the offsets fulfil the worst tie not, rad or m."""
    errors = (tie.error(second.axes[tie.joint].periodic, alignment.signs, alignment.offsets) for tie in ties)
    return max(map(abs, errors), default=0.0)


def _lapped(second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> Alignment:
    """The alignment with whole turns of revolute leaders with which all their followers are best."""
    for j in sorted({tie.leader for tie in ties if second.axes[tie.leader].periodic}):
        following = [tie for tie in ties if tie.leader == j]
        turned = alignment.offsets[j] + 2 * math.pi * np.arange(-LAPS, LAPS + 1)
        candidates = [alignment.with_offset(j, value) for value in sorted(turned.tolist(), key=abs)]
        errors = [tie_error(second, candidate, following) for candidate in candidates]
        if min(errors) <= NEAR:
            alignment = next(c for c, error in zip(candidates, errors, strict=True) if error <= max(2 * min(errors), 1e-7))
    return alignment
