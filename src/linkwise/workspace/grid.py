"""The cells that a workspace is laid out in: about the first axis, or along x, y, z."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray
from linkwise.workspace.postures import Bools, Postures

#: A workspace thinner than this share of its size is plane.
FLAT = 1e-7

#: Cells about the first axis, and where all lies in a plane: as many of these as fit its range best.
TURNS, TURNS_FLAT = range(64, 81), range(320, 361)

#: Most cells along each side of a map in x, y, z.
MOST_ALONG = 100

Chart = Callable[[FloatArray], FloatArray]
Edges = tuple[FloatArray, FloatArray, FloatArray]

#: Function of a chart that returns least and greatest values.
Extent = Callable[[Chart], tuple[FloatArray, FloatArray]]


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
        """Mask of the reached cells."""
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

    def chart(self, p: FloatArray) -> FloatArray:
        """Map coordinates (k, 3) of positions (k, 3), world frame."""
        if not self.has_axis:
            return p
        x, y, z = self.local(p).T
        return np.column_stack([np.hypot(x, y), z, np.arctan2(y, x)])

    def positions(self, chart: FloatArray) -> FloatArray:
        """Positions (k, 3), world frame, from map coordinates (k, 3)."""
        if not self.has_axis:
            return chart
        away, height, angle = chart.T
        local = np.column_stack([away * np.cos(angle), away * np.sin(angle), height])
        return np.asarray(self.frame[:3, 3] + local @ self.frame[:3, :3].T)

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each direction."""
        return tuple(len(edge) - 1 for edge in self.edges)

    def cells(self, p: FloatArray) -> tuple[npt.NDArray[np.intp], Bools]:
        """The cells (flat) of positions, and which of them lie in the grid; borders count as inside."""
        at, inside = np.zeros(len(p), dtype=np.intp), np.ones(len(p), dtype=bool)
        for edge, value in zip(self.edges, self.chart(p).T, strict=True):
            size = edge[-1] - edge[0]
            k = np.floor((value - edge[0]) * ((len(edge) - 1) / size)).astype(np.intp)
            inside &= (value >= edge[0] - 1e-9 * size) & (value <= edge[-1] + 1e-9 * size)
            at = at * (len(edge) - 1) + np.clip(k, 0, len(edge) - 2)
        return at, inside

    def places(self, rng: np.random.Generator, cells: npt.NDArray[np.intp]) -> FloatArray:
        """Random positions (k, 3) in cells (flat), world frame, evenly over the volume; where the map is thin its middle."""
        chart = np.zeros((len(cells), 3))
        for k, (edge, at, thin) in enumerate(zip(self.edges, np.unravel_index(cells, self.shape), self.thin, strict=True)):
            share = 0.5 if thin else rng.random(len(cells))
            power = 2 if self.has_axis and k == 0 else 1
            chart[:, k] = (edge[at] ** power + share * (edge[at + 1] ** power - edge[at] ** power)) ** (1 / power)
        return self.positions(chart)

    def near(self, some: Bools) -> Bools:
        """Mask of cells that share a side with one of some cells, both as arrays of `shape`."""
        result = np.zeros(self.shape, dtype=bool)
        for axis, count in enumerate(self.shape):
            for shift in (1, -1) if count > 1 else ():
                beside = np.roll(some, shift, axis)
                if not (self.has_axis and axis == 2):
                    beside[(slice(None),) * axis + (0 if shift == 1 else -1,)] = False
                result |= beside
        return result

    def sizes(self) -> FloatArray:
        """Volumes (m3) of the cells; their areas (m2) where the map is one cell thick and plane."""
        first, second, third = (np.diff(edge) for edge in self.edges)
        if self.has_axis:
            first = 0.5 * np.diff(self.edges[0] ** 2)
        sides = [np.ones(1) if thin else side for thin, side in zip(self.thin, (first, second, third), strict=True)]
        return np.asarray(sides[0][:, None, None] * sides[1][None, :, None] * sides[2][None, None, :])

    @property
    def thin(self) -> tuple[bool, bool, bool]:
        """Directions in which the reached region has no extent."""
        widths = [float(edge[-1] - edge[0]) for edge in self.edges]
        largest = max(widths[: 2 if self.has_axis else 3])
        first, second, third = (width <= 3 * FLAT * largest for width in widths)
        return first, second, third and not self.has_axis


def grid_of(postures: Postures, extent: Extent, cells: int) -> tuple[Grid, int]:
    """Make an empty map that just contains everything, with the coordinate that need not be sampled (-1: none).

    The first joint is left out where it turns everything and nothing depends on where it stands.
    """
    axis = postures.first_axis
    if axis is None or not _turns_freely(postures, axis[1]):
        low, high = extent(lambda p: p)
        first, second, third = _edges(low, high, min(max(16, cells // 2), MOST_ALONG))
        return Grid(np.eye(4), False, (first, second, third)), -1
    coordinate, joint = axis
    frame = _map_frame(joint, np.asarray(postures.tree.base, dtype=float)[:3, 3])
    plain = Grid(frame, True, (np.zeros(2),) * 3)
    half = 0.5 * float(np.diff([bound[coordinate] for bound in postures.ranges])[0])
    low, high = extent(lambda p: plain.chart(p)[:, :2])
    low[0] = 0.0 if low[0] < 0.01 * high[0] else low[0]
    counts = TURNS_FLAT if high[1] - low[1] <= FLAT * high[0] else TURNS
    count, shift = _about(half, counts)
    across = cells if count == 1 or counts is TURNS_FLAT else max(16, (4 * cells) // 5)
    first, second = _edges(low, high, across)
    return Grid(frame, True, (first, second, np.linspace(-np.pi, np.pi, count + 1)), shift), coordinate


def _edges(low: FloatArray, high: FloatArray, cells: int) -> list[FloatArray]:
    """Borders of nearly cubic cells, an even number in each direction; one cell without extent."""
    widths, result = high - low, []
    widest = max(float(widths.max()), 1e-12)
    for start, end, width in zip(low, high, widths, strict=True):
        if width <= FLAT * widest:
            result.append(0.5 * (start + end) + FLAT * widest * np.array([-1.0, 1.0]))
        else:
            result.append(np.linspace(start, end, 1 + 2 * int(np.ceil(0.5 * cells * width / widest))))
    return result


def _turns_freely(postures: Postures, joint: FloatArray) -> bool:
    """True if the required pointing direction, if any, is that of the first axis."""
    asked = postures.pointing
    return asked is None or abs(abs(float(asked.direction @ joint[:3, 2])) - 1.0) < 1e-12


def _about(half: float, counts: range) -> tuple[int, int]:
    """Number of cells about an axis, and number covered on each side by a rotation of ``half`` to either side."""
    if half >= np.pi - 1e-9:
        return 1, -1
    shares = {count: half * count / (2 * np.pi) - 0.5 for count in counts}
    count = min(counts, key=lambda n: abs(shares[n] - round(shares[n])))
    return count, max(0, round(shares[count]))


def _map_frame(joint: FloatArray, base: FloatArray) -> FloatArray:
    """T_world_map: z along the axis, upwards if possible, x along the world's for a vertical axis."""
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
    result = np.eye(4)
    result[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    result[:3, 3] = joint[:3, 3] + ((base - joint[:3, 3]) @ z) * z
    return result
