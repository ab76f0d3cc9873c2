"""``linkwise run``: the main job, a description and a motion in, tables, files and figures out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options
from linkwise.cli.words import remark, say

if TYPE_CHECKING:
    from linkwise.cli.job import Report
    from linkwise.cli.summary import Extremes
    from linkwise.files import Description, Motion


@click.command(short_help="Motion in; forces and efforts out, as tables, files, figures.")
@mechanism_argument()
@click.argument("motion", type=click.Path())
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Folder of the results; made if needed. Default: out/NAME, NAME being that of the motion file.",
)
@click.option(
    "--figures/--no-figures", default=True, help="Draw curves of position, speed, acceleration, effort and joint forces."
)
@click.option(
    "--format", "suffix", type=click.Choice(["png", "svg"]), default="png", show_default=True, help="Of the figures."
)
@click.option("--links/--no-links", default=None, help="Write links.csv. Default: up to 100,000 instants.")
@click.option("--out/--no-out", default=None, help="Write SpaceLib's OUT file. Default: up to 1,000 instants.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@json_option
@reading_options
def run(
    mechanism: str,
    motion: str,
    output: str | None,
    figures: bool,
    suffix: str,
    links: bool | None,
    out: bool | None,
    quiet: bool,
    as_json: bool,
) -> None:
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
    from linkwise import files
    from linkwise.algorithm import refuse_loops
    from linkwise.cli.job import NO_OUT, Wanted, execute
    from linkwise.cli.show import file_name

    found = description(mechanism)
    if found.mechanism.loops:
        refuse_loops(found.mechanism, "run")
    if out and found.mechanism.floating:
        raise click.ClickException(f"--out: {NO_OUT}")
    opened = files.open_motion(motion, found.mechanism.n, found.mechanism.names, floating=found.mechanism.floating)
    name = file_name(Path(motion).stem)
    folder = Path(output) if output is not None else Path("out") / name
    wanted = Wanted(folder, name, suffix if figures else None, links, out)
    with _progress(opened, quiet or as_json) as progress:
        report = execute(found, opened, wanted, progress)
    if as_json:
        print_json(_facts(found, report))
    elif not quiet:
        _tell(found, report)


@contextmanager
def _progress(motion: Motion, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show how far a long motion has come, on a terminal; whether it is long is seen after its first block."""
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from linkwise.cli.layout import console

    columns = (TextColumn("running"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=motion.size, visible=False)
        yield lambda: bar.update(task, completed=motion.consumed, visible=motion.consumed < motion.size)


def _facts(found: Description, report: Report) -> dict[str, Any]:
    """Say for programs what `_tell` says for people: a motion's extremes, and the files that hold all of it."""
    from linkwise.cli.columns import names, units
    from linkwise.cli.instants import instants

    mechanism, told = found.mechanism, report.summary
    force, moment = told.force, told.moment
    return {
        "mechanism": mechanism.name,
        "external": found.external,
        "instants": told.count,
        "start": told.start,
        "end": told.end,
        "position": _extremes(told.q, names(mechanism, "q"), units(mechanism, "q")),
        "speed": _extremes(told.qd, names(mechanism, "qd"), units(mechanism, "qd")),
        "acceleration": _extremes(told.qdd, names(mechanism, "qdd"), units(mechanism, "qdd")),
        "effort": _extremes(told.tau, names(mechanism, "tau"), units(mechanism, "tau")),
        "force": _extremes(force, mechanism.link_names, ["N"] * len(mechanism.links)),
        "moment": _extremes(moment, mechanism.link_names, ["N m"] * len(mechanism.links)),
        "outside_limits": dict(zip(mechanism.names, told.beyond.tolist(), strict=True)),
        "efforts_finite": told.finite,
        "files": report.files,
        "notes": report.notes,
        "remarks": report.remarks,
        **({"rows": instants(mechanism, report.few)} if report.few else {}),
    }


def _extremes(found: Extremes, names: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    rows = zip(names, units, found.low, found.high, found.peak, found.peak_time, found.rms, strict=True)
    keys = ("unit", "least", "greatest", "peak", "peak_time", "rms")
    return {name: dict(zip(keys, row, strict=True)) for name, *row in rows}


def _tell(found: Description, report: Report) -> None:
    """Print the tables, what deserves a remark, and the files."""
    from linkwise.cli import tables
    from linkwise.cli.layout import console, put
    from linkwise.model.table import action, plain

    mechanism = found.mechanism
    if found.external.any():
        say(f"on the tool: {action(found.external)} (from the file)")
    screen = console()
    few = report.few
    for title, table in tables.of_instants(mechanism, few) if few else tables.of_motion(mechanism, report.summary):
        put(screen, title, table)
    for name, count in zip(mechanism.names, report.summary.beyond.tolist(), strict=True):
        if count:
            remark(f"joint {plain(name)!r} is outside its limits at {count:,} of {report.summary.count:,} instants")
    if not report.summary.finite:
        remark("some efforts are not finite numbers")
    for told in report.remarks:
        remark(plain(told))
    say("wrote " + ", ".join(plain(str(path)) for path in report.files))
    for note in report.notes:
        say(note)
