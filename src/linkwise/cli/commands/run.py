"""Motion in; forces and efforts out, as tables, files, figures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from linkwise import files
from linkwise.algorithm.declaration import refuse_loops
from linkwise.cli.command import Options, argument, command, mechanism, option, result_options
from linkwise.cli.motion_tables import Extremes, instant_tables, instants, limit_remarks, motion_tables
from linkwise.cli.options import file_name
from linkwise.cli.output import Output
from linkwise.cli.pipeline import NO_OUT, RunFiles, RunReport, execute
from linkwise.files import Description, Motion
from linkwise.model.formatting.table import Table, action, plain
from linkwise.model.quantities import names, units


@command(
    mechanism(),
    argument("motion", type=click.Path()),
    *result_options("motion file", "Draw curves of position, speed, acceleration, effort and joint forces."),
    option("--links/--no-links", default=None, help="Write links.csv. Default: up to 100,000 instants."),
    option("--out/--no-out", default=None, help="Write SpaceLib's OUT file. Default: up to 1,000 instants."),
)
def run(description: Description, options: Options) -> Output:
    """Move a MECHANISM as the file MOTION says; compute where every link goes and what that takes.

    MOTION is a SpaceLib .MOT or a .csv with the columns t, q1, ..., qd1, ..., qdd1, ... in s, rad and m. Where the base
    floats it is a .csv, with q_base_x, ..., qd_base_vx, ..., qdd_base_vx, ... too.

    \b
    Printed: positions, velocities, accelerations, joint actions and efforts
    (three instants at most; peaks and means of a longer motion). Written:
      joints.csv        a row an instant: every joint's motion and effort
      links.csv         a row an instant and link: pose, velocity, acceleration,
                        and the force and moment it receives from its parent
      NAME.OUT          the same as 4x4 matrices, laid out as SpaceLib does
      joints.png        curves of position, speed, acceleration and effort
      joint_forces.png  curves of force and moment in the joints

    A motion of any length needs little memory. --json gives of every joint and
    link the least and greatest value, the peak with its time and the root mean
    square; of three instants at most also "rows": all that the tables show. The
    files hold every instant.

    \b
    Examples:
      linkwise run SCARA.DAT SCARA.MOT
      linkwise run puma560 motion.csv -o results --format svg
      linkwise run puma560 long.csv --no-figures --links -q
    """  # noqa: D301  (\b keeps click from filling the lines)
    model = description.mechanism
    if model.loops:
        refuse_loops(model, "run")
    if options.out and model.floating:
        raise click.ClickException(f"--out: {NO_OUT}")
    motion = files.open_motion(options.motion, model.n, model.names, floating=model.floating)
    name = file_name(Path(options.motion).stem)
    folder = Path(options.output) if options.output is not None else Path("out") / name
    wanted = RunFiles(folder, name, options.suffix if options.figures else None, options.links, options.out)
    with _progress(motion, options.quiet or options.as_json) as progress:
        report = execute(description, motion, wanted, progress)
    return Output(_facts(description, report), () if options.quiet else _parts(description, report))


@contextmanager
def _progress(motion: Motion, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show how far a long motion has come, on a terminal; whether it is long is seen after its first block."""
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("running"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=motion.size, visible=False)
        yield lambda: bar.update(task, completed=motion.consumed, visible=motion.consumed < motion.size)


def _facts(description: Description, report: RunReport) -> dict[str, Any]:
    """The extremes of a motion, a few instants in full, and the files."""
    model, summary = description.mechanism, report.summary
    moving = {"position": "q", "speed": "qd", "acceleration": "qdd", "effort": "tau"}
    links = len(model.links)
    return {
        "mechanism": model.name,
        "external": description.external,
        "instants": summary.count,
        "start": summary.start,
        "end": summary.end,
        **{key: _extremes(getattr(summary, q), names(model, q), units(model, q)) for key, q in moving.items()},
        "force": _extremes(summary.force, model.link_names, ["N"] * links),
        "moment": _extremes(summary.moment, model.link_names, ["N m"] * links),
        "outside_limits": dict(zip(model.names, summary.beyond, strict=True)),
        "efforts_finite": summary.finite,
        "files": report.files,
        "notes": report.notes,
        "remarks": report.remarks,
        **({"rows": instants(model, report.few)} if report.few else {}),
    }


def _extremes(extremes: Extremes, names: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    columns = (extremes.low, extremes.high, extremes.peak, extremes.peak_time, extremes.rms)
    keys = ("unit", "least", "greatest", "peak", "peak_time", "rms")
    return {name: dict(zip(keys, row, strict=True)) for name, *row in zip(names, units, *columns, strict=True)}


def _parts(description: Description, report: RunReport) -> Iterator[str | Table]:
    """The tables, what deserves a remark, and the files."""
    model, summary = description.mechanism, report.summary
    if description.external.any():
        yield f"on the tool: {action(description.external)} (from the file)"
    yield from instant_tables(model, report.few) if report.few else motion_tables(model, summary)
    yield from limit_remarks(model, summary.beyond.tolist(), summary.count)
    if not summary.finite:
        yield "remark: some efforts are not finite numbers"
    yield from (f"remark: {plain(remark)}" for remark in report.remarks)
    yield "wrote " + ", ".join(map(plain, report.files))
    yield from report.notes
