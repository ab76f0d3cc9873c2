"""The document of an MJCF file: included files, ``<compiler>``, ``<option>``, and the choice of one mechanism of several."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from linkwise.errors import FileError, shown
from linkwise.files.formats.mjcf.attributes import Attributes, check_known, offered
from linkwise.files.packages import is_absolute
from linkwise.files.report import Report
from linkwise.files.text import LARGEST_DESCRIPTION, read_text, refused
from linkwise.files.xml_tree import Element, XmlError, read_xml, replace_tag

#: Greatest number of files that one file may include.
MOST_FILES = 200


class Includer:
    """Replaces every ``<include>`` by the contents of the included file.

    Paths are relative to the folder of the main file, or else to that of the including one, and may not leave the former, or
    another folder that is named; no file is included twice, so there is no ring.

    Parameters
    ----------
    folder : Path, optional
        The main file's folder; without one nothing can be included.
    log : Report
        Where problems go.
    include_root : str or Path, optional
        Another folder from which, and from all below it, files may be included.
    """

    def __init__(self, folder: Path | None, log: Report, include_root: str | Path | None = None) -> None:
        self.folder, self.log, self.include_root = folder, log, include_root
        self.seen: set[Path] = set()
        self.size = 0

    def expand(self, element: Element) -> None:
        """Replace the includes among an element's children, and theirs."""
        replace_tag(element, "include", self._included)

    def _included(self, element: Element) -> list[Element]:
        """Return the contents of the included file."""
        check_known(element, self.log)
        name = element.get("file")
        if not name:
            self.log.report(element, "<include> has no file; expected file = the name of a file beside this one")
            return []
        return self.contents(element, name)

    def contents(self, element: Element, name: str) -> list[Element]:
        """Return the contents of a file named by an element; empty after a report."""
        try:
            path = self.path(element, name)
            root = self._read(path, lambda line, message: self.log.drop(element, f"in {name!r}, line {line}: {message}"))
        except (FileError, XmlError) as error:
            for problem in error.problems if isinstance(error, FileError) else (error.problem,):
                self.log.report(element, f"<{element.tag}> of {shown(name)}: {problem}")
            return []
        file = Path(os.path.relpath(path, self._root())).as_posix()
        root.include(file, element.line)
        self.expand(root)
        return root.children

    def model_name(self, element: Element, name: str) -> str:
        """Return the name of the model of a file, or the file name if it has none."""
        try:
            title = read_xml(read_text(self.path(element, name), LARGEST_DESCRIPTION)).get("model")
        except (FileError, XmlError):
            title = None
        return title or Path(name).stem

    def _read(self, path: Path, drop: Callable[[int, str], None]) -> Element:
        """The root element of a file that is not included already."""
        if path in self.seen:
            raise refused(path, "it is included already")
        if len(self.seen) >= MOST_FILES:
            raise refused(path, f"{MOST_FILES} files are included already")
        self.seen.add(path)
        text = read_text(path, LARGEST_DESCRIPTION)
        self.size += len(text)
        if self.size > LARGEST_DESCRIPTION:
            most = LARGEST_DESCRIPTION // 1024**2
            raise refused(path, f"with it the included files are larger than {most} MB together")
        return read_xml(text, drop=drop)

    def _root(self) -> Path:
        """Return the main file's folder with symbolic links resolved."""
        return (self.folder or Path()).resolve()

    def path(self, element: Element, name: str) -> Path:
        """The file meant, seen from the main file's folder, else from that of the file which includes it."""
        if self.folder is None:
            raise refused(name, "the folder of this text is not known")
        try:
            folder = self._root()
            opened = None if self.include_root is None else Path(self.include_root).resolve()
            path = (folder / name).resolve()
            if element.source and not os.path.exists(path):
                path = (folder / element.source[0]).parent.joinpath(name).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise refused("", "this is no path of a file") from error
        inside = opened is not None and path.is_relative_to(opened)
        if not inside and (is_absolute(name) or not path.is_relative_to(folder)):
            why = "the path leaves the folder of the main file, and only files in it or below it are read"
            other = "another folder that may be read" if opened is None else f"{str(opened)!r}, which it leaves too"
            raise refused(path, f"{why}; include_root names {other}")
        return path


#: Elements of the world other than bodies; a frame is searched.
KEPT = ("geom", "site", "camera", "light", "frame")

#: Attributes by which tendons, equalities and actuators name joints, bodies, sites, geoms and tendons.
ENDS = {
    **dict.fromkeys(("joint", "jointinparent", "joint1", "joint2"), "joint"),
    **dict.fromkeys(("body", "body1", "body2"), "body"),
    **dict.fromkeys(("site", "site1", "site2", "slidersite", "cranksite", "refsite", "sidesite"), "site"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    "geom": "geom",
}


def keep_body(log: Report, root: Element, name: str) -> None:
    """Take all other bodies of the world out of a file, and the tendons, equalities and actuators that name their parts."""
    worlds = root.all("worldbody")
    bodies = [body for world in worlds for body in _bodies(world)]
    names = [text for body in bodies if (text := body.get("name"))]
    if name not in names:
        log.report(root, f"root {shown(name)} is not a body in the world; expected {offered(names)}")
        return
    removed: list[Element] = []
    for world in worlds:
        _prune(world, name, removed)
    if not removed:
        return
    if any(element.get("settotalmass") not in (None, "-1") for element in root.all("compiler")):
        log.report(root, "settotalmass counts all bodies, of which root leaves some out; write the masses out")
    lost = {kind_and_name(part) for element in removed for part in element.walk()}
    labels = [shown(element.get("name")) if element.get("name") else f"<{element.tag}>" for element in removed[:10]]
    more = f" and {len(removed) - 10} more" if len(removed) > 10 else ""
    log.remark(removed[0], f"left out, as they are not connected to {shown(name)}: {', '.join(labels)}{more}")
    for section in (section for tag in ("tendon", "equality", "actuator") for section in root.all(tag)):
        cut = [x for x in section.children if any((kind, name) in lost for part in x.walk() for kind, _, name in ends(part))]
        lost |= set(map(kind_and_name, cut))
        for element in cut:
            log.leave(element, f"<{element.tag}> of <{section.tag}> on what root leaves out", "")
        section.children = [element for element in section.children if element not in cut]


def ends(element: Element) -> Iterator[tuple[str, str, str]]:
    """Return the items that an element of a tendon, an equality or an actuator refers to: kind, attribute and name."""
    for key, kind in ENDS.items():
        if name := element.get(key):
            yield kind, key, name


def kind_and_name(element: Element) -> tuple[str, str | None]:
    """Return the kind and the name by which other elements refer to this one."""
    kinds = {"freejoint": "joint", "fixed": "tendon", "spatial": "tendon"}
    return kinds.get(element.tag, element.tag), element.get("name")


def set_name(element: Element, key: str, suffix: str = "", prefix: str = "") -> None:
    """Add a prefix and a suffix to a name, if there is one."""
    if name := element.get(key):
        element.attributes[key] = prefix + name + suffix


def _bodies(element: Element) -> Iterator[Element]:
    """The bodies in the world, those in frames too."""
    for child in element.children:
        if child.tag == "body":
            yield child
        elif child.tag == "frame":
            yield from _bodies(child)


def _prune(element: Element, name: str, removed: list[Element]) -> None:
    """Keep the body of that name among an element's children."""
    kept = []
    for child in element.children:
        if child.tag == "frame":
            _prune(child, name, removed)
        if child.tag in KEPT or (child.tag == "body" and child.get("name") == name):
            kept.append(child)
        else:
            removed.append(child)
    element.children = kept


#: Options that make forces which Linkwise does not have.
FORCES = {"wind": "wind", "density": "the drag of a fluid", "viscosity": "the drag of a fluid"}

_SEQUENCE = re.compile("[xyzXYZ]{3}")


@dataclass(frozen=True)
class Settings:
    """Compiler settings, with MuJoCo's defaults."""

    degree: bool = True
    sequence: str = "xyz"
    autolimits: bool = True
    from_geoms: str = "auto"
    groups: tuple[int, int] = (0, 5)
    least_mass: float = 0.0
    least_inertia: float = 0.0
    balance: bool = False
    total_mass: float = -1.0
    align_free: bool = False
    mesh_folder: str = ""
    strip_path: bool = False
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    gravity_line: int = 0
    disabled: frozenset[str] = field(default_factory=frozenset)


def settings_of(root: Element, log: Report) -> Settings:
    """Return the compiler settings of a file; later elements override earlier ones."""
    settings = Settings()
    for element in root.all("compiler"):
        settings = _compiler(element, log, settings)
    for element in root.all("option"):
        settings = _option(element, log, settings)
    return settings


def _compiler(element: Element, log: Report, before: Settings) -> Settings:
    attrs = Attributes(element, log)
    if attrs.word("coordinate", ("local", "global"), "local") == "global":
        attrs.report("coordinate is 'global', which MuJoCo gave up in version 2.3.4; expected 'local'", "coordinate")
    sequence = attrs.text("eulerseq") or before.sequence
    if not _SEQUENCE.fullmatch(sequence):
        attrs.report(f"eulerseq is {shown(sequence)}; expected three letters of 'xyzXYZ'", "eulerseq")
        sequence = before.sequence
    groups = [int(value) for value in attrs.row("inertiagrouprange", before.groups)]
    return replace(
        before,
        degree=attrs.word("angle", ("radian", "degree"), "degree" if before.degree else "radian") == "degree",
        sequence=sequence,
        autolimits=attrs.flag("autolimits", before.autolimits),
        from_geoms=attrs.word("inertiafromgeom", ("false", "true", "auto"), before.from_geoms),
        groups=(groups[0], groups[1]),
        least_mass=attrs.number("boundmass", before.least_mass),
        least_inertia=attrs.number("boundinertia", before.least_inertia),
        balance=attrs.flag("balanceinertia", before.balance),
        total_mass=attrs.number("settotalmass", before.total_mass),
        align_free=attrs.flag("alignfree", before.align_free),
        strip_path=attrs.flag("strippath", before.strip_path),
        mesh_folder=attrs.text("meshdir") or attrs.text("assetdir") or before.mesh_folder,
    )


def _option(element: Element, log: Report, before: Settings) -> Settings:
    attrs = Attributes(element, log)
    disabled = set(before.disabled)
    for flags in element.all("flag"):
        switch = Attributes(flags, log)
        for key in ("gravity", "equality", "constraint", "damper", "frictionloss", "limit", "spring", "passive"):
            if key in switch:
                (disabled.discard if switch.word(key, ("enable", "disable"), "enable") == "enable" else disabled.add)(key)
    for key, force in FORCES.items():
        if any(attrs.numbers(key, 1, 3) or ()):
            log.leave(element, f"the attribute {key!r} of <option>", f"{force} is a force that Linkwise does not have")
    gravity = tuple(attrs.row("gravity", before.gravity))
    place = element.line if "gravity" in attrs else before.gravity_line
    return replace(before, gravity=gravity, gravity_line=place, disabled=frozenset(disabled))
