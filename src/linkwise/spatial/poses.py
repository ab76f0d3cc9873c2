"""Poses as a caller gives them: a whole batch of rigid transforms, checked at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers

RIGID = 1e-6
"""How far from orthonormal a rotation may be, as everywhere where poses are given."""


def rigid_poses(field: str, value: Any) -> FloatArray:
    """Rigid transforms (..., 4, 4), a copy of what was given.

    Raises
    ------
    ArgumentError
        Naming the first that is not rigid.

    Examples
    --------
    >>> rigid_poses("T", np.eye(4)).shape
    (4, 4)
    >>> rigid_poses("T", np.eye(3))
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: T has the shape (3, 3); expected rigid poses (..., 4, 4)
    """
    result = numbers(field, value, "rigid poses (..., 4, 4)")
    if result.shape[-2:] != (4, 4):
        raise no_poses(field, result.shape)
    r = result[..., :3, :3]
    skewed = np.abs(np.swapaxes(r, -1, -2) @ r - np.eye(3)).max(axis=(-2, -1)) > RIGID
    wrong = skewed | (np.linalg.det(r) <= 0) | np.any(result[..., 3, :] != [0.0, 0.0, 0.0, 1.0], axis=-1)
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        which = f"{field}[{', '.join(map(str, place))}]" if place else field
        raise ArgumentError(
            f"{which} is {shown(result[place].tolist())}; expected a rigid pose: orthonormal right-handed rotation, "
            "last row 0 0 0 1"
        )
    return result


def no_poses(field: str, shape: tuple[int, ...]) -> ArgumentError:
    """The error for an array of another shape; a target T that holds points is told how these are given."""
    points = shape[-1:] == (3,) and shape[-2:] != (3, 3)
    hint = "; for a point alone: solve([linkwise.Position('tool', p)])" if points and field == "T" else ""
    return ArgumentError(f"{field} has the shape {shape}; expected rigid poses (..., 4, 4){hint}")
