"""Closed loops: a walking leg through a turn of its crank, a delta robot there and back, a four-bar that falls."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import linkwise as lw
from linkwise.loops import Linkage
from linkwise.loops.assembly_modes import AssemblyModes
from linkwise.loops.mobility import mobility

# Theo Jansen's leg: eleven bars, three loops, one crank. A whole turn of it, each position from the one before.
leg = lw.robots.jansen()
print(mobility(leg))
walk = Linkage(leg, ["crank"], q0=leg.neutral)
angle = np.linspace(0.0, 2.0 * np.pi, 361)
turn = walk.trace(angle)
foot = leg.forward_kinematics(turn.q)[:, :3, 3]
print(f"all closed: {turn.success.all()}; the foot goes {np.ptp(foot[:, 0]):.2f} m along and {np.ptp(foot[:, 1]):.2f} m up")

# Speed of the foot at one turn per second: joint velocities by the loops, then the Jacobian of the tree.
qd = walk.velocity(turn.q, np.full((len(angle), 1), 2.0 * np.pi))
speed = np.linalg.norm((leg.jacobian(turn.q) @ qd[..., None])[:, :3, 0], axis=-1)
print(f"its speed is between {speed.min():.2f} and {speed.max():.2f} m/s")

# Eight ways to put the leg together for the same angle of the crank; it walks in one of them.
modes = AssemblyModes(leg)
stays = set(modes.mode(turn.q).tolist())
print(f"{len(modes.signs)} assembly modes; the leg is in mode {modes.mode(leg.neutral)}, and stays: {stays}")

# A delta robot: the platform on a circle, in one call for all points; then back from the arms alone.
delta = lw.robots.delta()
inverse = Linkage(delta, ["x", "y", "z"], q0=delta.neutral)
forward = Linkage(delta, ["arm1", "arm2", "arm3"], q0=delta.neutral)
circle = 0.15 * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
there = inverse.position(circle)
back = forward.position(forward.driven_part(there.q))
print(f"delta: arms between {np.degrees(forward.driven_part(there.q)).min():.1f} and", end=" ")
print(
    f"{np.degrees(forward.driven_part(there.q)).max():.1f} deg; back again to {np.abs(back.q[:, :3] - circle).max():.0e} m"
)

# A four-bar let go: the loop stays closed, and without friction the energy stays what it was.
bars = lw.robots.four_bar()
fall = lw.simulate(bars, bars.neutral, np.zeros(3), t=np.linspace(0.0, 1.0, 2001))
energy = bars.kinetic_energy(fall.q, fall.qd) + bars.potential_energy(fall.q)
print(f"four-bar: open by {np.abs(bars.kernel('closure')(fall.q)).max():.0e}, energy off by {np.ptp(energy):.0e} J")

Path("out").mkdir(exist_ok=True)
figure, axes = plt.subplots(figsize=(7, 5))
axes.plot(foot[:, 0], foot[:, 1], label="foot")
for k in range(0, 360, 45):
    poses = leg.link_poses(turn.q[k])[:, :2, 3]
    axes.plot(*np.array([poses[4], poses[6], foot[k, :2]]).T, color="0.75", linewidth=1)
axes.set_aspect("equal")
axes.set_xlabel("x [m]")
axes.set_ylabel("y [m]")
axes.set_title("The foot of Jansen's leg through a turn of the crank")
figure.savefig("out/jansen_foot.png", dpi=100)
print("drawn: out/jansen_foot.png")
