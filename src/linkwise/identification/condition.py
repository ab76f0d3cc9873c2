"""Identifiability of the base parameters by a motion: condition numbers, criteria, and names of unidentifiable ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.dynamics.base_parameters.base_parameters import INDEPENDENT
from linkwise.errors import ArgumentError, members
from linkwise.identification.parameters import REGROUPED, independent_columns
from linkwise.spatial.scalar import FloatArray

#: A parameter takes part in a combination if it makes up this share of it.
MEANT = 1e-6

#: Below this ratio of eigenvalues of the normal equations, parameters cannot be distinguished.
SINGULAR = 1e-13


def check_excited(table: FloatArray, labels: Sequence[str]) -> None:
    """Raise unless the columns of a regressor (rows, b) are independent, naming the parameters that are at fault.

    Raises
    ------
    ArgumentError
        With the parameters that have no effect in the motion, and the groups that cannot be distinguished.
    """
    count = len(labels)
    sizes = np.linalg.norm(table, axis=0)
    seen = sizes > INDEPENDENT * sizes.max(initial=0.0)
    groups = _groups(table[:, seen] / sizes[seen])
    if seen.all() and not groups:
        return
    names = [label for label, there in zip(labels, seen, strict=True) if there]
    missing = int((~seen).sum()) + sum(lost for _, lost in groups)
    lines = [f"the motion does not excite all parameters: {missing} of {count} base parameters remain unknown"]
    if not seen.all():
        lines.append(f"no effect: {members(label for label, there in zip(labels, seen, strict=True) if not there)}")
    lines += [
        f"not separable: {members(names[k] for k in group)} ({len(group) - lost} of {len(group)} combinations are seen)"
        for group, lost in groups
    ]
    if any(label.endswith(REGROUPED) for label in labels):
        where = "see mech.base_parameters(resting=False)"
        lines.append(f"({REGROUPED} marks a parameter with which others are grouped: {where})")
    raise ArgumentError("\n".join(lines))


def _groups(table: FloatArray) -> list[tuple[list[int], int]]:
    """Groups of linearly dependent columns of unit length, and the rank deficiency of each."""
    kept = independent_columns(table, range(table.shape[1]))
    loose: list[tuple[set[int], int]] = []
    for c in sorted(set(range(table.shape[1])) - set(kept)):
        before = [k for k in kept if k < c]
        shares = np.linalg.lstsq(table[:, before], table[:, c], rcond=None)[0]
        loose.append(({c, *(k for k, share in zip(before, shares, strict=True) if abs(share) > MEANT)}, 1))
    return [(sorted(group), lost) for group, lost in _merged(loose)]


def _merged(dependent: list[tuple[set[int], int]]) -> list[tuple[set[int], int]]:
    """Groups that share a member are one."""
    groups: list[tuple[set[int], int]] = []
    for group, lost in dependent:
        touching = [other for other in groups if other[0] & group]
        groups = [other for other in groups if other not in touching]
        groups.append((group.union(*(other for other, _ in touching)), lost + sum(more for _, more in touching)))
    return groups


def condition_numbers(table: FloatArray) -> tuple[float, float]:
    """Condition number of a regressor (..., b) with its columns scaled to length one, and as it is."""
    rows = table.reshape(-1, table.shape[-1])
    factor = np.linalg.qr(rows, mode="r")
    return float(np.linalg.cond(factor / np.linalg.norm(factor, axis=0))), float(np.linalg.cond(factor))


def criterion_loss(table: FloatArray, criterion: str) -> tuple[float, FloatArray]:
    """Return the criterion of a regressor (rows, b), and its slope (rows, b); infinite where parameters are confounded.

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
    largest, smallest = (
        2.0 * (np.outer(scaled @ vectors[:, k], vectors[:, k]) - values[k] * vectors[:, k] ** 2 * scaled) / sizes / values[k]
        for k in (-1, 0)  # slopes of the logarithms of these eigenvalues
    )
    return float(0.5 * np.log(values[-1] / values[0])), 0.5 * (largest - smallest)
