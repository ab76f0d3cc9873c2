"""TEST and TEST_NEW: the motion of two floating links from the motion of the motor between them, and their file TEST.DAT.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.2, with the slips of the listings put right: in step (o)
the speed takes the acceleration with the sign of eq. 7.16, the momentum of TEST_NEW is that of the inertias in frame (0),
and the motor's file is read to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem
from linkwise.spacelib.constants import NULL4, OK, ORIGIN, SKEW_, SYMM_, UNIT4, Rev, Z, Zaxis
from linkwise.spacelib.direct_dynamics import dyn_eq
from linkwise.spacelib.inertia import jtoj
from linkwise.spacelib.position import screwtom
from linkwise.spacelib.programs.formats import NumberFile, pages, save_numbers
from linkwise.spacelib.programs.laws import Motion
from linkwise.spacelib.transformations import mami, mamt, normal, normskew, skew
from linkwise.spacelib.velocity import coriolis, vactowh2
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import is_rigid

#: The numbers of a link in TEST.DAT.
INERTIA = ("mass", "Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz", "Xg", "Yg", "Zg")

#: A rotation written with few digits may be off by so much; it is then made orthogonal.
_ROUNDED = 1e-3


@dataclass(frozen=True, eq=False)
class TwoLinks:
    """Two bodies, the second rotating about the z axis of the first, and the initial motion of the first.

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
    >>> from linkwise.spacelib.programs import formats
    >>> read_two_links(formats.path("TEST.DAT")).J1.tolist()[0]
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
    >>> from linkwise.spacelib.programs import formats
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "TEST.DAT"
    >>> save_two_links(path, read_two_links(formats.path("TEST.DAT")))
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


#: Printed quantities of each instant, and their headings.
LABELS = (
    ("m1", "Position matrix of link 1"),
    ("m2", "Absolute position matrix of link 2"),
    ("W1", "Velocity matrix of link 1"),
    ("W2", "Absolute velocity matrix of link 2"),
    ("H1", "Acceleration matrix of link 1"),
    ("H2", "Absolute acceleration matrix of link 2"),
)

_ALL_UNKNOWN = np.array([[1] * 6, [0] * 6])


@dataclass(frozen=True, eq=False)
class History:
    """Motion of the two links.

    Attributes
    ----------
    program : str
        What computed it.
    dt : float
        Time step, s.
    t, q, qp, qpp : ndarray (k,)
        The instants, s, and the motor's motion, rad.
    m1, m2, W1, W2, H1, H2 : ndarray (k, 4, 4)
        Position, velocity and acceleration matrices of both links, frame (0).
    momentum : ndarray (k, 4, 4)
        Momentum matrix of both together, frame (0).
    """

    program: str
    dt: float
    t: FloatArray
    q: FloatArray
    qp: FloatArray
    qpp: FloatArray
    m1: FloatArray
    m2: FloatArray
    W1: FloatArray
    W2: FloatArray
    H1: FloatArray
    H2: FloatArray
    momentum: FloatArray


def run_test(links: TwoLinks, motion: Motion, *, as_listed: bool = False) -> History:
    """The program TEST: the acceleration of link 1 at each instant, and from it the next instant (manual, eq. 7.1 to 7.16).

    Its integration is of first order: speeds take one acceleration for the whole step. With half the step positions are
    half as far off, and momentum is lost half as fast.

    Parameters
    ----------
    links : TwoLinks
        The bodies and their start.
    motion : Motion
        Motion of the motor, one joint.
    as_listed : bool
        Whether step (o) keeps the wrong sign of the listing. Momentum is then lost at any time step.

    Returns
    -------
    History

    Raises
    ------
    ArgumentError
        Where the motion is of more joints than one or of no instants, or no acceleration can be found (NOTOK of `dyn_eq`).

    Examples
    --------
    >>> from linkwise.spacelib.programs import floating, formats, laws
    >>> links = floating.read_two_links(formats.path("TEST.DAT"))
    >>> float(run_test(links, laws.motor_motion()).W1[5, 1, 0].round(4))
    -0.0083
    """
    return _run("TEST as listed" if as_listed else "TEST", links, motion, False, as_listed)


def run_test_new(links: TwoLinks, motion: Motion, *, as_listed: bool = False) -> History:
    """The program TEST_NEW: as TEST, with velocities corrected at each instant to the initial momentum.

    Linear and angular momentum are six numbers, and so are the speeds of link 1: the correction fixes them all (manual,
    section 7.2.4, note).

    Parameters
    ----------
    links : TwoLinks
        The bodies and their start.
    motion : Motion
        Motion of the motor, one joint.
    as_listed : bool
        Whether the two slips of the listing are kept: the sign of step (o), and momentum of the inertias in the links' own
        frames.

    Returns
    -------
    History

    Raises
    ------
    ArgumentError
        As for `run_test`.

    Examples
    --------
    >>> from linkwise.spacelib.programs import floating, formats, laws
    >>> links = floating.read_two_links(formats.path("TEST.DAT"))
    >>> made = run_test_new(links, laws.motor_motion())
    >>> bool(abs(made.momentum - made.momentum[0]).max() < 1e-13)
    True
    """
    return _run("TEST_NEW as listed" if as_listed else "TEST_NEW", links, motion, True, as_listed)


def written(history: History) -> Iterator[str]:
    """The output of the programs: time and motion of the motor, then six matrices, for each instant."""
    motor = zip(history.t, history.q, history.qp, history.qpp, strict=True)
    heads = (f"\n\n--- time:{t:4.3f} q: {q:9.6E} qp: {qp:6.5E} qpp: {qpp:6.4f}\n\n" for t, q, qp, qpp in motor)
    return pages(heads, {f" {label}": getattr(history, name) for name, label in LABELS}, fixed=True)


def _run(program: str, links: TwoLinks, motion: Motion, keep: bool, as_listed: bool) -> History:
    check_motor(program, motion)
    dt, m1, W1 = motion.dt, links.m1, links.W1
    inertias = (links.J1, links.J2) if as_listed and keep else None
    target, rows = None, []
    for k, (q, qp, qpp) in enumerate(zip(motion.q[:, 0], motion.qp[:, 0], motion.qpp[:, 0], strict=True)):
        with _named(program, k, motion.t[k]):
            m2, W2, H120, W120, J1O, J2O = _relative(links, m1, W1, q, qp, qpp)
            if keep:
                G = skew(W1, inertias[0] if inertias else J1O) + skew(W2, inertias[1] if inertias else J2O)
                target = G if target is None else target
                dW = _solved(J1O + J2O, G - target)
                W1, W2 = W1 - dW, W2 - dW
            H1 = W1 @ W1
            H2 = coriolis(H1, H120, W1, W120)
            Wp = _solved(J1O + J2O, skew(H1, J1O) + skew(H2, J2O))  # minus the acceleration, see eq. 7.12
            H1, H2 = H1 - Wp, H2 - Wp
            rows.append((m1, m2, W1, W2, H1, H2))
            m1 = normal(UNIT4 + W1 * dt + 0.5 * H1 * dt**2) @ m1
            W1 = W1 + Wp * dt if as_listed else W1 - Wp * dt
    m1, m2, W1, W2, H1, H2 = (np.array(part) for part in zip(*rows, strict=True))
    motor = (motion.q[:, 0], motion.qp[:, 0], motion.qpp[:, 0])
    return History(program, dt, motion.t, *motor, m1, m2, W1, W2, H1, H2, momentum(links, m1, m2, W1, W2))


@contextmanager
def _named(program: str, k: int, t: float) -> Iterator[None]:
    """Add the instant to an error; an overflow becomes one."""
    try:
        with np.errstate(all="ignore"):
            yield
    except ArgumentError as error:
        raise ArgumentError(f"{program}: instant {k + 1} (t = {t:g} s): {error}") from error


def _relative(
    links: TwoLinks, m1: FloatArray, W1: FloatArray, q: float, qp: float, qpp: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Steps (b) to (h): link 2 from link 1 and the motor, and both inertias in frame (0)."""
    m2 = m1 @ screwtom(Zaxis, float(q), ORIGIN, 0.0)
    W12, H12 = vactowh2(Rev, Z, float(qp), float(qpp))
    W120, H120 = mami(W12, m1), mami(H12, m1)
    W120[:3, :3] = normskew(W120[:3, :3], SKEW_)
    J1O, J2O = normskew(mamt(links.J1, m1), SYMM_), normskew(mamt(links.J2, m2), SYMM_)
    return m2, W1 + W120, H120, W120, J1O, J2O


def _solved(Jtot: FloatArray, F: FloatArray) -> FloatArray:
    """The unknown Wp or dW of F = skew(Wp Jtot)."""
    solution, _, code = dyn_eq(Jtot, NULL4, F, _ALL_UNKNOWN)
    if code != OK:
        raise ArgumentError("the inertia of both links together is not positive definite: no acceleration is defined")
    return np.asarray(solution)
