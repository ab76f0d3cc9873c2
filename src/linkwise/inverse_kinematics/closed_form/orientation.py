"""Orientation by at most three revolute joints, whose axes may depend on joints already solved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.problem import Axis
from linkwise.inverse_kinematics.closed_form.subproblems import (
    DEGENERATE,
    Turn,
    align,
    choose,
    cone,
    direction,
    turned,
    unturned,
)
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.vector import inner

#: Two directions coincide, and the angle about them is free, up to this angle (rad).
LEAST = 1e-14


def orientations(axes: Sequence[Axis], rotation: Array) -> list[tuple[Turn, ...]]:
    """Return all solutions of a rotation (3, 3) by at most three revolute joints, no axis parallel to the next.

    Three reach every rotation, or nearly: what the first and the last leave alone is one number, which gives the angle
    between (subproblem 4). With fewer some rotations are out of reach; then there is a miss.
    """
    if not axes:
        return [()]
    last = axes[-1]
    if len(axes) == 1:
        return [(_last(last, rotation),)]
    aim = rotation @ last.along
    solutions: list[tuple[Turn, ...]] = []
    if len(axes) == 2:
        middles: list[tuple[Turn, ...]] = [()]
    else:
        middles = [(turn,) for turn in cone(axes[1].along, last.along, axes[0].along, aim, axes[1].fallback)[:2]]
    for middle in middles:
        carried = axes[1].carried(middle[0], last.along) if middle else last.along
        first = align(axes[0].along, carried, aim, axes[0].fallback, LEAST * LEAST)
        remainder = axes[0].rotation(first).T @ rotation
        if middle:
            remainder = axes[1].rotation(middle[0]).T @ remainder
        solutions.append((first, *middle, _last(last, remainder)))
    return solutions


def _last(axis: Axis, rotation: Array) -> Turn:
    """The angle of a rotation (3, 3) about an axis, to nearest."""
    moved = rotation @ axis.frame[:, 0]
    return direction(np.dot(axis.frame[:, 0], moved), np.dot(axis.frame[:, 1], moved), axis.fallback)[0]


def beside(axis: FloatArray) -> FloatArray:
    """A unit vector (3,) at right angles to a unit vector, along an axis of coordinates where that can be."""
    flat = [k for k in range(3) if axis[k] == 0.0]
    if flat:
        return np.asarray(np.eye(3)[flat[0]])
    normal = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return np.asarray(normal / np.linalg.norm(normal))


def orient(h: FloatArray, rotation: Any, free: Any) -> list[tuple[Turn, Turn, Turn, Any]]:
    """Both triples of angles with Rot(h1) Rot(h2) Rot(h3) = R, and the deviation of R from the reachable rotations.

    The middle angle follows from h1 . R h3, which the others leave alone (subproblem 4), the first from R h3
    (subproblem 1), the last from what remains. Where first and last axis come into one line, the first angle is free.

    Parameters
    ----------
    h : ndarray (3, 3)
        The axes as they lie at zero angles, one a row; none parallel to the next.
    rotation : callable
        Gives R v for a constant vector v (3,).
    free : sequence of three Turn
        What is taken where an angle is free.
    """
    v, w = rotation(h[2]), beside(h[2])
    if abs(float(h[1] @ h[2])) < 1e-15:
        w = h[1]
    x = rotation(w)
    first, second, miss = cone(h[1], h[2], h[0], v, free[1])
    solutions: list[tuple[Turn, Turn, Turn, Any]] = []
    right = abs(float(h[0] @ h[1])) < 1e-15 and abs(float(h[1] @ h[2])) < 1e-15
    aside = v - h[0] * inner(h[0], v)
    two = inner(aside, aside) - DEGENERATE**2
    for middle in (first, second):
        if right and solutions:  # (where the first angle is free, both are one answer)
            q1, before, q3, _ = solutions[0]
            solutions.append(
                (choose(two, q1.opposite(), q1), choose(two, middle, before), choose(two, q3.opposite(), q3), miss)
            )
            break
        q1 = align(h[0], turned(h[1], middle, h[2]), v, free[0], DEGENERATE**2)
        remainder = unturned(h[1], middle, unturned(h[0], q1, x))
        q3, _ = direction(inner(w, remainder), inner(h[2], cross(w, remainder)), free[2])
        solutions.append((q1, middle, q3, miss))
    return solutions


def turned_back(rotation: Array, *turns: tuple[FloatArray, Turn]) -> Any:
    """The function that gives Rot(k_j)' ... Rot(k_1)' R v for a constant vector v; the turns come in the order 1 ... j."""

    def apply(v: FloatArray) -> Array:
        turned_vector = np.asarray(rotation @ v)
        for axis, turn in turns:
            turned_vector = unturned(axis, turn, turned_vector)
        return turned_vector

    return apply
