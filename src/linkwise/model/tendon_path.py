"""Paths of tendons: points, spheres and cylinders that the path wraps, and pulleys that branch it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np

from linkwise.model.loop import BASE
from linkwise.model.validation import CheckedRecord, Checker, unset_or
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import translation
from linkwise.spatial.wrapping import PathLength, around_cylinder, around_sphere, straight

#: A place: the name of a link, or "base", and a position (3,) in its frame, m.
Point = tuple[str, tuple[float, ...]]

_NUMBERS = "numbers: symbols are for stiffness, rest, damping and force"

_link = partial(Checker.word, expected="the name of a link, or 'base'", needed=True)


def _positive(check: Checker, field: str, value: Any) -> float:
    """A number greater than 0."""
    result, known = check.number(field, value, known=True, default=1.0), len(check.problems)
    if result <= 0.0 and len(check.problems) == known:
        check.report(field, value, "a number > 0")
    return result


def position(check: Checker, field: str, value: Any) -> tuple[float, ...]:
    """Three numbers."""
    place = check.vector(field, value)
    if place.dtype == object:
        check.report(field, value, _NUMBERS)
        return (0.0, 0.0, 0.0)
    return tuple(place.tolist())


def _side(check: Checker, field: str, value: Any) -> Any:
    """A position, or the name of a link with one."""
    link = value[0] if isinstance(value, (tuple, list)) and len(value) == 2 else None
    if isinstance(link, str) and link.strip():
        return link, position(check, field, value[1])
    return position(check, field, value)


def _numeric_frame(check: Checker, field: str, value: Any) -> FloatArray:
    """A rigid transform (4, 4) of numbers."""
    frame = check.rigid(field, value)
    if frame.dtype == object:
        check.report(field, value, _NUMBERS)
    return frame


class WrapObject(CheckedRecord):
    """A surface on a link that a path wraps; a subclass defines its shape."""

    link: str
    radius: float
    side: Any

    @property
    @abstractmethod
    def frame(self) -> FloatArray:
        """T_link_object (4, 4)."""

    @abstractmethod
    def path(self, first: Array, second: Array, side: Array | None) -> PathLength:
        """The path past it between two points (3,) in its own frame, m, by the side point there."""

    @abstractmethod
    def on_link(self, link: str, pose: FloatArray, side: Point | None) -> Self:
        """The same on another link with another side; `pose` is T_new_old."""

    @property
    def links(self) -> tuple[str, ...]:
        """Its link, and that of its side point."""
        return (self.link,) if self.side is None else (self.link, self.side[0])

    def _check(self, check: Checker, arguments: Mapping[str, Any]) -> None:
        """Put a side point without a link on its own."""
        if self.side is not None and isinstance(self.side[0], float):
            self._assign({"side": (self.link, self.side)})


@dataclass(frozen=True, eq=False)
class WrapSphere(WrapObject):
    """A sphere on a link that the path of a `LinearSpringDamper` wraps, where the straight line would pass through it.

    Parameters
    ----------
    link : str
        The name of a link, or ``"base"``.
    radius : float
        Of the sphere, m.
    center : (3,) array_like
        Its centre in the link's frame, m.
    side : (3,) array_like or (str, (3,) array_like), optional
        A point in the link's frame, or in that of another link, m. Outside of the sphere it chooses the way: the path goes
        the long way round if the centre is between it and both ends, else the short way. Inside it has the path pass
        through the sphere.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> from linkwise import LinearSpringDamper, robots
    >>> ends = ("base", (-0.5, 0.1, 0)), ("link1", (0.5, 0.1, 0))
    >>> tendon = LinearSpringDamper([ends[0], WrapSphere("base", 0.2), ends[1]], force=1.0)
    >>> arm = robots.planar_2r().replace(springs=[tendon])
    >>> arm.spring_torque([[-0.5, 0.0], [0.5, 0.0]], [0.0, 0.0]).round(3) + 0.0
    array([[ 0.2  ,  0.   ],
           [-0.278,  0.   ]])
    """

    _word = "wrap sphere"

    link: Annotated[Any, _link]
    radius: Annotated[Any, _positive]
    center: Annotated[Any, position] = (0.0, 0.0, 0.0)
    side: Annotated[Any, unset_or(_side)] = None

    @property
    def frame(self) -> FloatArray:
        """T_link_sphere (4, 4)."""
        return np.asarray(translation(*self.center), dtype=float)

    def path(self, first: Array, second: Array, side: Array | None) -> PathLength:
        """The path past it between two points (3,) from its centre, m, by the side point there."""
        return around_sphere(first, second, self.radius, side)

    def on_link(self, link: str, pose: FloatArray, side: Point | None) -> WrapSphere:
        """The same on another link with another side; `pose` is T_new_old."""
        return WrapSphere(link, self.radius, (pose @ [*self.center, 1.0])[:3], side)


@dataclass(frozen=True, eq=False)
class WrapCylinder(WrapObject):
    """An endless cylinder on a link that the path of a `LinearSpringDamper` wraps, where the line would pass through it.

    Parameters
    ----------
    link : str
        The name of a link, or ``"base"``.
    radius : float
        Of the cylinder, m.
    frame : (4, 4) array_like, optional
        T_link_cylinder: its axis is z; the link's frame if left out.
    side : (3,) array_like or (str, (3,) array_like), optional
        A point in the link's frame, or in that of another link, m, as for `WrapSphere`; it is inside if it is nearer to the
        origin of the frame than the radius, as in MuJoCo.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> WrapCylinder("link1", 0.0)
    Traceback (most recent call last):
    linkwise.errors.ModelError: wrap cylinder: radius is 0.0; expected a number > 0
    """

    _word = "wrap cylinder"

    link: Annotated[Any, _link]
    radius: Annotated[Any, _positive]
    frame: Annotated[Any, _numeric_frame] = None
    side: Annotated[Any, unset_or(_side)] = None

    def path(self, first: Array, second: Array, side: Array | None) -> PathLength:
        """The path past it between two points (3,) in its own frame, m, by the side point there."""
        return around_cylinder(first, second, self.radius, side)

    def on_link(self, link: str, pose: FloatArray, side: Point | None) -> WrapCylinder:
        """The same on another link with another side; `pose` is T_new_old."""
        return WrapCylinder(link, self.radius, pose @ self.frame, side)


@dataclass(frozen=True, eq=False)
class Pulley(CheckedRecord):
    """Begins a branch of the path of a `LinearSpringDamper`, whose length counts divided by a number.

    A path that a pulley splits into two parallel branches goes on as two branches, each after a pulley with the divisor 2.
    What is before the first pulley has the divisor 1.

    Parameters
    ----------
    divisor : float
        Greater than 0.

    Raises
    ------
    ModelError
        Where it is not.

    Examples
    --------
    >>> from linkwise import LinearSpringDamper
    >>> path = [("base", (0, 0, 1)), ("a", (0, 0, 0)), Pulley(2.0), ("base", (0, 1, 0)), ("b", (0, 0, 0))]
    >>> [piece.share for piece in LinearSpringDamper(path, stiffness=5.0).pieces]
    [1.0, 0.5]
    """

    _word = "pulley"

    divisor: Annotated[Any, _positive]


@dataclass(frozen=True)
class PathPiece:
    """A part of a path: two points, what it wraps between them, and what its length is multiplied by."""

    first: Point
    second: Point
    wrap: WrapObject | None
    share: float

    def placed(self, pose: Callable[[str, FloatArray], Array]) -> tuple[Array, Array, PathLength]:
        """Its ends (3,) and its path in the world, from a function that gives the pose there of a frame on a link."""
        first, second = (pose(link, translation(*point))[:3, 3] for link, point in (self.first, self.second))
        if self.wrap is None:
            return first, second, straight(first, second)
        frame = pose(self.wrap.link, self.wrap.frame)
        axes, origin = frame[:3, :3], frame[:3, 3]
        side = None
        if self.wrap.side is not None:
            link, point = self.wrap.side
            side = axes.T @ (pose(link, translation(*point))[:3, 3] - origin)
        path = self.wrap.path(axes.T @ (first - origin), axes.T @ (second - origin), side)
        return first, second, PathLength(path.length, axes @ path.first, axes @ path.second)


_EXPECTED = (
    "pairs of the name of a link, or 'base', and a position (3,), on two links at least;"
    " a WrapSphere or WrapCylinder only between two pairs, and a Pulley only before two"
)


def path_elements(check: Checker, field: str, points: Any) -> tuple[Any, ...]:
    """The elements of a path, validated: points, wrap objects between two of them, and pulleys before branches."""
    try:
        elements = [_element(x) for x in points]
    except (TypeError, ValueError):
        elements = []
    if len(links_of(elements, sides=False)) < 2 or not is_path(elements):
        check.report(field, points, _EXPECTED)
        return ()
    return tuple((x[0], position(check, field, x[1])) if isinstance(x, tuple) else x for x in elements)


def _element(x: Any) -> Any:
    """A wrap object, a pulley, or a pair that begins with a name.

    Raises
    ------
    TypeError or ValueError
        For anything else.
    """
    if isinstance(x, (WrapObject, Pulley)):
        return x
    link, point = x
    if not isinstance(link, str) or not link.strip():
        raise ValueError(link)
    return link, point


def links_of(elements: Sequence[Any], *, sides: bool = True) -> tuple[str, ...]:
    """The links of points and wrap objects, in the order of the path, and of side points."""
    names: dict[str, None] = {}
    for x in elements:
        if isinstance(x, WrapObject):
            names.update(dict.fromkeys(x.links if sides else x.links[:1]))
        elif not isinstance(x, Pulley):
            names[x[0]] = None
    return tuple(names)


def _branches(elements: Sequence[Any]) -> list[list[Any]]:
    """The elements from pulley to pulley."""
    branches: list[list[Any]] = [[]]
    for x in elements:
        if isinstance(x, Pulley):
            branches.append([])
        else:
            branches[-1].append(x)
    return branches[1:] if elements and isinstance(elements[0], Pulley) else branches


def is_path(elements: Sequence[Any]) -> bool:
    """True if each branch begins and ends with a point, has two or more, and no two wrap objects between two of them."""
    return all(map(_is_branch, _branches(elements)))


def _is_branch(branch: Sequence[Any]) -> bool:
    """True for two points or more, with one wrap object between two of them at most."""
    wraps = [isinstance(x, WrapObject) for x in branch]
    doubled = any(a and b for a, b in pairwise(wraps))
    return wraps.count(False) >= 2 and not wraps[0] and not wraps[-1] and not doubled


def path_pieces(elements: Sequence[Any]) -> Iterator[PathPiece]:
    """The parts of a validated path from point to point."""
    share, last, wrap = 1.0, None, None
    for x in elements:
        if isinstance(x, Pulley):
            share, last = 1.0 / x.divisor, None
        elif isinstance(x, WrapObject):
            wrap = x
        else:
            if last is not None:
                yield PathPiece(last, x, wrap, share)
            last, wrap = x, None


def moved_path(elements: Sequence[Any], places: Mapping[str, tuple[str, Any]]) -> list[Any]:
    """The same path with what is on some links on others: the new link for each, and T_new_old."""

    def moved(point: Point) -> Point:
        if point[0] not in places:
            return point
        link, pose = places[point[0]]
        return link, tuple((pose @ [*point[1], 1.0])[:3].tolist())

    def wrapped(x: WrapObject) -> WrapObject:
        link, pose = places.get(x.link, (x.link, np.eye(4)))
        return x.on_link(link, pose, None if x.side is None else moved(x.side))

    return [x if isinstance(x, Pulley) else wrapped(x) if isinstance(x, WrapObject) else moved(x) for x in elements]


def renamed_path(elements: Sequence[Any], prefix: str) -> list[Any]:
    """The same path on links with a prefix, but for what is on the base."""

    def named(link: str) -> str:
        return link if link == BASE else prefix + link

    def renamed(x: Any) -> Any:
        if isinstance(x, Pulley):
            return x
        if not isinstance(x, WrapObject):
            return named(x[0]), x[1]
        return x.unchecked(link=named(x.link), side=x.side and (named(x.side[0]), x.side[1]))

    return [renamed(x) for x in elements]
