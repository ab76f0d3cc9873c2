"""Every solution for every pose of a batch, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Solutions:
    """Joint coordinates for a batch of poses: for each pose as many rows as it has solutions.

    Iterating goes through the poses, in one row for a batch of any shape, and gives an array (k, n) each.

    Attributes
    ----------
    q : ndarray (..., K, n)
        Joint coordinates, rad or m; NaN in the rows from `count` on.
    count : ndarray (...)
        How many solutions each pose has.
    complete : ndarray (...)
        False where random starts were used, which do not prove that there are no other solutions.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve.closed_form import all_inverse_kinematics
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([[0.1, 0.8, -2.0, 0.3, 0.5, 0.2], [0.3, 0.6, -1.0, 0.2, 0.4, 0.1]])
    >>> found = all_inverse_kinematics(arm, T)
    >>> found, [len(q) for q in found] == found.count.tolist(), found.complete.tolist()
    (<Solutions: 2 poses, 2 to 3 each>, True, [True, True])
    """

    q: FloatArray
    count: npt.NDArray[np.intp]
    complete: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.count.size)

    def __iter__(self) -> Iterator[FloatArray]:
        rows = self.q.reshape(-1, *self.q.shape[-2:])
        return (row[:count] for row, count in zip(rows, self.count.ravel(), strict=True))

    def __getitem__(self, which: Any) -> FloatArray:
        """The solutions (k, n) of one pose, by its index in the batch."""
        count = self.count[which]
        if np.ndim(count):
            raise IndexError(f"index {which!r} is of several poses; expected that of one, of the shape {self.count.shape}")
        return np.asarray(self.q[which][: int(count)])

    def __repr__(self) -> str:
        if not self.count.size:
            return "<Solutions: 0 poses>"
        return f"<Solutions: {self.count.size} poses, {self.count.min()} to {self.count.max()} each>"
