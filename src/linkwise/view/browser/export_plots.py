"""Curves of a motion as drawings in HTML (SVG), which need no library to be seen."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence

import numpy as np

from linkwise.model.table import number, plain
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.groups import DASHES
from linkwise.view.figure import colour, shortened, style

WIDTH, HEIGHT = 420, 190
LEFT, RIGHT, TOP, BOTTOM = 58, 8, 10, 34
"""Pixels around the axes, in which their numbers and words stand."""

TICKS = 5


def plot(t: FloatArray, columns: FloatArray, names: Sequence[str], title: str, unit: str) -> str:
    """Write curves as a figure in HTML: an SVG drawing, and the names of the curves below it.

    Parameters
    ----------
    t : (m,) ndarray
        s.
    columns : (m, k) ndarray
        A curve a column; where it is not finite it has a gap.
    names : sequence of str
        Of the curves; written as they are, marks of HTML escaped.
    title, unit : str
        What they are, and in what.

    Examples
    --------
    >>> drawing = plot(np.array([0.0, 1.0]), np.array([[0.0], [2.0]]), ["<a>"], "Positions", "rad")
    >>> "&lt;a&gt;" in drawing, "<a>" in drawing
    (True, False)
    """
    across = _Axis(t, LEFT, WIDTH - RIGHT)
    up = _Axis(columns, HEIGHT - BOTTOM, TOP)
    lines = "".join(_curve(k, across.at(t), up.at(column)) for k, column in enumerate(columns.T))
    said = f"{title} [{unit}]"
    drawing = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(said)}">'
        f"{''.join(_grid(across, up))}{lines}"
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">t [s]</text></svg>'
    )
    keys = "".join(_key(k, name) for k, name in enumerate(names))
    return f'<figure><figcaption>{html.escape(said)}</figcaption>{drawing}<div class="keys">{keys}</div></figure>'


class _Axis:
    """One axis: round numbers along it, and the pixel of a value."""

    def __init__(self, values: FloatArray, first: float, last: float) -> None:
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        least = 1e-6 * max(abs(low), abs(high))
        if high - low <= least:  # what does not change is drawn in the middle
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
