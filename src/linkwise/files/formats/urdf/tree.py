"""How the links of a URDF hang together: one root, one parent for each other link, no ring; and what of it is the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from linkwise.errors import members
from linkwise.files.formats.urdf.elements import JointElement, LinkElement, Notes
from linkwise.files.report import base_names, some, unused_name
from linkwise.files.xml_tree import Element
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform


def find_root(notes: Notes, links: Mapping[str, LinkElement], joints: Sequence[JointElement], unread: int = 0) -> str | None:
    """Name of the link that no joint carries; None, with what is wrong told, where the links are not one tree.

    So many joints could not be read: each might carry one of the links that seem to be roots.
    """
    carried: dict[str, JointElement] = {}
    wrong = False
    for joint in joints:
        first = carried.setdefault(joint.child, joint)
        if first is not joint:
            wrong = True
            said = f"link {joint.child!r} has two parents: joint {joint.name!r} carries it, and so does {first.name!r}"
            notes.report(joint.element.line, f"{said} in line {first.element.line}")
    roots = [name for name in links if name not in carried]
    for ring in rings({child: joint.parent for child, joint in carried.items()}):
        wrong = True
        line = min(links[name].element.line for name in ring)
        notes.report(line, f"the links {some(ring, _MOST, members)} carry each other in a ring; expected a tree")
    if len(roots) > 1 + unread:
        wrong = True
        places = ", ".join(f"{name!r} (line {links[name].element.line})" for name in roots[:_MOST])
        more = f" and {len(roots) - _MOST} more" if len(roots) > _MOST else ""
        said = f"there are {len(roots)} roots, links that no joint carries: {places}{more}"
        if unread:
            said += f", of which the joints that are wrong can carry {unread}"
        hint = "a fixed joint can join two" + ("" if unread else f", and root={roots[0]!r} reads one alone")
        notes.report(links[roots[1]].element.line, f"{said}; expected one ({hint})")
    return None if wrong or unread or not roots else roots[0]


def keep_tree(notes: Notes, robot: Element, root: str) -> None:
    """Take the links and joints that do not hang on a root out of a file, with a remark.

    A joint whose parent is missing, or is no link, stays with all that hangs on it, and is reported as in any file.
    """
    ends = {joint: tuple(_link(joint, tag) for tag in ("parent", "child")) for joint in robot.all("joint")}
    carried = {child for _, child in ends.values()}
    names = [link.get("name") for link in robot.all("link")]
    if root not in names or root in carried:
        roots = [name for name in names if name is not None and name not in carried]
        why = "is carried by a joint" if root in carried else "is no link"
        notes.report(robot.line, f"root {root!r} {why}; expected {some(roots, _MOST)}")
        return
    children: dict[str | None, list[str | None]] = {}
    for parent, child in ends.values():
        children.setdefault(parent if parent in names else root, []).append(child)
    kept: set[str | None] = {root}
    pending: list[str | None] = [root]
    while pending:
        reached = [child for child in children.get(pending.pop(), ()) if child not in kept]
        kept.update(reached)
        pending += reached
    dropped = [link for link in robot.all("link") if link.get("name") not in kept]
    if dropped:
        named = ", ".join(repr(link.get("name")) for link in dropped[:_MOST])
        more = f" and {len(dropped) - _MOST} more" if len(dropped) > _MOST else ""
        notes.remark(dropped[0].line, f"left out, for they do not hang on {root!r}: {named}{more}")
    others = {link.get("name") for link in dropped}
    left_out = {id(link) for link in dropped} | {id(joint) for joint, (parent, _) in ends.items() if parent in others}
    robot.children = [child for child in robot.children if id(child) not in left_out]


def _link(joint: Element, tag: str) -> str | None:
    end = joint.find(tag)
    return None if end is None else end.get("link")


_MOST = 10
"""How many roots, or links of a ring, are named."""


def rings(parents: Mapping[str, str]) -> list[list[str]]:
    """The rings in a table of each one's parent.

    Examples
    --------
    >>> rings({"a": "b", "b": "a", "c": "a", "d": "e"})
    [['a', 'b']]
    """
    found = []
    done: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        at = start
        while at in parents and at not in done and at not in path:
            path[at] = None
            at = parents[at]
        if at in path:
            names = list(path)
            found.append(names[names.index(at) :])
        done.update(path)
    return found


@dataclass
class Ground:
    """How the tree of a URDF stands in the world.

    Attributes
    ----------
    body : str or None
        The link that sits on Linkwise's base without a joint; None where that is a frame ``base`` without mass, which is
        Linkwise's base itself.
    base : ndarray (4, 4)
        T_world_base, or where a floating base has its origin.
    floating : bool
        Whether the base moves freely.
    joint : str or None
        The joint that says so, or that places the base in the world.
    frames : set of str
        Links of the file that are the world or the base, and become no links.
    """

    body: str | None
    base: Array = field(default_factory=transform)
    floating: bool = False
    joint: str | None = None
    frames: set[str] = field(default_factory=set)


def find_ground(notes: Notes, links: Mapping[str, LinkElement], joints: Sequence[JointElement], root: str) -> Ground:
    """The ground of a tree with that root.

    A floating joint below the root is told as a problem; so is one beside other joints of the root, for a mechanism either
    floats or stands.
    """
    first = [joint for joint in joints if joint.parent == root]
    ground = Ground(root)
    floating = [joint for joint in joints if joint.kind == "floating"]
    for joint in floating:
        if joint.parent != root or len(first) > 1:
            below = f"it is below the root {root!r}"
            where = below if joint.parent != root else f"the root {root!r} carries other joints too"
            rule = f"joint {joint.name!r}: a floating joint can only be the one joint of the root"
            notes.report(joint.element.line, f"{rule}, but {where}")
    if len(first) == 1 and _places_base(first[0], links):
        ground = Ground(first[0].child, first[0].before, first[0].kind == "floating", first[0].name, {root})
        if not links[root].is_massless:
            line = links[root].lines["mass"]
            notes.remark(line, f"link {root!r}: its inertia is not used, for it is the world in which the base floats")
    if ground.body == "base" and links["base"].is_massless and any(joint.parent == "base" for joint in joints):
        ground.frames.add("base")
        ground.body = None
    return ground


def _places_base(joint: JointElement, links: Mapping[str, LinkElement]) -> bool:
    """Whether the one joint of the root says where the base is."""
    frames = joint.parent == "world" and joint.child == "base"
    massless = links[joint.parent].is_massless and links[joint.child].is_massless
    return joint.kind == "floating" or (frames and massless and joint.kind == "fixed")


def linkwise_names(notes: Notes, links: Mapping[str, LinkElement], ground: Ground) -> dict[str, str]:
    """What each link of the file is called: ``base`` if it is the base, else its own name unless that is ``base``.

    The world in which the base is placed has no name.
    """
    names = {name: name for name in links if name == "base" or name not in ground.frames}
    if "base" in links and "base" not in ground.frames:
        names["base"] = unused_name(base_names(), set(links))
        notes.remark(links["base"].element.line, f"link 'base' is called {names['base']!r}, for 'base' means the ground")
    return names
