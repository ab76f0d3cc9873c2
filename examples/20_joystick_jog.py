"""An arm jogged with a joystick: soft starts and stops, a joint at its limit, slow drives helped, a recording replayed."""

from collections import Counter
from pathlib import Path

import numpy as np

from linkwise import control

DT, SLOW = 0.01, 0.05  # of a cycle, and the time constant of the drives, s
FILE = Path(__file__).parent / "data" / "jog.toml"
JOINTS = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")

# The joystick, m/s, from when until when: it jumps, and the third push is longer than the arm can follow.
PUSHES = [
    (0.2, 1.7, (0.2, 0.0, 0.0)),
    (2.2, 3.2, (0.0, 0.15, 0.1)),
    (3.6, 6.6, (0.0, 0.0, -0.25)),
    (7.0, 8.0, (0.0, 0.0, 0.2)),
]
t = DT * np.arange(880)
joystick = np.zeros((len(t), 3))
for begin, end, velocity in PUSHES:
    joystick[(t > begin) & (t < end)] = velocity


def jog(arm: control.Chain) -> np.ndarray:
    """Run the chain, with drives that follow the speeds it gives them slowly; where they are when each cycle ends (k, n)."""
    drives, speeds, way = arm.q0.copy(), np.zeros(len(JOINTS)), []
    for k in range(len(t)):
        arm["jog.velocity"] = joystick[k]
        arm.step(DT)
        told = np.array([arm[f"{joint}.calculated_theta_speed"] for joint in JOINTS])
        left = np.exp(-DT / SLOW)  # a first-order lag, exact for a speed that is held
        drives = drives + told * DT + (speeds - told) * SLOW * (1.0 - left)
        speeds = told + (speeds - told) * left
        way.append(drives)
    return np.array(way)


# The chain is run twice: as it stands, and with the share d of each joint's regulator equal to the time constant.
arm, saved, recorders, ways = control.load(FILE), [], [], []
for d in (0.0, SLOW):
    arm.reset()
    for joint in JOINTS:
        arm[f"{joint}.regulator.d"] = d
    saved.append(arm.save())
    recorders.append(arm.record(len(t)))
    ways.append(jog(arm))
    arm.stop_recording(recorders[-1])

# What the chain asks of the tool stays within its greatest speed and acceleration, also where a joint reaches its limit.
history = recorders[0].recording()
tool = history.read("tool.predicted_position")
velocity = np.diff(tool, axis=0) / DT
speed, gain = np.linalg.norm(velocity, axis=1), np.linalg.norm(np.diff(velocity, axis=0), axis=1) / DT
print(
    f"tool up to {speed.max():.3f} of {arm['tool.max_speed']} m/s, {gain.max():.3f} of {arm['tool.max_acceleration']} m/s2"
)
assert speed.max() < arm["tool.max_speed"] * (1.0 + 1e-6)
assert gain.max() < arm["tool.max_acceleration"] * (1.0 + 1e-6)

reason, elbow = history.read("chain.reason"), history.read("forearm.predicted_theta")
unsolved = history.read("chain.unsolved")
print(
    f"unsolved from {t[unsolved].min():.2f} to {t[unsolved].max():.2f} s, mostly for the reason"
    f" {Counter(reason[unsolved].tolist()).most_common(1)[0][0]!r}:",
    end=" ",
)
print(f"the elbow at {elbow.max():.4f} of {arm['forearm.limits.max']} rad")
assert elbow.max() <= arm["forearm.limits.max"]

# Drives that need 50 ms to follow are behind; the regulators' share d makes up for it, as far as the greatest speeds let it.
planned = np.stack([history.read(f"{joint}.predicted_theta") for joint in JOINTS], axis=1)
places = arm.mechanism.forward_kinematics(np.array([planned, *ways]))[..., :3, 3]
behind = np.linalg.norm(places[1:] - places[0], axis=-1)
for d, late in zip((0.0, SLOW), behind, strict=True):
    print(f"d = {d:4.2f} s: the tool is up to {1e3 * late.max():5.2f} mm behind its plan")
assert behind[1].max() < behind[0].max() / 5.0

# What was recorded goes to a table, comes back, and is replayed on another chain made alike: the same to the last bit.
Path("out").mkdir(exist_ok=True)
recorders[1].write("out/jog.csv")
read = control.Recording.load("out/jog.csv")
again = control.replay(control.load(FILE), read, from_state=saved[1])
print(f"replayed {len(again)} cycles of {len(again.channels)} ports; differing: {read.differing(again)}")
assert not read.differing(again)

try:
    from matplotlib.figure import Figure
except ImportError:
    print("no picture: pip install matplotlib")
else:
    figure = Figure(figsize=(10, 5.6), layout="constrained")
    ((pushed, joint), (fast, late)) = figure.subplots(2, 2, sharex=True)
    for k, (letter, colour) in enumerate(zip("xyz", ("#0072b2", "#009e73", "#d55e00"), strict=True)):
        pushed.plot(t, joystick[:, k], color=colour, linewidth=1, linestyle=":")
        pushed.plot(t[1:], velocity[:, k], color=colour, label=letter)
    pushed.set(title="velocity: joystick dotted, tool solid", ylabel="m/s")
    pushed.legend(loc="lower left", fontsize=8, ncols=3)

    fast.plot(t[1:], speed, color="#0072b2", label="speed [m/s]")
    fast.axhline(arm["tool.max_speed"], color="#0072b2", linestyle="--", linewidth=1)
    fast.plot(t[1:-1], gain, color="#e69f00", linewidth=1, label="acceleration [m/s²]")
    fast.axhline(arm["tool.max_acceleration"], color="#e69f00", linestyle="--", linewidth=1)
    fast.set(title="the tool, and its limits", xlabel="time [s]", ylabel="m/s and m/s²", ylim=(0.0, 1.3))
    fast.legend(loc="upper left", fontsize=8, ncols=2)

    joint.plot(t, elbow, color="#009e73", label="elbow")
    joint.axhline(arm["forearm.limits.max"], color="#009e73", linestyle="--", linewidth=1)
    joint.annotate(
        "its limit", (0.1, arm["forearm.limits.max"]), (0, 4), textcoords="offset points", fontsize=8, color="0.3"
    )
    joint.set(title="the elbow's angle", ylabel="rad", ylim=(1.4, 2.8))

    for d, away, colour in zip((0.0, SLOW), behind, ("#d55e00", "#0072b2"), strict=True):
        late.plot(t, 1e3 * away, color=colour, label=f"regulator d = {d:g} s")
    late.set(
        title="drives that take 50 ms: tool behind its plan",
        xlabel="time [s]",
        ylabel="mm",
        xlim=(0.0, t[-1]),
        ylim=(-0.5, 16),
    )
    late.legend(loc="upper right", fontsize=8)
    for axes in (pushed, fast, joint, late):
        axes.axvspan(t[unsolved].min(), t[unsolved].max(), color="0.9", zorder=0)
        axes.grid(alpha=0.3)
    joint.annotate("unsolved: limit", (t[unsolved].mean(), 1.45), ha="center", fontsize=8, color="0.3")
    figure.savefig("out/joystick_jog.png", dpi=110)
    print("drawn: out/joystick_jog.png")
