"""The map on which a workspace is laid out: about the axis of the first joint where that turns, else along x, y, z."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from linkwise.kinematics.manipulability import rows_of
from linkwise.kinematics.workspace_cells import climb
from linkwise.kinematics.workspace_postures import Bools, Postures
from linkwise.spatial.scalar import FloatArray

FLAT = 1e-7
"""A workspace thinner than this share of its size is plane."""

TURNS, TURNS_FLAT = range(64, 81), range(320, 361)
"""Cells about the first axis, and where all lies in a plane: as many of these as fit its range best."""

MOST_ALONG = 100
"""Most cells along each side of a map in x, y, z."""

Chart = Callable[[FloatArray], FloatArray]
Edges = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells and the greatest manipulability found in each.

    Attributes
    ----------
    frame : ndarray (4, 4)
        T_world_map. With an axis its z is the axis of the first joint, at the point next to the base; else it is the world.
    has_axis : bool
        Whether the cells lie about that axis: their borders are then of the distance from it, the height along it and the
        angle about it from the map's x (m, m, rad), otherwise of x, y and z (m).
    edges : tuple of ndarray
        Borders of the cells in those three directions.
    best : ndarray
        Greatest manipulability found in each cell; NaN where nothing is reached.
    shift : int
        How many cells the first joint turns to either side of its middle; -1 where it turns all round.
    """

    frame: FloatArray
    has_axis: bool
    edges: Edges
    shift: int = -1
    best: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 0)))

    @property
    def reached(self) -> Bools:
        """Which cells are reached."""
        return ~np.isnan(self.best)

    @property
    def centres(self) -> Edges:
        """Middles of the cells in the three directions."""
        first, second, third = (0.5 * (edge[1:] + edge[:-1]) for edge in self.edges)
        return first, second, third

    def radius(self, p: FloatArray) -> FloatArray:
        """Distances (k,) of positions (k, 3), world frame, from the axis of the map."""
        return np.asarray(np.hypot(*self.local(p).T[:2]))

    def local(self, p: FloatArray) -> FloatArray:
        """Positions (k, 3) in the frame of the map."""
        return np.asarray((p - self.frame[:3, 3]) @ self.frame[:3, :3])

    def filled(self, best: FloatArray) -> Grid:
        """The same with what was found in its cells (-inf where nothing), the first joint turned through its range."""
        turned = best
        if self.has_axis and len(self.edges[2]) > 2:
            for k in range(1, self.shift + 1):
                turned = np.maximum(turned, np.maximum(np.roll(best, k, 2), np.roll(best, -k, 2)))
        return replace(self, best=np.where(turned > -np.inf, turned, np.nan))

    def sizes(self) -> FloatArray:
        """Volumes (m3) of the cells; their areas (m2) where the map is one cell thick and plane."""
        one, two, three = (np.diff(edge) for edge in self.edges)
        if self.has_axis:
            one = 0.5 * np.diff(self.edges[0] ** 2)
        sides = [np.ones(1) if thin else side for thin, side in zip(self.thin, (one, two, three), strict=True)]
        return np.asarray(sides[0][:, None, None] * sides[1][None, :, None] * sides[2][None, None, :])

    @property
    def thin(self) -> tuple[bool, bool, bool]:
        """In which directions all that is reached is in one place."""
        widths = [float(edge[-1] - edge[0]) for edge in self.edges]
        largest = max(widths[: 2 if self.has_axis else 3])
        first, second, third = (width <= 3 * FLAT * largest for width in widths)
        return first, second, third and not self.has_axis


def grid_of(postures: Postures, rng: np.random.Generator, seeds: FloatArray, cells: int) -> tuple[Grid, Edges, Chart, int]:
    """Make an empty map that just holds all there is, with its chart and the coordinate that need not be sampled (-1: none).

    The first joint is left out where it turns everything and nothing depends on where it stands.
    """
    axis = postures.first_axis
    if axis is None or not _turns_freely(postures, axis[1]):
        return _along_axes(postures, rng, seeds, cells)
    coordinate, joint = axis
    frame = _map_frame(joint, np.asarray(postures.tree.base, dtype=float)[:3, 3])
    plain = Grid(frame, True, (np.zeros(2),) * 3)
    half = 0.5 * float(np.diff([bound[coordinate] for bound in postures.ranges])[0])

    def chart(p: FloatArray) -> FloatArray:
        x, y, z = plain.local(p).T
        return np.column_stack([np.hypot(x, y), z, np.arctan2(y, x)])

    low, high = _extent(postures, rng, seeds, lambda p: chart(p)[:, :2])
    low[0] = 0.0 if low[0] < 0.01 * high[0] else low[0]
    counts = TURNS_FLAT if high[1] - low[1] <= FLAT * high[0] else TURNS
    count, shift = _about(half, counts)
    across = cells if count == 1 or counts is TURNS_FLAT else max(16, (4 * cells) // 5)
    first, second = _edges(low, high, across)
    edges = (first, second, np.linspace(-np.pi, np.pi, count + 1))
    return replace(plain, edges=edges, shift=shift), edges, chart, coordinate


def _along_axes(
    postures: Postures, rng: np.random.Generator, seeds: FloatArray, cells: int
) -> tuple[Grid, Edges, Chart, int]:
    def chart(p: FloatArray) -> FloatArray:
        return p

    low, high = _extent(postures, rng, seeds, chart)
    first, second, third = _edges(low, high, min(max(16, cells // 2), MOST_ALONG))
    edges = (first, second, third)
    return Grid(np.eye(4), False, edges), edges, chart, -1


def _extent(postures: Postures, rng: np.random.Generator, seeds: FloatArray, chart: Chart) -> tuple[FloatArray, FloatArray]:
    """Least and greatest values of a chart."""
    found, _ = climb(postures, rng, seeds, lambda p, w: np.concatenate([-chart(p), chart(p)], axis=1))
    return -found[: len(found) // 2], found[len(found) // 2 :]


def _edges(low: FloatArray, high: FloatArray, cells: int) -> list[FloatArray]:
    """Borders of nearly cubic cells, an even number each way; one cell where there is no width."""
    widths, made = high - low, []
    widest = max(float(widths.max()), 1e-12)
    for start, end, width in zip(low, high, widths, strict=True):
        if width <= FLAT * widest:
            made.append(0.5 * (start + end) + FLAT * widest * np.array([-1.0, 1.0]))
        else:
            made.append(np.linspace(start, end, 1 + 2 * int(np.ceil(0.5 * cells * width / widest))))
    return made


def _turns_freely(postures: Postures, joint: FloatArray) -> bool:
    """Whether the direction in which the frame must point, if any, is that of the first axis."""
    asked = postures.pointing
    return asked is None or abs(abs(float(asked.direction @ joint[:3, 2])) - 1.0) < 1e-12


def _about(half: float, counts: range) -> tuple[int, int]:
    """How many cells there are about an axis, and how many a turn by ``half`` to either side covers on each side."""
    if half >= np.pi - 1e-9:
        return 1, -1
    shares = {count: half * count / (2 * np.pi) - 0.5 for count in counts}
    count = min(counts, key=lambda n: abs(shares[n] - round(shares[n])))
    return count, max(0, round(shares[count]))


def _map_frame(joint: FloatArray, base: FloatArray) -> FloatArray:
    """T_world_map: z along the axis, upwards where it can be, x along the world's where the axis stands upright."""
    z = joint[:3, 2].copy()
    up = np.array([0.0, 0.0, 1.0])
    if abs(abs(z @ up) - 1.0) < 1e-9:
        z, x = up, np.array([1.0, 0.0, 0.0])
    else:
        y = up - (up @ z) * z
        y /= np.linalg.norm(y)
        x = np.cross(y, z)
        if x @ (1.0, 1e-3, 0.0) < 0:
            z, x = -z, -x
    made = np.eye(4)
    made[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    made[:3, 3] = joint[:3, 3] + ((base - joint[:3, 3]) @ z) * z
    return made


def measured(postures: Postures, grid: Grid) -> tuple[float, float, int]:
    """Volume or plane area of what is reached, its uncertainty, and the number of dimensions of what is reached."""
    dimension = postures.rank(rows_of("translation"))
    flat = sum(grid.thin)
    if dimension != 3 - flat or dimension < 2:
        return np.nan, np.nan, dimension
    sizes, full = grid.sizes(), grid.reached
    fine = float((sizes * full).sum())
    coarse = float((sizes * _coarser(full, about=grid.has_axis)).sum())
    return 2.0 * fine - coarse, 0.25 * (coarse - fine), dimension


def _coarser(full: Bools, *, about: bool) -> Bools:
    """The cells that cells of twice the size cover: each with its neighbour, but not about the axis."""
    made = full
    for axis in range(2 if about else 3):
        if made.shape[axis] > 1:
            either = np.logical_or.reduceat(made, np.arange(0, made.shape[axis], 2), axis=axis)
            made = np.repeat(either, 2, axis=axis)
    return made
