"""Report all errors of a description file at once."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import click

from linkwise import comparison, files, robots
from linkwise.cli.command import Options, Output, argument, command, emit, option, painted
from linkwise.cli.options import POSITIVE
from linkwise.cli.reading import ReadingOptions, in_option_words, is_table
from linkwise.comparison import Comparison
from linkwise.control import chain_file
from linkwise.errors import ArgumentError, FileError, FileProblem, LinkwiseError
from linkwise.files import descriptions
from linkwise.files.formats.linkwise_toml import CHAIN
from linkwise.files.mechanism_remarks import impossible
from linkwise.files.motion import MotionRemarks
from linkwise.files.report import Reading, tool_among_tips
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.mechanism_tables import joint_letters, total_mass
from linkwise.model.formatting.table import counted, number, plain
from linkwise.model.tree import TOOL

#: The format of a file is named among its first lines.
HEAD_LINES = 50

Facts = dict[str, Any]


@command(
    argument("file", type=click.Path()),
    argument("motion", type=click.Path(), required=False),
    option(
        "--against",
        metavar="OTHER",
        help="Compare the kinematics with another description: a file, or a bundled robot.",
    ),
    option("--link", metavar="NAME", help="With --against: end of the chain in FILE. Default: the tool."),
    option("--link-against", metavar="NAME", help="With --against: end of the chain in OTHER. Default: its tool."),
    option("--tol", type=POSITIVE, default=1e-6, help="Tolerance of --against, m and rad."),
    option(
        "--dynamics",
        is_flag=True,
        help="With --against: compare masses, gravity and friction too.",
    ),
    reading=True,
)
def check(options: Options) -> Output:
    """Print all errors of a description FILE with their lines, and the first error of a MOTION.

    The exit status is 0 if the file can be used and 1 if not. A remark reports what is doubtful but allowed. --against
    compares the kinematics with those of OTHER; --dynamics compares masses, gravity and friction too. It prints the base,
    tool, signs and zeros between the two, or the differences; the exit status is 1 if they differ.

    \b
    Examples:
      linkwise check my_robot.toml
      linkwise check SCARA.DAT SCARA.MOT
      linkwise check my_robot.urdf --against table.csv
                     --dialect matlab --convention standard
    """  # noqa: D301  (\b keeps click from filling the lines)
    file, motion = options.file, options.motion
    if file in robots.names() and not os.path.exists(Path(file)):
        raise click.ClickException(f"check takes a file, and {file} is a bundled robot; try: linkwise show {file}")
    if options.against is None and (options.link or options.link_against or options.dynamics):
        raise click.UsageError("--link, --link-against and --dynamics are for --against, which is not given")
    if _is_chain(file):
        if motion is not None or options.against is not None:
            raise click.UsageError(f"{file} describes a chain; neither a motion nor --against goes with one")
        return _check_chain(file)
    read = _read(file, options.reading)
    if read.description is None:
        hint = ""
        if motion is None and Path(file).suffix.lower() == ".mot" and os.path.exists(Path(file)):
            hint = f"is it a motion? give it second: linkwise check ROBOT {plain(file)}"
        return _wrong(file, read.problems, {"remarks": []}, _possible(file, options.reading), {"hint": hint})
    model = read.description.mechanism
    remarks = _as_dicts(descriptions.all_remarks(read))
    lines = _summary(file, model, remarks)
    try:
        difference = None if options.against is None else _compared(model, options)
    except ArgumentError as error:
        if not options.as_json:
            emit(Output(parts=lines), as_json=False)
        raise click.ClickException(f"{error} (--link and --link-against name where the chains end)") from error
    data: Facts = {"file": file, "ok": True, "problems": [], "remarks": remarks, **_facts(model)}
    if motion is not None:
        try:
            moves = _motion(motion, model)
        except FileError as error:
            wrong = _wrong(motion, error.problems, {}, [], {})
            return Output(wrong.data, [*lines, *wrong.parts], status=1)
        data |= moves
        lines += [f"{plain(motion)}: {painted('ok', 'green')}", f"  motion: {moves['motion']}"]
        lines += [f"  remark: {plain(remark)}" for remark in moves["motion_remarks"]]
    if difference is not None:
        keys = ["same", "tol", "base", "tool", "signs", "offsets", "turns", "position_error", "rotation_error", "mass_error"]
        keys += ["gravity_error", "friction_error", "differences", "limits"]
        data["against"] = {name: getattr(difference, name) for name in keys}
        lines.append("\n" + str(difference).replace("dynamics=True does", "--dynamics does"))
    return Output(data, lines, status=int(difference is not None and not difference.same))


def _read(file: str, reading: ReadingOptions, **physical: bool) -> Reading:
    """Read a file as far as possible."""
    try:
        if is_table(file):
            return reading.table(file, **physical)
        return descriptions.parse(file, files.ReadOptions(**{**reading.keywords, **physical}))
    except FileError as error:
        return Reading(None, list(error.problems), {})


def _possible(file: str, reading: ReadingOptions) -> list[str]:
    """List the violations of impossible inertias, if there are no other errors."""
    try:
        description = _read(file, reading, physical=False).description
        return impossible(description.mechanism) if description else []
    except LinkwiseError:
        return []


def _compared(model: Mechanism, options: Options) -> Comparison:
    other = replace(options.reading, root=None, xacro=None).description(options.against).mechanism
    first, second = (TOOL if end is None else end for end in (options.link, options.link_against))
    return comparison.compare(model, other, link_a=first, link_b=second, tol=options.tol, dynamics=options.dynamics)


def _motion(path: str, model: Mechanism) -> Facts:
    """Read a motion completely; return its size, and remarks.

    Raises
    ------
    FileError
        Where it is wrong.
    """
    count, start, end = 0, None, 0.0
    opened = files.open_motion(path, model.n, model.names, floating=model.manifold_joints)
    odd = MotionRemarks(model, opened)
    for t, *values in opened:
        odd.add(t, *values)
        count, start, end = count + len(t), float(t[0]) if start is None else start, float(t[-1])
    text = f"{counted(count, 'instant')}, {number(start)} to {number(end)} s, {counted(model.n, 'joint')}"
    return {"motion": text, "motion_remarks": [remark.message for remark in odd.report()]}


# ── results ───────────────────────────────────────────────────────────────────────────────────────


def _wrong(file: str, problems: Sequence[FileProblem], before: Facts, possible: list[str], after: Facts) -> Output:
    """Output of a file's errors; ``before`` and ``after`` are facts around them."""
    entries = _as_dicts(problems)
    data = {"file": file, "ok": False, "problems": entries, **before, "possible": possible, **after}
    lines = [f"{plain(file)}: {painted(counted(len(entries), 'problem'), 'red')}"]
    lines += [f"  {_text(problem)}" for problem in entries]
    lines += ["what bodies allow:"] * bool(possible) + [f"  {plain(line)}" for line in possible]
    return Output(data, [*lines, *filter(None, after.values())], status=1)


def _as_dicts(problems: Sequence[FileProblem]) -> list[Facts]:
    return [{"line": problem.line, "message": in_option_words(problem.message)} for problem in problems]


def _text(problem: Facts) -> str:
    return plain(f"line {problem['line']}: {problem['message']}" if problem["line"] else problem["message"])


def _summary(file: str, model: Mechanism, remarks: Sequence[Facts]) -> list[str]:
    joints, links = f"{counted(model.n, 'joint')} {joint_letters(model)}".strip(), counted(len(model.links), "link")
    base = ", floating" if model.floating else ""
    mass = f"{number(total_mass(model))} kg"
    lines = [f"{plain(file)}: {painted('ok', 'green')}, {plain(model.name)} with {joints}, {links}, {mass}{base}"]
    if tips := tool_among_tips(model):
        lines.append(f"  {plain(tips)}")
    return lines + [f"  remark: {_text(remark)}" for remark in remarks]


def _facts(model: Mechanism) -> Facts:
    return {
        "mechanism": model.name,
        "tool": model.link_names[model.tool_index],
        "joints": model.names,
        "links": model.link_names,
        "mass": total_mass(model),
        "floating": model.floating,
    }


# ── chains ────────────────────────────────────────────────────────────────────────────────────────


def _is_chain(file: str) -> bool:
    """True if a file declares that it describes a chain."""
    if Path(file).suffix.lower() != ".toml" or not os.path.isfile(Path(file)):
        return False
    with Path(file).open(encoding="utf-8", errors="replace") as text:
        return any(re.match(rf"\s*format\s*=[\s\"']*{CHAIN}", line) for line in islice(text, HEAD_LINES))


def _check_chain(file: str) -> Output:
    """Output of the errors of a chain's file, or of its contents."""
    problems = chain_file.check(file)
    if problems:
        return _wrong(file, problems, {}, [], {})
    chain = chain_file.read(file)
    joints = chain.mechanism.n
    data = {
        "file": file,
        "ok": True,
        "problems": [],
        "possible": [],
        "chain": chain.name,
        "mechanism": chain.mechanism.name,
        "joints": joints,
        "loops": len(chain.mechanism.loops),
        "constraints": [{"name": row.name, "kind": row.kind, "link": row.link} for row in chain.constraints],
        "period": chain.period,
    }
    lines = [f"{plain(file)}: {painted('ok', 'green')}"]
    lines.append(f"  chain {plain(chain.name)}: {joints} joints, mechanism {plain(chain.mechanism.name)}")
    lines += [f"  {plain(row.name)}: {row.kind}, on {plain(row.link)}" for row in chain.constraints]
    if chain.clear is not None:
        count = len(chain.clear.clear.obstacles.names)
        apart = f"{chain.clear.clear.margin:g} m from each other and {count} obstacle{'' if count == 1 else 's'}"
        lines.append(f"  {plain(chain.clear.name)}: shapes stay {apart}")
    if not chain.built:
        lines.append("  no constraints")
    if chain.period:
        lines.append(f"  a cycle each {1e3 * chain.period:g} ms")
    return Output(data, lines)
