"""Equality constraints of MJCF: joints that follow others or stay, and closed loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
from linkwise.files.formats.mjcf.bodies import WORLD, BodyTree, Site
from linkwise.files.formats.mjcf.document import Settings
from linkwise.files.formats.mjcf.geoms import CONTESTED
from linkwise.files.formats.mjcf.joints import MjcfJoint
from linkwise.files.formats.mjcf.links import one_floats
from linkwise.files.xml_tree import Element
from linkwise.model.loop import Loop
from linkwise.model.mimic import Mimic
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse

#: The equality constraints that cannot be read.
OTHERS = ("flex", "flexvert", "flexstrain", "distance")


#: One side of a loop: the place of its body and T_body_frame.
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
        self.reference = {WORLD: np.eye(4)}  # T_world_body in the pose that the file describes
        for k, body in enumerate(bodies.elements):
            self.reference[k] = self.reference[body.parent] @ body.frame
        self.floats = one_floats(bodies.elements)
        self.used: set[str] = set()
        self.follows: dict[str, Mimic] = {}
        self.stays: dict[str, float] = {}
        self.loops: list[tuple[Attributes, Loop]] = []
        self._bound: dict[str, Element] = {}

    def read(self, section: Element) -> None:
        """Read an ``<equality>``."""
        for element in section.children:
            if element.tag not in (*EQUALITIES, *OTHERS):
                expected = choices([*EQUALITIES, *OTHERS])
                self.log.report(element, f"there is no equality <{element.tag}>; expected {expected}")
                continue
            kind = f"equality {element.tag}"
            # a class says solver parameters of all equalities alike, and whether they are active
            defaults, known = self.defaults.of(element, kind="equality"), ATTRIBUTES.get(kind, tuple(element.attributes))
            said = Attributes(element, self.log, f"equality {named(element)}", known=known, defaults=defaults)
            if not said.flag("active", True) or {"equality", "constraint"} & self.settings.disabled:
                self.log.remark(element, f"{said.item} is not active, and left out")
            elif element.tag in OTHERS:
                said.drop("only joints, tendons, points and frames can be tied here")
            elif element.tag == "joint":
                self._joint(said)
            elif element.tag == "tendon":
                self._tendon(said)
            else:
                self._loop(said, element.tag)

    def settle(self) -> None:
        """Fix the joints that follow a fixed joint."""
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
            for name, factor in () if tendon is None else self.wrapped(tendon):
                if name is None:
                    return
                factors[name] = factors.get(name, 0.0) + share * factor
        tied = sorted((name for name, factor in factors.items() if factor), key=lambda name: name in self._bound)
        if not 1 <= len(tied) <= 2:
            count = f"{len(tied)} joints" if tied else "no joint"
            said.drop(f"it ties {count}; only one or two can be tied here")
            return
        first, second = self.joints[tied[0]], self.joints[tied[1]] if tied[1:] else None
        ratio = -factors[tied[1]] / factors[tied[0]] if second else 1.0
        self._bind(said, first, second, ratio, shift / factors[tied[0]], "tendon1")

    def wrapped(self, tendon: Attributes) -> Iterator[tuple[str | None, float]]:
        """The joints that a fixed tendon goes over by name, each with its factor; None after a report."""
        for part in tendon.element.all("joint"):
            wrap = Attributes(part, self.log, f"{tendon.item}: <joint>", kind="tendon joint")
            joint = wrap.lookup("joint", self.joints, "hinges and slides")
            yield None if joint is None else joint.name, wrap.number("coef")

    def _line(self, said: Attributes, follows: bool) -> tuple[float, float] | None:
        """The coefficients a0 and a1 of what follows; None of a polynomial of higher degree."""
        coefficients = said.numbers("polycoef", 1, 5) or []
        poly = coefficients + [0.0, 1.0, 0.0, 0.0, 0.0][len(coefficients) :]
        if follows and any(poly[2:]):
            said.drop(f"polycoef is {poly!r}, a polynomial of higher degree; only a0 + a1 x can be followed here")
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

    def untie(self, tendons: Iterable[Attributes]) -> None:
        """Let no base float that a spatial tendon with a spring or damper ties to the ground."""
        for part in (part for tendon in tendons if tendon.element.tag == "spatial" for part in tendon.element.children):
            site = self.sites.get(part.get("site") or "")
            self.floats = self.floats and (site is None or not self.stands(site.body))

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
        first, second = (said.lookup(key, self.places, "bodies", usual) for key, usual in BODY_DEFAULTS.items())
        anchor = said.row("anchor", ORIGIN)
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
        relative = said.row("relpose", (0.0,) * 7)
        size = float(np.linalg.norm(relative[3:]))
        if not any(relative[3:]):
            return [(first, to_second @ point), (second, point)]
        if not LEAST < size < np.inf:
            said.report(f"relpose is {relative!r}; expected a position and a quaternion", "relpose")
            return None
        turn = quaternion_rotation(np.array(relative[3:]) / size)
        return [(first, float_transform(turn, relative[:3])), (second, point)]
