"""The polynomial joint: a slide by a polynomial of its coordinate, as a cam gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwise.model.joints.joint import Joint, joint
from linkwise.model.validation import Checker
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform


@joint
@dataclass(frozen=True, eq=False)
class PolynomialSlide(Joint):
    """Slides by c[0] q + c[1] q**2 + ... (m) along a unit axis (3,); c (k,) in m/rad, m/rad2, ...

    Following another joint (`linkwise.Mimic`), and held by a `linkwise.Loop` to a link that slides by a third joint's
    coordinate, it makes the latter a polynomial of the former.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> PolynomialSlide(np.array([1.0, 0.0, 0.0]), np.array([0.5, 2.0])).placement(np.array([0.5]))[0, 3]
    np.float64(0.75)
    """

    kind: ClassVar[str] = "polynomial"
    letter: ClassVar[str] = "Y"
    axis: FloatArray
    coefficients: FloatArray

    def __post_init__(self) -> None:
        check, count = Checker("polynomial joint"), len(self.coefficients) if np.iterable(self.coefficients) else 1
        axis = check.direction("axis", self.axis)
        coefficients = check.finite("coefficients", self.coefficients, (count,), "finite numbers, one or more")
        if not count:
            check.report("coefficients", self.coefficients, "finite numbers, one or more")
        check.finish()
        self._assign({"axis": axis, "coefficients": coefficients})

    def placement(self, q: Array) -> Array:
        """J(q) (4, 4), by Horner's rule."""
        distance: Any = 0.0
        for coefficient in reversed(self.coefficients):
            distance = (distance + coefficient) * q[0]
        return transform(None, np.array([distance * x for x in self.axis]))
