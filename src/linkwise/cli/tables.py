"""The tables that a run prints: every link at each of a few instants, or peaks and means of a long motion."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from linkwise.cli.results import Results
from linkwise.cli.summary import Extremes, Summary
from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_to_rpy

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Titled = tuple[str, "Table"]
"""A table and what stands above it."""

PIPED_WIDTH = 120
"""Columns where the output is no terminal."""


def console(*, stderr: bool = False) -> Console:
    """Make the console: as wide as the terminal, wide enough for every table where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else PIPED_WIDTH, highlight=False, markup=False, emoji=False)


def of_instants(tree: Tree, results: Results) -> Iterator[Titled]:
    """Make two tables for each instant: the joints, and the links."""
    for row, time in enumerate(results.t.tolist()):
        yield f"t = {_short(time)} s: joints", _joints(tree, results, row)
        yield f"t = {_short(time)} s: links, in the axes of the world frame", _links(tree, results, row)


def of_motion(tree: Tree, summary: Summary) -> Iterator[Titled]:
    """Make the three tables of a long motion: the joints' motion, their efforts, and the links."""
    span = f"{summary.count:,} instants, t = {_short(summary.start)} to {_short(summary.end)} s"
    motion = _table("joint", "position", "", "peak speed", "peak acceleration")
    efforts = _table("joint", "rms effort", "peak effort", "")
    for k, link in enumerate(link for link in tree.links if link.moves):
        length, force = ("m", "N") if link.joint == "prismatic" else ("rad", "N m")
        span_q = f"{_short(summary.q.low[k])} .. {_short(summary.q.high[k])}"
        motion.add_row(plain(link.name), span_q, length, _peak(summary.qd, k), _peak(summary.qdd, k))
        efforts.add_row(plain(link.name), _short(summary.tau.rms[k]), _peak(summary.tau, k), force)
    yield f"{span}; each peak with the time at which it came", motion
    yield "motor efforts", efforts
    table = _table("link", "peak force [N]", "peak moment [N m]")
    for k, name in enumerate(tree.link_names):
        table.add_row(plain(name), _peak(summary.force, k), _peak(summary.moment, k))
    yield "what each link receives from its parent, moment about the joint", table


def _joints(tree: Tree, results: Results, row: int) -> Table:
    table = _table("joint", "position", "speed", "acceleration", "effort")
    for k, link in enumerate(link for link in tree.links if link.moves):
        length, force = ("m", "N") if link.joint == "prismatic" else ("rad", "N m")
        table.add_row(
            plain(link.name),
            f"{_number(results.q[row, k])} {length}",
            f"{_number(results.qd[row, k])} {length}/s",
            f"{_number(results.qdd[row, k])} {length}/s²",
            f"{_number(results.tau[row, k])} {force}",
        )
    return table


def _links(tree: Tree, results: Results, row: int) -> Table:
    table = _table("link", "", "x", "y", "z", "unit", left=(0, 1, 5))
    angles = [np.degrees(rotation_to_rpy(R)) for R in results.T[row, :, :3, :3]]
    for k, name in enumerate(tree.link_names):
        lines = (
            ("position of its frame", results.positions[row, k], "m"),
            ("roll, pitch, yaw", angles[k], "°"),
            ("velocity", results.velocities[row, k], "m/s"),
            ("angular velocity", results.angular_velocities[row, k], "rad/s"),
            ("acceleration", results.accelerations[row, k], "m/s²"),
            ("angular acceleration", results.angular_accelerations[row, k], "rad/s²"),
            ("force from its parent", results.forces[row, k], "N"),
            ("moment, about the joint", results.joint_moments[row, k], "N m"),
        )
        for place, (what, values, unit) in enumerate(lines):
            last = place == len(lines) - 1
            table.add_row("" if place else plain(name), what, *map(_number, values), unit, end_section=last)
    return table


def _table(*columns: str, left: tuple[int, ...] = (0,)) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for k, name in enumerate(columns):
        table.add_column(name, justify="left" if k in left else "right")
    return table


def _peak(extremes: Extremes, k: int) -> str:
    return f"{_short(extremes.peak[k])} @ {_short(extremes.peak_time[k])}"


def _short(value: float) -> str:
    return f"{value + 0.0:.4g}"


def _number(value: float) -> str:
    """Four decimals, or an exponent where they would show nothing."""
    if abs(value) < 1e-12 or 5e-5 <= abs(value) < 1e7:
        return f"{abs(value) if abs(value) < 1e-12 else value:.4f}"
    return f"{value:.3e}"
