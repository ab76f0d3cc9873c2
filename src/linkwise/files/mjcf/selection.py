"""One of several mechanisms in an MJCF file: a body in the world with all that hangs on it, and what acts on it alone."""

from __future__ import annotations

from collections.abc import Iterator

from linkwise.errors import shown
from linkwise.files.mjcf.attributes import Told, offered
from linkwise.files.xml_tree import Element

KEPT = ("geom", "site", "camera", "light", "frame")
"""What may stand in the world beside the body; a frame is looked into."""

ENDS = ("joint", "jointinparent", "joint1", "joint2", "body", "body1", "body2", "site", "site1", "site2")
"""Attributes by which equalities and actuators name joints, bodies and sites."""


def keep_body(told: Told, root: Element, name: str) -> None:
    """Take all other bodies of the world out of a file, and the equalities and actuators that name what is in them."""
    worlds = root.all("worldbody")
    bodies = [body for world in worlds for body in _bodies(world)]
    names = [said for body in bodies if (said := body.get("name"))]
    if name not in names:
        told.report(root, f"root {shown(name)} is no body in the world; expected {offered(names)}")
        return
    removed: list[Element] = []
    for world in worlds:
        _prune(world, name, removed)
    if not removed:
        return
    if any(element.get("settotalmass") not in (None, "-1") for element in root.all("compiler")):
        told.report(root, "settotalmass counts all bodies, of which root leaves some out; write the masses out")
    lost = {(kind, said) for element in removed for kind, said in _names(element)}
    labels = [shown(element.get("name")) if element.get("name") else f"<{element.tag}>" for element in removed[:10]]
    more = f" and {len(removed) - 10} more" if len(removed) > 10 else ""
    told.remark(removed[0], f"left out, for they do not hang on {shown(name)}: {', '.join(labels)}{more}")
    for section in (*root.all("equality"), *root.all("actuator")):
        cut = [element for element in section.children if any(end in lost for end in _ends(element))]
        for element in cut:
            told.leave(element, f"<{element.tag}> of <{section.tag}> on what root leaves out", "")
        section.children = [element for element in section.children if element not in cut]


def _ends(element: Element) -> Iterator[tuple[str, str]]:
    """The kinds and names of what an equality or actuator names."""
    for key in ENDS:
        if said := element.get(key):
            yield key.rstrip("12").removesuffix("inparent"), said


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


def _names(element: Element) -> Iterator[tuple[str, str]]:
    """The kinds and names of what can be tied or driven in an element."""
    for inner in element.walk():
        kind = "joint" if inner.tag == "freejoint" else inner.tag
        said = inner.get("name")
        if kind in ("joint", "body", "site") and said:
            yield kind, said
