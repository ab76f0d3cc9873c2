"""Results of readers: the description, problems, remarks and warnings, each with its line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from typing import Any, Self, TypeVar

import numpy as np

from linkwise.errors import ArgumentError, FileProblem, ModelError, Problem, choices, nearest, shown
from linkwise.files.mesh_file import MeshVertices
from linkwise.files.text import number, why_not
from linkwise.files.toml_text import Place, line_of
from linkwise.files.xml_tree import INFINITE, Element, leftovers
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.shape import ROLES, Shape
from linkwise.model.validation import frozen
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class Description:
    """Contents of a description file.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    external : ndarray (6,)
        Force (N) and moment (N m) that act on the tool from outside, in tool axes; zero where the file says nothing.
    source : tuple of str
        Sources of the numbers, a line each.
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
    """Result of a reader.

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
    """Gathers problems, remarks, and the kinds of elements that are not used, each at an element or a line.

    Parameters
    ----------
    drops : bool
        Whether what has no counterpart here, or is not there, is left out with a remark.

    Examples
    --------
    >>> report = Report()
    >>> report.leave(3, "<light>", "it is for pictures")
    >>> report.leave(8, "<light>")
    >>> [str(remark) for remark in report.all_remarks]
    ['line 3: <light> is not used (2 of them, the first here): it is for pictures']
    """

    def __init__(self, drops: bool = False) -> None:
        self.drops = drops
        self.problems: list[FileProblem] = []
        self.remarks: list[FileProblem] = []
        self.lacking: list[FileProblem] = []
        self._unused: dict[str, tuple[int, int, str]] = {}
        self._reported: set[FileProblem] = set()

    def report(self, at: Element | int, message: str) -> None:
        """Record a problem, once: the file cannot be read."""
        problem = _problem(at, message)
        if problem not in self._reported:
            self._reported.add(problem)
            self.problems.append(problem)

    def remark(self, at: Element | int, message: str) -> None:
        """Note something odd."""
        self.remarks.append(_problem(at, message))

    def lack(self, at: Element | int, message: str) -> None:
        """Record a feature of the file that the mechanism lacks: loading it warns of the remark."""
        self.remark(at, message)
        self.lacking.append(self.remarks[-1])

    def ground_alone(self, at: Element | int, why: str) -> list[Link]:
        """Return the links of a file without any: one massless link, fixed to the base."""
        self.lack(at, f"{why}: the mechanism is the ground alone, as a fixed link 'ground' without mass")
        return [Link(joint="fixed", name="ground")]

    def drop(self, at: Element | int, message: str, instead: str = "it is left out") -> None:
        """Record an unsupported or missing feature: a problem, or a remark where such features are dropped."""
        if self.drops:
            self.remark(at, f"{message}; {instead}")
        else:
            self.report(at, f"{message}; with drop_unknown=True {instead}")

    def tell(self, at: Element | int, problem: Problem) -> None:
        """Note a problem of the model."""
        self.report(at, str(problem).replace(IDENTIFIED, "reading with physical=False accepts it"))

    def build(
        self, item: str, make: Callable[[], Result], at: Element | Callable[[Problem], Element | int]
    ) -> Result | None:
        """Return the part of a model that `make` returns, or None; problems are noted at an element, or where `at` says."""
        part, problems = attempt(item, make)
        for problem in problems:
            self.tell(at(problem) if callable(at) else at, problem)
        return part

    def body(
        self, item: str, values: dict[str, Any], physical: bool, at: Element | Callable[[Problem], Element | int]
    ) -> dict[str, Any]:
        """Mass, com and inertia for a `Link`, marked where no body can have them and these are accepted; or a report."""
        physical = physical or attempt(item, lambda: Inertia(**values, item=item))[0] is not None
        body = self.build(item, lambda: Inertia(**values, physical=physical, item=item), at)
        return {} if body is None else {**values, "physical": physical}

    def name_of_base(self, element: Element, noun: str, taken: set[str]) -> str:
        """Rename a link of a file that is called ``base``, which means the ground here."""
        name = unused_name("base_frame" if "base_link" in taken else "base_link", taken)
        self.remark(element, f"{noun} 'base' is called {name!r}, for 'base' means the ground")
        return name

    def leave(self, at: Element | int, kind: str, why: str = "") -> None:
        """Record one unused item; the reason of the first of its kind is kept."""
        line = at if isinstance(at, int) else at.line
        first, places, reason = self._unused.get(kind, (line, 0, why))
        self._unused[kind] = (first, places + 1, reason)

    def finite(self, at: Element, subject: str, text: str, count: int) -> tuple[float, ...] | None:
        """Parse `count` finite numbers between blanks; None after a report about the subject."""
        words = text.split()
        values = [value for word in words if (value := number(word)) is not None]
        for word in (word for word in words if number(word) is None):
            self.report(at, f"{subject}: {why_not(word)}")
        if len(words) != count and len(values) == len(words):
            self.report(at, f"{subject} is {shown(text.strip())}; expected {count} number{'s' if count > 1 else ''}")
        return tuple(values) if len(words) == len(values) == count else None

    def bound(self, at: Element, subject: str, text: str, greatest: float) -> float | None:
        """Parse a number; the words for infinity, and magnitudes from `greatest` on, are infinite. None after a report."""
        infinite = INFINITE.get(text.strip().lower())
        values = (infinite,) if infinite is not None else self.finite(at, subject, text, 1)
        return None if values is None else (math.copysign(math.inf, values[0]) if abs(values[0]) >= greatest else values[0])

    def limits(self, at: Element, item: str, low: float, high: float, swap: bool) -> tuple[float, float]:
        """Limits in their order, without any after a report."""
        ends = f"lower is {low!r}, upper is {high!r}"
        if low > high and not swap:
            self.report(at, f"{item}: its limits are reversed: {ends}; swap_limits=True exchanges them")
            return -math.inf, math.inf
        if low > high:
            self.remark(at, f"{item}: its limits were exchanged: {ends}")
        return min(low, high), max(low, high)

    def shapes(self, element: Element, read: Callable[[Self, Element, str], Shape | None]) -> list[Shape]:
        """The shapes of the element of a link; one that cannot be read gets a remark, since the mechanics do not need it."""
        shapes = []
        for part in (part for role in ROLES for part in element.all(role)):
            report = type(self)()
            report.drops = self.drops
            shape = read(report, part, part.tag)
            self.remarks += report.remarks
            for problem in report.problems:
                self.remark(problem.line, f"{problem.message}; this {part.tag} is left out")
            shapes += [] if shape is None else [shape]
        return shapes

    def leave_unused(self, root: Element, reasons: Mapping[str, str]) -> None:
        """Record all unused items, with the reasons by tags."""
        for kind, element in leftovers(root):
            self.leave(element, kind, reasons.get(element.tag, ""))

    @property
    def sorted_problems(self) -> list[FileProblem]:
        """Return all problems by line."""
        return sorted(self.problems, key=lambda problem: problem.line)

    @property
    def all_remarks(self) -> list[FileProblem]:
        """Return all remarks by line, with one for each kind of unused item."""
        remarks = list(self.remarks)
        for kind, (line, places, why) in self._unused.items():
            many = f" ({places} of them, the first here)" if places > 1 else ""
            remarks.append(FileProblem(line, f"{kind} is not used{many}{': ' + why if why else ''}"))
        return sorted(remarks, key=lambda remark: remark.line)

    def suggestion(self, name: str, names: Iterable[str], form: str = " (did you mean {!r}?)", alike: str = "") -> str:
        """A hint at the name that may be meant; nothing where none is near, or after `MOST_GUESSES` problems."""
        near = nearest(name, names, alike=alike) if len(self.problems) < MOST_GUESSES else []
        return form.format(near[0]) if near else ""


def _problem(at: Element | int, message: str) -> FileProblem:
    return FileProblem(at, message) if isinstance(at, int) else at.problem(message)


def listed(names: Iterable[object]) -> str:
    """The names with commas between them."""
    return ", ".join(map(repr, names))


def some(names: Collection[object], most: int, text: Callable[[Iterable[object]], str] = choices) -> str:
    """Join names for a message; beyond `most`, only their number is stated.

    Examples
    --------
    >>> some(["a", "b"], 10), some("abcd", 2)
    ("'a' or 'b'", "'a', 'b' and 2 more")
    """
    left = len(names) - most
    return f"{listed(islice(names, most))} and {left} more" if left > 0 else text(names)


def attempt(item: str, make: Callable[[], Result]) -> tuple[Result | None, Sequence[Problem]]:
    """The part of a model that `make` returns, or None and all that is wrong; `item` names it where numbers overflow."""
    try:
        with np.errstate(all="ignore"):
            return make(), ()
    except ModelError as error:
        return None, error.problems
    except (np.linalg.LinAlgError, OverflowError):
        return None, [Problem(item, "inertia", "beyond the range of floating-point arithmetic", "smaller numbers")]


def body_fields(mass: float, frame: FloatArray, moments: Sequence[float]) -> dict[str, Any]:
    """Mass, com and inertia for a `Link`.

    Parameters
    ----------
    mass : float
        kg.
    frame : ndarray (4, 4)
        T_link_inertial, at the centre of mass.
    moments : sequence of 6 float
        Ixx, Iyy, Izz, Ixy, Iyz, Ixz about the centre of mass, in the axes of that frame, kg m2.
    """
    xx, yy, zz, xy, yz, xz = moments
    tensor, rotation = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), frame[:3, :3]
    if not np.array_equal(rotation, np.eye(3)):
        with np.errstate(all="ignore"):
            tensor = rotation @ tensor @ rotation.T
            tensor = 0.5 * (tensor + tensor.T)
    return {"mass": mass, "com": frame[:3, 3], "inertia": tensor.tolist()}


def unused_name(name: str, taken: set[str]) -> str:
    """Return the name, or the first of ``name_2``, ``name_3``, ... that is free; it is then reserved.

    Examples
    --------
    >>> unused_name("tool", {"tool"}), unused_name("tool", {"arm"})
    ('tool_2', 'tool')
    """
    unused = next(label for label in chain([name], (f"{name}_{k}" for k in count(2))) if label not in taken)
    taken.add(unused)
    return unused


_TOOL = re.compile(r"tool(_\d+)?")

#: Usual names of the tool frame in robot files: ``tool0``, ``tcp``, ``hand_tcp``, ``ee_link`` and so on.
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
    """True if a format without tools loses this one: it is off its tip, on another link, or carries something."""
    is_at_tip = with_tool_at_a_tip(mechanism).tool_index == mechanism.tool_index
    return not (is_at_tip and np.array_equal(mechanism.tool, np.eye(4)) and mechanism.payload.is_zero)


def with_collision_shapes(reading: Reading, path: str = "") -> Reading:
    """Add the collision shapes to the mechanism of a reading; meshes are resolved relative to the path, if any."""
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
    """Return the given shapes, and the mechanism's shapes that are not among them."""
    result = [*shapes]
    known = {shape.unchecked(vertices=None) for shape in result}
    return (*result, *(shape for shape in mechanism.shapes if shape.unchecked(vertices=None) not in known))


def check_shape_links(mechanism: Mechanism, shapes: Iterable[Shape]) -> None:
    """Raise `ArgumentError` for a shape on an unknown link."""
    known = ["base", *mechanism.link_names]
    for shape in shapes:
        if shape.link not in known:
            raise ArgumentError(f"a shape is on link {shape.link!r}; expected {choices(known)}")


def can_exist(body: Inertia) -> bool:
    """True if mass and inertia are physically possible."""
    return attempt("", lambda: Inertia(body.mass, body.com, body.tensor))[0] is not None


def tool_among_tips(mechanism: Mechanism) -> str:
    """Describe the tool's link; empty if the only tip carries the tool.

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
    """Rank a link as candidate for the tool: the highest rank wins."""
    named = _TOOL.fullmatch(str(link.name))
    if named is None or link.moves:
        return 0
    return int((named[1] or "_1")[1:])
