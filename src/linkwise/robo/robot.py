"""Two lists become a robot: checked, and made into a mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwise.model.link
import linkwise.model.motor
from linkwise.errors import ArgumentError, ModelError, Problem, choices, shown
from linkwise.mechanism import Mechanism
from linkwise.model.checks import Checker
from linkwise.model.inertia import Inertia
from linkwise.model.tree import GRAVITY
from linkwise.robo.lists import Link, Motor, items
from linkwise.robo.topology import base_numbers, disagreements, outward
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.six_vector import around
from linkwise.spatial.transform import translation

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
    for field, value, allowed in (
        ("rotors", rotors, ROTORS),
        ("l_from", l_from, PLACES),
        ("inertia_about", inertia_about, ABOUT),
    ):
        if not isinstance(value, str) or value not in allowed:
            raise ArgumentError(f"{field} is {value!r}; expected {choices(allowed)}")
    if not isinstance(physical, (bool, np.bool_)):
        raise ArgumentError(f"physical is {shown(physical)}; expected True or False")
    given, problems, known = items(Link, "link", links)
    carried, others, also_known = items(Motor, "motor", motors)
    problems += others
    if known and not given:
        problems.append(Problem("list of links", "value", [], "one link or more"))
    elif known and also_known:
        problems += disagreements(given, carried)
    bodies = {link.number: _body(link, inertia_about, physical, problems) for link in given}
    made = _rotors(given, carried, rotors, problems)
    check = Checker("robot")
    T_link_tool = check.rigid("tool", tool)
    problems += check.problems
    if problems:
        raise ModelError(problems)
    ordered = outward(given)
    if l_from == "own":
        T_link_tool = translation(*ordered[-1].l) @ T_link_tool
    placed = [_link(link, _joint(link, given, l_from), bodies[link.number], given) for link in ordered]
    whole = Mechanism(placed, motors=made, base=base, tool=T_link_tool, gravity=gravity, payload=payload, name=name)
    return Robot(tuple(given), tuple(carried), whole)


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
    made = Inertia.checked(check, link.mass, link.p, tensor, physical)
    problems += check.problems
    return made


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
    made = list(_carried([motor for motor in motors if motor.driven_joint in axes], axes, problems))
    if rotors == "bodies":
        return made
    kept = ("inertia", "gear_ratio", "joint", *(("carrier", "axis") if rotors == "contained" else ()))
    return [linkwise.model.motor.Motor(**{field: getattr(motor, field) for field in kept}) for motor in made]


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
            problems += [Problem(item, _FIELDS.get(one.field, one.field), one.value, one.expected) for one in error.problems]
