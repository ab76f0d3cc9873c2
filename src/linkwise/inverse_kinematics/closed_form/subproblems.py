"""The small equations of which closed forms are made, over scalars of any kind, every branch of each.

They are the subproblems of B. Paden and W. Kahan (B. Paden, *Kinematics and Control of Robot Manipulators*, 1985), in the
form of A. J. Elias and J. T. Wen, "IK-Geo: Unified robot inverse kinematics using subproblem decomposition", 2022: where an
equation has no answer, the one that misses it least is given, and by how much it misses. Angles are pairs of cosine and sine
here; no angle is ever computed. Where every angle is an answer, the one handed in as `free` is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, greatest, root, select
from linkwise.spatial.vector import inner

DEGENERATE = 1e-13
"""Below this, relative to the lengths at hand, the side of a triangle is rounding, and an angle at its end is free."""


class Turn(NamedTuple):
    """An angle, as its cosine and its sine."""

    c: Any
    s: Any

    def back(self) -> Turn:
        """The angle the other way."""
        return Turn(self.c, -self.s)

    def opposite(self) -> Turn:
        """The angle and half a turn."""
        return Turn(-self.c, -self.s)

    def plus(self, other: Turn) -> Turn:
        """The sum of two angles."""
        return Turn(self.c * other.c - self.s * other.s, self.s * other.c + self.c * other.s)

    def minus(self, other: Turn) -> Turn:
        """The difference of two angles."""
        return self.plus(other.back())


def turned(k: Array, turn: Turn, p: Array) -> Array:
    """The vector p (3,) turned about the unit vector k: O. Rodrigues' formula."""
    along = k * inner(k, p)
    return np.asarray(along + (p - along) * turn.c + cross(k, p) * turn.s)


def unturned(k: Array, turn: Turn, p: Array) -> Array:
    """The vector p (3,) turned back about k."""
    return turned(k, turn.back(), p)


def rotated(k: Array, turn: Turn, rotation: Array) -> Array:
    """Rot(k, turn) R for a rotation R (3, 3)."""
    return np.stack([turned(k, turn, rotation[:, j]) for j in range(3)], axis=1)


def unrotated(k: Array, turn: Turn, rotation: Array) -> Array:
    """Rot(k, turn)' R for a rotation R (3, 3)."""
    return rotated(k, turn.back(), rotation)


def choose(c: Any, x: Turn, y: Turn) -> Turn:
    """`select` for angles: x where the scalar c is above zero, else y."""
    return Turn(select(c, x.c, y.c), select(c, x.s, y.s))


def direction(x: Any, y: Any, free: Turn, least: Any = 0.0) -> tuple[Turn, Any]:
    """The angle of the point (x, y), and its distance; `free` where the distance is not above `least`."""
    size = root(x * x + y * y)
    usable = size - least
    require(usable)
    scale = 1.0 / select(usable, size, 1.0)
    return Turn(select(usable, x * scale, free.c), select(usable, y * scale, free.s)), size


def align(k: Array, p: Array, q: Array, free: Turn, least: Any = 0.0) -> Turn:
    """The angle by which Rot(k, angle) p comes nearest to q (3,), subproblem 1; k a unit vector.

    Free where p or q lies along k: where the product of their distances from it is not above `least`.
    """
    across = p - k * inner(k, p)
    return direction(inner(across, q), inner(k, cross(p, q)), free, least)[0]


def linear(a: Any, b: Any, d: Any, free: Turn, *, size: Any = 1.0, gap: Any = None) -> tuple[Turn, Turn, Any]:
    """Both angles with a cos + b sin = d, and how far d is out of reach.

    Parameters
    ----------
    a, b, d : scalar
        The equation. Where |d| is greater than the length of (a, b), both angles are the nearest one.
    free : Turn
        For where a and b vanish.
    size : scalar
        What a and b are compared with to find that they vanish.
    gap : scalar, optional
        a^2 + b^2 - d^2, where it is known without cancellation.
    """
    square = a * a + b * b
    n = root(square)
    if gap is None:
        gap = (n - abs(d)) * (n + abs(d))
    usable = n - DEGENERATE * size
    require(usable)
    other = root(select(gap, gap, 0.0))
    reach = root(select(gap, square, d * d))
    reach = 1.0 / select(usable, n * select(reach, reach, 1.0), 1.0)
    x, y = a * reach, b * reach
    mid_c, mid_s, off_c, off_s = x * d, y * d, -(y * other), x * other
    first, second = Turn(mid_c + off_c, mid_s + off_s), Turn(mid_c - off_c, mid_s - off_s)
    return choose(usable, first, free), choose(usable, second, free), greatest(abs(d) - n, 0.0)


def component(k: Array, h: Array, p: Array, d: Any, free: Turn, *, size: Any = 1.0) -> tuple[Turn, Turn, Any]:
    """Both angles with h . Rot(k, angle) p = d, subproblem 4, and how far d is out of reach."""
    across = p - k * inner(k, p)
    return linear(inner(h, across), inner(h, cross(k, p)), d - inner(h, k) * inner(k, p), free, size=size)


def length_between(k: Array, p: Array, q: Array, square: Any, free: Turn, *, size: Any = 1.0) -> tuple[Turn, Turn, Any]:
    """Both angles with |Rot(k, angle) p - q|^2 = square, subproblem 3; the miss is one of half the squares (m^2)."""
    return component(k, q, p, 0.5 * (inner(p, p) + inner(q, q) - square), free, size=size)


def cone(k: Array, p: Array, h: Array, v: Array, free: Turn) -> tuple[Turn, Turn, Any]:
    """Both angles with h . Rot(k, angle) p = h . v for unit vectors all, to rounding also where v comes near to h or -h.

    What stands under the root is ((cos(a - b) - h.v) (h.v - cos(a + b)), a and b the angles from k to h and to p: each
    factor is taken from a difference of vectors, so that no digits are lost where a = b and v = h.
    """
    up, across_h, across_p = inner(k, h) * inner(k, p), cross(k, h), cross(k, p)
    sines = root(inner(across_h, across_h) * inner(across_p, across_p))
    widest, narrowest = _settled(1.0 + (up - sines)), _settled(1.0 - (up + sines))
    apart, against = h - v, h + v
    near, far = 0.5 * inner(apart, apart) - narrowest, 0.5 * inner(against, against) - widest
    across = p - k * inner(k, p)
    gap = select(near, near, 0.0) * select(far, far, 0.0)
    first, second, _ = linear(inner(h, across), inner(h, cross(k, p)), inner(h, v) - up, free, gap=gap)
    return first, second, greatest(-near, greatest(-far, 0.0))


def _settled(value: Any) -> Any:
    """A constant with its rounding of zero taken off."""
    return 0.0 if isinstance(value, (float, np.floating)) and abs(float(value)) < 1e-15 else value


def two_axes(
    k1: Array, k2: Array, p: Array, q: Array, free1: Turn, free2: Turn, *, size: Any = 1.0
) -> list[tuple[Any, ...]]:
    """Both pairs of angles with Rot(k1, first) Rot(k2, second) p = q, subproblem 2: (first, second, miss) each.

    The second comes from the component along k1, the first brings it there.
    """
    both = component(k2, k1, p, inner(k1, q), free2, size=size)
    return [(align(k1, turned(k2, second, p), q, free1, DEGENERATE * size * size), second, both[2]) for second in both[:2]]


MARGIN = 1e-7
"""An unknown counts as free a little before it is: an angle at the end of a side as short as this (of unit vectors, m or m2)
has lost half its digits, and the equations after it lose the others."""

_collected: ContextVar[list[Any] | None] = ContextVar("collected", default=None)


@contextmanager
def conditions() -> Iterator[list[Any]]:
    """Collect the conditions of what is solved inside, in their order: each above zero where the unknown is determined.

    Examples
    --------
    >>> with conditions() as collected:
    ...     require(0.5)
    >>> collected
    [0.4999999]
    """
    collected: list[Any] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def require(size: Any, margin: float = MARGIN) -> None:
    """Add the condition that a scalar is greater than a margin."""
    collected = _collected.get()
    if collected is not None:
        collected.append(size - margin)


def select_free(condition: Any, value: Any, free: Any) -> Any:
    """The value where the condition is above zero, else the free one."""
    require(condition)
    return select(condition, value, free)
