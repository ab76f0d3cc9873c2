"""ELB_I_DH: the motion of the elbow robot's joints from that of its gripper, by Newton and Raphson's method.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, sections 7.6.7 and 7.6.8. Different from the listing: angles are
found to rounding (its tolerance can be asked for), convergence in the last iteration counts, no whole turns are added, each
instant begins where the speeds and accelerations of the one before lead, and every result is checked by the frames of
the other program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spacelib.cardan import cardatoh, cardatom, cardatow
from linkwise.spacelib.constants import NULL4, ORIGIN, PIG2, UNIT3, Rev, U, X, Y, Z
from linkwise.spacelib.kinds import whole
from linkwise.spacelib.linear_systems import solve_l
from linkwise.spacelib.position import dhtom
from linkwise.spacelib.programs.elbow import (
    ALPHA,
    JOINTS,
    GripperMotion,
    check_lengths,
    check_six,
    ends,
    gripper_pa,
    offsets,
)
from linkwise.spacelib.programs.formats import pages
from linkwise.spacelib.programs.laws import Motion
from linkwise.spacelib.transformations import invers, mami
from linkwise.spacelib.velocity import coriolis, makel2, veactowh
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms

#: The listing's bound on the norm of target minus gripper matrix.
LISTED_TOLERANCE = 0.0005

#: Tolerance of that norm, times the greatest length in it. Steps continue while it decreases, or to rounding: some 1e-15.
TOLERANCE = 1e-11

#: Steps at most. Towards a singular position each only halves the error of the angles.
MOST = 100

#: Steps without improvement after which an error below the tolerance is accepted.
PATIENCE = 3

#: No joint moves by more in one step, rad: the linear model does not reach farther.
LONGEST = 0.5

#: Relative threshold of zero singular values of the Jacobian for velocities and accelerations.  At a singular position the
#: error of position grows with the square of that of the angles, which are thus accurate to some 1e-8 only, the root of the
#: rounding; smaller values in the Jacobian are meaningless.
SINGULAR = 1e-6


@dataclass(frozen=True, eq=False)
class Inverse:
    """Results of ELB_I_DH.

    Attributes
    ----------
    motion : Motion
        Motion of the six joints; what goes into JOINT.MOT.
    iterations : ndarray (k,)
        Newton steps taken at each instant.
    rank : ndarray (k,)
        Rank of the Jacobian (see `SINGULAR`): below 6 the position is singular, and speeds and accelerations are the
        smallest that come nearest to what is asked.
    condition : ndarray (k,)
        Greatest over smallest singular value of the Jacobian.
    closure : ndarray (k, 3)
        How far gripper position, velocity and acceleration matrix (frame (0)), computed anew from the joints, are from
        what was asked: the greatest difference of an element, of the last two relative to the greatest element asked, if
        that is above 1.
    """

    motion: Motion
    iterations: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]
    condition: FloatArray
    closure: FloatArray

    def singular(self) -> list[tuple[int, int]]:
        """First and last instant of each stretch with one rank below that of a regular position."""
        stretches: list[tuple[int, int]] = []
        for k, rank in enumerate(self.rank.tolist()):
            if rank < self.motion.q.shape[1]:
                goes_on = stretches and stretches[-1][1] == k - 1 and self.rank[k - 1] == rank
                stretches[-1:] = [(stretches[-1][0], k)] if goes_on else [*stretches[-1:], (k, k)]
        return stretches


def elb_i_dh(
    lengths: npt.ArrayLike,
    gripper: GripperMotion,
    guess: npt.ArrayLike,
    *,
    tolerance: float | None = None,
    most: int = MOST,
) -> Inverse:
    """The program ELB_I_DH: joint angles by Newton and Raphson's method, then velocities and accelerations.

    A step solves J dq = ds, ds the six elements of (target - gripper) gripper^-1; column i of J has those of the L matrix of
    joint i in the base frame (manual, section 7.6.8). At a singular position the step of smallest norm is taken.

    Parameters
    ----------
    lengths : (6,) array_like
        Lengths of the links, m.
    gripper : GripperMotion
        What the gripper must do.
    guess : (6,) array_like
        Joint angles from which to begin, rad. The robot has many postures for one place of the gripper; which one is found
        depends on this.
    tolerance : float, optional
        Where given, steps end as soon as the norm of target minus gripper matrix is not above it; the listing has 0.0005.
        Otherwise they go on to rounding.
    most : int
        How many steps may be taken at an instant.

    Returns
    -------
    Inverse
        Each angle is the one of all that differ by whole turns that is nearest to where it was at the instant before.

    Raises
    ------
    ArgumentError
        For another number of lengths or angles, and where an instant is not solved: its number, time, and how near it came.

    Examples
    --------
    >>> from linkwise.spacelib.programs import elbow, formats, laws
    >>> lengths = elbow.read_lengths(formats.path("ELBOW.DAT"))
    >>> guess = elbow.read_guess(formats.path("GUESS.1ST"))
    >>> wanted = elbow.elb_d_dh(lengths, laws.joint_motion()).gripper
    >>> bool(elb_i_dh(lengths, wanted, guess).closure.max() < 1e-10)
    True
    """
    a, start = check_lengths(lengths), check_six("guess", guess, f"angles of {JOINTS} joints")
    whole("most", most, least=0)
    if not len(gripper.t):
        raise ArgumentError("gripper is a motion of no instants; expected one or more")
    if tolerance is not None and not tolerance > 0.0:
        raise ArgumentError(f"tolerance is {tolerance!r}; expected a number > 0")
    arm = _Arm(a)
    targets = target(gripper)
    rows, notes = [], []
    for k, (M, W, H) in enumerate(zip(*targets, strict=True)):
        q, count, left = _newton(arm, M, start, tolerance, most)
        if not left <= (tolerance or TOLERANCE * _size(M)):
            raise ArgumentError(_missed(gripper, k, count, left))
        qp, qpp, rank, condition = _rates(arm, q, W, H)
        rows.append((q, qp, qpp))
        notes.append((count, rank, condition))
        dt = gripper.dt if rank == JOINTS else 0.0
        start = q + dt * qp + 0.5 * dt**2 * qpp
        start = start if np.abs(start - q).max() < 1.0 else q
    q, qp, qpp = (np.array(part) for part in zip(*rows, strict=True))
    counts, ranks, conditions = (np.array(part) for part in zip(*notes, strict=True))
    pairs = zip(gripper_pa(a, q, qp, qpp), targets, (False, True, True), strict=True)
    closure = np.stack([_apart(*pair) for pair in pairs], axis=-1)
    return Inverse(Motion(gripper.dt, gripper.t, q, qp, qpp), counts, ranks, conditions, closure)


def target(gripper: GripperMotion) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Position, velocity and acceleration matrices (k, 4, 4) that the gripper must have, base frame.

    Parameters
    ----------
    gripper : GripperMotion
        Its angles and its centre; of any convention.
    """
    points = np.concatenate([gripper.pos, np.ones((len(gripper.pos), 1))], axis=1)
    M = cardatom(gripper.q, *gripper.axes, points)
    W = cardatow(gripper.q, gripper.qp, *gripper.axes, ORIGIN).copy()
    H = cardatoh(gripper.q, gripper.qp, gripper.qpp, *gripper.axes, ORIGIN).copy()
    W[:, :3, U], H[:, :3, U] = gripper.vel, gripper.acc
    auxiliary = transforms(np.broadcast_to(UNIT3, (len(M), 3, 3)), gripper.pos)
    return np.asarray(M), np.asarray(mami(W, auxiliary)), np.asarray(mami(H, auxiliary))


def written(result: Inverse) -> Iterator[str]:
    """Printed output of the program: time, joint angles, velocities and accelerations, for each instant."""
    motion = result.motion
    values = {"angles q": motion.q, "velocities qp": motion.qp, "accelerations qpp": motion.qpp}
    return pages((f"\n Time={t:f}\n" for t in motion.t), {f"The joint {name} are": part for name, part in values.items()})


class _Arm:
    """The robot: its lengths, and its Jacobian."""

    def __init__(self, lengths: FloatArray) -> None:
        self.first, self.last = ends(lengths)
        self.offsets = offsets(lengths)

    def frames(self, q: FloatArray) -> FloatArray:
        """Position matrices (7, 4, 4) of frames (0) to (6), base frame."""
        poses = [self.first]
        for relative in dhtom(Rev, 0.0, 0.0, 0.0, self.offsets, np.array(ALPHA), q):
            poses.append(poses[-1] @ relative)
        return np.array(poses)


def _size(matrix: FloatArray) -> float:
    """Greatest element of a position matrix: a length, or the 1 of a rotation."""
    return max(1.0, float(np.abs(matrix).max()))


def _newton(
    arm: _Arm, wanted: FloatArray, start: FloatArray, tolerance: float | None, most: int
) -> tuple[FloatArray, int, float]:
    """Angles, number of steps, and norm of the remaining difference."""
    q, best, left, idle = start, start, np.inf, 0
    rounding = 2.0 * np.finfo(float).eps * _size(wanted)
    for count in range(most + 1):
        frames = arm.frames(q)
        gripper = frames[-1] @ arm.last
        missing = wanted - gripper
        norm = float(np.linalg.norm(missing, 2))
        idle = 0 if norm < 0.5 * left else idle + 1
        if norm < left:
            best, left = q, norm
        done = left <= (rounding if tolerance is None else tolerance) or (
            left <= TOLERANCE * _size(wanted) and idle >= PATIENCE
        )
        if done or count == most:
            break
        step = np.ravel(solve_l(_jacobian(frames), six(missing @ invers(gripper)))[0])
        q = q + step * min(1.0, LONGEST / max(float(np.abs(step).max()), LONGEST))
    return best - PIG2 * np.round((best - start) / PIG2), count, left


def _rates(arm: _Arm, q: FloatArray, W: FloatArray, H: FloatArray) -> tuple[FloatArray, FloatArray, int, float]:
    """Speeds, accelerations, and rank and condition of the Jacobian."""
    frames = arm.frames(q)
    left, values, right = np.linalg.svd(_jacobian(frames))
    rank = int((values > SINGULAR * values[0]).sum())

    def solved(asked: FloatArray) -> FloatArray:
        return np.asarray(right[:rank].T @ ((left[:, :rank].T @ asked) / values[:rank]))

    qp = solved(six(W))
    joints = (mami(part, frames[:-1]) for part in veactowh(Rev, qp, np.zeros(JOINTS)))
    speed, acceleration = NULL4, NULL4
    for velocity, bound in zip(*joints, strict=True):
        speed, acceleration = speed + velocity, coriolis(acceleration, bound, speed, velocity)
    with np.errstate(divide="ignore"):
        condition = float(np.divide(values[0], values[-1]))
    return qp, solved(six(H - acceleration)), rank, condition


def _jacobian(frames: FloatArray) -> FloatArray:
    """Columns (6, 6): velocity of the base's origin and angular velocity for unit speed of each joint."""
    return six(mami(_about_z(), frames[:-1])).T


@cache
def _about_z() -> FloatArray:
    """L matrix (4, 4) of a joint in the frame before it."""
    return np.asarray(makel2(Rev, Z, 0.0, ORIGIN))


def six(m: FloatArray) -> FloatArray:
    """The six numbers (..., 6) of a velocity matrix: velocity of the origin, then angular velocity."""
    return np.stack([m[..., X, U], m[..., Y, U], m[..., Z, U], m[..., Z, Y], m[..., X, Z], m[..., Y, X]], axis=-1)


def _apart(actual: FloatArray, wanted: FloatArray, relative: bool) -> FloatArray:
    size = np.maximum(np.abs(wanted).max(axis=(1, 2)), 1.0) if relative else 1.0
    return np.asarray(np.abs(actual - wanted).max(axis=(1, 2)) / size)


def _missed(gripper: GripperMotion, k: int, count: int, left: float) -> str:
    return (
        f"instant {k + 1} (t = {gripper.t[k]:g} s) is not solved: after {count} steps the gripper is {left:.1e} off; it may"
        " be out of reach, or need another guess or a wider tolerance"
    )
