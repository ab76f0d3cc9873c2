"""Links of a cyclic chain by their Denavit-Hartenberg parameters, and the mechanism that they make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkwise.errors import ModelError, Problem, choices
from linkwise.mechanism import Mechanism
from linkwise.model.link import DH_KINDS, Link
from linkwise.model.validation import Checker, frozen
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform
from linkwise.spatial.validation import readable

#: Predecessor of a link at the start.
START = "start"

#: Names that no link may have, because the values of a chain are called by them.
RESERVED: tuple[str, ...] = (START, "chain", "base")

#: Limits at the end of a link, m/s and m/s2.
GREATEST: tuple[str, ...] = ("max_speed", "max_acceleration", "max_deceleration")


@dataclass(frozen=True)
class DHLink:
    """Common fields of links: see `RevoluteLink`, `PrismaticLink` and `FixedLink`.

    The end of a link stands on that of its predecessor by Rz(theta) Tz(d) Tx(a) Rx(alpha), the standard convention
    (J. Denavit, R. S. Hartenberg, 1955; R. P. Paul, 1981).
    """

    joint: ClassVar[str] = ""
    variable: ClassVar[str] = ""

    name: str
    _: KW_ONLY
    alpha: float = 0.0
    theta: float = 0.0
    a: float = 0.0
    d: float = 0.0
    predecessor: str | None = None
    max_speed: float | None = None
    max_acceleration: float | None = None
    max_deceleration: float | None = None

    def __post_init__(self) -> None:
        check = Checker(f"link {self.name!r}")
        _check_name(check, self.name)
        if self.predecessor is not None and not is_word(self.predecessor):
            check.report("predecessor", self.predecessor, "the name of a link, 'start', or None for the link before")
        for field in ("alpha", "theta", "a", "d"):
            object.__setattr__(self, field, check.number(field, getattr(self, field)))
        for field in GREATEST:
            object.__setattr__(self, field, _greatest(check, field, getattr(self, field)))
        self._check(check)
        check.finish()

    def _check(self, check: Checker) -> None:
        """Validate the fields of one kind of link."""


@dataclass(frozen=True, kw_only=True)
class MovingLink(DHLink):
    """A link with a free parameter, which may be kept between two values."""

    limits: tuple[float, float] | None = None

    def _check(self, check: Checker) -> None:
        try:
            low, high = (-math.inf, math.inf) if self.limits is None else _pair(self.limits)
        except (TypeError, ValueError):
            check.report("limits", self.limits, "two numbers, lower and upper, or None")
            return
        if not low <= high:
            check.report("limits", self.limits, "the lower limit first, then the upper, neither NaN")
        elif not low <= getattr(self, self.variable) <= high:
            check.report(
                self.variable,
                getattr(self, self.variable),
                f"a value within the limits, {low:g} to {high:g}, for it begins there",
            )
        object.__setattr__(self, "limits", None if (low, high) == (-math.inf, math.inf) else (low, high))


@dataclass(frozen=True)
class RevoluteLink(MovingLink):
    """A link that turns about the z axis of its predecessor's end: theta is free.

    Parameters
    ----------
    name : str
        Unique in a chain; the values of the chain are called by it, so it has no dot.
    alpha : float
        Angle about x, rad.
    theta : float
        Angle about z, rad: the one that is free, and where it begins.
    a : float
        Distance along x, m.
    d : float
        Distance along z, m.
    predecessor : str, optional
        The link that this one hangs on, or ``"start"``; the link before in the list where it is left out, and for the first
        one the start. A link may have many successors.
    max_speed : float, optional
        Greatest speed of the link's end in any direction, m/s.
    max_acceleration, max_deceleration : float, optional
        How fast the speed of the link's end may grow and fall, m/s2.
    limits : (2,) sequence of float, optional
        Least and greatest theta, rad; may be infinite.

    Raises
    ------
    ModelError
        With every problem found: the link, the field, the value, what was expected.

    Examples
    --------
    >>> RevoluteLink("boom", a=18.0, theta=0.6, limits=(0.0, 1.4), max_speed=1.5).limits
    (0.0, 1.4)
    """

    variable: ClassVar[str] = "theta"
    joint: ClassVar[str] = DH_KINDS[variable]


@dataclass(frozen=True)
class PrismaticLink(MovingLink):
    """A link that slides along the z axis of its predecessor's end: d is free.

    Parameters
    ----------
    name, alpha, a, predecessor, max_speed, max_acceleration, max_deceleration
        As for `RevoluteLink`.
    theta : float
        Angle about z, rad.
    d : float
        Distance along z, m: the one that is free, and where it begins.
    limits : (2,) sequence of float, optional
        Least and greatest d, m; may be infinite.

    Raises
    ------
    ModelError
        With every problem found.

    Examples
    --------
    >>> PrismaticLink("telescope", d=3.0, limits=(2.0, 9.0)).variable
    'd'
    """

    variable: ClassVar[str] = "d"
    joint: ClassVar[str] = DH_KINDS[variable]


@dataclass(frozen=True)
class FixedLink(DHLink):
    """A link that does not move on its predecessor: all four parameters are fixed.

    Parameters
    ----------
    name, alpha, theta, a, d, predecessor, max_speed, max_acceleration, max_deceleration
        As for `RevoluteLink`; theta is fixed too.

    Raises
    ------
    ModelError
        With every problem found.

    Examples
    --------
    >>> FixedLink("hook", d=0.4).joint
    'fixed'
    """

    joint: ClassVar[str] = DH_KINDS[DHLink.variable]


#: The classes of links by the word for their joint.
KINDS: dict[str, type[DHLink]] = {kind.joint: kind for kind in (RevoluteLink, PrismaticLink, FixedLink)}


def _check_name(check: Checker, name: object) -> None:
    if not is_word(name):
        check.report("name", name, "a word")
    elif "." in str(name):
        check.report("name", name, "a word without a dot (dots separate the name of a link from that of its value)")
    elif name in RESERVED:
        check.report("name", name, f"another word ({choices(RESERVED)} means something else in a chain)")


def is_word(value: object) -> bool:
    """True if it is valid as a name: printable, not empty, without blanks at its ends."""
    return isinstance(value, str) and bool(value) and value.isprintable() and value == value.strip()


def _greatest(check: Checker, field: str, value: Any) -> float | None:
    if value is None or (isinstance(value, (int, float)) and value == math.inf):
        return None
    number = check.number(field, value, default=1.0)
    if number <= 0:
        check.report(field, value, "a number > 0; infinity is no bound")
    return number


def _pair(limits: Any) -> tuple[float, float]:
    low, high = (float(value) for value in (() if isinstance(limits, str) else readable("limits", limits)))
    return low, high


#: The axes of the start that the z axis of the first joint can lie along.
AXES: tuple[str, ...] = ("x", "y", "z")


def mechanism_of(links: Iterable[DHLink], *, name: str = "chain", starting_dof: str = "z") -> tuple[Mechanism, FloatArray]:
    """The mechanism of a chain's links, and the coordinates where it begins.

    The coordinate of a revolute link *is* its theta, that of a prismatic link its d; no offset is added. The mechanism has
    no masses: its kinematics can be computed, its motion under forces cannot.

    Parameters
    ----------
    links : iterable of RevoluteLink, PrismaticLink, FixedLink
        At least one; several may hang on the start, and several on one link.
    name : str
        How tables and messages call the mechanism.
    starting_dof : {"x", "y", "z"}
        The axis of the start along which the z axis of the first joint lies; see `with_starting_dof`.

    Returns
    -------
    mechanism : Mechanism
        Its world frame is the start, its tool the end of the last link.
    q0 : ndarray (n,)
        The thetas (rad) and ds (m) that the links give, read-only.

    Raises
    ------
    ModelError
        With every problem found: names that repeat, predecessors that are not there, cycles.

    Examples
    --------
    >>> links = [RevoluteLink("boom", a=2.0, theta=0.5), PrismaticLink("jib", theta=1.5, d=1.0, predecessor="boom")]
    >>> arm, q0 = mechanism_of(links)
    >>> arm.names, q0.tolist()
    (('boom', 'jib'), [0.5, 1.0])
    """
    check = Checker(f"chain {name!r}")
    link_list = tuple(links) if isinstance(links, Iterable) else ()
    if not link_list or not all(type(link) in KINDS.values() for link in link_list):
        check.report("links", links, "one RevoluteLink, PrismaticLink or FixedLink, or more")
    check.choice("starting_dof", starting_dof, AXES)
    check.finish()
    parents = _parents(check, link_list)
    try:
        mechanism = Mechanism(map(_model_link, link_list, parents), name=name)
    except ModelError as error:
        check.problems += [replace(problem, item=check.item) for problem in error.problems]
    check.finish()
    q0 = np.array([getattr(link, link.variable) for link in link_list if link.variable], dtype=np.float64)
    return with_starting_dof(mechanism, starting_dof), frozen(q0)


def stand_in(links: Iterable[DHLink], *, name: str = "chain") -> Mechanism | None:
    """A mechanism with the ends and joints of links that make none as they are: each hangs on the one before, without size.

    References to ends and joints of a chain can be checked with it. Links whose name repeats get another one. None
    where there are no links, or a name that no link may have.

    Examples
    --------
    >>> stand_in([RevoluteLink("boom", predecessor="bom"), FixedLink("boom")]).link_names
    ('boom', 'boom 2')
    """
    renamed: list[DHLink] = []
    for k, link in enumerate(links):
        names = {other.name for other in renamed}
        renamed.append(type(link)(f"{link.name} {k + 1}" if link.name in names else link.name))
    try:
        return mechanism_of(renamed, name=name)[0]
    except ModelError:
        return None


def with_starting_dof(mechanism: Mechanism, axis: str) -> Mechanism:
    """Rotate the mechanism so that the z axis of the start coincides with another of its axes.

    The turn is the cyclic permutation of the axes that does it, so right-handed frames stay so: for ``"x"`` the axes x, y, z
    come to lie along y, z, x of the start, for ``"y"`` along z, x, y; for ``"z"`` nothing is turned.

    Parameters
    ----------
    mechanism : Mechanism
        Any; what hangs on its base is turned as one.
    axis : {"x", "y", "z"}
        Where the z axis goes.

    Raises
    ------
    ModelError
        Naming the axes there are.

    Examples
    --------
    >>> arm, _ = mechanism_of([RevoluteLink("boom")])
    >>> with_starting_dof(arm, "x").base[:3, 2].tolist()
    [1.0, 0.0, 0.0]
    """
    check = Checker(f"chain {mechanism.name!r}")
    check.choice("starting_dof", axis, AXES)
    check.finish()
    if axis == "z":
        return mechanism
    rotation = np.roll(np.eye(3), AXES.index(axis) + 1, axis=0)
    return mechanism.replace(base=transform(rotation) @ mechanism.base)


def links_of(mechanism: Mechanism, q0: FloatArray) -> tuple[tuple[DHLink, ...], str] | None:
    """The links and the starting_dof from which `mechanism_of` makes exactly this mechanism and q0 (n,), or None.

    Examples
    --------
    >>> links = (RevoluteLink("boom", a=2.0, theta=0.5), FixedLink("eye", predecessor="start"))
    >>> links_of(*mechanism_of(links, starting_dof="x")) == (links, "x")
    True
    """
    values = iter(np.asarray(q0, dtype=np.float64).tolist())
    dh_links = []
    for link in mechanism.links:
        kind = KINDS.get(link.joint)
        if kind is None or link.dh_row is None or link.mimic is not None:
            return None
        row = {field: getattr(link.dh_row, field) for field in ("alpha", "theta", "a", "d")}
        fields: dict[str, Any] = {"predecessor": START if link.parent == "base" else link.parent}
        if kind.variable:
            row[kind.variable] = next(values)
            fields["limits"] = link.limits
        try:
            dh_links.append(kind(str(link.name), **row, **fields))
        except ModelError:  # a name that no link of a chain may have, or a start beyond the limits
            return None
    for axis in AXES:
        again, begin = mechanism_of(dh_links, name=mechanism.name, starting_dof=axis)
        if again == mechanism and begin.tobytes() == np.asarray(q0).tobytes():
            return tuple(dh_links), axis
    return None


def port_values(links: Iterable[DHLink]) -> dict[str, float]:
    """Values of the links other than geometry, by the name of their ports.

    Examples
    --------
    >>> port_values([RevoluteLink("boom", max_speed=1.5), FixedLink("hook")])
    {'boom.max_speed': 1.5}
    """
    pairs = ((f"{link.name}.{field}", getattr(link, field)) for link in links for field in GREATEST)
    return {port: value for port, value in pairs if value is not None}


def _model_link(link: DHLink, parent: str | None) -> Link:
    """Link of a mechanism; its free parameter is removed from the row, as it is the coordinate."""
    row = {field: getattr(link, field) for field in ("theta", "d", "a", "alpha") if field != link.variable}
    limits = link.limits if isinstance(link, MovingLink) else None
    return Link.dh(**row, convention="standard", joint=link.joint, limits=limits, name=link.name, parent=parent)


def _parents(check: Checker, links: Sequence[DHLink]) -> list[str | None]:
    """Names of the parents in the mechanism; the base after a report."""
    names = [link.name for link in links]
    parents: list[str | None] = []
    for link in links:
        known = link.predecessor is None or link.predecessor in {START, *names} - {link.name}
        if not known:
            others = [START, *(name for name in dict.fromkeys(names) if name != link.name)]
            check.problems.append(Problem(f"link {link.name!r}", "predecessor", link.predecessor, choices(others)))
        parents.append("base" if not known or link.predecessor == START else link.predecessor)
    return parents
