"""Joint axes of a chain with all joints at zero, coupled joints, and invariants of neighbouring axes.

With x the joint values of a first chain and y those of a second, a tie is x_k = r x_j + s in the one, and
y_k = r' y_j + s' in the other. As y = signs x + offsets, the signs must fulfil sign_k sign_j r = r', and the offsets
offset_k = r' offset_j + s' - sign_k s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, members
from linkwise.model.assembly import separated
from linkwise.model.formatting.table import degrees, number, plain
from linkwise.model.mimic import Follower
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.lines import feet
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.screw import screw_transform
from linkwise.spatial.transform import transform, translation


@dataclass(frozen=True)
class JointAxis:
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
        Limits of the joint's own value, rad or m.
    leads : bool
        Whether the joint has a coordinate of its own, and follows no other.
    facing : ndarray (3, 3) or None
        The axes of the joint's frame where it turns about the point in all ways; None of other joints. The direction is then
        that of the axis that its limits are of.
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
    facing: FloatArray | None = None

    @property
    def is_ball(self) -> bool:
        """True if the joint rotates about its point in all directions."""
        return self.facing is not None

    @property
    def periodic(self) -> bool:
        """True if the joint only rotates about its axis: full turns do not count."""
        return self.has_line and not self.pitch

    def displacement(self, value: Any) -> FloatArray:
        """The motion (4, 4) of all beyond the joint by a value of it from zero, the other joints at zero, in the world.

        The value of a ball joint is a turn (3, 3), in the world.
        """
        if self.is_ball:
            return np.asarray(transform(value, self.point - value @ self.point), dtype=float)
        if not self.has_line:
            return np.asarray(translation(*(value * self.direction)), dtype=float)
        return np.asarray(screw_transform(self.direction, value, self.point, self.pitch * value), dtype=float)


@dataclass(frozen=True)
class JointAxes:
    """The joints from the base to a link.

    Attributes
    ----------
    mechanism : Tree
        The mechanism.
    link : int or str
        Where it ends, as `Mechanism.forward_kinematics` takes it.
    axes : tuple of JointAxis
        From the base out.
    end : ndarray (4, 4)
        T_world_end with every joint at zero.
    """

    mechanism: Tree
    link: int | str
    axes: tuple[JointAxis, ...]
    end: FloatArray

    @property
    def size(self) -> float:
        """Extent of the chain, m; at least 1e-6."""
        points = np.array([self.end[:3, 3], *(axis.point for axis in self.axes)])
        return max(float(np.linalg.norm(np.ptp(points, axis=0))), 1e-6)


def chain_of(mechanism: Tree, link: int | str) -> JointAxes:
    """Extract the chain of a mechanism; a floating base, and joints with quaternions beside the chain, are at rest.

    Raises
    ------
    ArgumentError
        Where no joint moves on the way, one floats, or follows one that is not on the way.
    """
    link = link if isinstance(link, str) else mechanism.link_names[mechanism.link_index(link)]
    on_the_way = mechanism.path(link)
    for at in mechanism.manifold_joints:
        if at.link in on_the_way and not at.joint.is_rotation:
            problem = (
                f"{mechanism.name!r} has the {at.joint.kind} joint {at.name!r} on the way to {mechanism.frame_name(link)}"
            )
            raise ArgumentError(f"{problem}, beyond which nothing is fixed; lock it")
    mechanism = separated(mechanism)
    pose = np.asarray(mechanism.base, dtype=float)
    axes: list[JointAxis] = []
    for k in mechanism.path(link):
        part = mechanism.links[k]
        pose = pose @ part.before
        if part.moves:
            ball = mechanism.manifold_joint_of(k)
            limits = part.limits or ((0.0, np.inf) if ball else (-np.inf, np.inf))
            direction = pose[:3, :3] @ part.axis
            turns = ball is not None or not np.array_equal(part.motion(1.0)[:3, :3], np.eye(3))
            line = (direction, pose[:3, 3], part.pitch, turns)
            follower = mechanism.followers[k]
            facing = pose[:3, :3] if ball else None
            leads = part.mimic is None
            axes.append(JointAxis(part.coordinate_name, part.joint, *line, follower, limits, leads, facing))
        pose = np.asarray(pose @ part.motion() @ part.after, dtype=float)
    if not axes:
        named = mechanism.frame_name(link)
        if link == TOOL:
            named += f", which is on {mechanism.link_names[mechanism.tool_index]!r},"
        raise ArgumentError(f"no joint moves between the base and {named} of {mechanism.name!r}; name the link to compare")
    _check_followers(mechanism, axes)
    end = pose @ mechanism.frame(link)[1]
    return JointAxes(mechanism, link, tuple(axes), np.asarray(end, dtype=float))


def _check_followers(mechanism: Tree, axes: list[JointAxis]) -> None:
    leading = {axis.follower.coordinate for axis in axes if axis.leads}
    lost = [axis.name for axis in axes if axis.follower.coordinate not in leading]
    if lost:
        follow = "follow" if len(lost) > 1 else "follows"
        raise ArgumentError(f"{members(lost)} of {mechanism.name!r} {follow} a joint that is not on the way to the link")


def beside(chain: JointAxes) -> list[str]:
    """Joints of a chain's mechanism that do not belong to the chain, including mimic joints."""
    on_the_way = {axis.name for axis in chain.axes}
    links = chain.mechanism.links
    return [link.coordinate_name for link in links if link.moves and link.coordinate_name not in on_the_way]


def joint_values(chain: JointAxes, joints: FloatArray) -> FloatArray:
    """Give the values (..., m) of the chain's joints, 0 of ball joints, at the joint coordinates (..., n)."""
    values = [np.broadcast_to(axis.follower.value(joints), joints.shape[:-1]) for axis in chain.axes]
    return np.stack(values, axis=-1)


def coordinates(chain: JointAxes, values: FloatArray) -> FloatArray:
    """Give the joint coordinates (..., n) at which the chain's joints have these values (..., m); others are zero."""
    q = np.zeros((*values.shape[:-1], chain.mechanism.n))
    for k, axis in enumerate(chain.axes):
        if axis.leads and not axis.is_ball:
            q[..., axis.follower.coordinate] = values[..., k]
    return q


def configuration_of(chain: JointAxes, q: FloatArray) -> FloatArray:
    """Configuration (k, nq) from quaternions of the chain's ball joints, in its order, and joint coordinates.

    A floating base, and what has a quaternion beside, rests in its origin.
    """
    mechanism, end = chain.mechanism, 0
    whole = np.tile(mechanism.neutral, (len(q), 1))
    whole[:, mechanism.nq - mechanism.n :] = q[:, q.shape[1] - mechanism.n :]
    for k in mechanism.path(chain.link):
        if at := mechanism.manifold_joint_of(k):
            whole[:, at.quaternion], end = q[:, end : end + 4], end + 4
    return whole


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
        """Violation of the tie by the offsets, rad or m; modulo full turns for a rotational joint."""
        error = float(offsets[self.joint] - self.ratios[1] * offsets[self.leader] - self.shift(signs))
        return math.remainder(error, 2 * math.pi) if turns else error

    def shift(self, signs: FloatArray) -> float:
        """The constant of the tie between the offsets."""
        return float(self.shifts[1] - signs[self.joint] * self.shifts[0])


def ties_between(first: Sequence[JointAxis], second: Sequence[JointAxis]) -> list[Tie]:
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


def leaders_of(axes: Sequence[JointAxis]) -> list[int]:
    """Leader of each joint of the chain; the joint itself if it has its own coordinate."""
    leading = {axis.follower.coordinate: k for k, axis in enumerate(axes) if axis.leads}
    return [k if axis.is_ball else leading[axis.follower.coordinate] for k, axis in enumerate(axes)]


def alike(left: Sequence[int], right: Sequence[int]) -> bool:
    """True if the same joints share coordinates."""
    return len(set(zip(left, right, strict=True))) == len(set(left)) == len(set(right))


#: Name, format of two values, and values in both chains.
Invariant = tuple[str, Callable[[float, float], str], float, float]

#: Axes within so many tolerances of parallel have no normal worth a number.
NEARLY = 1e3


def kinds_differ(first: Sequence[JointAxis], second: Sequence[JointAxis]) -> list[str]:
    """Differences that make a comparison of lengths and angles pointless: other kinds or number of joints."""
    if len(first) != len(second):
        left, right = (f"{len(axes)} ({', '.join(plain(axis.name) for axis in axes)})" for axes in (first, second))
        return [f"number of joints on the way: {left} against {right}"]
    return [
        f"{_joint(first, second, k)}: {left.kind} against {right.kind}"
        for k, (left, right) in enumerate(zip(first, second, strict=True))
        if left.kind != right.kind
    ]


def differences(first: Sequence[JointAxis], second: Sequence[JointAxis], tol: float) -> list[str]:
    """Every pitch, twist, distance and shift in which the chains differ by more than the tolerance, m and rad."""
    numbered = zip(range(len(first)), first, second, strict=True)
    invariants: list[Invariant] = [
        *((f"pitch of {_joint(first, second, k)}", _pitches, a.pitch, b.pitch) for k, a, b in numbered),
        *_pairs(first, second, tol),
        *_slides(first, second, tol),
        *_shifts(first, second, tol),
    ]
    return [f"{label}: {text(left, right)}" for label, text, left, right in invariants if abs(left - right) > tol]


def _pairs(first: Sequence[JointAxis], second: Sequence[JointAxis], tol: float) -> Iterator[Invariant]:
    """Successive axes: the angle between them and, where both have a line, the distance."""
    for k in range(len(first) - 1):
        between = f"between {_axes(first, second, k, k + 1)}"
        if first[k].is_ball or first[k + 1].is_ball:
            if first[k].has_line and first[k + 1].has_line:
                left, right = (_from_centre(axes[k], axes[k + 1]) for axes in (first, second))
                yield f"distance {between}", _lengths, left, right
            continue
        left, right = (twist(axes[k], axes[k + 1]) for axes in (first, second))
        yield f"twist {between}", _angles, left, right
        parallel = left <= tol
        if first[k].has_line and first[k + 1].has_line and parallel == (right <= tol):
            left, right = (distance(axes[k], axes[k + 1], parallel) for axes in (first, second))
            yield f"distance {between}", _lengths, left, right


def _slides(first: Sequence[JointAxis], second: Sequence[JointAxis], tol: float) -> Iterator[Invariant]:
    """The angle about a prismatic joint between the directions beside it, which no joint can turn."""
    for k in range(1, len(first) - 1):
        beside = first[k - 1].is_ball or first[k + 1].is_ball
        if not first[k].has_line and not beside and min(_twists(first, second, k - 1, k)) > NEARLY * tol:
            left, right = (_dihedral(*axes[k - 1 : k + 2]) for axes in (first, second))
            sides = _axes(first, second, k - 1, k + 1)
            yield f"angle about {_axes(first, second, k)} between {sides}", _angles, left, right


def _shifts(first: Sequence[JointAxis], second: Sequence[JointAxis], tol: float) -> Iterator[Invariant]:
    """The shift along a revolute axis, or along several parallel ones, between its normals to the axes beside it."""
    start = 1
    while start < len(first) - 1:
        end = start
        while end + 1 < len(first) and max(_twists(first, second, end)) <= tol:
            end += 1
        sides = (start - 1, end + 1)
        turning = all(first[k].periodic for k in range(start, end + 1))
        turning &= not any(axis.is_ball for axis in first[start - 1 : end + 2])
        if turning and end + 1 < len(first) and all(first[k].has_line for k in sides):
            normals = min(_twists(first, second, start - 1, end)) > NEARLY * tol
            left, right = (_shift(axes, start, end) if normals else 0.0 for axes in (first, second))
            along = _axes(first, second, *sorted({start, end})).replace(" and ", " to ")
            yield f"shift along {along} between normals to {_axes(first, second, *sides)}", _lengths, left, right
        start = end + 1


def _twists(first: Sequence[JointAxis], second: Sequence[JointAxis], *which: int) -> list[float]:
    return [twist(axes[j], axes[j + 1]) for axes in (first, second) for j in which]


def twist(left: JointAxis, right: JointAxis) -> float:
    """Angle between two axes without regard to their senses, 0 to pi/2."""
    across = float(np.linalg.norm(np.cross(left.direction, right.direction)))
    return math.atan2(across, abs(float(left.direction @ right.direction)))


def distance(left: JointAxis, right: JointAxis, parallel: bool) -> float:
    """The distance of two lines, m."""
    between = right.point - left.point
    if parallel:
        return float(np.linalg.norm(between - left.direction * float(between @ left.direction)))
    normal = np.cross(left.direction, right.direction)
    return abs(float(between @ normal)) / float(np.linalg.norm(normal))


def _from_centre(left: JointAxis, right: JointAxis) -> float:
    """The distance of the centre of a ball joint from another, or from a line, m."""
    between = right.point - left.point
    line = next((axis for axis in (left, right) if not axis.is_ball), None)
    return float(np.linalg.norm(between if line is None else np.cross(line.direction, between)))


def _shift(axes: Sequence[JointAxis], start: int, end: int) -> float:
    """Distance along parallel axes between the feet of the normals on the first and on the last, m."""
    pairs = [(axes[start], axes[start - 1]), (axes[end], axes[end + 1])]
    left, right = (feet(a.point, a.direction, b.point, b.direction)[0] for a, b in pairs)
    return abs(float(axes[start].direction @ (right - left)))


def _dihedral(before: JointAxis, middle: JointAxis, after: JointAxis) -> float:
    """The angle about the middle axis between the directions beside it, 0 to pi/2."""
    left, right = (np.cross(middle.direction, axis.direction) for axis in (before, after))
    return math.atan2(float(np.linalg.norm(np.cross(left, right))), abs(float(left @ right)))


# ── words ─────────────────────────────────────────────────────────────────────────────────────────


def _joint(first: Sequence[JointAxis], second: Sequence[JointAxis], k: int) -> str:
    return f"joint {k + 1} ({names(first[k], second[k])})"


def _axes(first: Sequence[JointAxis], second: Sequence[JointAxis], *which: int) -> str:
    labels = [f"{k + 1} ({names(first[k], second[k])})" for k in which]
    return f"axis {labels[0]}" if len(labels) == 1 else f"axes {labels[0]} and {labels[1]}"


def names(left: JointAxis, right: JointAxis) -> str:
    """Name of a joint in both descriptions."""
    return plain(left.name) if left.name == right.name else f"{plain(left.name)}, {plain(right.name)}"


def pair_text(left: float, right: float) -> tuple[str, str]:
    """Two numbers with as many digits as necessary to distinguish them.

    Examples
    --------
    >>> pair_text(0.4318, 0.4331), pair_text(1.0, 1.00000001)
    (('0.4318', '0.4331'), ('1', '1.00000001'))
    """
    for digits in range(6, 18):
        texts = f"{left + 0.0:.{digits}g}", f"{right + 0.0:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def _pitches(left: float, right: float) -> str:
    return f"{number(left)} m/rad against {number(right)} m/rad"


def _lengths(left: float, right: float) -> str:
    a, b = pair_text(_clean(left), _clean(right))
    return f"{a} m against {b} m"


def _angles(left: float, right: float) -> str:
    a, b = pair_text(_clean(math.degrees(left)), _clean(math.degrees(right)))
    return f"{a}° against {b}°"


def _clean(value: float) -> float:
    """Round off rounding errors of zero and of round numbers."""
    return round(value, 12)


def limit_differences(
    first: Sequence[JointAxis], second: Sequence[JointAxis], signs: FloatArray, offsets: FloatArray, tol: float
) -> list[str]:
    """Joints with different limits, those of the second converted to values of the first."""
    texts = []
    for k, (left, right) in enumerate(zip(first, second, strict=True)):
        low, high = sorted(signs[k] * (limit - offsets[k]) for limit in right.limits)
        if left.periodic and np.isfinite(low) and np.isfinite(left.limits[0]):
            laps = 2 * math.pi * round((left.limits[0] - low) / (2 * math.pi))
            low, high = low + laps, high + laps
        mine = left.limits
        if any(a != b and not abs(a - b) <= tol for a, b in zip(mine, (low, high), strict=True)):
            write = degrees if left.has_line else lambda value: f"{number(value)} m"
            ranges = [f"{write(a)} to {write(b)}" if np.isfinite([a, b]).any() else "none" for a, b in (mine, (low, high))]
            texts.append(f"limits of {_joint(first, second, k)}: {ranges[0]} against {ranges[1]}, in values of the first")
    return texts
