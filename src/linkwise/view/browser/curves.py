"""The curves of a motion beside the picture: position, speed and effort, drawn as far as it has been played."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.model.table import plain
from linkwise.spatial.scalar import FloatArray
from linkwise.view.figure import colour, shortened, style

if TYPE_CHECKING:
    from viser import GuiApi

    from linkwise.view.motions.motion import Motion

KINDS = {"position": "Positions", "speed": "Speeds", "effort": "Efforts"}

MOST_CURVES, MOST_POINTS, HEIGHT = 12, 300, 190
"""Curves in one plot, points of each, and the height of a plot in pixels."""

DASHES = {"-": (), "--": (6, 4), ":": (2, 3), "-.": (6, 3, 2, 3)}


class Curves:
    """Three plots, in which the past is drawn and the future is pale.

    Parameters
    ----------
    gui : viser.GuiApi
        Where to put them.
    motion : Motion
        What they show.
    """

    def __init__(self, gui: GuiApi, motion: Motion) -> None:
        self._plots: list[tuple[Any, FloatArray, FloatArray]] = []
        self._shown = -1
        for kind, title in KINDS.items():
            if kind == "effort" and motion.efforts is None:
                why = html.escape(motion.why_no_efforts or "")
                gui.add_html(f'<div style="padding:2px 14px;font-size:0.85em">No efforts: {why}</div>')
                continue
            for unit, t, columns, names in _grouped(motion, kind):
                plot = gui.add_uplot(
                    (t, *columns.T),
                    ({"label": "t [s]"}, *(_series(k, name) for k, name in enumerate(names))),
                    title=f"{title} [{unit}]",
                    scales={"x": {"time": False, "range": (float(t[0]), float(t[-1]))}, "y": {"range": _range(columns)}},
                    axes=({"label": "t [s]", "size": 34, "labelSize": 16}, {"size": 52}),
                    legend={"show": len(names) <= MOST_CURVES, "live": False},
                    height=HEIGHT,
                )
                self._plots.append((plot, t, columns))

    def show(self, time: float) -> None:
        """Draw every curve up to a time, s."""
        for plot, t, columns in self._plots:
            past = t <= time
            shown = np.where(past[:, None], columns, np.nan)
            plot.data = (t, *np.ascontiguousarray(shown.T))


def _grouped(motion: Motion, kind: str) -> list[tuple[str, FloatArray, FloatArray, list[str]]]:
    """Return the curves of one kind, those of one unit together."""
    t, columns, names, units = motion.series(kind, MOST_POINTS)
    each = [units] * len(names) if isinstance(units, str) else list(units)
    made = []
    for unit in dict.fromkeys(each):
        chosen = [k for k, other in enumerate(each) if other == unit][:MOST_CURVES]
        made.append((unit, t, np.asarray(columns)[:, chosen], [names[k] for k in chosen]))
    return made


def _series(k: int, name: str) -> Any:
    return {"label": shortened(plain(name)), "stroke": colour(k), "width": 1.6, "dash": list(DASHES[style(k)])}


def _range(columns: FloatArray) -> tuple[float, float]:
    low, high = float(np.nanmin(columns)), float(np.nanmax(columns))
    room = 0.06 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - room, high + room
