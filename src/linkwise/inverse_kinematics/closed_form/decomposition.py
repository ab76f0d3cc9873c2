"""Recognition of closed forms: which family solves a chain, verified at random positions, or why none does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.errors import members
from linkwise.inverse_kinematics.closed_form.axis_chain import EXACT, AxisChain, chain_of, part, settled
from linkwise.inverse_kinematics.closed_form.axis_clusters import blocks
from linkwise.inverse_kinematics.closed_form.five_revolute import parallel_groups
from linkwise.inverse_kinematics.closed_form.planar_chain import RotationFirst, planar_runs, plane_first, rotation_first
from linkwise.inverse_kinematics.closed_form.position import equation_order, place_point
from linkwise.inverse_kinematics.closed_form.position_pairs import EquationOrder
from linkwise.inverse_kinematics.closed_form.problem import (
    ROWS,
    Axis,
    Branch,
    Family,
    Setting,
    Solve,
    Way,
    axes_of,
    values_at,
)
from linkwise.inverse_kinematics.closed_form.six_revolute import parallel, spherical
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import inverse


@dataclass(frozen=True, eq=False)
class PositionOnly(Way):
    """Three joints or fewer that bring the origin of the end frame to a point; only that column of the pose is read."""

    setting: Setting
    plan: EquationOrder | None
    name: str = "the position alone gives all joints"

    @property
    def misfit(self) -> float:
        """Deviation of the true chain from the solved one (rad, or relative to its size)."""
        return self.plan.misfit if self.plan else 0.0

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Return all branches, for the joints of the setting's chain; the fixed joint keeps its value."""
        branches = place_point(*_ends(self.setting, displacement, free), self.plan, self.setting.chain.size)
        return [self.setting.branch(values, free) for values in branches]


def _ends(setting: Setting, displacement: Array, free: Sequence[Any]) -> tuple[list[Axis], Array, Array]:
    """Return the axes of the free joints, and the point that they move: its start and its goal."""
    axes, _ = setting.written(displacement, free)
    home = setting.chain.home[:3, 3]
    goal = displacement[:3, :3] @ home + displacement[:3, 3]
    if setting.fixed is None:
        return axes, home, goal
    moved = axes_of(setting.chain, free)[setting.fixed].displacement(free[setting.fixed])
    return axes, moved[:3, :3] @ home + moved[:3, 3], goal


def position_only(setting: Setting) -> PositionOnly | None:
    """Recognise three joints or fewer that can place a point."""
    if not 1 <= len(setting.free_joints) <= 3:
        return None
    samples = (_ends(setting, setting.reached(joints), joints) for joints in setting.random())
    possible, plan = equation_order(samples, setting.chain.size)
    return PositionOnly(setting, plan) if possible else None


def orientation_only(setting: Setting) -> RotationFirst | None:
    """Recognise three joints or fewer that turn the end frame, none parallel to the next; only the rotation is read."""
    translates = any(setting.chain.translates[k] for k in setting.free_joints)
    first = None if translates or not setting.free_joints else rotation_first(setting)
    return first and replace(first, name="the orientation alone gives all joints")


#: Random positions that a decomposition must reproduce before it is accepted.
TRIALS = 8

#: Tolerance of the unrefined solutions, with and without later refinement: cosine, sine, or lengths of the chain.
NEAR, EXACTLY = 1e-3, 1e-6


def take_apart(chain: AxisChain, fixed: int | None = None, asks: str = "pose") -> tuple[AxisChain, Family] | None:
    """Decompose a chain: the chain with its joints in the order of solution, and the family; None if none is found.

    A way that needs no refining is preferred.

    Parameters
    ----------
    chain : AxisChain
        The joints.
    fixed : int, optional
        A joint whose value is handed in, in its place among what `Family.solve` takes where nothing determines a joint.
    asks : {"pose", "position", "orientation"}
        What is asked of the end frame.
    """
    ways = _decompositions(chain, fixed, asks)
    order = [chain.coordinates.index(k) for k in ways[0].setting.chain.coordinates] if ways else [*range(len(chain))]
    if asks == "pose" and (not ways or any(map(_needs_refinement, ways))):
        near = settled(part(chain, order))
        better = _decompositions(near, None if fixed is None else order.index(fixed), asks) if near.misfit > EXACT else []
        if better and not any(map(_needs_refinement, better)):
            near = better[0].setting.chain
            order = [chain.coordinates.index(k) for k in near.coordinates]
            return part(chain, order), replace(_family(better, asks), refine=True, near=near)
    return (part(chain, order), _family(ways, asks)) if ways else None


def _decompositions(chain: AxisChain, fixed: int | None, asks: str) -> list[Way]:
    """Return one decomposition of a chain, or two where `_family` needs them; empty if none is found."""
    decompositions: list[Way] = []
    spare = asks == "pose" and len(Setting(chain, fixed).free_joints) < 6
    for setting in Setting(chain, fixed).orders():
        for candidate in _candidates(setting, asks):
            if (
                (_needs_refinement(candidate) and decompositions)
                or any(candidate.name == other.name for other in decompositions)
                or not _finds_again(candidate)
            ):
                continue
            decompositions = [*(other for other in decompositions if spare or not _needs_refinement(other)), candidate]
            if not _needs_refinement(candidate) and sum(not _needs_refinement(other) for other in decompositions) > spare:
                return sorted(decompositions, key=_needs_refinement)[:2]
    return sorted(decompositions, key=_needs_refinement)[:2]


def _family(ways: list[Way], asks: str) -> Family:
    """Build the family that solves a chain by the first decomposition, and by the others where the first degenerates.

    Where a pose is asked of fewer than six joints there are more equations than unknowns, and each way leaves some of them
    out: in special positions it may be those that would have said more. So a second way is gone as well.
    """
    first = ways[0]
    fixed = first.setting.fixed
    fixed_joints = () if fixed is None else (fixed,)
    solve = first.solve if len(ways) == 1 else _joined(first, ways[1])
    misfit = max(candidate.misfit for candidate in ways)
    return Family(first.name, solve, misfit > EXACT, asks, fixed_joints)


def _needs_refinement(candidate: Way) -> bool:
    """True if the solutions need refinement."""
    return candidate.misfit > EXACT


def _joined(first: Way, second: Way) -> Solve:
    """Join the branches of two decompositions, for the joints in the order of the first."""
    order, second_order = first.setting.chain.coordinates, second.setting.chain.coordinates
    there, back = [order.index(k) for k in second_order], [second_order.index(k) for k in order]

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        branches = list(first.solve(displacement, free))
        for branch in second.solve(displacement, [free[k] for k in there]):
            branches.append(Branch(tuple(branch.joints[k] for k in back), branch.miss))
        return branches

    return solve


def _candidates(setting: Setting, asks: str) -> Iterator[Way]:
    """Yield the candidate decompositions, the simplest first."""
    if asks == "pose":
        first = rotation_first(setting)
        if first is not None:
            yield first
        yield from blocks(setting)
        yield from planar_runs(setting)
        yield from plane_first(setting)
        return
    candidates = position_only(setting) if asks == "position" else orientation_only(setting)
    if candidates is not None:
        yield candidates


def _finds_again(candidate: Way) -> bool:
    """True if random positions are all found among the branches of their poses."""
    setting, near = candidate.setting, NEAR if _needs_refinement(candidate) else EXACTLY
    free = values_at(setting.chain)
    for values in setting.random(TRIALS):
        if setting.fixed is not None:
            free[setting.fixed] = values[setting.fixed]
        with np.errstate(all="ignore"):
            branches = candidate.solve(setting.reached(values), free)
        joints = np.array([_numbers(branch.joints, setting) for branch in branches], dtype=float)
        if not np.any(np.abs(joints - _numbers(values, setting)).max(axis=1) < near):
            return False
    return True


def _numbers(values: Any, setting: Setting) -> list[Any]:
    """Flatten cosines and sines, and lengths in sizes of the chain, into one list."""
    scalars = []
    for value, translates in zip(values, setting.chain.translates, strict=True):
        scalars += [value / setting.chain.size] if translates else [value.c, value.s]
    return scalars


#: Families of six revolute joints.
SIX: tuple[Callable[[AxisChain], Family | None], ...] = (spherical, parallel)


def fixed_joint(chain: AxisChain, joint: int, asks: str = "pose") -> tuple[AxisChain, Family] | None:
    """Decompose a chain with one joint fixed: the chain in the order of solution, and the family for the value.

    The value is handed to `Family.solve` in the place of that joint among what is taken where nothing determines a joint;
    every branch then has it (`Family.fixed` says which joint of the chain it is). None where no way is found.

    Parameters
    ----------
    chain : AxisChain
        All joints.
    joint : int
        The fixed one, counted from 0 along the chain.
    asks : {"pose", "position", "orientation"}
        What is asked of the end frame.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
    >>> chain, _ = chain_of(robots.panda())
    >>> fixed_joint(chain, 6)[1].name
    'the axes of joints 1, 2 and 3 meet in a point'
    >>> fixed_joint(chain, 1) is None
    True
    """
    count = len(chain)
    if asks == "pose" and count == 7 and not any(chain.translates) and joint in (0, 6):
        remaining = part(chain, [k for k in range(7) if k != joint])
        for recognise in SIX:
            family = recognise(remaining)
            if family is not None:
                name = _renumbered(family.name) if joint == 0 else family.name
                near = None if family.near is None else _insert_joint(family.near, chain, joint)
                return chain, replace(family, name=name, solve=_others(chain, joint, family), fixed=(joint,), near=near)
    return take_apart(chain, joint, asks)


def joints_to_fix(chain: AxisChain, asks: str = "pose") -> tuple[int, ...]:
    """Joints that can be fixed, counted from 0 along the chain.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
    >>> joints_to_fix(chain_of(robots.panda())[0])
    (3, 4, 5, 6)
    """
    return tuple(k for k in range(len(chain)) if fixed_joint(chain, k, asks) is not None)


def _others(chain: AxisChain, joint: int, family: Family) -> Callable[[Array, Sequence[Any]], list[Branch]]:
    """Solve six joints for the pose that the first or the last joint of seven leaves."""
    axis = axes_of(chain)[joint]

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        back = inverse(axis.displacement(free[joint]))
        remaining = np.asarray(back @ displacement if joint == 0 else displacement @ back)
        asked = [value for k, value in enumerate(free) if k != joint]
        return [
            Branch((*branch.joints[:joint], free[joint], *branch.joints[joint:]), branch.miss)
            for branch in family.solve(remaining, asked)
        ]

    return solve


def _insert_joint(near: AxisChain, chain: AxisChain, joint: int) -> AxisChain:
    """Insert the fixed joint of the whole chain into a nearby chain of the others."""
    axes, points = (
        np.insert(few, joint, all_[joint], axis=0) for few, all_ in ((near.axes, chain.axes), (near.points, chain.points))
    )
    return replace(chain, axes=axes, points=points, misfit=near.misfit)


def _renumbered(name: str) -> str:
    """The words of a family of the joints beyond the first, with their numbers in the whole chain."""
    return "".join(str(int(letter) + 1) if letter.isdigit() else letter for letter in name)


#: A chain whose Jacobian has a relative singular value below this at every tried position has joints that move together
#: without moving the frame. Nearly degenerate chains count as degenerate, as they cannot be solved accurately.
RANK = 1e-7


def recognised(
    tree: Tree, link: int | str = "tool", asks: str = "pose", fixed: int | None = None
) -> tuple[AxisChain | None, Family | None, str]:
    """Return the chain of joints to a frame and its family, or the reason why there is none.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    link : int or str
        The frame: ``"tool"``, or a link by name or index.
    asks : {"pose", "position", "orientation"}
        What is asked of it.
    fixed : int, optional
        A coordinate whose value is handed in.
    """
    chain, why = chain_of(tree, link)
    if chain is None:
        return None, None, why
    if fixed is not None and fixed not in chain.coordinates:
        return chain, None, f"{tree.names[fixed]!r}, which is fixed, does not move this frame"
    place = None if fixed is None else chain.coordinates.index(fixed)
    why = _obstruction(chain, asks, place)
    decomposition = None if why else _search(chain, asks, place)
    if decomposition is not None or why:
        return (chain, None, why) if decomposition is None else (*decomposition, "")
    return chain, None, _unsolved(chain) if place is None else _other_to_give(tree, chain, place, asks)


def _search(chain: AxisChain, asks: str, place: int | None) -> tuple[AxisChain, Family] | None:
    """The first family that fits."""
    if place is not None:
        return fixed_joint(chain, place, asks)
    family = spherical(chain) or parallel(chain) if asks == "pose" else None
    if family is not None:
        return chain, family
    return take_apart(chain, None, asks) or (parallel_groups(chain) if asks == "pose" else None)


def _obstruction(chain: AxisChain, asks: str, place: int | None) -> str:
    """Reason why no closed form exists for any geometry; empty if one may exist."""
    count = len(chain) - (place is not None)
    if count > _count(asks):
        return _too_many(len(chain), asks, place)
    if not count:
        return "no joint is left to be solved for"
    if not independent(chain, place, asks):
        return "its joints are not independent: they move together without moving the frame"
    return ""


def _count(asks: str) -> int:
    """Number of joints that a part of a pose determines."""
    return ROWS[asks].stop - ROWS[asks].start


def _too_many(joints: int, asks: str, fixed: int | None) -> str:
    condition = "" if fixed is None else ", one of them fixed,"
    goal = f"an {asks}" if asks == "orientation" else f"a {asks}"
    return (
        f"{joints} joints{condition} for {goal}, which {_count(asks)} determine, leave infinitely many solutions;"
        " fixed={joint: value} holds a joint"
    )


def _other_to_give(tree: Tree, chain: AxisChain, fixed: int, asks: str) -> str:
    others = [tree.names[chain.coordinates[k]] for k in joints_to_fix(chain, asks)]
    name = tree.names[chain.coordinates[fixed]]
    advice = f"{members(others)} can be fixed" if others else "nor with another"
    return f"with {name!r} fixed its equations do not separate; {advice}"


def _unsolved(chain: AxisChain) -> str:
    if len(chain) == 6 and not any(chain.translates):
        return (
            "no three neighbouring axes are parallel or meet in a point, nor do the equations separate in another known way:"
            " it takes a search in one unknown or more"
        )
    return "its equations do not separate in a way that is known here"


def independent(chain: AxisChain, fixed: int | None, asks: str) -> bool:
    """True if the joints move the frame independently, by the rank of the Jacobian at random positions."""
    rng = np.random.default_rng(6)
    for _ in range(5):
        rates = screws(chain, rng.uniform(-2.5, 2.5, len(chain)))
        if fixed is not None:
            rates = np.delete(rates, fixed, axis=1)
        values = np.linalg.svd(rates[ROWS[asks]], compute_uv=False)
        if values[-1] > RANK * values[0] and len(values) == rates.shape[1]:
            return True
    return False


def screws(chain: AxisChain, values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Jacobian (6, m) of the end frame, lengths relative to the size of the chain, for angles (rad) and relative lengths."""
    pose, columns = np.eye(4), []
    for axis, turn, translates in zip(axes_of(chain), values_at(chain, values), chain.translates, strict=True):
        k = axis.joint
        along = pose[:3, :3] @ chain.axes[k]
        point = (pose[:3, :3] @ chain.points[k] + pose[:3, 3]) / chain.size
        columns.append((point, along, translates))
        pose = np.asarray(pose @ np.asarray(axis.displacement(turn), dtype=float), dtype=float)
    tip = (pose @ chain.home)[:3, 3] / chain.size
    rows = [
        np.concatenate([along, np.zeros(3)]) if translates else np.concatenate([np.cross(along, tip - point), along])
        for point, along, translates in columns
    ]
    return np.stack(rows, axis=1)
