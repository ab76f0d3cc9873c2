"""The viser painter: one node for each link, moved from one configuration to the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.kinematics.configuration import resting
from linkwise.loops import assemble
from linkwise.loops.loop_solver import CLOSED
from linkwise.model.formatting.table import plain
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.view.scene.camera import FIELD, camera, fitted, grid
from linkwise.view.scene.layout import SceneLayout, coordinates, evaluate, few, frames_at, lay_out, near, points_of, poses_at
from linkwise.view.scene.meshes import NO_VISUALS, Visuals, visual_primitives
from linkwise.view.scene.obstacles import NearestPoints, collision_primitives, obstacle_primitives
from linkwise.view.scene.scene import MANY, SHORTEST, Colour, Label, Primitive, Scene, build, least_turns
from linkwise.view.scene.tessellation import Surface, ball, box, merged, rod

if TYPE_CHECKING:
    import viser

#: The node above all that belongs to the mechanism.
ROOT = "/mechanism"

#: Colour of lines between nearest points, and of joints that are marked.
WITNESS = (214, 39, 40)
WITNESS_COLOUR = (214 / 255, 39 / 255, 40 / 255)

#: Radius of these lines, a share of the mechanism's size; opacity of collision shapes.
WITNESS_WIDTH, SHEER = 0.004, 0.35

#: Thickness of a frame's axes, share of their length; distance up to which names share a label, share of the size.
THIN, NEAR = 0.035, 0.04

#: Smaller motions are not sent: relative to the mechanism's size, and of a quaternion.
STILL = 1e-6

#: Positions for the layout of the grid and the camera; and, besides the first, for the grouping of names.
TRIED, TURNED = 64, 2


@dataclass(frozen=True, eq=False)
class Track:
    """One property of one node, for each of m positions of the mechanism.

    Attributes
    ----------
    node : viser.SceneNodeHandle
        The node.
    attribute : {"position", "wxyz", "scale"}
        The property.
    values : ndarray (m, 3) or (m, 4)
        Its values.
    """

    node: Any
    attribute: str
    values: FloatArray


class BrowserPainter:
    """A mechanism in a viser scene.

    Each link is one node, moved by one position and one orientation; what it looks like hangs on it and is sent once.

    Parameters
    ----------
    server : viser.ViserServer
        Where it is shown.
    tree : Tree
        What is shown.
    visuals : Visuals
        What the links look like, from the description file.
    q : (nq,) array_like, optional
        The first position; by default all joints at zero, or a position next to it in which the loops are closed.
    along : (m, nq) array_like, optional
        Positions that will be shown, for the grid and the camera; by default some within the joint limits are tried.

    Attributes
    ----------
    remarks : tuple of str
        What of the shapes could not be shown, and why.
    grid : viser.GridHandle
        The grid under it.
    triads : list
        Nodes of the base, of the links, and of the tool.
    shapes, covered : list
        Nodes of shapes of the description, and of what they stand for, hidden while they are shown.
    clickable : list of tuple
        A link and a node that stands for it.
    spans, labels : list
        Nodes of the scene's spans; labels with their nodes.
    nearest : NearestPoints or None
        What was shown last of the shapes that stay clear; None where none do.

    Raises
    ------
    ArgumentError
        Where q is not nq finite numbers, or the mechanism has symbols for some.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.view.browser.server import make_server, stop
    >>> server = make_server(port=0)
    >>> painter = BrowserPainter(server, robots.puma560())
    >>> painter.show([0.0, -0.5, 0.3, 0.0, 0.2, 0.0])
    >>> painter.frames = False
    >>> stop(server)
    """

    def __init__(
        self,
        server: viser.ViserServer,
        tree: Tree,
        visuals: Visuals = NO_VISUALS,
        *,
        q: npt.ArrayLike | None = None,
        along: npt.ArrayLike | None = None,
    ) -> None:
        tree.require_numbers("the viewer")
        self._server, self._tree = server, tree
        self._lock = threading.Lock()
        self._sent: dict[int, FloatArray] = {}
        first = coordinates(tree, start(tree) if q is None else q)
        layout = lay_out(tree, first)
        reached = _reached(layout, first, along)
        shapes, self.remarks = visual_primitives(tree, *visuals[:3])
        self._clear = visuals.clear
        self.nearest: NearestPoints | None = None
        if self._clear is not None:
            if self._clear.obstacles.names and tree.floating:
                raise ArgumentError("obstacles are shown with a base that stands; this one floats")
            bodies = obstacle_primitives(np.asarray(tree.base, dtype=float), self._clear.obstacles)
            shapes = (*shapes, *bodies, *collision_primitives(tree))
        self._witnesses: list[list[Any]] = []
        with server.atomic():
            self.grid = _set_stage(server, layout, reached)
            self._q, self._frames_on = first, True
            self.add(build(tree, layout, shapes))
            self.names, self.meshes = len(tree.links) <= MANY, True

    # ── the painter ───────────────────────────────────────────────────────────────────────────────

    def add(self, scene: Scene) -> None:
        """Add the nodes of a scene, in no position yet."""
        self._scene = scene
        self._nodes = [
            f"{ROOT}/base",
            *(f"{ROOT}/{k + 1} {plain(name).replace('/', '∕')}" for k, name in enumerate(self._tree.link_names)),
        ]
        self.triads = self._add_frames()
        shapes = [primitive for primitive in scene.primitives if primitive.role == "shape"]
        self.clickable: list[tuple[int, Any]] = []
        self.covered: list[Any] = []
        self.shapes = [self._add_shape(number, shape) for number, shape in enumerate(shapes, 1)]
        for number, shape in enumerate((p for p in scene.primitives if p.role == "collision"), 1 + len(shapes)):
            self._add_shape(number, replace(shape, opacity=SHEER))
        self._add_surfaces({shape.link for shape in shapes})
        self._add_spans({shape.link for shape in shapes})
        shared, add_label = shared_labels(scene, self._q), self._server.scene.add_label
        self._colours = [handle.color for _, handle in self.clickable]
        self.labels = [(k, add_label(f"/names/{n}", k.text, anchor="bottom-left")) for n, k in enumerate(shared, 1)]
        self._named = np.array([label.point for label in shared])

    def move(self, poses: FloatArray) -> None:
        """Move all nodes to the frames (1 + L, 4, 4) of base and links; only changes are sent."""
        self._placed = poses
        for k, track in enumerate(self._tracks(poses[None])):
            value, sent = track.values[0], self._sent.get(k)
            least = STILL if track.attribute == "wxyz" else STILL * self._scene.layout.size
            if sent is None or float(np.abs(value - sent).max()) > least:
                setattr(track.node, track.attribute, tuple(value.tolist()))
                self._sent[k] = value

    def _tracks(self, placed: FloatArray) -> Iterator[Track]:
        """Yield the tracks of moving nodes, in a fixed order, for frames (m, 1 + L, 4, 4); visible names last.

        Names are no part of their links: the page draws a name where its parent was one picture ago.
        """
        turned = rotation_quaternion(placed[..., :3, :3])
        for k, node in enumerate(self.triads[:-1]):
            yield Track(node, "position", placed[:, k, :3, 3])
            yield Track(node, "wxyz", turned[:, k])
        if self.spans:
            starts, spanned, lengths = self._scene.stretched(placed)
            for k, node in enumerate(self.spans):
                yield Track(node, "position", starts[:, k])
                yield Track(node, "wxyz", spanned[:, k])
                yield Track(node, "scale", np.stack((*np.ones((2, len(placed))), lengths[:, k]), axis=-1))
        if self._names_on:
            points = points_of([label.link for label, _ in self.labels], self._named, placed)
            for k, (_, node) in enumerate(self.labels):
                yield Track(node, "position", points[:, k])

    # ── nodes ─────────────────────────────────────────────────────────────────────────────────────

    def _add_frames(self) -> list[Any]:
        """Add the frames of base, links and tool."""
        frames = {(p.link, p.role == "tool"): p for p in self._scene.primitives if p.kind == "frame"}
        handles = []
        for link, name in enumerate(self._nodes, -1):
            handles.append(self._add_frame(name, frames[link, False]))
        tool = frames[self._tree.tool_index, True]
        handle = self._add_frame(f"{self._nodes[1 + tool.link]}/tool", tool)
        handle.position, handle.wxyz = tool.frame[:3, 3], rotation_quaternion(tool.frame[:3, :3])
        return [*handles, handle]

    def _add_frame(self, name: str, primitive: Primitive) -> Any:
        (length,) = primitive.size
        return self._server.scene.add_frame(name, axes_length=length, axes_radius=length * THIN, origin_radius=0.0)

    def _add_shape(self, number: int, shape: Primitive) -> Any:
        sharp = shape.kind == "mesh"
        handle = self._mesh(
            f"{self._nodes[1 + shape.link]}/shape {number}",
            shape.tessellated(),
            shape.colour,
            opacity=None if shape.opacity == 1.0 else shape.opacity,
            flat_shading=sharp,
            side="double" if sharp else "front",
        )
        self.clickable.append((shape.link, handle))
        return handle

    def _add_surfaces(self, covered: set[int]) -> None:
        """Add surfaces that move with their link, merged by colour and role."""
        drawn = [p for p in self._scene.primitives if p.kind != "frame" and p.role not in {"shape", "collision"}]
        groups = groupby(sorted(drawn, key=_group), key=_group)
        for number, ((link, role, moved, colour), members) in enumerate(groups, 1):
            surface = merged(_surface(primitive) for primitive in members)
            handle = self._mesh(f"{self._nodes[1 + link]}/{role} {number}", surface, colour)
            if role in {"rod", "joint", "closure"}:
                self.clickable.append((moved, handle))
            if role in {"rod", "joint"} and {link, moved} & covered:
                self.covered.append(handle)

    def _add_spans(self, covered: set[int]) -> None:
        self.spans = []
        for number, span in enumerate(self._scene.spans, 1):
            self.spans.append(self._mesh(f"{ROOT}/{span.role} {number}", rod(span.radius), span.colour))
            if span.role == "slide" and set(span.links) & covered:
                self.covered.append(self.spans[-1])

    def _mesh(self, name: str, surface: Surface, colour: Colour, **look: Any) -> Any:
        red, green, blue = (round(255 * share) for share in colour)
        return self._server.scene.add_mesh_simple(
            name, surface.vertices, surface.triangles, color=(red, green, blue), receive_shadow=False, **look
        )

    # ── what is seen ──────────────────────────────────────────────────────────────────────────────

    def show(self, q: npt.ArrayLike, world: FloatArray | None = None) -> None:
        """Move the mechanism to the coordinates q (nq,), all parts at once; the whole mechanism to a pose (4, 4), if given.

        Only what moved is sent. Any thread may call it.

        Raises
        ------
        ArgumentError
            Where q is not nq finite numbers.
        """
        values = coordinates(self._tree, q)
        with self._lock, self._server.atomic():
            poses = poses_at(self._tree, values)
            self.move(poses if world is None else np.asarray(world @ poses))
            self._q = values.copy()
            if self._clear is not None:
                self.nearest = NearestPoints.at(self._tree, values, self._clear)
                self._show_witnesses(self.nearest.points, np.eye(4) if world is None else world)

    def _show_witnesses(self, points: FloatArray, world: FloatArray) -> None:
        """Join points (m, 2, 3) by red rods with balls at their ends; lines would be hidden by shapes that are sheer."""
        width = WITNESS_WIDTH * self._scene.layout.size
        if not self._witnesses:
            surfaces = (rod(width), ball(2.0 * width), ball(2.0 * width))
            self._witnesses = [
                [self._mesh(f"{ROOT}/nearest {k}/{n}", surface, WITNESS_COLOUR) for n, surface in enumerate(surfaces)]
                for k in range(len(points))
            ]
        ends = points @ world[:3, :3].T + world[:3, 3]
        along = ends[:, 1] - ends[:, 0]
        lengths = np.linalg.norm(along, axis=-1)
        for nodes, pair, turn, length in zip(self._witnesses, ends, least_turns(along, lengths), lengths, strict=True):
            for node, at in zip(nodes, (pair[0], *pair), strict=True):
                node.position = at
            nodes[0].wxyz, nodes[0].scale = turn, (1.0, 1.0, max(float(length), SHORTEST * width))

    def mark(self, links: Collection[int]) -> None:
        """Show the joints of some links in red, all others in their own colours."""
        for (link, handle), colour in zip(self.clickable, self._colours, strict=True):
            wanted = WITNESS if link in links else colour
            if handle.color != wanted:
                handle.color = wanted

    def tracks(self, q: npt.ArrayLike) -> list[Track]:
        """Return the tracks of `show` for each of the coordinates q (m, nq), without sending them."""
        return list(self._tracks(poses_at(self._tree, np.asarray(q, dtype=float))))

    @property
    def q(self) -> FloatArray:
        """The coordinates (nq,) shown last."""
        return self._q.copy()

    @property
    def frames(self) -> bool:
        """Visibility of the frames of links, base and tool: axes x, y and z in red, green and blue."""
        return self._frames_on

    @frames.setter
    def frames(self, on: bool) -> None:
        self._frames_on = bool(on)
        with self._server.atomic():
            for handle in self.triads:
                handle.show_axes = self._frames_on

    @property
    def names(self) -> bool:
        """Visibility of the names of the joints."""
        return self._names_on

    @names.setter
    def names(self, on: bool) -> None:
        with self._lock, self._server.atomic():
            self._names_on = bool(on)
            for _, handle in self.labels:
                handle.visible = self._names_on
            self.move(poses_at(self._tree, self._q))

    @property
    def meshes(self) -> bool:
        """Visibility of the meshes of links that have some; the others are drawn as rods."""
        return self._meshes_on

    @meshes.setter
    def meshes(self, on: bool) -> None:
        self._meshes_on = bool(on)
        with self._server.atomic():
            for handle in self.shapes:
                handle.visible = self._meshes_on
            for handle in self.covered:
                handle.visible = not self._meshes_on

    def pick_frames(self) -> dict[str, int | str]:
        """Return the frames that a target can be set for, the tool first: name, and the index that ``link=`` takes."""
        names = [TOOL, *(plain(name) for name in self._tree.link_names)]
        same = [names[:k].count(name) for k, name in enumerate(names)]
        unlike = [f"{name} ({1 + count})" if count else name for name, count in zip(names, same, strict=True)]
        return {name: k - 1 if k else TOOL for k, name in enumerate(unlike)}

    def on_pick(self, call: Callable[[int], None]) -> None:
        """Call a function with a link's index whenever someone clicks on that link."""
        for link, handle in self.clickable:
            handle.on_click(lambda _, link=link: call(link))

    def pose(self, link: int | str = TOOL) -> FloatArray:
        """Return the frame (4, 4) of a link, as shown, or of the tool."""
        index, frame = self._tree.frame(link)
        return np.asarray(self._placed[1 + index] @ frame)


def start(tree: Tree) -> FloatArray:
    """Return the position (nq,) in which a mechanism is first shown: the neutral one, its loops closed where they can be."""
    if not tree.loops or float(np.abs(evaluate(tree, "closure", tree.neutral)).max()) < CLOSED:
        return resting(tree)
    return np.asarray(assemble(tree).q)


def shared_labels(scene: Scene, q: FloatArray) -> list[Label]:
    """Merge the labels of joints that coincide at q (nq,) and at other positions."""
    layout, tree = scene.layout, scene.tree
    labels = [label for label in scene.labels if label.role == "joint"]
    draw, joints = np.random.default_rng(0), slice(tree.nq - tree.n, tree.nq)
    positions = np.repeat(q[None], 1 + TURNED, axis=0)
    for position in positions[1:]:
        position[joints] += draw.uniform(-1.0, 1.0, tree.n)
    poses = np.array([frames_at(tree, position) for position in positions])
    points = points_of([label.link for label in labels], np.array([label.point for label in labels]), poses).swapaxes(0, 1)
    groups = near(points, layout.size * NEAR)
    texts = [few([labels[k].text for k in group]) for group in groups]
    return [Label(labels[g[0]].link, labels[g[0]].point, text, "joint") for g, text in zip(groups, texts, strict=True)]


def _group(primitive: Primitive) -> tuple[int, str, int, Colour]:
    return primitive.link, primitive.role, primitive.moved, primitive.colour


def _surface(primitive: Primitive) -> Surface:
    """The surface of a primitive: the ground is a plate, a mark a ball."""
    if primitive.kind == "ground":
        (side,) = primitive.size
        plate = box(1.6 * side, 1.6 * side, 0.2 * side)
        return Surface(plate.vertices - np.array([0.0, 0.0, 0.1 * side]), plate.faces).placed(primitive.frame)
    if primitive.kind == "point":
        return ball(*primitive.size).placed(primitive.frame)
    return primitive.tessellated()


def _reached(layout: SceneLayout, q: FloatArray, along: npt.ArrayLike | None) -> FloatArray:
    """Return positions (m, 3) of the frames of a mechanism: along its motion, or near q within the limits of its joints."""
    tree = layout.tree
    if along is not None:
        path = np.asarray(along, dtype=float).reshape(-1, tree.nq)
        path = path[:: max(1, len(path) // TRIED)]
    elif tree.loops:
        path = q[None]  # elsewhere they would be open
    else:
        joints = slice(tree.nq - tree.n, tree.nq)
        far = np.where(tree.is_length, layout.extent / 4, np.pi)
        low, high = (np.clip(side, q[joints] - far, q[joints] + far) for side in (tree.q_min, tree.q_max))
        path = np.repeat(q[None], TRIED, axis=0)
        draw = np.random.default_rng(0)
        path[:, joints] = draw.uniform(low, high, (TRIED, tree.n))
        for at in tree.manifold_joints:
            if at.joint.is_rotation:
                path[:, at.q] = at.joint.random(draw, TRIED, at.most)
    placed = poses_at(tree, path)
    return np.concatenate((placed[..., :3, 3].reshape(-1, 3), layout.tool(placed)[:, :3, 3]))


def _set_stage(server: viser.ViserServer, layout: SceneLayout, reached: FloatArray) -> viser.GridHandle:
    """Set up the grid, the light, and the initial camera of every client."""
    ground, seen = grid(layout, layout.tree.floating, reached), camera(layout, reached)
    server.scene.set_up_direction("+z")
    # Light from all sides: viser's default, an image of a city, takes seconds to prepare where there is no graphics card.
    server.scene.configure_environment_map(None)
    server.scene.add_light_hemisphere("/sky", sky_color=(255, 255, 255), ground_color=(200, 200, 205), intensity=2.0)
    first = server.initial_camera
    first.fov, first.near, first.far = FIELD, seen.near, seen.far
    first.position, first.look_at = seen.position, seen.target
    return server.scene.add_grid(
        "/grid",
        width=ground.side,
        height=ground.side,
        plane="xy",
        cell_size=ground.small,
        section_size=ground.square,
        cell_color=(228, 228, 228),
        section_color=(200, 200, 200),
        fade_distance=10 * ground.side,
        shadow_opacity=0.15,
        position=ground.middle,
    )


def keep_fitted(server: viser.ViserServer) -> None:
    """Widen the view of every client whose picture is narrower than high, so that the width fits too."""
    field = float(server.initial_camera.fov)

    async def look(client_camera: Any) -> None:
        wanted = fitted(field, client_camera.image_width, client_camera.image_height)
        if abs(client_camera.fov - wanted) > 1e-6:
            client_camera.fov = wanted

    @server.on_client_connect
    async def _(client: viser.ClientHandle) -> None:
        await look(client.camera)
        client.camera.on_update(look)
