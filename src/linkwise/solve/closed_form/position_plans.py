"""In which order the two equations for a position are solved, from what their matrices are at positions taken at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwise.solve.closed_form.geometry import TOLERANCE
from linkwise.solve.closed_form.position_sides import PARABOLA, normal_of, range_of
from linkwise.spatial.scalar import Array


class Plan(NamedTuple):
    """How a pair of equations is solved.

    Attributes
    ----------
    way : str
        ``"both"``, ``"a first"``, ``"c first"``, ``"a by conic"``, ``"c by conic"`` or ``"slides"``.
    straight : tuple of bool
        Of joints a and c, whether the equation of a sliding joint has no square.
    misfit : float
        How far a matrix that counts as one of rank one is from it.
    """

    way: str
    straight: tuple[bool, bool]
    misfit: float


def plan_of(a: Array, c: Array, curves: tuple[str, str], still: tuple[bool, bool]) -> Plan | None:
    """The way to solve the equations of three joints, from the matrices as numbers; None where there is none.

    Parameters
    ----------
    a, c : ndarray (k, 2, 2)
        The matrices in k positions taken at random.
    curves : tuple of str
        Of a and c.
    still : tuple of bool
        Whether the matrix is the same in all positions.
    """
    (rank_a, misfit_a), (rank_c, misfit_c) = _rank(a), _rank(c)
    misfit = max(misfit_a, misfit_c)
    if 0 in (rank_a, rank_c):
        return None
    if rank_a == rank_c == 1:
        onto_a, onto_c = _rows(normal_of, c, a), _rows(normal_of, a, c)
        least = min(np.abs(rows).max(axis=1).min() for rows in (onto_a, onto_c))
        return Plan("both", (_straight(onto_a), _straight(onto_c)), misfit) if least > TOLERANCE else None
    if rank_c == 1:
        return Plan("a first", (_straight(_rows(normal_of, c, a)), _straight(_rows(range_of, c, c))), misfit)
    if rank_a == 1:
        return Plan("c first", (_straight(_rows(range_of, a, a)), _straight(_rows(normal_of, a, c))), misfit)
    return Plan(_full(a, c, curves, still), (False, False), misfit)


def _full(a: Array, c: Array, curves: tuple[str, str], still: tuple[bool, bool]) -> str:
    """The way where both matrices can be inverted: rather one that never changes, rather the better conditioned."""
    if curves == (PARABOLA, PARABOLA):
        return "slides"
    if still[0] is not still[1]:
        return "c by conic" if still[0] else "a by conic"
    worst_a, worst_c = (float(np.max(np.linalg.cond(matrices))) for matrices in (a, c))
    return "a by conic" if worst_c <= worst_a else "c by conic"


def _rank(matrices: Array) -> tuple[int, float]:
    """The rank of matrices (k, 2, 2) of one kind, and how far they are from having it."""
    values = np.linalg.svd(matrices, compute_uv=False)
    if values[:, 0].min() < TOLERANCE:
        return 0, 0.0
    ratio = float((values[:, 1] / values[:, 0]).max())
    return (2, 0.0) if ratio > TOLERANCE else (1, ratio)


def _rows(direction: Callable[[Array], Array], of: Array, times: Array) -> Array:
    """Rows (k, 2): for each of the matrices (k, 2, 2) `of` a direction, times the other matrix."""
    return np.array([direction(m).astype(float) @ n for m, n in zip(of, times, strict=True)])


def _straight(rows: Array) -> bool:
    return bool(np.abs(rows[:, 0]).max() <= TOLERANCE * np.abs(rows[:, 1]).max())


def plan_of_two(c: Array) -> Plan | None:
    """The way to solve the equations of two joints, from the matrices (k, 2, 2) of c as numbers."""
    rank, misfit = _rank(c)
    if rank == 0:
        return None
    return Plan("both" if rank == 1 else "c first", (False, _straight(_rows(range_of, c, c))), misfit)
