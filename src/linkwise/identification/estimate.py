"""Least squares of the base parameters, each joint weighted by how much its efforts scatter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.identification.equations import Equations
from linkwise.spatial.scalar import FloatArray

ROUNDS, SETTLED = 20, 1e-4
"""The weights are found anew until they change less than this share, or so often."""

LEAST = 1e-12
"""Share of the largest effort below which no joint is believed to scatter: rounding does."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What least squares give.

    Attributes
    ----------
    values : ndarray (b,)
        Zero for those that were left out.
    covariance : ndarray (b, b)
        NaN for those that were left out.
    effort_std : ndarray (nv,)
        Standard deviation of the efforts by which each row was weighted.
    kept : ndarray (b,) of bool
        False for those that were left out as not significant.
    """

    values: FloatArray
    covariance: FloatArray
    effort_std: FloatArray
    kept: npt.NDArray[np.bool_]


def estimate(made: Equations, effort_std: FloatArray | None, essential: float | None) -> Estimate:
    """Estimate the parameters of equations.

    Rows are divided by the deviation of their joint's efforts, which is given, or found from the residuals of the
    estimate before, at first with equal weights (M. Gautier, "Dynamic identification of robots with power model", ICRA
    1997, eq. 10 to 12). The variance of a joint is its sum of squares over the samples less the number of parameters that
    its rows determine, which is the sum of their leverages.
    """
    _, joints, count = made.table.shape
    factors = np.stack([_triangle(np.c_[made.table[:, j], made.tau[:, j]], count + 1) for j in range(joints)])
    scatter = np.ones(joints) if effort_std is None else effort_std
    for _ in range(ROUNDS if effort_std is None else 0):
        before, (values, covariance) = scatter, _solved(_stacked(factors, scatter))
        scatter = _scatter(factors, scatter, values, covariance, made.counts)
        if np.all(np.abs(scatter - before) <= SETTLED * scatter):
            break
    whole = _stacked(factors, scatter)
    kept = np.ones(count, dtype=bool) if essential is None else _significant(whole, essential)
    values, covariance = np.zeros(count), np.full((count, count), np.nan)
    values[kept], covariance[np.ix_(kept, kept)] = _solved(_reduced(whole, kept))
    return Estimate(values, covariance, scatter, kept)


def condition(table: FloatArray) -> tuple[float, float]:
    """Condition number of a regressor (..., b) with its columns scaled to length one, and as it is."""
    rows = table.reshape(-1, table.shape[-1])
    factor = np.linalg.qr(rows, mode="r")
    return float(np.linalg.cond(factor / np.linalg.norm(factor, axis=0))), float(np.linalg.cond(factor))


def _triangle(rows: FloatArray, size: int) -> FloatArray:
    """The triangular factor (size, size) of rows (any, size): all that least squares need of them."""
    factor = np.linalg.qr(rows, mode="r")
    return np.concatenate([factor, np.zeros((size - len(factor), size))])


def _stacked(factors: FloatArray, scatter: FloatArray) -> FloatArray:
    """The factor of all joints together, each weighted."""
    size = factors.shape[-1]
    return _triangle((factors / scatter[:, None, None]).reshape(-1, size), size)


def _reduced(factor: FloatArray, kept: npt.NDArray[np.bool_]) -> FloatArray:
    """The factor of fewer parameters."""
    return factor if kept.all() else _triangle(factor[:, np.r_[kept, True]], int(kept.sum()) + 1)


def _solved(factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and covariance of the parameters of a factor (b + 1, b + 1), its columns scaled for accuracy."""
    square, right = factor[:-1, :-1], factor[:-1, -1]
    sizes = np.linalg.norm(square, axis=0)
    inverse = np.linalg.inv(square / sizes)
    covariance = (inverse / sizes[:, None]) @ (inverse / sizes[:, None]).T
    return np.linalg.solve(square / sizes, right) / sizes, covariance


def _scatter(
    factors: FloatArray, before: FloatArray, values: FloatArray, covariance: FloatArray, counts: npt.NDArray[np.int64]
) -> FloatArray:
    """Standard deviation (nv,) of each joint's efforts by its residuals."""
    squares = ((factors @ np.r_[values, -1.0]) ** 2).sum(axis=1)
    rows = factors[:, :, :-1]
    leverage = np.einsum("jrk,kl,jrl->j", rows, covariance, rows, optimize=True) / before**2
    found = np.sqrt(squares / np.maximum(counts - leverage, 1.0))
    largest = (np.linalg.norm(factors[:, :, -1], axis=1) / np.sqrt(np.maximum(counts, 1))).max()
    return np.asarray(np.maximum(found, LEAST * largest if largest else 1.0))


def _significant(factor: FloatArray, bound: float) -> npt.NDArray[np.bool_]:
    """Which parameters are left when the least certain is dropped again and again until all deviate less than the bound.

    W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*, 2002, section 12.4.4.
    """
    kept = np.ones(len(factor) - 1, dtype=bool)
    while kept.any():
        values, covariance = _solved(_reduced(factor, kept))
        relative = np.sqrt(np.diag(covariance)) / np.maximum(np.abs(values), np.finfo(float).tiny)
        worst = int(np.argmax(relative))
        if relative[worst] <= bound:
            break
        kept[np.flatnonzero(kept)[worst]] = False
    return kept
