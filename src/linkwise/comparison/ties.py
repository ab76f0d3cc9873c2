"""Ties between joints that share a coordinate, in two chains at once.

With x the joint values of the first chain and y those of the second, a tie is x_k = r x_j + s in the one, and
y_k = r' y_j + s' in the other. As y = signs x + offsets, the signs must fulfil sign_k sign_j r = r', and the offsets
offset_k = r' offset_j + s' - sign_k s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.comparison.chain import Axis
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class Tie:
    """Joint `joint` of the chains as a multiple of joint `leader`, plus a constant, in the first and in the second chain."""

    joint: int
    leader: int
    ratios: tuple[float, float]
    shifts: tuple[float, float]

    @property
    def sign(self) -> float:
        """The product of both joints' signs; 0 where any will do."""
        return float(np.sign(self.ratios[0] * self.ratios[1]))

    def missed(self, kind: str, signs: FloatArray, offsets: FloatArray) -> float:
        """By how much the offsets do not fulfil it, rad or m; whole turns of a revolute joint do not count."""
        rest = float(offsets[self.joint] - self.ratios[1] * offsets[self.leader] - self.rest(signs))
        return math.remainder(rest, 2 * math.pi) if kind == "revolute" else rest

    def rest(self, signs: FloatArray) -> float:
        """The constant of the tie between the offsets."""
        return float(self.shifts[1] - signs[self.joint] * self.shifts[0])


def ties_between(first: Sequence[Axis], second: Sequence[Axis]) -> list[Tie]:
    """The ties of chains in which the same joints share coordinates; none where they do not.

    Which of the joints that share a coordinate is called the leader does not matter, as long as it can be one in both.
    """
    leaders = leaders_of(first)
    if not alike(leaders, leaders_of(second)):
        return []
    found = []
    for k, j in enumerate(leaders):
        pairs = [(axes[k].follower, axes[j].follower) for axes in (first, second)]
        if k == j or not all(leader.ratio for _, leader in pairs):
            continue
        ratios = [one.ratio / leader.ratio for one, leader in pairs]
        shifts = [one.shift - ratio * leader.shift for (one, leader), ratio in zip(pairs, ratios, strict=True)]
        found.append(Tie(k, j, (ratios[0], ratios[1]), (shifts[0], shifts[1])))
    return found


def leaders_of(axes: Sequence[Axis]) -> list[int]:
    """Which joint of the chain each one follows; itself where it has a coordinate of its own."""
    own = {axis.follower.coordinate: k for k, axis in enumerate(axes) if axis.leads}
    return [own[axis.follower.coordinate] for axis in axes]


def alike(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether the same joints share coordinates."""
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))
