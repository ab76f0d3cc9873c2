"""``linkwise check``: everything wrong with a file at once, and whether it says the same as another one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.check_chain import chain_facts, chain_problems, is_chain, print_chain
from linkwise.cli.finite import POSITIVE
from linkwise.cli.reading import description, is_table, reading_options, spoken, table_reading, worded
from linkwise.cli.words import ok, painted, say

if TYPE_CHECKING:
    from linkwise.comparison import Comparison
    from linkwise.errors import FileProblem
    from linkwise.mechanism import Mechanism


@click.command(short_help="Everything wrong with a description file, at once.")
@click.argument("file", type=click.Path())
@click.argument("motion", type=click.Path(), required=False)
@click.option(
    "--against",
    metavar="OTHER",
    help="Compare the kinematics with those of another description: a file, or a bundled robot.",
)
@click.option("--link", metavar="NAME", help="Where the chain of FILE ends, for --against; the tool unless said.")
@click.option("--link-against", metavar="NAME", help="Where the chain of OTHER ends; its tool unless said.")
@click.option("--tol", type=POSITIVE, default=1e-6, show_default=True, help="What --against calls the same, m and rad.")
@click.option(
    "--dynamics",
    is_flag=True,
    help="Let --against compare masses, gravity and friction too; it compares kinematics alone without.",
)
@json_option
@reading_options
def check(
    file: str,
    motion: str | None,
    against: str | None,
    link: str | None,
    link_against: str | None,
    tol: float,
    dynamics: bool,
    as_json: bool,
) -> None:
    """Say everything that is wrong with a description FILE, each with its line; of a MOTION, the first thing.

    The exit status is 0 if the file can be used and 1 if not. What is odd but allowed is told as a remark. With --against
    it is also 1 if OTHER describes another robot: what lies between the two is printed, base, tool, signs and zeros, or
    what differs and where. That is of kinematics alone; --dynamics compares masses, gravity and friction too.

    \b
    Examples:
      linkwise check my_robot.toml
      linkwise check SCARA.DAT SCARA.MOT
      linkwise check my_robot.urdf --against table.csv
                     --dialect matlab --convention standard
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise import robots
    from linkwise.errors import ArgumentError

    if file in robots.names() and not os.path.exists(Path(file)):
        raise click.ClickException(f"check takes a file, and {file} is a bundled robot; try: linkwise show {file}")
    if against is None and (link or link_against or dynamics):
        raise click.UsageError("--link, --link-against and --dynamics are for --against, which is not given")
    if is_chain(file):
        _check_chain(file, as_json, alone=motion is None and against is None)
        return
    told: dict[str, Any] = {"file": file, "ok": False, "problems": _as_dicts(_problems(file)), "remarks": []}
    if told["problems"]:
        told["possible"] = _possible(file)
        told["hint"] = _hint(file) if motion is None else ""
        _print_problems(file, told, as_json)
        raise SystemExit(1)
    mechanism = description(file).mechanism
    told["ok"], told["remarks"] = True, _as_dicts(_remarks(file))
    try:
        found = None if against is None else _compared(mechanism, against, link, link_against, tol, dynamics)
    except ArgumentError as error:
        if not as_json:
            _print_good(file, mechanism, told["remarks"])
        raise click.ClickException(f"{error} (--link and --link-against name where the chains end)") from error
    if as_json:
        read = {} if motion is None else _motion(motion, mechanism, as_json)
        print_json(told | _facts(mechanism) | read | ({"against": _comparison(found)} if found else {}))
    else:
        _print_good(file, mechanism, told["remarks"])
        if motion is not None:
            _print_motion(motion, _motion(motion, mechanism, as_json))
        if found is not None:
            say("\n" + str(found).replace("dynamics=True does", "--dynamics does"))
    if found is not None and not found.same:
        raise SystemExit(1)


def _check_chain(file: str, as_json: bool, alone: bool) -> None:
    """Say what is wrong with the file of a chain, or what is in it."""
    if not alone:
        raise click.UsageError(f"{file} describes a chain; neither a motion nor --against goes with one")
    told: dict[str, Any] = {"file": file, "ok": False, "problems": _as_dicts(chain_problems(file)), "possible": []}
    if told["problems"]:
        _print_problems(file, told, as_json)
        raise SystemExit(1)
    facts = chain_facts(file)
    if as_json:
        print_json(told | {"ok": True} | facts)
    else:
        print_chain(file, facts)


def _problems(file: str) -> Sequence[FileProblem]:
    from linkwise import files
    from linkwise.errors import FileError

    if not is_table(file):
        return files.check(file, **spoken().options)
    try:
        return table_reading(file, physical=not spoken().any_inertia).problems
    except FileError as error:
        return error.problems


def _remarks(file: str) -> Sequence[FileProblem]:
    from linkwise import files
    from linkwise.files.remarks import remarks_on

    if not is_table(file):
        return files.remarks(file, **spoken().options)
    reading = table_reading(file, physical=not spoken().any_inertia)
    assert reading.description is not None
    return remarks_on(reading.description.mechanism, reading)


def _possible(file: str) -> list[str]:
    """By how much inertias are impossible, where that is all that is wrong."""
    from linkwise import files
    from linkwise.errors import LinkwiseError
    from linkwise.files.remarks import impossible

    try:
        if is_table(file):
            found = table_reading(file, physical=False).description
            return impossible(found.mechanism) if found else []
        return impossible(files.read(file, **{**spoken().options, "physical": False}).mechanism)
    except LinkwiseError:
        return []


def _compared(
    mechanism: Mechanism,
    against: str,
    link: str | None,
    link_against: str | None,
    tol: float,
    dynamics: bool,
) -> Comparison:
    from linkwise.comparison import compare

    other = description(against, second=True).mechanism
    first, second = (-1 if end is None else end for end in (link, link_against))
    return compare(mechanism, other, link_a=first, link_b=second, tol=tol, dynamics=dynamics)


# ── what it prints ────────────────────────────────────────────────────────────────────────────────


def _plain(text: str) -> str:
    from linkwise.model.table import plain

    return plain(text)


def _as_dicts(problems: Sequence[FileProblem]) -> list[dict[str, Any]]:
    return [{"line": problem.line, "message": worded(problem.message)} for problem in problems]


def _hint(file: str) -> str:
    """What to say where a motion may have been given in the place of a description."""
    if Path(file).suffix.lower() != ".mot" or not os.path.exists(Path(file)):
        return ""
    return f"is it a motion? give it second: linkwise check ROBOT {_plain(file)}"


def _text(told: dict[str, Any]) -> str:
    from linkwise.model.table import plain

    return plain(f"line {told['line']}: {told['message']}" if told["line"] else told["message"])


def _print_problems(file: str, told: dict[str, Any], as_json: bool) -> None:
    from linkwise.model.table import plain

    if as_json:
        print_json(told)
        return
    count = len(told["problems"])
    said = painted(f"{count} problem{'s' if count > 1 else ''}", "red")
    say(f"{plain(file)}: {said}")
    for problem in told["problems"]:
        say(f"  {_text(problem)}")
    if told["possible"]:
        say("what bodies allow:")
    for line in told["possible"]:
        say(f"  {plain(line)}")
    if told.get("hint"):
        say(told["hint"])


def _print_good(file: str, mechanism: Mechanism, remarks: Sequence[dict[str, Any]]) -> None:
    from linkwise.files.tips import tool_among_tips
    from linkwise.model.part_tables import total_mass
    from linkwise.model.table import joint_letters, number, plain

    joints = f"{mechanism.n} joint{'s' if mechanism.n != 1 else ''} {joint_letters(mechanism)}".strip()
    links = f"{len(mechanism.links)} link{'s' if len(mechanism.links) > 1 else ''}"
    base = ", floating" if mechanism.floating else ""
    mass = f"{number(total_mass(mechanism))} kg"
    say(f"{plain(file)}: {ok()}, {plain(mechanism.name)} with {joints}, {links}, {mass}{base}")
    if tips := tool_among_tips(mechanism):
        say(f"  {plain(tips)}")
    for remark in remarks:
        say(f"  remark: {_text(remark)}")


def _facts(mechanism: Mechanism) -> dict[str, Any]:
    from linkwise.model.part_tables import total_mass

    return {
        "mechanism": mechanism.name,
        "tool": mechanism.link_names[mechanism.tool_index],
        "joints": list(mechanism.names),
        "links": list(mechanism.link_names),
        "mass": total_mass(mechanism),
        "floating": mechanism.floating,
    }


def _comparison(found: Comparison) -> dict[str, Any]:
    """What a comparison found, in lists and numbers; what is not there is null."""
    arrays = {name: getattr(found, name) for name in ("base", "tool", "signs", "offsets")}
    names = ("position_error", "rotation_error", "mass_error", "gravity_error", "friction_error")
    errors = {name: getattr(found, name) for name in names}
    return {
        "same": found.same,
        "tol": found.tol,
        **{name: None if array is None else array.tolist() for name, array in arrays.items()},
        **{name: None if error in {None, float("inf")} else error for name, error in errors.items()},
        "differences": list(found.differences),
        "limits": list(found.limits),
    }


def _print_motion(path: str, told: dict[str, Any]) -> None:
    say(f"{_plain(path)}: {ok()}\n  motion: {told['motion']}")
    for remark in told["motion_remarks"]:
        say(f"  remark: {_plain(remark)}")


def _motion(path: str, mechanism: Mechanism, as_json: bool) -> dict[str, Any]:
    """Read a motion to its end and say how much it is, and what is odd about it; leave where it is wrong."""
    from linkwise import files
    from linkwise.errors import FileError
    from linkwise.files.motion_remarks import MotionRemarks
    from linkwise.model.table import number

    count, start, end = 0, None, 0.0
    try:
        opened = files.open_motion(path, mechanism.n, mechanism.names, floating=mechanism.floating)
        odd = MotionRemarks(mechanism, opened)
        for t, *values in opened:
            odd.add(t, *values)
            count, start, end = count + len(t), float(t[0]) if start is None else start, float(t[-1])
    except FileError as error:
        told = {"file": path, "ok": False, "problems": _as_dicts(error.problems), "possible": []}
        _print_problems(path, told, as_json)
        raise SystemExit(1) from error
    instants, joints = ("1 instant" if count == 1 else f"{count:,} instants"), mechanism.n
    text = f"{instants}, {number(start)} to {number(end)} s, {joints} joint{'s' if joints > 1 else ''}"
    return {"motion": text, "motion_remarks": [remark.message for remark in odd.told()]}
