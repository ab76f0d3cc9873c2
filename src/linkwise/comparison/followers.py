"""Joints that follow another: whether they follow alike in both descriptions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.comparison.alignment import Alignment
from linkwise.comparison.chain import Axis, Chain
from linkwise.comparison.invariants import names
from linkwise.comparison.refinement import rebased, retooled
from linkwise.model.mimic import Follower


def _leaders(axes: Sequence[Axis]) -> list[int]:
    """Which joint of the chain each one follows; itself where it has a coordinate of its own."""
    own = {axis.follower.coordinate: k for k, axis in enumerate(axes) if _is_own(axis)}
    return [own[axis.follower.coordinate] for axis in axes]


def _is_own(axis: Axis) -> bool:
    return axis.follower == Follower(axis.follower.coordinate)


def follower_differences(first: Sequence[Axis], second: Sequence[Axis]) -> list[str]:
    """Joints that follow another one in one description and not in the other, or by another ratio."""
    found = []
    for k, (one, other) in enumerate(zip(_leaders(first), _leaders(second), strict=True)):
        if one != other:
            texts = ["has a coordinate of its own" if j == k else f"follows joint {j + 1}" for j in (one, other)]
            found.append(f"joint {k + 1} ({names(first[k], second[k])}): {texts[0]} against {texts[1]}")
        ratios = [abs(axes[k].follower.ratio) for axes in (first, second)]
        if one == other and not np.isclose(ratios[0], ratios[1], rtol=1e-9, atol=0):
            found.append(f"ratio by which joint {k + 1} follows joint {one + 1}: {ratios[0]:g} against {ratios[1]:g}")
    return found


def with_followers(first: Chain, second: Chain, made: Alignment) -> Alignment:
    """The alignment with the zeros of the first and last joint, which are free, chosen so that what follows fits."""
    leaders, last = _leaders(first.axes), len(first.axes) - 1
    if leaders != _leaders(second.axes):
        return made
    for k, j in enumerate(leaders):
        chosen = next((joint for joint in (k, j) if joint in {0, last}), None)
        if k == j or chosen is None or not second.axes[k].follower.ratio:
            continue
        one, other = first.axes[k].follower, second.axes[k].follower
        rest = other.shift - float(made.signs[k]) * one.shift
        value = other.ratio * made.offsets[j] + rest if chosen == k else (made.offsets[k] - rest) / other.ratio
        made = rebased(second, made, float(value)) if chosen == 0 else retooled(made, float(value))
    return made
