"""Robots from Robo's two lists of links and motors, checked and converted to a mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated, Any, TypeVar

import numpy as np

import linkwise.model.link
import linkwise.model.motor
from linkwise.errors import ModelError, Problem, members
from linkwise.expr.node import Expr, origins_of
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia, tensor_from
from linkwise.model.motor import read_ratio
from linkwise.model.symbolic import parameters_in
from linkwise.model.tree import GRAVITY
from linkwise.model.validation import CheckedRecord, Checker, Read
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.spatial_vectors import around
from linkwise.spatial.transform import translation
from linkwise.spatial.validation import choice, flag

#: Kinds of joints: the last letter is the axis of the link's frame about which it rotates or along which it slides.
KINDS: tuple[str, ...] = (
    "Rotationalx",
    "Rotationaly",
    "Rotationalz",
    "Translationalx",
    "Translationaly",
    "Translationalz",
)

Vector = tuple[float, float, float]


class _Item(CheckedRecord):
    """A link or motor: its fields, read in the order of the list, and equal where all of them are."""

    @property
    def _item(self) -> str:
        return f"{self._word} {self.number!r}"  # type: ignore[attr-defined]

    def to_list(self) -> list[Any]:
        """Plain list, with the fields as they were given: symbols of SymPy as such."""
        return [_plain(value) for value in self._values().values()]


def _plain(value: Any) -> Any:
    if isinstance(value, Expr) and origins_of(parameters_in([value])):
        from linkwise.equations.tape_to_sympy import expressions_to_sympy

        return expressions_to_sympy(value)[()]
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


def _count(least: int) -> Read:
    def read(check: Checker, field: str, value: Any) -> int:
        if _is_count(value, least):
            return int(value)
        check.report(field, value, f"a whole number >= {least}")
        return least

    return read


def _numbers(check: Checker, field: str, value: Any, *, none: bool = False) -> tuple[int, ...]:
    """Numbers of links or motors, without repetition; 0 means none, alone or in a list."""
    listed = (value,) if _is_count(value, 0) else value
    kind = "motors, or [] for none" if none else "links, or {0} for none"
    if isinstance(listed, (set, frozenset)) and all(_is_count(number, 0) for number in listed):
        listed = sorted(listed)
    if not isinstance(listed, (list, tuple)) or not all(_is_count(number, 0) for number in listed) or not (listed or none):
        check.report(field, value, f"numbers of {kind}")
        return ()
    unique = tuple(int(number) for number in listed)
    if unique in {(), (0,)}:
        return ()
    if 0 in unique or len(set(unique)) < len(unique):
        check.report(field, value, f"numbers of {kind}; each once, and 0 only alone")
        return ()
    return unique


def _links(check: Checker, field: str, value: Any) -> tuple[int, ...]:
    return _numbers(check, field, value) or (0,)


def _tensor(check: Checker, field: str, value: Any) -> tuple[Any, ...]:
    return tuple(tuple(row) for row in tensor_from(check, value, field).tolist())


def _vector(check: Checker, field: str, value: Any) -> tuple[Any, ...]:
    return tuple(check.vector(field, value).tolist())


@dataclass(frozen=True, eq=False)
class Link(_Item):
    """One link and the joint that carries it; the fields have the order of the list.

    ``T_previous_link = Trans(l) Rot(axis, q + a)`` for a rotational joint, ``Trans(l) Trans((q + a) axis)`` for a
    translational one: the frame stands at the link's own joint, and does not turn but by joints.

    Parameters
    ----------
    number : int
        From 1, in either direction: from the tips to the base, as Robo's own example, or from the base to the tips.
    kind : str
        One of `KINDS`.
    connected : int or sequence of int
        The links that hang on this one; ``{0}``, ``[0]`` or 0 (the environment) where there is none.
    previous : int
        The link that it hangs on; 0 for the base.
    mass : float
        kg.
    inertia : (3, 3) array_like
        Tensor, kg m2, in the link's axes, or its diagonal, or the six numbers of `linkwise.Inertia`.
    l : (3,) array_like
        From the frame of the previous link to the joint, in the previous link's axes, m.
    p : (3,) array_like
        From the joint to the centre of mass, in the link's axes, m.
    a : float
        Added to the joint coordinate, rad or m.
    motors : int or sequence of int
        The motors mounted on this link; ``[]``, ``{0}`` or 0 for none.

    Raises
    ------
    ModelError
        With a problem for each field at fault.

    Examples
    --------
    >>> tip = Link(1, "Rotationalz", {0}, 2, 1.5, (0, 0.01, 0.01), (0.4, 0, 0), (0.2, 0, 0), 0, [])
    >>> tip.connected, tip.l
    ((0,), (0.4, 0.0, 0.0))
    """

    _word = "link"

    number: Annotated[int, _count(1)]
    kind: Annotated[str, partial(Checker.choice, allowed=KINDS)]
    connected: Annotated[Any, _links]
    previous: Annotated[int, _count(0)]
    mass: Annotated[float, Checker.number]
    inertia: Annotated[Any, _tensor]
    l: Annotated[Any, _vector]  # noqa: E741  (the name that Robo gives it)
    p: Annotated[Any, _vector]
    a: Annotated[float, Checker.number]
    motors: Annotated[Any, partial(_numbers, none=True)]

    @property
    def axis(self) -> FloatArray:
        """Unit vector (3,) of the joint's axis, in the link's frame and in the previous one's at q + a = 0."""
        return np.asarray(np.eye(3)["xyz".index(self.kind[-1])])

    @property
    def slides(self) -> bool:
        """True if the joint is translational."""
        return self.kind.startswith("Translational")


@dataclass(frozen=True, eq=False)
class Motor(_Item):
    """One motor, a rotor that a link carries; the fields have the order of the list.

    Its frame stands at `l` on the carrying link, and the rotor turns there, about the axis letter of the joint that it
    drives, by ``G q + a``.

    Parameters
    ----------
    number : int
        From 1; need not be that of a link.
    link : int
        The link that it is mounted on; 0 for the base.
    driven_joint : int
        Number of the link whose joint it drives.
    mass : float
        Mass of the rotor, kg.
    inertia : (3, 3) array_like
        Inertia of the rotor, kg m2, in the motor's axes, in the forms of a link's; equal moments across the spin axis.
    l : (3,) array_like
        From the frame of the carrying link to the motor's, in that link's axes, m.
    p : (3,) array_like
        From there to the rotor's centre of mass, in the motor's axes, m.
    a : float
        Turns the motor's frame about its spin axis, rad.
    G : float
        Gear ratio: turns of the rotor, relative to its carrier, per turn (rad per rad, or per m) of the joint.

    Raises
    ------
    ModelError
        With a problem for each field at fault.

    Examples
    --------
    >>> Motor(1, 2, 1, 0.4, (3e-4, 3e-4, 2e-4), (0, 0, 0), (0, 0, 0.05), 0, 60).G
    60.0
    """

    _word = "motor"

    number: Annotated[int, _count(1)]
    link: Annotated[int, _count(0)]
    driven_joint: Annotated[int, _count(1)]
    mass: Annotated[float, Checker.number]
    inertia: Annotated[Any, _tensor]
    l: Annotated[Any, _vector]  # noqa: E741  (the name that Robo gives it)
    p: Annotated[Any, _vector]
    a: Annotated[float, Checker.number]
    G: Annotated[float, read_ratio]


Item = TypeVar("Item", Link, Motor)

#: Fields unrelated to the topology, and their values in an item with an invalid one.
_BLANKS: dict[str, Any] = {"mass": 0, "inertia": 0, "l": (0, 0, 0), "p": (0, 0, 0), "a": 0, "G": 1}


def items(kind: type[Item], word: str, sequence: Any) -> tuple[list[Item], list[Problem], bool]:
    """Items of a list, plain ones converted, and the problems.

    Also whether it is known all the same what hangs where: faulty masses and the like are zero then.
    """
    names = [field.name for field in fields(kind)]
    expected = f"{len(names)} items: {', '.join(names)}"
    if not isinstance(sequence, Iterable) or isinstance(sequence, (str, bytes)):
        return [], [Problem(f"list of {word}s", "value", sequence, f"a list of {word}s, each {expected}")], False
    accepted: list[Item] = []
    problems: list[Problem] = []
    known = True
    for place, item in enumerate(sequence, start=1):
        if isinstance(item, kind):
            accepted.append(item)
        elif not isinstance(item, Sequence) or isinstance(item, str) or len(item) != len(names):
            problems.append(Problem(f"{word} at place {place} of the list", "value", item, expected))
            known = False
        else:
            try:
                accepted.append(kind(*item))
            except ModelError as error:
                problems += error.problems
                if {problem.field for problem in error.problems} <= _BLANKS.keys():
                    accepted.append(kind(*(_BLANKS.get(name, value) for name, value in zip(names, item, strict=True))))
                else:
                    known = False
    return accepted, problems, known


def disagreements(links: Sequence[Link], motors: Sequence[Motor]) -> list[Problem]:
    """Every problem of several links and motors: numbers, the tree, and places of motors."""
    return [*_numbering(links, motors), *_tree(links), *_mounting(links, motors)]


def base_numbers(links: Sequence[Link]) -> tuple[int, int]:
    """Numbers of the base as a previous link: 0, and N + 1, its number in Rodriguez's count."""
    return 0, len(links) + 1


def outward(links: Sequence[Link]) -> list[Link]:
    """The links from the base to the tips, each after the one that it hangs on.

    In the order of their numbers as far as that goes: of falling ones where all hang on links of greater number, else of
    rising ones.
    """
    bases = base_numbers(links)
    falling = all(link.previous in bases or link.previous > link.number for link in links)
    waiting = sorted(links, key=lambda link: link.number, reverse=falling)
    placed = set(bases)
    ordered: list[Link] = []
    while waiting:
        following = next(link for link in waiting if link.previous in placed)
        waiting.remove(following)
        placed.add(following.number)
        ordered.append(following)
    return ordered


def _numbering(links: Sequence[Link], motors: Sequence[Motor]) -> Iterator[Problem]:
    count = len(links)
    for link in links:
        if link.number > count:
            yield Problem(f"link {link.number}", "number", link.number, f"1 to {count}, for there are {count} links")
    for word, items_of_kind in (("link", links), ("motor", motors)):
        for number, times in Counter(item.number for item in items_of_kind).items():
            if times > 1:
                yield Problem(f"{word} {number}", "number", number, f"a number of its own; {times} {word}s have this one")


def _tree(links: Sequence[Link]) -> Iterator[Problem]:
    known = {link.number: link.previous for link in links}
    for link in links:
        item = f"link {link.number}"
        ring = link.number in _inward(known, link.number)
        if link.previous not in base_numbers(links) and (link.previous not in known or ring):
            others = sorted(n for n in known if n != link.number and link.number not in _inward(known, n))
            expected = f"0 (the base){f' or another link, {members(others)}' if others else ''}"
            expected += "; links hang on each other in a ring" if ring else ""
            yield Problem(item, "previous", link.previous, expected)
        hanging = tuple(sorted(other.number for other in links if other.previous == link.number)) or (0,)
        if tuple(sorted(link.connected)) != hanging:
            named = "0" if hanging == (0,) else members(hanging)
            expected = f"{named}, the links whose previous is {link.number}" if named != "0" else "0, for no link names it"
            yield Problem(item, "connected", list(link.connected), expected)
        listing = sorted(other.number for other in links if link.number in other.connected)
        if len(listing) > 1:
            expected = f"one link that it hangs on; links {members(listing)} each name it as connected"
            yield Problem(item, "previous", link.previous, expected)


def _inward(previous: Mapping[int, int], number: int) -> set[int]:
    """The links that a link hangs on, directly or through others: itself among them where they form a ring."""
    ancestors: set[int] = set()
    while (number := previous.get(number, 0)) in previous and number not in ancestors:
        ancestors.add(number)
    return ancestors


def _mounting(links: Sequence[Link], motors: Sequence[Motor]) -> Iterator[Problem]:
    known = {link.number for link in links}
    for motor in motors:
        item = f"motor {motor.number}"
        if motor.link not in {0, *known}:
            yield Problem(item, "link", motor.link, f"a link, {members(sorted(known))}, or 0 (the base)")
        if motor.driven_joint not in known:
            yield Problem(item, "driven_joint", motor.driven_joint, f"a link, {members(sorted(known))}")
    for link in links:
        mounted = sorted(motor.number for motor in motors if motor.link == link.number)
        if sorted(link.motors) != mounted:
            expected = f"{members(mounted)}, the motors" if mounted else "none, for there are no motors"
            yield Problem(f"link {link.number}", "motors", list(link.motors), f"{expected} whose link is {link.number}")


#: Treatment of rotors: see `robot`.
ROTORS = ("bodies", "contained", "reduced")

#: Origin of the vector l: see `robot`.
PLACES = ("previous", "own")

#: Reference point of a link's tensor.
ABOUT = ("com", "joint")

_FIELDS = {"rotor_inertia": "inertia", "com": "p", "gear_ratio": "G"}


@dataclass(frozen=True)
class Robot:
    """A robot as Robo's two lists, and as a mechanism.

    Attributes
    ----------
    links : tuple of Link
        In the order of the list.
    motors : tuple of Motor
    mechanism : Mechanism
        Its links run from the base to the tips, the tool is on the last of them, and link 3 is called ``"link3"``.
    numbers : tuple of int
        Of the link whose joint each coordinate belongs to: N, N - 1, ..., 1 where links are numbered from the tips to the
        base; 1, 2, ..., N where they are numbered from the base to the tips. In any other numbering the smallest number
        whose link hangs on a link before it comes next.

    Examples
    --------
    >>> made = robot([[1, "Translationalx", 0, 0, 1.0, 0, (0, 0, 0), (0, 0, 0), 0.5, []]])
    >>> made, made.numbers, made.mechanism.names
    (<Robot: 1 links, 0 motors>, (1,), ('link1',))
    """

    links: tuple[Link, ...]
    motors: tuple[Motor, ...]
    mechanism: Mechanism

    @property
    def numbers(self) -> tuple[int, ...]:
        """Number of the link that each coordinate belongs to, from the base to the tips: see `robot`."""
        return tuple(link.number for link in outward(self.links))

    def to_lists(self) -> tuple[list[list[Any]], list[list[Any]]]:
        """The two plain lists, Links and Motors."""
        return [link.to_list() for link in self.links], [motor.to_list() for motor in self.motors]

    def __repr__(self) -> str:
        return f"<Robot: {len(self.links)} links, {len(self.motors)} motors>"


def robot(
    links: Any,
    motors: Any = (),
    *,
    rotors: str = "bodies",
    l_from: str = "previous",
    inertia_about: str = "com",
    physical: bool = True,
    base: Any = None,
    tool: Any = None,
    gravity: Any = GRAVITY,
    payload: Inertia | None = None,
    name: str | None = None,
) -> Robot:
    """Make a robot of Robo's lists.

    Parameters
    ----------
    links, motors : sequence
        Of `Link` and `Motor`, or of plain lists with their fields in order, or both.
    rotors : {"bodies", "contained", "reduced"}
        How motors count. ``"bodies"``: each is a body on its link, beside the link's own mass and tensor. ``"contained"``:
        the links' data contain their motors at rest, as measured data do, so that only the spin adds to them.
        ``"reduced"``: as in most toolboxes, G^2 Jm at the driven joint and nothing else.
    l_from : {"previous", "own"}
        ``"previous"``: l leads from the previous link's joint to the link's own, so that branches may leave a link
        anywhere. ``"own"``: l is the length of the link itself, from its own joint to the next, where all that hangs on it
        is; that of the last link leads to the tool.
    inertia_about : {"com", "joint"}
        What the tensors of links are about: the centre of mass, or the origin of the link's frame.
    physical : bool
        Require links that can exist; False for identified sets of numbers, as in `linkwise.Inertia`.
    base, tool, gravity, payload, name
        What the lists do not hold, as for `linkwise.Mechanism`.

    Raises
    ------
    ModelError
        With every problem of both lists; what hangs where is compared as soon as the numbers that say it can be read.
    ArgumentError
        For another word.

    Examples
    --------
    >>> upper = [2, "Rotationalz", [1], 0, 2.0, (0, 0.02, 0.02), (0, 0, 0), (0.25, 0, 0), 0, [1]]
    >>> lower = [1, "Rotationalz", {0}, 2, 1.0, (0, 0.01, 0.01), (0.5, 0, 0), (0.2, 0, 0), 0, []]
    >>> motor = [1, 2, 1, 0.3, (2e-4, 2e-4, 1e-4), (0, 0, 0), (0, 0, 0), 0, 50]
    >>> made = robot([lower, upper], [motor])
    >>> made, made.numbers
    (<Robot: 2 links, 1 motors>, (2, 1))
    >>> made.mechanism.forward_kinematics([0.0, 0.0])[:3, 3].tolist()
    [0.5, 0.0, 0.0]
    """
    choice("rotors", rotors, ROTORS)
    choice("l_from", l_from, PLACES)
    choice("inertia_about", inertia_about, ABOUT)
    flag("physical", physical)
    link_items, problems, known = items(Link, "link", links)
    carried, others, also_known = items(Motor, "motor", motors)
    problems += others
    if known and not link_items:
        problems.append(Problem("list of links", "value", [], "one link or more"))
    elif known and also_known:
        problems += disagreements(link_items, carried)
    bodies = {link.number: _body(link, inertia_about, physical, problems) for link in link_items}
    rotor_motors = _rotors(link_items, carried, rotors, problems)
    check = Checker("robot")
    T_link_tool = check.rigid("tool", tool)
    check.problems[:0] = problems
    check.finish()
    ordered = outward(link_items)
    if l_from == "own":
        T_link_tool = translation(*ordered[-1].l) @ T_link_tool
    placed = [_link(link, _joint(link, link_items, l_from), bodies[link.number], link_items) for link in ordered]
    whole = Mechanism(placed, motors=rotor_motors, base=base, tool=T_link_tool, gravity=gravity, payload=payload, name=name)
    return Robot(tuple(link_items), tuple(carried), whole)


def to_mechanism(links: Any, motors: Any = (), **options: Any) -> Mechanism:
    """Return the mechanism that Robo's lists describe; parameters and errors as for `robot`.

    Examples
    --------
    >>> to_mechanism([[1, "Translationalx", 0, 0, 1.0, 0, (0, 0, 0), (0, 0, 0), 0.5, []]]).names
    ('link1',)
    """
    return robot(links, motors, **options).mechanism


def name_of(number: int) -> str:
    """Name in the mechanism of the link with that number."""
    return f"link{number}"


def _body(link: Link, about: str, physical: bool, problems: list[Problem]) -> Inertia:
    """Its inertia about the centre of mass, checked."""
    check = Checker(f"link {link.number}")
    tensor = np.array(link.inertia)
    if about == "joint":
        tensor = tensor - link.mass * around(np.outer(link.p, link.p))
    inertia = Inertia.checked(check, link.mass, link.p, tensor, physical)
    problems += check.problems
    return inertia


def _joint(link: Link, links: Sequence[Link], l_from: str) -> tuple[float, float, float]:
    """Vector from the previous link's frame to the joint of this one."""
    if l_from == "previous":
        return link.l  # type: ignore[no-any-return]
    return next((other.l for other in links if other.number == link.previous), (0.0, 0.0, 0.0))


def _link(link: Link, place: tuple[float, float, float], body: Inertia, links: Sequence[Link]) -> linkwise.model.link.Link:
    return linkwise.model.link.Link(
        joint="prismatic" if link.slides else "revolute",
        before=translation(*place),
        axis=link.axis,
        offset=link.a,
        name=name_of(link.number),
        parent="base" if link.previous in base_numbers(links) else name_of(link.previous),
        body=body,
    )


def _rotors(
    links: Sequence[Link], motors: Sequence[Motor], rotors: str, problems: list[Problem]
) -> list[linkwise.model.motor.Motor]:
    axes = {link.number: link.axis for link in links}
    carried_motors = list(_carried([motor for motor in motors if motor.driven_joint in axes], axes, problems))
    if rotors == "bodies":
        return carried_motors
    kept = ("inertia", "gear_ratio", "joint", *(("carrier", "axis") if rotors == "contained" else ()))
    return [linkwise.model.motor.Motor(**{field: getattr(motor, field) for field in kept}) for motor in carried_motors]


def _carried(
    motors: Sequence[Motor], axes: dict[int, FloatArray], problems: list[Problem]
) -> Iterator[linkwise.model.motor.Motor]:
    """Yield each motor as a body on its link."""
    for motor in motors:
        axis = axes[motor.driven_joint]
        turn = rotation_about(axis, motor.a)
        try:
            yield linkwise.model.motor.Motor(
                gear_ratio=motor.G,
                carrier=name_of(motor.link) if motor.link else "base",
                mass=motor.mass,
                com=np.array(motor.l) + turn @ np.array(motor.p),
                rotor_inertia=np.array(motor.inertia),  # equal across the spin axis, about which the motor's frame is turned
                axis=axis,
                joint=name_of(motor.driven_joint),
            )
        except ModelError as error:
            for problem in error.problems:
                field = _FIELDS.get(problem.field, problem.field)
                problems.append(replace(problem, item=f"motor {motor.number}", field=field))
