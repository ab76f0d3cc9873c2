"""Nearest points of segments, in general and special position."""

import mpmath
import numpy as np
import pytest

from linkwise.clearance.kernels import segment_gaps


def by_enumeration(p, d, q, g):
    """Distance from the five candidates: ends against segments, and the inside of both."""
    p, d, q, g = (np.array([mpmath.mpf(float(x)) for x in v]) for v in (p, d, q, g))
    dot = lambda a, b: sum(x * y for x, y in zip(a, b, strict=True))  # noqa: E731

    def point(x, start, along):
        square = dot(along, along)
        s = 0 if square == 0 else min(1, max(0, dot(x - start, along) / square))
        w = start + along * s - x
        return mpmath.sqrt(dot(w, w))

    best = min(point(p, q, g), point(p + d, q, g), point(q, p, d), point(q + g, p, d))
    a, b, e, r = dot(d, d), dot(d, g), dot(g, g), p - q
    det = a * e - b * b
    if det > 0:
        s, t = (b * dot(g, r) - e * dot(d, r)) / det, (a * dot(g, r) - b * dot(d, r)) / det
        if 0 <= s <= 1 and 0 <= t <= 1:
            w = r + d * s - g * t
            best = min(best, mpmath.sqrt(dot(w, w)))
    return best


def cases(kind, rng, count=60):
    p, d, q, g = rng.normal(size=(4, count, 3))
    if kind == "parallel":
        g = d * rng.uniform(-2, 2, (count, 1))
    if kind == "nearly parallel":
        g = d * rng.uniform(-2, 2, (count, 1)) + rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-16, -3, (count, 1))
    if kind == "crossing at small angles":
        g = d + rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-16, -3, (count, 1))
        q = p + d * rng.uniform(0, 1, (count, 1)) - g * rng.uniform(0, 1, (count, 1))
    if kind == "one point":
        g = np.zeros_like(g)
    if kind == "two points":
        d, g = np.zeros_like(d), np.zeros_like(g)
    if kind == "on one line":
        q, g = p + d * rng.uniform(-3, 3, (count, 1)), d * rng.uniform(-2, 2, (count, 1))
    if kind == "small":
        d, g = d * 1e-9, g * 1e-9
    return p, d, q, g


KINDS = (
    "general",
    "parallel",
    "nearly parallel",
    "crossing at small angles",
    "one point",
    "two points",
    "on one line",
    "small",
)


@pytest.mark.parametrize("kind", KINDS)
def test_distances_are_exact_to_rounding(kind):
    """Errors stay at the rounding of the coordinates, for s from cross products loses nothing that counts."""
    p, d, q, g = cases(kind, np.random.default_rng(1))
    distance, apart, s, t = segment_gaps(p, d, q, g)
    with mpmath.workdps(60):
        exact = [by_enumeration(*row) for row in zip(p, d, q, g, strict=True)]
        errors = [abs(float(mpmath.mpf(float(x)) - y)) for x, y in zip(distance, exact, strict=True)]
    print(kind, max(errors))
    assert max(errors) < 3e-15
    assert ((s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)).all()
    assert abs(q + g * t[:, None] - p - d * s[:, None] - apart).max() < 3e-15


def test_a_batch_is_a_loop():
    p, d, q, g = cases("general", np.random.default_rng(2), 13)
    whole = segment_gaps(p, d, q, g)
    for k in range(13):
        for one, many in zip(segment_gaps(p[k], d[k], q[k], g[k]), whole, strict=True):
            assert np.array_equal(one, many[k])
