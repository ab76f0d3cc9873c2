"""``linkwise spacelib test`` and ``test-new``: two links that float, and how the programs compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option
from linkwise.cli.spacelib_names import bundled_argument, file_of, print_entries
from linkwise.cli.spacelib_output import file_asked, keep_apart, motion_of, print_parts, wrote

if TYPE_CHECKING:
    from linkwise.spacelib.programs.floating import History
    from linkwise.spacelib.programs.floating_comparison import Compared
    from linkwise.spacelib.programs.motions import Motion
    from linkwise.spacelib.programs.two_links import TwoLinks

PICTURES = ("png", "svg", "pdf")


def _floating(function: Callable[..., None]) -> Callable[..., None]:
    """Add what TEST and TEST_NEW have in common."""
    options = (
        bundled_argument("data", default="TEST.DAT"),
        bundled_argument("motion", default="TEST.MOT"),
        click.argument("out", type=click.Path(), required=False),
        click.option("--as-listed", is_flag=True, help="Keep the slips of the manual's listing: momentum is then lost."),
        click.option("--compare", is_flag=True, help="Print how far TEST, TEST_NEW and Linkwise's dynamics are apart."),
        click.option(
            "--halve", type=click.IntRange(0, 10), default=0, metavar="N", help="With --compare: halve the step N times."
        ),
        click.option(
            "--picture", metavar="FILE", type=click.Path(dir_okay=False), help="Draw all three: .png, .svg or .pdf."
        ),
        json_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command("test", short_help="Two floating links, from the motion of the motor (7.2).")
@_floating
def test(data: str, motion: str, out: str | None, **options: Any) -> None:
    """Predict where two links go that float: DATA describes them, MOTION moves the motor between them.

    Position, velocity and acceleration matrices of both links go to the file OUT; without OUT, or with S, they are
    printed. The wrong sign of the listing's last step is put right.

    \b
    Examples:
      linkwise spacelib test TEST.DAT TEST.MOT TEST.OUT
      linkwise spacelib test --compare --halve 3 --picture floating.png
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.spacelib.programs.floating import run_test

    _float(run_test, data, motion, out, options)


@click.command("test-new", short_help="The same, with momentum kept (7.2).")
@_floating
def test_new(data: str, motion: str, out: str | None, **options: Any) -> None:
    """Predict where two links go that float, as test does, with momentum set right at every step.

    \b
    Example:
      linkwise spacelib test-new TEST.DAT TEST.MOT TEST.OUT
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.spacelib.programs.floating import run_test_new

    _float(run_test_new, data, motion, out, options)


def _float(run: Callable[..., History], data: str, motion: str, out: str | None, options: dict[str, Any]) -> None:
    from linkwise.files.atomic import write_text
    from linkwise.spacelib.programs.floating import written
    from linkwise.spacelib.programs.two_links import read_two_links

    picture, compare, as_json = options["picture"], options["compare"], options["as_json"]
    suffix = _suffix(picture) if picture else ""
    if options["halve"] and not compare:
        raise click.UsageError("--halve is for --compare, which is not asked for")
    file = file_asked(out, as_json, (data, motion))
    if picture:
        keep_apart(picture, (data, motion, *([file] if file else [])), "--picture")
    links, moved = read_two_links(file_of(data)), motion_of(motion, 1)
    if out is not None or not (compare or (picture and not as_json)):
        made = run(links, moved, as_listed=options["as_listed"])
        if file is not None:
            write_text(file, written(made))
            wrote(file, f"{len(made.t)} instants of {made.program}")
        elif not as_json:
            print_parts(written(made))
        elif not compare:
            print_entries(_instant(made, k) for k in range(len(made.t)))
    if compare or picture:
        _compared(links, moved, options, suffix)


def _compared(links: TwoLinks, motion: Motion, options: dict[str, Any], suffix: str) -> None:
    from linkwise.spacelib.programs import floating_comparison as comparison

    wanted = {"halvings": options["halve"], "as_listed": options["as_listed"]}
    found = comparison.compare(links, motion, **wanted)
    if options["compare"]:
        (_compare_json if options["as_json"] else _compare_table)(found)
    if options["picture"]:
        from linkwise.cli.output import write_bytes
        from linkwise.view.figure import rendered
        from linkwise.view.floating_bodies import draw

        drawn = [one for one in found if one.history.dt == motion.dt]
        write_bytes(Path(options["picture"]), rendered(draw(links, drawn, comparison.names(drawn)), suffix))
        wrote(options["picture"], quiet=options["as_json"])


def _compare_table(found: list[Compared]) -> None:
    from linkwise.cli.layout import console, new_table, put, time_text

    table = new_table("program", "step", "position, m", "angle, rad", "momentum, kg m/s", "angular, kg m2/s")
    for one in found:
        errors = (one.distance, one.angle, one.linear, one.angular)
        table.add_row(one.history.program, time_text(one.history.dt), *(f"{values.max():.1e}" for values in errors))
    put(console(), "largest error of position and angle, and change of momentum", table)
    click.echo(
        "Errors are against Linkwise's dynamics of a floating base with half its step:\n"
        "of the centres of mass, and of the angle of link 1. Angular momentum is about\n"
        "the origin of frame (0)."
    )


def _compare_json(found: list[Compared]) -> None:
    rows = [
        {
            "program": one.history.program,
            "dt": one.history.dt,
            "position": float(one.distance.max()),
            "angle": float(one.angle.max()),
            "momentum": float(one.linear.max()),
            "angular_momentum": float(one.angular.max()),
        }
        for one in found
    ]
    click.echo(json.dumps(rows, indent=2))


def _instant(made: History, k: int) -> dict[str, Any]:
    names = ("t", "q", "qp", "qpp", "m1", "m2", "W1", "W2", "H1", "H2", "momentum")
    return {name: getattr(made, name)[k].tolist() for name in names}


def _suffix(path: str) -> str:
    found = Path(path).suffix.lower().removeprefix(".")
    if found not in PICTURES:
        raise click.BadParameter(f"a picture ends in .png, .svg or .pdf, not {Path(path).suffix!r}", param_hint="--picture")
    return found
