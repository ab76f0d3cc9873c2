"""What lies between two limits, over scalars: the clipping of laws that are traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr import Expr


def saturated(x: Any, least: Any, most: Any) -> Any:
    """Return x, or the limit that it is beyond: ``np.clip`` for numbers and for the expressions in a `Feedback`.

    With a and b the signs of x - most and least - x, it is (-(a + b) x + (1 + a) most + (1 + b) least) / 2: no comparison,
    and no rounding, since one of the three factors is 1 and the others are 0, or two halves meet at a limit.

    Parameters
    ----------
    x : number, expression or array_like of them
        What is limited.
    least, most : number, expression or array_like of them
        Finite limits, least <= most, of a shape that broadcasts with that of x.

    Returns
    -------
    ndarray, or a scalar where all are scalars

    Raises
    ------
    ArgumentError
        Where the limits are numbers that are not finite, or least is above most.

    Examples
    --------
    >>> saturated([-3.0, 0.25, 7.0], -1.0, 2.0).tolist()
    [-1.0, 0.25, 2.0]
    """
    x, least, most = np.asarray(x), np.asarray(least), np.asarray(most)
    known = "O" not in {least.dtype.kind, most.dtype.kind}
    if known and not (np.isfinite(least).all() and np.isfinite(most).all() and np.all(least <= most)):
        raise ArgumentError(f"saturated: the limits are {least} and {most}; expected finite numbers, least <= most")
    above, below = _sign(x - most), _sign(least - x)
    return np.asarray(0.5 * (-(above + below) * x + (1.0 + above) * most + (1.0 + below) * least))[()]


def _sign(x: Any) -> Any:
    x = np.asarray(x)
    return np.asarray(_signs(x)) if x.dtype == object else np.sign(x)


_signs = np.frompyfunc(lambda x: x.sign() if isinstance(x, Expr) else float(np.sign(x)), 1, 1)
