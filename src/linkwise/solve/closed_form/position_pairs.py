"""Two equations for the places of two joints on their curves: every branch.

``a.matrix @ y_a + a.rest = c.matrix @ y_c + c.rest``, see `linkwise.solve.closed_form.wrist_positions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.solve.closed_form.conic_pencil import conic_on_circle, conic_on_parabola, over, quadratic
from linkwise.solve.closed_form.position_plans import Plan
from linkwise.solve.closed_form.position_sides import CIRCLE, LINE, PARABOLA, Side, normal_of, pair, range_of
from linkwise.solve.closed_form.subproblems import direction, linear
from linkwise.spatial.scalar import Array
from linkwise.spatial.vector import inner


def solve_pair(a: Side, c: Side, plan: Plan, size: float) -> list[tuple[Any, Any]]:
    """The places of a and c on their curves, every branch: ``a.matrix @ y_a + a.rest = c.matrix @ y_c + c.rest``."""
    rest = c.rest - a.rest
    if plan.way == "a by conic":
        return _by_conic(a, c, rest)
    if plan.way == "c by conic":
        return [(at_a, at_c) for at_c, at_a in _by_conic(c, a, -rest)]
    if plan.way == "slides":
        return _both_slide(a, c, rest)
    if plan.way == "both":
        to_a, to_c = normal_of(c.matrix, range_of(a.matrix)), normal_of(a.matrix, range_of(c.matrix))
        first = _places(a, to_a @ a.matrix, inner(to_a, rest), plan.straight[0], size)
        second = _places(c, to_c @ c.matrix, -inner(to_c, rest), plan.straight[1], size)
        found = [(at_a, at_c) for at_a in first for at_c in second]
    elif plan.way == "a first":
        found = _one_then_other(a, c, rest, plan.straight, size)
    else:
        pairs = _one_then_other(c, a, -rest, (plan.straight[1], plan.straight[0]), size)
        found = [(at_a, at_c) for at_c, at_a in pairs]
    return found


def _one_then_other(one: Side, other: Side, rest: Array, straight: tuple[bool, bool], size: float) -> list[tuple[Any, Any]]:
    """``one.matrix @ y = other.matrix @ y' + rest`` where the matrix of the other has rank one."""
    onto = range_of(other.matrix)
    across = pair(-onto[1], onto[0])
    found = []
    for at in _places(one, across @ one.matrix, inner(across, rest), straight[0], size):
        left = inner(onto, one.matrix @ one.y(at) - rest)
        found += [(at, there) for there in _places(other, onto @ other.matrix, left, straight[1], size)]
    return found


def _places(side: Side, row: Array, value: Any, straight: bool, size: float) -> list[Any]:
    """Where on its curve ``row @ y = value``."""
    if side.curve == CIRCLE:
        free = side.start.plus(side.axis.free)
        return list(linear(row[0] * side.radius, row[1] * side.radius, value, free, size=size)[:2])
    if side.curve == LINE or straight:
        return [over(value, row[1], side.start + side.axis.free)]
    return list(quadratic(row[0], row[1], -value))


def _by_conic(one: Side, other: Side, rest: Array) -> list[tuple[Any, Any]]:
    """``one.matrix @ y = other.matrix @ y' + rest`` where the matrix of the other can be inverted."""
    p, q, r, s = other.matrix.ravel()
    back = np.array([[s, -q], [-r, p]], dtype=object) * over(1.0, p * s - q * r, 0.0)
    scale = one.radius if one.curve == CIRCLE else 1.0
    onto = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=object)
    onto[:2, :2], onto[:2, 2] = (back @ one.matrix) * scale, -(back @ rest)
    if other.curve == CIRCLE:
        conic = np.outer(onto[0], onto[0]) + np.outer(onto[1], onto[1])
        conic[2, 2] = conic[2, 2] - other.radius * other.radius
    else:
        conic = np.outer(onto[1], onto[1])
        half = 0.5 * onto[0]
        conic[2, :] = conic[2, :] - half
        conic[:, 2] = conic[:, 2] - half
    if one.curve == CIRCLE:
        places: list[Any] = list(conic_on_circle(conic, one.start.plus(one.axis.free)))
    else:
        places = list(conic_on_parabola(conic))
    found = []
    for at in places:
        y = onto[:2] @ np.array([at.c, at.s, 1.0] if one.curve == CIRCLE else [*one.y(at), 1.0], dtype=object)
        there = direction(y[0], y[1], other.start.plus(other.axis.free))[0] if other.curve == CIRCLE else y[1]
        found.append((at, there))
    return found


def _both_slide(a: Side, c: Side, rest: Array) -> list[tuple[Any, Any]]:
    """Two sliding joints about one that turns: s_a is linear in s_c, so that the squares leave a quadratic equation."""
    ratio, shift = over(c.matrix[0, 1], a.matrix[0, 1], 0.0), over(rest[0], a.matrix[0, 1], 0.0)
    scale = a.matrix[1, 0]
    both = quadratic(scale * (ratio * ratio - 1.0), 2.0 * scale * ratio * shift, scale * shift * shift - rest[1])
    return [(ratio * s + shift, s) for s in both]


def only_place(side: Side, goal: Array, plan: Plan, size: float) -> list[Any]:
    """Where on its curve ``matrix @ y = goal``: one place where the matrix can be inverted, two where it has rank one."""
    if plan.way == "both":
        onto = range_of(side.matrix)
        return _places(side, onto @ side.matrix, inner(onto, goal), plan.straight[1], size)
    if side.curve == PARABOLA:
        return [over(goal[0], side.matrix[0, 1], side.start + side.axis.free)]
    p, q, r, s = side.matrix.ravel()
    scale = over(1.0, p * s - q * r, 0.0)
    x, y = (s * goal[0] - q * goal[1]) * scale, (p * goal[1] - r * goal[0]) * scale
    return [direction(x, y, side.start.plus(side.axis.free))[0]]
