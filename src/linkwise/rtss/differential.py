"""Small motions and forces between frames, linear part first: six numbers, and the matrices that carry them over."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.rtss.arguments import matrices, vectors
from linkwise.rtss.keywords import also
from linkwise.spatial.poses import rigid_poses
from linkwise.spatial.rotation import axial, skew
from linkwise.spatial.scalar import FloatArray

_HALVES_EXCHANGED = np.array([3, 4, 5, 0, 1, 2])


def rt_diff2tr(d: npt.ArrayLike) -> FloatArray:
    """Matrices (..., 4, 4) of small motions: the skew matrix of the rotation, the translation beside it, zeros below.

    Parameters
    ----------
    d : (..., 6) array_like
        Translation (m), then rotation (rad): dx, dy, dz, rx, ry, rz.

    Raises
    ------
    ArgumentError
        Where it is no array (..., 6).

    Examples
    --------
    >>> rt_diff2tr([1, 2, 3, 4, 5, 6]).tolist()
    [[0.0, -6.0, 5.0, 1.0], [6.0, 0.0, -4.0, 2.0], [-5.0, 4.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0]]
    """
    given = vectors("rt_diff2tr: d", d, 6)
    made = np.zeros((*given.shape[:-1], 4, 4))
    for place in np.ndindex(given.shape[:-1]):
        made[place][:3, :3] = skew(given[place][3:])
    made[..., :3, 3] = given[..., :3]
    return made + 0.0


@also(T="T1")
def rt_tr2diff(T1: npt.ArrayLike, T2: npt.ArrayLike | None = None) -> FloatArray:
    """Small motion (..., 6): of a matrix like that of `rt_diff2tr`, or from one transform to another, in base axes.

    Parameters
    ----------
    T1 : (..., 4, 4) array_like
        The matrix of a small motion, of which the skew part and the translation are taken; or the first transform.
    T2 : (..., 4, 4) array_like, optional
        The second transform.

    Returns
    -------
    ndarray (..., 6)
        Translation (m), then rotation (rad). Between two transforms the rotation is the axis times the *sine* of the angle,
        right to first order; `linkwise.solve` measures the angle itself.

    Raises
    ------
    ArgumentError
        Where it is no array (..., 4, 4), or two are given and one is not rigid.

    Examples
    --------
    >>> rt_tr2diff(rt_diff2tr([1, 2, 3, 4, 5, 6])).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> from linkwise.rtss import rt_rotz
    >>> rt_tr2diff(np.eye(4), rt_rotz(0.001)).round(9).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.001]
    """
    if T2 is None:
        made = matrices("rt_tr2diff: T1", T1)
        way, turn = made[..., :3, 3], made[..., :3, :3]
    else:
        first, second = rigid_poses("rt_tr2diff: T1", T1), rigid_poses("rt_tr2diff: T2", T2)
        way = second[..., :3, 3] - first[..., :3, 3]
        turn = second[..., :3, :3] @ np.swapaxes(first[..., :3, :3], -1, -2)
    return np.concatenate([way, np.moveaxis(axial(np.moveaxis(turn, (-2, -1), (0, 1))), 0, -1)], axis=-1)


def rt_tr2jac(T: npt.ArrayLike) -> FloatArray:
    """Matrices (..., 6, 6) that take a motion of a body from one frame to another on it.

    With T = T_a_b a velocity (of the origin, then angular) of the body at a, in the axes of a, becomes the one at b, in the
    axes of b.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        T_a_b, rigid.

    Raises
    ------
    ArgumentError
        Where it is not rigid.

    Examples
    --------
    >>> from linkwise.rtss import rt_transl
    >>> (rt_tr2jac(rt_transl(1, 0, 0)) @ [0, 0, 0, 0, 0, 1.0]).tolist()
    [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    """
    given = rigid_poses("rt_tr2jac: T", T)
    rotation, position = given[..., :3, :3], given[..., :3, 3]
    made = np.zeros((*given.shape[:-2], 6, 6))
    made[..., :3, :3] = made[..., 3:, 3:] = np.swapaxes(rotation, -1, -2)
    made[..., :3, 3:] = np.swapaxes(np.cross(position[..., :, None], rotation, axisa=-2, axisb=-2, axisc=-2), -1, -2)
    return made


def rt_ftrans(T: npt.ArrayLike, F: npt.ArrayLike) -> FloatArray:
    """Force and moment (..., 6) on a body, taken from one frame to another on it.

    With T = T_a_b, F acts at the origin of a, in the axes of a; the result acts alike at the origin of b, in the axes of b.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        T_a_b, rigid.
    F : (..., 6) array_like
        Force (N), then moment (N m).

    Raises
    ------
    ArgumentError
        Where T is not rigid or F no array (..., 6).

    Examples
    --------
    >>> from linkwise.rtss import rt_transl
    >>> rt_ftrans(rt_transl(1, 0, 0), [0, 0, 5, 0, 0, 0]).tolist()
    [0.0, 0.0, 5.0, 0.0, 5.0, 0.0]
    """
    across = rt_tr2jac(rigid_poses("rt_ftrans: T", T))[..., _HALVES_EXCHANGED[:, None], _HALVES_EXCHANGED]
    return np.asarray((across @ vectors("rt_ftrans: F", F, 6)[..., None])[..., 0])
