"""What is left free in an alignment made simple, and one that fits only nearly made to fit best."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from linkwise.comparison.alignment import Alignment
from linkwise.comparison.chain import Chain
from linkwise.comparison.ties import Tie
from linkwise.model.link import joint_motion
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, transform, translation

ROUNDS = 8


def moved(chain: Chain, k: int, value: float) -> FloatArray:
    """The motion (4, 4) of all beyond joint k by a value of it from zero, the other joints at zero, in the world."""
    axis = chain.axes[k]
    shift = translation(*axis.point)
    made = shift @ joint_motion(axis.kind, axis.direction, axis.pitch, value) @ inverse(shift)
    return np.asarray(made, dtype=float)


def tool_of(first: Chain, second: Chain, made: Alignment) -> FloatArray:
    """The tool (4, 4) that an alignment needs: T_end2_end1."""
    pose = made.base
    for k, offset in enumerate(made.offsets.tolist()):
        pose = pose @ moved(second, k, offset)
    return np.asarray(inverse(pose @ second.end) @ first.end, dtype=float)


def simplest(first: Chain, second: Chain, made: Alignment, tol: float) -> Alignment:
    """The same alignment with the base, or the tool, the identity where the first, or last, zero can do it.

    A turn of the base about the first axis does what an offset of the first joint does, and so do the tool and the last
    joint. The offset is zero unless with one the base (the tool) is the identity.
    """
    offsets = made.offsets.copy()
    beyond = made.base @ moved(second, 0, float(offsets[0]))
    angle = _value_of(second, 0, beyond, tol)
    base = made.base
    if angle is not None and not _is_identity(base, tol):
        offsets[0], base = angle, np.eye(4)
    last = len(offsets) - 1
    if last > 0 or base is made.base:
        tool = tool_of(first, second, Alignment(base, made.signs, offsets))
        if not _is_identity(tool, tol):
            kept = float(offsets[last])
            turned = moved(second, last, kept) @ second.end @ tool @ inverse(second.end)
            angle = _value_of(second, last, np.asarray(turned, dtype=float), tol)
            offsets[last] = kept if angle is None else angle
    return Alignment(base, made.signs, offsets)


def rebased(second: Chain, made: Alignment, value: float) -> Alignment:
    """The same alignment with another offset of the first joint; the base makes up for it."""
    offsets = made.offsets.copy()
    base = made.base @ moved(second, 0, float(offsets[0])) @ moved(second, 0, -value)
    offsets[0] = value
    return Alignment(np.asarray(base), made.signs, offsets)


def retooled(made: Alignment, value: float) -> Alignment:
    """The same alignment with another offset of the last joint, for which the tool has to make up."""
    offsets = made.offsets.copy()
    offsets[-1] = value
    return Alignment(made.base, made.signs, offsets)


def _is_identity(pose: FloatArray, tol: float) -> bool:
    return bool(np.abs(pose - np.eye(4)).max() <= tol)


def _value_of(chain: Chain, k: int, motion: FloatArray, tol: float) -> float | None:
    """The joint value that makes this motion, if there is one."""
    axis = chain.axes[k]
    if axis.kind == "prismatic":
        value = float(axis.direction @ motion[:3, 3])
    else:
        about, angle = axis_and_angle(motion[:3, :3])
        value = math.copysign(float(angle), float(about @ axis.direction)) if angle > 0 else 0.0
    return value if np.abs(moved(chain, k, value) - motion).max() <= tol else None


# ── nearly the same ───────────────────────────────────────────────────────────────────────────────


def best_fit(first: Chain, second: Chain, made: Alignment, ties: Sequence[Tie] = ()) -> Alignment:
    """The alignment with the least sum of squares of what the axes miss each other by, from one that is near.

    Directions count in rad, lengths as a share of the reach; so does what the offsets of joints that follow others miss.
    Gauss-Newton over the base and all offsets; what nothing determines stays as it is.
    """
    best, least = made, _misses(first, second, made, ties)[0]
    for _ in range(ROUNDS):
        size, misses, slopes = _misses(first, second, best, ties, slopes=True)
        step = np.asarray(-np.linalg.lstsq(slopes, misses, rcond=1e-9)[0], dtype=np.float64)
        tried = _stepped(best, step, first.size)
        size = _misses(first, second, tried, ties)[0]
        if not size < least:
            break
        best, least = tried, size
    return best


def misfit(first: Chain, second: Chain, made: Alignment, ties: Sequence[Tie] = ()) -> float:
    """What the axes miss each other by, and the ties, as the root of the sum of squares."""
    return math.sqrt(_misses(first, second, made, ties)[0])


def _stepped(made: Alignment, step: FloatArray, size: float) -> Alignment:
    angle = float(np.linalg.norm(step[:3]))
    turn = rotation_about(step[:3] / angle, angle) if angle > 0 else np.eye(3)
    base = np.asarray(transform(turn, size * step[3:6]) @ made.base, dtype=float)
    return Alignment(base, made.signs, made.offsets + step[6:])


def _misses(
    first: Chain, second: Chain, made: Alignment, ties: Sequence[Tie], *, slopes: bool = False
) -> tuple[float, FloatArray, FloatArray]:
    """Their sum of squares, what each axis and each tie misses, and how that changes with base and offsets."""
    size, count = first.size, len(first.axes)
    values, changes = [], []
    twists = np.zeros((6 + count, 6))  # turning, shift of the world's origin: of the base, then of each joint
    twists[:3, :3], twists[3:6, 3:] = np.eye(3), size * np.eye(3)
    pose = made.base
    for k, (axis, wanted) in enumerate(zip(second.axes, first.axes, strict=True)):
        u, p = pose[:3, :3] @ axis.direction, pose[:3, :3] @ axis.point + pose[:3, 3]
        values.append(u - made.signs[k] * wanted.direction)
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
        pose = pose @ moved(second, k, float(made.offsets[k]))
    for tie in ties:
        kind = second.axes[tie.joint].kind
        unit = size if kind == "prismatic" else 1.0
        values.append(np.array([tie.missed(kind, made.signs, made.offsets) / unit]))
        row = np.zeros((1, 6 + count))
        row[0, 6 + tie.joint], row[0, 6 + tie.leader] = 1.0 / unit, -tie.ratios[1] / unit
        changes.append(row)
    misses = np.concatenate(values)
    return float(misses @ misses), misses, np.concatenate(changes) if slopes else np.zeros((0, 0))
