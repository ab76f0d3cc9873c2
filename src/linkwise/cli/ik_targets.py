"""The poses that ``linkwise ik`` is asked for: from options, from a table of poses, or from one of 4x4 matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from linkwise.cli.options import refuse
from linkwise.errors import choices, members
from linkwise.files.pose_table import ZERO, read_matrices, read_poses
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform

LETTERS = "xyzabc"
"""What may count: along x, y, z; about x, y, z."""

WORDS = {"translation": "xyz", "rotation": "abc", "all": LETTERS}


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
    position: Sequence[float] | None,
    rpy: Sequence[float] | None,
    quaternion: Sequence[float] | None,
    matrix: str | None,
    mask: str | None,
    link: str | None,
) -> Targets:
    """Read the targets.

    Raises
    ------
    click.UsageError
        Where there is none or more than one source of them, or an option is no pose.
    FileError
        Where a file is wrong, with the line.
    """
    options = [("--position", position), ("--rpy", rpy), ("--quaternion", quaternion)]
    single = " and ".join(name for name, value in options if value)
    sources = [name for name, value in (("TARGETS", file), ("--matrix", matrix), (single, single)) if value]
    if len(sources) != 1:
        how_many = f"{members(sources)} at once say" if sources else "nothing says"
        expected = "give a file TARGETS, --matrix, or --position, one of --rpy and --quaternion, or both"
        raise click.UsageError(f"{how_many} which pose; {expected}")
    if rpy and quaternion:
        raise click.UsageError("--rpy and --quaternion both say the orientation; give one")
    counted = _letters(mask)
    if file:
        poses, given, names = read_poses(file, link)
    else:
        poses, given = (read_matrices(matrix), LETTERS) if matrix else _pose(position, rpy, quaternion)
        names = tuple(str(k + 1) for k in range(len(poses)))
    missing = [letter for letter in counted or "" if letter not in given]
    if missing:
        part = "orientation" if missing[0] in "abc" else "position"
        raise click.UsageError(f"--mask {mask} needs the {part}, which the target does not have")
    return Targets(poses, counted or given, names)


def _letters(mask: str | None) -> str | None:
    if mask is None:
        return None
    word = WORDS.get(mask, mask)
    if not word or set(word) - set(LETTERS) or len(set(word)) < len(word):
        expected = f"{choices(WORDS)}, nor letters of {LETTERS!r} (along x, y, z; about x, y, z)"
        refuse(f"{mask!r} is not {expected}", "--mask")
    return "".join(letter for letter in LETTERS if letter in word)


def _pose(
    position: Sequence[float] | None, rpy: Sequence[float] | None, quaternion: Sequence[float] | None
) -> tuple[FloatArray, str]:
    """One pose (1, 4, 4), and the letters of its parts that are given."""
    rotation = rpy_to_rotation(*rpy) if rpy else np.eye(3)
    if quaternion:
        if math.hypot(*quaternion) < ZERO:
            refuse("the quaternion w, x, y, z is zero; expected an orientation", "--quaternion")
        rotation = quaternion_rotation(quaternion)
    letters = "xyz" * bool(position) + "abc" * bool(rpy or quaternion)
    return np.asarray(transform(rotation, position or [0.0] * 3), dtype=float)[None], letters
