"""``linkwise spacelib joint-mot`` and ``test-mot``, which write the manual's motions, and all commands that move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.finite import POSITIVE, Finite
from linkwise.cli.spacelib_elbow import elb_d_dh, elb_d_pa, elb_i_dh
from linkwise.cli.spacelib_floating import test, test_new
from linkwise.cli.spacelib_output import digits_option, file_asked, print_parts, wrote

if TYPE_CHECKING:
    from linkwise.spacelib.programs.motions import Motion


@click.command("joint-mot", short_help="Write JOINT.MOT, the motion of the elbow robot's joints (7.6.3).")
@click.argument("out", type=click.Path())
@click.option("--dt", type=POSITIVE, help="Time step, s. Default: 0.01, the manual's.")
@click.option("--first", type=Finite(), help="Time of the first sample, s. Default: 0.009, the manual's; 0 is singular.")
@digits_option
@json_option
def joint_mot(out: str, dt: float | None, first: float | None, digits: str, as_json: bool) -> None:
    """Write the motion of the elbow robot's joints by the law 1/3 -1/3 -1/3 to the file OUT; S prints it.

    The manual prints the accelerations; amplitude and duration of each joint are inferred from them, as round numbers: 90,
    120, 120, -120, 180 and 360 degrees in 0.5, 0.6, 0.5, 0.5, 0.4 and 0.2 s.
    """
    from linkwise.spacelib.programs import laws

    made = laws.joint_motion(laws.JOINT_STEP if dt is None else dt, laws.JOINT_FIRST if first is None else first)
    _put_motion(out, made, "joint" if digits == "manual" else digits, as_json=as_json)


@click.command("test-mot", short_help="Write TEST.MOT, how a motor turns between two links (7.2.5).")
@click.argument("out", type=click.Path())
@click.option("--dt", type=POSITIVE, help="Time step, s. Default: 0.002, the manual's.")
@digits_option
@json_option
def test_mot(out: str, dt: float | None, digits: str, as_json: bool) -> None:
    """Write the motion of the motor between two floating links, a cycloid, to the file OUT; S prints it.

    The manual prints the first six rows. They are those of 0.391023 rad in a third of a second, inferred from them.
    """
    from linkwise.spacelib.programs import laws

    made = laws.motor_motion(laws.MOTOR_STEP if dt is None else dt)
    _put_motion(out, made, "motor" if digits == "manual" else digits, as_json=as_json)


def _put_motion(out: str, motion: Motion, layout: str, *, as_json: bool) -> None:
    from linkwise.spacelib.programs.motions import LAYOUTS, save_motion

    file = file_asked(out, as_json)
    if file is None and as_json:
        print_json({name: getattr(motion, name) for name in ("dt", "t", "q", "qp", "qpp")})
        return
    if file is None:
        print_parts(LAYOUTS[layout](motion))
        return
    save_motion(out, motion, layout)
    joints = motion.q.shape[1]
    wrote(out, f"{len(motion.t)} instants of {joints} joint{'s' if joints > 1 else ''}, {motion.dt:g} s apart")


def register(group: click.Group) -> None:
    """Add the commands, in the manual's order."""
    for command in (test_mot, test, test_new, joint_mot, elb_d_dh, elb_d_pa, elb_i_dh):
        group.add_command(command)
