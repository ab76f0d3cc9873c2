"""Six revolute joints, three neighbours of which have axes that meet in a point, wherever in the chain they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import (
    EXACT,
    TOLERANCE,
    AxisChain,
    as_read,
    common_point,
    made_meet,
    parallel,
)
from linkwise.inverse_kinematics.closed_form.families import Branch, Family, Solve, mirrored, words
from linkwise.inverse_kinematics.closed_form.orientation import orient, turned_back
from linkwise.inverse_kinematics.closed_form.position import made_special, regional, regional_pair
from linkwise.inverse_kinematics.closed_form.subproblems import unturned
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import inverse


def spherical(chain: AxisChain) -> Family | None:
    """Recognise three neighbouring axes that meet in a point, and are not in one plane of parallels."""
    if len(chain) != 6 or any(chain.slides):
        return None
    for first in (3, 0, 1, 2):
        joints = (first, first + 1, first + 2)
        if parallel(chain, first, first + 1) or parallel(chain, first + 1, first + 2):
            continue
        if common_point(chain, *joints)[1] > TOLERANCE * chain.size:
            continue
        turned = first in (0, 2)
        seen = made_meet(chain, joints)
        seen = seen.reversed() if turned else seen
        made = _wrist_last(seen) if first in (0, 3) else _wrist_inside(seen)
        if made is None:
            continue
        solve, exact, near = made
        name = f"the axes of joints {words(joints)} meet in a point"
        near, solve = (as_read(near, chain), mirrored(solve)) if turned else (near, solve)
        return Family(name, solve, near.misfit > EXACT or not exact, near=near)
    return None


def _wrist_last(chain: AxisChain) -> tuple[Solve, bool, AxisChain] | None:
    """Joints 4 to 6 turn about a point: the first three bring it to its place (D. L. Pieper, 1968)."""
    found = regional(chain, (0, 1, 2))
    if found is None:
        return None
    arm, chain = found
    h, point = chain.axes, chain.points[3]

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        rotation = displacement[:3, :3]
        place = rotation @ point + displacement[:3, 3]
        found = []
        for *turns, miss in arm.solve(point, place, free[:3]):
            rest = turned_back(rotation, *zip(h[:3], turns, strict=True))
            found += [Branch((*turns, *three), miss + more) for *three, more in orient(h[3:], rest, free[3:])]
        return found

    return solve, arm.exact, chain


def _wrist_inside(chain: AxisChain) -> tuple[Solve, bool, AxisChain] | None:
    """Joints 2 to 4 turn about a point c. What they leave alone is c = E_5 E_6 (D^-1 E_1 D) D^-1 c: a regional problem.

    Its last axis is that of joint 1 as it is seen from the end.
    """
    chain, kind = made_special(chain, (4, 5))
    h, p, point = chain.axes, chain.points, chain.points[1]
    if parallel(chain, 4, 5) and np.linalg.norm(np.cross(p[5] - p[4], h[4])) <= TOLERANCE * chain.size:
        return None

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        back = inverse(displacement)
        rotation, shift = back[:3, :3], back[:3, 3]
        arm = regional_pair(chain, (4, 5), kind, rotation @ h[0], rotation @ p[0] + shift)
        found = []
        for five, six, one, miss in arm.solve(rotation @ point + shift, point, [free[4], free[5], free[0]]):

            def rest(v: Any, five: Any = five, six: Any = six, one: Any = one) -> Array:
                seen = unturned(h[5], six, unturned(h[4], five, v))
                return unturned(h[0], one, displacement[:3, :3] @ seen)

            triples = orient(h[1:4], rest, free[1:4])
            found += [Branch((one, *three, five, six), miss + more) for *three, more in triples]
        return found

    return solve, kind != "general", chain
