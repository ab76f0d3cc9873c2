"""What a solver answers: joint coordinates, whether they solve the task, and why not where they do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.spatial.scalar import FloatArray

REASONS: dict[str, str] = {
    "converged": "the pose is reached, within the tolerance and the joint limits",
    "iterations": "the iterations ran out while the error still changed",
    "stalled": "the method came to rest away from the pose: the joints cannot come nearer from here",
    "singular": "the same, where the Jacobian has lost rank: the pose is out of reach, or another start leads farther",
    "limits": "joint limits stand in the way: the coordinates reach the pose outside them, or came to rest at them",
}
"""What each reason of a `Solution` means."""


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Joint coordinates for a pose, or for a batch of poses, with what a forward pass says of them.

    The errors are those of a forward pass through q as it stands here, not the solver's own; `success` follows from them
    and from the joint limits. Without success q is the last position tried: the reason says what became of it.

    Attributes
    ----------
    q : ndarray (..., n)
        Joint coordinates, rad or m.
    success : bool or ndarray (...)
        Whether both errors are within the tolerance, and q within the joint limits where they were asked for.
    reason : str or ndarray (...)
        A word of `REASONS`; ``"converged"`` where `success` is true, and only there.
    position_error : float or ndarray (...)
        Distance from the position asked for, m, over the axes that count.
    rotation_error : float or ndarray (...)
        Angle to the orientation asked for, rad, about the axes that count.
    iterations : int or ndarray (...)
        Steps that were taken.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import newton_raphson
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
    >>> newton_raphson(arm, T, [0.0, 0.7, -1.9, 0.2, 0.4, 0.0])
    <Solution: converged after 4 iterations>
    """

    q: FloatArray
    success: Any
    reason: Any
    position_error: Any
    rotation_error: Any
    iterations: Any

    def __repr__(self) -> str:
        if not np.ndim(self.success):
            errors = f", errors {self.position_error:.3g} m and {self.rotation_error:.3g} rad"
            return f"<Solution: {self.reason} after {self.iterations} iterations{'' if self.success else errors}>"
        words, counts = np.unique(self.reason, return_counts=True)
        found = ", ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True))
        return f"<Solution: {np.shape(self.success)} poses{': ' if found else ''}{found}>"
