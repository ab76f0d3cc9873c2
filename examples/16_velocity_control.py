"""A tool driven through a singular position: its joints plain, damped, and slowed; and what a seventh joint is good for."""

from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise.inverse_kinematics import follow, joint_velocities, manipulability_gradient, velocity_step

# The wrist of the PUMA 560 goes through straight, or nearly: joint 5 changes sides, with axes 4 and 6 almost in line.
# Joints 4 and 6 must make half a turn in no time; or the tool leaves the path a little; or time is stretched.
puma = lw.robots.puma560()
before, after = np.array([0.2, 0.9, -2.6, -0.2, 0.5, 0.2]), np.array([0.25, 0.95, -2.5, -0.22, -0.5, 0.2])
start, end = puma.forward_kinematics([before, after])
path = lw.trajectory.cartesian(start, end, 2.0)

names = {"undamped": {"damping": None}, "damped": {}, "slowed": {"damping": None, "qd_max": 2.0}}
runs = {name: follow(puma, path, before, dt=0.005, **options) for name, options in names.items()}
for name, made in runs.items():
    print(
        f"{name:9} {made.reason:9} after {made.t[-1]:5.2f} s, joints up to {np.abs(made.qd).max():5.1f} rad/s,"
        f" tool up to {1e3 * made.position_error.max():4.1f} mm and {np.degrees(made.rotation_error.max()):4.1f} deg away"
    )

# In the middle of it, in words.
made = runs["damped"]
worst = int(np.argmax(made.damping))
_, twist, _ = path.at(made.path_time[worst])
print(joint_velocities(puma, made.q[worst], twist).explain())

# Seven joints: the tool of the Panda stays where it is while the arm moves to where it is easiest to control.
panda = lw.robots.panda()
q = np.array([1.2, -0.5, -1.0, -1.8, 0.9, 1.2, 0.4])
home, least = panda.forward_kinematics(q), joint_velocities(panda, q, np.zeros(6)).singular_value
still = lw.CartesianTrajectory([0.0, 2.0], [home] * 2, np.zeros((2, 6)), np.zeros((2, 6)))
made = follow(panda, still, q, dt=0.01, secondary=lambda q: 2.0 * manipulability_gradient(panda, q))
print(f"least singular value from {least:.3f} to {made.singular_value[-1]:.3f},", made)

# A control loop asks for one machine code call a cycle; a batch of positions goes through the same code.
step = velocity_step(puma, qd_max=3.0)
qd, given, (scale, _, damping, *_) = step(before, twist)
grid = np.random.default_rng(0).uniform(before - 0.6, before + 0.6, (100_000, 6))
batch = joint_velocities(puma, grid, twist)
print(f"one step: scale {scale:.2f}, damping {damping:.2f};", batch)

try:
    from matplotlib.figure import Figure
except ImportError:
    print("no picture: pip install matplotlib")
else:
    figure = Figure(figsize=(8, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for (name, made), style in zip(runs.items(), ("-", "--", "-."), strict=True):
        upper.plot(made.path_time, np.abs(made.qd).max(axis=1), style, label=name)
        lower.plot(made.path_time, np.degrees(made.rotation_error), style, label=name)
    upper.set(ylabel="fastest joint, rad/s", yscale="log", ylim=(0.5, 300), xlim=(0.8, 1.3))
    upper.set_title("through the wrist singularity of a PUMA 560")
    lower.set(xlabel="time along the path, s", ylabel="tool away, deg")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    upper.legend()
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/velocity_control.png", dpi=120)
    print("drawn: out/velocity_control.png")
