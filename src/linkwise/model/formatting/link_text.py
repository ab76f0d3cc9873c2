"""A link in one line, and the cells of its row; below `Link`, which prints itself by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.model.formatting.table import degrees, number, plain, vector
from linkwise.model.symbolic import any_nonzero, has_symbols, parameters_in
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray


def link_text(link: Any) -> str:
    """Format a link in one line.

    Examples
    --------
    >>> from linkwise import Link
    >>> link_text(Link.dh(a=0.5, convention="standard", mass=2.0, name="arm"))
    "Link 'arm': revolute, standard Denavit-Hartenberg theta=q d=0 a=0.5 alpha=0°, 2 kg"
    """
    name = f" {plain(link.name)!r}" if link.name else ""
    if link.dh_row is not None:
        cells = dh_cells(link, "q")
        order = dh_order(link.dh_row.convention, any_nonzero(link.dh_row.b))
        placed = f"{link.dh_row.convention} Denavit-Hartenberg " + " ".join(f"{key}={cells[key]}" for key in order)
    else:
        axes = "; ".join(map(vector, np.atleast_2d(link.axis)))
        placed = f"axis {axes}, before {frame_text(link.before)}, after {frame_text(link.after)}"
    weight = f", {number(link.body.mass)} kg" if any_nonzero(link.body.mass) else ""
    return f"Link{name}: {link.joint}, {placed}{weight}"


def dh_order(convention: str, with_b: bool) -> tuple[str, ...]:
    """Return the columns in the order in which the convention applies them."""
    if convention == "modified":
        return ("alpha", "a", "theta", "d")
    return ("theta", "d", "a", "b", "alpha") if with_b else ("theta", "d", "a", "alpha")


def dh_cells(link: Any, variable: str, shift: float = 0.0) -> dict[str, str]:
    """Return the cells of a row, the joint variable written where it acts: ``q1``, ``q2 - 90°``, ``q3 + 0.1``."""
    row = link.dh_row
    assert row is not None
    cells = {name: number(getattr(row, name)) for name in ("d", "a", "b")}
    cells |= {name: degrees(getattr(row, name)) for name in ("theta", "alpha")}
    joint = link.joint_model
    if joint.dh_parameter:
        constant = getattr(row, joint.dh_parameter) + shift + link.offset
        cells[joint.dh_parameter] = plus(variable, number(constant) if joint.is_length else degrees(constant))
    return cells


def plus(variable: str, constant: str) -> str:
    """A variable and a constant written out: ``q2 - 90°``."""
    if constant in {"0", "0°"}:
        return variable
    return f"{variable} - {constant[1:]}" if constant.startswith("-") else f"{variable} + {constant}"


def frame_text(frame: FloatArray) -> str:
    """Write a placement (4, 4): its origin, m, and roll, pitch and yaw."""
    return f"xyz {vector(frame[:3, 3])}, roll pitch yaw {angles(frame)}"


def angles(frame: FloatArray) -> str:
    """Roll, pitch and yaw of a placement (4, 4), or the symbols on which they depend."""
    if has_symbols(frame[:3, :3]):
        return f"of {', '.join(str(node) for node in parameters_in([frame[:3, :3]]))}"
    return " ".join(degrees(angle) for angle in rotation_to_rpy(frame[:3, :3].astype(np.float64)))
