"""Three joints or fewer, revolute or prismatic in any order, that take one point to another: every branch.

With joints a, b, c and E_a E_b E_c p = t, let u = E_c p, which only c moves, and v = E_a^-1 t, which only a moves. E_b u = v
holds for some position of b where two numbers are the same for u and v: the coordinate along the axis of b and the distance
from a point on it where b turns (D. L. Pieper, *The Kinematics of Manipulators under Computer Control*, 1968, who treats
R R R so), the two coordinates across its axis where b slides. The two equations are linear in (cos, sin) of an outer
joint that turns, and in (s^2, s) of one that slides::

    M_a y_a + m_a = M_c y_c + m_c

Where a matrix M has rank one, one unknown is left by multiplying with what is normal to its columns, and one equation after
the other is solved; otherwise its y follows from the other, and the equation of its curve is a conic in the other
(`linkwise.inverse_kinematics.closed_form.subproblem6`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import EXACT
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
from linkwise.inverse_kinematics.closed_form.refine import damped_step
from linkwise.inverse_kinematics.closed_form.subproblems import align
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.spatial.vector import inner


def one_joint(b: Axis, p: Array, t: Array, size: float) -> Any:
    """How far one joint moves to bring p (3,) nearest to t (3,)."""
    if b.slides:
        return inner(b.along, t - p)
    return align(b.along, p - b.point, t - b.point, b.free, (LEAST * size) ** 2)


def three_joints(axes: Sequence[Axis], p: Array, t: Array, plan: EquationOrder, size: float) -> list[tuple[Any, Any, Any]]:
    """Every branch of E_a E_b E_c p = t."""
    a, b, c = axes
    start, end = side(c, b, p, size), side(a, b, t, size)
    found = []
    for at_a, at_c in solve_pair(end, start, plan, size):
        middle = one_joint(b, start.point(at_c), end.point(at_a), size)
        steps = _steps(b, middle, start, at_c, end, at_a, size)
        value = end.value(end.moved(at_a, steps[2], size))
        middle = moved(middle, steps[0], b.slides, size)
        found.append((-value if a.slides else value.back(), middle, start.value(start.moved(at_c, steps[1], size))))
    return found


def two_joints(axes: Sequence[Axis], p: Array, t: Array, plan: EquationOrder, size: float) -> list[tuple[Any, Any]]:
    """Every branch of E_b E_c p = t: three equations for two joints, which may leave a miss."""
    b, c = axes
    start = side(c, b, p, size)
    goal = still(b, t, size) - start.rest
    found = []
    for at in only_place(start, goal, plan, size):
        middle = one_joint(b, start.point(at), t, size)
        steps = _steps(b, middle, start, at, t, None, size)
        found.append((moved(middle, steps[0], b.slides, size), start.value(start.moved(at, steps[1], size))))
    return found


def _steps(b: Axis, middle: Any, start: Side, at_c: Any, end: Any, at_a: Any, size: float) -> Array:
    """A Gauss-Newton step for joints b, c and a, all three coordinates of the points looked at.

    Where two branches meet, the two equations know a joint to the root of the rounding only, and the way from there to the
    points may not forgive it.
    """
    u, du = start.point(at_c), start.slope(at_c)
    arm = b.carried(middle, u - b.point)
    seen = b.point + arm + (b.along * middle if b.slides else 0.0)
    columns = [b.along if b.slides else cross(b.along, arm) * (1.0 / size), b.carried(middle, du)]
    goal = end
    if at_a is not None:
        goal = end.point(at_a)
        columns.append(-end.slope(at_a))
    columns[1:] = [v if joint.axis.slides else v * (1.0 / size) for v, joint in zip(columns[1:], (start, end), strict=False)]
    return damped_step(np.stack(columns, axis=1), (goal - seen) * (1.0 / size))


def place_point(axes: Sequence[Axis], p: Array, t: Array, order: EquationOrder | None, size: float) -> list[dict[int, Any]]:
    """Every branch for three joints or fewer that take a point p (3,) to t (3,), by the number of the joint."""
    if not axes:
        return [{}]
    if len(axes) == 1:
        return [{axes[0].joint: one_joint(axes[0], p, t, size)}]
    assert order is not None
    branches = (three_joints if len(axes) == 3 else two_joints)(axes, p, t, order, size)
    return [{axis.joint: value for axis, value in zip(axes, values, strict=True)} for values in branches]


def equation_order(samples: Iterable[tuple[Sequence[Axis], Array, Array]], size: float) -> tuple[bool, EquationOrder | None]:
    """Whether joints can place a point, and in which order; from samples of `place_point`'s first arguments as numbers."""
    firsts, lasts = [], []
    for axes, p, t in samples:
        if len(axes) < 2:
            return True, None
        lasts.append(side(axes[-1], axes[-2], p, size))
        firsts.append(side(axes[0], axes[1], t, size))
    a, c = (np.array([each.matrix for each in sides]).astype(float) for sides in (firsts, lasts))
    if len(axes) == 2:
        order = plan_of_two(c)
    else:
        constant = [bool(np.ptp(matrices, axis=0).max() < EXACT * 10) for matrices in (a, c)]
        order = plan_of(a, c, (firsts[0].curve, lasts[0].curve), (constant[0], constant[1]))
    return order is not None, order
