"""The links and joints of URDF that stand for a mechanism: each link frame where it has it, q with the same meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import numpy as np

from linkwise.files.report import unused_name
from linkwise.files.suggestions import with_tool_at_a_tip
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import Array, FloatArray

SLIDES = ("x", "y")
TURN = "turn"


def planar_links(joint: str, child: str, parent: str, before: Any, axis: Any, body: dict[str, Any]) -> list[Link]:
    """Three links for a planar joint: the child moves in the plane through the joint's frame normal to `axis`.

    The coordinates are two distances (m), along the directions that the least turn from z to the axis makes of x and y, then
    the angle about the axis (rad). Their joints are called ``<joint>_x``, ``<joint>_y`` and ``<joint>_turn``; the links
    between ``<child>_planar_x`` and ``<child>_planar_y``.
    """
    normal = Link(axis=axis).axis
    first, second = (f"{child}_planar_{slide}" for slide in SLIDES)
    x, y = plane(normal)
    return [
        Link(joint="prismatic", name=first, parent=parent, axis=x, before=before, joint_name=f"{joint}_x"),
        Link(joint="prismatic", name=second, parent=first, axis=y, joint_name=f"{joint}_y"),
        Link(axis=normal, name=child, parent=second, joint_name=f"{joint}_{TURN}", **body),
    ]


def plane(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The directions of a planar joint's two distances."""
    turn = rotation_between((0.0, 0.0, 1.0), normal)
    return turn[:, 0], turn[:, 1]


@dataclass(frozen=True)
class Planar:
    """Three links that are one planar joint: their places in the mechanism, and the joint's name."""

    x: int
    y: int
    turn: int
    joint: str


def planar_groups(mechanism: Tree, keep: Collection[str] = ()) -> dict[int, Planar]:
    """The planar joints among the links, each under the place of all its three links.

    `keep` names links that must stay links of their own.
    """
    found: dict[int, Planar] = {}
    children = Counter(mechanism.parents)
    for k in range(len(mechanism.links)):
        y = mechanism.parents[k]
        x = mechanism.parents[y] if y >= 0 else -1
        if x < 0 or children[x] != 1 or children[y] != 1:
            continue
        links = [mechanism.links[j] for j in (x, y, k)]
        joint = _joint_name(links)
        if joint is not None and _is_plain(links) and not {link.name for link in links[:2]} & set(keep):
            found |= dict.fromkeys((x, y, k), Planar(x, y, k, joint))
    return found


def _joint_name(links: list[Link]) -> str | None:
    """The name of the planar joint that three links are named after."""
    names = [link.coordinate_name for link in links]
    joint = names[2].removesuffix(f"_{TURN}")
    child = links[2].name
    joints = [f"{joint}_{slide}" for slide in (*SLIDES, TURN)]
    between = [f"{child}_planar_{slide}" for slide in SLIDES]
    return joint if names == joints and [link.name for link in links[:2]] == between else None


def _is_plain(links: list[Link]) -> bool:
    """Whether the links move as a planar joint does, and say nothing that it cannot say."""
    x, y, turn = links
    same = [(y.before, np.eye(4)), (turn.before, np.eye(4)), *((link.after, np.eye(4)) for link in links)]
    said = [field for link in links for field in (link.limits, link.motor, link.mimic, link.qd_max, link.tau_max)]
    wanted = plane(turn.axis)
    return (
        [link.joint for link in links] == ["prismatic", "prismatic", "revolute"]
        and all(np.array_equal(*pair) for pair in same)
        and all(field is None for field in said)
        and not any(link.offset for link in links)
        and all(link.body.is_zero for link in (x, y))
        and max(np.abs(x.axis - wanted[0]).max(), np.abs(y.axis - wanted[1]).max()) < 1e-12
    )


AXIS, FIXED = "_axis", "_fixed"
"""Ends of the names of a link between, on a joint's axis, and of the joint that holds the link itself on it."""

AT_AXIS = 1e-15
"""A link's origin this near to the joint's axis, relative to its distance from the joint's frame, is on it."""


@dataclass(frozen=True)
class JointPlan:
    """One <joint>."""

    name: str
    kind: str
    parent: str
    child: str
    before: Array
    axis: FloatArray | None = None
    link: Link | None = None  # whose limits, friction and mimic it has


@dataclass
class Plan:
    """All links with their inertia, and all joints, in the order in which they are written."""

    links: dict[str, Inertia] = field(default_factory=dict)
    joints: list[JointPlan] = field(default_factory=list)
    base: str = "base"  # what the mechanism's base is called


def plan_of(mechanism: Mechanism, keep: Collection[str] = ()) -> Plan:
    """What is written; `keep` names links that shapes hang on."""
    return _Planner(mechanism, keep).plan


class _Planner:
    """Builds a plan: the ground, the links one by one, the tool."""

    def __init__(self, mechanism: Mechanism, keep: Collection[str]) -> None:
        self.mechanism = mechanism
        self.plan = Plan()
        self.links = {"base", *mechanism.link_names}
        self.joints = {link.coordinate_name for link in mechanism.links if link.moves}
        groups = planar_groups(mechanism, keep)
        root = self._ground(keep)
        for k, link in enumerate(mechanism.links):
            if k in groups and k == groups[k].turn:
                first, name = groups[k].x, free(groups[k].joint, self.joints)
                self._add(k, name, "planar", mechanism.links[first].before, self._parent(first), axis=link.axis)
            elif k not in groups and k != root:
                self._link(k, link)
        self._tool()

    def _ground(self, keep: Collection[str]) -> int:
        """The root and what places it; the index of the link that is the base body itself, or -1."""
        mechanism, plan = self.mechanism, self.plan
        root = _root(mechanism)
        placed = not np.array_equal(mechanism.base, np.eye(4))
        if "base" in keep or (placed and not mechanism.floating):
            root = -1
        if root >= 0:
            plan.base = str(mechanism.links[root].name)
        body = mechanism.links[root].body if root >= 0 else Inertia()
        if mechanism.floating or placed:
            world = free("world", self.links)
            plan.links[world] = Inertia()
            kind, name = ("floating", "floating_base") if mechanism.floating else ("fixed", "base")
            plan.joints.append(JointPlan(free(name, self.joints), kind, world, plan.base, mechanism.base))
        plan.links[plan.base] = body
        return root

    def _parent(self, k: int) -> str:
        at = self.mechanism.parents[k]
        return self.plan.base if at < 0 else str(self.mechanism.links[at].name)

    def _link(self, k: int, link: Link) -> None:
        """A joint, and where the link's origin is not on its axis a link without mass before it."""
        if not link.moves:
            name = free(link.coordinate_name, self.joints)
            self._add(k, name, "fixed", link.before @ link.after)
            return
        before = link.before @ link.motion(0.0) if link.offset else link.before
        kind = "prismatic" if link.joint == "prismatic" else "revolute" if link.limits else "continuous"
        if kind == "prismatic" or _on_axis(link):
            turned = link.after[:3, :3].T @ link.axis
            self._add(k, link.coordinate_name, kind, before @ link.after, axis=turned, link=link)
            return
        between = free(f"{link.name}{AXIS}", self.links)
        self.plan.links[between] = Inertia()
        self.plan.joints.append(JointPlan(link.coordinate_name, kind, self._parent(k), between, before, link.axis, link))
        self._add(k, free(f"{link.coordinate_name}{FIXED}", self.joints), "fixed", link.after, between)

    def _add(self, k: int, name: str, kind: str, before: Array, parent: str | None = None, **moving: Any) -> None:
        """The k-th link and the joint that carries it, on its own parent unless another is named."""
        link = self.mechanism.links[k]
        self.plan.links[str(link.name)] = link.body
        self.plan.joints.append(JointPlan(name, kind, parent or self._parent(k), str(link.name), before, **moving))

    def _tool(self) -> None:
        """The tool on its link, with what it carries, as a link of its own."""
        mechanism = self.mechanism
        found = with_tool_at_a_tip(mechanism).tool_index == mechanism.tool_index
        if found and np.array_equal(mechanism.tool, np.eye(4)) and mechanism.payload.is_zero:
            return
        name = free("tool", self.links)
        self.plan.links[name] = mechanism.payload
        held = mechanism.link_names[mechanism.tool_index]
        self.plan.joints.append(JointPlan(free("tool", self.joints), "fixed", held, name, mechanism.tool))


def axis_links(links: Sequence[Link]) -> set[int]:
    """Places of the links without mass that a plan puts on a joint's axis where its link has the frame elsewhere."""
    fixed = {(link.parent, link.name, link.coordinate_name) for link in links if not link.moves}
    return {
        k
        for k, link in enumerate(links)
        if link.moves
        and link.body.is_zero
        and (link.name, str(link.name).removesuffix(AXIS), f"{link.coordinate_name}{FIXED}") in fixed
    }


def free(name: str, taken: set[str]) -> str:
    """The name, or the first of ``name_2``, ``name_3``, ... that is not taken; taken from now on.

    Examples
    --------
    >>> free("tool", {"tool"}), free("tool", {"arm"})
    ('tool_2', 'tool')
    """
    return unused_name(chain([name], (f"{name}_{k}" for k in count(2))), taken)


def _root(mechanism: Mechanism) -> int:
    """The one link on the base, if it sits there without a joint and is not displaced; else -1."""
    first = [k for k, parent in enumerate(mechanism.parents) if parent < 0]
    link = mechanism.links[first[0]]
    still = not link.moves and not link.joint_name and np.array_equal(link.before @ link.after, np.eye(4))
    return first[0] if len(first) == 1 and still else -1


def _on_axis(link: Link) -> bool:
    """Whether the joint's axis goes through the origin of the link's frame."""
    shift = link.after[:3, 3]
    off = np.linalg.norm(np.cross(link.axis, shift))
    return bool(off <= AT_AXIS * np.linalg.norm(shift))
