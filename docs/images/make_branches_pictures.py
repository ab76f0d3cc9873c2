"""Draw the pictures of branches of solutions: ``python docs/images/make_branches_pictures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from linkwise import Link, Mechanism, robots
from linkwise.inverse_kinematics import PathBranches, SelfMotion, follow_path

HERE = Path(__file__).resolve().parent
COLOURS = ("#1f6feb", "#d1495b", "#2a9d8f", "#edae49", "#6f4e9c", "#8d6e63")
GREY = "#b8bec7"


def points(arm: Mechanism, q: np.ndarray) -> np.ndarray:
    """The origins (n + 2, 3) of base, links and tool."""
    frames = [arm.base, *(arm.forward_kinematics(q, link=k) for k in range(arm.n)), arm.forward_kinematics(q)]
    return np.array([T[:3, 3] for T in frames])


def self_motion() -> None:
    """A Panda that holds its tool: postures of the longest curve, and all curves over joint 7."""
    arm = robots.panda()
    T = arm.forward_kinematics([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
    motion = arm.all_inverse_kinematics(T, redundancy={"link7": 201})
    assert isinstance(motion, SelfMotion)
    curves = motion.curves()
    figure = plt.figure(figsize=(9.6, 4.2))
    left = figure.add_subplot(1, 2, 1, projection="3d")
    for place, row in enumerate(np.linspace(0, len(curves[0].q) - 1, 9).astype(int)):
        x, y, z = points(arm, curves[0].q[row]).T
        left.plot(x, y, z, color=plt.cm.viridis(place / 8), linewidth=2.0, marker="o", markersize=3)
    left.scatter(*T[:3, 3], color="black", s=30)
    left.set_box_aspect((1, 1, 1.1), zoom=1.15)
    left.set(xlim=(-0.3, 0.6), ylim=(-0.45, 0.45), zlim=(0.0, 1.0), xlabel="x, m", ylabel="y, m", zlabel="z, m")
    left.view_init(elev=18, azim=-60)
    left.set_title("one curve: the tool stays", fontsize=10)
    right = figure.add_subplot(1, 2, 2)
    for colour, curve in zip(COLOURS, curves, strict=False):
        right.plot(curve.values, curve.q[:, 0], color=colour, linewidth=2.0)
        for end, k in zip(curve.ends, (0, -1), strict=True):
            filled = colour if end != "turning point" else "white"
            right.plot(curve.values[k], curve.q[k, 0], "o", color=colour, markerfacecolor=filled, markersize=6)
    for limit in (arm.q_min[0], arm.q_max[0]):
        right.axhline(limit, color=GREY, linestyle="--", linewidth=1.0)
    right.set(xlabel="joint 7, rad", ylabel="joint 1, rad")
    right.set_title("all curves: full ends are joint limits, open ends turning points", fontsize=10)
    right.grid(color="#eceff3")
    figure.tight_layout()
    figure.savefig(HERE / "self_motion_panda.png", dpi=80)
    plt.close(figure)


def seam(s: float) -> np.ndarray:
    """A seam around a pipe: the tool goes once around it and turns with it."""
    angle = 2.0 * np.pi * s
    c, n = np.cos(angle), np.sin(angle)
    T = np.array([[c, n, 0.0, 0.45 + 0.12 * c], [n, -c, 0.0, 0.1 + 0.12 * n], [0.0, 0.0, -1.0, -0.2], [0.0, 0.0, 0.0, 1.0]])
    tilt = np.eye(4)
    tilt[:3, :3] = [[np.cos(0.5), 0.0, np.sin(0.5)], [0.0, 1.0, 0.0], [-np.sin(0.5), 0.0, np.cos(0.5)]]
    return T @ tilt


def branch_graph() -> None:
    """Two joints of all branches along a seam, and the way that is chosen."""
    arm = robots.puma560()
    way: PathBranches = follow_path(arm, seam, samples=81)
    print(way)
    figure, axes = plt.subplots(2, 1, figsize=(9.6, 4.8), sharex=True)
    for axis, joint in zip(axes, (3, 5), strict=True):
        for number in range(1 + max(int(rows.max(initial=-1)) for rows in way.branch)):
            places = [(k, np.flatnonzero(rows == number)) for k, rows in enumerate(way.branch)]
            line = np.array([(way.s[k], way.solutions[k][which[0], joint]) for k, which in places if len(which)])
            axis.plot(*line.T, color=COLOURS[number % len(COLOURS)], linewidth=1.4)
            axis.plot(*line[[0, -1]].T, "o", clip_on=False, color=COLOURS[number % len(COLOURS)], markersize=4)
        axis.plot(way.s, way.q[:, joint], color="black", linewidth=4.0, alpha=0.3)
        for limit in (arm.q_min[joint], arm.q_max[joint]):
            axis.axhline(limit, color=GREY, linestyle="--", linewidth=1.0)
        axis.set(ylabel=f"joint {joint + 1}, rad")
        axis.grid(color="#eceff3")
    axes[1].set(xlabel="path parameter")
    axes[0].set_title("branches of all solutions along a seam; grey: the way with the least joint travel", fontsize=10)
    figure.tight_layout()
    figure.savefig(HERE / "branches_seam.png", dpi=80)
    plt.close(figure)


def sixteen_configurations() -> None:
    """An arm of the proportions of a FANUC CRX-10iA at a pose that it reaches in 16 ways."""
    quarter = np.pi / 2.0
    rows = [(0.0, -quarter, 0.0), (0.54, 0.0, 0.0), (0.0, -quarter, 0.0), (0.0, quarter, 0.54), (0.0, -quarter, 0.15)]
    links = [Link.dh(a=a, alpha=alpha, d=d, convention="standard") for a, alpha, d in [*rows, (0.0, 0.0, 0.16)]]
    arm = Mechanism(links, name="crx")
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (20_000, 6))
    solutions = arm.all_inverse_kinematics(arm.forward_kinematics(q), limits=False)
    most = np.flatnonzero((solutions.count == 16) & solutions.complete)
    print(f"{len(most)} of {len(q)} poses at random have 16 solutions")
    far = np.linalg.norm(arm.forward_kinematics(q[most])[:, :3, 3], axis=1) > 0.45
    apart = [np.linalg.norm(solutions[k][:, None] - solutions[k], axis=-1) + 9.0 * np.eye(16) for k in most[far]]
    rows = solutions[most[far][int(np.argmax([distances.min() for distances in apart]))]]
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    elbows = arm.forward_kinematics(rows, link=3)[:, :3, 3]
    places = np.concatenate([points(arm, row) for row in rows])
    middle, half = 0.5 * (places.max(axis=0) + places.min(axis=0)), 0.5 * np.ptp(places, axis=0).max()
    figure = plt.figure(figsize=(9.6, 5.4))
    for place, first in enumerate(range(8)):
        alike = np.flatnonzero(np.linalg.norm(elbows - elbows[first], axis=1) < 1e-6)
        axis = figure.add_subplot(2, 4, place + 1, projection="3d")
        x, y, z = points(arm, rows[first]).T
        axis.plot(x, y, z, color=COLOURS[0], linewidth=3.0, marker="o", markersize=4)
        T = arm.forward_kinematics(rows[first])
        axis.quiver(*T[:3, 3], *(0.2 * T[:3, 2]), color=COLOURS[1], linewidth=2.0)
        axis.scatter(0.0, 0.0, 0.0, color="black", s=30)
        axis.set(**{f"{name}lim": (c - half, c + half) for name, c in zip("xyz", middle, strict=True)})
        axis.set_box_aspect((1, 1, 1), zoom=1.45)
        axis.view_init(elev=20, azim=-55)
        axis.set_axis_off()
        turns = " or ".join(f"{np.degrees(rows[k, 0]):.0f}°" for k in alike)
        axis.set_title(f"joint 1 at {turns}", fontsize=9, y=1.0)
    figure.subplots_adjust(left=0.0, right=1.0, bottom=0.0, top=0.94, wspace=0.0, hspace=0.12)
    figure.savefig(HERE / "crx_configurations.png", dpi=80)
    plt.close(figure)


if __name__ == "__main__":
    sixteen_configurations()
    self_motion()
    branch_graph()
