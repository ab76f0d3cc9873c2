"""Chains nearby in which axes that are nearly parallel, or nearly meet, do so exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from linkwise.solve.closed_form.geometry import TOLERANCE, Chain, angle, common_point, parallel, tidy
from linkwise.spatial.scalar import FloatArray


def made_parallel(chain: Chain, joints: Sequence[int]) -> Chain:
    """The chain with the axes of some joints along the first of them, or against it; its misfit grows by the angle."""
    axes, first = chain.axes.copy(), chain.axes[joints[0]]
    for k in joints[1:]:
        axes[k] = first if float(first @ chain.axes[k]) > 0 else -first
    misfit = max(angle(chain, joints[0], k) for k in joints)
    return replace(chain, axes=axes + 0.0, misfit=max(chain.misfit, misfit))


def made_meet(chain: Chain, joints: Sequence[int]) -> Chain:
    """The chain with one point for the axes of some joints; its misfit grows by the greatest distance, in its size."""
    point, gap = common_point(chain, *joints)
    points = chain.points.copy()
    points[list(joints)] = point
    return replace(chain, points=tidy(points), misfit=max(chain.misfit, gap / chain.size))


def as_read(near: Chain, chain: Chain) -> Chain:
    """A chain made from one read from its end, read from its beginning again: `chain` is what it was made from."""
    back = near.reversed()
    return replace(chain, axes=back.axes, points=np.array(back.points), misfit=near.misfit)


def settled(chain: Chain) -> Chain:
    """The chain with all that is nearly special made exact: parallel axes, right angles, and neighbours that meet.

    Axes are taken from the base on; each gives way to those before it. Three that meet come before two.
    """
    points, done = chain.points.copy(), set[int]()
    turned = replace(chain, axes=_directions(chain.axes))
    turning = [k for k in range(len(chain)) if not chain.slides[k]]
    for count in (3, 2):
        for joints in zip(*(turning[start:] for start in range(count)), strict=False):
            if joints[-1] - joints[0] >= count or any(parallel(chain, i, j) for i, j in pairwise(joints)):
                continue
            point, gap = common_point(chain, *joints)
            free = [k for k in joints if k not in done]
            if gap > TOLERANCE * chain.size or not free:
                continue
            held = [k for k in joints if k in done]
            if held:
                point = _foot(turned, points, held[0], point)
            points[free] = point
            done.update(joints)
    misfit = max(float(np.linalg.norm(new - old)) for new, old in zip(turned.axes, chain.axes, strict=True))
    ways = [np.linalg.norm(np.cross(new - old, a)) for new, old, a in zip(points, chain.points, chain.axes, strict=True)]
    return replace(turned, points=tidy(points), misfit=max(chain.misfit, misfit, float(max(ways)) / chain.size))


def _directions(axes: FloatArray) -> FloatArray:
    """Directions (m, 3), each along or across those before it wherever it nearly is."""
    made: list[FloatArray] = []
    for axis in axes:
        along = [a for a in made if np.linalg.norm(np.cross(a, axis)) <= TOLERANCE]
        across = [a for a in made if abs(float(a @ axis)) <= TOLERANCE]
        if along:
            made.append(along[0] if float(along[0] @ axis) > 0 else -along[0])
            continue
        made.append(_across(axis, across))
    return tidy(np.array(made))


def _across(axis: FloatArray, others: Sequence[FloatArray]) -> FloatArray:
    """The unit vector nearest to a direction and at right angles to one other, or to two that are not parallel."""
    made = axis
    if others:
        apart = [a for a in others[1:] if np.linalg.norm(np.cross(a, others[0])) > TOLERANCE]
        normal = np.cross(others[0], apart[0]) if apart else None
        made = axis - others[0] * float(others[0] @ axis) if normal is None else normal * float(normal @ axis)
    return np.asarray(made / np.linalg.norm(made))


def _foot(chain: Chain, points: FloatArray, joint: int, near: FloatArray) -> FloatArray:
    """The point of an axis, which may lie on another now, that is nearest to a point."""
    axis, start = chain.axes[joint], points[joint]
    return np.asarray(start + axis * float(axis @ (near - start)))
