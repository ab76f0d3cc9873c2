"""Run the sample programs of SpaceLib."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import numpy as np

from linkwise.cli.command import CommandGroup, File, Options, Output, Raw, argument, command, option, say
from linkwise.cli.motion_tables import Extremes, peak
from linkwise.cli.options import PICTURES, POSITIVE, Finite, OutputFile, Vector, names_and_files, picture_type, refuse
from linkwise.cli.reading import in_options
from linkwise.errors import FileError
from linkwise.files.atomic import write_text
from linkwise.model.formatting.table import Column, Table, counted, duration, fixed, plain, short
from linkwise.plot.rendering import rendered
from linkwise.spacelib.programs import elbow, floating, formats, laws, linear_system
from linkwise.spacelib.programs import floating_comparison as comparison
from linkwise.spacelib.programs import rob_mat as rob_mat_program
from linkwise.spacelib.programs import robscara as robscara_program
from linkwise.spacelib.programs import satellite as satellite_program
from linkwise.spacelib.programs import triangle as triangle_program
from linkwise.spacelib.programs.elbow_inverse import Inverse
from linkwise.spacelib.programs.elbow_inverse import elb_i_dh as invert
from linkwise.spacelib.programs.floating import read_two_links
from linkwise.spacelib.programs.floating_comparison import draw
from linkwise.spacelib.programs.laws import LAYOUTS, Motion, read_motion, save_motion
from linkwise.spacelib.programs.rob_mat import RobMat

DIGITS = option(
    "--digits",
    type=click.Choice(["all", "manual"]),
    default="all",
    help="Digits that read back as the same numbers, or as many as the manual prints.",
)

OUT = argument("out", type=click.Path(), required=False)


def bundled_argument(name: str, **settings: Any) -> click.Argument:
    """Make an argument that is a file, or the name of a bundled one."""
    return argument(name, type=click.Path(), shell_complete=_complete, **settings)


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete bundled files, and the files here."""
    return names_and_files(complete_bundled(ctx, param, incomplete), incomplete)


def complete_bundled(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete bundled files."""
    return [name for name in formats.names() if name.startswith(incomplete.upper())]


def file_of(name: str) -> Path:
    """Find the file of a name; report a bundled one on the error stream, as the output may go to a file.

    Raises
    ------
    FileError
        Where there is no such file.
    """
    path, is_bundled = formats.found(name)
    if is_bundled:
        say(f"{path.name}: the bundled file is used, there is none here", err=True)
    return path


def motion_of(name: str, joints: int) -> Motion:
    """Read a motion; without such a file, the manual's names mean the laws described there."""
    law = {"TEST.MOT": laws.motor_motion, "JOINT.MOT": laws.joint_motion}.get(name.upper())
    if law is None or os.path.exists(Path(name)):
        return read_motion(file_of(name), joints)
    say(f"{name.upper()}: made by the manual's law of motion, there is no such file here", err=True)
    return law()


def output_file(out: str | None, as_json: bool = False, read: Iterable[str] = ()) -> str | None:
    """The file that is to be written, None where the screen is meant, also by S; one of those that are read is refused."""
    if out is None or out.upper() == "S":
        return None
    if as_json:
        raise click.UsageError("--json prints, and OUT names a file; leave one of them out")
    keep_apart(out, read, "OUT")
    return out


def keep_apart(written: str | Path, others: Iterable[str], name: str) -> None:
    """Refuse a file that would be written over another one of the command, by whatever path.

    Raises
    ------
    click.BadParameter
        Naming the file.
    """
    for other in others:
        same = Path(written) == Path(other)
        with suppress(OSError, ValueError):
            same = Path(written).samefile(other)
        if same:
            refuse(f"{str(written)!r} is also another file of this command, which would be lost; name a new one", name)


def wrote(path: str, contents: str = "") -> str:
    """Report a written file, with its contents."""
    return f"wrote {plain(path)}" + (f": {contents}" if contents else "")


def _entries(count: int, **parts: Any) -> Iterator[dict[str, Any]]:
    """Yield the values of each instant, for JSON."""
    return ({name: part[k] for name, part in parts.items()} for k in range(count))


def _fields(source: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


# ── motions by law ────────────────────────────────────────────────────────────────────────────────


@command(
    argument("out", type=click.Path()),
    option("--dt", type=POSITIVE, default=laws.JOINT_STEP, help="Time step, s; by default the manual's."),
    option("--first", type=Finite(), default=laws.JOINT_FIRST, help="Time of the first sample, s; 0 is singular."),
    DIGITS,
    short_help="Write JOINT.MOT, the motion of the elbow robot's joints (7.6.3).",
)
def joint_mot(options: Options) -> Output:
    """Write the motion of the elbow robot's joints by the law 1/3 -1/3 -1/3 to the file OUT; S prints it.

    The manual prints the accelerations; amplitude and duration of each joint are inferred from them, as round numbers: 90,
    120, 120, -120, 180 and 360 degrees in 0.5, 0.6, 0.5, 0.5, 0.4 and 0.2 s.
    """
    return _motion_output(laws.joint_motion(options.dt, options.first), "joint", options)


@command(
    argument("out", type=click.Path()),
    option("--dt", type=POSITIVE, default=laws.MOTOR_STEP, help="Time step, s; by default the manual's."),
    DIGITS,
    short_help="Write TEST.MOT, how a motor turns between two links (7.2.5).",
)
def test_mot(options: Options) -> Output:
    """Write the motion of the motor between two floating links, a cycloid, to the file OUT; S prints it.

    The manual prints the first six rows. They are those of 0.391023 rad in a third of a second, inferred from them.
    """
    return _motion_output(laws.motor_motion(options.dt), "motor", options)


def _motion_output(motion: Motion, layout: str, options: Options) -> Output:
    file = output_file(options.out, options.as_json)
    layout = layout if options.digits == "manual" else options.digits
    if file is None:
        return Output(_fields(motion, "dt", "t", "q", "qp", "qpp"), [Raw(LAYOUTS[layout](motion))])
    save_motion(file, motion, layout)
    return Output(parts=[wrote(file, _extent(motion))])


def _extent(motion: Motion) -> str:
    return f"{len(motion.t)} instants of {counted(motion.q.shape[1], 'joint')}, {motion.dt:g} s apart"


# ── the elbow robot ───────────────────────────────────────────────────────────────────────────────

_DIRECT = (
    bundled_argument("data"),
    bundled_argument("motion"),
    OUT,
    option("--matrices", is_flag=True, help="Print position, velocity and acceleration matrices of the gripper."),
    DIGITS,
)


@command(*_DIRECT, short_help="Gripper of the elbow robot from its joints, D-H frames (7.6.5).")
def elb_d_dh(options: Options) -> Output:
    """Find the motion of the elbow robot's gripper: link lengths from DATA, joints as MOTION says; write it to OUT.

    OUT has the layout of GRIPPER.MOT: Cardan angles X, Y, Z, position, and their first and second derivatives. Without
    OUT, or with S, it is printed.

    \b
    Example:
      linkwise spacelib elb-d-dh ELBOW.DAT JOINT.MOT GRIPPER.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    return _gripper(elbow.elb_d_dh, options)


@command(*_DIRECT, short_help="The same with frames that are parallel at home (7.6.6).")
def elb_d_pa(options: Options) -> Output:
    """Find the motion of the elbow robot's gripper as elb-d-dh does, by frames that are parallel to each other at home.

    \b
    Example:
      linkwise spacelib elb-d-pa ELBOW.DAT JOINT.MOT GRIPPER.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    return _gripper(elbow.elb_d_pa, options)


def _gripper(program: Callable[..., elbow.Direct], options: Options) -> Output:
    file = output_file(options.out, options.as_json, (options.data, options.motion))
    lengths = elbow.read_lengths(file_of(options.data))
    direct = program(lengths, motion_of(options.motion, elbow.JOINTS))
    gripper = direct.gripper
    count = len(gripper.t)
    fields = _fields(direct, "M", "W", "H") | _fields(gripper, "t", "q", "qp", "qpp", "pos", "vel", "acc")
    parts: list[str | Raw] = [Raw(elbow.written(direct))] if options.matrices else []
    if file is not None:
        elbow.save_gripper(file, gripper, options.digits)
        parts.append(wrote(file, f"{count} instants of the gripper, {gripper.dt:g} s apart"))
    elif not (options.matrices and options.out is None):
        parts.append(Raw(elbow.gripper_text(gripper, options.digits)))
    return Output(_entries(count, **fields), parts)


@command(
    bundled_argument("data"),
    argument("motion", type=click.Path()),
    bundled_argument("guess", default="GUESS.1ST"),
    OUT,
    option("--tolerance", type=POSITIVE, help="End the search at this error of the gripper; the listing has 0.0005."),
    DIGITS,
    short_help="Joints of the elbow robot from its gripper (7.6.8).",
)
def elb_i_dh(options: Options) -> Output:
    """Find the motion of the elbow robot's joints for a motion of its gripper; write it to OUT, as JOINT.MOT.

    DATA has the lengths of the links, MOTION the layout of GRIPPER.MOT, GUESS the joint angles from which the search
    begins. Without OUT, or with S, the motion is printed. How well the gripper closes on what was asked is printed after
    it, with the instants at which the robot is singular.

    \b
    Examples:
      linkwise spacelib elb-i-dh ELBOW.DAT GRIPPER.MOT GUESS.1ST JOINT2.MOT
      linkwise spacelib elb-d-dh ELBOW.DAT JOINT2.MOT GRIPPER2.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    file = output_file(options.out, options.as_json, (options.data, options.motion, options.guess))
    lengths = elbow.read_lengths(file_of(options.data))
    guess = elbow.read_guess(_guess_file(options.guess, options.out))
    inverse = invert(lengths, elbow.read_gripper(file_of(options.motion)), guess, tolerance=options.tolerance)
    motion = inverse.motion
    if options.as_json:
        fields = _fields(motion, "t", "q", "qp", "qpp") | _fields(inverse, "iterations", "rank", "closure")
        return Output(_entries(len(motion.t), **fields))
    layout = "joint" if options.digits == "manual" else options.digits
    if file is not None:
        save_motion(file, motion, layout)
        return Output(parts=[*_closure_lines(inverse), wrote(file, _extent(motion))])

    def parts() -> Iterator[Raw]:
        yield Raw(LAYOUTS[layout](motion))
        for line in _closure_lines(inverse):
            say(line, err=True)

    return Output(parts=parts())


def _guess_file(guess: str, out: str | None) -> Path:
    """Find the file of the guess; the third argument may have been meant to be the fourth."""
    try:
        return file_of(guess)
    except FileError as error:
        if out is not None:
            raise
        meant = f"OUT is the fourth: elb-i-dh DATA MOTION GUESS.1ST {guess}"
        raise click.UsageError(f"GUESS, the third argument, is {guess!r}, and there is no such file; {meant}") from error


def _closure_lines(inverse: Inverse) -> Iterator[str]:
    """Yield the closure error of the gripper, and the singular positions of the robot."""
    position, speed, acceleration = inverse.closure.max(axis=0)
    yield f"steps: at most {inverse.iterations.max()}; the gripper is off by at most {position:.1e} in position,"
    yield f"  {speed:.1e} in speed, {acceleration:.1e} in acceleration"
    t, rank = inverse.motion.t, inverse.rank
    changes = np.flatnonzero(np.diff(rank)) + 1
    for stretch in np.split(np.arange(len(rank)), changes):
        if len(stretch) and rank[stretch[0]] < inverse.motion.q.shape[1]:
            first, last = stretch[0], stretch[-1]
            times = f"at t = {t[first]:g} s" if first == last else f"from t = {t[first]:g} s to {t[last]:g} s"
            _, speed, acceleration = inverse.closure[first : last + 1].max(axis=0)
            yield f"  singular {times}: rank {rank[first]}; the smallest speeds and"
            yield f"    accelerations are given, off by at most {speed:.1e} and {acceleration:.1e}"


# ── two floating links ────────────────────────────────────────────────────────────────────────────

_FLOATING = (
    bundled_argument("data", default="TEST.DAT"),
    bundled_argument("motion", default="TEST.MOT"),
    OUT,
    option("--as-listed", is_flag=True, help="Keep the slips of the manual's listing: momentum is then lost."),
    option("--compare", is_flag=True, help="Print how far TEST, TEST_NEW and Linkwise's dynamics are apart."),
    option("--halve", type=click.IntRange(0, 10), default=0, metavar="N", help="With --compare: halve the step N times."),
    option("--picture", type=OutputFile("a picture", PICTURES), help="Draw all three: .png, .svg or .pdf."),
)


@command(*_FLOATING, short_help="Two floating links, from the motion of the motor (7.2).")
def test(options: Options) -> Output:
    """Predict where two links go that float: DATA describes them, MOTION moves the motor between them.

    Position, velocity and acceleration matrices of both links go to the file OUT; without OUT, or with S, they are
    printed. The wrong sign of the listing's last step is put right.

    \b
    Examples:
      linkwise spacelib test TEST.DAT TEST.MOT TEST.OUT
      linkwise spacelib test --compare --halve 3 --picture floating.png
    """  # noqa: D301  (\b keeps click from filling the lines)
    return _float(floating.run_test, options)


@command(*_FLOATING, short_help="The same, with momentum kept (7.2).")
def test_new(options: Options) -> Output:
    """Predict where two links go that float, as test does, with momentum set right at every step.

    \b
    Example:
      linkwise spacelib test-new TEST.DAT TEST.MOT TEST.OUT
    """  # noqa: D301  (\b keeps click from filling the lines)
    return _float(floating.run_test_new, options)


def _float(program: Callable[..., floating.History], options: Options) -> Output:
    picture, compare, read = options.picture, options.compare, (options.data, options.motion)
    if options.halve and not compare:
        raise click.UsageError("--halve is for --compare, which is missing")
    file = output_file(options.out, options.as_json, read)
    if picture:
        keep_apart(picture, (*read, *([file] if file else [])), "--picture")
    links, motion = read_two_links(file_of(options.data)), motion_of(options.motion, 1)
    output = Output()
    parts: list[str | Table | Raw] = []
    if options.out is not None or not (compare or (picture and not options.as_json)):
        history = program(links, motion, as_listed=options.as_listed)
        if file is not None:
            write_text(file, floating.written(history))
            parts.append(wrote(file, f"{len(history.t)} instants of {history.program}"))
        else:
            parts.append(Raw(floating.written(history)))
            names = ("t", "q", "qp", "qpp", "m1", "m2", "W1", "W2", "H1", "H2", "momentum")
            output.data = _entries(len(history.t), **_fields(history, *names))
    if compare or picture:
        compared = comparison.compare(links, motion, halvings=options.halve, as_listed=options.as_listed)
        if compare:
            table = _comparison_table(compared)
            output.data = table.data()
            parts += [table, *_COMPARED]
        if picture:
            shown = [entry for entry in compared if entry.history.dt == motion.dt]
            drawing = draw(links, shown, comparison.names(shown))
            output.files = [File(picture, lambda: rendered(drawing, picture_type(picture)))]
    output.parts = parts
    return output


_COMPARED = (
    "Errors are against Linkwise's dynamics of a floating base with half its step:",
    "of the centres of mass, and of the angle of link 1. Angular momentum is about",
    "the origin of frame (0).",
)


def _comparison_table(compared: Iterable[comparison.Compared]) -> Table:
    keys = ("position", "angle", "momentum", "angular_momentum")
    titles = ("position, m", "angle, rad", "momentum, kg m/s", "angular, kg m2/s")
    largest = [Column(title, key, "{:.1e}".format, right=True) for title, key in zip(titles, keys, strict=True)]
    columns = (Column("program", "program"), Column("step", "dt", duration, right=True), *largest)
    rows = []
    for entry in compared:
        errors = (entry.distance, entry.angle, entry.linear, entry.angular)
        rows.append((entry.history.program, entry.history.dt, *(float(values.max()) for values in errors)))
    return Table(["largest error of position and angle, and change of momentum"], columns, rows)


#: In the manual's order.
COMMANDS = (test_mot, test, test_new, joint_mot, elb_d_dh, elb_d_pa, elb_i_dh)


#: Up to this many instants, the efforts at each are printed.
FEW = 3


class Programs(CommandGroup):
    """The programs, in the order of the manual."""

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
    option("--any-inertia", is_flag=True, help="Accept physically impossible inertias."),
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
    option("--qp", type=Vector("A,B,H"), help="Their velocities (rad/s, m/s). Default: 225deg,225deg,-0.5."),
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
    option("--to", "folder", metavar="FOLDER", type=click.Path(), help="Copy into this folder, created if needed."),
    option("--overwrite", is_flag=True, help="Replace existing files."),
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
        return Output(parts=[Raw([formats.path(name).read_text(encoding="utf-8")]) for name in names])
    if options.folder is None:
        return Output(parts=[f"{name:<10}  {meaning}" for name, meaning in formats.MEANINGS.items()])
    written = formats.copy(names, options.folder, overwrite=options.overwrite)
    done = {path.name for path in written}
    left = [name for name in dict.fromkeys(name.upper() for name in names or formats.names()) if name not in done]
    if left:
        say(f"left as they are, for they are there already (--overwrite replaces them): {', '.join(left)}", err=True)
    return Output(parts=["wrote " + ", ".join(map(plain, written))] if written else [])


for program in (rob_mat, triangle, robscara, sat, test_lin, *COMMANDS, data):
    spacelib.add_command(program)
