"""How the links of a URDF hang together: one root, one parent for each other link, no ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linkwise.errors import choices, members
from linkwise.files.urdf.joints import JointElement
from linkwise.files.urdf.links import LinkElement
from linkwise.files.urdf.values import Notes
from linkwise.files.xml_tree import Element


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
        named = members(ring) if len(ring) <= _MOST else f"{', '.join(map(repr, ring[:_MOST]))} and {len(ring) - _MOST} more"
        notes.report(line, f"the links {named} carry each other in a ring; expected a tree")
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
        listed = (
            choices(roots) if len(roots) <= _MOST else f"{', '.join(map(repr, roots[:_MOST]))} and {len(roots) - _MOST} more"
        )
        notes.report(robot.line, f"root {root!r} {why}; expected {listed}")
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
