"""Writer of MJCF; docs/mjcf.md lists the supported features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from linkwise.files.formats.mjcf.attributes import ORDER
from linkwise.files.formats.mjcf.geoms import PARTS, WHOLE
from linkwise.files.formats.mjcf.losses import EQUALITIES, LEAST, TYPES, BodyPlan, has_range, joint_values
from linkwise.files.formats.mjcf.tendons import any_wrap, geom_type
from linkwise.files.report import needs_tool_frame, unused_name
from linkwise.files.xml_tree import element_lines, numbers, real
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia
from linkwise.model.joints.ball import ROTATION_COLUMNS
from linkwise.model.joints.floating import POSE_COLUMNS
from linkwise.model.joints.joint import Columns
from linkwise.model.link import Link
from linkwise.model.loop import BASE
from linkwise.model.shape import Shape
from linkwise.model.spring import LinearSpringDamper, Spring
from linkwise.model.tendon_path import WrapObject
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import inverse

_IDENTITY = np.eye(4)


def render(mechanism: Mechanism, shapes: Sequence[Shape] = ()) -> str:
    """Return the text of an MJCF file, without the losses.

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
    return "\n".join(_Writer(BodyPlan(mechanism, [shape for shape in shapes if shape.kind != "mesh"])).lines()) + "\n"


#: Lines with their margins, and bodies to be written: links, each with its frame in the enclosing element.
Parts = list[tuple[int, str | tuple[int, FloatArray]]]

#: The margin grows no more beyond bodies nested so deep: the text of a long chain would be mostly blanks.
DEEPEST_MARGIN = 40


def _at_margin(lines: Iterable[str]) -> Parts:
    return [(0, line) for line in lines]


def _body_parts(attributes: Mapping[str, str], inner: Parts) -> Parts:
    """Return the lines of a body with its contents."""
    if not inner:
        return _at_margin(element_lines("body", attributes))
    first, _, last = element_lines("body", attributes, [""])
    return [(0, first), *((depth + 1, part) for depth, part in inner), (0, last)]


class _Writer:
    """Writes the elements of a plan."""

    def __init__(self, plan: BodyPlan) -> None:
        self.plan, self.mechanism = plan, plan.mechanism
        self.efforts = joint_values(self.mechanism)
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
        listed = self.plan.is_reordered and self.plan.has_order
        return element_lines("text", {"name": ORDER, "data": " ".join(names)}) if listed else []

    def _world(self) -> list[str]:
        """Return the contents of the world: the bodies on the base, or the floating base."""
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
        """Return the gravity compensation of a body."""
        share = self.plan.borne(k) if k >= 0 else 0.0
        return {"gravcomp": real(share)} if share else {}

    def _bodies(self, k: int, outer: FloatArray) -> list[str]:
        """Return the bodies on the k-th link; `outer` is the frame of the link in the enclosing body."""
        lines, left = [], self._on_body(k, outer)[::-1]
        while left:  # (bodies are nested as deep as the chain is long)
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
        """Write the joint of a link, whose frame is expressed in that of the body."""
        if not link.moves:
            return []
        name, kind = link.coordinate_name, TYPES[link.joint]
        if kind == "free":
            return self._free(name, {"name": name})
        attrs = {"name": name, "type": kind}
        if frame[:3, 3].any():
            attrs["pos"] = numbers(frame[:3, 3])
        if kind == "ball":
            attrs |= {"stiffness": real(stiffness)} if (stiffness := self.plan.turned_back(name)) else {}
            return element_lines("joint", attrs | self._of_velocities(name, ROTATION_COLUMNS))
        attrs["axis"] = numbers(frame[:3, :3] @ link.axis)
        attrs |= {"ref": real(-link.offset)} if link.offset else {}
        attrs |= {"range": numbers(link.limits or ())} if has_range(link) else {}
        attrs |= {"actuatorfrcrange": numbers([-link.tau_max, link.tau_max])} if link.tau_max else {}
        attrs |= _written(self.efforts.get(name, {}))
        if name in self.plan.springs:
            spring = self.plan.springs[name]
            attrs |= {"stiffness": _stiffness(spring), "springref": real(spring.rest)}
        return element_lines("joint", attrs)

    def _free(self, name: str, attrs: dict[str, str]) -> list[str]:
        """Write a free joint; its attributes that a ``<freejoint>`` lacks require a ``<joint>``."""
        values = self._of_velocities(name, POSE_COLUMNS)
        values.pop("frictionloss", None)
        return element_lines("joint", attrs | {"type": "free"} | values) if values else element_lines("freejoint", attrs)

    def _of_velocities(self, name: str, columns: Mapping[str, Columns]) -> dict[str, str]:
        """Motor parameters of the velocities of a joint with a quaternion, where all are equal."""
        reflected = [self.efforts.get(f"{name}{ending}", {}) for ending, _ in columns["qd"]]
        return _written(reflected[0]) if all(values == reflected[0] for values in reflected) else {}

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
        shapes = [line for shape in self.plan.shapes.get(k, ()) for line in self._geom(shape, outer)]
        return (
            sites + shapes + [line for name, wrap in self.plan.wraps.get(k, ()) for line in _wrap_lines(name, wrap, outer)]
        )

    def _geom(self, shape: Shape, outer: Array) -> list[str]:
        size = [value * part for value, part in zip(shape.size, PARTS.get(shape.kind, WHOLE), strict=False)]
        attrs = {"name": str(shape.name)} if shape.name in self.shape_names else {}
        attrs |= {"name": self.plan.geom_names[id(shape)]} if id(shape) in self.plan.geom_names else {}
        attrs |= {"type": shape.kind, "size": numbers(size), **_pose(outer @ shape.origin), "mass": "0"}
        attrs |= {"contype": "0", "conaffinity": "0"} if shape.role == "visual" else {}
        attrs |= {} if shape.colour is None else {"rgba": numbers(shape.colour)}
        return element_lines("geom", attrs)

    def _tool(self, k: int) -> list[str]:
        """Write the tool as a body, with a site of the same name and the shapes that it carries."""
        mechanism = self.mechanism
        if k != mechanism.tool_index or k < 0 or not needs_tool_frame(mechanism):
            return []
        name = unused_name("tool", self.plan.names)
        inner = [*_inertial_lines(mechanism.payload), *element_lines("site", {"name": name})]
        return element_lines("body", {"name": name, **_pose(mechanism.tool)}, inner)

    def _tendon(self, k: int, element: object) -> list[str]:
        """Write as a tendon a spring that no joint attribute can represent."""
        if isinstance(element, LinearSpringDamper):
            attrs = {"name": element.name} if element.name else {}
            attrs |= _laws(element)
            path = [line for tag, part in self.plan.paths[k] for line in element_lines(tag, part)]
            return element_lines("spatial", {**attrs, **_rest_range(element)}, path)
        if not isinstance(element, Spring) or element is self.plan.springs.get(element.joints[0][0]):
            return []
        if not _laws(element):
            return []
        sign = -1.0 if element.rest == -1.0 else 1.0  # (a length of -1 means that of springref)
        attrs = {"name": element.name} if element.name else {}
        attrs |= _rest_range(element, sign) if element.stiffness or any(element.nonlinear_stiffness) else {}
        attrs |= _laws(element, sign)
        joints = [{"joint": name, "coef": real(sign * ratio)} for name, ratio in element.joints]
        return element_lines("fixed", attrs, [line for joint in joints for line in element_lines("joint", joint)])

    def _followers(self) -> Iterator[str]:
        """q1 - ref1 = a0 + a1 (q2 - ref2) for each joint that follows another."""
        offsets = {link.coordinate_name: link.offset for link in self.mechanism.links if link.moves}
        for link in self.mechanism.links:
            if (mimic := link.mimic) is not None:
                constant = mimic.offset + link.offset - mimic.ratio * offsets[mimic.joint]
                attrs = {"joint1": link.coordinate_name, "joint2": mimic.joint}
                yield from element_lines("joint", {**attrs, "polycoef": numbers([constant, mimic.ratio, 0.0, 0.0, 0.0])})

    def _closures(self) -> Iterator[str]:
        for loop, (first, second) in zip(self.mechanism.loops, self.plan.ends, strict=True):
            name = {"name": loop.name} if loop.name else {}
            yield from element_lines(EQUALITIES[loop.kind], {**name, "site1": first, "site2": second})


def _rest_range(element: Spring | LinearSpringDamper, sign: float = 1.0) -> dict[str, str]:
    """The lengths between which a tendon of a spring takes nothing."""
    ends = sorted({sign * element.rest, sign * (element.rest + element.slack)})
    return {"springlength": numbers(ends)}


def _laws(element: Spring | LinearSpringDamper, sign: float = 1.0) -> dict[str, str]:
    """Return the attributes of a tendon for a spring."""
    values = {"damping": element.damping, "armature": 0.0 if any_wrap(element) else element.inertia}
    elastic = element.stiffness or any(element.nonlinear_stiffness)
    laws = {"stiffness": _stiffness(element, sign)} if elastic else {}
    return {**laws, **{key: real(value) for key, value in values.items() if value}}


def _stiffness(element: Spring | LinearSpringDamper, sign: float = 1.0) -> str:
    """The stiffness, with those of higher degree where there are some; -1 for a length that is counted the other way."""
    square, cube = element.nonlinear_stiffness
    return numbers([element.stiffness, sign * square, cube]) if square or cube else real(element.stiffness)


def _wrap_lines(name: str, wrap: WrapObject, outer: Array) -> list[str]:
    """A geom that is only wrapped: its length along a cylinder has no meaning."""
    kind = geom_type(wrap)
    size = [wrap.radius] if kind == "sphere" else [wrap.radius, wrap.radius]
    attrs = {"name": name, "type": kind, "size": numbers(size), **_pose(outer @ wrap.frame), "mass": "0"}
    return element_lines("geom", attrs | {"contype": "0", "conaffinity": "0"})


def _section(tag: str, inner: Sequence[str]) -> list[str]:
    return element_lines(tag, {}, inner) if inner else []


def _written(values: Mapping[str, float]) -> dict[str, str]:
    return {key: real(value) for key, value in values.items() if value}


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
    attrs = {"pos": numbers(body.com), **_quaternion(axes)}
    attrs |= {"mass": real(max(body.mass, least)), "diaginertia": numbers(moments)}
    return element_lines("inertial", attrs)


def _needs_frame(link: Link) -> bool:
    """True if the link needs a separate body, as its frame differs from that of the joint's coordinates or velocities."""
    frame = link.after[:3, :3] if link.joint == "ball" else link.after
    return link.has_quaternion and not np.array_equal(frame, np.eye(len(frame)))


def _pose(frame: Array) -> dict[str, str]:
    """The attributes of a placement, nothing for the identity."""
    attrs = {"pos": numbers(frame[:3, 3])} if frame[:3, 3].any() else {}
    return attrs | _quaternion(frame[:3, :3])


def _quaternion(rotation: Array) -> dict[str, str]:
    same = np.array_equal(rotation, np.eye(3))
    return {} if same else {"quat": numbers(rotation_quaternion(np.asarray(rotation, dtype=float)))}
