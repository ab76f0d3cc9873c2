"""Centre of mass at a point, within a box, or above a support polygon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import find
from linkwise.errors import ArgumentError, shown
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import (
    Configuration,
    Constraint,
    ConstraintEquations,
    importance,
    outside,
    range_bounds,
    squared,
)
from linkwise.solve.validation import FARTHEST, points, positive, settle
from linkwise.spatial.scalar import Array, FloatArray, select
from linkwise.spatial.validation import numbers


@dataclass(frozen=True, eq=False, repr=False)
class CenterOfMass(Constraint):
    """The centre of mass of all links is at a point, within a box, or above a polygon.

    Parameters
    ----------
    p : (..., 3) array_like, optional
        Where, world frame, m.
    lower, upper : (..., 3) array_like, optional
        A box, world frame, m, infinite where it is open: in the place of p.
    above : (k, 2) array_like, optional
        x and y of three points or more, in any order, m: the centre of mass is above the least convex polygon that has
        all of them, as the centre of what stands at rest is above its support polygon.
    margin : float
        How far from the edges of that polygon it stays, m.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> solution = arm.solve(CenterOfMass(above=[[0.0, 0.0], [0.2, 0.0], [0.2, 0.2], [0.0, 0.2]], margin=0.02))
    >>> solution.success, arm.center_of_mass(solution.q)[:2].round(2).tolist()
    (True, [0.17, 0.18])
    """

    values: FloatArray
    keyed: ClassVar[tuple[str, ...]] = ("form",)
    form: str

    def __init__(
        self,
        p: npt.ArrayLike | None = None,
        *,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        above: npt.ArrayLike | None = None,
        margin: float = 0.0,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        boxed = lower is not None or upper is not None
        if (p is not None) + boxed + (above is not None) != 1:
            raise ArgumentError("p, lower and upper, and above exclude each other; expected one of them")
        if above is not None:
            values = half_planes(above, positive("margin", margin, zero=True)).ravel()
        else:
            values = range_bounds(lower, upper, 3) if boxed else points("p", p if p is not None else ())
        settle(self, values=values, form="polygon" if above is not None else "box" if boxed else "point")
        settle(self, **importance(weight, priority))

    @property
    def numbers(self) -> FloatArray:
        """The point (..., 3), the box (..., 6), or the half planes (3 k,)."""
        return self.values

    def check(self, tree: Tree) -> None:
        """Raise `ModelError` unless something has a mass."""
        _centre(tree, tree.neutral)

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Residual of the point, the box, or the edges."""
        here, rates = _centre(view.tree, view.q), find("center_of_mass_jacobian").function(view.tree, view.q)
        if self.form == "point":
            return ConstraintEquations(np.asarray(p) - here, rates, (False,) * 3)
        if self.form == "box":
            return ConstraintEquations.between(here, rates, (p[:3], p[3:]), (False,) * 3)
        planes = np.reshape(p, (-1, 3))
        count = len(planes)
        bounds = np.full(count, -FARTHEST), planes[:, 2]
        return ConstraintEquations.between(planes[:, :2] @ here[:2], planes[:, :2] @ rates[:2], bounds, (False,) * count)

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """The square of the distance from the point or the box, or of all that is lacking beyond the edges."""
        here = _centre(view.tree, view.q)
        if self.form == "point":
            return squared(np.asarray(p) - here), 0.0
        if self.form == "box":
            return squared(np.array([outside(x, a, b) for x, a, b in zip(here, p[:3], p[3:], strict=True)])), 0.0
        over = [a * here[0] + b * here[1] - most for a, b, most in np.reshape(p, (-1, 3))]
        return squared(np.array([select(value, value, 0.0) for value in over])), 0.0


def _centre(tree: Tree, q: Array) -> Array:
    """Centre of mass (3,); looked up by name, because dynamics with loops import this package."""
    return np.asarray(find("center_of_mass").function(tree, q))


def half_planes(above: npt.ArrayLike, margin: float) -> FloatArray:
    """Half planes (k, 3) of a convex polygon shrunk by a margin: a x + b y <= c, (a, b) of length 1.

    The hull is A. M. Andrew's, "Another efficient algorithm for convex hulls in two dimensions", Information Processing
    Letters 9(5), 1979.

    Examples
    --------
    >>> half_planes([[0, 0], [2, 0], [2, 1], [0, 1], [1, 0.5]], 0.1).round(2) + 0.0
    array([[ 0. , -1. , -0.1],
           [ 1. ,  0. ,  1.9],
           [ 0. ,  1. ,  0.9],
           [-1. ,  0. , -0.1]])
    """
    corners = numbers("above", above, "three points (k, 2) or more, m")
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or np.abs(corners).max(initial=0.0) > FARTHEST:
        raise ArgumentError(f"above has the shape {corners.shape}; expected three points (k, 2) or more, m")
    ordered = corners[np.lexsort(corners.T[::-1])]
    hull: list[FloatArray] = []
    for chain in (ordered, ordered[::-1]):
        half: list[FloatArray] = []
        for corner in chain:
            while len(half) > 1 and _area(half[-2], half[-1], corner) <= 0.0:
                half.pop()
            half.append(corner)
        hull += half[:-1]
    if len(hull) < 3:
        raise ArgumentError(f"above is {shown(corners.tolist())}; expected points that are not in a line")
    points_around = np.array(hull)
    along = np.roll(points_around, -1, axis=0) - points_around
    normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.hypot(along[:, 0], along[:, 1])[:, None]
    return np.column_stack([normals, np.sum(normals * points_around, axis=1) - margin])


def _area(a: FloatArray, b: FloatArray, c: FloatArray) -> float:
    """Twice the signed area of a triangle, positive for counterclockwise corners."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
