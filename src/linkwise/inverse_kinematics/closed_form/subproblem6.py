"""Two linear equations in the cosines and sines of two angles: subproblem 6 of IK-Geo."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.subproblems import Turn, direction, linear, require, select_free
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, array, cos_sin, root, select
from linkwise.spatial.scalar import atan2 as angle_of
from linkwise.spatial.vector import chosen, inner

CIRCLE: FloatArray = np.diag([1.0, 1.0, -1.0])
"""x^2 + y^2 = 1, for X = (x, y, 1)."""

PARABOLA: FloatArray = np.array([[0.0, 0.0, 0.5], [0.0, -1.0, 0.0], [0.5, 0.0, 0.0]])
"""x = y^2, for X = (x, y, 1)."""

NEAR = 1e-2
"""The longest step."""

LEAST = 1e-12
"""A conic with elements no greater than this is rounding."""

TINY = 1e-300
"""Keeps a quotient of two zeros finite."""

REFINEMENTS = 2
"""Steps along the curve, after the lines."""


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
    found: list[Turn] = []
    for line in _lines(scaled, CIRCLE):
        first, second, _ = linear(line[0], line[1], -line[2], free)
        found += [_along_circle(scaled, first), _along_circle(scaled, second)]
    return found


def conic_on_parabola(conic: Array) -> list[Any]:
    """The four numbers s with X' conic X = 0, X = (s^2, s, 1), as `conic_on_circle` gives them."""
    scaled = _scaled(conic + conic[1, 1] * PARABOLA)
    return [_along_parabola(scaled, s) for line in _lines(scaled, PARABOLA) for s in quadratic(line[0], line[1], line[2])]


def quadratic(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Both roots of a s^2 + b s + c, without cancellation; the vertex twice where there are none, one twice if a is 0."""
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
    """The conic with elements of size one; what it has of the curve itself is taken off before, for it says nothing."""
    size = sum(abs(value) for value in conic[np.triu_indices(3)])
    require(size, LEAST)
    return np.asarray(conic * (1.0 / select(size, size, 1.0)))


def _lines(conic: Array, curve: FloatArray) -> tuple[Array, Array]:
    """Two lines (3,) that hold the common points of two conics: the factors of ``conic - t curve``, t the lone root."""
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
        own = inner(row, row)
        best, size = chosen(own - size, row, best), select(own - size, own, size)
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
    """To the nearer zero of ``value + slope t + bend t^2 / 2``, or to its vertex: so that double roots are found too.

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
    free : tuple of two Turns
        What is taken where an angle is free.
    """
    sizes = np.linalg.norm(b, axis=1)
    flat = int(np.argmin(sizes))
    if not sizes[flat]:
        other = 1 - flat
        found = []
        firsts = linear(a[flat, 0], a[flat, 1], e[flat], free[0])
        for x in firsts[:2]:
            rest = e[other] - a[other, 0] * x.c - a[other, 1] * x.s
            seconds = linear(b[other, 0], b[other, 1], rest, free[1])
            found += [(x, y, firsts[2] + seconds[2]) for y in seconds[:2]]
        return found
    inverse = np.linalg.inv(b)
    slope, start = -(inverse @ a), inverse @ e
    lines = [np.array([slope[k, 0], slope[k, 1], start[k]], dtype=object) for k in range(2)]
    found = []
    for x in conic_on_circle(np.outer(lines[0], lines[0]) + np.outer(lines[1], lines[1]) - UNIT, free[0]):
        v = [start[k] + slope[k, 0] * x.c + slope[k, 1] * x.s for k in range(2)]
        y, size = direction(v[0], v[1], free[1])
        found.append((x, y, abs(size - 1.0)))
    return found
