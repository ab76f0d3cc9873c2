"""Picture of two bodies that float, as several programs have computed them: where they go, and how far from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.plot.figure import colour, figure, style
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.spacelib.programs.floating_comparison import Compared
    from linkwise.spacelib.programs.two_links import TwoLinks

POSTURES = 5
"""At how many instants the bodies are drawn."""

LEAST = 1e-17
"""What is zero stands at the lower edge of a logarithmic axis."""

THICK, THIN = 7.0, 1.4
"""Widths of the paths of the first and of the last program: what is below shows beside what is above."""


def draw(links: TwoLinks, comparisons: Sequence[Compared], names: Sequence[str]) -> Any:
    """Draw the bodies at some instants, the paths of their centres of mass, and errors against time.

    Parameters
    ----------
    links : TwoLinks
        The bodies.
    found : sequence of Compared
        What each program has computed; the bodies are drawn as the last one has them.
    names : sequence of str
        What each is called.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    """
    picture = figure(9.0, 8.2)
    grid = picture.add_gridspec(2, 2, height_ratios=(1.25, 1.0))
    _paths(picture.add_subplot(grid[0, :]), links, comparisons, names)
    distance, change = picture.add_subplot(grid[1, 0]), picture.add_subplot(grid[1, 1])
    for k, (item, name) in enumerate(zip(comparisons, names, strict=True)):
        t = item.history.t[:: max(1, (len(item.history.t) - 1) // max(1, len(item.distance) - 1))]
        look = {"color": colour(k), "linestyle": style(k), "label": name, "linewidth": 1.4}
        distance.semilogy(t, np.maximum(item.distance, LEAST), **look)
        change.semilogy(t, np.maximum(np.hypot(item.linear, item.angular), LEAST), **look)
    distance.set(xlabel="time [s]", ylabel="[m]", title="centres of mass: distance from the reference")
    change.set(xlabel="time [s]", ylabel="[kg m/s, kg m²/s]", title="momentum: change since the start")
    for axis in (distance, change):
        axis.title.set_fontsize(10)
        axis.grid(color="0.9")
        axis.legend(fontsize=8)
    return picture


def _paths(axis: Any, links: TwoLinks, comparisons: Sequence[Compared], names: Sequence[str]) -> None:
    """Bodies and paths, projected on the two axes of frame (0) along which they spread most."""
    from linkwise.spacelib.programs.floating_comparison import centres

    paths = [centres(links, item.history) for item in comparisons]
    last = comparisons[-1].history
    bodies = [np.stack([_rod(m, J) for m in poses]) for poses, J in ((last.m1, links.J1), (last.m2, links.J2))]
    spread = np.ptp(np.concatenate([body.reshape(-1, 3) for body in bodies]), axis=0)
    across, up = sorted(np.argsort(spread)[-2:].tolist())
    for k in np.linspace(0, len(last.t) - 1, POSTURES).round().astype(int).tolist():
        share = k / max(1, len(last.t) - 1)
        for body, grey, dashes in zip(bodies, ("0.25", "0.55"), ("-", "--"), strict=True):
            axis.plot(
                *body[k][:, [across, up]].T, color=grey, linestyle=dashes, linewidth=1.6, alpha=0.25 + 0.75 * share, zorder=2
            )
        axis.plot(*last.m1[k, [across, up], 3], "o", color="0.25", markersize=4, alpha=0.25 + 0.75 * share, zorder=3)
    for k, (path, name) in enumerate(zip(paths, names, strict=True)):
        width = np.interp(k, (0, max(1, len(comparisons) - 1)), (THICK, THIN))
        for which, body in enumerate(path):
            label = name if which == 0 else None
            axis.plot(*body[:, [across, up]].T, color=colour(k), linewidth=width, label=label, zorder=4 + k)
    total = paths[-1][2][:, [across, up]]
    axis.plot(*total.T, color="black", linestyle=":", linewidth=1.0, label="total centre of mass", zorder=9)
    axis.plot([], [], color="0.25", label="link 1")
    axis.plot([], [], color="0.55", linestyle="--", label="link 2")
    for k in (0, len(last.t) - 1):
        joint = last.m1[k, [across, up], 3]
        axis.annotate(f"{last.t[k]:.3g} s", joint, xytext=(-12, -16), textcoords="offset points", fontsize=8, color="0.3")
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(
        xlabel=f"{'xyz'[across]} [m]",
        ylabel=f"{'xyz'[up]} [m]",
        title=f"paths of the centres of mass; in grey the links at {POSTURES} instants",
    )
    axis.title.set_fontsize(10)
    axis.margins(x=0.08)
    axis.grid(color="0.93")
    axis.legend(fontsize=8, loc="upper left", ncols=2)


def _rod(m: FloatArray, J: FloatArray) -> FloatArray:
    """A rod (2, 3) from the joint through the centre of mass, twice as far; a body centred on the joint is a short one."""
    com = J[:3, 3] / J[3, 3]
    end = 2.0 * com if com.any() else np.array([0.1, 0.0, 0.0])
    return np.stack([m[:3, 3], m[:3, :3] @ end + m[:3, 3]])
