"""Inertia and action matrices (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.3)."""

from __future__ import annotations

import sys
from functools import reduce
from typing import Any

import numpy as np

from linkwise.spacelib.function import exported, function, spacelib
from linkwise.spacelib.kinds import MAT4, SCALAR
from linkwise.spatial.linear import determinant
from linkwise.spatial.matrix_method import action_matrix, pseudo_inertia
from linkwise.spatial.rotation import axial
from linkwise.spatial.scalar import Array, array, greatest, least, select
from linkwise.spatial.vector import inner

#: Relative violation of the greatest moment that counts as rounding, as for the bodies of a mechanism.
SLACK = 1e-9

#: Moments count as at least this part of those about the origin: they may be the remainder after a displacement.
MOVED = 64 * sys.float_info.epsilon / SLACK


@spacelib(
    "3.3", "force and torque to action matrix", "matrix_method.action_matrix([fx, fy, fz], [cx, cy, cz])", maple="actoM"
)
def actom(fx: SCALAR, fy: SCALAR, fz: SCALAR, cx: SCALAR, cy: SCALAR, cz: SCALAR) -> Array:
    """Action matrix of a force and a torque (manual, section 3.3).

    Parameters
    ----------
    fx, fy, fz : (...) array_like
        Components of the force, N.
    cx, cy, cz : (...) array_like
        Components of the torque about the origin, N m.

    Returns
    -------
    ndarray (..., 4, 4)

    Examples
    --------
    >>> actom(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)[0].tolist()
    [0.0, -6.0, 5.0, 1.0]
    """
    return action_matrix(array([fx, fy, fz]), array([cx, cy, cz]))


@spacelib(
    "3.3",
    "mass and moments to inertia matrix",
    "matrix_method.pseudo_inertia(m, com, tensor)",
    c="jtoJ",
    note="jyz stands before jxz.",
)
@function(
    refuse=(
        "the mass is negative",
        "no body has these moments of inertia: each of jxx, jyy, jzz is at most the sum of the other two",
        "no body has products of inertia as large as these beside its moments",
    )
)
def jtoj(
    m: SCALAR,
    jxx: SCALAR,
    jyy: SCALAR,
    jzz: SCALAR,
    jxy: SCALAR,
    jyz: SCALAR,
    jxz: SCALAR,
    xg: SCALAR,
    yg: SCALAR,
    zg: SCALAR,
) -> tuple[Any, ...]:
    """Inertia matrix J of a body about the origin, from mass, barycentral moments of inertia and centre of mass.

    The upper left block is the integral of x x' dm about the origin (manual, section 3.3, where the relations are given for
    the centre of mass).

    Parameters
    ----------
    m : (...) array_like
        Mass, kg.
    jxx, jyy, jzz : (...) array_like
        Moments of inertia about axes through the centre of mass, parallel to the frame's, kg m2.
    jxy, jyz, jxz : (...) array_like
        Products of inertia about the same, with the sign of the inertia tensor: jxy is the integral of -x y dm. Mind the
        order.
    xg, yg, zg : (...) array_like
        The centre of mass, m.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where no body can have these inertias, by more than rounding: the mass is negative, or the integral of the square of
        some coordinate would be.

    Examples
    --------
    >>> jtoj(10.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0)[2].tolist()
    [0.0, 0.0, 40.5, 20.0]
    """
    tensor = array([[jxx, jxy, jxz], [jxy, jyy, jyz], [jxz, jyz, jzz]])
    about_center = pseudo_inertia(m, np.zeros(3), tensor)[:3, :3]
    return (
        pseudo_inertia(m, array([xg, yg, zg]), tensor),
        select(m, 1.0, select(-m, 0.0, 1.0)),
        *possible(about_center, abs(m) * (xg * xg + yg * yg + zg * zg)),
    )


def possible(about_center: Array, about_origin: Any) -> tuple[Any, Any]:
    """Above 0 where the diagonal, and all minors, of the integral (3, 3) of x x' dm are not negative, but for rounding.

    Rounding is `SLACK` of the greatest element, or `MOVED` of the size about the origin, of which it may be the difference.
    """
    size = reduce(greatest, [abs(about_center[i, k]) for i in range(3) for k in range(i, 3)], MOVED * about_origin)
    block = about_center / select(size, size, 1.0)
    moments = least(least(block[0, 0], block[1, 1]), block[2, 2])
    pairs = [block[i, i] * block[j, j] - block[i, j] * block[i, j] for i, j in ((0, 1), (1, 2), (0, 2))]
    minors = least(least(least(pairs[0], pairs[1]), pairs[2]), determinant(block))
    return moments + SLACK, minors + SLACK


@spacelib(
    "3.3",
    "power: pseudo scalar product",
    "rotation.axial(L[:3, :3]) @ rotation.axial(F[:3, :3]) + L[:3, 3] @ F[:3, 3]",
    matlab="PseDot psedot",
    c="psedot",
    note="PseDot in the text, psedot in the appendix.",
)
def PseDot(L: MAT4, F: MAT4) -> Any:
    """Pseudo-scalar product of a velocity or screw axis matrix and an action matrix (manual, section 3.3).

    omega . c + v . f, with omega and c from the skew parts of the blocks: the power of the actions on a moving body, or
    their part along the motion of a joint.

    Parameters
    ----------
    L : (..., 4, 4) array_like
        Velocity matrix W or screw axis matrix L.
    F : (..., 4, 4) array_like
        Action matrix.

    Returns
    -------
    ndarray (...)
        W for a velocity matrix; N m or N for a screw axis matrix.

    Examples
    --------
    >>> float(psedot(makel2(Rev, Z, 0.0, ORIGIN), actom(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)))
    6.0
    """
    return inner(axial(L), axial(F)) + inner(L[:3, 3], F[:3, 3])


#: `PseDot`, as the manual's appendix writes it.
psedot = PseDot


__all__ = exported(__name__)  # noqa: PLE0605
