"""SRDF, the Semantic Robot Description Format of MoveIt: groups of joints and named configurations beside a URDF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem, members
from linkwise.files.formats.urdf.elements import MEANT, Notes
from linkwise.files.report import some
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.files.xml_tree import Element, XmlError, read_xml
from linkwise.mechanism import Mechanism
from linkwise.model.link import Link
from linkwise.spatial.scalar import FloatArray

#: Greatest number of names in a message.
MOST = 20

#: The joint of a floating base, as Pinocchio calls it.
ROOT = "root_joint"


@dataclass(frozen=True)
class JointGroup:
    """A group of an SRDF.

    Attributes
    ----------
    name : str
        Its name.
    joints : tuple of str
        The joints with coordinates of their own, in the order of the mechanism, those of its chains and subgroups too.
    links : tuple of str
        The links that all of its joints carry, in the order of the mechanism.
    chains : tuple of (str, str)
        The first and the last link of each chain that the file names.
    subgroups : tuple of str
        The groups that are in it.

    Examples
    --------
    >>> JointGroup("arm", joints=("shoulder", "elbow")).joints
    ('shoulder', 'elbow')
    """

    name: str
    joints: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    chains: tuple[tuple[str, str], ...] = ()
    subgroups: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Semantics:
    """Contents of an SRDF, resolved for a mechanism.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    groups : dict of str to JointGroup
        The groups by name.
    states : dict of (str, str) to dict
        The values of each named state, by group ("" where the file says none) and name: joint to numbers, rad or m, in the
        order of the coordinates here; of a floating base by the name ``base``.
    end_effectors : tuple of dict
        ``name``, ``parent_link``, ``group`` and, where there is one, ``parent_group``.
    virtual_joints : tuple of dict
        ``name``, ``type``, ``parent_frame`` and ``child_link``: how the base stands in the world.
    passive_joints : tuple of str
        Joints that nothing drives.
    disabled_collisions : tuple of (str, str, str)
        Pairs of links that are not checked against each other, and why.
    remarks : tuple of FileProblem
        What is not used.

    Examples
    --------
    >>> from linkwise import robots
    >>> Semantics(robots.planar_2r(), states={("arm", "home"): {"link2": (0.5,)}}).configuration("home")
    array([0. , 0.5])
    """

    mechanism: Mechanism
    groups: Mapping[str, JointGroup] = field(default_factory=dict)
    states: Mapping[tuple[str, str], Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    end_effectors: tuple[Mapping[str, str], ...] = ()
    virtual_joints: tuple[Mapping[str, str], ...] = ()
    passive_joints: tuple[str, ...] = ()
    disabled_collisions: tuple[tuple[str, str, str], ...] = ()
    remarks: tuple[FileProblem, ...] = ()

    def configuration(self, state: str, group: str | None = None, q: Any = None) -> FloatArray:
        """The configuration that a named state puts the joints of its group in.

        Parameters
        ----------
        state : str
            Its name.
        group : str, optional
            Its group, where several have a state of that name.
        q : (nq,) array_like, optional
            Where all other joints stay; the neutral configuration by default.

        Returns
        -------
        ndarray (nq,)
            rad and m.

        Raises
        ------
        ArgumentError
            Where there is no such state, or several; where q has another shape.

        Examples
        --------
        >>> from linkwise import robots
        >>> both = Semantics(robots.planar_2r(), states={("arm", "home"): {"link2": (0.5,)}})
        >>> both.configuration("home", q=[0.1, 0.2])
        array([0.1, 0.5])
        """
        keys = [key for key in self.states if key[1] == state and group in {None, key[0]}]
        if len(keys) != 1:
            known = [f"{name!r} of {owner!r}" for owner, name in keys or self.states]
            why = "there are several" if keys else "there is no such state"
            raise ArgumentError(f"configuration: state is {state!r}, group {group!r}: {why}; there are {', '.join(known)}")
        mechanism = self.mechanism
        result = np.array(mechanism.neutral if q is None else q, dtype=float)
        if result.shape != (mechanism.nq,):
            raise ArgumentError(f"configuration: q has the shape {result.shape}; expected ({mechanism.nq},)")
        places = {name: k for k, name in enumerate(mechanism.coordinate_names)}
        links = {link.coordinate_name: link for link in mechanism.links}
        for joint, values in self.states[keys[0]].items():
            if joint not in links:
                result[:7] = values
                continue
            for (suffix, _), value in zip(links[joint].joint_model.columns("q"), values, strict=True):
                result[places[joint + suffix]] = value
        return result


def read_srdf(path: str | Path, mechanism: Mechanism, *, drop_unknown: bool = False) -> Semantics:
    """Read the SRDF that belongs to a mechanism: groups, named states, end effectors.

    A group holds its joints, the joints of its links, all joints of its chains, and its subgroups. Quaternions of an SRDF
    have the scalar last; here they have it first. A state's values for a floating virtual joint, or for one called
    ``root_joint``, are those of the base of a floating mechanism; for other virtual joints, and for joints that follow
    another, they are left out.

    Parameters
    ----------
    path : str or Path
        The file.
    mechanism : Mechanism
        What its URDF describes; as its `replace` gives it, where its base floats.
    drop_unknown : bool
        Whether names of joints, links and groups that are not there are left out, each with a remark, as MoveIt does.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linkwise import robots
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.srdf"
    >>> _ = path.write_text('<robot name="r"><group name="arm"><chain base_link="base" tip_link="link2"/></group>'
    ...                     '<group_state name="up" group="arm"><joint name="link1" value="1.5"/></group_state></robot>')
    >>> semantics = read_srdf(path, robots.planar_2r())
    >>> semantics.groups["arm"].joints, semantics.configuration("up").tolist()
    (('link1', 'link2'), [1.5, 0.0])
    """
    notes = Notes(drops=drop_unknown)
    try:
        robot = read_xml(read_text(path, LARGEST_DESCRIPTION), "robot", notes.drop)
    except XmlError as error:
        raise FileError(path, [error.problem]) from None
    reader = _Reader(robot, mechanism, notes)
    try:
        semantics = reader.semantics()
    except RecursionError:
        raise FileError(path, [FileProblem(0, "the groups are nested too deeply")]) from None
    if reader.notes.problems:
        raise FileError(path, reader.notes.sorted_problems)
    return semantics


class _Reader:
    """Reads the elements of an SRDF, gathering their problems."""

    def __init__(self, robot: Element, mechanism: Mechanism, notes: Notes) -> None:
        self.robot, self.mechanism, self.notes = robot, mechanism, notes
        self.joints = {link.coordinate_name: k for k, link in enumerate(mechanism.links)}
        self.links = {name: k for k, name in enumerate(mechanism.link_names)} | {"base": -1}
        self.virtual = {element.get("name"): element.get("type") for element in robot.all("virtual_joint")}
        if mechanism.floating:
            self.virtual.setdefault(ROOT, "floating")
        self.elements = dict(self.notes.named(robot, "group"))
        self._open: list[str] = []
        self._read: dict[str, JointGroup] = {}

    def semantics(self) -> Semantics:
        """Return the complete contents of the file."""
        keys = {
            "end_effector": ("name", "parent_link", "group"),
            "virtual_joint": ("name", "type", "parent_frame", "child_link"),
        }
        tables = {tag: tuple(self._table(element, tag, keys[tag]) for element in self.robot.all(tag)) for tag in keys}
        passive = [self._named(element, "name", "passive_joint", self.joints) for element in self.robot.all("passive_joint")]
        groups = {name: self._group(name) for name in self.elements}
        states = dict(self._states(groups))
        pairs = tuple(
            (str(element.get("link1")), str(element.get("link2")), element.get("reason") or "")
            for element in self.robot.all("disable_collisions")
        )
        for effector, element in zip(tables["end_effector"], self.robot.all("end_effector"), strict=True):
            for key in ("group", "parent_group"):
                if key in effector and effector[key] not in groups:
                    self._unknown(element, f"end_effector: {key}", effector[key], groups)
        for child in self.robot.children:
            if child.tag not in self.robot.asked_tags:
                self.notes.leave(child, f"<{child.tag}>")
        named = tuple(joint for joint in passive if joint is not None)
        remarks = tuple(self.notes.all_remarks)
        return Semantics(
            self.mechanism, groups, states, tables["end_effector"], tables["virtual_joint"], named, pairs, remarks
        )

    def _table(self, element: Element, tag: str, needed: tuple[str, ...]) -> dict[str, str]:
        for key in needed:
            self.notes.word(f"{tag} {element.get('name')!r}", element, key)
        return dict(element.attributes)

    def _unknown(self, element: Element, item: str, name: str, known: Mapping[str, Any]) -> None:
        hint = self.notes.suggestion(name[:60], known, MEANT) or f"; there are {some(list(known), MOST, members)}"
        self.notes.drop(element, f"{item} is {name!r}, which does not exist{hint}")

    def _named(self, element: Element, key: str, item: str, known: Mapping[str, int]) -> str | None:
        """A name of a joint or link of the mechanism; None after a report, or for a virtual joint."""
        name = self.notes.word(item, element, key)
        if name is not None and name not in known and name not in self.virtual:
            self._unknown(element, f"{item}: {key}", name, known)
        return name if name in known else None

    def _group(self, name: str) -> JointGroup:
        """A group with all that is in it."""
        if name in self._read:
            return self._read[name]
        element, item = self.elements[name], f"group {name!r}"
        if name in self._open:
            self.notes.report(element, f"{item}: it is in itself")
            return JointGroup(name)
        self._open.append(name)
        inside: set[int] = set()
        for tag, known in (("joint", self.joints), ("link", self.links)):
            names = [self._named(part, "name", item, known) for part in element.all(tag)]
            inside |= {known[part] for part in names if part is not None}
        chains = []
        for part in element.all("chain"):
            ends = [self._named(part, key, item, self.links) for key in ("base_link", "tip_link")]
            if None not in ends:
                base, tip = (set(self._path(self.links[str(end)])) for end in ends)
                inside |= base ^ tip
                chains.append((str(ends[0]), str(ends[1])))
        subgroups = [self.notes.word(item, part, "name") for part in element.all("group")]
        joints: set[str] = set()
        links: set[str] = set()
        for other in subgroups:
            if other is not None and other not in self.elements:
                self._unknown(element, f"{item}: group", other, self.elements)
            elif other is not None:
                within = self._group(other)
                joints |= {*within.joints}
                links |= {*within.links}
        self._open.pop()
        order = [(k, link) for k, link in enumerate(self.mechanism.links)]
        moved = [link.coordinate_name for k, link in order if link.moves and link.mimic is None and k in inside]
        carried = [self.mechanism.link_names[k] for k, _ in order if k in inside]
        in_order = tuple(joint for joint in self.joints if joint in joints or joint in moved)
        of_links = tuple(link for link in self.mechanism.link_names if link in links or link in carried)
        known_groups = tuple(other for other in subgroups if other in self.elements)
        group = JointGroup(name, in_order, of_links, tuple(chains), known_groups)
        self._read[name] = group
        return group

    def _path(self, link: int) -> tuple[int, ...]:
        return () if link < 0 else tuple(self.mechanism.path(link))

    def _states(self, groups: Mapping[str, JointGroup]) -> Iterator[tuple[tuple[str, str], dict[str, tuple[float, ...]]]]:
        seen: dict[tuple[str, str], int] = {}
        for element in self.robot.all("group_state"):
            name, group = self.notes.word("a group_state", element, "name"), element.get("group") or ""
            if name is None:
                continue
            item = f"group_state {name!r} of {group!r}" if group else f"group_state {name!r}"
            if group and group not in groups:
                self._unknown(element, f"{item}: group", group, groups)
            if (group, name) in seen:
                self.notes.report(element, f"{item} occurs twice, first in line {seen[group, name]}")
                continue
            seen[group, name] = element.line
            pairs = (self._value(part, item) for part in element.all("joint"))
            yield (group, name), dict(pair for pair in pairs if pair is not None)

    def _value(self, element: Element, item: str) -> tuple[str, tuple[float, ...]] | None:
        """The values of a joint in the order of its coordinates here; None after a report, or where it has none."""
        joint = self._named(element, "name", item, self.joints)
        text = self.notes.word(item, element, "value")
        of_base = joint is None and self.mechanism.floating and self.virtual.get(element.get("name")) == "floating"
        if text is None or (joint is None and not of_base):
            return None
        link = Link(joint="floating") if joint is None else self.mechanism.links[self.joints[joint]]
        if link.mimic is not None or not link.joint_model.nq:
            return None
        values = self.notes.finite(element, f"{item}: value of {element.get('name')!r}", text, link.joint_model.nq)
        if values is None:
            return None
        numbers = [*values]
        if at := link.joint_model.quaternion:
            *vector, scalar = numbers[at]
            numbers[at] = [scalar, *vector]
        return joint or "base", tuple(numbers)
