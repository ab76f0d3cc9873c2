"""The joint axes of a chain in space with every joint at zero, and the ties between joints that share a coordinate.

With x the joint values of a first chain and y those of a second, a tie is x_k = r x_j + s in the one, and
y_k = r' y_j + s' in the other. As y = signs x + offsets, the signs must fulfil sign_k sign_j r = r', and the offsets
offset_k = r' offset_j + s' - sign_k s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.errors import ArgumentError, members
from linkwise.model.mimic import Follower
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.screw import screw_transform
from linkwise.spatial.transform import translation


@dataclass(frozen=True)
class Axis:
    """One joint of the chain with all joints at zero, in the world frame.

    Attributes
    ----------
    name, kind : str
        Of the joint.
    direction, point : ndarray (3,)
        Along the axis, and a point on it.
    pitch : float
        m/rad: how far the joint advances as it turns.
    has_line : bool
        Whether the axis has a place, not only a direction: whether the joint turns.
    follower : Follower
        How the joint's own value depends on the coordinates.
    limits : (float, float)
        Of the joint's own value, rad or m.
    leads : bool
        Whether the joint has a coordinate of its own, and follows no other.
    """

    name: str
    kind: str
    direction: FloatArray
    point: FloatArray
    pitch: float
    has_line: bool
    follower: Follower
    limits: tuple[float, float]
    leads: bool

    @property
    def periodic(self) -> bool:
        """Whether the joint turns about its axis and does no more: whole turns of it do not count."""
        return self.has_line and not self.pitch

    def displacement(self, value: float) -> FloatArray:
        """The motion (4, 4) of all beyond the joint by a value of it from zero, the other joints at zero, in the world."""
        if not self.has_line:
            return np.asarray(translation(*(value * self.direction)), dtype=float)
        return np.asarray(screw_transform(self.direction, value, self.point, self.pitch * value), dtype=float)


@dataclass(frozen=True)
class Chain:
    """The joints from the base to a link.

    Attributes
    ----------
    mechanism : Tree
        Whose it is.
    link : int or str
        Where it ends, as `Mechanism.forward_kinematics` takes it.
    axes : tuple of Axis
        From the base out.
    end : ndarray (4, 4)
        T_world_end with every joint at zero.
    """

    mechanism: Tree
    link: int | str
    axes: tuple[Axis, ...]
    end: FloatArray

    @property
    def size(self) -> float:
        """How far the chain reaches, m; at least 1e-6."""
        points = np.array([self.end[:3, 3], *(axis.point for axis in self.axes)])
        return max(float(np.linalg.norm(np.ptp(points, axis=0))), 1e-6)


def chain_of(mechanism: Tree, link: int | str) -> Chain:
    """Take the chain out of a mechanism; a floating base stands in its origin.

    Raises
    ------
    ArgumentError
        Where no joint moves on the way, or a joint follows one that is not on the way.
    """
    pose = np.asarray(mechanism.base, dtype=float)
    axes: list[Axis] = []
    for k in mechanism.path(link):
        part = mechanism.links[k]
        pose = pose @ part.before
        if part.moves:
            limits = part.limits or (-np.inf, np.inf)
            direction = pose[:3, :3] @ part.axis
            turns = not np.array_equal(part.motion(1.0)[:3, :3], np.eye(3))
            line = (direction, pose[:3, 3], part.pitch, turns)
            follower = mechanism.followers[k]
            axes.append(Axis(part.coordinate_name, part.joint, *line, follower, limits, leads=part.mimic is None))
        pose = np.asarray(pose @ part.motion(0.0) @ part.after, dtype=float)
    if not axes:
        named = mechanism.frame_name(link)
        if link == TOOL:
            named += f", which is on {mechanism.link_names[mechanism.tool_index]!r},"
        raise ArgumentError(f"no joint moves between the base and {named} of {mechanism.name!r}; name the link to compare")
    _check_followers(mechanism, axes)
    end = pose @ mechanism.frame(link)[1]
    return Chain(mechanism, link, tuple(axes), np.asarray(end, dtype=float))


def _check_followers(mechanism: Tree, axes: list[Axis]) -> None:
    leading = {axis.follower.coordinate for axis in axes if axis.leads}
    lost = [axis.name for axis in axes if axis.follower.coordinate not in leading]
    if lost:
        follow = "follow" if len(lost) > 1 else "follows"
        raise ArgumentError(f"{members(lost)} of {mechanism.name!r} {follow} a joint that is not on the way to the link")


def beside(chain: Chain) -> list[str]:
    """The joints of a chain's mechanism that are not on the way to its end, those that follow others too."""
    on_the_way = {axis.name for axis in chain.axes}
    links = chain.mechanism.links
    return [link.coordinate_name for link in links if link.moves and link.coordinate_name not in on_the_way]


def joint_values(chain: Chain, joints: FloatArray) -> FloatArray:
    """Give the values (..., m) of the chain's joints at the joint coordinates (..., n) of its mechanism."""
    return np.stack([axis.follower.value(joints) for axis in chain.axes], axis=-1)


def coordinates(chain: Chain, values: FloatArray) -> FloatArray:
    """Give the joint coordinates (..., n) at which the chain's joints have these values (..., m); others are zero."""
    q = np.zeros((*values.shape[:-1], chain.mechanism.n))
    for k, axis in enumerate(chain.axes):
        if axis.leads:
            q[..., axis.follower.coordinate] = values[..., k]
    return q


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

    def error(self, turns: bool, signs: FloatArray, offsets: FloatArray) -> float:
        """By how much the offsets do not fulfil it, rad or m; whole turns do not count where the joint turns."""
        error = float(offsets[self.joint] - self.ratios[1] * offsets[self.leader] - self.shift(signs))
        return math.remainder(error, 2 * math.pi) if turns else error

    def shift(self, signs: FloatArray) -> float:
        """The constant of the tie between the offsets."""
        return float(self.shifts[1] - signs[self.joint] * self.shifts[0])


def ties_between(first: Sequence[Axis], second: Sequence[Axis]) -> list[Tie]:
    """The ties of chains in which the same joints share coordinates; none where they do not.

    Which of the joints that share a coordinate is called the leader does not matter, as long as it can be one in both.
    """
    leaders = leaders_of(first)
    if not alike(leaders, leaders_of(second)):
        return []
    ties = []
    for k, j in enumerate(leaders):
        pairs = [(axes[k].follower, axes[j].follower) for axes in (first, second)]
        if k == j or not all(leader.ratio for _, leader in pairs):
            continue
        ratios = [follower.ratio / leader.ratio for follower, leader in pairs]
        shifts = [follower.shift - ratio * leader.shift for (follower, leader), ratio in zip(pairs, ratios, strict=True)]
        ties.append(Tie(k, j, (ratios[0], ratios[1]), (shifts[0], shifts[1])))
    return ties


def leaders_of(axes: Sequence[Axis]) -> list[int]:
    """Which joint of the chain each one follows; itself where it has a coordinate of its own."""
    leading = {axis.follower.coordinate: k for k, axis in enumerate(axes) if axis.leads}
    return [leading[axis.follower.coordinate] for axis in axes]


def alike(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether the same joints share coordinates."""
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))
