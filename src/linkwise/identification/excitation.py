"""The task of the optimisation: how good a motion of the family is, and the slope by its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.identification.criterion import badness
from linkwise.identification.estimate import condition
from linkwise.identification.family import GRID, SHARP, Family
from linkwise.identification.fourier import FourierSeries, basis, grid
from linkwise.identification.unknowns import symbol
from linkwise.mechanism import Mechanism
from linkwise.spatial.scalar import FloatArray

RATE = 20
"""Samples of the regressor for each harmonic."""

STEP = 1e-6
"""Of the finite differences of the regressor, whose error of 1e-6 an optimisation does not feel."""


@dataclass(frozen=True, eq=False)
class Excitation:
    """What is to become small.

    Attributes
    ----------
    mech : Mechanism
        With n joints.
    columns : ndarray (b,)
        Of the regressor: the base parameters' own.
    family : Family
        The motions.
    criterion : str
        One of `linkwise.identification.criterion.CRITERIA`.
    effort_std : ndarray (n,)
        What each joint's rows are divided by.
    allowed : callable or None
        Takes q (K, n), says whether the mechanism may be there (K,).
    """

    mech: Mechanism
    columns: npt.NDArray[np.int64]
    family: Family
    criterion: str
    effort_std: FloatArray
    allowed: Callable[[FloatArray], Any] | None

    @cached_property
    def times(self) -> FloatArray:
        """Even instants of one period (K,)."""
        count = max(RATE * self.family.harmonics, -(-2 * len(self.columns) // self.mech.n))
        return grid(self.family.period, count)

    @cached_property
    def smooth(self) -> npt.NDArray[np.bool_]:
        """Columns (b,) that change steadily: not those of Coulomb friction, which jump."""
        names = self.mech.parameter_names
        return np.array([not symbol(names[c]).startswith("Tc") for c in self.columns])

    def drawn(self, rng: np.random.Generator) -> FloatArray:
        """Numbers (n, m + 2) of a random motion: one that fills its limits, or of any size where not all is allowed."""
        made = rng.normal(size=(self.mech.n, self.family.numbers))
        made[:, -2] = rng.uniform(-4.0, 4.0) if self.allowed else 4.0
        made[:, -1] *= 0.5
        return made

    def rating(self, numbers: FloatArray) -> float:
        """The criterion of the exact motion of some numbers."""
        series = self.family.series(numbers)
        return badness(self._table(*series(self.times)), self.criterion)[0] if self._may(series) else np.inf

    def condition(self, series: FourierSeries) -> float:
        """Condition number with scaled columns of a motion."""
        return condition(self._table(*series(self.times)))[0]

    def sloped(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """The criterion of the smooth motion of some numbers, in a row, and its slope by them."""
        numbers = flat.reshape(self.mech.n, -1)
        series = self.family.series(numbers, SHARP)
        state = series(self.times)
        table = self._table(*state)
        value, slope = badness(table, self.criterion)
        if not np.isfinite(value) or not self._may(series):
            return np.inf, np.zeros_like(flat)
        by_state = self._pulled(state, table, slope * self.smooth)
        parts = basis(self.times, self.family.period, self.family.harmonics)
        by_coefficients = np.einsum("kti,ktm->im", by_state, parts)
        return value, self.family.pull_back(numbers, by_state[0].sum(axis=0), by_coefficients).ravel()

    def _may(self, series: FourierSeries) -> bool:
        """Whether a motion stays where it may."""
        if self.allowed is None:
            return True
        count = GRID * self.family.harmonics
        q = series(grid(self.family.period, count))[0]
        answer = np.asarray(self.allowed(q))
        if answer.shape != (count,) or answer.dtype != bool:
            raise ArgumentError(
                f"allowed returned {answer.dtype} of the shape {answer.shape} for q {q.shape}; expected bool ({count},)"
            )
        return bool(answer.all())

    def _table(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Weighted rows (..., K n, b) of the base regressor."""
        rows = self.mech.regressor(q, qd, qdd)[..., self.columns] / self.effort_std[:, None]
        return rows.reshape(*rows.shape[:-3], -1, rows.shape[-1])

    def _pulled(self, state: tuple[FloatArray, ...], table: FloatArray, slope: FloatArray) -> FloatArray:
        """The slope (3, K, n) by q, qd and qdd at the instants, from that by the table."""
        made = np.empty((3, *state[0].shape))
        for k in range(3):
            for i in range(self.mech.n):
                moved = list(state)
                moved[k] = state[k].copy()
                moved[k][:, i] += STEP
                change = (self._table(*moved) - table) * slope
                made[k, :, i] = change.reshape(len(self.times), -1).sum(axis=1) / STEP
        return made
