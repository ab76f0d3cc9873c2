"""Matplotlib figures without pyplot: colours, line styles, literal texts, legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from linkwise.extras import optional
from linkwise.model.formatting.table import plain

#: Distinct for every kind of colour vision; M. Okabe and K. Ito, *Color Universal Design* (2008), and two more.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#5f6b6d")

#: Matplotlib's name of the colours of maps: they rise evenly in lightness, distinct for every kind of colour vision.
MAP_COLOURS = "viridis"

STYLES = ("-", "--", ":", "-.")

DPI = 120


def figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Any:
    """Make an empty figure, width and height in inches, outside global state; a notebook shows it directly.

    Without a layout, where all places are set, matplotlib draws it once to save it, not twice.

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    """
    optional("matplotlib.figure", "pictures need matplotlib", "plot")
    from linkwise.plot.notebook_figure import NotebookFigure

    return NotebookFigure(figsize=(width, height), dpi=DPI, layout=layout)


def colour(k: int) -> str:
    """Return the colour of the k-th curve or link."""
    return COLOURS[k % len(COLOURS)]


def style(k: int) -> str:
    """Return the line style of the k-th curve: changes each time the colours have been used up."""
    return STYLES[k // len(COLOURS) % len(STYLES)]


def literal(text: Any, words: str) -> None:
    """Set the words of a matplotlib text exactly as they are: a dollar sign in a name is no formula."""
    text.set_parse_math(False)
    text.set_text(words)


def legend(owner: Any, handles: Sequence[Any], names: Sequence[str], longest: int = 24, **look: Any) -> None:
    """Write a legend of a figure or of axes, its names exactly as they are, shortened where they are long."""
    drawn = owner.legend(handles, [" "] * len(handles), **look)
    for text, name in zip(drawn.get_texts(), names, strict=True):
        literal(text, shortened(plain(name), longest))


def shortened(name: str, longest: int = 24) -> str:
    """Leave out the middle of a name that is too long for a legend."""
    half = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"
