"""The .toml file of a chain: `read`, `check` and `write`; docs/file-formats.md describes the format."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from linkwise import robots
from linkwise.control.constraints import REPLACEMENTS, ChainConstraint, constraint_of
from linkwise.control.cycle.joint_ports import joint_variables, single_joints
from linkwise.control.cycle.layout import ends_of
from linkwise.control.description import ChainDescription, Placed, near
from linkwise.control.keep_clear import KeepClear
from linkwise.control.links import (
    AXES,
    GREATEST,
    KINDS,
    DHLink,
    RevoluteLink,
    links_of,
    mechanism_of,
    port_values,
    stand_in,
    with_starting_dof,
)
from linkwise.control.schema import CLEAR, CONSTRAINT, FORMAT, LINK, OBSTACLE, REGULATOR, SPEED_LIMIT, START, TOP
from linkwise.errors import ArgumentError, FileError, FileProblem, LinkwiseError, ModelError, Problem, choices, shown
from linkwise.files import read as read_mechanism
from linkwise.files.atomic import write_text
from linkwise.files.formats.linkwise_toml import FORMAT as MECHANISM_FORMAT
from linkwise.files.formats.linkwise_toml import described
from linkwise.files.formats.linkwise_toml import render as render_mechanism
from linkwise.files.packages import path_inside
from linkwise.files.report import Description, attempt, with_collision_shapes
from linkwise.files.schema import FLAG, WHOLE, Schema, TableReader, lines, named, table
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.files.toml_text import TOO_DEEP, Place, parsed, real, row, text
from linkwise.mechanism import Mechanism
from linkwise.solve.constraints import Clear

XACRO = ".xacro"


class ChainReader(TableReader):
    """Builds the description of a chain from a parsed document."""

    def __init__(self, lines: Mapping[Place, int], path: Path, xacro: Mapping[str, str] | None = None) -> None:
        super().__init__(lines)
        self.path, self.xacro = path, xacro
        self.places: dict[str, Place] = {}
        self.values: dict[str, Any] = {}
        self.broken: set[str] = set()
        self.replaced: dict[int, set[str]] = {}
        self.reference: str | Path | None = None

    def description(self, document: dict[str, Any]) -> ChainDescription:
        """The description of the document.

        Raises
        ------
        FileError
            With every problem of the document, sorted by line.
        """
        if document.get("format") == MECHANISM_FORMAT:
            message = (
                f"format is {MECHANISM_FORMAT!r}, that of a mechanism; expected {FORMAT!r} (a chain says mechanism = 'FILE')"
            )
            raise FileError(self.path, [FileProblem(self.lines.get(("format",), 0), message)])
        self.degrees = document.get("angles") == "deg"
        top = self.table("", (), document, TOP)
        self.check_format(document, FORMAT)
        settings = self._settings(top)
        mechanism, begin = self._mechanism(document, top, settings["name"])
        if mechanism is not None:
            mechanism = with_starting_dof(mechanism, top.get("starting_dof", "z"))
            settings["q0"] = self._begin(document, top, mechanism) if begin is None else begin
        rows = self._constraints(top.get("constraint", ()), mechanism)
        clear = self._clear(document, top)
        self._tables(top, mechanism)
        routes, places = self._routes(top.get("routes", {}))
        if mechanism is None:  # (the settings are checked with any mechanism)
            mechanism = robots.planar_2r()
        else:
            settings |= {"constraints": list(rows.values()), "clear": clear, "values": self.values, "routes": routes}
        description, problems = attempt(
            "chain", lambda: ChainDescription(mechanism=mechanism, reference=self.reference, **settings)
        )
        for problem in problems:
            self._report_whole(problem, list(rows), places)
        if self.problems or description is None:
            raise FileError(self.path, sorted(self.problems, key=lambda problem: problem.line))
        return description

    def _settings(self, top: dict[str, Any]) -> dict[str, Any]:
        """Read the settings at the top of the file."""
        fields = {"angles_convention": "angles"}
        keys = ("angles_convention", "period", "calculations_per_cycle", "calculation_precision")
        settings = {fields.get(key, key): top[key] for key in keys if key in top}
        return {**settings, "name": top.get("name", self.path.name.split(".")[0])}

    # ── the mechanism ─────────────────────────────────────────────────────────────────────────────

    def _mechanism(self, document: dict[str, Any], top: dict[str, Any], name: str) -> tuple[Mechanism | None, Any]:
        """Read the mechanism, and its initial position if its links define one."""
        if "link" in document and "mechanism" in document:
            self.report(("mechanism",), "there are a mechanism and [[link]] tables; expected one of the two")
        if "link" in document:
            return self._linked(document, top.get("link", ()), name)
        reference = top.get("mechanism")
        if isinstance(reference, dict):
            inner = {place[1:]: line for place, line in self.lines.items() if place[:1] == ("mechanism",)}
            reading = with_collision_shapes(described(reference, inner, name), str(self.path))
            self.problems += reading.problems
            return None if reading.description is None else reading.description.mechanism, None
        if reference is not None:
            return self._referred(reference), None
        if "mechanism" not in document:
            self.report((), "there is no mechanism; expected mechanism = '...', or one [[link]] table or more")
        return None, None

    def _referred(self, word: str) -> Mechanism | None:
        """Load the bundled mechanism of that name, or a file in the chain's folder, whose problems are only counted."""
        if word in robots.names():
            self.reference = word
            return robots.load(word)
        path = path_inside(self.path.parent, word)
        if (why := self._unfit(word, path)) or path is None:
            self.report(("mechanism",), why)
            return None
        try:
            self.reference = path
            return file_mechanism(path, self.xacro if path.suffix.lower() == XACRO else None)
        except FileError as error:
            lines = sorted({problem.line for problem in error.problems if problem.line})
            where = f" (line {', '.join(map(str, lines[:8]))}{', ...' if len(lines) > 8 else ''})" if lines else ""
            summary = f"{len(error.problems)} problem{'s' * (len(error.problems) != 1)}{where}"
            self.report(("mechanism",), f"mechanism {word!r}: {summary}; `linkwise check` of that file tells them")
            return None

    def _unfit(self, word: str, path: Path | None) -> str:
        """Reason why the file of a mechanism is not opened; empty if it may be."""
        if path is None:
            expected = "a path relative to the folder of the chain's file that does not leave it"
            return f"mechanism is {shown(word)}; expected {expected}"
        if not os.path.exists(path):
            expected = f"the name of a file, or of a bundled mechanism: {near(word, robots.names())}"
            return f"mechanism is {shown(word)}; expected {expected}"
        if not os.path.isfile(path):
            return f"mechanism {word!r}: this is {'a folder' if os.path.isdir(path) else 'no file'}"
        if path.suffix.lower() == XACRO and self.xacro is None:
            why = "expanding xacro runs what it says; expected a URDF, or load(..., xacro={}) where it is to be trusted"
            return f"mechanism {word!r}: {why}"
        return ""

    def _linked(self, document: dict[str, Any], tables: Sequence[Any], name: str) -> tuple[Mechanism | None, Any]:
        """The mechanism of the file's own links."""
        if "q0" in document:
            self.report(("q0",), "q0 is given; expected nothing: the theta or d of each link defines the start")
        links = [self._link(k, table) for k, table in enumerate(tables)]
        for k, link in enumerate(links):
            for port, value in port_values([link]).items():
                self._record_value(port, value, ("link", k, port.rpartition(".")[2]))
        if not links:
            return None, None
        mechanism, wrong = attempt("chain", lambda: mechanism_of(links, name=name))
        names = [link.name for link in links]
        for problem in wrong:
            self._tell_link(problem, names)
        return mechanism or (stand_in(links, name=name), None)

    def _link(self, k: int, raw: Any) -> DHLink:
        """The link of a table; a bare one of the same name where something is wrong."""
        place, item = ("link", k), named("link", k, raw)
        joint = raw.get("joint", RevoluteLink.joint) if isinstance(raw, dict) else ""
        self.lengths = (joint != RevoluteLink.joint,)  # (of another kind, limits are no angles)
        values = self.table(item, place, raw, LINK)
        if raw == {}:
            self.report(place, f"{item} is empty; expected at least one of {', '.join(LINK.fields)}")
        name, joint = values.pop("name", f"link{k + 1}"), values.pop("joint", RevoluteLink.joint)
        kind = KINDS.get(joint)
        if kind is None:
            self.report((*place, "joint"), f"{item}: joint is {shown(joint)}; expected {choices(KINDS)}")
            kind = RevoluteLink
        if not kind.variable and "limits" in values:
            expected = "nothing, for a fixed link has no coordinate"
            self.report((*place, "limits"), f"{item}: limits is {shown(values.pop('limits'))}; expected {expected}")
        link, problems = attempt(item, lambda: kind(name, **values))
        self.tell(place, problems)
        if link is None:
            self.broken |= {name} if joint not in KINDS else set()
            bare, _ = attempt(item, lambda: kind(name, predecessor=values.get("predecessor")))
            return bare or kind(f"link{k + 1}")
        return link

    def _tell_link(self, problem: Problem, names: Sequence[str]) -> None:
        """A problem of the links as a whole, at the line of the one that it concerns."""
        if problem.field != "links":
            place: Place = ("link", next((k for k, name in enumerate(names) if problem.item == f"link {name!r}"), 0))
            self.report((*place, problem.field), str(problem))
        elif isinstance(problem.value, list):  # a cycle
            self.report(("link", names.index(problem.value[0]), "predecessor"), str(problem))
        else:  # a name that occurs twice
            second = [k for k, name in enumerate(names) if name == problem.value][1]
            self.report(("link", second, "name"), str(problem))

    def _begin(self, document: dict[str, Any], top: dict[str, Any], mechanism: Mechanism) -> Any:
        """The coordinates where the joints begin, in rad and m."""
        if "q0" not in top:
            return None
        values = top["q0"]
        if len(values) != mechanism.nq:
            names = ", ".join(mechanism.coordinate_names)
            self.report(("q0",), f"q0 is {shown(values)}; expected {mechanism.nq} numbers: {names}")
            return None
        base = mechanism.nq - mechanism.n
        pairs = zip(values[base:], mechanism.is_length, strict=True)
        return [*values[:base], *(value if slide else self.angle(value) for value, slide in pairs)]

    # ── constraints, values and routes ────────────────────────────────────────────────────────────

    def _constraints(self, tables: Sequence[Any], mechanism: Mechanism | None) -> dict[int, ChainConstraint]:
        """The constraints by their place; those that are wrong are left out."""
        rows: dict[int, ChainConstraint] = {}
        turning = {link for link, free in (single_joints(mechanism) if mechanism else ()) if free == "theta"}
        for k, raw in enumerate(tables):
            place, item = ("constraint", k), named("constraint", k, raw)
            self.lengths = (not isinstance(raw, dict) or raw.get("link") not in turning,)
            values = self.table(item, place, raw, CONSTRAINT)
            if isinstance(raw, dict):
                self.broken |= {raw["name"]} if isinstance(raw.get("name"), str) else set()
                lacking = {field.name for field in CONSTRAINT.required} - raw.keys()
                rows |= self._row(k, item, values, {*lacking, *raw} - values.keys())
        return rows

    def _row(self, k: int, item: str, values: dict[str, Any], wrong: set[str]) -> dict[int, ChainConstraint]:
        """The row of a table, by its place; where something is wrong already one that takes its place in further checks.

        What its table says wrongly, or not at all, is replaced, and no problem of that is reported. Where the kind is wrong
        as well, its name and its links are checked alone.
        """
        whole = {**values, **{key: REPLACEMENTS.get(key, "?") for key in wrong & CONSTRAINT.fields.keys()}}
        row: ChainConstraint | None = None
        problems: Sequence[Problem] = ()
        if "kind" not in wrong:  # (it lists the required fields)
            row, problems = attempt(item, lambda: constraint_of(**whole))
        for problem in problems:
            if problem.field not in wrong:
                self.report(("constraint", k, problem.field), str(problem))
        if row is not None and not wrong & {"name", "kind", "link"}:
            self.broken.discard(row.name)
        elif row is None and isinstance(whole["name"], str):
            still: dict[str, Any] = {"kind": "velocity", "velocity": (0.0, 0.0, 0.0)}
            for other in ([{"kind": "loop", "to": whole["to"]}] if "to" in whole else []) + [still]:
                if row is None:
                    row, _ = attempt(item, lambda: constraint_of(name=whole["name"], link=whole["link"], **other))  # noqa: B023
        if row is None:
            return {}
        self.replaced[k] = wrong
        return {k: row}

    def _clear(self, document: dict[str, Any], top: dict[str, Any]) -> KeepClear | None:
        """Read the clearance of shapes and the obstacles; None without a table, or after a report."""
        tables, known = list(enumerate(top.get("obstacle", ()))), len(self.problems)
        shapes = [self.build(named("obstacle", k, raw), ("obstacle", k), raw, OBSTACLE) for k, raw in tables]
        misread = len(self.problems) > known  # (then the link of an obstacle may be another one)
        table = document.get("clear")
        if table is None and tables:
            self.report(("obstacle",), "there are obstacles and no [clear]; expected a table [clear] with a margin")
        self.broken |= {str(table.get("name", "clear"))} if isinstance(table, dict) else set()
        values = top.get("clear", {})
        if misread or not isinstance(table, dict) or table.keys() - values.keys() or "margin" not in values:
            return None
        name, enabled = values.pop("name", "clear"), values.pop("enabled", True)
        try:
            keeping = KeepClear(name, enabled=enabled, clear=Clear(values.pop("margin"), shapes, **values))
        except (ArgumentError, ModelError) as error:
            self.report(("clear",), f"clear: {error}")
            return None
        self.broken.discard(name)
        return keeping

    def _tables(self, top: dict[str, Any], mechanism: Mechanism | None) -> None:
        """Read initial values of ports from their tables."""
        for key, value in top.get("start", {}).items():
            self._record_value(f"start.{key}", tuple(value), ("start", key))
        for name, schema, between in (("speed_limit", SPEED_LIMIT, "."), ("regulator", REGULATOR, ".regulator.")):
            for k, raw in enumerate(top.get(name, ())):
                values = self.table(f"{name} {k + 1}", (name, k), raw, schema)
                link = values.pop("link", None)
                if link is None or not self._is_known(name, k, link, mechanism):
                    continue
                for key, value in values.items():
                    self._record_value(f"{link}{between}{key}", value, (name, k, key))
        for port, place, value in self._leaves("ports", top.get("ports", {})):
            if port.partition(".")[0] not in self.broken:
                self._record_value(port, value, place)

    def _is_known(self, table: str, k: int, link: str, mechanism: Mechanism | None) -> bool:
        """True if the link that a table names exists, or if the mechanism could not be read."""
        if mechanism is None:
            return True
        known = tuple({at.link: at for at in joint_variables(mechanism)}) if table == "regulator" else ends_of(mechanism)
        if link not in known:
            expected = near(link, known) if known else "nothing, for no joint moves"
            self.report((table, k, "link"), f"{table} {k + 1}: link is {shown(link)}; expected {expected}")
        return link in known

    def _leaves(self, key: str, table: dict[str, Any]) -> list[tuple[str, Place, Any]]:
        """The names of the ports in a table, their places and their values, in the order of their lines."""
        entries: list[tuple[str, Place, Any]] = [(port, (key, *place), value) for port, place, value in leaves(table)]
        return sorted(entries, key=lambda leaf: self.lines.get(leaf[1], 0))

    def _record_value(self, port: str, value: Any, place: Place) -> None:
        """Record the initial value of a port, once."""
        if port in self.places:
            line = self.lines.get(self.places[port], 0)
            self.report(place, f"port {port!r} is given twice, first in line {line}")
            return
        self.places[port] = place
        self.values[port] = value

    def _routes(self, table: dict[str, Any]) -> tuple[dict[str, str], dict[str, Place]]:
        """Read the routes, and the place of each."""
        routes: dict[str, str] = {}
        places: dict[str, Place] = {}
        for target, whole, source in self._leaves("routes", table):
            if not isinstance(source, str):
                self.report(whole, f"route to {target!r} is {shown(source)}; expected the name of a port, or ''")
            elif target in routes:
                line = self.lines.get(places[target], 0)
                self.report(whole, f"route to {target!r} is given twice, first in line {line}")
            elif not {target.partition(".")[0], source.partition(".")[0]} & self.broken:
                routes[target], places[target] = source, whole
        return routes, places

    def _report_whole(self, problem: Problem, rows: Sequence[int], routes: dict[str, Place]) -> None:
        """Report a problem of the description at the line of its subject."""
        place: Place = (problem.field.partition("[")[0],)
        if isinstance(problem, Placed):
            kind, *path = problem.place
            if kind == "constraint":
                if path[1] in self.replaced.get(rows[int(str(path[0]))], ()):
                    return
                place = ("constraint", rows[int(str(path[0]))], *path[1:])
            elif kind == "clear":
                place = ("clear", *map(str, path))
            elif kind in {"values", "routes"}:
                place = (self.places if kind == "values" else routes).get(str(path[0]), (kind,))
        self.report(place, str(problem))


def leaves(table: Mapping[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield the name of each port in a table, its place, and its value: ``"a.b" = 1`` and ``a.b = 1`` are equivalent.

    Examples
    --------
    >>> list(leaves({"arm": {"max_speed": 1.0}}))
    [('arm.max_speed', ('arm', 'max_speed'), 1.0)]
    """
    for key, value in table.items():
        place = (*before, key)
        if isinstance(value, dict):
            yield from leaves(value, place)
        else:
            yield ".".join(place), place, value


def file_mechanism(path: Path, xacro: Mapping[str, str] | None = None) -> Mechanism:
    """Load the mechanism of a file; impossible inertias are accepted and marked as such."""
    try:
        return read_mechanism(path, xacro=xacro).mechanism
    except FileError as error:
        try:
            return read_mechanism(path, xacro=xacro, physical=False).mechanism
        except FileError:
            raise error from None


_HEADER = re.compile(r"^\n(\[\[?)")


def read(path: str | Path, *, xacro: Mapping[str, str] | None = None) -> ChainDescription:
    r"""Read the description of a chain.

    A mechanism that the file refers to by a path is read too, from a place relative to the file's folder, in it or below.
    Its inertias may be those of no body, for a chain computes no forces.

    Parameters
    ----------
    path : str or Path
        The file.
    xacro : mapping of str to str, optional
        Arguments with which a .xacro file is expanded, be they none; without them it is refused, for expanding it runs the
        expressions in it and reads whatever it includes.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.
    MissingExtraError
        Where the mechanism is a .xacro file, which needs its library.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "crane.toml"
    >>> text = 'format = "linkwise chain 1"\n[[link]]\nname = "boom"\na = 18.0\ntheta = 0.6\n'
    >>> _ = path.write_text(text)
    >>> read(path).q0.tolist()
    [0.6]
    """
    document, places, problems = parsed(read_text(path, LARGEST_DESCRIPTION))
    if problems:
        raise FileError(path, problems)
    try:
        return ChainReader(places, Path(path), xacro).description(document)
    except RecursionError:
        raise FileError(path, [FileProblem(0, TOO_DEEP)]) from None


def check(path: str | Path, *, xacro: Mapping[str, str] | None = None) -> list[FileProblem]:
    """List all errors of the file of a chain with their lines; empty if `read` can read it.

    Examples
    --------
    >>> check("/no/such/chain.toml")
    [FileProblem(line=0, message='there is no such file')]
    """
    try:
        read(path, xacro=xacro)
    except FileError as error:
        return list(error.problems)
    return []


def write(description: ChainDescription, path: str | Path) -> None:
    """Write the description of a chain so that reading it gives back an equal one.

    The mechanism stands in the file by its reference, where that names a bundled mechanism or a file in the folder or below
    it, from which the same one is read; else as rows of links, where it is made of nothing but such; else as a table with
    all of it. The file appears whole or not at all. Comments of a file that stood there are lost.

    Parameters
    ----------
    description : ChainDescription
        What to write.
    path : str or Path
        The file.

    Raises
    ------
    FileError
        Where nothing can be written.
    """
    write_text(path, list(render(description, Path(path).parent)))


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def render(description: ChainDescription, folder: Path) -> Iterator[str]:
    """Yield the text of a description for a file in a folder, with all bits of the numbers."""
    named = _reference(description, folder)
    inline = named is None and description.mechanism.name == description.name
    links = links_of(description.mechanism, description.q0) if inline else None
    settings = {
        key: getattr(description, key) for key in ("name", "period", "calculations_per_cycle", "calculation_precision")
    }
    settings |= {"format": FORMAT, "angles_convention": description.angles}
    settings["starting_dof"] = named[1] if named else links[1] if links else "z"
    if not links:
        settings |= {"mechanism": named[0] if named else None, "q0": description.q0}
    yield from lines(TOP, settings)
    for link in links[0] if links else ():
        yield from table("[[link]]", LINK, {**vars(link), **dict.fromkeys(GREATEST), "joint": link.joint})
    if not links and not named:
        yield "\n[mechanism]\n"
        for part in render_mechanism(Description(description.mechanism)):
            yield _HEADER.sub(r"\n\1mechanism.", part)
    yield from _parts(description)


def _parts(description: ChainDescription) -> Iterator[str]:
    """Yield all tables other than those of the mechanism."""
    left = dict(description.values)
    start = {key: left.pop(f"start.{key}") for key in START.fields if f"start.{key}" in left}
    yield from table("[start]", START, start)
    for constraint in description.constraints:
        yield from table("[[constraint]]", CONSTRAINT, constraint)
    yield from _clear_tables(description.clear)
    for name, schema, between in (("speed_limit", SPEED_LIMIT, "."), ("regulator", REGULATOR, ".regulator.")):
        for owner, values in _by_owner(left, schema, between).items():
            yield from table(f"[[{name}]]", schema, {"link": owner, **values})
    for name, entries in (("routes", description.routes), ("ports", left)):
        if entries:
            yield f"\n[{name}]\n"
            yield from (f"{text(port)} = {_value(value)}\n" for port, value in entries.items())


def _clear_tables(keeping: KeepClear | None) -> Iterator[str]:
    if keeping is None:
        return
    clear = keeping.clear
    named = zip(clear.obstacles.names, clear.obstacles.shapes, strict=True)
    meshes = [name for name, shape in named if shape.kind == "mesh"]
    if meshes:
        raise ArgumentError(
            f"the obstacle {meshes[0]!r} is a mesh; expected {OBSTACLE.fields['kind'].kind.expected} in a file"
        )
    values = {key: getattr(clear, key) for key in ("margin", "disabled", "seed")}
    yield from table("[clear]", CLEAR, {"name": keeping.name, "enabled": keeping.enabled, **values})
    for name, shape in zip(clear.obstacles.names, clear.obstacles.shapes, strict=True):
        fields = {key: getattr(shape, key) for key in OBSTACLE.fields}
        yield from table("[[obstacle]]", OBSTACLE, {**fields, "name": name})


def _by_owner(left: dict[str, Any], schema: Schema, between: str) -> dict[str, dict[str, Any]]:
    """Extract the values whose names end in a key of the schema, grouped by the part before it."""
    owned: dict[str, dict[str, Any]] = {}
    for port in list(left):
        for key in schema.fields:
            if port.endswith(between + key):
                owned.setdefault(port.removesuffix(between + key), {})[key] = left.pop(port)
    return owned


def _value(value: Any) -> str:
    if isinstance(value, str | tuple):
        return text(value) if isinstance(value, str) else row(value)
    return FLAG.write(value) if isinstance(value, bool) else WHOLE.write(value) if isinstance(value, int) else real(value)


def _reference(description: ChainDescription, folder: Path) -> tuple[str, str] | None:
    """Reference to the mechanism in the file, and its starting_dof, if loading them returns the same mechanism."""
    for name in (description.reference, description.mechanism.name):
        if isinstance(name, str) and name in robots.names():
            axis = _axis(robots.load(name), description.mechanism)
            if axis:
                return name, axis
    if not isinstance(description.reference, Path):
        return None
    root = folder.resolve()
    near = description.reference.relative_to(root).as_posix() if description.reference.is_relative_to(root) else None
    if near is None or description.reference.suffix.lower() == XACRO:
        return None
    try:
        axis = _axis(file_mechanism(description.reference), description.mechanism)
    except (LinkwiseError, OSError):  # gone since
        return None
    return (near, axis) if axis else None


def _axis(plain: Mechanism, mechanism: Mechanism) -> str | None:
    """The starting_dof that makes one mechanism the other."""
    return next((axis for axis in AXES if with_starting_dof(plain, axis) == mechanism), None)
