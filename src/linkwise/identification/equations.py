"""The equations that identification solves: regressor and efforts of all samples, filtered, some left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.identification.measured import decimated
from linkwise.identification.unknowns import Unknowns
from linkwise.mechanism import Mechanism
from linkwise.spatial.scalar import FloatArray

CHUNK = 4096
"""Samples whose full regressor is in memory at a time."""

ENDS = 4
"""Decimated samples that are dropped at either end; a slow sample spoils as many to either side: e^-4.8 of it is left."""


@dataclass(frozen=True, eq=False)
class Equations:
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
        """What is left of the efforts (T, nv)."""
        return np.asarray(self.tau - self.table @ values)


def equations(
    mech: Mechanism, wanted: Unknowns, motion: dict[str, FloatArray], decimate: int, least_speed: FloatArray
) -> Equations:
    """Make the equations of motions q (..., T, nq), qd, qdd, tau (..., T, nv); see `identify` for the rest.

    Raises
    ------
    ArgumentError
        Where they are too few.
    """
    shape = motion["tau"].shape
    flat = [motion[field].reshape(-1, motion[field].shape[-1]) for field in ("q", "qd", "qdd")]
    table, tau = np.empty((len(flat[0]), mech.nv, len(wanted.base))), motion["tau"].reshape(-1, mech.nv).copy()
    for start in range(0, len(table), CHUNK):
        part = slice(start, start + CHUNK)
        rows = mech.regressor(*(array[part] for array in flat))
        table[part] = rows[..., wanted.base.columns]
        tau[part] -= rows @ wanted.given
    slow = np.abs(motion["qd"]) < least_speed
    if decimate > 1:
        time = len(shape) - 2
        table = decimated(table.reshape(*shape, -1), decimate, ENDS, axis=time).reshape(-1, *table.shape[1:])
        tau = decimated(tau.reshape(shape), decimate, ENDS, axis=time).reshape(-1, mech.nv)
        slow = _spread(slow, decimate)
    slow = slow.reshape(-1, mech.nv)
    table[slow], tau[slow] = 0.0, 0.0
    made = Equations(table, tau, (~slow).sum(axis=0))
    _check_enough(made, wanted.labels)
    return made


def _spread(slow: npt.NDArray[np.bool_], decimate: int) -> npt.NDArray[np.bool_]:
    """Which decimated samples (..., T, nv) were filtered from slow ones."""
    reach = ENDS * decimate
    total = np.concatenate([np.zeros_like(slow[..., :1, :], dtype=int), np.cumsum(slow, axis=-2)], axis=-2)
    kept = np.arange(reach, slow.shape[-2] - reach, decimate)
    return np.asarray(total[..., kept + reach + 1, :] > total[..., kept - reach, :])


def _check_enough(made: Equations, labels: tuple[str, ...]) -> None:
    if not labels:
        raise ArgumentError("nothing is left to be found: all base parameters are known")
    if made.counts.sum() <= len(labels):
        raise ArgumentError(
            f"there are {made.counts.sum()} equations, one for each sample and effort; expected more than {len(labels)}, "
            f"the number of base parameters"
        )
