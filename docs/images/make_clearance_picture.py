"""Draw the picture of the page on clearance: ``python docs/images/make_clearance_picture.py [FOLDER]``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwise as lw


def main() -> None:
    """Write the picture beside this file, or where the command line says."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    arm = lw.robots.panda()
    post = lw.Shape.rod("world", (0.42, 0.0, 0.0), (0.42, 0.0, 0.3), 0.05, name="post")
    q = [-0.6, 0.2, 0.0, -2.2, 0.0, 2.4, 0.8]
    motion = []
    for point in np.linspace([0.58, -0.35, 0.25], [0.58, 0.35, 0.25], 41):
        q = arm.solve([lw.Position("tool", point), lw.Clear(0.02, [post])], q0=q).q
        motion.append(q)
    picture = arm.draw(motion[20], obstacles=[post], trace=motion, names=False, frames=False)
    picture.savefig(folder / "clearance_seam.png", dpi=90, bbox_inches="tight")


if __name__ == "__main__":
    main()
