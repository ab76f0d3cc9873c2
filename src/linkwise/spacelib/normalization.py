"""Matrices made orthogonal, symmetric or skew (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.4.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.spacelib.declaration import refuse_unless
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import MAT3, MATRIX, PART, SQUARE, is_symbolic
from linkwise.spatial.rotation import SINGULAR, nearest_rotation
from linkwise.spatial.scalar import Array

_EPS = 2.0**-52
"""The spacing of float64 at 1."""

_NOT_POSITIVE = "the determinant of the 3x3 block is not above zero by more than rounding; a rotation has 1"


def _iteration(name: str) -> Callable[..., Any]:
    """The nearest rotation of blocks (..., 3, 3), for the function of that name."""

    def body(R: Any) -> tuple[Array, Any]:
        made, measure = nearest_rotation(R)
        return made, measure - SINGULAR

    def on_symbols(R: Any) -> tuple[Array, Any]:
        if not any(isinstance(item, Expr) for item in np.ravel(R)):
            raise ArgumentError(f"{name}: SymPy symbols are not taken; the matrix is found by an iteration on numbers")
        return body(R)

    body.__name__ = name
    return function(refuse=(_NOT_POSITIVE,), symbolic=on_symbols, R=MAT3)(body)


_normal, _normal3 = _iteration("normal"), _iteration("normal3")


@function(direct=True, A=MATRIX)
def normal(A: Any) -> Array:
    """The nearest rotation in place of the 3x3 block of a matrix; the rest stays (manual, section 3.4.1).

    The limit of eq. 3.7, which is the orthogonal polar factor, by a fixed number of steps that reach it to rounding.

    Parameters
    ----------
    A : (..., 3, 3) array_like
        A rotation matrix, or a position matrix, with errors. No SymPy symbols: this is an iteration on numbers.

    Returns
    -------
    ndarray
        Of the shape of A.

    Raises
    ------
    ArgumentError
        Where the determinant of the block is not above zero: no rotation is near. (Eq. 3.7 with its cube root would make a
        rotation of a reflection.)

    Examples
    --------
    >>> m = rotat24(Z, 0.1, [1.0, 2.0, 3.0])
    >>> bool(abs(normal(m * [1.01, 1.01, 1.01, 1.0]) - m).max() < 1e-15)
    True
    """
    if min(A.shape[-2:]) < 3:
        raise ArgumentError(f"normal: A is of shape {A.shape}; expected a matrix (..., 3, 3) or larger")
    made = A.copy()
    made[..., :3, :3] = _normal(A[..., :3, :3])
    return np.asarray(made)


def normal3(R: Any) -> Array:
    """The rotation nearest to a 3x3 matrix: `normal` for that size (manual, section 3.4.1).

    Parameters
    ----------
    R : (..., 3, 3) array_like
        No SymPy symbols: this is an iteration on numbers.

    Returns
    -------
    ndarray (..., 3, 3)

    Raises
    ------
    ArgumentError
        Where the determinant is not above zero.

    Examples
    --------
    >>> normal3([[1.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.9]]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return np.asarray(_normal3(R))


@function(direct=True, A=SQUARE)
def normal_g(A: Any) -> Array:
    """The orthogonal matrix most similar to a square one of any size: its polar factor (manual, section 3.4.1).

    From the singular value decomposition, to which eq. 3.7 leads. A determinant below zero stays below zero. (The cube root
    of the equation is for n = 3; with it the iteration may run away for larger n.)

    Parameters
    ----------
    A : (..., n, n) array_like
        Numbers only.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For a singular matrix: the least singular value is nothing but rounding.

    Examples
    --------
    >>> normal_g([[0.0, 2.0], [3.0, 0.0]]).round(9).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if is_symbolic(A):
        raise ArgumentError("normal_g: symbols are not taken; the matrix is found from singular values of numbers")
    left, values, right = np.linalg.svd(A)
    refuse_unless("normal_g", np.asarray(values[..., -1] > A.shape[-1] * _EPS * values[..., 0]), "A is singular")
    return np.asarray(left @ right)


@function(direct=True, A=SQUARE, sign=PART)
def normskew(A: Any, sign: int) -> Array:
    """The symmetric or the skew-symmetric part of a square matrix: (A + A')/2 or (A - A')/2 (manual, eqs. 3.8 and 3.9).

    Parameters
    ----------
    A : (..., n, n) array_like
        A matrix of either kind with errors.
    sign : int
        `SYMM_` or `SKEW_`.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For another sign.

    Examples
    --------
    >>> normskew([[1, 2], [4, 3]], SKEW_).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    return np.asarray(A / 2 + sign * (A.swapaxes(-1, -2) / 2))
