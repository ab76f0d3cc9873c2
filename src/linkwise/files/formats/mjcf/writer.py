"""The writer of MJCF; docs/mjcf.md describes what it keeps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from linkwise.errors import choices
from linkwise.files.formats.mjcf.attributes import ORDER
from linkwise.files.formats.mjcf.geoms import PARTS, WHOLE
from linkwise.files.registry import Losses, motor_losses
from linkwise.files.report import Description, can_exist, check_shape_links, needs_tool_frame, unused_name
from linkwise.files.xml_tree import NOT_XML, element_lines, numbers, real
from linkwise.mechanism import Mechanism
from linkwise.model.assembly import separated
from linkwise.model.inertia import Inertia
from linkwise.model.joints.ball import ROTATION_COLUMNS
from linkwise.model.joints.floating import POSE_COLUMNS
from linkwise.model.joints.joint import Columns
from linkwise.model.link import Link
from linkwise.model.loop import BASE
from linkwise.model.motor import Motor
from linkwise.model.potential import UNTURNED, BallSpring, ConstantForce
from linkwise.model.shape import Shape
from linkwise.model.spring import EndStop, LinearSpringDamper, Spring
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.rotation import rotation_error
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import inverse, translation

#: What the kinds of joints of a mechanism are called in MJCF, those of several freedoms taken apart.
TYPES = {"revolute": "hinge", "prismatic": "slide", "ball": "ball", "floating": "free"}

#: The kinds of closures that an equality constraint is.
EQUALITIES = {"point": "connect", "full": "weld"}

#: MuJoCo moves no body whose mass (kg) or moments of inertia (kg m2) are less; of its bound 1e-15 they must be more.
LEAST = 1e-14

#: A rotation that differs by more than this from one is written with rounding.
ROUNDING = 1e-12

#: As many freedoms may the joints of one body have.
MOST_FREEDOMS = 6

_IDENTITY = np.eye(4)


class _Plan:
    """Which links become bodies, and what else stands in each.

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
        self.paths: dict[int, list[str]] = {}
        for k, spring in enumerate(mechanism.springs):
            if isinstance(spring, LinearSpringDamper):
                points = [(link, translation(*point)) for link, point in spring.points]
                self.paths[k] = self._add_sites(spring.name or f"spring{k + 1}", points, taken)
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
        """What part of the weight of a link forces bear."""
        loads = (element for element in self.mechanism.springs if isinstance(element, ConstantForce))
        shares = (_borne_share(self.mechanism, load) for load in loads if load.link == self.mechanism.link_names[k])
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

    def _root(self) -> int:
        """The link that a floating base itself is: the one that is fixed in its frame, if there is one alone."""
        links = self.mechanism.links
        fixed = [k for k in self.children[-1] if not links[k].moves and not links[k].joint_name]
        if not self.mechanism.floating or len(fixed) != 1 or not np.array_equal(links[fixed[0]].placement(), _IDENTITY):
            return -1
        return fixed[0]

    def _is_stacked(self, k: int) -> bool:
        """Whether a link is nothing but the place between its joint and the next one."""
        link, below = self.mechanism.links[k], self.children[k]
        bare = link.body.is_zero and k not in self.shapes and k not in self.sites and k != self.mechanism.tool_index
        if not bare or not link.moves or link.has_quaternion or len(below) != 1:
            return False
        following = self.mechanism.links[below[0]]
        if not following.moves or following.joint == "floating" or self._freedoms(k) > MOST_FREEDOMS:
            return False
        return not following.has_quaternion or np.array_equal(following.after[:3, :3], np.eye(3))

    def _freedoms(self, k: int) -> int:
        """How many freedoms the joints of the body have that a massless link would belong to."""
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
        """Whether a body that moves has no inertia at all, nor what is fixed to it."""
        return self._carries(k) and all(body.is_zero for body in self.moved_with(k))

    def is_lifted(self, k: int) -> bool:
        """Whether MuJoCo would not move a body as it is: neither it nor what is fixed to it has a mass and moments."""
        bodies = self.moved_with(-1 if k == self.root else k)
        whole = any(body.mass >= LEAST and np.linalg.eigvalsh(body.tensor)[0] >= LEAST for body in bodies)
        return self._carries(k) and not whole and not all(body.is_zero for body in bodies)

    def _carries(self, k: int) -> bool:
        """Whether a body has a joint of its own."""
        if k in (-1, self.root):
            return self.mechanism.floating
        return k in self.stacks and self.mechanism.links[k].moves


def _is_of_joint(spring: Spring) -> bool:
    """Whether a spring is what MJCF says in the joint itself: one without damper on one coordinate."""
    other = spring.name or spring.damping or spring.force or spring.inertia or spring.slack or not spring.stiffness
    return not other and [ratio for _, ratio in spring.joints] == [1.0]


def _borne_share(mechanism: Mechanism, load: ConstantForce) -> float | None:
    """What part of the weight of its link a force bears, at the centre of mass; None of another force."""
    body = mechanism.links[mechanism.link_index(load.link)].body
    weight, force = body.mass * mechanism.gravity, np.array(load.force)
    share = -float(force @ weight) / (float(weight @ weight) or 1.0)
    is_borne = np.abs(force + share * weight).max() <= ROUNDING * np.abs(force).max()
    return share if is_borne and np.array_equal(load.point, body.com) else None


# ── text ──────────────────────────────────────────────────────────────────────────────────────────


def render(mechanism: Mechanism, shapes: Sequence[Shape] = ()) -> str:
    """The text of an MJCF file, without what it cannot hold.

    Raises
    ------
    ArgumentError
        Where a shape is on no link.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> arm = Mechanism([Link(name="arm", mass=2.0, inertia=(0.1, 0.1, 0.1))], gravity=(0, 0, -1.62), name="crane")
    >>> print(render(arm))
    <mujoco model="crane">
      <compiler angle="radian"/>
      <option gravity="0.0 0.0 -1.62"/>
      <worldbody>
        <body name="arm">
          <inertial pos="0.0 0.0 0.0" mass="2.0" diaginertia="0.1 0.1 0.1"/>
          <joint name="arm" type="hinge" axis="0.0 0.0 1.0"/>
        </body>
      </worldbody>
    </mujoco>
    <BLANKLINE>
    """
    return "\n".join(_Writer(_Plan(mechanism, [shape for shape in shapes if shape.kind != "mesh"])).lines()) + "\n"


#: Lines with their margins, and bodies that are still to be written: links, each with the frame in which it stands.
Parts = list[tuple[int, str | tuple[int, FloatArray]]]

#: The margin grows no more beyond bodies nested so deep: the text of a long chain would be mostly blanks.
DEEPEST_MARGIN = 40


def _at_margin(lines: Iterable[str]) -> Parts:
    return [(0, line) for line in lines]


def _body_parts(attributes: Mapping[str, str], inner: Parts) -> Parts:
    """A body with what is in it."""
    if not inner:
        return _at_margin(element_lines("body", attributes))
    first, _, last = element_lines("body", attributes, [""])
    return [(0, first), *((depth + 1, part) for depth, part in inner), (0, last)]


class _Writer:
    """Writes the elements of a plan."""

    def __init__(self, plan: _Plan) -> None:
        self.plan, self.mechanism = plan, plan.mechanism
        self.efforts = _joint_values(self.mechanism)
        shapes = Counter(shape.name for on_link in plan.shapes.values() for shape in on_link)
        self.shape_names = {name for name, times in shapes.items() if name and times == 1}

    def lines(self) -> list[str]:
        inner = [
            *element_lines("compiler", {"angle": "radian"}),
            *element_lines("option", {"gravity": numbers(self.mechanism.gravity)}),
            *element_lines("worldbody", {}, self._world()),
            *_section(
                "tendon", [line for k, element in enumerate(self.mechanism.springs) for line in self._tendon(k, element)]
            ),
            *_section("equality", [*self._followers(), *self._closures()]),
            *_section("custom", self._order()),
        ]
        return element_lines("mujoco", {"model": self.mechanism.name}, inner)

    def _order(self) -> list[str]:
        """The bodies in the order of the links, where they are written in another: each with all that it carries."""
        names = [self.mechanism.link_names[k] for k in sorted({*self.plan.stacks, self.plan.root} - {-1})]
        listed = _is_reordered(self.plan) and _has_order(self.plan)
        return element_lines("text", {"name": ORDER, "data": " ".join(names)}) if listed else []

    def _world(self) -> list[str]:
        """What stands in the world: the bodies on the base, or the floating one."""
        plan, mechanism = self.plan, self.mechanism
        if not mechanism.floating:
            return [*self._on(-1, mechanism.base), *self._bodies(-1, mechanism.base)]
        root = plan.root
        name = unused_name("base_link", plan.names) if root < 0 else mechanism.link_names[root]
        inner = [*self._inertial(root), *self._free(BASE, {}), *self._on(-1, _IDENTITY)]
        inner += self._on(root, _IDENTITY) if root >= 0 else []
        inner += self._bodies(-1, _IDENTITY) + (self._bodies(root, _IDENTITY) if root >= 0 else [])
        return element_lines("body", {"name": name, **_pose(mechanism.base), **self._borne(root)}, inner)

    def _borne(self, k: int) -> dict[str, str]:
        """What part of the weight of a body is borne."""
        share = self.plan.borne(k) if k >= 0 else 0.0
        return {"gravcomp": real(share)} if share else {}

    def _bodies(self, k: int, outer: FloatArray) -> list[str]:
        """The bodies on the k-th link, whose own frame is `outer` in the body where they are written."""
        lines, left = [], self._on_body(k, outer)[::-1]
        while left:  # (bodies stand in each other as deep as the chain is long)
            depth, part = left.pop()
            if isinstance(part, str):
                lines.append(f"{'  ' * min(depth, DEEPEST_MARGIN)}{part}")
            else:
                left += [(depth + inner, line) for inner, line in reversed(self._body(*part))]
        return lines

    def _on_body(self, k: int, outer: FloatArray) -> Parts:
        """The same, with bodies that are still to be written."""
        bodies: Parts = [(0, (j, outer)) for j in self.plan.children[k] if j != self.plan.root]
        return bodies + _at_margin(self._tool(k))

    def _body(self, k: int, outer: FloatArray) -> Parts:
        """A link with its joint, or with those of the massless links before it."""
        plan, links = self.plan, self.mechanism.links
        while k not in plan.stacks:
            (k,) = plan.children[k]
        stack = plan.stacks[k]
        frames, frame = [], outer
        for j in stack:  # (each joint where its motion is none)
            link = links[j]
            frames.append(frame @ link.before)
            frame = frames[-1] @ link.after
        link, name, borne = links[k], self.mechanism.link_names[k], self._borne(k)
        inertial = self._inertial(k)
        inner = _at_margin(self._on(k, _IDENTITY)) + self._on_body(k, _IDENTITY)
        if _needs_frame(link):
            between = unused_name(f"{name}_joint", plan.names)
            body = _body_parts({"name": name, **_pose(link.after), **borne}, _at_margin(inertial) + inner)
            joint = _at_margin(self._joint(link, _IDENTITY)) + body
            return _body_parts({"name": between, **_pose(frames[-1])}, joint)
        back = inverse(frame)
        joints = [line for j, at in zip(stack, frames, strict=True) for line in self._joint(links[j], back @ at)]
        return _body_parts({"name": name, **_pose(frame), **borne}, _at_margin(inertial + joints) + inner)

    def _joint(self, link: Link, frame: Array) -> list[str]:
        """The joint of a link, whose own frame is given in the body's."""
        if not link.moves:
            return []
        name, kind = link.coordinate_name, TYPES[link.joint]
        if kind == "free":
            return self._free(name, {"name": name})
        said = {"name": name, "type": kind}
        if frame[:3, 3].any():
            said["pos"] = numbers(frame[:3, 3])
        if kind == "ball":
            said |= {"stiffness": real(stiffness)} if (stiffness := self.plan.turned_back(name)) else {}
            return element_lines("joint", said | self._of_velocities(name, ROTATION_COLUMNS))
        said["axis"] = numbers(frame[:3, :3] @ link.axis)
        said |= {"ref": real(-link.offset)} if link.offset else {}
        said |= {"range": numbers(link.limits or ())} if _has_range(link) else {}
        said |= {"actuatorfrcrange": numbers([-link.tau_max, link.tau_max])} if link.tau_max else {}
        said |= _written(self.efforts.get(name, {}))
        if name in self.plan.springs:
            spring = self.plan.springs[name]
            said |= {"stiffness": real(spring.stiffness), "springref": real(spring.rest)}
        return element_lines("joint", said)

    def _free(self, name: str, said: dict[str, str]) -> list[str]:
        """A free joint, which has attributes of its own as another element."""
        values = self._of_velocities(name, POSE_COLUMNS)
        values.pop("frictionloss", None)
        return element_lines("joint", said | {"type": "free"} | values) if values else element_lines("freejoint", said)

    def _of_velocities(self, name: str, columns: Mapping[str, Columns]) -> dict[str, str]:
        """What each velocity of a joint with a quaternion feels of its motors, where all feel the same."""
        felt = [self.efforts.get(f"{name}{ending}", {}) for ending, _ in columns["qd"]]
        return _written(felt[0]) if all(values == felt[0] for values in felt) else {}

    def _inertial(self, k: int) -> list[str]:
        body = Inertia() if k < 0 else self.mechanism.links[k].body
        return _inertial_lines(body, LEAST if self.plan.is_lifted(k) else 0.0)

    def _on(self, k: int, outer: Array) -> list[str]:
        """The sites and shapes of a link."""
        sites = [
            line
            for name, frame in self.plan.sites.get(k, ())
            for line in element_lines("site", {"name": name, **_pose(outer @ frame)})
        ]
        return sites + [line for shape in self.plan.shapes.get(k, ()) for line in self._geom(shape, outer)]

    def _geom(self, shape: Shape, outer: Array) -> list[str]:
        size = [value * part for value, part in zip(shape.size, PARTS.get(shape.kind, WHOLE), strict=False)]
        said = {"name": str(shape.name)} if shape.name in self.shape_names else {}
        said |= {"type": shape.kind, "size": numbers(size), **_pose(outer @ shape.origin), "mass": "0"}
        said |= {"contype": "0", "conaffinity": "0"} if shape.role == "visual" else {}
        said |= {} if shape.colour is None else {"rgba": numbers(shape.colour)}
        return element_lines("geom", said)

    def _tool(self, k: int) -> list[str]:
        """The tool on its link as a body, with a site of the same name and with what it carries."""
        mechanism = self.mechanism
        if k != mechanism.tool_index or k < 0 or not needs_tool_frame(mechanism):
            return []
        name = unused_name("tool", self.plan.names)
        inner = [*_inertial_lines(mechanism.payload), *element_lines("site", {"name": name})]
        return element_lines("body", {"name": name, **_pose(mechanism.tool)}, inner)

    def _tendon(self, k: int, element: object) -> list[str]:
        """A spring as a tendon, where a joint cannot say it."""
        if isinstance(element, LinearSpringDamper):
            said = {"name": element.name} if element.name else {}
            said |= _laws(element)
            sites = [line for name in self.plan.paths[k] for line in element_lines("site", {"site": name})]
            return element_lines("spatial", {**said, **_rest(element)}, sites)
        if not isinstance(element, Spring) or element is self.plan.springs.get(element.joints[0][0]):
            return []
        if not _laws(element):
            return []
        sign = -1.0 if element.rest == -1.0 else 1.0  # (a length of -1 means that of springref)
        said = {"name": element.name} if element.name else {}
        said |= _rest(element, sign) if element.stiffness else {}
        said |= _laws(element)
        joints = [{"joint": name, "coef": real(sign * ratio)} for name, ratio in element.joints]
        return element_lines("fixed", said, [line for joint in joints for line in element_lines("joint", joint)])

    def _followers(self) -> Iterator[str]:
        """q1 - ref1 = a0 + a1 (q2 - ref2) for each joint that follows another."""
        offsets = {link.coordinate_name: link.offset for link in self.mechanism.links if link.moves}
        for link in self.mechanism.links:
            if (mimic := link.mimic) is not None:
                constant = mimic.offset + link.offset - mimic.ratio * offsets[mimic.joint]
                said = {"joint1": link.coordinate_name, "joint2": mimic.joint}
                yield from element_lines("joint", {**said, "polycoef": numbers([constant, mimic.ratio, 0.0, 0.0, 0.0])})

    def _closures(self) -> Iterator[str]:
        for loop, (first, second) in zip(self.mechanism.loops, self.plan.ends, strict=True):
            name = {"name": loop.name} if loop.name else {}
            yield from element_lines(EQUALITIES[loop.kind], {**name, "site1": first, "site2": second})


def _rest(element: Spring | LinearSpringDamper, sign: float = 1.0) -> dict[str, str]:
    """The lengths between which a tendon of a spring takes nothing."""
    ends = sorted({sign * element.rest, sign * (element.rest + element.slack)})
    return {"springlength": numbers(ends)}


def _laws(element: Spring | LinearSpringDamper) -> dict[str, str]:
    """What a tendon says of a spring."""
    values = {"stiffness": element.stiffness, "damping": element.damping, "armature": element.inertia}
    return {key: real(value) for key, value in values.items() if value}


def _section(tag: str, inner: Sequence[str]) -> list[str]:
    return element_lines(tag, {}, inner) if inner else []


def _joint_values(mechanism: Mechanism) -> dict[str, dict[str, float]]:
    """What each joint feels of its motors, by the attributes of MJCF."""
    values: dict[str, dict[str, float]] = {}
    for drive in mechanism.drives:
        motor = drive.motor
        up, down = motor.reflected_coulomb
        felt = {
            "armature": motor.reflected_inertia,
            "damping": max(0.0, motor.reflected_viscous),
            "frictionloss": max(0.0, 0.5 * (up - down)),
        }
        joint = values.setdefault(drive.joint, dict.fromkeys(felt, 0.0))
        for key, value in felt.items():
            joint[key] += value
    return values


def _written(values: Mapping[str, float]) -> dict[str, str]:
    return {key: real(value) for key, value in values.items() if value}


def _turning_losses(mechanism: Mechanism) -> Iterator[str]:
    """Motors of joints with quaternions that MJCF cannot say: it has one number for all velocities of a joint."""
    values = _joint_values(mechanism)
    for at in mechanism.manifold_joints:
        felt = [values.get(name, {}) for name in mechanism.speed_names[at.v]]
        if any(other != felt[0] for other in felt):
            yield f"motors of {at.name!r}: all of them ({_UNEQUAL})"
        elif at.joint.kind == "floating" and felt[0].get("frictionloss"):
            yield f"motors of {at.name!r}: their Coulomb friction (MuJoCo's is along the axes of the world)"


def _inertial_lines(body: Inertia, least: float = 0.0) -> list[str]:
    """An inertia by its principal moments, none of them nor the mass less than some; nothing without mass."""
    if body.is_zero and not least:
        return []
    tensor = body.tensor
    axes, moments = np.eye(3), np.diag(tensor)
    if np.abs(tensor - np.diag(moments)).any():
        moments, axes = np.linalg.eigh(tensor)
        axes = axes * [1.0, 1.0, np.sign(np.linalg.det(axes))]
    moments = np.maximum(moments, least)
    large = int(np.argmax(moments))
    others = float(np.delete(moments, large).sum())  # (rounding may leave it smaller: MuJoCo compares the sum exactly)
    moments = np.where(np.arange(3) == large, min(moments[large], others), moments)
    said = {"pos": numbers(body.com), **_quaternion(axes)}
    said |= {"mass": real(max(body.mass, least)), "diaginertia": numbers(moments)}
    return element_lines("inertial", said)


def _needs_frame(link: Link) -> bool:
    """Whether the link needs a body of its own on that of its joint, whose axes its coordinates or velocities have."""
    frame = link.after[:3, :3] if link.joint == "ball" else link.after
    return link.has_quaternion and not np.array_equal(frame, np.eye(len(frame)))


def _pose(frame: Array) -> dict[str, str]:
    """The attributes of a placement, nothing for the identity."""
    said = {"pos": numbers(frame[:3, 3])} if frame[:3, 3].any() else {}
    return said | _quaternion(frame[:3, :3])


def _quaternion(rotation: Array) -> dict[str, str]:
    same = np.array_equal(rotation, np.eye(3))
    return {} if same else {"quat": numbers(rotation_quaternion(np.asarray(rotation, dtype=float)))}


def _has_range(link: Link) -> bool:
    return link.limits is not None and math.isfinite(link.limits[1] - link.limits[0]) and link.limits[0] < link.limits[1]


# ── losses ────────────────────────────────────────────────────────────────────────────────────────


def losses(description: Description) -> Losses:
    """What an MJCF file leaves out of a description, or changes, and what keeps it from being written.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> arm = Link(name="arm", mass=2.0, inertia=(0.1, 0.1, 0.1), qd_max=1.0)
    >>> screw = Mechanism([arm, Link(name="nut", joint="screw", pitch=0.1)])
    >>> losses(Description(screw)).lost, losses(Description(screw)).never[0]
    (["link 'arm': its qd_max"], "link 'nut': its screw joint")
    """
    mechanism = description.mechanism
    plan = _Plan(mechanism, description.shapes)
    apart = plan.mechanism
    lost = [f"link {link.name!r}: {part}" for k, link in enumerate(apart.links) for part in _link_losses(plan, k, link)]
    lost += [f"link {link.name!r}: {_UNNAMED}" for k, link in enumerate(apart.links) if _loses_name(plan, k, mechanism)]
    lost += [f"motor of {drive.joint!r}: {part}" for drive in apart.drives for part in _motor_losses(drive.motor)]
    lost += _turning_losses(apart)
    lost += [part for element in apart.springs for part in _spring_losses(apart, element)]
    lost += [f"its {name} ({_TURNED})" for name in ("base", "tool") if _is_bent(getattr(mechanism, name))]
    if mechanism.floating and not np.array_equal(mechanism.base, _IDENTITY):
        lost.append(f"its base ({_FROM_WORLD})")
    if not mechanism.payload.physical:
        lost.append("its payload's mark physical=False")
    if description.external.any():
        lost.append("what acts on its tool (external)")
    if _is_reordered(plan) and not _has_order(plan):
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


def _never(plan: _Plan) -> Iterator[str]:
    """What another mechanism would be read for, or MuJoCo does not load."""
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
            f"{noun} {name!r}: its name stands twice" for name, times in Counter(labels).items() if name and times > 1
        )
    if "world" in mechanism.link_names:
        yield "link 'world': its name, which means the world"
    words = {str(name) for link in mechanism.links for name in (link.name, link.joint_name)}
    words |= {str(name) for name in (*names[0], *names[1], mechanism.name)}
    yield from (f"the name {name!r} (XML cannot say it)" for name in sorted(words) if NOT_XML.search(name))


def _depth_first(plan: _Plan, k: int = -1) -> list[int]:
    """The links in the order in which bodies are written."""
    results: list[int] = []
    left = [k]
    while left:
        results.append(left.pop())
        left += sorted(plan.children[results[-1]], key=lambda j: j == plan.root)[::-1]
    return results[1:]


def _is_reordered(plan: _Plan) -> bool:
    """Whether bodies are written in another order than that of the links: each with all that it carries."""
    written = [k for k in _depth_first(plan) if k != plan.root]
    return written != sorted(written)


def _has_order(plan: _Plan) -> bool:
    """Whether a list of the bodies says the order of the links."""
    together = all(stack == [*range(stack[0], stack[0] + len(stack))] for stack in plan.stacks.values())
    return together and all(name.split() == [name] for name in plan.mechanism.link_names)


def _link_losses(plan: _Plan, k: int, link: Link) -> Iterator[str]:
    if any(_is_bent(frame) for frame in (link.before, link.after)):
        yield f"its placement ({_TURNED})"
    if link.joint == "floating" and not np.array_equal(plan.mechanism.base @ link.before, _IDENTITY):
        yield f"its placement ({_FROM_WORLD})"
    yield from (f"its {field}" for field in ("qd_max", "qdd_max") if getattr(link, field) is not None)
    if link.tau_max == 0:
        yield "its tau_max 0 (read as none)"
    if link.limits is not None and (link.has_quaternion or not _has_range(link)):
        yield f"its limits ({'of a cone' if link.has_quaternion else 'of one side alone, or without a range'})"
    if not link.moves and link.joint_name:
        yield "the name of its joint"
    if not link.body.physical:
        yield "its mark physical=False"
    if plan.is_lifted(k):
        yield f"its mass or moments of inertia of 0 ({LEAST} is written, {_NO_INERTIA})"


def _loses_name(plan: _Plan, k: int, mechanism: Mechanism) -> bool:
    """Whether a link becomes a joint of the body after it, and the reader calls it otherwise."""
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
        if element.force:
            where = element.points[0][0] if isinstance(element, LinearSpringDamper) else element.joints[0][0]
            yield f"spring {element.name or where!r}: its constant force"
    elif isinstance(element, BallSpring):
        if element.name or element.rest != UNTURNED:
            yield f"spring of {element.joint!r}: its rest or its name"
    elif isinstance(element, ConstantForce):
        if element.name or _borne_share(mechanism, element) is None:
            yield f"the constant force on link {element.link!r}"
    elif isinstance(element, EndStop):
        yield f"end stop of {element.joint!r} (the stops of MuJoCo have another law)"
    else:
        yield f"a force element of the kind {type(element).__name__}"


def _is_bent(frame: FloatArray) -> bool:
    return bool(rotation_error(frame[:3, :3]) > ROUNDING)
