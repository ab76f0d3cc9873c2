"""Default classes of MJCF: what elements are where they do not say it themselves."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.errors import members, shown
from linkwise.files.mjcf.attributes import MAIN, Said, Told, check_known
from linkwise.files.xml_tree import Element

ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle",
    "adhesion", "dcmotor",
)  # fmt: skip
"""The kinds of actuators; what a class says of one holds for all of them."""

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
            self.classes[name] = {kind: dict(said) for kind, said in self.classes[parent].items()}
        found = self.classes[name]
        for child in element.children:
            if child.tag != "default":
                kind, item = kind_of(child.tag), f"<{child.tag}> of default class {shown(name)}"
                found.setdefault(kind, {}).update(
                    {key: Said(text, child, item) for key, text in child.attributes.items() if key not in ("name", "class")}
                )
        for child in element.all("default"):
            self.read(child, name)

    def of(self, element: Element, surrounding: Sequence[str]) -> dict[str, Said]:
        """What the class of an element says of its kind; `surrounding` are the child classes around it, the nearest last."""
        name = element.get("class") or (surrounding[-1] if surrounding else MAIN)
        return self.classes[self.known(element, name, "class")].get(kind_of(element.tag), {})

    def known(self, element: Element, name: str, key: str) -> str:
        """The name of a class, or the main one after a report."""
        if name in self.classes:
            return name
        self.told.report(element, f"<{element.tag}>: {key} is {shown(name)}; the classes are {members(self.classes)}")
        return MAIN


def kind_of(tag: str) -> str:
    """The kind of an element, under which a class says what it says."""
    return "actuator" if tag in ACTUATORS else "equality" if tag in ("connect", "weld") else tag
