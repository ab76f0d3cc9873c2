"""Springs, dampers and end stops: forces of the model that depend on joint coordinates and their velocities.

Each acts along one length s, a sum of coordinates times constants (the coordinate of a joint, or that of a tendon which
runs over several joints), or that of a line between points of links. A tension f on it is an effort -f ds/dq on the joints
(the principle of virtual work).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, Self

import numpy as np

from linkwise.errors import Problem
from linkwise.expr.node import Expr
from linkwise.model.link import Link
from linkwise.model.loop import BASE
from linkwise.model.symbolic import any_nonzero, substituted
from linkwise.model.tendon_path import PathPiece, links_of, moved_path, path_elements, path_pieces, renamed_path
from linkwise.model.validation import CheckedRecord, Checker, unset_or
from linkwise.spatial.scalar import greatest
from linkwise.spatial.validation import readable


def _joints(check: Checker, field: str, joints: Any) -> tuple[tuple[str, float], ...]:
    """The names of coordinates, each with its constant; they may come as such pairs."""
    pairs = ((joints, 1.0),) if isinstance(joints, str) else joints.items() if isinstance(joints, Mapping) else joints
    try:
        listed = [(name, ratio) for name, ratio in pairs]
    except (TypeError, ValueError):
        listed = []
    names = [name for name, _ in listed]
    if not listed or not all(isinstance(name, str) and name.strip() for name in names) or len({*names}) < len(names):
        check.report(field, joints, "the name of a coordinate, or a mapping of different names to numbers")
        return ()
    return tuple((name, check.number(field, ratio, known=True)) for name, ratio in listed)


def _limits(check: Checker, field: str, limits: Sequence[Any]) -> tuple[float, float] | None:
    try:
        low, high = (float(value) for value in readable(field, limits))
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low <= high or not (np.isfinite(low) or np.isfinite(high)):
        check.report(field, limits, "two numbers, the least first, then the greatest, of which one may be infinite")
        return None
    return low, high


def _two_numbers(check: Checker, field: str, value: Any) -> tuple[float, float]:
    """Two numbers, no symbols."""
    values = check.vector(field, value, 2)
    if values.dtype == object:
        check.report(field, value, "numbers: symbols are for stiffness, rest, damping and force")
        return 0.0, 0.0
    return float(values[0]), float(values[1])


_not_negative = partial(Checker.number, least=0.0)


@dataclass(frozen=True, eq=False)
class ForceElement(CheckedRecord, ABC):
    """A force along a length; a subclass defines the tension."""

    @property
    @abstractmethod
    def terms(self) -> tuple[tuple[str, float], ...]:
        """The names of the coordinates that make the length, each with its constant; none of a line between points."""

    @property
    def pieces(self) -> tuple[PathPiece, ...]:
        """The parts of the path between points of links that makes the length."""
        return ()

    @property
    def links(self) -> tuple[str, ...]:
        """The links that it pulls at, and ``"base"``, where it does not act on joints."""
        return ()

    @abstractmethod
    def tension(self, length: Any, rate: Any) -> Any:
        """Tension that shortens the length, N or N m."""

    @abstractmethod
    def energy(self, length: Any) -> Any:
        """Stored energy, J."""

    @property
    @abstractmethod
    def dissipates(self) -> bool:
        """True if the tension depends on the rate."""

    @property
    def length_inertia(self) -> Any:
        """Inertia along the length: force per acceleration of the length, kg m2 or kg."""
        return 0.0

    @abstractmethod
    def locked(self, values: Mapping[str, float]) -> Self | None:
        """The same element where these coordinates have values; None where nothing is left of it."""

    @abstractmethod
    def renamed(self, prefix: str) -> Self:
        """The same element with a prefix before the names of coordinates, and its own."""

    def moved(self, places: Mapping[str, tuple[str, Any]], prefix: str = "") -> Self:
        """The same element with a prefix before its name, and its points on other links: T_new_old for each link."""
        return self.renamed(prefix)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """All fields that may contain symbols."""
        return tuple(value for name, value in self._values().items() if name in self.symbolic_fields)

    @property
    def symbolic_fields(self) -> frozenset[str]:
        """The fields that may hold symbols."""
        return frozenset({"stiffness", "rest", "damping", "force", "inertia", "slack"})

    def substituted(self, numbers: Mapping[Expr, Any]) -> Self:
        """Replace symbols by numbers or other expressions and validate again."""
        pairs = self._values().items()
        values = {k: substituted(value, numbers) if k in self.symbolic_fields else value for k, value in pairs}
        return type(self)(**values)


class _SpringDamper(ForceElement, ABC):
    """Common part of `Spring` and `LinearSpringDamper`, without the definition of the length."""

    _word = "spring"

    stiffness: Any
    rest: Any
    damping: Any
    force: Any
    inertia: Any
    slack: Any
    nonlinear_stiffness: tuple[float, float]

    def _stretch(self, length: Any) -> Any:
        """Deviation of the length from the rest length."""
        beyond = length - self.rest
        if not any_nonzero(self.slack):
            return beyond
        return greatest(0.0, beyond - self.slack) - greatest(0.0, -beyond)

    def tension(self, length: Any, rate: Any) -> Any:
        """Tension that shortens the length, N or N m."""
        stretch = self._stretch(length)
        elastic = self.stiffness * stretch
        if any(self.nonlinear_stiffness):
            square, cube = self.nonlinear_stiffness
            elastic = elastic + (square + cube * stretch) * (stretch * stretch)
        return elastic + self.damping * rate + self.force

    @property
    def length_inertia(self) -> Any:
        """Inertia along the length: force per acceleration of the length, kg m2 or kg."""
        return self.inertia

    def energy(self, length: Any) -> Any:
        """Stored energy, J."""
        stretch = self._stretch(length)
        elastic = 0.5 * self.stiffness * (stretch * stretch)
        if any(self.nonlinear_stiffness):
            square, cube = self.nonlinear_stiffness
            elastic = elastic + (square / 3.0 + 0.25 * cube * stretch) * (stretch * stretch * stretch)
        return elastic + self.force * length

    @property
    def dissipates(self) -> bool:
        """True if it has damping."""
        return isinstance(self.damping, Expr) or self.damping != 0.0


@dataclass(frozen=True, eq=False)
class Spring(_SpringDamper):
    """A linear spring and damper on a joint, or on a length that several joints make: f = k (s - rest) + d ds/dt + force.

    Without stiffness it is a damper, with a force alone a constant load.

    Parameters
    ----------
    joints : str or mapping of str to float
        Name of the coordinate of a joint, or several with what each adds to the length s per unit (a fixed tendon).
    stiffness : float
        k, N m/rad or N/m.
    rest : float
        Where it pulls with the force alone, rad or m.
    damping : float
        d, N m s/rad or N s/m.
    force : float
        A constant tension, N m or N.
    name : str, optional
        Its name in messages.
    inertia : float
        Inertia of what moves along the length, kg m2 or kg (armature of a tendon): it takes inertia d2s/dt2 more.
    slack : float
        How far beyond the rest the stiffness takes nothing, rad or m: a rope with rest 0 pulls from this length on.
    nonlinear_stiffness : (2,) array_like
        b (N m/rad2 or N/m2) and c (N m/rad3 or N/m3): the stiffness pulls with k x + b x^2 + c x^3, x beyond the rest.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r().replace(springs=[Spring("link2", stiffness=10.0, rest=0.5)])
    >>> (arm.inverse_dynamics([0, 0.7], [0, 0], [0, 0]) - arm.gravity_torque([0, 0.7])).round(9) + 0.0
    array([0., 2.])
    """

    joints: Annotated[Any, _joints]
    stiffness: Annotated[Any, _not_negative] = 0.0
    rest: Annotated[Any, Checker.number] = 0.0
    damping: Annotated[Any, _not_negative] = 0.0
    force: Annotated[Any, Checker.number] = 0.0
    name: Annotated[str | None, Checker.word] = None
    inertia: Annotated[Any, _not_negative] = 0.0
    slack: Annotated[Any, _not_negative] = 0.0
    nonlinear_stiffness: Annotated[Any, _two_numbers] = (0.0, 0.0)

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """The names of the coordinates that make the length, each with its constant."""
        return self.joints  # type: ignore[no-any-return]

    def locked(self, values: Mapping[str, float]) -> Spring | None:
        """The same spring where these coordinates have values: its rest moves."""
        left = [(name, ratio) for name, ratio in self.joints if name not in values]
        shift = sum(ratio * values[name] for name, ratio in self.joints if name in values)
        return Spring(**{**self._values(), "joints": left, "rest": self.rest - shift}) if left else None

    def renamed(self, prefix: str) -> Spring:
        """The same spring on coordinates with a prefix."""
        joints = [(prefix + name, ratio) for name, ratio in self.joints]
        return Spring(**{**self._values(), "joints": joints, "name": self.name and prefix + self.name})


@dataclass(frozen=True, eq=False)
class LinearSpringDamper(_SpringDamper):
    """A spring and damper on the line between points of links, of the length s: tension f = k (s - rest) + d ds/dt + force.

    The translational spring-damper-actuator of E. J. Haug, *Computer Aided Kinematics and Dynamics of Mechanical Systems*
    (1989), section 6.2. Through more than two points it is a path whose length is that of all its parts (a spatial tendon);
    a `WrapSphere` or `WrapCylinder` between two points is wrapped where the line would pass through it, and a `Pulley`
    begins a branch whose length is divided. A path without friction: its tension is the same everywhere, in a branch
    divided as its length is.
    Where two neighbouring points coincide the line has no direction, and this part of it pulls nowhere. Stiffness with rest
    0 pulls with k times the vector from one point to the other, so its slope is right there too; of what jumps there (a
    rest, a force) the slope is of the order of the force / 1e-18 m, and dampers have none.

    Parameters
    ----------
    points : sequence of (str, (3,) array_like), WrapSphere, WrapCylinder and Pulley
        The name of a link, or ``"base"``, and a position in its frame, m; two or more. What they wrap stands between two of
        them, a pulley before two or more. All are on two links at least.
    stiffness : float
        k, N/m.
    rest : float
        The length at which it pulls with the force alone, m.
    damping : float
        d, N s/m.
    force : float
        A constant tension, N.
    name : str, optional
        Its name in messages.
    inertia : float
        Inertia of what moves along the length, kg: it takes inertia d2s/dt2 more.
    slack : float
        How far beyond the rest the stiffness takes nothing, m: a rope with rest 0 pulls from this length on.
    nonlinear_stiffness : (2,) array_like
        b (N/m2) and c (N/m3): the stiffness pulls with k x + b x^2 + c x^3, x beyond the rest.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> spring = LinearSpringDamper([("base", (0, 0, 1)), ("link1", (0.5, 0, 0))], stiffness=100.0)
    >>> arm = robots.planar_2r().replace(springs=[spring])
    >>> arm.spring_torque([0.0, 0.0], [0.0, 0.0]).round(9) + 0.0
    array([0., 0.])
    """

    points: Annotated[Any, path_elements]
    stiffness: Annotated[Any, _not_negative] = 0.0
    rest: Annotated[Any, _not_negative] = 0.0
    damping: Annotated[Any, _not_negative] = 0.0
    force: Annotated[Any, Checker.number] = 0.0
    name: Annotated[str | None, Checker.word] = None
    inertia: Annotated[Any, _not_negative] = 0.0
    slack: Annotated[Any, _not_negative] = 0.0
    nonlinear_stiffness: Annotated[Any, _two_numbers] = (0.0, 0.0)

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """None."""
        return ()

    @property
    def pieces(self) -> tuple[PathPiece, ...]:
        """The parts of the path from point to point."""
        return tuple(path_pieces(self.points))

    @property
    def links(self) -> tuple[str, ...]:
        """The links that it pulls at, and ``"base"``."""
        return links_of(self.points)

    @property
    def is_linear(self) -> bool:
        """True if the force is k times the vector between two points, also where these coincide."""
        others = (self.rest, self.damping, self.force, self.slack, *self.nonlinear_stiffness)
        return len(self.points) == 2 and not any_nonzero(np.array(others, dtype=object))

    def locked(self, values: Mapping[str, float]) -> LinearSpringDamper:
        """Unchanged: links keep their names when joints are fixed."""
        return self

    def renamed(self, prefix: str) -> LinearSpringDamper:
        """The same on links with a prefix, but for those on the base."""
        points = renamed_path(self.points, prefix)
        return LinearSpringDamper(**{**self._values(), "points": points, "name": self.name and prefix + self.name})

    def moved(self, places: Mapping[str, tuple[str, Any]], prefix: str = "") -> LinearSpringDamper:
        """The same with its points on other links."""
        points = moved_path(self.points, places)
        return LinearSpringDamper(**{**self._values(), "points": points, "name": self.name and prefix + self.name})


@dataclass(frozen=True, eq=False)
class EndStop(ForceElement):
    """Stop of a joint at its limits: ``f = k x + d |x| dx/dt``, x the excess over the limit, or an impulse.

    K. H. Hunt, F. R. E. Crossley, "Coefficient of restitution interpreted as damping in vibroimpact", J. Applied Mechanics
    42(2), 1975: the damping grows with the depth, so that the force does not jump at the touch. With a `restitution` e the
    stop is rigid instead: `linkwise.simulate` turns a velocity v at which it is hit to -e v, by an impulse that all other
    joints feel through the mass matrix, and holds a joint that rests there. All other algorithms leave it out.

    Parameters
    ----------
    joint : str
        Name of the coordinate, or of a ball joint: x is then how far its axis leans beyond the cone. That has no impulse.
    stiffness : float
        k, N m/rad or N/m.
    damping : float
        d, N m s/rad2 or N s/m2.
    restitution : float, optional
        e, 0 to 1, without stiffness and damping.
    limits : (2,) array_like, optional
        Where it begins; the limits of the joint where they are left out; of a ball joint 0 and the angle of the cone.
    name : str, optional
        Its name in messages.

    Raises
    ------
    ModelError
        Naming each field at fault; for a joint without limits where none are given.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r().replace(springs=[EndStop("link2", stiffness=1000.0, limits=(-0.5, 0.5))])
    >>> (arm.inverse_dynamics([0, 0.6], [0, 0], [0, 0]) - arm.gravity_torque([0, 0.6])).round(9) + 0.0
    array([  0., 100.])
    """

    _word = "end stop"

    joint: Annotated[str, partial(Checker.word, expected="the name of a coordinate", needed=True)]
    stiffness: Any = None
    damping: Annotated[Any, _not_negative] = 0.0
    limits: Annotated[Any, unset_or(_limits)] = None
    name: Annotated[str | None, Checker.word] = None
    _: KW_ONLY
    restitution: Annotated[Any, unset_or(partial(Checker.number, least=0.0, most=1.0, known=True))] = None

    def _check(self, check: Checker, arguments: Mapping[str, Any]) -> None:
        stiffness = 0.0 if self.stiffness is None and self.impulsive else self.stiffness
        self._assign({"stiffness": check.number("stiffness", stiffness, least=0.0)})
        if self.impulsive and any(isinstance(value, Expr) or value != 0.0 for value in (self.stiffness, self.damping)):
            check.report("restitution", self.restitution, "either it, or stiffness and damping")

    @property
    def impulsive(self) -> bool:
        """True if it is rigid, and acts by impulses in `linkwise.simulate` only."""
        return self.restitution is not None

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """The coordinate itself."""
        return ((self.joint, 1.0),)

    def tension(self, length: Any, rate: Any) -> Any:
        """Tension that shortens the length, N or N m."""
        above, below = self._beyond(length)
        depth, over = above - below, above + below
        return self.stiffness * depth + (self.damping * over * rate if self.dissipates else 0.0)

    def depth(self, length: Any) -> Any:
        """How far a length is beyond the limits, not negative."""
        return sum(self._beyond(length))

    def energy(self, length: Any) -> Any:
        """Stored energy, J."""
        above, below = self._beyond(length)
        return 0.5 * self.stiffness * (above * above + below * below)

    @property
    def dissipates(self) -> bool:
        """True if it has damping."""
        return isinstance(self.damping, Expr) or self.damping != 0.0

    def beginning_at(self, limits: Mapping[str, tuple[float, float]]) -> EndStop:
        """Use the limits of its joint if it has none of its own."""
        here = limits.get(self.joint) if self.limits is None else self.limits
        return EndStop(**{**self._values(), "limits": here})

    def locked(self, values: Mapping[str, float]) -> EndStop | None:
        """None if its coordinate is fixed at a value."""
        return None if self.joint in values else self

    def renamed(self, prefix: str) -> EndStop:
        """The same end stop on a coordinate with a prefix."""
        return EndStop(**{**self._values(), "joint": prefix + self.joint, "name": self.name and prefix + self.name})

    def _beyond(self, length: Any) -> tuple[Any, Any]:
        """Excess above and below the limits, not negative."""
        low, high = self.limits or (-np.inf, np.inf)
        above = greatest(0.0, length - high) if _may_be_reached(high) else 0.0
        return above, greatest(0.0, low - length) if _may_be_reached(low) else 0.0


def _may_be_reached(limit: Any) -> bool:
    return isinstance(limit, Expr) or bool(np.isfinite(limit))


@dataclass(frozen=True)
class ForceTerm:
    """An element in its place: the length is ``sum(ratio * q[coordinate]) + shift`` over the joint coordinates."""

    element: ForceElement
    ratios: tuple[tuple[int, float], ...]
    shift: float


def given_springs(
    check: Checker,
    springs: Any,
    links: Sequence[Link],
    places: Sequence[str],
    limits: Mapping[str, tuple[float, float]],
) -> tuple[ForceElement, ...]:
    """Validate the elements: their links, joints, coordinates and limits must exist; empty after a report."""
    kinds = "Spring, LinearSpringDamper, EndStop, ConstantForce and BallSpring"
    result = check.several("springs", springs, ForceElement, kinds)
    names = [str(link.name) for link in links]
    balls = [link.coordinate_name for link in links if link.has_quaternion and link.joint_model.is_rotation]
    limits = {**limits, **cones_of(links)}
    for k, element in enumerate(result):
        item = f"springs[{k}]" if getattr(element, "name", None) is None else f"spring {element.name!r}"
        for name, _ in element.terms:
            stops = isinstance(element, EndStop)
            check.known(item, "joint" if stops else "joints", name, [*places, *balls] if stops else places)
        for name in element.links:
            check.known(item, *("points", name, [BASE, *names]) if element.pieces else ("link", name, names))
        if not element.terms and not element.links:
            check.known(item, "joint", getattr(element, "joint", None), balls)
        if isinstance(element, EndStop) and element.joint in balls and element.impulsive:
            expected = "None, and a stiffness: of a ball joint"
            check.problems.append(Problem(item, "restitution", element.restitution, expected))
        beginning = isinstance(element, EndStop) and element.limits is None
        if beginning and element.terms[0][0] in (*places, *balls) and element.terms[0][0] not in limits:
            expected = "two numbers, for the joint itself has no limits"
            check.problems.append(Problem(item, "limits", None, expected))
    return result


def cones_of(links: Sequence[Link]) -> dict[str, tuple[float, float]]:
    """The limits of ball joints that have some, by their names."""
    return {link.coordinate_name: (0.0, link.cone) for link in links if link.has_quaternion and np.isfinite(link.cone)}
