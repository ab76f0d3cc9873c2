"""Whether a trigonometric polynomial has no other real roots than known ones.

Roots that are near to each other spoil the discs about them, while samples of the polynomial stay as exact as they are.
Divided by sin((t - t_k) / 2) for each known root t_k, and multiplied by as many factors whose roots are far from the circle,
they are the samples of a polynomial of the same degree, whose higher orders vanish only if all of these were roots. What is
left must have no root on the circle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.closed_form.circle_roots import BESIDE_CIRCLE, roots_of
from linkwise.spatial.scalar import FloatArray

#: cosh of how far the roots of the other factors are from the circle, in the logarithm of their size.
AWAY = 1.25


def no_other_roots(samples: FloatArray, known: FloatArray, functions: Any) -> npt.NDArray[np.bool_]:
    """Which polynomials (N,) have no real roots beside the known ones.

    Parameters
    ----------
    samples : (N, S)
        Values at S places on the circle, from 0 on.
    known : (N, K)
        Roots, rad, a double one twice; NaN where there are fewer.
    functions : mapping
        The kernels `coefficients` and `classified` for this degree.
    """
    t = 2.0 * np.pi * np.arange(samples.shape[1]) / samples.shape[1]
    counts = (~np.isnan(known)).sum(axis=1)
    usable = np.asarray((counts % 2 == 0) & (counts <= functions["classified"].tape.inputs["roots"][0]))
    with np.errstate(all="ignore"):
        factors = 2.0 * np.sin(0.5 * (t[:, None] - known[:, None, :]))
        divisor = np.where(np.isnan(factors), 1.0, factors).prod(axis=-1)
        c, error = functions["coefficients"](samples * _far_roots(t, known.shape[1] // 2)[counts // 2] / divisor)
        _, _, kind = functions["classified"](c, roots_of(c), error)
    return np.asarray(usable & (kind <= BESIDE_CIRCLE).all(axis=1))


def _far_roots(t: FloatArray, most: int) -> FloatArray:
    """Products of 0 to `most` factors with two roots each, at places (S,): (most + 1, S)."""
    directions = 0.3 + np.pi * (np.sqrt(5.0) - 1.0) * np.arange(most)
    factors = AWAY - np.cos(t - directions[:, None])
    return np.vstack([np.ones(len(t)), np.cumprod(factors, axis=0)])
