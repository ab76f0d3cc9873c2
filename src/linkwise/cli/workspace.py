"""``linkwise workspace``: what a mechanism reaches and how well it moves there, in numbers and as a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options
from linkwise.cli.words import say

if TYPE_CHECKING:
    from linkwise.kinematics.reachable import Workspace
    from linkwise.mechanism import Mechanism

PLANES, MEASURES = ("auto", "xz", "yz", "xy", "3d"), ("manipulability", "reach")

NOTHING = 1e-6
"""Below this share of the best, manipulability is told as zero."""

WAYS = {"up": [0.0, 0.0, 1.0], "down": [0.0, 0.0, -1.0]}
"""Directions with a name."""


@click.command(short_help="What it reaches and how well it moves there, as a picture.")
@mechanism_argument()
@click.option("-o", "--output", metavar="FILE", help="The picture: .png, .svg or .pdf. Default: NAME_workspace.png here.")
@click.option("--picture/--no-picture", default=True, help="Whether to draw at all.")
@click.option(
    "--plane", type=click.Choice(PLANES), default="auto", show_default=True, help="What is drawn; auto suits the mechanism."
)
@click.option(
    "--measure", type=click.Choice(MEASURES), default=MEASURES[0], show_default=True, help="What the colours tell."
)
@click.option(
    "--axes",
    type=click.Choice(["translation", "rotation", "all"]),
    default="translation",
    show_default=True,
    help="Which motion the manipulability is of.",
)
@click.option("--link", metavar="NAME", help="Whose frame moves about; the tool unless said.")
@click.option("--pointing", metavar="X,Y,Z|up|down", help="Only postures count whose z axis points there.")
@click.option("--within", metavar="ANGLE", default="10deg", show_default=True, help="How far beside it the axis may point.")
@click.option("--range", "ranges", metavar="JOINT=A,B", multiple=True, help="A range for a joint instead of its limits.")
@click.option("--limits/--no-limits", default=True, help="Whether turning joints keep their limits.")
@click.option("--samples", type=click.IntRange(1000), default=500_000, show_default=True, help="Random postures to try.")
@click.option("--cells", type=click.IntRange(16, 400), default=160, show_default=True, help="Cells along the longer side.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed gives the same.")
@json_option
@reading_options
def workspace(mechanism: str, output: str | None, picture: bool, as_json: bool, **options: Any) -> None:
    """Find what a MECHANISM reaches: how far, how much room, where it moves well and where badly.

    Manipulability is the product of the singular values of the Jacobian: zero where the mechanism is singular. In the
    picture each cell has the colour of the best posture found in it. By itself it shows what is reached in a plane through
    the axis of the first joint, and the view along that axis.

    \b
    Examples:
      linkwise workspace puma560
      linkwise workspace ur5 --pointing down --within 5deg -o down.svg
      linkwise workspace scara_icomatic --range link3=-0.2,0.1
      linkwise workspace panda --plane 3d --measure reach
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.errors import ArgumentError
    from linkwise.kinematics.reachable import workspace as find
    from linkwise.kinematics.workspace_postures import ENDLESS

    found = description(mechanism).mechanism
    path = _path(output, found.name)
    link = -1 if options["link"] is None else options["link"]
    same = {name: options[name] for name in ("samples", "seed", "limits", "axes", "cells")}
    ranges, pointing, within = _ranges(options["ranges"], found), _direction(options["pointing"]), _angle(options["within"])
    try:
        made = find(found, link=link, ranges=ranges, pointing=pointing, within=within, **same)
    except ArgumentError as error:
        hint = " (--range JOINT=LEAST,GREATEST)" if ENDLESS in str(error) else ""
        raise click.ClickException(f"{error}{hint}") from error
    if as_json:
        print_json(_facts(found, made))
    else:
        _tell(found, made, options)
    if picture and (output or not as_json):
        _draw(found, made, path, options, quiet=as_json, asked=output is not None)


def _path(output: str | None, name: str) -> Path:
    """Say where the picture goes; a suffix that no picture has is refused."""
    from linkwise.cli.show import FORMATS, file_name

    path = Path(output) if output else Path(f"{file_name(name)}_workspace.png")
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        raise click.BadParameter(f"a picture ends in .png, .svg or .pdf, not {path.suffix!r}", param_hint="--output")
    return path


# ── options ───────────────────────────────────────────────────────────────────────────────────────


def _ranges(given: tuple[str, ...], mechanism: Mechanism) -> dict[str, tuple[float, float]]:
    from linkwise.cli.state import numbers
    from linkwise.errors import members

    made = {}
    for text in given:
        name, equals, bounds = text.rpartition("=")
        if not equals or name not in mechanism.names:
            raise click.BadParameter(
                f"{text!r} names no joint; expected JOINT=LEAST,GREATEST with a joint of {members(mechanism.names)}",
                param_hint="--range",
            )
        slides = mechanism.slides[mechanism.names.index(name)]
        pair = numbers(bounds, "--range", ["length" if slides else "angle"] * 2)
        if len(pair) != 2 or not pair[0] < pair[1]:
            raise click.BadParameter(f"{bounds!r} is no LEAST,GREATEST", param_hint="--range")
        made[name] = (pair[0], pair[1])
    return made


def _direction(text: str | None) -> list[float] | None:
    from linkwise.cli.state import numbers

    if text is None or text in WAYS:
        return None if text is None else WAYS[text]
    found = numbers(text, "--pointing", [""] * 3)
    if len(found) != 3 or not any(found):
        raise click.BadParameter(f"{text!r} is no direction; expected X,Y,Z, up or down", param_hint="--pointing")
    return found


def _angle(text: str) -> float:
    from linkwise.cli.state import numbers

    found = numbers(text, "--within", ["angle"])
    if len(found) != 1 or not 0 < found[0] <= math.pi:
        raise click.BadParameter(f"{text!r} is no angle above 0 and up to 180deg", param_hint="--within")
    return found[0]


# ── what is told ──────────────────────────────────────────────────────────────────────────────────


def _tell(mechanism: Mechanism, made: Workspace, options: dict[str, Any]) -> None:
    from linkwise.cli.layout import console, fixed, new_table, put
    from linkwise.model.table import plain

    screen = console()
    table = new_table("", "least", "greatest", "")
    rows = [("from the base", *made.distance)]
    rows += [("from the first axis", *made.radius)] if math.isfinite(made.radius[0]) else []
    rows += [(name, low, high) for name, low, high in zip("xyz", *made.bounds.tolist(), strict=True)]
    for name, low, high in rows:
        table.add_row(name, _metres(low), _metres(high), "m")
    tried = f"{made.samples:,} random postures, and better ones sought from them"
    put(screen, f"{plain(mechanism.name)}: what {plain(made.frame)} reaches ({tried})", table)
    say(_room(made))
    marks, slides = new_table("", "best", "worst", ""), mechanism.slides
    worst = made.worst if made.worst > NOTHING * made.best else 0.0
    marks.add_row("manipulability", f"{made.best:.4g}", f"{worst:.4g}", "")
    for name, best, least in zip("xyz", made.best_position.tolist(), made.worst_position.tolist(), strict=True):
        marks.add_row(name, _metres(best), _metres(least), "m")
    for name, best, least, slide in zip(mechanism.names, made.best_q.tolist(), made.worst_q.tolist(), slides, strict=True):
        marks.add_row(plain(name), fixed(best), fixed(least), "m" if slide else "rad")
    put(screen, f"\nmanipulability of {_motion(made)}", marks)
    if math.isfinite(made.near_singular):
        share = f"{100 * made.near_singular:.2g} %" if made.near_singular else "none"
        say(f"{share} of all postures have less than a hundredth of the best, near singular ones")


def _metres(value: float) -> str:
    return f"{0.0 if abs(value) < 5e-6 else value:.4f}"


def _motion(made: Workspace) -> str:
    what = {"translation": "position", "rotation": "orientation", "all": "position and orientation"}[made.axes]
    ways = "direction" if made.freedoms == 1 else "directions at once"
    return f"the {what} ({made.freedoms} {ways})"


def _room(made: Workspace) -> str:
    """Say how much room there is, and how that was found."""
    widths = [float(edge[1] - edge[0]) for edge in made.grid.edges[: 2 if made.grid.has_axis else 3] if len(edge) > 2]
    if made.dimension >= 2 and math.isfinite(made.size):
        what, unit = ("volume", "m3") if made.dimension == 3 else ("area", "m2")
        how = f"counted in cells of {1000 * max(widths):.3g} mm, and in cells twice as large for what their edges add"
        return f"{what} {made.size:.4g} {unit}, give or take {max(made.size_error, 1e-3 * made.size):.1g} ({how})"
    return {
        0: "it stays in one point",
        1: "it stays on a curve: there is no area and no volume",
        2: "it stays on a curved surface: there is no volume",
    }.get(made.dimension, "its volume is too thin to be counted")


def _facts(mechanism: Mechanism, made: Workspace) -> dict[str, Any]:
    return {
        "mechanism": mechanism.name,
        "frame": made.frame,
        "dimension": made.dimension,
        "size": made.size,
        "size_error": made.size_error,
        "bounds": made.bounds.tolist(),
        "distance": made.distance,
        "radius": made.radius,
        "axes": made.axes,
        "freedoms": made.freedoms,
        "best": {"value": made.best, "q": made.best_q.tolist(), "position": made.best_position.tolist()},
        "worst": {"value": made.worst, "q": made.worst_q.tolist(), "position": made.worst_position.tolist()},
        "near_singular": made.near_singular,
        "cells": len(made.q),
        "samples": made.samples,
    }


def _draw(mechanism: Mechanism, made: Workspace, path: Path, options: dict[str, Any], *, quiet: bool, asked: bool) -> None:
    from linkwise.cli.output import write_bytes
    from linkwise.errors import MissingExtraError
    from linkwise.model.table import plain
    from linkwise.view.figure import rendered
    from linkwise.view.maps.workspace_picture import draw

    try:
        drawn = draw(mechanism, made, plane=options["plane"], measure=options["measure"])
    except MissingExtraError as error:
        if asked:
            raise
        say(f"\nno picture: {error}", err=True)
        return
    write_bytes(path, rendered(drawn, path.suffix.lower().removeprefix(".")))
    if not quiet:
        say(f"\npicture: {plain(str(path))}")
