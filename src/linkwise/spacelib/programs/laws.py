"""The laws of motion behind the manual's files JOINT.MOT and TEST.MOT, which it describes but prints only in part.

Joint motions of the sample programs, sampled at a constant step, and their .MOT files (G. Legnani et al., *SpaceLib for
MATLAB, User's Manual*, section 7.6.3; tables 7.7, TEST.MOT, and 7.9, JOINT.MOT).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, FileError, FileProblem, shown
from linkwise.files import open_motion, spacelib_mot
from linkwise.files.atomic import write_text
from linkwise.spacelib.kinds import whole
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, readable
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
        Where parts is not a whole number of 1 or more.

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
    choice("digits", digits, LAYOUTS)
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


#: Formats of numbers.
LAYOUTS: dict[str, Callable[[Motion], Iterator[str]]] = {
    "all": _all,
    "joint": partial(_rounded, _five_decimals),
    "motor": partial(_rounded, _seven_digits),
}


#: Amplitude (rad) and duration (s) of each joint of the elbow robot: 90, 120, 120, -120, 180 and 360 degrees.
#:
#: Inferred. Table 7.9 prints one acceleration for each joint, to six digits, and that fixes only amplitude / duration^2.
#: These are pairs of round numbers, in degrees and tenths of a second, with that ratio; others serve as well, such as 30
#: degrees in 0.3 s for the second joint, and no one duration for all six gives round amplitudes. The first is a quarter
#: turn written as 1.5708, which gives the printed 28.27440; pi/2 would give 28.27433. How long each joint goes on cannot
#: be derived from the manual.
JOINT_LAWS = (
    (1.5708, 0.5),
    (2.0 * math.pi / 3.0, 0.6),
    (2.0 * math.pi / 3.0, 0.5),
    (-2.0 * math.pi / 3.0, 0.5),
    (math.pi, 0.4),
    (2.0 * math.pi, 0.2),
)

#: Time step and time of the first sample of JOINT.MOT, s.
#:
#: The printed speeds over the printed accelerations are 0.009 s and 0.019 s.
JOINT_STEP, JOINT_FIRST = 0.01, 0.009

#: Amplitude (rad) and duration (s) of the motor in TEST.MOT.
#:
#: Inferred from the rows of table 7.7. A cycloid with these two numbers gives every printed acceleration and speed to two
#: units of the last digit (the speed misprinted at t = 2 dt left aside), and the positions to 1e-5 of their size; the
#: printed ones do not fit the printed speeds any better. The accelerations fix the duration to about 1e-5 s, and for a
#: third of a second the amplitude to its six digits, which are no round number: 22.404 degrees.
MOTOR_LAW = (0.391023, 1.0 / 3.0)

#: Time step of TEST.MOT, s.
MOTOR_STEP = 0.002

#: Greatest number of instants of a motion.
LONGEST = 10_000_000


def three_part(t: npt.ArrayLike, amplitude: float, duration: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The law 1/3 -1/3 -1/3: constant acceleration, constant speed, constant deceleration, a third of the time each.

    With h the amplitude and T the duration the acceleration is 9 h / (2 T^2) and the speed in the middle 3 h / (2 T)
    (manual, section 7.6.3). Before the start and after the end it is at rest. Where two parts meet, the acceleration is
    that of the later one.

    Parameters
    ----------
    t : (...) array_like
        Time from the start, s.
    amplitude : float
        How far it goes, rad or m.
    duration : float
        Duration, s.

    Returns
    -------
    q, qp, qpp : ndarray (...)
        Position, speed, acceleration.

    Raises
    ------
    ArgumentError
        For a duration that is not above zero, or a time or an amplitude that is not a finite number.

    Examples
    --------
    >>> [values.tolist() for values in three_part([0.5, 1.5, 3.0], 4.0, 3.0)]
    [[0.25, 2.0, 4.0], [1.0, 2.0, 0.0], [2.0, 0.0, 0.0]]
    """
    time = _check(t, amplitude, duration)
    a, third = 4.5 * amplitude / duration**2, duration / 3.0
    v, left = a * third, duration - time
    parts = [time < 0.0, time < third, time < 2.0 * third, time < duration]
    q = np.select(parts, [0.0 * time, 0.5 * a * time**2, v * (time - 0.5 * third), amplitude - 0.5 * a * left**2], amplitude)
    qp = np.select(parts, [0.0 * time, a * time, v + 0.0 * time, a * left], 0.0)
    qpp = np.select(parts, [0.0, a, 0.0, -a], 0.0)
    return q, qp, qpp


def cycloidal(t: npt.ArrayLike, amplitude: float, duration: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The cycloidal law: the acceleration is one period of a sine.

    q = h (t/T - sin(2 pi t/T) / (2 pi)), with h the amplitude and T the duration; at rest before and after.

    Parameters
    ----------
    t : (...) array_like
        Time from the start, s.
    amplitude : float
        How far it goes, rad or m.
    duration : float
        Duration, s.

    Returns
    -------
    q, qp, qpp : ndarray (...)
        Position, speed, acceleration.

    Raises
    ------
    ArgumentError
        For a duration that is not above zero, or a time or an amplitude that is not a finite number.

    Examples
    --------
    >>> [values.round(9).tolist() for values in cycloidal([0.0, 0.5, 2.0], 3.0, 1.0)]
    [[0.0, 1.5, 3.0], [0.0, 6.0, 0.0], [0.0, 0.0, 0.0]]
    """
    time = _check(t, amplitude, duration)
    w = 2.0 * math.pi / duration
    angle = w * np.clip(time, 0.0, duration)
    moving = (time > 0.0) & (time < duration)
    q = amplitude * (angle - np.sin(angle)) / (2.0 * math.pi)
    qp = np.where(moving, 2.0 * amplitude / duration * np.sin(0.5 * angle) ** 2, 0.0)
    qpp = np.where(moving, amplitude * w / duration * np.sin(angle), 0.0)
    return np.where(time >= duration, amplitude, q), qp, qpp


def joint_motion(dt: float = JOINT_STEP, first: float = JOINT_FIRST) -> Motion:
    """The motion of the elbow robot's joints in JOINT.MOT, to the sample at which all are at rest.

    The manual leaves out t = 0, where the robot is singular, and begins at 0.009 s.

    Parameters
    ----------
    dt : float
        Time step, s.
    first : float
        Time of the first sample, s; 0 begins at the singular position.

    Returns
    -------
    Motion
        Of six joints.

    Raises
    ------
    ArgumentError
        For a step that is not above zero or gives more than ten million instants, or a first time below zero.

    Examples
    --------
    >>> joint_motion().q[0].round(5).tolist()
    [0.00115, 0.00106, 0.00153, -0.00153, 0.00358, 0.02863]
    """
    t = _instants(dt, first, max(duration for _, duration in JOINT_LAWS))
    q, qp, qpp = (np.stack(part, axis=-1) for part in zip(*(three_part(t, *law) for law in JOINT_LAWS), strict=True))
    return Motion(dt, t, q, qp, qpp)


def motor_motion(dt: float = MOTOR_STEP) -> Motion:
    """The motion of the motor in TEST.MOT, to the sample at which it is at rest.

    Parameters
    ----------
    dt : float
        Time step, s.

    Returns
    -------
    Motion
        Of one joint.

    Raises
    ------
    ArgumentError
        For a step that is not above zero, or gives more than ten million instants.

    Examples
    --------
    >>> motor_motion().qpp[:3, 0].round(6).tolist()
    [0.0, 0.833399, 1.665613]
    """
    t = _instants(dt, 0.0, MOTOR_LAW[1])
    q, qp, qpp = cycloidal(t, *MOTOR_LAW)
    return Motion(dt, t, q[:, None], qp[:, None], qpp[:, None])


def _instants(dt: float, first: float, end: float) -> FloatArray:
    """Instants from the first time in steps to the end, or the first step beyond it."""
    if not (math.isfinite(dt) and dt > 0.0):
        raise ArgumentError(f"dt is {dt!r}; expected a time step > 0")
    if not (math.isfinite(first) and first >= 0.0):
        raise ArgumentError(f"first is {first!r}; expected a time >= 0")
    steps = (end - first) / dt - 1e-9
    if steps > LONGEST:
        raise ArgumentError(f"dt is {dt!r}; expected a time step that gives at most {LONGEST:,} instants, not {steps:.1e}")
    count = max(0, math.ceil(steps)) + 1
    return first + dt * np.arange(count, dtype=float)


def _check(t: npt.ArrayLike, amplitude: float, duration: float) -> FloatArray:
    if not math.isfinite(amplitude):
        raise ArgumentError(f"amplitude is {amplitude!r}; expected a finite number")
    if not (math.isfinite(duration) and duration > 0.0):
        raise ArgumentError(f"duration is {duration!r}; expected a time > 0")
    time = np.asarray(readable("t", t), dtype=float)
    if not np.isfinite(time).all():
        raise ArgumentError(f"t is {shown(t)}; expected finite times")
    return time
