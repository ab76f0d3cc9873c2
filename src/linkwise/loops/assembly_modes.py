"""Assembly modes of planar loops in closed form, and assembly of closed loops by iteration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members
from linkwise.kernel import Kernel, trace
from linkwise.loops.loop_solver import CLOSED, closed_near, closing, random_starts
from linkwise.loops.planar_loop_geometry import Ring, arranged, close, dyads_of, pinned, planar_rings
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.solve.joint_limits import near_zero
from linkwise.solve.solution import REASONS, Solution
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import vectors, whole


class AssemblyModes:
    """All assembly modes of a mechanism of planar loops, for given values of its driven coordinates.

    Each loop must be left with two unknown coordinates beside its pin (three where it is closed by a ``"full"`` loop) once
    the driven ones and those of the loops before it are known. Such a loop closes in two ways, at the two points where two
    circles meet, or a circle and a line; k loops in 2**k ways. This covers the four-bar, the slider-crank, the five-bar,
    Jansen's leg, and six-bars driven at a suitable joint. Limits of joints are not looked at.

    Parameters
    ----------
    mechanism : Mechanism
        Every loop planar: axes of turning joints parallel, sliding joints across them. Coordinates of ball and floating
        joints, which no loop may run through, are among those that are given.
    driven : sequence of str, optional
        Names of the coordinates that are given; by default the first set that determines the rest, joints on the base first.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    driven : tuple of str
        Names of the coordinates that are given, in their order.
    passive : tuple of str
        Names of those that follow.
    loops : tuple of str
        Names of the loops in the order in which they are closed.
    signs : ndarray (2**k, k)
        For each mode, which way each loop is bent: +1 where the way over its three unknown joints turns left, seen against
        their common axis; where the third slides, where the link between the first two points along it. -1 otherwise.

    Raises
    ------
    ArgumentError
        Naming the loop and what keeps it from being closed in this way, or the coordinates there are.

    Examples
    --------
    >>> from linkwise import robots
    >>> modes = AssemblyModes(robots.four_bar())
    >>> modes.driven, modes.signs.tolist()
    (('crank',), [[1], [-1]])
    >>> q = modes.positions([0.6])
    >>> q.shape, modes.mode(q).tolist()
    ((2, 3), [0, 1])
    """

    def __init__(self, mechanism: Tree, driven: Sequence[str] | None = None) -> None:
        self.mechanism = mechanism
        rings = planar_rings(mechanism)
        names = mechanism.coordinate_names
        count = len(names) - sum(3 if ring.loop.kind == "full" else 2 for ring in rings)
        if count < 0:
            raise ArgumentError(
                f"the loops of {mechanism.name!r} are {-count} equations more than its coordinates: nothing is left to drive"
            )
        driven_set = _first_set(mechanism, rings, count) if driven is None else _indices(names, driven, count)
        dyads = dyads_of(rings, frozenset(driven_set))
        if isinstance(dyads, Ring):
            known = members(names[k] for k in driven_set) if driven_set else "nothing"
            raise ArgumentError(
                f"{dyads.named} is not closed by two circles, or a circle and a line, with {known} driven: it must be left"
                " with three joints to find, one sliding at most, and these apart; drive other coordinates, or use a Linkage"
            )
        self._given, self._dyads = driven_set, dyads
        self.driven = tuple(names[k] for k in driven_set)
        self.passive = tuple(name for k, name in enumerate(names) if k not in driven_set)
        self.loops = tuple(dyad.ring.loop.name or dyad.ring.named for dyad in dyads)
        self.signs: npt.NDArray[np.int64] = np.array(list(product((1, -1), repeat=len(rings))))

    def __repr__(self) -> str:
        return f"<AssemblyModes of {self.mechanism.name}: {len(self.signs)}, driven by {members(self.driven)}>"

    # ── what is asked ─────────────────────────────────────────────────────────────────────────────

    def positions(self, u: npt.ArrayLike, near: npt.ArrayLike | None = None) -> FloatArray:
        """All closed positions for given driven coordinates.

        Parameters
        ----------
        u : (..., m) array_like
            The driven coordinates, rad or m, in the order of `driven`.
        near : (..., nq) array_like, optional
            Angles are given within half a turn of these; without, in (-pi, pi].

        Returns
        -------
        ndarray (..., 2**k, nq)
            A position for each row of `signs`; NaN where the links do not reach. Each has been checked with the closure
            equations of the mechanism, to 1e-12 of its longest offset, and rad.

        Raises
        ------
        ArgumentError
            Where u has another number of coordinates.
        """
        values = vectors("u", u, len(self.driven), finite=False)
        with np.errstate(invalid="ignore"):  # (where the links do not reach)
            rows = np.array(self._positions(values))
        if near is not None:
            periodic = {link.coordinate_name for link in self.mechanism.links if link.joint_model.periodic}
            turning = [name in self.passive and name in periodic for name in self.mechanism.coordinate_names]
            aside = vectors("near", near, rows.shape[-1], finite=False)[..., None, :] - rows
            rows = rows + np.where(turning, 2.0 * np.pi * np.round(aside / (2.0 * np.pi)), 0.0)
        return self._checked(rows)

    def position(self, u: npt.ArrayLike, mode: int, near: npt.ArrayLike | None = None) -> FloatArray:
        """The closed position (..., nq) in one mode, a row of `signs`; see `positions`.

        Raises
        ------
        ArgumentError
            Naming the modes there are.
        """
        if not -1 < mode < len(self.signs):
            raise ArgumentError(f"mode is {mode!r}; expected 0 to {len(self.signs) - 1}, a row of signs")
        return np.asarray(self.positions(u, near)[..., mode, :])

    def mode(self, q: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Mode (...,) of a closed position q (..., nq): a row of `signs`; -1 exactly at a toggle, and for NaN."""
        agree = np.all(np.sign(self.transmission(q))[..., None, :] == self.signs, axis=-1)
        return np.where(agree.any(axis=-1), agree.argmax(axis=-1), -1)

    def transmission(self, q: npt.ArrayLike) -> FloatArray:
        """Sine of the transmission angle of each loop (..., k) at closed positions q (..., nq); its sign is the mode's.

        The angle between the two unknown links at the joint between them; where the third joint slides, that between the
        link and the normal to the sliding. Zero at a toggle, where two modes meet and the driven joints cannot move the
        loop; 1 is the farthest from it.

        Examples
        --------
        >>> from linkwise import robots
        >>> modes = AssemblyModes(robots.slider_crank())
        >>> modes.transmission(modes.position([0.5], 0)).round(6).tolist()
        [0.992791]
        """
        return np.asarray(self._transmission(vectors("q", q, self.mechanism.nq, finite=False)))

    def reach(self, point: npt.ArrayLike) -> FloatArray:
        """All positions with the pin of a single loop at a point: inverse kinematics of the five-bar.

        Parameters
        ----------
        point : (..., 3) array_like
            Where the frames of the loop are to meet, m, world frame.

        Returns
        -------
        ndarray (..., 4, nq)
            From the base out to the pin: both sides bent left, only the first, only the second, neither. NaN where a side
            does not reach, or the point is not in the plane of the loop.

        Raises
        ------
        ArgumentError
            Where the mechanism is not one loop of two joints to either side of its pin, on a fixed base.

        Examples
        --------
        >>> from linkwise import robots
        >>> modes = AssemblyModes(robots.five_bar())
        >>> bool(abs(modes.reach([0.0, 0.44, 0.0])[2]).max() < 1e-9)  # where all coordinates are zero
        True
        """
        ring, place = self._dyads[0].ring, vectors("point", point, 3, finite=False) - self.mechanism.base[:3, 3]
        with np.errstate(invalid="ignore"):
            rows = np.array(self._reach(place @ ring.plane.T))
        outside = np.abs(place @ ring.normal - ring.level) > CLOSED * ring.size
        rows[np.broadcast_to(outside[..., None], rows.shape[:-1])] = np.nan
        return self._checked(rows)

    @property
    def kernel(self) -> Kernel:
        """The compiled closed form: u (m,) to q (2**k, nq), not checked."""
        return self._positions

    # ── how it is computed ────────────────────────────────────────────────────────────────────────

    @cached_property
    def _positions(self) -> Kernel:
        def modes(u: Array) -> Array:
            rows = []
            for signs in self.signs.tolist():
                values = dict(zip(self._given, u, strict=True))
                for dyad, sign in zip(self._dyads, signs, strict=True):
                    values |= close(dyad.steps, values, float(sign))
                rows.append(_row(values, self.mechanism.nq))
            return np.array(rows)

        shapes = {"u": (len(self._given),)}, {"q": (len(self.signs), self.mechanism.nq)}
        return Kernel(trace(modes, "assembly_modes", *shapes))

    @cached_property
    def _transmission(self) -> Kernel:
        def sines(q: Array) -> Array:
            return np.array([dyad.bend(dict(enumerate(q))) for dyad in self._dyads], dtype=object)

        return Kernel(trace(sines, "transmission", {"q": (self.mechanism.nq,)}, {"sines": (len(self._dyads),)}))

    @cached_property
    def _reach(self) -> Kernel:
        ring, tree = self._dyads[0].ring, self.mechanism
        sides = (ring.first, ring.second)
        if len(self._dyads) > 1 or ring.loop.kind == "full" or tree.floating or [*map(len, sides)] != [2, 2] or tree.n != 4:
            raise ArgumentError(f"{tree.name!r} is not one loop of two joints to either side of a pin, on a fixed base")

        def reached(point: Array) -> Array:
            rows = []
            for signs in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
                values: dict[int, Any] = {}
                for side, end, sign in zip(sides, ring.ends, signs, strict=True):
                    steps = arranged((*side, *pinned(end, point)), frozenset())
                    values |= close(steps, {}, sign)
                rows.append(_row(values, tree.nq))
            return np.array(rows)

        return Kernel(trace(reached, "reach", {"point": (2,)}, {"q": (4, tree.nq)}))

    def _checked(self, rows: FloatArray) -> FloatArray:
        """The positions, NaN where a loop is open: a forward pass that shares nothing with the closed form."""
        with np.errstate(invalid="ignore"):
            open_by = np.abs(closing(self.mechanism).residual(rows)).max(axis=-1)
        rows[~(open_by <= CLOSED)] = np.nan
        return rows


def _row(values: dict[int, Any], count: int) -> Array:
    """The coordinates in their order."""
    return np.array([values[k] for k in range(count)], dtype=object)


def _indices(names: Sequence[str], driven: Sequence[str], count: int) -> tuple[int, ...]:
    """Indices of the driven coordinates, in the given order."""
    unknown = [name for name in driven if name not in names]
    if isinstance(driven, str) or unknown:
        raise ArgumentError(f"driven is {driven!r}; expected names among {members(names)}")
    if len(set(driven)) != len(driven) or len(driven) != count:
        raise ArgumentError(f"driven is {driven!r}; expected {count} different names among {members(names)}")
    return tuple(names.index(name) for name in driven)


def _first_set(mechanism: Tree, rings: Sequence[Ring], count: int) -> tuple[int, ...]:
    """The first coordinates, those next to the base first, that determine the others."""
    links = [k for k, link in enumerate(mechanism.links) if link.moves]
    shift = mechanism.nq - mechanism.n
    deep = {shift + mechanism.coordinates[k]: len(mechanism.path(k)) for k in links}
    inside = sorted({k for ring in rings for k in ring.coordinates}, key=lambda k: (deep[k], k))
    outside = [k for k in range(mechanism.nq) if k not in inside]
    for chosen in combinations(inside, max(0, count - len(outside))):
        driven = tuple(sorted((*outside, *chosen)))
        if len(driven) == count and not isinstance(dyads_of(rings, frozenset(driven)), Ring):
            return driven
    raise ArgumentError(
        f"the loops of {mechanism.name!r} are not closed by circles and lines, whatever is driven; use a Linkage"
    )


WORDS = ("converged", "limit", "toggle", "unreachable", "stalled", "iterations")

#: Reasons by number, in the order of `WORDS`.
CONVERGED, LIMITS, TOGGLE, UNREACHABLE, STALLED, ITERATIONS = range(len(WORDS))


class LinkageSolution(Solution):
    """A position of a mechanism with closed loops, or a batch of them.

    `closure_error` comes from an evaluation of all closure equations at q as it stands here, and `success` follows from it.

    Attributes
    ----------
    q : ndarray (..., nq)
        Coordinates, rad or m.
    success : bool or ndarray (...)
        Whether the loops are closed to 1e-12, hinges with axes of one sense, and q is what was asked for, within limits.
    reason : str or ndarray (...)
        A key of `linkwise.solve.REASONS`; ``"converged"`` where `success` is true, and only there.
    closure_error : float or ndarray (...)
        The greatest of all closure equations, lengths over the longest offset of the mechanism, angles by their sine; 2
        where a hinge is closed with opposed axes.
    iterations : int or ndarray (...)
        Newton steps, or steps of damped least squares, that were taken.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.loops import Linkage
    >>> Linkage(robots.four_bar(), ["crank"]).position([0.1])
    <LinkageSolution: converged after 4 iterations>
    """

    _tasks = " positions"
    closure_error: Any
    _rows = ("success", "reason", "closure_error", "iterations")
    position_error: Any = np.nan
    rotation_error: Any = np.nan

    def explain(self, index: int | Sequence[int] | None = None) -> str:
        """Explain the result of one position in words; of a batch, or of one of it.

        Parameters
        ----------
        index : int or sequence of int, optional
            Which of a batch.

        Raises
        ------
        ArgumentError
            Where the index is not in the batch.

        Examples
        --------
        >>> from linkwise import robots
        >>> from linkwise.loops import assemble
        >>> assemble(robots.four_bar()).explain().partition(",")[0]
        'it is solved'
        """
        if index is not None or not np.ndim(self.success):
            return self._explained(self._place(index))
        words, counts = np.unique(self.reason, return_counts=True)
        return "; ".join(f"{count}: {REASONS[str(word)]}" for word, count in zip(words, counts, strict=True))

    def _explained(self, place: tuple[int, ...]) -> str:
        reason, error = str(np.asarray(self.reason)[place]), float(np.asarray(self.closure_error)[place])
        return f"{REASONS[reason]} (closure error {error:.2g})"

    @property
    def _details(self) -> str:
        return f" after {self.iterations} iterations{'' if self.success else f', closure error {self.closure_error:.3g}'}"


def shaped(q: FloatArray, reasons: Any, errors: FloatArray, iterations: Any, batch: tuple[int, ...]) -> LinkageSolution:
    """Solution from rows (N), with reasons by number, in the shape of a batch, scalars without a batch."""
    rows = {"success": reasons == CONVERGED, "reason": np.array(WORDS)[reasons], "closure_error": errors}
    return LinkageSolution.of(q=q, iterations=iterations, **rows).shaped(batch)


#: Greatest number of random starts.
STARTS = 128

_AT_ONCE = 32


def assemble(mechanism: Tree, q0: npt.ArrayLike | None = None, seed: int = 0) -> LinkageSolution:
    """Return a position with all loops closed, within the joint limits.

    From q0 (zero where it is left out) by damped least squares, and where this does not close the loops from random starts
    that follow from the seed. Which of several ways to put the mechanism together is found depends on the start.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    q0 : (..., nq) array_like, optional
        Start configuration; the closed position that is found is one near by, if there is any.
    seed : int
        Seed of the random starts.

    Returns
    -------
    LinkageSolution
        Without success q is the position that came nearest, and `closure_error` says how near.

    Raises
    ------
    ArgumentError
        For a mechanism without loops, or q0 of another shape.

    Examples
    --------
    >>> from linkwise import robots
    >>> assemble(robots.four_bar(), [1.0, 0.0, 0.0]).closure_error < 1e-12
    True
    """
    require_numeric_tree(mechanism, "assemble")
    if not mechanism.loops:
        raise ArgumentError(f"{mechanism.name!r} has no loops; every position of it is closed")
    seed = whole("seed", seed, 0)
    task = closing(mechanism)
    start = near_zero(task.mechanism) if q0 is None else vectors("q0", q0, mechanism.nq)
    batch, starts = start.shape[:-1], start.reshape(-1, mechanism.nq)
    q, error, taken = closed_near(task, starts)
    others = random_starts(task, STARTS, seed) if (error > CLOSED).any() else starts[:0]
    for first in range(0, len(others), _AT_ONCE):
        open_rows = np.flatnonzero(error > CLOSED)
        if not open_rows.size:
            break
        positions, found_error, found_taken = closed_near(task, others[first : first + _AT_ONCE])
        closed, gaps = np.flatnonzero(found_error <= CLOSED), np.linalg.norm(task.residual(positions), axis=-1)
        best = int(closed[0]) if closed.size else int(np.argmin(gaps))
        better = (
            open_rows[gaps[best] < np.linalg.norm(task.residual(q[open_rows]), axis=-1)] if not closed.size else open_rows
        )
        moved = np.ix_(better, task.places)  # (a floating base stays where it is)
        q[moved], error[better], taken[better] = positions[best, task.places], found_error[best], found_taken[best]
    return shaped(q, np.where(error <= CLOSED, CONVERGED, UNREACHABLE), error, taken, batch)
