"""Results of readers: the description, problems, remarks and warnings, each with its line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from typing import TypeVar

import numpy as np

from linkwise.dynamics.recursions import composite_inertias, reflected_inertias
from linkwise.errors import ArgumentError, FileProblem, ModelError, Problem, choices, nearest
from linkwise.files.mesh_file import MeshVertices
from linkwise.files.toml_text import Place, line_of
from linkwise.mechanism import Mechanism
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.coupling import coupling
from linkwise.model.formatting.mechanism_tables import total_mass
from linkwise.model.formatting.table import number
from linkwise.model.inertia import SLACK, SMALLEST, Inertia
from linkwise.model.link import Link
from linkwise.model.shape import Shape
from linkwise.model.transmission import Drive
from linkwise.model.validation import frozen
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.spatial_vectors import inertia_times


@dataclass(frozen=True, eq=False)
class Description:
    """What a description file holds.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    external : ndarray (6,)
        Force (N) and moment (N m) that act on the tool from outside, in tool axes; zero where the file says nothing.
    source : tuple of str
        Where the numbers come from, a line each.
    shapes : tuple of Shape
        What the links look like and collide with, where the file says so. The mechanism has those for collisions too.

    Examples
    --------
    >>> from linkwise import robots
    >>> found = robots.describe("planar_2r")
    >>> found.mechanism.name, found.external.tolist()
    ('planar_2r', [0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    """

    mechanism: Mechanism
    external: FloatArray = field(default_factory=lambda: frozen(np.zeros(6)))
    source: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True, eq=False)
class Reading:
    """What a reader made of a text.

    Attributes
    ----------
    description : Description or None
        What the file holds, if nothing was wrong.
    problems : list of FileProblem
        What was wrong, by line.
    lines : mapping
        Where in the text each part of the description stands.
    remarks : list of FileProblem
        What was not used.
    between : frozenset of int
        Places of links that the file does not name, without mass, which the reader put between the joints of one body.
    lacking : list of FileProblem
        Those of the remarks that say what the mechanism lacks of what the file describes.
    """

    description: Description | None
    problems: list[FileProblem]
    lines: Mapping[Place, int]
    remarks: list[FileProblem] = field(default_factory=list)
    between: frozenset[int] = frozenset()
    lacking: list[FileProblem] = field(default_factory=list)

    def line(self, *place: object) -> int:
        """The line of the innermost place that is known, 0 for none."""
        return line_of(self.lines, place)


Result = TypeVar("Result")

#: After this many problems nothing more is suggested: comparing names is slow.
MOST_GUESSES = 100

IDENTIFIED = "physical=False accepts an identified set of parameters"


class Report:
    """Gathers problems, remarks, and the kinds of elements that are not used.

    Examples
    --------
    >>> report = Report()
    >>> report.leave("<light>", 3, "it is for pictures")
    >>> report.leave("<light>", 8)
    >>> [str(remark) for remark in report.all_remarks]
    ['line 3: <light> is not used (2 of them, the first here): it is for pictures']
    """

    def __init__(self) -> None:
        self.problems: list[FileProblem] = []
        self.remarks: list[FileProblem] = []
        self._unused: dict[str, tuple[int, int, str]] = {}

    def report(self, line: int, message: str) -> None:
        """Note a problem: the file cannot be read."""
        self.problems.append(FileProblem(line, message))

    def remark(self, line: int, message: str) -> None:
        """Note something odd."""
        self.remarks.append(FileProblem(line, message))

    def tell(self, line: int, problem: Problem) -> None:
        """Note a problem of the model."""
        self.report(line, str(problem).replace(IDENTIFIED, "reading with physical=False accepts it"))

    def build(self, item: str, make: Callable[[], Result], line: Callable[[Problem], int]) -> Result | None:
        """Return the part of a model that `make` returns, or None; problems are noted at the lines that `line` says."""
        part, problems = attempt(item, make)
        for problem in problems:
            self.tell(line(problem), problem)
        return part

    def leave(self, kind: str, line: int, why: str = "") -> None:
        """Note one place of what is not used; `why` of the first of its kind is kept."""
        first, places, reason = self._unused.get(kind, (line, 0, why))
        self._unused[kind] = (first, places + 1, reason)

    @property
    def sorted_problems(self) -> list[FileProblem]:
        """All problems by line."""
        return sorted(self.problems, key=lambda problem: problem.line)

    @property
    def all_remarks(self) -> list[FileProblem]:
        """All remarks by line, with one for each kind that is not used."""
        remarks = list(self.remarks)
        for kind, (line, places, why) in self._unused.items():
            many = f" ({places} of them, the first here)" if places > 1 else ""
            remarks.append(FileProblem(line, f"{kind} is not used{many}{': ' + why if why else ''}"))
        return sorted(remarks, key=lambda remark: remark.line)

    def suggestion(self, name: str, names: Iterable[str], form: str = " (did you mean {!r}?)", alike: str = "") -> str:
        """A hint at the name that may be meant; nothing where none is near, or after `MOST_GUESSES` problems."""
        near = nearest(name, names, alike=alike) if len(self.problems) < MOST_GUESSES else []
        return form.format(near[0]) if near else ""


def some(names: Collection[object], most: int, text: Callable[[Iterable[object]], str] = choices) -> str:
    """The names as a message lists them; of more than `most` the first ones and how many more there are.

    Examples
    --------
    >>> some(["a", "b"], 10), some("abcd", 2)
    ("'a' or 'b'", "'a', 'b' and 2 more")
    """
    left = len(names) - most
    return f"{', '.join(map(repr, islice(names, most)))} and {left} more" if left > 0 else text(names)


def attempt(item: str, make: Callable[[], Result]) -> tuple[Result | None, Sequence[Problem]]:
    """The part of a model that `make` returns, or None and all that is wrong; `item` names it where numbers overflow."""
    try:
        with np.errstate(all="ignore"):
            return make(), ()
    except ModelError as error:
        return None, error.problems
    except (np.linalg.LinAlgError, OverflowError):
        return None, [Problem(item, "inertia", "beyond the range of floating-point arithmetic", "smaller numbers")]


def unused_name(names: Iterable[str], taken: set[str]) -> str:
    """The first of some names that is not taken; taken from now on.

    Examples
    --------
    >>> unused_name(["tool", "tool_2"], {"tool"})
    'tool_2'
    """
    unused = next(name for name in names if name not in taken)
    taken.add(unused)
    return unused


def base_names() -> Iterator[str]:
    """What a link of a file is called that has the name ``base``, for that means the ground here."""
    return chain(("base_link", "base_frame"), (f"base_frame_{k}" for k in count(2)))


UNDEFINED = "its acceleration is not defined, and forward dynamics and simulate refuse it"

#: Of a mass of 1 kg, near the axes of a mechanism of 1 m: the inertia, kg m2, that rounding makes.
ROUNDING = 1e-15

#: A length beyond this is asked about, m.
LONG = 50.0

#: A joint with limits beyond this is asked about, rad.
MOST_TURN = 4 * math.pi


def remarks_on(mechanism: Mechanism, reading: Reading) -> list[FileProblem]:
    """Everything odd about a mechanism, by the line of the file that it was read from."""
    looks = (_bodies, _rotors, _nothing_moved, _lengths, _limits, _followed)
    remarks = [remark for look in looks for remark in look(mechanism, reading)]
    if not mechanism.gravity.any():
        remarks.append(FileProblem(reading.line("gravity"), "gravity is zero"))
    if mechanism.floating and not total_mass(mechanism):
        remarks.append(FileProblem(reading.line("floating"), "the base floats, but nothing has a mass"))
    return sorted(remarks, key=lambda remark: remark.line)


def _bodies(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Links without the inertia that a moving body has."""
    if not total_mass(mechanism) and all(link.body.is_zero for link in mechanism.links):
        if mechanism.n and not mechanism.floating:
            yield FileProblem(0, "no link has a mass: this is a description of kinematics alone")
        return
    undefined = _undefined(mechanism)
    loaded = {drive.carrier for drive in mechanism.drives if not drive.motor.locked.is_zero}
    for k, link in enumerate(mechanism.links):
        name = f"link {link.name!r}"
        if not link.body.physical:
            said = f"{name}: physical = false, its inertia is not checked"
            yield FileProblem(reading.line("link", k, "physical"), said)
        elif link.moves and link.body.is_zero and k not in loaded and (k in undefined or k not in reading.between):
            hint = f", and its joint moves none at all: {UNDEFINED}" if k in undefined else ""
            yield FileProblem(reading.line("link", k, "mass"), f"{name} moves, but has no mass and no inertia{hint}")
        elif link.moves and not link.body.mass and not link.body.is_zero:
            yield FileProblem(reading.line("link", k, "mass"), f"{name} has inertia, but no mass")


def _rotors(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Links whose inertia is too small for the locked rotors that they contain.

    Whatever turns with a link adds to its inertia, so the tensor less Jm a a' of each rotor (a: its axis) must be positive
    semidefinite; else some motion has negative kinetic energy.
    """
    carriers: dict[int | None, list[Drive]] = {}
    for drive in mechanism.drives:
        carriers.setdefault(drive.carrier, []).append(drive)
    for k, link in enumerate(mechanism.links):
        carried = [drive for drive in carriers.get(k, ()) if drive.motor.inertia > 0]
        held = [drive for drive in carried if not drive.motor.rotor_inertia.any()]  # (else it is no part of the link's own)
        if not held or not link.body.physical:
            continue
        tensor, least = link.body.tensor, -SLACK * np.trace(link.body.tensor)
        for drive in held:
            axis = np.asarray(drive.motor.axis)
            tensor = tensor - drive.motor.inertia * np.outer(axis, axis)
        if np.linalg.eigvalsh(tensor)[0] < least:
            rotors = " and ".join(f"{number(d.motor.inertia)} kg m2 of {d.joint!r}" for d in held)
            said = f"link {link.name!r}: its inertia is too small to contain the rotors that it carries ({rotors})"
            hint = "; give each its mass and rotor_inertia, or the link's inertia with them"
            yield FileProblem(reading.line("link", k, "inertia"), said + hint)


def _nothing_moved(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Joints whose links have mass and yet move no inertia."""
    for k in _undefined(mechanism):
        link = mechanism.links[k]
        if link.body.mass:
            why = "moves no inertia (its mass is on the axis, and a point has none about it)"
            yield FileProblem(reading.line("link", k, "mass"), f"joint {link.coordinate_name!r} {why}: {UNDEFINED}")


def _undefined(mechanism: Mechanism) -> set[int]:
    """The links whose joints move nothing with inertia, in a mechanism that has masses: mostly a tip left without any."""
    return mechanism.memo("report", "undefined", lambda: _without_inertia(mechanism))


def _without_inertia(mechanism: Mechanism) -> set[int]:
    total = total_mass(mechanism)
    if not total or mechanism.loops or not mechanism.nv:
        return set()
    inertias, first = _moved_inertias(mechanism), mechanism.nv - mechanism.n
    speeds = {at.link: [*range(at.v.start, at.v.stop)] for at in mechanism.manifold_joints if at.link >= 0}
    for k, link in enumerate(mechanism.links):
        if link.coordinate_names and link.mimic is None:
            speeds[k] = [first + at for at, _ in enumerate(link.coordinate_names, mechanism.coordinates[k])]
    return {k for k, places in speeds.items() if np.abs(inertias[places]).min() <= ROUNDING * total}


def _moved_inertias(mechanism: Mechanism) -> FloatArray:
    """The inertia (nv,) that each velocity moves, at some configuration: the diagonal of the mass matrix."""
    coupled = coupling(mechanism)
    joints = np.linspace(0.3, 0.9, mechanism.n)
    q = coupled.coordinates(np.append(mechanism.neutral[: mechanism.nq - mechanism.n], joints))
    tree = moving_bodies(coupled.uncoupled)
    diagonal = np.array(reflected_inertias(coupled.uncoupled), dtype=float)
    with np.errstate(all="ignore"):
        inertias = composite_inertias(tree, joint_transforms(tree, np.asarray(q, dtype=float)))
        for body, inertia in zip(tree.bodies, inertias, strict=True):
            for freedom in body.freedoms:
                diagonal[freedom.speed] += float(freedom.screw @ inertia_times(inertia, freedom.screw))
    return np.asarray(np.square(coupled.spread).T @ diagonal)


def _lengths(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Links with lengths that look like millimetres, at the line of the first of them."""
    for k, link in enumerate(mechanism.links):
        lengths = {field: float(np.linalg.norm(getattr(link, field)[:3, 3])) for field in ("before", "after")}
        if link.dh_row is not None:
            lengths = {field: getattr(link.dh_row, field) for field in ("a", "b", "d")}
        ranges = zip(link.joint_model.turns_and_slides, link.coordinate_limits, strict=True)
        slid = [abs(end) for part, pair in ranges if part.is_length for end in pair or () if math.isfinite(end)]
        if slid:
            lengths["limits"] = max(slid)
        long = {field: value for field, value in lengths.items() if abs(value) > LONG}
        if long:
            stated = " and ".join(f"{_LENGTHS.get(field, field)} {number(value)} m" for field, value in long.items())
            line = reading.line("link", k, next(iter(long)))
            yield FileProblem(line, f"link {link.name!r}: {stated}; millimetres?")


_LENGTHS = {
    "a": "a is",
    "b": "b is",
    "d": "d is",
    "before": "before shifts by",
    "after": "after shifts by",
    "limits": "its limits reach",
}


def _limits(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Limits that let nothing move, or that look like degrees."""
    for k, link in enumerate(mechanism.links):
        parts = zip(link.joint_model.turns_and_slides, link.coordinate_names, link.coordinate_limits, strict=True)
        for part, coordinate, limits in parts:
            if limits is None:
                continue
            low, high = limits
            line, name = reading.line("link", k, "limits"), f"joint {coordinate!r}"
            if low == high:
                yield FileProblem(line, f"{name} cannot move: both its limits are {number(low)}")
            widest = max((abs(limit) for limit in limits if math.isfinite(limit)), default=0.0)
            if part.periodic and widest > MOST_TURN:
                said = f"{name}: its limits are {number(low)} to {number(high)} rad, more than two turns"
                yield FileProblem(line, f"{said}; are they in degrees?")


def _followed(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Joints whose own limits stop the joint that they follow before its limits do."""
    leaders = [link for link in mechanism.links if link.mimic is None for _ in link.coordinate_names]
    for k, (link, follower) in enumerate(zip(mechanism.links, mechanism.followers, strict=True)):
        if link.mimic is None or link.limits is None:
            continue
        leader = leaders[follower.coordinate]
        far = leader.limits or (-math.inf, math.inf)
        reach = [follower.ratio * limit if follower.ratio else 0.0 for limit in far]
        low, high = sorted(distance + follower.shift for distance in reach)
        if low < link.limits[0] - SLACK or high > link.limits[1] + SLACK:
            follows = f"joint {link.coordinate_name!r} follows {leader.coordinate_name!r}"
            said = f"{follows}, which could take it to {number(low)} to {number(high)}"
            hint = f"its own limits are {number(link.limits[0])} to {number(link.limits[1])}, and stop both earlier"
            yield FileProblem(reading.line("link", k, "limits"), f"{said}; {hint}")


def impossible(mechanism: Mechanism) -> list[str]:
    """What is wrong with each inertia that no body can have, by how much, and what would be possible.

    Examples
    --------
    >>> from linkwise import Link
    >>> print(*impossible(Mechanism([Link(name="arm", mass=1.0, inertia=(1, 1, 5), physical=False)])))
    link 'arm': its largest principal moment, 5 kg m2, exceeds the sum of the other two, 2, by 3; a body has at most that sum
    """
    messages = []
    for link in mechanism.links:
        name, body = f"link {link.name!r}", link.body
        least, middle, most = np.linalg.eigvalsh(body.tensor).tolist()
        slack = SLACK * max(abs(least), abs(most), SMALLEST)
        if body.mass < 0:
            messages.append(f"{name}: its mass, {number(body.mass)} kg, is negative")
        if least < -slack:
            negative = f"its least principal moment, {number(least)} kg m2, is negative"
            messages.append(f"{name}: {negative}; a body has none below 0")
        elif most > least + middle + slack:
            by = f"the sum of the other two, {number(least + middle)}, by {number(most - least - middle)}"
            largest = f"its largest principal moment, {number(most)} kg m2"
            messages.append(f"{name}: {largest}, exceeds {by}; a body has at most that sum")
    return messages


_TOOL = re.compile(r"tool(_\d+)?")

#: How robots' files call the frame of the tool: ``tool0``, ``tcp``, ``hand_tcp``, ``ee_link`` and so on.
_CENTRE = re.compile(r".*tool0|(.*_)?(tool|tcp|ee|end_effector)(_link|_frame)?", re.IGNORECASE)


def with_tool_at_a_tip(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with its tool on a tip: one that is called so, else that which most joints move, else the last.

    Formats such as URDF know no tool, and the last link of a file may stand still, or be a finger of a gripper. A fixed link
    ``tool`` (or ``tool_2`` and so on, where that is taken) is how a tool is written there. Without one a fixed link that has
    no mass, that joints move and whose name is that of a tool's frame in many files is taken: ``tool0``, ``tcp``,
    ``hand_tcp``, ``ee_link``.

    Examples
    --------
    >>> from linkwise import Link
    >>> links = [Link(name="arm"), Link(name="hand"), Link(name="camera", joint="fixed", parent="base")]
    >>> with_tool_at_a_tip(Mechanism(links)).tool_link
    'hand'
    >>> links = [Link(name="arm"), Link(name="tcp", joint="fixed"), Link(name="jaw", joint="prismatic", parent="arm")]
    >>> with_tool_at_a_tip(Mechanism(links)).tool_link
    'tcp'
    """
    leads = [link.moves and link.mimic is None for link in mechanism.links]
    moved = {tip: sum(leads[k] for k in mechanism.path(tip)) for tip in _tips(mechanism)}

    def rank(tip: int) -> tuple[int, bool, int, int]:
        link = mechanism.links[tip]
        # a mere frame with the name of a tool's
        is_centre = not link.moves and link.body.is_zero and _CENTRE.fullmatch(str(link.name)) is not None
        return _is_tool(link), bool(moved[tip]) and is_centre, moved[tip], tip

    return mechanism.replace(tool_link=mechanism.link_names[max(moved, key=rank)])


def needs_tool_frame(mechanism: Mechanism) -> bool:
    """Whether the tool is lost in a file that knows none: it is off its tip, on another one, or carries something."""
    is_at_tip = with_tool_at_a_tip(mechanism).tool_index == mechanism.tool_index
    return not (is_at_tip and np.array_equal(mechanism.tool, np.eye(4)) and mechanism.payload.is_zero)


def with_collision_shapes(reading: Reading, path: str = "") -> Reading:
    """The same reading whose mechanism has the shapes for collisions; meshes are looked up from the path, if any."""
    description = reading.description
    shapes = [] if description is None else [shape for shape in description.shapes if shape.role == "collision"]
    known = ["base", *(description.mechanism.link_names if description else ())]
    if description is None or not shapes or any(shape.link not in known for shape in shapes):
        return reading
    if path:
        shapes = [
            shape.unchecked(vertices=MeshVertices(str(shape.filename), path)) if shape.kind == "mesh" else shape
            for shape in shapes
        ]
    return replace(reading, description=replace(description, mechanism=description.mechanism.with_shapes(shapes)))


def all_shapes(mechanism: Mechanism, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """The shapes that are given, and those of the mechanism that are not among them."""
    result = [*shapes]
    known = {shape.unchecked(vertices=None) for shape in result}
    return (*result, *(shape for shape in mechanism.shapes if shape.unchecked(vertices=None) not in known))


def check_shape_links(mechanism: Mechanism, shapes: Iterable[Shape]) -> None:
    """Raise `ArgumentError` for a shape on a link that is not there."""
    known = ["base", *mechanism.link_names]
    for shape in shapes:
        if shape.link not in known:
            raise ArgumentError(f"a shape is on link {shape.link!r}; expected {choices(known)}")


def can_exist(body: Inertia) -> bool:
    """Whether a body with this mass and inertia can exist."""
    return attempt("", lambda: Inertia(body.mass, body.com, body.tensor))[0] is not None


def tool_among_tips(mechanism: Mechanism) -> str:
    """Where the tool is, for people; nothing where there is one tip only, and the tool is on it.

    Examples
    --------
    >>> from linkwise import Link
    >>> links = [Link(name="arm"), Link(name="finger", joint="prismatic"), Link(name="nail", joint="fixed", parent="arm")]
    >>> tool_among_tips(Mechanism(links, tool_link="finger"))
    'tool on finger, which moves with its own joint; other tip: nail'
    """
    at = mechanism.tool_index
    others = [mechanism.link_names[tip] for tip in _tips(mechanism) if tip != at]
    if not others:
        return ""
    link = mechanism.links[at]
    joint = link.joint_name if link.joint_name and link.joint_name != link.name else "its own joint"
    with_it = f", which moves with {joint}" if link.moves else ""
    return f"tool on {link.name}{with_it}; other tip{'s' if len(others) > 1 else ''}: {', '.join(others)}"


def _tips(mechanism: Mechanism) -> list[int]:
    """The links that no other link hangs on."""
    return sorted(set(range(len(mechanism.links))) - set(mechanism.parents))


def _is_tool(link: Link) -> int:
    """How much a link looks like a tool that was written: of several, the one with the greatest number."""
    named = _TOOL.fullmatch(str(link.name))
    if named is None or link.moves:
        return 0
    return int((named[1] or "_1")[1:])
