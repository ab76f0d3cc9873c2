"""Limits along one interval of a path as pairs of lines in (x, u), and the motion within it: functions over scalars.

Within an interval of length D, at share z of it, x(z) = x + 2 D u z, and what is limited is a polynomial in z whose
coefficients are linear in u and x. A polynomial lies between its least and its greatest Bernstein coefficient (G. Farin,
*Curves and Surfaces for CAGD*, 5th edition, 2002, section 5.1), so that limits of these hold between the nodes as well.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb, prod
from typing import Any

import numpy as np

from linkwise.kernel import Kernel
from linkwise.kernel.reachability import LANES
from linkwise.kernel.tape import trace
from linkwise.spatial.scalar import Array, FloatArray, root, select

#: Degree of the limited function: the acceleration of pieces of degree five with x linear in s.
DEGREE = 4

#: Shares of an interval at which functions other than polynomials are evaluated.
SHARES = np.arange(DEGREE + 1) / DEGREE

#: In the place of no limit: its square and the quotient of both are finite.
UNLIMITED = 1e100

#: The coefficient of u is not less than this share of the slope, so that lines are not too steep for their rounding.
LEAST_SHARE, LEAST = 1e-10, 1e-60


def bernstein_values(z: FloatArray) -> FloatArray:
    """The Bernstein polynomials (..., DEGREE + 1) at shares z."""
    k = np.arange(DEGREE + 1)
    binomials = np.array([comb(DEGREE, j) for j in k], dtype=float)
    return np.asarray(binomials * z[..., None] ** k * (1.0 - z[..., None]) ** (DEGREE - k))


#: From values at `SHARES` to Bernstein coefficients.
COEFFICIENTS = np.linalg.inv(bernstein_values(SHARES))

#: Map from the Bernstein coefficients of a polynomial to those of its product with z, of the same degree.
ALONG = (COEFFICIENTS @ (SHARES[:, None] * bernstein_values(SHARES))).round(12)


def _lines(a: list[Any], b: list[Any], c: list[Any], limit: Any, scale: Any) -> list[list[Any]]:
    """Slopes, lower and upper lines in x of u where -limit <= a u + b x + c <= limit, for five of each."""
    sizes = [abs(value) for value in a]
    floor = LEAST_SHARE * scale + LEAST
    sizes, lines = [select(size - floor, size, floor) for size in sizes], []
    for p, q, r, share in zip(a, b, c, [*_inverses(*sizes[:3]), *_inverses(*sizes[3:])], strict=True):
        minus, width = select(p, -share, share), limit * share
        lines.append([q * minus, r * minus - width, r * minus + width])
    return lines


def _inverses(*sizes: Any) -> list[Any]:
    """The inverses of two or three numbers by one division."""
    others = [sizes[1:], sizes[:1] + sizes[2:], sizes[:2]][: len(sizes)]
    products = [prod(factors) for factors in others]
    inverse = 1.0 / (sizes[0] * products[0])
    return [product * inverse for product in products]


def _block(lines: list[list[Any]]) -> Array:
    block = np.full((3, LANES), 0.0, dtype=object)
    block[1], block[2] = -UNLIMITED, UNLIMITED
    for k, row in enumerate(lines):
        block[:, k] = row
    return block


def _greatest(values: Any) -> Any:
    if len(values) == 1:
        return values[0]
    x, y = (_greatest(half) for half in (values[::2], values[1::2]))
    return select(y - x, y, x)


def _caps(first: Any, last: Any, deviation: Any, limit: Any) -> Array:
    """Greatest x at both ends where speed is at most a line from first to last plus a deviation, times the root of x.

    What the limit allows, (limit / speed)^2, is convex along the interval; its tangent at the tighter end lies below it.
    """
    p0, p1 = (abs(p) + deviation + LEAST for p in (first, last))
    most = select(p0 - p1, p0, p1)
    inverse = 1.0 / most
    allowed = (limit * inverse) * (limit * inverse)
    return np.array([allowed * (3.0 - 2.0 * (p * inverse)) for p in (p0, p1)], dtype=object)


def joint_limits(q0: Any, v0: Any, a0: Any, q1: Any, v1: Any, a1: Any, step: Any, limits: Array) -> tuple[Array, Array]:
    """Lines (3, 8) for a joint's acceleration, and greatest x (2,) for its velocity, on a piece of degree five.

    Parameters
    ----------
    q0, v0, a0, q1, v1, a1 : scalar
        The coordinate and its derivatives by s at both ends.
    step : scalar
        Length of the interval.
    limits : (2,) array
        Limits of velocity and acceleration.
    """
    d = slopes(q0, v0, a0, q1, v1, a1, step)
    return _block(rate_rows(d, 1.0 / step, limits[1])), rate_caps(d, limits[0])


def rate_rows(d: Any, pace: Any, limit: Any) -> list[list[Any]]:
    """Lines for the acceleration of a joint, of the five Bernstein coefficients of its slope; pace is 1 / length."""
    rises = [0.0, *(d[k + 1] - d[k] for k in range(DEGREE)), 0.0]
    a = [d[k] + 2.0 * k * rises[k] for k in range(DEGREE + 1)]
    b = [(k * rises[k] + (DEGREE - k) * rises[k + 1]) * pace for k in range(DEGREE + 1)]
    return _lines(a, b, [0.0] * len(a), limit, _greatest([abs(x) for x in d]))


def rate_caps(d: Any, limit: Any) -> Array:
    """Greatest x (2,) at both ends for the velocity of a joint, of the five Bernstein coefficients of its slope."""
    chord = [d[0] + (d[-1] - d[0]) * share for share in SHARES.tolist()]
    return _caps(d[0], d[-1], _greatest([abs(x - y) for x, y in zip(d[1:-1], chord[1:-1], strict=True)]), limit)


def slopes(q0: Any, v0: Any, a0: Any, q1: Any, v1: Any, a1: Any, step: Any) -> list[Any]:
    """The five Bernstein coefficients of the derivative by s of the piece of degree five between two ends."""
    c = controls(q0, v0, a0, q1, v1, a1, step)
    return [5.0 * (c[k + 1] - c[k]) / step for k in range(DEGREE + 1)]


def controls(q0: Any, v0: Any, a0: Any, q1: Any, v1: Any, a1: Any, step: Any) -> list[Any]:
    """The six Bernstein coefficients of the piece of degree five between two ends."""
    h, k = step * 0.2, step * step * 0.05
    return [q0, q0 + h * v0, q0 + 2.0 * h * v0 + k * a0, q1 - 2.0 * h * v1 + k * a1, q1 - h * v1, q1]


def sampled_limits(a: Array, b: Array, c: Array, step: Any, limit: Any) -> Array:
    """Lines (3, 8) for a quantity a u + b x + c of which the three are known at the five `SHARES` of an interval.

    It is taken as the polynomial of degree four through its values there.

    Parameters
    ----------
    a, b, c : (5,) array
        What multiplies u and x, and the rest.
    step : scalar
        Length of the interval.
    limit : scalar
        Greatest value, both ways.
    """
    p, q, r = ([_combined(row, values) for row in COEFFICIENTS] for values in (a, b, c))
    return _block(effort_rows(p, q, r, 2.0 * step, limit))


def effort_rows(a: Any, b: Any, c: Any, span: Any, limit: Any) -> list[list[Any]]:
    """Lines for a u + b x + c, of the five Bernstein coefficients of each; span is twice the length of the interval."""
    by_u = [p + span * _combined(row, b) for p, row in zip(a, ALONG, strict=True)]
    return _lines(by_u, b, c, limit, _greatest([abs(x) for x in by_u]))


def _combined(weights: FloatArray, values: Any) -> Any:
    total = 0.0
    for weight, value in zip(weights.tolist(), values, strict=True):
        total = total + weight * value if weight else total
    return total


def sampled_cap(p: Array, limit: Any) -> Array:
    """Greatest x (2,) at the ends for a velocity whose ratio to the root of x is known at the five `SHARES`."""
    return rate_caps([_combined(row, p) for row in COEFFICIENTS], limit)


def motion_within(q0: Any, v0: Any, a0: Any, q1: Any, v1: Any, a1: Any, step: Any, share: Any, u: Any, x: Any) -> Any:
    """Position, velocity and acceleration at a share of an interval, for squared speed x and acceleration u."""
    return motion_at(q0, v0, a0, q1, v1, a1, step, 1.0 / step, share, u, x, root(x))


def motion_at(
    q0: Any, v0: Any, a0: Any, q1: Any, v1: Any, a1: Any, step: Any, pace: Any, share: Any, u: Any, x: Any, speed: Any
) -> Any:  # fmt: skip
    """As `motion_at`, given 1 / length and velocity."""
    c = controls(q0, v0, a0, q1, v1, a1, step)
    rises = [5.0 * pace * (c[k + 1] - c[k]) for k in range(5)]
    bends = [4.0 * pace * (rises[k + 1] - rises[k]) for k in range(4)]
    powers, others = [1.0, share], [1.0, 1.0 - share]
    for _ in range(4):
        powers.append(powers[-1] * powers[1])
        others.append(others[-1] * others[1])

    def value(coefficients: list[Any]) -> Any:
        n = len(coefficients) - 1
        terms = [comb(n, k) * powers[k] * others[n - k] * y for k, y in enumerate(coefficients)]
        return sum(terms[1:], terms[0])

    slope = value(rises)
    return value(c), slope * speed, slope * u + value(bends) * x


_PIECE = dict.fromkeys(("q0", "v0", "a0", "q1", "v1", "a1", "step"), ())

_FUNCTIONS: dict[Callable[..., Any], tuple[dict[str, Any], dict[str, Any]]] = {
    joint_limits: ({**_PIECE, "limits": (2,)}, {"lines": (3, LANES), "cap": (2,)}),
    sampled_limits: ({"a": (5,), "b": (5,), "c": (5,), "step": (), "limit": ()}, {"lines": (3, LANES)}),
    sampled_cap: ({"p": (5,), "limit": ()}, {"cap": (2,)}),
    motion_within: ({**_PIECE, "share": (), "u": (), "x": ()}, {"q": (), "qd": (), "qdd": ()}),
}


@cache
def kernel(function: Callable[..., Any]) -> Kernel:
    """One of the functions of this file as a gufunc."""
    inputs, outputs = _FUNCTIONS[function]

    def scalars(*values: Any) -> Any:
        return function(*(value if value.ndim else value.item() for value in values))

    return Kernel(trace(scalars, function.__name__, inputs, outputs))
