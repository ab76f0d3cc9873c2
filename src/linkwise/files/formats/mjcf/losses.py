"""Assignment of links and joints to bodies of an MJCF file (`BodyPlan`), and the losses of the format."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from linkwise.errors import choices
from linkwise.files.formats.mjcf.tendons import any_wrap, geom_type
from linkwise.files.losses import Losses, motor_losses
from linkwise.files.report import Description, can_exist, check_shape_links, unused_name
from linkwise.files.xml_tree import NOT_XML, real
from linkwise.mechanism import Mechanism
from linkwise.model.assembly import separated
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.loop import BASE
from linkwise.model.motor import Motor
from linkwise.model.potential import UNTURNED, BallSpring, ConstantForce
from linkwise.model.shape import Shape
from linkwise.model.spring import EndStop, LinearSpringDamper, Spring
from linkwise.model.tendon_path import Pulley, WrapObject, WrapSphere
from linkwise.spatial.rotation import rotation_error
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import translation

#: Names in MJCF of the kinds of joints of a mechanism, those of several freedoms split.
TYPES = {"revolute": "hinge", "prismatic": "slide", "ball": "ball", "floating": "free"}

#: The kinds of closures that an equality constraint is.
EQUALITIES = {"point": "connect", "full": "weld"}

#: MuJoCo moves no body whose mass (kg) or moments of inertia (kg m2) are less; of its bound 1e-15 they must be more.
LEAST = 1e-14

#: A rotation that differs by more than this from one is written with rounding.
ROUNDING = 1e-12

#: Greatest number of freedoms of the joints of one body.
MOST_FREEDOMS = 6


class BodyPlan:
    """Assignment of links to MJCF bodies, with their contents.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism, its joints of several freedoms taken apart where MJCF has no such kind.
    root : int
        The link that is the floating base itself, or -1.
    children : dict of int to list of int
        The links on each link, on the base at -1.
    stacks : dict of int to list of int
        Of each link that is a body, the massless links before it whose joints the body has too, and itself.
    sites : dict of int to list
        Names and frames of the sites on each link.
    wraps : dict of int to list
        Names of further geoms on each link, that tendons wrap.
    geom_names : dict of int to str
        Names of shapes that tendons wrap, by their `id`.
    paths : dict of int to list
        Elements of the path of each spring between links: their tags and attributes.
    """

    def __init__(self, mechanism: Mechanism, shapes: Sequence[Shape]) -> None:
        self.mechanism = mechanism = separated(mechanism)
        self.shapes: dict[int, list[Shape]] = {}
        check_shape_links(mechanism, shapes)
        for shape in shapes:
            self.shapes.setdefault(self.place(shape.link), []).append(shape)
        self.children: dict[int, list[int]] = {k: [] for k in range(-1, len(mechanism.links))}
        for k, parent in enumerate(mechanism.parents):
            self.children[parent].append(k)
        self.names = {"base", "world", *mechanism.link_names}
        self.sites: dict[int, list[tuple[str, Array]]] = {}
        taken: set[str] = set()
        self.ends: list[list[str]] = []
        for k, loop in enumerate(mechanism.loops):
            ends = (loop.first, loop.first_frame), (loop.second, loop.second_frame)
            self.ends.append(self._add_sites(loop.name or f"loop{k + 1}", ends, taken))
        self.wraps: dict[int, list[tuple[str, WrapObject]]] = {}
        self.geom_names: dict[int, str] = {}
        self.paths: dict[int, list[tuple[str, dict[str, str]]]] = {}
        geoms = {shape.name for shape in shapes if shape.name}
        for k, spring in enumerate(mechanism.springs):
            if isinstance(spring, LinearSpringDamper):
                self.paths[k] = [*self._path(spring.name or f"spring{k + 1}", spring, taken, geoms)]
        self.root = self._root()
        self.stacks: dict[int, list[int]] = {}
        for k in mechanism.order:
            if k != self.root and not self._is_stacked(k):
                stack = [k]
                while (parent := mechanism.parents[stack[0]]) >= 0 and parent != self.root and self._is_stacked(parent):
                    stack.insert(0, parent)
                self.stacks[k] = stack
        on_joints = [element for element in mechanism.springs if isinstance(element, Spring) and _is_of_joint(element)]
        self.springs = {spring.joints[0][0]: spring for spring in on_joints}

    def turned_back(self, joint: str) -> float:
        """The stiffness of the springs on a ball joint that rest where it does not turn."""
        springs = (element for element in self.mechanism.springs if isinstance(element, BallSpring))
        return float(sum(spring.stiffness for spring in springs if spring.joint == joint and spring.rest == UNTURNED))

    def borne(self, k: int) -> float:
        """Return the fraction of the link's weight that forces compensate."""
        loads = (element for element in self.mechanism.springs if isinstance(element, ConstantForce))
        shares = (borne_share(self.mechanism, load) for load in loads if load.link == self.mechanism.link_names[k])
        return float(sum(share or 0.0 for share in shares))

    def place(self, link: str) -> int:
        """The index of a link, -1 for the base."""
        return -1 if link == "base" else self.mechanism.link_index(link)

    def _add_sites(self, name: str, ends: Iterable[tuple[str, Array]], taken: set[str]) -> list[str]:
        """Put sites where a loop is closed, or between which a spring pulls; the names of them."""
        names = []
        for side, (link, frame) in enumerate(ends, 1):
            names.append(unused_name(f"{name}_{side}", taken))
            self.sites.setdefault(self.place(link), []).append((names[-1], frame))
        return names

    def _path(
        self, name: str, spring: LinearSpringDamper, taken: set[str], geoms: set[str]
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """The elements of a path, whose sites and geoms are put on their links."""
        points = [(x[0], translation(*x[1])) for x in spring.points if isinstance(x, tuple)]
        sites = iter(self._add_sites(name, points, taken))
        for x in spring.points:
            if isinstance(x, Pulley):
                yield "pulley", {"divisor": real(x.divisor)}
            elif isinstance(x, WrapObject):
                side = [] if x.side is None else [(x.side[0], translation(*x.side[1]))]
                names = self._add_sites(f"{name}_side", side, taken)
                yield "geom", {"geom": self._wrapped(f"{name}_wrap", x, geoms), **({"sidesite": names[0]} if names else {})}
            else:
                yield "site", {"site": next(sites)}

    def _wrapped(self, name: str, wrap: WrapObject, taken: set[str]) -> str:
        """The name of the geom that is wrapped: a shape of the link in the same place, or a new one."""
        place = self.place(wrap.link)
        for shape in self.shapes.get(place, ()):
            part = np.s_[:3, 3] if isinstance(wrap, WrapSphere) else np.s_[:, :]
            same = np.array_equal(wrap.frame[part], shape.origin[part])
            if same and geom_type(wrap) == shape.kind and shape.size[0] == wrap.radius:
                if id(shape) not in self.geom_names:
                    single = shape.name and [x.name for on in self.shapes.values() for x in on].count(shape.name) == 1
                    self.geom_names[id(shape)] = str(shape.name) if single else unused_name(name, taken)
                return self.geom_names[id(shape)]
        self.wraps.setdefault(place, []).append((unused_name(name, taken), wrap))
        return self.wraps[place][-1][0]

    def _root(self) -> int:
        """Return the link that is identical to the floating base: the only one fixed to its frame, if any."""
        links = self.mechanism.links
        fixed = [k for k in self.children[-1] if not links[k].moves and not links[k].joint_name]
        if not self.mechanism.floating or len(fixed) != 1 or not np.array_equal(links[fixed[0]].placement(), np.eye(4)):
            return -1
        return fixed[0]

    def _is_stacked(self, k: int) -> bool:
        """True if a link only separates its joint from the next one."""
        link, below = self.mechanism.links[k], self.children[k]
        bare = link.body.is_zero and k not in self.shapes and k != self.mechanism.tool_index
        bare = bare and k not in self.sites and k not in self.wraps
        if not bare or not link.moves or link.has_quaternion or len(below) != 1:
            return False
        following = self.mechanism.links[below[0]]
        if not following.moves or following.joint == "floating" or self._freedoms(k) > MOST_FREEDOMS:
            return False
        return not following.has_quaternion or np.array_equal(following.after[:3, :3], np.eye(3))

    def _freedoms(self, k: int) -> int:
        """Return the number of freedoms of the MJCF body that would contain a massless link."""
        links, parents = self.mechanism.links, self.mechanism.parents
        total = links[self.children[k][0]].joint_model.nv
        while k >= 0 and links[k].moves and links[k].body.is_zero:
            total, k = total + links[k].joint_model.nv, parents[k]
        return total

    def moved_with(self, k: int) -> list[Inertia]:
        """The inertias of a body and of all that is fixed to it."""
        links = self.mechanism.links
        bodies, left = [], [k]
        while left:
            k = left.pop()
            bodies += [] if k < 0 else [links[k].body]
            bodies += [self.mechanism.payload] if k == self.mechanism.tool_index else []
            left += [j for j in self.children[k] if not links[j].moves][::-1]
        return bodies

    def is_bare(self, k: int) -> bool:
        """True if a moving body, with everything fixed to it, has no inertia."""
        return self._carries(k) and all(body.is_zero for body in self.moved_with(k))

    def is_lifted(self, k: int) -> bool:
        """True if MuJoCo would reject the moving body: it and everything fixed to it have no mass and moments."""
        bodies = self.moved_with(-1 if k == self.root else k)
        whole = any(body.mass >= LEAST and np.linalg.eigvalsh(body.tensor)[0] >= LEAST for body in bodies)
        return self._carries(k) and not whole and not all(body.is_zero for body in bodies)

    def _carries(self, k: int) -> bool:
        """True if a body has a joint."""
        if k in (-1, self.root):
            return self.mechanism.floating
        return k in self.stacks and self.mechanism.links[k].moves

    @property
    def is_reordered(self) -> bool:
        """True if the bodies are written in another order than the links: each with its subtree."""
        written: list[int] = []
        left = [-1]
        while left:
            written.append(left.pop())
            left += sorted(self.children[written[-1]], key=lambda j: j == self.root)[::-1]
        order = [k for k in written[1:] if k != self.root]
        return order != sorted(order)

    @property
    def has_order(self) -> bool:
        """True if a list of body names can record the order of the links."""
        together = all(stack == [*range(stack[0], stack[0] + len(stack))] for stack in self.stacks.values())
        return together and all(name.split() == [name] for name in self.mechanism.link_names)


def _is_of_joint(spring: Spring) -> bool:
    """True if MJCF has the spring as an attribute of the joint: one coordinate, no damper."""
    other = spring.name or spring.damping or spring.force or spring.inertia or spring.slack or not spring.stiffness
    return not other and [ratio for _, ratio in spring.joints] == [1.0]


def borne_share(mechanism: Mechanism, load: ConstantForce) -> float | None:
    """Return the fraction of the link's weight that a force at its centre of mass compensates; None for another force."""
    body = mechanism.links[mechanism.link_index(load.link)].body
    weight, force = body.mass * mechanism.gravity, np.array(load.force)
    share = -float(force @ weight) / (float(weight @ weight) or 1.0)
    is_borne = np.abs(force + share * weight).max() <= ROUNDING * np.abs(force).max()
    return share if is_borne and np.array_equal(load.point, body.com) else None


def joint_values(mechanism: Mechanism) -> dict[str, dict[str, float]]:
    """Motor parameters reflected to each joint, by the attributes of MJCF."""
    values: dict[str, dict[str, float]] = {}
    for drive in mechanism.drives:
        motor = drive.motor
        up, down = motor.reflected_coulomb
        reflected = {
            "armature": motor.reflected_inertia,
            "damping": max(0.0, motor.reflected_viscous),
            "frictionloss": max(0.0, 0.5 * (up - down)),
        }
        joint = values.setdefault(drive.joint, dict.fromkeys(reflected, 0.0))
        for key, value in reflected.items():
            joint[key] += value
    return values


def has_range(link: Link) -> bool:
    """True if the limits of a joint are a finite range, as MJCF requires."""
    return link.limits is not None and math.isfinite(link.limits[1] - link.limits[0]) and link.limits[0] < link.limits[1]


def _turning_losses(mechanism: Mechanism) -> Iterator[str]:
    """Yield motors of joints with quaternions that MJCF cannot represent: it has one value for all velocities of a joint."""
    values = joint_values(mechanism)
    for at in mechanism.manifold_joints:
        reflected = [values.get(name, {}) for name in mechanism.velocity_names[at.v]]
        if any(other != reflected[0] for other in reflected):
            yield f"motors of {at.name!r}: all of them ({_UNEQUAL})"
        elif at.joint.kind == "floating" and reflected[0].get("frictionloss"):
            yield f"motors of {at.name!r}: their Coulomb friction (MuJoCo's is along the axes of the world)"


def losses(description: Description) -> Losses:
    """List the features that MJCF drops or changes, and those for which the file cannot be written.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> arm = Link(name="arm", mass=2.0, inertia=(0.1, 0.1, 0.1), qd_max=1.0)
    >>> screw = Mechanism([arm, Link(name="nut", joint="screw", pitch=0.1)])
    >>> losses(Description(screw)).lost, losses(Description(screw)).never[0]
    (["link 'arm': its qd_max"], "link 'nut': its screw joint")
    """
    mechanism = description.mechanism
    plan = BodyPlan(mechanism, description.shapes)
    apart = plan.mechanism
    lost = [f"link {link.name!r}: {part}" for k, link in enumerate(apart.links) for part in _link_losses(plan, k, link)]
    lost += [f"link {link.name!r}: {_UNNAMED}" for k, link in enumerate(apart.links) if _loses_name(plan, k, mechanism)]
    lost += [f"motor of {drive.joint!r}: {part}" for drive in apart.drives for part in _motor_losses(drive.motor)]
    lost += _turning_losses(apart)
    lost += [part for element in apart.springs for part in _spring_losses(apart, element)]
    lost += [f"its {name} ({_TURNED})" for name in ("base", "tool") if _is_bent(getattr(mechanism, name))]
    if mechanism.floating and not np.array_equal(mechanism.base, np.eye(4)):
        lost.append(f"its base ({_FROM_WORLD})")
    if not mechanism.payload.physical:
        lost.append("its payload's mark physical=False")
    if description.external.any():
        lost.append("what acts on its tool (external)")
    if plan.is_reordered and not plan.has_order:
        lost.append(f"the order of its links ({_NESTED})")
    for shape in description.shapes:
        named = shape.material is not None or (shape.name and [s.name for s in description.shapes].count(shape.name) > 1)
        if shape.kind == "mesh" or named:
            part = "" if shape.kind == "mesh" else " (its name or material)"
            lost.append(f"link {shape.link!r}: its {shape.role} {shape.kind}{part}")
    return Losses(lost, [*_never(plan)])


_TURNED = "its rotation is not one to rounding, and would be rounded"
_UNEQUAL = "MJCF has one number for all velocities of a joint"
_FROM_WORLD = "a free joint counts from the world"
_NESTED = "a name has a blank, or a massless link does not stand before the one that it carries"
_UNNAMED = "its name (it has no inertia: its joint becomes one of the next body)"
_NO_INERTIA = "and MuJoCo moves no body without mass and moments of inertia"


def _never(plan: BodyPlan) -> Iterator[str]:
    """Yield the features for which the written file would be another mechanism, or be rejected by MuJoCo."""
    mechanism = plan.mechanism
    for k, link in enumerate(mechanism.links):
        item = f"link {link.name!r}"
        if link.moves and link.joint not in TYPES:
            yield f"{item}: its {link.joint} joint"
        elif link.joint == "floating" and (mechanism.parents[k] >= 0 or mechanism.floating):
            yield f"{item}: its floating joint (a free joint stands in the world alone)"
        if k != plan.root and plan.is_bare(k):
            yield f"{item}: it has no inertia, nor has anything fixed to it, {_NO_INERTIA}"
        if not link.body.physical and not can_exist(link.body):
            yield f"{item}: no body has its inertia, and MuJoCo loads no such file"
    if plan.is_bare(-1):
        yield f"its floating base: it has no inertia, nor has anything fixed to it, {_NO_INERTIA}"
    for loop in mechanism.loops:
        if loop.kind not in EQUALITIES:
            yield f"loop {loop.name!r}: its kind {loop.kind!r}; expected {choices(EQUALITIES)}"
    names = [loop.name for loop in mechanism.loops], [getattr(element, "name", None) for element in mechanism.springs]
    for noun, labels in zip(("loop", "spring"), names, strict=True):
        yield from (
            f"{noun} {name!r}: its name occurs twice" for name, times in Counter(labels).items() if name and times > 1
        )
    if "world" in mechanism.link_names:
        yield "link 'world': its name, which means the world"
    words = {str(name) for link in mechanism.links for name in (link.name, link.joint_name)}
    words |= {str(name) for name in (*names[0], *names[1], mechanism.name)}
    yield from (f"the name {name!r} (XML cannot represent it)" for name in sorted(words) if NOT_XML.search(name))


def _link_losses(plan: BodyPlan, k: int, link: Link) -> Iterator[str]:
    if any(_is_bent(frame) for frame in (link.before, link.after)):
        yield f"its placement ({_TURNED})"
    if link.joint == "floating" and not np.array_equal(plan.mechanism.base @ link.before, np.eye(4)):
        yield f"its placement ({_FROM_WORLD})"
    yield from (f"its {field}" for field in ("qd_max", "qdd_max") if getattr(link, field) is not None)
    if link.tau_max == 0:
        yield "its tau_max 0 (read as none)"
    if link.limits is not None and (link.has_quaternion or not has_range(link)):
        yield f"its limits ({'of a cone' if link.has_quaternion else 'of one side alone, or without a range'})"
    if not link.moves and link.joint_name:
        yield "the name of its joint"
    if not link.body.physical:
        yield "its mark physical=False"
    if plan.is_lifted(k):
        yield f"its mass or moments of inertia of 0 ({LEAST} is written, {_NO_INERTIA})"


def _loses_name(plan: BodyPlan, k: int, mechanism: Mechanism) -> bool:
    """True if a link becomes a joint of the next body, and the reader would assign it another name."""
    link, body = plan.mechanism.links[k], k
    if k in plan.stacks or k == plan.root or link.name not in mechanism.link_names:
        return False
    while body not in plan.stacks:
        (body,) = plan.children[body]
    return link.name != f"{plan.mechanism.link_names[body]}_{link.coordinate_name}"


def _motor_losses(motor: Motor) -> Iterator[str]:
    if motor.gear_ratio != 1:
        yield "its gear ratio (inertia and friction are written as the joint feels them)"
    yield from motor_losses(motor, "its")


def _spring_losses(mechanism: Mechanism, element: object) -> Iterator[str]:
    if isinstance(element, (Spring, LinearSpringDamper)):
        where = element.links[0] if isinstance(element, LinearSpringDamper) else element.joints[0][0]
        if element.force:
            yield f"spring {element.name or where!r}: its constant force"
        if element.inertia and any_wrap(element):
            yield f"spring {element.name or where!r}: its inertia (MuJoCo has none for a tendon around geoms)"
        elif element.inertia and _branches(mechanism, element):
            yield f"spring {element.name or where!r}: its inertia between branches (MuJoCo leaves it out)"
    elif isinstance(element, BallSpring):
        if element.name or element.rest != UNTURNED:
            yield f"spring of {element.joint!r}: its rest or its name"
    elif isinstance(element, ConstantForce):
        if element.name or borne_share(mechanism, element) is None:
            yield f"the constant force on link {element.link!r}"
    elif isinstance(element, EndStop):
        yield f"end stop of {element.joint!r} (the stops of MuJoCo have another law)"
    else:
        yield f"a force element of the kind {type(element).__name__}"


def _branches(mechanism: Mechanism, element: Spring | LinearSpringDamper) -> bool:
    """True unless some link is moved by all joints that change the length."""
    of_joints = {link.coordinate_name: link.name for link in mechanism.links if link.moves}
    names = {*element.links, *(of_joints[joint] for joint, _ in element.terms)} - {BASE}
    ways = [{*mechanism.path(mechanism.link_index(str(name)))} for name in names]
    return set().union(*ways) not in ways


def _is_bent(frame: FloatArray) -> bool:
    return bool(rotation_error(frame[:3, :3]) > ROUNDING)
