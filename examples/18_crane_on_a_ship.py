"""A crane on a ship that rolls, pitches and heaves holds its hook still: nothing done, a cycle late, predicted."""

from pathlib import Path

import numpy as np

from linkwise import control

DT = 0.01
FILE = Path(__file__).parent / "data" / "ship_crane.toml"
DRIVES = {"slew": "theta", "boom": "theta", "jib": "theta", "telescope": "d"}

# Roll and pitch of 5 and 2 degrees, heave of 1.2 m, each a sine of its own period, rad and m.
SIZE, PERIOD, PHASE = np.array([np.radians(5.0), np.radians(2.0), 1.2]), np.array([9.0, 6.5, 8.0]), np.array([0.0, 1.0, 2.0])
DECK = 6.0  # above the sea, m
t = DT * np.arange(3001)
turning = 2.0 * np.pi / PERIOD
waves = SIZE * np.sin(turning * t[:, None] + PHASE)
rates = SIZE * turning * np.cos(turning * t[:, None] + PHASE)
roll, pitch, heave = waves.T


# What the ship's motion sensor says at each instant: the start of the chain in the world, and how it moves.
still = np.zeros_like(t)
sensor = {
    "start.position": np.stack([still, still, DECK + heave], axis=1),
    "start.angles": np.stack([roll, pitch, still], axis=1),
    "start.velocity": np.stack([still, still, rates[:, 2]], axis=1),
    # the angular velocity is a vector about the axes of the world: of Ry(pitch) Rx(roll)
    "start.angular_velocity": np.stack([rates[:, 0] * np.cos(pitch), rates[:, 1], -rates[:, 0] * np.sin(pitch)], axis=1),
}
turned = np.array([control.angles_rotation(angles) for angles in sensor["start.angles"]])


def hold(commands: dict[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Run the crane, each drive where it was told to go when a cycle ends: the hook from its place, m, and the drives."""
    crane = control.load(FILE)
    for joint, letter in DRIVES.items():
        crane.ports.unroute(f"{joint}.{letter}")
    drives = [crane.q0]
    for k in range(len(t) - 1):
        for value, (joint, letter) in zip(drives[-1], DRIVES.items(), strict=True):
            crane[f"{joint}.{letter}"] = value
        for name, values in sensor.items():
            crane[name] = values[k]
        assert crane.step(DT), crane.reason
        drives.append(np.array([crane[commands.get(joint, f"{joint}.{letter}")] for joint, letter in DRIVES.items()]))
    on_deck = crane.mechanism.forward_kinematics(np.array(drives), "hook")[:, :3, 3]
    hook = sensor["start.position"] + np.einsum("kij,kj->ki", turned, on_deck) - crane["hold.position"]
    return np.linalg.norm(hook, axis=1), np.array(drives)


runs = {
    "nothing done": hold({}),
    "solved values": hold({joint: f"{joint}.{letter}_solved" for joint, letter in DRIVES.items()}),
    "predicted values": hold({joint: f"{joint}.predicted_{letter}" for joint, letter in DRIVES.items()}),
}
settled = t > 2.0  # at first the drives gather speed
away = {name: distance[settled] for name, (distance, _) in runs.items()}
for name, distance in away.items():
    print(f"{name:16} hook {1e3 * distance.max():9.3f} mm away at most, {1e3 * distance.mean():8.3f} mm in the mean")
assert away["solved values"].max() < away["nothing done"].max() / 100.0
assert away["predicted values"].max() < away["solved values"].max() / 100.0

# The drives have greatest speeds; how much of them does it take?
crane = control.load(FILE)
greatest = np.array([crane[f"{joint}.max_{letter}_speed"] for joint, letter in DRIVES.items()])
used = np.abs(np.diff(runs["predicted values"][1], axis=0)) / DT / greatest
for joint, share in zip(DRIVES, used[settled[1:]].max(axis=0), strict=True):
    print(f"{joint:9} up to {100 * share:3.0f} % of its greatest speed")
assert used.max() < 1.0 + 1e-9

try:
    from matplotlib.figure import Figure
except ImportError:
    print("no picture: pip install matplotlib")
else:
    figure = Figure(figsize=(10, 5.6), layout="constrained")
    parts = figure.subplot_mosaic([["side", "ship"], ["side", "hook"], ["side", "drives"]], width_ratios=(1.0, 1.25))

    side, drives = parts["side"], runs["predicted values"][1]
    for k, colour in ((int(np.argmax(waves[300:, 1])) + 300, "#e69f00"), (int(np.argmin(waves[300:, 1])) + 300, "#56b4e9")):
        links = crane.mechanism.link_poses(drives[k])[:, :3, 3]
        deck = [[-6.0, 0.0, 0.0], [6.0, 0.0, 0.0]]
        points = [[0.0, 0.0, 0.0], [0.0, 0.0, 4.5], *links[[0, 1, 3, 4]]]
        words = f"pitch {np.degrees(pitch[k]):+.1f}°, heave {heave[k]:+.2f} m"
        for chain, width in ((deck, 5), (points, 2)):
            world = sensor["start.position"][k] + np.array(chain) @ turned[k].T
            side.plot(world[:, 0], world[:, 2], color=colour, linewidth=width, label=words if width == 2 else None)
    place = crane["hold.position"]
    side.plot(place[0], place[2], "o", color="#d55e00", markersize=8, label="hook, held", zorder=3)
    side.axhline(0.0, color="0.5", linewidth=1)
    side.annotate("sea at rest", (-6.2, 0.25), fontsize=8, color="0.3")
    side.set(xlabel="x [m]", ylabel="z [m]", title="from the side", ylim=(-1.0, 22.5))
    side.set_aspect("equal")
    side.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)

    parts["ship"].plot(t, np.degrees(roll), color="#0072b2", label="roll [°]")
    parts["ship"].plot(t, np.degrees(pitch), color="#009e73", label="pitch [°]")
    parts["ship"].plot(t, heave, color="#cc79a7", label="heave [m]")
    parts["ship"].set(title="the ship", ylabel="° and m")
    for (name, (distance, _)), colour in zip(runs.items(), ("0.5", "#d55e00", "#0072b2"), strict=True):
        parts["hook"].semilogy(t, np.maximum(1e3 * distance, 1e-3), color=colour, label=name)
    parts["hook"].set(title="the hook, from its place in the world", ylabel="mm", ylim=(3e-3, 6e3))
    for joint, share, colour in zip(DRIVES, used.T, ("#0072b2", "#d55e00", "#009e73", "#cc79a7"), strict=True):
        parts["drives"].plot(t[1:], 100.0 * share, color=colour, label=joint)
    parts["drives"].axhline(100.0, color="0.3", linestyle="--", linewidth=1)
    parts["drives"].set(
        title="the drives, by predicted values", ylabel="% of greatest speed", xlabel="time [s]", ylim=(0, 119)
    )
    for name in ("ship", "hook", "drives"):
        parts[name].set(xlim=(0.0, t[-1]))
        parts[name].grid(alpha=0.3)
        parts[name].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
        parts[name].tick_params(labelbottom=name == "drives")
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/crane_on_a_ship.png", dpi=110)
    print("drawn: out/crane_on_a_ship.png")
