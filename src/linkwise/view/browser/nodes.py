"""The nodes of a mechanism in a viser scene: one for each link, and what hangs on it, made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.files.packages import Folders
from linkwise.files.shape import Shape
from linkwise.mechanism import Mechanism
from linkwise.model.table import plain
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.meshes import looks
from linkwise.view.browser.movement import Movers
from linkwise.view.browser.names import Label, named
from linkwise.view.browser.parts import Gap, Part, Slide, parts, rgb
from linkwise.view.browser.surfaces import Surface, cylinder
from linkwise.view.drawing.frames import TRIAD
from linkwise.view.drawing.skeleton import Skeleton

if TYPE_CHECKING:
    import viser

ROOT = "/mechanism"
"""The node above all that belongs to the mechanism."""

THIN, LONGER, NEAR = 0.035, 1.3, 0.04
"""Thickness of a frame's axes as a share of their length; how much longer the tool's are; how near names share a label."""

UNIT = np.array([0.0, 0.0, 1.0])


@dataclass(eq=False)
class Nodes:
    """The nodes of a mechanism.

    Attributes
    ----------
    triads : list
        The frames of the base, of each link, and of the tool.
    looks : list
        Shapes of the description.
    covered : list
        What the shapes stand for, hidden while they are shown.
    clickable : list of tuple
        A link and a node that stands for it.
    movers : Movers
        What moves.
    remarks : tuple of str
        What of the shapes could not be shown, and why.
    """

    triads: list[Any] = field(default_factory=list)
    looks: list[Any] = field(default_factory=list)
    covered: list[Any] = field(default_factory=list)
    clickable: list[tuple[int, Any]] = field(default_factory=list)
    movers: Movers = field(default_factory=lambda: Movers((), (), (), (), 1.0))
    remarks: tuple[str, ...] = ()


def add_nodes(
    api: viser.SceneApi,
    mechanism: Mechanism,
    laid: Skeleton,
    q: FloatArray,
    shapes: Sequence[Shape] = (),
    folder: str | Path | None = None,
    package_dirs: Folders = (),
) -> Nodes:
    """Add the nodes of a mechanism to a scene, in no position yet.

    Parameters
    ----------
    api : viser.SceneApi
        Where to add them.
    mechanism : Mechanism
        What is shown.
    laid : Skeleton
        Of the mechanism at q, from which all is sized.
    q : (nq,) ndarray
        A position.
    shapes, folder, package_dirs
        As for `looks`.
    """
    made = _Maker(api, mechanism, laid.size)
    links = made.frames()
    covered = made.shapes(shapes, folder, package_dirs)
    still = parts(mechanism, laid)
    for number, part in enumerate(still.still):
        made.part(number, part, covered)
    slides = [(slide, made.slide(slide, covered)) for slide in still.slides]
    gaps = [(gap, made.gap(number, gap)) for number, gap in enumerate(still.gaps)]
    made.nodes.movers = Movers(links, slides, gaps, made.labels(q), laid.size)
    return made.nodes


class _Maker:
    """Adds nodes one by one."""

    def __init__(self, api: viser.SceneApi, mechanism: Mechanism, size: float) -> None:
        self.api, self.mechanism, self.size = api, mechanism, size
        self.nodes = Nodes()
        self.names = [f"{ROOT}/{_safe(k, name)}" for k, name in enumerate(mechanism.link_names)]

    def name(self, link: int) -> str:
        return f"{ROOT}/base" if link < 0 else self.names[link]

    def frames(self) -> list[Any]:
        """Add the frames of base, links and tool; return all but the last."""
        mechanism = self.mechanism
        links = [self._frame(self.name(k), 1.0) for k in range(-1, len(mechanism.links))]
        tool = self._frame(f"{self.name(mechanism.tool_index)}/tool", LONGER)
        tool.position = mechanism.tool[:3, 3]
        tool.wxyz = rotation_quaternion(np.asarray(mechanism.tool[:3, :3], dtype=float))
        self.nodes.triads = [*links, tool]
        return links

    def _frame(self, name: str, longer: float) -> Any:
        length = self.size * TRIAD * longer
        return self.api.add_frame(name, axes_length=length, axes_radius=length * THIN, origin_radius=0.0)

    def shapes(self, shapes: Sequence[Shape], folder: str | Path | None, package_dirs: Folders) -> set[int]:
        """Add the shapes; return the links that have some."""
        found, self.nodes.remarks = looks(self.mechanism, shapes, folder, package_dirs)
        for number, look in enumerate(found):
            handle = self.api.add_mesh_simple(
                f"{self.name(look.link)}/shape {number + 1}",
                look.surface.vertices,
                look.surface.faces,
                color=look.colour,
                opacity=None if look.opacity == 1.0 else look.opacity,
                flat_shading=look.sharp,
                side="double" if look.sharp else "front",
                receive_shadow=False,
            )
            self.nodes.looks.append(handle)
            self.nodes.clickable.append((look.link, handle))
        return {look.link for look in found}

    def part(self, number: int, part: Part, covered: set[int]) -> None:
        """Add a surface that moves with its link."""
        handle = self._mesh(f"{self.name(part.link)}/{part.what} {number + 1}", part.surface, part.colour)
        if part.what in {"rod", "joint", "closure"}:
            self.nodes.clickable.append((part.moved, handle))
        if part.what in {"rod", "joint"}:
            self._cover(handle, {part.link, part.moved} & covered)

    def slide(self, slide: Slide, covered: set[int]) -> Any:
        """Add the rod of a slide, 1 m long."""
        rod = cylinder(0.0 * UNIT, UNIT, slide.radius)
        handle = self._mesh(f"{self.name(slide.link)}/slide {slide.moved + 1}", rod, rgb("#bebebe"))
        handle.wxyz = rotation_quaternion(slide.frame[:3, :3])
        self._cover(handle, {slide.link, slide.moved} & covered)
        return handle

    def gap(self, number: int, gap: Gap) -> Any:
        """Add the red line of a loop that is open, 1 m long."""
        return self._mesh(f"{ROOT}/open loop {number + 1}", cylinder(0.0 * UNIT, UNIT, gap.radius), rgb("#c03030"))

    def labels(self, q: FloatArray) -> list[tuple[Label, Any]]:
        """Add the names of joints, of fixed links those of their frames; those that stay together share a label."""
        found = enumerate(named(self.mechanism, q, self.size * NEAR))
        return [(label, self.api.add_label(f"/names/{k + 1}", label.text, anchor="bottom-left")) for k, label in found]

    def _mesh(self, name: str, surface: Surface, colour: tuple[int, int, int]) -> Any:
        return self.api.add_mesh_simple(name, surface.vertices, surface.faces, color=colour, receive_shadow=False)

    def _cover(self, handle: Any, by: set[int]) -> None:
        if by:
            self.nodes.covered.append(handle)


def _safe(k: int, name: str) -> str:
    """Return the name of a link's node: its number makes it the only one, and a slash would begin another node."""
    return f"{k + 1} {plain(name).replace('/', '∕')}"
