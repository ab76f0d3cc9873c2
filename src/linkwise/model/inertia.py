"""The inertia of one rigid body: mass, centre of mass, and the tensor about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.model.checks import Checker, frozen
from linkwise.spatial.scalar import FloatArray

SLACK = 1e-9
"""Relative rounding allowed where an inertia is checked (tables carry few digits)."""

SMALLEST = 1e-8
"""Moments below this, kg m2, are held to what rounding makes of one of this size: programs write 1e-20 for nothing."""

LARGEST = 1e300
"""An element of a tensor beyond this would leave the range of floating-point arithmetic in the checks."""


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass distribution of a rigid body, in the axes of its link.

    Parameters
    ----------
    mass : float
        kg.
    com : (3,) array_like
        Centre of mass in the link's frame, m.
    inertia : float, (3,), (6,) or (3, 3) array_like
        About the centre of mass, link axes, kg m2: 0, the diagonal, ``Ixx Iyy Izz Ixy Iyz Ixz``, or the tensor, whose
        off-diagonal elements are -integral of x y dm. Kept as ``tensor`` (3, 3).
    physical : bool
        Require a body that can exist: mass >= 0, tensor positive semidefinite and obeying the triangle inequality.
        False marks an identified set of parameters (only what the dynamics can observe), checked for finiteness and
        symmetry alone.
    item : str
        How messages call it.

    Raises
    ------
    ModelError
        With one problem per field at fault.

    Examples
    --------
    >>> Inertia(2.0, (0, 0, 0.1), (0.02, 0.02, 0.01)).tensor.diagonal().tolist()
    [0.02, 0.02, 0.01]
    """

    mass: float
    com: FloatArray
    tensor: FloatArray
    physical: bool

    def __init__(
        self,
        mass: Any = 0.0,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Any = 0.0,
        *,
        physical: bool = True,
        item: str = "inertia",
    ) -> None:
        check = Checker(item)
        self._set(*_checked(check, mass, com, inertia, physical))
        check.finish()

    @classmethod
    def checked(
        cls, check: Checker, mass: Any, com: Any, inertia: Any, physical: bool = True, field: str = "inertia"
    ) -> Inertia:
        """Build with a checker that gathers the problems (for callers that have more to check).

        `field` is what the caller calls the tensor.
        """
        return cls._of(*_checked(check, mass, com, inertia, physical, field))

    @classmethod
    def _of(cls, mass: float, com: FloatArray, tensor: FloatArray, physical: bool) -> Inertia:
        """Build from numbers that were checked before."""
        made = object.__new__(cls)
        made._set(mass, frozen(com), frozen(tensor), physical)
        return made

    def _set(self, mass: float, com: FloatArray, tensor: FloatArray, physical: bool) -> None:
        values = {"mass": mass, "com": com, "tensor": tensor, "physical": physical}
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @property
    def is_zero(self) -> bool:
        """Whether there is no mass and no inertia at all."""
        return self.mass == 0.0 and not self.tensor.any()

    def scaled(self, mass_factor: float, tensor_factor: float) -> Inertia:
        """The same shape with mass and tensor scaled."""
        return Inertia._of(self.mass * mass_factor, self.com, self.tensor * tensor_factor, self.physical)

    def __reduce__(self) -> tuple[Any, ...]:
        return Inertia._of, (self.mass, self.com, self.tensor, self.physical)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal inertias, hashable."""
        return (self.mass, self.com.tobytes(), self.tensor.tobytes(), self.physical)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inertia) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _checked(
    check: Checker, mass: Any, com: Any, inertia: Any, physical: bool, field: str = "inertia"
) -> tuple[float, FloatArray, FloatArray, bool]:
    tensor = tensor_from(check, inertia, field)
    made = check.number("mass", mass, least=0.0 if physical else None), check.vector("com", com), tensor, bool(physical)
    if physical:
        _check_physical(check, tensor, field)
    return made


def tensor_from(check: Checker, inertia: Any, field: str = "inertia") -> FloatArray:
    """The tensor (3, 3) from any of the accepted forms."""
    expected = "0, 3 diagonal elements, 6 elements Ixx Iyy Izz Ixy Iyz Ixz, or a symmetric 3x3 matrix"
    try:
        given = np.array(inertia, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    if given.shape == () and given == 0:
        return frozen(np.zeros((3, 3)))
    if given.shape == (3,):
        given = np.diag(given)
    elif given.shape == (6,):
        xx, yy, zz, xy, yz, xz = given
        given = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if given.shape != (3, 3) or not np.all(np.isfinite(given)):
        check.report(field, inertia, expected)
        return frozen(np.zeros((3, 3)))
    if np.abs(given - given.T).max() > SLACK * np.abs(given).max():
        check.report(field, inertia, "a symmetric matrix")
    if np.abs(given).max() > LARGEST:
        check.report(field, inertia, f"elements up to {LARGEST:g}")
        return frozen(np.zeros((3, 3)))
    return frozen(0.5 * (given + given.T))


def _check_physical(check: Checker, tensor: FloatArray, field: str) -> None:
    size = 2.0 ** float(np.frexp(np.abs(tensor).max())[1])  # a power of two: dividing by it rounds nothing
    moments = np.linalg.eigvalsh(tensor / size) * size
    slack = SLACK * max(np.abs(moments).max(), SMALLEST)
    hint = "; physical=False accepts an identified set of parameters" if field == "inertia" else ""
    if moments[0] < -slack:
        check.report(field, moments.tolist(), "principal moments >= 0 (positive semidefinite)" + hint)
    elif moments[2] > moments[0] + moments[1] + slack:
        expected = "principal moments in which none exceeds the sum of the other two (triangle inequality)"
        check.report(field, moments.tolist(), expected + hint)
