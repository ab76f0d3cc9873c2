"""An arm follows a target at 0.5 m/s, told in each cycle of 10 ms where to go: a whole cycle late, or hardly at all."""

from pathlib import Path

import numpy as np

from linkwise import control

DT, SPEED, RADIUS = 0.01, 0.5, 0.2
START = np.array([0.5, 0.15, -0.1])  # in the world, m; the file begins with the tool there
FILE = Path(__file__).parent / "data" / "arm_follower.toml"
JOINTS = [f"link{k}" for k in range(1, 7)]

# The target waits 0.2 s, gathers speed for 0.25 s, and goes round a circle: at each instant where it is, and its velocity.
t = DT * np.arange(321)
since = np.maximum(t - 0.2, 0.0)
speed = SPEED * np.minimum(since / 0.25, 1.0)
gone = np.where(since < 0.25, 0.5 * speed * since, SPEED * (since - 0.125))
angle = 2.0 * np.pi / 3.0 - gone / RADIUS
circle = RADIUS * np.stack([np.cos(angle), np.sin(angle), 0.0 * t], axis=1)
target = START + circle - circle[0]
velocity = speed[:, None] * np.stack([np.sin(angle), -np.cos(angle), 0.0 * t], axis=1)


def follow(command: str) -> np.ndarray:
    """Run the chain with a machine that is, when a cycle ends, where it was told to go; the way of its tool (k, 3)."""
    arm = control.load(FILE)
    for joint in JOINTS:
        arm.ports.unroute(f"{joint}.theta")  # the encoders write it
    encoders = arm.q0.copy()
    way = [arm.mechanism.forward_kinematics(encoders)[:3, 3]]
    for k in range(len(t) - 1):
        for joint, value in zip(JOINTS, encoders, strict=True):
            arm[f"{joint}.theta"] = value
        arm["target.position"], arm["target.velocity"] = target[k], velocity[k]
        assert arm.step(DT), arm.reason
        encoders = np.array([arm[f"{joint}.{command}"] for joint in JOINTS])
        way.append(arm.mechanism.forward_kinematics(encoders)[:3, 3])
    return np.array(way)


ways = {"theta_solved": follow("theta_solved"), "predicted_theta": follow("predicted_theta")}
lags = {command: np.linalg.norm(way - target, axis=1) for command, way in ways.items()}
steady = t > 0.5
for command, lag in lags.items():
    print(f"{command:15} {1e3 * lag[steady].max():5.3f} mm behind at 0.5 m/s")

# What is left is what the target's velocity does not tell: half its acceleration times the square of the cycle.
bend = 0.5 * SPEED**2 / RADIUS * DT**2
ratio = lags["theta_solved"][steady].max() / lags["predicted_theta"][steady].max()
print(f"ratio {ratio:.0f}; the path bends by {1e3 * bend:.3f} mm in a cycle")
assert ratio > 10.0

try:
    from matplotlib.figure import Figure
except ImportError:
    print("no picture: pip install matplotlib")
else:
    COLOURS = {"theta_solved": "#d55e00", "predicted_theta": "#0072b2"}
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    plan, late = figure.subplots(1, 2, width_ratios=(1.0, 1.25))

    plan.plot(*target[:, :2].T, color="0.75", linewidth=4, label="target")
    for (command, way), style in zip(ways.items(), ("-", "--"), strict=True):
        plan.plot(*way[:, :2].T, style, color=COLOURS[command], linewidth=1.2, label=f"tool, by {command}")
    plan.plot(*START[:2], "o", color="0.3", markersize=4)
    plan.annotate("start", START[:2], (-6, 6), textcoords="offset points", ha="right", color="0.3")
    lens = plan.inset_axes((0.27, 0.3, 0.46, 0.46))
    k = 250  # the same three instants of all
    lens.plot(*target[k - 1 : k + 2, :2].T, "o", color="0.75", markersize=14)
    lens.plot(*ways["theta_solved"][k - 1 : k + 2, :2].T, "s", color=COLOURS["theta_solved"], markersize=9, fillstyle="none")
    lens.plot(*ways["predicted_theta"][k - 1 : k + 2, :2].T, "o", color=COLOURS["predicted_theta"], markersize=4)
    middle, half = target[k, :2], 0.011
    lens.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half), xticks=[], yticks=[])
    lens.set_aspect("equal")
    lens.set_title("three cycles, 5 mm each", fontsize=8)
    plan.indicate_inset_zoom(lens, edgecolor="0.4")
    plan.set(xlabel="x [m]", ylabel="y [m]", title="seen from above")
    plan.set_aspect("equal")
    plan.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=8, frameon=False, ncols=3, columnspacing=1.0)

    for command, lag in lags.items():
        late.semilogy(t, np.maximum(1e3 * lag, 1e-3), color=COLOURS[command], label=command)
    for value, words in ((1e3 * SPEED * DT, "one cycle at 0.5 m/s"), (1e3 * bend, "the path's bend in a cycle")):
        late.axhline(value, color="0.5", linestyle=":", linewidth=1)
        late.annotate(
            f"{words}: {value:.3g} mm",
            (t[-1], value),
            (-2, 4),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color="0.3",
        )
    late.axvspan(0.2, 0.45, color="0.93")
    late.annotate("gathers speed", (0.48, 0.03), fontsize=8, color="0.3")
    late.set(xlabel="time [s]", ylabel="tool behind the target [mm]", title="lag", ylim=(0.02, 20.0), xlim=(0.0, t[-1]))
    late.grid(alpha=0.3)
    late.legend(loc="center right", bbox_to_anchor=(1.0, 0.45), fontsize=8)
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/follow_a_moving_target.png", dpi=110)
    print("drawn: out/follow_a_moving_target.png")
