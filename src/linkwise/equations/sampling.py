"""From samples of a kernel on a small grid to the harmonics of one of its results: a discrete Fourier transform."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from linkwise.equations.degrees import Degrees
from linkwise.equations.harmonic_sum import ROUNDING, HarmonicSum
from linkwise.spatial.scalar import FloatArray

LARGEST = 1 << 22
"""Samples that one entry may take: 4,194,304; its transform and its terms then take up to half a gigabyte."""

_ROWS = 1 << 13
"""Configurations computed at a time."""


def samples(function: Callable[[FloatArray], FloatArray], degrees: Degrees) -> FloatArray:
    """The function on the grid that settles it, shape `Degrees.shape`.

    Parameters
    ----------
    function : callable
        Takes coordinates (K, n), gives values (K,).
    degrees : Degrees
        Along an angle of degree d the grid has 2 d + 1 even angles of the circle, along a length of degree d the d + 1
        `nodes`.
    """
    axes = [_axis(h, p) for h, p in zip(degrees.harmonics, degrees.powers, strict=True)]
    values = np.empty(degrees.size)
    for start in range(0, degrees.size, _ROWS):
        stop = min(start + _ROWS, degrees.size)
        q = np.zeros((stop - start, len(axes)))
        for k, index in enumerate(np.unravel_index(np.arange(start, stop), degrees.shape) if axes else ()):
            q[:, k] = axes[k][index]
        values[start:stop] = function(q)
    return values.reshape(degrees.shape)


def harmonics_of(values: FloatArray, degrees: Degrees, scale: float) -> HarmonicSum:
    """The harmonics, and powers, of a function from its samples.

    Parameters
    ----------
    values : ndarray
        As `samples` gives them.
    degrees : Degrees
        The same.
    scale : float
        How large the function is where it does not cancel: `HarmonicSum.cleaned` drops what is small beside it.
    """
    for k, degree in enumerate(degrees.powers):
        if degree:
            inverse = np.linalg.inv(np.vander(nodes(degree), increasing=True))
            values = np.moveaxis(np.tensordot(inverse, values, axes=(1, k)), 0, k)
    angles = [k for k, degree in enumerate(degrees.harmonics) if degree]
    spectrum = np.fft.rfftn(values, axes=angles, norm="forward") if angles else values.astype(np.complex128)
    where = np.nonzero(np.abs(spectrum) >= 0.25 * ROUNDING * scale)
    found = spectrum[where]
    harmonics, powers = (np.zeros((len(found), len(degrees.shape)), dtype=np.int16) for _ in range(2))
    for k, index in enumerate(where):
        if degrees.harmonics[k]:
            harmonics[:, k] = np.where(index > degrees.harmonics[k], index - degrees.shape[k], index)
        else:
            powers[:, k] = index
    sign = first_signs(harmonics)
    last = harmonics[:, angles[-1]] if angles else sign
    kept = (last > 0) | (sign >= 0)  # where the last harmonic is 0, the spectrum has each pair h, -h twice
    harmonics *= np.where(sign < 0, -1, 1).astype(np.int16)[:, None]
    twice = np.where(sign == 0, 1.0, 2.0)
    cosine, sine = twice * found.real, np.where(sign < 0, 2.0, -2.0) * found.imag * (sign != 0)
    return HarmonicSum(harmonics[kept], powers[kept], cosine[kept], sine[kept], scale).cleaned()


def nodes(degree: int) -> FloatArray:
    """Where a polynomial of that degree is sampled (degree + 1,), m: -1, 0, 1 for 2; Chebyshev's points above."""
    if degree <= 2:
        return np.array([[0.0], [0.0, 1.0], [-1.0, 0.0, 1.0]][degree])
    return np.asarray(np.cos(np.pi * np.arange(degree + 1) / degree))


def first_signs(rows: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
    """The sign of the first number other than 0 in each row; 0 for a row of zeros."""
    sign = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        sign = np.where(sign == 0, np.sign(column), sign)
    return sign


def _axis(harmonic: int, power: int) -> FloatArray:
    """The coordinates at which one axis of the grid is sampled."""
    if harmonic:
        return np.linspace(0.0, 2.0 * np.pi, 2 * harmonic + 1, endpoint=False)
    return nodes(power)
