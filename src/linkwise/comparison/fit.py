"""What an alignment leaves free made simple, whole turns of followed joints chosen, and near alignments fitted best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkwise.comparison.alignment import Alignment
from linkwise.comparison.axis_chain import Axis, Chain, Tie, alike, leaders_of, ties_between
from linkwise.comparison.invariants import names
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, transform

ROUNDS = 8

LAPS = 24
"""Whole turns of a joint, either way, that are tried where others follow it: a third of one turn is another place than a
third of two."""


NEAR = 1e-2
"""rad or m: turns that bring the followers no nearer than this are coincidence."""


def tool_of(first: Chain, second: Chain, alignment: Alignment) -> FloatArray:
    """The tool (4, 4) that an alignment needs: T_end2_end1."""
    pose = alignment.base
    for k, offset in enumerate(alignment.offsets.tolist()):
        pose = pose @ second.axes[k].displacement(offset)
    return np.asarray(inverse(pose @ second.end) @ first.end, dtype=float)


def simplest(first: Chain, second: Chain, alignment: Alignment, tol: float) -> Alignment:
    """The same alignment with the base, or the tool, the identity where the first, or last, zero can do it.

    A turn of the base about the first axis does what an offset of the first joint does, and so do the tool and the last
    joint. The offset is zero unless with one the base (the tool) is the identity.
    """
    offsets = alignment.offsets.copy()
    beyond = alignment.base @ second.axes[0].displacement(float(offsets[0]))
    angle = _value_of(second, 0, beyond, tol)
    base = alignment.base
    if angle is not None and not _is_identity(base, tol):
        offsets[0], base = angle, np.eye(4)
    last = len(offsets) - 1
    if last > 0 or base is alignment.base:
        tool = tool_of(first, second, Alignment(base, alignment.signs, offsets))
        if not _is_identity(tool, tol):
            kept = float(offsets[last])
            turned = second.axes[last].displacement(kept) @ second.end @ tool @ inverse(second.end)
            angle = _value_of(second, last, np.asarray(turned, dtype=float), tol)
            offsets[last] = kept if angle is None else angle
    return Alignment(base, alignment.signs, offsets)


def rebased(second: Chain, alignment: Alignment, value: float) -> Alignment:
    """The same alignment with another offset of the first joint; the base makes up for it."""
    axis = second.axes[0]
    base = alignment.base @ axis.displacement(float(alignment.offsets[0])) @ axis.displacement(-value)
    return replace(alignment.with_offset(0, value), base=np.asarray(base))


def _is_identity(pose: FloatArray, tol: float) -> bool:
    return bool(np.abs(pose - np.eye(4)).max() <= tol)


def _value_of(chain: Chain, k: int, motion: FloatArray, tol: float) -> float | None:
    """The joint value that makes this motion, if there is one."""
    axis = chain.axes[k]
    if not axis.has_line:
        value = float(axis.direction @ motion[:3, 3])
    else:
        about, angle = axis_and_angle(motion[:3, :3])
        value = math.copysign(float(angle), float(about @ axis.direction)) if angle > 0 else 0.0
    return value if np.abs(chain.axes[k].displacement(value) - motion).max() <= tol else None


# ── nearly the same ───────────────────────────────────────────────────────────────────────────────


def best_fit(first: Chain, second: Chain, alignment: Alignment, ties: Sequence[Tie] = ()) -> Alignment:
    """The alignment with the least sum of squares of what the axes miss each other by, from one that is near.

    Directions count in rad, lengths as a share of the reach; so does what the offsets of joints that follow others miss.
    Gauss-Newton over the base and all offsets; what nothing determines stays as it is.
    """
    best, least = alignment, _misses(first, second, alignment, ties)[0]
    for _ in range(ROUNDS):
        size, misses, slopes = _misses(first, second, best, ties, slopes=True)
        step = np.asarray(-np.linalg.lstsq(slopes, misses, rcond=1e-9)[0], dtype=np.float64)
        tried = _stepped(best, step, first.size)
        size = _misses(first, second, tried, ties)[0]
        if not size < least:
            break
        best, least = tried, size
    return best


def misfit(first: Chain, second: Chain, alignment: Alignment, ties: Sequence[Tie] = ()) -> float:
    """What the axes miss each other by, and the ties, as the root of the sum of squares."""
    return math.sqrt(_misses(first, second, alignment, ties)[0])


def _stepped(alignment: Alignment, step: FloatArray, size: float) -> Alignment:
    angle = float(np.linalg.norm(step[:3]))
    turn = rotation_about(step[:3] / angle, angle) if angle > 0 else np.eye(3)
    base = np.asarray(transform(turn, size * step[3:6]) @ alignment.base, dtype=float)
    return Alignment(base, alignment.signs, alignment.offsets + step[6:])


def _misses(
    first: Chain, second: Chain, alignment: Alignment, ties: Sequence[Tie], *, slopes: bool = False
) -> tuple[float, FloatArray, FloatArray]:
    """Their sum of squares, what each axis and each tie misses, and how that changes with base and offsets."""
    size, count = first.size, len(first.axes)
    values, changes = [], []
    twists = np.zeros((6 + count, 6))  # turning, shift of the world's origin: of the base, then of each joint
    twists[:3, :3], twists[3:6, 3:] = np.eye(3), size * np.eye(3)
    pose = alignment.base
    for k, (axis, wanted) in enumerate(zip(second.axes, first.axes, strict=True)):
        u, p = pose[:3, :3] @ axis.direction, pose[:3, :3] @ axis.point + pose[:3, 3]
        values.append(u - alignment.signs[k] * wanted.direction)
        across = np.eye(3) - np.outer(wanted.direction, wanted.direction)
        if slopes:
            changes.append(np.cross(twists[:, :3], u).T)
        if axis.has_line:
            values.append(across @ (p - wanted.point) / size)
            if slopes:
                changes.append(across @ (np.cross(twists[:, :3], p) + twists[:, 3:]).T / size)
        along = axis.pitch if axis.has_line else 1.0
        turning = u if axis.has_line else np.zeros(3)
        twists[6 + k] = np.concatenate([turning, np.cross(p, turning) + along * u])
        pose = pose @ second.axes[k].displacement(float(alignment.offsets[k]))
    for tie in ties:
        axis = second.axes[tie.joint]
        unit = 1.0 if axis.has_line else size
        values.append(np.array([tie.error(axis.periodic, alignment.signs, alignment.offsets) / unit]))
        row = np.zeros((1, 6 + count))
        row[0, 6 + tie.joint], row[0, 6 + tie.leader] = 1.0 / unit, -tie.ratios[1] / unit
        changes.append(row)
    misses = np.concatenate(values)
    return float(misses @ misses), misses, np.concatenate(changes) if slopes else np.zeros((0, 0))


def follower_differences(first: Sequence[Axis], second: Sequence[Axis]) -> list[str]:
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
        f"ratio by which joint {tie.joint + 1} follows joint {tie.leader + 1}: {abs(one):g} against {abs(other):g}"
        for tie in ties_between(first, second)
        for one, other in [tie.ratios]
        if not np.isclose(abs(one), abs(other), rtol=1e-9, atol=0)
    ]


def with_followers(first: Chain, second: Chain, alignment: Alignment, ties: Sequence[Tie]) -> Alignment:
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


def tie_error(second: Chain, alignment: Alignment, ties: Sequence[Tie]) -> float:
    """By how much the offsets fulfil the worst tie not, rad or m."""
    return max(
        (abs(tie.error(second.axes[tie.joint].periodic, alignment.signs, alignment.offsets)) for tie in ties), default=0.0
    )


def _lapped(second: Chain, alignment: Alignment, ties: Sequence[Tie]) -> Alignment:
    """The alignment with whole turns of revolute leaders with which all their followers are best."""
    for j in sorted({tie.leader for tie in ties if second.axes[tie.leader].periodic}):
        following = [tie for tie in ties if tie.leader == j]
        turned = alignment.offsets[j] + 2 * math.pi * np.arange(-LAPS, LAPS + 1)
        candidates = [alignment.with_offset(j, value) for value in sorted(turned.tolist(), key=abs)]
        errors = [tie_error(second, candidate, following) for candidate in candidates]
        if min(errors) <= NEAR:
            alignment = next(c for c, error in zip(candidates, errors, strict=True) if error <= max(2 * min(errors), 1e-7))
    return alignment
