"""``linkwise check``: everything wrong with a file at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from linkwise.errors import FileProblem
    from linkwise.mechanism import Mechanism


@click.command(short_help="Everything wrong with a description file, at once.")
@click.argument("file", type=click.Path())
@click.argument("motion", type=click.Path(), required=False)
def check(file: str, motion: str | None) -> None:
    """Say everything that is wrong with a description FILE, each with its line; of a MOTION, the first thing.

    The exit status is 0 if the file can be used and 1 if not. What is odd but allowed is told as a remark.

    \b
    Examples:
      linkwise check my_robot.toml
      linkwise check SCARA.DAT SCARA.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise import files, robots
    from linkwise.model.part_tables import total_mass
    from linkwise.model.table import joint_letters, number, plain

    if file in robots.names() and not Path(file).exists():
        raise click.ClickException(f"check takes a file, and {file} is a bundled robot; try: linkwise show {file}")
    _tell_problems(file, files.check(file))
    mechanism = files.load(file)
    joints = f"{mechanism.n} joint{'s' if mechanism.n != 1 else ''} {joint_letters(mechanism)}".strip()
    links = f"{len(mechanism.links)} link{'s' if len(mechanism.links) > 1 else ''}"
    base = ", floating" if mechanism.floating else ""
    mass = f"{number(total_mass(mechanism))} kg"
    click.echo(f"{plain(file)}: ok, {plain(mechanism.name)} with {joints}, {links}, {mass}{base}")
    for remark in files.remarks(file):
        click.echo(f"  remark: {plain(str(remark))}")
    if motion is not None:
        told = _motion_text(motion, mechanism)
        click.echo(f"{plain(motion)}: ok\n  motion: {told}")


def _motion_text(path: str, mechanism: Mechanism) -> str:
    """Read a motion to its end and say how much it is; leave where it is wrong."""
    from linkwise import files
    from linkwise.errors import FileError
    from linkwise.model.table import number

    count, start, end = 0, None, 0.0
    try:
        for t, *_ in files.open_motion(path, mechanism.n, mechanism.names, floating=mechanism.floating):
            count, start, end = count + len(t), float(t[0]) if start is None else start, float(t[-1])
    except FileError as error:
        _tell_problems(path, error.problems)
    instants, joints = ("1 instant" if count == 1 else f"{count:,} instants"), mechanism.n
    return f"{instants}, {number(start)} to {number(end)} s, {joints} joint{'s' if joints > 1 else ''}"


def _tell_problems(file: str, problems: Sequence[FileProblem]) -> None:
    """Print the problems of a file and leave, if there are any."""
    from linkwise.model.table import plain

    if problems:
        click.echo(f"{plain(file)}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
        for problem in problems:
            click.echo(f"  {plain(str(problem))}")
        raise SystemExit(1)
