"""Positioning subproblems of three joints: every branch.

D. L. Pieper, *The Kinematics of Manipulators under Computer Control*, 1968: what the first joint leaves alone (the distance
from a point on its axis, the height along it) gives two equations in the other two. They separate where two neighbouring
axes are parallel or meet; in general they are a quartic in the last angle.

With joints a, b, c and E_a E_b E_c p = t, let u = E_c p, which only c moves, and v = E_a^-1 t, which only a moves. E_b u = v
holds for some position of b where two numbers are the same for u and v: the coordinate along the axis of b and the distance
from a point on it where b turns (D. L. Pieper, *The Kinematics of Manipulators under Computer Control*, 1968, who treats
R R R so), the two coordinates across its axis where b slides. The two equations are linear in (cos, sin) of an outer
joint that turns, and in (s^2, s) of one that slides::

    M_a y_a + m_a = M_c y_c + m_c

Where a matrix M has rank one, one unknown is left by multiplying with what is normal to its columns, and one equation after
the other is solved; otherwise its y follows from the other, and the equation of its curve is a conic in the other
(`linkwise.inverse_kinematics.closed_form.subproblems`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import (
    EXACT,
    AxisChain,
    feet,
    made_meet,
    made_parallel,
    meeting,
    parallel,
)
from linkwise.inverse_kinematics.closed_form.position_pairs import (
    LEAST,
    EquationOrder,
    Side,
    moved,
    only_place,
    plan_of,
    plan_of_two,
    side,
    solve_pair,
    still,
)
from linkwise.inverse_kinematics.closed_form.problem import Axis
from linkwise.inverse_kinematics.closed_form.program import damped_step
from linkwise.inverse_kinematics.closed_form.subproblems import (
    DEGENERATE,
    Turn,
    align,
    component,
    conic_on_circle,
    length_between,
    turned,
    two_axes,
    unturned,
)
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.vector import inner

#: Three angles and the residual of the equations.
Found = tuple[Turn, Turn, Turn, Any]


@dataclass(frozen=True, eq=False)
class Regional:
    """Three revolute joints: E_1 E_2 E_3 point = place.

    Attributes
    ----------
    h, p : sequences of three arrays (3,)
        Direction and a point of each axis; those of the last may be scalars of any kind, the others are numbers.
    kind : str
        ``"1 and 2 parallel"``, ``"2 and 3 parallel"``, ``"1 and 2 meet"``, ``"2 and 3 meet"`` or ``"general"``.
    size : float
        A length (m) that lengths are compared with.
    """

    h: tuple[Array, Array, Array]
    p: tuple[Array, Array, Array]
    kind: str
    size: float

    @property
    def exact(self) -> bool:
        """True if no quartic is needed."""
        return self.kind != "general"

    def solve(self, point: Array, place: Array, free: Any) -> list[Found]:
        """The four branches, over scalars."""
        if self.kind == "general":
            return self._general(point, place, free)
        if self.kind.startswith("2 and 3"):
            return (self._last_parallel if self.kind.endswith("parallel") else self._last_meet)(point, place, free)
        (h1, h2, h3), (p1, p2, p3) = self.h, self.p
        seen_from_end = Regional((-h3, -h2, -h1), (p3, p2, p1), self.kind.replace("1 and 2", "2 and 3"), self.size)
        branches = seen_from_end.solve(place, point, free[::-1])
        return [(first, second, last, miss) for last, second, first, miss in branches]

    def _last_parallel(self, point: Array, place: Array, free: Any) -> list[Found]:
        """The height along the parallel axes gives the first angle; the other two joints then work in a plane."""
        (h1, h2, h3), (p1, p2, p3), size = self.h, self.p, self.size
        out, to, start = place - p1, point - p3, p3 - p2
        solutions = []
        firsts = component(h1, h2, out, inner(h2, p2 - p1 + start + to), free[0].back(), size=size)
        for first in (turn.back() for turn in firsts[:2]):
            remainder = unturned(h1, first, out) - (p2 - p1)
            remainder, flat, side = (v - h2 * inner(h2, v) for v in (remainder, to, start))
            lasts = length_between(h3, flat, -side, inner(remainder, remainder), free[2], size=size * size)
            for last in lasts[:2]:
                second = align(h2, side + turned(h3, last, flat), remainder, free[1], DEGENERATE * size * size)
                solutions.append((first, second, last, firsts[2] + lasts[2]))
        return solutions

    def _last_meet(self, point: Array, place: Array, free: Any) -> list[Found]:
        """The same seen from the point: its distance from where the last two meet gives the first angle."""
        (h1, h2, h3), (p1, _, p3), size = self.h, self.p, self.size
        to, out = point - p3, place - p1
        firsts = length_between(h1, p3 - p1, out, inner(to, to), free[0], size=size * size)
        solutions = []
        for first in firsts[:2]:
            remainder = unturned(h1, first, out) - (p3 - p1)
            pairs = two_axes(-h3, -h2, remainder, to, free[2], free[1], size=size)
            solutions += [(first, second, last, firsts[2] + miss) for last, second, miss in pairs]
        return solutions

    def _general(self, point: Array, place: Array, free: Any) -> list[Found]:
        """The distance from the common normal of the first two axes, and the height, give a quartic in the last angle.

        u(t3) is the point seen from the foot of the common normal, of length a along n, on axis 2; m is at right angles to n
        and h2; c and s are the cosine and sine between axes 1 and 2. Then 2 a x = |out|^2 - a^2 - |u|^2 and
        s y = h1 . out - c h2 . u are the parts of Rot2 u along n and m, both linear in the cosine and sine of t3, as |u|^2
        and h2 . u are; x^2 + y^2 = |u|^2 - (h2 . u)^2 is the quartic.
        """
        (h1, h2, h3), (p1, p2, p3), size = self.h, self.p, self.size
        offset = np.asarray(p2 - p1, dtype=float)
        a = float(np.linalg.norm(offset))
        n, c = offset / a, float(np.asarray(h1, dtype=float) @ np.asarray(h2, dtype=float))
        m = np.asarray(h1, dtype=float) - c * np.asarray(h2, dtype=float)
        s = float(np.linalg.norm(m))
        m = m / s
        out, to, start = place - p1, point - p3, p3 - p2
        along = h3 * inner(h3, to)
        fixed, cosine, sine = start + along, to - along, cross(h3, to)
        square = _row(2.0 * inner(fixed, cosine), 2.0 * inner(fixed, sine), inner(fixed, fixed) + inner(cosine, cosine))
        high = _row(*(inner(h2, v) for v in (cosine, sine, fixed)))
        x = (_row(0.0, 0.0, inner(out, out) - a * a) - square) * (0.5 / a)
        y = (_row(0.0, 0.0, inner(h1, out)) - c * high) * (1.0 / s)
        conic = np.outer(x, x) + np.outer(y, y) + np.outer(high, high)
        conic[2, :] = conic[2, :] - 0.5 * square
        conic[:, 2] = conic[:, 2] - 0.5 * square
        solutions = []
        for last in conic_on_circle(conic * (1.0 / size**2), free[2]):
            u = fixed + cosine * last.c + sine * last.s
            wanted = n * (x[0] * last.c + x[1] * last.s + x[2]) + m * (y[0] * last.c + y[1] * last.s + y[2])
            second = align(h2, u, wanted, free[1], (DEGENERATE * size) ** 2)
            first = align(h1, offset + turned(h2, second, u), out, free[0], DEGENERATE * size * size)
            solutions.append((first, second, last, 0.0))
        return solutions


def _row(c: Any, s: Any, constant: Any) -> Array:
    """Coefficients of cosine, sine and one in an expression."""
    return np.array([c, s, constant], dtype=object)


def special(chain: AxisChain, joints: tuple[int, int, int]) -> tuple[AxisChain, str]:
    """Make a separable position of three axes exact; return the chain and the name of the special geometry."""
    i, j, k = joints
    if parallel(chain, j, k):
        return made_parallel(chain, (j, k)), "2 and 3 parallel"
    if parallel(chain, i, j):
        return made_parallel(chain, (j, i)), "1 and 2 parallel"
    if meeting(chain, i, j):
        return made_meet(chain, (i, j)), "1 and 2 meet"
    if meeting(chain, j, k):
        return made_meet(chain, (j, k)), "2 and 3 meet"
    return chain, "general"


def regional(chain: AxisChain, joints: tuple[int, int, int]) -> tuple[Regional, AxisChain] | None:
    """Return the solver of three joints of a chain, and the chain with its special geometry exact; None if there is none.

    Nothing can where three axes are parallel.
    """
    i, j, k = joints
    if parallel(chain, i, j) and parallel(chain, j, k):
        return None
    chain, kind = special(chain, joints)
    (p1, p2), p3 = neighbours(chain, i, j, kind), chain.points[k]
    if kind == "2 and 3 meet":
        p2 = p3 = chain.points[j]
    h = chain.axes
    return Regional((h[i], h[j], h[k]), (p1, p2, p3), kind, chain.size), chain


def made_special(chain: AxisChain, joints: tuple[int, int]) -> tuple[AxisChain, str]:
    """As `special`, for two joints and a third whose axis is not known beforehand."""
    i, j = joints
    if parallel(chain, i, j):
        return made_parallel(chain, joints), "1 and 2 parallel"
    if meeting(chain, i, j):
        return made_meet(chain, joints), "1 and 2 meet"
    return chain, "general"


def regional_pair(chain: AxisChain, joints: tuple[int, int], kind: str, h3: Array, p3: Array) -> Regional:
    """Return the solver of two joints of a chain of `made_special` and a third whose axis has elements of any scalars."""
    i, j = joints
    return Regional((chain.axes[i], chain.axes[j], h3), (*neighbours(chain, i, j, kind), p3), kind, chain.size)


def neighbours(chain: AxisChain, i: int, j: int, kind: str) -> tuple[FloatArray, FloatArray]:
    """Points of two axes, one on each: where they meet, or the ends of their common normal."""
    return (chain.points[i], chain.points[i]) if kind == "1 and 2 meet" else feet(chain, i, j)


def one_joint(b: Axis, p: Array, t: Array, size: float) -> Any:
    """Displacement of one joint that brings p (3,) nearest to t (3,)."""
    if b.translates:
        return inner(b.along, t - p)
    return align(b.along, p - b.point, t - b.point, b.fallback, (LEAST * size) ** 2)


def three_joints(axes: Sequence[Axis], p: Array, t: Array, plan: EquationOrder, size: float) -> list[tuple[Any, Any, Any]]:
    """All branches of E_a E_b E_c p = t."""
    a, b, c = axes
    start, end = side(c, b, p, size), side(a, b, t, size)
    solutions = []
    for at_a, at_c in solve_pair(end, start, plan, size):
        middle = one_joint(b, start.point(at_c), end.point(at_a), size)
        steps = _steps(b, middle, start, at_c, end, at_a, size)
        value = end.value(end.moved(at_a, steps[2], size))
        middle = moved(middle, steps[0], b.translates, size)
        solutions.append((-value if a.translates else value.back(), middle, start.value(start.moved(at_c, steps[1], size))))
    return solutions


def two_joints(axes: Sequence[Axis], p: Array, t: Array, plan: EquationOrder, size: float) -> list[tuple[Any, Any]]:
    """All branches of E_b E_c p = t: three equations for two joints, which may leave a residual."""
    b, c = axes
    start = side(c, b, p, size)
    goal = still(b, t, size) - start.remainder
    solutions = []
    for at in only_place(start, goal, plan, size):
        middle = one_joint(b, start.point(at), t, size)
        steps = _steps(b, middle, start, at, t, None, size)
        solutions.append((moved(middle, steps[0], b.translates, size), start.value(start.moved(at, steps[1], size))))
    return solutions


def _steps(b: Axis, middle: Any, start: Side, at_c: Any, end: Any, at_a: Any, size: float) -> Array:
    """A Gauss-Newton step for joints b, c and a, all three coordinates of the points looked at.

    Where two branches meet, the two equations know a joint to the root of the rounding only, and the way from there to the
    points may not forgive it.
    """
    u, du = start.point(at_c), start.slope(at_c)
    arm = b.carried(middle, u - b.point)
    seen = b.point + arm + (b.along * middle if b.translates else 0.0)
    columns = [b.along if b.translates else cross(b.along, arm) * (1.0 / size), b.carried(middle, du)]
    goal = end
    if at_a is not None:
        goal = end.point(at_a)
        columns.append(-end.slope(at_a))
    columns[1:] = [
        v if joint.axis.translates else v * (1.0 / size) for v, joint in zip(columns[1:], (start, end), strict=False)
    ]
    return damped_step(np.stack(columns, axis=1), (goal - seen) * (1.0 / size))


def place_point(axes: Sequence[Axis], p: Array, t: Array, order: EquationOrder | None, size: float) -> list[dict[int, Any]]:
    """All branches of at most three joints that move a point p (3,) to t (3,), by joint number."""
    if not axes:
        return [{}]
    if len(axes) == 1:
        return [{axes[0].joint: one_joint(axes[0], p, t, size)}]
    assert order is not None
    branches = (three_joints if len(axes) == 3 else two_joints)(axes, p, t, order, size)
    return [{axis.joint: value for axis, value in zip(axes, values, strict=True)} for values in branches]


def equation_order(samples: Iterable[tuple[Sequence[Axis], Array, Array]], size: float) -> tuple[bool, EquationOrder | None]:
    """Whether joints can place a point, and their order; from numeric samples of the first arguments of `place_point`."""
    firsts, lasts = [], []
    for axes, p, t in samples:
        if len(axes) < 2:
            return True, None
        lasts.append(side(axes[-1], axes[-2], p, size))
        firsts.append(side(axes[0], axes[1], t, size))
    a, c = (np.array([end.matrix for end in sides]).astype(float) for sides in (firsts, lasts))
    if len(axes) == 2:
        order = plan_of_two(c)
    else:
        constant = [bool(np.ptp(matrices, axis=0).max() < EXACT * 10) for matrices in (a, c)]
        order = plan_of(a, c, (firsts[0].curve, lasts[0].curve), (constant[0], constant[1]))
    return order is not None, order
