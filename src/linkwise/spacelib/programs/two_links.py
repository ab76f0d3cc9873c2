"""The two links that float in the programs TEST and TEST_NEW, and their file TEST.DAT.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.2, table 7.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem
from linkwise.spacelib.inertia import jtoj
from linkwise.spacelib.programs.formats import NumberFile, save_numbers
from linkwise.spacelib.programs.motions import Motion
from linkwise.spacelib.transformations import mamt, normal, skew
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import is_rigid

INERTIA = ("mass", "Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz", "Xg", "Yg", "Zg")
"""The numbers of a link in TEST.DAT."""

_ROUNDED = 1e-3
"""A rotation written with few digits may be off by so much; it is then made orthogonal."""


@dataclass(frozen=True, eq=False)
class TwoLinks:
    """Two bodies, the second turning about the z axis of the first, and how the first moves at the start.

    Attributes
    ----------
    J1, J2 : ndarray (4, 4)
        Inertia matrices, each in the frame of its body, kg m2, kg m and kg; the two frames coincide where the joint is
        at zero.
    W1 : ndarray (4, 4)
        Velocity matrix of the first body at the start, frame (0), rad/s and m/s.
    m1 : ndarray (4, 4)
        Its position matrix at the start.
    """

    J1: FloatArray
    J2: FloatArray
    W1: FloatArray
    m1: FloatArray


def read_two_links(path: str | Path) -> TwoLinks:
    """Read TEST.DAT: mass, moments and centre of mass of both links, then velocity and position matrix of the first.

    Parameters
    ----------
    path : str or Path
        The file: mass, Jx, Jy, Jz, Jxy, Jyz, Jxz, Xg, Yg, Zg of each link, the moments about its centre of mass, then two
        4x4 matrices row after row.

    Raises
    ------
    FileError
        Where it cannot be opened, a number is wrong or missing, a mass is not above zero, an inertia is of no body, or a
        matrix is no velocity or no position matrix.

    Examples
    --------
    >>> from linkwise.spacelib.programs import bundled
    >>> read_two_links(bundled.path("TEST.DAT")).J1.tolist()[0]
    [10.5, 0.0, 0.0, 10.0]
    """
    file = NumberFile(path)
    rows, ends = [], []
    for link in (1, 2):
        rows.append([file.number(f"{name} of link {link}") for name in INERTIA])
        ends.append(file.line)
    W1 = file.array("velocity matrix of link 1", 4, 4)
    speed_line = file.line
    m1 = file.array("position matrix of link 1", 4, 4)
    file.finish()
    J1, J2 = (_inertia(path, link, row, line) for link, row, line in zip((1, 2), rows, ends, strict=True))
    if not (np.array_equal(W1[:3, :3], -W1[:3, :3].T) and not W1[3].any()):
        message = "the velocity matrix of link 1 must be skew-symmetric but for its last column, and end in a row of zeros"
        raise FileError(path, [FileProblem(speed_line, message)])
    return TwoLinks(J1, J2, W1, _position(path, m1, file.line))


def save_two_links(path: str | Path, links: TwoLinks) -> None:
    """Write TEST.DAT as `read_two_links` reads it.

    The masses, the centres and the moments about these come out of the inertia matrices, so they are the same but for
    rounding.

    Raises
    ------
    FileError
        Where the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linkwise.spacelib.programs import bundled
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "TEST.DAT"
    >>> save_two_links(path, read_two_links(bundled.path("TEST.DAT")))
    >>> path.read_text().splitlines()[0]
    '10.0 1.0 1.0 1.0'
    """
    rows: list[list[float]] = []
    for J in (links.J1, links.J2):
        mass = float(J[3, 3])
        com = J[:3, 3] / mass
        S = J[:3, :3] - mass * np.outer(com, com)
        moments = (np.trace(S) - np.diag(S)).tolist()
        rows += [[mass, *moments], [-S[0, 1].item(), -S[1, 2].item(), -S[0, 2].item()], com.tolist()]
    save_numbers(path, [*rows, *links.W1.tolist(), *links.m1.tolist()])


def check_motor(program: str, motion: Motion) -> None:
    """Refuse a motion that is not that of one motor.

    Raises
    ------
    ArgumentError
        Where it is of another number of joints, or of no instants.
    """
    if motion.q.shape[1] != 1:
        raise ArgumentError(f"{program}: the motion is of {motion.q.shape[1]} joints; expected that of the one motor")
    if not len(motion.t):
        raise ArgumentError(f"{program}: the motion is of no instants; expected one or more")


def momentum(links: TwoLinks, m1: FloatArray, m2: FloatArray, W1: FloatArray, W2: FloatArray) -> FloatArray:
    """Momentum matrix Gamma (..., 4, 4) of both links about the origin of frame (0): angular block and linear column.

    The sum of skew(W J) over the links, both in frame (0) (manual, section 2.1).

    Parameters
    ----------
    links : TwoLinks
        Their inertias.
    m1, m2, W1, W2 : ndarray (..., 4, 4)
        Position and velocity matrices of both, frame (0).
    """
    return np.asarray(skew(W1, mamt(links.J1, m1)) + skew(W2, mamt(links.J2, m2)))


def _inertia(path: str | Path, link: int, row: list[float], line: int) -> FloatArray:
    if not row[0] > 0.0:
        raise FileError(path, [FileProblem(line, f"mass of link {link} is {row[0]!r}; expected a number > 0")])
    try:
        return np.asarray(jtoj(*row))
    except ArgumentError as error:
        raise FileError(path, [FileProblem(line, f"link {link}: {error}")]) from error


def _position(path: str | Path, m: FloatArray, line: int) -> FloatArray:
    with np.errstate(all="ignore"):
        rigid = is_rigid(m, _ROUNDED)
    if not rigid:
        message = "the position matrix of link 1 must hold a rotation, right-handed, and end in the row 0 0 0 1"
        raise FileError(path, [FileProblem(line, message)])
    return m if is_rigid(m, 1e-12) else np.asarray(normal(m))
