"""The matplotlib painter: solids as shaded polygons that sort by depth, frames, the ground and marks as lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.view.scene.scene import ROD, Primitive, Scene
from linkwise.view.scene.tessellation import SIDES, SURFACES, Surface, helix_line, merged, rod

#: Direction towards the light.
LIGHT = np.array([0.35, -0.55, 0.76]) / math.sqrt(0.35**2 + 0.55**2 + 0.76**2)

#: Colours of x, y and z.
AXES = ("#d62728", "#2ca02c", "#1f77ff")

#: Cylinders are cut into pieces so long, in radii, and rods that slide into so many, for depth to sort well; pieces of those
#: of fewer sides are longer.
PIECE, PIECES = 2.5, 8


class Solids:
    """The solids of a scene as polygons with four corners each.

    Parameters
    ----------
    scene : Scene
        What is drawn.
    sides : int
        Sides of what is drawn for a circle, an even number.
    """

    def __init__(self, scene: Scene, sides: int = SIDES) -> None:
        solid = [p for p in scene.primitives if p.kind in SURFACES and p.kind != "helix"]
        parts = [(1 + p.link, _cut(p, sides), p.colour) for p in solid]
        first = 1 + len(scene.tree.links)
        for k, span in enumerate(scene.spans):
            if span.role == "slide":
                parts.append((first + k, rod(span.radius, sides=sides, cuts=PIECES), span.colour))
        surface = merged(surface for _, surface, _ in parts)
        self._vertices, self._faces = surface.vertices, surface.faces
        self._carriers = np.repeat([carrier for carrier, *_ in parts], [len(part.vertices) for _, part, _ in parts]).astype(
            int
        )
        looks = np.array([look for *_, look in parts]).reshape(-1, 3)
        self._colours = np.repeat(looks, [len(part.faces) for _, part, _ in parts], axis=0)

    def at(self, carriers: FloatArray, strength: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Corners (m, 4, 3) and lit colours (m, 3) for `Scene.carriers`; strength 0 is white."""
        frames = carriers[self._carriers]
        corners = (np.einsum("vij,vj->vi", frames[:, :3, :3], self._vertices) + frames[:, :3, 3])[self._faces]
        normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        lengths = np.linalg.norm(normals, axis=1)
        lit = np.divide(normals @ LIGHT, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        shaded = np.clip(self._colours * (0.78 + 0.3 * lit)[:, None], 0.0, 1.0)
        return corners, 1.0 - strength * (1.0 - shaded)


def _cut(primitive: Primitive, sides: int) -> Surface:
    if primitive.kind == "box":
        return primitive.tessellated()
    if primitive.kind == "cylinder":
        radius, length = primitive.size
        return primitive.tessellated(sides=sides, cuts=max(1, math.ceil(length * sides / (PIECE * radius * SIDES))))
    return primitive.tessellated(sides=sides)


class Stroke(NamedTuple):
    """A line through points (m, 3), or a mark at one, in the frame of a primitive; more order lies on top."""

    points: FloatArray
    order: float
    look: dict[str, Any]


def _triad(primitive: Primitive) -> Iterator[Stroke]:
    (length,) = primitive.size
    for axis, colour in zip(np.eye(3), AXES, strict=True):
        look = {"color": colour, "linewidth": 1.6, "solid_capstyle": "round"}
        yield Stroke(np.array([np.zeros(3), axis * length]), 3.0, look)


def _ground(primitive: Primitive) -> Iterator[Stroke]:
    """A square, hatched as ground."""
    (side,) = primitive.size
    u, v, w = np.eye(3) * side
    yield Stroke(np.array([u + v, u - v, -u - v, -u + v, u + v]), 1.0, {"color": "0.45", "linewidth": 1.2})
    for share in np.linspace(-0.9, 0.9, 9):
        for edge, across in ((v, u), (u, v)):
            start = across * share - edge
            hatch = np.array([start, start - w * 0.22 - across * 0.18])
            yield Stroke(hatch, 1.0, {"color": "0.55", "linewidth": 0.9})


def _mark(primitive: Primitive) -> Iterator[Stroke]:
    """A dot at the tool, a ring at a base that floats."""
    dot = {"color": "black", "marker": "o", "markersize": 4}
    ring = {"marker": "o", "markersize": 9, "markerfacecolor": "white", "markeredgecolor": "0.3", "markeredgewidth": 1.6}
    yield Stroke(np.zeros((1, 3)), 4.0 if primitive.role == "tool" else 3.5, dot if primitive.role == "tool" else ring)


def _thread(primitive: Primitive) -> Iterator[Stroke]:
    yield Stroke(helix_line(*primitive.size[:2]), 4.0, {"color": "black", "linewidth": 1.2})


#: Strokes of primitives, by kind.
STROKES: dict[str, Callable[[Primitive], Iterable[Stroke]]] = {
    "frame": _triad,
    "ground": _ground,
    "helix": _thread,
    "point": _mark,
}


class FigurePainter:
    """Draws a scene into matplotlib's axes in space.

    Parameters
    ----------
    axes : Axes3D
        Where to draw.
    frames : bool
        Whether each link has the axes of its frame; base and tool always have.
    sides : int
        Sides of what is drawn for a circle.

    Attributes
    ----------
    solids : Poly3DCollection
        All solids.
    moving, still : list of Line3D
        Lines that move with the mechanism, and those that do not.
    """

    def __init__(self, axes: Any, *, frames: bool = True, sides: int = SIDES) -> None:
        self.axes, self.frames, self.sides = axes, frames, sides
        self.moving: list[Any] = []
        self.still: list[Any] = []

    def add(self, scene: Scene, before: Iterable[tuple[FloatArray, float]] = ()) -> None:
        """Draw everything in the posture of its layout; before it other postures, poses and strength, without lines."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        self._scene, self._polygons = scene, Solids(scene, self.sides)
        placed = [*before, (scene.layout.poses, 1.0)]
        drawn = [self._polygons.at(scene.carriers(poses), strength) for poses, strength in placed]
        corners, colours = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        self.solids: Any = Poly3DCollection(corners, facecolors=colours, edgecolors=colours, linewidths=0.3, zorder=2)
        self.axes.add_collection3d(self.solids, autolim=False)
        self._lines: list[tuple[Any, int, FloatArray]] = []
        for primitive in scene.primitives:
            if primitive.role != "link" or self.frames:
                self._add_lines(primitive)
        look = {"color": "#c03030", "linewidth": 1.4, "linestyle": "--", "zorder": 4.0}
        gaps = [k for k, span in enumerate(scene.spans) if span.role == "gap"]
        self._gaps = [(k, self.axes.plot([0], [0], [0], **look)[0]) for k in gaps]
        self.moving += [line for _, line in self._gaps]
        self._move_lines(scene.layout.poses)

    def move(self, poses: FloatArray) -> None:
        """Move everything to the frames (1 + L, 4, 4) of base and links."""
        corners, colours = self._polygons.at(self._scene.carriers(poses))
        self.solids.set_verts(corners)
        self.solids.set_facecolor(colours)
        self.solids.set_edgecolor(colours)
        self._move_lines(poses)

    def _add_lines(self, primitive: Primitive) -> None:
        wide = {"linewidth": 2.6} if primitive.role == "base" and self._scene.tree.floating else {}
        still = primitive.link < 0 and not self._scene.tree.floating
        for points, order, look in STROKES[primitive.kind](primitive) if primitive.kind in STROKES else ():
            local = points @ primitive.frame[:3, :3].T + primitive.frame[:3, 3]
            (line,) = self.axes.plot(*local.T, zorder=order, **look | (wide if len(points) == 2 else {}))
            self._lines.append((line, primitive.link, local))
            (self.still if still else self.moving).append(line)

    def _move_lines(self, poses: FloatArray) -> None:
        layout = self._scene.layout
        for line, link, points in self._lines:
            line.set_data_3d(*layout.world(link, points, poses).T)
        carriers = self._scene.carriers(poses)[len(poses) :]
        for k, line in self._gaps:
            start, along = carriers[k, :3, 3], carriers[k, :3, 2]
            line.set_data_3d(*np.array([start, start + along]).T)
            line.set_visible(float(np.linalg.norm(along)) > layout.size * ROD)
