"""What the first and the last of three joints put into the equations for a position: curves, and matrices (2, 2).

See `linkwise.solve.closed_form.wrist_positions` for the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.solve.closed_form.joint_axis import NO_TURN, Axis
from linkwise.solve.closed_form.subproblems import Turn, direction
from linkwise.solve.closed_form.undetermined import require
from linkwise.spatial.scalar import Array, FloatArray, root, select
from linkwise.spatial.vector import inner

CIRCLE, PARABOLA, LINE = "circle", "parabola", "line"
"""What y moves on: radius (cos, sin), (s^2, s), and (0, s) where the joint between slides as well."""

LEAST = 1e-14
"""A point is on an axis, and the angle about it free, up to this distance in lengths of the chain."""

NEAR = 0.1
"""The longest small step: rad, or lengths of the chain."""

FIRST: FloatArray = np.array([1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Side:
    """What one outer joint puts into the two equations: ``matrix @ y + rest`` for y on a curve.

    Attributes
    ----------
    axis : Axis
        The joint.
    curve : str
        `CIRCLE`, `PARABOLA` or `LINE`.
    matrix, rest : ndarray (2, 2), (2,)
        See above.
    radius : scalar
        Of the circle, m.
    start : Turn or scalar
        Where on its curve y is in the reference position.
    middle : ndarray (3,)
        The point from which y is counted.
    """

    axis: Axis
    curve: str
    matrix: Array
    rest: Array
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
        """How the point (3,) moves there per rad, or per length."""
        if self.curve != CIRCLE:
            return self.axis.along
        return np.asarray(self.axis.across @ np.array([-self.radius * place.s, self.radius * place.c], dtype=object))

    def moved(self, place: Any, step: Any, size: float) -> Any:
        """The place a small step further, see `moved`."""
        return moved(place, step, self.curve != CIRCLE, size)

    def value(self, place: Any) -> Any:
        """How far the joint has moved from the reference position to get there."""
        return place.minus(self.start) if self.curve == CIRCLE else place - self.start


def moved(value: Any, step: Any, slides: bool, size: float) -> Any:
    """A value of a joint with a small step added, in rad or in lengths of the chain; with none where it is not small."""
    step = select(NEAR - abs(step), step, 0.0)
    if slides:
        return value + step * size
    scale = 1.0 / root(1.0 + step * step)
    return Turn((value.c - value.s * step) * scale, (value.s + value.c * step) * scale)


def side(axis: Axis, between: Axis, point: Array, size: float) -> Side:
    """What an outer joint next to the joint `between` does with a point (3,); lengths are compared with `size` (m)."""
    along, e, f = axis.along, axis.frame[:, 0], axis.frame[:, 1]
    x, y, hub, scale = between.frame[:, 0], between.frame[:, 1], between.point, 0.5 / size
    if axis.slides and between.slides:
        matrix = _matrix([0.0, inner(x, along)], [0.0, inner(y, along)])
        return Side(axis, LINE, matrix, pair(inner(x, point), inner(y, point)), 0.0, 0.0, point)
    if axis.slides:
        start = inner(along, point - hub)
        foot = point - along * start
        arm = foot - hub
        matrix = _matrix([0.0, inner(between.along, along)], [scale, 0.0])
        rest = pair(inner(between.along, arm), scale * inner(arm, arm))
        return Side(axis, PARABOLA, matrix, rest, 0.0, start, foot)
    reach = point - axis.point
    middle = axis.point + along * inner(along, reach)
    start, radius = direction(inner(e, reach), inner(f, reach), NO_TURN, LEAST * size)
    if between.slides:
        matrix = _matrix([inner(x, e), inner(x, f)], [inner(y, e), inner(y, f)])
        return Side(axis, CIRCLE, matrix, pair(inner(x, middle), inner(y, middle)), radius, start, middle)
    arm, base = middle - hub, axis.point - hub
    matrix = _matrix(
        [inner(between.along, e), inner(between.along, f)], [2.0 * scale * inner(base, e), 2.0 * scale * inner(base, f)]
    )
    rest = pair(inner(between.along, arm), scale * (inner(arm, arm) + radius * radius))
    return Side(axis, CIRCLE, matrix, rest, radius, start, middle)


def pair(first: Any, second: Any) -> Array:
    """Two scalars as a vector (2,)."""
    return np.array([first, second], dtype=object)


def _matrix(first: list[Any], second: list[Any]) -> Array:
    return np.array([first, second], dtype=object)


def still(b: Axis, t: Array, size: float) -> Array:
    """The two numbers (2,) of a point that stands still beside joint b."""
    if b.slides:
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
    """What is normal (2,) to the columns of a matrix (2, 2) of rank one; `spare` where they vanish."""
    x, y = range_of(m, pair(spare[1], -spare[0]))
    return pair(-y, x)
