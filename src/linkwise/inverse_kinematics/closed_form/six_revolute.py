"""Six revolute joints, three neighbours of which have axes that meet in a point, or are parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form import axis_chain as geometry
from linkwise.inverse_kinematics.closed_form.axis_chain import (
    TOLERANCE,
    AxisChain,
    common_point,
    made_meet,
    made_parallel,
)
from linkwise.inverse_kinematics.closed_form.orientation import beside, orient, turned_back
from linkwise.inverse_kinematics.closed_form.position import made_special, neighbours, regional, regional_pair
from linkwise.inverse_kinematics.closed_form.problem import Branch, Family, Solve, family_of_six
from linkwise.inverse_kinematics.closed_form.subproblems import (
    DEGENERATE,
    Turn,
    align,
    choose,
    component,
    cone,
    direction,
    length_between,
    linear,
    turned,
    two_angles,
    unturned,
)
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, select
from linkwise.spatial.transform import inverse
from linkwise.spatial.vector import inner


def spherical(chain: AxisChain) -> Family | None:
    """Recognise three neighbouring axes that meet in a point, and are not in one plane of parallels."""
    if len(chain) != 6 or any(chain.translates):
        return None
    for first in (3, 0, 1, 2):
        joints = (first, first + 1, first + 2)
        if geometry.parallel(chain, first, first + 1) or geometry.parallel(chain, first + 1, first + 2):
            continue
        if common_point(chain, *joints)[1] > TOLERANCE * chain.size:
            continue
        solution = _wrist_last if first in (0, 3) else _wrist_inside
        family = family_of_six(chain, joints, made_meet(chain, joints), solution, "meet in a point")
        if family is not None:
            return family
    return None


def _wrist_last(chain: AxisChain) -> tuple[Solve, bool, AxisChain] | None:
    """Joints 4 to 6 turn about a point: the first three bring it to its place (D. L. Pieper, 1968)."""
    region = regional(chain, (0, 1, 2))
    if region is None:
        return None
    arm, chain = region
    h, point = chain.axes, chain.points[3]

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        rotation = displacement[:3, :3]
        place = rotation @ point + displacement[:3, 3]
        region = []
        for *turns, miss in arm.solve(point, place, free[:3]):
            remainder = turned_back(rotation, *zip(h[:3], turns, strict=True))
            region += [Branch((*turns, *others), miss + more) for *others, more in orient(h[3:], remainder, free[3:])]
        return region

    return solve, arm.exact, chain


def _wrist_inside(chain: AxisChain) -> tuple[Solve, bool, AxisChain] | None:
    """Joints 2 to 4 turn about a point c. What they leave alone is c = E_5 E_6 (D^-1 E_1 D) D^-1 c: a regional problem.

    Its last axis is that of joint 1 as it is seen from the end.
    """
    chain, kind = made_special(chain, (4, 5))
    h, p, point = chain.axes, chain.points, chain.points[1]
    if geometry.parallel(chain, 4, 5) and np.linalg.norm(np.cross(p[5] - p[4], h[4])) <= TOLERANCE * chain.size:
        return None

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        back = inverse(displacement)
        rotation, shift = back[:3, :3], back[:3, 3]
        arm = regional_pair(chain, (4, 5), kind, rotation @ h[0], rotation @ p[0] + shift)
        branches = []
        for joint5, joint6, joint1, miss in arm.solve(rotation @ point + shift, point, [free[4], free[5], free[0]]):

            def remaining(v: Any, joint5: Any = joint5, joint6: Any = joint6, joint1: Any = joint1) -> Array:
                seen = unturned(h[5], joint6, unturned(h[4], joint5, v))
                return unturned(h[0], joint1, displacement[:3, :3] @ seen)

            triples = orient(h[1:4], remaining, free[1:4])
            branches += [Branch((joint1, *others, joint5, joint6), miss + more) for *others, more in triples]
        return branches

    return solve, kind != "general", chain


@dataclass(frozen=True, eq=False)
class ParallelAxesPlane:
    """Joints i, i + 1, i + 2 of a chain, with axes parallel or antiparallel to h.

    Attributes
    ----------
    h : ndarray (3,)
        The direction of the first axis.
    signs : list of float
        1 where an axis points along h, else -1.
    upper, fore : ndarray (3,)
        From the first axis to the second and from the second to the third at zero angles, at right angles to h.
    origin : ndarray (3,)
        The point of the first axis.
    wrist : ndarray (3,)
        The point of the third.
    """

    h: FloatArray
    signs: list[float]
    upper: FloatArray
    fore: FloatArray
    origin: FloatArray
    wrist: FloatArray
    size: float

    @classmethod
    def of(cls, chain: AxisChain, first: int) -> ParallelAxesPlane:
        """Build it from three joints of a chain."""
        h = chain.axes[first]
        p = [chain.points[first + k] - chain.points[first] for k in range(3)]
        flat = [v - h * float(h @ v) for v in p]
        signs = [1.0 if float(h @ axis) > 0 else -1.0 for axis in chain.axes[first : first + 3]]
        upper, fore = flat[1], flat[2] - flat[1]
        return cls(h, signs, upper, fore, chain.points[first], chain.points[first + 2], chain.size)

    @property
    def reach(self) -> tuple[float, float]:
        """Least and greatest distance of the third axis from the first (m)."""
        a, b = float(np.linalg.norm(self.upper)), float(np.linalg.norm(self.fore))
        return abs(a - b), a + b

    def solve(self, place: Array, rotation: Any, free: Any) -> list[tuple[Turn, Turn, Turn, Any]]:
        """Both triples of angles that bring the third axis to `place` and turn vectors as `rotation` does.

        Parameters
        ----------
        place : (3,)
            Where a point of the third axis shall be, seen from the first; its height does not matter.
        rotation : callable
            Gives R v for a constant vector v (3,), R being about h.
        free : sequence of three Turn
            What is taken where an angle is free.
        """
        h, size = self.h, self.size
        flat = place - h * inner(h, place)
        w = beside(h)
        seen = rotation(w)
        whole, _ = direction(inner(w, seen), inner(h, cross(w, seen)), Turn(1.0, 0.0))
        branches: list[Any] = []
        free = [_signed(turn, sign) for turn, sign in zip(free, self.signs, strict=True)]
        seconds = length_between(h, self.fore, -self.upper, inner(flat, flat), free[1], size=size * size)
        for second in seconds[:2]:
            first = align(h, self.upper + turned(h, second, self.fore), flat, free[0], DEGENERATE * size * size)
            third = whole.minus(first.plus(second))
            joints = (_signed(turn, sign) for turn, sign in zip((first, second, third), self.signs, strict=True))
            branches.append((*joints, seconds[2]))
        return branches

    def reachable(self, k: Array, y: Array, z: Array, free: Turn, size: float) -> Turn:
        """Angle nearest to `free` for which Rot(k, angle)' y + z is within reach of the first axis.

        k is along h here, and y and z (3,) are seen in the same axes as k.
        """
        least, most = self.reach
        y, z = y - k * inner(k, y), z - k * inner(k, z)
        sum_of_squares = inner(y, y) + inner(z, z)
        now = sum_of_squares + 2.0 * inner(unturned(k, free, y), z)
        inner_edge, outer_edge = least * least, most * most
        near = inner_edge - now
        far = now - outer_edge
        edge = select(near, inner_edge, outer_edge)
        pair = component(k, z, y, 0.5 * (edge - sum_of_squares), free, size=size * size)
        first, second = pair[0].back(), pair[1].back()
        closer = (first.c - second.c) * free.c + (first.s - second.s) * free.s
        best = choose(closer, first, second)
        return choose(near, best, choose(far, best, free))


def _signed(turn: Turn, sign: float) -> Turn:
    return turn if sign > 0 else turn.back()


def parallel(chain: AxisChain) -> Family | None:
    """Recognise three neighbouring parallel axes; the axes on either side of them are not parallel to them."""
    if len(chain) != 6 or any(chain.translates):
        return None
    for first in (1, 2, 3, 0):
        joints = (first, first + 1, first + 2)
        skew = [geometry.angle(chain, first, k) for k in joints]
        beyond = [k for k in (first - 1, first + 3) if 0 <= k < 6]
        if max(skew) > TOLERANCE or any(geometry.parallel(chain, first, k) for k in beyond):
            continue
        solution = _inside if first in (1, 2) else _last
        return family_of_six(chain, joints, made_parallel(chain, joints), solution, "are parallel")
    return None


def _inside(chain: AxisChain) -> tuple[Solve, bool, AxisChain]:
    """Solve where joints 2 to 4 are parallel to h, by the direction of axis 6 and the height of a point of it.

    With D = E_1 E_234 E_5 E_6 these are h . R_1' R h_6 = h . R_5 h_6 and h . E_1^-1 D p_6 = h . E_5 p_6, in joints 1 and
    5 (as Elias and Wen have it for three parallel axes). Joint 6 follows from R_5' h = R_6 R' R_1 h, joints 2 to 4 are a
    planar problem.
    """
    chain, kind = made_special(chain, (4, 5))
    h, plane = chain.axes, ParallelAxesPlane.of(chain, 1)
    p1, (p5, p6) = chain.points[0], neighbours(chain, 4, 5, kind)
    up, away = h[1], p6 - p5
    b = np.array([_row(up, h[4], h[5]), _row(up, h[4], away)], dtype=float)
    b[[kind == "1 and 2 parallel", kind == "1 and 2 meet"]] = 0.0

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        rotation = displacement[:3, :3]
        g, place = rotation @ h[5], rotation @ p6 + displacement[:3, 3] - p1
        branches = []
        for joint1, joint5, miss in _one_and_five(g, place, free):
            level, spare = unturned(h[4], joint5, up), _near(joint1, joint5, free, displacement)
            joint6 = align(h[5], rotation.T @ turned(h[0], joint1, up), level, spare, DEGENERATE**2)

            def remaining(v: Any, joint1: Turn = joint1, joint5: Turn = joint5, joint6: Turn = joint6) -> Array:
                return unturned(h[0], joint1, rotation @ unturned(h[5], joint6, unturned(h[4], joint5, v)))

            wrist = p6 + unturned(h[5], joint6, p5 - p6 + unturned(h[4], joint5, plane.wrist - p5))
            spot = unturned(h[0], joint1, rotation @ wrist + displacement[:3, 3] - p1) + p1 - plane.origin
            triples = plane.solve(spot, remaining, free[1:4])
            branches += [Branch((joint1, *others, joint5, joint6), miss + more) for *others, more in triples]
        return branches

    def _one_and_five(g: Array, place: Array, free: Sequence[Any]) -> list[tuple[Turn, Turn, Any]]:
        a = np.array([_row(up, -h[0], v) for v in (g, place)], dtype=object)
        fixed = [inner(up, v - _across(h[0], v)) for v in (g, place)]
        constant = [float(up @ h[4]) * float(h[4] @ v) for v in (h[5], away)]
        e = np.array([constant[0] - fixed[0], float(up @ (p5 - p1)) + constant[1] - fixed[1]], dtype=object)
        if b[1].any():
            return two_angles(a, -b, e, (free[0], free[4]))
        pairs = []
        across, _ = direction(
            a[0, 0], a[0, 1], free[0]
        )  # (the wrist then folds back towards axis 1: joints 2 to 4 reach it)
        pair = [linear(a[1, 0], a[1, 1], e[1], spare, size=chain.size)[k] for k, spare in enumerate((free[0], across))]
        for joint1 in pair:
            fives = cone(h[4], h[5], up, unturned(h[0], joint1, g), free[4])
            pairs += [(joint1, joint5, 0.0) for joint5 in fives[:2]]
        return pairs

    def _near(joint1: Turn, joint5: Turn, free: Sequence[Any], displacement: Array) -> Turn:
        """Joint 6 where it is free, for its axis is parallel to the three: as it was, if they can reach then."""
        rotation = displacement[:3, :3]
        y = unturned(h[4], joint5, plane.wrist - p5) + (p5 - p6)
        z = unturned(h[0], joint1, rotation @ p6 + displacement[:3, 3] - p1) + p1 - plane.origin
        z = rotation.T @ turned(h[0], joint1, z)
        return plane.reachable(h[5], y, z, free[5], chain.size)

    return solve, not (b[0].any() and b[1].any()), chain


def _last(chain: AxisChain) -> tuple[Solve, bool, AxisChain]:
    """Solve where joints 4 to 6 are parallel to h, which then is n = R h in the end.

    With R_1' n = R_2 R_3 h and any point p, h_2 . R_1' n = h_2 . R_3 h and n . D p = n . E_1 E_2 E_3 p are equations in
    joints 1 and 3; joint 2 follows from R_2' R_1' n = R_3 h.
    """
    chain, kind = made_special(chain, (1, 2))
    h, plane = chain.axes, ParallelAxesPlane.of(chain, 3)
    p1, (p2, p3) = chain.points[0], neighbours(chain, 1, 2, kind)
    up, away, wrist = h[3], p3 - p2, plane.wrist
    b = np.array([_row(h[1], h[2], up), _row(away, h[2], up)], dtype=float)
    b[[kind == "1 and 2 parallel", kind == "1 and 2 meet"]] = 0.0

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        rotation, shift = displacement[:3, :3], displacement[:3, 3]
        n = rotation @ up
        branches = []
        for joint1, joint3, miss in _one_and_three(n, shift, free):
            tip = unturned(h[0], joint1, n)
            lifted = turned(h[2], joint3, up)
            start = p3 - p2 + turned(h[2], joint3, plane.origin - p3)
            seen = unturned(h[0], joint1, rotation @ wrist + shift - p1) + p1 - p2
            spare = plane.reachable(h[1], seen, -start, free[1], chain.size)
            joint2 = align(h[1], lifted, tip, spare, DEGENERATE**2)

            def remaining(v: Any, joint1: Turn = joint1, joint2: Turn = joint2, joint3: Turn = joint3) -> Array:
                return unturned(h[2], joint3, unturned(h[1], joint2, unturned(h[0], joint1, rotation @ v)))

            spot = unturned(h[2], joint3, unturned(h[1], joint2, seen) + p2 - p3) + p3 - plane.origin
            triples = plane.solve(spot, remaining, free[3:])
            branches += [Branch((joint1, joint2, joint3, *others), miss + more) for *others, more in triples]
        return branches

    def _one_and_three(n: Array, shift: Array, free: Sequence[Any]) -> list[tuple[Turn, Turn, Any]]:
        lever = p2 - p1
        a = np.array([_row(u, -h[0], n) for u in (h[1], lever)], dtype=object)
        level = float(h[2] @ up) * h[2]
        height = inner(n, shift - p1) + float(up @ p3)  # (E_4 E_5 E_6 keeps h . p)
        fixed = [inner(u, n - _across(h[0], n)) for u in (h[1], lever)]
        e = np.array([float(h[1] @ level) - fixed[0], height - float(away @ level) - fixed[1]], dtype=object)
        if not b[1].any():
            pairs = []
            for joint1 in linear(a[1, 0], a[1, 1], e[1], free[0], size=chain.size)[:2]:
                threes = cone(h[2], up, h[1], unturned(h[0], joint1, n), free[2])
                pairs += [(joint1, joint3, 0.0) for joint3 in threes[:2]]
            return pairs
        sign = np.array([[-1.0], [1.0]])
        return two_angles(a, sign * b, e, (free[0], free[2]))

    return solve, not (b[0].any() and b[1].any()), chain


def _across(k: Array, v: Array) -> Array:
    """The part of v at right angles to k."""
    return np.asarray(v - k * inner(k, v))


def _row(u: Array, k: Array, v: Array) -> list[Any]:
    """Coefficients of cosine and sine in u . Rot(k, angle) v."""
    return [inner(u, _across(k, v)), inner(u, cross(k, v))]
