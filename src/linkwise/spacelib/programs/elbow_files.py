"""The files of the elbow robot: lengths of its links, motion of its gripper, first guess of its joint angles.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.6.2: tables 7.10 (ELBOW.DAT), 7.11 (GRIPPER.MOT) and 7.12
(GUESS.1ST). The motion of its joints is in `linkwise.spacelib.programs.motions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.files.atomic import write_text
from linkwise.spacelib.constants import X, Y, Z
from linkwise.spacelib.programs.formats import NumberFile, save_numbers
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import unmasked

JOINTS = 6

DIGITS = ("all", "manual")
"""How numbers are written: so that they read back as the same, or with six decimals as the manual has them."""

GROUPS = ("alpha beta gamma", "alpha' beta' gamma'", "alpha'' beta'' gamma''", "X Y Z", "X' Y' Z'", "X'' Y'' Z''")
"""The six lines of an instant of GRIPPER.MOT."""

DEFAULT_AXES = (X, Y, Z)
"""The convention in which the programs write the gripper's angles."""

LARGEST_MOTION = 1024**3
"""Bytes of the largest GRIPPER.MOT that is read: some millions of instants."""

_NAMES = tuple(name for group in GROUPS for name in group.split())


@dataclass(frozen=True, eq=False)
class GripperMotion:
    """The motion of the gripper at k instants.

    Attributes
    ----------
    dt : float
        Time step, s.
    t : ndarray (k,)
        The instants, s, from 0.
    axes : tuple of int
        The Cardan or Euler convention: the gripper turns about these moving axes in their order.
    q, qp, qpp : ndarray (k, 3)
        Angles of that convention and their time derivatives, rad.
    pos, vel, acc : ndarray (k, 3)
        Position, velocity and acceleration of the gripper's centre, base frame, m.
    """

    dt: float
    t: FloatArray
    axes: tuple[int, int, int]
    q: FloatArray
    qp: FloatArray
    qpp: FloatArray
    pos: FloatArray
    vel: FloatArray
    acc: FloatArray


def read_lengths(path: str | Path) -> FloatArray:
    """Read ELBOW.DAT: the lengths (6,) of the links, m.

    Raises
    ------
    FileError
        Where the file cannot be opened, or does not hold six numbers.

    Examples
    --------
    >>> from linkwise.spacelib.programs import bundled
    >>> read_lengths(bundled.path("ELBOW.DAT")).tolist()
    [1.5, 0.8, 0.8, 0.2, 0.0, 0.2]
    """
    return _six(path, "length of link")


def save_lengths(path: str | Path, lengths: npt.ArrayLike) -> None:
    """Write ELBOW.DAT: the lengths (6,) of the links, m, each on a line.

    Raises
    ------
    ArgumentError
        For other than six finite numbers.
    FileError
        Where the file cannot be written.
    """
    save_numbers(path, ([value] for value in check_lengths(lengths).tolist()))


def read_guess(path: str | Path) -> FloatArray:
    """Read GUESS.1ST: joint angles (6,) from which to begin, rad.

    Raises
    ------
    FileError
        Where the file cannot be opened, or does not hold six numbers.

    Examples
    --------
    >>> from linkwise.spacelib.programs import bundled
    >>> read_guess(bundled.path("GUESS.1ST")).tolist()
    [0.0, 0.1, 0.2, 0.0, 0.1, 0.0]
    """
    return _six(path, "angle of joint")


def save_guess(path: str | Path, q: npt.ArrayLike) -> None:
    """Write GUESS.1ST: joint angles (6,) from which to begin, rad, on one line.

    Raises
    ------
    ArgumentError
        For other than six finite numbers.
    FileError
        Where the file cannot be written.
    """
    save_numbers(path, [check_six("q", q, f"angles of {JOINTS} joints").tolist()])


def read_gripper(path: str | Path) -> GripperMotion:
    """Read GRIPPER.MOT: time step, axes of the convention (X=0, Y=1, Z=2), then eighteen numbers for each instant.

    Raises
    ------
    FileError
        Where the file cannot be opened, a number is wrong or missing, or the axes are no convention: two in a row the same.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "GRIPPER.MOT"
    >>> _ = path.write_text("0.01  0 1 2  " + "0 0 0  " * 3 + "0.2 1.8 1.5  0 0 0  0 0 0")
    >>> read_gripper(path).pos.tolist()
    [[0.2, 1.8, 1.5]]
    """
    file = NumberFile(path, LARGEST_MOTION)
    dt = file.number("time step dt")
    if dt <= 0.0:
        file.wrong(f"the time step dt is {dt!r}; expected a number > 0; is the first number, the time step, missing?")
    axes = tuple(file.whole(f"axis {k} of the convention", 0, 2) for k in (1, 2, 3))
    if axes[0] == axes[1] or axes[1] == axes[2]:
        said = f"the convention is {axes[0]} {axes[1]} {axes[2]}; expected three axes of which no two in a row are the same"
        file.wrong(said)
    rows: list[list[float]] = []
    while file.more or not rows:
        rows.append([file.number(f"{name} of instant {len(rows) + 1}") for name in _NAMES])
    file.finish()
    parts = np.array(rows).reshape(-1, 6, 3).swapaxes(0, 1)
    t = np.asarray(dt * np.arange(len(rows)), dtype=float)
    return GripperMotion(dt, t, (axes[0], axes[1], axes[2]), *parts)


def save_gripper(path: str | Path, motion: GripperMotion, digits: str = "all") -> None:
    """Write GRIPPER.MOT, whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file.
    motion : GripperMotion
        What it is to hold.
    digits : {"all", "manual"}
        The fewest digits that read back as the same numbers, or six decimals.

    Raises
    ------
    ArgumentError
        For other digits.
    FileError
        Where the file cannot be written.
    """
    write_text(path, gripper_text(motion, digits))


def gripper_text(motion: GripperMotion, digits: str = "all") -> Iterator[str]:
    """The text of GRIPPER.MOT, in parts: an instant is six lines; see `save_gripper`."""
    if digits not in DIGITS:
        raise ArgumentError(f"digits is {shown(digits)}; expected {choices(DIGITS)}")
    return _text(motion, "{!r}" if digits == "all" else "{:.6f}")


def _text(motion: GripperMotion, form: str) -> Iterator[str]:
    yield form.format(motion.dt) + "\n" + " ".join(map(str, motion.axes)) + "\n"
    parts = np.stack((motion.q, motion.qp, motion.qpp, motion.pos, motion.vel, motion.acc), axis=1) + 0.0
    for instant in parts.tolist():
        yield "\n" + "".join(" ".join(map(form.format, line)) + "\n" for line in instant)


def check_six(name: str, values: npt.ArrayLike, expected: str) -> FloatArray:
    """Six finite numbers as an array.

    Parameters
    ----------
    name, expected : str
        What they are called and what they must be, for the message.
    values : (6,) array_like
        The numbers.

    Raises
    ------
    ArgumentError
        For another shape, or what is no finite number.
    """
    try:
        array = np.asarray(unmasked(name, values), dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (JOINTS,) or not np.isfinite(array).all():
        raise ArgumentError(f"{name} is {shown(values)}; expected the {expected}, finite numbers")
    return array


def check_lengths(lengths: npt.ArrayLike) -> FloatArray:
    """The lengths of the links as an array, see `check_six`."""
    return check_six("lengths", lengths, f"lengths of {JOINTS} links")


def _six(path: str | Path, name: str) -> FloatArray:
    file = NumberFile(path)
    numbers = np.array([file.number(f"{name} {k}") for k in range(1, JOINTS + 1)])
    file.finish()
    return numbers


def not_six(motion_joints: int, program: str) -> None:
    """Refuse a motion that is not of the robot's joints.

    Raises
    ------
    ArgumentError
        Naming how many there are.
    """
    if motion_joints != JOINTS:
        raise ArgumentError(f"{program}: the motion is of {motion_joints} joints; expected {JOINTS}")
