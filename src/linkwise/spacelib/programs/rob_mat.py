"""ROB_MAT: direct kinematics and inverse dynamics of a serial manipulator, by the 4x4 matrix method.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.1; the numbers of the steps are those of its listing.
`Mechanism.motion`, `joint_wrenches` and `inverse_dynamics` compute the same for any mechanism, faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, FileError, shown
from linkwise.files import open_motion, spacelib_out
from linkwise.files.atomic import write_text
from linkwise.files.formats import spacelib_dat
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.model.link import Link
from linkwise.spacelib.constants import NULL4, ORIGIN, UNIT4, Pri, Rev, Z
from linkwise.spacelib.inertia import PseDot, actom, jtoj
from linkwise.spacelib.kinds import JOINT, read
from linkwise.spacelib.position import dhtom
from linkwise.spacelib.transformations import mami, mamt, skew
from linkwise.spacelib.velocity import coriolis, gtom, makel2, veactowh
from linkwise.spatial.matrix_method import pseudo_inertia
from linkwise.spatial.scalar import Array
from linkwise.spatial.validation import readable

#: The matrices of each link in the order in which they are printed.
PRINTED = ("A", "T", "W", "WO", "WA", "H", "HO", "HA", "J", "JO", "FI", "ACTO")

#: Numbers of a link in the data file.
ROW = 16

#: Links times instants computed at a time.
LINK_INSTANTS = 8192


@dataclass(frozen=True, eq=False)
class Robot:
    """Contents of the data file of a robot with n links.

    Attributes
    ----------
    jtype : tuple of int (n,)
        `Rev` or `Pri`.
    theta, d, b, a, alpha : ndarray (n,)
        Extended Denavit-Hartenberg parameters, rad and m; the listing calls d ``s`` and alpha ``alfa``.
    J : ndarray (n, 4, 4)
        Inertia matrix of each link in frame (i), about its origin.
    Hg : ndarray (4, 4)
        Gravity.
    EXT : ndarray (4, 4)
        Actions on the end effector from outside, in the frame of the last link.
    """

    jtype: tuple[int, ...]
    theta: Array
    d: Array
    b: Array
    a: Array
    alpha: Array
    J: Array
    Hg: Array
    EXT: Array

    @property
    def nlink(self) -> int:
        """Number of links."""
        return len(self.jtype)


@dataclass(frozen=True, eq=False)
class RobMat:
    """Motion and actions of n links, at one instant or at each of k; `...` is empty or k.

    Attributes
    ----------
    t : ndarray (...)
        Time, s.
    A, T : ndarray (..., n, 4, 4)
        Position of frame (i) in frame (i-1), and in frame (0).
    W, WO, WA : ndarray (..., n, 4, 4)
        Velocity of link i with respect to link i-1, in frame (i-1) and in frame (0); absolute velocity in frame (0).
    H, HO, HA : ndarray (..., n, 4, 4)
        Accelerations, likewise.
    J, JO : ndarray (n, 4, 4) and (..., n, 4, 4)
        Inertia in frame (i) and in frame (0).
    FI : ndarray (..., n, 4, 4)
        Actions of weight and inertia on each link, in frame (0).
    ACTO : ndarray (..., n, 4, 4)
        Action of link i on link i-1 through joint i, in frame (0): the opposite of `Mechanism.joint_wrenches`.
    tau : ndarray (..., n)
        Effort of each motor, N m or N, -PseDot(L, ACTO) with L of the joint in frame (0). Not in the listing.
    """

    t: Array
    A: Array
    T: Array
    W: Array
    WO: Array
    WA: Array
    H: Array
    HO: Array
    HA: Array
    J: Array
    JO: Array
    FI: Array
    ACTO: Array
    tau: Array


def read_robot(path: str | Path, *, physical: bool = True) -> Robot:
    """Read a data file (.DAT, manual, table 7.2).

    Parameters
    ----------
    path : str or Path
        The file.
    physical : bool
        Whether each inertia must be that of a body that can exist.

    Raises
    ------
    FileError
        With every mistake and its line.

    Examples
    --------
    >>> from linkwise.spacelib.programs.formats import path
    >>> read_robot(path("SCARA.DAT")).jtype
    (0, 0, 1)
    """
    reading = spacelib_dat.parse(read_text(path, LARGEST_DESCRIPTION), Path(path).stem, physical)
    if reading.description is None:
        raise FileError(path, reading.problems)
    mechanism = reading.description.mechanism
    rows = [_row(link) for link in mechanism.links]
    return robot(rows, mechanism.gravity, reading.description.external, physical=physical)


def _row(link: Link) -> list[float]:
    """The sixteen numbers of a link in the file."""
    placed, body, j = link.dh_row, link.body, link.body.tensor
    assert placed is not None
    moments = [j[0, 0], j[0, 1], j[0, 2], j[1, 1], j[1, 2], j[2, 2]]
    kind = Pri if link.joint == "prismatic" else Rev
    return [kind, placed.theta, placed.d, placed.b, placed.a, placed.alpha, body.mass, *moments, *body.com]


def robot(rows: Any, gravity: Any, external: Any = (0.0,) * 6, *, physical: bool = True) -> Robot:
    """Make a robot of the numbers of a data file (step (1) of the listing).

    Parameters
    ----------
    rows : (n, 16) array_like
        For each link: joint type; theta, d, b, a, alpha; mass; jxx, jxy, jxz, jyy, jyz, jzz about the centre of mass, in
        axes of frame (i), jxy being the integral of -x y dm; coordinates of the centre of mass in frame (i).
    gravity : (3,) array_like
        Acceleration of gravity in frame (0), m/s2.
    external : (6,) array_like
        Force (N) and couple (N m) on the end effector from outside, in the frame of the last link.
    physical : bool
        Whether each inertia must be that of a body that can exist, as `jtoj` asks.

    Raises
    ------
    ArgumentError
        For rows of another length, another joint type, or an inertia that no body has.

    Examples
    --------
    >>> robot([[Rev, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]], [0, 0, -9.81]).nlink
    1
    """
    table = _array("robot: rows", rows).copy()
    if (len(gravity), len(external)) != (3, 6):
        raise ArgumentError(f"robot: {len(gravity)} numbers of gravity and {len(external)} of external; expected 3 and 6")
    if table.ndim != 2 or not len(table) or table.shape[1] != ROW:
        raise ArgumentError(f"robot: rows have the shape {table.shape}; expected (n, {ROW})")
    inertias: list[Any] = []
    for mass, jxx, jxy, jxz, jyy, jyz, jzz, *com in table[:, 6:]:
        if physical:
            inertias.append(jtoj(mass, jxx, jyy, jzz, jxy, jyz, jxz, *com))
        else:
            inertias.append(pseudo_inertia(mass, com, [[jxx, jxy, jxz], [jxy, jyy, jyz], [jxz, jyz, jzz]]))
    kinds = tuple(read(JOINT, "robot: joint type", int(k) if k in (Rev, Pri) else k) for k in table[:, 0].tolist())
    theta, d, b, a, alpha = table[:, 1:6].T
    return Robot(kinds, theta, d, b, a, alpha, np.array(inertias), gtom(*gravity), actom(*external))


def rob_mat(robot: Robot, q: Any, qp: Any, qpp: Any, t: Any = 0.0) -> RobMat:
    """Move a robot: positions, velocities and accelerations from the base out, actions from the end effector back.

    Parameters
    ----------
    robot : Robot
        The robot with n links.
    q, qp, qpp : (n,) or (k, n) array_like
        Joint coordinates (rad or m), their speeds and accelerations; one instant may be of symbols.
    t : float or (k,) array_like
        Time, s; it is only handed through.

    Returns
    -------
    RobMat

    Raises
    ------
    ArgumentError
        For arrays of other shapes.

    Notes
    -----
    The text of the manual calls Ht the sum of Hg and HA; it is Hg - HA, weight less inertia, as in the listing.

    Examples
    --------
    >>> from linkwise.spacelib.programs.formats import path
    >>> scara = read_robot(path("SCARA.DAT"))
    >>> rob_mat(scara, [0, 0, 0], [1, 2, 0], [10, 20, 0]).tau.round(3).tolist()
    [107.391, 47.373, 29.4]
    """
    at, rate, second = _motions(robot.nlink, q, qp, qpp)
    with np.errstate(all="ignore"):  # an overflow raises an error in the next function
        return _moved(robot, at, rate, second, t)


def _moved(robot: Robot, at: Array, rate: Array, second: Array, t: Any) -> RobMat:
    """Steps (3) to (13) of the listing."""
    A: list[Array] = []
    W, H, WO, HO, L = [], [], [], [], []
    T, WA, HA = [UNIT4], [NULL4], [NULL4]
    for i, kind in enumerate(robot.jtype):
        geometry = (robot.theta[i], robot.d[i], robot.b[i], robot.a[i], robot.alpha[i])
        A.append(dhtom(kind, *geometry, at[..., i]))  # (3)
        velocity, acceleration = veactowh(kind, rate[..., i], second[..., i])  # (4)
        W.append(velocity)
        H.append(acceleration)
        WO.append(mami(velocity, T[-1]))  # (6)
        HO.append(mami(acceleration, T[-1]))  # (7)
        L.append(mami(makel2(kind, Z, 0.0, ORIGIN), T[-1]))
        HA.append(coriolis(HA[-1], HO[-1], WA[-1], WO[-1]))  # (9)
        WA.append(WA[-1] + WO[-1])  # (8)
        T.append(T[-1] @ A[-1])  # (5)
    JO, FI, ACTO = _actions(robot, T[1:], HA[1:])
    efforts = [-PseDot(screw, action) for screw, action in zip(L, ACTO, strict=True)]
    parts = {"A": A, "T": T[1:], "W": W, "WO": WO, "WA": WA[1:], "H": H, "HO": HO, "HA": HA[1:]}
    parts |= {"JO": JO, "FI": FI, "ACTO": ACTO}
    return RobMat(
        t=_times(t, at.shape[:-1]),
        J=robot.J,
        tau=np.stack(np.broadcast_arrays(*efforts), axis=-1),
        **{name: np.stack(np.broadcast_arrays(*part), axis=-3) for name, part in parts.items()},
    )


def _array(name: str, values: Any) -> Array:
    """Numbers as float64; symbols as they are."""
    try:
        array = np.asarray(readable(name, values))
        return array if array.dtype == object else array.astype(float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} is {shown(values)}; expected an array of numbers") from error


def _motions(n: int, *parts: Any) -> list[Array]:
    """Coordinates, velocities and accelerations as arrays of one shape."""
    arrays = [_array(f"rob_mat: {name}", values) for name, values in zip(("q", "qp", "qpp"), parts, strict=True)]
    shapes = [values.shape for values in arrays]
    if len(set(shapes)) > 1 or arrays[0].ndim not in (1, 2) or shapes[0][-1] != n:
        listed = ", ".join(map(str, shapes))
        raise ArgumentError(f"rob_mat: q, qp and qpp have the shapes {listed}; expected ({n},) or (k, {n}) for all three")
    return arrays


def _times(t: Any, shape: tuple[int, ...]) -> Array:
    """The time of each instant."""
    try:
        return np.broadcast_to(np.asarray(readable("t", t), dtype=float), shape).copy()
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"rob_mat: t does not fit instants {shape}; expected one time, or one for each") from error


def _actions(robot: Robot, T: list[Array], HA: list[Array]) -> tuple[list[Array], list[Array], list[Array]]:
    """JO, FI and ACTO of each link, from the end effector to the base."""
    JO, FI, ACTO = [], [], []
    carried = mamt(robot.EXT, T[-1])  # (10)
    for inertia, pose, acceleration in zip(reversed(robot.J), reversed(T), reversed(HA), strict=True):
        JO.append(mamt(inertia, pose))  # (11)
        FI.append(skew(robot.Hg - acceleration, JO[-1]))  # (12)
        carried = FI[-1] + carried  # (13)
        ACTO.append(carried)
    return JO[::-1], FI[::-1], ACTO[::-1]


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def run(data: str | Path, motion: str | Path, *, physical: bool = True, read_first: bool = False) -> Iterator[RobMat]:
    """Move a robot by its files, to the end of the motion, in blocks of instants, so that it may have any length.

    Parameters
    ----------
    data, motion : str or Path
        Data file (.DAT) and motion file (.MOT).
    physical : bool
        As for `read_robot`.
    read_first : bool
        Whether the motion is read to its end before anything is computed, and then once more.

    Raises
    ------
    FileError
        For a file that cannot be read; while iterating, or at once if it is read first, for a wrong or missing number of
        the motion.

    Examples
    --------
    >>> from linkwise.spacelib.programs.formats import path
    >>> [part.t.tolist() for part in run(path("SCARA.DAT"), path("SCARA.MOT"))]
    [[0.0, 0.05]]
    """
    robot = read_robot(data, physical=physical)
    opened = open_motion(motion, robot.nlink)
    for _ in opened if read_first else ():
        pass
    size = max(1, LINK_INSTANTS // robot.nlink)
    return (
        rob_mat(robot, q[start : start + size], qp[start : start + size], qpp[start : start + size], t[start : start + size])
        for t, q, qp, qpp in opened
        for start in range(0, len(t), size)
    )


def text(result: RobMat) -> Iterator[str]:
    """Lay out the matrices of every link and instant as the manual's program prints them, in parts.

    The labels are those of `linkwise.files.spacelib_out`, with the slips of the listing put right.
    """
    k = result.t.size
    parts = [np.asarray(getattr(result, name)) for name in PRINTED]
    shape = (k, *result.J.shape)
    return spacelib_out.text(np.stack([np.broadcast_to(part, shape) for part in parts], axis=2))


def write(path: str | Path, results: Iterable[RobMat]) -> None:
    """Write the OUT file; it appears whole or not at all.

    Raises
    ------
    FileError
        Where it cannot be written, or `results` fails on the way.
    """
    write_text(path, chain.from_iterable(text(result) for result in results))


def as_dicts(result: RobMat) -> Iterator[dict[str, Any]]:
    """Make of each instant a dictionary of plain lists, for JSON."""
    names = [field.name for field in fields(result) if field.name != "t"]
    for k, time in enumerate(np.atleast_1d(result.t).tolist()):
        values = {name: np.asarray(getattr(result, name)) for name in names}
        yield {"t": time} | {
            name: (value[k] if name != "J" and result.t.ndim else value).tolist() for name, value in values.items()
        }
