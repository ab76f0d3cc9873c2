"""Draws the pictures of the page about motion: which limit binds where on the way of a PUMA 560 and of a Panda."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

import linkwise as lw
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
