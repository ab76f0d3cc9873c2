"""The curves beside the picture: of a motion as far as it has been played, or of what the hand has done last."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.model.table import plain
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.history import SECONDS
from linkwise.view.figure import colour, shortened, style

if TYPE_CHECKING:
    from viser import GuiApi

    from linkwise.view.motions import Motion

KINDS = {"position": "Positions", "speed": "Speeds", "effort": "Efforts"}
HELD = {**KINDS, "effort": "Efforts that hold it still"}

MOST_CURVES, MOST_POINTS, HEIGHT = 12, 300, 190
"""Curves in one plot, points of each, and the height of a plot in pixels."""

DASHES = {"-": (), "--": (6, 4), ":": (2, 3), "-.": (6, 3, 2, 3)}


class PlayedCurves:
    """The curves of a motion: the past is drawn, the future is not.

    Parameters
    ----------
    gui : viser.GuiApi
        Where to put them.
    motion : Motion
        What they show.
    """

    def __init__(self, gui: GuiApi, motion: Motion) -> None:
        self._curves = [found for kind in KINDS for found in _grouped(motion, kind)]
        self._plots = [
            _plot(gui, f"{KINDS[kind]} [{unit}]", t, columns, names, y=_range(columns))
            for kind, unit, t, columns, names in self._curves
        ]
        _say_why(gui, motion)

    def show(self, time: float) -> None:
        """Draw every curve up to a time, s."""
        for plot, (_, _, t, columns, _) in zip(self._plots, self._curves, strict=True):
            plot.data = (t, *np.ascontiguousarray(np.where((t <= time)[:, None], columns, np.nan).T))


class LiveCurves:
    """The curves of what the hand did in the last seconds.

    Parameters
    ----------
    gui : viser.GuiApi
        Where to put them.
    past : Motion
        The first of it, see `History.motion`.
    """

    def __init__(self, gui: GuiApi, past: Motion) -> None:
        self._plots = [
            _plot(gui, f"{HELD[kind]} [{unit}]", t - SECONDS, columns, names, y=None)
            for kind in HELD
            for _, unit, t, columns, names in _grouped(past, kind)
        ]
        _say_why(gui, past)

    def show(self, past: Motion, ended: float) -> None:
        """Draw the past, which ended some seconds ago."""
        curves = [found for kind in HELD for found in _grouped(past, kind)]
        for plot, (_, _, t, columns, _) in zip(self._plots, curves, strict=True):
            plot.data = (t - past.duration - ended, *np.ascontiguousarray(columns.T))


def _grouped(motion: Motion, kind: str) -> list[tuple[str, str, FloatArray, FloatArray, list[str]]]:
    """Return the curves of one kind, those of one unit together; none where it is not known."""
    if kind == "effort" and motion.efforts is None:
        return []
    t, columns, names, units = motion.series(kind, MOST_POINTS)
    made = []
    for unit in dict.fromkeys(units):
        chosen = [k for k, other in enumerate(units) if other == unit][:MOST_CURVES]
        made.append((kind, unit, t, np.asarray(columns)[:, chosen], [names[k] for k in chosen]))
    return made


def _plot(gui: GuiApi, title: str, t: FloatArray, columns: FloatArray, names: list[str], y: Any) -> Any:
    """Add a plot; without a range for y it follows what is drawn, and time runs up to now."""
    span = (float(t[0]), float(t[-1])) if y else (-SECONDS, 0.0)
    label = "t [s]" if y else "s before now"
    return gui.add_uplot(
        (t, *np.ascontiguousarray(columns.T)),
        ({"label": label}, *(_series(k, name) for k, name in enumerate(names))),
        title=title,
        scales={"x": {"time": False, "range": span}, "y": {"range": y} if y else {}},
        axes=({"label": label, "size": 34, "labelSize": 16}, {"size": 52}),
        legend={"show": True, "live": False},
        height=HEIGHT,
    )


def _say_why(gui: GuiApi, motion: Motion) -> None:
    if motion.efforts is None:
        why = html.escape(motion.why_no_efforts)
        gui.add_html(f'<div style="padding:2px 14px;font-size:0.85em">No efforts: {why}</div>')


def _series(k: int, name: str) -> Any:
    return {"label": shortened(plain(name)), "stroke": colour(k), "width": 1.6, "dash": list(DASHES[style(k)])}


def _range(columns: FloatArray) -> tuple[float, float]:
    low, high = float(np.nanmin(columns)), float(np.nanmax(columns))
    room = 0.06 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - room, high + room
