"""The tables of a base that floats: at an instant, and over a long motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.cli.layout import fixed, new_table, peak, short
from linkwise.cli.results import Results
from linkwise.cli.summary import Extremes, Summary
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from rich.table import Table

    from linkwise.mechanism import Mechanism
    from linkwise.trajectory import Trajectory

NOTHING = 1e-12
"""What is below this share of what it is the difference of is rounding."""

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
    """Make the table of the motion of the base over a long time: its place in the base frame, all else in its own axes."""
    table = new_table("floating base", "position", "peak speed", "peak acceleration", "", left=(0, 4))
    for k, way in enumerate(_WAYS):
        span = f"{short(summary.q.low[k])} .. {short(summary.q.high[k])}" if k < 3 else ""
        table.add_row(way, span, peak(summary.qd, k), peak(summary.qdd, k), "m" if k < 3 else "rad")
    return table


def of_efforts(tau: Extremes) -> Table:
    """Make the table of the force and moment on the base that a long motion takes, in its own axes."""
    table = new_table("floating base", "rms effort", "peak effort", "", left=(0, 3))
    for k, way in enumerate(_WAYS):
        table.add_row(way, short(tau.rms[k]), peak(tau, k), "N" if k < 3 else "N m")
    return table


def roundings(mechanism: Mechanism, speeds: FloatArray, accelerations: FloatArray) -> FloatArray:
    """Say below which size the efforts (nv,) of a floating mechanism are nothing but rounding.

    That is a share of the forces of inertia and gravity that cancel in them at the largest speeds and accelerations (nv,).
    """
    v, a = np.abs(speeds), np.abs(accelerations)
    a = a + np.linalg.norm(v[3:6]) * v
    a[:3] += np.linalg.norm(mechanism.gravity)
    return _shares(mechanism, a)


def roundings_of(mechanism: Mechanism, summary: Summary) -> tuple[FloatArray, float, float]:
    """Say the same of a long motion, and of the force and the moment that its links receive from their parents."""
    small = roundings(mechanism, summary.qd.peak, summary.qdd.peak)
    arm = float(np.linalg.norm(summary.q.peak[:3]))  # moments are first summed about the origin of the world
    return small, float(small[0]), float(small[3] + small[0] * arm)


def momentum(mechanism: Mechanism, motion: Trajectory) -> Table:
    """Make the table of the momentum at both ends of a motion, world axes, the angular about the centre of mass."""
    table = new_table("momentum", "x", "y", "z", "unit", left=(0, 4))
    ends = [0, -1]
    found = mechanism.momentum(motion.q[ends], motion.qd[ends], about="com")
    small = _shares(mechanism, np.abs(motion.qd).max(axis=0))[[0, 0, 0, 3, 3, 3]]
    found = np.where(np.abs(found) <= small, 0.0, found)
    for part, name, unit in ((slice(0, 3), "linear", "kg m/s"), (slice(3, 6), "angular", "kg m²/s")):
        for end, values in zip(("start", "end"), found, strict=True):
            table.add_row(f"{name}, at the {end}", *(f"{value + 0.0:.6g}" for value in values[part]), unit)
    return table


def _shares(mechanism: Mechanism, rates: FloatArray) -> FloatArray:
    """`NOTHING` of what the inertia makes of rates (nv,), the largest of the three axes of the base for each of them."""
    made = np.abs(mechanism.mass_matrix(mechanism.neutral)) @ rates
    made[:3], made[3:6] = made[:3].max(), made[3:6].max()
    return np.asarray(NOTHING * made)


_WAYS = ("along x", "along y", "along z", "about x", "about y", "about z")
