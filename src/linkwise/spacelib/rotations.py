"""Which matrices count as rotations, where axes or angles are taken from them."""

from __future__ import annotations

from typing import Any

from linkwise.spatial.rotation import rotation_error
from linkwise.spatial.scalar import Array

COARSE = 0.1
"""How far R'R may be from the identity (Frobenius norm): a rotation printed with two decimals is nearer."""

NO_ROTATION = f"the 3x3 block is no rotation: R'R is off the identity by {COARSE} or more, or the determinant is negative"


def rotation_measure(block: Array) -> Any:
    """Above zero where the upper left block of a matrix is a rotation but for `COARSE`.

    Examples
    --------
    >>> import numpy as np
    >>> bool(rotation_measure(np.eye(4)) > 0), bool(rotation_measure(-np.eye(3)) > 0)
    (True, False)
    """
    return COARSE - rotation_error(block)
