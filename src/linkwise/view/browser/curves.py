"""The curves beside the picture: of a motion as far as it has been played, or of what the hand has done last."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.model.table import plain
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.groups import DASHES, TITLES, Group, groups
from linkwise.view.browser.history import SECONDS
from linkwise.view.figure import colour, shortened, style

if TYPE_CHECKING:
    from viser import GuiApi

    from linkwise.view.motions import Motion

HELD = {**TITLES, "effort": "Efforts that hold it still"}

MOST_POINTS, HEIGHT = 300, 190
"""Points of a curve, and the height of a plot in pixels."""


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
        self._groups = list(groups(motion, MOST_POINTS))
        self._plots = [_plot(gui, TITLES[one.kind], one, one.t, _range(one.columns)) for one in self._groups]
        _say_why(gui, motion)

    def show(self, time: float) -> None:
        """Draw every curve up to a time, s."""
        for plot, one in zip(self._plots, self._groups, strict=True):
            plot.data = (one.t, *np.ascontiguousarray(np.where((one.t <= time)[:, None], one.columns, np.nan).T))


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
        self._plots = {
            (one.kind, one.unit): _plot(gui, HELD[one.kind], one, one.t - SECONDS, None) for one in groups(past, MOST_POINTS)
        }
        _say_why(gui, past)

    def show(self, past: Motion, ended: float) -> None:
        """Draw the past, which ended some seconds ago."""
        for one in groups(past, MOST_POINTS):
            self._plots[one.kind, one.unit].data = (one.t - past.duration - ended, *np.ascontiguousarray(one.columns.T))


def _plot(gui: GuiApi, title: str, group: Group, t: FloatArray, y: Any) -> Any:
    """Add a plot; without a range for y it follows what is drawn, and time runs up to now."""
    span = (float(t[0]), float(t[-1])) if y else (-SECONDS, 0.0)
    label = "t [s]" if y else "s before now"
    more = f", and {group.left_out} more" if group.left_out else ""
    return gui.add_uplot(
        (t, *np.ascontiguousarray(group.columns.T)),
        ({"label": label}, *(_series(k, name) for k, name in enumerate(group.names))),
        title=f"{title} [{group.unit}]{more}",
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
