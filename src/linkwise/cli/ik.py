"""``linkwise ik``: joint values for poses, whether they are reached, and why not where they are not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.finite import POSITIVE
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options
from linkwise.cli.words import say

if TYPE_CHECKING:
    from linkwise.cli.ik_answers import Answer
    from linkwise.cli.ik_targets import Targets
    from linkwise.mechanism import Mechanism

METHODS = ("auto", "closed_form", "numeric", "newton_raphson", "steepest_descent")

NOT_REACHED = 1
"""Exit status where a target is not reached."""


@click.command(short_help="Joint values for a pose, or for a file of poses.")
@mechanism_argument()
@click.argument("targets", type=click.Path(), required=False)
@click.option("--position", metavar="X,Y,Z", help="Where the tool shall be, m. Alone: in any orientation.")
@click.option("--rpy", metavar="R,P,Y", help="Its orientation: Rz(yaw) Ry(pitch) Rx(roll); rad, or 90deg.")
@click.option("--quaternion", metavar="W,X,Y,Z", help="Its orientation as a quaternion of any length.")
@click.option("--matrix", metavar="FILE", type=click.Path(), help="Poses as 4x4 matrices: 4 numbers a line, 4 lines a pose.")
@click.option("--only", metavar="WHAT", help="What counts: position, orientation, or letters of xyzabc, such as xyc.")
@click.option(
    "--q0",
    metavar="Q1,Q2,...",
    help="Where to start, and where joints stay that do not matter; of several solutions the nearest to it is told. "
    "Unless said, beside the middle of the limits, and 0 for joints that do not matter.",
)
@click.option("--link", metavar="NAME", help="Which link's frame goes there; the tool unless said.")
@click.option("--all", "every", is_flag=True, help="Tell every solution that a closed form gives.")
@click.option("--given", metavar="JOINT=VALUE", help="With --all: a joint that is not solved for, as of seven one must be.")
@click.option("--method", type=click.Choice(METHODS), default="auto", show_default=True, help="How to solve.")
@click.option("--follow", is_flag=True, help="Start each pose of a file from the solution of the one before it.")
@click.option("--limits/--no-limits", default=True, help="Whether joint limits hold.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of further starts; the same gives the same."
)
@click.option("--tol", type=POSITIVE, default=1e-9, show_default=True, help="What counts as reached, m and rad.")
@click.option("-o", "--output", metavar="FILE.csv", type=click.Path(dir_okay=False), help="Write all joint values there.")
@json_option
@reading_options
def ik(mechanism: str, targets: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Find joint values that bring the tool of a MECHANISM to a pose in the world frame, or to each of a file of poses.

    TARGETS is a .csv whose header names x, y, z and roll, pitch, yaw or qw, qx, qy, qz, or one of these alone; m and rad
    unless a header says [mm] or [deg]. A file such as links.csv of linkwise run will do, with --link. Solutions stay
    within the joint limits, and each is checked by a forward pass. The exit status is 1 where a pose is not reached; the
    nearest found is told then, and what stands in the way. Where the mechanism has loops they are kept closed.

    What counts, --only: x, y, z are along the axes of the world, a, b, c about them. xyc suits an arm in a plane.

    \b
    Examples:
      linkwise ik puma560 --position 0.4,0.2,0.3 --rpy 0,180deg,0
      linkwise ik ur5 --position 0.4,0.2,0.3 --quaternion 0,1,0,0 --all
      linkwise ik planar_3r --position 1,1,0 --rpy 0,0,90deg --only xyc
      linkwise ik panda poses.csv --follow -o joints.csv
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.cli import ik_answers, ik_targets, state

    found = description(mechanism).mechanism
    said = (options["position"], options["rpy"], options["quaternion"], options["matrix"], options["only"], options["link"])
    asked = ik_targets.targets(targets, *said)
    path = _path(output)
    link = -1 if options["link"] is None else options["link"]
    q0 = state.coordinates(options["q0"], found, "--q0")
    how = {"q0": q0, **{name: options[name] for name in ("method", "limits", "seed", "tol")}}
    given, family = _given(options["given"], found), ""
    if options["every"]:
        _check_every(asked, options)
        answers, family = ik_answers.every(found, asked, link, how, given)
    elif given:
        raise click.UsageError("--given is for --all, which is not asked for")
    else:
        answers = ik_answers.solved(found, asked, link, how, options["follow"])
    missed = len(asked.poses) - len({one.target for one in answers if one.success})
    if as_json:
        print_json(ik_answers.facts(found, answers, asked))
    else:
        _tell(found, asked, answers, family)
    if path is not None:
        _write(path, found, answers, asked, quiet=as_json)
    if missed:
        raise SystemExit(NOT_REACHED)


def _check_every(asked: Targets, options: dict[str, Any]) -> None:
    from linkwise.cli.ik_answers import ASKS

    if options["follow"] or options["method"] not in ("auto", "closed_form"):
        other = "--follow" if options["follow"] else f"--method {options['method']}"
        raise click.UsageError(f"--all tells the solutions of the closed form; {other} finds one of them")
    if asked.letters not in ASKS:
        raise click.UsageError(f"--all is for a pose, a position or an orientation, not for {options['only']!r} alone")


def _given(text: str | None, mechanism: Mechanism) -> dict[int | str, Any]:
    from linkwise.cli.state import numbers
    from linkwise.errors import members

    if text is None:
        return {}
    name, _, value = text.rpartition("=")
    sliding = dict(zip(mechanism.names, mechanism.slides, strict=True))
    found = numbers(value, "--given", ["length" if sliding[name] else "angle"]) if name in sliding else []
    if len(found) != 1:
        joints = members(mechanism.names)
        raise click.BadParameter(f"{text!r} is not JOINT=VALUE with a joint of {joints}", param_hint="--given")
    return {name: found[0]}


def _path(output: str | None) -> Path | None:
    if output is None:
        return None
    if not output.lower().endswith(".csv"):
        raise click.BadParameter(f"joint values are written as .csv, not {Path(output).suffix!r}", param_hint="--output")
    return Path(output)


def _write(path: Path, mechanism: Mechanism, answers: list[Answer], asked: Targets, *, quiet: bool) -> None:
    from linkwise.cli.ik_answers import csv_text
    from linkwise.cli.output import write_bytes
    from linkwise.model.table import plain

    write_bytes(path, "".join(csv_text(mechanism, answers, asked)).encode("utf-8", "backslashreplace"))
    if not quiet:
        say(f"wrote {plain(str(path))}")


def _tell(mechanism: Mechanism, asked: Targets, answers: list[Answer], family: str) -> None:
    from linkwise.cli import ik_tables
    from linkwise.cli.layout import console, put

    screen = console()
    if family:
        made = ik_tables.of_all(mechanism, asked, answers, family)
    elif len(asked.poses) == 1:
        made = ik_tables.of_one(mechanism, asked, answers[0])
    else:
        made = ik_tables.of_many(mechanism, asked, answers)
    for title, table in made.tables:
        put(screen, title, table)
    for line in made.lines:
        say(line)
