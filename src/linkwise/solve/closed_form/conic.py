"""Where a conic and the unit circle meet: the quartic of closed forms, solved without becoming one.

With the cosine and sine of the unknown as coordinates the equation is a conic, and its roots are where the conic meets the
unit circle. In the pencil of the two there is always a pair of real lines, found between two known bounds; each line meets
the circle in two points (a quadratic). So nothing goes to infinity where an angle passes half a turn, as it does with the
tangent of the half angle.
"""

from __future__ import annotations

from typing import Any

from linkwise.solve.closed_form.subproblems import Turn, linear
from linkwise.spatial.scalar import root, select

SEARCH = 24
"""Steps of Newton's method for the pair of lines: far from the root each leaves two thirds of the way at most."""

POLISH = 2
"""Steps of Newton's method on the equation itself, for each root."""

FLAT = 1e-14
"""A conic whose second-order part is less than this share of the whole is a line."""


def on_circle(xx: Any, xy: Any, yy: Any, x: Any, y: Any, one: Any) -> list[Turn]:
    """The four angles with xx c^2 + 2 xy c s + yy s^2 + 2 x c + 2 y s + one = 0, c and s their cosine and sine.

    Where fewer are real, the others are near misses, for the caller to check. Coefficients are scalars of any kind.
    """
    scale = abs(xx) + abs(xy) + abs(yy) + abs(x) + abs(y) + abs(one)
    scale = 1.0 / select(scale, scale, 1.0)
    xx, xy, yy, x, y, one = (value * scale for value in (xx, xy, yy, x, y, one))
    frame, rho = _principal(0.5 * (xx - yy), xy)
    rho = select(rho - FLAT, rho, FLAT)
    a, b = 2.0 * (x * frame.c + y * frame.s), 2.0 * (y * frame.c - x * frame.s)
    g = one + 0.5 * (xx + yy) - rho
    found = [turn.plus(frame) for turn in _lines(rho, a, b, g)]
    return [_polished(turn, xx, xy, yy, x, y, one) for turn in found]


def _principal(c: Any, s: Any) -> tuple[Turn, Any]:
    """Half the angle of the point (c, s), and its distance."""
    rho = root(c * c + s * s)
    inverse = 1.0 / select(rho, rho, 1.0)
    cosine = c * inverse
    up, down = root(_above(0.5 * (1.0 + cosine))), root(_above(0.5 * (1.0 - cosine)))
    near_up, near_down = 0.5 * s * inverse / select(up, up, 1.0), 0.5 * s * inverse / select(down, down, 1.0)
    half = Turn(select(cosine, up, near_down), select(cosine, near_up, down))
    return Turn(select(rho, half.c, 1.0), select(rho, half.s, 0.0)), rho


def _lines(rho: Any, a: Any, b: Any, g: Any) -> list[Turn]:
    """The angles with 2 rho c^2 + a c + b s + g = 0, rho > 0.

    The conic minus t times the circle is a pair of lines where the cubic below is zero. It is not above zero at t = 0, and
    not below at t = 2 rho; between them the second-order part has both signs, so that the lines are real. Of several roots
    there the one beyond the point of inflection is taken that stands alone; Newton's method comes to it from the bound on
    its side without ever passing it, for the cubic bends one way between them.
    """
    two, one, none = g - 2.0 * rho, 0.25 * (a * a + b * b) - 2.0 * rho * g, -0.5 * rho * b * b
    bend, top = -two * (1.0 / 3.0), 2.0 * rho
    level = ((bend + two) * bend + one) * bend + none
    left = select(bend - top, 1.0, select(bend, level, 0.0))
    t = select(left, 0.0, top)
    for _ in range(SEARCH):
        value = ((t + two) * t + one) * t + none
        slope = (3.0 * t + 2.0 * two) * t + one
        t = t - select(slope, value, 0.0) / select(slope, slope, 1.0)
    t = select(t, select(top - t, t, top), 0.0)
    mu, nu = root(_above(2.0 * rho - t)), root(_above(t))
    rest = g + t
    total, apart = a / select(mu, mu, 1.0), b / select(nu, nu, 1.0)
    by_total, by_apart = root(_above(total * total - 4.0 * rest)), root(_above(apart * apart + 4.0 * rest))
    wide = mu - nu  # (the larger of the two is good; the other is too, or follows from it, whichever loses less)
    other_total = select(mu * (apart * apart + abs(rest)) - by_apart, total, select(a, by_apart, -by_apart))
    other_apart = select(nu * (total * total + abs(rest)) - by_total, apart, select(b, by_total, -by_total))
    total, apart = select(wide, total, other_total), select(wide, other_apart, apart)
    same = select(total, apart, -apart)  # (the larger of the two constants has no cancellation, the other follows)
    sign = select(total, 1.0, -1.0)
    large = 0.5 * sign * (abs(total) + abs(apart))
    small = rest / select(abs(large), large, 1.0)
    first, second = select(same, small, large), select(same, large, small)
    free = Turn(1.0, 0.0)
    return [*linear(mu, nu, -first, free, size=0.0)[:2], *linear(mu, -nu, -second, free, size=0.0)[:2]]


def _polished(turn: Turn, xx: Any, xy: Any, yy: Any, x: Any, y: Any, one: Any) -> Turn:
    """The root nearby, by Newton's method in the angle, where it is sure to converge: |f f''| well below f'^2.

    That is L. Kantorovich's condition. A double root has no slope to go by, and is left alone.
    """
    for _ in range(POLISH):
        c, s = turn
        half_c, half_s = xx * c + xy * s + x, xy * c + yy * s + y
        value = c * (half_c + x) + s * (half_s + y) + one
        slope = 2.0 * (c * half_s - s * half_c)
        small = 0.05 * slope * slope - abs(value)
        step = select(small, -value / select(abs(slope), slope, 1.0), 0.0)
        scale = 1.0 / root(1.0 + step * step)
        turn = Turn((c - s * step) * scale, (s + c * step) * scale)
    return turn


def _above(value: Any) -> Any:
    """The value, zero where it is below."""
    return select(value, value, 0.0)
