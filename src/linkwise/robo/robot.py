"""Two lists become a robot: checked, also for what must agree between their items, and made into a mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwise.model.link
import linkwise.model.motor
from linkwise.errors import ModelError, Problem, members
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia
from linkwise.model.tree import GRAVITY
from linkwise.model.validation import Checker
from linkwise.robo.lists import Link, Motor, items
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.spatial_vectors import around
from linkwise.spatial.transform import translation
from linkwise.spatial.validation import choice, flag


def disagreements(links: Sequence[Link], motors: Sequence[Motor]) -> list[Problem]:
    """Every problem that no link and no motor has alone: numbers, the tree, and which motor is where."""
    return [*_numbering(links, motors), *_tree(links), *_mounting(links, motors)]


def base_numbers(links: Sequence[Link]) -> tuple[int, int]:
    """What names the base as a previous link: 0, and N + 1, its number in Rodriguez's count."""
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
            yield Problem(
                item, "previous", link.previous, expected + ("; links hang on each other in a ring" if ring else "")
            )
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
            said = f"{members(mounted)}, the motors" if mounted else "none, for there are no motors"
            yield Problem(f"link {link.number}", "motors", list(link.motors), f"{said} whose link is {link.number}")


ROTORS = ("bodies", "contained", "reduced")
"""How rotors count: see `robot`."""

PLACES = ("previous", "own")
"""Where the vector l leads from: see `robot`."""

ABOUT = ("com", "joint")
"""What a link's tensor is about."""

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
    problems += check.problems
    if problems:
        raise ModelError(problems)
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
    """What the link of that number is called in the mechanism."""
    return f"link{number}"


def _body(link: Link, about: str, physical: bool, problems: list[Problem]) -> Inertia:
    """Its inertia about the centre of mass, checked."""
    check = Checker(f"link {link.number}")
    tensor = np.array(link.inertia)
    if about == "joint":
        p = np.array(link.p)
        tensor = tensor - link.mass * around(np.outer(p, p))
    inertia = Inertia.checked(check, link.mass, link.p, tensor, physical)
    problems += check.problems
    return inertia


def _joint(link: Link, links: Sequence[Link], l_from: str) -> tuple[float, float, float]:
    """From the previous link's frame to the joint of this one."""
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
        mass=body.mass,
        com=body.com,
        inertia=body.tensor,
        physical=body.physical,
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
    """Each motor as a body on its link."""
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
            item = f"motor {motor.number}"
            problems += [
                Problem(item, _FIELDS.get(problem.field, problem.field), problem.value, problem.expected)
                for problem in error.problems
            ]
