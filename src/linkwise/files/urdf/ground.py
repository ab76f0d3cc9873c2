"""What of a URDF is the ground: its root, and the frames called world and base that have no mass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from linkwise.files.urdf.joints import JointElement
from linkwise.files.urdf.links import LinkElement
from linkwise.files.urdf.values import Notes
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform


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
            where = (
                f"it is below the root {root!r}" if joint.parent != root else f"the root {root!r} carries other joints too"
            )
            said = f"joint {joint.name!r}: a floating joint can only be the one joint of the root, but {where}"
            notes.report(joint.element.line, said)
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
        free = (
            name for name in chain(("base_link", "base_frame"), (f"base_frame_{k}" for k in count(2))) if name not in links
        )
        names["base"] = next(free)
        said = f"link 'base' is called {names['base']!r}, for 'base' means the ground"
        notes.remark(links["base"].element.line, said)
    return names
