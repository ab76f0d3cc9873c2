"""Motions whose acceleration is constant from knot to knot, at times of each joint's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class Parabolas:
    """Parabolas and straight lines in a row, taken about the nearer knot; before the first and after the last knot, rest.

    At a knot the acceleration is that after it, at the last knot that before it.

    Attributes
    ----------
    t, q, qd : ndarray (..., n, m)
        Times of the knots, s, ascending or equal; coordinates and speeds there.
    qdd : ndarray (..., n, m - 1)
        Acceleration between them.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray

    def __call__(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q, qd, qdd (..., K, n) at times (K,)."""
        at = time[:, None]
        left = sum((at >= self._knot(self.t, k)).astype(np.intp) for k in range(1, self.t.shape[-1] - 1))
        left = np.asarray(left, dtype=np.intp) + np.zeros(
            np.broadcast_shapes(at.shape, self._knot(self.t, 0).shape), np.intp
        )
        near = left + (2.0 * at > self._pick(self.t, left) + self._pick(self.t, left + 1))
        u = at - self._pick(self.t, near)
        a = self._pick(self.qdd, left)
        v = self._pick(self.qd, near)
        q, qd = self._pick(self.q, near) + u * (v + 0.5 * u * a), v + u * a
        before, after = at < self._knot(self.t, 0), at > self._knot(self.t, -1)
        q = np.where(before, self._knot(self.q, 0), np.where(after, self._knot(self.q, -1), q))
        rests = before | after
        return q, np.where(rests, 0.0, qd), np.where(rests, 0.0, a)

    @staticmethod
    def _knot(values: FloatArray, k: int) -> FloatArray:
        """The values at a knot, (..., 1, n)."""
        return values[..., None, :, k]

    @staticmethod
    def _pick(values: FloatArray, index: np.typing.NDArray[np.intp]) -> FloatArray:
        """The value at each one's own knot: values (..., n, m), index (..., K, n)."""
        spread = np.broadcast_to(values[..., None, :, :], (*index.shape, values.shape[-1]))
        return np.asarray(np.take_along_axis(spread, index[..., None], axis=-1)[..., 0])
