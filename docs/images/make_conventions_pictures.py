"""Draw the pictures of the page of conventions: ``python docs/images/make_conventions_pictures.py [FOLDER [SUFFIX]]``.

Poses, velocities and rotations are computed by Linkwise, so a picture cannot contradict the code.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import make_dh_pictures
import matplotlib as mpl
import numpy as np
from make_dh_pictures import CHILD, INK, PARENT, SOLID, THETA, A, B, D, Sheet, flat
from matplotlib.figure import Figure

import linkwise as lw
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_about, rotation_x, rotation_y, rotation_z, rpy_to_rotation
from linkwise.spatial.transform import transform, translation

AXES = (("x", THETA), ("y", D), ("z", CHILD))
"""The axes of a frame, with their colours: orange, green, blue, apart for the colour-blind by their brightness."""

make_dh_pictures.AZIMUTH = math.radians(33)  # looked at from further to the side, so that all three axes are seen
RIGHT = np.array([-math.sin(make_dh_pictures.AZIMUTH), math.cos(make_dh_pictures.AZIMUTH), 0.0])
"""The direction of space that points to the right on the paper."""


class Page(Sheet):
    """A sheet of any size, with whole frames, texts in lines, and vectors."""

    def __init__(self, width: float, height: float, title: str = "") -> None:
        self.figure = Figure(figsize=(width, height))
        top = 0.9 if title else 0.99
        self.axes = self.figure.add_axes((0.01, 0.01, 0.98, top - 0.02))
        self.axes.set_aspect("equal")
        self.axes.axis("off")
        self.figure.text(0.5, 0.945, title, ha="center", fontsize=13, weight="bold", color=INK)

    def triad(self, pose: Any, label: str = "", at: tuple[float, float] = (0.0, -0.2), *, length: float = 0.5) -> None:
        """All three axes of a frame, and the name of the frame."""
        t = np.asarray(pose, dtype=float)
        for column, (axis, color) in enumerate(AXES):
            self.arrow(t[:3, 3], t[:3, 3] + length * t[:3, column], color)
            self.text(t[:3, 3] + (length + 0.1) * t[:3, column], f"${axis}$", color=color, size=11)
        self.axes.plot(*flat(t[:3, 3]), "o", color=INK, ms=4, zorder=6)
        if label:
            self.text(t[:3, 3], label, at, INK, 11)

    def note(self, x: float, y: float, text: str, *, color: str = INK, size: float = 11, ha: str = "left") -> None:
        """Lines of text on the paper."""
        self.axes.text(x, y, text, ha=ha, va="center", fontsize=size, color=color, zorder=9, linespacing=1.5)

    def vector(self, start: Any, value: Any, color: str, label: str, shift: tuple[float, float] = (0.0, 0.0)) -> None:
        """A vector, thick, and its name at the tip."""
        start, value = np.asarray(start, dtype=float), np.asarray(value, dtype=float)
        self.arrow(start, start + value, color, lw=2.6, order=7)
        self.text(start + 1.1 * value, label, shift, color, 12)

    def components(self, start: Any, value: Any, axes: Any, color: str) -> None:
        """The way from the foot of a vector to its tip, along the axes one after the other."""
        here = np.asarray(start, dtype=float)
        for axis in np.asarray(axes, dtype=float).T:
            there = here + (axis @ value) * axis
            self.line(here, there, color=color, lw=1.1, ls=(0, (4, 2)), zorder=4)
            here = there


def arm() -> lw.Mechanism:
    """An arm of two links on a base beside the world's origin, with a tool."""
    stand = transform(rotation_z(math.radians(25)), [-0.35, 1.2, 0.3])
    upper: dict[str, Any] = {"before": transform(rotation_x(math.pi / 2), [0, 0, 0.8]), "after": translation(1.2, 0, 0)}
    hand = transform(rotation_y(math.radians(30)) @ rotation_z(math.radians(-25)), [0.85, 0.0, 0.0])
    return lw.Mechanism([lw.Link(name="link1"), lw.Link(name="link2", **upper)], base=stand, tool=hand)


POSTURE = [math.radians(84), math.radians(24)]


def moved(pose: Any, right: float) -> Any:
    """A pose shifted to the right on the paper."""
    return translation(*(right * RIGHT)) @ np.asarray(pose, dtype=float)


def stand_in(page: Page, mechanism: lw.Mechanism, q: list[float], right: float = 0.0, faint: bool = False) -> list[Any]:
    """Draw the arm; gives the poses of base, links and tool."""
    base = moved(mechanism.base, right)
    links = [moved(pose, right) for pose in mechanism.link_poses(q)]
    tool = moved(mechanism.forward_kinematics(q), right)
    shoulder = base[:3, 3] + [0, 0, 0.75]
    if not faint:
        page.rod(base[:3, 3] - [0, 0, 0.35], base[:3, 3])
    page.rod(base[:3, 3], shoulder, links[1][:3, 3], tool[:3, 3])
    return [base, *links, tool]


def frames() -> Figure:
    """World, base, link, tool."""
    page = Page(7.6, 4.5, "Frames: world, base, links, tool")
    base, _, second, tool = stand_in(page, arm(), POSTURE)
    world = np.eye(4)
    page.triad(world, "world", (0.02, -0.24))
    page.triad(base, "base", (0.34, -0.24), length=0.42)
    page.triad(second, "link2", (0.02, -0.3), length=0.36)
    page.triad(tool, "tool", (0.1, -0.28), length=0.42)
    page.arrow(world[:3, 3], base[:3, 3], PARENT, lw=1.2)
    page.text((world[:3, 3] + base[:3, 3]) / 2, "$T_{world,base}$", (0.0, 0.24), PARENT, 12)
    page.arrow(second[:3, 3], tool[:3, 3], PARENT, lw=1.2)
    page.text((second[:3, 3] + tool[:3, 3]) / 2, "$T_{link2,tool}$", (0.02, 0.3), PARENT, 12)
    page.bounds(-0.75, 3.55, -0.55, 1.95)
    return page.figure


def jacobian() -> Figure:
    """The rows of a Jacobian, along the world's axes and along the tool's own."""
    page = Page(8.6, 4.4, "J @ qd: rows 0 to 2 are v of the tool's origin, rows 3 to 5 its angular velocity ω")
    mechanism, qd = arm(), np.array([-1.1, 1.0])
    rate = mechanism.jacobian(POSTURE) @ qd
    v, w = 0.42 * rate[:3], 0.6 * rate[3:]
    for right, kind in ((0.0, "base"), (3.1, "body")):
        second = moved(mechanism.forward_kinematics(POSTURE, link="link2"), right)
        tool = moved(mechanism.forward_kinematics(POSTURE), right)
        page.rod(second[:3, 3], tool[:3, 3])
        rotation = np.eye(3) if kind == "base" else tool[:3, :3]
        for column, (name, color) in enumerate(AXES):
            page.arrow(tool[:3, 3], tool[:3, 3] + 0.55 * rotation[:, column], color, lw=1.4)
            page.text(tool[:3, 3] + 0.65 * rotation[:, column], f"${name}$", color=color, size=11)
        page.components(tool[:3, 3], v, rotation, A)
        page.components(tool[:3, 3], w, rotation, B)
        page.vector(tool[:3, 3], v, A, "$v$")
        page.vector(tool[:3, 3], w, B, r"$\omega$")
        x, y = flat(second[:3, 3]) + np.array([0.0, 1.2])
        page.note(x - 0.35, y, f'frame="{kind}"', size=12)
        page.note(
            x - 0.35, y - 0.24, "along the world's axes" if kind == "base" else "along the tool's axes", color="#4b5563"
        )
    x, y = flat(mechanism.forward_kinematics(POSTURE)[:3, 3])
    page.bounds(x - 1.3, x + 4.5, y - 1.25, y + 1.35)
    return page.figure


def turns() -> Figure:
    """Roll, pitch and yaw one after the other, and the quaternion of the same rotation."""
    page = Page(9.2, 3.6, "Roll, pitch, yaw: about the fixed axes x, y, z in this order")
    roll, pitch, yaw = math.radians(50), math.radians(-35), math.radians(60)
    steps = (
        (np.eye(3), "as it was"),
        (rotation_x(roll), "roll about x"),
        (rotation_y(pitch) @ rotation_x(roll), "then pitch about y"),
        (rpy_to_rotation(roll, pitch, yaw), "then yaw about z"),
    )
    for k, (rotation, text) in enumerate(steps):
        fixed = moved(np.eye(4), 1.75 * k)
        for column, (name, _) in enumerate(AXES):
            page.line(fixed[:3, 3], fixed[:3, 3] + 0.8 * np.eye(3)[column], color="#9ca3af", ls=":", lw=1.2)
            page.text(fixed[:3, 3] + 0.88 * np.eye(3)[column], f"${name}$", color="#6b7280", size=9)
        page.triad(moved(transform(rotation, None), 1.75 * k), length=0.62)
        page.note(1.75 * k, -0.78, text, ha="center")
        if k:
            axis = np.eye(3)[k - 1]
            start = np.roll(axis, 1)
            angle = (roll, pitch, yaw)[k - 1]
            page.angle(fixed[:3, 3] + 0.5 * axis, start, axis, angle, 0.2, "", "#be123c")
    page.note(2.6, -1.1, "R = Rz(yaw) Ry(pitch) Rx(roll)", ha="center", size=12)
    page.bounds(-0.9, 6.15, -1.25, 1.05)
    return page.figure


def quaternion() -> Figure:
    """A unit quaternion, scalar first, as an axis and an angle."""
    page = Page(5.6, 3.6, "Quaternion: scalar first, about one axis")
    axis, angle = np.array([-0.28, 0.0, 0.96]), math.radians(50)
    q = np.array([math.cos(angle / 2), *(math.sin(angle / 2) * axis)])
    assert np.allclose(quaternion_rotation(q), rotation_about(axis, angle))
    for column in range(3):
        page.line(np.zeros(3), 0.85 * np.eye(3)[column], color="#9ca3af", ls=":", lw=1.2)
        page.text(0.95 * np.eye(3)[column], f"${'xyz'[column]}$", color="#6b7280", size=9)
    page.triad(transform(np.asarray(quaternion_rotation(q), dtype=float), None), length=0.75)
    page.arrow(-0.3 * axis, 1.25 * axis, "#be123c", lw=2.2)
    page.text(1.36 * axis, "$u$", color="#be123c")
    page.angle(0.85 * axis, np.array([0.96, 0.0, 0.28]), axis, 1.6 * math.pi, 0.24, "", "#be123c")
    page.text(0.85 * axis, r"$\varphi$", (-0.4, 0.04), "#be123c")
    page.note(1.2, 0.75, "(w, x, y, z) =")
    page.note(
        1.2,
        0.42,
        r"$(\cos\frac{\varphi}{2},\; u_x \sin\frac{\varphi}{2},\; u_y \sin\frac{\varphi}{2},\; u_z \sin\frac{\varphi}{2})$",
        size=12,
    )
    page.bounds(-0.85, 3.2, -0.6, 1.4)
    return page.figure


def wrench() -> Figure:
    """The push on the tool, and what the motor and the bearing give."""
    page = Page(7.8, 4.6, "What acts on what")
    base, _, second, tool = stand_in(page, arm(), POSTURE)
    push = -0.5 * RIGHT + np.array([0.0, 0.0, -0.45])
    page.triad(tool, length=0.36)
    page.arrow(tool[:3, 3] - push, tool[:3, 3], A, lw=2.8, order=7)
    page.text(
        tool[:3, 3] - push, "external: the surroundings on the tool,\nat its origin, in tool axes", (-0.35, 0.22), A, 10
    )
    shoulder = base[:3, 3] + np.array([0, 0, 0.8])
    axis = second[:3, 2]
    page.line(shoulder - 0.55 * axis, shoulder + 0.55 * axis, color="#9ca3af", ls=(0, (9, 3, 2, 3)))
    along = second[:3, 3] - shoulder
    along = along / np.linalg.norm(along)
    page.angle(shoulder, along, axis, 0.8, 0.62, "", THETA)
    page.text(shoulder, "tau > 0: the motor\npushes q forward", (0.75, 0.78), THETA, 10)
    page.arrow(shoulder, shoulder + np.array([0.1, -0.5, 0.55]), CHILD, lw=2.6, order=7)
    page.text(shoulder, "joint_wrenches: what link2\nreceives from link1", (-0.75, 0.85), CHILD, 10)
    page.triad(np.eye(4), length=0.36)
    page.note(-0.4, -0.42, "world: the moments of joint_wrenches are about its origin")
    page.bounds(-0.95, 4.1, -0.6, 2.25)
    return page.figure


def gravity() -> Figure:
    """Free fall, and the other sign."""
    page = Page(6.6, 3.3)
    page.note(0.0, 2.28, "gravity = (0, 0, -9.81)", ha="center", size=13)
    page.note(0.0, 2.04, "the acceleration of what falls", ha="center", color="#4b5563")
    page.line(-0.9 * RIGHT, 0.9 * RIGHT, color=INK, lw=2)
    page.line(2.3 * RIGHT, 4.1 * RIGHT, color=INK, lw=2)
    for k in range(4):
        page.axes.plot(0.35, 1.72 - 0.16 * k * k, "o", color=SOLID, mec=INK, ms=11, zorder=5, alpha=0.4 + 0.2 * k)
    page.axes.annotate(
        "", (-0.2, 0.5), (-0.2, 1.7), arrowprops={"arrowstyle": "-|>", "color": CHILD, "lw": 2.8, "mutation_scale": 16}
    )
    page.note(-0.34, 1.1, "g", color=CHILD, size=14, ha="right")
    page.note(3.2, 2.28, "elsewhere: (0, 0, +9.81)", ha="center", size=13)
    page.note(3.2, 1.93, "the acceleration of a lift\nin which all feels the same", ha="center", color="#4b5563")
    page.axes.plot([2.75, 3.65, 3.65, 2.75, 2.75], [0.35, 0.35, 1.25, 1.25, 0.35], color=INK, lw=1.2)
    page.axes.annotate(
        "", (3.2, 1.6), (3.2, 0.8), arrowprops={"arrowstyle": "-|>", "color": PARENT, "lw": 2.8, "mutation_scale": 16}
    )
    page.bounds(-1.2, 4.6, -0.15, 2.5)
    return page.figure


def loop() -> Figure:
    """A four-bar cut open at its pin, and the two frames that must meet."""
    bars = lw.robots.four_bar()
    figure = Figure(figsize=(8.2, 3.8))
    figure.text(0.5, 0.935, "A loop: two frames that must meet", ha="center", fontsize=13, weight="bold", color=INK)
    closed = np.asarray(bars.solve(lw.solve.Coordinate(0, 0.9)).q)
    for k, (q, text) in enumerate(((np.add(closed, [0.0, 0.3, 0.14]), "cut open: the tree of links"), (closed, "closed"))):
        axes = figure.add_axes((0.02 + 0.49 * k, 0.02, 0.47, 0.84))
        _bars(axes, bars, q, text)
    return figure


def _bars(axes: Any, bars: lw.Mechanism, q: Any, text: str) -> None:
    """The links of a four-bar in its plane, and the frames of its loop."""
    pin = bars.loops[0]
    poses = dict(zip(bars.link_names, bars.link_poses(q), strict=True))
    ends = [poses[name] @ frame for name, frame in ((pin.first, pin.first_frame), (pin.second, pin.second_frame))]
    size = np.ptp([pose[:2, 3] for pose in [*poses.values(), *ends]], axis=0).max()
    for name, frame in ((pin.first, pin.first_frame), (pin.second, pin.second_frame)):
        start, end = poses[name][:2, 3], (poses[name] @ frame)[:2, 3]
        axes.plot(*zip(start, end, strict=True), color="#d1d5db", lw=10, solid_capstyle="round", zorder=1)
        axes.text(*((start + end) / 2), name, ha="center", va="center", fontsize=10, color=INK, zorder=7)
    first = poses["crank"][:2, 3], poses[pin.first][:2, 3]
    axes.plot(*zip(*first, strict=True), color="#9ca3af", lw=10, solid_capstyle="round", zorder=1)
    axes.text(*(np.mean(first, axis=0)), "crank", ha="center", va="center", fontsize=10, color=INK, zorder=7)
    for pose in poses.values():
        axes.plot(*pose[:2, 3], "o", color="white", mec=INK, ms=8, zorder=4)
    for pose, color in zip(ends, (THETA, CHILD), strict=True):
        for column in (0, 1):
            tip = pose[:2, 3] + 0.2 * size * pose[:2, column]
            shape = {"arrowstyle": "-|>", "color": color, "lw": 2.0, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", tip, pose[:2, 3], arrowprops=shape, zorder=6, annotation_clip=False)
            axes.plot(*tip, alpha=0.0)
        axes.plot(*pose[:2, 3], "o", color=color, ms=6, zorder=6)
    names = ("first_frame on " + pin.first, "second_frame on " + pin.second)
    for k, (label, color) in enumerate(zip(names, (THETA, CHILD), strict=True)):
        axes.text(0.02, 0.9 - 0.08 * k, label, color=color, fontsize=10, transform=axes.transAxes)
    axes.set_title(text, fontsize=11, color=INK)
    axes.set_aspect("equal")
    axes.margins(0.16)
    axes.axis("off")


def inertia() -> Figure:
    """The centre of mass in the link's frame, and the tensor about it in the link's axes."""
    page = Page(7.0, 3.9, "Mass: its centre and its tensor, in the link's axes")
    frame = transform(rotation_z(math.radians(60)), [0.0, 1.55, 0.25])
    start = frame @ translation(-2.6, 0.0, 0.0)
    page.rod(start[:3, 3], frame[:3, 3])
    com = np.array([-1.25, 0.0, 0.0])
    centre = frame @ translation(*com)
    angles = np.linspace(0, 2 * math.pi, 61)
    for first, second, sizes in ((0, 1, (0.62, 0.3)), (0, 2, (0.62, 0.24)), (1, 2, (0.3, 0.24))):
        ring = [
            flat(centre[:3, 3] + sizes[0] * math.cos(s) * frame[:3, first] + sizes[1] * math.sin(s) * frame[:3, second])
            for s in angles
        ]
        page.axes.plot(*np.array(ring).T, color="#6b7280", lw=0.9, zorder=3)
    page.triad(frame, "frame of the link", (0.75, -0.2), length=0.5)
    for column, (_, color) in enumerate(AXES):
        page.arrow(centre[:3, 3], centre[:3, 3] + 0.42 * frame[:3, column], color, lw=1.4)
    page.axes.plot(*flat(centre[:3, 3]), "o", color="white", mec=INK, ms=8, zorder=8)
    page.length(frame[:3, 3], centre[:3, 3], "com", 0.62, A)
    page.text(centre[:3, 3], "centre of mass;\nthe same axes, shifted", (-0.85, -0.3), "#4b5563", 10)
    page.note(1.1, 1.42, "inertia: Ixx Iyy Izz Ixy Iyz Ixz, kg m²", size=11)
    page.note(1.1, 1.15, r"$I_{xy} = -\int x\,y\;dm$ about the centre of mass", size=11)
    page.bounds(-1.3, 3.7, -0.95, 1.65)
    return page.figure


PICTURES = {
    "frames": frames,
    "jacobian": jacobian,
    "turns": turns,
    "quaternion": quaternion,
    "wrench": wrench,
    "gravity": gravity,
    "loop": loop,
    "inertia": inertia,
}


def main() -> None:
    """Write the pictures beside this file, or where the command line says."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    suffix = sys.argv[2] if len(sys.argv) > 2 else "svg"
    mpl.rcParams.update({"svg.hashsalt": "linkwise", "mathtext.fontset": "stix"})
    for name, made in PICTURES.items():
        metadata = {"Date": None} if suffix == "svg" else None
        made().savefig(folder / f"convention_{name}.{suffix}", facecolor="white", metadata=metadata, dpi=100)


if __name__ == "__main__":
    main()
