"""Compute the reachable region and the manipulability in it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from linkwise.cli.command import File, Options, Output, command, mechanism, option
from linkwise.cli.options import PICTURES, Angle, OfJoint, ParamType, check_suffix, file_name, numbers, picture_type, refuse
from linkwise.errors import ArgumentError
from linkwise.files import Description
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import Column, Table, fixed, plain
from linkwise.model.quantities import units
from linkwise.model.tree import TOOL
from linkwise.plot.rendering import rendered
from linkwise.view.plots.workspace_plot import MEASURES, PLANES, draw
from linkwise.workspace import Workspace
from linkwise.workspace import workspace as sample
from linkwise.workspace.postures import ENDLESS

#: Below this share of the best, manipulability is printed as zero.
NOTHING = 1e-6

#: Directions with a name.
DIRECTIONS = {"up": [0.0, 0.0, 1.0], "down": [0.0, 0.0, -1.0]}


class Direction(ParamType):
    """A direction: X,Y,Z, up or down."""

    name = "direction"
    metavar = "X,Y,Z|up|down"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[float]:
        """Read the direction."""
        direction = DIRECTIONS.get(value) or numbers(value, "--pointing", [""] * 3)
        if len(direction) != 3 or not any(direction):
            refuse(f"{value!r} is not a direction; expected X,Y,Z, up or down", "--pointing")
        return direction


@command(
    mechanism(),
    option("-o", "--output", metavar="FILE", help="The picture: .png, .svg or .pdf. Default: NAME_workspace.png here."),
    option("--picture/--no-picture", default=True, help="Draw the picture."),
    option("--plane", type=click.Choice(PLANES), default="auto", help="Plane of the picture."),
    option("--measure", type=click.Choice(MEASURES), default=MEASURES[0], help="Quantity that the colours show."),
    option(
        "--mask",
        type=click.Choice(["translation", "rotation", "all"]),
        default="translation",
        help="Motion of which the manipulability is computed.",
    ),
    option("--link", metavar="NAME", help="Link whose frame is examined. Default: the tool."),
    option("--pointing", type=Direction(), help="Count only configurations whose z axis has this direction."),
    option("--within", type=Angle(), default="10deg", help="Tolerance of --pointing."),
    option(
        "--range",
        "ranges",
        type=OfJoint("JOINT=A,B", "JOINT=LEAST,GREATEST", 2),
        multiple=True,
        help="Range of a joint in the place of its limits; may be repeated.",
    ),
    option("--limits/--no-limits", default=True, help="Respect the limits of revolute joints."),
    option("--samples", type=click.IntRange(1000), help="Random configurations. Default: 500,000; with loops 10,000."),
    option("--cells", type=click.IntRange(16, 400), default=160, help="Number of cells along the longer side."),
    option("--seed", type=click.IntRange(0), default=0, help="Seed of the random configurations."),
)
def workspace(description: Description, options: Options) -> Output:
    """Compute the workspace of a MECHANISM: its extent, its volume, and the manipulability in it.

    Manipulability is the product of the singular values of the Jacobian: zero where the mechanism is singular. In the
    picture each cell has the colour of the best configuration found in it. By default the picture shows a plane through
    the axis of the first joint, and the view along that axis.

    \b
    Examples:
      linkwise workspace puma560
      linkwise workspace ur5 --pointing down --within 5deg -o down.svg
      linkwise workspace scara_icomatic --range link3=-0.2,0.1
      linkwise workspace panda --plane 3d --measure reach
    """  # noqa: D301  (\b keeps click from filling the lines)
    model = description.mechanism
    path = Path(options.output or f"{file_name(model.name)}_workspace.png")
    check_suffix(path, "a picture", PICTURES, "--output")
    for name, (low, high) in dict(options.ranges).items():
        if not low < high:
            refuse(f"'{name}={low:g},{high:g}' is not JOINT=LEAST,GREATEST", "--range")
    same = ("samples", "seed", "limits", "mask", "cells", "pointing", "within")
    settings = {name: getattr(options, name) for name in same}
    try:
        region = sample(model, link=TOOL if options.link is None else options.link, ranges=dict(options.ranges), **settings)
    except ArgumentError as error:
        hint = " (--range JOINT=LEAST,GREATEST)" if ENDLESS in str(error) else ""
        raise click.ClickException(f"{error}{hint}") from error

    def picture() -> bytes:
        return rendered(draw(model, region, plane=options.plane, measure=options.measure), picture_type(path))

    drawn = options.picture and (options.output or not options.as_json)
    files = [File(path, picture, "\npicture: ", optional=not options.output)] if drawn else []
    return Output(_facts(model, region), _parts(model, region), files)


def _parts(model: Mechanism, region: Workspace) -> Iterator[str | Table]:
    extents = {"from the base": region.distance}
    if math.isfinite(region.radius[0]):
        extents["from the first axis"] = region.radius
    extents |= dict(zip("xyz", region.bounds.T.tolist(), strict=True))
    tried = f"{region.samples:,} random configurations, then refined"
    title = f"{plain(model.name)}: reachable region of {plain(region.frame)} ({tried})"
    lengths = [Column(name, write=_metres) for name in ("least", "greatest")]
    yield Table([title], ["", *lengths, ""], [(name, low, high, "m") for name, (low, high) in extents.items()])
    yield _room(region)
    worst = region.worst if region.worst > NOTHING * region.best else 0.0
    rows = [("manipulability", f"{region.best:.4g}", f"{worst:.4g}", "")]
    ends = zip("xyz", region.best_position.tolist(), region.worst_position.tolist(), strict=True)
    rows += [(name, _metres(best), _metres(least), "m") for name, best, least in ends]
    ends = zip(map(plain, model.coordinate_names), region.best_q.tolist(), region.worst_q.tolist(), strict=True)
    joints = zip(ends, units(model, "q"), strict=True)
    rows += [(name, fixed(best), fixed(least), unit) for (name, best, least), unit in joints]
    yield Table([f"manipulability of {_motion(region)}"], ["", "best", "worst", ""], rows)
    if math.isfinite(region.near_singular):
        share = f"{100 * region.near_singular:.2g} %" if region.near_singular else "none"
        yield f"{share} of the configurations are near singular: below a hundredth of the best manipulability"


def _metres(value: float) -> str:
    return f"{0.0 if abs(value) < 5e-6 else value:.4f}"


def _motion(region: Workspace) -> str:
    motion = {"translation": "position", "rotation": "orientation", "all": "position and orientation"}[region.mask]
    return f"the {motion} ({region.freedoms} {'direction' if region.freedoms == 1 else 'directions'})"


def _room(region: Workspace) -> str:
    """Describe the size of the workspace, and its method."""
    if region.dimension >= 2 and math.isfinite(region.size):
        measure, unit = ("volume", "m3") if region.dimension == 3 else ("area", "m2")
        return f"{measure} {region.size:.4g} {unit} ± {region.size_error:.1g} (share of random places that are reached)"
    stays = ("in one point", "on a curve: there is no area and no volume", "on a surface, curved or aslant: no volume")
    return f"it stays {stays[region.dimension]}" if region.dimension < 3 else "the region is too thin for a volume"


def _facts(model: Mechanism, region: Workspace) -> dict[str, Any]:
    same = ("frame", "dimension", "size", "size_error", "bounds", "distance", "radius", "mask", "freedoms")
    return {
        "mechanism": model.name,
        **{name: getattr(region, name) for name in same},
        "best": {"value": region.best, "q": region.best_q, "position": region.best_position},
        "worst": {"value": region.worst, "q": region.worst_q, "position": region.worst_position},
        "near_singular": region.near_singular,
        "cells": len(region.q),
        "samples": region.samples,
    }
