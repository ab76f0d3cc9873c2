"""``linkwise show``: the table of a mechanism and its picture."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.finite import POSITIVE
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options
from linkwise.cli.words import say

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

FORMATS, FILMS = ("png", "svg", "pdf"), ("gif", "mp4")


@click.command(short_help="The table of a mechanism and its picture.")
@mechanism_argument()
@click.option(
    "--q",
    "q",
    metavar="Q1,Q2,...",
    help="Coordinates of the picture and of --dynamics, rad or m, or as 90deg and 400mm; the tool's pose is told there."
    " Zero, or the limit next to it, unless given.",
)
@click.option("--qd", "qd", metavar="V1,V2,...", help="Speeds for --dynamics, rad/s or m/s, or 90deg; zero unless given.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    help="File of the picture: .png, .svg or .pdf, or with --animate .gif or .mp4. Default: NAME.png or NAME.gif here.",
)
@click.option(
    "--animate", "motion", metavar="MOTION", type=click.Path(), help="Draw this motion, a .csv or .MOT, not one posture."
)
@click.option("--speed", type=POSITIVE, default=1.0, show_default=True, help="How many times faster --animate plays it.")
@click.option("--picture/--no-picture", default=True, help="Whether to draw at all.")
@click.option("--masses", is_flag=True, help="Print masses, centres of mass and inertias too.")
@click.option("--motors", is_flag=True, help="Print rotor inertias, gear ratios and friction too.")
@click.option("--limits", is_flag=True, help="Print how far, how fast and how hard each joint may go.")
@click.option("--dynamics", is_flag=True, help="Print mass matrix, Coriolis, gravity and friction efforts at --q, --qd.")
@click.option("--base-parameters", is_flag=True, help="Print the combinations of parameters that the efforts tell.")
@click.option("--sources", is_flag=True, help="Print where the numbers come from.")
@click.option("--window", is_flag=True, help="Show the picture in a window that can be turned, instead of writing a file.")
@json_option
@reading_options
def show(
    mechanism: str,
    q: str | None,
    qd: str | None,
    save: str | None,
    motion: str | None,
    speed: float,
    picture: bool,
    window: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the table of a MECHANISM as people draw it by hand, and draw its picture.

    The table says the convention in words; lengths are in m, angles in degrees. In the picture a cylinder is a revolute
    joint, a box a prismatic one, a cylinder with a helix a screw; x axes are red, y green, z blue.

    \b
    Examples:
      linkwise show puma560
      linkwise show puma560 --q 0,45deg,-90deg,0,30deg,0 --save bent.svg
      linkwise show puma560 --animate motion.csv --save arm.gif
      linkwise show my_robot.toml --masses --motors --no-picture
      linkwise show puma560 --dynamics --q 0,45deg,-90deg,0,0,0 --no-picture
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.cli import shown, state

    found = description(mechanism)
    values, speeds = state.coordinates(q, found.mechanism), state.speeds(qd, found.mechanism)
    if speeds is not None and not options["dynamics"]:
        raise click.UsageError("--qd is for --dynamics, which is not asked for")
    path = _picture_path(save, found.mechanism.name, FORMATS if motion is None else FILMS)
    facts: dict[str, Any] = {}
    if as_json:
        facts = shown.facts(found, values, speeds, options)
    else:
        shown.tell(found, values, speeds, options)
    line = ""
    if motion is not None:
        line = _write_film(found.mechanism, motion, path, speed)
    elif window:
        _open_window(found.mechanism, values)
    elif picture and (save is not None or not as_json):
        line = _write_picture(found.mechanism, values, path, asked=save is not None)
    if as_json:
        print_json(facts | {"picture": path if line else None})
    elif line:
        say(f"\n{line}")


def _picture_path(save: str | None, name: str, formats: tuple[str, ...]) -> Path:
    """Say where the picture goes; a suffix that no picture has is refused."""
    path = Path(save) if save else Path(f"{file_name(name)}.{formats[0]}")
    if path.suffix.lower().removeprefix(".") not in formats:
        what, endings = ("an animation", ".gif or .mp4") if formats == FILMS else ("a picture", ".png, .svg or .pdf")
        raise click.BadParameter(f"{what} ends in {endings}, not {path.suffix!r}", param_hint="--save")
    return path


def _write_film(mechanism: Mechanism, motion: str, path: Path, speed: float) -> str:
    """Animate a motion file and tell that; as it is asked for by name, a missing library is an error."""
    from linkwise.files import open_motion
    from linkwise.model.table import plain
    from linkwise.trajectory import Trajectory
    from linkwise.view.films.animation import animate

    opened = open_motion(motion, mechanism.n, mechanism.names, floating=mechanism.floating)
    made = animate(mechanism, Trajectory(*opened.read()).of(mechanism), path, speed=speed)
    seconds, count = made.times[-1] - made.times[0], len(made.times)
    return f"animation: {plain(str(path))}, {seconds:.4g} s of motion in {count} pictures"


def _write_picture(mechanism: Mechanism, q: list[float] | None, path: Path, *, asked: bool) -> str:
    """Draw, and tell that; where a library is missing, say so unless the picture was asked for by name."""
    from linkwise.cli.output import write_bytes
    from linkwise.errors import MissingExtraError
    from linkwise.model.table import plain
    from linkwise.view.drawing.picture import draw
    from linkwise.view.figure import rendered

    suffix = path.suffix.lower().removeprefix(".")
    try:
        write_bytes(path, rendered(draw(mechanism, q), suffix))
    except MissingExtraError as error:
        if asked:
            raise
        say(f"\nno picture: {error}", err=True)
        return ""
    return f"picture: {plain(str(path))}"


def _open_window(mechanism: Mechanism, q: list[float] | None) -> None:
    from linkwise.errors import MissingExtraError, install_hint
    from linkwise.view.drawing.picture import draw

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise click.ClickException("there is no display for a window; leave out --window to write a file")
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(f"pictures need matplotlib: {install_hint('plot')}") from error
    made: Any = pyplot.figure(figsize=(8.5, 7.0))
    draw(mechanism, q, into=made)
    pyplot.show()


def file_name(name: str) -> str:
    """Make a file's name of a mechanism's: no separators, no dots in front, nothing that steers a terminal.

    Examples
    --------
    >>> file_name("../my arm"), file_name("")
    ('my_arm', 'mechanism')
    """
    return re.sub(r"[^\w.-]+", "_", name).strip("._-")[:80] or "mechanism"
