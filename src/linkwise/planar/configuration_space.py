"""The configuration space of two joints on a grid: occupied and provably free configurations, and their picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, choices, shown
from linkwise.model.formatting.table import plain
from linkwise.model.link_tree import find_index
from linkwise.planar import drawing_symbols as symbols
from linkwise.planar.collision import BoolArray, Check, Obstacles, read_margin
from linkwise.planar.drawing import bounds, on, settled, workspace
from linkwise.planar.transforms import evaluated, place_polygons
from linkwise.planar.tree import Link, PlanarTree
from linkwise.plot.figure import colour, figure, legend, literal, shortened
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import real_or_empty

#: Undecided cells of the grid; collision of a path.
UNSURE, CLASH = "#c9ccd1", "#b3261e"

#: Up to this many pairs have colours of their own; beyond, those of one obstacle share one.
MOST = 7

#: Colour of all links in the workspace, without those of the regions beside it.
BODY = "#7d8790"

#: Configurations of a path that are drawn in the workspace.
TRACES = 7


# ── the workspace ─────────────────────────────────────────────────────────────────────────────────


def _workspace(axes: Any, space: Any, route: FloatArray | None) -> None:
    """Draw the mechanism at begin, end and intermediate points of the path, or at the fixed coordinates."""
    mechanism, obstacles = space.check.mechanism, space.check.obstacles
    shown_at = _inside(space)[None] if route is None else route
    low, high = bounds(mechanism, shown_at, obstacles)
    workspace(axes, low, high)
    size = float((high - low).max())
    for name, polygon in obstacles.items():
        symbols.obstacle(axes, polygon)
        symbols.named(axes, 0.5 * (polygon.min(axis=0) + polygon.max(axis=0)), shortened(name))
    if route is not None:
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(route[:, list(space.joints)], axis=0).T))])
        for distance in np.linspace(0.0, along[-1], TRACES)[1:]:
            on(axes, mechanism, route[int(np.argmin(np.abs(along - distance)))], size, faint=True, fill=BODY)
    on(axes, mechanism, shown_at[0], size, frames=False, fill=BODY)
    for link, polygons in zip(mechanism.links, place_polygons(mechanism, shown_at[0]), strict=True):
        if polygons:
            symbols.named(axes, np.mean(polygons[0], axis=0), shortened(str(link.name)))
    axes.set_title("workspace" if route is None else "workspace: the start of the path, and on its way", fontsize=11)


def _inside(space: Any) -> FloatArray:
    """Fixed coordinates, with the two varied joints as near to them as their ranges permit."""
    q = space.at.copy()
    for k, values in zip(space.joints, space.grid, strict=True):
        q[k] = np.clip(q[k], values[0], values[-1])
    return np.asarray(q)


# ── the regions ───────────────────────────────────────────────────────────────────────────────────


def _regions(axes: Any, space: Any) -> list[tuple[Any, str]]:
    """Colour the grid's points, each with its cell; return the entries of the legend."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    groups = _groups(space)
    image = np.ones((*space.occupied.shape, 3))
    image[space.near] = to_rgb(UNSURE)
    handles = []
    if groups:
        hits = np.stack([space.by_pair[..., members].any(axis=-1) for members in groups.values()], axis=-1)
        image = np.where(space.occupied[..., None], _stripes(hits), image)
        handles = [(Patch(facecolor=colour(k)), name) for k, name in enumerate(groups) if hits[..., k].any()]
        if (hits.sum(axis=-1) > 1).any():
            handles.append((Patch(facecolor="none", edgecolor="0.3", hatch="////"), "stripes: all of these colours"))
    if (space.near & ~space.occupied).any():
        handles.append((Patch(facecolor=UNSURE), "free at the grid's points, not proved between them"))
    handles.append((Patch(facecolor="white", edgecolor="0.5"), "free, proved for all between the points"))
    x, y = space.grid
    axes.pcolormesh(_edges(x), _edges(y), image.transpose(1, 0, 2), shading="flat", rasterized=True)
    return handles


def _stripes(hits: BoolArray) -> FloatArray:
    """Colours (n, m, 3) where one thing collides, or several (n, m, k): theirs in turn, along diagonals."""
    from matplotlib.colors import to_rgb

    n, m, groups = hits.shape
    palette = np.array([to_rgb(colour(k)) for k in range(groups)])
    wide = max(2, round(max(n, m) / 60))
    turn = (np.add.outer(np.arange(n), np.arange(m)) // wide) % np.maximum(1, hits.sum(axis=-1))
    rank = np.cumsum(hits, axis=-1) - 1
    chosen = np.argmax(hits & (rank == turn[..., None]), axis=-1)
    return np.asarray(palette[chosen])


def _groups(space: Any) -> dict[str, list[int]]:
    """Pairs by name: each alone, or, where there are many, by obstacle, and links with links."""
    groups: dict[str, list[int]] = {}
    for k, (first, second) in enumerate(space.pairs):
        many = f"a link meets {second}" if second in space.check.obstacles else "two links meet"
        groups.setdefault(many if len(space.pairs) > MOST else f"{first} meets {second}", []).append(k)
    return groups


def _edges(values: FloatArray) -> FloatArray:
    """Limits (n + 1,) of the cells about the grid's values (n,); half cells at both ends."""
    return np.concatenate([values[:1], 0.5 * (values[1:] + values[:-1]), values[-1:]])


# ── axes ──────────────────────────────────────────────────────────────────────────────────────────


def _axes(axes: Any, space: Any) -> None:
    mechanism = space.check.mechanism
    x, y = space.grid
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    turning = [mechanism.turns[k] for k in space.joints]
    names = [shortened(mechanism.coordinate_names[k]) for k in space.joints]
    for which, name, turns in zip((axes.xaxis, axes.yaxis), names, turning, strict=True):
        literal(which.label, f"{name} [{'rad' if turns else 'm'}]")
        which.label.set_visible(True)
        if turns:
            _parts_of_pi(which)
    if turning[0]:
        axes.secondary_xaxis("top", functions=(np.degrees, np.radians)).set_xlabel("[deg]", fontsize=8)
    if turning[1]:
        axes.secondary_yaxis("right", functions=(np.degrees, np.radians)).set_ylabel("[deg]", fontsize=8)
    if all(turning):
        axes.set_aspect("equal")
    _ends(axes, space)


def _parts_of_pi(which: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

    low, high = which.get_view_interval()
    if high - low > 0.9 * math.pi:
        which.set_major_locator(MultipleLocator(0.5 * math.pi))
        which.set_major_formatter(FuncFormatter(lambda value, _: _of_pi(value)))
    else:
        which.set_major_locator(MaxNLocator(6))


def _of_pi(value: float) -> str:
    """Write a multiple of half pi."""
    part = Fraction(round(value / (0.5 * math.pi)), 2)
    if part == 0:
        return "0"
    count = "" if abs(part.numerator) == 1 else abs(part.numerator)
    return f"{'−' if part < 0 else ''}{count}π{'/2' if part.denominator == 2 else ''}"


def _ends(axes: Any, space: Any) -> None:
    """Tell the edges: a thick line is a limit; dashed ones with equal arrows are one and the same."""
    sides = {"left": 0, "right": 0, "bottom": 1, "top": 1}
    for side, which in sides.items():
        wraps = space.wraps[which]
        axes.spines[side].set(linewidth=1.2 if wraps else 2.6, linestyle=(0, (5, 3)) if wraps else "-", color=symbols.INK)
    for which in np.flatnonzero(space.wraps).tolist():
        ends, along = (part.ravel() for part in np.meshgrid((0.0, 1.0), 0.6 + 0.035 * np.arange(1 + which)))
        at, marker = ((ends, along), "^") if which == 0 else ((along, ends), ">")
        look = {"marker": marker, "markersize": 7, "color": symbols.INK, "linestyle": ""}
        axes.plot(*at, transform=axes.transAxes, clip_on=False, zorder=8, **look)
    edges = [("left and right edge are one", space.wraps[0]), ("bottom and top edge are one", space.wraps[1])]
    phrases = [words for words, holds in edges if holds]
    if len(phrases) == 2:
        phrases = ["a torus: opposite edges are one"]
    if not all(space.wraps):
        phrases.append("thick edges: limits")
    title = "configuration space (" + "; ".join(phrases) + ")"
    held = space.held
    literal(axes.title, f"{title}\n{shortened(held, 90)}" if held else title)
    axes.title.set_fontsize(11)


# ── a path ────────────────────────────────────────────────────────────────────────────────────────


def _path(space: Any, path: Any) -> FloatArray:
    """Read a path as configurations (k, nq), with points between, half a step of the grid apart at most."""
    nq = space.check.mechanism.nq
    corners = real_or_empty(path)
    if corners.ndim != 2 or not len(corners) or corners.shape[1] not in (2, nq) or not np.isfinite(corners).all():
        raise ArgumentError(f"path: {shown(path)}; expected (k, 2) or (k, {nq}) finite numbers, rad or m")
    route = corners
    if corners.shape[1] == 2:
        route = np.tile(space.at, (len(corners), 1))
        route[:, list(space.joints)] = corners
    _draw_held(space, route)
    steps = np.array([0.5 * (values[1] - values[0]) for values in space.grid])
    pieces = [route[:1]]
    for start, end in pairwise(route):
        count = max(1, math.ceil(float(np.max(np.abs((end - start)[list(space.joints)]) / steps))))
        pieces.append(start + np.arange(1, count + 1)[:, None] / count * (end - start))
    return np.concatenate(pieces)


def _draw_held(space: Any, route: FloatArray) -> None:
    others = [k for k in range(route.shape[1]) if k not in space.joints]
    off = np.abs(route[:, others] - space.at[others]).max(initial=0.0)
    if off > 1e-9 * max(1.0, np.abs(space.at[others]).max(initial=0.0)):
        raise ArgumentError(f"path: another joint moves, by up to {off:.3g}; expected it to be where it is held")


def _posture(axes: Any, space: Any) -> list[tuple[Any, str]]:
    """Mark the posture that is drawn in the workspace."""
    (dot,) = axes.plot(*_inside(space)[list(space.joints)], marker="o", markersize=7, color="black", linestyle="", zorder=7)
    dot.set(markerfacecolor="white", clip_on=False)
    return [(dot, "the posture drawn in the workspace")]


def _overlay(axes: Any, space: Any, route: FloatArray) -> list[tuple[Any, str]]:
    both = route[:, list(space.joints)].copy()
    for k, (values, wraps) in enumerate(zip(space.grid, space.wraps, strict=True)):
        if wraps:
            both[:, k] = values[0] + np.mod(both[:, k] - values[0], values[-1] - values[0])
    spans = np.array([values[-1] - values[0] for values in space.grid])
    breaks = np.flatnonzero((np.abs(np.diff(both, axis=0)) > 0.5 * spans).any(axis=1)) + 1
    line = np.insert(both, breaks, np.nan, axis=0)
    (drawn,) = axes.plot(*line.T, color="black", linewidth=1.8, zorder=6)
    axes.plot(*both[0], marker="o", markersize=7, markerfacecolor="white", color="black", linestyle="", zorder=7)
    axes.plot(*both[-1], marker="s", markersize=7, markerfacecolor="white", color="black", linestyle="", zorder=7)
    handles = [(drawn, "path, from the circle to the square")]
    margins = np.full(len(space.pairs), space.margin)
    hit = space.check.each(route, margins).any(axis=-1)
    if hit.any():
        (marks,) = axes.plot(*both[hit].T, marker="x", markersize=5, color=CLASH, linestyle="", zorder=7)
        handles.append((marks, "path in collision"))
    return handles


TURN = 2.0 * math.pi

#: Rounding error of a placed corner, relative to the farthest one from the origin and per radian: a dozen operations, with a
#: margin.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class ConfigurationSpace:
    """Configurations of two joints on a grid, the others fixed; created by `configuration_space`.

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
        """Mask (n, m) of configurations in collision."""
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
        route = None if path is None else _path(self, path)
        picture = figure(11.5, 5.6) if into is None else into
        left, right = picture.subplots(1, 2)
        _workspace(left, self, route)
        handles = [*_regions(right, self), *(_posture(right, self) if route is None else _overlay(right, self, route))]
        _axes(right, self)
        look: dict[str, Any] = {"loc": "outside lower center", "frameon": False, "fontsize": 9}
        names = [name for _, name in handles]
        legend(picture, [handle for handle, _ in handles], names, 60, ncols=min(4, max(1, len(handles))), **look)
        return settled(picture, into)

    @property
    def held(self) -> str:
        """The other joints and their values, in words; empty where there are none."""
        mechanism = self.check.mechanism
        others = [k for k in range(mechanism.nq) if k not in self.joints]
        units = ["rad" if turns else "m" for turns in mechanism.turns]
        values = [f"{plain(mechanism.coordinate_names[k])} at {self.at[k]:.4g} {units[k]}" for k in others]
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
    """Find the configurations of two joints in collision, on a grid, with the other joints fixed.

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
        raise ArgumentError("configuration_space: the mechanism has loops; expected one whose coordinates are independent")
    check = Check.of(mechanism, obstacles, pairs)
    chosen = _joints(mechanism, joints)
    held = _fixed_values(check, chosen, at)
    wanted = (None, None) if limits is None else _given(limits)
    lows, highs, wraps = zip(*(_range(mechanism, k, ends) for k, ends in zip(chosen, wanted, strict=True)), strict=True)
    counts = _counts(points)
    grid = np.linspace(lows[0], highs[0], counts[0]), np.linspace(lows[1], highs[1], counts[1])
    q = _configurations(held, chosen, grid).reshape(-1, mechanism.nq)
    steps = {k: 0.5 * (highs[i] - lows[i]) / (counts[i] - 1) for i, k in enumerate(chosen)}
    moved, clearance = movements(check, steps, q[[0, -1]]), read_margin(margin)
    near = np.asarray(check.each(q, clearance + moved).any(axis=-1))
    by_pair = np.zeros((len(q), len(check.pairs)), dtype=bool)  # where nothing is near, nothing is in collision
    by_pair[near] = check.each(q[near], np.full(len(check.pairs), clearance))
    arrays = by_pair.reshape(*counts, -1), near.reshape(counts)
    return ConfigurationSpace(check, chosen, held, grid, wraps, *arrays, float(moved.max(initial=0.0)), clearance)


def _fixed_values(check: Check, joints: tuple[int, int], at: Any) -> FloatArray:
    """Read the fixed coordinates (nq,)."""
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
    """Bound the decrease of each pair's computed distance over a grid step.

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
    bounds = []
    for pair in check.pairs:
        moved = {k: [reach[link] for link in pair if link in reach] for k, reach in reaches.items()}
        bounds.append(sum(step * moved[k][0] for k, step in steps.items() if len(moved[k]) == 1))
    return (1.0 + 1e-9) * np.array(bounds) + _rounding(check, corners)


def _rounding(check: Check, corners: FloatArray) -> float:
    """Rounding error of the distance of two placed polygons, m."""
    mechanism = check.mechanism
    offsets = sum(_offset(mechanism, k, parent, corners) for k, parent in enumerate(mechanism.parents))
    beyond = max((float(np.abs(polygon).max()) for polygon in check.obstacles.values()), default=0.0)
    farthest = max(offsets + max(map(_size, mechanism.links)), beyond)
    turned = 1.0 + float(np.abs(corners[:, mechanism.turns]).sum(axis=1).max())
    return ROUNDING * farthest * turned


def _reaches(mechanism: PlanarTree, coordinate: int, corners: FloatArray) -> dict[int, float]:
    """Greatest displacement of a point of each link per unit of the coordinate that moves it."""
    owner = mechanism.owner[coordinate]
    away = {owner: 0.0}  # bounds of the distances of the links' origins from that of the joint
    for k in mechanism.order:
        parent = mechanism.parents[k]
        if parent in away and k != owner:
            away[k] = away[parent] + _offset(mechanism, k, parent, corners)
    if not mechanism.turns[coordinate]:
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
