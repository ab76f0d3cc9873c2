"""The polynomials of degree five between nodes with given position, speed and acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class Hermite:
    """The function with continuous acceleration that has, at each node, the given value and first two derivatives.

    Between two nodes it is the one polynomial of degree five that fits (J. J. Craig, *Introduction to Robotics*, 3rd
    edition, 2005, eq. 7.17 and 7.18), taken about the nearer node, so that the nodes are met exactly.

    Attributes
    ----------
    t : ndarray (m,)
        Times of the nodes, s, ascending.
    q, qd, qdd : ndarray (..., m, n)
        Value and derivatives there.

    Examples
    --------
    >>> cubed = Hermite(np.array([0.0, 1.0]), np.array([[0.0], [1.0]]), np.array([[0.0], [3.0]]), np.array([[0.0], [6.0]]))
    >>> [value.tolist() for value in cubed(np.array([0.5]))]
    [[[0.125]], [[0.75]], [[3.0]]]
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray

    def __call__(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q, qd, qdd (..., K, n) at times (K,) within the nodes."""
        last = self.t.size - 1
        if not last:
            only = np.zeros(time.size, dtype=np.intp)
            return self.q[..., only, :], self.qd[..., only, :], self.qdd[..., only, :]
        left = np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, last - 1)
        nearer_right = 2.0 * time > self.t[left] + self.t[left + 1]
        near, far = left + nearer_right, left + ~nearer_right
        ends = [values[..., index, :] for index in (near, far) for values in (self.q, self.qd, self.qdd)]
        return quintic_polynomial(time - self.t[near], self.t[far] - self.t[near], *ends)


def quintic_polynomial(
    u: FloatArray,
    h: FloatArray,
    q0: FloatArray,
    v0: FloatArray,
    a0: FloatArray,
    q1: FloatArray,
    v1: FloatArray,
    a1: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return value and derivatives of the quintic with the given ends.

    Parameters
    ----------
    u : ndarray (K,)
        Time since the first end, s.
    h : ndarray (K,)
        Time from the first end to the other; negative where the first end is the later one.
    q0, v0, a0, q1, v1, a1 : ndarray (..., K, n)
        Value, speed and acceleration at the two ends.

    Returns
    -------
    q, qd, qdd : ndarray (..., K, n)
    """
    u, h = u[:, None], h[:, None]
    s = u / h
    d = q1 - q0 - h * (v0 + 0.5 * h * a0)
    v = h * (v1 - v0 - h * a0)
    a = h * h * (a1 - a0)
    c3, c4, c5 = 10.0 * d - 4.0 * v + 0.5 * a, -15.0 * d + 7.0 * v - a, 6.0 * d - 3.0 * v + 0.5 * a
    q = q0 + u * (v0 + 0.5 * u * a0) + s**3 * (c3 + s * (c4 + s * c5))
    qd = v0 + u * a0 + s**2 * (3.0 * c3 + s * (4.0 * c4 + 5.0 * s * c5)) / h
    qdd = a0 + s * (6.0 * c3 + s * (12.0 * c4 + 20.0 * s * c5)) / h**2
    return q, qd, qdd
