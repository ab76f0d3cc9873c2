"""Draw the pictures of the Denavit-Hartenberg conventions: ``python docs/images/make_dh_pictures.py [FOLDER [SUFFIX]]``.

Every point is computed from the transforms of `linkwise.spatial.transform`, so a picture cannot contradict the code.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.transform import dh_modified, dh_standard, transform, translation

INK, PARENT, CHILD, SOLID = "#222222", "#6b7280", "#0b5cad", "#e3e6ea"
THETA, D, A, ALPHA, B = "#c2410c", "#15803d", "#7e22ce", "#be123c", "#0e7490"
AZIMUTH, ELEVATION = math.radians(15), math.radians(23)


def flat(point: Any) -> np.ndarray:
    """Where a point of space lies on the paper: a parallel projection with z upright."""
    x, y, z = np.asarray(point, dtype=float)[:3]
    right = -math.sin(AZIMUTH) * x + math.cos(AZIMUTH) * y
    near = math.cos(AZIMUTH) * x + math.sin(AZIMUTH) * y
    return np.array([right, math.cos(ELEVATION) * z - math.sin(ELEVATION) * near])


class Sheet:
    """A sheet of paper on which things of space are drawn."""

    def __init__(self, title: str, formula: str) -> None:
        self.figure = Figure(figsize=(6.4, 5.2))
        self.axes = self.figure.add_axes((0.01, 0.01, 0.98, 0.86))
        self.axes.set_aspect("equal")
        self.axes.axis("off")
        self.figure.text(0.5, 0.955, title, ha="center", fontsize=13, weight="bold", color=INK)
        self.figure.text(0.5, 0.905, formula, ha="center", fontsize=11, color=INK)

    def line(self, start: Any, end: Any, **style: Any) -> None:
        """A straight line."""
        (x0, y0), (x1, y1) = flat(start), flat(end)
        self.axes.plot([x0, x1], [y0, y1], **{"color": INK, "lw": 1.0, "solid_capstyle": "round", **style})

    def arrow(self, start: Any, end: Any, color: str, *, style: str = "-|>", lw: float = 1.8, order: float = 5) -> None:
        """An arrow."""
        shape = {"arrowstyle": style, "color": color, "lw": lw, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
        self.axes.annotate("", flat(end), flat(start), arrowprops=shape, zorder=order, annotation_clip=False)

    def text(self, point: Any, text: str, shift: tuple[float, float] = (0, 0), color: str = INK, size: float = 13) -> None:
        """A text beside a point, shifted on the paper."""
        x, y = flat(point) + np.asarray(shift)
        halo = {"boxstyle": "round,pad=0.08", "fc": "white", "ec": "none", "alpha": 0.85}
        self.axes.text(x, y, text, ha="center", va="center", fontsize=size, color=color, zorder=9, bbox=halo)

    def frame(
        self, pose: Any, label: str, color: str, *, length: float = 0.62, shifts: dict[str, Any] | None = None
    ) -> None:
        """The x and z axes of a frame, with their names."""
        t, at = np.asarray(pose, dtype=float), shifts or {}
        for axis, column in (("x", 0), ("z", 2)):
            tip = t[:3, 3] + length * t[:3, column]
            self.arrow(t[:3, 3], tip, color)
            self.text(t[:3, 3] + (length + 0.1) * t[:3, column], f"${axis}_{{{label}}}$", at.get(axis, (0, 0)), color)
        self.axes.plot(*flat(t[:3, 3]), "o", color=color, ms=5, zorder=6)

    def joint(self, pose: Any, below: float, above: float, at: float, label: str, shift: tuple[float, float]) -> None:
        """A joint's axis, and the cylinder that stands for its bearing."""
        t = np.asarray(pose, dtype=float)
        origin, z = t[:3, 3], t[:3, 2]
        self.line(origin - below * z, origin + above * z, color="#9ca3af", lw=1.0, ls=(0, (9, 3, 2, 3)), zorder=1)
        ring = np.array([0.13 * (math.cos(s) * t[:3, 0] + math.sin(s) * t[:3, 1]) for s in np.linspace(0, 2 * math.pi, 61)])
        low, high = origin + (at - 0.17) * z, origin + (at + 0.17) * z
        outline = np.array([flat(point) for point in [*(low + ring), *(high + ring)]])
        self.axes.fill(*hull(outline).T, fc=SOLID, ec="#9ca3af", lw=0.8, zorder=2)
        top = np.array([flat(point) for point in (high if flat(z)[1] > 0 else low) + ring])
        self.axes.fill(*top.T, fc="#f3f4f6", ec="#9ca3af", lw=0.8, zorder=2)
        self.text(origin + at * z, label, shift, "#4b5563", 10)

    def angle(self, centre: Any, start: Any, axis: Any, value: float, radius: float, label: str, color: str) -> None:
        """An angle about an axis, counted from a direction: an arc with an arrow, and its name."""
        centre, start, axis = (np.asarray(v, dtype=float) for v in (centre, start, axis))
        other = np.cross(axis, start)
        points = np.array([centre + radius * (math.cos(s) * start + math.sin(s) * other) for s in np.linspace(0, value, 41)])
        drawn = np.array([flat(point) for point in points])
        self.axes.plot(*drawn[:-2].T, color=color, lw=2.0, zorder=6)
        self.arrow(points[-4], points[-1], color, lw=2.0, order=6)
        middle = centre + (radius + 0.16) * (math.cos(value / 2) * start + math.sin(value / 2) * other)
        self.text(middle, label, color=color, size=15)

    def length(self, start: Any, end: Any, label: str, offset: float, color: str) -> None:
        """A length from one point to another: a dimension line beside them on the paper, and its name."""
        first, last = flat(start), flat(end)
        along = (last - first) / np.linalg.norm(last - first)
        aside = np.array([-along[1], along[0]])
        for point in (first, last):
            ends = np.array([point + 0.05 * np.sign(offset) * aside, point + (offset + 0.05 * np.sign(offset)) * aside])
            self.axes.plot(*ends.T, color=color, lw=0.8, zorder=3)
        shape = {"arrowstyle": "-|>", "color": color, "lw": 1.8, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
        head, tail = last + offset * aside, first + offset * aside
        self.axes.annotate("", head, tail, arrowprops=shape, zorder=4, annotation_clip=False)
        x, y = (head + tail) / 2 + 0.14 * np.sign(offset) * aside
        self.axes.text(x, y, label, ha="center", va="center", fontsize=15, color=color, zorder=9)

    def rod(self, *points: Any) -> None:
        """The rigid link, as a thick path."""
        drawn = np.array([flat(point) for point in points])
        self.axes.plot(*drawn.T, color=SOLID, lw=9, solid_capstyle="round", solid_joinstyle="round", zorder=1.5)

    def bounds(self, left: float, right: float, low: float, high: float) -> None:
        """The part of the paper that is shown."""
        self.axes.set_xlim(left, right)
        self.axes.set_ylim(low, high)


def hull(points: np.ndarray) -> np.ndarray:
    """The convex hull of points on the paper, in order."""
    ordered = sorted(map(tuple, points))
    sides = []
    for row in (ordered, ordered[::-1]):
        side: list[Any] = []
        for p in row:
            while len(side) > 1 and turns_right(side[-2], side[-1], p):
                side.pop()
            side.append(p)
        sides += side[:-1]
    return np.array(sides)


def turns_right(first: Any, second: Any, third: Any) -> bool:
    """Whether a path on the paper turns right, or not at all, at its second point."""
    (x0, y0), (x1, y1), (x2, y2) = first, second, third
    return bool((x1 - x0) * (y2 - y0) <= (y1 - y0) * (x2 - x0))


def turned_x(angle: float) -> np.ndarray:
    """The transform that turns about x."""
    return np.asarray(transform(rotation_x(angle), None), dtype=float)


def turned_z(angle: float) -> np.ndarray:
    """The transform that turns about z."""
    return np.asarray(transform(rotation_z(angle), None), dtype=float)


def standard(b: float = 0.0) -> Figure:
    """The standard convention, or the extended one with its shift b."""
    theta, d, a, alpha = math.radians(68), 1.45, 1.9, math.radians(42)
    if b:
        sheet = Sheet("Extended Denavit-Hartenberg", r"$R_z(\theta)\;T_z(d)\;T_x(a)\;T_y(b)\;R_x(\alpha)$")
    else:
        sheet = Sheet("Standard Denavit-Hartenberg", r"$R_z(\theta)\;T_z(d)\;T_x(a)\;R_x(\alpha)$")
    parent = np.eye(4)
    foot = turned_z(theta) @ translation(0, 0, d)
    corner = foot @ translation(a, 0, 0)
    child = np.asarray(dh_standard(theta, d, a, alpha, b), dtype=float)
    sheet.rod(parent[:3, 3], foot[:3, 3], corner[:3, 3], child[:3, 3])
    sheet.joint(parent, 0.9, 2.1, -0.6, "axis of joint $i$", (-0.62, 0.0))
    sheet.joint(child, 1.25, 1.3, -0.8, "axis of joint $i+1$", (0.2, -0.4))
    sheet.frame(parent, "i-1", PARENT, shifts={"z": (0.22, -0.05), "x": (-0.18, 0.0)})
    sheet.frame(child, "i", CHILD, shifts={"z": (-0.1, -0.02)})
    sheet.line(foot[:3, 3], foot[:3, 3] + 0.75 * np.eye(3)[0], color=PARENT, ls=":", zorder=3)
    sheet.angle(foot[:3, 3], (1, 0, 0), (0, 0, 1), theta, 0.48, r"$\theta$", THETA)
    sheet.length(parent[:3, 3], foot[:3, 3], "$d$", 0.3, D)
    sheet.length(foot[:3, 3], corner[:3, 3], "$a$", 0.24 if b else -0.44, A)
    if b:
        sheet.length(corner[:3, 3], child[:3, 3], "$b$", -0.3, B)
    sheet.line(child[:3, 3], child[:3, 3] + np.array([0, 0, 1.05]), color=PARENT, ls=":", zorder=3)
    sheet.angle(child[:3, 3], (0, 0, 1), child[:3, 0], alpha, 0.85, r"$\alpha$", ALPHA)
    sheet.bounds(-1.3, 2.75, -1.15, 2.1)
    return sheet.figure


def modified() -> Figure:
    """The modified convention."""
    theta, d, a, alpha, turn = math.radians(50), 1.1, 2.0, math.radians(36), math.radians(72)
    sheet = Sheet("Modified Denavit-Hartenberg", r"$R_x(\alpha)\;T_x(a)\;R_z(\theta)\;T_z(d)$")
    parent = turned_z(turn)
    foot = parent @ turned_x(alpha) @ translation(a, 0, 0)
    child = np.asarray(parent @ dh_modified(theta, d, a, alpha), dtype=float)
    sheet.rod(parent[:3, 3], foot[:3, 3])
    sheet.joint(parent, 0.95, 1.3, -0.65, "axis of joint $i-1$", (-0.7, 0.0))
    sheet.joint(foot, 0.9, 2.05, -0.5, "axis of joint $i$", (0.1, -0.4))
    sheet.frame(parent, "i-1", PARENT, shifts={"z": (-0.2, 0.0), "x": (0.0, 0.16)})
    sheet.frame(child, "i", CHILD, shifts={"z": (-0.14, 0.0)})
    sheet.length(parent[:3, 3], foot[:3, 3], "$a$", -0.26, A)
    sheet.length(foot[:3, 3], child[:3, 3], "$d$", 0.24, D)
    sheet.line(foot[:3, 3], foot[:3, 3] + np.array([0, 0, 0.95]), color=PARENT, ls=":", zorder=3)
    sheet.angle(foot[:3, 3], (0, 0, 1), foot[:3, 0], alpha, 0.6, r"$\alpha$", ALPHA)
    sheet.line(child[:3, 3], child[:3, 3] + 0.75 * foot[:3, 0], color=PARENT, ls=":", zorder=3)
    sheet.angle(child[:3, 3], foot[:3, 0], child[:3, 2], theta, 0.5, r"$\theta$", THETA)
    sheet.bounds(-1.4, 2.75, -1.4, 1.6)
    return sheet.figure


def main() -> None:
    """Write the three pictures beside this file, or where the command line says."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    suffix = sys.argv[2] if len(sys.argv) > 2 else "svg"
    mpl.rcParams.update({"svg.hashsalt": "linkwise", "mathtext.fontset": "stix"})
    for name, figure in (("standard", standard()), ("extended", standard(0.55)), ("modified", modified())):
        metadata = {"Date": None} if suffix == "svg" else None
        figure.savefig(folder / f"dh_{name}.{suffix}", facecolor="white", metadata=metadata, dpi=110)


if __name__ == "__main__":
    main()
