"""Workspace of a mechanism: the cells that its tool reaches, and its manipulability in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.model.assembly import separated
from linkwise.model.tree import TOOL, Tree, require_numeric_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag, number_within, rows_of, word_of
from linkwise.workspace.cells import Cells, climb
from linkwise.workspace.closed_postures import ClosedPostures
from linkwise.workspace.grid import Chart, Extent, Grid, grid_of
from linkwise.workspace.postures import Postures, pointing_of, with_ranges

#: Postures with less than this share of the greatest manipulability count as near a singular one.
NEAR = 0.01

#: Postures drawn at a time: more samples need no more memory.
AT_ONCE = 500_000

#: Random postures, without loops and with them.
SAMPLES, CLOSED_SAMPLES = 500_000, 10_000

#: Cells along the longer side of the map for the extent, and its margin, relative to the reached region.
COARSE, ROOM = 24, 0.3

#: Places by which the size is measured, at its border and within; before the last time cells are filled once more.
PLACES = 2_000, 8_000


@dataclass(frozen=True)
class Effort:
    """Number of postures tried besides the random samples.

    Attributes
    ----------
    seeds, share : int
        Postures from which extremes are climbed, and by which shares are estimated.
    rounds : int
        How often the cells are improved.
    climbs, tries : int
        How often an extreme is climbed from, and how many postures each time.
    """

    seeds: int = 20_000
    share: int = 100_000
    rounds: int = 40
    climbs: int = 40
    tries: int = 120


#: Without loops, and with them, where each posture is closed by iteration.
EFFORT, CLOSED_EFFORT = Effort(), Effort(seeds=2_000, share=4_000, rounds=8, climbs=30, tries=60)


@dataclass(frozen=True, eq=False, repr=False)
class Workspace:
    """Workspace of a frame of a mechanism, as cells, each with the best posture found in it.

    Attributes
    ----------
    q : ndarray (N, nq)
        For each cell that is reached the posture of greatest manipulability that was found, rad or m.
    positions : ndarray (N, 3)
        Where the frame is then, m, world frame.
    manipulability : ndarray (N,)
        The product of the singular values of the Jacobian there, over the directions in which the frame moves at all.
    grid : Grid
        The cells, as a map for pictures and sums: see `linkwise.workspace.grid.Grid`.
    frame : str
        What reaches: ``"the tool"``, or a link by its name.
    mask : str
        Which rows of the Jacobian count: ``"translation"``, ``"rotation"`` or ``"all"``.
    freedoms : int
        In how many independent directions, of those that count, the frame moves at once.
    dimension : int
        What the positions fill: 3 a volume, 2 a surface or a piece of a plane, 1 a curve, 0 a point.
    size, size_error : float
        Volume, m3, or area of a plane workspace, m2, and how uncertain it is: three standard deviations of a share of random
        places, and what the last aims at these and the last random postures still found. NaN for curved surfaces and curves,
        and for planes aslant to x, y and z in which no first joint turns everything.
    bounds : ndarray (2, 3)
        Least and greatest x, y, z, m, world frame.
    distance, radius : tuple of (float, float)
        Least and greatest distance from the origin of the base, and from the axis of the first joint (NaN without one), m.
    best_q, worst_q : ndarray (nq,)
        The postures of greatest and of least manipulability that were found.
    best_position, worst_position : ndarray (3,)
        Where the frame is then, m, world frame.
    best, worst : float
        Their manipulability.
    near_singular : float
        Share of postures, spread evenly over the joint ranges, with less than a hundredth of the greatest manipulability;
        NaN where none of many random ones points as asked.
    samples : int
        Random postures that were tried, before the cells were improved.

    Examples
    --------
    >>> from linkwise import robots
    >>> found = robots.planar_2r().workspace(samples=2000)
    >>> found.dimension, found.q.shape[1]
    (2, 2)
    """

    q: FloatArray
    positions: FloatArray
    manipulability: FloatArray
    grid: Grid
    frame: str
    mask: str
    freedoms: int
    dimension: int
    size: float
    size_error: float
    bounds: FloatArray
    distance: tuple[float, float]
    radius: tuple[float, float]
    best_q: FloatArray
    best_position: FloatArray
    best: float
    worst_q: FloatArray
    worst_position: FloatArray
    worst: float
    near_singular: float
    samples: int

    def __repr__(self) -> str:
        volume = {3: f"{self.size:.3g} m3, ", 2: f"{self.size:.3g} m2, "}.get(self.dimension, "")
        volume = volume if np.isfinite(self.size) else ""
        return f"<Workspace: {volume}{len(self.q)} cells, reach {self.distance[0]:.3g} to {self.distance[1]:.3g} m>"


def workspace(
    mechanism: Tree,
    *,
    link: int | str = "tool",
    samples: int | None = None,
    seed: int = 0,
    limits: bool = True,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    mask: str = "translation",
    pointing: npt.ArrayLike | None = None,
    within: float = 0.2,
    cells: int = 160,
) -> Workspace:
    """Find the workspace of a frame and its manipulability there, with closed loops or without.

    The first joint, where it is a turn, is not sampled: everything else is turned about its axis. The other joints are
    sampled at random, ball joints evenly over all turns or those in their cones; then the best posture of each cell is
    changed at random again and again, which finds better ones and cells that chance had missed, and each empty cell beside
    reached ones is aimed at. Every point reported is therefore reached for certain (each posture is at hand, in
    `Workspace.q`); that the rest is out of reach is likely, not proved.

    With loops random postures are brought to closed ones, all assembly modes together, and each that counts closes the loops
    to 1e-12. The manipulability is that of the frame per speed of all joints, of which the loops allow some.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base. Bodies that float beside the way to the frame stay where they are.
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.forward_kinematics`.
    samples : int, optional
        Random postures, at least 1000; 500,000 if not given, 10,000 with loops.
    seed : int
        Seed of the random numbers.
    limits : bool
        Whether the limits of turning joints hold; those of sliding ones always do, and with loops all.
    ranges : mapping of str to (float, float), optional
        Least and greatest coordinates of joints by name, rad or m, instead of their limits.
    mask : {"translation", "rotation", "all"}
        Which motion the manipulability measures; "all" mixes m and rad. Directions in which no posture moves the frame, such
        as those out of the plane of a planar arm, are left out.
    pointing : (3,) array_like, optional
        Only postures count whose z axis points in this direction of the world.
    within : float
        By how much it may point beside it, rad.
    cells : int
        Cells along the longer side of the map, 16 to 1000.

    Returns
    -------
    Workspace

    Raises
    ------
    ArgumentError
        Naming the argument at fault; joints that slide without limits, or float, on the way to the frame; a direction in
        which no posture points.

    Notes
    -----
    T. Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985. For the size see
    `linkwise.workspace.cells.Cells.measured`.

    Examples
    --------
    >>> from linkwise import robots
    >>> region = workspace(robots.planar_2r(), samples=20_000)
    >>> region.dimension, round(region.size / np.pi, 1), round(region.distance[1], 3)
    (2, 4.0, 2.0)
    """
    require_numeric_tree(mechanism, "workspace")
    count = samples if samples is not None else CLOSED_SAMPLES if mechanism.loops else SAMPLES
    _check(mechanism, count, seed, limits, cells)
    place = link if isinstance(link, str) else mechanism.link_names[mechanism.link_index(link)]
    kind, effort = (ClosedPostures, CLOSED_EFFORT) if mechanism.loops else (Postures, EFFORT)
    tree = with_ranges(separated(mechanism), limits, ranges)
    return _explored(kind(tree, place, word_of(mask), pointing_of(pointing, within)), count, seed, cells, effort)


def _explored(postures: Postures, samples: int, seed: int, cells: int, effort: Effort) -> Workspace:
    """Workspace of a frame by postures of some kind; other arguments as for `workspace`."""
    rng = np.random.default_rng(seed)
    seeds = _seeds(postures, rng, effort.seeds)

    grid, turned = grid_of(postures, _extent(postures, rng, seeds, effort, ROOM), COARSE)
    archive = Cells(grid, postures, turned)
    archive.take(seeds)
    archive.fill(rng)
    seeds = np.concatenate([seeds, archive.q[archive.reached]])
    grid, turned = grid_of(postures, _extent(postures, rng, seeds, effort), cells)
    archive = Cells(grid, postures, turned)
    archive.take(seeds)
    for start in range(0, samples, AT_ONCE):
        archive.take(postures.draw(rng, min(AT_ONCE, samples - start), turned))
    dimension, flat = postures.rank(list(rows_of("translation"))), sum(grid.thin)
    measures = dimension, np.nan, np.nan
    measurable = dimension >= 2 and dimension == 3 - flat and not (grid.has_axis and grid.thin[0])
    if measurable:
        archive.fill(rng)
    archive.improve(rng, effort.rounds)
    for count in PLACES if measurable else ():
        archive.fill(rng)
        drawn = postures.draw(rng, min(effort.share, samples))
        missed = archive.missed(drawn)
        archive.take(drawn)
        size, error = archive.measured(rng, count)
        measures = dimension, size, error + missed * size
    return _result(postures, rng, archive, samples, effort, measures)


def _extent(postures: Postures, rng: np.random.Generator, start: FloatArray, effort: Effort, room: float = 0.0) -> Extent:
    """Least and greatest map coordinates, maximized from postures (k, nq), with a margin."""

    def extent(chart: Chart) -> tuple[FloatArray, FloatArray]:
        def ends(p: FloatArray, w: FloatArray) -> FloatArray:
            return np.concatenate([-chart(p), chart(p)], axis=1)

        result, _ = climb(postures, rng, start, ends, effort.climbs, effort.tries)
        low, high = -result[: len(result) // 2], result[len(result) // 2 :]
        return low - room * (high - low), high + room * (high - low)

    return extent


def _result(
    postures: Postures,
    rng: np.random.Generator,
    archive: Cells,
    samples: int,
    effort: Effort,
    measures: tuple[int, float, float],
) -> Workspace:
    q, positions, values = (array[archive.reached] for array in (archive.q, archive.p, archive.best))
    best = archive.covered()[0]
    grid = replace(archive.grid, best=np.where(best > -np.inf, best, np.nan))
    base = np.asarray(postures.tree.base)[:3, 3]

    def extremes(p: FloatArray, w: FloatArray) -> FloatArray:
        far, away = np.linalg.norm(p - base, axis=1), grid.radius(p)
        return np.column_stack([p, -p, far, -far, away, -away, w, -w])

    drawn = postures.draw(rng, effort.share)
    some = q if len(q) <= effort.seeds else q[rng.choice(len(q), effort.seeds, replace=False)]
    marks = q[np.argmax(extremes(positions, values), axis=0)]
    start = np.concatenate([marks, some, drawn[: effort.seeds]])
    result, at = climb(postures, rng, start, extremes, effort.climbs, effort.tries)
    shares = postures.evaluate(drawn)
    counted = shares[1][shares[2]]
    turns, marked = grid.has_axis, postures.evaluate(at[10:])[0]
    return Workspace(
        q,
        positions,
        values,
        grid,
        "the tool" if postures.link == TOOL else postures.tree.link_names[postures.path[-1]],
        postures.mask,
        postures.rank(list(rows_of(postures.mask))),
        *measures,
        np.array([-result[3:6], result[:3]]) + 0.0,
        (max(-float(result[7]), 0.0), float(result[6])),
        (max(-float(result[9]), 0.0), float(result[8])) if turns else (np.nan, np.nan),
        at[10],
        marked[0],
        float(result[10]),
        at[11],
        marked[1],
        max(-float(result[11]), 0.0),
        float(np.mean(counted < max(NEAR * result[10], 1e-300))) if counted.size else np.nan,
        samples,
    )


def _seeds(postures: Postures, rng: np.random.Generator, count: int) -> FloatArray:
    """Initial postures, all in the pointing direction."""
    for _ in range(100):
        q = postures.draw(rng, count)
        valid = postures.evaluate(q)[2]
        if valid.any():
            return q[valid]
    assert postures.pointing is not None
    raise ArgumentError(
        f"no posture of {postures.tree.name!r} in {100 * count:,} points along {postures.pointing.direction.tolist()}; "
        "allow more with within="
    )


def _check(mechanism: Tree, samples: int, seed: int, limits: bool, cells: int) -> None:
    """Raise `ArgumentError` naming the argument at fault."""
    if mechanism.floating:
        raise ArgumentError(f"{mechanism.name!r} has a floating base, which goes anywhere; expected a fixed base")
    if not mechanism.nv:
        raise ArgumentError(f"{mechanism.name!r} has no joint that moves")
    wholes = (("samples", samples, 1000, 10**9), ("seed", seed, 0, 2**63), ("cells", cells, 16, 1000))
    for name, value, least, most in wholes:
        number_within(name, value, least, most, f"a whole number from {least} to {most}", whole=True)
    if not flag("limits", limits) and mechanism.loops:
        raise ArgumentError(f"limits is False; {mechanism.name!r} has loops, with which the limits of joints hold")
