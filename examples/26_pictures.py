"""Pictures of a PUMA 560: postures, the path of its tool, where it moves well, an animation, and a leg that walks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise import view
from linkwise.errors import MissingExtraError
from linkwise.loops import Linkage

FOLDER = Path("out/pictures")

puma = lw.robots.puma560()
motion = lw.trajectory.quintic([0, -0.4, -0.6, 0, 0.3, 0], [1.8, -1.1, 0.5, 0.4, 0.8, 1], 2.0)
print(f"the tool goes from {puma.forward_kinematics(motion.q[0])[:3, 3].round(3)} m", end=" ")
print(f"to {puma.forward_kinematics(motion.q[-1])[:3, 3].round(3)} m")

# A motion of closed loops: the crank turns once, and the rest of the leg follows.
leg = lw.robots.jansen()
angle = np.linspace(0.0, 2 * np.pi, 121)
turn = Linkage(leg).trace(angle)
t = angle / angle[-1] * 3.0
qd = np.gradient(turn.q, t, axis=0)
walk = lw.Trajectory(t, turn.q, qd, np.gradient(qd, t, axis=0))

try:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, figure in (
        ("postures", view.draw(puma, motion.at(np.linspace(0.0, 2.0, 5))[0])),
        ("path", view.tool_path(puma, motion)),
        ("curves", view.trajectory(motion)),
        ("joints", view.manipulability_map(puma, ["link2", "link3"], q=motion.q[0], cells=80)),
        ("ellipsoid", view.ellipsoid(puma, motion.q[0])),
    ):
        figure.savefig(FOLDER / f"{name}.png")
    for name, mechanism, moves in (("puma", puma, motion), ("leg", leg, walk)):
        print(f"{name}: {view.animate(mechanism, moves, FOLDER / f'{name}.gif', rate=5, width=320)}")
    print(f"drawn: {FOLDER.as_posix()}")
except MissingExtraError as error:
    print(f"no pictures: {error}")
