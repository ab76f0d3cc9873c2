"""Default classes of MJCF: what elements are where they do not say it themselves."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.errors import members, shown
from linkwise.files.mjcf.attributes import MAIN, Attributes, Said, Told, check_known, check_tag, offered
from linkwise.files.mjcf.schema import ACTUATORS, DEFAULTS
from linkwise.files.xml_tree import Element

Class = dict[str, dict[str, Said]]
"""What one class says: attributes by the kind of element."""


class Defaults:
    """The classes of a file by name."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.classes: dict[str, Class] = {MAIN: {}}

    def read(self, element: Element, parent: str | None = None) -> None:
        """Take in a ``<default>``: its own elements, then the classes nested in it, which begin with all that it has."""
        check_known(element, "<default>", self.told, ("class",))
        name = element.get("class") or ""
        if parent is None:
            if name not in ("", MAIN):
                self.told.report(element, f"<default>: class is {shown(name)}; the outermost is {MAIN!r}")
            name = MAIN
        elif not name or name in self.classes:
            why = f"class {shown(name)} stands twice" if name else "class is empty; expected a name of its own"
            self.told.report(element, f"<default>: {why}")
            return
        else:
            self.classes[name] = dict(self.classes[parent])  # (of its tables none is ever changed)
        for child in element.children:
            if child.tag != "default":
                self._take_in(child, name)
        for child in element.all("default"):
            self.read(child, name)

    def _take_in(self, element: Element, name: str) -> None:
        """What a class says of one kind of element."""
        item = f"<{element.tag}> of default class {shown(name)}"
        known = DEFAULTS[element.tag] if check_tag(element, "<default>", self.told, list(DEFAULTS)) else None
        if known is None:  # (a kind of which nothing is read)
            return
        own = [key for key in known if key not in ("name", "class")]
        said = Attributes(element, item, self.told, own).said
        found, kind = self.classes[name], kind_of(element.tag)
        found[kind] = {**found.get(kind, {}), **{key: said[key] for key in own if key in said}}

    def of(self, element: Element, surrounding: Sequence[str], kind: str = "") -> dict[str, Said]:
        """What the class of an element says of its kind; `surrounding` are the child classes around it, the nearest last."""
        name = element.get("class") or (surrounding[-1] if surrounding else MAIN)
        return self.classes[self.known(element, name, "class")].get(kind or kind_of(element.tag), {})

    def known(self, element: Element, name: str, key: str) -> str:
        """The name of a class, or the main one after a report."""
        if name in self.classes:
            return name
        self.told.report(
            element, f"<{element.tag}>: {key} is {shown(name)}; the classes are {offered(self.classes, members)}"
        )
        return MAIN


def kind_of(tag: str) -> str:
    """The kind of an element, under which a class says what it says."""
    return "actuator" if tag in ACTUATORS else tag
