"""Geometric paths of joints: curves without times, which `time_optimal` runs through as fast as limits allow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.kernel.reachability import LANES
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, numbers
from linkwise.trajectory.motion import State
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial, higher_coefficients
from linkwise.trajectory.validation import instants, record, within
from linkwise.trajectory.waypoints import spline_nodes


@dataclass(frozen=True, eq=False, repr=False)
class JointPath:
    """A curve q(s) of n joints: between knots the polynomials of degree five that have these values and derivatives there.

    `path_through` and `tool_path` make them. Leading axes ``...`` are a batch of paths over the same knots.

    Attributes
    ----------
    s : ndarray (m,)
        The parameter at the knots, ascending, in any unit.
    q, dq, ddq : ndarray (..., m, n)
        Joint coordinates, and their first and second derivatives by s.
    before : ndarray (..., m - 1, n), optional
        The second derivative at the end of each piece, where it jumps at knots, as it does from a line to an arc.
    names : tuple of str
        Names of the joints.

    Examples
    --------
    >>> line = JointPath([0.0, 1.0], [[0.0], [2.0]], [[2.0], [2.0]], [[0.0], [0.0]])
    >>> [value.tolist() for value in line.at(0.25)]
    [[0.5], [2.0], [0.0]]
    """

    s: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    before: FloatArray | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "s", instants(self.s, "s", least=2))
        fields = ("q", "dq", "ddq", *(["before"] if self.before is not None else []))
        for field in fields:
            values = numbers(field, getattr(self, field), "finite numbers (..., m, n)")
            object.__setattr__(self, field, record(field, values))
        shape = (*self.q.shape[:-2], self.s.size, self.q.shape[-1])
        for field in fields:
            expected = (*shape[:-2], shape[-2] - (field == "before"), shape[-1])
            if getattr(self, field).shape != expected or not shape[-1]:
                raise ArgumentError(f"{field} has the shape {getattr(self, field).shape}; expected (..., {self.s.size}, n)")
        object.__setattr__(self, "names", tuple(self.names) or tuple(f"q{k + 1}" for k in range(shape[-1])))
        if len(self.names) != shape[-1]:
            raise ArgumentError(f"there are {len(self.names)} names for {shape[-1]} joints")

    def __repr__(self) -> str:
        joints = f"{self.n} joint{'' if self.n == 1 else 's'}{f', batch {self.batch}' if self.batch else ''}"
        return f"<JointPath: {self.s.size} knots from {self.s[0]:g} to {self.s[-1]:g}, {joints}>"

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.q.shape[-1])

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch shape ``...``; () for one path."""
        return tuple(self.q.shape[:-2])

    @cached_property
    def _polynomial(self) -> PiecewisePolynomial:
        return PiecewisePolynomial(self.s, self.q, self.dq, self.ddq, self.before)

    @cached_property
    def in_lanes(self) -> FloatArray:
        """Q and its derivatives by s where each of the m - 1 pieces begins, then where it ends (..., m - 1, 6, w)."""
        begin, end = slice(None, -1), slice(1, None)
        before = self.ddq[..., end, :] if self.before is None else self.before
        columns = [part[..., side, :] for side in (begin, end) for part in (self.q, self.dq)]
        columns[2:2], columns[6:] = [self.ddq[..., begin, :]], [before]
        return in_lanes(np.stack(columns, axis=-2))

    def at(self, s: npt.ArrayLike) -> State:
        """Return q and its derivatives by s (..., n), or (..., K, n) at parameters (K,).

        Raises
        ------
        ArgumentError
            For a parameter outside the path.
        """
        places = within(s, self.s)
        state = self._polynomial(np.atleast_1d(places))
        if places.ndim:
            return state
        q, dq, ddq = (values[..., 0, :] for values in state)
        return q, dq, ddq

    def third(self, s: FloatArray) -> FloatArray:
        """The third derivative by s (..., K, n) at parameters (K,), after its jumps at knots."""
        piece = np.clip(np.searchsorted(self.s, s, side="right") - 1, 0, self.s.size - 2)
        length = np.diff(self.s)[piece, None]
        z = (s - self.s[piece])[:, None] / length
        before = self.ddq[..., 1:, :] if self.before is None else self.before
        near = self.q[..., piece, :], self.dq[..., piece, :], self.ddq[..., piece, :]
        far = self.q[..., piece + 1, :], self.dq[..., piece + 1, :], before[..., piece, :]
        c3, c4, c5 = higher_coefficients(length, near, far)
        return np.asarray((6.0 * c3 + z * (24.0 * c4 + 60.0 * z * c5)) / length**3)

    def member(self, index: int | tuple[int, ...]) -> JointPath:
        """Return one path, or a smaller batch, of a batch."""
        before = None if self.before is None else self.before[index]
        return replace(self, q=self.q[index], dq=self.dq[index], ddq=self.ddq[index], before=before)

    def divided(self, intervals: int, stops: npt.ArrayLike = ()) -> FloatArray:
        """Nodes (N + 1,) that hold all knots and stops and cut the path into N intervals of nearly the same length in s.

        There are more than `intervals` only where there are more pieces. With 20 or more, those beside stops and ends are
        cut again, for the first and last moments of a motion take less way.
        """
        return _divided(self.s.tobytes(), intervals, np.asarray(stops, dtype=float).tobytes())

    def ends(self, nodes: FloatArray) -> Callable[[slice], tuple[FloatArray, FloatArray]]:
        """Matrix that gives q, dq and ddq at both ends of intervals, each (b, 3, N, n), of some paths.

        They are linear in the values at the knots: for a few knots, of many paths, by one product with a matrix. Counted
        from the first knot on, a joint that stands has derivatives of exactly zero: dry friction knows the sign of rounding.
        """
        before = self.ddq[..., 1:, :] if self.before is None else self.before
        values = [part.reshape(-1, *part.shape[-2:]) for part in (self.q, self.dq, self.ddq, before)]
        if self.s.size > FEW_KNOTS:
            return lambda part: _ends(self.s, nodes, *(value[part] for value in values))
        origin = values[0][:, :1]
        values[0] = values[0] - origin
        matrix, n = _matrix(self.s.tobytes(), nodes.tobytes()), self.n
        columns = np.moveaxis(np.concatenate(values, axis=-2), 0, 1)  # (4 m - 1, B, n)

        def product(part: slice) -> tuple[FloatArray, FloatArray]:
            chosen = columns[:, part]
            ends = (matrix @ chosen.reshape(len(chosen), -1)).reshape(2, 3, nodes.size - 1, -1, n)
            ends[:, 0] += origin[part, 0]
            return np.moveaxis(ends[0], 2, 0), np.moveaxis(ends[1], 2, 0)

        return product


class _Spaces(threading.local):
    """The arrays that a thread writes into and reads again within one call, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, FloatArray] = {}


_spaces = _Spaces()

#: Longer arrays (32 MB) are not kept: allocating their pages is a small part of the time.
KEPT = 1 << 22


def scratch(name: str, shape: tuple[int, ...]) -> FloatArray:
    """An array of any content that begins where a vector may, so that none of its vectors lies across two cache lines.

    It is the same one each time a thread asks for this name: fresh memory would cost more than what is computed in it.
    """
    size, space = prod(shape), _spaces.by_name.get(name)
    if space is None or space.size < size:
        space = np.empty(size + LANES)
        skip = -space.__array_interface__["data"][0] % (8 * LANES) // 8
        space = space[skip : skip + size]
        if size <= KEPT:
            _spaces.by_name[name] = space
    return space[:size].reshape(shape)


def in_lanes(values: FloatArray) -> FloatArray:
    """The values (..., n) of joints, the last one repeated to fill vectors (..., w)."""
    return np.take(values, _lanes(values.shape[-1]), axis=-1)


@cache
def _lanes(n: int) -> npt.NDArray[np.intp]:
    return np.minimum(np.arange(-(-n // LANES) * LANES), n - 1)


#: Refinement of an interval next to a stop.
GRADED = np.array([1.0, 4.0, 16.0]) / 64.0

#: Up to so many knots all paths of a batch are evaluated by products with one matrix.
FEW_KNOTS = 40


def _read_only(values: npt.NDArray[Any]) -> FloatArray:
    """The same array, closed to writing: it is handed out again."""
    values.setflags(write=False)
    return values


@lru_cache(maxsize=32)
def _divided(knots: bytes, intervals: int, stops: bytes) -> FloatArray:
    """See `JointPath.divided`: paths over the same knots have the same nodes."""
    s = np.frombuffer(knots)
    rests = np.unique(np.concatenate((s[[0, -1]], np.frombuffer(stops))))
    marks = np.union1d(s, rests)
    lengths = np.diff(marks)
    extra = 2 * len(GRADED) * (rests.size - 1)
    counts = np.maximum(np.floor(max(1, intervals - extra) * lengths / lengths.sum() * (1.0 + 1e-12)).astype(int), 1)
    graded = intervals >= 20 and intervals - int(counts.sum()) >= extra
    for _ in range(max(0, intervals - extra * graded - int(counts.sum()))):
        counts[np.argmax(lengths / counts)] += 1
    pieces = [a + d * np.arange(k) / k for a, d, k in zip(marks[:-1], lengths, counts, strict=True)]
    nodes = np.concatenate((*pieces, marks[-1:]))
    if not graded:
        return _read_only(nodes)
    at, steps = np.searchsorted(nodes, rests), np.diff(nodes)
    after = nodes[at[:-1], None] + steps[at[:-1], None] * GRADED
    before = nodes[at[1:], None] - steps[at[1:] - 1, None] * GRADED
    return _read_only(np.unique(np.concatenate((nodes, after.ravel(), before.ravel()))))


@lru_cache(maxsize=32)
def _matrix(knots: bytes, nodes: bytes) -> FloatArray:
    """Matrix of `JointPath.ends` from q, dq, ddq and the last second derivatives at m knots: (6 N, 4 m - 1)."""
    s = np.frombuffer(knots)
    units = np.split(np.eye(4 * s.size - 1)[None], [s.size, 2 * s.size, 3 * s.size], axis=-2)
    return _read_only(np.concatenate([part.reshape(-1, 4 * s.size - 1) for part in _ends(s, np.frombuffer(nodes), *units)]))


def _ends(
    s: FloatArray, nodes: FloatArray, q: FloatArray, dq: FloatArray, ddq: FloatArray, before: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """See `JointPath.ends`: of the values (B, m, n) at the knots, and (B, m - 1, n) of the last second derivatives."""
    values = np.stack(PiecewisePolynomial(s, q, dq, ddq, before)(nodes), axis=-3)
    begin, end = values[..., :-1, :], values[..., 1:, :].copy()
    end[..., 2, np.isin(nodes[1:], s[1:]), :] = before
    return begin, end


KINDS = ("cubic", "quintic")


def path_through(
    points: npt.ArrayLike,
    s: npt.ArrayLike | None = None,
    *,
    kind: str = "cubic",
    names: Sequence[str] = (),
) -> JointPath:
    """Make the path through points: a spline; through two points a straight line.

    Parameters
    ----------
    points : (..., K, n) array_like
        The first and the last included, K >= 2; no two neighbours the same.
    s : (K,) array_like, optional
        The parameter at the points, ascending; 0, 1, ..., K - 1 unless given. It shapes a spline as times do.
    kind : {"cubic", "quintic"}
        Degree of the spline, three or five, not bent at its ends.
    names : sequence of str
        Names of the joints.

    Returns
    -------
    JointPath

    Raises
    ------
    ArgumentError
        Where the shapes do not fit, or a point occurs twice.

    Examples
    --------
    >>> path_through([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]])
    <JointPath: 3 knots from 0 to 2, 2 joints>
    """
    choice("kind", kind, KINDS)
    q = numbers("points", points, "finite points (..., K, n), K >= 2")
    if q.ndim < 2 or q.shape[-2] < 2 or not q.shape[-1]:
        raise ArgumentError(f"points has the shape {q.shape}; expected (..., K, n), K >= 2")
    places = np.arange(float(q.shape[-2])) if s is None else instants(s, "s", least=2)
    if places.size != q.shape[-2]:
        raise ArgumentError(f"there are {places.size} numbers in s for {q.shape[-2]} points")
    steps = np.diff(q, axis=-2)
    still = ~np.any(steps != 0.0, axis=-1)
    if still.any():
        k = int(np.argwhere(still)[0][-1])
        raise ArgumentError(f"points {k} and {k + 1} are the same: the path stands still there; leave one of them out")
    if kind == "quintic":
        ends = [x for side in (0, -1) for x in (steps[..., side, :] / np.diff(places)[side],)]
        nodes = spline_nodes(places, q, [*ends, 0.0 * q[..., 0, :], 0.0 * q[..., 0, :]])
        return JointPath(places, q, nodes[..., 1, :], nodes[..., 2, :], names=tuple(names))
    dq, ddq = _natural(places, q)
    return JointPath(places, q, dq, ddq, names=tuple(names))


def _natural(s: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivatives at the knots of the cubic spline through points (..., K, n) with no second derivative at its ends."""
    first, second = _natural_matrices(s.tobytes())
    away = q - q[..., :1, :]  # (a joint at rest has derivatives of exactly zero)
    return first @ away, second @ away


@lru_cache(maxsize=32)
def _natural_matrices(knots: bytes) -> tuple[FloatArray, FloatArray]:
    """Matrices of both derivatives at K knots from the points, each (K, K) (de Boor 1978, chapter IV, eq. 14 and 15)."""
    h = np.diff(np.frombuffer(knots))
    k, inner = np.arange(h.size), np.arange(1, h.size)
    rises, system, right = np.zeros((h.size, h.size + 1)), np.eye(h.size + 1), np.zeros((h.size + 1, h.size + 1))
    rises[k, k], rises[k, k + 1] = -1.0 / h, 1.0 / h
    system[inner, inner - 1], system[inner, inner], system[inner, inner + 1] = h[:-1], 2.0 * (h[:-1] + h[1:]), h[1:]
    right[inner] = 6.0 * np.diff(rises, axis=0)
    second = np.linalg.solve(system, right)
    slopes = rises - h[:, None] * (2.0 * second[:-1] + second[1:]) / 6.0
    last = rises[-1:] + h[-1] * (second[-2:-1] + 2.0 * second[-1:]) / 6.0
    return _read_only(np.concatenate((slopes, last))), _read_only(second)
