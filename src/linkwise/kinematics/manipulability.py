"""How far a mechanism is from a singular position."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import rows_of


def manipulability(jacobian: npt.ArrayLike, mask: npt.ArrayLike = "all") -> FloatArray:
    """Return the product of the singular values of the Jacobian (...,), zero where it loses rank.

    Where there are at least as many joints as rows it is sqrt(det(J J')): T. Yoshikawa, "Manipulability of robotic
    mechanisms", Int. J. Robotics Research 4(2), 1985.

    Parameters
    ----------
    jacobian : (..., 6, n) array_like
        Linear rows first.
    mask : {"all", "translation", "rotation"} or (6,) array_like
        Which rows count. With "all" the value mixes m and rad.

    Raises
    ------
    ArgumentError
        For another mask, or another shape.

    Examples
    --------
    >>> import numpy as np
    >>> float(manipulability(2 * np.eye(6)))
    64.0
    """
    chosen, given = list(rows_of(mask)), np.asarray(jacobian)
    if given.ndim < 2 or given.shape[-2] != 6:
        raise ArgumentError(f"jacobian has the shape {given.shape}; expected (..., 6, n)")
    rows = given[..., chosen, :]
    known = np.isfinite(rows).all(axis=(-2, -1))
    values = np.linalg.svd(np.where(known[..., None, None], rows, 0.0), compute_uv=False)
    return np.where(known, np.prod(values, axis=-1), np.nan)
