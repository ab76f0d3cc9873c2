"""Matrices in another frame (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.4.2).

The names tell the rules, letter by letter: m for M, a for A, i for the inverse, t for the transposed. Equations 3.12 and
3.13 of the manual mix two of them up; the names hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib import exact, inverses
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import POSITION, SQUARE, is_symbolic
from linkwise.spacelib.rotations import NO_ROTATION, rotation_measure
from linkwise.spacelib.symbolic_position import is_position
from linkwise.spatial.matrix_method import tensor_to_frame
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import inverse


@function(m=POSITION, refuse=(NO_ROTATION,))
def invers(m: Any) -> Any:
    """Inverse of a position matrix: the block transposed, and the origin -R' T (manual, eq. 3.14).

    Only for position matrices. `mami` and the others of this section take any that has an inverse, as does `minvers`.

    Parameters
    ----------
    m : (..., 4, 4) array_like
        Position matrix.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where the last row is not 0 0 0 1, or the 3x3 block far from a rotation.

    Examples
    --------
    >>> invers(traslat2(X, 2.0))[0].tolist()
    [1.0, 0.0, 0.0, -2.0]
    """
    return inverse(m), rotation_measure(m)


@function(direct=True, A1=SQUARE, M=SQUARE)
def mami(A1: Any, M: Any) -> Array:
    """M A M^-1: a matrix Q, L, W or H of frame (s) in frame (r), with the position M of (s) in (r) (manual, eq. 3.10).

    Parameters
    ----------
    A1 : (..., n, n) array_like
        The matrix.
    M : (..., n, n) array_like
        Position matrix, or any other that has an inverse. A position matrix of symbols is known by its numbers at a few
        random places, and its inverse is then written as `invers` has it.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For matrices of different sizes, or where M is singular.

    Examples
    --------
    >>> W, H = veactowh(Rev, 1.5, 0.9)
    >>> mami(W, traslat24(Z, 0.0, [0.4, 0.1, 0.0]))[:2, U].round(9).tolist()
    [0.15, -0.6]
    """
    _check("mami", A1, M)
    return np.asarray(M @ A1 @ _inverse("mami", M))


@function(direct=True, A1=SQUARE, M=SQUARE)
def miam(A1: Any, M: Any) -> Array:
    """M^-1 A M: the inverse of `mami`, from frame (r) to frame (s) (manual, eq. 3.11).

    Parameters
    ----------
    A1, M : (..., n, n) array_like
        As for `mami`.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        As `mami`.

    Examples
    --------
    >>> W, H = veactowh(Rev, 1.5, 0.9)
    >>> m = rotat24(X, 0.3, [0.4, 0.1, 0.0])
    >>> bool(abs(miam(mami(W, m), m) - W).max() < 1e-15)
    True
    """
    _check("miam", A1, M)
    return np.asarray(_inverse("miam", M) @ A1 @ M)


@function(direct=True, A1=SQUARE, M=SQUARE)
def miamit(A1: Any, M: Any) -> Array:
    """M^-1 A M^-t: the inverse of `mamt`, from frame (r) to frame (s) (manual, section 3.4.2).

    Parameters
    ----------
    A1, M : (..., n, n) array_like
        As for `mami`.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        As `mami`.

    Examples
    --------
    >>> J = jtoj(2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5)
    >>> miamit(J, traslat2(Z, 0.5))[2].tolist()
    [0.0, 0.0, 0.5, 0.0]
    """
    _check("miamit", A1, M)
    return tensor_to_frame(A1, _inverse("miamit", M))


@function(direct=True, A1=SQUARE, M=SQUARE)
def mamt(A1: Any, M: Any) -> Array:
    """M A M': a matrix J, Gamma or Phi of frame (s) in frame (r), with the position M of (s) in (r) (manual, section 3.4.2).

    Parameters
    ----------
    A1, M : (..., n, n) array_like
        The matrix, and the position matrix or any other.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For matrices of different sizes.

    Examples
    --------
    >>> J = jtoj(2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    >>> mamt(J, traslat2(Z, 0.5))[2].tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    _check("mamt", A1, M)
    return tensor_to_frame(A1, M)


def check_same_size(name: str, **matrices: Array) -> None:
    """Refuse square matrices of different sizes, or of batches that do not fit.

    Raises
    ------
    ArgumentError
        Naming the shapes.
    """
    if len({m.shape for m in matrices.values()}) == 1:
        return
    try:
        np.broadcast_shapes(*(m.shape[:-2] for m in matrices.values()))
        fits = len({m.shape[-1] for m in matrices.values()}) == 1
    except ValueError:
        fits = False
    if not fits:
        found = ", ".join(f"{field} {m.shape}" for field, m in matrices.items())
        raise ArgumentError(f"{name}: the shapes are {found}; expected (..., n, n) with one n, and batches that fit")


def _check(name: str, a: Array, m: Array) -> None:
    check_same_size(name, A1=a, M=m)


def _inverse(name: str, m: Array) -> Array:
    """The inverse of matrices; an ArgumentError where one is singular."""
    if not is_symbolic(m):
        return inverses.inverse_of_position(name, m)
    return np.asarray(invers(m)) if is_position(m) else exact.inverse(name, m, "M")
