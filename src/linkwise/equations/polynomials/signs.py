"""Of an angle and its opposite one: that whose first multiple other than 0 is positive."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def first_signs(rows: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """The sign of the first number other than 0 in each row; 0 for a row of zeros.

    Examples
    --------
    >>> first_signs(np.array([[0, -2, 1], [3, -1, 0], [0, 0, 0]])).tolist()
    [-1, 1, 0]
    """
    sign = np.zeros(len(rows), dtype=np.int32)
    for column in rows.T[::-1]:
        np.copyto(sign, np.sign(column), where=column != 0, casting="unsafe")
    return sign
