"""Drake's curvilinear joint in URDF and SDF: a path of arcs and lines, its first tangent and its normal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise.files.report import Report
from linkwise.files.xml_tree import Element
from linkwise.model.joints import Curvilinear
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform

#: The elements of a path.
CURVES = ("drake:line_segment", "drake:circular_arc")

#: Cosine of the angle between tangent and normal up to which they are perpendicular.
PERPENDICULAR = 1e-9

#: A path ends where it begins to this, rad, and relative to its length.
CLOSED = 1e-9


def curvilinear_joint(
    report: Report,
    item: str,
    element: Element,
    number: Callable[[Element, str], float],
    vector: Callable[[str, tuple[float, ...]], tuple[float, ...]],
    repeats: bool,
) -> tuple[Curvilinear, FloatArray] | None:
    """The joint, and the frame (4, 4) in which its path begins; None after a report.

    `number` reads a length, radius or angle of a curve, `vector` an element with a direction or its default.
    """
    pieces: list[tuple[float, float]] = []
    curves = element.find("drake:curves")
    for curve in () if curves is None else curves.children:
        if curve.tag not in CURVES:
            report.report(curve, f"{item}: <{curve.tag}> is no curve; expected <{CURVES[0]}> or <{CURVES[1]}>")
            return None
        is_line = curve.tag == CURVES[0]
        curves.asked_tags.add(curve.tag)  # type: ignore[union-attr]
        size, angle = number(curve, "length" if is_line else "radius"), 0.0 if is_line else number(curve, "angle")
        if size <= 0 or not (is_line or angle):
            values = f"length is {size!r}" if is_line else f"radius is {size!r}, its angle {angle!r}"
            expected = "a length above 0" if is_line else "a radius above 0 and an angle that is not 0"
            report.report(curve, f"{item}: <{curve.tag}>: its {values}; expected {expected}")
            return None
        pieces.append((size, 0.0) if is_line else (size * abs(angle), float(np.copysign(1.0 / size, angle))))
    if not pieces:
        report.report(element, f"{item}: it has no <drake:curves> with a curve; expected a path")
        return None
    tangent = np.array(vector("drake:initial_tangent", (1.0, 0.0, 0.0)))
    normal = np.array(vector("drake:plane_normal", (0.0, 0.0, 1.0)))
    sizes = float(np.linalg.norm(tangent)), float(np.linalg.norm(normal))
    if not min(sizes) or abs(tangent @ normal) > PERPENDICULAR * sizes[0] * sizes[1]:
        ends = f"initial_tangent is {tangent.tolist()}, its plane_normal {normal.tolist()}"
        report.report(element, f"{item}: its {ends}; expected two directions perpendicular to each other")
        return None
    x, side = tangent / sizes[0], np.cross(normal, tangent)
    y = side / np.linalg.norm(side)
    lengths, curvatures = np.transpose(pieces)
    joint = report.build(item, lambda: Curvilinear(lengths, curvatures, repeats), element)
    if joint is None:
        return None
    whole = lengths.sum()
    gap = np.asarray(Curvilinear(lengths, curvatures).placement(np.array([whole])), dtype=float) - np.eye(4)
    if repeats and max(np.abs(gap[:3, :3]).max(), np.abs(gap[:3, 3]).max() / whole) > CLOSED:
        report.remark(element, f"{item}: its path repeats, but does not end where it begins: it jumps there")
    return joint, np.asarray(transform(np.stack([x, y, np.cross(x, y)], axis=1)), dtype=float)
