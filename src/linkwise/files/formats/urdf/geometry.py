"""URDF's <visual> and <collision>: what links look like. Mechanics need none of it, so what cannot be read is a remark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from linkwise.errors import choices
from linkwise.files.formats.urdf.elements import LinkElement, Notes
from linkwise.files.xml_tree import Element
from linkwise.model.shape import ROLES, Shape

GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")
"""What can be read; the capsule is not URDF's own, but Drake and Bullet have it."""

Colour = tuple[float, ...]


def read_shapes(notes: Notes, robot: Element, links: Iterable[LinkElement], names: Mapping[str, str]) -> list[Shape]:
    """All shapes that could be read; each other one is told in a remark. `names` is what the links are called."""
    links = list(links)
    colours = dict(_colours([robot, *(visual for link in links for visual in link.element.all("visual"))]))
    found = []
    for link in links:
        for role in ROLES:
            for element in link.element.all(role):
                if link.name not in names:
                    notes.remark(element.line, f"link {link.name!r}: {role}: what stands in the world is left out")
                    element.attributes, element.children = {}, []
                    continue
                report = Notes()
                shape = _shape(report, element, names[link.name], role, colours)
                for problem in report.problems:
                    notes.remark(problem.line, f"{problem.message}; this {role} is left out")
                found += [] if shape is None else [shape]
    return found


def _colours(places: Iterable[Element]) -> Iterator[tuple[str, Colour]]:
    """Colours of the materials that have a name; the first to say a name keeps it."""
    seen = set()
    for place in places:
        for material in place.all("material"):
            name, colour = material.get("name"), _colour(Notes(), "", material)
            if name and colour and name not in seen:
                seen.add(name)
                yield name, colour


def _colour(notes: Notes, item: str, material: Element) -> Colour | None:
    element = material.find("color")
    return None if element is None else notes.vector(item, element, "rgba", (0.0, 0.0, 0.0, 1.0))


def _shape(notes: Notes, element: Element, link: str, role: str, colours: dict[str, Colour]) -> Shape | None:
    item = f"link {link!r}: {role}"
    geometry, material = notes.only(item, element, "geometry"), notes.only(item, element, "material")
    name = None if material is None else material.get("name") or None
    colour = None if material is None else _colour(notes, item, material) or colours.get(name or "")
    values: dict[str, Any] = {"role": role, "origin": notes.frame(item, element), "name": element.get("name")}
    if geometry is None or not geometry.children:
        notes.report(element.line, f"{item} has no geometry")
        return None
    body, *others = geometry.children
    if others:
        notes.report(others[0].line, f"{item}: <{others[0].tag}> is a second geometry; expected one")
        geometry.children = []
        return None
    if body.tag not in GEOMETRIES:
        notes.report(body.line, f"{item}: geometry is <{body.tag}>; expected {choices(GEOMETRIES)}")
        return None
    geometry.find(body.tag)
    size, filename = _size(notes, item, body), body.get("filename") if body.tag == "mesh" else None
    if body.tag == "mesh" and not filename:
        notes.report(body.line, f"{item}: <mesh> has no filename")
    if notes.problems:
        return None
    make = lambda: Shape(link, body.tag, size, colour=colour, material=name, filename=filename, **values)  # noqa: E731
    return notes.build(item, make, lambda _: element.line)


def _size(notes: Notes, item: str, body: Element) -> tuple[float, ...]:
    if body.tag == "box":
        notes.word(item, body, "size")
        return notes.vector(item, body, "size", (0.0, 0.0, 0.0))
    if body.tag == "mesh":
        return notes.vector(item, body, "scale", (1.0, 1.0, 1.0))
    names = ("radius",) if body.tag == "sphere" else ("radius", "length")
    return tuple(notes.number(item, body, name) for name in names)
