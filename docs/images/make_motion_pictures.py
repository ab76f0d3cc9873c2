"""Draws the pictures of the page about motion: which limit binds where for a PUMA 560 and a Panda, and limited jerk."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import linkwise as lw
from linkwise.plot.figure import colour, figure, legend
from linkwise.trajectory import MotionLimits, path_through, time_optimal

HERE = Path(__file__).parent


def write(drawing: Any, name: str, width: int = 900) -> None:
    """Write a figure, so many pixels wide, in 256 colours."""
    buffer = io.BytesIO()
    drawing.savefig(buffer, format="png", facecolor="white", dpi=2 * width / drawing.get_size_inches()[0])
    drawn = Image.open(buffer).convert("RGB")
    small = drawn.resize((width, round(drawn.height * width / drawn.width)), Image.Resampling.LANCZOS)
    small.quantize(256, dither=Image.Dither.NONE).save(HERE / name, optimize=True)
    print(f"drawn: {name}, {(HERE / name).stat().st_size / 1e3:.0f} kB")


puma = lw.robots.puma560()
points = [
    [0.0, -0.4, -0.6, 0.0, 0.3, 0.0],
    [0.6, -0.6, -0.2, 0.5, 0.6, 0.4],
    [1.2, -0.3, 0.1, 0.3, -0.3, 0.8],
    [1.8, -0.5, 0.5, 0.4, 0.8, 1.0],
]
limits = MotionLimits(tau_max=[97.6, 186.4, 89.4, 24.2, 20.1, 21.3])
write(time_optimal(path_through(points, names=puma.names), puma, limits).plot_binding("PUMA 560"), "motion_puma.png")

panda = lw.robots.panda()
points = [[0, -0.6, 0, -2.2, 0, 1.6, 0.8], [0.8, 0.2, -0.3, -1.4, 0.4, 1.8, 0.2], [1.6, -0.4, 0.2, -2.0, -0.2, 2.2, 0.8]]
limits = MotionLimits(qd_max=[2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61], tau_max=[87, 87, 87, 87, 12, 12, 12])
loaded = panda.with_payload(3.0)
write(
    time_optimal(path_through(points, names=panda.names), loaded, limits).plot_binding("Panda with 3 kg"), "motion_panda.png"
)

stations = [[-0.8, 0.2, 0, -2.0, 0, 2.2, 0.8], [0.0, -0.4, 0.2, -1.4, 0.3, 1.8, 0.4], [0.8, 0.2, 0, -2.0, 0, 2.2, 0.8]]
data_sheet = {
    "qd_max": [2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26],
    "qdd_max": 10.0,
    "tau_max": [87, 87, 87, 87, 12, 12, 12],
}
reach = path_through(stations, names=panda.names)
drawing = figure(8.0, 6.0)
panels = drawing.subplots(4, 1, sharex=True)
lines = []
for number, jerks in enumerate(({}, {"qddd_max": 200.0, "taud_max": 1000.0})):
    move = time_optimal(reach, panda, MotionLimits(**data_sheet, **jerks))
    t = np.linspace(0.0, move.duration, 2001)
    q, qd, qdd = move.at(t)
    curves = [qd[:, 0], qdd[:, 0], panda.inverse_dynamics(q, qd, qdd)[:, 1]]
    for panel, curve in zip(panels, curves, strict=False):
        drawn = panel.plot(t, curve, color=colour(number), linewidth=1.2)
    lines += drawn
    if jerks:
        panels[3].plot(0.5 * (t[1:] + t[:-1]), np.diff(qdd[:, 0]) / np.diff(t), color=colour(number), linewidth=1.2)
for panel, limit in zip(panels, (2.62, 10.0, 87.0, 200.0), strict=True):
    for side in (-limit, limit):
        panel.axhline(side, color="grey", linewidth=0.8, linestyle=":")
for panel, word in zip(panels, ("speed 1\n[rad/s]", "acc. 1\n[rad/s²]", "effort 2\n[N m]", "jerk 1\n[rad/s³]"), strict=True):
    panel.set_ylabel(word)
panels[-1].set_xlabel("t [s]")
legend(drawing, lines, ["no limit of jerk", "limited jerk"], loc="outside upper center")
write(drawing, "motion_jerk.png")
