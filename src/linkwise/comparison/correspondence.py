"""Comparison of two descriptions of one robot by their joint axes."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.comparison.alignment import Aligner, Alignment, align
from linkwise.comparison.axis_chain import (
    JointAxes,
    Tie,
    chain_of,
    configuration_of,
    differences,
    kinds_differ,
    limit_differences,
    names,
    ties_between,
)
from linkwise.comparison.dynamics import with_dynamics
from linkwise.comparison.fit import (
    best_fit,
    follower_differences,
    misfit,
    simplest,
    tie_error,
    tool_of,
    with_followers,
)
from linkwise.comparison.result import Comparison
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.quaternion import (
    axis_and_angle,
    quaternion_rotation,
    random_quaternions,
    rotation_quaternion,
)
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import generator, number_within

#: Between these tolerances (m and rad) a correspondence is looked for; beyond them there is none.
FINEST, COARSEST = 1e-9, 0.05

#: Random configurations at which what was found is checked.
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
    """How closely the kinematics of two chains with the same joints agree."""
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
    """The alignment with what it leaves free chosen simply, and so that the joints that follow others fit."""
    alignment = with_followers(first, second, simplest(first, second, alignment, tol), ties)
    return alignment if tie_error(second, alignment, ties) <= FINEST else best_fit(first, second, alignment, ties)


def _checked(first: JointAxes, second: JointAxes, alignment: Alignment, tol: float, seed: int) -> Comparison:
    """The comparison that an alignment makes, its errors taken from forward kinematics."""
    base, tool, turns = alignment.base, tool_of(first, second, alignment), _turns(first, second, alignment)
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
    """What stands before and behind the quaternion of each ball joint of the first chain (m, 2, 4)."""
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
    """Ball joints whose cones are as wide but about another axis."""
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
    """Random joint coordinates (64, n): any angle, and a metre or the chain's own size both ways for what slides.

    Before them random quaternions of the ball joints on the way.
    """
    rng = np.random.default_rng(seed)
    q = rng.uniform(-math.pi, math.pi, (SAMPLES, chain.mechanism.n))
    for axis in chain.axes:
        if not axis.has_line:
            q[:, axis.follower.coordinate] *= chain.size / math.pi
    return np.concatenate([*(random_quaternions(rng, SAMPLES) for axis in chain.axes if axis.is_ball), q], axis=1)


def _poses(chain: JointAxes, q: FloatArray) -> FloatArray:
    """Forward kinematics (k, 4, 4) of the end; a floating base, and what has a quaternion beside, rests in its origin."""
    kernel = kernel_of(chain.mechanism, "forward_kinematics", "numpy", {"link": chain.link})
    return np.asarray(kernel(configuration_of(chain, q)))


def _stuck(search: Aligner) -> str:
    """What can be said where each pair of axes agrees, but not all of them together."""
    first, second = search.first, search.second
    if search.gave_up:
        return "no correspondence was found in the time given: too many axes whose directions may be either way"
    k = min(search.reached, len(first) - 1)
    which = f"axis {k + 1} ({names(first[k], second[k])})"
    if k == 0:
        return f"{which} cannot be brought to its place"
    before = "axis 1" if k == 1 else "axes 1 and 2" if k == 2 else f"axes 1 to {k}"
    return f"{before} can be brought together, and {which} then does not fit: the chains are put together differently"
