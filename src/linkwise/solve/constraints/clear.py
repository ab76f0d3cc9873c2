"""The mechanism must stay clear of itself and of obstacles."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.clearance.clearance import distances_at
from linkwise.clearance.kernels import distances
from linkwise.clearance.pairs import collision_shapes, disabled_pairs, require_in_world
from linkwise.clearance.shapes import CapsuleSet, CollisionShapes, Obstacles, obstacle_set
from linkwise.errors import ArgumentError, shown
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import (
    Configuration,
    Constraint,
    ConstraintEquations,
    Interval,
    importance,
    squared,
)
from linkwise.solve.validation import FARTHEST, positive, settle
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, greatest, root, select

#: Additional clearance of an iteration, m, so that rounding does not stop it short of the margin.
BEYOND = 1e-8

#: A vector between two axes shorter than this, m, is rounding, and has no direction; and the least deficit.
NO_DIRECTION, SMALLEST = 1e-12, 1e-150


@dataclass(frozen=True, eq=False, repr=False)
class Clear(Constraint):
    """All pairs of shapes keep a margin: those of the mechanism, and each of these with each obstacle.

    Distances are those of `Mechanism.clearance`, of capsules that contain the shapes: what is clear by them is clear.

    Parameters
    ----------
    margin : float
        Least distance, m; 0 or more.
    obstacles : sequence of Shape, or mapping of str to Shape
        In the world frame. Their places and sizes are numbers of the task: others are solved for without compiling again.
    disabled : iterable of pairs of str, optional
        Links that are not checked against each other: see `Mechanism.clearance`.
    seed : int
        Seed of the configurations that tell which pairs never or always touch.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Notes
    -----
    One equation: the root of the sum of the squares of what the pairs lack is zero. Its slope is that of a wrench on each
    link, summed over the pairs, times the link's Jacobian.

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.planar_3r()
    >>> arm = arm.with_shapes([lw.Shape.rod(name, (-0.9, 0, 0), (-0.1, 0, 0), 0.05) for name in arm.link_names])
    >>> ball = lw.Shape("world", "sphere", 0.2, origin=(1.2, 0.5, 0.0))
    >>> clear = lw.Clear(0.05, [ball])
    >>> found = arm.solve([lw.Position("tool", [1.5, 1.0, 0.0], mask=[1, 1, 0]), clear], q0=[0.3, 0.3, 0.3])
    >>> found.success, bool(arm.clearance(found.q, [ball]).least >= 0.05)
    (True, True)
    """

    margin: float
    obstacles: CapsuleSet
    disabled: tuple[Any, ...] | None
    seed: int

    def __init__(
        self,
        margin: float,
        obstacles: Obstacles = (),
        *,
        disabled: Iterable[Any] | None = None,
        seed: int = 0,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        settle(self, **importance(weight, priority))
        pairs = None if disabled is None else disabled_pairs(disabled)
        others = obstacle_set(obstacles)
        settle(self, margin=positive("margin", margin, zero=True), obstacles=others, disabled=pairs, seed=seed)

    @property
    def numbers(self) -> FloatArray:
        """The margin, and the rows of the obstacles (1 + 8 M,)."""
        return np.concatenate([[self.margin], self.obstacles.rows.ravel()])

    @property
    def key(self) -> tuple[Any, ...]:
        """Data other than numbers."""
        return (Clear, self.obstacles.kinds, self.disabled, self.seed)

    def kind(self) -> Clear:
        """The same."""
        return copy(self)

    def with_margin(self, margin: float) -> Clear:
        """The same with another margin, m."""
        other = copy(self)
        settle(other, margin=positive("margin", margin, zero=True))
        return other

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the mechanism has shapes with pairs to be checked."""
        shapes = collision_shapes(tree, self.disabled, self.seed)
        require_in_world(tree, self.obstacles)
        if not shapes.pairs and not (shapes.moving and self.obstacles.names):
            raise ArgumentError(f"{tree.name!r} has no pair of shapes that could touch; expected obstacles, or more shapes")

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Residual and its derivative; see the notes of the class."""
        shapes = collision_shapes(view.tree, self.disabled, self.seed)
        margin = p[0] + BEYOND
        wrenches: dict[int, list[Any]] = {}
        total: Any = 0.0
        for (i, j), parts in zip(self._ends(shapes), distances(shapes, self.obstacles.kinds, view.q, _rows(p)), strict=True):
            for distance, apart, between, first, second in parts:
                short = select(margin - distance, margin - distance, 0.0)
                total = total + short * short
                force = apart * select(between - NO_DIRECTION, short / greatest(between, SMALLEST), 0.0)
                for link, point, pull in ((i, first, -1.0), (j, second, 1.0)):
                    if link is not None:
                        sums = wrenches.setdefault(link, [np.zeros(3), np.zeros(3)])
                        sums[0] = sums[0] + force * pull
                        sums[1] = sums[1] + cross(point, force) * pull
        lacking = root(total)
        rates = sum(
            (_rates(view, link, force, moment) for link, (force, moment) in wrenches.items()), np.zeros(view.tree.nv)
        )
        scale = 1.0 / greatest(lacking, SMALLEST)
        return ConstraintEquations(np.array([lacking]), np.array([rates * scale]), (False,))

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """Sum of the squared deficits of the pairs."""
        shapes = collision_shapes(view.tree, self.disabled, self.seed)
        parts = [part for pair in distances(shapes, self.obstacles.kinds, view.q, _rows(p)) for part in pair]
        short = [p[0] - part[0] for part in parts]
        return squared(np.array([select(value, value, 0.0) for value in short])), 0.0

    def interval(self, view: Configuration, p: Array) -> Interval:
        """Margins of the pairs, and their derivatives."""
        shapes = collision_shapes(view.tree, self.disabled, self.seed)
        rates, low = [], []
        for (i, j), parts in zip(self._ends(shapes), distances(shapes, self.obstacles.kinds, view.q, _rows(p)), strict=True):
            for distance, apart, between, first, second in parts:
                force = apart * select(between - NO_DIRECTION, 1.0 / greatest(between, SMALLEST), 0.0)
                ends = [(i, first, -force), (j, second, force)]
                row = [_rates(view, link, pull, cross(point, pull)) for link, point, pull in ends if link is not None]
                rates.append(sum(row, np.zeros(view.tree.nv)))
                low.append(p[0] - distance)
        return Interval(np.array(rates), np.array(low), np.full(len(low), FARTHEST), (False,) * len(low))

    def satisfied(self, mechanism: Tree, q: FloatArray) -> Any:
        """Mark configurations (..., nq) that keep the margin."""
        shapes = collision_shapes(mechanism, self.disabled, self.seed)
        return distances_at(shapes, self.obstacles, q, least=True) >= self.margin

    def _ends(self, shapes: CollisionShapes) -> list[tuple[int | None, int | None]]:
        """The links of each pair that move with joints; None for the ground."""
        still = not shapes.tree.floating
        links = [None if link < 0 and still else link for link in shapes.links]
        return shapes.each_pair(links, [None] * len(self.obstacles.names))

    def __repr__(self) -> str:
        count = len(self.obstacles.names)
        return f"Clear(margin={shown(self.margin)}, {count} obstacle{'' if count == 1 else 's'})"


def _rows(p: Array) -> Array:
    return np.reshape(p[1:], (-1, 8))


def _rates(view: Configuration, link: int, force: Array, moment: Array) -> Array:
    """Generalized force (nv,) of a wrench at the world's origin."""
    if link < 0:
        raise ArgumentError("Clear: a shape on a floating base; expected it on a fixed link of the base")
    jac, origin = view.jacobian(link), view.pose(link)[:3, 3]
    return np.asarray(force @ jac[:3] + (moment - cross(origin, force)) @ jac[3:])


def clear_given(value: Any) -> Clear:
    """The value, where it is a `Clear`; an error says what it is."""
    if not isinstance(value, Clear):
        raise ArgumentError(f"clear is {shown(value)}; expected a Clear")
    return value
