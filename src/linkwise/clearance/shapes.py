"""The shapes of a mechanism and of obstacles as capsules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.clearance.fitting import Capsule, fit_capsules
from linkwise.clearance.segments import reciprocal
from linkwise.errors import ArgumentError, shown
from linkwise.model.shape import Shape
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import listed

#: Property of a shape, and of an obstacle.
Item = TypeVar("Item")
Other = TypeVar("Other")

#: The kind of an obstacle that is a box.
BOX = -1

#: Why a pair of shapes is left out.
REASONS = {
    "neighbours": "their links are joined by a joint or a loop, or fixed to each other",
    "always": "they touch in every sampled configuration",
    "never": "they stay apart in every sampled configuration",
    "disabled": "the pair is disabled",
}


@dataclass(frozen=True)
class LeftOut:
    """A pair of shapes that is not checked.

    Attributes
    ----------
    first, second : str
        Names of the shapes.
    reason : {"neighbours", "always", "never", "disabled"}
        See `REASONS`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.panda()
    >>> arm.clearance(arm.neutral).left_out[0].reason
    'neighbours'
    """

    first: str
    second: str
    reason: str


@dataclass(frozen=True)
class CapsuleSet:
    """Shapes with names, each as capsules.

    Attributes
    ----------
    shapes : tuple of Shape
        The shapes.
    names : tuple of str
        Their names.
    capsules : tuple of tuple of Capsule
        What contains each of them, in the frame that carries it; none for a box that stands for itself.
    """

    shapes: tuple[Shape, ...]
    names: tuple[str, ...]
    capsules: tuple[tuple[Capsule, ...], ...]

    @property
    def kinds(self) -> tuple[int, ...]:
        """Kind of each shape: 0 for a sphere, `BOX` for a box, else the number of its capsules."""
        return tuple(
            BOX if not parts else 0 if len(parts) == 1 and parts[0].is_sphere else len(parts) for parts in self.capsules
        )

    @property
    def excess(self) -> FloatArray:
        """Excess of the capsules of each shape, m."""
        return np.array([max((part.excess for part in parts), default=0.0) for parts in self.capsules])

    @property
    def rows(self) -> FloatArray:
        """Start, vector, radius and 1 / squared length of each capsule, (K, 8); 0 for a point.

        Of a box two rows: its axes, row by row, its middle and half its edges.
        """
        rows = []
        for shape, parts in zip(self.shapes, self.capsules, strict=True):
            if not parts:
                frame, half = np.asarray(shape.origin, dtype=float), 0.5 * np.array(shape.size)
                rows += [*np.concatenate([frame[:3, :3].ravel(), frame[:3, 3], half, [0.0]]).reshape(2, 8)]
            for part in parts:
                vector = part.end - part.start
                rows.append(np.array([*part.start, *vector, part.radius, reciprocal(vector)]))
        return np.array(rows, dtype=np.float64).reshape(-1, 8)

    @property
    def owners(self) -> npt.NDArray[np.intp]:
        """The shape of each row, (K,)."""
        return np.repeat(np.arange(len(self.shapes)), [row_count(kind) for kind in self.kinds])


def row_count(kind: int) -> int:
    """Number of rows of `CapsuleSet.rows` of an obstacle of a kind."""
    return 2 if kind == BOX else max(kind, 1)


#: Accepted forms of obstacles.
Obstacles = Iterable[Shape] | Mapping[str, Shape] | CapsuleSet


def obstacle_set(obstacles: Obstacles) -> CapsuleSet:
    """Obstacles, in the world frame: boxes as they are, all others as capsules.

    Raises
    ------
    ArgumentError
        For what is no Shape, and for names that repeat.
    """
    if isinstance(obstacles, CapsuleSet):
        return obstacles
    items = obstacles.items() if isinstance(obstacles, Mapping) else _unnamed(obstacles)
    shapes, names = [], []
    for k, (name, shape) in enumerate(items):
        if not isinstance(shape, Shape):
            raise ArgumentError(f"obstacles hold {shown(shape)}; expected Shapes, such as Shape('world', 'sphere', 0.1)")
        shapes.append(shape)
        names.append(name or shape.name or f"obstacle{k + 1}")
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(f"obstacles have the name {twice!r} twice; expected names that differ")
    parts = tuple(() if shape.kind == "box" else fit_capsules(shape) for shape in shapes)
    return CapsuleSet(tuple(shapes), tuple(names), parts)


def _unnamed(obstacles: Any) -> list[tuple[None, Any]]:
    expected = "Shapes, or a mapping of names to Shapes"
    shapes = [obstacles] if isinstance(obstacles, Shape) else listed("obstacles", obstacles, expected)
    return [(None, shape) for shape in shapes]


@dataclass(frozen=True)
class CollisionShapes:
    """The collision shapes of a mechanism, and which of them are checked against each other.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    own : CapsuleSet
        Its shapes; capsules in the frames of their links.
    links : tuple of int
        The link of each shape, -1 for the base.
    moving : tuple of int
        The shapes that some joint moves.
    pairs : tuple of (int, int)
        Shapes that are checked against each other.
    left_out : tuple of LeftOut
        All other pairs of its shapes, and why.
    """

    tree: Tree
    own: CapsuleSet
    links: tuple[int, ...]
    moving: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    left_out: tuple[LeftOut, ...]

    def each_pair(self, shapes: Sequence[Item], obstacles: Sequence[Other]) -> list[tuple[Item, Item | Other]]:
        """Both items of all pairs: those of the mechanism, then each of its moving shapes with each obstacle.

        Parameters
        ----------
        shapes, obstacles : sequence
            What belongs to each shape of the mechanism, and to each obstacle.
        """
        pairs: list[tuple[Item, Item | Other]] = [(shapes[i], shapes[j]) for i, j in self.pairs]
        return pairs + [(shapes[i], obstacle) for i in self.moving for obstacle in obstacles]

    def groups(self, obstacles: int) -> list[list[int]]:
        """Indices of pairs with equal motion: of the same two links, then of one link and any of so many obstacles."""
        groups: dict[tuple[int | None, ...], list[int]] = {}
        for place, links in enumerate(self.each_pair(self.links, [None] * obstacles)):
            groups.setdefault(links, []).append(place)
        return list(groups.values())
