"""Piecewise polynomials of degree two and five: the form of every trajectory in joint space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

#: Bisections of an interval between 0 and 1, down to the size of a rounding.
HALVINGS = 53

#: Value and first two derivatives at one end of a piece.
Ends = tuple[FloatArray, FloatArray, FloatArray]

#: Indices of pieces or knots; a single one is an int.
Places = npt.NDArray[np.intp] | int


@dataclass(frozen=True, eq=False)
class PiecewisePolynomial:
    """A function of time by value and first two derivatives at knots; constant before the first and after the last.

    Between two knots it is the one polynomial of degree five that fits (J. J. Craig, *Introduction to Robotics*, 3rd
    edition, 2005, eq. 7.17 and 7.18), or, with `degree` 2, a parabola. It is expanded about the
    nearer knot, so that the knots are met exactly.

    Attributes
    ----------
    t : ndarray (m,) or (..., m, n)
        Times of the knots, s, ascending, the same for all columns or each column's own.
    q, qd, qdd : ndarray (..., m, n)
        Value and derivatives there; with `degree` 2 qdd (..., m - 1, n) is that of each piece.
    before : ndarray (..., m - 1, n), optional
        Second derivative at the end of each piece, where it jumps at the knots; at a knot it is then that after the jump.
    degree : {5, 2}
        Degree of the pieces.

    Examples
    --------
    >>> cubed = PiecewisePolynomial(np.array([0.0, 1.0]), *np.array([[[0.0], [1.0]], [[0.0], [3.0]], [[0.0], [6.0]]]))
    >>> [value.tolist() for value in cubed(np.array([0.5]))]
    [[[0.125]], [[0.75]], [[3.0]]]
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    before: FloatArray | None = None
    degree: int = 5

    def __call__(self, time: FloatArray) -> Ends:
        """Return q, qd, qdd (..., K, n) at times (K,), or at times (..., K) of each member of a batch."""
        at, knots = time[..., None], self.t[:, None] if self.t.ndim == 1 else self.t
        piece = self._pieces(at)
        following = piece + (knots.shape[-2] > 1)
        begin, end = _picked(knots, piece), _picked(knots, following)
        late: Any = 2.0 * at > begin + end
        if isinstance(piece, int):
            late = bool(late[0, 0])
        shift = late[..., 0] if self.t.ndim == 1 and not isinstance(late, bool) else late
        near, far = piece + shift, following - shift
        u = at - _either(late, end, begin)
        q0, v0, a0 = _picked(self.q, near), _picked(self.qd, near), self._second(piece, near, late)
        q, qd, qdd = q0 + u * (v0 + 0.5 * u * a0), v0 + u * a0, a0
        if self.degree == 5:
            h = _either(late, begin - end, end - begin)
            if not h.all():
                h = np.where(h == 0.0, 1.0, h)
            other = (
                _picked(self.q, far),
                _picked(self.qd, far),
                self._second(piece, far, not late if isinstance(late, bool) else ~late),
            )
            c3, c4, c5 = higher_coefficients(h, (q0, v0, a0), other)
            s = u / h
            q = q + s * s * s * (c3 + s * (c4 + s * c5))
            qd = qd + s * s * (3.0 * c3 + s * (4.0 * c4 + 5.0 * s * c5)) / h
            qdd = qdd + s * (6.0 * c3 + s * (12.0 * c4 + 20.0 * s * c5)) / (h * h)
            if self.before is not None:
                qdd = np.where(at == knots[..., -1:, :], self.qdd[..., -1:, :], qdd)
        early, over = at < knots[..., :1, :], at > knots[..., -1:, :]
        outside = early | over
        if outside.any():
            q = np.where(early, self.q[..., :1, :], np.where(over, self.q[..., -1:, :], q))
            qd, qdd = (np.where(outside, 0.0, rate) for rate in (qd, qdd))
        return q, qd, qdd

    def _second(self, piece: Places, knot: Places, ends: Any) -> FloatArray:
        """Second derivative of pieces at one of their knots; `ends` selects the end of a piece."""
        if self.degree == 2:
            return _picked(self.qdd, piece)
        if self.before is None:
            return _picked(self.qdd, knot)
        if isinstance(piece, int):
            return _picked(self.before if ends else self.qdd, piece)
        return np.where(ends, _picked(self.before, piece), _picked(self.qdd, piece))

    def _pieces(self, at: FloatArray) -> Places:
        """The piece in which each time (..., K, 1) is: (K,), or (..., K, n) where each column has its own knots."""
        if self.t.ndim == 1 and at.size == 1:
            return min(max(int(np.searchsorted(self.t, at.item(), side="right")) - 1, 0), max(self.t.size - 2, 0))
        if self.t.ndim == 1:
            return np.clip(np.searchsorted(self.t, at[..., 0], side="right") - 1, 0, max(self.t.size - 2, 0))
        piece = np.zeros_like(at >= self.t[..., :1, :], dtype=np.intp)
        for k in range(1, self.t.shape[-2] - 1):
            piece += at >= self.t[..., k : k + 1, :]
        return piece

    def peaks(self) -> tuple[FloatArray, FloatArray]:
        """Return the greatest |qd| and |qdd| (..., n) over all time of pieces of degree five, exact up to rounding.

        The acceleration is greatest at a knot or where the jerk, a quadratic, is zero. Between those places it rises or
        falls throughout, so that each of its zeros, where the velocity may be greatest, is found by bisection.
        """
        h = np.diff(self.t)[:, None]
        (q, v, a), (q1, v1, a1) = (
            [values[..., part, :] for values in (self.q, self.qd, self.qdd)] for part in (slice(-1), slice(1, None))
        )
        c3, c4, c5 = higher_coefficients(h, (q, v, a), (q1, v1, a1))

        def acceleration(s: FloatArray) -> FloatArray:
            return np.asarray(a + s * (6.0 * c3 + s * (12.0 * c4 + 20.0 * s * c5)) / h**2)

        def velocity(s: FloatArray) -> FloatArray:
            return np.asarray(v + s * (h * a + s * (3.0 * c3 + s * (4.0 * c4 + 5.0 * s * c5)) / h))

        places = [np.zeros_like(c3), *_quadratic_zeros(60.0 * c5, 24.0 * c4, 6.0 * c3), np.ones_like(c3)]
        zeros = [_monotonic_zero(acceleration, low, high) for low, high in pairwise(places)]
        velocities = np.max([np.abs(velocity(s)) for s in (places[0], *zeros, places[-1])], axis=0)
        accelerations = np.max([np.abs(acceleration(s)) for s in places], axis=0)
        return np.max(velocities, axis=-2), np.max(accelerations, axis=-2)


def _either(first: Any, yes: FloatArray, no: FloatArray) -> FloatArray:
    """``np.where``, and for a single bool one of both as it is."""
    return (yes if first else no) if isinstance(first, bool) else np.where(first, yes, no)


def _picked(values: FloatArray, index: Places) -> FloatArray:
    """Rows of values (..., m, n) at an index (K,), at each column's own (..., K, n), or one row (a slice takes no copy)."""
    if isinstance(index, int):
        return values[..., index : index + 1, :]
    if index.ndim == 1:
        return values[..., index, :]
    if values.shape[-2] == 2:
        return np.where(index, values[..., 1:, :], values[..., :1, :])
    axes = max(values.ndim, index.ndim)
    table = values.reshape((1,) * (axes - values.ndim) + values.shape)
    return np.take_along_axis(table, index.reshape((1,) * (axes - index.ndim) + index.shape), axis=-2)


def higher_coefficients(h: FloatArray, near: Ends, far: Ends) -> Ends:
    """Coefficients of s^3, s^4, s^5, s = u / h, of the quintic between two ends that are h apart; h < 0 backwards."""
    (q0, v0, a0), (q1, v1, a1) = near, far
    d, v, a = q1 - q0 - h * (v0 + 0.5 * h * a0), h * (v1 - v0 - h * a0), h * h * (a1 - a0)
    return 10.0 * d - 4.0 * v + 0.5 * a, -15.0 * d + 7.0 * v - a, 6.0 * d - 3.0 * v + 0.5 * a


def _quadratic_zeros(a: FloatArray, b: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The zeros of a s^2 + b s + c within 0 to 1, in order; where there are none, the nearer end instead."""
    root = np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))
    half = -0.5 * (b + np.where(b >= 0, root, -root))
    with np.errstate(divide="ignore", invalid="ignore"):
        both = np.stack((half / a, c / half))
    low, high = np.sort(np.clip(np.nan_to_num(both, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0), axis=0)
    return low, high


def _monotonic_zero(function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray) -> FloatArray:
    """A place between low and high where a function that rises or falls throughout is zero; an end where it is nowhere."""
    sign = np.where(function(high) >= function(low), 1.0, -1.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        beyond = sign * function(middle) >= 0.0
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray(0.5 * (low + high))
