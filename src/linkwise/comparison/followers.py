"""Joints that follow another: whether they follow alike in both descriptions, and the zeros with which they do."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from linkwise.comparison.alignment import Alignment
from linkwise.comparison.chain import Axis, Chain
from linkwise.comparison.invariants import names
from linkwise.comparison.refinement import rebased, retooled
from linkwise.comparison.ties import Tie, alike, leaders_of, ties_between

LAPS = 24
"""Whole turns of a joint, either way, that are tried where others follow it: a third of one turn is another place than a
third of two."""


NEAR = 1e-2
"""rad or m: turns that bring the followers no nearer than this are coincidence."""


def follower_differences(first: Sequence[Axis], second: Sequence[Axis]) -> list[str]:
    """Joints that follow another one in one description and not in the other, or by another ratio."""
    leaders = [leaders_of(axes) for axes in (first, second)]
    if not alike(*leaders):
        found = []
        for k, (one, other) in enumerate(zip(*leaders, strict=True)):
            if one != other:
                texts = ["has a coordinate of its own" if j == k else f"follows joint {j + 1}" for j in (one, other)]
                found.append(f"joint {k + 1} ({names(first[k], second[k])}): {texts[0]} against {texts[1]}")
        return found
    return [
        f"ratio by which joint {tie.joint + 1} follows joint {tie.leader + 1}: {abs(one):g} against {abs(other):g}"
        for tie in ties_between(first, second)
        for one, other in [tie.ratios]
        if not np.isclose(abs(one), abs(other), rtol=1e-9, atol=0)
    ]


def with_followers(first: Chain, second: Chain, made: Alignment, ties: Sequence[Tie]) -> Alignment:
    """The alignment with the zeros of the first and last joint, which are free, chosen so that what follows fits.

    Whole turns of the leaders are then chosen so that this holds for all their followers.
    """
    last = len(first.axes) - 1
    for tie in ties:
        k, j, ratio = tie.joint, tie.leader, tie.ratios[1]
        chosen = next((joint for joint in (k, j) if joint in {0, last}), None)
        if chosen is None or not ratio:
            continue
        rest = tie.rest(made.signs)
        value = ratio * made.offsets[j] + rest if chosen == k else (made.offsets[k] - rest) / ratio
        made = rebased(second, made, float(value)) if chosen == 0 else retooled(made, float(value))
    return _lapped(second, made, ties)


def untied(second: Chain, made: Alignment, ties: Sequence[Tie]) -> float:
    """By how much the offsets fulfil the worst tie not, rad or m."""
    return max((abs(tie.missed(second.axes[tie.joint].kind, made.signs, made.offsets)) for tie in ties), default=0.0)


def _lapped(second: Chain, made: Alignment, ties: Sequence[Tie]) -> Alignment:
    """The alignment with whole turns of revolute leaders with which all their followers are best."""
    for j in sorted({tie.leader for tie in ties if second.axes[tie.leader].kind == "revolute"}):
        own = [tie for tie in ties if tie.leader == j]
        zero, tried = float(made.offsets[j]), []
        for laps in sorted(range(-LAPS, LAPS + 1), key=lambda laps: abs(zero + 2 * math.pi * laps)):
            offsets = made.offsets.copy()
            offsets[j] += 2 * math.pi * laps
            tried.append(Alignment(made.base, made.signs, offsets))
        left = [untied(second, turned, own) for turned in tried]
        if min(left) <= NEAR:
            made = next(turned for turned, rest in zip(tried, left, strict=True) if rest <= max(2 * min(left), 1e-7))
    return made
