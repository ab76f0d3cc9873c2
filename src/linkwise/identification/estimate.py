"""Least squares of the base parameters, each joint weighted by the standard deviation of its efforts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.regressor import closed_efforts, closed_regressor
from linkwise.errors import ArgumentError
from linkwise.identification.parameters import Unknowns
from linkwise.identification.preprocess import decimated
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

#: The weights are found anew until they change less than this share, or so often.
ROUNDS, SETTLED = 20, 1e-4

#: Share of the largest effort below which no joint is believed to scatter: rounding does.
LEAST = 1e-12

#: Samples whose full regressor is in memory at a time.
CHUNK = 4096

#: Decimated samples that are dropped at either end; a slow sample spoils as many to either side: e^-4.8 of it is left.
ENDS = 4


@dataclass(frozen=True, eq=False)
class Estimate:
    """Result of the least squares.

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


def estimate(equations: MotionEquations, effort_std: FloatArray | None, essential: float | None) -> Estimate:
    """Estimate the parameters of equations.

    Rows are divided by the deviation of their joint's efforts, which is given, or found from the residuals of the
    estimate before, at first with equal weights (M. Gautier, "Dynamic identification of robots with power model", ICRA
    1997, eq. 10 to 12). The variance of a joint is its sum of squares over the samples less the number of parameters that
    its rows determine, which is the sum of their leverages.
    """
    _, joints, count = equations.table.shape
    factors = np.stack([_triangle(np.c_[equations.table[:, j], equations.tau[:, j]], count + 1) for j in range(joints)])
    scatter = np.ones(joints) if effort_std is None else effort_std
    for _ in range(ROUNDS if effort_std is None else 0):
        before, (values, covariance) = scatter, _solved(_stacked(factors, scatter))
        scatter = _scatter(factors, scatter, values, covariance, equations.counts)
        if np.all(np.abs(scatter - before) <= SETTLED * scatter):
            break
    whole = _stacked(factors, scatter)
    kept = np.ones(count, dtype=bool) if essential is None else _significant(whole, essential)
    values, covariance = np.zeros(count), np.full((count, count), np.nan)
    values[kept], covariance[np.ix_(kept, kept)] = _solved(_reduced(whole, kept))
    return Estimate(values, covariance, scatter, kept)


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
    deviations = np.sqrt(squares / np.maximum(counts - leverage, 1.0))
    largest = (np.linalg.norm(factors[:, :, -1], axis=1) / np.sqrt(np.maximum(counts, 1))).max()
    return np.asarray(np.maximum(deviations, LEAST * largest if largest else 1.0))


def _significant(factor: FloatArray, bound: float) -> npt.NDArray[np.bool_]:
    """Mask of parameters left after repeatedly dropping the least certain one until all deviations are below the bound.

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


@dataclass(frozen=True, eq=False)
class MotionEquations:
    """tau = table @ values + scatter.

    Attributes
    ----------
    table : ndarray (T, nv, b)
        The base regressor; zero where an equation was left out.
    tau : ndarray (T, nv)
        Efforts, less those of what is known; zero where left out.
    counts : ndarray (nv,)
        How many equations each effort has.
    """

    table: FloatArray
    tau: FloatArray
    counts: npt.NDArray[np.int64]

    def residual(self, values: FloatArray) -> FloatArray:
        """Residual of the efforts (T, nv)."""
        return np.asarray(self.tau - self.table @ values)


def equations(
    tree: Tree,
    unknowns: Unknowns,
    motion: dict[str, FloatArray],
    decimate: int,
    least_speed: FloatArray,
    driven: list[int] | None = None,
) -> MotionEquations:
    """Make the equations of motions q (..., T, nq), qd, qdd, tau (..., T, nv); see `identify` for the rest.

    With loops those of the driven velocities, and none of the others: what closes the loops does no work in them.

    Raises
    ------
    ArgumentError
        Where they are too few.
    """
    shape = motion["tau"].shape
    flat = [motion[field].reshape(-1, motion[field].shape[-1]) for field in ("q", "qd", "qdd")]
    table, tau = np.empty((len(flat[0]), tree.nv, len(unknowns.base))), motion["tau"].reshape(-1, tree.nv).copy()
    for start in range(0, len(table), CHUNK):
        part = slice(start, start + CHUNK)
        q, qd, qdd = (array[part] for array in flat)
        if driven is None:
            rows = kernel_of(tree, "regressor")(q, qd, qdd)
        else:
            rows = closed_regressor(tree, q, qd, qdd, driven, name="identify")
            tau[part] = closed_efforts(tree, q, tau[part], driven, name="identify")
        table[part] = rows[..., unknowns.base.columns]
        tau[part] -= rows @ unknowns.known
    slow = np.abs(motion["qd"]) < least_speed
    if driven is not None:
        slow[..., [k for k in range(tree.nv) if k not in driven]] = True
    if decimate > 1:
        time = len(shape) - 2
        table = decimated(table.reshape(*shape, -1), decimate, ENDS, axis=time).reshape(-1, *table.shape[1:])
        tau = decimated(tau.reshape(shape), decimate, ENDS, axis=time).reshape(-1, tree.nv)
        slow = _spread(slow, decimate)
    slow = slow.reshape(-1, tree.nv)
    table[slow], tau[slow] = 0.0, 0.0
    system = MotionEquations(table, tau, (~slow).sum(axis=0))
    _check_enough(system, unknowns.labels)
    return system


def _spread(slow: npt.NDArray[np.bool_], decimate: int) -> npt.NDArray[np.bool_]:
    """Mask of the decimated samples (..., T, nv) that depend on slow ones through the filter."""
    reach = ENDS * decimate
    total = np.concatenate([np.zeros_like(slow[..., :1, :], dtype=int), np.cumsum(slow, axis=-2)], axis=-2)
    kept = np.arange(reach, slow.shape[-2] - reach, decimate)
    return np.asarray(total[..., kept + reach + 1, :] > total[..., kept - reach, :])


def _check_enough(system: MotionEquations, labels: tuple[str, ...]) -> None:
    if not labels:
        raise ArgumentError("no parameter is left to identify: all base parameters are known")
    if system.counts.sum() <= len(labels):
        raise ArgumentError(
            f"there are {system.counts.sum()} equations, one for each sample and effort; expected more than {len(labels)}, "
            f"the number of base parameters"
        )
