"""Tests of matrices and vectors that only the Maple release has.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, appendix A, names them and describes no arguments.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import Expr
from linkwise.spacelib.arrays import matrix, read_arrays
from linkwise.spacelib.constants import NOTOK, OK
from linkwise.spacelib.exact import is_zero
from linkwise.spacelib.kinds import is_symbolic
from linkwise.spatial.determinant import determinant
from linkwise.spatial.scalar import Array


def Mcheck(A: Any, tolerance: float = 1e-6) -> Any:
    """Whether a matrix is a rotation matrix (3x3) or a position matrix (4x4).

    Its rotation must be orthogonal with determinant 1, and the last row of a position matrix 0 0 0 1. Of SymPy's symbols
    this must hold for all their values.

    Parameters
    ----------
    A : (..., 3, 3) or (..., 4, 4) array_like
    tolerance : float
        How far an element of R' R may be from the identity; numbers printed with four digits need about 1e-3.

    Returns
    -------
    int, or ndarray (...) of int
        `OK` or `NOTOK`.

    Raises
    ------
    ArgumentError
        For other shapes, and Linkwise expressions.

    Examples
    --------
    >>> Mcheck(np.eye(4)) == OK, Mcheck(np.diag([1.0, 1.0, -1.0])) == OK
    (True, False)
    """
    (a,) = read_arrays("Mcheck", "a matrix (..., 3, 3) or (..., 4, 4)", A=A)
    if a.ndim < 2 or a.shape[-2:] not in {(3, 3), (4, 4)}:
        raise ArgumentError(f"Mcheck: A is of shape {a.shape}; expected (..., 3, 3) or (..., 4, 4)")
    r, last = a[..., :3, :3], a[..., 3:, :]
    off = np.swapaxes(r, -1, -2) @ r - (np.eye(3) if not is_symbolic(a) else np.eye(3, dtype=int))
    if is_symbolic(a):
        row = last.ravel() - ([0, 0, 0, 1] if last.size else [])
        return _all_zero("Mcheck", np.concatenate([off.ravel(), row, [determinant(r) - 1]]))
    fine = (np.abs(off) <= _tolerance("Mcheck", tolerance)).all(axis=(-1, -2)) & (np.linalg.det(r) > 0)
    if a.shape[-1] == 4:
        fine &= (last[..., 0, :] == [0.0, 0.0, 0.0, 1.0]).all(axis=-1)
    return _code(fine)


def Miszero(A: Any, tolerance: float = 0.0) -> Any:
    """Whether a matrix is zero.

    Parameters
    ----------
    A : (..., m, n) array_like
        Numbers, or SymPy's symbols, of which every element must be zero for all their values.
    tolerance : float
        Up to which size an element counts as zero.

    Returns
    -------
    int, or ndarray (...) of int
        `OK` or `NOTOK`.

    Raises
    ------
    ArgumentError
        For a scalar or vector, a tolerance below zero, and Linkwise expressions.

    Examples
    --------
    >>> Miszero([[0.0, 0.0]]) == OK, Miszero([[0.0, 1e-9]]) == OK, Miszero([[0.0, 1e-9]], 1e-6) == OK
    (True, False, True)
    """
    (a,) = read_arrays("Miszero", "a matrix (..., m, n)", A=A)
    matrix("Miszero: A", a)
    if is_symbolic(a):
        return _all_zero("Miszero", a.ravel())
    return _code((np.abs(a) <= _tolerance("Miszero", tolerance)).all(axis=(-1, -2)))


def viszero(v: Any, tolerance: float = 0.0) -> Any:
    """Whether a vector is zero.

    Parameters
    ----------
    v : (..., n) array_like
        Numbers, or SymPy's symbols, of which every element must be zero for all their values.
    tolerance : float
        Up to which size an element counts as zero.

    Returns
    -------
    int, or ndarray (...) of int
        `OK` or `NOTOK`.

    Raises
    ------
    ArgumentError
        For a scalar, a tolerance below zero, and Linkwise expressions.

    Examples
    --------
    >>> viszero([0.0, 0.0, 0.0]) == OK
    True
    """
    (a,) = read_arrays("viszero", "a vector (..., n)", v=v)
    if a.ndim == 0:
        raise ArgumentError(f"viszero: v is {shown(v)}; expected a vector (..., n)")
    if is_symbolic(a):
        return _all_zero("viszero", a.ravel())
    return _code((np.abs(a) <= _tolerance("viszero", tolerance)).all(axis=-1))


def _all_zero(name: str, items: Array) -> int:
    if any(isinstance(item, Expr) for item in items):
        raise ArgumentError(
            f"{name}: whether a Linkwise expression is always zero is not known; expected numbers or SymPy symbols"
        )
    return OK if all(is_zero(item) for item in items) else NOTOK


def _tolerance(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.floating, np.integer)) or not 0 <= value <= sys.float_info.max:
        raise ArgumentError(f"{name}: tolerance is {shown(value)}; expected a number of 0 or more")
    return float(value)


def _code(fine: Any) -> Any:
    return np.where(fine, OK, NOTOK) if np.ndim(fine) else (OK if fine else NOTOK)
