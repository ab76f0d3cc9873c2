"""Print the table of a mechanism and draw its picture."""

from __future__ import annotations

import math
import os
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from linkwise.cli.command import File, Options, Output, command, mechanism, option, terminal_width
from linkwise.cli.options import PICTURES, POSITIVE, Coordinates, Velocities, check_suffix, file_name, picture_type
from linkwise.extras import optional
from linkwise.files import Description, open_motion
from linkwise.files.formats import linkwise_toml as toml_writer
from linkwise.kinematics.configuration import resting
from linkwise.loops.loop_solver import NEARLY, closing
from linkwise.mechanism import Mechanism
from linkwise.model import quantities
from linkwise.model.formatting.mechanism_tables import described, limit_table, mass_table, motor_table
from linkwise.model.formatting.table import Column, Table, action, number, plain
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.plot.rendering import rendered
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Trajectory
from linkwise.view.animation.animation import animate
from linkwise.view.drawing.render import draw
from linkwise.view.motion import massless

ANIMATIONS = ("gif", "mp4")

#: Columns of running text.
WIDEST = 100

#: Tolerance of a coordinate's limits (rad or m) against rounding.
OUTSIDE = 1e-9

#: A coordinate of the tool (m or degrees), and a share of the largest neighbouring number, below which zero is printed.
ROUNDING, NEGLIGIBLE = 1e-12, 1e-13


@command(
    mechanism(),
    option(
        "--q",
        type=Coordinates(),
        help="Coordinates of the picture, of the printed tool pose and of --dynamics, rad or m, or as in 90deg and 400mm."
        " Default: zero, or the limit nearest to it.",
    ),
    option("--qd", type=Velocities(), help="Velocities of --dynamics, rad/s or m/s, or as in 90deg. Default: zero."),
    option(
        "--save",
        type=click.Path(dir_okay=False),
        help="File of the picture: .png, .svg or .pdf, or with --animate .gif or .mp4. Default: NAME.png or NAME.gif here.",
    ),
    option("--animate", "motion", metavar="MOTION", type=click.Path(), help="Draw this motion, a .csv or .MOT."),
    option("--speed", type=POSITIVE, default=1.0, help="Playback speed of --animate, as a multiple of real time."),
    option("--picture/--no-picture", default=True, help="Draw the picture."),
    option("--masses", is_flag=True, help="Print masses, centres of mass and inertias too."),
    option("--motors", is_flag=True, help="Print rotor inertias, gear ratios and friction too."),
    option("--limits", is_flag=True, help="Print the limits of position, velocity, acceleration and effort."),
    option("--dynamics", is_flag=True, help="Print mass matrix, Coriolis, gravity and friction efforts at --q, --qd."),
    option("--base-parameters", is_flag=True, help="Print the parameter combinations that efforts depend on."),
    option("--sources", is_flag=True, help="Print the sources of the numbers."),
    option("--window", is_flag=True, help="Show the picture in an interactive window; write no file."),
)
def show(description: Description, options: Options) -> Output:
    """Print the table of a MECHANISM and draw its picture.

    The table states the convention in words; lengths are in m, angles in degrees. In the picture a cylinder is a revolute
    joint, a box a prismatic one, a cylinder with a helix a screw; x axes are red, y green, z blue.

    \b
    Examples:
      linkwise show puma560
      linkwise show puma560 --q 0,45deg,-90deg,0,30deg,0 --save bent.svg
      linkwise show puma560 --animate motion.csv --save arm.gif
      linkwise show my_robot.toml --masses --motors --no-picture
      linkwise show puma560 --dynamics --q 0,45deg,-90deg,0,0,0 --no-picture
    """  # noqa: D301  (\b keeps click from filling the lines)
    if options.qd is not None and not options.dynamics:
        raise click.UsageError("--qd is for --dynamics, which is missing")
    model = description.mechanism
    formats, subject = (PICTURES, "a picture") if options.motion is None else (ANIMATIONS, "an animation")
    path = Path(options.save or f"{file_name(model.name)}.{formats[0]}")
    check_suffix(path, subject, formats, "--save")
    drawn = options.picture and (options.save is not None or not options.as_json) and not options.window
    files: list[File] = []
    if drawn and options.motion is None:
        picture = lambda: rendered(draw(model, options.q), picture_type(path))  # noqa: E731
        files = [File(path, picture, "\npicture: ", optional=options.save is None)]

    def facts() -> dict[str, Any]:
        written = path if drawn or options.motion is not None else None
        if options.motion is not None:
            _animate(model, options, path)
        return _facts(description, options) | {"picture": written}

    def parts() -> Iterator[str | Table]:
        yield from _parts(description, options)
        if options.motion is not None:
            yield f"\n{_animate(model, options, path)}"
        elif options.window:
            _open_window(model, options.q)

    if options.window and options.as_json and options.motion is None:
        _open_window(model, options.q)
    return Output(facts, parts(), files)


def _parts(description: Description, options: Options) -> Iterator[str | Table]:
    """Yield the table of the geometry, and the requested additions."""
    model, q = description.mechanism, options.q
    yield described(model)
    if q is not None:
        yield tool_text(model, q)
    for line in outside_limits(model, q):
        yield f"remark: {line}"
    if model.drives and not options.motors:
        yield "\n--motors prints the motors"
    if options.masses:
        yield mass_table(model)
    if options.motors and model.drives:
        yield motor_table(model)
    if options.limits:
        yield limit_table(model)
    if options.dynamics:
        yield from _dynamics_tables(model, _dynamics(model, q, options.qd))
    if options.base_parameters:
        yield _base_parameter_table(model)
    if options.motors and not model.drives:
        yield "\nno joint has a motor"
    for line in open_loops(model, q):
        yield f"remark: {line} at this --q"
    if description.external.any():
        yield f"\non the tool, in its axes: {action(description.external)}"
    for line in description.source if options.sources else ():
        room = min(WIDEST, terminal_width(sys.stdout) or WIDEST)
        yield "\n" + textwrap.fill(plain(line), room, subsequent_indent="  ")


def _facts(description: Description, options: Options) -> dict[str, Any]:
    """Keys and numbers of the complete .toml file, and the requested additions."""
    model, q = description.mechanism, options.q
    facts: dict[str, Any] = {"description": tomllib.loads("".join(toml_writer.render(description)))}
    if q is not None and model.loops:
        facts["open_loops"] = list(open_loops(model, q))
    if q is not None:
        pose = model.forward_kinematics(q)
        facts["tool"] = {"position": pose[:3, 3], "rpy": rotation_to_rpy(pose[:3, :3]), "matrix": pose}
    facts["remarks"] = list(outside_limits(model, q))
    if options.dynamics:
        facts["dynamics"] = _dynamics(model, q, options.qd)
    if options.base_parameters:
        base = model.base_parameters()
        facts["base_parameters"] = {
            "names": base.names,
            "values": base.values,
            "of": base.matrix.shape[1],
            "absent": base.absent,
        }
    return facts


# ── the configuration ─────────────────────────────────────────────────────────────────────────────


def tool_text(model: Mechanism, q: Sequence[float]) -> str:
    """Say where the tool is in the world at q (nq,): its origin, m, and roll, pitch and yaw, degrees.

    Examples
    --------
    >>> from linkwise import robots
    >>> tool_text(robots.planar_2r(), [0.0, np.pi / 2])
    'tool at 1 1 0 m, roll 0° pitch 0° yaw 90°'
    """
    pose = model.forward_kinematics(q)
    values = [*pose[:3, 3].tolist(), *np.degrees(rotation_to_rpy(pose[:3, :3])).tolist()]
    x, y, z, roll, pitch, yaw = (number(0.0 if abs(value) < ROUNDING else value) for value in values)
    return f"tool at {x} {y} {z} m, roll {roll}° pitch {pitch}° yaw {yaw}°"


def outside_limits(model: Mechanism, q: Sequence[float] | None) -> Iterator[str]:
    """Say which joints are outside their limits at q (nq,); without q, at zero, and where they are shown instead."""
    joints = slice(model.nq - model.n, model.nq)
    asked = np.asarray(model.neutral if q is None else q, dtype=float)[joints]
    limits = zip(model.q_min.tolist(), model.q_max.tolist(), strict=True)
    rows = zip(model.names, quantities.units(model, "q")[joints], asked, limits, resting(model)[joints], strict=True)
    for name, unit, value, (low, high), shown in rows:
        if not low - OUTSIDE <= value <= high + OUTSIDE:
            line = f"{plain(name)} {number(value)} is outside {number(low)} .. {number(high)} {unit}"
            yield line if q is not None or shown == value else f"{line}; without --q it is shown at {number(shown)}"


def open_loops(model: Mechanism, q: Sequence[float] | None) -> Iterator[str]:
    """Yield a message for each loop that is open at the given coordinates, with its closure error."""
    if not model.loops or q is None:
        return
    size = closing(model).size
    rows = np.cumsum([0, *(CLOSURE_ROWS[loop.kind] for loop in model.loops)])
    residual, facing = (model.kernel(name)(q) for name in ("closure", "closure_facing"))
    for k, loop in enumerate(model.loops):
        part = residual[rows[k] : rows[k + 1]]
        sine = float(np.linalg.norm(part[3:]))  # of the angle between the axes of a hinge, of half the angle between frames
        gap = float(np.linalg.norm(part[:3]))
        angle = math.atan2(sine, float(facing[k])) if loop.kind == "hinge" else 2.0 * math.asin(min(1.0, sine / 2.0))
        errors = [f"{number(gap)} m"] * (gap > NEARLY * size) + [f"{number(angle)} rad"] * (angle > NEARLY)
        if errors:
            yield f"loop {plain(loop.name) if loop.name else k + 1} is open by {' and '.join(errors)}"


# ── dynamics ──────────────────────────────────────────────────────────────────────────────────────


def _dynamics(model: Mechanism, q: Sequence[float] | None, qd: Sequence[float] | None) -> dict[str, Any]:
    """The mass matrix (nv, nv) and efforts (nv,) at a state; without one joints are at zero or the limit next to it."""
    at = resting(model) if q is None else np.asarray(q, dtype=float)
    rates = np.zeros(model.nv) if qd is None else np.asarray(qd, dtype=float)
    return {
        "q": at,
        "qd": rates,
        "units": quantities.units(model, "tau"),
        "mass_matrix": model.mass_matrix(at),
        "coriolis": model.coriolis_matrix(at, rates) @ rates,
        "gravity": model.gravity_torque(at),
        "friction": model.friction_torque(rates),
    }


def _dynamics_tables(model: Mechanism, facts: dict[str, Any]) -> Iterator[str | Table]:
    """The same for people."""
    if massless(model):
        yield f"\nremark: no masses are given for {plain(model.name)}; what depends on them is zero"
    names = [plain(name) for name in quantities.names(model, "qd")]
    inertia_units = {("N m",): "kg m2", ("N",): "kg"}.get(tuple(set(facts["units"])), "kg m2, kg m, kg")
    title = f"mass matrix of {plain(model.name)}, {inertia_units}; {_listed('q', facts['q'], model)}"
    columns = [_cells(column) for column in np.transpose(facts["mass_matrix"])]
    yield Table([title], ["M", *names], zip(names, *columns, strict=True))
    title = f"tau = M qdd + C qd + gravity + friction; {_listed('qd', facts['qd'], model)}"
    efforts = [_cells(facts[name]) for name in ("coriolis", "gravity", "friction")]
    rows = zip(map(plain, quantities.names(model, "tau")), *efforts, facts["units"], strict=True)
    yield Table([title], ["effort", "C qd", "gravity", "friction", "unit"], rows)


def _base_parameter_table(model: Mechanism) -> Table:
    """The base parameters, with the value of each on this mechanism."""
    base = model.base_parameters()
    lines = [f"{len(base)} base parameters of {base.matrix.shape[1]}: the fewest combinations that give all efforts"]
    lines.append("numbered as the links: inertia XX .. XZ about the origin, mass times centre of mass MX .. MZ, mass M;")
    lines.append("of motors Jm, viscous B, Coulomb Tc+ and Tc-; SI units")
    if base.absent:
        lines.append(f"without any effect: {', '.join(map(plain, base.absent))}")
    return Table(lines, ["value", Column("base parameter", write=plain)], zip(_cells(base.values), base.names, strict=True))


def _cells(values: FloatArray) -> list[str]:
    small = NEGLIGIBLE * float(np.abs(values).max(initial=0.0))
    return [number(0.0 if abs(value) <= small else value) for value in values.tolist()]


def _listed(quantity: str, values: FloatArray, model: Mechanism) -> str:
    """Write coordinates or velocities in a row: with one unit behind them where all have it, else with that of each."""
    units = ["" if unit == "1" else unit for unit in quantities.units(model, quantity)]
    cells = [number(value) for value in values.tolist()]
    if len(set(units)) == 1:
        return f"{quantity} {' '.join(cells)} {units[0]}"
    return f"{quantity} {', '.join(f'{cell} {unit}'.strip() for cell, unit in zip(cells, units, strict=True))}"


# ── pictures ──────────────────────────────────────────────────────────────────────────────────────


def _animate(model: Mechanism, options: Options, path: Path) -> str:
    """Animate a motion file and report it; as the option is explicit, a missing library is an error."""
    motion = open_motion(options.motion, model.n, model.names, floating=model.manifold_joints)
    film = animate(
        model, Trajectory(*motion.read(), manifold_joints=model.manifold_joints).of(model), path, speed=options.speed
    )
    seconds, count = film.times[-1] - film.times[0], len(film.times)
    return f"animation: {plain(path)}, {seconds:.4g} s of motion in {count} pictures"


def _open_window(model: Mechanism, q: Sequence[float] | None) -> None:
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise click.ClickException("there is no display for a window; leave out --window to write a file")
    pyplot = optional("matplotlib.pyplot", "pictures need matplotlib", "plot")
    figure: Any = pyplot.figure(figsize=(8.5, 7.0))
    draw(model, q, into=figure)
    pyplot.show()
