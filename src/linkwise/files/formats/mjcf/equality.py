"""MJCF's equality constraints: joints that follow others or stay, and loops that close."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.errors import choices, shown
from linkwise.files.formats.mjcf.attributes import Attributes, Defaults, Told, named, place
from linkwise.files.formats.mjcf.bodies import WORLD, Bodies, Site
from linkwise.files.formats.mjcf.compiler_options import Settings
from linkwise.files.formats.mjcf.frames import LEAST, float_transform
from linkwise.files.formats.mjcf.geometry import CONTESTED
from linkwise.files.formats.mjcf.schema import EQUALITIES
from linkwise.files.xml_tree import Element
from linkwise.model.loop import Loop
from linkwise.model.mimic import Mimic
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse

OTHERS = ("tendon", "flex", "flexvert", "flexstrain", "distance")


End = tuple[int, FloatArray]
"""One side of a loop: the place of its body and T_body_frame."""


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
    """

    def __init__(self, told: Told, defaults: Defaults, settings: Settings, bodies: Bodies, links: Sequence[str]) -> None:
        self.told, self.defaults, self.settings = told, defaults, settings
        self.bodies, self.links = bodies.found, links
        self.places = {body.name: k for k, body in enumerate(bodies.found) if body.name} | {"world": WORLD}
        self.sites = {name: site for site in bodies.sites if (name := site.attributes.text("name"))}
        self.joints = {joint.name: joint for body in bodies.found for joint in body.joints if joint.name}
        self.reference = {WORLD: np.eye(4)}  # T_world_body in the pose that the file describes
        for k, body in enumerate(bodies.found):
            self.reference[k] = self.reference[body.parent] @ body.frame
        self.floats = any(body.free for body in bodies.found)
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
                self.told.report(element, f"there is no equality <{element.tag}>; expected {expected}")
                continue
            known = EQUALITIES.get(element.tag, tuple(element.attributes))
            # a class says solver parameters of all equalities alike, and whether they are active
            defaults = self.defaults.of(element, (), "equality")
            said = Attributes(element, f"equality {named(element)}", self.told, known, defaults)
            if not said.flag("active", True) or {"equality", "constraint"} & self.settings.disabled:
                self.told.remark(element, f"{said.item} is not active, and left out")
            elif element.tag in OTHERS:
                said.report("only joints, points and frames can be tied here; active = 'false' leaves it out")
            elif element.tag == "joint":
                self._joint(said)
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
        coefficients = said.numbers("polycoef", 1, 5) or []
        poly = coefficients + [0.0, 1.0, 0.0, 0.0, 0.0][len(coefficients) :]
        if first is None or (second is None and "joint2" in said):
            return
        name = str(first.name)
        if name in self._bound:
            said.report(f"joint {shown(name)} is bound already, in {place(self._bound[name])}", "joint1")
            return
        self._bound[name] = said.element
        if second is None or second is first:
            if second is first:
                said.report(f"joint {shown(name)} follows itself", "joint2")
            self.stays[name] = first.ref + poly[0]
            return
        if any(poly[2:]):
            why = "only a0 + a1 x can be followed here; active = 'false' leaves it out"
            said.report(f"polycoef is {poly!r}, a polynomial of higher degree; {why}", "polycoef")
            return
        offset = first.ref + poly[0] - poly[1] * second.ref
        if mimic := said.build(lambda: Mimic(str(second.name), poly[1], offset)):
            self.follows[name] = mimic

    # ── loops ─────────────────────────────────────────────────────────────────────────────────────

    def _loop(self, said: Attributes, tag: str) -> None:
        by_sites, by_bodies = (any(f"{what}{k}" in said for k in (1, 2)) for what in ("site", "body"))
        if by_sites == by_bodies:
            both = "both bodies and sites" if by_sites else "neither bodies nor sites"
            said.report(f"it names {both}; expected body1 (and body2), or site1 and site2")
            return
        ends = self._of_sites(said) if by_sites else self._of_bodies(said, tag)
        if ends is None:
            return
        if self.floats and any(self._stands(body) for body, _ in ends):
            said.report("it ties to the ground, which a floating base cannot say; active = 'false' leaves it out")
            return
        kind = "point" if tag == "connect" or said.number("torquescale", 1.0) == 0 else "full"
        one, other = ("base" if body == WORLD else self.links[body] for body, _ in ends)
        frames = ends[0][1], ends[1][1]
        if loop := said.build(lambda: Loop(kind, one, other, *frames, said.text("name"))):
            self.loops.append((said, loop))

    def _stands(self, body: int) -> bool:
        """Whether a body stands in the world, beside the one that floats."""
        while body != WORLD and self.bodies[body].parent != WORLD:
            body = self.bodies[body].parent
        return body == WORLD or self.bodies[body].free is None

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


_BODIES = {"body1": None, "body2": "world"}
"""The attributes that name bodies, and which is meant where one is missing."""
