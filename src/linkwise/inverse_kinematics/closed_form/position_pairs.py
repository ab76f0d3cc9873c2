"""All branches of two equations for the positions of two joints on their curves.

``a.matrix @ y_a + a.rest = c.matrix @ y_c + c.rest``, see `linkwise.inverse_kinematics.closed_form.position`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import TOLERANCE
from linkwise.inverse_kinematics.closed_form.problem import NO_TURN, Axis
from linkwise.inverse_kinematics.closed_form.subproblems import (
    Turn,
    conic_on_circle,
    conic_on_parabola,
    direction,
    linear,
    over,
    quadratic,
    require,
)
from linkwise.spatial.scalar import Array, FloatArray, root, select
from linkwise.spatial.vector import inner

#: Curves of y: radius (cos, sin), (s^2, s), and (0, s) if the joint between slides too.
CIRCLE, PARABOLA, LINE = "circle", "parabola", "line"

#: A point is on an axis, and the angle about it free, up to this distance in lengths of the chain.
LEAST = 1e-14

#: The longest small step: rad, or lengths of the chain.
NEAR = 0.1

FIRST: FloatArray = np.array([1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Side:
    """Contribution of one outer joint to the two equations: ``matrix @ y + remainder`` for y on a curve.

    Attributes
    ----------
    axis : Axis
        The joint.
    curve : str
        `CIRCLE`, `PARABOLA` or `LINE`.
    matrix, remainder : ndarray (2, 2), (2,)
        See above.
    radius : scalar
        Radius of the circle, m.
    start : Turn or scalar
        Where on its curve y is in the reference position.
    middle : ndarray (3,)
        The point from which y is counted.
    """

    axis: Axis
    curve: str
    matrix: Array
    remainder: Array
    radius: Any
    start: Any
    middle: Array

    def y(self, place: Any) -> Array:
        """The vector (2,) at a place on the curve."""
        if self.curve == CIRCLE:
            return np.array([self.radius * place.c, self.radius * place.s], dtype=object)
        return np.array([place * place if self.curve == PARABOLA else 0.0, place], dtype=object)

    def point(self, place: Any) -> Array:
        """The point (3,) there."""
        across = self.axis.across @ self.y(place) if self.curve == CIRCLE else self.axis.along * place
        return np.asarray(self.middle + across)

    def slope(self, place: Any) -> Array:
        """Derivative of the point (3,) per rad, or per length."""
        if self.curve != CIRCLE:
            return self.axis.along
        return np.asarray(self.axis.across @ np.array([-self.radius * place.s, self.radius * place.c], dtype=object))

    def moved(self, place: Any, step: Any, size: float) -> Any:
        """The place a small step further, see `moved`."""
        return moved(place, step, self.curve != CIRCLE, size)

    def value(self, place: Any) -> Any:
        """Displacement of the joint from the reference position."""
        return place.minus(self.start) if self.curve == CIRCLE else place - self.start


def moved(value: Any, step: Any, translates: bool, size: float) -> Any:
    """A value of a joint with a small step added, in rad or in lengths of the chain; with none where it is not small."""
    step = select(NEAR - abs(step), step, 0.0)
    if translates:
        return value + step * size
    scale = 1.0 / root(1.0 + step * step)
    return Turn((value.c - value.s * step) * scale, (value.s + value.c * step) * scale)


def side(axis: Axis, between: Axis, point: Array, size: float) -> Side:
    """Motion of a point (3,) by an outer joint next to the joint `between`; lengths are compared with `size` (m)."""
    along, e, f = axis.along, axis.frame[:, 0], axis.frame[:, 1]
    x, y, hub, scale = between.frame[:, 0], between.frame[:, 1], between.point, 0.5 / size
    if axis.translates and between.translates:
        matrix = pair([0.0, inner(x, along)], [0.0, inner(y, along)])
        return Side(axis, LINE, matrix, pair(inner(x, point), inner(y, point)), 0.0, 0.0, point)
    if axis.translates:
        start = inner(along, point - hub)
        foot = point - along * start
        arm = foot - hub
        matrix = pair([0.0, inner(between.along, along)], [scale, 0.0])
        constant = pair(inner(between.along, arm), scale * inner(arm, arm))
        return Side(axis, PARABOLA, matrix, constant, 0.0, start, foot)
    reach = point - axis.point
    middle = axis.point + along * inner(along, reach)
    start, radius = direction(inner(e, reach), inner(f, reach), NO_TURN, LEAST * size)
    if between.translates:
        matrix = pair([inner(x, e), inner(x, f)], [inner(y, e), inner(y, f)])
        return Side(axis, CIRCLE, matrix, pair(inner(x, middle), inner(y, middle)), radius, start, middle)
    arm, base = middle - hub, axis.point - hub
    matrix = pair(
        [inner(between.along, e), inner(between.along, f)], [2.0 * scale * inner(base, e), 2.0 * scale * inner(base, f)]
    )
    constant = pair(inner(between.along, arm), scale * (inner(arm, arm) + radius * radius))
    return Side(axis, CIRCLE, matrix, constant, radius, start, middle)


def pair(first: Any, second: Any) -> Array:
    """Two scalars as a vector (2,)."""
    return np.array([first, second], dtype=object)


def still(b: Axis, t: Array, size: float) -> Array:
    """The two coordinates (2,) of a point that is fixed beside joint b."""
    if b.translates:
        return pair(inner(b.frame[:, 0], t), inner(b.frame[:, 1], t))
    arm = t - b.point
    return pair(inner(b.along, arm), (0.5 / size) * inner(arm, arm))


def range_of(m: Array, spare: Array = FIRST) -> Array:
    """The direction (2,) of the columns of a matrix (2, 2) of rank one; `spare` where they vanish in a special position."""
    first, second = m[:, 0], m[:, 1]
    longer = inner(first, first) - inner(second, second)
    x, y = select(longer, first[0], second[0]), select(longer, first[1], second[1])
    size = root(x * x + y * y)
    usable = size - LEAST
    require(usable)
    scale = 1.0 / select(usable, size, 1.0)
    return pair(select(usable, x * scale, spare[0]), select(usable, y * scale, spare[1]))


def normal_of(m: Array, spare: Array = FIRST) -> Array:
    """Normal (2,) of the columns of a matrix (2, 2) of rank one; `spare` where they vanish."""
    x, y = range_of(m, pair(spare[1], -spare[0]))
    return pair(-y, x)


class EquationOrder(NamedTuple):
    """Method of solution of a pair of equations.

    Attributes
    ----------
    way : str
        ``"both"``, ``"a first"``, ``"c first"``, ``"a by conic"``, ``"c by conic"`` or ``"slides"``.
    straight : tuple of bool
        Of joints a and c, whether the equation of a sliding joint has no square.
    misfit : float
        How far a matrix that counts as one of rank one is from it.
    """

    method: str
    straight: tuple[bool, bool]
    misfit: float


def plan_of(a: Array, c: Array, curves: tuple[str, str], still: tuple[bool, bool]) -> EquationOrder | None:
    """Choose the method for the equations of three joints, from the matrices as numbers; None if there is none.

    Parameters
    ----------
    a, c : ndarray (k, 2, 2)
        The matrices in k positions taken at random.
    curves : tuple of str
        Of a and c.
    still : tuple of bool
        Whether the matrix is the same in all positions.
    """
    (rank_a, misfit_a), (rank_c, misfit_c) = _rank(a), _rank(c)
    misfit = max(misfit_a, misfit_c)
    if 0 in (rank_a, rank_c):
        return None
    if rank_a == rank_c == 1:
        onto_a, onto_c = _rows(normal_of, c, a), _rows(normal_of, a, c)
        least = min(np.abs(rows).max(axis=1).min() for rows in (onto_a, onto_c))
        return EquationOrder("both", (_straight(onto_a), _straight(onto_c)), misfit) if least > TOLERANCE else None
    if rank_c == 1:
        return EquationOrder("a first", (_straight(_rows(normal_of, c, a)), _straight(_rows(range_of, c, c))), misfit)
    if rank_a == 1:
        return EquationOrder("c first", (_straight(_rows(range_of, a, a)), _straight(_rows(normal_of, a, c))), misfit)
    return EquationOrder(_full(a, c, curves, still), (False, False), misfit)


def _full(a: Array, c: Array, curves: tuple[str, str], still: tuple[bool, bool]) -> str:
    """Choose the method if both matrices are invertible: constant ones first, then the better conditioned."""
    if curves == (PARABOLA, PARABOLA):
        return "slides"
    if still[0] is not still[1]:
        return "c by conic" if still[0] else "a by conic"
    worst_a, worst_c = (float(np.max(np.linalg.cond(matrices))) for matrices in (a, c))
    return "a by conic" if worst_c <= worst_a else "c by conic"


def _rank(matrices: Array) -> tuple[int, float]:
    """Rank of matrices (k, 2, 2) of one kind, and their deviation from it."""
    values = np.linalg.svd(matrices, compute_uv=False)
    if values[:, 0].min() < TOLERANCE:
        return 0, 0.0
    ratio = float((values[:, 1] / values[:, 0]).max())
    return (2, 0.0) if ratio > TOLERANCE else (1, ratio)


def _rows(direction: Callable[[Array], Array], of: Array, times: Array) -> Array:
    """Rows (k, 2): for each of the matrices (k, 2, 2) `of` a direction, times the other matrix."""
    return np.array([direction(m).astype(float) @ n for m, n in zip(of, times, strict=True)])


def _straight(rows: Array) -> bool:
    return bool(np.abs(rows[:, 0]).max() <= TOLERANCE * np.abs(rows[:, 1]).max())


def plan_of_two(c: Array) -> EquationOrder | None:
    """Choose the method for the equations of two joints, from the matrices (k, 2, 2) of c as numbers."""
    rank, misfit = _rank(c)
    if rank == 0:
        return None
    return EquationOrder("both" if rank == 1 else "c first", (False, _straight(_rows(range_of, c, c))), misfit)


def solve_pair(a: Side, c: Side, plan: EquationOrder, size: float) -> list[tuple[Any, Any]]:
    """The places of a and c on their curves, every branch: ``a.matrix @ y_a + a.rest = c.matrix @ y_c + c.rest``."""
    difference = c.remainder - a.remainder
    if plan.method == "a by conic":
        return _by_conic(a, c, difference)
    if plan.method == "c by conic":
        return [(at_a, at_c) for at_c, at_a in _by_conic(c, a, -difference)]
    if plan.method == "slides":
        return _both_slide(a, c, difference)
    if plan.method == "both":
        to_a, to_c = normal_of(c.matrix, range_of(a.matrix)), normal_of(a.matrix, range_of(c.matrix))
        first = _places(a, to_a @ a.matrix, inner(to_a, difference), plan.straight[0], size)
        second = _places(c, to_c @ c.matrix, -inner(to_c, difference), plan.straight[1], size)
        solutions = [(at_a, at_c) for at_a in first for at_c in second]
    elif plan.method == "a first":
        solutions = _one_then_other(a, c, difference, plan.straight, size)
    else:
        pairs = _one_then_other(c, a, -difference, (plan.straight[1], plan.straight[0]), size)
        solutions = [(at_a, at_c) for at_c, at_a in pairs]
    return solutions


def _one_then_other(
    first: Side, second: Side, difference: Array, straight: tuple[bool, bool], size: float
) -> list[tuple[Any, Any]]:
    """``one.matrix @ y = other.matrix @ y' + rest`` where the matrix of the other has rank one."""
    onto = range_of(second.matrix)
    across = pair(-onto[1], onto[0])
    solutions = []
    for at in _places(first, across @ first.matrix, inner(across, difference), straight[0], size):
        left = inner(onto, first.matrix @ first.y(at) - difference)
        solutions += [(at, there) for there in _places(second, onto @ second.matrix, left, straight[1], size)]
    return solutions


def _places(side: Side, row: Array, value: Any, straight: bool, size: float) -> list[Any]:
    """Positions on the curve with ``row @ y = value``."""
    if side.curve == CIRCLE:
        free = side.start.plus(side.axis.fallback)
        return list(linear(row[0] * side.radius, row[1] * side.radius, value, free, size=size)[:2])
    if side.curve == LINE or straight:
        return [over(value, row[1], side.start + side.axis.fallback)]
    return list(quadratic(row[0], row[1], -value))


def _by_conic(first: Side, second: Side, difference: Array) -> list[tuple[Any, Any]]:
    """``one.matrix @ y = other.matrix @ y' + rest`` where the matrix of the other can be inverted."""
    p, q, r, s = second.matrix.ravel()
    back = np.array([[s, -q], [-r, p]], dtype=object) * over(1.0, p * s - q * r, 0.0)
    scale = first.radius if first.curve == CIRCLE else 1.0
    onto = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=object)
    onto[:2, :2], onto[:2, 2] = (back @ first.matrix) * scale, -(back @ difference)
    if second.curve == CIRCLE:
        conic = np.outer(onto[0], onto[0]) + np.outer(onto[1], onto[1])
        conic[2, 2] = conic[2, 2] - second.radius * second.radius
    else:
        conic = np.outer(onto[1], onto[1])
        half = 0.5 * onto[0]
        conic[2, :] = conic[2, :] - half
        conic[:, 2] = conic[:, 2] - half
    if first.curve == CIRCLE:
        places: list[Any] = list(conic_on_circle(conic, first.start.plus(first.axis.fallback)))
    else:
        places = list(conic_on_parabola(conic))
    solutions = []
    for at in places:
        y = onto[:2] @ np.array([at.c, at.s, 1.0] if first.curve == CIRCLE else [*first.y(at), 1.0], dtype=object)
        there = direction(y[0], y[1], second.start.plus(second.axis.fallback))[0] if second.curve == CIRCLE else y[1]
        solutions.append((at, there))
    return solutions


def _both_slide(a: Side, c: Side, difference: Array) -> list[tuple[Any, Any]]:
    """Two sliding joints about a revolute one: s_a is linear in s_c, so that the squares leave a quadratic equation."""
    ratio, shift = over(c.matrix[0, 1], a.matrix[0, 1], 0.0), over(difference[0], a.matrix[0, 1], 0.0)
    scale = a.matrix[1, 0]
    both = quadratic(scale * (ratio * ratio - 1.0), 2.0 * scale * ratio * shift, scale * shift * shift - difference[1])
    return [(ratio * s + shift, s) for s in both]


def only_place(side: Side, goal: Array, plan: EquationOrder, size: float) -> list[Any]:
    """Positions on the curve with ``matrix @ y = goal``: one if the matrix is invertible, two if it has rank one."""
    if plan.method == "both":
        onto = range_of(side.matrix)
        return _places(side, onto @ side.matrix, inner(onto, goal), plan.straight[1], size)
    if side.curve == PARABOLA:
        return [over(goal[0], side.matrix[0, 1], side.start + side.axis.fallback)]
    p, q, r, s = side.matrix.ravel()
    scale = over(1.0, p * s - q * r, 0.0)
    x, y = (s * goal[0] - q * goal[1]) * scale, (p * goal[1] - r * goal[0]) * scale
    return [direction(x, y, side.start.plus(side.axis.fallback))[0]]
