"""The poses that ``linkwise ik`` is asked for: from options, from a table of poses, or from one of 4x4 matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from linkwise.cli.command import Options
from linkwise.cli.options import refuse
from linkwise.errors import choices, members
from linkwise.files.number_table import ZERO, read_matrices, read_poses
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


def targets(file: str | None, **parts: Any) -> Targets:
    """Read the targets.

    Parameters
    ----------
    file : str or None
        A table of poses.
    **parts
        The options ``position``, ``rpy``, ``quaternion``, ``matrix``, ``mask`` and ``link`` of `linkwise ik`.

    Raises
    ------
    click.UsageError
        Where there is none or more than one source of them, or an option is no pose.
    FileError
        Where a file is wrong, with the line.
    """
    options = Options(**parts)
    single = " and ".join(f"--{name}" for name in ("position", "rpy", "quaternion") if getattr(options, name))
    named = (("TARGETS", file), ("--matrix", options.matrix), (single, single))
    sources = [name for name, value in named if value]
    if len(sources) != 1:
        how_many = f"{members(sources)} at once say" if sources else "nothing says"
        expected = "give a file TARGETS, --matrix, or --position, one of --rpy and --quaternion, or both"
        raise click.UsageError(f"{how_many} which pose; {expected}")
    if options.rpy and options.quaternion:
        raise click.UsageError("--rpy and --quaternion both say the orientation; give one")
    counted = _letters(options.mask)
    if file:
        poses, letters, names = read_poses(file, options.link)
    else:
        poses, letters = (read_matrices(options.matrix), LETTERS) if options.matrix else _pose(options)
        names = tuple(str(k + 1) for k in range(len(poses)))
    missing = [letter for letter in counted or "" if letter not in letters]
    if missing:
        part = "orientation" if missing[0] in "abc" else "position"
        raise click.UsageError(f"--mask {options.mask} needs the {part}, which the target does not have")
    return Targets(poses, counted or letters, names)


def _letters(mask: str | None) -> str | None:
    if mask is None:
        return None
    word = WORDS.get(mask, mask)
    if not word or set(word) - set(LETTERS) or len(set(word)) < len(word):
        expected = f"{choices(WORDS)}, nor letters of {LETTERS!r} (along x, y, z; about x, y, z)"
        refuse(f"{mask!r} is not {expected}", "--mask")
    return "".join(letter for letter in LETTERS if letter in word)


def _pose(options: Options) -> tuple[FloatArray, str]:
    """One pose (1, 4, 4), and the letters of its parts that are stated."""
    rotation = rpy_to_rotation(*options.rpy) if options.rpy else np.eye(3)
    if options.quaternion:
        if math.hypot(*options.quaternion) < ZERO:
            refuse("the quaternion w, x, y, z is zero; expected an orientation", "--quaternion")
        rotation = quaternion_rotation(options.quaternion)
    letters = "xyz" * bool(options.position) + "abc" * bool(options.rpy or options.quaternion)
    return np.asarray(transform(rotation, options.position or [0.0] * 3), dtype=float)[None], letters
