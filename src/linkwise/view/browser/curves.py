"""Curves of a motion: plots beside the picture, and SVG drawings in the standalone HTML page."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.model.formatting.table import number, plain
from linkwise.plot.figure import colour, shortened, style
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.motion_buffer import SECONDS
from linkwise.view.motion import ShownMotion

if TYPE_CHECKING:
    from viser import GuiApi

#: Kinds of curves, and their titles.
TITLES = {"position": "Positions", "velocity": "Velocities", "effort": "Efforts"}

#: In one plot.
MOST_CURVES = 12

#: Lengths of dashes and gaps, pixels, of each style of line.
DASHES = {"-": (), "--": (6, 4), ":": (2, 3), "-.": (6, 3, 2, 3)}


@dataclass(frozen=True, eq=False)
class CurveGroup:
    """The curves of one plot.

    Attributes
    ----------
    kind, unit : str
        Quantity and its unit.
    t : ndarray (m,)
        Times from the first instant, s.
    columns : ndarray (m, k)
        One curve per column.
    names : tuple of str
        Names of the curves.
    left_out : int
        Number of curves that are not drawn.
    """

    kind: str
    unit: str
    t: FloatArray
    columns: FloatArray
    names: tuple[str, ...]
    left_out: int


def groups(motion: ShownMotion, points: int) -> Iterator[CurveGroup]:
    """Yield the plots of a motion, each with at most so many points; no efforts where they are not known.

    Examples
    --------
    >>> from linkwise import robots
    >>> moved = ShownMotion.of(robots.scara_icomatic(), ([0.0, 1.0], [[0.0, 0.0, 0.0], [1.0, 0.5, 0.1]]))
    >>> [(group.kind, group.unit, group.names) for group in groups(moved, 300)][:2]
    [('position', 'rad', ('link1', 'link2')), ('position', 'm', ('link3',))]
    """
    for kind in TITLES:
        if kind == "effort" and motion.efforts is None:
            continue
        t, columns, names, units = motion.series(kind, points)
        for unit in dict.fromkeys(units):
            all_of_it = [k for k, other in enumerate(units) if other == unit]
            few = all_of_it[:MOST_CURVES]
            yield CurveGroup(
                kind, unit, t, np.asarray(columns)[:, few], tuple(names[k] for k in few), len(all_of_it) - len(few)
            )


# ── plots in the viewer ───────────────────────────────────────────────────────────────────────────


HELD = {**TITLES, "effort": "Efforts that hold it still"}

#: Points of a curve, and the height of a plot in pixels.
MOST_POINTS, HEIGHT = 300, 190


WIDTH = 420

#: Margins of the axes for numbers and labels, pixels.
LEFT, RIGHT, TOP, BOTTOM = 58, 8, 10, 34

TICKS = 5


class PlayedCurves:
    """The curves of a motion: the past is drawn, the future is not.

    Parameters
    ----------
    gui : viser.GuiApi
        Where to put them.
    motion : ShownMotion
        What they show.
    """

    def __init__(self, gui: GuiApi, motion: ShownMotion) -> None:
        self._groups = list(groups(motion, MOST_POINTS))
        self._plots = [add_plot(gui, TITLES[group.kind], group, group.t, _range(group.columns)) for group in self._groups]
        _say_why(gui, motion)

    def show(self, time: float) -> None:
        """Draw every curve up to a time, s."""
        for plot, group in zip(self._plots, self._groups, strict=True):
            plot.data = (group.t, *np.ascontiguousarray(np.where((group.t <= time)[:, None], group.columns, np.nan).T))


class LiveCurves:
    """The curves of the interactive motion of the last seconds.

    Parameters
    ----------
    gui : viser.GuiApi
        Where to put them.
    past : ShownMotion
        The first of it, see `History.motion`.
    """

    def __init__(self, gui: GuiApi, past: ShownMotion) -> None:
        shown = groups(past, MOST_POINTS)
        self._plots = {(g.kind, g.unit): add_plot(gui, HELD[g.kind], g, g.t - SECONDS, None) for g in shown}
        _say_why(gui, past)

    def show(self, ended: float, past: ShownMotion) -> None:
        """Draw the past, which ended some seconds ago."""
        for group in groups(past, MOST_POINTS):
            self._plots[group.kind, group.unit].data = (
                group.t - past.duration - ended,
                *np.ascontiguousarray(group.columns.T),
            )


def add_plot(gui: GuiApi, title: str, group: CurveGroup, t: FloatArray, y: Any) -> Any:
    """Add a plot; without a range for y it is scaled automatically, and time runs up to now."""
    span = (float(t[0]), float(t[-1])) if y else (-SECONDS, 0.0)
    label = "t [s]" if y else "s before now"
    more = f", and {group.left_out} more" if group.left_out else ""
    lines: list[Any] = [
        {"label": shortened(plain(name)), "stroke": colour(k), "width": 1.6, "dash": list(DASHES[style(k)])}
        for k, name in enumerate(group.names)
    ]
    return gui.add_uplot(
        (t, *np.ascontiguousarray(group.columns.T)),
        ({"label": label}, *lines),
        title=f"{title} [{group.unit}]{more}",
        scales={"x": {"time": False, "range": span}, "y": {"range": y} if y else {}},
        axes=({"label": label, "size": 34, "labelSize": 16}, {"size": 52}),
        legend={"show": True, "live": False},
        height=HEIGHT,
    )


def _say_why(gui: GuiApi, motion: ShownMotion) -> None:
    if motion.efforts is None:
        why = html.escape(motion.why_no_efforts)
        gui.add_html(f'<div style="padding:2px 14px;font-size:0.85em">No efforts: {why}</div>')


def _range(columns: FloatArray) -> tuple[float, float]:
    low, high = float(np.nanmin(columns)), float(np.nanmax(columns))
    room = 0.06 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - room, high + room


# ── drawings in a page ────────────────────────────────────────────────────────────────────────────


def svg_plot(t: FloatArray, columns: FloatArray, names: Sequence[str], title: str, unit: str) -> str:
    """Write curves as a figure in HTML: an SVG drawing, and the names of the curves below it.

    Parameters
    ----------
    t : (m,) ndarray
        Times, s.
    columns : (m, k) ndarray
        One curve per column; it has a gap where it is not finite.
    names : sequence of str
        Names of the curves; characters of HTML are escaped.
    title, unit : str
        Quantity and its unit.

    Examples
    --------
    >>> drawing = svg_plot(np.array([0.0, 1.0]), np.array([[0.0], [2.0]]), ["<a>"], "Positions", "rad")
    >>> "&lt;a&gt;" in drawing, "<a>" in drawing
    (True, False)
    """
    across = _Axis(t, LEFT, WIDTH - RIGHT)
    up = _Axis(columns, HEIGHT - BOTTOM, TOP)
    lines = "".join(_curve(k, across.at(t), up.at(column)) for k, column in enumerate(columns.T))
    heading = f"{title} [{unit}]"
    drawing = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(heading)}">'
        f"{''.join(_grid(across, up))}{lines}"
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">t [s]</text></svg>'
    )
    keys = "".join(_key(k, name) for k, name in enumerate(names))
    return f'<figure><figcaption>{html.escape(heading)}</figcaption>{drawing}<div class="keys">{keys}</div></figure>'


class _Axis:
    """One axis: round tick values, and the pixel of a value."""

    def __init__(self, values: FloatArray, first: float, last: float) -> None:
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        least = 1e-6 * max(abs(low), abs(high))
        if high - low <= least:  # constant values are drawn in the middle
            half = 0.5 * abs(low) or 1.0
            low, high = low - half, high + half
        room = 0.05 * (high - low) if first > last else 0.0
        self.low, self.high, self.first, self.last = low - room, high + room, first, last

    def at(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.first + (values - self.low) / (self.high - self.low) * (self.last - self.first))

    def ticks(self) -> FloatArray:
        power = 10.0 ** math.floor(math.log10((self.high - self.low) / TICKS))
        step = next(k * power for k in (1, 2, 5, 10) if k * power * TICKS >= self.high - self.low)
        return np.asarray(np.arange(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1) * step)


def _grid(across: _Axis, up: _Axis) -> Iterator[str]:
    for value, x in zip(across.ticks(), across.at(across.ticks()), strict=True):
        yield f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{number(value)}</text>'
    for value, y in zip(up.ticks(), up.at(up.ticks()), strict=True):
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>'


def _curve(k: int, x: FloatArray, y: FloatArray) -> str:
    """Write one curve; a point that is not finite is left out and begins a new stroke."""
    finite = np.isfinite(x) & np.isfinite(y)
    marks = np.where(np.concatenate(([False], finite[:-1])), "L", "M")
    points = "".join(f"{m}{a:.1f} {b:.1f}" for m, a, b in zip(marks[finite], x[finite], y[finite], strict=True))
    return f'<path class="curve" d="{points}" {_pen(k)}/>'


def _pen(k: int) -> str:
    return f'stroke="{colour(k)}" stroke-dasharray="{" ".join(map(str, DASHES[style(k)]))}"'


def _key(k: int, name: str) -> str:
    line = f'<path d="M0 4H22" {_pen(k)} stroke-width="2"/>'
    return f'<span><svg viewBox="0 0 22 8" class="key">{line}</svg>{html.escape(shortened(plain(name)))}</span>'
