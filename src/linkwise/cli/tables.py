"""The tables that a run prints: every link at each of a few instants, or peaks and means of a long motion."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.cli.results import Results
from linkwise.cli.summary import Summary
from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_to_rpy

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPED_WIDTH = 120
"""Columns where the output is no terminal."""


def console(*, stderr: bool = False) -> Console:
    """Make the console: as wide as the terminal, wide enough for every table where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else PIPED_WIDTH, highlight=False, markup=False, emoji=False)


def of_instants(tree: Tree, results: Results) -> Iterator[Table]:
    """Make two tables for each instant: the joints, and the links."""
    for row, time in enumerate(results.t.tolist()):
        yield _joints(tree, results, row, time)
        yield _links(tree, results, row, time)


def of_motion(tree: Tree, summary: Summary) -> Iterator[Table]:
    """Make the two tables of a long motion: the joints, and the links."""
    title = f"{summary.count:,} instants, t = {_short(summary.start)} to {_short(summary.end)} s"
    table = _table(f"joints: {title}", "joint", "position", "peak speed", "peak acceleration", "rms effort", "peak effort")
    for k, link in enumerate(link for link in tree.links if link.moves):
        slides = link.joint == "prismatic"
        length, force = ("m", "N") if slides else ("rad", "N m")
        table.add_row(
            plain(link.name),
            f"{_short(summary.q.low[k])} .. {_short(summary.q.high[k])} {length}",
            _peak(summary.qd, k, f"{length}/s"),
            _peak(summary.qdd, k, f"{length}/s²"),
            f"{_short(summary.tau.rms[k])} {force}",
            _peak(summary.tau, k, force),
        )
    yield table
    table = _table("what each link receives from its parent, moment about the joint", "link", "peak force", "peak moment")
    for k, name in enumerate(tree.link_names):
        table.add_row(plain(name), _peak(summary.force, k, "N"), _peak(summary.moment, k, "N m"))
    yield table


def _joints(tree: Tree, results: Results, row: int, time: float) -> Table:
    table = _table(f"t = {_short(time)} s: joints", "joint", "position", "speed", "acceleration", "effort")
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


def _links(tree: Tree, results: Results, row: int, time: float) -> Table:
    table = _table(
        f"t = {_short(time)} s: links, in the axes of the world frame", "link", "", "x", "y", "z", "unit", left=(0, 1, 5)
    )
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


def _table(title: str, *columns: str, left: tuple[int, ...] = (0,)) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for k, name in enumerate(columns):
        table.add_column(name, justify="left" if k in left else "right")
    return table


def _peak(extremes: Any, k: int, unit: str) -> str:
    return f"{_short(extremes.peak[k])} {unit} at {_short(extremes.peak_time[k])} s"


def _short(value: float) -> str:
    return f"{value + 0.0:.4g}"


def _number(value: float) -> str:
    """Four decimals, or an exponent where they would show nothing."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        return f"{value:.4f}"
    return "0.0000" if abs(value) < 1e-12 else f"{value:.3e}"
