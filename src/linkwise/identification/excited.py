"""Whether a motion tells all base parameters apart, and which it does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.dynamics.base_parameters import INDEPENDENT
from linkwise.errors import ArgumentError, members
from linkwise.identification.unknowns import REGROUPED
from linkwise.spatial.scalar import FloatArray

MEANT = 1e-6
"""A parameter takes part in a combination if it makes up this share of it."""


def check_excited(table: FloatArray, labels: Sequence[str]) -> None:
    """Raise unless the columns of a regressor (rows, b) are independent, naming the parameters that are at fault.

    Raises
    ------
    ArgumentError
        With the parameters that have no effect in the motion, and the groups that cannot be told apart.
    """
    count = len(labels)
    sizes = np.linalg.norm(table, axis=0)
    seen = sizes > INDEPENDENT * sizes.max(initial=0.0)
    groups = _groups(table[:, seen] / sizes[seen])
    if seen.all() and not groups:
        return
    names = [label for label, there in zip(labels, seen, strict=True) if there]
    missing = int((~seen).sum()) + sum(lost for _, lost in groups)
    lines = [f"the motion does not excite all that is to be found: {missing} of {count} base parameters stay unknown"]
    if not seen.all():
        lines.append(f"no effect: {members(label for label, there in zip(labels, seen, strict=True) if not there)}")
    lines += [
        f"not told apart: {members(names[k] for k in group)} ({len(group) - lost} of {len(group)} combinations are seen)"
        for group, lost in groups
    ]
    if any(label.endswith(REGROUPED) for label in labels):
        where = "see mech.base_parameters(resting=False)"
        lines.append(f"({REGROUPED} marks a parameter with which others are grouped: {where})")
    raise ArgumentError("\n".join(lines))


def _groups(table: FloatArray) -> list[tuple[list[int], int]]:
    """The columns that depend on each other, and how many of each group are too many."""
    kept: list[int] = []
    loose: list[tuple[set[int], int]] = []
    span = np.zeros((len(table), 0))
    for c in range(table.shape[1]):
        rest = table[:, c]
        for _ in range(2):  # once more for the rounding
            rest = rest - span @ (span.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > INDEPENDENT:
            kept.append(c)
            span = np.concatenate([span, rest[:, None] / size], axis=1)
        else:
            shares = np.linalg.lstsq(table[:, kept], table[:, c], rcond=None)[0]
            loose.append(({c, *(k for k, share in zip(kept, shares, strict=True) if abs(share) > MEANT)}, 1))
    return [(sorted(group), lost) for group, lost in _merged(loose)]


def _merged(found: list[tuple[set[int], int]]) -> list[tuple[set[int], int]]:
    """Groups that share a member are one."""
    groups: list[tuple[set[int], int]] = []
    for group, lost in found:
        touching = [other for other in groups if other[0] & group]
        groups = [other for other in groups if other not in touching]
        groups.append((group.union(*(other for other, _ in touching)), lost + sum(more for _, more in touching)))
    return groups
