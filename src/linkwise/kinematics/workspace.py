"""Where a mechanism can go: the cells that its tool reaches, and how well it moves in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import refuse_loops
from linkwise.errors import ArgumentError
from linkwise.kinematics.workspace_map import (
    Cells,
    Grid,
    Postures,
    Towards,
    climb,
    grid_of,
    measured,
    pointing_of,
    ranges_of,
)
from linkwise.model.assembly import separated
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag, number_within, rows_of, word_of

#: Postures with less than this share of the greatest manipulability count as near a singular one.
NEAR = 0.01

#: Postures drawn at a time: more samples need no more memory.
AT_ONCE = 500_000

#: How often random postures are drawn once more, of which the last show what still lacks.
DRAWS = 4


@dataclass(frozen=True)
class Effort:
    """How many postures are tried beside the random samples.

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


@dataclass(frozen=True, eq=False, repr=False)
class Workspace:
    """What a frame of a mechanism reaches, as cells, each with the best posture found in it.

    Attributes
    ----------
    q : ndarray (N, nq)
        For each cell that is reached the posture of greatest manipulability that was found, rad or m.
    positions : ndarray (N, 3)
        Where the frame is then, m, world frame.
    manipulability : ndarray (N,)
        The product of the singular values of the Jacobian there, over the directions in which the frame moves at all.
    grid : Grid
        The cells, as a map for pictures and sums: see `linkwise.kinematics.workspace_map.Grid`.
    frame : str
        What reaches: ``"the tool"``, or a link by its name.
    mask : str
        Which rows of the Jacobian count: ``"translation"``, ``"rotation"`` or ``"all"``.
    freedoms : int
        In how many independent directions, of those that count, the frame moves at once.
    dimension : int
        What the positions fill: 3 a volume, 2 a surface or a piece of a plane, 1 a curve, 0 a point.
    size, size_error : float
        Volume, m3, or area of a plane workspace, m2, and an estimate of how uncertain it is: by the cells at its edge, and
        with loops by what random postures still find. It is no bound; NaN for curved surfaces and curves.
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
    samples: int = 500_000,
    seed: int = 0,
    limits: bool = True,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    mask: str = "translation",
    pointing: npt.ArrayLike | None = None,
    within: float = 0.2,
    cells: int = 160,
) -> Workspace:
    """Find what a frame reaches and how well it moves there.

    The first joint, where it is a turn, is not sampled: everything else is turned about its axis. The other joints are
    sampled at random, ball joints evenly over all turns or those in their cones; then the best posture of each cell is
    changed at random again and again, which finds better ones and cells that chance had missed. Every point reported is
    therefore reached for certain (each posture is at hand, in `Workspace.q`); that the rest is out of reach is likely, not
    proved.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops. Bodies that float beside the way to the frame stay where they are.
    link : int or str
        Which frame: -1 the tool, otherwise as in `Mechanism.forward_kinematics`.
    samples : int
        Random postures, at least 1000.
    seed : int
        Of the random numbers: the same gives the same.
    limits : bool
        Whether the limits of turning joints hold; those of sliding ones always do.
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
    T. Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985. The volume is that of the
    cells, extrapolated from two sizes of cell, since cells at the edge are only partly reached.

    Examples
    --------
    >>> from linkwise import robots
    >>> found = workspace(robots.planar_2r(), samples=20_000)
    >>> found.dimension, round(found.size / np.pi, 1), round(found.distance[1], 3)
    (2, 4.0, 2.0)
    """
    mechanism.require_numbers("workspace")
    if mechanism.loops:
        refuse_loops(mechanism, "workspace")
    check_workspace(mechanism, samples, seed, limits, cells)
    link = link if isinstance(link, str) else mechanism.link_names[mechanism.link_index(link)]
    mechanism = separated(mechanism)
    postures = Postures(
        mechanism, link, word_of(mask), bool(limits), pointing_of(pointing, within), ranges_of(mechanism, ranges)
    )
    return explored(postures, samples, seed, cells, Effort())


def explored(
    postures: Postures, samples: int, seed: int, cells: int, effort: Effort, towards: Towards | None = None
) -> Workspace:
    """What a frame reaches by postures of some kind, and by what leads ``towards`` places; the rest as for `workspace`."""
    rng = np.random.default_rng(seed)
    seeds = _seeds(postures, rng, effort.seeds)
    grid, edges, chart, turned = grid_of(postures, rng, seeds, cells, (effort.climbs, effort.tries))
    archive = Cells(edges, chart, postures)
    if turned >= 0:
        seeds[:, postures.base + turned] = 0.5 * sum(bound[turned] for bound in postures.ranges)
    archive.take(seeds)
    for start in range(0, samples, AT_ONCE):
        archive.take(postures.draw(rng, min(AT_ONCE, samples - start), turned))
    archive.improve(rng, effort.rounds, turned)
    missed = _completed(postures, rng, archive, min(effort.share, samples), towards) if towards else 0.0
    grid = grid.filled(archive.best.reshape(archive.shape))
    return _told(postures, rng, archive, grid, samples, effort, missed)


def _completed(postures: Postures, rng: np.random.Generator, archive: Cells, count: int, towards: Towards) -> float:
    """Reach more cells by random postures and by aiming at empty cells beside those reached; how many may still lack.

    A cell holds one posture, of one branch, so that others are missed until a random posture of them stands where nothing
    else does. What lacks is the share of the last random postures that did, before they were taken (I. J. Good, "The
    population frequencies of species and the estimation of population parameters", Biometrika 40, 1953), and as many cells
    as the last aims reached.
    """
    last = archive.fill(rng, towards)
    for _ in range(DRAWS):
        drawn = postures.draw(rng, count)
        p, _, valid = postures.evaluate(drawn)
        share = float(np.mean(np.isinf(archive.best[archive.places(p[valid])]))) if valid.any() else 1.0
        archive.take(drawn)
        last += archive.fill(rng, towards)
    return share * len(archive.reached) + last


def _told(
    postures: Postures, rng: np.random.Generator, archive: Cells, grid: Grid, samples: int, effort: Effort, missed: float
) -> Workspace:
    q = archive.q[archive.reached]
    positions, values, _ = postures.evaluate(q)
    base = np.asarray(postures.tree.base)[:3, 3]

    def extremes(p: FloatArray, w: FloatArray) -> FloatArray:
        far, away = np.linalg.norm(p - base, axis=1), grid.radius(p)
        return np.column_stack([p, -p, far, -far, away, -away, w, -w])

    drawn = postures.draw(rng, effort.share)
    some = q if len(q) <= effort.seeds else q[rng.choice(len(q), effort.seeds, replace=False)]
    start = np.concatenate([some, drawn[: effort.seeds]])
    result, at = climb(postures, rng, start, extremes, effort.climbs, effort.tries)
    shares = postures.evaluate(drawn)
    counted = shares[1][shares[2]]
    size, error, dimension = measured(postures, grid, missed)
    turns, marked = grid.has_axis, postures.evaluate(at[10:])[0]
    return Workspace(
        q,
        positions,
        values,
        grid,
        "the tool" if postures.link == TOOL else postures.tree.link_names[postures.path[-1]],
        postures.mask,
        postures.rank(list(rows_of(postures.mask))),
        dimension,
        size,
        error,
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
    """Postures to begin with, all pointing as asked."""
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


def check_workspace(mechanism: Tree, samples: int, seed: int, limits: bool, cells: int) -> None:
    """Raise `ArgumentError` naming the argument at fault."""
    if mechanism.floating:
        raise ArgumentError(f"{mechanism.name!r} has a floating base, which goes anywhere; expected a fixed base")
    if not mechanism.nv:
        raise ArgumentError(f"{mechanism.name!r} has no joint that moves")
    wholes = (("samples", samples, 1000, 10**9), ("seed", seed, 0, 2**63), ("cells", cells, 16, 1000))
    for name, value, least, most in wholes:
        number_within(name, value, least, most, f"a whole number from {least} to {most}", whole=True)
    flag("limits", limits)
