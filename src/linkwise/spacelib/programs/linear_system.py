"""TEST-LIN: whether a linear system has one solution, none, or infinitely many, and which.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, sections 4.3.2 to 4.3.4. Where the listing takes the solution from
column n of the reduced matrix, column n+1 is meant; column n belongs to the unit matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spacelib.kinds import read_arrays
from linkwise.spacelib.linear_systems import linears
from linkwise.spacelib.programs.formats import NumberFile, Sheet, rounded, save_numbers
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers

NOT_ONE = {"none": "The system has no solution.", "many": "The system has infinitely many solutions."}

#: Tolerance of a residual in units of rounding, times the size of the system: see `_rounding`.
ROUNDING = 64


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """A system A x = b of n equations in m unknowns and all that satisfies it.

    Attributes
    ----------
    A : ndarray (n, m)
        Coefficients.
    b : ndarray (n,)
        Right-hand side.
    H : ndarray (n, m + 1)
        The reduced system, see `linears`: a unit matrix, the columns of the free variables, and the right-hand side.
    ivet : ndarray of int (m,)
        The variable of each column of H, counted from 0.
    irank : int
        Rank of A.
    arm : float
        Largest element met in the last step of the elimination.
    kind : {"one", "none", "many"}
        Number of solutions.
    free : tuple of int (m - irank,)
        The variables that may have any value, in the order of the columns of H.
    x : ndarray (m,)
        The solution in which the free variables are zero; NaN where there is none.
    basis : ndarray (m, m - irank)
        What is added to x for each unit of a free variable: x + basis @ c are all solutions.
    residual : float
        Largest element of A x - b; NaN where there is no solution.
    """

    A: FloatArray
    b: FloatArray
    H: FloatArray
    ivet: FloatArray
    irank: int
    arm: float
    kind: str
    free: tuple[int, ...]
    x: FloatArray
    basis: FloatArray
    residual: float

    def solution(self, *values: float) -> FloatArray:
        """Find the solution (m,) with these values of the free variables, in the order of ``free``.

        Raises
        ------
        ArgumentError
            Where there is no solution, or the count of values is another.

        Examples
        --------
        >>> linear_system([[1.0, 1.0]], [3.0]).solution(2.0).tolist()
        [1.0, 2.0]
        """
        if self.kind == "none":
            raise ArgumentError("the system has no solution")
        if len(values) != len(self.free):
            raise ArgumentError(f"{len(values)} values are given for {len(self.free)} free variables {list(self.free)}")
        return np.asarray(self.x + self.basis @ np.asarray(values, dtype=float))


def read_system(path: str | Path) -> tuple[FloatArray, FloatArray]:
    """Read a system from a file (INP.DAT, manual, table 4.2): n and m, then n rows of A with the entry of b.

    Returns
    -------
    A, b : ndarray (n, m), (n,)

    Raises
    ------
    FileError
        With every mistake and its line.

    Examples
    --------
    >>> from linkwise.spacelib.programs.formats import path
    >>> A, b = read_system(path("INP.DAT"))
    >>> A.shape, b.tolist()
    ((4, 5), [6.0, 5.0, 3.0, 3.0])
    """
    file = NumberFile(path)
    n = file.whole("the number of equations", 1, 9999)
    m = file.whole("the number of unknowns", 1, 9999)
    rows = []
    for i in range(1, n + 1):
        row = [file.number(f"A({i},{j})") for j in range(1, m + 1)]
        rows.append([*row, file.number(f"b({i})")])
    file.finish()
    table = np.array(rows)
    return table[:, :m], table[:, m]


def save_system(path: str | Path, A: npt.ArrayLike, b: npt.ArrayLike) -> None:
    """Write a system to a file as `read_system` reads it.

    Parameters
    ----------
    path : str or Path
        The file.
    A, b : (n, m), (n,) array_like
        Coefficients and right-hand side.

    Raises
    ------
    ArgumentError
        For other shapes, and numbers that are not finite.
    FileError
        Where it cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "INP.DAT"
    >>> save_system(path, [[1.0, 2.0]], [0.1])
    >>> path.read_text().split()
    ['1', '2', '1.0', '2.0', '0.1']
    """
    coefficients, right = numbers("save_system: A", A), numbers("save_system: b", b)
    if coefficients.ndim != 2 or 0 in coefficients.shape or right.shape != coefficients.shape[:1]:
        raise ArgumentError(
            f"save_system: A is of shape {coefficients.shape} and b of shape {right.shape}; expected (n, m) and (n,)"
        )
    save_numbers(path, [[*coefficients.shape], *np.column_stack([coefficients, right]).tolist()])


def linear_system(A: Any, b: Any, vpr: Any = (-1,)) -> LinearSystem:
    """Solve a system of any shape and rank by `linears`.

    A system counts as solvable where its reduced solution satisfies it to rounding: 64 units in the last place times the
    size of the system and of what is added up in an equation and in those from which it follows.

    Parameters
    ----------
    A : (n, m) array_like
        Coefficients.
    b : (n,) array_like
        Right-hand side.
    vpr : sequence of int
        Variables, counted from 0, that are to be main variables; ended by -1, see `linears`.

    Returns
    -------
    LinearSystem

    Raises
    ------
    ArgumentError
        For arrays of other shapes, numbers that are not finite, or a solution that is too large.

    Notes
    -----
    The rank is that of `linears`, which takes for zero what is small beside the first pivot. ``arm`` is how large that
    was: where it is not far below what the equations are made of, scale them and ask again.

    Examples
    --------
    >>> found = linear_system([[1, 1, 1, 2, 1], [0, 1, 1, 2, 1], [0, 0, 2, 2, 1], [0, 0, 2, 2, 1]], [6, 5, 3, 3])
    >>> found.kind, found.free, found.solution(7.0, 4.0).tolist()
    ('many', (1, 4), [1.0, 7.0, 5.0, -5.5, 4.0])
    """
    coefficients, right = (part.copy() for part in read_arrays("linear_system", "numbers", A=A, b=b))
    if object in (coefficients.dtype, right.dtype):
        raise ArgumentError("linear_system: A or b holds symbols; this program compares sizes, see `linears`")
    if coefficients.ndim != 2 or not coefficients.size or right.shape != coefficients.shape[:1]:
        shapes = f"{coefficients.shape} and {right.shape}"
        raise ArgumentError(f"linear_system: A and b have the shapes {shapes}; expected (n, m) and (n,)")
    n, m = coefficients.shape
    H, ivet, irank, arm = linears(np.column_stack([coefficients, right]), n, m + 1, n, m, 1, vpr)
    order, rank = np.asarray(ivet, dtype=int), int(irank)
    x, basis = np.zeros(m), np.zeros((m, m - rank))
    x[order[:rank]] = H[:rank, m]
    basis[order[:rank]] = -H[:rank, rank:m]
    basis[order[rank:], range(m - rank)] = 1.0
    with np.errstate(all="ignore"):
        missed = np.abs(coefficients @ x - right)
        added = np.abs(coefficients) @ np.abs(x) + np.abs(right)
    if not np.isfinite([*x, *basis.ravel(), *missed, *added]).all():
        raise ArgumentError("linear_system: the solution is beyond the range of floating-point numbers")
    solvable = rank == n or bool((missed <= _rounding(coefficients[:, order[:rank]], added, missed)).all())
    kind = ("one" if rank == m else "many") if solvable else "none"
    residual = float(missed.max()) if solvable else np.nan
    free = tuple(int(k) for k in order[rank:])
    shown = x if solvable else np.full(m, np.nan)
    return LinearSystem(coefficients, right, H, order, rank, float(arm), kind, free, shown, basis, residual)


def _rounding(columns: FloatArray, added: FloatArray, missed: FloatArray) -> FloatArray:
    """Rounding error of each equation (n,), for the columns (n, rank) of the main variables.

    An equation is a sum of those from which the pivots were taken, and takes over their rounding as it takes over them.

    Parameters
    ----------
    columns : ndarray (n, rank)
        The coefficients.
    added, missed : ndarray (n,)
        Sum of the sizes of all that is added up in an equation, and what is left of it.
    """
    scaled = columns / np.abs(columns).max(axis=0)
    main = _pivot_rows(scaled)
    taken = np.abs(np.linalg.solve(scaled[main].T, scaled.T).T)
    unit = ROUNDING * max(columns.shape) * np.finfo(float).eps
    return np.asarray(unit * (added + taken @ added[main]) + taken @ missed[main])


def _pivot_rows(columns: FloatArray) -> list[int]:
    """The equations from which an elimination takes its pivots, column after column, largest element first."""
    left, rows = columns.copy(), []
    for k in range(columns.shape[1]):
        i = int(np.abs(left[:, k]).argmax())
        left -= np.outer(left[:, k] / left[i, k], left[i])
        left[i] = 0.0
        rows.append(i)
    return rows


def text(result: LinearSystem) -> str:
    """Write the system and its solution, or the reduced system and its implication for the solutions."""
    sheet = Sheet()
    n, m = result.A.shape
    sheet.matrix("Matrix and right-hand side vector", np.column_stack([result.A, result.b]))
    if result.kind == "one" and n == m:
        sheet.line("The solution is:")
        sheet.vector("x", result.x)
        return str(sheet)
    if n != m:
        sheet.line("The number of rows and columns are different.")
    sheet.line(f"The rank of the matrix is: {result.irank}")
    if result.irank < min(n, m) and result.arm > 0:
        sheet.line(f"Elements up to {result.arm:.3g} (arm) were taken for zero.")
    sheet.line(f"ivet: {' '.join(map(str, result.ivet.tolist()))}")
    sheet.matrix("The matrix is", result.H)
    sheet.line(NOT_ONE.get(result.kind, "The system has one solution."))
    if result.kind == "one":
        sheet.vector("x", result.x)
    elif result.kind == "many":
        names = ", ".join(f"x({k})" for k in sorted(result.free))
        sheet.line(f"Any value may be given to {names}, variables counted from 0; then")
        for place in np.argsort(result.ivet[: result.irank]):
            sheet.line(f"  {_equation(result, int(place))}")
    return str(sheet)


def _equation(result: LinearSystem, place: int) -> str:
    """A main variable in terms of the free ones."""
    row = result.H[place]
    constants = np.abs(result.H[: result.irank, -1])
    text = f"x({result.ivet[place]}) = {rounded(row[-1], float(constants.max()))}"
    for coefficient, variable in zip(row[result.irank : -1], result.free, strict=True):
        if rounded(coefficient) != "0":
            factor = rounded(abs(coefficient))
            text += f" {'-' if coefficient > 0 else '+'} {'' if factor == '1' else factor + ' '}x({variable})"
    return text
