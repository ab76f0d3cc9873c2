"""The inertia of one rigid body: mass, centre of mass, and the tensor about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.model.symbolic import any_nonzero, has_symbols, same, substituted, with_expressions
from linkwise.model.validation import LARGEST, Checker, Record, frozen
from linkwise.spatial.matrix_method import pseudo_inertia
from linkwise.spatial.scalar import Array, FloatArray, array
from linkwise.spatial.validation import readable

#: Relative rounding allowed where an inertia is checked (tables carry few digits).
SLACK = 1e-9

#: Moments below this, kg m2, get the rounding tolerance of one of this size: programs write 1e-20 for zero.
SMALLEST = 1e-8

#: Indices of the six numbers in a tensor.
TENSOR = {"XX": (0, 0), "YY": (1, 1), "ZZ": (2, 2), "XY": (0, 1), "YZ": (1, 2), "XZ": (0, 2)}


#: The tensor of a body that has none.
NO_TENSOR = frozen(np.zeros((3, 3)))


@dataclass(frozen=True, eq=False)
class Inertia(Record):
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
        Its name in messages.

    Numbers may be expressions in `linkwise.symbols`; what depends on their values is then not checked.

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
    def from_moments(cls, mass: Any, first: Any, tensor: Any, *, physical: bool = True, item: str = "inertia") -> Inertia:
        """Inertia from mass, first moments and tensor about the link frame's origin, in which dynamics is linear.

        Parameters
        ----------
        mass : float
            M, kg; other than 0 where there is a first moment.
        first : (3,) array_like
            MX, MY, MZ: the mass times the centre of mass, kg m.
        tensor : float, (3,), (6,) or (3, 3) array_like
            About the origin of the frame, link axes, kg m2: XX, YY, ZZ, XY, YZ, XZ or the other forms of `Inertia`.
        physical, item
            As for `Inertia`.

        Raises
        ------
        ModelError
            As for `Inertia`; for first moments without a mass, for no centre of mass has them.

        Notes
        -----
        With symbols the algorithms take these numbers as they are, not by way of the centre of mass, which would divide by
        the mass and multiply with it again.

        Examples
        --------
        >>> Inertia.from_moments(2.0, (0, 0, 0.2), (0.04, 0.04, 0.01)).tensor.diagonal().round(3).tolist()
        [0.02, 0.02, 0.01]
        """
        check = Checker(item)
        m, moments, about = check.number("mass", mass), check.vector("first", first), tensor_from(check, tensor, "tensor")
        if not any_nonzero(m) and any_nonzero(moments):
            check.report("first", first, "zeros where the mass is 0, for no centre of mass has first moments without one")
        check.finish()
        com = np.asarray(moments / m) if any_nonzero(m) else moments
        result = cls(m, com, about - m * (np.dot(com, com) * np.eye(3) - np.outer(com, com)), physical=physical, item=item)
        if has_symbols(result.tensor) or has_symbols(result.com):
            object.__setattr__(result, "_moments", (m, moments, about))
        return result

    @property
    def by_moments(self) -> bool:
        """True if it stores the arguments of `from_moments`, because they contain symbols."""
        return "_moments" in self.__dict__

    @property
    def moments(self) -> tuple[Any, Array, Array]:
        """Mass, first moments (3,) and tensor (3, 3), both about the origin of the link's frame: see `from_moments`."""
        held: tuple[Any, Array, Array] | None = self.__dict__.get("_moments")
        if held is not None:
            return held
        m, c = self.mass, self.com
        return m, np.asarray(m * c), np.asarray(self.tensor + m * (np.dot(c, c) * np.eye(3) - np.outer(c, c)))

    @property
    def pseudo(self) -> Array:
        """The pseudo-inertia (4, 4), the integral of p p' dm about the frame's origin."""
        if not self.by_moments:
            return pseudo_inertia(self.mass, self.com, self.tensor)
        mass, first, tensor = self.moments
        result = np.zeros((4, 4), dtype=object)
        result[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
        result[:3, 3] = result[3, :3] = first
        result[3, 3] = mass
        return array(result)

    @property
    def values(self) -> tuple[Any, ...]:
        """Mass, centre of mass and tensor about it, or the arguments of `from_moments` if they contain symbols."""
        return self.moments if self.by_moments else (self.mass, self.com, self.tensor)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """Its ten numbers: mass, centre of mass or first moments, XX, YY, ZZ, XY, YZ, XZ of the stored tensor."""
        mass, first, tensor = self.values
        return (mass, *first, *(tensor[place] for place in TENSOR.values()))

    def substituted(self, numbers: Mapping[Expr, Any], item: str = "inertia") -> Inertia:
        """Replace symbols by numbers and validate again."""
        values = [substituted(value, numbers) for value in self.values]
        make = Inertia.from_moments if self.by_moments else Inertia
        return make(*values, physical=self.physical, item=item)

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
        result = object.__new__(cls)
        result._set(mass, frozen(com), frozen(tensor), physical)
        return result

    def _set(self, mass: float, com: FloatArray, tensor: FloatArray, physical: bool) -> None:
        self._assign({"mass": mass, "com": com, "tensor": tensor, "physical": physical})

    @property
    def is_zero(self) -> bool:
        """True if mass and inertia are zero."""
        return not any_nonzero(self.mass) and not any_nonzero(self.tensor)

    def scaled(self, mass_factor: float, tensor_factor: float) -> Inertia:
        """The same shape with mass and tensor scaled."""
        return Inertia._of(self.mass * mass_factor, self.com, self.tensor * tensor_factor, self.physical)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.by_moments:
            return partial(Inertia.from_moments, physical=self.physical), self.moments
        return Inertia._of, (self.mass, self.com, self.tensor, self.physical)


def _checked(
    check: Checker, mass: Any, com: Any, inertia: Any, physical: bool, field: str = "inertia"
) -> tuple[float, FloatArray, FloatArray, bool]:
    tensor = tensor_from(check, inertia, field)
    checked = check.flag("physical", physical)
    results = check.number("mass", mass, least=0.0 if checked else None), check.vector("com", com), tensor, checked
    if checked and tensor is not NO_TENSOR and not has_symbols(tensor):
        _check_physical(check, tensor, field)
    return results


def tensor_from(check: Checker, inertia: Any, field: str = "inertia") -> FloatArray:
    """The tensor (3, 3) from any of the accepted forms."""
    expected = "0, 3 diagonal elements, 6 elements Ixx Iyy Izz Ixy Iyz Ixz, or a symmetric 3x3 matrix"
    if type(inertia) is float and inertia == 0.0:
        return NO_TENSOR
    try:
        result = with_expressions(inertia)
        tensor = np.array(readable("inertia", inertia), dtype=np.float64) if result is None else result
    except (TypeError, ValueError, OverflowError):  # an `ArgumentError` is the second
        tensor = np.full(1, np.nan)
    if tensor.shape == () and not has_symbols(tensor) and tensor == 0:
        return NO_TENSOR
    if tensor.shape == (3,):
        tensor = np.diag(tensor)
    elif tensor.shape == (6,):
        xx, yy, zz, xy, yz, xz = tensor
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=tensor.dtype)
    if tensor.shape != (3, 3) or not all(
        isinstance(value, Expr) or math.isfinite(value) for value in tensor.ravel().tolist()
    ):
        check.report(field, inertia, expected)
        return NO_TENSOR
    if tensor.dtype == object:
        if not same(tensor, tensor.T):
            check.report(field, inertia, "a symmetric matrix")
        return frozen(tensor)
    if np.abs(tensor - tensor.T).max() > SLACK * np.abs(tensor).max():
        check.report(field, inertia, "a symmetric matrix")
    if np.abs(tensor).max() > LARGEST:
        check.report(field, inertia, f"elements up to {LARGEST:g}")
        return NO_TENSOR
    return frozen(0.5 * (tensor + tensor.T))


def _has_positive_moments(tensor: FloatArray) -> bool:
    """True if the integral of p p' dm, tr(I) / 2 E - I, is clearly positive definite: the tensor is possible for a body.

    By Cholesky's factorisation in plain floats; False says nothing.
    """
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = tensor.tolist()
    xx, yy, zz = 0.5 * (iyy + izz - ixx), 0.5 * (ixx + izz - iyy), 0.5 * (ixx + iyy - izz)
    least = SLACK * (ixx + iyy + izz)
    if not xx > least > 0.0:
        return False
    second, mixed, third = yy - ixy * ixy / xx, -iyz - ixy * ixz / xx, zz - ixz * ixz / xx
    return bool(second > least and third - mixed * mixed / second > least)


def _check_physical(check: Checker, tensor: FloatArray, field: str) -> None:
    if _has_positive_moments(tensor):
        return
    size = 2.0 ** float(np.frexp(np.abs(tensor).max())[1])  # a power of two: dividing by it rounds nothing
    moments = np.linalg.eigvalsh(tensor / size) * size
    slack = SLACK * max(np.abs(moments).max(), SMALLEST)
    hint = "; physical=False accepts an identified set of parameters" if field == "inertia" else ""
    if moments[0] < -slack:
        check.report(field, moments.tolist(), "principal moments >= 0 (positive semidefinite)" + hint)
    elif moments[2] > moments[0] + moments[1] + slack:
        expected = "principal moments in which none exceeds the sum of the other two (triangle inequality)"
        check.report(field, moments.tolist(), expected + hint)
