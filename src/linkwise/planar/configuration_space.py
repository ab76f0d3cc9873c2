"""The configuration space of two joints on a grid: occupied configurations, and regions proved to be free."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, choices, shown
from linkwise.model.formatting.table import plain
from linkwise.model.link_tree import find_index
from linkwise.planar.collision import BoolArray, Check, IndexPair, Obstacles, read_margin
from linkwise.planar.link import Link
from linkwise.planar.transforms import evaluated
from linkwise.planar.tree import PlanarTree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import real_or_empty

TURN = 2.0 * math.pi

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Of a placed corner, in parts of the farthest one from the origin and per radian: a dozen products and sums, with room."""


@dataclass(frozen=True, eq=False, repr=False)
class ConfigurationSpace:
    """Configurations of two joints on a grid, the others held; made by `configuration_space`.

    Attributes
    ----------
    check : Check
        The mechanism, the obstacles and the pairs that are checked.
    joints : (int, int)
        The two coordinates.
    at : ndarray (nq,)
        The configuration in which the others are held, rad or m.
    grid : (ndarray (n,), ndarray (m,))
        Values of the two coordinates, rad or m.
    wraps : (bool, bool)
        Whether the coordinate goes on at the other end: the first and the last value are one configuration of a joint that
        turns without limits.
    by_pair : ndarray (n, m, P) of bool
        Which pairs are in collision.
    near : ndarray (n, m) of bool
        Where collision is not excluded within half a step of the grid about a configuration.
    movement : float
        How far two polygons that are checked can at most approach each other within half a step of the grid, m.
    margin : float
        Polygons no farther apart than this are in collision, m.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper"), planar.Link(bar, a=1.0, name="lower")])
    >>> space = planar.configuration_space(arm, {"wall": [(1.5, -1), (1.7, -1), (1.7, 1), (1.5, 1)]}, points=13)
    >>> space.wraps, space.occupied.shape, bool(space.occupied[6, 6])
    ((True, True), (13, 13), True)
    """

    check: Check
    joints: tuple[int, int]
    at: FloatArray
    grid: tuple[FloatArray, FloatArray]
    wraps: tuple[bool, bool]
    by_pair: BoolArray
    near: BoolArray
    movement: float
    margin: float

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the pairs that are checked: links, or a link and an obstacle."""
        return self.check.pair_names

    @cached_property
    def occupied(self) -> BoolArray:
        """Which configurations (n, m) are in collision."""
        return np.asarray(self.by_pair.any(axis=-1))

    @cached_property
    def clear(self) -> BoolArray:
        """Configurations (n, m) that are free with all that lies within half a step of the grid about them."""
        return ~self.near

    def configurations(self) -> FloatArray:
        """Return the configurations (n, m, nq) of the grid, rad or m.

        Examples
        --------
        >>> from linkwise import planar
        >>> arm = planar.Mechanism([planar.Link(), planar.Link(a=1.0), planar.Link(a=1.0)])
        >>> planar.configuration_space(arm, joints=(0, 2), points=(3, 5), at=[0, 0.7, 0]).configurations().shape
        (3, 5, 3)
        """
        return _configurations(self.at, self.joints, self.grid)

    def draw(self, path: Any = None, *, into: Any = None) -> Any:
        """Draw the workspace and, beside it, the configuration space.

        Parameters
        ----------
        path : (k, 2) or (k, nq) array_like, optional
            A path to draw into both, rad or m; two columns are those of the two joints, in their order. Where it is in
            collision, checked at points half a step of the grid apart, it is marked.
        into : matplotlib.figure.Figure, optional
            An empty figure; a new one by default.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ArgumentError
            Where the path is no (k, 2) or (k, nq) finite numbers.
        MissingExtraError
            Where matplotlib is not installed.

        Examples
        --------
        >>> from linkwise import planar
        >>> rod = planar.bar(1.0, 0.1)
        >>> arm = planar.Mechanism([planar.Link(rod, name="upper"), planar.Link(rod, a=1.0, name="lower")])
        >>> space = planar.configuration_space(arm, [[(1.5, -1), (1.7, -1), (1.7, 1), (1.5, 1)]], points=25)
        >>> space.draw([[1.0, 1.0], [2.0, 1.0]]).axes[1].get_xlabel()
        'upper [rad]'
        """
        from linkwise.planar.configuration_space_picture import draw

        return draw(self, path, into=into)

    @property
    def held(self) -> str:
        """The other joints and their values, in words; empty where there are none."""
        mechanism = self.check.mechanism
        others = [k for k in range(mechanism.nq) if k not in self.joints]
        values = [
            f"{plain(mechanism.coordinate_names[k])} at {self.at[k]:.4g} {'rad' if mechanism.turns[k] else 'm'}"
            for k in others
        ]
        return f"held: {', '.join(values)}" if values else ""

    def __str__(self) -> str:
        names = " and ".join(plain(self.check.mechanism.coordinate_names[k]) for k in self.joints)
        n, m = self.occupied.shape
        shares = [100.0 * float(part.mean()) for part in (self.occupied, self.clear, self.near & ~self.occupied)]
        return (
            f"{names}: {n} x {m} configurations, {shares[0]:.1f} % occupied;\n"
            f"{shares[1]:.1f} % free with all within half a step of the grid;\n"
            f"{shares[2]:.1f} % free, but within half a step, in which polygons come up to {self.movement:.3g} m nearer, "
            "collision is not excluded" + (f"\n{self.held}" if self.held else "")
        )

    def __repr__(self) -> str:
        n, m = self.occupied.shape
        return f"<ConfigurationSpace: {n} x {m} configurations, {100.0 * float(self.occupied.mean()):.1f} % occupied>"


def configuration_space(
    mechanism: PlanarTree,
    obstacles: Obstacles = (),
    joints: tuple[int | str, int | str] = (0, 1),
    points: int | tuple[int, int] = 181,
    *,
    at: Any = None,
    limits: Any = None,
    pairs: Iterable[Any] | None = None,
    margin: float = 0.0,
) -> ConfigurationSpace:
    """Find which configurations of two joints are in collision, on a grid, the other joints held.

    A grid sees only its own points. Within half a step h/2 of one, a point at the distance r from a turning joint moves by
    at most r h/2, one on a sliding joint by h/2; the sum over both joints bounds how much nearer two polygons can come.
    Where they are farther apart than that, all that lies about the point of the grid is free: `ConfigurationSpace.clear`.
    What rounding does to the places of the corners is added to the bound.
    (The bound is that of F. Schwarzer, M. Saha and J.-C. Latombe, *Adaptive dynamic collision checking for single and
    multiple articulated robots in complex environments*, 2005, for paths.) Elsewhere a thin obstacle, or a corner of one,
    can slip through; ask for more points.

    Parameters
    ----------
    mechanism : linkwise.planar.Mechanism
        Without loops.
    obstacles : mapping of str to polygon, or sequence of polygons
        Simple polygons (m, 2) in world axes, m.
    joints : pair of int or str
        Two coordinates, by index or name.
    points : int or (int, int)
        How many values each takes, both ends included.
    at : (nq,) array_like, optional
        Where the others are held, within their limits, rad or m; by default at zero, or at the limit next to it.
    limits : (2, 2) array_like, optional
        Ranges of the two coordinates, within their limits, rad or m. By default these limits, or one whole turn for a joint
        that turns without limits.
    pairs, margin
        As for `collides`.

    Returns
    -------
    ConfigurationSpace

    Raises
    ------
    ArgumentError
        Where the mechanism has loops, a joint is unknown or slides without limits, and as for `collides`.
    MissingExtraError
        Where shapely is not installed.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper"), planar.Link(bar, a=1.0, name="lower")])
    >>> wall = [(1.5, -1), (1.7, -1), (1.7, 1), (1.5, 1)]
    >>> space = configuration_space(arm, {"wall": wall}, points=73)
    >>> bool(space.occupied[36, 36]), bool(space.clear[0, 36])
    (True, True)
    """
    if mechanism.loops:
        raise ArgumentError(
            "configuration_space: the mechanism has loops, so its coordinates depend on each other; expected an open one"
        )
    check = Check.of(mechanism, obstacles, pairs)
    chosen = _joints(mechanism, joints)
    held = _held(check, chosen, at)
    wanted = (None, None) if limits is None else _given(limits)
    ranges = [_range(mechanism, k, ends) for k, ends in zip(chosen, wanted, strict=True)]
    counts = _counts(points)
    first, second = (np.linspace(low, high, count) for (low, high, _), count in zip(ranges, counts, strict=True))
    grid = first, second
    q = _configurations(held, chosen, grid).reshape(-1, mechanism.nq)
    steps = [0.5 * (high - low) / (count - 1) for (low, high, _), count in zip(ranges, counts, strict=True)]
    moved = movements(check, dict(zip(chosen, steps, strict=True)), q[[0, -1]])
    near, by_pair = _look(check, q, read_margin(margin), moved)
    return ConfigurationSpace(
        check,
        chosen,
        held,
        grid,
        (ranges[0][2], ranges[1][2]),
        by_pair.reshape(*counts, -1),
        near.reshape(counts),
        float(moved.max(initial=0.0)),
        float(margin),
    )


def _look(check: Check, q: FloatArray, margin: float, moved: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Where collision is near (N,), and which pairs are in collision (N, P): nowhere else."""
    near = np.asarray(check.each(q, margin + moved).any(axis=-1))
    by_pair = np.zeros((len(q), len(check.pairs)), dtype=bool)
    by_pair[near] = check.each(q[near], np.full(len(check.pairs), margin))
    return near, by_pair


def _held(check: Check, joints: tuple[int, int], at: Any) -> FloatArray:
    """Read where the other joints are held (nq,)."""
    mechanism = check.mechanism
    least, most = mechanism.limits.T
    if at is None:
        return np.asarray(np.clip(np.zeros(mechanism.nq), least, most))
    rows, batch = check.read(at)
    if batch:
        raise ArgumentError(f"at: shape {(*batch, mechanism.nq)}; expected ({mechanism.nq},)")
    q: FloatArray = rows[0]
    for k in set(range(mechanism.nq)) - set(joints):
        if not least[k] <= q[k] <= most[k]:
            name = mechanism.coordinate_names[k]
            raise ArgumentError(f"at: {name!r} is {q[k]:g}; expected a value within its limits, {least[k]:g} to {most[k]:g}")
    return q


def _configurations(at: FloatArray, joints: tuple[int, int], grid: tuple[FloatArray, ...]) -> FloatArray:
    q = np.empty((len(grid[0]), len(grid[1]), len(at)))
    q[:] = at
    q[..., joints[0]] = grid[0][:, None]
    q[..., joints[1]] = grid[1]
    return q


def _joints(mechanism: PlanarTree, joints: Any) -> tuple[int, int]:
    names = list(mechanism.coordinate_names)
    if len(names) < 2:
        raise ArgumentError(f"configuration_space: {mechanism.name!r} has {len(names)} coordinates; expected two or more")
    wanted = f"expected two different coordinates of {choices(names)}, or indices 0 to {len(names) - 1}"
    several = () if isinstance(joints, str) or not isinstance(joints, Iterable) else tuple(joints)
    chosen = [index for joint in several if (index := find_index(joint, names)) is not None]
    if len(several) != 2 or len(set(chosen)) != 2:
        unknown = [joint for joint in several if len(several) == 2 and find_index(joint, names) is None]
        raise ArgumentError(f"joints: {shown(next(iter(unknown), joints))}; {wanted}")
    return chosen[0], chosen[1]


def _given(limits: Any) -> FloatArray:
    ranges = real_or_empty(limits)
    if ranges.shape != (2, 2) or not np.isfinite(ranges).all() or not (ranges[:, 0] < ranges[:, 1]).all():
        raise ArgumentError(f"limits: {shown(limits)}; expected two rows of two finite numbers, the lesser first")
    return ranges


def _range(mechanism: PlanarTree, k: int, wanted: FloatArray | None) -> tuple[float, float, bool]:
    """Range of a coordinate, and whether both ends are one configuration."""
    name, turns = mechanism.coordinate_names[k], mechanism.turns[k]
    least, most = (float(end) for end in mechanism.limits[k])
    endless = turns and math.isinf(least) and math.isinf(most)
    low, high = (float(end) for end in wanted) if wanted is not None else (-math.pi, math.pi) if endless else (least, most)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        expected = "expected two finite numbers, the lesser first: give limits to the link, or to this function"
        raise ArgumentError(f"limits of {name!r}: {low:g} to {high:g}; {expected}")
    if low < least or high > most:
        raise ArgumentError(f"limits of {name!r}: {low:g} to {high:g}; expected a part of its own, {least:g} to {most:g}")
    if endless and high - low > TURN * (1.0 + 1e-12):
        raise ArgumentError(f"limits of {name!r}: {low:g} to {high:g} rad; expected no more than one turn")
    return low, high, endless and math.isclose(high - low, TURN, rel_tol=1e-12)


def _counts(points: Any) -> tuple[int, int]:
    both = tuple(points) if isinstance(points, Iterable) else (points, points)
    if len(both) != 2 or any(not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 2 for n in both):
        raise ArgumentError(f"points: {shown(points)}; expected one or two whole numbers of at least 2")
    return int(both[0]), int(both[1])


# ── how far links move within half a step ─────────────────────────────────────────────────────────


def movements(check: Check, steps: Mapping[int, float], corners: FloatArray) -> FloatArray:
    """Bound how much nearer the two polygons of each pair can come, as they are computed.

    A coordinate that moves one of the two and not the other changes their distance by at most its step times the
    greatest distance of a point of the moved link from the joint where it turns, and by its step where it slides. One
    that moves both alike changes nothing. What rounding can do to the placed corners is added.

    Parameters
    ----------
    check : Check
        A mechanism without loops, obstacles, and the pairs.
    steps : mapping of int to float
        How far each coordinate moves at most, rad or m; the others are held.
    corners : (2, nq) array
        Configurations with the least and with the greatest values of all coordinates that may move.

    Returns
    -------
    ndarray (P,)
        m.
    """
    reaches = {k: _reaches(check.mechanism, k, corners) for k in steps}
    bounds = [sum(step * _between(reaches[k], pair) for k, step in steps.items()) for pair in check.pairs]
    return (1.0 + 1e-9) * np.array(bounds) + _rounding(check, corners)


def _rounding(check: Check, corners: FloatArray) -> float:
    """By how much the distance of two placed polygons may be off, m."""
    mechanism = check.mechanism
    offsets = sum(_offset(mechanism, k, parent, corners) for k, parent in enumerate(mechanism.parents))
    beyond = max((float(np.abs(polygon).max()) for polygon in check.obstacles.values()), default=0.0)
    farthest = max(offsets + max(map(_size, mechanism.links)), beyond)
    turned = 1.0 + float(np.abs(corners[:, mechanism.turns]).sum(axis=1).max())
    return ROUNDING * farthest * turned


def _between(reaches: Mapping[int, float], pair: IndexPair) -> float:
    moved = [reaches[k] for k in pair if k in reaches]
    return moved[0] if len(moved) == 1 else 0.0


def _reaches(mechanism: PlanarTree, coordinate: int, corners: FloatArray) -> dict[int, float]:
    """For each link that a coordinate moves, how far a point of it moves at most for one unit of the coordinate."""
    owner = mechanism.owner[coordinate]
    turns = mechanism.turns[coordinate]
    away = {owner: 0.0}  # bounds of the distances of the links' origins from that of the joint
    for k in mechanism.order:
        parent = mechanism.parents[k]
        if parent in away and k != owner:
            away[k] = away[parent] + _offset(mechanism, k, parent, corners)
    if not turns:
        return dict.fromkeys(away, 1.0)
    return {k: away[k] + _size(mechanism.links[k]) for k in away}


def _offset(mechanism: PlanarTree, link: int, parent: int, corners: FloatArray) -> float:
    """Greatest distance of a link's origin from its parent's, or the world's: convex in the coordinate that changes it."""
    poses = evaluated(mechanism, "poses", corners)
    offsets = poses[:, link, :2, 2] - (poses[:, parent, :2, 2] if parent >= 0 else 0.0)
    return float(np.hypot(offsets[:, 0], offsets[:, 1]).max())


def _size(link: Link) -> float:
    """Greatest distance of a vertex from the link's origin."""
    return max((float(np.hypot(*polygon.T).max()) for polygon in link.polygons), default=0.0)
