"""A picture of a mechanism that moves: what stands still is drawn once, the rest put where it is at each instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing import labels, shapes, strokes, traces
from linkwise.view.drawing.picture import add_solids, resized, space
from linkwise.view.drawing.skeleton import Skeleton, skeleton
from linkwise.view.drawing.solids import Solids
from linkwise.view.drawing.viewpoint import SIDE, look_at, trim
from linkwise.view.figure import figure, literal

SIDES = 12
"""Sides of what is drawn for a circle: coarser than in a picture that stands still."""

READABLE, SMALL = 58.0, 46.0
"""Pixels an inch below which letters are drawn larger, and below which there is no room for numbers on the axes."""

SEEN = 40
"""Postures of a motion by which the view is chosen."""

Pixels = npt.NDArray[np.uint8]


class Moving:
    """Axes in space with a mechanism, which `show` puts into a posture, and `pixels` turns into a picture.

    Parameters
    ----------
    mechanism : Mechanism
        What moves.
    q : (T, nq) ndarray
        The postures that will be shown; all of them must be seen.
    path : (T, 3) ndarray, optional
        Where the tool is in these; its path is drawn up to the posture that is shown.
    width : int
        Of the picture, pixels; the height follows from what is shown. Small pictures have no numbers on their axes.
    frames : bool
        Whether each link has the axes of its frame.

    Examples
    --------
    >>> import linkwise as lw
    >>> picture = Moving(lw.robots.planar_2r(), np.array([[0.0, 0.0], [1.0, 0.5]]), width=200)
    >>> picture.show(1, "t = 1 s")
    >>> picture.pixels().shape[1:]
    (200, 3)
    """

    def __init__(
        self,
        mechanism: Tree,
        q: FloatArray,
        path: FloatArray | None = None,
        *,
        width: int = 480,
        frames: bool | None = None,
    ) -> None:
        self.mechanism, self.q, self.path = mechanism, q, path
        self.axed = len(mechanism.links) <= labels.MANY if frames is None else frames
        some = q[np.linspace(0, len(q) - 1, min(len(q), SEEN)).astype(int)]
        postures = [skeleton(mechanism, one) for one in some]
        self.size = max(laid.size for laid in postures)
        postures = [resized(laid, self.size) for laid in postures]
        self.figure = figure(SIDE, SIDE)
        self.axes = space(self.figure)
        self._place(postures, width)
        self._populate(postures[0])
        self._still: Any = None

    def show(self, k: int, words: str = "") -> None:
        """Put the mechanism into the k-th posture, with some words below the title."""
        laid = resized(skeleton(self.mechanism, self.q[k]), self.size)
        solids = shapes.solids(Solids(SIDES), self.mechanism, laid)
        colours = solids.colours
        self.solids.set_verts(solids.faces)
        self.solids.set_facecolor(colours)
        self.solids.set_edgecolor(colours)
        strokes.move(self.lines, (stroke for stroke in self._strokes(laid) if stroke.moves))
        if self.path is not None:
            self.trace[0].set_data_3d(*self.path[: k + 1].T)
        literal(self.words, words)

    def pixels(self) -> Pixels:
        """Draw what is shown: red, green and blue (height, width, 3)."""
        canvas = self.canvas
        if self._still is None:
            canvas.draw()
            self._still = canvas.copy_from_bbox(self.figure.bbox)
        canvas.restore_region(self._still)
        self.solids.do_3d_projection()
        for artist in sorted(self.moved, key=lambda artist: float(artist.zorder)):
            artist.draw(canvas.get_renderer())
        return np.array(canvas.buffer_rgba())[:, :, :3]

    def _place(self, postures: list[Skeleton], width: int) -> None:
        """Choose the view by some postures and the path, and the size so that the picture is so many pixels wide."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        shares = look_at(self.axes, self.mechanism, postures, np.empty((0, 3)) if self.path is None else self.path)
        trim(self.figure, self.axes, shares)
        inches = self.figure.get_size_inches()
        dpi = width / inches[0]
        height = 2 * round(0.5 * dpi * inches[1])
        self.figure.set_dpi(dpi)
        self.figure.set_size_inches(width / dpi, height / dpi)
        self.canvas: Any = FigureCanvasAgg(self.figure)
        self.axes.apply_aspect()

    def _strokes(self, laid: Skeleton) -> list[strokes.Stroke]:
        return list(shapes.strokes(self.mechanism, laid, axes=self.axed))

    def _populate(self, laid: Skeleton) -> None:
        self.solids = add_solids(self.axes, shapes.solids(Solids(SIDES), self.mechanism, laid))
        drawn = self._strokes(laid)
        strokes.plot(self.axes, [stroke for stroke in drawn if not stroke.moves])
        self.lines = strokes.plot(self.axes, [stroke for stroke in drawn if stroke.moves])
        self.trace = [] if self.path is None else traces.draw_trace(self.axes, self.path)
        larger = max(1.0, READABLE / float(self.figure.dpi))
        literal(self.figure.suptitle(" ", fontsize=11 * larger), plain(self.mechanism.name))
        self.words = self.figure.text(0.02, 0.98, " ", ha="left", va="top", fontsize=10 * larger, color="0.25")
        if self.figure.dpi < SMALL:
            for axis in (self.axes.xaxis, self.axes.yaxis, self.axes.zaxis):
                axis.set_ticklabels([])
                axis.set_label_text("")
        self.moved = [self.solids, *self.lines, *self.trace, self.words]
        for artist in self.moved:
            artist.set_animated(True)
