"""Poses in a text file: a table of positions and orientations, or 4x4 matrices."""

from __future__ import annotations

import math

import numpy as np

from linkwise.errors import ArgumentError, members
from linkwise.files.number_table import NumberTable
from linkwise.spatial.poses import rigid_poses
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import FloatArray

POSITION, QUATERNION, RPY = ("x", "y", "z"), ("qw", "qx", "qy", "qz"), ("roll", "pitch", "yaw")
"""Columns of a file of poses."""

UNITS = (
    {name: {"m": 1.0, "mm": 1e-3} for name in POSITION}
    | {name: {"rad": 1.0, "deg": math.pi / 180.0} for name in RPY}
    | {name: {"": 1.0} for name in QUATERNION}
)

ZERO = 1e-9
"""A quaternion shorter than this has no direction."""


def read_poses(path: str, link: str | None = None) -> tuple[FloatArray, str, tuple[str, ...]]:
    """Read a table of poses: x, y, z and roll, pitch, yaw or qw, qx, qy, qz, or one of these alone; m and rad.

    Parameters
    ----------
    path : str
        The file. A unit may stand behind a name in brackets: m or mm, rad or deg.
    link : str, optional
        Whose poses, where a column ``link`` names links, as in links.csv.

    Returns
    -------
    tuple of ndarray (k, 4, 4), str, tuple of str
        The poses; ``"xyz"`` and ``"abc"`` for the position and the orientation that it has; a name for each pose, the time
        where there is a column ``t``, else its number.

    Raises
    ------
    FileError
        Where the file is wrong, with the line.
    """
    table = NumberTable(path, header="x, y, z, ...", row="pose")
    groups = [group for group in (POSITION, RPY, QUATERNION) if all(name in table.names for name in group)]
    if not groups or {RPY, QUATERNION} <= set(groups):
        expected = "x, y, z, then qw, qx, qy, qz or roll, pitch, yaw, or one of these alone"
        table.refuse(table.first, f"the header has {table.listed}; expected {expected}")
    _select_link(table, link)
    columns = {group: np.column_stack([_column(table, name) for name in group]) for group in groups}
    poses = np.tile(np.eye(4), (len(table.rows), 1, 1))
    if POSITION in columns:
        poses[:, :3, 3] = columns[POSITION]
    if RPY in columns:
        poses[:, :3, :3] = [rpy_to_rotation(*angles) for angles in columns[RPY]]
    if QUATERNION in columns:
        zero = np.linalg.norm(columns[QUATERNION], axis=1) < ZERO
        if np.any(zero):
            table.refuse(table.rows[int(np.argmax(zero))][0], "the quaternion is zero; expected an orientation")
        rotations = np.asarray(quaternion_rotation(columns[QUATERNION].T), dtype=float)
        poses[:, :3, :3] = np.moveaxis(rotations, -1, 0)
    letters = "xyz" * (POSITION in groups) + "abc" * (len(groups) > (POSITION in groups))
    time = table.place(["t"])
    if time is not None:
        return poses, letters, tuple(f"t = {row[time].strip()} s" for _, row in table.rows)
    return poses, letters, tuple(str(k + 1) for k in range(len(poses)))


def _column(table: NumberTable, name: str) -> FloatArray:
    place = table.place([name])
    assert place is not None
    return table.column(place, UNITS[name])


def _select_link(table: NumberTable, link: str | None) -> None:
    """Keep the rows of the link that is asked for, where a column names links as in links.csv."""
    place = table.place(["link"])
    if place is None:
        return
    links = list(dict.fromkeys(row[place].strip() for _, row in table.rows))
    if link not in links:
        table.refuse(0, f"it has poses of {members(links[:20])}; say which with --link")
    table.rows = [(line, row) for line, row in table.rows if row[place].strip() == link]


def read_matrices(path: str) -> FloatArray:
    """Read poses (k, 4, 4) from a file with four numbers a line, four lines a pose.

    Raises
    ------
    FileError
        Where the file is wrong, with the line.
    """
    table = NumberTable(path)
    for line, row in table.rows:
        if len(row) != 4:
            table.refuse(line, f"{len(row)} numbers; expected 4 a line, and 4 lines a pose")
    if not table.rows or len(table.rows) % 4:
        table.refuse(0, f"{len(table.rows)} lines with numbers; expected 4 a pose")
    rows = [[table.number(line, str(k + 1), cell) for k, cell in enumerate(row)] for line, row in table.rows]
    try:
        return rigid_poses("the matrix", np.array(rows).reshape(-1, 4, 4))
    except ArgumentError as error:
        table.refuse(0, str(error))
