"""Direct dynamics of one body (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.3 and chapter 5)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.spacelib.arrays import exact, is_sympy, read_arrays
from linkwise.spacelib.constants import NOTOK, OK
from linkwise.spacelib.exact import is_zero
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import MAT4, Choice, is_symbolic
from linkwise.spatial.determinant import adjugate, determinant
from linkwise.spatial.matrix_method import action_matrix, velocity_matrix
from linkwise.spatial.rotation import axial
from linkwise.spatial.scalar import Array, select
from linkwise.spatial.six_vector import inertia_times

SYMMETRY = 1e-9
"""What J and the known actions may lack of symmetry, relative to their size: more than rounding, less than a slip."""

ROUNDING = 64 * float(np.finfo(float).eps)
"""A pivot of J below this part of its diagonal element is no more than rounding; sums of four products go before it."""

_MASK = Choice({k: str(k) for k in range(64)})
"""The first row of var as a binary number, the angular acceleration about x the lowest digit."""


def dyn_eq(J: Any, Wp: Any, F: Any, var: Any) -> tuple[Any, Any, Any]:
    """Direct dynamics of one body: the unknown ones of accelerations and actions, where F = skew(Wp J).

    Six of the twelve numbers of Wp and F are unknown, one of each pair of acceleration and action: in var a 1 marks
    the unknown, a 0 the known (manual, section 3.3 and chapter 5, equations 5.1 and 5.3). The same equation gives the velocity W for a
    momentum G (equation 5.2). All matrices are in one frame, and accelerations are those of its origin.

    Parameters
    ----------
    J : (..., 4, 4) array_like
        Inertia matrix of the body, kg m2, kg m, kg.
    Wp : (..., 4, 4) array_like
        Acceleration matrix: the skew-symmetric part of its 3x3 block (rad/s2) and its last column (m/s2) count, so an H serves too.
    F : (..., 4, 4) array_like
        Action matrix, N m and N.
    var : (2, 6) array_like of int
        Unknowns: angular and linear acceleration in the first row, torque and force in the second, each about or along x, y, z. One for
        a whole batch. What stands in Wp and F where a 1 is, does not matter.

    Returns
    -------
    Wp : ndarray (..., 4, 4)
        Skew-symmetric in its 3x3 block, with last row zero.
    F : ndarray (..., 4, 4)
        Skew-symmetric.
    test : int, or ndarray (...) of int
        `OK`, or `NOTOK` where var has not exactly one 1 and one 0 in each column, J is not symmetric and positive definite, or known
        entries of F are not skew-symmetric. Then Wp and F are those given. A body without extent in some direction
        has a J that is not positive definite. Of symbols in J only what can be seen is tested.

    Raises
    ------
    ArgumentError
        For matrices that are not 4x4, a var that is not 2x6, numbers that are not finite, batches that do not fit.

    Examples
    --------
    >>> J = np.diag([0.1, 0.2, 0.3, 2.0])
    >>> F = actom(4.0, 0.0, 0.0, 0.0, 0.0, 0.6)
    >>> Wp, F, test = dyn_eq(J, np.zeros((4, 4)), F, [[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]])
    >>> Wp.round(12).tolist()
    [[0.0, -2.0, 0.0, 2.0], [2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    >>> test == OK
    True
    """
    given = [MAT4.read(f"dyn_eq: {name}", value) for name, value in (("J", J), ("Wp", Wp), ("F", F))]
    mask = _mask(var)
    if mask is None:
        return _refused(*given)
    if not any(is_symbolic(value) for value in given):
        made: tuple[Any, Any, Any] = _solved(mask, *given)
        return made
    j, wp, f = read_arrays("dyn_eq", "a matrix (..., 4, 4)", J=given[0], Wp=given[1], F=given[2])
    for name, value in (("J", j), ("Wp", wp), ("F", f)):
        if value.ndim != 2:
            raise ArgumentError(f"dyn_eq: {name} has the shape {value.shape}; symbols are taken one at a time, no batch")
    if not _may_be_inertia(given[0]) or not _may_be_actions(f, mask):
        return wp, f, NOTOK
    wp, f = _exactly(mask, j, wp, f)
    return (exact(wp), exact(f), OK) if is_sympy(j, wp, f) else (wp, f, OK)


@function(mask=_MASK, J=MAT4, Wp=MAT4, F=MAT4, codes=(2,))
def _solved(mask: int, J: Any, Wp: Any, F: Any) -> tuple[Array, Array, Any]:
    """The completed matrices of numbers, or the given ones where they cannot be."""
    made = _completed(mask, J, Wp, F, _by_factors)
    test = select(_inertia_measure(J), _actions_measure(F, mask), 0.0)
    wp, f = (
        np.array([[select(test, new[i, k], old[i, k]) for k in range(4)] for i in range(4)], dtype=object)
        for new, old in zip(made, (Wp, F), strict=True)
    )
    return wp, f, test


def _exactly(mask: int, J: Array, Wp: Array, F: Array) -> tuple[Array, Array]:
    """The completed matrices of symbols."""
    return _completed(mask, J, Wp, F, _by_minors)


def _completed(mask: int, J: Array, Wp: Array, F: Array, solve: Any) -> tuple[Array, Array]:
    """Wp and F with what is unknown computed: (f, c) = M (a, omega'), forces first, so that mass is eliminated first."""
    given = np.concatenate([Wp[:3, 3], axial(Wp[:3, :3])])
    actions = np.concatenate([_half(F[:3, 3] - F[3, :3]), axial(F[:3, :3])])
    unknown = [k for k in range(6) if mask >> (k + 3) % 6 & 1]
    known = [k for k in range(6) if k not in unknown]
    motion = np.array([given[k] if k in known else 0 for k in range(6)], dtype=object)
    units = np.array([[int(i == k) for k in range(6)] for i in range(6)], dtype=object)
    inertia = np.array([inertia_times(J, unit) for unit in units], dtype=object)
    if unknown:
        motion[unknown] = solve(inertia[np.ix_(unknown, unknown)], (actions - inertia @ motion)[unknown])
    actions[known] = (inertia @ motion)[known]
    return velocity_matrix(motion[3:], motion[:3]), action_matrix(actions[:3], actions[3:])


def _by_factors(m: Array, b: Array) -> Array:
    """The solution of m x = b, m positive definite, by m = L D L'."""
    n = len(b)
    rows, x = m.copy(), b.copy()
    for k in range(n):
        for i in range(k + 1, n):
            factor = rows[i, k] / rows[k, k]
            rows[i, k + 1 :] = rows[i, k + 1 :] - factor * rows[k, k + 1 :]
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            x[k] = x[k] - rows[k, i] * x[i]
        x[k] = x[k] / rows[k, k]
    return x


def _by_minors(m: Array, b: Array) -> Array:
    """The solution of m x = b for accelerations: those linear go by division by the mass, which leaves at most three."""
    n = len(b)
    linear = sum(not is_zero(m[k, k] - m[0, 0]) is True for k in range(n)) if n else 0
    below = determinant(m)
    return np.asarray((adjugate(m) @ b) / below) if linear else np.asarray((adjugate(m) @ b) / below)
