"""ELB_D_DH and ELB_D_PA: the gripper motion of the elbow robot from its joint motion, and the robot's files.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, sections 7.6.5 and 7.6.6. The whole motion is computed at once, each
matrix for all instants.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.6.2: tables 7.10 (ELBOW.DAT), 7.11 (GRIPPER.MOT) and 7.12
(GUESS.1ST). The motion of its joints is in `linkwise.spacelib.programs.laws`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.files.atomic import write_text
from linkwise.spacelib.cardan import htocarda
from linkwise.spacelib.constants import NULL4, ORIGIN, PIG_2, UNIT3, UNIT4, Rev, U, X, Y, Z
from linkwise.spacelib.position import dhtom, rotat24
from linkwise.spacelib.programs.formats import NumberFile, pages, save_numbers
from linkwise.spacelib.programs.laws import Motion
from linkwise.spacelib.transformations import mami, miam
from linkwise.spacelib.velocity import coriolis, vactowh3, veactowh
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.spatial.validation import choice, readable

JOINTS = 6

#: Formats of numbers: with all digits, or with six decimals as in the manual.
DIGITS = ("all", "manual")

#: The six lines of an instant of GRIPPER.MOT.
GROUPS = ("alpha beta gamma", "alpha' beta' gamma'", "alpha'' beta'' gamma''", "X Y Z", "X' Y' Z'", "X'' Y'' Z''")

#: The convention in which the programs write the gripper's angles.
DEFAULT_AXES = (X, Y, Z)

#: Bytes of the largest GRIPPER.MOT that is read: some millions of instants.
LARGEST_MOTION = 1024**3

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
    >>> from linkwise.spacelib.programs import formats
    >>> read_lengths(formats.path("ELBOW.DAT")).tolist()
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
    >>> from linkwise.spacelib.programs import formats
    >>> read_guess(formats.path("GUESS.1ST")).tolist()
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
        message = (
            f"the convention is {axes[0]} {axes[1]} {axes[2]}; expected three axes of which no two in a row are the same"
        )
        file.wrong(message)
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
    choice("digits", digits, DIGITS)
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
        For another shape, or what is not a finite number.
    """
    try:
        array = np.asarray(readable(name, values), dtype=float)
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


#: Denavit and Hartenberg's alpha of each link, rad; theta, d and b are zero.
ALPHA = (PIG_2, 0.0, 0.0, 3.0 * PIG_2, PIG_2, 0.0)

#: About which axis each joint turns, where all frames are parallel at home.
AXES = (Z, X, X, X, Z, X)

#: The sine of the second Cardan angle is so near to 1 where the others are not defined.
LOCKED = 1e-9

#: Position, velocity and acceleration matrix (..., 4, 4) of a frame relative to the one before, seen in that.
Relative = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Direct:
    """Results of the programs of direct kinematics.

    Attributes
    ----------
    gripper : GripperMotion
        The motion that goes into GRIPPER.MOT, with the Cardan angles X, Y, Z whose second is between -pi/2 and pi/2.
    M : ndarray (k, 4, 4)
        Position matrix of the gripper, base frame.
    W, H : ndarray (k, 4, 4)
        Its velocity and acceleration matrices in the auxiliary frame, which has its origin in the gripper's centre and is
        parallel to the base.
    """

    gripper: GripperMotion
    M: FloatArray
    W: FloatArray
    H: FloatArray


def elb_d_dh(lengths: npt.ArrayLike, motion: Motion) -> Direct:
    """The program ELB_D_DH: frames by Denavit and Hartenberg's convention.

    Parameters
    ----------
    lengths : (6,) array_like
        Lengths of the links, m.
    motion : Motion
        Motion of six joints.

    Returns
    -------
    Direct

    Raises
    ------
    ArgumentError
        For another number of lengths or joints, and where the gripper's second Cardan angle is a quarter turn: the others,
        and their rates, are not defined there.

    Examples
    --------
    >>> from linkwise.spacelib.programs import laws
    >>> made = elb_d_dh([1.5, 0.8, 0.8, 0.2, 0.0, 0.2], laws.joint_motion())
    >>> made.gripper.pos[0].round(6).tolist()
    [0.197937, 1.80094, 1.503131]
    """
    not_six(motion.q.shape[1], "elb_d_dh")
    a = check_lengths(lengths)
    first, last = ends(a)
    start = (first, NULL4, NULL4)
    M, W, H = carried(start, (_dh_link(a, motion, k) for k in range(JOINTS)))
    return _direct(M @ last, W, H, motion)


def elb_d_pa(lengths: npt.ArrayLike, motion: Motion) -> Direct:
    """The program ELB_D_PA: all frames parallel to each other at home, each at the start of its link.

    The listing leaves out the length of link 5, which is zero in the manual's robot; here it counts, so that both programs
    agree for any lengths.

    Parameters
    ----------
    lengths : (6,) array_like
        Lengths of the links, m.
    motion : Motion
        Motion of six joints.

    Returns
    -------
    Direct

    Raises
    ------
    ArgumentError
        As for `elb_d_dh`.

    Examples
    --------
    >>> from linkwise.spacelib.programs import laws
    >>> lengths = [1.5, 0.8, 0.8, 0.2, 0.0, 0.2]
    >>> one, other = elb_d_dh(lengths, laws.joint_motion()), elb_d_pa(lengths, laws.joint_motion())
    >>> bool(abs(one.H - other.H).max() < 1e-12 * abs(one.H).max())
    True
    """
    not_six(motion.q.shape[1], "elb_d_pa")
    a = check_lengths(lengths)
    return _direct(*gripper_pa(a, motion.q, motion.qp, motion.qpp), motion)


def gripper_pa(a: FloatArray, q: FloatArray, qp: FloatArray, qpp: FloatArray) -> Relative:
    """Position, velocity and acceleration matrices (..., 4, 4) of the gripper in the base frame, by parallel frames.

    Parameters
    ----------
    a : ndarray (6,)
        Lengths of the links, m.
    q, qp, qpp : ndarray (..., 6)
        Motion of the joints.
    """
    origins = np.zeros((JOINTS, 4))
    origins[:, U] = 1.0
    origins[1, Z] = a[0]
    origins[2:6, Y] = a[1:5]
    tool = UNIT4.copy()
    tool[X, U] = a[5]

    def link(k: int) -> Relative:
        relative = rotat24(AXES[k], q[..., k], origins[k])
        return (relative, *vactowh3(Rev, AXES[k], qp[..., k], qpp[..., k], origins[k]))

    M, W, H = carried((UNIT4, NULL4, NULL4), map(link, range(JOINTS)))
    return M @ tool, W, H


def ends(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Position matrices (4, 4) of frame (0) in the base, and of the gripper in frame (6)."""
    first = ORIGIN.copy()
    first[Z] = a[0]
    last = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, a[5]], [0.0, 0.0, 0.0, 1.0]])
    return np.asarray(rotat24(Z, PIG_2, first)), last


def offsets(a: FloatArray) -> FloatArray:
    """Denavit and Hartenberg's a (6,) of the links, m: those of the first and the last are in `ends`."""
    return np.concatenate([[0.0], a[1:5], [0.0]])


def carried(start: Relative, links: Iterable[Relative]) -> Relative:
    """Absolute position, velocity and acceleration matrices of the last frame, from those relative to the frame before.

    M = M M_rel, W = W + W_rel, H by Coriolis' theorem, W_rel and H_rel brought to the base frame.
    """
    M, W, H = start
    for relative, speed, acceleration in links:
        speed, acceleration = mami(speed, M), mami(acceleration, M)  # noqa: PLW2901  (in the base frame from here on)
        H = coriolis(H, acceleration, W, speed)
        W = W + speed
        M = M @ relative
    return M, W, H


def written(result: Direct) -> Iterator[str]:
    """Printed output of the programs: time, then three matrices, for each instant."""
    heads = (f"\nTime={t:f}\n" for t in result.gripper.t)
    matrices = {"position": result.M, "velocity": result.W, "acceleration": result.H}
    parts = {f"The {name} matrix of the gripper is:": matrix for name, matrix in matrices.items()}
    return pages(heads, parts, fixed=True)


def _dh_link(a: FloatArray, motion: Motion, k: int) -> Relative:
    relative = dhtom(Rev, 0.0, 0.0, 0.0, float(offsets(a)[k]), ALPHA[k], motion.q[:, k])
    return (relative, *veactowh(Rev, motion.qp[:, k], motion.qpp[:, k]))


def _direct(M: FloatArray, W: FloatArray, H: FloatArray, motion: Motion) -> Direct:
    """Angles and their rates, and the point's motion, from the matrices in the base frame."""
    auxiliary = transforms(np.broadcast_to(UNIT3, (len(M), 3, 3)), M[:, :3, U])
    W, H = miam(W, auxiliary), miam(H, auxiliary)
    t = np.asarray(motion.dt * np.arange(len(motion.t)), dtype=float)
    try:
        q, _, qp, _, qpp, _ = htocarda(M, W, H, *DEFAULT_AXES)
    except ArgumentError as error:
        locked = int(np.abs(M[:, X, Z]).argmax())
        if abs(M[locked, X, Z]) < 1.0 - LOCKED:
            raise
        raise ArgumentError(
            f"instant {locked + 1} (t = {t[locked]:g} s): the gripper's second Cardan angle is a quarter turn; the other"
            " two, and their rates, are not defined there"
        ) from error
    point = (matrix[:, :3, U] for matrix in (M, W, H))
    return Direct(GripperMotion(motion.dt, t, DEFAULT_AXES, q, qp, qpp, *point), M, W, H)
