"""Comparison of two descriptions of one robot by their joint axes.

An alignment leaves zeros free, and of chains that are nearly the same there is a best fit; joints may follow others.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.comparison.alignment import Aligner, Alignment, align
from linkwise.comparison.axis_chain import (
    JointAxes,
    JointAxis,
    Tie,
    alike,
    chain_of,
    configuration_of,
    differences,
    kinds_differ,
    leaders_of,
    limit_differences,
    names,
    ties_between,
)
from linkwise.comparison.dynamics import with_dynamics
from linkwise.comparison.result import Comparison
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.quaternion import (
    axis_and_angle,
    quaternion_rotation,
    random_quaternions,
    rotation_quaternion,
)
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, transform
from linkwise.spatial.validation import generator, number_within

ROUNDS = 8

#: Full turns of a joint, in both directions, that are tried if it is mimicked: a third of one turn differs from a third of
#: two.
LAPS = 24


#: rad or m: turns that bring the followers no nearer than this are coincidence.
NEAR = 1e-2


def simplest(first: JointAxes, second: JointAxes, alignment: Alignment, tol: float) -> Alignment:
    """The same alignment with the base, or the tool, the identity where the first, or last, zero can do it.

    A turn of the base about the first axis does what an offset of the first joint does, and so do the tool and the last
    joint. The offset is zero unless with one the base (the tool) is the identity.
    """
    start, base, last = alignment, alignment.base, len(second.axes) - 1
    if not _is_identity(base, tol):
        beyond = np.asarray(base @ alignment.motion(second, 0))
        changed = _with_motion(second, 0, alignment, beyond, tol)
        if changed is not None:
            alignment = replace(changed, base=np.eye(4))
        elif second.axes[0].is_ball:
            alignment = replace(alignment.with_turn(0, np.eye(3)), base=beyond)
    if last > 0 or alignment is start:
        tool = alignment.tool(first, second)
        if not _is_identity(tool, tol):
            turned = alignment.motion(second, last) @ second.end @ tool @ inverse(second.end)
            alignment = _with_motion(second, last, alignment, np.asarray(turned, dtype=float), tol) or alignment
    return alignment


def _is_identity(pose: FloatArray, tol: float) -> bool:
    return bool(np.abs(pose - np.eye(4)).max() <= tol)


def _with_motion(chain: JointAxes, k: int, alignment: Alignment, motion: FloatArray, tol: float) -> Alignment | None:
    """Alignment with the offset of joint k for this motion (4, 4), if there is one."""
    axis = chain.axes[k]
    value: Any
    if axis.is_ball:
        value = motion[:3, :3]
    elif not axis.has_line:
        value = float(axis.direction @ motion[:3, 3])
    else:
        about, angle = axis_and_angle(motion[:3, :3])
        value = math.copysign(float(angle), float(about @ axis.direction)) if angle > 0 else 0.0
    if np.abs(axis.displacement(value) - motion).max() > tol:
        return None
    return alignment.with_turn(k, value) if axis.is_ball else alignment.with_offset(k, value)


# ── nearly the same ───────────────────────────────────────────────────────────────────────────────


def best_fit(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie] = ()) -> Alignment:
    """Alignment with the least sum of squared deviations of the axes, from one nearby.

    Directions count in rad, lengths as a share of the reach; so does what the offsets of joints that follow others miss.
    Gauss-Newton over the base and all offsets; what nothing determines stays as it is.
    """
    best, least = alignment, _misses(first, second, alignment, ties)[0]
    for _ in range(ROUNDS):
        size, misses, slopes = _misses(first, second, best, ties, slopes=True)
        step = np.asarray(-np.linalg.lstsq(slopes, misses, rcond=1e-9)[0], dtype=np.float64)
        tried = _stepped(second, best, step, first.size)
        size = _misses(first, second, tried, ties)[0]
        if not size < least:
            break
        best, least = tried, size
    return best


def misfit(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie] = ()) -> float:
    """Root of the sum of squared deviations of the axes and the ties."""
    return math.sqrt(_misses(first, second, alignment, ties)[0])


def _stepped(second: JointAxes, alignment: Alignment, step: FloatArray, size: float) -> Alignment:
    base = np.asarray(transform(_rotation(step[:3]), size * step[3:6]) @ alignment.base, dtype=float)
    offsets, turns, facing = alignment.offsets.copy(), alignment.ball_rotations.copy(), alignment.base[:3, :3]
    for k, (axis, at) in enumerate(zip(second.axes, _columns(second), strict=True)):
        if axis.is_ball:
            turns[k] = facing.T @ _rotation(step[at]) @ facing @ turns[k]
        else:
            offsets[k] += step[at][0]
        facing = facing @ alignment.motion(second, k)[:3, :3]
    return Alignment(base, alignment.signs, offsets, turns)


def _rotation(vector: FloatArray) -> FloatArray:
    """The rotation (3, 3) of a rotation vector (3,)."""
    angle = float(np.linalg.norm(vector))
    return np.asarray(rotation_about(vector / angle, angle), dtype=float) if angle > 0 else np.eye(3)


def _columns(chain: JointAxes) -> list[slice]:
    """The places of each joint among all that may change, behind the six of the base: one, or three of a ball joint."""
    ends = list(accumulate((3 if axis.is_ball else 1 for axis in chain.axes), initial=6))
    return [slice(*pair) for pair in pairwise(ends)]


def _misses(
    first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie], *, slopes: bool = False
) -> tuple[float, FloatArray, FloatArray]:
    """Sum of squares, deviations of each axis and each tie, and their derivatives by base and offsets."""
    size, places = first.size, _columns(second)
    values, changes = [], []
    twists = np.zeros((places[-1].stop, 6))  # turning, shift of the world's origin: of the base, then of each joint
    twists[:3, :3], twists[3:6, 3:] = np.eye(3), size * np.eye(3)
    pose = alignment.base
    for k, (axis, wanted) in enumerate(zip(second.axes, first.axes, strict=True)):
        u, p = pose[:3, :3] @ axis.direction, pose[:3, :3] @ axis.point + pose[:3, 3]
        across = np.eye(3) - (0.0 if axis.is_ball else np.outer(wanted.direction, wanted.direction))
        if not axis.is_ball:
            values.append(u - alignment.signs[k] * wanted.direction)
            if slopes:
                changes.append(np.cross(twists[:, :3], u).T)
        if axis.has_line:
            values.append(across @ (p - wanted.point) / size)
            if slopes:
                changes.append(across @ (np.cross(twists[:, :3], p) + twists[:, 3:]).T / size)
        along = axis.pitch if axis.has_line else 1.0
        turning = np.eye(3) if axis.is_ball else u[None] * axis.has_line
        twists[places[k]] = np.concatenate([turning, np.cross(p, turning) + along * u], axis=1)
        pose = pose @ alignment.motion(second, k)
    for tie in ties:
        axis = second.axes[tie.joint]
        unit = 1.0 if axis.has_line else size
        values.append(np.array([tie.error(axis.periodic, alignment.signs, alignment.offsets) / unit]))
        row = np.zeros((1, len(twists)))
        row[:, places[tie.joint]], row[:, places[tie.leader]] = 1.0 / unit, -tie.ratios[1] / unit
        changes.append(row)
    misses = np.concatenate(values)
    return float(misses @ misses), misses, np.concatenate(changes) if slopes else np.zeros((0, 0))


def follower_differences(first: Sequence[JointAxis], second: Sequence[JointAxis]) -> list[str]:
    """Joints that follow another one in one description and not in the other, or by another ratio."""
    leaders = [leaders_of(axes) for axes in (first, second)]
    if not alike(*leaders):
        lines = []
        for k, pair in enumerate(zip(*leaders, strict=True)):
            if pair[0] != pair[1]:
                texts = ["has a coordinate of its own" if j == k else f"follows joint {j + 1}" for j in pair]
                lines.append(f"joint {k + 1} ({names(first[k], second[k])}): {texts[0]} against {texts[1]}")
        return lines
    return [
        f"ratio by which joint {tie.joint + 1} follows joint {tie.leader + 1}: {abs(left):g} against {abs(right):g}"
        for tie in ties_between(first, second)
        for left, right in [tie.ratios]
        if not np.isclose(abs(left), abs(right), rtol=1e-9, atol=0)
    ]


def with_followers(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> Alignment:
    """Alignment with the free zeros of the first and last joint chosen to fit the mimic joints.

    Whole turns of the leaders are then chosen so that this holds for all their followers.
    """
    last = len(first.axes) - 1
    for tie in ties:
        k, j, ratio = tie.joint, tie.leader, tie.ratios[1]
        chosen = next((joint for joint in (k, j) if joint in {0, last}), None)
        if chosen is None or not ratio:
            continue
        shift = tie.shift(alignment.signs)
        value = ratio * alignment.offsets[j] + shift if chosen == k else (alignment.offsets[k] - shift) / ratio
        alignment = alignment.rebased(second, float(value)) if chosen == 0 else alignment.with_offset(-1, float(value))
    return _lapped(second, alignment, ties)


def tie_error(second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> float:
    """Greatest violation of the ties by the offsets, rad or m."""
    errors = (tie.error(second.axes[tie.joint].periodic, alignment.signs, alignment.offsets) for tie in ties)
    return max(map(abs, errors), default=0.0)


def _lapped(second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> Alignment:
    """The alignment with whole turns of revolute leaders with which all their followers are best."""
    for j in sorted({tie.leader for tie in ties if second.axes[tie.leader].periodic}):
        following = [tie for tie in ties if tie.leader == j]
        turned = alignment.offsets[j] + 2 * math.pi * np.arange(-LAPS, LAPS + 1)
        candidates = [alignment.with_offset(j, value) for value in sorted(turned.tolist(), key=abs)]
        errors = [tie_error(second, candidate, following) for candidate in candidates]
        if min(errors) <= NEAR:
            alignment = next(c for c, error in zip(candidates, errors, strict=True) if error <= max(2 * min(errors), 1e-7))
    return alignment


#: Between these tolerances (m and rad) a correspondence is looked for; beyond them there is none.
FINEST, COARSEST = 1e-9, 0.05

#: Random configurations at which a result is verified.
SAMPLES = 64


def compare(
    a: Tree,
    b: Tree,
    *,
    link_a: int | str = "tool",
    link_b: int | str = "tool",
    tol: float = 1e-6,
    dynamics: bool = False,
    seed: int = 0,
) -> Comparison:
    """Compare two descriptions of one robot: a table and a URDF, the standard and the modified convention, two toolboxes.

    Finds the constant base and tool and, for each joint, the sign and the zero with which for all joint values x

        forward_kinematics(a, x) = base @ forward_kinematics(b, signs * x + offsets) @ tool

    or says what differs and where. That is of the kinematics alone: robots that are the same so may have other masses,
    gravity and friction, which `dynamics` compares. Only the joints between the base and the chosen links count, not
    those beside them, nor closed loops; the text of the result names what was left out. A ball joint has a centre in the
    place of an axis, and in the place of an offset a turn before its quaternion and one behind it. Fixed links may stand
    anywhere in between, and where the frames of the links in between lie does not matter. Joints that follow others must do
    so in both, by the same ratio; which of those that share a coordinate leads does not matter.

    What is free is chosen so that little differs: a sign is + wherever that is possible, from the base on. The first
    joint's offset does what a turn of the base about its axis does, the last joint's what the tool does: these offsets are
    zero, unless with one the base (the tool) is the identity. Offsets of prismatic joints that nothing determines are zero,
    and the base is then as near to its place as it can be.

    Parameters
    ----------
    a, b : Tree
        The two descriptions.
    link_a, link_b : int or str
        Where the chains end: ``"tool"``, or a link by name or index (-1 the last): its own frame.
    tol : float
        m and rad: what the tool may miss at most, at random configurations, to be called the same. A correspondence is
        also found where tables are rounded, with errors of up to some centimetres or degrees; its errors are then reported.
    dynamics : bool
        Whether mass matrix, gravity and friction are compared too. All joints must then lie on the way to the links and have
        no quaternions, and the
        first and the last offset are those with which gravity and the last body agree, if there are such.
    seed : int
        Seed of the random configurations.

    Raises
    ------
    ArgumentError
        Where no joint moves on the way, there is no such link, a joint floats or follows one that is not on the way, or the
        tolerance is not a positive number.

    Notes
    -----
    The distance and the angle between successive joint axes do not depend on zeros, signs, base or tool; the directions
    follow from the angles, the offsets from the common normals of successive axes (J. Denavit and R. S. Hartenberg, "A
    kinematic notation for lower-pair mechanisms based on matrices", J. Appl. Mech. 22, 1955). What was found is checked by
    forward kinematics, which has no part in finding it. Offsets of screws are looked for within one turn and a half of zero,
    and screws on the axis of the joint beside them are not looked at closely. Where joints follow others and several axes
    are parallel or meet at right angles, a correspondence may rarely be missed; what is called the same, is.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Link, Mechanism
    >>> table = Mechanism.from_dh([(0, 0.3, 0, np.pi / 2), (0, 0, 0.5, 0)], convention="standard", name="table")
    >>> joints = [Link(before=Link.dh(d=0.3, convention="standard").after), Link(axis=(0, -1, 0))]
    >>> drawn = Mechanism(joints, name="drawn")
    >>> found = compare(table, drawn)
    >>> found.same, found.signs.tolist(), found.tool[:3, 3].round(9).tolist()
    (True, [1.0, 1.0], [0.5, 0.0, 0.0])
    """
    number_within("tol", tol, math.ulp(0.0), sys.float_info.max, "a number above 0, m and rad")
    generator("seed", seed)
    for name, tree in (("a", a), ("b", b)):
        require_tree(tree, name)
        tree.require_numbers("compare")
    first, second = chain_of(a, link_a), chain_of(b, link_b)
    texts = kinds_differ(first.axes, second.axes)
    if texts:
        return Comparison(False, tol, differences=tuple(texts), chains=(first, second))
    result = _compared(first, second, tol, seed)
    return with_dynamics(result, seed) if dynamics else result


def _compared(first: JointAxes, second: JointAxes, tol: float, seed: int) -> Comparison:
    """Agreement of the kinematics of two chains with the same joints."""
    texts = differences(first.axes, second.axes, tol)
    ties = ties_between(first.axes, second.axes)

    def fits(tried: Alignment, tol: float) -> bool:
        return misfit(first, second, _fitted(first, second, tried, ties, tol), ties) <= tol

    alignment, reached, search = align(first, second, FINEST, max(COARSEST, tol), ties, fits if ties else None)
    if alignment is None and ties:
        alignment, reached, search = align(first, second, FINEST, max(COARSEST, tol))
    following = follower_differences(first.axes, second.axes)
    if alignment is None:
        texts = texts or [_stuck(search)]
        return Comparison(False, tol, differences=(*texts, *following), chains=(first, second))
    if reached > FINEST:
        alignment = best_fit(first, second, alignment)
    alignment = _fitted(first, second, alignment, ties, max(FINEST, min(tol, reached)))
    result = _checked(first, second, alignment, tol, seed)
    if result.same:
        return replace(result, same=not following, differences=tuple(following))
    texts = texts or ([_stuck(search)] if search.reached < len(first.axes) else [])
    return replace(result, differences=(*texts, *following, *result.differences))


def _fitted(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie], tol: float) -> Alignment:
    """Alignment with its free parts chosen simply, and to fit the mimic joints."""
    alignment = with_followers(first, second, simplest(first, second, alignment, tol), ties)
    return alignment if tie_error(second, alignment, ties) <= FINEST else best_fit(first, second, alignment, ties)


def _checked(first: JointAxes, second: JointAxes, alignment: Alignment, tol: float, seed: int) -> Comparison:
    """Comparison for an alignment, with errors from forward kinematics."""
    base, tool, turns = alignment.base, alignment.tool(first, second), _turns(first, second, alignment)
    limits = limit_differences(first.axes, second.axes, alignment.signs, alignment.offsets, tol)
    result = Comparison(
        False, tol, base, tool, alignment.signs, alignment.offsets, turns,
        chains=(first, second),
        limits=(*limits, *_cone_differences(first, second, turns, tol)),
    )  # fmt: skip
    q = samples(first, seed)
    left = _poses(first, q)
    right = base @ _poses(second, result.transferred(q)) @ tool
    position = float(np.linalg.norm(left[:, :3, 3] - right[:, :3, 3], axis=1).max())
    turned = np.swapaxes(left[:, :3, :3], 1, 2) @ right[:, :3, :3]
    rotation = float(np.max(axis_and_angle(turned)[1]))
    same = max(position, rotation) <= tol
    differences = () if same else (f"at best the ends stay up to {position:.3g} m and {rotation:.3g} rad from each other",)
    return replace(result, same=same, position_error=position, rotation_error=rotation, differences=differences)


def _turns(first: JointAxes, second: JointAxes, alignment: Alignment) -> FloatArray:
    """Quaternions before and after that of each ball joint of the first chain (m, 2, 4)."""
    result = np.tile([1.0, 0.0, 0.0, 0.0], (len(first.axes), 2, 1))
    facing = alignment.base[:3, :3]
    for k, (left, right) in enumerate(zip(first.axes, second.axes, strict=True)):
        if left.facing is not None and right.facing is not None:
            before = (facing @ right.facing).T @ left.facing
            beyond = left.facing.T @ facing @ alignment.ball_rotations[k] @ right.facing
            result[k] = rotation_quaternion(before), rotation_quaternion(beyond)
        facing = facing @ alignment.motion(second, k)[:3, :3]
    return result


def _cone_differences(first: JointAxes, second: JointAxes, turns: FloatArray, tol: float) -> list[str]:
    """Ball joints whose cones have equal angles but different axes."""
    texts = []
    for k, (left, right) in enumerate(zip(first.axes, second.axes, strict=True)):
        if left.facing is None or right.facing is None or left.limits != right.limits or not np.isfinite(left.limits[1]):
            continue
        mine, its = left.facing.T @ left.direction, right.facing.T @ right.direction
        before, beyond = (np.asarray(quaternion_rotation(turn)) for turn in turns[k])
        ends = [before.T @ its, beyond @ its]  # (in the parent, in the child: both are the axis, or both its opposite)
        if min(max(float(np.abs(end - sign * mine).max()) for end in ends) for sign in (1.0, -1.0)) > tol:
            texts.append(f"axis of the cone of joint {k + 1} ({names(left, right)})")
    return texts


def samples(chain: JointAxes, seed: int) -> FloatArray:
    """Random joint coordinates (64, n): any angle; slides within a metre or the chain's own size in both directions.

    Before them random quaternions of the ball joints on the way.
    """
    rng = np.random.default_rng(seed)
    q = rng.uniform(-math.pi, math.pi, (SAMPLES, chain.mechanism.n))
    for axis in chain.axes:
        if not axis.has_line:
            q[:, axis.follower.coordinate] *= chain.size / math.pi
    return np.concatenate([*(random_quaternions(rng, SAMPLES) for axis in chain.axes if axis.is_ball), q], axis=1)


def _poses(chain: JointAxes, q: FloatArray) -> FloatArray:
    """Forward kinematics (k, 4, 4) of the end; a floating base, and other joints with quaternions, are at rest."""
    kernel = kernel_of(chain.mechanism, "forward_kinematics", "numpy", {"link": chain.link})
    return np.asarray(kernel(configuration_of(chain, q)))


def _stuck(search: Aligner) -> str:
    """Message if each pair of axes agrees, but not all of them together."""
    first, second = search.first, search.second
    if search.gave_up:
        return "no correspondence was found in the time given: too many axes whose directions may be either way"
    k = min(search.reached, len(first) - 1)
    which = f"axis {k + 1} ({names(first[k], second[k])})"
    if k == 0:
        return f"{which} cannot be brought to its place"
    before = "axis 1" if k == 1 else "axes 1 and 2" if k == 2 else f"axes 1 to {k}"
    return f"{before} can be brought together, and {which} then does not fit: the chains are put together differently"
