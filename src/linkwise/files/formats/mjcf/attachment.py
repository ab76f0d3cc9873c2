"""``<attach>`` and ``<replicate>``: renamed copies of bodies, frames and assets of this or another file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from linkwise.errors import shown
from linkwise.files.formats.mjcf.attributes import MAIN, ORIGIN, Attributes, check_known, euler_rotation, offered
from linkwise.files.formats.mjcf.document import Includer, Settings, ends, kind_and_name, set_name, settings_of
from linkwise.files.report import Report
from linkwise.files.xml_tree import Element, numbers, replace_tag
from linkwise.spatial.quaternion import rotation_quaternion

#: Attributes that name classes and meshes of the file itself.
INNER = ("class", "childclass", "mesh")


@dataclass(slots=True, eq=False)
class Attached(Element):
    """A frame of bodies, or an asset, of a file with different compiler settings."""

    settings: Settings = field(default_factory=Settings)


class Attacher:
    """Puts every ``<attach>`` in a file in place, with the classes, meshes, tendons, equalities and actuators that it needs.

    What refers to something that is not attached stays out; the options of the other file have no effect.

    Attributes
    ----------
    defaults : list of Element
        The outermost default classes of the attached files, each of which inherits nothing.
    """

    def __init__(self, root: Element, log: Report, includer: Includer) -> None:
        self.root, self.log, self.includer = root, log, includer
        self.defaults: list[Element] = []
        self._models: dict[str, Element] = {}
        for model in (model for asset in root.all("asset") for model in asset.all("model")):
            check_known(model, log)
            self._models[model.get("name") or includer.model_name(model, model.get("file") or "")] = model
        self._read: dict[str, tuple[Element, Settings, list[Element]]] = {}

    def expand(self, element: Element) -> None:
        """Replace the attachments in an element by the attached elements."""
        replace_tag(element, "attach", self._attached)

    def _attached(self, element: Element) -> list[Element]:
        attrs = Attributes(element, self.log)
        name, prefix = attrs.text("model"), attrs.text("prefix")
        if name is None and prefix is not None:
            return self._of_this_file(attrs, prefix)
        if name not in self._models or prefix is None:
            there = offered(self._models) if self._models else "one of the <model> of <asset>"
            attrs.report("prefix is missing" if name in self._models else f"model is {shown(name)}; expected {there}")
            return []
        if name not in self._read:
            self._read[name] = self._contents(self._models[name])
        source, settings, inherited = self._read[name]
        content = source.copy()
        worlds = content.all("worldbody")
        inner = [part for world in worlds for part in world.children]
        for tag in (tag for tag in ("body", "frame") if tag in attrs):
            inner = [part for part in inner if part.tag == tag and part.get("name") == attrs.text(tag)]
            if len(inner) != 1:
                attrs.report(f"{tag} is {shown(attrs.text(tag))}; expected one in the world of {shown(name)}", tag)
                return []
        frame = Attached("frame", {"childclass": MAIN}, element.line, inner, settings=settings)
        names = {kind_and_name(part) for part in frame.walk()}
        default = Element("default", {"class": MAIN}, element.line)
        default.children = [part for section in content.all("default") for part in section.children]
        assets = [_asset(section, settings) for section in content.all("asset")]
        defaults = [default, *(part.copy() for part in inherited)]
        sections = _referring(content, names, element.line)
        for part in (part for section in sections for part in section.children):
            part.attributes.setdefault("class", MAIN)
        _add_prefix(prefix, [frame, *defaults, *assets], sections, ("name", *INNER))
        self.defaults += defaults
        self.root.children += [*assets, *sections]
        return [frame]

    def _of_this_file(self, attrs: Attributes, prefix: str) -> list[Element]:
        """Copy a body or frame of the same file, with the elements that refer to the copy only."""
        tag = "body" if "body" in attrs else "frame"
        parts = (part for world in self.root.all("worldbody") for part in world.walk())
        named = [part for part in parts if part.tag == tag and part.get("name") == attrs.text(tag) is not None]
        if len(named) != 1 or any(part.tag == "attach" for part in named[0].walk()):
            attrs.report(f"{tag} is {shown(attrs.text(tag))}; expected one of this file, in which nothing is attached", tag)
            return []
        copy = named[0].copy()
        sections = _referring(self.root, {kind_and_name(part) for part in copy.walk()}, attrs.element.line)
        _add_prefix(prefix, [copy], sections, ("name",))
        self.root.children += sections
        return [copy]

    def _contents(self, model: Element) -> tuple[Element, Settings, list[Element]]:
        """The other file, with all that it includes, attaches and repeats, its settings, and the classes of those."""
        content = Element("mujoco", {}, model.line, self.includer.contents(model, model.get("file") or ""))
        inner = Attacher(content, self.log, self.includer)
        inner.expand(content)
        settings = settings_of(content, self.log)
        if content.all("option"):
            self.log.leave(model, "the <option> of an attached file", "that of the file which attaches it holds")
        Replicator(content, self.log, settings).expand(content)
        return content, settings, inner.defaults


def _referring(content: Element, names: set[tuple[str, str | None]], line: int) -> list[Element]:
    """Sections with copies of the elements of which all that they name is attached; their own names are added."""
    sections = [Element(tag, {}, line) for tag in SECTIONS]
    for section in sections:
        for element in (element for part in content.all(section.tag) for element in part.children):
            named = [(kind, name) for part in element.walk() for kind, _, name in ends(part)]
            if named and all(end in names for end in named):
                section.children.append(element.copy())
                names.add(kind_and_name(element))
    return [section for section in sections if section.children]


def _add_prefix(prefix: str, elements: list[Element], sections: list[Element], keys: tuple[str, ...]) -> None:
    """Put a prefix before the names that some attributes give, and before all that sections name."""
    for part in (part for element in (*elements, *sections) for part in element.walk()):
        for key in keys:
            set_name(part, key, prefix=prefix)
    for part in (part for section in sections for part in section.walk()):
        for _, key, _ in list(ends(part)):
            set_name(part, key, prefix=prefix)


def _asset(section: Element, settings: Settings) -> Attached:
    """The meshes of an asset, which keep the settings of the file that they are of."""
    settings = section.settings if isinstance(section, Attached) else settings
    asset = Attached("asset", {}, section.line, section.all("mesh"), settings=settings)
    for mesh in asset.children:
        mesh.attributes.setdefault("name", Path(mesh.get("file") or "").stem)
        mesh.attributes.setdefault("class", MAIN)
    return asset


#: Greatest number of elements of all copies together.
MOST_ELEMENTS = 100_000

#: Sections that name elements in bodies, in the order in which they may refer to each other.
SECTIONS = ("tendon", "equality", "actuator")

#: Elements that cannot be replicated alone.
MECHANICS = ("joint", "freejoint", "inertial")


class Replicator:
    """Writes out every ``<replicate>`` of a file.

    A copy is turned by its number times the Euler angles, and stands where the offset leads in the axes of the copy before.
    Its names end with the separator and its number, with as many digits as the count. An element of another section is
    copied if it names something that is repeated; what else it names is the same in all copies.
    """

    def __init__(self, root: Element, log: Report, settings: Settings) -> None:
        self.root, self.log, self.settings, self.size = root, log, settings, 0

    def expand(self, element: Element) -> None:
        """Replace the replicates in an element by their copies, the inner ones first."""
        replace_tag(element, "replicate", self._copies)

    def _copies(self, element: Element) -> list[Element]:
        attrs = Attributes(element, self.log)
        count = attrs.whole("count") if "count" in attrs else -1
        if count < 0:
            attrs.report(f"count is {attrs.text('count') or 'missing'}; expected a whole number >= 0", "count")
            return []
        for child in element.children:
            if child.tag in MECHANICS:
                attrs.report(f"<{child.tag}> is directly in it; expected it in a <body>")
                return []
        if self._is_too_much(element, count * sum(1 for _ in element.walk())):
            return []
        offset, angles = (np.array(attrs.row(key, ORIGIN)) for key in ("offset", "euler"))
        place = np.zeros(3)
        suffixes = [f"{attrs.text('sep') or ''}{k:0{len(str(count))}d}" for k in range(count)]
        settings, copies = (self.settings.degree, self.settings.sequence), []
        for k, suffix in enumerate(suffixes):
            turn = np.asarray(euler_rotation((k * angles).tolist(), *settings), dtype=float)
            inner = [child.copy() for child in element.children]
            for part in (part for child in inner for part in child.walk()):
                set_name(part, "name", suffix)
            placed = {"pos": numbers(place), "quat": numbers(rotation_quaternion(turn))}
            copies.append(replace(element, tag="frame", attributes=placed, children=inner))
            place = place + turn @ offset
        names = {kind_and_name(part) for part in element.walk()}
        for section in (section for tag in SECTIONS for section in self.root.all(tag)):
            section.children = [copy for child in section.children for copy in self._referring(child, names, suffixes)]
        return copies

    def _referring(self, element: Element, names: set[tuple[str, str | None]], suffixes: list[str]) -> Iterator[Element]:
        """The copies of an element that names something in the replicate, or itself."""
        inside = [(kind, name) in names for part in element.walk() for kind, _, name in ends(part)]
        if not any(inside):
            yield element
        else:
            if self._is_too_much(element, len(suffixes) * sum(1 for _ in element.walk())):
                return
            if element.get("name"):
                names.add(kind_and_name(element))
            for suffix in suffixes:
                copy = element.copy()
                set_name(copy, "name", suffix)
                for part in copy.walk():
                    for key in [key for kind, key, name in ends(part) if (kind, name) in names]:
                        set_name(part, key, suffix)
                yield copy

    def _is_too_much(self, element: Element, size: int) -> bool:
        """Report and return True if that many further elements would exceed the limit."""
        self.size += size
        if self.size > MOST_ELEMENTS:
            self.log.report(element, f"<{element.tag}>: repeated, it makes more than {MOST_ELEMENTS} elements")
        return self.size > MOST_ELEMENTS
