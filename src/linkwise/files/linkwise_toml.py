"""Reading Linkwise's own .toml form; docs/file-formats.md describes it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkwise.errors import FileProblem, Problem, choices, members, shown
from linkwise.files.attempt import attempt
from linkwise.files.description import Description, Place, Reading, line_of
from linkwise.files.toml_lines import STRING, toml_lines
from linkwise.files.toml_schema import DH_KEYS, FORMAT, GENERAL_KEYS, LINK, LOOP, MOTOR, TOP, Schema
from linkwise.mechanism import Mechanism
from linkwise.model.checks import TURN, frozen
from linkwise.model.dh_table import LETTERS
from linkwise.model.inertia import Inertia
from linkwise.model.link import CONVENTIONS, Link
from linkwise.model.loop import Loop
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform

CHAIN = "linkwise chain"
"""How the format of a file begins that describes a chain, which another reader takes."""

DEEPEST = 16
"""How many tables and arrays may stand in each other; a file that says something has fewer than ten."""

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")

_KEY_PART = r"""(?>[A-Za-z0-9_-]++|"(?>[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = rf"(?P<deep>{_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{DEEPEST}}})"
_MAYBE_DEEP = re.compile(rf"(?m)(?:^|[\[{{,])[ \t]*+{_DEEP_KEY}")
_LEXEME = re.compile(rf"{_DEEP_KEY}|{STRING.pattern}|#[^\n]*+|[A-Za-z0-9_-]++|[^\"'#A-Za-z0-9_-]++|.", re.DOTALL)
"""What a text consists of: dotted keys of too many parts (the parser's time grows with the square of their number), strings,
comments, words and what stands between them."""


def parse(text: str, name: str = "", physical: bool = True) -> Reading:
    r"""Read the text of a Linkwise .toml file.

    Parameters
    ----------
    text : str
        The text, line ends as ``\n``.
    name : str
        Name of the mechanism where the text gives none.
    physical : bool
        Whether each inertia that is not marked ``physical = false`` must be that of a body that can exist.
    """
    document, lines, problems = parsed(text)
    return Reading(None, problems, {}) if problems else described(document, lines, name, physical)


def parsed(text: str) -> tuple[dict[str, Any], dict[Place, int], list[FileProblem]]:
    """The document that a TOML text is, the lines of its parts, and what is wrong where it is none."""
    deep = next((lexeme for lexeme in _LEXEME.finditer(text) if lexeme["deep"]), None) if _MAYBE_DEEP.search(text) else None
    if deep is not None:
        line = 1 + text.count("\n", 0, deep.start())
        return {}, {}, [FileProblem(line, f"a key of more than {DEEPEST} parts: tables nested too deeply")]
    try:
        document = tomllib.loads(text)
        if not _is_deep(document):
            return document, toml_lines(text), []
    except RecursionError:  # some Pythons give up here already
        pass
    except ValueError as error:
        return {}, {}, [_syntax_problem(text, str(error))]
    return {}, {}, [FileProblem(0, "tables nested too deeply")]


def _is_deep(document: dict[str, Any]) -> bool:
    """Whether more than `DEEPEST` tables and arrays stand in each other."""
    level: list[Any] = [document]
    for _ in range(DEEPEST):
        values = (value for node in level for value in (node.values() if isinstance(node, dict) else node))
        level = [value for value in values if isinstance(value, dict | list)]
        if not level:
            return False
    return True


def described(document: dict[str, Any], lines: dict[Place, int], name: str = "", physical: bool = True) -> Reading:
    """What a document in the form of a Linkwise .toml says; `name` and `physical` as for `parse`."""
    said_format = document.get("format")
    if isinstance(said_format, str) and said_format.startswith(CHAIN):
        said = "this file describes a chain: linkwise check and linkwise serve take it, linkwise.control.load reads it"
        return Reading(None, [FileProblem(lines.get(("format",), 0), said)], lines)
    try:
        return _Reader(lines, name, physical).description(document)
    except RecursionError:
        return Reading(None, [FileProblem(0, "tables nested too deeply")], lines)


def _syntax_problem(text: str, message: str) -> FileProblem:
    """The parser's message, with its line taken out."""
    place = _PLACE.search(message)
    if not place:
        return FileProblem(0, f"not valid TOML: {message}")
    said = message[: place.start()]
    if place.group(1) is None:
        return FileProblem(text.rstrip("\n").count("\n") + 1, f"not valid TOML: {said} (at the end of the file)")
    return FileProblem(int(place.group(1)), f"not valid TOML: {said} (column {place.group(2)})")


class _Reader:
    """Builds a description from a parsed document, gathering the problems of all parts."""

    def __init__(self, lines: dict[Place, int], name: str, physical: bool) -> None:
        self.lines = lines
        self.schema = Schema(lines)
        self.name = name
        self.physical = physical
        self.convention: str | None = None
        self.degrees = False

    def description(self, document: dict[str, Any]) -> Reading:
        top = self.schema.table("the file", (), document, TOP)
        self._settings(document, top)
        links = [self._link(k, table) for k, table in enumerate(top.get("link", ()))]
        if "link" not in document:
            self.schema.report((), "there is no link; expected one [[link]] table or more")
        self._names(links)
        motors = self._motors(top.get("motor", ()))
        loops = self._loops(top.get("loop", ()))
        external = top.get("external", {})
        wrench = np.array([external.get(key, [0.0] * 3) for key in ("force", "moment")]).reshape(6)
        mechanism = self._mechanism(top, links, motors, loops) if links else None
        problems = sorted(self.schema.problems, key=lambda problem: problem.line)
        if problems or mechanism is None:
            return Reading(None, problems, self.lines)
        return Reading(Description(mechanism, frozen(wrench), top.get("source", ())), [], self.lines)

    def _settings(self, document: dict[str, Any], top: dict[str, Any]) -> None:
        """What the whole file agrees on."""
        if "format" not in document:
            self.schema.report((), f"there is no format; expected format = {FORMAT!r}")
        elif top.get("format", FORMAT) != FORMAT:
            self.schema.report(("format",), f"format is {shown(top['format'])}; this version reads {FORMAT!r}")
        self.convention = self._word(("convention",), "convention", top.get("convention"), CONVENTIONS)
        self.degrees = self._word(("angles",), "angles", top.get("angles"), ("rad", "deg")) == "deg"

    def _word(self, place: Place, item: str, value: str | None, allowed: Sequence[str]) -> str | None:
        if value is None or value in allowed:
            return value
        self.schema.report(place, f"{item} is {shown(value)}; expected {choices(allowed)}")
        return None

    # ── one link ──────────────────────────────────────────────────────────────────────────────────

    def _link(self, k: int, table: Any) -> Link:
        """The link of a table; a bare one of the same name where something is wrong."""
        place: Place = ("link", k)
        said = table.get("name") if isinstance(table, dict) else None
        item = f"link {said!r}" if isinstance(said, str) and said else f"link {k + 1}"
        values = self.schema.table(item, place, table, LINK)
        name = values.get("name", f"link{k + 1}")
        general = [key for key in GENERAL_KEYS if key in values]
        dh = [key for key in DH_KEYS if key in values]
        convention = values.pop("convention", None)
        convention = self._word((*place, "convention"), f"{item}: convention", convention, CONVENTIONS) or self.convention
        if general and dh:
            message = (
                f"{item} has {choices(dh[:1])} of a Denavit-Hartenberg row and {choices(general[:1])} of the general form"
            )
            self.schema.report((*place, general[0]), message + "; expected one of the two")
            return _bare(name, values)
        if dh and convention is None:
            message = f"{item} has a Denavit-Hartenberg row, but no convention is given"
            self.schema.report(
                (*place, dh[0]), f"{message}; expected convention = {choices(CONVENTIONS)} before the first table"
            )
            return _bare(name, values)
        if "joint" in values:
            values["joint"] = LETTERS.get(values["joint"], values["joint"])
        values = self._in_si(item, place, values)
        if "mimic" in values:
            values["mimic"] = self._mimic(item, place, table["mimic"], values["mimic"])
        if "motor" in values:
            values["motor"] = self._motor(item, place, table["motor"], values["motor"])
        values["physical"] = values.get("physical", True) and self.physical
        values["name"] = name
        if dh:
            values["convention"] = convention
        made, wrong = attempt(item, lambda: Link.dh(**values) if dh else Link(**values))
        self._tell(place, wrong)
        return made or _bare(name, values)

    def _in_si(self, item: str, place: Place, values: dict[str, Any]) -> dict[str, Any]:
        """The same values with frames as matrices and angles in rad."""
        made = {**values, **self._mended(item, place, values)}
        for key in ("before", "after"):
            if key in values:
                made[key] = self._frame(f"{item}: {key}", (*place, key), values[key])
        if self.degrees:
            turning = values.get("joint", "revolute") != "prismatic"
            for key in ("theta", "alpha", *(("offset",) if turning else ())):
                if key in values:
                    made[key] = math.radians(made[key])
            if turning and "limits" in values:
                made["limits"] = [math.radians(value) for value in values["limits"]]
            if turning and "speed_limit" in values:
                made["speed_limit"] = math.radians(values["speed_limit"])
            if turning and "offset" in values.get("mimic", {}):
                made["mimic"] = {**values["mimic"], "offset": math.radians(values["mimic"]["offset"])}
        return made

    def _mended(self, item: str, place: Place, values: dict[str, Any]) -> dict[str, float]:
        """Zeros for constant angles of more than a turn, which are reported."""
        most, unit = (math.degrees(TURN), "degrees") if self.degrees else (TURN, "rad")
        hint = "" if self.degrees else '; if these are degrees, write angles = "deg" before the first table'
        turning = values.get("joint", "revolute") == "revolute"
        far = [key for key in ("theta", "alpha", *(("offset",) if turning else ())) if abs(values.get(key, 0.0)) > most]
        for key in far:
            self.schema.report((*place, key), f"{item}: {key} is {values[key]:g} {unit}, more than a turn{hint}")
        return dict.fromkeys(far, 0.0)

    def _motor(self, item: str, place: Place, table: Any, values: dict[str, Any]) -> Motor | None:
        """The motor of a link."""
        if _half_told(table, values):
            return None
        made, wrong = attempt(item, lambda: Motor(**values))
        self._tell((*place, "motor"), wrong, f"{item}: ")
        return made

    def _mimic(self, item: str, place: Place, table: Any, values: dict[str, Any]) -> Mimic | None:
        """What the joint of a link follows."""
        if not isinstance(table, dict):
            return None
        if "joint" not in table:
            self.schema.report(
                (*place, "mimic"), f"{item}: mimic has no joint; expected joint = the name of the one followed"
            )
        if "joint" not in values:
            return None
        made, wrong = attempt(item, lambda: Mimic(**values))
        self._tell((*place, "mimic"), wrong, f"{item}: ")
        return made

    def _loops(self, tables: Sequence[Any]) -> dict[int, Loop]:
        """The closed loops, by their place; those that are wrong are left out."""
        found = {}
        for k, table in enumerate(tables):
            place, item = ("loop", k), f"loop {k + 1}"
            values = self.schema.table(item, place, table, LOOP)
            lacking = [key for key in ("kind", "first", "second") if isinstance(table, dict) and key not in table]
            if lacking:
                self.schema.report(place, f"{item} has no {choices(lacking)}; expected kind, first and second")
            if not {"kind", "first", "second"} <= values.keys():
                continue
            for key in ("first_frame", "second_frame"):
                if key in values:
                    values[key] = self._frame(f"{item}: {key}", (*place, key), values[key])
            made, wrong = attempt(item, partial(Loop, **values))
            self._tell(place, [replace(problem, item=item) for problem in wrong])
            if made is not None:
                found[k] = made
        return found

    def _motors(self, tables: Sequence[Any]) -> dict[int, Motor]:
        """The motors that have a table of their own, by its place; those that are wrong are left out."""
        found = {}
        for k, table in enumerate(tables):
            place, item = ("motor", k), f"motor {k + 1}"
            values = self.schema.table(item, place, table, MOTOR)
            if isinstance(table, dict) and "joint" not in table:
                self.schema.report(place, f"{item} has no joint; expected joint = the name of the link that it moves")
                continue
            if _half_told(table, values):
                continue
            made, wrong = attempt(item, partial(Motor, **values))
            self._tell(place, [replace(problem, item=item) for problem in wrong])
            if made is not None and made.joint is not None:
                found[k] = made
        return found

    def _frame(self, item: str, place: Place, values: dict[str, Any]) -> Array | None:
        """A transform (4, 4) from xyz and rpy, or from its matrix."""
        if "matrix" in values:
            others = [key for key in values if key != "matrix"]
            if others:
                self.schema.report(
                    (*place, others[0]), f"{item} has {members(values)}; expected matrix alone, or xyz and rpy"
                )
            return np.array(values["matrix"])
        roll, pitch, yaw = (math.radians(a) if self.degrees else a for a in values.get("rpy", (0.0, 0.0, 0.0)))
        rotation = rpy_to_rotation(roll, pitch, yaw) if "rpy" in values else None
        return transform(rotation, values.get("xyz"))

    # ── the whole ─────────────────────────────────────────────────────────────────────────────────

    def _names(self, links: Sequence[Link]) -> None:
        first: dict[str | None, int] = {}
        for k, link in enumerate(links):
            if link.name in first:
                place = line_of(self.lines, ("link", first[link.name], "name"))
                self.schema.report(("link", k, "name"), f"link {link.name!r} stands twice, first in line {place}")
            first.setdefault(link.name, k)

    def _mechanism(
        self, top: dict[str, Any], links: Sequence[Link], motors: dict[int, Motor], loops: dict[int, Loop]
    ) -> Mechanism | None:
        rest: dict[str, Any] = {key: top[key] for key in ("gravity", "floating", "tool_link") if key in top}
        rest |= {key: self._frame(key, (key,), top[key]) for key in ("base", "tool") if key in top}
        payload = None
        if "payload" in top:
            body = {**top["payload"], "physical": top["payload"].get("physical", True) and self.physical}
            payload, wrong = attempt("payload", lambda: Inertia(**body, item="payload"))
            self._tell(("payload",), wrong)
        rest |= {"payload": payload, "name": top.get("name", self.name) or None}
        made, wrong = attempt(
            "mechanism", lambda: Mechanism(links, motors=list(motors.values()), loops=list(loops.values()), **rest)
        )
        places: dict[str, Place] = {}
        for k, link in enumerate(links):
            places |= {f"link {link.name!r}": ("link", k), f"link {link.name!r}: motor": ("link", k, "motor")}
            places |= {f"joint {link.coordinate_name!r}": ("link", k)} if link.moves else {}
        places |= {f"motors[{at}]": ("motor", k) for at, k in enumerate(motors)}
        for at, (k, loop) in enumerate(loops.items()):
            places[f"loop {loop.name!r}" if loop.name else f"loops[{at}]"] = ("loop", k)
        for problem in wrong:
            self._tell_whole(problem, places, [link.name for link in links])
        return made

    def _tell_whole(self, problem: Problem, places: dict[str, Place], names: Sequence[str | None]) -> None:
        """A problem of the mechanism, at the line of what it concerns."""
        if problem.item in places:
            place = places[problem.item]
            item = f"{place[0]} {place[1] + 1}" if place[0] in {"motor", "loop"} else problem.item  # type: ignore[operator]
            self._tell(place, [replace(problem, item=item)])
        elif problem.field != "links":
            self._tell((), [problem])
        elif isinstance(problem.value, list):  # a cycle; names that repeat have been told with their lines
            self.schema.report(("link", names.index(problem.value[0]), "parent"), str(problem))

    def _tell(self, place: Place, problems: Sequence[Problem], before: str = "") -> None:
        for problem in problems:
            message = str(problem).replace("physical=False accepts", "physical = false accepts")
            message = message.replace("Mechanism(motors=...)", "a [[motor]] table")
            self.schema.report((*place, *problem.field.split(".")), before + message)


def _half_told(table: Any, values: dict[str, Any]) -> bool:
    """Whether a motor's carrier or axis has been reported, so that the other would now be at fault for it."""
    return not isinstance(table, dict) or any(key in table and key not in values for key in ("carrier", "axis"))


def _bare(name: str, values: dict[str, Any]) -> Link:
    """A link that only keeps the place of one that could not be built, so that the tree can still be checked."""
    parent = values.get("parent")
    made, _ = attempt("link", lambda: Link(name=name, parent=parent if parent and parent.strip() else None))
    return made or Link(name="?")
