"""The tables that a run prints: every link at each of a few instants, or peaks and means of a long motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linkwise.cli import base_tables
from linkwise.cli.base_tables import BASE_AXES
from linkwise.cli.columns import EFFORT_UNITS, joint_columns
from linkwise.cli.layout import fixed, new_table, peak, short
from linkwise.cli.results import Results
from linkwise.cli.summary import Extremes, Summary
from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_to_rpy

if TYPE_CHECKING:
    from rich.table import Table

    from linkwise.mechanism import Mechanism

Titled = tuple[str, "Table"]
"""A table and what stands above it."""


def of_instants(tree: Mechanism, results: Results) -> Iterator[Titled]:
    """Make two tables for each instant, the joints and the links, and one of the base where it floats."""
    if tree.floating:
        small = base_tables.roundings(tree, np.abs(results.qd).max(axis=0), np.abs(results.qdd).max(axis=0))
        results = replace(results, tau=np.where(np.abs(results.tau) <= small, 0.0, results.tau))
    for row, time in enumerate(results.t.tolist()):
        if tree.floating:
            yield f"t = {short(time)} s: {BASE_AXES}", base_tables.of_instant(results, row)
        if tree.n:
            yield f"t = {short(time)} s: joints", _joints(tree, results, row)
        yield f"t = {short(time)} s: links, in the axes of the world frame", _links(tree, results, row)


def of_motion(tree: Mechanism, summary: Summary) -> Iterator[Titled]:
    """Make the tables of a long motion: a base that floats, the joints' motion, their efforts, and the links."""
    tau, force, moment = summary.tau, summary.force, summary.moment
    if tree.floating:
        small, small_force, small_moment = base_tables.roundings_of(tree, summary)
        tau, force, moment = tau.quieted(small), force.quieted(small_force), moment.quieted(small_moment)
    span = f"{summary.count:,} instants, t = {short(summary.start)} to {short(summary.end)} s"
    title = f"{span}; each peak with the time at which it came"
    if tree.floating:
        yield title, base_tables.of_motion(summary)
        yield "force and moment on the base that the motion takes", base_tables.of_efforts(tau)
        title = "joints"
    if tree.n:
        yield title, _joint_motion(tree, summary)
        yield "motor efforts", _joint_efforts(tree, tau)
    table = new_table("link", "peak force [N]", "peak moment [N m]")
    for k, name in enumerate(tree.link_names):
        table.add_row(plain(name), peak(force, k), peak(moment, k))
    yield "what each link receives from its parent, moment about the joint", table


def _joint_motion(tree: Tree, summary: Summary) -> Table:
    """Units stand in the head where all joints have the same ones, which saves room, else behind the numbers."""
    alike = len(set(tree.slides)) == 1
    heads = ("position", "peak speed", "peak acceleration")
    units = _rates(tree.slides[0])
    if alike:
        table = new_table("joint", *(f"{head} [{unit}]" for head, unit in zip(heads, units, strict=True)))
    else:
        table = new_table("joint", *(part for head in heads for part in (head, "")))
    for name, slide, k, v in joint_columns(tree):
        cells = (f"{short(summary.q.low[k])} .. {short(summary.q.high[k])}", peak(summary.qd, v), peak(summary.qdd, v))
        pairs = zip(cells, _rates(slide), strict=True)
        table.add_row(name, *(cells if alike else (part for pair in pairs for part in pair)))
    return table


def _rates(slide: bool) -> tuple[str, str, str]:
    """Units of a joint's position, speed and acceleration."""
    unit = "m" if slide else "rad"
    return unit, f"{unit}/s", f"{unit}/s²"


def _joint_efforts(tree: Tree, tau: Extremes) -> Table:
    table = new_table("joint", "rms effort", "peak effort", "")
    for name, slide, _, v in joint_columns(tree):
        table.add_row(name, short(tau.rms[v]), peak(tau, v), EFFORT_UNITS[slide])
    return table


def _joints(tree: Tree, results: Results, row: int) -> Table:
    table = new_table("joint", "position", "speed", "acceleration", "effort")
    for name, slide, k, v in joint_columns(tree):
        length = "m" if slide else "rad"
        table.add_row(
            name,
            f"{fixed(results.q[row, k])} {length}",
            f"{fixed(results.qd[row, v])} {length}/s",
            f"{fixed(results.qdd[row, v])} {length}/s²",
            f"{fixed(results.tau[row, v])} {EFFORT_UNITS[slide]}",
        )
    return table


def _links(tree: Tree, results: Results, row: int) -> Table:
    table = new_table("link", "", "x", "y", "z", "unit", left=(0, 1, 5))
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
            table.add_row("" if place else plain(name), what, *map(fixed, values), unit, end_section=last)
    return table
