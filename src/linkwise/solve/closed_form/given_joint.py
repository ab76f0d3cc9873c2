"""Closed forms for chains with one joint too many, the value of which is given.

The joints beyond the given one are written as it has moved them, so their axes are expressions in its value. Where the given
joint is the first or the last, what is left is a chain of numbers, and every family for six joints will do. Arms with a
spherical shoulder, an elbow and a spherical wrist can have any joint given but the elbow, which the distance from shoulder
to wrist decides; the Panda can have joints 4, 5, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.solve.closed_form.families import Branch, Family
from linkwise.solve.closed_form.geometry import Chain
from linkwise.solve.closed_form.joint_axis import axes_of
from linkwise.solve.closed_form.parallel import parallel
from linkwise.solve.closed_form.setting import part
from linkwise.solve.closed_form.spherical import spherical
from linkwise.solve.closed_form.taken_apart import take_apart
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import inverse

SIX: tuple[Callable[[Chain], Family | None], ...] = (spherical, parallel)
"""Families of six revolute joints."""


def given_joint(chain: Chain, joint: int, asks: str = "pose") -> tuple[Chain, Family] | None:
    """The chain, its joints in the order in which it is solved, and what solves it with the value of one joint given.

    The value is handed to `Family.solve` in the place of that joint among what is taken where nothing determines a joint;
    every branch then has it (`Family.held` says which joint of the chain it is). None where no way is found.

    Parameters
    ----------
    chain : Chain
        All joints.
    joint : int
        The given one, counted from 0 along the chain.
    asks : {"pose", "position", "orientation"}
        What is asked of the end frame.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve.closed_form.geometry import chain_of
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


def joints_to_give(chain: Chain, asks: str = "pose") -> tuple[int, ...]:
    """Which joints can be given, counted from 0 along the chain.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve.closed_form.geometry import chain_of
    >>> joints_to_give(chain_of(robots.panda())[0])
    (3, 4, 5, 6)
    """
    return tuple(k for k in range(len(chain)) if given_joint(chain, k, asks) is not None)


def _beside(chain: Chain, joint: int, family: Family) -> Callable[[Array, Sequence[Any]], list[Branch]]:
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


def _with(near: Chain, chain: Chain, joint: int) -> Chain:
    """A chain near to what is left without a joint, with that joint of the whole chain again."""
    axes, points = (
        np.insert(few, joint, all_[joint], axis=0) for few, all_ in ((near.axes, chain.axes), (near.points, chain.points))
    )
    return replace(chain, axes=axes, points=points, misfit=near.misfit)


def _renumbered(name: str) -> str:
    """The words of a family of the joints beyond the first, with their numbers in the whole chain."""
    return "".join(str(int(letter) + 1) if letter.isdigit() else letter for letter in name)
