"""The links of an MJCF file, one for each body and each further joint; equalities: joints that follow others, and loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from linkwise.errors import choices, shown
from linkwise.files.formats.mjcf.attributes import (
    ATTRIBUTES,
    EQUALITIES,
    LEAST,
    ORIGIN,
    Attributes,
    Defaults,
    float_transform,
    named,
)
from linkwise.files.formats.mjcf.bodies import WORLD, BodyElement, BodyTree, MjcfJoint, Site
from linkwise.files.formats.mjcf.coordinate_sums import CoordinateSum
from linkwise.files.formats.mjcf.document import Settings
from linkwise.files.formats.mjcf.geoms import CONTESTED
from linkwise.files.report import Report, attempt, unused_name
from linkwise.files.toml_text import Place
from linkwise.files.xml_tree import Element
from linkwise.model.joints.ball import ROTATION_COLUMNS
from linkwise.model.joints.floating import POSE_COLUMNS
from linkwise.model.joints.joint import Columns
from linkwise.model.link import Link
from linkwise.model.loop import BASE, Loop
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.model.potential import BallSpring, ConstantForce
from linkwise.model.spring import ForceElement, Spring
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, translation

#: Kinds of joints by their names in MJCF.
KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "ball"}

BODY_FIELDS = ("mass", "com", "inertia")


class Links:
    """Makes the links, and keeps the line of each.

    Attributes
    ----------
    model_links : list of Link
        The links, each after its parent.
    lines : dict
        Line of each place, as `Reading` has them.
    items : dict of str to Attributes
        The elements of links and joints, by the names that messages of the model use.
    joints : dict of int to MjcfJoint
        The joint of each link that has a hinge, slide or ball.
    """

    def __init__(
        self,
        names: LinkNames,
        follows: Mapping[str, Mimic],
        stays: Mapping[str, float],
        gravity: Sequence[float],
        *,
        physical: bool,
        floats: bool,
    ) -> None:
        self.names, self.follows, self.stays, self.physical, self.floats = names, follows, stays, physical, floats
        self.gravity = np.array(gravity)
        self.moving: set[int] = set()
        self.carrying: dict[
            int, list[tuple[str, bool]]
        ] = {}  # joints of each body, and whether their actuators bear weights
        self.joints: dict[int, MjcfJoint] = {}
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
        if body.moves or body.parent in self.moving:
            self.moving.add(k)
            borne = body.attributes.number("gravcomp") * body.inertia.mass * -self.gravity
            joints = [joint for joint in (body.free_joint, *(part.attributes for part in body.joints)) if joint is not None]
            carrying = [(joint.item, joint.flag("actuatorgravcomp")) for joint in joints] + self.carrying.get(
                body.parent, []
            )
            self.carrying[k] = carrying
            bearing = [item for item, is_borne in carrying if is_borne]
            passive = [item for item, is_borne in carrying if not is_borne]
            if borne.any() and bearing:
                why = f"by actuatorgravcomp of {bearing[0]} it is an actuator's"
                alone = f", so it acts at {passive[0]} alone, which no force with a potential does" if passive else ""
                body.attributes.remark(f"gravcomp is left out, for {why}{alone}")
            elif borne.any():
                self.springs.append(ConstantForce(name, borne, body.inertia.com))
        if body.free_joint is not None and not body.joints and not self.floats:
            joint_name = self.names.joint(body.free_joint.text("name"), name)
            values = {"joint": "floating", "joint_name": joint_name, "name": name, "parent": parent, **mass}
            self._link(body, None, values)
            self._drive(body.free_joint, body.free_motor, joint_name or name, POSE_COLUMNS)
            return
        before = np.eye(4) if body.free_joint is not None else body.frame
        if not body.joints:
            if body.free_joint is not None:
                self._drive(body.free_joint, body.free_motor, BASE, POSE_COLUMNS)
            self._link(body, None, {"joint": "fixed", "before": before, "name": name, "parent": parent, **mass})
            return
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

    def _drive(self, attrs: Attributes, motor: Motor | None, joint: str, columns: Mapping[str, Columns]) -> None:
        """The same motor for each velocity of a joint with a quaternion."""
        if motor is not None:
            self.motors += [(attrs, motor.replace(joint=f"{joint}{ending}")) for ending, _ in columns["qd"]]

    def _link(self, body: BodyElement, joint: MjcfJoint | None, values: dict[str, Any]) -> None:
        """Append one link; a bare link replaces one that could not be built."""
        at, name = len(self.model_links), values["name"]
        attrs = body.attributes if joint is None else joint.attributes
        inertial = body.inertial or body.attributes
        if joint is not None and values["joint"] != "fixed":
            values["joint_name"] = self.names.joint(joint.name, name)
            self.joints[at] = joint
            if joint.spring is not None and joint.time_constant is None:
                stiffness, rest, nonlinear = joint.spring
                called = values["joint_name"] or name
                is_ball = joint.kind == "ball"
                self.springs.append(
                    BallSpring(called, stiffness, rest)
                    if is_ball
                    else Spring(called, stiffness, rest, nonlinear_stiffness=nonlinear)
                )
            if joint.kind == "ball":
                self._drive(attrs, joint.fields["motor"], values["joint_name"] or name, ROTATION_COLUMNS)
            self.items[f"joint {values['joint_name'] or name!r}"] = attrs
        link, wrong = attempt(body.attributes.item, lambda: Link(**values))
        if link is None and not self.physical:  # only marks impossible inertias
            link, wrong = attempt(body.attributes.item, lambda: Link(**values, physical=False))
        for problem in wrong:
            (inertial if problem.field in BODY_FIELDS else attrs).tell(problem)
        self.items[f"link {name!r}"] = body.attributes
        self.lines["link", at] = body.attributes.element.line
        self.lines.update({("link", at, field): inertial.element.line for field in BODY_FIELDS})
        bare, _ = attempt("link", lambda: Link(name=name, parent=values["parent"]))
        self.model_links.append(link or bare or Link(name=f"?{at}", parent="base"))


def one_floats(bodies: Sequence[BodyElement]) -> bool:
    """True if exactly one tree moves, and freely: it becomes a floating base. Otherwise free bodies are links."""
    still = still_roots(bodies)
    moving = [body for k, body in enumerate(bodies) if body.parent == WORLD and k not in still]
    return len(moving) == 1 and moving[0].free_joint is not None and not moving[0].joints


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
    """Names of links: those of the bodies, ``body3`` without one (the world is 0), and one for each further joint.

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
        return body.name or unused_name(f"body{k + 1}", self.taken)

    def part(self, body: int, k: int, joint: str | None) -> str:
        """The link that the k-th joint of a body carries, where it is not the last one."""
        return unused_name(f"{self.bodies[body]}_{joint or k + 1}", self.taken)

    def joint(self, joint: str | None, link: str) -> str | None:
        """Return the name of the joint of a link, or None if it equals the link's name."""
        if joint:
            return None if joint == link else joint
        return unused_name(f"{link}_joint", self.joints) if link in self.joints else None


#: The equality constraints that cannot be read.
OTHERS = ("flex", "flexvert", "flexstrain", "distance")


#: One side of a loop: index of its body and T_body_frame.
End = tuple[int, FloatArray]

#: The attributes that name bodies, and which is meant where one is missing.
BODY_DEFAULTS = {"body1": None, "body2": "world"}


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
    sums : list of CoordinateSum
        What no `Mimic` is: sums of several coordinates, and polynomials of higher degree.
    floats : bool
        Whether the base floats: not a free body that something ties to the ground, which is a link on a floating joint.
    """

    def __init__(
        self,
        defaults: Defaults,
        settings: Settings,
        bodies: BodyTree,
        links: list[str],
        tendons: list[Attributes],
    ) -> None:
        self.log, self.defaults, self.settings = defaults.log, defaults, settings
        self.bodies, self.links = bodies.elements, links
        self.tendons = {name: x for x in tendons if x.element.tag == "fixed" and (name := x.text("name"))}
        self.places = {body.name: k for k, body in enumerate(bodies.elements) if body.name} | {"world": WORLD}
        self.sites = {name: site for site in bodies.sites if (name := site.attributes.text("name"))}
        self.joints = {j.name: j for body in bodies.elements for j in body.joints if j.name and j.kind != "ball"}
        self.balls = {j.name for body in bodies.elements for j in body.joints if j.name and j.kind == "ball"}
        self.reference = {WORLD: np.eye(4)}  # T_world_body in the pose that the file describes
        for k, body in enumerate(bodies.elements):
            self.reference[k] = self.reference[body.parent] @ body.frame
        self.floats = one_floats(bodies.elements)
        self.used: set[str] = set()
        self.follows: dict[str, Mimic] = {}
        self.stays: dict[str, float] = {}
        self.loops: list[tuple[Attributes, Loop]] = []
        self.sums: list[CoordinateSum] = []
        self._bound: dict[str, Element] = {}

    def read(self, section: Element) -> None:
        """Read an ``<equality>``."""
        for element in section.children:
            if element.tag not in (*EQUALITIES, *OTHERS):
                expected = choices([*EQUALITIES, *OTHERS])
                self.log.report(element, f"there is no equality <{element.tag}>; expected {expected}")
                continue
            kind = f"equality {element.tag}"
            # a class has common solver parameters and a common active flag for all equalities
            defaults, known = self.defaults.of(element, kind="equality"), ATTRIBUTES.get(kind, tuple(element.attributes))
            attrs = Attributes(element, self.log, f"equality {named(element)}", known=known, defaults=defaults)
            if not attrs.flag("active", True) or {"equality", "constraint"} & self.settings.disabled:
                self.log.remark(element, f"{attrs.item} is not active, and left out")
            elif element.tag in OTHERS:
                attrs.drop("only joints, tendons, points and frames can be constrained here")
            elif element.tag == "joint":
                self._joint(attrs)
            elif element.tag == "tendon":
                self._tendon(attrs)
            else:
                self._loop(attrs, element.tag)

    def settle(self) -> None:
        """Fix the joints that follow a fixed joint; a sum or polynomial of one is dropped."""
        followers: dict[str, list[str]] = {}
        for name, mimic in self.follows.items():
            followers.setdefault(mimic.joint, []).append(name)
        settled = list(self.stays)
        for joint in settled:  # (grows)
            for name in followers.get(joint, ()):
                mimic = self.follows.pop(name)
                self.stays[name] = mimic.ratio * self.stays[joint] + mimic.offset
                settled.append(name)
        for each in self.sums:
            if held := [joint.name for joint in each.joints if joint.name in self.stays]:
                what = "a polynomial of higher degree" if each.argument else "a sum of several joints"
                each.attributes.drop(f"it is {what}, of which joint {shown(held[0])} is held")
        self.sums = [each for each in self.sums if not {joint.name for joint in each.joints} & {*self.stays}]

    # ── joints ────────────────────────────────────────────────────────────────────────────────────

    def _joint(self, attrs: Attributes) -> None:
        """q1 - ref1 = a0 + a1 (q2 - ref2): MuJoCo counts from the pose that the file describes."""
        first = attrs.lookup("joint1", self.joints, "hinges and slides")
        second = attrs.lookup("joint2", self.joints, "hinges and slides", needed=False)
        if first is None or (second is None and "joint2" in attrs):
            return
        if second is first:
            attrs.report(f"joint {shown(first.name)} follows itself", "joint2")
            return
        constant, *coefficients = self._coefficients(attrs)
        if second is not None and any(coefficients[1:]):
            self.sums.append(CoordinateSum(attrs, [(first, 1.0)], constant, (second, 1.0), coefficients))
        else:
            self._bind(attrs, first, second, coefficients[0], constant, "joint1")

    def _tendon(self, attrs: Attributes) -> None:
        """The same of the lengths of fixed tendons, sums of joint coordinates."""
        keys = ("tendon1", "tendon2")
        lengths = [attrs.lookup(key, self.tendons, "fixed tendons", needed=key == keys[0]) for key in keys]
        if lengths[0] is None or (lengths[1] is None and "tendon2" in attrs):
            return
        parts = [part.get("joint") for tendon in lengths if tendon is not None for part in tendon.element.all("joint")]
        if balls := [name for name in parts if name in self.balls]:
            attrs.drop(f"it ties the ball joint {shown(balls[0])}; expected hinges and slides")
            return
        constant, *coefficients = self._coefficients(attrs)
        factors, others = self._factors(lengths[0]), self._factors(lengths[1])
        if factors is None or others is None:
            return
        argument = None
        if any(others.values()) and any(coefficients[1:]):
            names = [name for name, factor in others.items() if factor]
            if len(names) > 1:
                attrs.drop(f"its polynomial of higher degree is of a sum of {len(names)} joints; expected one")
                return
            argument = self.joints[names[0]], others[names[0]]
        else:
            for name, factor in others.items():
                factors[name] = factors.get(name, 0.0) - coefficients[0] * factor
        tied = sorted((name for name, factor in factors.items() if factor), key=lambda name: name in self._bound)
        if not tied:
            attrs.drop("it ties no joint")
        elif argument is not None or len(tied) > 2:
            terms = [(self.joints[name], factors[name]) for name in tied]
            self.sums.append(CoordinateSum(attrs, terms, constant, argument, coefficients))
        else:
            first, second = self.joints[tied[0]], self.joints[tied[1]] if tied[1:] else None
            ratio = -factors[tied[1]] / factors[tied[0]] if second else 1.0
            self._bind(attrs, first, second, ratio, constant / factors[tied[0]], "tendon1")

    def _factors(self, tendon: Attributes | None) -> dict[str, float] | None:
        """The factors of the joints in the length of a fixed tendon; None after a report."""
        factors: dict[str, float] = {}
        for name, factor in () if tendon is None else self.wrapped(tendon):
            if name is None:
                return None
            factors[name] = factors.get(name, 0.0) + factor
        return factors

    def wrapped(self, tendon: Attributes) -> Iterator[tuple[str | None, float]]:
        """Yield the joint of each coefficient of a fixed tendon, by name; the name is None after a report."""
        for part in tendon.element.all("joint"):
            wrap = Attributes(part, self.log, f"{tendon.item}: <joint>", kind="tendon joint")
            joint = wrap.lookup("joint", self.joints, "hinges and slides")
            yield None if joint is None else joint.name, wrap.number("coef")

    def _coefficients(self, attrs: Attributes) -> list[float]:
        """The five coefficients of a polynomial, with MuJoCo's values for those that are missing."""
        coefficients = attrs.numbers("polycoef", 1, 5) or []
        return coefficients + [0.0, 1.0, 0.0, 0.0, 0.0][len(coefficients) :]

    def _bind(
        self, attrs: Attributes, first: MjcfJoint, second: MjcfJoint | None, ratio: float, shift: float, key: str
    ) -> None:
        """q1 - ref1 = shift + ratio (q2 - ref2), or without a second joint the shift alone."""
        name = str(first.name)
        if name in self._bound:
            attrs.report(f"joint {shown(name)} is bound already, in {self._bound[name].place}", key)
            return
        self._bound[name] = attrs.element
        if second is None:
            self.stays[name] = first.ref + shift
        elif mimic := attrs.build(lambda: Mimic(str(second.name), ratio, first.ref + shift - ratio * second.ref)):
            self.follows[name] = mimic

    # ── loops ─────────────────────────────────────────────────────────────────────────────────────

    def _loop(self, attrs: Attributes, tag: str) -> None:
        by_sites, by_bodies = (any(f"{noun}{k}" in attrs for k in (1, 2)) for noun in ("site", "body"))
        if by_sites == by_bodies:
            both = "both bodies and sites" if by_sites else "neither bodies nor sites"
            attrs.report(f"it names {both}; expected body1 (and body2), or site1 and site2")
            return
        ends = self._of_sites(attrs) if by_sites else self._of_bodies(attrs, tag)
        if ends is None:
            return
        self.floats = self.floats and not any(self.is_grounded(body) for body, _ in ends)
        kind = "point" if tag == "connect" or attrs.number("torquescale", 1.0) == 0 else "full"
        first, second = ("base" if body == WORLD else self.links[body] for body, _ in ends)
        frames = ends[0][1], ends[1][1]
        if loop := attrs.build(lambda: Loop(kind, first, second, *frames, attrs.text("name"))):
            self.loops.append((attrs, loop))

    def untie(self, tendons: Iterable[Attributes]) -> None:
        """Let no base float that a spatial tendon with a spring or damper ties to the ground."""
        for part in (part for tendon in tendons if tendon.element.tag == "spatial" for part in tendon.element.children):
            site = self.sites.get(part.get("site") or "")
            self.floats = self.floats and (site is None or not self.is_grounded(site.body))

    def is_grounded(self, body: int) -> bool:
        """True if a body belongs to the world, beside the floating one."""
        while body != WORLD and self.bodies[body].parent != WORLD:
            body = self.bodies[body].parent
        return body == WORLD or self.bodies[body].free_joint is None

    def _of_sites(self, attrs: Attributes) -> list[End] | None:
        sites: list[Site] = []
        for key in ("site1", "site2"):
            site = attrs.lookup(key, self.sites, "sites")
            if site is not None:
                sites.append(site)
                name = str(attrs.text(key))
                self.used.add(name)
                if (contested := site.attributes.contested) and attrs.element.tag == "weld":
                    attrs.report(f"{key} is {shown(name)}: {CONTESTED.format(contested)}; expected one", key)
        return [(site.body, site.frame) for site in sites] if len(sites) == 2 else None

    def _of_bodies(self, attrs: Attributes, tag: str) -> list[End] | None:
        """Return the attachment points of the constraint, in the reference pose or by relpose."""
        first, second = (attrs.lookup(key, self.places, "bodies", usual) for key, usual in BODY_DEFAULTS.items())
        anchor = attrs.row("anchor", ORIGIN)
        if tag == "connect" and "anchor" not in attrs:
            attrs.report("it has no anchor; expected its point in the frame of body1")
            return None
        if first is None or second is None:
            return None
        point = float_transform(None, anchor)
        to_second = np.asarray(inverse(self.reference[first]) @ self.reference[second], dtype=float)
        if tag == "connect":
            there = np.asarray(inverse(to_second), dtype=float) @ point
            return [(first, point), (second, float_transform(None, there[:3, 3]))]
        relative = attrs.row("relpose", (0.0,) * 7)
        size = float(np.linalg.norm(relative[3:]))
        if not any(relative[3:]):
            return [(first, to_second @ point), (second, point)]
        if not LEAST < size < np.inf:
            attrs.report(f"relpose is {relative!r}; expected a position and a quaternion", "relpose")
            return None
        turn = quaternion_rotation(np.array(relative[3:]) / size)
        return [(first, float_transform(turn, relative[:3])), (second, point)]
