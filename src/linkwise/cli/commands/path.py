"""Move along a path of joint values as fast as the limits allow.

Run along a path of joint values as fast as velocities, efforts and jerks allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from linkwise.cli.command import File, Options, Output, argument, command, mechanism, option
from linkwise.cli.options import POSITIVE, OutputFile, Vector, file_name, refuse
from linkwise.files import Description
from linkwise.files.csv_results import joints_header, motion_rows
from linkwise.files.number_table import read_points
from linkwise.model.formatting.table import Column, Table, plain, short
from linkwise.trajectory import MotionLimits, OptimalMotion, path_through, time_optimal
from linkwise.trajectory.path import KINDS

#: Options that say limits of joints, and those of the tool.
JOINT_LIMITS = ("qd_max", "qdd_max", "tau_max", "qddd_max", "taud_max")
TOOL_LIMITS = ("tool_speed", "tool_acceleration")


def _joint_option(name: str, quantity: str, unless: str) -> click.Option:
    return option(
        f"--{name.replace('_', '-')}", name, type=Vector("X,...", ""), help=f"Greatest {quantity}, one or all. {unless}"
    )


@command(
    mechanism(),
    argument("points", type=click.Path()),
    _joint_option("qd_max", "joint velocities, rad/s or m/s", "Default: those of the mechanism."),
    _joint_option("qdd_max", "joint accelerations, rad/s2 or m/s2", "Default: those of the mechanism."),
    _joint_option("tau_max", "efforts, N m or N", "Default: those of the mechanism."),
    _joint_option("qddd_max", "joint jerks, rad/s3 or m/s3", "Default: none."),
    _joint_option("taud_max", "rates of efforts, N m/s or N/s", "Default: none."),
    option("--tool-speed", type=POSITIVE, help="Greatest speed of the tool, m/s."),
    option("--tool-acceleration", type=POSITIVE, help="Greatest acceleration of the tool, m/s2."),
    option("--rest", "rests", multiple=True, type=click.IntRange(1), metavar="POINT", help="Stop at this point, from 1."),
    option("--kind", type=click.Choice(KINDS), default="cubic", help="Kind of the spline through the points."),
    option("--intervals", type=click.IntRange(1), default=200, help="Number of intervals of the path."),
    option("--rate", type=POSITIVE, default=1000.0, help="Samples per second in the file."),
    option("-o", "--output", type=OutputFile("a motion", ["csv"]), help="File of the motion. Default: out/NAME.csv."),
)
def path(description: Description, options: Options) -> Output:
    """Move a MECHANISM through POINTS as fast as its limits allow, from rest to rest.

    POINTS is a .csv with the columns q1, q2, ... or q_NAME, ... in rad and m, or with [deg] and [mm] in the header, a row
    for each point, such as the output of linkwise ik -o. A spline goes through them. Efforts include inertia, gravity,
    motors and friction. The output file is a motion for linkwise run, with its efforts.

    \b
    Examples:
      linkwise path panda points.csv
      linkwise path puma560 points.csv --tau-max 97,186,89,24,20,21
      linkwise path planar_2r points.csv --qd-max 1,2 --qdd-max 5 --rest 2
    """  # noqa: D301  (\b keeps click from filling the lines)
    model = description.mechanism
    points = read_points(options.points, model)
    if options.rests and max(options.rests) > len(points):
        refuse(f"there is no point {max(options.rests)}; the file has {len(points)}", "--rest")
    named = {name: value for name in JOINT_LIMITS if (value := getattr(options, name)) is not None}
    limits = replace(
        MotionLimits.of(model),
        **{name: value[0] if len(value) == 1 else value for name, value in named.items()},
        **{name: getattr(options, name) for name in TOOL_LIMITS},
    )
    route = path_through(points, kind=options.kind, names=model.names)
    rests = [float(k - 1) for k in options.rests]
    move = time_optimal(route, model, limits, rests=rests, intervals=options.intervals, rate=options.rate)
    target = options.output or Path("out") / f"{file_name(Path(options.points).stem)}.csv"
    if options.output is None:
        target.parent.mkdir(exist_ok=True)
    data = {
        "mechanism": model.name,
        "duration": float(move.durations),
        "instants": len(move.t),
        "binding": [part._asdict() for part in move.binding],
        "usage": dict(zip(move.limit_names, move.usage.max(axis=0).tolist(), strict=True)),
    }
    return Output(data, _parts(move), [File(target, lambda: _motion(description, move))])


def _motion(description: Description, move: OptimalMotion) -> bytes:
    model = description.mechanism
    tau = model.inverse_dynamics(move.q, move.qd, move.qdd)
    rows = motion_rows(move.t, move.q, move.qd, move.qdd, np.asarray(tau))
    return "".join([joints_header(model), *rows]).encode("utf-8", "backslashreplace")


def _parts(move: OptimalMotion) -> Iterator[str | Table]:
    yield f"{short(float(move.durations))} s"
    columns: list[Any] = ["limit", Column("from [s]", right=True), Column("to [s]", right=True)]
    rows = [(plain(part.name), short(part.begin), short(part.end)) for part in move.binding]
    yield Table(["which limit binds when"], columns, rows)
