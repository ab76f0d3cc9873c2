"""ELB_D_DH and ELB_D_PA: the motion of the elbow robot's gripper from that of its joints, with two choices of frames.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, sections 7.6.5 and 7.6.6. The whole motion is computed at once, each
matrix for all instants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spacelib.cardan import htocarda
from linkwise.spacelib.constants import NULL4, ORIGIN, PIG_2, UNIT3, UNIT4, Rev, U, X, Y, Z
from linkwise.spacelib.position import dhtom, rotat24
from linkwise.spacelib.programs.elbow_files import DEFAULT_AXES, JOINTS, GripperMotion, check_lengths, not_six
from linkwise.spacelib.programs.formats import pages
from linkwise.spacelib.programs.motions import Motion
from linkwise.spacelib.transformations import mami, miam
from linkwise.spacelib.velocity import coriolis, vactowh3, veactowh
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms

ALPHA = (PIG_2, 0.0, 0.0, 3.0 * PIG_2, PIG_2, 0.0)
"""Denavit and Hartenberg's alpha of each link, rad; theta, d and b are zero."""

AXES = (Z, X, X, X, Z, X)
"""About which axis each joint turns, where all frames are parallel at home."""

LOCKED = 1e-9
"""The sine of the second Cardan angle is so near to 1 where the others are not defined."""

Relative = tuple[FloatArray, FloatArray, FloatArray]
"""Position, velocity and acceleration matrix (..., 4, 4) of a frame relative to the one before, seen in that."""


@dataclass(frozen=True, eq=False)
class Direct:
    """What the programs for the direct kinematics compute.

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
        Of six joints.

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
        Of six joints.

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
    """What the programs print on the screen: time, then three matrices, for each instant."""
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
