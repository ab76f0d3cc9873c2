"""The commands of ``linkwise spacelib`` that move something: the elbow robot, two floating links, and their motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from linkwise.cli.command import Options, argument, command, option
from linkwise.cli.options import PICTURES, POSITIVE, Finite, OutputFile, picture_type
from linkwise.cli.output import File, Output, Raw, say
from linkwise.cli.spacelib_files import DIGITS, OUT, bundled_argument, file_of, keep_apart, motion_of, output_file, wrote
from linkwise.errors import FileError
from linkwise.files.atomic import write_text
from linkwise.model.formatting.table import Column, Table, counted, duration
from linkwise.plot.rendering import rendered
from linkwise.spacelib.programs import elbow, elbow_files, floating, laws
from linkwise.spacelib.programs import floating_comparison as comparison
from linkwise.spacelib.programs.elbow_inverse import Inverse
from linkwise.spacelib.programs.elbow_inverse import elb_i_dh as invert
from linkwise.spacelib.programs.floating_plot import draw
from linkwise.spacelib.programs.motions import LAYOUTS, Motion, save_motion
from linkwise.spacelib.programs.two_links import read_two_links


def _entries(count: int, **parts: Any) -> Iterator[dict[str, Any]]:
    """For JSON, the values of each of some instants."""
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
    lengths = elbow_files.read_lengths(file_of(options.data))
    direct = program(lengths, motion_of(options.motion, elbow_files.JOINTS))
    gripper = direct.gripper
    count = len(gripper.t)
    fields = _fields(direct, "M", "W", "H") | _fields(gripper, "t", "q", "qp", "qpp", "pos", "vel", "acc")
    parts: list[str | Raw] = [Raw(elbow.written(direct))] if options.matrices else []
    if file is not None:
        elbow_files.save_gripper(file, gripper, options.digits)
        parts.append(wrote(file, f"{count} instants of the gripper, {gripper.dt:g} s apart"))
    elif not (options.matrices and options.out is None):
        parts.append(Raw(elbow_files.gripper_text(gripper, options.digits)))
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
    lengths = elbow_files.read_lengths(file_of(options.data))
    guess = elbow_files.read_guess(_guess_file(options.guess, options.out))
    inverse = invert(lengths, elbow_files.read_gripper(file_of(options.motion)), guess, tolerance=options.tolerance)
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
    """Say how near the gripper came, and where the robot is singular."""
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
        raise click.UsageError("--halve is for --compare, which is not asked for")
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


COMMANDS = (test_mot, test, test_new, joint_mot, elb_d_dh, elb_d_pa, elb_i_dh)
"""In the manual's order."""
