"""The reader of MJCF, the format of MuJoCo: bodies, actuators' rotors, equality constraints; docs/mjcf.md."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import FileProblem, choices, members, shown
from linkwise.files.formats.mjcf.attachment import Attacher
from linkwise.files.formats.mjcf.attributes import (
    ACTUATOR,
    ACTUATORS,
    EQUALITIES,
    LEAST,
    ORDER,
    TENDON,
    Attributes,
    Defaults,
    check_known,
    check_tag,
    float_transform,
    named,
    offered,
)
from linkwise.files.formats.mjcf.bodies import CONTESTED, WORLD, BodyElement, BodyTree, MjcfJoint, Site, repeated, scaled_to
from linkwise.files.formats.mjcf.document import Includer, Settings, keep_body, settings_of
from linkwise.files.formats.mjcf.meshes import Meshes
from linkwise.files.formats.mjcf.replication import Replicator
from linkwise.files.report import Description, Reading, Report, attempt, some, unused_name, with_tool_at_a_tip
from linkwise.files.toml_text import Place
from linkwise.files.xml_tree import Element, XmlError, read_xml
from linkwise.mechanism import Mechanism
from linkwise.model.joints.ball import ROTATION_COLUMNS
from linkwise.model.joints.floating import POSE_COLUMNS
from linkwise.model.joints.joint import Columns
from linkwise.model.link import Link
from linkwise.model.loop import BASE, Loop
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.model.shape import Shape
from linkwise.model.spring import ForceElement, LinearSpringDamper, Spring
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, translation

WHY = "what drives the joints is not a part of the mechanism"


class Actuators:
    """Reads the actuators; `motors` are those with an inertia or a damping of their own, with what said them."""

    def __init__(
        self, log: Report, defaults: Defaults, settings: Settings, joints: Collection[str], still: Collection[str]
    ) -> None:
        self.log, self.defaults, self.settings = log, defaults, settings
        self.joints, self.still = joints, still
        self.motors: list[tuple[Attributes, Motor]] = []

    def read(self, section: Element) -> None:
        """Take in an ``<actuator>``."""
        for element in section.children:
            if element.tag not in (*ACTUATORS, "plugin"):
                self.log.report(element, f"there is no actuator <{element.tag}>; expected {choices(ACTUATORS)}")
                continue
            self.log.leave(element, f"<{element.tag}> of <actuator>", WHY)
            defaults = self.defaults.of(element, ())
            self._rotor(Attributes(element, named(element), self.log, ACTUATOR, defaults))

    def _rotor(self, said: Attributes) -> None:
        """A rotor with its gear: its inertia and damping are multiplied by the square of the ratio."""
        inertia, damping = said.number("armature"), said.damping()
        gear = (said.numbers("gear", 1, 6) or [1.0])[0]
        viscous = 0.0 if {"damper", "passive"} & self.settings.disabled else damping
        if (inertia == 0 and viscous == 0) or gear == 0:
            return
        joint = said.text("joint") or said.text("jointinparent")
        if joint is None:
            said.report("its armature or damping acts on something else than a joint, which cannot be said here")
        elif joint in self.still:
            return
        elif joint not in self.joints:
            said.report(f"joint is {shown(joint)}; the hinges and slides are {offered(self.joints)}", "joint")
        elif motor := said.build(lambda: Motor(inertia, gear, viscous, joint=joint)):
            self.motors.append((said, motor))


OTHERS = ("flex", "flexvert", "flexstrain", "distance")


#: One side of a loop: the place of its body and T_body_frame.
End = tuple[int, FloatArray]


class Equalities:
    """Reads the equality constraints of a file.

    Attributes
    ----------
    follows : dict of str to Mimic
        Joints that follow another.
    stays : dict of str to float
        Joints that stay at a coordinate, rad or m.
    loops : list of (Attributes, Loop)
        Loops, by the names of the links.
    floats : bool
        Whether the base floats: not a free body that something ties to the ground, which is a link on a floating joint.
    """

    def __init__(
        self, log: Report, defaults: Defaults, settings: Settings, bodies: BodyTree, links: list[str], drop: bool
    ) -> None:
        self.log, self.defaults, self.settings, self.drop = log, defaults, settings, drop
        self.bodies, self.links = bodies.elements, links
        self.places = {body.name: k for k, body in enumerate(bodies.elements) if body.name} | {"world": WORLD}
        self.sites = {name: site for site in bodies.sites if (name := site.attributes.text("name"))}
        self.joints = {j.name: j for body in bodies.elements for j in body.joints if j.name and j.kind != "ball"}
        self.reference = {WORLD: np.eye(4)}  # T_world_body in the pose that the file describes
        for k, body in enumerate(bodies.elements):
            self.reference[k] = self.reference[body.parent] @ body.frame
        self.floats = one_floats(bodies.elements)
        self.tendons: dict[str, Element] = {}
        self.used: set[str] = set()
        self.follows: dict[str, Mimic] = {}
        self.stays: dict[str, float] = {}
        self.loops: list[tuple[Attributes, Loop]] = []
        self._bound: dict[str, Element] = {}

    def read(self, section: Element) -> None:
        """Take in an ``<equality>``."""
        for element in section.children:
            if element.tag not in (*EQUALITIES, *OTHERS):
                expected = choices([*EQUALITIES, *OTHERS])
                self.log.report(element, f"there is no equality <{element.tag}>; expected {expected}")
                continue
            known = EQUALITIES.get(element.tag, tuple(element.attributes))
            # a class says solver parameters of all equalities alike, and whether they are active
            defaults = self.defaults.of(element, (), "equality")
            said = Attributes(element, f"equality {named(element)}", self.log, known, defaults)
            if not said.flag("active", True) or {"equality", "constraint"} & self.settings.disabled:
                self.log.remark(element, f"{said.item} is not active, and left out")
            elif element.tag in OTHERS:
                self._cannot(said, "only joints, tendons, points and frames can be tied here")
            elif element.tag == "joint":
                self._joint(said)
            elif element.tag == "tendon":
                self._tendon(said)
            else:
                self._loop(said, element.tag)

    def settle(self) -> None:
        """Let what follows a joint that stays, stay too."""
        followers: dict[str, list[str]] = {}
        for name, mimic in self.follows.items():
            followers.setdefault(mimic.joint, []).append(name)
        settled = list(self.stays)
        for joint in settled:  # (grows)
            for name in followers.get(joint, ()):
                mimic = self.follows.pop(name)
                self.stays[name] = mimic.ratio * self.stays[joint] + mimic.offset
                settled.append(name)

    # ── joints ────────────────────────────────────────────────────────────────────────────────────

    def _joint(self, said: Attributes) -> None:
        """q1 - ref1 = a0 + a1 (q2 - ref2): MuJoCo counts from the pose that the file describes."""
        first = said.lookup("joint1", self.joints, "hinges and slides")
        second = said.lookup("joint2", self.joints, "hinges and slides", needed=False)
        if first is None or (second is None and "joint2" in said):
            return
        if second is first:
            said.report(f"joint {shown(first.name)} follows itself", "joint2")
            return
        if line := self._line(said, second is not None):
            self._bind(said, first, second, line[1], line[0], "joint1")

    def _tendon(self, said: Attributes) -> None:
        """The same of the lengths of fixed tendons, sums of joint coordinates, where that leaves one joint or two."""
        keys = ("tendon1", "tendon2")
        lengths = [said.lookup(key, self.tendons, "fixed tendons", needed=key == keys[0]) for key in keys]
        if lengths[0] is None or (lengths[1] is None and "tendon2" in said):
            return
        line = self._line(said, lengths[1] is not None)
        if line is None:
            return
        shift, slope = line
        factors: dict[str, float] = {}
        for tendon, share in zip(lengths, (1.0, -slope), strict=True):
            for part in () if tendon is None else tendon.all("joint"):
                wrap = Attributes(part, f"{said.item}: <joint>", self.log, ("joint", "coef"))
                if (joint := wrap.lookup("joint", self.joints, "hinges and slides")) is None:
                    return
                factors[str(joint.name)] = factors.get(str(joint.name), 0.0) + share * wrap.number("coef")
        tied = sorted((name for name, factor in factors.items() if factor), key=lambda name: name in self._bound)
        if not 1 <= len(tied) <= 2:
            count = f"{len(tied)} joints" if tied else "no joint"
            self._cannot(said, f"it ties {count}; only one or two can be tied here")
            return
        first, second = self.joints[tied[0]], self.joints[tied[1]] if tied[1:] else None
        ratio = -factors[tied[1]] / factors[tied[0]] if second else 1.0
        self._bind(said, first, second, ratio, shift / factors[tied[0]], "tendon1")

    def _cannot(self, said: Attributes, why: str, key: str | None = None) -> None:
        """Refuse an equality that cannot be said here, or leave it out where that is wanted."""
        if self.drop:
            self.log.remark(said.element, f"{said.item} is left out: {why}")
        else:
            said.report(f"{why}; active = 'false' leaves it out, drop_equalities=True all such", key)

    def _line(self, said: Attributes, follows: bool) -> tuple[float, float] | None:
        """The coefficients a0 and a1 of what follows; None of a polynomial of higher degree."""
        coefficients = said.numbers("polycoef", 1, 5) or []
        poly = coefficients + [0.0, 1.0, 0.0, 0.0, 0.0][len(coefficients) :]
        if follows and any(poly[2:]):
            why = f"polycoef is {poly!r}, a polynomial of higher degree; only a0 + a1 x can be followed here"
            self._cannot(said, why, "polycoef")
            return None
        return poly[0], poly[1]

    def _bind(
        self, said: Attributes, first: MjcfJoint, second: MjcfJoint | None, ratio: float, shift: float, key: str
    ) -> None:
        """q1 - ref1 = shift + ratio (q2 - ref2), or without a second joint the shift alone."""
        name = str(first.name)
        if name in self._bound:
            said.report(f"joint {shown(name)} is bound already, in {self._bound[name].place}", key)
            return
        self._bound[name] = said.element
        if second is None:
            self.stays[name] = first.ref + shift
        elif mimic := said.build(lambda: Mimic(str(second.name), ratio, first.ref + shift - ratio * second.ref)):
            self.follows[name] = mimic

    # ── loops ─────────────────────────────────────────────────────────────────────────────────────

    def _loop(self, said: Attributes, tag: str) -> None:
        by_sites, by_bodies = (any(f"{noun}{k}" in said for k in (1, 2)) for noun in ("site", "body"))
        if by_sites == by_bodies:
            both = "both bodies and sites" if by_sites else "neither bodies nor sites"
            said.report(f"it names {both}; expected body1 (and body2), or site1 and site2")
            return
        ends = self._of_sites(said) if by_sites else self._of_bodies(said, tag)
        if ends is None:
            return
        self.floats = self.floats and not any(self.stands(body) for body, _ in ends)
        kind = "point" if tag == "connect" or said.number("torquescale", 1.0) == 0 else "full"
        first, second = ("base" if body == WORLD else self.links[body] for body, _ in ends)
        frames = ends[0][1], ends[1][1]
        if loop := said.build(lambda: Loop(kind, first, second, *frames, said.text("name"))):
            self.loops.append((said, loop))

    def untie(self, paths: Iterable[Attributes]) -> None:
        """Let no base float that a spatial tendon with a spring or damper ties to the ground."""
        for path in paths:
            sites = [self.sites.get(part.get("site") or "") for part in path.element.children]
            if _pulls(path) and any(site is not None and self.stands(site.body) for site in sites):
                self.floats = False

    def stands(self, body: int) -> bool:
        """Whether a body stands in the world, beside the one that floats."""
        while body != WORLD and self.bodies[body].parent != WORLD:
            body = self.bodies[body].parent
        return body == WORLD or self.bodies[body].free_joint is None

    def _of_sites(self, said: Attributes) -> list[End] | None:
        sites: list[Site] = []
        for key in ("site1", "site2"):
            site = said.lookup(key, self.sites, "sites")
            if site is not None:
                sites.append(site)
                name = str(said.text(key))
                self.used.add(name)
                if (contested := site.attributes.contested) and said.element.tag == "weld":
                    said.report(f"{key} is {shown(name)}: {CONTESTED.format(contested)}; expected one", key)
        return [(site.body, site.frame) for site in sites] if len(sites) == 2 else None

    def _of_bodies(self, said: Attributes, tag: str) -> list[End] | None:
        """The ends where the constraint holds in the pose that the file describes, or as relpose says."""
        first, second = (said.lookup(key, self.places, "bodies", usual) for key, usual in _BODIES.items())
        anchor = said.row("anchor", 3, (0.0, 0.0, 0.0))
        if tag == "connect" and "anchor" not in said:
            said.report("it has no anchor; expected its point in the frame of body1")
            return None
        if first is None or second is None:
            return None
        point = float_transform(None, anchor)
        to_second = np.asarray(inverse(self.reference[first]) @ self.reference[second], dtype=float)
        if tag == "connect":
            there = np.asarray(inverse(to_second), dtype=float) @ point
            return [(first, point), (second, float_transform(None, there[:3, 3]))]
        relative = said.row("relpose", 7, (0.0,) * 7)
        size = float(np.linalg.norm(relative[3:]))
        if not any(relative[3:]):
            return [(first, to_second @ point), (second, point)]
        if not LEAST < size < np.inf:
            said.report(f"relpose is {relative!r}; expected a position and a quaternion", "relpose")
            return None
        turn = quaternion_rotation(np.array(relative[3:]) / size)
        return [(first, float_transform(turn, relative[:3])), (second, point)]


#: The attributes that name bodies, and which is meant where one is missing.
_BODIES = {"body1": None, "body2": "world"}


#: What the kinds of joints are called here.
KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "ball"}

BODY_FIELDS = ("mass", "com", "inertia")


class Links:
    """Makes the links, and knows where each was said.

    Attributes
    ----------
    model_links : list of Link
        The links, each after its parent.
    lines : dict
        Line of each place, as `Reading` has them.
    items : dict of str to Attributes
        What said the links and the joints, by the names that messages of the model call them.
    """

    def __init__(
        self, names: LinkNames, follows: Mapping[str, Mimic], stays: Mapping[str, float], *, physical: bool, floats: bool
    ) -> None:
        self.names, self.follows, self.stays, self.physical, self.floats = names, follows, stays, physical, floats
        self.model_links: list[Link] = []
        self.between: set[int] = set()
        self.lines: dict[Place, int] = {}
        self.items: dict[str, Attributes] = {}
        self.springs: list[ForceElement] = []
        self.motors: list[tuple[Attributes, Motor]] = []

    def add(self, k: int, body: BodyElement) -> None:
        """The links of the k-th body."""
        parent = "base" if body.parent == WORLD else self.names.bodies[body.parent]
        name = self.names.bodies[k]
        mass = {"mass": body.inertia.mass, "com": body.inertia.com, "inertia": body.inertia.tensor}
        if body.free_joint is not None and not self.floats:
            joint_name = self.names.joint(body.free_joint.text("name"), name)
            values = {"joint": "floating", "joint_name": joint_name, "name": name, "parent": parent, **mass}
            self._link(body, None, values)
            self._drive(body.free_joint, body.free_motor, joint_name or name, POSE_COLUMNS)
            return
        if not body.joints:
            if body.free_joint is not None:
                self._drive(body.free_joint, body.free_motor, BASE, POSE_COLUMNS)
            before = np.eye(4) if body.free_joint is not None else body.frame
            self._link(body, None, {"joint": "fixed", "before": before, "name": name, "parent": parent, **mass})
            return
        before = body.frame
        for at, joint in enumerate(body.joints):
            last = at == len(body.joints) - 1
            link_name = name if last else self.names.part(k, at, joint.name)
            placed = self._placed(joint, before)
            if not last:
                self.between.add(len(self.model_links))
            self._link(body, joint, {"name": link_name, "parent": parent, **placed, **(mass if last else {})})
            parent, before = link_name, np.eye(4)

    def _placed(self, joint: MjcfJoint, before: FloatArray) -> dict[str, Any]:
        """A J(q) B of a joint: its motion is about or along an axis through its point, and the frame stays the body's."""
        to = np.asarray(translation(*joint.pos), dtype=float)
        back = np.asarray(translation(*(-joint.pos)), dtype=float)
        name, kind = joint.name, KINDS[joint.kind]
        if kind == "ball":
            return {"joint": kind, "before": before @ to, "after": back}
        if name is not None and name in self.stays:
            moved = Link(joint=kind, axis=joint.axis).motion(self.stays[name] - joint.ref)
            return {"joint": "fixed", "before": before @ to @ np.asarray(moved, dtype=float) @ back}
        frames = {"before": before @ to, "after": back, "axis": joint.axis}
        mimic = self.follows.get(name) if name else None
        return {"joint": kind, **frames, "offset": 0.0 - joint.ref, "mimic": mimic, **joint.fields}

    def _drive(self, said: Attributes, motor: Motor | None, joint: str, columns: Mapping[str, Columns]) -> None:
        """The same motor for each velocity of a joint with a quaternion."""
        if motor is not None:
            self.motors += [(said, motor.replace(joint=f"{joint}{ending}")) for ending, _ in columns["qd"]]

    def _link(self, body: BodyElement, joint: MjcfJoint | None, values: dict[str, Any]) -> None:
        """One link, or a bare one in its place after a report."""
        at, name = len(self.model_links), values["name"]
        said = body.attributes if joint is None else joint.attributes
        inertial = body.inertial or body.attributes
        if joint is not None and values["joint"] != "fixed":
            values["joint_name"] = self.names.joint(joint.name, name)
            if joint.spring is not None:
                stiffness, rest_length = joint.spring
                self.springs.append(Spring(values["joint_name"] or name, stiffness, rest_length))
            if joint.kind == "ball":
                self._drive(said, joint.fields["motor"], values["joint_name"] or name, ROTATION_COLUMNS)
            self.items[f"joint {values['joint_name'] or name!r}"] = said
        link, wrong = attempt(body.attributes.item, lambda: Link(**values))
        if link is None and not self.physical:  # marks only what cannot exist
            link, wrong = attempt(body.attributes.item, lambda: Link(**values, physical=False))
        for problem in wrong:
            (inertial if problem.field in BODY_FIELDS else said).tell(problem)
        self.items[f"link {name!r}"] = body.attributes
        self.lines["link", at] = body.attributes.element.line
        self.lines.update({("link", at, field): inertial.element.line for field in BODY_FIELDS})
        bare, _ = attempt("link", lambda: Link(name=name, parent=values["parent"]))
        self.model_links.append(link or bare or Link(name=f"?{at}", parent="base"))


def one_floats(bodies: Sequence[BodyElement]) -> bool:
    """Whether there is one tree that moves, and it moves freely: the base floats. Others are links that do."""
    still = still_roots(bodies)
    moving = [body for k, body in enumerate(bodies) if body.parent == WORLD and k not in still]
    return len(moving) == 1 and moving[0].free_joint is not None


def still_roots(bodies: Sequence[BodyElement]) -> set[int]:
    """The bodies in the world under which nothing moves, by place."""
    roots: list[int] = []
    moving = set()
    for body in bodies:
        roots.append(len(roots) if body.parent == WORLD else roots[body.parent])
        if body.moves:
            moving.add(roots[-1])
    return set(roots) - moving


class LinkNames:
    """Names of links: those of the bodies, ``body3`` where there is none (the world is 0), and one for each further joint.

    A body of several joints is a chain of links: the last is the body; one before it has its name and that of its joint.
    """

    def __init__(self, log: Report, bodies: Sequence[BodyElement]) -> None:
        self.taken = {body.name for body in bodies if body.name} | {"base"}
        self.bodies = [self._body(log, k, body) for k, body in enumerate(bodies)]
        self.joints = {joint.name for body in bodies for joint in body.joints if joint.name}
        self.joints |= {name for body in bodies if body.free_joint and (name := body.free_joint.text("name"))}

    def _body(self, log: Report, k: int, body: BodyElement) -> str:
        if body.name == "base":
            return log.name_of_base(body.attributes.element, "body", self.taken)
        return body.name or unused_name((f"body{k + 1}{'_' * more}" for more in count()), self.taken)

    def part(self, body: int, k: int, joint: str | None) -> str:
        """The link that the k-th joint of a body carries, where it is not the last one."""
        start = f"{self.bodies[body]}_{joint or k + 1}"
        return unused_name((start + "_" * more for more in count()), self.taken)

    def joint(self, joint: str | None, link: str) -> str | None:
        """What the joint of a link is called, where that is not the link's name."""
        if joint:
            return None if joint == link else joint
        if link not in self.joints:
            return None
        return unused_name((f"{link}_joint{'_' * more}" for more in count()), self.joints)


READ = ("compiler", "option", "default", "worldbody", "equality", "actuator")

#: Sections that are left out, and why.
LEFT = {
    "size": "it is for the simulator's memory",
    "statistic": "it is for pictures and the simulator",
    "visual": "it is for pictures",
    "extension": "what a plugin does is not known here",
    "asset": "only meshes that give a mass are opened",
    "contact": "bodies do not touch each other here",
    "tendon": "only fixed tendons and straight ones with a stiffness, damping or armature of their own act here",
    "sensor": "Linkwise has no sensors",
    "custom": "it is for other programs",
    "keyframe": "it is a state, not a part of the mechanism",
}

KNOWN = (*READ, *LEFT)

#: How many bodies one message names.
MOST_NAMED = 10


def parse(
    text: str,
    name: str = "",
    physical: bool = True,
    folder: Path | None = None,
    *,
    include_root: str | Path | None = None,
    root: str | None = None,
    drop_free_armature: bool = False,
    drop_equalities: bool = False,
) -> Reading:
    r"""Read the text of an MJCF file.

    Parameters
    ----------
    text : str
        The text, line ends as ``\n``.
    name : str
        Name of the mechanism where the file gives none.
    physical : bool
        Whether each inertia must be that of a body that can exist. False accepts the others, and marks them.
    folder : Path, optional
        The folder of the file, below which files that it includes may be.
    include_root : str or Path, optional
        Another folder below which they may be.
    root : str, optional
        The body in the world that is read, of a file that describes several mechanisms.
    drop_free_armature : bool
        Whether the armature of a free joint is left out.
    drop_equalities : bool
        Whether equalities that cannot be said here are left out.

    Examples
    --------
    >>> body = '<body name="arm"><joint range="-90 90"/><geom type="capsule" size="0.1" fromto="0 0 0 0 0 1"/></body>'
    >>> reading = parse(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    >>> reading.description.mechanism.q_max.round(3).tolist()
    [1.571]
    """
    try:
        top = read_xml(text, "mujoco")
        log = Report()
        includer = Includer(folder, log, include_root)
        includer.expand(top)
        attacher = Attacher(top, log, includer)
        attacher.expand(top)
        Replicator(top, log, settings_of(top, Report())).expand(top)
        if root is not None:
            keep_body(log, top, root)
        with np.errstate(all="ignore"):
            dropped = {"drop_free_armature": drop_free_armature, "drop_equalities": drop_equalities}
            return _Reader(top, name, physical, log, attacher, **dropped).reading()
    except XmlError as error:
        return Reading(None, [error.problem], {})
    except RecursionError:
        return Reading(None, [FileProblem(0, "the elements are nested too deeply")], {})


def _tendon(element: Element, log: Report, defaults: Defaults) -> Attributes:
    item = f"tendon {shown(element.get('name'))}"
    return Attributes(element, item, log, TENDON, defaults.of(element, (), "tendon"))


def _pulls(said: Attributes) -> bool:
    """Whether a tendon has a spring, damper or inertia, and is a fixed one or goes straight from site to site."""
    if said.element.tag != "fixed" and any(part.tag != "site" for part in said.element.children):
        return False
    return _acts(said, ("stiffness", "damping", "armature"))


def _acts(said: Attributes, keys: Iterable[str] = ("stiffness", "damping")) -> bool:
    """Whether a tendon says one of some numbers other than zero."""
    return any(any(said.numbers(key, 1, 3) or ()) for key in keys)


def _spring_values(said: Attributes, reference: float, off: Collection[str]) -> dict[str, Any] | None:
    """Stiffness, rest, damping and inertia of a tendon; what it says beside these is remarked on."""
    inertia = {"inertia": said.number("armature"), "name": said.text("name")}
    stiffness, *others = said.numbers("stiffness", 1, 3) or [0.0]
    lengths = said.numbers("springlength", 1, 2) or [-1.0]
    if any(others) or len({*lengths}) > 1 or stiffness < 0 or "springyield" in said:
        said.remark("its spring and damper are left out, for the spring is not linear")
        return inertia if inertia["inertia"] else None
    for key, noun in (("frictionloss", "friction"), ("range", "range")):
        if any(said.numbers(key, 1, 2) or ()):
            said.remark(f"its {noun} is left out")
    rest_length = reference if lengths[0] == -1.0 else lengths[0]
    damping = 0.0 if "damper" in off else said.damping()
    values = {"stiffness": 0.0 if "spring" in off else stiffness, "rest": rest_length, "damping": damping}
    return {**values, **inertia}


class _Reader:
    """Builds a description from the elements, gathering the problems of all parts."""

    def __init__(
        self,
        root: Element,
        name: str,
        physical: bool,
        log: Report,
        attacher: Attacher,
        *,
        drop_free_armature: bool,
        drop_equalities: bool,
    ) -> None:
        self.root, self.physical, self.log = root, physical, log
        self.drop_free_armature, self.drop_equalities = drop_free_armature, drop_equalities
        check_known(root, "<mujoco>", self.log, ("model",))
        self.name = (root.get("model") or "").strip() or name
        self.settings = settings_of(root, self.log)
        self.defaults = Defaults(self.log)
        for element in root.all("default"):
            self.defaults.read(element)
        for element in attacher.defaults:
            self.defaults.read(element, attached=True)
        self.meshes = Meshes(root, log, self.defaults, self.settings, attacher.includer)
        self.order: list[str] = []
        self._sections()

    def _sections(self) -> None:
        """What of the file is left out, and what it may not have."""
        for element in self.root.children:
            if element.tag == "deformable":
                self.log.report(element, "<deformable>: a soft body is no rigid one")
            elif element.tag == "tendon":
                self._tendons(element)
            elif orders := [part for part in element.all("text") if element.tag == "custom" and part.get("name") == ORDER]:
                self.order = (orders[-1].get("data") or "").split()
                if len(orders) < len(element.children):
                    self.log.leave(element, "what else is in <custom>", LEFT["custom"])
            elif element.tag in LEFT:
                self.log.leave(element, f"<{element.tag}>", LEFT[element.tag])
            else:
                check_tag(element, "<mujoco>", self.log, KNOWN)

    def _tendons(self, section: Element) -> None:
        """Tendons are left out but for some; not one around geoms with an inertia, which would be missing."""
        for element in section.children:
            said = _tendon(element, self.log, self.defaults)
            if not _pulls(said):
                self.log.leave(element, f"<{element.tag}> of <tendon>", LEFT["tendon"])
                if element.tag == "spatial" and _acts(said):
                    said.remark("its spring and damper are left out, for it goes around geoms or over pulleys")
                if said.number("armature"):
                    said.report("its armature is an inertia along a path that cannot be said here", "armature")

    def reading(self) -> Reading:
        bodies = BodyTree(self.log, self.defaults, self.settings, self.meshes, self.drop_free_armature)
        for element in self.root.all("worldbody"):
            bodies.read(element)
        scaled_to(self.settings.total_mass, [body.inertia for body in bodies.elements])
        self._check(bodies)
        names = LinkNames(self.log, bodies.elements)
        equalities = Equalities(self.log, self.defaults, self.settings, bodies, names.bodies, self.drop_equalities)
        tendons = [element for section in self.root.all("tendon") for element in section.children]
        equalities.tendons = {name: tendon for tendon in tendons if tendon.tag == "fixed" and (name := tendon.get("name"))}
        for element in self.root.all("equality"):
            equalities.read(element)
        equalities.settle()
        equalities.untie(_tendon(element, self.log, self.defaults) for element in tendons if element.tag == "spatial")
        actuators = Actuators(self.log, self.defaults, self.settings, equalities.joints, equalities.stays)
        for element in self.root.all("actuator"):
            actuators.read(element)
        floats = equalities.floats
        links = Links(names, equalities.follows, equalities.stays, physical=self.physical, floats=floats)
        kept = self._kept(bodies, floats)
        for k in kept:
            links.add(k, bodies.elements[k])
        self._springs_of_tendons(links, equalities, kept, {j.name for k in kept for j in bodies.elements[k].joints})
        for site in bodies.sites:
            if site.attributes.text("name") not in equalities.used:
                self.log.leave(site.attributes.element, "<site>", "a frame that nothing here is tied to")
        mechanism = self._mechanism(links, equalities, actuators, floats) if kept else None
        shapes = self._shapes(bodies, names, kept, floats)
        if self.log.problems or mechanism is None:
            return Reading(None, self.log.sorted_problems, links.lines)
        links.lines["gravity",] = self.settings.gravity_line or self.root.line
        links.lines["floating",] = next((body.free_joint.element.line for body in bodies.elements if body.free_joint), 0)
        lacking = self._lacking([bodies.elements[k] for k in kept])
        remarks = sorted([*self.log.all_remarks, *lacking], key=lambda remark: remark.line)
        description = Description(mechanism, shapes=tuple(shapes))
        return Reading(description, [], links.lines, remarks, frozenset(links.between), lacking)

    def _springs_of_tendons(
        self, links: Links, equalities: Equalities, kept: Collection[int], there: Collection[str | None]
    ) -> None:
        """The springs and dampers of tendons: lengths are sums of joint coordinates, or of lines from site to site."""
        off = {kind for kind in ("spring", "damper") if {kind, "passive"} & self.settings.disabled}
        for section in self.root.all("tendon"):
            for said in (_tendon(element, self.log, self.defaults) for element in section.children):
                if not _pulls(said):
                    continue
                if said.element.tag == "spatial":
                    self._spring_of_path(said, links, equalities, kept, off)
                    continue
                ratios: dict[str, float] = {}
                constant = reference = 0.0
                for part in said.element.all("joint"):
                    wrap = Attributes(part, f"{said.item}: <joint>", self.log, ("joint", "coef"))
                    joint, factor = wrap.lookup("joint", equalities.joints, "hinges and slides"), wrap.number("coef")
                    name = "" if joint is None else str(joint.name)
                    if joint is None or name not in there:
                        continue
                    reference += factor * joint.springref
                    if name in equalities.stays:
                        constant += factor * equalities.stays[name]
                    else:
                        ratios[name] = ratios.get(name, 0.0) + factor
                if ratios and (values := _spring_values(said, reference, off)):
                    if "rest" in values:
                        values["rest"] -= constant
                    if spring := said.build(partial(Spring, ratios, **values)):
                        links.springs.append(spring)

    def _spring_of_path(
        self, said: Attributes, links: Links, equalities: Equalities, kept: Collection[int], off: Collection[str]
    ) -> None:
        """The spring and damper of a spatial tendon."""
        places = [Attributes(part, f"{said.item}: <site>", self.log, ("site",)) for part in said.element.children]
        sites = [place.lookup("site", equalities.sites, "sites") for place in places]
        equalities.used.update(str(place.text("site")) for place in places)
        ends = [site for site in sites if site is not None]
        if len(ends) < len(sites):
            return
        bodies = [site.body for site in ends]
        if not {*bodies} - {WORLD} <= {*kept}:
            said.remark("its spring and damper are left out, for it pulls at a body that is left out")
            return
        if len({*bodies}) < 2:
            said.remark("its spring and damper are left out, for its sites are on one body")
            return
        poses = {WORLD: np.eye(4)}
        for k, body in enumerate(equalities.bodies):  # (at the coordinates from which MuJoCo counts springs)
            motions = [joint.motion(joint.springref) for joint in body.joints]
            poses[k] = reduce(np.matmul, [body.frame, *motions], poses[body.parent])
        at = [(poses[site.body] @ site.frame)[:3, 3] for site in ends]
        length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(at))
        names = ["base" if body == WORLD else equalities.links[body] for body in bodies]
        points = [(name, site.frame[:3, 3]) for name, site in zip(names, ends, strict=True)]
        values = _spring_values(said, length, off)
        if values and (spring := said.build(partial(LinearSpringDamper, points, **values))):
            links.springs.append(spring)

    def _lacking(self, kept: Sequence[BodyElement]) -> list[FileProblem]:
        """The links without the mass of their meshes, if any."""
        massless = [body.attributes for body in kept if body.inertia.left_out]
        if not massless:
            return []
        named = some([body.element.get("name") or "<body>" for body in massless], MOST_NAMED, members)
        said = f"{named}: bodies that do not move, read without mass, for it is that of meshes that cannot be read;"
        said += " the joints feel nothing of it, but the total mass, the centre of mass and the load on the ground lack it,"
        said += " and all dynamics with floating=True would; <inertial> gives it"
        return [massless[0].element.problem(said)]

    def _check(self, bodies: BodyTree) -> None:
        """What no body can tell alone."""
        if not bodies.elements:
            self.log.report(self.root, "there is no <body> in a <worldbody>")
        repeated(self.log, [body.attributes for body in bodies.elements], "body")
        joints = [joint.attributes for body in bodies.elements for joint in body.joints]
        repeated(self.log, [*joints, *(body.free_joint for body in bodies.elements if body.free_joint)], "joint")
        repeated(self.log, [site.attributes for site in bodies.sites], "site")
        parents = {body.parent for body in bodies.elements}
        for k, body in enumerate(bodies.elements):
            if body.free_joint is not None and k not in parents:
                self._aligned(body, body.free_joint)
            if body.name == "world":
                body.attributes.report("the name means the world; expected another one")

    def _aligned(self, body: BodyElement, free: Attributes) -> None:
        """A remark on a free body that MuJoCo turns to its principal axes: its coordinates are of another frame there."""
        align = free.word("align", ("false", "true", "auto"), "auto")
        if align == "true" or (align == "auto" and self.settings.align_free):
            frame = "its frame stays as the file has it; MuJoCo aligns it and takes that of its inertia"
            self.log.remark(free.element, f"{body.attributes.item}: {frame}")

    def _kept(self, bodies: BodyTree, floats: bool) -> Sequence[int]:
        """The bodies that become links, in the order that is listed: beside a floating base nothing stands on the ground."""
        still = still_roots(bodies.elements) if floats else set()
        kept: dict[int, None] = {}
        for k, body in enumerate(bodies.elements):
            if body.parent == WORLD and k in still:
                why = "it stands on the ground, which no body of a floating mechanism can"
                self.log.remark(body.attributes.element, f"{body.attributes.item} is left out: {why}")
            elif body.parent == WORLD or body.parent in kept:
                kept[k] = None
        listed, place = {name: at for at, name in enumerate(self.order)}, len(self.order)
        places: dict[int, int] = {}
        for k in reversed(kept):  # (what is not listed stands before what follows it)
            places[k] = place = listed.get(bodies.elements[k].name or "", place)
        return sorted(kept, key=places.__getitem__)

    def _mechanism(self, links: Links, equalities: Equalities, actuators: Actuators, floats: bool) -> Mechanism | None:
        gravity = (0.0, 0.0, 0.0) if "gravity" in self.settings.disabled else self.settings.gravity
        settings: dict[str, Any] = {"floating": floats, "name": self.name or None, "gravity": gravity}
        drives = [*actuators.motors, *links.motors]
        motors = [motor for _, motor in drives]
        loops = [loop for _, loop in equalities.loops]
        items = {**links.items, **{f"motors[{k}]": said for k, (said, _) in enumerate(drives)}}
        for k, (said, loop) in enumerate(equalities.loops):
            items[f"loop {loop.name!r}" if loop.name else f"loops[{k}]"] = said
        if self.log.problems:
            return None
        mechanism, wrong = attempt(
            "mechanism", lambda: Mechanism(links.model_links, loops=loops, motors=motors, springs=links.springs, **settings)
        )
        for problem in wrong:
            if problem.item in items:
                items[problem.item].tell(problem)
            else:
                self.log.report(self.root, str(problem))
        return mechanism and with_tool_at_a_tip(mechanism)

    def _shapes(self, bodies: BodyTree, names: LinkNames, kept: Sequence[int], floats: bool) -> list[Shape]:
        """What the links look like; files of meshes are not opened."""
        geoms = [("base", geom) for geom in (() if floats else bodies.world_geoms)]
        geoms += [(names.bodies[k], geom) for k in kept for geom in bodies.elements[k].geoms]
        shapes = []
        for link, geom in geoms:
            shape = geom.shape(link)
            if shape is not None:
                shapes.append(shape)
            else:
                self.log.leave(geom.attributes.element, f"<geom> of type {geom.kind!r}", "its shape is not kept")
        return shapes
