"""``<replicate>``: what is in it several times, each time in a frame of its own and with a suffix to all names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from linkwise.files.formats.mjcf.attributes import ORIGIN, Attributes, euler_rotation
from linkwise.files.formats.mjcf.document import Settings, ends, kind_and_name, set_name
from linkwise.files.report import Report
from linkwise.files.xml_tree import Element, numbers, replace_tag
from linkwise.spatial.quaternion import rotation_quaternion

#: How many elements may come of all copies.
MOST_ELEMENTS = 100_000

#: What names things in bodies, in the order in which it may name each other.
SECTIONS = ("tendon", "equality", "actuator")

#: What may not be repeated alone.
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
        said = Attributes(element, self.log)
        count = said.whole("count") if "count" in said else -1
        if count < 0:
            said.report(f"count is {said.text('count') or 'missing'}; expected a whole number >= 0", "count")
            return []
        for child in element.children:
            if child.tag in MECHANICS:
                said.report(f"<{child.tag}> stands directly in it; expected it in a <body>")
                return []
        if self._is_too_much(element, count * sum(1 for _ in element.walk())):
            return []
        offset, angles = (np.array(said.row(key, ORIGIN)) for key in ("offset", "euler"))
        place = np.zeros(3)
        suffixes = [f"{said.text('sep') or ''}{k:0{len(str(count))}d}" for k in range(count)]
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
        """Whether that many elements more are too many together, which is reported."""
        self.size += size
        if self.size > MOST_ELEMENTS:
            self.log.report(element, f"<{element.tag}>: repeated, it makes more than {MOST_ELEMENTS} elements")
        return self.size > MOST_ELEMENTS
