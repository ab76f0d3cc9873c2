"""Two linear equations in the cosines and sines of two angles: subproblem 6 of IK-Geo."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.solve.closed_form.conic_pencil import conic_on_circle
from linkwise.solve.closed_form.subproblems import Turn, direction, linear
from linkwise.spatial.scalar import Array, FloatArray

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
