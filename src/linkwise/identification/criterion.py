"""How well a regressor tells parameters apart, as one number that is to be small, and its slope."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.scalar import FloatArray

CRITERIA = ("determinant", "condition")

SINGULAR = 1e-13
"""Below this ratio of eigenvalues of the normal equations, parameters cannot be told apart."""


def badness(table: FloatArray, criterion: str) -> tuple[float, FloatArray]:
    """Return the criterion of a regressor (rows, b), and its slope (rows, b); infinite where parameters are not told apart.

    "condition" is the logarithm of the condition number with columns scaled to length one; "determinant" is
    -log det(table' table) / 2 b, the mean logarithm of the lengths of the axes of the ellipsoid of uncertainty.
    """
    sizes = np.linalg.norm(table, axis=0)
    if not np.all(sizes > 0):
        return np.inf, np.zeros_like(table)
    scaled = table / sizes
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    if values[0] <= SINGULAR * values[-1]:
        return np.inf, np.zeros_like(table)
    if criterion == "determinant":
        count = len(sizes)
        inverse = (vectors / values) @ vectors.T
        size = -(0.5 * np.log(values).sum() + np.log(sizes).sum()) / count
        return float(size), -(scaled @ inverse) / sizes / count
    ends = [_slope(scaled, sizes, values[k], vectors[:, k]) / values[k] for k in (-1, 0)]
    return float(0.5 * np.log(values[-1] / values[0])), 0.5 * (ends[0] - ends[1])


def _slope(scaled: FloatArray, sizes: FloatArray, value: float, vector: FloatArray) -> FloatArray:
    """The slope of an eigenvalue of scaled' scaled by the columns before they were scaled."""
    return np.asarray(2.0 * (np.outer(scaled @ vector, vector) - value * vector**2 * scaled) / sizes)
