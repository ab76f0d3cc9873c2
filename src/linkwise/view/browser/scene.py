"""A mechanism in the browser's 3-D scene: made once from its table, then moved as a whole from one position to the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from linkwise.files.packages import Folders
from linkwise.files.shape import Shape
from linkwise.kinematics.closing import CLOSED
from linkwise.mechanism import Mechanism
from linkwise.model.limits import resting
from linkwise.model.table import plain
from linkwise.solve.linkage import assemble
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.movement import Track, poses
from linkwise.view.browser.nodes import add_nodes
from linkwise.view.browser.stage import set_stage
from linkwise.view.drawing.labels import MANY
from linkwise.view.drawing.skeleton import coordinates, skeleton

if TYPE_CHECKING:
    import viser

STILL = 1e-6
"""What moves less than this is not sent: a share of the mechanism's size, and of a quaternion."""

TRIED = 64
"""Positions looked at to lay the grid and to point the camera."""


class Scene:
    """A mechanism in a viser scene.

    Each link is one node, moved by one position and one orientation; what it looks like hangs on it and is sent once.

    Parameters
    ----------
    server : viser.ViserServer
        Where it is shown.
    mechanism : Mechanism
        What is shown.
    shapes : sequence of Shape, optional
        What its links look like, from its description file.
    folder : str or Path, optional
        The description file or its folder, from which meshes are looked up.
    package_dirs : sequence of str or Path
        Folders that hold packages, or are packages, for meshes of ``package://``.
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

    Raises
    ------
    ArgumentError
        Where q is not nq finite numbers, or the mechanism has symbols for some.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.view.browser.server import make_server, stop
    >>> server = make_server(port=0)
    >>> scene = Scene(server, robots.puma560())
    >>> scene.show([0.0, -0.5, 0.3, 0.0, 0.2, 0.0])
    >>> scene.frames = False
    >>> stop(server)
    """

    def __init__(
        self,
        server: viser.ViserServer,
        mechanism: Mechanism,
        shapes: Sequence[Shape] = (),
        folder: str | Path | None = None,
        package_dirs: Folders = (),
        *,
        q: npt.ArrayLike | None = None,
        along: npt.ArrayLike | None = None,
    ) -> None:
        mechanism.require_numbers("the viewer")
        self._server, self._mechanism = server, mechanism
        self._lock = threading.Lock()
        self._sent: dict[int, FloatArray] = {}
        first = coordinates(mechanism, start(mechanism) if q is None else q)
        laid = skeleton(mechanism, first)
        reached = _reached(mechanism, first, along)
        with server.atomic():
            self.grid = set_stage(server, laid, mechanism.floating, reached)
            self._nodes = add_nodes(server.scene, mechanism, laid, first, shapes, folder, package_dirs)
            self.remarks = self._nodes.remarks
            self._q, self._frames_on = first, True
            self.names, self.meshes = len(mechanism.links) <= MANY, True

    # ── what is seen ──────────────────────────────────────────────────────────────────────────────

    def show(self, q: npt.ArrayLike) -> None:
        """Move the mechanism to the coordinates q (nq,), all parts at once.

        Only what moved is sent. Any thread may call it.

        Raises
        ------
        ArgumentError
            Where q is not nq finite numbers.
        """
        values = coordinates(self._mechanism, q)
        with self._lock, self._server.atomic():
            self._show(values)

    @property
    def q(self) -> FloatArray:
        """The coordinates (nq,) shown last."""
        return self._q.copy()

    @property
    def frames(self) -> bool:
        """Whether the frames of links, base and tool are shown: axes x, y and z in red, green and blue."""
        return self._frames_on

    @frames.setter
    def frames(self, on: bool) -> None:
        self._frames_on = bool(on)
        with self._server.atomic():
            for handle in self._nodes.triads:
                handle.show_axes = self._frames_on

    @property
    def names(self) -> bool:
        """Whether the names of the joints are shown."""
        return self._names_on

    @names.setter
    def names(self, on: bool) -> None:
        with self._lock, self._server.atomic():
            self._names_on = bool(on)
            for _, handle in self._nodes.movers.labels:
                handle.visible = self._names_on
            self._show(self._q)

    @property
    def meshes(self) -> bool:
        """Whether links are shown by the shapes of their description, those that have some; the others stay rods."""
        return self._meshes_on

    @meshes.setter
    def meshes(self, on: bool) -> None:
        self._meshes_on = bool(on)
        with self._server.atomic():
            for handle in self._nodes.looks:
                handle.visible = self._meshes_on
            for handle in self._nodes.covered:
                handle.visible = not self._meshes_on

    @property
    def has_meshes(self) -> bool:
        """Whether there are shapes to be shown."""
        return bool(self._nodes.looks)

    def pick_frames(self) -> dict[str, int]:
        """Return the frames that a target can be set for, the tool first: name, and the index that ``link=`` takes."""
        names = ["tool", *(plain(name) for name in self._mechanism.link_names)]
        return {_unlike(name, names[:k]): k - 1 for k, name in enumerate(names)}

    def on_pick(self, call: Callable[[int], None]) -> None:
        """Call a function with a link's index whenever someone clicks on that link."""
        for link, handle in self._nodes.clickable:
            handle.on_click(lambda _, link=link: call(link))

    def pose(self, link: int = -1) -> FloatArray:
        """Return the frame (4, 4) of a link, as shown; -1 is the tool."""
        k = self._mechanism.tool_index if link == -1 else link
        frame = self._placed[1 + k]
        return np.asarray(frame @ self._mechanism.tool) if link == -1 else frame.copy()

    # ── how it moves ──────────────────────────────────────────────────────────────────────────────

    def _show(self, q: FloatArray) -> None:
        self._placed = poses(self._mechanism, q)
        for k, track in enumerate(self._nodes.movers.tracks(self._placed[None], names=self._names_on)):
            value, sent = track.values[0], self._sent.get(k)
            least = STILL if track.what == "wxyz" else STILL * self._nodes.movers.size
            if sent is None or float(np.abs(value - sent).max()) > least:
                setattr(track.node, track.what, tuple(value.tolist()))
                self._sent[k] = value
        self._q = q.copy()

    def tracks(self, q: npt.ArrayLike) -> list[Track]:
        """Return what `show` would do for each of the coordinates q (m, nq), without doing it."""
        placed = poses(self._mechanism, np.asarray(q, dtype=float))
        return list(self._nodes.movers.tracks(placed, names=self._names_on))


def start(mechanism: Mechanism) -> FloatArray:
    """Return the position (nq,) in which a mechanism is first shown: the neutral one, its loops closed where they can be."""
    if not mechanism.loops or float(np.abs(mechanism.kernel("closure")(mechanism.neutral)).max()) < CLOSED:
        return resting(mechanism)
    return np.asarray(assemble(mechanism).q)


def _reached(mechanism: Mechanism, q: FloatArray, along: npt.ArrayLike | None) -> FloatArray:
    """Return where the frames of a mechanism come to (m, 3): on its way, or near q within the limits of its joints."""
    if along is not None:
        way = np.asarray(along, dtype=float).reshape(-1, mechanism.nq)
        way = way[:: max(1, len(way) // TRIED)]
    elif mechanism.loops:
        way = q[None]  # elsewhere they would be open
    else:
        joints = slice(mechanism.nq - mechanism.n, mechanism.nq)
        far = np.where(mechanism.slides, skeleton(mechanism, q).extent / 4, np.pi)
        low, high = (np.clip(side, q[joints] - far, q[joints] + far) for side in np.asarray(mechanism.limits).T)
        way = np.repeat(q[None], TRIED, axis=0)
        way[:, joints] = np.random.default_rng(0).uniform(low, high, (TRIED, mechanism.n))
    placed = poses(mechanism, way)
    tool = placed[:, 1 + mechanism.tool_index] @ mechanism.tool
    return np.concatenate((placed[..., :3, 3].reshape(-1, 3), tool[:, :3, 3]))


def _unlike(name: str, taken: Sequence[str]) -> str:
    """Return a name with a number where it is taken."""
    return name if name not in taken else f"{name} ({1 + sum(other == name for other in taken)})"
