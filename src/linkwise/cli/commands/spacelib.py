"""SpaceLib's sample programs and data files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import click

from linkwise.cli.command import CommandGroup, Options, argument, command, option
from linkwise.cli.motion_tables import Extremes, peak
from linkwise.cli.options import Vector
from linkwise.cli.output import Output, Raw, say
from linkwise.cli.reading import in_options
from linkwise.cli.spacelib_files import OUT, bundled_argument, complete_bundled, file_of, output_file, wrote
from linkwise.cli.spacelib_motions import COMMANDS
from linkwise.errors import FileError
from linkwise.model.formatting.table import Column, Table, fixed, plain, short
from linkwise.spacelib.programs import bundled, linear_system
from linkwise.spacelib.programs import rob_mat as rob_mat_program
from linkwise.spacelib.programs import robscara as robscara_program
from linkwise.spacelib.programs import satellite as satellite_program
from linkwise.spacelib.programs import triangle as triangle_program
from linkwise.spacelib.programs.rob_mat import RobMat

FEW = 3
"""Up to this many instants, the efforts at each are printed."""


class Programs(CommandGroup):
    """The programs, listed as they stand in the manual."""

    noun, guesses = "program", 2

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the programs in the order in which they were added."""
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a program, also by its name in the manual (ROB_MAT)."""
        return self.commands.get(cmd_name.lower().replace("_", "-"))


@click.group(cls=Programs)
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


@command(
    bundled_argument("data"),
    bundled_argument("motion"),
    OUT,
    option("--any-inertia", is_flag=True, help="Take inertias that no body can have."),
    short_help="Kinematics and inverse dynamics of a serial manipulator (7.1).",
)
def rob_mat(options: Options) -> Output:
    """Move the robot of the file DATA as the file MOTION says; write the 4x4 matrices of every link to the file OUT.

    Without OUT, or with S, they are printed. The whole motion is computed, however long it is. ACTO is the action of link
    i on link i-1.

    \b
    Examples:
      linkwise spacelib rob-mat SCARA.DAT SCARA.MOT SCARA.OUT
      linkwise spacelib rob-mat SMART.DAT SMART.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    data, motion = options.data, options.motion
    file = output_file(options.out, options.as_json, (data, motion))
    try:
        physical = not options.reading.any_inertia
        parts = rob_mat_program.run(file_of(data), file_of(motion), physical=physical, read_first=file is None)
    except FileError as error:
        raise in_options(error) from error
    if options.as_json:
        return Output(entry for part in parts for entry in rob_mat_program.as_dicts(part))
    if file is None:
        return Output(parts=[Raw(piece for part in parts for piece in rob_mat_program.text(part))])
    efforts = _Efforts()
    rob_mat_program.write(file, efforts.passing(parts))
    return Output(parts=[efforts.table(), wrote(file)])


class _Efforts:
    """The efforts of some results that pass by."""

    def __init__(self) -> None:
        self.extremes = Extremes(0)
        self.few: list[tuple[float, list[float]]] = []
        self.end = 0.0

    def passing(self, parts: Iterator[RobMat]) -> Iterator[RobMat]:
        """Hand through results and remember their efforts."""
        for part in parts:
            if not self.extremes.count:
                self.extremes = Extremes(part.tau.shape[-1])
            self.extremes.add(part.t, part.tau)
            room = FEW + 1 - len(self.few)
            self.few += list(zip(part.t[:room].tolist(), part.tau[:room].tolist(), strict=True))
            self.end = float(part.t[-1])
            yield part

    def table(self) -> Table:
        """The efforts at each of a few instants, or root mean squares and peaks."""
        joints, count = range(self.extremes.low.size), self.extremes.count
        titles, rows = ["rms", "peak"], [[str(k + 1), short(self.extremes.rms[k]), peak(self.extremes, k)] for k in joints]
        if count <= FEW:
            titles = [f"t = {short(time)} s" for time, _ in self.few]
            rows = [[str(k + 1), *(fixed(values[k]) for _, values in self.few)] for k in joints]
        span = "1 instant" if count == 1 else f"{count:,} instants to t = {short(self.end)} s"
        columns = [Column("joint", right=False), *(Column(title, right=True) for title in titles)]
        return Table([f"motor efforts -PseDot(L, ACTO), N m or N; {span}"], columns, rows)


@command(short_help="The screw that moves a triangle from one place to another (7.3).")
def triangle(options: Options) -> Output:
    """Find the rototranslation of the manual's triangle: its matrix, axis, angle and translation."""
    return _output(triangle_program.triangle(), triangle_program.text)


@command(
    option("--q", type=Vector("A,B,H"), help="Angles of the arms and h* (rad, m; or 45deg). Default: 45deg,30deg,0.5."),
    option("--qp", type=Vector("A,B,H"), help="Their speeds (rad/s, m/s). Default: 225deg,225deg,-0.5."),
    option("--up", is_flag=True, help="Count h* upwards, so that the gripper is at 1.5 m + h*."),
    option("--as-listed", is_flag=True, help="Take h* downwards and its speed upwards, as the manual's listing does."),
    short_help="Position and velocity of the gripper of a SCARA robot (7.4).",
)
def robscara(options: Options) -> Output:
    """Find where the gripper of the manual's SCARA robot is, and its velocity matrices.

    h* is the height of the arms above the gripper: 0.5 m puts the gripper at 1.5 m - 0.5 m, and a speed of -0.5 m/s lifts
    it. The manual's listing takes the height so, but its speed with the opposite sign (W04 ends in -0.5): --as-listed gives
    the printed numbers, and so does a consistent count upwards, --up --q 45deg,30deg,-0.5.
    """
    if options.up and options.as_listed:
        raise click.UsageError("--up and --as-listed exclude each other")
    at = robscara_program.Q if options.q is None else options.q
    rate = robscara_program.QP if options.qp is None else options.qp
    sense = "up" if options.up else "as listed" if options.as_listed else "down"
    result = robscara_program.robscara(at, rate, sense)
    speed = result.W04[2, 3]
    height = f"The gripper is at z = {result.m04[2, 3]:.6g} m"
    lines = [_SENSES[sense], f"{height} and goes {'down' if speed < 0.0 else 'up'} at {abs(speed):.6g} m/s.\n"]
    return _output(result, robscara_program.text, lines)


_SENSES = {
    "down": "h* and its speed are counted downwards;\nthe manual's listing counts the speed upwards (--as-listed).",
    "up": "h* and its speed are counted upwards;\nthe manual's listing counts h* downwards (--as-listed).",
    "as listed": "As listed in the manual: h* is counted downwards, its speed upwards.",
}


@command(short_help="The one rototranslation that unfolds an antenna (7.5).")
def sat(options: Options) -> Output:
    """Find the one rototranslation that brings the satellite's antenna from its folded to its working position."""
    return _output(satellite_program.satellite(), satellite_program.text)


@command(bundled_argument("file", default="INP.DAT"), short_help="A linear system of any shape and rank (4.3).")
def test_lin(options: Options) -> Output:
    """Solve the linear system of a FILE (INP.DAT unless given): one solution, none, or infinitely many, and which.

    \b
    FILE holds the number of equations n and of unknowns m, then n rows of
    m coefficients and the right-hand side.
    """  # noqa: D301  (\b keeps click from filling the lines)
    system = linear_system.read_system(file_of(options.file))
    return _output(linear_system.linear_system(*system), linear_system.text)


def _output(result: Any, text: Any, lines: list[str] | None = None) -> Output:
    """The layout of a program, and all its results for JSON."""
    data = {field.name: getattr(result, field.name) for field in fields(result)}
    return Output(data, [*(lines or []), Raw([text(result)])])


@command(
    argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_bundled),
    option("--to", "folder", metavar="FOLDER", type=click.Path(), help="Copy into this folder; made if needed."),
    option("--overwrite", is_flag=True, help="Replace files that are there already."),
    json=False,
    short_help="List the manual's data files, or copy them.",
)
def data(options: Options) -> Output:
    """List the data files printed in the manual, print those named, or copy them with --to.

    --to leaves files that are there already as they are, and names them.

    TEST.MOT and JOINT.MOT, of which the manual prints the first lines, are written by test-mot and joint-mot.

    \b
    Examples:
      linkwise spacelib data
      linkwise spacelib data SCARA.DAT
      linkwise spacelib data SCARA.DAT SCARA.MOT --to .
    """  # noqa: D301  (\b keeps click from filling the lines)
    names = options.names
    if options.folder is None and options.overwrite:
        raise click.UsageError("--overwrite is for --to, which is not given")
    if options.folder is None and names:
        return Output(parts=[Raw([bundled.path(name).read_text(encoding="utf-8")]) for name in names])
    if options.folder is None:
        return Output(parts=[f"{name:<10}  {meaning}" for name, meaning in bundled.MEANINGS.items()])
    written = bundled.copy(names, options.folder, overwrite=options.overwrite)
    done = {path.name for path in written}
    left = [name for name in dict.fromkeys(name.upper() for name in names or bundled.names()) if name not in done]
    if left:
        say(f"left as they are, for they are there already (--overwrite replaces them): {', '.join(left)}", err=True)
    return Output(parts=["wrote " + ", ".join(map(plain, written))] if written else [])


for program in (rob_mat, triangle, robscara, sat, test_lin, *COMMANDS, data):
    spacelib.add_command(program)
