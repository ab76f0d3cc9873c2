"""Direct dynamics of one body (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.3 and chapter 5)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import Expr
from linkwise.spacelib.constants import NOTOK, OK
from linkwise.spacelib.exact import is_zero, tidy
from linkwise.spacelib.function import exported, function, spacelib
from linkwise.spacelib.inertia import possible
from linkwise.spacelib.kinds import MASK, MAT4, SIX, read
from linkwise.spatial.linear import adjugate, determinant
from linkwise.spatial.matrix_method import action_matrix, velocity_matrix
from linkwise.spatial.rotation import axial
from linkwise.spatial.scalar import Array, FloatArray, least, root, select
from linkwise.spatial.spatial_vectors import around, inertia_times, spatial_inertia
from linkwise.spatial.validation import common_batch

#: Tolerance of the symmetry of J and the known actions, relative to their size: more than rounding, less than an error.
SYMMETRY = 1e-9

#: A pivot of J below this part of its diagonal element is rounding; sums of four products precede it.
ROUNDING = 64 * float(np.finfo(float).eps)

#: Known actions that would accelerate the body by less (rad/s2), or its mass by less than such a rotation or `SYMMETRY`
#: (m/s2), may be the rounding of balanced ones: they need not be skew-symmetric.
BALANCE = 1e-6

#: Expressions of up to this many operations are brought to one fraction.
SHORT = 60

#: The columns of var in the order of (a, omega').
_FORCES_FIRST = [3, 4, 5, 0, 1, 2]

#: Positions of torques and forces in F, in the order of the columns of var.
_PLACES = ((2, 1), (0, 2), (1, 0), (0, 3), (1, 3), (2, 3))


@spacelib("3.3", "direct dynamics of one body", "arm.forward_dynamics(q, qd, tau)")
def dyn_eq(J: Any, Wp: Any, F: Any, var: Any) -> tuple[Any, Any, Any]:
    """Direct dynamics of one body: the unknown ones of accelerations and actions, where F = skew(Wp J).

    Six of the twelve numbers of Wp and F are unknown, one of each pair of acceleration and action: in var a 1 marks the
    unknown, a 0 the known (manual, section 3.3 and chapter 5, equations 5.1 and 5.3). The same equation gives the velocity W
    for a momentum G (equation 5.2). All matrices are in one frame, and the linear acceleration is that of its origin.

    Parameters
    ----------
    J : (..., 4, 4) array_like
        Inertia matrix of the body, kg m2, kg m, kg.
    Wp : (..., 4, 4) array_like
        Acceleration matrix: what counts is the skew-symmetric part of its 3x3 block (rad/s2) and its last column (m/s2).
    F : (..., 4, 4) array_like
        Action matrix, N m and N.
    var : (2, 6) array_like of int
        Unknowns: angular and linear acceleration in the first row, torque and force in the second, each about or along
        x, y, z. One for a whole batch. What stands in Wp and F where a 1 is, does not matter.

    Returns
    -------
    Wp : ndarray (..., 4, 4)
        Skew-symmetric in its 3x3 block, with last row zero.
    F : ndarray (..., 4, 4)
        Skew-symmetric.
    test : int, or ndarray (...) of int
        `OK`, or `NOTOK` where var has not exactly one 1 and one 0 in each column; J is not symmetric, or of no body; known
        entries of F are not skew-symmetric; or J does not fix the unknown accelerations, as that of a rod about itself, or
        of a point mass. Then Wp and F are those given. A flat body is a body. Of symbols only what can be seen is tested.

    Raises
    ------
    ArgumentError
        For matrices that are not 4x4, a var that is not 2x6, numbers that are not finite, batches that do not fit.

    Examples
    --------
    >>> J = np.diag([0.1, 0.2, 0.3, 2.0])
    >>> F = actom(4.0, 0.0, 0.0, 0.0, 0.0, 0.6)
    >>> Wp, F, test = dyn_eq(J, np.zeros((4, 4)), F, [[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]])
    >>> Wp[0].round(12).tolist()
    [0.0, -2.0, 0.0, 2.0]
    >>> test == OK
    True
    """
    unknown = _unknown(var)
    if unknown is None:
        return _refused(*(read(MAT4, f"dyn_eq: {name}", value) for name, value in (("J", J), ("Wp", Wp), ("F", F))))
    result: tuple[Any, Any, Any] = _solved(J, Wp, F, unknown)
    return result


def _of_symbols(J: Any, Wp: Any, F: Any, unknown: Any) -> tuple[Array, Array, int]:
    """As `_solved` for symbols, with only the tests that are decidable."""
    if not _seems_inertia(J, unknown) or not _seem_actions(J, F, unknown):
        return Wp, F, NOTOK
    mask = sum(1 << k for k in range(6) if unknown[k] == 1)
    wp, f = (_short(matrix) for matrix in _formula(mask, J, Wp, F))
    return wp, f, OK


@function(name="dyn_eq", codes=(2,), symbolic=_of_symbols)
def _solved(J: MAT4, Wp: MAT4, F: MAT4, unknown: SIX) -> tuple[Array, Array, Any]:
    """The completed matrices, or the given ones if they cannot be: one set of operations for all choices of unknowns.

    A known acceleration x is the solution of the equation 1 x = x, which takes the place of its row and column.
    """
    inertia, motion, actions = _six(J, Wp, F)
    sought = unknown[_FORCES_FIRST]
    known = 1.0 - sought
    system = inertia * np.outer(sought, sought)
    for k in range(6):
        system[k, k] = system[k, k] + known[k]
    prescribed = known * motion
    motion, definite = _by_factors(system, sought * (actions - inertia @ prescribed) + prescribed)
    needed = inertia @ motion
    actions = np.array(
        [select(c, prescribed, computed) for c, prescribed, computed in zip(sought, actions, needed, strict=True)],
        dtype=object,
    )
    wp, f = _matrices(motion, actions)
    test = select(_inertia_test(J), select(_actions_test(J, F, unknown), definite, 0.0), 0.0)
    return _chosen(test, wp, Wp), _chosen(test, f, F), test


@function()
def _formula(mask: MASK, J: MAT4, Wp: MAT4, F: MAT4) -> tuple[Array, Array]:
    """The completed matrices of symbols, by formula for one choice of unknowns."""
    inertia, motion, actions = _six(J, Wp, F)
    unknown = [k for k in range(6) if mask >> _FORCES_FIRST[k] & 1]
    known = [k for k in range(6) if k not in unknown]
    if unknown:
        right = actions[unknown] - inertia[np.ix_(unknown, known)] @ motion[known]
        motion[unknown] = _by_minors(inertia[np.ix_(unknown, unknown)], right, sum(k < 3 for k in unknown))
    actions[known] = inertia[known] @ motion
    return _matrices(motion, actions)


def _six(J: Array, Wp: Array, F: Array) -> tuple[Array, Array, Array]:
    """M, (a, omega') and (f, t) of (f, t) = M (a, omega'): forces first, for they are eliminated first."""
    motion = np.concatenate([Wp[:3, 3], axial(Wp[:3, :3])])
    actions = np.concatenate([0.5 * (F[:3, 3] - F[3, :3]), axial(F[:3, :3])])
    inertia = np.array([inertia_times(J, unit) for unit in np.eye(6)], dtype=object)
    return inertia, motion, actions


def _matrices(motion: Array, actions: Array) -> tuple[Array, Array]:
    """Wp and F from (a, omega') and (f, t)."""
    return velocity_matrix(motion[3:], motion[:3]), action_matrix(actions[:3], actions[3:])


def _by_factors(m: Array, b: Array) -> tuple[Array, Any]:
    """The solution of m x = b by elimination without pivots, and 1 where the symmetric m is positive definite, else 0."""
    rows, x, test = m.copy(), b.copy(), 1.0
    for k in range(len(b)):
        test = select(rows[k, k] - ROUNDING * m[k, k], select(m[k, k], test, 0.0), 0.0)
        for i in range(k + 1, len(b)):
            factor = rows[i, k] / rows[k, k]
            rows[i] = rows[i] - factor * rows[k]
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(len(b))):
        x[k] = (x[k] - sum(rows[k, i] * x[i] for i in range(k + 1, len(b)))) / rows[k, k]
    return x, test


def _by_minors(m: Array, b: Array, linear: int) -> Array:
    """The same with one denominator: the linear part is the mass times the identity, and the rest at most 3x3."""
    x = b.copy()
    block, right = _moments(m, b, linear)
    if len(block):
        x[linear:] = (adjugate(block) @ right) / determinant(block)
    if linear:
        x[:linear] = (b[:linear] - m[:linear, linear:] @ x[linear:]) / m[0, 0]
    return x


def _moments(m: Array, b: Array, linear: int) -> tuple[Array, Array]:
    """Remainder of m x = b after elimination of the linear part, times the mass: matrix and right side."""
    block, right = m[linear:, linear:], b[linear:]
    if not linear:
        return block, right
    mass = m[0, 0]
    return mass * block - m[linear:, :linear] @ m[:linear, linear:], mass * right - m[linear:, :linear] @ b[:linear]


def _inertia_test(J: Array) -> Any:
    """1 where J is symmetric and has a mass, and its other part about the centre of mass is not negative, else 0."""
    mass, spread = J[3, 3], abs(J[0, 0]) + abs(J[1, 1]) + abs(J[2, 2])
    test: Any = 1.0
    for i, k in combinations(range(4), 2):
        most = SYMMETRY * SYMMETRY * spread * (spread if k < 3 else mass)
        test = select((J[i, k] - J[k, i]) ** 2 - most, 0.0, test)
    arm = J[:3, 3] / mass
    about_center = J[:3, :3] - np.outer(arm, J[:3, 3])
    test = select(least(*possible(about_center, spread)), test, 0.0)
    return select(mass, test, 0.0)


def _actions_test(J: Array, F: Array, unknown: Array) -> Any:
    """1 where the known entries of F are skew-symmetric, else 0."""
    size = sum(unknown[k] * (abs(F[place]) + abs(F[place[::-1]])) for k, place in enumerate(_PLACES))
    force = BALANCE * root(abs(J[3, 3] * (J[0, 0] + J[1, 1] + J[2, 2]))) + SYMMETRY * J[3, 3]
    slack = [BALANCE * moment for moment in np.diagonal(around(J[:3, :3]))] + [force] * 3
    test: Any = 1.0
    for k, place in enumerate(_PLACES):
        test = select(unknown[k] * (abs(F[place] + F[place[::-1]]) - (SYMMETRY * size + slack[k])), 0.0, test)
    return test


def _seems_inertia(J: Array, unknown: Array) -> bool:
    """True unless symbols are known to contradict J as an inertia, or its determination of the unknown accelerations."""
    if all(_is_number(item) for item in J.ravel()):
        numbers = J.astype(float)
        sought = unknown[_FORCES_FIRST].astype(bool)
        with np.errstate(all="ignore"):
            definite = _by_factors(spatial_inertia(numbers)[np.ix_(sought, sought)], np.zeros(sought.sum()))[1]
            return bool(_inertia_test(numbers) > 0 and definite > 0)
    pairs = [J[i, k] - J[k, i] for i, k in combinations(range(4), 2)]
    symmetric = all(isinstance(item, Expr) or is_zero(item) for item in pairs)
    return symmetric and not any(item < 0 for item in np.diagonal(J) if _is_number(item)) and _may_be_solved(J, unknown)


def _may_be_solved(J: Array, unknown: Array) -> bool:
    """True unless the mass, or the determinant of the moments for the unknown accelerations, is known to be zero."""
    sought = [k for k in range(6) if unknown[_FORCES_FIRST[k]] == 1]
    block, _ = _moments(spatial_inertia(J)[np.ix_(sought, sought)], np.zeros(len(sought)), sum(k < 3 for k in sought))
    return not is_zero(J[3, 3]) and not (len(block) and is_zero(determinant(block)))


def _seem_actions(J: Array, F: Array, unknown: Array) -> bool:
    """True unless symbols are known to contradict the known entries of F."""
    if all(_is_number(item) for item in [*F.ravel(), *J.ravel()]):
        return bool(_actions_test(J.astype(float), F.astype(float), unknown.astype(float)) > 0)
    sums = [F[place] + F[place[::-1]] for k, place in enumerate(_PLACES) if unknown[k] == 1]
    return all(isinstance(item, Expr) or is_zero(item) for item in sums)


def _is_number(item: Any) -> bool:
    return isinstance(item, (int, float)) or bool(getattr(item, "is_number", False))


def _short(matrix: Array) -> Array:
    """SymPy expressions as one fraction each, where that is soon done."""
    shortened = [tidy(item) if hasattr(item, "count_ops") and item.count_ops() <= SHORT else item for item in matrix.ravel()]
    result = np.empty(matrix.size, dtype=object)
    result[:] = shortened
    return result.reshape(matrix.shape)


def _chosen(test: Any, new: Array, old: Array) -> Array:
    return np.array([[select(test, new[i, k], old[i, k]) for k in range(4)] for i in range(4)], dtype=object)


def _unknown(var: Any) -> FloatArray | None:
    """The first row of var; None where a column has not one 1 and one 0."""
    try:
        rows = np.asarray(var)
    except ValueError:
        rows = np.zeros(0)
    if rows.shape != (2, 6) or rows.dtype.kind not in "iuf":
        raise ArgumentError(f"dyn_eq: var is {shown(var)}; expected two rows of six numbers, each 0 or 1")
    upper, lower = rows.tolist()
    if any(pair not in {(1, 0), (0, 1)} for pair in zip(upper, lower, strict=True)):
        return None
    return np.array(upper, dtype=float)


def _refused(J: Array, Wp: Array, F: Array) -> tuple[Array, Array, Any]:
    """The given matrices, and `NOTOK`, for a whole batch."""
    batch = common_batch("dyn_eq", J=J.shape[:-2], Wp=Wp.shape[:-2], F=F.shape[:-2])
    wp, f = (np.array(np.broadcast_to(value, (*batch, 4, 4))) for value in (Wp, F))
    return wp, f, np.full(batch, NOTOK) if batch else NOTOK


__all__ = exported(__name__)  # noqa: PLE0605
