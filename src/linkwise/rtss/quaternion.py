"""The quaternion object of the Robotics Toolbox for Scilab, and its operations."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.rtss.arguments import also, vector
from linkwise.rtss.fields import FieldError
from linkwise.spatial.quaternion import (
    conjugated,
    multiplied,
    quaternion_rotation,
    rotated,
    rotation_quaternion,
)
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.spatial.validation import flag, numbers, rigid_poses
from linkwise.spatial.vector import directions, lengths

#: Quaternions that are so near to opposite, rad, have no sure arc between them.
HALF_TURN = 1e-6


class rt_quaternion:  # noqa: N801  (the name that its users know)
    """A quaternion s + v, as in the Robotics Toolbox for Scilab (``rt_quaternion``, 2009).

    ``rt_quaternion(v, theta)`` turns by theta about v; ``rt_quaternion(R)`` and ``rt_quaternion(T)`` turn as a rotation or
    a transform; ``rt_quaternion([s, vx, vy, vz])`` has these elements; ``rt_quaternion(q)`` is a copy. All but the last two
    have length 1.

    Parameters
    ----------
    v : (3,), (3, 3), (4, 4) or (4,) array_like, or rt_quaternion
        What it is made of; lengths of axes do not matter.
    theta : float, optional
        The angle, rad, where v is an axis.

    Raises
    ------
    ArgumentError
        For anything else, an axis of length zero, or a matrix that is not a rotation.

    Notes
    -----
    ``q * q`` is the product, ``q * vector`` the vector turned by q, ``q / q`` the product with the inverse, ``q / number`` a
    shorter quaternion, ``q ** k`` the power with a whole k; ``q == q`` compares the elements, so that q and -q differ. A
    quaternion never changes. `inv`, `norm`, `double` and `unit` are methods; `d`, `s`, `v`, `r` and `t` read it.

    Mended: the inverse is that of a quaternion of any length (the original conjugates), ``q ** 0`` is 1 (there it is q), and
    a vector is turned without being stretched by a quaternion that is not of length 1. The original's plot is left out.

    Examples
    --------
    >>> q = rt_quaternion([0, 0, 1], np.pi / 2)
    >>> (q * [1.0, 0.0, 0.0]).round(12).tolist()
    [0.0, 1.0, 0.0]
    >>> q * q
    0.000000 <0.000000, 0.000000, 1.000000>
    >>> q / q
    1.000000 <0.000000, 0.000000, 0.000000>
    """

    __slots__ = ("_elements",)
    _elements: FloatArray
    __array_ufunc__ = None  # (so that an array on the left does not take the quaternion for a number)

    @also(a1="v", a2="theta", R="v", T="v", q="v")
    def __init__(self, v: Any, theta: Any = None) -> None:
        elements = np.array(_elements(v) if theta is None else _turn(v, theta))
        elements.setflags(write=False)
        object.__setattr__(self, "_elements", elements)

    def __setattr__(self, name: str, value: object) -> None:
        raise FieldError(f"a quaternion never changes; make another instead of assigning {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return rt_quaternion, (self.double(),)

    @property
    def d(self) -> FloatArray:
        """The elements (4,): s, vx, vy, vz."""
        return self._elements

    @property
    def s(self) -> float:
        """The scalar part."""
        return float(self._elements[0])

    @property
    def v(self) -> FloatArray:
        """The vector part (3,)."""
        return self._elements[1:]

    @property
    def r(self) -> FloatArray:
        """Rotation (3, 3) of the normalized quaternion."""
        return rt_q2tr(self)[:3, :3].copy()

    @property
    def t(self) -> FloatArray:
        """The transform (4, 4); see `rt_q2tr`."""
        return rt_q2tr(self)

    def double(self) -> FloatArray:
        """Return the elements (4,): s, vx, vy, vz."""
        return self._elements.copy()

    def norm(self) -> float:
        """Return the length."""
        return float(lengths(self._elements))

    def unit(self) -> rt_quaternion:
        """Return the quaternion of length 1 with the same direction.

        Raises
        ------
        ArgumentError
            Where it is zero.
        """
        return rt_quaternion(directions(self._some("made one of length 1")))

    def inv(self) -> rt_quaternion:
        """Return the inverse: the product of both is 1.

        Raises
        ------
        ArgumentError
            Where it is zero.
        """
        return rt_quaternion(conjugated(directions(self._some("inverted"))) / self.norm())

    @overload
    def __mul__(self, other: rt_quaternion) -> rt_quaternion: ...
    @overload
    def __mul__(self, other: npt.ArrayLike) -> FloatArray: ...
    def __mul__(self, other: Any) -> Any:
        if isinstance(other, rt_quaternion):
            return rt_quaternion(multiplied(self._elements, other._elements))
        expected = "a quaternion or vectors (..., 3)"
        vectors = numbers("what a quaternion is multiplied with", other, expected)
        if vectors.shape[-1:] != (3,) and vectors.shape != (3, 1):
            raise ArgumentError(f"a quaternion is multiplied with an array of shape {vectors.shape}; expected {expected}")
        direction = directions(self._some("used to turn a vector"))
        turned = rotated(direction, vectors.reshape(3) if vectors.shape == (3, 1) else vectors)
        return turned.reshape(vectors.shape)

    def __truediv__(self, other: Any) -> rt_quaternion:
        if isinstance(other, rt_quaternion):
            return rt_quaternion(multiplied(self._elements, other.inv()._elements))
        divisor = numbers("what a quaternion is divided by", other, "a quaternion or a number")
        if divisor.ndim or divisor == 0:
            raise ArgumentError(f"a quaternion is divided by {shown(other)}; expected a quaternion or a number other than 0")
        return rt_quaternion(self._elements / float(divisor))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, rt_quaternion):
            return NotImplemented
        return bool(np.array_equal(self._elements, other._elements))

    def __hash__(self) -> int:
        return hash(tuple(self._elements.tolist()))

    def __pow__(self, power: Any) -> rt_quaternion:
        if isinstance(power, bool) or not isinstance(power, (int, np.integer)):
            raise ArgumentError(f"a quaternion has the exponent {shown(power)}; expected a whole number")
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                power_of_self = self._raised(abs(int(power)))
        except ArgumentError as error:  # of a product that is too large
            problem = f"the power {shown(power)} of a quaternion of length {self.norm():.6g} is not finite"
            raise ArgumentError(problem) from error
        return power_of_self.inv() if power < 0 else power_of_self

    def _raised(self, power: int) -> rt_quaternion:
        """The power by squares: as many products as it has binary digits, twice."""
        product, square = rt_quaternion([1.0, 0.0, 0.0, 0.0]), self
        while power:
            product = product * square if power % 2 else product
            power //= 2
            square = square * square if power else square
        return product

    def _some(self, purpose: str) -> FloatArray:
        if not self._elements.any():
            raise ArgumentError(f"a quaternion of length zero cannot be {purpose}")
        return self._elements

    def __repr__(self) -> str:
        s, x, y, z = self._elements + 0.0
        return f"{s:f} <{x:f}, {y:f}, {z:f}>"


def rt_q2tr(q: rt_quaternion) -> FloatArray:
    """Transform (4, 4) of a quaternion of any nonzero length, which is normalized.

    Mended: the original gives a matrix that is not a rotation where the length is not 1.

    Raises
    ------
    ArgumentError
        Where it is no quaternion, or zero.

    Examples
    --------
    >>> rt_q2tr(rt_quaternion([0, 0, 0, 2]))[:3, :3].tolist()
    [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return transforms(quaternion_rotation(directions(_quaternion("rt_q2tr: q", q)._some("made a transform"))))


@overload
def rt_qinterp(q1: rt_quaternion, q2: rt_quaternion, r: float, *, shortest: bool = False) -> rt_quaternion: ...
@overload
def rt_qinterp(
    q1: rt_quaternion, q2: rt_quaternion, r: npt.ArrayLike, *, shortest: bool = False
) -> rt_quaternion | list[rt_quaternion]: ...
def rt_qinterp(q1: rt_quaternion, q2: rt_quaternion, r: Any, *, shortest: bool = False) -> Any:
    """Quaternions on the great circle from one to another (K. Shoemake, "Animating rotation with quaternion curves", 1985).

    Parameters
    ----------
    q1, q2 : rt_quaternion
        Where it begins and ends; made ones of length 1.
    r : float or (m,) array_like
        How far, 0 to 1.
    shortest : bool
        Whether the arc ends in -q2, which is the same rotation, where that is nearer. The original never does so.

    Returns
    -------
    rt_quaternion, or list of m of them

    Raises
    ------
    ArgumentError
        Where r lies outside 0 to 1, or the quaternions are opposite, so that no arc is the one meant.

    Examples
    --------
    >>> q1, q2 = rt_quaternion([1, 0, 0], 0.2), rt_quaternion([1, 0, 0], 0.6)
    >>> bool(np.allclose(rt_qinterp(q1, q2, 0.5).d, rt_quaternion([1, 0, 0], 0.4).d))
    True
    >>> len(rt_qinterp(q1, q2, [0.0, 0.5, 1.0]))
    3
    """
    ratios = ratios_of("rt_qinterp: r", r)
    first = _quaternion("rt_qinterp: q1", q1).unit().d
    arc = multiplied(conjugated(first), _quaternion("rt_qinterp: q2", q2).unit().d)
    if flag("rt_qinterp: shortest", shortest) and arc[0] < 0:
        arc = -arc
    sine = float(np.linalg.norm(arc[1:]))
    angle = float(np.arctan2(sine, arc[0]))
    if angle > np.pi - HALF_TURN:
        raise ArgumentError("rt_qinterp: q1 and q2 are opposite, the same rotation; shortest=True stays there")
    axis = arc[1:] / sine if sine else arc[1:]
    part = ratios.reshape(-1) * angle
    turned = multiplied(first, np.concatenate([np.cos(part)[:, None], np.sin(part)[:, None] * axis], axis=1))
    quaternions = [rt_quaternion(elements) for elements in turned]
    return quaternions if ratios.ndim else quaternions[0]


def ratios_of(field: str, value: Any) -> FloatArray:
    """Numbers from 0 to 1: one, or a vector of them."""
    ratios = numbers(field, value, "numbers from 0 to 1")
    if ratios.size != max(ratios.shape, default=1):
        raise ArgumentError(f"{field} has the shape {ratios.shape}; expected one number from 0 to 1, or a vector of them")
    if not np.all((ratios >= 0.0) & (ratios <= 1.0)):
        wrong = float(ratios[(ratios < 0.0) | (ratios > 1.0)].reshape(-1)[0]) if ratios.ndim else float(ratios)
        raise ArgumentError(f"{field} is {wrong!r}; expected numbers from 0 to 1")
    return ratios.reshape(-1) if ratios.ndim else ratios


def _quaternion(field: str, value: Any) -> rt_quaternion:
    if not isinstance(value, rt_quaternion):
        raise ArgumentError(f"{field} is {shown(value)}; expected an rt_quaternion")
    return value


def _turn(axis: Any, angle: Any) -> FloatArray:
    direction = directions(vector("rt_quaternion: v", axis, 3))
    half = numbers("rt_quaternion: theta", angle, "an angle, rad") / 2.0
    if half.ndim:
        raise ArgumentError(f"rt_quaternion: theta has the shape {half.shape}; expected an angle, rad")
    if not direction.any():
        raise ArgumentError(f"rt_quaternion: v is {shown(axis)}; expected an axis with a direction")
    return np.concatenate([[np.cos(half)], np.sin(half) * direction])


def _elements(value: Any) -> FloatArray:
    if isinstance(value, rt_quaternion):
        return value.d
    expected = "a quaternion, a rotation (3, 3), a transform (4, 4), four elements, or an axis and an angle"
    array = numbers("rt_quaternion: v", value, expected)
    if array.shape in {(3, 3), (4, 4)}:
        whole = transforms(array) if array.shape == (3, 3) else array
        return rotation_quaternion(rigid_poses("rt_quaternion: v", whole)[:3, :3])
    if array.size != 4 or max(array.shape) != 4:
        raise ArgumentError(f"rt_quaternion: v has the shape {array.shape}; expected {expected}")
    return array.reshape(4)


__all__ = [name for name in dir() if name.startswith("rt_")]
