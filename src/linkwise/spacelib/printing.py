"""Matrices on the screen and in files (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.10).

The manual does not say how numbers are laid out. Here they stand in columns of eight characters with four decimals, which
widen together for large numbers. Where numbers that count would show as zero, all are written with exponents. Whole numbers
(arrays of integers) have no decimals, and no zero has a minus.
"""

from __future__ import annotations

import sys
from typing import Any, TextIO

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import Expr
from linkwise.spacelib.constants import U
from linkwise.spacelib.function import exported, spacelib
from linkwise.spacelib.kinds import opened, whole_number
from linkwise.spatial.scalar import Array
from linkwise.spatial.validation import readable

#: The layout of a number, as in ``%8.4f``.
WIDTH, DECIMALS = 8, 4

#: Above it float64 has no decimals; such a matrix is written with exponents.
LARGEST = 1e15


#: Numbers below this, times the largest one, may be printed as zero: they are often rounding.
COUNTS = 1e-7


@spacelib(
    "3.10",
    "comment and matrix to a file",
    "print(s, A, sep='\\n', file=out)",
    c="fprintm3 fprintm4 fprintv",
    maple="fprintm",
)
def fprintm(out: TextIO | int, s: str, A: Any, *, fixed: bool = False) -> None:
    """Write a comment and a matrix to a text file (manual, section 3.10).

    Parameters
    ----------
    out : text file or 1
        A file open for writing; 1 is the screen.
    s : str
        Comment: a line above, or for a single number before it. Empty for none.
    A : (..., m, n), (n,) or scalar array_like
        Numbers or symbols. A vector is a row; of a batch each matrix stands under its index. NaN and infinite numbers are
        written as such.
    fixed : bool
        Whether there are four decimals always, as programs want them that read the columns. Else small numbers that count
        are written with exponents.

    Raises
    ------
    ArgumentError
        Where out is no open text file, or A no array.

    Examples
    --------
    >>> fprintm(1, "The matrix M:", [[0.0, -1.5], [1234.5, -0.00001]])
    The matrix M:
        0.0000   -1.5000
     1234.5000    0.0000
    <BLANKLINE>
    >>> fprintm(1, "rank", 3)
    rank 3
    """
    written = _file("fprintm", out)
    comment = _comment("fprintm", s)
    array = _given("fprintm: A", A)
    if array.ndim == 0:
        written.write(f"{comment.rstrip()} {_cells(array, fixed)[0]}\n".lstrip(" "))
        return
    if comment:
        written.write(f"{comment}\n")
    written.write(f"{_block(array, fixed)}\n")


@spacelib("3.10", "comment and matrix to the screen", "print(s, A, sep='\\n')", c="printm printm4 printv")
def printm(s: str, A: Any) -> None:
    """Write a comment and a matrix to the screen, as `fprintm` does (manual, section 3.10).

    Parameters
    ----------
    s : str
        Comment.
    A : (..., m, n), (n,) or scalar array_like
        Numbers or symbols.

    Raises
    ------
    ArgumentError
        Where A is no array.

    Examples
    --------
    >>> printm("The vector u:", [1.0, 2.0, 3.0])
    The vector u:
      1.0000  2.0000  3.0000
    <BLANKLINE>
    """
    fprintm(1, s, A)


@spacelib("3.10", "position matrix for the program GRP_MAN")
def prmat(grpout: TextIO | int, s: str, m: Any) -> None:
    """Write a position matrix as the post-processor GRP_MAN reads it (manual, section 3.10).

    The manual does not describe the format. Written are the string, and three rows of three numbers: the directions of the
    axes x and y, and the origin.

    Parameters
    ----------
    grpout : text file or 1
        A file open for writing; 1 is the screen.
    s : str
        What stands above. Empty for nothing.
    m : (4, 4) array_like
        Position matrix, numbers or symbols.

    Raises
    ------
    ArgumentError
        Where grpout is no open text file, or m no matrix (4, 4).

    Examples
    --------
    >>> prmat(1, "body 1", [[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 1.0]])
    body 1
      1.0000  0.0000  0.0000
      0.0000  1.0000  0.0000
      0.5000  0.0000  2.0000
    """
    written = _file("prmat", grpout)
    comment = _comment("prmat", s)
    array = _given("prmat: m", m)
    if array.shape != (4, 4):
        raise ArgumentError(f"prmat: m is of shape {array.shape}; expected (4, 4)")
    rows = _rows(array[:3, [0, 1, U]].T)
    written.write("".join(f"{line}\n" for line in [*([comment] if comment else []), *rows]))


def _file(name: str, out: Any) -> TextIO:
    if whole_number(out) == 1:
        return sys.stdout
    try:
        out.write("")
    except (AttributeError, TypeError, OSError) as error:
        raise ArgumentError(
            f"{name}: out is {shown(out)}; expected 1 for the screen, or a text file open for writing"
        ) from error
    file: TextIO = out
    return file


def _comment(name: str, s: Any) -> str:
    if not isinstance(s, str):
        raise ArgumentError(f"{name}: the comment is {shown(s)}; expected a string")
    return s


def _given(field: str, value: Any) -> Array:
    """Numbers, whole numbers or symbols as an array."""
    try:
        array = np.asarray(readable(field, value))
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"{field} is not an array; expected numbers or symbols") from error
    symbols = array.dtype == object and all(
        isinstance(item, (Expr, int, float, np.number)) or hasattr(item, "free_symbols") for item in array.ravel()
    )
    if array.dtype.kind not in "fiu" and not symbols:
        raise ArgumentError(f"{field} holds {array.dtype}; expected numbers or symbols")
    return array


def _block(value: Array, fixed: bool = False) -> str:
    """The lines of a vector or matrix; each matrix of a batch under its index."""
    if value.ndim <= 2:
        return "".join(f"{line}\n" for line in _rows(np.atleast_2d(value), fixed))
    parts = []
    for place in np.ndindex(value.shape[:-2]):
        parts += [f"{list(place)}", *_rows(value[place], fixed)]
    return "".join(f"{line}\n" for line in parts)


def _rows(value: Array, fixed: bool = False) -> list[str]:
    cells = _cells(value, fixed)
    width = max([WIDTH, *(len(cell) + 1 for cell in cells)])
    columns = value.shape[-1]
    return ["".join(f"{cell:>{width}}" for cell in cells[k : k + columns]) for k in range(0, len(cells), columns or 1)]


def _cells(value: Array, fixed: bool = False) -> list[str]:
    """Each element as text, row by row."""
    if value.dtype.kind in "iu":
        return [str(item) for item in value.ravel().tolist()]
    if value.dtype == object:
        return [str(opened(item)) for item in value.ravel()]
    sizes = np.abs(value[np.isfinite(value)])
    style = "e" if _needs_exponents(sizes, fixed) else "f"
    written = [f"{item:.{DECIMALS}{style}}" for item in value.ravel().tolist()]
    return [item[1:] if item.startswith("-") and not item.strip("-0.e+") else item for item in written]


def _needs_exponents(sizes: Array, fixed: bool) -> bool:
    """True if four decimals are too many for the largest number, or too few for a significant one."""
    largest = sizes.max(initial=0.0)
    lost = (sizes < 0.5 * 10.0**-DECIMALS) & (sizes > COUNTS * largest)
    return bool(largest >= LARGEST or (lost.any() and not fixed))


__all__ = exported(__name__)  # noqa: PLE0605
