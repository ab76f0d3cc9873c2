"""``linkwise spacelib``: the sample programs of SpaceLib, and the data files of its manual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.reading import in_options
from linkwise.cli.spacelib_motion import register
from linkwise.cli.spacelib_names import Programs, bundled_argument, complete_bundled, file_of, print_entries
from linkwise.cli.spacelib_output import file_asked, print_parts, wrote
from linkwise.cli.words import say

if TYPE_CHECKING:
    from linkwise.spacelib.programs.rob_mat import RobMat


@click.group(cls=Programs, short_help="SpaceLib's sample programs and data files.")
def spacelib() -> None:
    """Run the sample programs of SpaceLib (G. Legnani et al., SpaceLib for MATLAB, User's Manual).

    Where a file is asked for, the name of one of the manual's own files will do (see: linkwise spacelib data); a file of
    that name in the folder comes first.

    \b
    Examples:
      linkwise spacelib rob-mat SCARA.DAT SCARA.MOT SCARA.OUT
      linkwise spacelib test-lin INP.DAT
      linkwise spacelib data --to my_folder
    """  # noqa: D301  (\b keeps click from filling the lines)


@spacelib.command("rob-mat", short_help="Kinematics and inverse dynamics of a serial manipulator (7.1).")
@bundled_argument("data")
@bundled_argument("motion")
@click.argument("out", type=click.Path(), required=False)
@click.option("--any-inertia", is_flag=True, help="Take inertias that no body can have.")
@json_option
def rob_mat(data: str, motion: str, out: str | None, any_inertia: bool, as_json: bool) -> None:
    """Move the robot of the file DATA as the file MOTION says; write the 4x4 matrices of every link to the file OUT.

    Without OUT, or with S, they are printed. The whole motion is computed, however long it is. ACTO is the action of link
    i on link i-1.

    \b
    Examples:
      linkwise spacelib rob-mat SCARA.DAT SCARA.MOT SCARA.OUT
      linkwise spacelib rob-mat SMART.DAT SMART.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.errors import FileError
    from linkwise.spacelib.programs import rob_mat as program

    file = file_asked(out, as_json, (data, motion))
    try:
        parts = program.run(file_of(data), file_of(motion), physical=not any_inertia, read_first=file is None)
    except FileError as error:
        raise in_options(error) from error
    if as_json:
        print_entries(entry for part in parts for entry in program.as_dicts(part))
    elif file is None:
        print_parts(piece for part in parts for piece in program.text(part))
    else:
        _write_and_tell(file, parts)


def _write_and_tell(out: str, parts: Iterator[RobMat]) -> None:
    """Write the OUT file; print the efforts of the motors."""
    from linkwise.cli.spacelib_efforts import Efforts
    from linkwise.spacelib.programs import rob_mat as program

    efforts = Efforts()
    program.write(out, efforts.passing(parts))
    efforts.tell()
    wrote(out)


@spacelib.command("triangle", short_help="The screw that moves a triangle from one place to another (7.3).")
@json_option
def triangle(as_json: bool) -> None:
    """Find the rototranslation of the manual's triangle: its matrix, axis, angle and translation."""
    from linkwise.spacelib.programs import triangle as program

    _tell(program.triangle(), program.text, as_json)


@spacelib.command("robscara", short_help="Position and velocity of the gripper of a SCARA robot (7.4).")
@click.option("--q", "q", metavar="A,B,H", help="Angles of the arms and h* (rad, m; or 45deg). Default: 45deg,30deg,0.5.")
@click.option("--qp", "qp", metavar="A,B,H", help="Their speeds (rad/s, m/s). Default: 225deg,225deg,-0.5.")
@click.option("--up", is_flag=True, help="Count h* upwards, so that the gripper is at 1.5 m + h*.")
@click.option("--as-listed", is_flag=True, help="Take h* downwards and its speed upwards, as the manual's listing does.")
@json_option
def robscara(q: str | None, qp: str | None, up: bool, as_listed: bool, as_json: bool) -> None:
    """Find where the gripper of the manual's SCARA robot is, and its velocity matrices.

    h* is the height of the arms above the gripper: 0.5 m puts the gripper at 1.5 m - 0.5 m, and a speed of -0.5 m/s lifts
    it. The manual's listing takes the height so, but its speed with the opposite sign (W04 ends in -0.5): --as-listed gives
    the printed numbers, and so does a consistent count upwards, --up --q 45deg,30deg,-0.5.
    """
    from linkwise.cli.state import numbers
    from linkwise.spacelib.programs import robscara as program

    if up and as_listed:
        raise click.UsageError("--up and --as-listed exclude each other")
    at = program.Q if q is None else numbers(q, "--q")
    rate = program.QP if qp is None else numbers(qp, "--qp")
    sense = "up" if up else "as listed" if as_listed else "down"
    found = program.robscara(at, rate, sense)
    if not as_json:
        click.echo(_SENSES[sense])
        speed = found.W04[2, 3]
        way = "down" if speed < 0.0 else "up"
        click.echo(f"The gripper is at z = {found.m04[2, 3]:.6g} m and goes {way} at {abs(speed):.6g} m/s.\n")
    _tell(found, program.text, as_json)


_SENSES = {
    "down": "h* and its speed are counted downwards;\nthe manual's listing counts the speed upwards (--as-listed).",
    "up": "h* and its speed are counted upwards;\nthe manual's listing counts h* downwards (--as-listed).",
    "as listed": "As listed in the manual: h* is counted downwards, its speed upwards.",
}


@spacelib.command("sat", short_help="The one rototranslation that unfolds an antenna (7.5).")
@json_option
def sat(as_json: bool) -> None:
    """Find the one rototranslation that brings the satellite's antenna from its folded to its working position."""
    from linkwise.spacelib.programs import satellite as program

    _tell(program.satellite(), program.text, as_json)


@spacelib.command("test-lin", short_help="A linear system of any shape and rank (4.3).")
@bundled_argument("file", default="INP.DAT")
@json_option
def test_lin(file: str, as_json: bool) -> None:
    """Solve the linear system of a FILE (INP.DAT unless given): one solution, none, or infinitely many, and which.

    \b
    FILE holds the number of equations n and of unknowns m, then n rows of
    m coefficients and the right-hand side.
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.spacelib.programs import linear_system as program

    _tell(program.linear_system(*program.read_system(file_of(file))), program.text, as_json)


@spacelib.command("data", short_help="List the manual's data files, or copy them.")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_bundled)
@click.option("--to", "folder", metavar="FOLDER", type=click.Path(), help="Copy into this folder; made if needed.")
@click.option("--overwrite", is_flag=True, help="Replace files that are there already.")
def data(names: Sequence[str], folder: str | None, overwrite: bool) -> None:
    """List the data files printed in the manual, print those named, or copy them with --to.

    --to leaves files that are there already as they are, and names them.

    TEST.MOT and JOINT.MOT, of which the manual prints the first lines, are written by test-mot and joint-mot.

    \b
    Examples:
      linkwise spacelib data
      linkwise spacelib data SCARA.DAT
      linkwise spacelib data SCARA.DAT SCARA.MOT --to .
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.model.table import plain
    from linkwise.spacelib.programs import bundled

    if folder is not None:
        written = bundled.copy(names, folder, overwrite=overwrite)
        if written:
            click.echo("wrote " + ", ".join(plain(str(path)) for path in written))
        done = {path.name for path in written}
        left = [name for name in dict.fromkeys(name.upper() for name in names or bundled.names()) if name not in done]
        if left:
            say(f"left as they are, for they are there already (--overwrite replaces them): {', '.join(left)}", err=True)
    elif overwrite:
        raise click.UsageError("--overwrite is for --to, which is not given")
    elif names:
        for path in [bundled.path(name) for name in names]:
            click.echo(path.read_text(encoding="utf-8"), nl=False)
    else:
        for name, meaning in bundled.MEANINGS.items():
            click.echo(f"{name:<10}  {meaning}")


def _tell(result: Any, text: Any, as_json: bool) -> None:
    """Print the layout of a program, or all its results as JSON."""
    if as_json:
        print_json({field.name: getattr(result, field.name) for field in fields(result)})
    else:
        click.echo(text(result), nl=False)


register(spacelib)
