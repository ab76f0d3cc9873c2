"""Which closed form a mechanism has for one of its frames, or why it has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.errors import members
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain, chain_of
from linkwise.inverse_kinematics.closed_form.decomposition import take_apart
from linkwise.inverse_kinematics.closed_form.problem import ROWS, Branch, Family, axes_of, part, values_at
from linkwise.inverse_kinematics.closed_form.six_revolute import parallel, spherical
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import inverse

SIX: tuple[Callable[[AxisChain], Family | None], ...] = (spherical, parallel)
"""Families of six revolute joints."""


def given_joint(chain: AxisChain, joint: int, asks: str = "pose") -> tuple[AxisChain, Family] | None:
    """The chain, its joints in the order in which it is solved, and what solves it with the value of one joint given.

    The value is handed to `Family.solve` in the place of that joint among what is taken where nothing determines a joint;
    every branch then has it (`Family.held` says which joint of the chain it is). None where no way is found.

    Parameters
    ----------
    chain : AxisChain
        All joints.
    joint : int
        The given one, counted from 0 along the chain.
    asks : {"pose", "position", "orientation"}
        What is asked of the end frame.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
    >>> chain, _ = chain_of(robots.panda())
    >>> given_joint(chain, 6)[1].name
    'the axes of joints 1, 2 and 3 meet in a point'
    >>> given_joint(chain, 1) is None
    True
    """
    count = len(chain)
    if asks == "pose" and count == 7 and not any(chain.slides) and joint in (0, 6):
        rest = part(chain, [k for k in range(7) if k != joint])
        for recognise in SIX:
            family = recognise(rest)
            if family is not None:
                name = _renumbered(family.name) if joint == 0 else family.name
                near = None if family.near is None else _with(family.near, chain, joint)
                return chain, replace(family, name=name, solve=_beside(chain, joint, family), held=(joint,), near=near)
    return take_apart(chain, joint, asks)


def joints_to_give(chain: AxisChain, asks: str = "pose") -> tuple[int, ...]:
    """Which joints can be given, counted from 0 along the chain.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
    >>> joints_to_give(chain_of(robots.panda())[0])
    (3, 4, 5, 6)
    """
    return tuple(k for k in range(len(chain)) if given_joint(chain, k, asks) is not None)


def _beside(chain: AxisChain, joint: int, family: Family) -> Callable[[Array, Sequence[Any]], list[Branch]]:
    """Six joints solved for what the first or the last of seven leaves them to do."""
    axis = axes_of(chain)[joint]

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        back = inverse(axis.displacement(free[joint]))
        rest = np.asarray(back @ displacement if joint == 0 else displacement @ back)
        asked = [value for k, value in enumerate(free) if k != joint]
        return [
            Branch((*branch.joints[:joint], free[joint], *branch.joints[joint:]), branch.miss)
            for branch in family.solve(rest, asked)
        ]

    return solve


def _with(near: AxisChain, chain: AxisChain, joint: int) -> AxisChain:
    """A chain near to what is left without a joint, with that joint of the whole chain again."""
    axes, points = (
        np.insert(few, joint, all_[joint], axis=0) for few, all_ in ((near.axes, chain.axes), (near.points, chain.points))
    )
    return replace(chain, axes=axes, points=points, misfit=near.misfit)


def _renumbered(name: str) -> str:
    """The words of a family of the joints beyond the first, with their numbers in the whole chain."""
    return "".join(str(int(letter) + 1) if letter.isdigit() else letter for letter in name)


RANK = 1e-7
"""A chain whose Jacobian has a singular value below this share of its greatest at every position that is tried has joints
that move together without moving the frame. Nearly so counts as so: what is nearly degenerate is not solved well."""


def recognised(
    tree: Tree, link: int | str = "tool", asks: str = "pose", given: int | None = None
) -> tuple[AxisChain | None, Family | None, str]:
    """The chain of joints to a frame and what solves it, or why nothing does.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    link : int or str
        Which frame: -1 the tool.
    asks : {"pose", "position", "orientation"}
        What is asked of it.
    given : int, optional
        A coordinate whose value is handed in.
    """
    chain, why = chain_of(tree, link)
    if chain is None:
        return None, None, why
    if given is not None and given not in chain.coordinates:
        return chain, None, f"{tree.names[given]!r}, whose value is given, does not move this frame"
    place = None if given is None else chain.coordinates.index(given)
    why = _hopeless(chain, asks, place)
    found = None if why else _found(chain, asks, place)
    if found is not None or why:
        return (chain, None, why) if found is None else (*found, "")
    return chain, None, _unsolved(chain) if place is None else _other_to_give(tree, chain, place, asks)


def _found(chain: AxisChain, asks: str, place: int | None) -> tuple[AxisChain, Family] | None:
    """The first family that fits."""
    if place is not None:
        return given_joint(chain, place, asks)
    family = spherical(chain) or parallel(chain) if asks == "pose" else None
    return (chain, family) if family is not None else take_apart(chain, None, asks)


def _hopeless(chain: AxisChain, asks: str, place: int | None) -> str:
    """Why no closed form can be, whatever the geometry; empty where one may be."""
    count = len(chain) - (place is not None)
    if count > _count(asks):
        return _too_many(len(chain), asks, place)
    if not count:
        return "no joint is left to be solved for"
    if not independent(chain, place, asks):
        return "its joints are not independent: they move together without moving the frame"
    return ""


def _count(asks: str) -> int:
    """How many joints a part of a pose determines."""
    return ROWS[asks].stop - ROWS[asks].start


def _too_many(joints: int, asks: str, given: int | None) -> str:
    rest = "" if given is None else ", one of them given,"
    what = f"an {asks}" if asks == "orientation" else f"a {asks}"
    return (
        f"{joints} joints{rest} for {what}, which {_count(asks)} determine, leave infinitely many solutions;"
        " given={joint: value} holds a joint"
    )


def _other_to_give(tree: Tree, chain: AxisChain, given: int, asks: str) -> str:
    others = [tree.names[chain.coordinates[k]] for k in joints_to_give(chain, asks)]
    name = tree.names[chain.coordinates[given]]
    rest = f"{members(others)} can be given" if others else "nor with another"
    return f"with {name!r} given its equations do not separate; {rest}"


def _unsolved(chain: AxisChain) -> str:
    if len(chain) == 6 and not any(chain.slides):
        return (
            "no three neighbouring axes are parallel or meet in a point, nor do the equations separate in another known way:"
            " it takes a search in one unknown or more"
        )
    return "its equations do not separate in a way that is known here"


def independent(chain: AxisChain, given: int | None, asks: str) -> bool:
    """Whether the joints move the frame independently somewhere, by the rank of the Jacobian at positions at random."""
    rng = np.random.default_rng(6)
    for _ in range(5):
        rates = screws(chain, rng.uniform(-2.5, 2.5, len(chain)))
        if given is not None:
            rates = np.delete(rates, given, axis=1)
        values = np.linalg.svd(rates[ROWS[asks]], compute_uv=False)
        if values[-1] > RANK * values[0] and len(values) == rates.shape[1]:
            return True
    return False


def screws(chain: AxisChain, values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The Jacobian (6, m) of the end frame, lengths in sizes of the chain, for angles (rad) and ways (in such sizes)."""
    pose, columns = np.eye(4), []
    for axis, turn, slides in zip(axes_of(chain), values_at(chain, values), chain.slides, strict=True):
        k = axis.joint
        along = pose[:3, :3] @ chain.axes[k]
        point = (pose[:3, :3] @ chain.points[k] + pose[:3, 3]) / chain.size
        columns.append((point, along, slides))
        pose = np.asarray(pose @ np.asarray(axis.displacement(turn), dtype=float), dtype=float)
    tip = (pose @ chain.home)[:3, 3] / chain.size
    made = [
        np.concatenate([along, np.zeros(3)]) if slides else np.concatenate([np.cross(along, tip - point), along])
        for point, along, slides in columns
    ]
    return np.stack(made, axis=1)
