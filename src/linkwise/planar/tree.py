"""The data of a planar mechanism: links with polygons, the joints that carry them, loops, parents, coordinates, symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Annotated, Any, Self

import numpy as np

from linkwise.errors import ArgumentError, Problem
from linkwise.expr.node import Expr
from linkwise.model.inertia import Inertia
from linkwise.model.link_tree import LinkTree, order_of, parents_of, with_names
from linkwise.model.symbolic import any_nonzero, parameters_in, substituted
from linkwise.model.validation import CheckedRecord, Checker, frozen
from linkwise.planar.polygon import given_polygons
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, real_or_empty


class PlanarRecord(CheckedRecord):
    """A link or a loop of the plane."""

    def replace(self, **changes: Any) -> Self:
        """The same with other values for some fields (any argument of the constructor); checked again.

        Raises
        ------
        ArgumentError
            Naming the fields there are.

        Examples
        --------
        >>> from linkwise import planar
        >>> planar.Link(name="rod").replace(a=2.0).a
        2.0
        """
        return type(self)(**self._with(changes, self._values(), f"a planar {self._word}"))

    def substituted(self, numbers: Mapping[Expr, Any]) -> Self:
        """Replace symbols by numbers or other expressions and validate again."""
        return type(self)(**{field: substituted(value, numbers) for field, value in self._values().items()})


def number_text(value: Any) -> str:
    """A number, or an expression, as messages and tables show it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def point_text(point: Any) -> str:
    """A point or a triple as messages and tables show it."""
    return f"({', '.join(map(number_text, point))})"


#: For each kind of joint the numbers of T_i that its coordinates are added to: ``theta`` is an angle, rad, the others are
#: lengths, m.
JOINTS: dict[str, tuple[str, ...]] = {"revolute": ("theta",), "prismatic": ("a",), "fixed": (), "free": ("x", "y", "theta")}

#: Degrees of freedom that each kind of joint removes from the three of a body.
REMOVED = {
    "revolute": "removes 2 (the place of one point; the angle stays free)",
    "prismatic": "removes 2 (the angle, and one direction; the slide stays free)",
    "fixed": "removes 3 (nothing stays free)",
    "free": "removes nothing",
}

#: Parent name of links on the ground.
WORLD = "world"


def _at(check: Checker, field: str, at: Any) -> tuple[Any, Any, Any]:
    x, y, phi = check.finite(field, at, (3,), "3 finite numbers: x, y (m) and the angle (rad)").tolist()
    return x, y, check.angle(f"{field}, the angle,", phi)


def _name(check: Checker, field: str, name: Any) -> str | None:
    if name in (WORLD, "base"):
        check.report(field, name, f"another word ({name!r} means the ground)")
    return check.word(field, name)


@dataclass(frozen=True, eq=False)
class Link(PlanarRecord):
    """A rigid link A_i in the plane, hung by a joint on its parent.

    Its body frame has the origin at the joint with the parent and the x axis, by habit, through the next joint. The
    transform T_i takes points from there to the parent's body frame (S. M. LaValle, *Planning Algorithms*, 2006, section
    3.3): a turn by theta_i, then a shift by a_{i-1} along x. For a revolute joint the coordinate is theta_i, for a prismatic
    one a_{i-1}; the other is a constant.

    Parameters
    ----------
    polygons : (m, 2) array_like, or a sequence of such
        The shape in the body frame, m: one simple polygon or several, in either sense, the first point not repeated. None
        is allowed.
    joint : {"revolute", "prismatic", "fixed", "free"}
        Between parent and link. Free is for a link on the world: its three coordinates are x, y and theta.
    a, theta : float
        The constants of T_i: a_{i-1}, the distance between the two joints in the parent, m, and the angle, rad. The
        coordinate is added to theta (revolute) or to a (prismatic), so 0 there makes the coordinate the text's own variable.
        An angle of more than a turn is refused, here and in `at`: it is mostly one in degrees.
    at : (3,) array_like
        x, y (m) and angle phi (rad), in the parent's body frame, of the frame in which `a` and `theta` are measured: where a
        parent has several children, or the joint is not on its x axis. Zero is the text's chain; an angle phi alone is the
        second x axis of a junction in a tree, with theta'' = theta' + phi (section 3.4).
    parent : str, optional
        Name of the parent, ``"world"``, or None for the link before in the list (the world for the first).
    name : str, optional
        Unique in a mechanism; ``link1``, ``link2``, ... where none is given.
    joint_name : str, optional
        The joint's own name, where it differs from the link's: that of its coordinate. None for a fixed or a free link.
    limits : (2,) array_like, optional
        Least and greatest value of the coordinate, rad or m; (3, 2), for x, y and theta, for a free link.
    mass : float
        kg; 0 where nothing is known. Nothing is guessed from the polygons.
    com : (2,) array_like
        Centre of mass in the body frame, m.
    inertia : float
        Moment of inertia about the centre of mass, kg m2.

    Raises
    ------
    ModelError
        With every problem found: the link, the field, the value, what was expected.

    Examples
    --------
    >>> from linkwise import planar
    >>> forearm = planar.Link(planar.bar(0.5, 0.1), a=1.0, name="forearm")
    >>> forearm
    Link('forearm', 'revolute', a=1, 1 polygon)
    """

    _word = "link"

    polygons: Annotated[Any, given_polygons] = ()
    joint: Annotated[str, partial(Checker.choice, allowed=JOINTS)] = "revolute"
    _: KW_ONLY
    a: Annotated[Any, Checker.number] = 0.0
    theta: Annotated[Any, Checker.angle] = 0.0
    at: Annotated[Any, _at] = (0.0, 0.0, 0.0)
    parent: Annotated[str | None, Checker.word] = None
    name: Annotated[str | None, _name] = None
    joint_name: Annotated[str | None, Checker.word] = None
    limits: Any = None
    mass: Annotated[Any, partial(Checker.number, least=0.0)] = 0.0
    com: Annotated[Any, partial(Checker.vector, size=2)] = (0.0, 0.0)
    inertia: Annotated[Any, partial(Checker.number, least=0.0)] = 0.0

    def _check(self, check: Checker, arguments: Mapping[str, Any]) -> None:
        self._assign({"limits": _limits(check, arguments["limits"], self.joint)})
        if self.joint == "free":
            for field in ("a", "theta", "at"):
                if any_nonzero(getattr(self, field)):
                    check.report(field, getattr(self, field), "0 for a free link: its coordinates say where it is")
        if arguments["joint_name"] is not None and len(self.variables) != 1:
            expected = f"None, for a {self.joint} link has no joint with one coordinate"
            check.report("joint_name", arguments["joint_name"], expected)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of its coordinates: the joint's, or the link's; of a free link ``name.x``, ``name.y`` and ``name.theta``."""
        if self.joint == "free":
            return (f"{self.name}.x", f"{self.name}.y", f"{self.name}.theta")
        return (str(self.joint_name or self.name),) * len(self.variables)

    @property
    def variables(self) -> tuple[str, ...]:
        """The numbers of T_i that its coordinates are added to: of ``a``, ``theta``, ``x`` and ``y``."""
        return JOINTS[self.joint]

    @property
    def turns(self) -> tuple[bool, ...]:
        """Mask of its coordinates (k,) that are angles, rad; the others are lengths, m."""
        return tuple(field == "theta" for field in self.variables)

    @property
    def bounds(self) -> FloatArray:
        """Limits of its coordinates (k, 2), infinite by default."""
        return np.tile([-np.inf, np.inf], (len(self.variables), 1)) if self.limits is None else self.limits.reshape(-1, 2)

    @property
    def body(self) -> Inertia:
        """The inertia of a lamina in the plane z = 0: of its other two principal moments, each is half of `inertia`."""
        x, y = self.com
        half = 0.5 * self.inertia
        return Inertia(self.mass, (x, y, 0.0), (half, half, self.inertia))

    def __repr__(self) -> str:
        parts = [repr(self.name), repr(self.joint)] if self.name else [repr(self.joint)]
        fields = {"a": number_text(self.a), "theta": number_text(self.theta), "at": point_text(self.at)}
        parts += [f"{field}={text}" for field, text in fields.items() if any_nonzero(getattr(self, field))]
        parts += [f"parent={self.parent!r}"] if self.parent else []
        count = len(self.polygons)
        parts.append("1 polygon" if count == 1 else f"{count} polygons")
        return f"Link({', '.join(parts)})"


def _limits(check: Checker, limits: Any, kind: str) -> FloatArray | None:
    """The limits, read-only; None where there are none, or after a report."""
    if limits is None:
        return None
    if kind == "fixed":
        check.report("limits", limits, "None, for a fixed link has no coordinate")
        return None
    shape = (3, 2) if kind == "free" else (2,)
    expected = "a row of two numbers, least and greatest, for each of x, y and theta" if kind == "free" else "two numbers"
    bounds = real_or_empty(limits)
    least, most = (bounds[..., 0], bounds[..., 1]) if bounds.shape == shape else (np.inf, -np.inf)
    if not np.all((least <= most) & (least < np.inf) & (most > -np.inf)):
        check.report("limits", limits, f"{expected}, the lower limit first, neither NaN, or None")
        return None
    return None if np.isinf(bounds).all() else frozen(bounds + 0.0)


#: Kinds of joints that are cut to open a loop.
CLOSURES = ("revolute", "fixed")


_end = partial(Checker.word, expected=f"the name of a link, or {WORLD!r}", needed=True)


@dataclass(frozen=True, eq=False)
class Loop(PlanarRecord):
    """A closure: a point of one link is pinned to a point of another, or of the world.

    A mechanism with loops is cut at one joint per loop until a tree is left (S. M. LaValle, *Planning Algorithms*, 2006,
    section 3.4); what was cut is a `Loop`. Of a loop with sliding joints cut one of the revolute ones.

    Parameters
    ----------
    first : str
        Name of a link, or ``"world"``.
    first_point : (2,) array_like
        In its body frame, m.
    second : str
        Name of another link, or ``"world"``.
    second_point : (2,) array_like
        In its body frame, m.
    joint : {"revolute", "fixed"}
        What was cut: a pin, or a rigid connection.
    angle : float
        Of the second body frame, seen from the first, where the connection is rigid, rad.
    name : str, optional
        How tables and messages call it; ``loop1``, ``loop2``, ... where none is given.

    Raises
    ------
    ModelError
        With every problem found.

    Examples
    --------
    >>> from linkwise import planar
    >>> planar.Loop("coupler", (0.12, 0.0), "rocker", (0.08, 0.0), name="pin")
    Loop('coupler', (0.12, 0), 'rocker', (0.08, 0), name='pin')
    """

    _word = "loop"

    first: Annotated[str, _end]
    first_point: Annotated[Any, partial(Checker.vector, size=2)]
    second: Annotated[str, _end]
    second_point: Annotated[Any, partial(Checker.vector, size=2)]
    joint: Annotated[str, partial(Checker.choice, allowed=CLOSURES)] = "revolute"
    angle: Annotated[Any, Checker.number] = 0.0
    name: Annotated[str | None, partial(Checker.word, expected="a word")] = None

    def _check(self, check: Checker, arguments: Mapping[str, Any]) -> None:
        if not check.problems and self.first == self.second:
            check.report("second", self.second, f"another link than {self.first!r}")
        if self.joint == "revolute" and any_nonzero(self.angle):
            check.report("angle", arguments["angle"], "0 for a revolute joint, which leaves the angle free")

    def __repr__(self) -> str:
        parts = [repr(self.first), point_text(self.first_point), repr(self.second), point_text(self.second_point)]
        parts += [f"joint={self.joint!r}"] if self.joint != "revolute" else []
        parts += [f"angle={self.angle}"] if any_nonzero(self.angle) else []
        return f"Loop({', '.join([*parts, *([f'name={self.name!r}'] if self.name else [])])})"


def given_loops(check: Checker, loops: Any, links: Sequence[str]) -> tuple[Loop, ...]:
    """The loops as a tuple, with names for those that have none, or nothing after a report; their links must be there."""
    several = check.several("loops", loops, Loop, "planar.Loop")
    named = tuple(loop if loop.name else loop.replace(name=f"loop{k}") for k, loop in enumerate(several, 1))
    names = [loop.name for loop in named]
    for k, loop in enumerate(named):
        if loop.name in names[:k]:
            check.report("loops", loop.name, "unique names; this one occurs twice")
        check.known(f"loop {loop.name!r}", "first", loop.first, [WORLD, *links])
        check.known(f"loop {loop.name!r}", "second", loop.second, [WORLD, *links])
    return named


class PlanarTree(LinkTree):
    """Links in the plane, joined into a chain or a tree, with or without loops; see `linkwise.planar.Mechanism`."""

    links: tuple[Link, ...]
    loops: tuple[Loop, ...]

    def __init__(self, links: Iterable[Link], loops: Iterable[Loop] = (), name: str | None = None) -> None:
        check = Checker(f"mechanism {name!r}" if name else "mechanism")
        several = tuple(links) if isinstance(links, Iterable) else ()
        if not several or not all(isinstance(link, Link) for link in several):
            check.report("links", links, "one planar.Link or more")
            check.finish()
        if name is not None and not isinstance(name, str):
            check.report("name", name, "a word, or None")
        named = with_names(several)
        parents = parents_of(check, named, WORLD)
        _check_names(check, named, parents)
        values: dict[str, object] = {
            "links": named,
            "loops": given_loops(check, loops, [str(link.name) for link in named]),
            "name": name or "mechanism",
            "parents": parents,
            "order": order_of(check, named, parents),
        }
        check.finish()
        self._hold(values)
        replacements = check.one_of_each_name(self.parameters_used)
        check.finish()
        if replacements:
            PlanarTree.__init__(self, **{**self._values(), **self._substituted(replacements)})

    @cached_property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinate_names)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates (nq,): those of the links, for a free one with ``.x``, ``.y`` and ``.theta``."""
        return tuple(name for link in self.links for name in link.coordinate_names)

    @cached_property
    def owner(self) -> tuple[int, ...]:
        """Index of the link that each coordinate moves (nq,)."""
        return tuple(k for k, link in enumerate(self.links) for _ in link.coordinate_names)

    @cached_property
    def turns(self) -> tuple[bool, ...]:
        """Mask of coordinates (nq,) that are angles, rad; the others are lengths, m."""
        return tuple(turn for link in self.links for turn in link.turns)

    @cached_property
    def limits(self) -> FloatArray:
        """Coordinate limits (nq, 2), rad or m; infinite by default."""
        return frozen(np.concatenate([link.bounds for link in self.links]))

    def _find_parameters(self) -> tuple[Expr, ...]:
        return parameters_in([tuple(item._values().values()) for item in (*self.links, *self.loops)])

    def _substituted(self, numbers: Mapping[Expr, Any]) -> dict[str, Any]:
        return {field: [item.substituted(numbers) for item in getattr(self, field)] for field in ("links", "loops")}

    def _values(self) -> dict[str, Any]:
        return {"links": self.links, "loops": self.loops, "name": self.name}


def parent_name(tree: PlanarTree, k: int) -> str:
    """Name of the parent of link k, or ``"world"``."""
    return WORLD if tree.parents[k] < 0 else str(tree.links[tree.parents[k]].name)


def finite(tree: PlanarTree, configuration: Any) -> FloatArray:
    """Configurations (..., nq) of finite numbers, rad or m; the caller's own array where it is such.

    Raises
    ------
    ArgumentError
        Where they are something else, or of another shape.
    """
    q = numbers("configuration", configuration, f"finite real numbers (..., {tree.nq})", copy=False)
    if q.shape[-1:] != (tree.nq,):
        raise ArgumentError(f"configuration has the shape {q.shape}; expected (..., {tree.nq})")
    return q


def _check_names(check: Checker, links: Sequence[Link], parents: Sequence[int]) -> None:
    """Report names of joints that repeat, links with the name of a coordinate of a free link, and free links on others."""
    names = [str(link.name) for link in links]
    coordinates = [name for link in links for name in link.coordinate_names]
    for k, name in enumerate(coordinates):
        if name in coordinates[:k] and names.count(name) < 2:
            check.report("links", name, "unique joint names; this one occurs twice")
    for parent, link in zip(parents, links, strict=True):
        if len(link.variables) < 3:
            continue
        for name in names:
            if name in link.coordinate_names:
                check.report("links", name, f"another name (this one is a coordinate of the free link {link.name!r})")
        if parent >= 0:
            expected = f"{WORLD!r}, for a free link hangs on nothing, or another kind of joint"
            check.problems.append(Problem(f"link {link.name!r}", "parent", link.parent or links[parent].name, expected))
