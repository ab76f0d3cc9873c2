"""Five revolute joints, the first or the last two of them parallel, without any other decomposition.

With a virtual third parallel axis they are six, of which closed forms are known: all solutions of the six joints hold
those of the five, at which the virtual joint is at zero. Where the other three are parallel too, the sum of the angles of
each group follows from the rotation, and the height along the three axes gives one angle of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import EXACT, AxisChain, made_parallel, part
from linkwise.inverse_kinematics.closed_form.axis_chain import parallel as are_parallel
from linkwise.inverse_kinematics.closed_form.problem import Branch, Family, Solve, mirrored, words
from linkwise.inverse_kinematics.closed_form.six_revolute import ParallelAxesPlane, parallel
from linkwise.inverse_kinematics.closed_form.subproblems import Turn, align, component, unturned
from linkwise.spatial.scalar import Array
from linkwise.spatial.vector import inner

#: Position of the virtual axis relative to the last one, in sizes of the arm: a generic place.
BESIDE = (0.412, -0.287, 0.351)


def parallel_groups(chain: AxisChain) -> tuple[AxisChain, Family] | None:
    """Return the chain and its family; None for another geometry.

    Examples
    --------
    >>> import linkwise as lw
    >>> from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
    >>> rows = [(0.1, 0.5, 0.2), (0.3, 1.0, 0.1), (0.2, 0.7, 0.3), (0.4, 0.0, 0.1), (0.1, 0.4, 0.2)]
    >>> arm = lw.Mechanism([lw.Link.dh(a=a, alpha=alpha, d=d, convention="standard") for a, alpha, d in rows])
    >>> parallel_groups(chain_of(arm)[0])[1].name
    'the axes of joints 4 and 5 are parallel, and so is a virtual one beside them'
    """
    if len(chain) != 5 or any(chain.translates):
        return None
    for two, three in (((3, 4), (0, 1, 2)), ((0, 1), (2, 3, 4))):
        if not are_parallel(chain, *two):
            continue
        if all(are_parallel(chain, three[0], k) for k in three[1:]):
            return None if are_parallel(chain, two[0], three[0]) else (chain, _two_groups(chain, two, three))
        place = 0 if two[0] == 0 else 5
        beside = min(place, 4)
        axis, point = chain.axes[beside], chain.points[beside] + chain.size * np.array(BESIDE)
        family = parallel(chain.with_revolute(place, axis, point))
        if family is not None:
            name = f"the axes of joints {words(two)} are parallel, and so is a virtual one beside them"
            near = None if family.near is None else part(family.near, [k for k in range(6) if k != place])
            return chain, replace(family, name=name, solve=_without_joint(family, place), near=near)
    return None


def _two_groups(chain: AxisChain, two: tuple[int, ...], three: tuple[int, ...]) -> Family:
    """Build the family of joints that are parallel in a group of three and one of two."""
    near = made_parallel(made_parallel(chain, three), two)
    solve = mirrored(_three_and_two(near.reversed())) if two[0] == 0 else _three_and_two(near)
    name = f"the axes of joints {words(three)} are parallel, and those of joints {words(two)}"
    return Family(name, solve, near.misfit > EXACT, near=near)


def _three_and_two(chain: AxisChain) -> Solve:
    """Solve where joints 1 to 3 are parallel to a, and joints 4 and 5 to b.

    With D = E_123 E_45, the angle of E_45 is that from D^-1 a to a, about b. The height of a point of axis 5 along a gives
    joint 4, and what is left is a problem in one plane.
    """
    h, p, plane = chain.axes, chain.points, ParallelAxesPlane.of(chain, 0)
    a, b = h[0], h[3]
    sign = 1.0 if float(b @ h[4]) > 0 else -1.0

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        rotation, shift = displacement[:3, :3], displacement[:3, 3]
        whole = align(b, rotation.T @ a, a, Turn(1.0, 0.0))
        height = inner(a, rotation @ p[4] + shift - p[3])
        fours = component(b, a, p[4] - p[3], height, free[3], size=chain.size)
        branches = []
        for four in fours[:2]:
            five = whole.minus(four)
            five = Turn(five.c, five.s * sign)
            wrist = p[4] + unturned(h[4], five, p[3] - p[4] + unturned(b, four, plane.wrist - p[3]))

            def turn_back(v: Any, four: Turn = four, five: Turn = five) -> Array:
                return np.asarray(rotation @ unturned(h[4], five, unturned(b, four, v)))

            triples = plane.solve(rotation @ wrist + shift - plane.origin, turn_back, free[:3])
            branches += [Branch((*angles, four, five), fours[2] + miss) for *angles, miss in triples]
        return branches

    return solve


def _without_joint(family: Family, place: int) -> Any:
    """Restrict the family of six joints to the five other than the virtual one."""

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        asked = [*free[:place], Turn(1.0, 0.0), *free[place:]]
        branches = family.solve(displacement, asked)
        return [Branch((*b.joints[:place], *b.joints[place + 1 :]), b.miss) for b in branches]

    return solve
