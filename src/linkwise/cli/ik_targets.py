"""The poses that ``linkwise ik`` is asked for: from options, from a file of poses, or from one of 4x4 matrices."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import click
import numpy as np

from linkwise.cli.state import numbers
from linkwise.errors import ArgumentError, FileError, FileProblem, choices, members
from linkwise.files.csv_columns import name_and_unit
from linkwise.files.numbers import number, why_not
from linkwise.files.text import read_text
from linkwise.spatial.poses import rigid_poses
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform

LETTERS = "xyzabc"
"""What may count: along x, y, z; about x, y, z."""

WORDS = {"position": "xyz", "orientation": "abc", "pose": LETTERS}

POSITION, QUATERNION, TURNS = ("x", "y", "z"), ("qw", "qx", "qy", "qz"), ("roll", "pitch", "yaw")
"""Columns of a file of poses."""

UNITS = {**dict.fromkeys(POSITION, ("m", "mm")), **dict.fromkeys(TURNS, ("rad", "deg")), **dict.fromkeys(QUATERNION, ("",))}
SCALES = {"mm": 1e-3, "deg": math.pi / 180.0}


@dataclass(frozen=True, eq=False)
class Targets:
    """Poses (k, 4, 4), what counts of them by letters, and their names in a table."""

    poses: FloatArray
    letters: str
    names: tuple[str, ...]

    @property
    def counted(self) -> FloatArray:
        """1 for what counts, 0 for what is free (6,)."""
        return np.array([float(letter in self.letters) for letter in LETTERS])

    @property
    def mask(self) -> Any:
        """What counts, as the solver takes it; None for all."""
        return None if self.letters == LETTERS else self.counted.astype(int).tolist()


def targets(
    file: str | None,
    position: str | None,
    rpy: str | None,
    quaternion: str | None,
    matrix: str | None,
    only: str | None,
    link: str | None,
) -> Targets:
    """Read what was asked for.

    Raises
    ------
    click.UsageError
        Where it was said in no way or in several, or an option is no pose.
    FileError
        Where a file is wrong, with the line.
    """
    single = [name for name, value in (("--position", position), ("--rpy", rpy), ("--quaternion", quaternion)) if value]
    ways = [name for name, value in (("TARGETS", file), ("--matrix", matrix), (" and ".join(single), single)) if value]
    if len(ways) != 1:
        raise click.UsageError(
            (f"{members(ways)} at once say" if ways else "nothing says") + " which pose; give a file TARGETS, --matrix, "
            "or --position, one of --rpy and --quaternion, or both"
        )
    if rpy and quaternion:
        raise click.UsageError("--rpy and --quaternion both say the orientation; give one")
    counted = _letters(only)
    if file:
        poses, given, names = _poses_of(file, link)
    elif matrix:
        poses, given = _matrices(matrix), LETTERS
        names = tuple(str(k + 1) for k in range(len(poses)))
    else:
        poses, given, names = *_pose(position, rpy, quaternion), ("1",)
    missing = [letter for letter in counted or "" if letter not in given]
    if missing:
        said = "orientation" if missing[0] in "abc" else "position"
        raise click.UsageError(f"--only {only} needs the {said}, which the target does not say")
    return Targets(poses, counted or given, names)


def _letters(only: str | None) -> str | None:
    if only is None:
        return None
    word = WORDS.get(only, only)
    if not word or set(word) - set(LETTERS) or len(set(word)) < len(word):
        raise click.BadParameter(
            f"{only!r} is not {choices(WORDS)}, nor letters of {LETTERS!r} (along x, y, z; about x, y, z)",
            param_hint="--only",
        )
    return "".join(letter for letter in LETTERS if letter in word)


def _pose(position: str | None, rpy: str | None, quaternion: str | None) -> tuple[FloatArray, str]:
    """One pose (1, 4, 4), and the letters of what is said of it."""
    at = _some(position, "length", "--position", "X,Y,Z in m") if position else [0.0] * 3
    if rpy:
        turned = rpy_to_rotation(*_some(rpy, "angle", "--rpy", "ROLL,PITCH,YAW in rad, or with deg"))
    elif quaternion:
        turned = _turned(_some(quaternion, "", "--quaternion", "W,X,Y,Z", 4))
    else:
        turned = np.eye(3)
    said = "xyz" * bool(position) + "abc" * bool(rpy or quaternion)
    return np.asarray(transform(turned, at), dtype=float)[None], said


def _some(text: str, kind: str, option: str, expected: str, count: int = 3) -> list[float]:
    found = numbers(text, option, [kind] * count)
    if len(found) != count:
        raise click.BadParameter(f"{text!r} is {len(found)} numbers; expected {expected}", param_hint=option)
    return found


def _turned(quaternion: Sequence[float]) -> FloatArray:
    length = math.hypot(*quaternion)
    if length < 1e-9:
        raise click.BadParameter("the quaternion w, x, y, z is zero; expected an orientation", param_hint="--quaternion")
    return np.asarray(quaternion_rotation(np.array(quaternion) / length), dtype=float)


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def _poses_of(path: str, link: str | None) -> tuple[FloatArray, str, tuple[str, ...]]:
    """Poses (k, 4, 4) of a file with a header, the letters of what it says, and their names: the time where it has one."""
    lines = _lines(path)
    if len(lines) < 2:
        _refuse(path, 0, "there is no pose; expected a header x, y, z, ... and a line for each pose")
    header = [name_and_unit(cell) for cell in lines[0][1]]
    names = [name for name, _ in header]
    groups = [group for group in (POSITION, TURNS, QUATERNION) if all(name in names for name in group)]
    if not groups or len(groups) > 2 or {TURNS, QUATERNION} <= set(groups):
        expected = "x, y, z, then qw, qx, qy, qz or roll, pitch, yaw, or one of these alone"
        _refuse(path, lines[0][0], f"the header has {members(names[:20])}; expected {expected}")
    rows = _of_link(path, lines, names, link)
    table = {name: _column(path, lines[0][0], header, rows, name) for group in groups for name in group}
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    if POSITION in groups:
        poses[:, :3, 3] = np.column_stack([table[name] for name in POSITION])
    if TURNS in groups:
        turns = zip(*(table[name] for name in TURNS), strict=True)
        poses[:, :3, :3] = [rpy_to_rotation(*angles) for angles in turns]
    if QUATERNION in groups:
        poses[:, :3, :3] = _all_turned(path, rows, np.column_stack([table[name] for name in QUATERNION]))
    said = "xyz" * (POSITION in groups) + "abc" * (len(groups) > (POSITION in groups))
    if "t" in names:
        return poses, said, tuple(f"t = {row[names.index('t')].strip()} s" for _, row in rows)
    return poses, said, tuple(str(k + 1) for k in range(len(rows)))


def _of_link(
    path: str, lines: list[tuple[int, list[str]]], names: list[str], link: str | None
) -> list[tuple[int, list[str]]]:
    """The rows that count: where a column tells the link, as in links.csv, those of the link that is asked for."""
    for line, row in lines[1:]:
        if len(row) != len(names):
            _refuse(path, line, f"{len(row)} cells; the header has {len(names)} columns")
    if "link" not in names:
        return lines[1:]
    at = names.index("link")
    links = list(dict.fromkeys(row[at].strip() for _, row in lines[1:]))
    if link not in links:
        _refuse(path, 0, f"it has poses of {members(links[:20])}; say which with --link")
    return [(line, row) for line, row in lines[1:] if row[at].strip() == link]


def _column(
    path: str, line: int, header: list[tuple[str, str | None]], rows: list[tuple[int, list[str]]], name: str
) -> FloatArray:
    at = [found for found, _ in header].index(name)
    unit = header[at][1]
    if unit and unit not in UNITS[name]:
        _refuse(path, line, f"column {name!r} is in {unit!r}; expected {choices(UNITS[name])}")
    return np.array([_cell(path, k, name, row[at]) for k, row in rows]) * SCALES.get(unit or "", 1.0)


def _all_turned(path: str, rows: list[tuple[int, list[str]]], quaternions: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(quaternions, axis=1)
    if np.any(lengths < 1e-9):
        _refuse(path, rows[int(np.argmax(lengths < 1e-9))][0], "the quaternion is zero; expected an orientation")
    return np.moveaxis(np.asarray(quaternion_rotation((quaternions / lengths[:, None]).T), dtype=float), -1, 0)


def _matrices(path: str) -> FloatArray:
    """Poses (k, 4, 4) of a file with four numbers a line, four lines a pose."""
    lines = _lines(path)
    for line, row in lines:
        if len(row) != 4:
            _refuse(path, line, f"{len(row)} numbers; expected 4 a line, and 4 lines a pose")
    if not lines or len(lines) % 4:
        _refuse(path, 0, f"{len(lines)} lines with numbers; expected 4 a pose")
    values = np.array([[_cell(path, line, str(k + 1), cell) for k, cell in enumerate(row)] for line, row in lines])
    try:
        return rigid_poses("the matrix", values.reshape(-1, 4, 4))
    except ArgumentError as error:
        raise FileError(path, [FileProblem(0, str(error))]) from error


def _lines(path: str) -> list[tuple[int, list[str]]]:
    """The cells of each line that is not blank, with its number; separated by semicolons, tabs, commas or blanks."""
    text = read_text(Path(path))
    first = next((line for line in text.split("\n") if line.strip()), "")
    separator = next((one for one in ";\t," if one in first), None)
    if separator is None:
        return [(k, line.split()) for k, line in enumerate(text.split("\n"), 1) if line.strip()]
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        return [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        _refuse(path, reader.line_num, f"{error}; this is not a table of numbers")


def _cell(path: str, line: int, name: str, cell: str) -> float:
    value = number(cell.strip()) if len(cell) <= 60 else None
    if value is None:
        why = why_not(cell[:60].strip()) if cell.strip() else "the cell is empty"
        _refuse(path, line, f"column {name!r}: {why}")
    return value


def _refuse(path: str, line: int, message: str) -> NoReturn:
    raise FileError(path, [FileProblem(line, message)])
