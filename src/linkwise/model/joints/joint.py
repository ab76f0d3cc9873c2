"""Interface of joint types: coordinates, placement J(q) and motion subspace S(q).

A kind is one file here: a frozen dataclass with the decorator `joint`, imported in the package's `__init__`. Links take it
by the name of its kind; everything that computes goes by J and S alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from linkwise.errors import ArgumentError, choices
from linkwise.expr.derivative import derivative, rates
from linkwise.expr.evaluate import substitute
from linkwise.expr.node import Expr, symbol
from linkwise.model.symbolic import any_nonzero, substituted
from linkwise.model.validation import Record, field_names
from linkwise.spatial.rotation import rotation_about, rotation_z
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import inverse, transform

#: The kinds of joints by name, in the order in which they are declared.
JOINTS: dict[str, type[Joint]] = {}

#: Fields that `Link` takes besides the name of a kind.
DESCRIBED_BY = {"axis", "pitch"}

#: Units of coordinates, velocities, accelerations and efforts that turn and that slide.
UNITS = {"q": ("rad", "m"), "qd": ("rad/s", "m/s"), "qdd": ("rad/s2", "m/s2"), "tau": ("N m", "N")}

#: Name and unit of each column of a quantity; the name is appended to that of the joint.
Columns = tuple[tuple[str, str], ...]

K = TypeVar("K", bound="type[Joint]")


def joint(kind: K) -> K:
    """Register a kind of joint under its name."""
    JOINTS[kind.kind] = kind
    return kind


@dataclass(frozen=True, eq=False)
class Joint(Record, ABC):
    """One joint between a parent and a child; each subclass is a joint type.

    Attributes
    ----------
    kind : str
        The name of the kind.
    letter : str
        What tables call it.
    nq, nv : int
        Number of coordinates, and of velocities. Where they are equal the velocities are the rates of the coordinates.
    axes : int
        How many axes `Link` takes for it.
    suffixes : tuple of str
        What is put behind the joint's name for each coordinate, where there are several; numbers where it is empty.
    quaternion : slice or None
        Which of the coordinates are a unit quaternion, where velocities are not their rates; a position may stand before it.
    is_length : bool
        Whether the coordinate is a length (m, efforts in N), not an angle (rad, N m).
    periodic : bool
        Whether a full turn of the coordinate leads back to the same placement.
    dh_parameter : str or None
        The parameter of a Denavit-Hartenberg row that the coordinate is added to, "" where there is no coordinate; None for
        a joint that such a row cannot have.
    """

    kind: ClassVar[str]
    letter: ClassVar[str]
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    axes: ClassVar[int] = 1
    suffixes: ClassVar[tuple[str, ...]] = ()
    quaternion: ClassVar[slice | None] = None
    is_length: ClassVar[bool] = False
    periodic: ClassVar[bool] = False
    dh_parameter: ClassVar[str | None] = None

    @property
    def screws(self) -> Array | None:
        """S' (nv, 6) where S is constant: linear, then angular part of each motion, child axes; None elsewhere."""
        return None

    @property
    def parts(self) -> tuple[OneScrew, ...] | None:
        """The joint as turns and advances one after another, each with one coordinate; None where it is nothing of the kind.

        Links without mass stand between them (R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 4.4).
        """
        return None

    @property
    def turns_and_slides(self) -> tuple[Joint, ...]:
        """Single-coordinate joint of each coordinate if velocities are the rates of coordinates; else empty."""
        if self.parts is not None:
            return self.parts
        return (self,) * self.nv if self.nq == self.nv else ()

    @property
    def is_rotation(self) -> bool:
        """True if the origin of the child never moves."""
        return self.screws is not None and not any_nonzero(np.asarray(self.screws)[:, :3])

    @property
    def cone_axis(self) -> FloatArray | None:
        """The axis (3,) of the child that limits hold in a cone about the same axis of the parent; None of others."""
        return None

    @property
    def neutral(self) -> FloatArray:
        """The coordinates (nq,) at which the child's frame is the parent's."""
        return np.zeros(self.nq)

    def columns(self, quantity: str) -> Columns:
        """Suffix and unit of each column of "q", "qd", "qdd" or "tau"."""
        lengths = [part.is_length for part in self.turns_and_slides]
        endings = self.suffixes or (("",) if self.nv == 1 else tuple(f"_{k + 1}" for k in range(self.nv)))
        return tuple((ending, UNITS[quantity][length]) for ending, length in zip(endings, lengths, strict=True))

    @abstractmethod
    def placement(self, q: Array) -> Array:
        """J(q) (4, 4), the child's frame in the parent's, at the coordinates (nq,)."""

    def turned(self, rotation: FloatArray, q: Array) -> Array | None:
        """Coordinates (nq,) of the placement after a constant rotation (3, 3); None where there are none, or no formula."""
        return None

    def subspace(self, q: Array) -> Array:
        """S(q) (6, nv): velocity of the child's origin and angular velocity per unit of each velocity, child axes.

        By default the derivative of the placement, vee(inv(J) dJ/dq), for joints whose velocities are the rates of their
        coordinates.
        """
        if self.screws is not None:
            return np.asarray(self.screws.T)
        x = _symbols(self.nq)
        return substitute(self._derived_subspace(x), dict(zip(x, q, strict=True)))

    def subspace_rate(self, q: Array, qd: Array) -> Array:
        """The time derivative of S (6, nv) at the velocities qd (nv,)."""
        if self.screws is not None:
            return np.zeros((6, self.nv))
        x, v = _symbols(self.nq), _symbols(self.nv)
        columns = self._derived_subspace(x)
        moving = dict(zip(x, self.q_dot(np.array(x), np.array(v)), strict=True))
        rate = np.array(rates(list(columns.flat), moving), dtype=object).reshape(columns.shape)
        return substitute(rate, dict(zip([*x, *v], [*q, *qd], strict=True)))

    def q_dot(self, q: Array, qd: Array) -> Array:
        """The rates of the coordinates (nq,) at the velocities qd (nv,)."""
        return np.asarray(qd)

    def integrate(self, q: Array, step: Array) -> Array:
        """The coordinates (nq,) after a motion with the constant velocities ``step`` (nv,) for a unit of time."""
        return np.asarray(q + step)

    def difference(self, q0: Array, q1: Array) -> Array:
        """The velocities (nv,) that lead from q0 to q1 (nq,) in a unit of time."""
        return np.asarray(q1 - q0)

    def integrate_derivatives(self, step: Array) -> tuple[Array, Array]:
        """Derivatives (nv, nv) of `integrate` by q and by the step, of and by small motions in the child's axes."""
        return np.eye(self.nv), np.eye(self.nv)

    def difference_derivatives(self, step: Array) -> tuple[Array, Array]:
        """Derivatives (nv, nv) of `difference` by q0 and q1, where it is the step."""
        return -np.eye(self.nv), np.eye(self.nv)

    def coadjoint(self, qd: Array, momentum: Array) -> Array:
        """The rate (nv,) of a momentum (nv,) that is constant in the axes which move with qd (nv,).

        Zero where the velocities are rates of coordinates. H. Poincaré, "Sur une forme nouvelle des équations de la
        mécanique", C. R. Acad. Sci. 132, 1901.
        """
        return np.zeros(self.nv)

    def random(self, rng: np.random.Generator, count: int, most: float) -> FloatArray:
        """Uniform random coordinates (count, nq) of joints whose velocities are not their rates; `most` as in `clipped`."""
        raise NotImplementedError

    def clipped(self, q: Array, most: Any) -> Array:
        """The coordinates (nq,), at the limit where they are beyond: half the opening of a cone, rad, infinite for none."""
        return q

    def excess(self, q: Array, most: Any) -> Any:
        """Excess (rad) of the coordinates (nq,) over that limit; not positive within it."""
        return -1.0

    def lean(self, q: Array) -> tuple[Any, Array]:
        """Angle (rad) limited by a cone, and its derivative (nv,) by small motions."""
        raise NotImplementedError

    # ── numbers ───────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def named_by_link(cls) -> bool:
        """True if the kind's name, an axis and a pitch describe it, as `Link` accepts them."""
        return DESCRIBED_BY.issuperset(field_names(cls))

    @property
    def numbers(self) -> tuple[Any, ...]:
        """All fields that may contain symbols."""
        return tuple(self._values().values())

    def substituted(self, numbers: Mapping[Expr, Any]) -> Self:
        """Replace symbols by numbers or other expressions."""
        return type(self)(**{name: substituted(value, numbers) for name, value in self._values().items()})

    def _derived_subspace(self, x: list[Any]) -> Array:
        placement = self.placement(np.array(x, dtype=object))
        back = inverse(placement)
        elements = derivative(list(placement.flat), x)
        columns = [back @ elements[:, k].reshape(4, 4) for k in range(self.nv)]
        return np.array([[w[0, 3], w[1, 3], w[2, 3], w[2, 1], w[0, 2], w[1, 0]] for w in columns], dtype=object).T


@dataclass(frozen=True, eq=False)
class OneScrew(Joint):
    """A joint with one constant screw: a turn about a unit axis (3,) through the origin, an advance along it, or both.

    Attributes
    ----------
    turn : float
        Angle about the axis per unit of the coordinate, 1 or 0.
    """

    turn: ClassVar[float] = 1.0
    axis: FloatArray

    @property
    def advance(self) -> Any:
        """Along the axis, m per unit of the coordinate."""
        return 0.0

    @property
    def parts(self) -> tuple[OneScrew, ...]:
        """The joint itself."""
        return (self,)

    @property
    def screws(self) -> Array:
        """S' (1, 6)."""
        return np.concatenate([self.axis * self.advance, self.axis * self.turn])[None]

    def placement(self, q: Array) -> Array:
        """J(q) (4, 4), the exponential of the screw."""
        (value,) = q
        rotation = None
        if self.turn:
            about_z = bool(self.axis[2] == 1.0 and not self.axis[:2].any())
            rotation = rotation_z(value) if about_z else rotation_about(self.axis, value)
        return transform(rotation, self.axis * (self.advance * value) if any_nonzero(self.advance) else None)


@dataclass(frozen=True, eq=False)
class CompositeJoint(Joint):
    """A joint that is several one-screw joints, one after another: its velocities are the rates of its coordinates."""

    @property
    @abstractmethod
    def parts(self) -> tuple[OneScrew, ...]:
        """The joints, that next to the parent first."""

    def placement(self, q: Array) -> Array:
        """J(q) (4, 4), the product of the parts' placements."""
        result: Array = np.eye(4)
        for k, part in enumerate(self.parts):
            result = result @ part.placement(q[k : k + 1])
        return result


def make_joint(kind: str, axis: FloatArray, pitch: Any = 0.0) -> Joint:
    """A joint of a named kind about or along a unit axis (3,); `pitch` (m/rad) counts for kinds that have one.

    Raises
    ------
    ArgumentError
        Naming the kinds there are.

    Examples
    --------
    >>> from linkwise.model.joints import make_joint
    >>> make_joint("prismatic", np.array([1.0, 0.0, 0.0])).placement(np.array([0.5]))[0, 3]
    np.float64(0.5)
    """
    if kind not in JOINTS:
        raise ArgumentError(f"no kind of joint {kind!r}; there is {choices(JOINTS)}")
    values = {"axis": axis, "pitch": pitch}
    return JOINTS[kind](**{name: values[name] for name in field_names(JOINTS[kind])})


def _symbols(count: int) -> list[Any]:
    return [symbol(f"x{k}") for k in range(count)]
