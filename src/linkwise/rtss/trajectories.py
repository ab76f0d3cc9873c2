"""Motions of the toolbox between configurations and between poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.rtss.arguments import also
from linkwise.rtss.quaternion import ratios_of
from linkwise.spatial.rotation import rotations_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.spatial.validation import numbers, rigid_poses
from linkwise.trajectory.cartesian import Legs
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial
from linkwise.trajectory.validation import ends


@also(tv="t")
def rt_jtraj(
    q0: npt.ArrayLike,
    q1: npt.ArrayLike,
    t: npt.ArrayLike,
    qd0: npt.ArrayLike = 0.0,
    qd1: npt.ArrayLike = 0.0,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Move from one configuration to another by polynomials of degree five, without acceleration at both ends.

    Parameters
    ----------
    q0, q1 : (..., n) array_like
        First and last configuration, rad or m; a number is one joint.
    t : int or (m,) array_like
        How many points, evenly from time 0 to 1; or the times, s: the motion lasts from **0** to the greatest of them,
        in whatever order they stand, so times that begin later begin on the way.
    qd0, qd1 : (..., n) array_like, optional
        Speeds at the beginning and the end; zero unless given.

    Returns
    -------
    q, qd, qdd : ndarray (..., m, n)
        All three always, with a row for each time.

    Raises
    ------
    ArgumentError
        Where shapes or times do not fit.

    Notes
    -----
    `linkwise.trajectory.trapezoidal` does the same from the first of its instants to the last, and gives a `Trajectory`.

    Examples
    --------
    >>> q, qd, qdd = rt_jtraj([0.0, 1.0], [1.0, 0.0], [0.0, 1.0, 2.0])
    >>> q.tolist(), qd[1].tolist()
    ([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]], [0.9375, -0.9375])
    """
    speeds = {"qd0": numbers("rt_jtraj: qd0", qd0), "qd1": numbers("rt_jtraj: qd1", qd1)}
    ends_of_motion = ends(q0=_row("rt_jtraj: q0", q0), q1=_row("rt_jtraj: q1", q1), **speeds)
    times = _times(t)
    first, second = (np.stack((ends_of_motion[a], ends_of_motion[b]), axis=-2) for a, b in (("q0", "q1"), ("qd0", "qd1")))
    with np.errstate(all="ignore"):
        motion = PiecewisePolynomial(np.array([0.0, times.max()]), first, second, np.zeros_like(first))(times)
    if not all(np.isfinite(part).all() for part in motion):
        raise ArgumentError(
            f"rt_jtraj: velocities and accelerations of a motion of {times.max():.6g} s are not finite numbers"
        )
    return motion


def rt_ctraj(T0: npt.ArrayLike, T1: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    """Poses on the straight line from one to another, the orientation turning about one axis.

    Parameters
    ----------
    T0, T1 : (4, 4) array_like
        Rigid transforms.
    n : int or (m,) array_like
        How many poses, at equal distances; or how far each is, 0 to 1, as `rt_jtraj` from 0 to 1 gives it.

    Returns
    -------
    ndarray (m, 4, 4)
        The pose comes first here; the original has 4 x 4 x m.

    Raises
    ------
    ArgumentError
        As for `rt_trinterp`, and where n is not a whole number above 1.

    Examples
    --------
    >>> from linkwise.rtss import rt_transl
    >>> rt_transl(rt_ctraj(np.eye(4), rt_transl(1, 2, 3), 3)).tolist()
    [[0.0, 0.0, 0.0], [0.5, 1.0, 1.5], [1.0, 2.0, 3.0]]
    """
    count = numbers("rt_ctraj: n", n, "a whole number above 1, or numbers from 0 to 1")
    ratios = count if count.ndim else np.linspace(0.0, 1.0, _count("rt_ctraj: n", n))
    return _between("rt_ctraj", T0, T1, ratios, "n")


def rt_trinterp(T0: npt.ArrayLike, T1: npt.ArrayLike, r: npt.ArrayLike) -> FloatArray:
    """Interpolated pose: on the straight line, rotated about the common axis in the ratio r.

    Parameters
    ----------
    T0, T1 : (4, 4) array_like
        Rigid transforms.
    r : float or (m,) array_like
        How far, 0 to 1. The original takes one number.

    Returns
    -------
    ndarray (4, 4) or (m, 4, 4)

    Raises
    ------
    ArgumentError
        Where a pose is not rigid, r lies outside 0 to 1, or the orientations are half a turn apart.

    Notes
    -----
    Mended: the turn is the shortest. The original goes by quaternions and turns the long way round where their product is
    negative. At half a turn, where no way is the shorter, this is an error.

    Examples
    --------
    >>> from linkwise.rtss import rt_rotz, rt_tr2rpy
    >>> rt_tr2rpy(rt_trinterp(rt_rotz(0.2), rt_rotz(0.6), 0.25)).round(9).tolist()
    [0.3, 0.0, 0.0]
    """
    return _between("rt_trinterp", T0, T1, r, "r")


def _between(function: str, T0: Any, T1: Any, ratios: Any, name: str) -> FloatArray:
    first, last = rigid_poses(f"{function}: T0", T0), rigid_poses(f"{function}: T1", T1)
    if first.shape != (4, 4) or last.shape != (4, 4):
        raise ArgumentError(f"{function}: T0 and T1 have the shapes {first.shape} and {last.shape}; expected (4, 4)")
    share = ratios_of(f"{function}: {name}", ratios)
    try:
        segment = Legs.between(np.stack([first, last]))
    except ArgumentError as error:
        raise ArgumentError(
            f"{function}: T0 and T1 are half a turn apart; the direction of rotation is ambiguous"
        ) from error
    rotation = segment.rotation @ rotations_about(segment.axis[0], segment.angle[0] * share)
    return transforms(rotation, segment.position * (1.0 - share[..., None]) + last[:3, 3] * share[..., None])


#: Greatest number of points; a vector of times may have more.
MOST = 1_000_000


def _times(t: Any) -> FloatArray:
    expected = "a whole number above 1, or times (m,), s, none below 0 and one above it"
    array = numbers("rt_jtraj: t", t, expected)
    if not array.ndim:
        return np.linspace(0.0, 1.0, _count("rt_jtraj: t", t))
    if array.size != max(array.shape) or np.min(array, initial=0.0) < 0.0 or np.max(array, initial=0.0) == 0.0:
        raise ArgumentError(f"rt_jtraj: t is {shown(array.tolist())}; expected {expected}")
    return array.reshape(-1)


def _count(field: str, value: Any) -> int:
    number = numbers(field, value, "a whole number above 1")
    if isinstance(value, (bool, np.bool_)) or number < 2 or number != int(number):
        raise ArgumentError(f"{field} is {shown(value)}; expected a whole number above 1")
    if number > MOST:
        raise ArgumentError(f"{field} is {shown(value)}; expected at most {MOST}")
    return int(number)


def _row(field: str, value: Any) -> FloatArray:
    """Configurations (..., n); of one number a row of one joint."""
    return np.atleast_1d(numbers(field, value))


__all__ = [name for name in dir() if name.startswith("rt_")]
