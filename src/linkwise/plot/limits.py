"""Active limits of a time-optimal motion: velocity along the path, and the used share of each limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.plot.figure import colour, figure, legend, literal, style

#: Limits of which less than this share is used throughout have no curve.
NOTICED = 0.5


def draw_binding(motion: Any, title: str = "") -> Any:
    """Draw an `OptimalMotion`: see its `plot_binding`."""
    parts, usage, profile = motion.binding, motion.usage, motion.profile
    bound = {part.name for part in parts}
    shown = [k for k, name in enumerate(motion.limit_names) if name in bound or usage[:, k].max() >= NOTICED]
    drawing = figure(8.0, 5.5)
    speed, shares, bars = drawing.subplots(3, 1, sharex=True, height_ratios=(2.0, 3.0, 0.5))
    speed.plot(profile.times, profile.speed, color="black")
    speed.set_ylabel("ds/dt")
    middles = np.repeat(profile.times, 2)[1:-1]
    handles = []
    for place, k in enumerate(shown):
        look = {
            "color": colour(place),
            "linestyle": style(place),
            "linewidth": 1.6 if motion.limit_names[k] in bound else 0.8,
        }
        handles += shares.plot(middles, np.repeat(usage[:, k], 2), **look)
    shares.set_ylabel("share of limit")
    shares.set_ylim(0.0, 1.05)
    places = {motion.limit_names[k]: place for place, k in enumerate(shown)}
    for part in parts:
        place = places[part.name]
        hatch = "" if style(place) == style(0) else "////"
        bars.axvspan(part.begin, part.end, facecolor=colour(place), edgecolor="white", hatch=hatch, linewidth=0)
    bars.set_yticks([])
    bars.set_ylabel("binds", rotation=0, ha="right", va="center")
    bars.set_xlabel("t [s]")
    legend(drawing, handles, [motion.limit_names[k] for k in shown], loc="outside right upper")
    if title:
        literal(drawing.suptitle(" "), title)
    return drawing
