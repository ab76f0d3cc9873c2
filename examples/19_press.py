"""A crank press driven through its loop: the motor is told an angle, the ram keeps its greatest speed and acceleration."""

from pathlib import Path

import numpy as np

from linkwise import control

DT = 0.002
FILE = Path(__file__).parent / "data" / "press.toml"
ANGLES = np.radians([20.0, 178.0, 20.0])  # the crank is sent up, down to the work, and up again, each in one jump
CRANK = {"crank.max_theta_speed": 8.0, "crank.max_theta_acceleration": 100.0, "crank.max_theta_deceleration": 100.0}
RAM = {"ram.max_speed": 0.4, "ram.max_acceleration": 4.0, "ram.max_deceleration": 4.0}  # m/s, m/s2


def strokes(limits: dict[str, float]) -> control.Recording:
    """Run the press until it has been at all angles, and a little longer; what it recorded."""
    press = control.load(FILE)
    press.step(DT)  # closes what the digits of the file leave open
    for name, value in limits.items():
        press[name] = value
    recorder = press.record(2000)
    for angle in ANGLES:
        press["motor.value"] = angle
        while press["crank.theta_solved"] != angle:
            assert press.step(DT), press.reason
            assert press["chain.kept"]
            assert len(recorder) < 1500
        print(f"{press['chain.time']:6.3f} s: crank at {np.degrees(angle):5.1f} deg, ram at {press['ram.d_solved']:.4f} m")
    for _ in range(50):
        press.step(DT)
    return recorder.recording()


runs = {"crank limited": strokes(CRANK), "ram limited too": strokes(CRANK | RAM)}
for name, run in runs.items():
    speed, rate = (np.diff(run.read(port)) / DT for port in ("ram.d_solved", "crank.theta_solved"))
    gain, push = np.diff(speed) / DT, np.diff(rate) / DT
    print(f"{name:15}: ram up to {np.abs(speed).max():.3f} m/s and {np.abs(gain).max():5.2f} m/s2,", end=" ")
    print(f"crank up to {np.abs(rate).max():.2f} rad/s and {np.abs(push).max():5.1f} rad/s2")

# What was asked for was kept in every cycle, the crank never went past where it was sent, and the loop stayed closed.
limited = runs["ram limited too"]
crank = limited.read("crank.theta_solved")
for values, limit in (
    (speed, RAM["ram.max_speed"]),
    (gain, RAM["ram.max_acceleration"]),
    (rate, CRANK["crank.max_theta_speed"]),
):
    assert np.abs(values).max() < limit * (1.0 + 1e-5)
assert crank.max() <= ANGLES.max()
assert crank.min() > ANGLES.min() - 1e-6
open_by = max(run.read("pin.distance").max() for run in runs.values())
print(f"the rod's end stayed at the ram's pin, to {open_by:.0e} m")
assert open_by < 1e-9

try:
    from matplotlib.figure import Figure
except ImportError:
    print("no picture: pip install matplotlib")
else:
    figure = Figure(figsize=(10, 5.6), layout="constrained")
    parts = figure.subplot_mosaic([["side", "ram"], ["side", "speed"], ["side", "gain"]], width_ratios=(1.0, 2.2))

    side, turn = parts["side"], np.linspace(0.0, 2.0 * np.pi, 100)
    side.plot(0.08 * np.sin(turn), 0.08 * np.cos(turn), color="0.8", linewidth=1)
    for k, colour in ((int(np.argmin(crank)), "#56b4e9"), (int(np.argmax(crank)), "#e69f00")):
        points = np.array([np.zeros(3), *(limited.read(f"{link}.solved_position")[k] for link in ("crank", "rod"))])
        side.plot(points[:, 0], points[:, 2], "o-", color=colour, linewidth=3, markersize=5)
        side.plot(
            points[-1, 0] + np.array([-0.06, 0.06, 0.06, -0.06, -0.06]),
            points[-1, 2] + np.array([0, 0, -0.05, -0.05, 0]),
            color=colour,
        )
        side.annotate(f"{np.degrees(crank[k]):.0f}°", points[1, [0, 2]], (8, 2), textcoords="offset points", fontsize=8)
    for x in (-0.07, 0.07):
        side.plot([x, x], [-0.5, -0.24], color="0.6", linewidth=3)
    side.set(xlabel="x [m]", ylabel="z [m]", title="crank, rod and ram", xlim=(-0.16, 0.16))
    side.set_aspect("equal")

    colours = {"crank limited": "#d55e00", "ram limited too": "#0072b2"}
    for name, run in runs.items():
        t, way = run.times - run.times[0], -run.read("ram.d_solved")
        speed = np.diff(way) / DT
        parts["ram"].plot(t, way, color=colours[name], label=name)
        parts["speed"].plot(t[1:], speed, color=colours[name])
        parts["gain"].plot(t[1:-1], np.diff(speed) / DT, color=colours[name])
    for name, limit in (("speed", RAM["ram.max_speed"]), ("gain", RAM["ram.max_acceleration"])):
        for sign in (-1.0, 1.0):
            parts[name].axhline(sign * limit, color="0.3", linestyle="--", linewidth=1)
    parts["speed"].annotate(
        "greatest speed", (1.49, 0.4), (0, 3), textcoords="offset points", ha="right", fontsize=8, color="0.3"
    )
    parts["gain"].annotate(
        "greatest acceleration", (1.49, 4), (0, 3), textcoords="offset points", ha="right", fontsize=8, color="0.3"
    )
    parts["ram"].set(title="the ram's height", ylabel="m", ylim=(-0.45, -0.24))
    parts["speed"].set(title="its speed", ylabel="m/s", ylim=(-0.8, 0.8))
    parts["gain"].set(title="its acceleration", ylabel="m/s²", ylim=(-10.0, 10.0), xlabel="time [s]")
    parts["ram"].legend(fontsize=8, loc="upper center")
    for name in ("ram", "speed", "gain"):
        parts[name].set(xlim=(0.0, 1.5))
        parts[name].grid(alpha=0.3)
        parts[name].tick_params(labelbottom=name == "gain")
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/press.png", dpi=110)
    print("drawn: out/press.png")
