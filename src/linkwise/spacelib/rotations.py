"""Which matrices count as rotations, and which as velocities, where axes, angles or rates are taken from them."""

from __future__ import annotations

from typing import Any

from linkwise.spatial.rotation import rotation_error
from linkwise.spatial.scalar import Array, greatest, select
from linkwise.spatial.screw import FARTHEST, SLOWEST, angular_size

COARSE = 0.1
"""How far R'R may be from the identity (Frobenius norm): a rotation printed with two decimals is nearer."""

NO_ROTATION = f"the 3x3 block is no rotation: R'R is off the identity by {COARSE} or more, or the determinant is negative"


NOT_SKEW = f"the 3x3 block of W is no angular velocity: its symmetric part is {COARSE} of its skew-symmetric part or more"


def skew_measure(W: Array) -> Any:
    """Above zero where the upper left block of a velocity matrix is skew-symmetric but for `COARSE`, or rounding, or null.

    A block whose size is up to that of rounding (`linkwise.spatial.screw.SLOWEST`) is what sums of velocities leave where
    the angular ones cancel; it need not be skew-symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> [bool(skew_measure(size * np.eye(4)) > 0) for size in (0.0, 1.0, 1e-16)]
    [True, False, True]
    """
    skew, odd = angular_size(W)
    linear = sum((abs(W[k, 3]) for k in (1, 2)), abs(W[0, 3]))
    return select(odd, COARSE * skew + greatest(SLOWEST, FARTHEST * linear) - odd, 1.0)


def rotation_measure(block: Array) -> Any:
    """Above zero where the upper left block of a matrix is a rotation but for `COARSE`.

    Examples
    --------
    >>> import numpy as np
    >>> bool(rotation_measure(np.eye(4)) > 0), bool(rotation_measure(-np.eye(3)) > 0)
    (True, False)
    """
    return COARSE - rotation_error(block)
