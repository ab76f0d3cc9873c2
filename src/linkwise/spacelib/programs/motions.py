"""Joint motions of the sample programs, sampled at a fixed step, and their .MOT files.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, tables 7.7 (TEST.MOT) and 7.9 (JOINT.MOT).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem, choices, shown
from linkwise.files import open_motion, spacelib_mot
from linkwise.files.atomic import write_text
from linkwise.spacelib.kinds import whole
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of n joints at k instants.

    Attributes
    ----------
    dt : float
        Time step, s.
    t : ndarray (k,)
        The instants, s; where a file was read, counted from its first sample.
    q, qp, qpp : ndarray (k, n)
        Coordinates, speeds and accelerations, rad or m.
    """

    dt: float
    t: FloatArray
    q: FloatArray
    qp: FloatArray
    qpp: FloatArray


def read_motion(path: str | Path, joints: int) -> Motion:
    """Read a .MOT file: the time step, then position, speed and acceleration of each joint, for one instant after the other.

    Parameters
    ----------
    path : str or Path
        The file.
    joints : int
        How many joints it holds.

    Raises
    ------
    FileError
        Where the file cannot be opened, or a number is wrong or missing, with its line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.mot"
    >>> _ = path.write_text("0.5  0 1 2  0.75 2 2")
    >>> read_motion(path, 1).q.tolist()
    [[0.0], [0.75]]
    """
    opened = open_motion(path, joints)
    t, q, qp, qpp = opened.read()
    if opened.dt is None:
        raise FileError(path, [FileProblem(1, "this is no .MOT file: expected the time step dt first")])
    return Motion(opened.dt, t, q, qp, qpp)


def refined(motion: Motion, parts: int) -> Motion:
    """The same motion with each step cut into equal parts, on the polynomials of degree five through the samples.

    Parameters
    ----------
    motion : Motion
        What is sampled.
    parts : int
        How many parts, 1 or more; 1 changes nothing.

    Raises
    ------
    ArgumentError
        Where parts is no whole number of 1 or more.

    Examples
    --------
    >>> at = np.array([[0.0], [1.0]])
    >>> refined(Motion(2.0, np.array([0.0, 2.0]), at, 0.0 * at, 0.0 * at), 2).q.tolist()
    [[0.0], [0.5], [1.0]]
    """
    if whole("parts", parts) == 1:
        return motion
    count = parts * (len(motion.t) - 1) + 1
    t = np.interp(np.arange(count) / parts, np.arange(len(motion.t)), motion.t)
    q, qp, qpp = PiecewisePolynomial(motion.t, motion.q, motion.qp, motion.qpp)(t)
    return Motion(motion.dt / parts, t, q, qp, qpp)


def save_motion(path: str | Path, motion: Motion, digits: str = "all") -> None:
    """Write a .MOT file, whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file.
    motion : Motion
        What it is to hold; the times themselves are not written.
    digits : {"all", "joint", "motor"}
        "all" writes the fewest digits that read back as the same numbers; "joint" five decimals, as table 7.9 prints
        JOINT.MOT; "motor" seven digits, as table 7.7 prints TEST.MOT.

    Raises
    ------
    ArgumentError
        For other digits.
    FileError
        Where the file cannot be written.
    """
    if digits not in LAYOUTS:
        raise ArgumentError(f"digits is {shown(digits)}; expected {choices(LAYOUTS)}")
    write_text(path, LAYOUTS[digits](motion))


def _all(motion: Motion) -> Iterator[str]:
    return spacelib_mot.render(motion.dt, motion.q, motion.qp, motion.qpp)


def _rounded(digits: Callable[[float], str], motion: Motion) -> Iterator[str]:
    yield f"{motion.dt!r}\n"
    for instant in np.stack((motion.q, motion.qp, motion.qpp), axis=-1).tolist():
        yield "".join(" ".join(map(digits, joint)) + "\n" for joint in instant)


def _five_decimals(value: float) -> str:
    return f"{value + 0.0:.5f}"


def _seven_digits(value: float) -> str:
    return f"{value + 0.0:.6E}" if abs(value) < 1.0 else f"{value:.6f}"


#: How numbers may be written.
LAYOUTS: dict[str, Callable[[Motion], Iterator[str]]] = {
    "all": _all,
    "joint": partial(_rounded, _five_decimals),
    "motor": partial(_rounded, _seven_digits),
}
