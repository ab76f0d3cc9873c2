"""The reader of MJCF, the format of MuJoCo: bodies, actuators' rotors, equality constraints; docs/mjcf.md."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.errors import FileProblem, choices, members, shown
from linkwise.files.formats.mjcf.attachment import Attacher, Replicator
from linkwise.files.formats.mjcf.attributes import ACTUATORS, ORDER, Attributes, Defaults, check_known, check_tag, offered
from linkwise.files.formats.mjcf.bodies import WORLD, BodyElement, BodyTree, repeated
from linkwise.files.formats.mjcf.coordinate_sums import with_sums
from linkwise.files.formats.mjcf.document import Includer, keep_body, settings_of
from linkwise.files.formats.mjcf.geoms import scaled_to
from linkwise.files.formats.mjcf.links import Equalities, LinkNames, Links, still_roots
from linkwise.files.formats.mjcf.meshes import Meshes
from linkwise.files.formats.mjcf.tendons import TendonPath
from linkwise.files.registry import USUAL, ReadOptions
from linkwise.files.report import Description, Reading, Report, attempt, some, with_tool_at_a_tip
from linkwise.files.xml_tree import Element, XmlError, read_xml
from linkwise.mechanism import Mechanism
from linkwise.model.joints.ball import ROTATION_COLUMNS
from linkwise.model.motor import Motor
from linkwise.model.potential import BallSpring
from linkwise.model.shape import Shape
from linkwise.model.spring import LinearSpringDamper, Spring
from linkwise.model.tendon_path import is_path
from linkwise.spatial.scalar import FloatArray

READ = ("compiler", "option", "default", "worldbody", "tendon", "equality", "actuator")

#: Sections that are left out, and why.
LEFT = {
    "size": "it is for the simulator's memory",
    "statistic": "it is for pictures and the simulator",
    "visual": "it is for pictures",
    "extension": "what a plugin does is not known here",
    "asset": "only meshes that give a mass are opened",
    "contact": "bodies do not touch each other here",
    "sensor": "Linkwise has no sensors",
    "custom": "it is for other programs",
    "keyframe": "it is a state, not a part of the mechanism",
}

KNOWN = (*READ, *LEFT)

#: Why tendons and actuators are left out.
TENDON_LEFT = "only tendons with a stiffness, damping or armature of their own act here"
ACTUATOR_LEFT = "what drives the joints is not a part of the mechanism"

#: No time constant, and no square of one, counts as less (MuJoCo's bound).
TINY = 1e-15

#: Greatest number of bodies in a message.
MOST_NAMED = 10


def parse(text: str, name: str = "", options: ReadOptions = USUAL, folder: Path | None = None) -> Reading:
    r"""Read the text of an MJCF file.

    Parameters
    ----------
    text : str
        The text, line ends as ``\n``.
    name : str
        Name of the mechanism where the file gives none.
    options : ReadOptions
        How it is read.
    folder : Path, optional
        The folder of the file, below which files that it includes may be.

    Examples
    --------
    >>> body = '<body name="arm"><joint range="-90 90"/><geom type="capsule" size="0.1" fromto="0 0 0 0 0 1"/></body>'
    >>> reading = parse(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    >>> reading.description.mechanism.q_max.round(3).tolist()
    [1.571]
    """
    try:
        log = Report(options.drop_unknown)
        top = read_xml(text, "mujoco", log.drop)
        includer = Includer(folder, log, options.include_root)
        includer.expand(top)
        attacher = Attacher(top, log, includer)
        attacher.expand(top)
        with np.errstate(all="ignore"):
            Replicator(top, log, settings_of(top, Report())).expand(top)
            if options.root is not None:
                keep_body(log, top, options.root)
            return _Reader(top, name, options, log, attacher).reading()
    except XmlError as error:
        return Reading(None, [error.problem], {})
    except RecursionError:
        return Reading(None, [FileProblem(0, "the elements are nested too deeply")], {})


def _pulls(attrs: Attributes) -> bool:
    """True if a tendon has a spring, damper or inertia."""
    return any(any(attrs.numbers(key, 1, 3) or ()) for key in ("stiffness", "damping", "armature"))


def _mobility(mass: FloatArray) -> FloatArray:
    """The diagonal (nv,) of the inverse of a mass matrix; infinite for velocities that move no inertia."""
    diagonal = np.diag(mass)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(scale[:, None] * mass * scale)
    empty, shares = values <= 1e-13, np.square(vectors)  # (the diagonal is 1: rounding of some units, times the size)
    mobility = scale**2 * (shares[:, ~empty] / values[~empty]).sum(axis=1)
    return np.where(shares[:, empty].sum(axis=1) > 1e-9, np.inf, mobility)


class _Reader:
    """Builds a description from the elements, gathering the problems of all parts."""

    def __init__(self, root: Element, name: str, options: ReadOptions, log: Report, attacher: Attacher) -> None:
        self.root, self.options, self.log = root, options, log
        check_known(root, self.log)
        self.name = (root.get("model") or "").strip() or name
        self.settings = settings_of(root, self.log)
        self.defaults = Defaults(self.log)
        for element in root.all("default"):
            self.defaults.read(element)
        for element in attacher.defaults:
            self.defaults.read(element, attached=True)
        self.meshes = Meshes(root, log, self.defaults, self.settings, attacher.includer)
        self.order: list[str] = []
        self.motors: list[tuple[Attributes, Motor]] = []
        self.tendons = [self._tendon(element) for section in root.all("tendon") for element in section.children]
        self._sections()

    def _sections(self) -> None:
        """Report sections that are unsupported or invalid."""
        for element in self.root.children:
            if element.tag == "deformable":
                self.log.report(element, "<deformable>: a soft body is no rigid one")
            elif element.tag == "body":  # (which MuJoCo overlooks)
                self.log.drop(element, "<body> is in <mujoco>; expected it in the <worldbody>")
            elif orders := [part for part in element.all("text") if element.tag == "custom" and part.get("name") == ORDER]:
                self.order = (orders[-1].get("data") or "").split()
                if len(orders) < len(element.children):
                    self.log.leave(element, "what else is in <custom>", LEFT["custom"])
            elif element.tag in LEFT:
                self.log.leave(element, f"<{element.tag}>", LEFT[element.tag])
            else:
                check_tag(element, "<mujoco>", self.log, KNOWN)

    def _tendon(self, element: Element) -> Attributes:
        """A tendon, left out unless it pulls."""
        item = f"tendon {shown(element.get('name'))}"
        attrs = Attributes(element, self.log, item, kind="tendon", defaults=self.defaults.of(element, kind="tendon"))
        if not _pulls(attrs):
            self.log.leave(element, f"<{element.tag}> of <tendon>", TENDON_LEFT)
        return attrs

    def _actuator(self, element: Element, equalities: Equalities) -> None:
        """A rotor with its gear: its inertia and damping are multiplied by the square of the ratio."""
        if element.tag not in (*ACTUATORS, "plugin"):
            self.log.report(element, f"there is no actuator <{element.tag}>; expected {choices(ACTUATORS)}")
            return
        self.log.leave(element, f"<{element.tag}> of <actuator>", ACTUATOR_LEFT)
        attrs = Attributes(element, self.log, defaults=self.defaults.of(element))
        inertia, damping = attrs.number("armature"), attrs.damping()
        gear = (attrs.numbers("gear", 1, 6) or [1.0])[0]
        viscous = 0.0 if {"damper", "passive"} & self.settings.disabled else damping
        joint = attrs.text("joint") or attrs.text("jointinparent")
        if (inertia == 0 and viscous == 0) or gear == 0 or joint in equalities.stays:
            return
        if joint is None:
            attrs.report("its armature or damping acts on something else than a joint, which has no counterpart here")
        elif joint not in equalities.joints:
            attrs.report(f"joint is {shown(joint)}; the hinges and slides are {offered(equalities.joints)}", "joint")
        elif motor := attrs.build(lambda: Motor(inertia, gear, viscous, joint=joint)):
            self.motors.append((attrs, motor))

    def reading(self) -> Reading:
        bodies = BodyTree(self.defaults, self.settings, self.meshes, self.options.bare_free_joints)
        for element in self.root.all("worldbody"):
            bodies.read(element)
        scaled_to(self.settings.total_mass, [body.inertia for body in bodies.elements])
        self._check(bodies)
        names = LinkNames(self.log, bodies.elements)
        tendons = self.tendons
        equalities = Equalities(self.defaults, self.settings, bodies, names.bodies, tendons)
        for element in self.root.all("equality"):
            equalities.read(element)
        equalities.settle()
        equalities.untie(filter(_pulls, tendons))
        for element in (element for section in self.root.all("actuator") for element in section.children):
            self._actuator(element, equalities)
        floats = equalities.floats
        physical, follows, stays = self.options.physical, equalities.follows, equalities.stays
        links = Links(names, follows, stays, self._borne(bodies), physical=physical, floats=floats)
        kept = self._link_bodies(bodies, floats)
        for k in kept:
            links.add(k, bodies.elements[k])
        for tendon in filter(_pulls, tendons):
            self._spring(tendon, links, equalities, bodies, kept)
        for site in bodies.sites:
            if site.attributes.text("name") not in equalities.used:
                self.log.leave(site.attributes.element, "<site>", "a frame without a constraint on it")
        if not bodies.elements:
            links.model_links += self.log.ground_alone(self.root, "there is no <body> in a <worldbody>")
        mechanism = self._mechanism(links, equalities, floats)
        places = frozenset(links.between)
        if mechanism is not None and equalities.sums:
            mechanism, places = with_sums(mechanism, equalities.sums, places)
        shapes = self._shapes(bodies, names, kept, floats)
        if self.log.problems or mechanism is None:
            return Reading(None, self.log.sorted_problems, links.lines)
        links.lines["gravity",] = self.settings.gravity_line or self.root.line
        links.lines["floating",] = next((body.free_joint.element.line for body in bodies.elements if body.free_joint), 0)
        self._tell_lacking([bodies.elements[k] for k in kept])
        description, remarks = Description(mechanism, shapes=tuple(shapes)), self.log.all_remarks
        return Reading(description, [], links.lines, remarks, places, self.log.lacking)

    def _spring(
        self, attrs: Attributes, links: Links, equalities: Equalities, bodies: BodyTree, kept: Collection[int]
    ) -> None:
        """The spring and damper of a tendon: the length is a sum of joint coordinates, or of lines from site to site."""
        if attrs.element.tag == "spatial":
            self._spring_of_path(attrs, links, equalities, bodies, kept)
            return
        joints = {joint.name: joint for k in kept for joint in equalities.bodies[k].joints}
        ratios: dict[str, float] = {}
        constant = reference = 0.0
        for name, factor in equalities.wrapped(attrs):
            if name is None or name not in joints:
                continue
            reference += factor * joints[name].springref
            if name in equalities.stays:
                constant += factor * equalities.stays[name]
            else:
                ratios[name] = ratios.get(name, 0.0) + factor
        if ratios and (values := self._spring_values(attrs, reference)):
            if "rest" in values:
                values["rest"] -= constant
            if spring := attrs.build(partial(Spring, ratios, **values)):
                links.springs.append(spring)

    def _spring_of_path(
        self, attrs: Attributes, links: Links, equalities: Equalities, bodies: BodyTree, kept: Collection[int]
    ) -> None:
        """The spring and damper of a spatial tendon."""
        path = TendonPath(attrs, equalities, bodies)
        if path.points is None:
            return
        if not is_path(path.points):
            attrs.report("its path is wrong; expected two sites or more after each pulley, and geoms only between two sites")
            return
        if not (path.bodies | path.sides) - {WORLD} <= {*kept}:
            attrs.remark("its spring and damper are left out, for it pulls at a body that is left out")
            return
        if len(path.bodies) < 2:
            attrs.remark("its spring and damper are left out, for its sites are on one body")
            return
        if path.wraps and attrs.number("armature"):
            attrs.report("it has an armature and goes around geoms, which MuJoCo does not support", "armature")
            return
        points = path.points
        if (spring := attrs.build(partial(LinearSpringDamper, points))) is None:
            return
        length = path.length(spring.pieces)
        values = self._spring_values(attrs, length)
        if values and 0.0 < -values.get("rest", 0.0) <= values["slack"]:  # (no line is shorter than 0)
            values |= {"rest": 0.0, "slack": values["slack"] + values["rest"]}
        if values and (spring := attrs.build(partial(LinearSpringDamper, points, **values))):
            links.springs.append(spring)

    def _spring_values(self, attrs: Attributes, reference: float) -> dict[str, Any] | None:
        """Return stiffness, rest length, damping and inertia of a tendon; remark on unsupported attributes."""
        off = {kind for kind in ("spring", "damper") if {kind, "passive"} & self.settings.disabled}
        inertia = {"inertia": attrs.number("armature"), "name": attrs.text("name")}
        stiffness, *others = attrs.numbers("stiffness", 1, 3) or [0.0]
        lengths = attrs.numbers("springlength", 1, 2) or [-1.0]
        if not lengths[0] <= lengths[-1] or stiffness < 0 or "springyield" in attrs:
            why = "it yields" if "springyield" in attrs else "its stiffness or range of lengths is negative"
            attrs.remark(f"its spring and damper are left out, for {why}")
            return inertia if inertia["inertia"] else None
        for key, noun in (("frictionloss", "friction"), ("range", "range")):
            if any(attrs.numbers(key, 1, 2) or ()):
                attrs.remark(f"its {noun} is left out")
        at_reference = {*lengths} == {-1.0}
        rest_length = reference if at_reference else lengths[0]
        damping = 0.0 if "damper" in off else attrs.damping()
        laws = [0.0] * 3 if "spring" in off else [stiffness, *others, 0.0, 0.0]
        values = {"stiffness": laws[0], "rest": rest_length, "damping": damping, "nonlinear_stiffness": laws[1:3]}
        return {**values, **inertia, "slack": 0.0 if at_reference else lengths[-1] - lengths[0]}

    def _tell_lacking(self, kept: Sequence[BodyElement]) -> None:
        """Say which links lack the mass of their meshes."""
        massless = [body.attributes for body in kept if body.inertia.left_out]
        if not massless:
            return
        named = some([body.element.get("name") or "<body>" for body in massless], MOST_NAMED, members)
        attrs = f"{named}: bodies that do not move, read without mass, for it is that of meshes that cannot be read;"
        attrs += " the joints feel nothing of it, but the total mass, the centre of mass and the load on the ground lack it,"
        attrs += " and all dynamics with floating=True would; <inertial> gives it"
        self.log.lack(massless[0].element, attrs)

    def _check(self, bodies: BodyTree) -> None:
        """Check properties that concern several bodies."""
        repeated(self.log, [body.attributes for body in bodies.elements], "body")
        joints = [joint.attributes for body in bodies.elements for joint in body.joints]
        repeated(
            self.log,
            [*joints, *(body.free_joint for body in bodies.elements if body.free_joint and not body.joints)],
            "joint",
        )
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

    def _link_bodies(self, bodies: BodyTree, floats: bool) -> Sequence[int]:
        """Return the bodies that become links, in the listed order; a floating mechanism has none on the ground."""
        still = still_roots(bodies.elements) if floats else set()
        kept: dict[int, None] = {}
        for k, body in enumerate(bodies.elements):
            if body.parent == WORLD and k in still:
                why = "it is on the ground, which is impossible for a body of a floating mechanism"
                self.log.remark(body.attributes.element, f"{body.attributes.item} is left out: {why}")
            elif body.parent == WORLD or body.parent in kept:
                kept[k] = None
        listed, place = {name: at for at, name in enumerate(self.order)}, len(self.order)
        places: dict[int, int] = {}
        for k in reversed(kept):  # (an unlisted body comes before the next listed one)
            places[k] = place = listed.get(bodies.elements[k].name or "", place)
        return sorted(kept, key=places.__getitem__)

    def _mechanism(self, links: Links, equalities: Equalities, floats: bool) -> Mechanism | None:
        gravity = (0.0, 0.0, 0.0) if "gravity" in self.settings.disabled else self.settings.gravity
        settings: dict[str, Any] = {"floating": floats, "name": self.name or None, "gravity": gravity}
        drives = [*self.motors, *links.motors]
        motors = [motor for _, motor in drives]
        loops = [loop for _, loop in equalities.loops]
        items = {**links.items, **{f"motors[{k}]": attrs for k, (attrs, _) in enumerate(drives)}}
        for k, (attrs, loop) in enumerate(equalities.loops):
            items[f"loop {loop.name!r}" if loop.name else f"loops[{k}]"] = attrs
        if self.log.problems:
            return None

        def make() -> Mechanism:
            mechanism = Mechanism(links.model_links, loops=loops, motors=motors, springs=links.springs, **settings)
            return self._with_time_constants(mechanism, links, held=bool(equalities.stays))

        mechanism, wrong = attempt("mechanism", make)
        for problem in wrong:
            if problem.item in items:
                items[problem.item].tell(problem)
            else:
                self.log.report(self.root, str(problem))
        return mechanism and with_tool_at_a_tip(mechanism)

    def _borne(self, bodies: BodyTree) -> Sequence[float]:
        """The gravity that ``gravcomp`` counts with: none where forces of this kind are off, or no share is above zero."""
        off = self.settings.disabled
        is_off = {"gravity", "passive"} & off or {"spring", "damper"} <= off
        borne = not is_off and any(body.attributes.number("gravcomp") > 0 for body in bodies.elements)
        return self.settings.gravity if borne else (0.0, 0.0, 0.0)

    def _with_time_constants(self, mechanism: Mechanism, links: Links, *, held: bool) -> Mechanism:
        """Add the springs and dampers defined by time constants t and damping ratios z.

        Of the inertia m that the joint feels at the pose of the file where all others are free, the mean of its velocities,
        the stiffness is m / (t z)^2 and the damping 2 m / t (MuJoCo's documentation, "springdamper" of a joint).
        """
        timed = {k: (joint, both) for k, joint in links.joints.items() if (both := joint.time_constant)}
        if not timed:
            return mechanism
        if held:
            for joint, _ in timed.values():
                joint.attributes.remark(
                    "springdamper is left out, for MuJoCo counts with inertias in which no joint is held"
                )
            return mechanism
        free = mechanism.replace(links=[link.replace(mimic=None) for link in mechanism.links])
        balls, off = {at.link: at.v for at in free.manifold_joints}, self.settings.disabled
        q, first = free.neutral.copy(), free.nv - free.n
        places = {k: free.coordinates[k] for k in links.joints if k not in balls}
        for k, place in places.items():
            q[free.nq - free.n + place] = links.joints[k].ref
        mobility = _mobility(np.asarray(mass_matrix(free, q), dtype=float))
        speeds = {k: [*range(free.nv)[balls[k]]] if k in balls else [first + places[k]] for k in timed}
        springs, motors = [*mechanism.springs], [*mechanism.motors]
        for k, (joint, (constant, ratio)) in timed.items():
            name, rest = mechanism.links[k].coordinate_name, joint.spring.rest if joint.spring else 0.0
            felt = [at for other in timed if other == k or timed[other][0] in joint.parts for at in speeds[other]]
            inertia = 1.0 / float(mobility[felt].mean())
            if not inertia:
                joint.attributes.remark("springdamper is left out, for the joint moves no inertia of its own")
                continue
            stiffness = 0.0 if {"spring", "passive"} & off else inertia / max(TINY, (constant * ratio) ** 2)
            damping = 0.0 if {"damper", "passive"} & off else 2.0 * inertia / max(TINY, constant)
            if k in balls:
                springs.append(BallSpring(name, stiffness, rest))
                motors += [Motor(viscous=damping, joint=f"{name}{ending}") for ending, _ in ROTATION_COLUMNS["qd"]]
            else:
                springs.append(Spring(name, stiffness, rest, damping))
        return mechanism.replace(springs=springs, motors=motors)

    def _shapes(self, bodies: BodyTree, names: LinkNames, kept: Sequence[int], floats: bool) -> list[Shape]:
        """Return the visual shapes of the links; mesh files are not opened."""
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
