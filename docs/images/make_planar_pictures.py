"""Draw the pictures of the page about planar chains: ``python docs/images/make_planar_pictures.py [FOLDER]``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise import planar

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent

rod = planar.rounded_bar(1.0, 0.2)
chain = planar.Mechanism([planar.Link(rod, a=a, name=name) for a, name in ((0.0, "A1"), (1.0, "A2"), (1.0, "A3"))])
four_bar = planar.from_spatial(lw.robots.four_bar(), polygons="bars")
closed = four_bar.close([0.8, 0.0, 0.0], driven="crank")

upper = planar.Link(planar.rounded_bar(1.0, 0.16), name="upper")
arm = planar.Mechanism([upper, planar.Link(planar.rounded_bar(0.8, 0.12), a=1.0, name="lower")], name="arm")
obstacles = {
    "wall": [(1.1, 0.3), (1.4, 0.3), (1.4, 1.2), (1.1, 1.2)],
    "box": [(-1.2, -1.0), (-0.6, -1.0), (-0.6, -0.6), (-1.2, -0.6)],
}
space = planar.configuration_space(arm, obstacles)

pictures = {
    "planar_joints": planar.draw_joints(),
    "planar_pair": planar.draw_pair(chain, [0.0, 0.9, 0.0], "A2"),
    "planar_steps": planar.draw_steps(chain, np.full(3, np.pi / 4)),
    "planar_four_bar": planar.draw(four_bar, closed),
    "planar_configuration_space": space.draw([[-0.4, 0.6], [-0.7, 1.7], [-0.7, 2.0], [1.9, 2.0], [1.9, 0.5]]),
}
for name, picture in pictures.items():
    picture.savefig(FOLDER / f"{name}.png", dpi=96)
    print(f"drawn: {FOLDER / name}.png")
