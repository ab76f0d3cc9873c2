"""URDF's <link>: its name and its inertia, turned from the axes of the inertial frame into those of the link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.files.urdf.values import Notes
from linkwise.files.xml_tree import Element
from linkwise.spatial.scalar import FloatArray

_MOMENTS = ("ixx", "iyy", "izz")
_PRODUCTS = ("ixy", "iyz", "ixz")


@dataclass(frozen=True)
class LinkElement:
    """What a <link> says.

    Attributes
    ----------
    name : str
        Its name.
    element : Element
        Where it stands.
    body : dict
        mass, com and inertia of a `Link`; empty where there is no <inertial>.
    lines : dict of str to int
        Where each of them is said.
    lacks_products : bool
        Whether its <inertia> leaves out one of ixy, iyz, ixz.
    """

    name: str
    element: Element
    body: dict[str, Any]
    lines: dict[str, int]
    lacks_products: bool = False

    @property
    def is_massless(self) -> bool:
        """Whether it has no mass and no inertia."""
        return not any(np.any(self.body[field]) for field in ("mass", "inertia") if field in self.body)


def read_links(notes: Notes, robot: Element) -> dict[str, LinkElement]:
    """All links by name; those without a name, or with one that is taken, are told and left out."""
    found: dict[str, LinkElement] = {}
    for element in robot.all("link"):
        name = notes.word("a link", element, "name")
        if name is None:
            continue
        if name in found:
            first = found[name].element.line
            notes.report(element.line, f"link {name!r} stands twice, first in line {first}")
            continue
        found[name] = _link(notes, element, name)
    lacking = [link for link in found.values() if link.lacks_products]
    if lacking:
        one = lacking[0]
        places = f" ({len(lacking)} links, the first here)" if len(lacking) > 1 else ""
        said = f"link {one.name!r}: <inertia> lacks products of inertia, which are read as 0{places}"
        notes.remark(one.lines["inertia"], said)
    return found


def _link(notes: Notes, element: Element, name: str) -> LinkElement:
    item = f"link {name!r}"
    inertial = notes.only(item, element, "inertial")
    if inertial is None:
        return LinkElement(name, element, {}, {})
    frame = notes.frame(item, inertial)
    parts = {tag: notes.only(item, inertial, tag) for tag in ("origin", "mass", "inertia")}
    lines = {field: inertial.line if part is None else part.line for field, part in parts.items()}
    lines["com"] = lines.pop("origin")
    for tag in ("mass", "inertia"):
        if parts[tag] is None:
            notes.report(inertial.line, f"{item}: <inertial> has no <{tag}>")
    mass = 0.0 if parts["mass"] is None else notes.number(item, parts["mass"], "value")
    tensor = np.zeros((3, 3)) if parts["inertia"] is None else _tensor(notes, item, parts["inertia"])
    rotation = frame[:3, :3]
    if not np.array_equal(rotation, np.eye(3)):
        with np.errstate(all="ignore"):
            tensor = rotation @ tensor @ rotation.T
            tensor = 0.5 * (tensor + tensor.T)
    lacks = parts["inertia"] is not None and any(parts["inertia"].get(attribute) is None for attribute in _PRODUCTS)
    return LinkElement(name, element, {"mass": mass, "com": frame[:3, 3], "inertia": tensor.tolist()}, lines, lacks)


def _tensor(notes: Notes, item: str, element: Element) -> FloatArray:
    """About the centre of mass, in the axes of the inertial frame (3, 3)."""
    xx, yy, zz = (notes.number(item, element, attribute) for attribute in _MOMENTS)
    xy, yz, xz = (notes.number(item, element, attribute, 0.0) for attribute in _PRODUCTS)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
