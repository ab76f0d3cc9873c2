"""Constant matrices of many links: computed at once if all are numbers, one by one if some contain expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.spatial.scalar import Array, FloatArray, array, cos_sin, cos_sin_of_all
from linkwise.spatial.transform import transform

#: Below this a computed direction cosine is rounding of zero.
TINY = 1e-15

#: Spacing of the numbers from 1 to 2.
EPSILON = float(np.finfo(np.float64).eps)

#: Units in the last place of the numbers added up, for the three additions of an element of X + T Y T' and its products.
ROUNDINGS = 4.0

#: The elements below the diagonal of a matrix (4, 4).
_LOWER = np.tril_indices(4, -1)

#: Matrices of one shape: a stack of numbers, or any.
Matrices = Sequence[Array] | FloatArray


def stacked(matrices: Matrices) -> Matrices:
    """The matrices as one array of numbers (N, ...) where they are numbers, else as they are."""
    if isinstance(matrices, np.ndarray):
        return matrices
    result = np.array(matrices)
    return matrices if result.dtype == object else result.astype(np.float64, copy=False)


def on_stacks(function: Callable[..., Array], *columns: Matrices) -> Matrices:
    """The function of each matrix of the first column, with those beside it in the others.

    It takes stacks (..., N, M) and is called once where all are numbers, else for each alone, so that what is numeric there
    is computed as numbers.
    """
    stacks = [stacked(column) for column in columns]
    if not len(stacks[0]):
        return []
    if all(isinstance(stack, np.ndarray) for stack in stacks):
        return function(*stacks)
    return [function(*matrices) for matrices in zip(*stacks, strict=True)]


def twists(angles: Sequence[float], heights: Sequence[Any]) -> Matrices:
    """Rz(angle) Tz(height) (4, 4) of each pair; a height may be an expression."""
    if any(isinstance(height, Expr) for height in heights):
        pairs = zip(map(cos_sin, angles), heights, strict=True)
        return [
            transform([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], array([0.0, 0.0, height])) for (c, s), height in pairs
        ]
    result = np.tile(np.eye(4), (len(angles), 1, 1))
    c, s = cos_sin_of_all(angles)
    result[:, 0, 0] = result[:, 1, 1] = c
    result[:, 0, 1], result[:, 1, 0] = -s, s
    result[:, 2, 3] = heights
    return result


def cleaned(t: Array) -> Array:
    """Round elements of rotations near zero and one in constant transforms (..., 4, 4)."""
    if t.dtype == object:
        return _cleaned_numbers(t)
    result = np.array(t, dtype=float)
    block, position = result[..., :3, :3], result[..., :3, 3]
    block[np.abs(block) < TINY] = 0.0
    near_one = np.abs(np.abs(block) - 1.0) < TINY
    block[near_one] = np.round(block[near_one])
    size = np.maximum(1.0, np.abs(position).max(axis=-1, keepdims=True))
    position[np.abs(position) < TINY * size] = 0.0
    return result


def _cleaned_numbers(t: Array) -> Array:
    """The same where expressions are among the elements: the numbers beside them are cleaned."""
    result, numeric = t.copy(), [not isinstance(value, Expr) for value in t.flat]
    plain = np.where(np.reshape(numeric, t.shape), t, 0.0).astype(np.float64)
    kept = cleaned(plain)
    for place in np.ndindex(t.shape):
        if not isinstance(result[place], Expr):
            result[place] = float(kept[place])
    return array(result)


def with_added(inertia: Array, t: Array, other: Array) -> Array:
    """Add pseudo-inertias (..., 4, 4) that are expressed in other frames: X + T Y T'.

    They are exactly symmetric. What is left of numbers that cancel is made zero where it is no more than their rounding.
    """
    across = t.swapaxes(-1, -2)
    total = np.array(inertia + t @ other @ across)
    row, column = _LOWER
    total[..., row, column] = total[..., column, row]
    if total.dtype == object:
        return total
    size = np.abs(inertia) + np.abs(t) @ np.abs(other) @ np.abs(across)
    total[np.abs(total) <= ROUNDINGS * EPSILON * size] = 0.0
    return total


def without_rounding(*terms: float) -> float:
    """Their sum; zero where it is no more than their rounding, as in `with_added`."""
    total = sum(terms)
    return 0.0 if abs(total) <= ROUNDINGS * EPSILON * sum(map(abs, terms)) else total
