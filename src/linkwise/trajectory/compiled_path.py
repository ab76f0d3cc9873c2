"""Time-optimal velocities and motion along paths by one compiled call for a batch of paths, from values at the knots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from linkwise.kernel.backend import backend_of, default_backend
from linkwise.kernel.reachability import EDGES, LANES
from linkwise.kernel.tape import Tape, trace
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import State
from linkwise.trajectory.motion_limits import JOINT_FIELDS
from linkwise.trajectory.path import JointPath, in_lanes, scratch
from linkwise.trajectory.path_drag import DragGrid, drag_settles
from linkwise.trajectory.path_efforts import EffortGrid, efforts_hold
from linkwise.trajectory.path_kernels import (
    COEFFICIENTS,
    DEGREE,
    UNLIMITED,
    controls,
    effort_rows,
    motion_at,
    rate_caps,
    rate_rows,
    slopes,
)

#: Rows of lines of one joint: slope, low and high for each Bernstein coefficient.
ROWS = DEGREE + 1


class Speeds(NamedTuple):
    """Greatest velocities along B paths.

    Attributes
    ----------
    x : ndarray (B, N + 1)
        (ds/dt)^2 at the nodes.
    times : ndarray (B, N + 1)
        When they are passed, s.
    edges : ndarray (B, 6)
        What `EDGES` says of each path.
    """

    x: FloatArray
    times: FloatArray
    edges: FloatArray


def speeds(
    path: JointPath, nodes: FloatArray, most: FloatArray, ends: FloatArray, limits: Mapping[str, FloatArray],
    mechanism: Any = None, *, drag: bool = False,
) -> Speeds | None:  # fmt: skip
    """The fastest motions for limits of joints.

    Parameters
    ----------
    path : JointPath
        B paths, or one.
    nodes, most : ndarray (N + 1,)
        The nodes, and the greatest x there if nothing else limits it.
    ends : ndarray (B, 2)
        x at the first and at the last node.
    limits : mapping of str to ndarray (n,)
        Those of ``qd_max``, ``qdd_max`` and ``tau_max`` that are given.
    mechanism : Mechanism, optional
        It moves along the path, where there are limits of efforts.
    drag : bool
        Whether it has friction or dampers.

    Returns
    -------
    Speeds or None
        None where the backend has no such program, and where it leaves efforts beyond their limits.
    """
    backend, efforts = default_backend(), "tau_max" in limits
    program = _speeds(backend, "qdd_max" in limits, efforts, drag)
    if program is None or (efforts and path.before is not None):
        return None
    grid, lanes = _grid(path.s.tobytes(), nodes.tobytes()), path.in_lanes.reshape(-1, *path.in_lanes.shape[-3:])
    bounds = np.full((len(JOINT_FIELDS), path.n), UNLIMITED)
    for row, name in zip(bounds, JOINT_FIELDS, strict=True):
        np.minimum(limits.get(name, UNLIMITED), UNLIMITED, out=row)
    bounds = in_lanes(bounds)
    blocks = ROWS * lanes.shape[-1] // LANES * (("qdd_max" in limits) + efforts)
    space = scratch("lines", (nodes.size - 1, blocks, 3, LANES)), scratch("sets", (nodes.size, 3)), np.empty(nodes.size)
    held, shape = np.empty(nodes.size - 1), (len(lanes), nodes.size)
    result = Speeds(np.empty(shape), np.empty(shape), np.empty((len(lanes), len(EDGES))))

    def solve(part: Any, bounds: FloatArray, *terms: FloatArray) -> None:
        out = tuple(column[part] for column in result)
        with np.errstate(all="ignore"):
            program(
                *space, most, grid.rate, ends[part], lanes[part], grid.weights, grid.piece, bounds, held, *terms, out=out
            )  # fmt: skip
        if not isinstance(part, slice):
            for column, values in zip(result, out, strict=True):
                column[part] = values

    if drag:
        path_grid = DragGrid.of(path.s, nodes)
        if not drag_settles(path_grid, path.n, lanes, bounds, mechanism, ends == 0.0, result.x, result.times, solve):
            return None
    elif not efforts:
        solve(slice(None), bounds)
    elif not efforts_hold(EffortGrid.of(path.s, nodes), path.n, lanes, bounds, mechanism, ends == 0.0, result.x, solve):
        return None
    return result


def controls_of(path: JointPath) -> FloatArray:
    """The Bernstein coefficients (..., m - 1, 6, w) of all pieces."""
    return np.asarray(_controls(path.s.tobytes()) @ path.in_lanes)


@lru_cache(maxsize=32)
def _controls(knots: bytes) -> FloatArray:
    lengths = np.diff(np.frombuffer(knots))[:, None]
    return np.stack([row + np.zeros((lengths.size, 6)) for row in controls(*[*np.eye(6), lengths])], axis=-2)


def motion(path: JointPath, nodes: FloatArray, times: FloatArray, x: FloatArray, time: FloatArray) -> State | None:
    """Q, qd and qdd (..., K, n) at times (K,), from squared velocities and times (..., N + 1) at nodes; or None."""
    program = _motion(default_backend())
    if program is None:
        return None
    grid = _grid(path.s.tobytes(), nodes.tobytes())
    q, qd, qdd = np.empty((3, *path.batch, time.size, path.n))
    arrays = [np.ascontiguousarray(part) for part in (time, times, x, nodes)]
    program(*arrays, grid.rate, grid.piece, path.s[:-1], grid.length, 1.0 / grid.length, path.in_lanes, out=(q, qd, qdd))
    return q, qd, qdd


class PathGrid(NamedTuple):
    """Data common to paths with the same knots and nodes.

    Attributes
    ----------
    length : ndarray (m - 1,)
        Length of the pieces.
    weights : ndarray (N, 5, 6)
        What gives the Bernstein coefficients of the slope in each interval from the values at both ends of its piece.
    piece : ndarray (N,)
        Which that is.
    rate : ndarray (N,)
        1 / (2 D) of each interval, D its length.
    """

    length: FloatArray
    weights: FloatArray
    piece: FloatArray
    rate: FloatArray


@lru_cache(maxsize=32)
def _grid(knots: bytes, nodes: bytes) -> PathGrid:
    """The grid: coefficient j is the blossom at 4 - j times one end and j times the other (Farin 2002, section 4.6)."""
    s, at = np.frombuffer(knots), np.frombuffer(nodes)
    piece = np.searchsorted(s, at[:-1], side="right") - 1
    lengths = np.diff(s)
    begin, length = s[piece], lengths[piece]
    first, last = (at[:-1] - begin) / length, (at[1:] - begin) / length
    rows = []
    for j in range(ROWS):
        values = np.broadcast_to(np.eye(ROWS), (piece.size, ROWS, ROWS))
        for share in [first] * (DEGREE - j) + [last] * j:
            z = share[:, None, None]
            values = (1.0 - z) * values[:, :-1] + z * values[:, 1:]
        rows.append(values[:, 0])
    slope = np.stack([row + np.zeros((lengths.size, 6)) for row in slopes(*[*np.eye(6), lengths[:, None]])], axis=-2)
    weights = np.stack(rows, axis=1) @ slope[piece]
    return PathGrid(lengths, weights, piece.astype(float), 0.5 / np.diff(at))


@cache
def _speeds(backend: str, rates: bool, efforts: bool, drag: bool) -> Callable[..., Any] | None:
    inputs = {"d": (ROWS,), "pace": (), "limits": (2,)}

    def rows(d: Any, pace: Any, limits: Any) -> Any:
        return np.array(rate_rows(d, pace.item(), limits[1]), dtype=object)

    def caps(d: Any, pace: Any, limits: Any) -> Any:
        return rate_caps(d, limits[0])

    def lines(a: Any, b: Any, c: Any, span: Any, limit: Any) -> Any:
        return np.array(effort_rows(a, b, c, span.item(), limit.item()), dtype=object)

    shape = {"lines": (ROWS, 3)}
    terms = {**dict.fromkeys("abc", (ROWS,)), "span": (), "limit": ()}
    return backend_of(backend).path_speeds(
        trace(rows, "rate_rows", inputs, shape) if rates else None,
        trace(caps, "rate_caps", inputs, {"cap": (2,)}),
        trace(lines, "effort_rows", terms, shape) if efforts else None,
        np.where(np.abs(COEFFICIENTS) > 1e-12, COEFFICIENTS, 0.0) if drag else None,
    )


@cache
def _motion(backend: str) -> Callable[..., Any] | None:
    return backend_of(backend).path_motion(_motion_tape())


def _motion_tape() -> Tape:
    def function(*values: Any) -> Any:
        return motion_at(*(value.item() for value in values))

    names = ("q0", "v0", "a0", "q1", "v1", "a1", "step", "pace", "share", "u", "x", "speed")
    return trace(function, "motion_at", dict.fromkeys(names, ()), dict.fromkeys(("q", "qd", "qdd"), ()))
