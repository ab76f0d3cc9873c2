"""A sum of cosines and sines of whole combinations of coordinates, times powers of coordinates: the data of one entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.equations.polynomials.key_packing import Fields
from linkwise.equations.polynomials.polynomial import ROUNDING, Polynomial, first_signs
from linkwise.spatial.scalar import FloatArray

GREATEST = 2**15 - 1
"""The greatest harmonic: they are kept in 16 bits."""

_AT_ONCE = 1 << 18
"""Cosines computed at a time."""


@dataclass(frozen=True, eq=False)
class HarmonicSum:
    """The function sum_t (cosine_t cos(h_t q) + sine_t sin(h_t q)) prod_k q_k^(p_tk) of the coordinates q (n,).

    Attributes
    ----------
    harmonics : ndarray (T, n)
        h, whole numbers; the first one other than 0 in each row is positive.
    powers : ndarray (T, n)
        p, whole numbers.
    cosine, sine : ndarray (T,)
        The coefficients. Of a row without harmonics the cosine is the coefficient itself.
    scale : float
        How large the function is: what is small beside it is a rounding error.

    Examples
    --------
    >>> made = HarmonicSum(np.array([[0, 0], [1, 1]]), np.zeros((2, 2), int), np.array([1.0, 2.0]), np.zeros(2), 2.0)
    >>> round(float(made(np.array([0.0, 0.0]))), 12), made.terms
    (3.0, 2)
    """

    harmonics: npt.NDArray[np.int16]
    powers: npt.NDArray[np.int16]
    cosine: FloatArray
    sine: FloatArray
    scale: float

    @property
    def terms(self) -> int:
        """How many different combinations of coordinates there are; each has a cosine, a sine, or both."""
        return len(self.cosine)

    def __call__(self, q: npt.ArrayLike) -> FloatArray:
        """The value (...,) at coordinates q (..., n)."""
        points = np.asarray(q, dtype=np.float64)
        flat = points.reshape(-1, points.shape[-1])
        total = np.zeros(len(flat))
        step = max(1, _AT_ONCE // max(1, len(flat)))
        for start in range(0, len(self.cosine), step):
            part = slice(start, start + step)
            angle = flat @ self.harmonics[part].T
            wave = np.cos(angle) * self.cosine[part] + np.sin(angle) * self.sine[part]
            for k in np.flatnonzero(self.powers[part].any(axis=0)):
                wave *= flat[:, k : k + 1] ** self.powers[part, k]
            total += wave.sum(axis=-1)
        return total.reshape(points.shape[:-1])

    def depending(self, k: int) -> int:
        """How many terms depend on the coordinate k: as many as its derivative has."""
        return int(np.count_nonzero((self.harmonics[:, k] != 0) | (self.powers[:, k] != 0)))

    def derivative(self, k: int) -> HarmonicSum:
        """The derivative by the coordinate k, term by term."""
        turning, sliding = self.harmonics[:, k] != 0, self.powers[:, k] != 0
        kept = turning | sliding
        h, p = self.harmonics[kept], self.powers[kept].copy()
        factor = np.where(turning[kept], h[:, k], p[:, k])
        p[:, k] = np.where(turning[kept], p[:, k], p[:, k] - 1)
        c, s = self.cosine[kept] * factor, self.sine[kept] * factor
        cosine, sine = np.where(turning[kept], s, c), np.where(turning[kept], -c, s)
        return HarmonicSum(h, p, cosine, sine, self.scale)

    def cleaned(self) -> HarmonicSum:
        """Without what is below `ROUNDING`; what differs from a decimal of twelve places by its last bits is made that."""
        cosine, sine = (_cleaned(part, self.scale) for part in (self.cosine, self.sine))
        kept = (cosine != 0) | (sine != 0)
        return HarmonicSum(self.harmonics[kept], self.powers[kept], cosine[kept], sine[kept], self.scale)


def harmonic_sum_of(fields: Fields, entry: Polynomial, scale: float) -> HarmonicSum:
    """A polynomial in coordinates as a sum of harmonics.

    Parameters
    ----------
    fields : Fields
        Of its keys.
    entry : Polynomial
        Real, without symbols.
    scale : float
        How large it is where it does not cancel.
    """
    harmonics, powers = fields.exponents(entry.keys, True), fields.exponents(entry.keys, False)
    sign = first_signs(harmonics)
    order = np.flatnonzero(sign >= 0)  # the keys have the order of the harmonics
    twice = np.where(sign[order] > 0, 2.0, 1.0)
    cosine, sine = twice * entry.values[order].real, -twice * entry.values[order].imag * (sign[order] > 0)
    rows, lengths = harmonics[order].astype(np.int16), powers[order].astype(np.int16)
    return HarmonicSum(rows, lengths, cosine, sine, scale).cleaned()


def combined(weights: Sequence[float], parts: Sequence[HarmonicSum]) -> HarmonicSum:
    """The weighted sum of functions of the same coordinates, equal harmonics and powers collected, and `cleaned`."""
    n = parts[0].harmonics.shape[1]
    keys = np.concatenate([np.hstack([part.harmonics, part.powers]) for part in parts])
    cosine = np.concatenate([w * part.cosine for w, part in zip(weights, parts, strict=True)])
    sine = np.concatenate([w * part.sine for w, part in zip(weights, parts, strict=True)])
    rows, place = collected(keys)
    total = [np.bincount(place, part, minlength=len(rows)).astype(np.float64) for part in (cosine, sine)]
    scale = max(part.scale for part in parts)
    return HarmonicSum(rows[:, :n], rows[:, n:], total[0], total[1], scale).cleaned()


def _cleaned(values: FloatArray, scale: float) -> FloatArray:
    """Coefficients without rounding errors where these can be told: 0.49999999999999994 is 0.5."""
    if not scale:
        return np.zeros_like(values)
    short = np.round(values, int(np.floor(-np.log10(1e-12 * scale))))
    near = np.abs(values - short) <= 4 * np.finfo(np.float64).eps * scale
    return np.where(np.abs(values) < ROUNDING * scale, 0.0, np.where(near, short, values))


def collected(keys: npt.NDArray[np.int16]) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.intp]]:
    """The different rows, in lexical order, and which of them each row is."""
    if not len(keys):
        return keys, np.zeros(0, dtype=np.intp)
    rows, place = np.unique(keys, axis=0, return_inverse=True)
    return rows, place.reshape(-1)
