"""The tables of a base that floats: at an instant, and over a long motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.cli.layout import fixed, new_table, peak, short
from linkwise.cli.results import Results
from linkwise.cli.summary import Summary
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from rich.table import Table

BASE_AXES = "floating base, its pose in the base frame, all else in its own axes"


def of_instant(results: Results, row: int) -> Table:
    """Make the table of the base at an instant."""
    table = new_table("", "x", "y", "z", "unit", left=(0, 4))
    q, qd, qdd, tau = (values[row] for values in (results.q, results.qd, results.qdd, results.tau))
    lines = (
        *state_lines(q, qd),
        ("acceleration", qdd[:3], "m/s²"),
        ("angular acceleration", qdd[3:6], "rad/s²"),
        ("force that it takes", tau[:3], "N"),
        ("moment that it takes", tau[3:6], "N m"),
    )
    for what, values, unit in lines:
        table.add_row(what, *map(fixed, values), unit)
    return table


def state_lines(q: FloatArray, qd: FloatArray) -> tuple[tuple[str, FloatArray, str], ...]:
    """What there is to say of the base at coordinates q (nq,) and speeds qd (nv,): words, three numbers, unit."""
    angles = np.degrees(rotation_to_rpy(quaternion_rotation(q[3:7])))
    return (
        ("position", q[:3], "m"),
        ("roll, pitch, yaw", angles, "°"),
        ("velocity", qd[:3], "m/s"),
        ("angular velocity", qd[3:6], "rad/s"),
    )


def of_motion(summary: Summary) -> Table:
    """Make the table of the base over a long motion: its place in the base frame, all else in its own axes."""
    units = ("m, N", "m, N", "m, N", "rad, N m", "rad, N m", "rad, N m")
    headings = ("position", "peak speed", "peak acceleration", "rms effort", "peak effort", "")
    table = new_table("floating base", *headings, left=(0, 6))
    for k, (way, unit) in enumerate(zip(_WAYS, units, strict=True)):
        span = f"{short(summary.q.low[k])} .. {short(summary.q.high[k])}" if k < 3 else ""
        efforts = short(summary.tau.rms[k]), peak(summary.tau, k)
        table.add_row(way, span, peak(summary.qd, k), peak(summary.qdd, k), *efforts, unit)
    return table


_WAYS = ("along x", "along y", "along z", "about x", "about y", "about z")
