"""The plane in which a spatial mechanism moves, and frames as they are seen in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from linkwise.errors import ModelError, Problem
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism as SpatialMechanism

FLAT = 1e-9
"""Directions this near to parallel, or square to each other, are so: tables and files carry more digits than that."""


def plane_of(mechanism: SpatialMechanism, joints: list[FloatArray]) -> FloatArray:
    """The frame (4, 4) at the world's origin whose z axis is the plane's normal.

    Raises
    ------
    ModelError
        Where there is no such plane: the links that move out of it.
    """
    axes = {k: joints[k][:3, :3] @ link.axis for k, link in enumerate(mechanism.links) if link.moves}
    turning = {k: axis for k, axis in axes.items() if mechanism.links[k].joint == "revolute"}
    sliding = {k: axis for k, axis in axes.items() if mechanism.links[k].joint == "prismatic"}
    normal = next(iter(turning.values()), None)
    if normal is None:
        normal = next(one for one in _normals([*sliding.values()]))
    problems = []
    for k, axis in turning.items():
        if np.linalg.norm(axis - normal) > FLAT:
            first = mechanism.links[next(iter(turning))].name
            expected = f"that of {first!r}, {_row(normal)}, at the zero position: all parallel, and of one sense"
            problems.append(Problem(f"link {mechanism.links[k].name!r}", "axis", _row(axis), expected))
    for k, axis in sliding.items():
        if abs(axis @ normal) > FLAT:
            expected = f"in the plane across {_row(normal)}, at the zero position"
            problems.append(Problem(f"link {mechanism.links[k].name!r}", "axis", _row(axis), expected))
    if problems:
        raise ModelError(problems)
    return transform(_axes(normal))


def flattened(pose: FloatArray) -> FloatArray:
    """The frame in the plane z = 0 at the same x and y, with the x axis of a frame as seen there, or its y axis."""
    seen = next(k for k in range(3) if np.hypot(*pose[:2, k]) > 0.5)
    x, y = pose[:2, seen] / np.hypot(*pose[:2, seen])
    if pose[2, 2] > 0.5 and seen == 0 and abs(pose[2, 0]) < FLAT:
        x, y = pose[0, 0], pose[1, 0]  # (as it stands: a right angle in a table stays one)
    turned = np.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]])
    return transform(turned, [pose[0, 3], pose[1, 3], 0.0])


def angle_of(pose: FloatArray) -> float:
    """The angle (rad) about z by which a frame in the plane is turned."""
    return float(np.arctan2(pose[1, 0] + 0.0, pose[0, 0]))


def _axes(normal: FloatArray) -> FloatArray:
    """The rotation (3, 3) whose z is the normal and whose x is the world's x, seen in the plane, or its y."""
    near = np.round(normal)
    z = near if np.linalg.norm(normal - near) <= FLAT else normal
    start = np.eye(3)[0 if abs(z[0]) < 1.0 - FLAT else 1]
    x = start - z * (start @ z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _normals(axes: list[FloatArray]) -> Iterator[FloatArray]:
    """What may be the normal of a plane with these directions in it: z, y or x of the world, else what is across two."""
    for one in np.eye(3)[::-1]:
        if all(abs(axis @ one) <= FLAT for axis in axes):
            yield one
    for a, b in combinations(axes, 2):
        across = np.cross(a, b)
        if np.linalg.norm(across) > FLAT:
            yield across / np.linalg.norm(across)
    across = np.cross(axes[0], np.eye(3)[int(np.argmin(np.abs(axes[0])))])
    yield across / np.linalg.norm(across)


def _row(vector: FloatArray) -> list[float]:
    return [float(value) for value in vector.round(6) + 0.0]
