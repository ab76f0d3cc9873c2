"""The scene of a mechanism: primitives fixed to links, spans between links, and labels; built once, then moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.model.formatting.table import plain
from linkwise.model.link import Link
from linkwise.model.tree import Tree
from linkwise.plot.figure import colour
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.view.scene.layout import SceneLayout, lay_out, loop_ends, points_of, rotor_places, segments
from linkwise.view.scene.tessellation import Surface, surface_of

#: Radii of rods and joints, relative to the mechanism's size; scale of each further joint at one place.
ROD, JOINT, NESTED = 0.014, 0.030, 0.84

#: Length of frame axes, half side of the ground, length of the axes of a floating base: shares of the mechanism's size.
TRIAD, GROUND, FREE = 0.095, 0.13, 0.15

#: Colours of the base, of lines, and of sliding rods.
GREY, INK, LIGHT = "#8a8f94", "#202020", "#bebebe"

#: Beyond this many links they are numbered, as in the list of links, not named, and their frames are not drawn.
MANY = 12

#: Length of a span between two points that are one, as a share of the mechanism's size.
SHORTEST = 1e-5

WORLD = np.eye(4)

IntArray = npt.NDArray[np.int_]

#: Red, green, blue, each 0 to 1.
Colour = tuple[float, float, float]


class Symbol(NamedTuple):
    """A primitive of a sign, about z, in radii of a joint."""

    kind: str
    size: tuple[float, ...]
    thread: bool = False


class JointSign(NamedTuple):
    """Symbol of a kind of joint, its frame having z along the joint's axis.

    Attributes
    ----------
    symbols : tuple of Symbol
        Fixed to the parent.
    slides : bool
        Whether a rod leads from where the joint acts to where its motion has taken that point.
    upright : bool
        Whether the ground below a first joint of this kind stands at a right angle to its axis.
    """

    symbols: tuple[Symbol, ...] = ()
    slides: bool = False
    upright: bool = False


#: Symbol of each kind of joint; painters draw primitives only, and joints of other kinds have no symbol.
JOINTS: dict[str, JointSign] = {
    "revolute": JointSign((Symbol("cylinder", (1.0, 2.7)),), upright=True),
    "prismatic": JointSign((Symbol("box", (1.7, 1.7, 2.55)),), slides=True),
    "screw": JointSign((Symbol("cylinder", (0.7, 3.2)), Symbol("helix", (0.8, 3.2, 0.14), thread=True)), slides=True),
    "planar": JointSign((Symbol("box", (2.6, 2.6, 0.4)), Symbol("cylinder", (0.8, 1.4))), slides=True),
    "ball": JointSign((Symbol("sphere", (1.25,)),)),
}


def signs(link: Link) -> list[tuple[JointSign, FloatArray]]:
    """Symbols of a joint, each with the direction (3,) in A of its z; some kinds use the symbols of their parts."""
    joint = link.joint_model
    if joint.kind in JOINTS or not joint.parts:
        return [(JOINTS.get(joint.kind, JointSign()), np.atleast_2d(link.axis)[0])]
    return [(JOINTS.get(part.kind, JointSign()), part.axis) for part in joint.parts]


#: The sign on both links of each kind of loop.
LOOPS: dict[str, Symbol] = {
    "point": Symbol("sphere", (1.0,)),
    "hinge": Symbol("cylinder", (1.0, 2.7)),
    "full": Symbol("box", (2.0, 2.0, 2.0)),
}


@dataclass(frozen=True, eq=False)
class Primitive:
    """One drawn object, fixed to a link.

    Attributes
    ----------
    link : int
        The link that carries it, -1 for the base.
    kind : str
        A kind of `SURFACES` with its size; ``"mesh"``, a `surface`; ``"frame"``, axes of a length; ``"ground"``, a square of
        half a side; ``"point"``, a mark of a radius.
    role : {"rod", "joint", "closure", "rotor", "ground", "tool", "base", "link", "shape", "obstacle", "collision"}
        What it stands for.
    size : tuple of float
        m.
    frame : ndarray (4, 4)
        Where it is, in the frame of the link.
    colour : tuple of float
        Red, green, blue, 0 to 1.
    moved : int
        For the sign of a joint the link that the joint moves, otherwise `link`.
    surface : Surface, optional
        Of a mesh, in its frame.
    opacity : float
        0 to 1.
    """

    link: int
    kind: str
    role: str
    size: tuple[float, ...] = ()
    frame: FloatArray = field(default_factory=lambda: WORLD)
    colour: Colour = (0.0, 0.0, 0.0)
    moved: int = -1
    surface: Surface | None = None
    opacity: float = 1.0

    def tessellated(self, **options: Any) -> Surface:
        """Its surface in the frame of the link; options are those of the kind."""
        surface = self.surface if self.surface is not None else surface_of(self.kind, self.size, **options)
        return surface.placed(self.frame)


@dataclass(frozen=True, eq=False)
class Span:
    """Stretched object between points of two links: a cylinder 1 m long about z, scaled along it.

    Attributes
    ----------
    links : (int, int)
        The links, -1 for the base.
    points : ndarray (2, 3)
        A point in the frame of each.
    role : {"slide", "gap"}
        The rod of a joint that is out, or the line between the two ends of an open loop.
    radius : float
        m.
    """

    links: tuple[int, int]
    points: FloatArray
    role: str
    radius: float

    @property
    def colour(self) -> Colour:
        """Red, green, blue, 0 to 1."""
        return rgb(LIGHT if self.role == "slide" else "#c03030")


@dataclass(frozen=True, eq=False)
class Label:
    """A name at a point (3,) of a link, -1 for the base; roles are "base", "joint", "rotor" and "tool"."""

    link: int
    point: FloatArray
    text: str
    role: str


@dataclass(frozen=True, eq=False)
class Scene:
    """All drawn objects of a mechanism."""

    layout: SceneLayout
    primitives: tuple[Primitive, ...]
    spans: tuple[Span, ...]
    labels: tuple[Label, ...]

    @property
    def tree(self) -> Tree:
        """The mechanism."""
        return self.layout.tree

    def carriers(self, poses: FloatArray) -> FloatArray:
        """Transforms of primitives of the base, the links and the spans to the world (..., 1 + L + S, 4, 4)."""
        starts, quaternions, lengths = self.stretched(poses)
        spans = np.zeros((*lengths.shape, 4, 4))
        turned = quaternion_rotation(np.moveaxis(quaternions, -1, 0))
        spans[..., :3, :3] = np.moveaxis(turned, (0, 1), (-2, -1))
        spans[..., :3, 2] *= lengths[..., None]
        spans[..., :3, 3], spans[..., 3, 3] = starts, 1.0
        return np.concatenate((poses, spans), axis=-3)

    def stretched(self, poses: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """First points (..., S, 3) of the spans in the world, the turns that bring z along them, and their lengths.

        Turns are quaternions (..., S, 4) of the least angle; lengths (..., S), m, are never quite zero.
        """
        links, points = self._span_ends
        ends = points_of(links, points, poses)
        along = ends[..., 1, :] - ends[..., 0, :]
        lengths = np.linalg.norm(along, axis=-1)
        return ends[..., 0, :], least_turns(along, lengths), np.maximum(lengths, SHORTEST * self.layout.size)

    @cached_property
    def _span_ends(self) -> tuple[IntArray, FloatArray]:
        links = np.array([span.links for span in self.spans], dtype=int).reshape(-1, 2)
        return links, np.array([span.points for span in self.spans]).reshape(-1, 2, 3)


def build(tree: Tree, layout: SceneLayout | None = None, shapes: Iterable[Primitive] = ()) -> Scene:
    """Build the scene of a mechanism.

    Parameters
    ----------
    tree : Tree
        The mechanism; without symbols.
    layout : Layout, optional
        Its layout in some posture, from which all is sized; by default that at rest.
    shapes : iterable of Primitive
        Shapes that the description of the mechanism gives to its links.
    """
    layout = lay_out(tree) if layout is None else layout
    primitives = [*_rods(layout), *_joints(layout), *_closures(layout), *_rotors(layout), *_tool(layout), *_base(layout)]
    primitives += [Primitive(k, "frame", "link", (layout.size * TRIAD,)) for k in range(len(tree.links))]
    return Scene(layout, (*primitives, *shapes), tuple(_spans(layout)), tuple(_labels(layout)))


def rgb(name: str, share: float = 1.0) -> Colour:
    """Return a colour written ``#rrggbb``, darkened to a share of it."""
    red, green, blue = (int(name[k : k + 2], 16) / 255.0 * share for k in (1, 3, 5))
    return red, green, blue


def link_colour(k: int, share: float = 1.0) -> Colour:
    """Return the colour of a link, darkened to a share of it; the base is grey."""
    return rgb(GREY if k < 0 else colour(k), share)


def least_turns(along: FloatArray, lengths: FloatArray) -> FloatArray:
    """Quaternions (..., 4) that turn z by the least angle into directions (..., 3); none where these have no length."""
    x, y, z = np.moveaxis(along / np.where(lengths > 0.0, lengths, 1.0)[..., None], -1, 0)
    z = np.where(lengths > 0.0, z, 1.0)
    down = z < -1.0 + 1e-12
    w, i, j = np.where(down, 0.0, 1.0 + z), np.where(down, 1.0, -y), np.where(down, 0.0, x)
    turned = np.stack((w, i, j, np.zeros_like(z)), axis=-1)
    return np.asarray(turned / np.linalg.norm(turned, axis=-1, keepdims=True))


# ── what it is made of ────────────────────────────────────────────────────────────────────────────


def bar(link: int, start: FloatArray, end: FloatArray, radius: float, role: str, colour: Colour) -> Primitive:
    """Return a cylinder between two points (3,) of a link."""
    length = float(np.linalg.norm(end - start))
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = rotation_between((0.0, 0.0, 1.0), (end - start) / length), 0.5 * (start + end)
    return Primitive(link, "cylinder", role, (radius, length), frame, colour, link)


def _at(point: FloatArray) -> FloatArray:
    frame = np.eye(4)
    frame[:3, 3] = point
    return frame


def _rods(layout: SceneLayout) -> Iterator[Primitive]:
    """Cylinders along the lines of the links, with balls where they bend."""
    radius = layout.size * ROD
    for rod in layout.rods:
        long, look = segments(rod.points, radius / 2), link_colour(rod.link)
        for start, end in long:
            yield bar(rod.link, start, end, radius, "rod", look)
        for _, corner in long[:-1]:
            yield Primitive(rod.link, "sphere", "rod", (radius,), _at(corner), look, rod.link)


def _joints(layout: SceneLayout) -> Iterator[Primitive]:
    nested = _nesting(layout)
    for k, (link, parent) in enumerate(zip(layout.tree.links, layout.tree.parents, strict=True)):
        radius = layout.size * JOINT * NESTED ** nested[k]
        for sign, axis in signs(link):
            frame = layout.joints[k].copy()
            frame[:3, :3] = np.asarray(link.before, dtype=float)[:3, :3] @ rotation_between((0.0, 0.0, 1.0), axis)
            for kind, size, thread in sign.symbols:
                look = rgb(INK) if thread else link_colour(k, 0.72)
                yield Primitive(parent, kind, "joint", tuple(radius * s for s in size), frame, look, k)
            radius *= NESTED


def _nesting(layout: SceneLayout) -> list[int]:
    """Number of previous joints at the point of each one: its symbol is drawn smaller for each."""
    at = layout.joint_frames()[:, :3, 3]
    moves, least = np.array([link.moves for link in layout.tree.links]), (layout.size * JOINT) ** 2
    near = (((at[:k] - point) ** 2).sum(axis=1) < least for k, point in enumerate(at))
    return [int(np.count_nonzero(before & moves[: len(before)])) for before in near]


def _closures(layout: SceneLayout) -> Iterator[Primitive]:
    radius, look = layout.size * JOINT * 0.8, rgb(GREY, 0.7)
    for loop in layout.tree.loops:
        for link, frame in loop_ends(layout.tree, loop):
            kind, size, _ = LOOPS[loop.kind]
            yield Primitive(link, kind, "closure", tuple(radius * s for s in size), frame, look, link)


def _spans(layout: SceneLayout) -> Iterator[Span]:
    for k, (link, parent) in enumerate(zip(layout.tree.links, layout.tree.parents, strict=True)):
        if any(sign.slides for sign, _ in signs(link)):
            points = np.array([layout.joints[k][:3, 3], layout.moved[k]])
            yield Span((parent, k), points, "slide", layout.size * ROD * 0.6)
    for loop in layout.tree.loops:
        (first_link, first), (second_link, second) = loop_ends(layout.tree, loop)
        yield Span((first_link, second_link), np.array([first[:3, 3], second[:3, 3]]), "gap", layout.size * ROD * 0.4)


def _rotors(layout: SceneLayout) -> Iterator[Primitive]:
    """A flat cylinder for each rotor, joined to the frame that carries it."""
    radius = layout.size * JOINT
    for carrier, k, centre, axis in rotor_places(layout.tree):
        look, half = link_colour(k, 0.86), axis * radius * 0.5
        yield bar(carrier, centre - half, centre + half, radius * 1.25, "rotor", look)
        for start, end in segments(np.array([np.zeros(3), centre]), layout.size * ROD / 2):
            yield bar(carrier, start, end, layout.size * ROD * 0.3, "rotor", look)


def _tool(layout: SceneLayout) -> Iterator[Primitive]:
    """The tool's frame, a mark, and a bar from its link unless a rod of the link leads there."""
    tree, size = layout.tree, layout.size
    k, tool = tree.tool_index, np.asarray(tree.tool, dtype=float)
    ends = [rod.points[-1] for rod in layout.rods if rod.link == k]
    reached = any(float(np.linalg.norm(end - tool[:3, 3])) < 1e-6 * size for end in ends)
    for start, end in () if reached else segments(np.array([np.zeros(3), tool[:3, 3]]), size * ROD / 2):
        yield bar(k, start, end, size * ROD * 0.6, "tool", rgb("#303030"))
    yield Primitive(k, "frame", "tool", (size * TRIAD * 1.3,), tool)
    yield Primitive(k, "point", "tool", (size * ROD * 0.9,), tool, rgb("#303030"), k)


def _base(layout: SceneLayout) -> Iterator[Primitive]:
    """The ground with the base's frame, or the longer frame of a base that floats, with a ring at its origin."""
    size = layout.size
    if layout.tree.floating:
        yield Primitive(-1, "frame", "base", (size * FREE,))
        yield Primitive(-1, "point", "base", (size * ROD * 1.4,), WORLD, rgb("#f4f4f4"))
    else:
        yield Primitive(-1, "frame", "base", (size * TRIAD,))
        yield Primitive(-1, "ground", "ground", (size * GROUND,), _ground(layout), rgb("#b8bcc0"))


def _ground(layout: SceneLayout) -> FloatArray:
    """Frame of the ground on the base: perpendicular to the axis of a first joint, if there is one, or level."""
    frame, acts, parent = np.eye(4), layout.joints[0], layout.tree.parents[0]
    near = float(np.linalg.norm(acts[:3, 3])) < layout.size * GROUND
    if parent < 0 and signs(layout.tree.links[0])[0][0].upright and near:
        base, axis = layout.poses[0], layout.poses[0, :3, :3] @ acts[:3, 2]
        up = float(axis @ (layout.points().mean(axis=0) - base[:3, 3]))  # away from the ground, towards the mechanism
        turned = rotation_between((0.0, 0.0, 1.0), -axis if up < -0.15 * layout.size else axis)
        frame[:3, :3] = base[:3, :3].T @ turned
    return frame


def _labels(layout: SceneLayout) -> Iterator[Label]:
    """Yield labels: the floating base, joints (of fixed links their frames), rotors, the tool."""
    tree = layout.tree
    if tree.floating:
        yield Label(-1, np.zeros(3), "floating base", "base")
    numbered = len(tree.links) > MANY
    names = [str(k + 1) if numbered else plain(name) for k, name in enumerate(tree.link_names)]
    for k, (link, parent) in enumerate(zip(tree.links, tree.parents, strict=True)):
        shown = any(sign.symbols for sign, _ in signs(link))
        carrier, point = (parent, layout.joints[k][:3, 3]) if shown else (k, np.zeros(3))
        yield Label(carrier, point, names[k], "joint")
    for carrier, k, centre, _ in rotor_places(tree):
        yield Label(carrier, centre, f"rotor of {names[k]}", "rotor")
    yield Label(tree.tool_index, np.asarray(tree.tool, dtype=float)[:3, 3], "tool", "tool")
