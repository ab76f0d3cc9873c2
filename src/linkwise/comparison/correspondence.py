"""Comparison of two descriptions of one robot, by their joint axes, mass matrices, gravity and friction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.comparison.alignment import (
    Aligner,
    Alignment,
    align,
    angle_about,
    best_fit,
    follower_differences,
    misfit,
    rebased,
    simplest,
    tie_error,
    tool_of,
    with_followers,
    wrapped,
)
from linkwise.comparison.axis_chain import (
    JointAxes,
    JointAxis,
    Tie,
    beside,
    chain_of,
    coordinates,
    differences,
    joint_values,
    kinds_differ,
    limit_differences,
    names,
    ties_between,
)
from linkwise.errors import ArgumentError, members, shown
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.formatting.table import Table, as_rows, degrees, laid_out, number, plain, vector
from linkwise.model.tree import Tree
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import generator, numbers


@dataclass(frozen=True, eq=False)
class Comparison:
    """Whether two chains are one, up to base, tool, and the directions and zeros of their joints.

    With x the joint values of the first and y those of the second, y = signs * x + offsets, and for all of them
    ``first.forward_kinematics == base @ second.forward_kinematics @ tool``.

    Attributes
    ----------
    same : bool
        Whether this holds within the tolerance, and with `dynamics` the efforts agree too. Without it the kinematics alone
        were compared, and masses, gravity and friction may differ.
    base, tool : ndarray (4, 4), or None
        T_world1_world2 and T_end2_end1; None where there is nothing near.
    signs, offsets : ndarray (m,), or None
        Of the joints on the way, from the base out; offsets in rad, or m of a prismatic joint.
    position_error, rotation_error : float
        What is left, at most, at random configurations: m and rad; infinite where there is nothing near.
    mass_error, gravity_error, friction_error : float or None
        With `dynamics`: the largest differences of the mass matrix, the efforts against gravity and those of friction, as
        shares of the largest elements.
    differences : tuple of str
        What differs, in words.
    limits : tuple of str
        Limits that differ. They do not count for `same`.
    tol : float
        The tolerance, m and rad.

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.planar_2r()
    >>> found = lw.compare(arm, arm.replace(base=arm.forward_kinematics([0.0, 0.0])))
    >>> found.same, found.signs.tolist()
    (True, [1.0, 1.0])
    """

    same: bool
    tol: float
    base: FloatArray | None = None
    tool: FloatArray | None = None
    signs: FloatArray | None = None
    offsets: FloatArray | None = None
    position_error: float = np.inf
    rotation_error: float = np.inf
    mass_error: float | None = None
    gravity_error: float | None = None
    friction_error: float | None = None
    differences: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    chains: tuple[JointAxes, JointAxes] = field(kw_only=True, repr=False)

    def __bool__(self) -> bool:
        return self.same

    def transferred(self, q: npt.ArrayLike, *, back: bool = False) -> FloatArray:
        """The joint coordinates (..., n) of the second mechanism at those of the first, or back.

        Joints that are not on the way to the link are at zero; those of a floating base, and of other joints with
        quaternions, are no part of it.

        Raises
        ------
        ArgumentError
            Where the mechanisms do not correspond, or q has another number of coordinates.
        """
        if self.signs is None or self.offsets is None:
            raise ArgumentError("the mechanisms do not correspond: " + "; ".join(self.differences))
        source, target = self.chains[::-1] if back else self.chains
        joints = numbers("q", q)
        if not joints.ndim or joints.shape[-1] != source.mechanism.n:
            raise ArgumentError(f"q has shape {shown(joints.shape)}; expected (..., {source.mechanism.n})")
        values = joint_values(source, joints)
        values = (values - self.offsets) * self.signs if back else values * self.signs + self.offsets
        return coordinates(target, values)

    def __str__(self) -> str:
        one, other = (plain(chain.mechanism.name) for chain in self.chains)
        if one == other:
            one, other = f"{one} (first)", f"{other} (second)"
        return "\n".join(_lines(self, one, other))


def _lines(comparison: Comparison, one: str, other: str) -> list[str]:
    """The text of a comparison, line by line."""
    compared = (comparison.mass_error, comparison.gravity_error, comparison.friction_error)
    kinematics = comparison.same and all(error is None for error in compared)
    head = f"{one} and {other}: " + ("kinematics " * kinematics + "the same" if comparison.same else "not the same")
    left = "; masses, gravity and friction were not compared: dynamics=True does" * kinematics
    lines = [f"{head}, to {comparison.tol:g} m and rad{left}", *_left_out(comparison, one, other)]
    if comparison.base is not None and comparison.tool is not None:
        nearly = "" if comparison.same else " at best"
        lines.append(f"{one} = base * {other} * tool{nearly}, for all joint values")
        lines += [f"base: {_frame(comparison.base)}", f"tool: {_frame(comparison.tool)}"]
        residual = f"{comparison.position_error:.2g} m, {comparison.rotation_error:.2g} rad"
        lines.append(f"left at random configurations: {residual}")
        errors = zip(("mass matrix", "gravity", "friction"), compared, strict=True)
        texts = [f"{label} {error:.2g}" for label, error in errors if error is not None]
        if texts:
            lines.append(f"efforts differ by these shares of the largest: {', '.join(texts)}")
        lines += ["", laid_out(Table((f"joint values of {other} at those of {one}",), *as_rows(_columns(comparison))))]
    for head, group in (("what differs", comparison.differences), ("limits that differ", comparison.limits)):
        if group:
            lines += ["", f"{head}:", *(f"  {line}" for line in group)]
    return lines


def _left_out(comparison: Comparison, *names: str) -> list[str]:
    """What the mechanisms have beside the chains that were compared."""
    lines = []
    for name, chain in zip(names, comparison.chains, strict=True):
        parts = [f"joints not on the way to the end: {', '.join(map(plain, beside(chain)))}"] if beside(chain) else []
        parts += ["closed loops"] * bool(chain.mechanism.loops)
        if parts:
            lines.append(f"not compared of {name}: {'; '.join(parts)}")
    return lines


def _columns(comparison: Comparison) -> dict[str, list[str]]:
    first, second = comparison.chains
    assert comparison.signs is not None
    assert comparison.offsets is not None
    pairs = list(zip(first.axes, second.axes, strict=True))
    signs, offsets = comparison.signs.tolist(), comparison.offsets.tolist()
    return {
        "joint": [str(k + 1) for k in range(len(pairs))],
        "names": [names(*pair) for pair in pairs],
        "kind": [one.kind for one, _ in pairs],
        "sign": ["+" if sign > 0 else "-" for sign in signs],
        "offset": [_offset(pair[0].has_line, offset) for pair, offset in zip(pairs, offsets, strict=True)],
    }


def _offset(turns: bool, offset: float) -> str:
    return degrees(round(offset, 10)) if turns else f"{number(round(offset, 10))} m"


def _frame(pose: FloatArray) -> str:
    rounded = np.round(pose, 10)
    if np.array_equal(rounded, np.eye(4)):
        return "none (the identity)"
    angles = " ".join(degrees(round(angle, 10)) for angle in rotation_to_rpy(pose[:3, :3]))
    return f"xyz {vector(rounded[:3, 3])} m, roll pitch yaw {angles}"


MASS_SAMPLES = 16

#: Other zeros of the ends are taken where they bring the differences down to this share.
BETTER = 0.1

#: A length, an angle or a moment that is not worth a turn.
NOTHING = 1e-9


def with_dynamics(comparison: Comparison, seed: int) -> Comparison:
    """The same comparison with the efforts compared too; nothing to compare where the chains do not correspond.

    Raises
    ------
    ArgumentError
        Where a mechanism floats, has loops, or has joints beside those on the way.
    """
    for chain in comparison.chains:
        _check_whole(chain)
    if comparison.signs is None:
        return comparison
    weighted = _compared(comparison, seed)
    if not _same(weighted, weighted.mass_error, weighted.gravity_error):
        weighed = _compared(_weighed(comparison), seed)
        weighted = weighed if _worst(weighed) <= comparison.tol or _worst(weighed) < BETTER * _worst(weighted) else weighted
    first, second = (chain.mechanism for chain in comparison.chains)
    texts = _gravity_text(first, second, np.asarray(weighted.base))
    if not _same(weighted, weighted.mass_error, weighted.gravity_error):
        texts += _bodies(weighted) + _rotors(weighted)
        texts = texts or [f"mass matrix or gravity differ (by {_worst(weighted):.3g} of the largest element)"]
    if not _same(weighted, weighted.friction_error):
        subject = "friction or springs differ" if any(x.mechanism.springs for x in weighted.chains) else "friction differs"
        texts.append(f"{subject} (by {weighted.friction_error:.3g} of the largest)")
    return replace(weighted, same=comparison.same and not texts, differences=(*comparison.differences, *texts))


def _same(comparison: Comparison, *errors: float | None) -> bool:
    return all(error is not None and error <= comparison.tol for error in errors)


def _worst(comparison: Comparison) -> float:
    return max(comparison.mass_error or 0.0, comparison.gravity_error or 0.0)


def _compared(comparison: Comparison, seed: int) -> Comparison:
    """The errors of the efforts under the map."""
    first, second = (chain.mechanism for chain in comparison.chains)
    q, qd = _states(comparison.chains[0], seed)
    mapped = comparison.transferred(q)
    slopes = (comparison.transferred(np.eye(first.n)) - comparison.transferred(np.zeros((1, first.n)))).T  # d q2 / d q1
    mass = _difference(_of(first, "mass_matrix", q), slopes.T @ _of(second, "mass_matrix", mapped) @ slopes)
    gravity = _difference(_of(first, "gravity_torque", q), _of(second, "gravity_torque", mapped) @ slopes)
    friction = _difference(_passive(first, q, qd), _passive(second, mapped, qd @ slopes.T) @ slopes)
    return replace(comparison, mass_error=mass, gravity_error=gravity, friction_error=friction)


def _passive(mechanism: Tree, q: FloatArray, qd: FloatArray) -> FloatArray:
    """The efforts (k, nv) of friction and springs."""
    friction = _of(mechanism, "friction_torque", qd)
    return friction + _of(mechanism, "spring_torque", q, qd) if mechanism.springs else friction


def _weighed(comparison: Comparison) -> Comparison:
    """The first and last offset, which the places of the axes leave free, from gravity and from where the last body is."""
    first, second = comparison.chains
    alignment = Alignment(np.asarray(comparison.base), np.asarray(comparison.signs), np.asarray(comparison.offsets))
    tied = {place for tie in ties_between(first.axes, second.axes) for place in (tie.joint, tie.leader)}
    axis, sign = first.axes[0], float(alignment.signs[0])
    if axis.periodic and 0 not in tied:
        turned = alignment.base[:3, :3] @ second.mechanism.gravity
        angle = _turn_about(axis.direction, turned, first.mechanism.gravity)
        alignment = rebased(second, alignment, wrapped(float(alignment.offsets[0]) - sign * angle)) if angle else alignment
    axis, sign = first.axes[-1], float(alignment.signs[-1])
    if len(first.axes) - 1 in tied:
        return replace(comparison, base=alignment.base, offsets=alignment.offsets, tool=tool_of(first, second, alignment))
    zero = np.zeros(first.mechanism.n)
    one = _inertias(first.mechanism, zero, np.eye(4))[-1]
    other = _inertias(second.mechanism, comparison.transferred(zero), np.asarray(comparison.base))[-1]
    offset = float(alignment.offsets[-1])
    if axis.periodic:
        angle = _turn_of_body(axis, one, other)
        alignment = alignment.with_offset(-1, wrapped(offset + sign * angle)) if angle else alignment
    elif not axis.has_line and one[3, 3] > 0 and other[3, 3] > 0:
        shift = float(axis.direction @ (one[:3, 3] / one[3, 3] - other[:3, 3] / other[3, 3]))
        alignment = alignment.with_offset(-1, offset + sign * shift) if abs(shift) > NOTHING else alignment
    return replace(comparison, base=alignment.base, offsets=alignment.offsets, tool=tool_of(first, second, alignment))


def _turn_of_body(axis: JointAxis, one: FloatArray, other: FloatArray) -> float:
    """The turn about an axis that brings the other body over the one: by first moments, else by products of inertia."""
    arms = [inertia[:3, 3] - inertia[3, 3] * axis.point for inertia in (other, one)]
    angle = _turn_about(axis.direction, *arms)
    if angle or any(np.linalg.norm(np.cross(axis.direction, arm)) > NOTHING for arm in arms):
        return angle
    x = np.linalg.svd(axis.direction[None, :])[2][1]
    y = np.cross(axis.direction, x)
    planes = [np.array([x @ j[:3, :3] @ x - y @ j[:3, :3] @ y, 2.0 * (x @ j[:3, :3] @ y)]) for j in (other, one)]
    flat = [np.append(plane, 0.0) for plane in planes]
    return 0.5 * _turn_about(np.array([0.0, 0.0, 1.0]), *flat)


def _turn_about(w: FloatArray, start: FloatArray, end: FloatArray) -> float:
    """The turn about w that takes one vector over another, 0 where one is along w or nothing is to be turned."""
    if min(np.linalg.norm(np.cross(w, v)) for v in (start, end)) <= NOTHING:
        return 0.0
    angle = angle_about(w, start, end)
    return angle if abs(angle) > NOTHING else 0.0


def _check_whole(chain: JointAxes) -> None:
    mechanism = chain.mechanism
    if mechanism.floating or mechanism.loops:
        reason = "floats" if mechanism.floating else "has loops"
        raise ArgumentError(f"dynamics=True compares chains on the ground, and {mechanism.name!r} {reason}")
    others = beside(chain)
    if others:
        text = f"dynamics=True compares mechanisms whose joints all lie on the way to the link; {mechanism.name!r} has"
        raise ArgumentError(f"{text} {members(others)} beside it")


def _states(chain: JointAxes, seed: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng([seed, 1])
    shape = (MASS_SAMPLES, chain.mechanism.n)
    return rng.uniform(-1.5, 1.5, shape), rng.choice([-1.0, 1.0], shape) * rng.uniform(0.1, 2.0, shape)


def _of(mechanism: Tree, name: str, *args: FloatArray) -> FloatArray:
    return np.asarray(kernel_of(mechanism, name, "numpy", {})(*args))


def _difference(one: FloatArray, other: FloatArray) -> float:
    """The largest difference as a share of the largest element; 0 where both are zero."""
    size = max(float(np.abs(one).max(initial=0.0)), float(np.abs(other).max(initial=0.0)))
    return float(np.abs(one - other).max(initial=0.0)) / size if size else 0.0


def _gravity_text(first: Tree, second: Tree, base: FloatArray) -> list[str]:
    turned = base[:3, :3] @ second.gravity
    if np.abs(first.gravity - turned).max() <= 1e-6 * max(1.0, float(np.linalg.norm(first.gravity))):
        return []
    seen = vector(np.round(turned, 9))
    return [f"gravity: {vector(first.gravity)} m/s2 against {seen} m/s2, seen in the first one's world"]


def _bodies(comparison: Comparison) -> list[str]:
    """Bodies with another mass, first moment or inertia, where they stand with all joints of the first at zero."""
    zero = np.zeros(comparison.chains[0].mechanism.n)
    one = _inertias(comparison.chains[0].mechanism, zero, np.eye(4))
    other = _inertias(comparison.chains[1].mechanism, comparison.transferred(zero), np.asarray(comparison.base))
    size = max(float(np.abs(one).max()), float(np.abs(other).max()), 1e-300)
    texts = []
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        if np.abs(a - b).max() <= comparison.tol * size:
            continue
        label = f"what moves with joint {k + 1} ({names(comparison.chains[0].axes[k], comparison.chains[1].axes[k])})"
        if abs(a[3, 3] - b[3, 3]) > comparison.tol * size:
            texts.append(f"{label}: {number(a[3, 3])} kg against {number(b[3, 3])} kg")
        elif np.abs(a[:3, 3] - b[:3, 3]).max() > comparison.tol * size:
            moments = [vector(np.round(j[:3, 3], 9)) for j in (a, b)]
            texts.append(f"{label}: mass times centre of mass {moments[0]} against {moments[1]} kg m, in the first's world")
        else:
            diagonals = [vector(np.round(np.trace(j[:3, :3]) - j.diagonal()[:3], 9)) for j in (a, b)]
            text = f"inertia {diagonals[0]} kg m2 against {diagonals[1]} kg m2 about x, y and z of the first's world"
            texts.append(f"{label}: {text}" if diagonals[0] != diagonals[1] else f"{label}: products of inertia")
    return texts


def _inertias(mechanism: Tree, q: FloatArray, base: FloatArray) -> FloatArray:
    """Pseudo-inertias (m, 4, 4) of what moves with each joint, in the first one's world."""
    joints = coupling(mechanism)
    tree = moving_bodies(joints.uncoupled)
    poses = body_poses(tree, joints.coordinates(q))
    at = [base @ np.asarray(poses[k], dtype=float) for k in range(len(tree.bodies))]
    return np.array([t @ body.inertia @ t.T for t, body in zip(at, tree.bodies, strict=True)])


def _rotors(comparison: Comparison) -> list[str]:
    """Joints at which another rotor inertia is felt."""
    inertias = []
    for chain in comparison.chains:
        sums = np.zeros(len(chain.axes))
        places = {axis.name: k for k, axis in enumerate(chain.axes)}
        for drive in chain.mechanism.drives:
            sums[places[drive.joint]] += drive.motor.reflected_inertia
        inertias.append(sums)
    texts = []
    for k, (a, b) in enumerate(zip(*inertias, strict=True)):
        if abs(a - b) > comparison.tol * max(a, b):
            label = names(comparison.chains[0].axes[k], comparison.chains[1].axes[k])
            texts.append(f"rotor inertia felt at joint {k + 1} ({label}): {number(a)} kg m2 against {number(b)} kg m2")
    return texts


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
    those beside them, nor closed loops; the text of the result names what was left out. Fixed links may stand anywhere
    in between, and where the frames of the links in between lie does not matter. Joints that follow others must do so in
    both, by the same ratio; which of those that share a coordinate leads does not matter.

    What is free is chosen so that little differs: a sign is + wherever that is possible, from the base on. The first
    joint's offset does what a turn of the base about its axis does, the last joint's what the tool does: these offsets are
    zero, unless with one the base (the tool) is the identity. Offsets of prismatic joints that nothing determines are zero,
    and the base is then as near to its place as it can be.

    Parameters
    ----------
    a, b : Tree
        The two descriptions.
    link_a, link_b : int or str
        Where the chains end: -1 the tool; a name, or an index from 0, that link's own frame.
    tol : float
        m and rad: what the tool may miss at most, at random configurations, to be called the same. A correspondence is
        also found where tables are rounded, with errors of up to some centimetres or degrees; its errors are then reported.
    dynamics : bool
        Whether mass matrix, gravity and friction are compared too. All joints must then lie on the way to the links, and the
        first and the last offset are those with which gravity and the last body agree, if there are such.
    seed : int
        Of the random configurations.

    Raises
    ------
    ArgumentError
        Where no joint moves on the way, there is no such link, a joint follows one that is not on the way, or the tolerance
        is not a positive number.

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
    if not isinstance(tol, (int, float)) or isinstance(tol, bool) or not 0 < tol < math.inf:
        raise ArgumentError(f"tol is {shown(tol)}; expected a number above 0, m and rad")
    generator("seed", seed)
    for name, tree in (("a", a), ("b", b)):
        if not isinstance(tree, Tree):
            raise ArgumentError(f"{name} is {shown(tree)}; expected a Mechanism (load() makes one of a file)")
        tree.require_numbers("compare")
    first, second = chain_of(a, link_a), chain_of(b, link_b)
    texts = kinds_differ(first.axes, second.axes)
    if texts:
        return Comparison(False, tol, differences=tuple(texts), chains=(first, second))
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
        result = Comparison(False, tol, differences=(*texts, *following), chains=(first, second))
        return with_dynamics(result, seed) if dynamics else result
    if reached > FINEST:
        alignment = best_fit(first, second, alignment)
    alignment = _fitted(first, second, alignment, ties, max(FINEST, min(tol, reached)))
    result = _checked(first, second, alignment, tol, seed)
    if result.same:
        result = replace(result, same=not following, differences=tuple(following))
    else:
        texts = texts or ([_stuck(search)] if search.reached < len(first.axes) else [])
        result = replace(result, differences=(*texts, *following, *result.differences))
    return with_dynamics(result, seed) if dynamics else result


def _fitted(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie], tol: float) -> Alignment:
    """The alignment with what it leaves free chosen simply, and so that the joints that follow others fit."""
    alignment = with_followers(first, second, simplest(first, second, alignment, tol), ties)
    return alignment if tie_error(second, alignment, ties) <= FINEST else best_fit(first, second, alignment, ties)


def _checked(first: JointAxes, second: JointAxes, alignment: Alignment, tol: float, seed: int) -> Comparison:
    """The comparison that an alignment makes, its errors taken from forward kinematics."""
    base, tool = alignment.base, tool_of(first, second, alignment)
    result = Comparison(
        False, tol, base, tool, alignment.signs, alignment.offsets,
        chains=(first, second),
        limits=tuple(limit_differences(first.axes, second.axes, alignment.signs, alignment.offsets, tol)),
    )  # fmt: skip
    q = samples(first, seed)
    one = _poses(first, q)
    other = base @ _poses(second, result.transferred(q)) @ tool
    position = float(np.linalg.norm(one[:, :3, 3] - other[:, :3, 3], axis=1).max())
    turned = np.swapaxes(one[:, :3, :3], 1, 2) @ other[:, :3, :3]
    rotation = float(np.max(axis_and_angle(turned)[1]))
    same = max(position, rotation) <= tol
    differences = () if same else (f"at best the ends stay up to {position:.3g} m and {rotation:.3g} rad from each other",)
    return replace(result, same=same, position_error=position, rotation_error=rotation, differences=differences)


def samples(chain: JointAxes, seed: int) -> FloatArray:
    """Random joint coordinates (64, n): any angle, and a metre or the chain's own size both ways for what slides."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-math.pi, math.pi, (SAMPLES, chain.mechanism.n))
    for axis in chain.axes:
        if not axis.has_line:
            q[:, axis.follower.coordinate] *= chain.size / math.pi
    return q


def _poses(chain: JointAxes, q: FloatArray) -> FloatArray:
    """Forward kinematics (k, 4, 4) of the end; a floating base, and what has a quaternion beside, rests in its origin."""
    mechanism = chain.mechanism
    floating = np.broadcast_to(mechanism.neutral[: mechanism.nq - mechanism.n], (len(q), mechanism.nq - mechanism.n))
    kernel = kernel_of(mechanism, "forward_kinematics", "numpy", {"link": chain.link})
    return np.asarray(kernel(np.concatenate([floating, q], axis=1)))


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
