"""The legends of a figure of curves: one beside the panels, and small ones inside those that show other things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkwise.model.table import plain
from linkwise.view.figure import literal, shortened

QUATERNION = ("qw", "qx", "qy", "qz")
"""What the curves of an orientation are called, in the order of their columns."""


def groups(shown: Sequence[Sequence[int]]) -> list[set[int]]:
    """Gather the labels that occur together in some panel, those of the first place in the legend first.

    Examples
    --------
    >>> groups([[2, 3], [0, 1], [3, 4], [1]])
    [{0, 1}, {2, 3, 4}]
    """
    found: list[set[int]] = []
    for labels in filter(None, map(set, shown)):
        apart = [group for group in found if not group & labels]
        found = [*apart, labels.union(*(group for group in found if group & labels))]
    return sorted(found, key=min)


def beside(made: Any, lines: Mapping[int, Any], names: Sequence[str]) -> None:
    """Write a legend of lines, each with its place among the names, beside all panels."""
    shown = sorted(lines)
    handles = [lines[k] for k in shown]
    look = {"loc": "outside right upper", "frameon": False, "fontsize": 9, "handlelength": 2.4}
    _named(made.legend(handles, [" "] * len(shown), **look), [names[k] for k in shown])


def inside(axis: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Write a small legend into a panel, where the curves leave room."""
    look = {"fontsize": 7, "handlelength": 1.6, "columnspacing": 0.9, "borderpad": 0.3, "framealpha": 0.85}
    columns = len(names) if len(names) <= 4 else 2
    _named(axis.legend(handles, [" "] * len(names), loc="best", ncols=columns, **look), names)


def _named(legend: Any, names: Sequence[str]) -> None:
    for words, name in zip(legend.get_texts(), names, strict=True):
        literal(words, shortened(plain(name)))
