"""Geometric subproblems of closed forms, over scalars of any kind, every branch of each.

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
from linkwise.spatial.scalar import Array, FloatArray, array, cos_sin, greatest, root, select
from linkwise.spatial.scalar import atan2 as angle_of
from linkwise.spatial.vector import chosen, inner

#: Below this, relative to the lengths at hand, the side of a triangle is rounding, and an angle at its end is free.
DEGENERATE = 1e-13


class Turn(NamedTuple):
    """An angle, as its cosine and its sine."""

    c: Any
    s: Any

    def back(self) -> Turn:
        """Inverse rotation."""
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
    """Both angles with a cos + b sin = d, and the excess of d over the reachable values.

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
    """Both angles with h . Rot(k, angle) p = d, subproblem 4, and the excess of d over the reachable values."""
    across = p - k * inner(k, p)
    return linear(inner(h, across), inner(h, cross(k, p)), d - inner(h, k) * inner(k, p), free, size=size)


def length_between(k: Array, p: Array, q: Array, square: Any, free: Turn, *, size: Any = 1.0) -> tuple[Turn, Turn, Any]:
    """Both angles with |Rot(k, angle) p - q|^2 = square, subproblem 3; the miss is that of half the squares (m^2)."""
    return component(k, q, p, 0.5 * (inner(p, p) + inner(q, q) - square), free, size=size)


def cone(k: Array, p: Array, h: Array, v: Array, free: Turn) -> tuple[Turn, Turn, Any]:
    """Both angles with h . Rot(k, angle) p = h . v for unit vectors, to rounding also for v near h or -h.

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
    """Replace a constant within rounding of zero by zero."""
    return 0.0 if isinstance(value, (float, np.floating)) and abs(float(value)) < 1e-15 else value


def two_axes(
    k1: Array, k2: Array, p: Array, q: Array, free1: Turn, free2: Turn, *, size: Any = 1.0
) -> list[tuple[Any, ...]]:
    """Both pairs of angles with Rot(k1, first) Rot(k2, second) p = q, subproblem 2: (first, second, miss) each.

    The second comes from the component along k1, the first brings it there.
    """
    both = component(k2, k1, p, inner(k1, q), free2, size=size)
    return [(align(k1, turned(k2, second, p), q, free1, DEGENERATE * size * size), second, both[2]) for second in both[:2]]


#: An unknown counts as free a little before it is: an angle at the end of a side as short as this (of unit vectors, m or m2)
#: has lost half its digits, and the equations after it lose the others.
MARGIN = 1e-7

_collected: ContextVar[list[tuple[Any, float]] | None] = ContextVar("collected", default=None)


@contextmanager
def conditions() -> Iterator[list[tuple[Any, float]]]:
    """Collect conditions during a solution: sizes, and the margins above which the unknown is determined.

    Examples
    --------
    >>> with conditions() as collected:
    ...     require(0.5)
    >>> collected
    [(0.5, 1e-07)]
    """
    collected: list[tuple[Any, float]] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def require(size: Any, margin: float = MARGIN) -> None:
    """Add the condition that a scalar is greater than a margin."""
    collected = _collected.get()
    if collected is not None:
        collected.append((size, margin))


def select_free(condition: Any, value: Any, free: Any) -> Any:
    """The value where the condition is above zero, else the free one."""
    require(condition)
    return select(condition, value, free)


#: x^2 + y^2 = 1, for X = (x, y, 1).
CIRCLE: FloatArray = np.diag([1.0, 1.0, -1.0])

#: x = y^2, for X = (x, y, 1).
PARABOLA: FloatArray = np.array([[0.0, 0.0, 0.5], [0.0, -1.0, 0.0], [0.5, 0.0, 0.0]])

#: The longest step.
NEAR = 1e-2

#: A conic with elements no greater than this is rounding.
LEAST = 1e-12

#: Keeps a quotient of two zeros finite.
TINY = 1e-300

#: Steps along the curve, after the lines.
REFINEMENTS = 2


def conic_on_circle(conic: Array, free: Turn) -> list[Turn]:
    """The four points (cos t, sin t) with X' conic X = 0, X = (cos t, sin t, 1).

    Parameters
    ----------
    conic : ndarray (3, 3)
        Symmetric, of scalars of any kind.
    free : Turn
        For where the equation does not depend on t.

    Notes
    -----
    Where fewer points are real, those that come instead do not fulfil the equation: what is built on them has to be checked.
    """
    scaled = _scaled(conic - 0.5 * (conic[0, 0] + conic[1, 1]) * CIRCLE)
    roots: list[Turn] = []
    for line in _lines(scaled, CIRCLE):
        first, second, _ = linear(line[0], line[1], -line[2], free)
        roots += [_along_circle(scaled, first), _along_circle(scaled, second)]
    return roots


def conic_on_parabola(conic: Array) -> list[Any]:
    """The four numbers s with X' conic X = 0, X = (s^2, s, 1), as `conic_on_circle` gives them."""
    scaled = _scaled(conic + conic[1, 1] * PARABOLA)
    return [_along_parabola(scaled, s) for line in _lines(scaled, PARABOLA) for s in quadratic(line[0], line[1], line[2])]


def quadratic(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Both roots of a s^2 + b s + c, without cancellation; the vertex twice without real roots, one root twice if a is 0."""
    under = b * b - 4.0 * a * c
    reach = root(select(under, under, 0.0))
    far = -0.5 * (b + select(b, reach, -reach))
    near = over(c, far, 0.0)
    first = over(far, a, near)
    return first, select(under, near, first)


def over(x: Any, y: Any, spare: Any) -> Any:
    """Divide x by y; `spare` where y is zero."""
    usable = abs(y)
    return select_free(usable, x / select(usable, y, 1.0), spare)


def _scaled(conic: Array) -> Array:
    """Normalize a conic to elements of size one; its part along the curve itself, which has no effect, is removed before."""
    size = sum(abs(value) for value in conic[np.triu_indices(3)])
    require(size, LEAST)
    return np.asarray(conic * (1.0 / select(size, size, 1.0)))


def _lines(conic: Array, curve: FloatArray) -> tuple[Array, Array]:
    """Two lines (3,) through the common points of two conics: the factors of ``conic - t curve``, t the lone root."""
    flat = float(np.linalg.det(curve))
    a2, a1, a0 = (
        -inner(conic.ravel(), _adjugate(curve).ravel()) / flat,
        inner(_adjugate(conic).ravel(), curve.ravel()) / flat,
        -inner(conic[0], cross(conic[1], conic[2])) / flat,
    )
    return _split(conic - _lone_root(a2, a1, a0) * curve)


def _adjugate(m: Array) -> Array:
    """The adjugate (3, 3) of a symmetric matrix."""
    return np.array([cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])])


def _lone_root(a2: Any, a1: Any, a0: Any) -> Any:
    """The real root of t^3 + a2 t^2 + a1 t + a0 that is farthest from the mean of the roots.

    About the mean the cubic is t^3 + p t + q; that root has the sign of -q, and its size is the one positive root of
    x^3 + p x = |q|: F. Viete's cosine where three roots are real, G. Cardano's formula without cancellation otherwise, and
    one step of Newton's.
    """
    third = a2 / 3.0
    p = a1 - a2 * third
    q = third * (2.0 * third * third - a1) + a0
    r, w = abs(q), p / 3.0
    under = 0.25 * r * r + w * w * w
    half = root(select(-w, -w, 0.0))
    cosine, _ = cos_sin(angle_of(root(select(-under, -under, 0.0)), 0.5 * r) / 3.0)
    u = _cube_root(0.5 * r + root(select(under, under, 0.0)))
    v = w / select(u, u, 1.0)
    spread = u * u + w + v * v
    x = select(under, r / select(spread, spread, 1.0), 2.0 * half * cosine)
    slope = 3.0 * x * x + p
    x = x - (x * (x * x + p) - r) / select(slope - 1e-12, slope, 1e12)
    return select(q, -x, x) - third


def _cube_root(x: Any) -> Any:
    """The cube root of a scalar that is not negative, by E. Halley's iteration from x^(21/64)."""
    fourth = root(root(x))
    sixteenth = root(root(fourth))
    y = fourth * sixteenth * root(root(sixteenth))
    for _ in range(2):
        cube = y * y * y
        y = y * (cube + 2.0 * x) / (2.0 * cube + x + TINY)
    return y


def _split(m: Array) -> tuple[Array, Array]:
    """The lines of a symmetric matrix l g' + g l'; its adjugate -(l x g)(l x g)' has the point where they meet."""
    minus = -_adjugate(m)
    k01 = minus[0, 0] - minus[1, 1]
    column = chosen(k01, minus[0], minus[1])
    square = select(k01, minus[0, 0], minus[1, 1])
    column = chosen(square - minus[2, 2], column, minus[2])
    square = select(square - minus[2, 2], square, minus[2, 2])
    where = column * (1.0 / root(select(square - 1e-32, square, 1e-32)))
    x, y, z = where
    product = m + array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return _longest(product), _longest(product.T)


def _longest(m: Array) -> Array:
    """The longest of three rows."""
    rows = list(m)
    best, size = rows[0], inner(rows[0], rows[0])
    for row in rows[1:]:
        square = inner(row, row)
        best, size = chosen(square - size, row, best), select(square - size, square, size)
    return np.asarray(best)


def _along_circle(conic: Array, turn: Turn) -> Turn:
    """Steps for the angle."""
    c, s = turn
    for _ in range(REFINEMENTS):
        gradient = conic @ np.array([c, s, 1.0], dtype=object)
        inward = gradient[0] * c + gradient[1] * s
        bend = conic[0, 0] * s * s + conic[1, 1] * c * c - 2.0 * conic[0, 1] * s * c - inward
        step = _step(inward + gradient[2], 2.0 * (gradient[1] * c - gradient[0] * s), 2.0 * bend)
        scale = 1.0 / root(1.0 + step * step)
        c, s = (c - s * step) * scale, (s + c * step) * scale
    return Turn(c, s)


def _along_parabola(conic: Array, s: Any) -> Any:
    """Steps for the number."""
    for _ in range(REFINEMENTS):
        gradient = conic @ np.array([s * s, s, 1.0], dtype=object)
        value = gradient[0] * s * s + gradient[1] * s + gradient[2]
        bend = 4.0 * s * (s * conic[0, 0] + conic[0, 1]) + conic[1, 1] + 2.0 * gradient[0]
        s = s + _step(value, 2.0 * (gradient[1] + 2.0 * s * gradient[0]), 2.0 * bend)
    return s


def _step(value: Any, slope: Any, bend: Any) -> Any:
    """Step to the nearer zero of ``value + slope t + bend t^2 / 2``, or to its vertex, so that double roots are found.

    Nowhere where that is far: from a point that is no root, steps may lead to one that is found already.
    """
    under = slope * slope - 2.0 * value * bend
    reach = root(select(under, under, 0.0))
    slant = slope + select(slope, reach, -reach)
    top, bottom = select(under, 2.0 * value, slope), select(under, slant, bend)
    step = -top / select(abs(bottom), bottom, 1.0)
    return select(NEAR - abs(step), step, 0.0)


UNIT: FloatArray = np.diag([0.0, 0.0, 1.0])


def two_angles(a: Array, b: FloatArray, e: Array, free: tuple[Turn, Turn]) -> list[tuple[Turn, Turn, Any]]:
    """The four pairs of angles (x, y) with a (cos x, sin x) + b (cos y, sin y) = e.

    Parameters
    ----------
    a, e : (2, 2) and (2,)
        Of any scalars.
    b : ndarray (2, 2)
        Numbers. Where one of its rows is zero, that equation gives x alone (subproblem 4); else y follows from x, and that
        its cosine and sine are of length one is a conic.
    free : tuple of two Turn
        What is taken where an angle is free.
    """
    sizes = np.linalg.norm(b, axis=1)
    flat = int(np.argmin(sizes))
    if not sizes[flat]:
        other = 1 - flat
        pairs = []
        firsts = linear(a[flat, 0], a[flat, 1], e[flat], free[0])
        for x in firsts[:2]:
            remainder = e[other] - a[other, 0] * x.c - a[other, 1] * x.s
            seconds = linear(b[other, 0], b[other, 1], remainder, free[1])
            pairs += [(x, y, firsts[2] + seconds[2]) for y in seconds[:2]]
        return pairs
    inverse = np.linalg.inv(b)
    slope, start = -(inverse @ a), inverse @ e
    lines = [np.array([slope[k, 0], slope[k, 1], start[k]], dtype=object) for k in range(2)]
    pairs = []
    for x in conic_on_circle(np.outer(lines[0], lines[0]) + np.outer(lines[1], lines[1]) - UNIT, free[0]):
        v = [start[k] + slope[k, 0] * x.c + slope[k, 1] * x.s for k in range(2)]
        y, size = direction(v[0], v[1], free[1])
        pairs.append((x, y, abs(size - 1.0)))
    return pairs
