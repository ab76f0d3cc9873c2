"""Draws the pictures of the page about pictures, each with one call of `linkwise.view`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import linkwise as lw
from linkwise import view
from linkwise.loops import Linkage

HERE = Path(__file__).parent
HOME, AWAY = [0.0, -0.4, -0.6, 0.0, 0.3, 0.0], [1.8, -1.1, 0.5, 0.4, 0.8, 1.0]


def write(made: Any, name: str, width: int) -> None:
    """Write a figure, so many pixels wide, in 256 colours: small enough for a page."""
    buffer = io.BytesIO()
    made.savefig(buffer, format="png", facecolor="white", dpi=2 * width / made.get_size_inches()[0])
    drawn = Image.open(buffer).convert("RGB")
    small = drawn.resize((width, round(drawn.height * width / drawn.width)), Image.Resampling.LANCZOS)
    small.quantize(256, dither=Image.Dither.NONE).save(HERE / name, optimize=True)
    print(f"drawn: {name}, {(HERE / name).stat().st_size / 1e3:.0f} kB")


puma = lw.robots.puma560()
motion = lw.trajectory.quintic(HOME, AWAY, 2.0)
write(view.draw(puma, motion.at(np.linspace(0.0, 2.0, 5))[0]), "pictures_postures.png", 640)
write(view.tool_path(puma, motion), "pictures_path.png", 640)
write(view.ellipsoid(puma, HOME), "pictures_ellipsoid.png", 560)
write(view.manipulability_map(puma, ["link2", "link3"], q=HOME), "pictures_joints.png", 560)
write(view.manipulability_map(puma), "pictures_map.png", 760)

leg = lw.robots.jansen()
angles = np.linspace(0.0, 2 * np.pi, 121)
turn = Linkage(leg).trace(angles)
t = angles * 3.0 / angles[-1]
qd = np.gradient(turn.q, t, axis=0)
walk = lw.Trajectory(t, turn.q, qd, np.gradient(qd, t, axis=0))
made = view.animate(leg, walk.until(2.9), HERE / "pictures_walk.gif", rate=7, width=250, frames=False)
print(f"drawn: pictures_walk.gif, {made}")
