"""``linkwise spacelib elb-d-dh``, ``elb-d-pa`` and ``elb-i-dh``: the gripper of the elbow robot, and its joints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option
from linkwise.cli.finite import POSITIVE
from linkwise.cli.spacelib_names import bundled_argument, file_of, print_entries
from linkwise.cli.spacelib_output import digits_option, file_asked, motion_of, print_parts, wrote
from linkwise.errors import FileError

if TYPE_CHECKING:
    from linkwise.spacelib.programs.elbow import Direct
    from linkwise.spacelib.programs.elbow_inverse import Inverse


def _direct(function: Callable[..., None]) -> Callable[..., None]:
    """Add what both programs for the direct kinematics have in common."""
    options = (
        bundled_argument("data"),
        bundled_argument("motion"),
        click.argument("out", type=click.Path(), required=False),
        click.option("--matrices", is_flag=True, help="Print position, velocity and acceleration matrices of the gripper."),
        digits_option,
        json_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command("elb-d-dh", short_help="Gripper of the elbow robot from its joints, D-H frames (7.6.5).")
@_direct
def elb_d_dh(data: str, motion: str, out: str | None, **options: Any) -> None:
    """Find the motion of the elbow robot's gripper: link lengths from DATA, joints as MOTION says; write it to OUT.

    OUT has the layout of GRIPPER.MOT: Cardan angles X, Y, Z, position, and their first and second derivatives. Without
    OUT, or with S, it is printed.

    \b
    Example:
      linkwise spacelib elb-d-dh ELBOW.DAT JOINT.MOT GRIPPER.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.spacelib.programs import elbow

    _grip(elbow.elb_d_dh, data, motion, out, options)


@click.command("elb-d-pa", short_help="The same with frames that are parallel at home (7.6.6).")
@_direct
def elb_d_pa(data: str, motion: str, out: str | None, **options: Any) -> None:
    """Find the motion of the elbow robot's gripper as elb-d-dh does, by frames that are parallel to each other at home.

    \b
    Example:
      linkwise spacelib elb-d-pa ELBOW.DAT JOINT.MOT GRIPPER.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.spacelib.programs import elbow

    _grip(elbow.elb_d_pa, data, motion, out, options)


def _grip(run: Callable[..., Direct], data: str, motion: str, out: str | None, options: dict[str, Any]) -> None:
    from linkwise.spacelib.programs import elbow, elbow_files

    as_json = options["as_json"]
    file = file_asked(out, as_json, (data, motion))
    lengths = elbow_files.read_lengths(file_of(data))
    made = run(lengths, motion_of(motion, elbow_files.JOINTS))
    gripper = made.gripper
    if as_json:
        names = ("t", "q", "qp", "qpp", "pos", "vel", "acc")
        parts = {"M": made.M, "W": made.W, "H": made.H} | {name: getattr(gripper, name) for name in names}
        print_entries({name: part[k].tolist() for name, part in parts.items()} for k in range(len(gripper.t)))
    elif options["matrices"]:
        print_parts(elbow.written(made))
    if file is not None:
        elbow_files.save_gripper(file, gripper, options["digits"])
        wrote(file, f"{len(gripper.t)} instants of the gripper, {gripper.dt:g} s apart")
    elif not as_json and not (options["matrices"] and out is None):
        print_parts(elbow_files.gripper_text(gripper, options["digits"]))


@click.command("elb-i-dh", short_help="Joints of the elbow robot from its gripper (7.6.8).")
@bundled_argument("data")
@click.argument("motion", type=click.Path())
@bundled_argument("guess", default="GUESS.1ST")
@click.argument("out", type=click.Path(), required=False)
@click.option("--tolerance", type=POSITIVE, help="End the search at this error of the gripper; the listing has 0.0005.")
@digits_option
@json_option
def elb_i_dh(
    data: str, motion: str, guess: str, out: str | None, tolerance: float | None, digits: str, as_json: bool
) -> None:
    """Find the motion of the elbow robot's joints for a motion of its gripper; write it to OUT, as JOINT.MOT.

    DATA has the lengths of the links, MOTION the layout of GRIPPER.MOT, GUESS the joint angles from which the search
    begins. Without OUT, or with S, the motion is printed. How well the gripper closes on what was asked is told after it,
    with the instants at which the robot is singular.

    \b
    Examples:
      linkwise spacelib elb-i-dh ELBOW.DAT GRIPPER.MOT GUESS.1ST JOINT2.MOT
      linkwise spacelib elb-d-dh ELBOW.DAT JOINT2.MOT GRIPPER2.MOT
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.spacelib.programs import elbow_files
    from linkwise.spacelib.programs.elbow_inverse import elb_i_dh as program
    from linkwise.spacelib.programs.motions import LAYOUTS, save_motion

    file = file_asked(out, as_json, (data, motion, guess))
    lengths, start = elbow_files.read_lengths(file_of(data)), elbow_files.read_guess(_guess_file(guess, out))
    made = program(lengths, elbow_files.read_gripper(file_of(motion)), start, tolerance=tolerance)
    layout = "joint" if digits == "manual" else digits
    if as_json:
        print_entries(_joints(made, k) for k in range(len(made.motion.t)))
        return
    if file is None:
        print_parts(LAYOUTS[layout](made.motion))
    else:
        save_motion(file, made.motion, layout)
    _tell_closure(made, err=file is None)
    if file is not None:
        wrote(file, f"{len(made.motion.t)} instants of {elbow_files.JOINTS} joints, {made.motion.dt:g} s apart")


def _guess_file(guess: str, out: str | None) -> Path:
    """Find the file of the guess; the third argument may have been meant to be the fourth."""
    try:
        return file_of(guess)
    except FileError as error:
        if out is not None:
            raise
        meant = f"OUT is the fourth: elb-i-dh DATA MOTION GUESS.1ST {guess}"
        raise click.UsageError(f"GUESS, the third argument, is {guess!r}, and there is no such file; {meant}") from error


def _joints(made: Inverse, k: int) -> dict[str, Any]:
    motion = made.motion
    parts: dict[str, Any] = {"t": motion.t, "q": motion.q, "qp": motion.qp, "qpp": motion.qpp}
    parts |= {"iterations": made.iterations, "rank": made.rank, "closure": made.closure}
    return {name: part[k].tolist() for name, part in parts.items()}


def _tell_closure(made: Inverse, err: bool) -> None:
    """Say how near the gripper came, and where the robot is singular."""
    position, speed, acceleration = made.closure.max(axis=0)
    click.echo(
        f"steps: at most {made.iterations.max()}; the gripper is off by at most {position:.1e} in position,\n"
        f"  {speed:.1e} in speed, {acceleration:.1e} in acceleration",
        err=err,
    )
    for first, last in _singular(made):
        times = f"at t = {made.motion.t[first]:g} s" if first == last else ""
        times = times or f"from t = {made.motion.t[first]:g} s to {made.motion.t[last]:g} s"
        _, speed, acceleration = made.closure[first : last + 1].max(axis=0)
        click.echo(
            f"  singular {times}: rank {made.rank[first]}; the smallest speeds and\n"
            f"    accelerations are given, off by at most {speed:.1e} and {acceleration:.1e}",
            err=err,
        )


def _singular(made: Inverse) -> list[tuple[int, int]]:
    """First and last instant of each stretch with one rank below that of a regular position."""
    found: list[tuple[int, int]] = []
    for k, rank in enumerate(made.rank.tolist()):
        if rank < made.motion.q.shape[1]:
            goes_on = found and found[-1][1] == k - 1 and made.rank[k - 1] == rank
            found[-1:] = [(found[-1][0], k)] if goes_on else [*found[-1:], (k, k)]
    return found
