"""The links and joints of URDF that stand for a mechanism: each link frame where it has it, q with the same meaning."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from linkwise.files.formats.urdf.planar import planar_groups
from linkwise.files.suggestions import with_tool_at_a_tip
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.spatial.scalar import Array, FloatArray

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
                self._add(name, "planar", self._parent(first), k, mechanism.links[first].before, link.axis)
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
            self._add(name, "fixed", self._parent(k), k, link.before @ link.after)
            return
        before = link.before @ link.motion(0.0) if link.offset else link.before
        kind = "prismatic" if link.joint == "prismatic" else "revolute" if link.limits else "continuous"
        if kind == "prismatic" or _on_axis(link):
            turned = link.after[:3, :3].T @ link.axis
            self._add(link.coordinate_name, kind, self._parent(k), k, before @ link.after, turned, link)
            return
        between = free(f"{link.name}{AXIS}", self.links)
        self.plan.links[between] = Inertia()
        self.plan.joints.append(JointPlan(link.coordinate_name, kind, self._parent(k), between, before, link.axis, link))
        self._add(free(f"{link.coordinate_name}{FIXED}", self.joints), "fixed", between, k, link.after)

    def _add(
        self,
        name: str,
        kind: str,
        parent: str,
        k: int,
        before: Array,
        axis: FloatArray | None = None,
        of: Link | None = None,
    ) -> None:
        link = self.mechanism.links[k]
        self.plan.links[str(link.name)] = link.body
        self.plan.joints.append(JointPlan(name, kind, parent, str(link.name), before, axis, of))

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
        if link.moves and link.body.is_zero and _fixed_on_axis(str(link.name), link.coordinate_name) in fixed
    }


def _fixed_on_axis(between: str, joint: str) -> tuple[str, str, str]:
    """What hangs on a link that a plan put between: its parent, its name, the name of its joint."""
    return between, between.removesuffix(AXIS), f"{joint}{FIXED}"


def free(name: str, taken: set[str]) -> str:
    """The name, or the first of ``name_2``, ``name_3``, ... that is not taken; taken from now on.

    Examples
    --------
    >>> free("tool", {"tool"}), free("tool", {"arm"})
    ('tool_2', 'tool')
    """
    found = next(each for each in _numbered(name) if each not in taken)
    taken.add(found)
    return found


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{k}" for k in count(2))


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
