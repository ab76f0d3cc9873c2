"""Joints of SDF as the reader passes them on, gearboxes, and the tree that they make."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwise.files.formats.sdf.document import Values
from linkwise.files.formats.sdf.frames import MOST, WORLD, Scope
from linkwise.files.report import listed, some
from linkwise.files.xml_tree import Element
from linkwise.model.mimic import Mimic
from linkwise.model.spring import Spring
from linkwise.spatial.scalar import FloatArray

#: Tolerance of parallel axes: difference of their directions.
PARALLEL = 1e-6


@dataclass
class SdfJoint:
    """Contents of a ``<joint>``.

    Attributes
    ----------
    name, kind : str
        Its name in the mechanism and its kind there.
    element : Element
        Where it stands.
    parent, child : str
        The links that it joins, by their names in the mechanism; `linkwise.files.formats.sdf.frames.WORLD` for
        the ground.
    frame : ndarray (4, 4)
        T_world_joint in the pose that the file describes.
    start : ndarray (4, 4), optional
        The same of the frame in the parent that it meets at zero, where that is another one.
    fields : dict
        axis, pitch, limits, qd_max, tau_max, motor and mimic of a `Link`.
    springs : list of Spring
        On its coordinates.
    """

    name: str
    kind: str
    element: Element
    parent: str
    child: str
    frame: FloatArray
    start: FloatArray | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    springs: list[Spring] = field(default_factory=list)

    def reversed(self) -> SdfJoint:
        """The joint that carries its parent: about the opposite axis, by the same coordinate; of a ball the inverse turn."""
        fields = {key: -np.asarray(value) if key == "axis" else value for key, value in self.fields.items()}
        return replace(self, parent=self.child, child=self.parent, fields=fields)


@dataclass(frozen=True)
class Gearbox:
    """A gearbox: the angles of two bodies relative to a common reference body have a fixed ratio.

    Attributes
    ----------
    joint : SdfJoint
        What joins the two other bodies, by its element.
    reference : str
        The body that it stands on, by its name in the mechanism.
    axes : sequence of ndarray (3,)
        About which the angles of the joint's parent and child count, in the world in the pose that the file describes.
    ratio : float
        The angle of the child is -ratio times that of the parent.
    """

    joint: SdfJoint
    reference: str
    axes: Sequence[FloatArray]
    ratio: float

    def couple(self, joints: Iterable[SdfJoint], values: Values) -> None:
        """Let the joint between reference and child follow that between reference and parent.

        SDFormat, element ``gearbox_ratio``: theta_2 = -ratio theta_1, from the reference body to child and parent.
        """
        element, item = self.joint.element, f"joint {self.joint.name!r}"
        revolute = [joint for joint in joints if joint.kind == "revolute"]
        turns = []
        for body, axis in zip((self.joint.parent, self.joint.child), self.axes, strict=True):
            ends = {self.reference, body}
            between = [joint for joint in revolute if {joint.parent, joint.child} == ends]
            if len(between) != 1:
                count = f"{len(between)} revolute joints are" if between else "no revolute joint is"
                values.report(element, f"{item}: {count} between {self.reference!r} and {body!r}; expected one")
                return
            turning = between[0].frame[:3, :3] @ np.asarray(between[0].fields["axis"], dtype=float)
            along = float(axis @ turning / np.linalg.norm(turning) / np.linalg.norm(axis))
            if not abs(along) > 1.0 - 0.5 * PARALLEL**2 - 4e-16:
                values.report(element, f"{item}: its axis is not that of {between[0].name!r}; expected parallel axes")
                return
            turns.append((between[0], np.sign(along) * (1.0 if between[0].child == body else -1.0)))
        (leader, sign), (follower, other_sign) = turns
        if follower.fields.get("mimic") is not None:
            values.report(element, f"{item}: {follower.name!r} follows another joint already; expected one coupling")
            return
        follower.fields["mimic"] = Mimic(leader.name, float(-self.ratio * sign * other_sign))


#: Kinds of loop closure for joints whose child is already carried by another one.
CLOSURES = {"revolute": "hinge", "ball": "point", "fixed": "full"}


@dataclass
class SdfLink:
    """A ``<link>``: name in the mechanism, element, scope, T_world_link (4, 4), body data, whether it is static."""

    name: str
    element: Element
    scope: Scope
    frame: FloatArray
    body: dict[str, Any]


#: The joints that can carry their parent.
REVERSIBLE = ("revolute", "prismatic", "screw", "ball", "fixed")


def _lost_as_loop(joint: SdfJoint) -> int:
    """0 for a joint that cannot close a loop, 1 for one with a spring or motor, which would be lost, 2 for others."""
    return 0 if joint.kind not in CLOSURES else 1 if joint.springs or "motor" in joint.fields else 2


class JointTree:
    """Division of the joints into those of the spanning tree and those that close loops.

    Attributes
    ----------
    roots : list of str
        The links on the ground, or free in the world.
    joints : list of SdfJoint
        Those of the tree, in the order of the file.
    closing : list of SdfJoint
        Those whose child another one carries.
    """

    def __init__(self, values: Values, links: Mapping[str, SdfLink], joints: Iterable[SdfJoint]) -> None:
        self.values, self.links = values, links
        within = [
            joint for joint in joints if self._static(joint.child) and (joint.parent == WORLD or self._static(joint.parent))
        ]
        for joint in within:
            values.remark(joint.element, f"joint {joint.name!r} is left out, for it is in a static model")
        self._leaving: dict[str, list[tuple[int, int, SdfJoint]]] = {}
        self._entering: dict[str, list[tuple[int, SdfJoint]]] = {}
        self._all = [joint for joint in joints if joint not in within]
        best: dict[str, int] = {}
        for joint in self._all:
            best[joint.child] = min(_lost_as_loop(joint), best.get(joint.child, 2))
        for k, joint in enumerate(self._all):
            self._leaving.setdefault(joint.parent, []).append((_lost_as_loop(joint) - best[joint.child], k, joint))
            self._entering.setdefault(joint.child, []).append((k, joint))
        carried = {joint.child for joint in self._all}
        standing = [name for name in links if self._static(name)]
        loose = [name for name in links if name not in carried]
        # (from the ground and from free links, backwards too; at once if the rest closes no loop)
        for starts, backwards in ((standing, True), (standing, False), ([*standing, *loose], False)):
            self.root_of: dict[str, str] = {WORLD: WORLD}
            self._chosen: dict[int, SdfJoint] = {}
            self.roots: list[str] = []
            self._grow(WORLD, starts, backwards=backwards)
            for name in [*loose, *links]:  # (a ring that nothing carries hangs on its first link)
                self._grow(None, [name], backwards=backwards)
            if all(joint.kind in CLOSURES for k, joint in enumerate(self._all) if k not in self._chosen):
                break
        self.joints = [self._chosen[k] for k in sorted(self._chosen)]
        self.closing = [joint for k, joint in enumerate(self._all) if k not in self._chosen]
        for joint in (joint for joint in self.joints if joint not in self._all):
            stays = "is of that link as seen from the other" if joint.kind == "ball" else "is the same"
            held = "the ground" if self._ground(joint.parent) == WORLD else repr(self.root_of[joint.parent])
            text = f"it carries {joint.child!r}, its parent, for its child {joint.parent!r} is held by {held}"
            values.remark(joint.element, f"joint {joint.name!r}: {text}; its coordinate {stays}")

    def _static(self, name: str) -> bool:
        return name in self.links and self.links[name].scope.static

    def _grow(self, ground: str | None, starts: Iterable[str], *, backwards: bool = False) -> None:
        """Reach the links that hang on roots; of two joints to one link, take the one that would lose most as a loop.

        Backwards, a joint carries its parent where nothing else reaches that.
        """
        fresh = [name for name in starts if name not in self.root_of]
        self.roots += fresh
        self.root_of |= {name: name for name in fresh}
        heap: list[tuple[bool, int, int, SdfJoint]] = []

        def reach(name: str) -> None:
            for loss, k, joint in self._leaving.get(name, ()):
                heapq.heappush(heap, (False, loss, k, joint))
            for k, joint in self._entering.get(name, ()) if backwards else ():
                if joint.kind in REVERSIBLE:
                    heapq.heappush(heap, (True, 0, k, joint.reversed()))

        for name in [*([ground] if ground else []), *fresh]:
            reach(name)
        while heap:
            _, _, k, joint = heapq.heappop(heap)
            if joint.child in self.root_of:
                continue
            self._chosen[k] = joint
            self.root_of[joint.child] = self.root_of[joint.parent]
            reach(joint.child)

    @property
    def free(self) -> list[str]:
        """Return the roots that are not fixed to the ground."""
        return [name for name in self.roots if not self._static(name)]

    @property
    def one_floats(self) -> bool:
        """True if exactly one tree moves, and it is free: the base floats. Otherwise free bodies are links."""
        moving = {self._ground(joint.child) for joint in self.joints if joint.kind != "fixed"} | set(self.free)
        tied = any({self._ground(joint.parent), self._ground(joint.child)} != moving for joint in self.closing)
        return len(moving) == 1 and moving == set(self.free) and not tied

    def _ground(self, name: str) -> str:
        """The free root that carries a link, or the world."""
        root = self.root_of[name]
        return WORLD if root == WORLD or self._static(root) else root

    def drop_still(self) -> None:
        """Drop links fixed to the ground, which a floating mechanism cannot have."""
        dropped = [name for name in self.links if self._ground(name) == WORLD]
        for name in dropped:
            self.values.remark(
                self.links[name].element,
                f"link {name!r} is left out: it is on the ground, which is impossible for a link of a floating mechanism",
            )
        self._keep({name for name in self.links if name not in dropped})

    def keep_root(self, element: Element, root: str, models: list[str]) -> None:
        """Drop links that are not connected to the root."""
        if root not in self.roots:
            names = [*models, *self.roots]
            self.values.report(element, f"root is {root!r}; expected a model or a root: {some(names, MOST)}")
            return
        kept = {name for name in self.links if self.root_of[name] == root}
        others = [name for name in self.links if name not in kept]
        if others:
            message = f"left out, as they are not connected to {root!r}: {some(others, MOST, listed)}"
            self.values.remark(self.links[others[0]].element, message)
        self._keep(kept)

    def _keep(self, kept: set[str]) -> None:
        for name, link in self.links.items():
            if name not in kept:
                link.element.attributes, link.element.children = {}, []
        self.roots = [name for name in self.roots if name in kept]
        self.joints = [joint for joint in self.joints if joint.child in kept]
        self.closing = [joint for joint in self.closing if joint.child in kept and joint.parent in kept]
