"""`Linkage`: a mechanism with closed loops, its driven coordinates, and continuation along a branch.

A step that is too long to be sure of the branch is taken again shorter, one that went well is followed by one twice as long
(P. Deuflhard, *Newton Methods for Nonlinear Problems*, 2004, chapter 5). Where the start is open there is no branch to keep:
damped least squares close the loops at the driven coordinates first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.kernel import Kernel
from linkwise.loops.assembly_modes import (
    CONVERGED,
    ITERATIONS,
    LIMITS,
    STALLED,
    TOGGLE,
    WORDS,
    LinkageSolution,
    assemble,
    shaped,
)
from linkwise.loops.loop_solver import CLOSED, NEARLY, LoopEquations, closed_near, closed_samples, closing, repeating
from linkwise.loops.mobility import generic_positions, ranks_at
from linkwise.loops.singularities import Singularities, singularities_at
from linkwise.loops.step_kernels import DONE, OPEN, OUTSIDE, STEPS, LinkageEquations
from linkwise.model.tree import Tree
from linkwise.solve.validation import joint_index
from linkwise.spatial.linear import RANK, independent_columns, rank_of
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch, first_place, numbers, vectors

#: What a joint is worth as a passive one, against 1: with a motor or a greatest effort; with limits; without mass on it.
_MOTOR, _LIMITS, _HELPER = 1e-3, 0.3, 10.0

#: What the speeds of joints with quaternions are worth: they are never driven, and follow wherever they can.
_MANIFOLD = 1e6


def driven_coordinates(
    task: LoopEquations, jacobians: FloatArray, driven_joints: Sequence[int | str] | None
) -> tuple[int, ...]:
    """Places, among the speeds of the task, of the driven joint coordinates, in the order given.

    Parameters
    ----------
    task : LoopEquations
        The closure equations.
    jacobians : ndarray (S, K, s)
        At several closed positions.
    given : sequence of int or str, optional
        What the user wants; by default what `automatic` gives.

    Raises
    ------
    ArgumentError
        Where the number is wrong, a name unknown, or the set cannot drive, saying which could.
    """
    tree = task.mechanism
    rank = rank_of(np.linalg.svd(jacobians[0], compute_uv=False))
    if driven_joints is None:
        return automatic(task, jacobians, rank)
    chosen = tuple(task.first + joint_index(tree, "driven", item) for item in driven_joints)
    if len(set(chosen)) < len(chosen):
        raise ArgumentError(f"driven is {shown(driven_joints)}; expected different coordinates of {tree.name!r}")
    freedoms = driven_count(task, jacobians[0], rank)
    names = [task.names[k] for k in chosen]
    if len(chosen) != freedoms:
        could = members(task.names[k] for k in automatic(task, jacobians, rank, chosen))
        raise ArgumentError(
            f"{tree.name!r} has {freedoms} degree{'s' * (freedoms != 1)} of freedom, so {freedoms}"
            f" {'coordinate is' if freedoms == 1 else 'coordinates are'} driven,"
            f" not {len(chosen)}{f' ({members(names)})' if names else ''}; {could} could be"
        )
    passive = [k for k in range(len(task.speeds)) if k not in chosen]
    if all(rank_of(np.linalg.svd(jac[:, passive], compute_uv=False)) < rank for jac in jacobians):
        raise ArgumentError(f"{members(names)} cannot drive {tree.name!r}; {_could(task, jacobians, rank, chosen)}")
    return chosen


def driven_count(task: LoopEquations, jacobian: FloatArray, rank: int) -> int:
    """How many coordinates are driven: the freedoms of the joints without quaternions.

    Where these rest, joints with quaternions may still move by themselves, as a rod between two balls spins.
    """
    return task.mechanism.n - rank + rank_of(np.linalg.svd(jacobian[:, : task.first], compute_uv=False))


def passive_speeds(
    task: LoopEquations, jacobians: FloatArray, rank: int, driven: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Places of the speeds that follow the driven ones, and of those of joints with quaternions that rest."""
    others = np.array([k for k in range(len(task.speeds)) if k not in driven], dtype=np.intp)
    if not task.manifold:
        return tuple(others.tolist()), ()
    passive = others[list(independent_columns(jacobians[..., others], rank, _weights(task)[others]))]
    return tuple(passive.tolist()), tuple(sorted({*others.tolist()} - {*passive.tolist()}))


def automatic(task: LoopEquations, jacobians: FloatArray, rank: int, preferred: Sequence[int] = ()) -> tuple[int, ...]:
    """The driven coordinates whose passive ones are best conditioned at the worst of some positions.

    Joints with a motor or a greatest effort are taken before others, then those with limits.
    """
    weights = _weights(task)
    weights[list(preferred)] = _MOTOR**2
    passive = independent_columns(jacobians, rank, weights)
    return tuple(k for k in range(task.first, len(task.speeds)) if k not in passive)


def _weights(task: LoopEquations) -> FloatArray:
    """What each speed (s,) is worth as a passive one."""
    tree = task.mechanism
    driven_by = {drive.coordinate for drive in tree.drives}
    limited = np.isfinite(tree.q_min) & np.isfinite(tree.q_max)
    weights = np.where(limited, _LIMITS, 1.0)
    weights[[k in driven_by or np.isfinite(effort) for k, effort in enumerate(tree.tau_max)]] = _MOTOR
    weights[_massless(tree)] = _HELPER
    return np.concatenate([np.full(task.first, _MANIFOLD), weights])


def _massless(tree: Tree) -> list[int]:
    """Coordinates of joints whose own link has no mass: they only help to place another."""
    pairs = zip(tree.links, tree.coordinates, strict=True)
    massless = [(k, link.body.is_zero) for link, k in pairs if k >= 0 and not link.mimic]
    return [k for k, empty in massless if empty] if not all(empty for _, empty in massless) else []


def _could(task: LoopEquations, jacobians: FloatArray, rank: int, chosen: Sequence[int]) -> str:
    """Which sets could drive: all, where one coordinate does, else the one nearest to what was chosen."""
    if len(chosen) != 1:
        return f"{members(task.names[k] for k in automatic(task, jacobians, rank, chosen))} could, for instance"
    able = []
    for k in range(task.first, len(task.speeds)):
        others = [j for j in range(len(task.speeds)) if j != k]
        if any(rank_of(np.linalg.svd(jac[:, others], compute_uv=False)) == rank for jac in jacobians):
            able.append(task.names[k])
    return f"{members(able)} could"


#: A step of the driven coordinates below this, rad or longest offsets, is not cut again: the branch ends there. Loops that
#: are closed to 1e-15 leave a position uncertain by 3e-8 where a branch ends, so that shorter steps would tell nothing.
SHORTEST = 1e-6

#: Not settled: to be followed from where it is.
_WALK = -1

#: A step by all closure equations, rad or longest offsets, and the smallest singular value, beside the greatest, with which
#: they settle the passive coordinates well.
HOP, WELL = 1e-2, 0.05

#: Steps at most.
ROUNDS = 2000

#: How far the end of a branch may be from the last position that was sure: driven coordinates, and passive ones, which go
#: with the square root there; rad and longest offsets.
AT_END = 10 * SHORTEST, 0.05

Step = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
Counts = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class BranchFollower:
    """How positions are followed: the closure equations, the compiled step, and the places of what drives and follows."""

    task: LoopEquations
    step: Step
    driven: npt.NDArray[np.intp]
    passive: npt.NDArray[np.intp]

    def follow(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, FloatArray, Counts]:
        """Positions (N, nq) at driven coordinates u (N, m) from starts (N, nq), reasons, closure errors and iterations."""
        with np.errstate(all="ignore"):
            q, error, code = self.step(u, start)
        reasons = np.where(code == OUTSIDE, LIMITS, CONVERGED)
        taken = np.full(len(q), STEPS, dtype=np.intp)
        unfinished = np.flatnonzero((code != DONE) & (code != OUTSIDE))
        if unfinished.size:
            q[unfinished], reasons[unfinished], more = self._farther(u[unfinished], start[unfinished])
            taken[unfinished] += more
            error[unfinished] = self.task.error(q[unfinished])
            closed = error[unfinished] <= CLOSED
            there = reasons[unfinished] == CONVERGED
            beyond = there & closed & self.task.beyond(q[unfinished], CLOSED)
            reasons[unfinished] = np.where(beyond, LIMITS, np.where(there & ~closed, STALLED, reasons[unfinished]))
        return q, reasons, error, taken

    def _farther(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, Counts]:
        """What one step does not reach: close the start where it is open, then go on in as many steps as it takes."""
        q, taken = start.copy(), np.zeros(len(u), dtype=np.intp)
        reasons = np.full(len(u), _WALK, dtype=np.intp)
        opened = np.flatnonzero(~(self.task.error(start) <= NEARLY))
        if opened.size:
            q[opened], reasons[opened], taken[opened] = self._closed(u[opened], start[opened])
        walking = np.flatnonzero(reasons == _WALK)
        if walking.size:
            q[walking], reasons[walking], more = self._walked(u[walking], q[walking])
            taken[walking] += more
        return q, reasons, taken

    def _closed(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, Counts]:
        """Close open starts at the driven coordinates; else anywhere near, to be followed from there (reason `_WALK`)."""
        held = self._at(u, start)
        q, error, taken = closed_near(self.task, held, self.passive)
        reasons = np.where(error <= CLOSED, CONVERGED, _WALK)
        q[:, self.task.shift + self.driven] = held[:, self.task.shift + self.driven]
        open_rows = np.flatnonzero(reasons == _WALK)
        if open_rows.size:
            best, closed, more = closed_near(self.task, start[open_rows])
            taken[open_rows] += more
            reasons[open_rows[closed > CLOSED]] = STALLED
            keep = (closed <= CLOSED) | (closed < error[open_rows])
            q[open_rows[keep]] = best[keep]
        return q, reasons, taken

    def _walked(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, Counts]:
        """Follow the branch of closed starts as far as it goes."""
        q, count = start.copy(), len(u)
        first = start[:, self.task.shift + self.driven]
        length = (np.abs(u - first) / self.task.columns[self.driven]).max(axis=-1)
        done, pace, taken = np.zeros(count), np.full(count, 0.5), np.zeros(count, dtype=np.intp)
        ends = np.full(count, TOGGLE, dtype=np.intp)
        for _ in range(ROUNDS):
            active = np.flatnonzero((done < 1.0) & (pace * length >= SHORTEST))
            if not active.size:
                break
            share = np.minimum(done[active] + pace[active], 1.0)
            wanted = np.where(share[:, None] < 1.0, first[active] + share[:, None] * (u[active] - first[active]), u[active])
            with np.errstate(all="ignore"):
                solved, _, code = self.step(wanted, q[active])
            taken[active] += STEPS
            good = (code == DONE) | (code == OUTSIDE)
            short = np.flatnonzero(~good & (pace[active] * length[active] <= HOP))
            if short.size:
                hop = np.minimum(done[active[short]] + HOP / length[active[short]], 1.0)
                over, reached = self._hopped(first[active[short]], u[active[short]], hop, q[active[short]])
                sure = short[reached]
                solved[sure], share[sure], good[sure] = over[reached], hop[reached], True
            q[active[good]], done[active[good]] = solved[good], share[good]
            pace[active] *= np.where(good, 2.0, 0.25)
            ends[active] = np.where(code == OPEN, STALLED, TOGGLE)
        left = done < 1.0
        reasons = np.where(left, np.where(pace * length >= SHORTEST, ITERATIONS, ends), CONVERGED)
        ended = np.flatnonzero(left & (reasons != ITERATIONS))
        if ended.size:
            last, more = self._at_end(u[ended], q[ended])
            taken[ended] += more
            reached = np.isfinite(last[:, 0])
            q[ended[reached]], reasons[ended[reached]] = last[reached], CONVERGED
        return q, reasons, taken

    def _hopped(
        self, first: FloatArray, u: FloatArray, share: FloatArray, q: FloatArray
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Positions a short step on, by all closure equations, and which of them are sure.

        Where equations repeat each other the ones that a step solves may do so by themselves at some position, though all
        together settle the passive coordinates well. Only there this goes on: near the end of a branch, or where branches
        meet, they do not.
        """
        wanted = np.where(share[:, None] < 1.0, first + share[:, None] * (u - first), u)
        positions = np.full_like(q, np.nan)
        values = np.linalg.svd(self.task.jacobian(q)[..., self.passive], compute_uv=False)[..., : len(self.passive)]
        well = np.flatnonzero((values.shape[-1] == len(self.passive)) & (values.min(axis=-1) > WELL * values.max(axis=-1)))
        if not well.size:
            return positions, np.zeros(len(q), dtype=bool)
        closed, error, _ = closed_near(self.task, self._at(wanted[well], q[well]), self.passive)
        moved = np.abs(self.task.apart(q[well], closed)).max(axis=-1)
        close = (error <= CLOSED) & (moved <= HOP / WELL)
        positions[well[close]] = closed[close]
        return positions, np.isfinite(positions[:, 0])

    def _at_end(self, u: FloatArray, q: FloatArray) -> tuple[FloatArray, Counts]:
        """The end of a branch itself, where Newton's method is slow: NaN where it is not what was asked for."""
        held = self._at(u, q)
        closed, error, taken = closed_near(self.task, held, self.passive)
        same = closed[:, self.task.shift + self.driven] == held[:, self.task.shift + self.driven]
        moved = np.abs(self.task.apart(q, closed))
        close = (moved[:, self.driven].max(axis=-1) <= AT_END[0]) & (moved.max(axis=-1) <= AT_END[1])
        near = (error <= CLOSED) & same.all(axis=-1) & close
        return np.where(near[:, None], closed, np.nan), taken

    def _at(self, u: FloatArray, q: FloatArray) -> FloatArray:
        start = q.copy()
        start[:, self.task.shift + self.driven] = u
        return start


#: What all closure equations may leave of speeds and accelerations, as a share of these.
LEFT = 1e-9


def given_rates(tree: Tree, q: npt.ArrayLike, **rates: npt.ArrayLike) -> list[Any]:
    """Positions and rates as the kernels take them; a single number may stand for one driven coordinate."""
    if all(type(value) is np.ndarray for value in (q, *rates.values())):
        return [q, *rates.values()]
    states = [numbers("q", q, f"real numbers (..., {tree.nq})")]
    for name, value in rates.items():
        state = numbers(name, value)
        states.append(state[None] if state.ndim == 0 else state)
    return states


def checked_rates(
    quantity: str,
    linkage: Linkage,
    q: npt.ArrayLike,
    result: FloatArray,
    measures: tuple[npt.ArrayLike, npt.ArrayLike],
    **rates: npt.ArrayLike,
) -> FloatArray:
    """Rates (..., nv) that all closure equations allow.

    Parameters
    ----------
    quantity : str
        How messages call them.
    linkage : Linkage
        Whose they are.
    q, result : array_like
        Positions (..., nq) and rates.
    measures : pair of array_like
        How far loops are open at q (...), and what all closure equations leave of the rates (...).
    **rates : array_like
        What was given beside q, by name.

    Raises
    ------
    ArgumentError
        For what is no finite number; for the first position at which loops are open, or the driven coordinates cannot drive,
        or rates open the loops.
    """
    gap, left = (np.asarray(measure) for measure in measures)
    good = (gap <= NEARLY) & (left <= LEFT)
    if good.all():
        return result
    for name, value in {"q": q, **rates}.items():
        numbers(name, value)  # (raises where it is not finite)
    where = first_place(~good)
    place = f" at {where}" if where else ""
    if not gap[where] <= NEARLY:
        raise ArgumentError(f"{quantity}: loops are open at q{place} by {gap[where]:.3g}; position closes them")
    shape = (*result.shape[:-1], linkage.mechanism.nq)
    measure = linkage.singularities(np.broadcast_to(np.asarray(q, dtype=np.float64), shape)[where])
    if measure.driving <= RANK:
        raise ArgumentError(
            f"{quantity}: q{place} is a toggle position, in which {members(linkage.driven)} cannot drive"
            f" (smallest singular value {measure.driving:.2g})"
        )
    raise ArgumentError(
        f"{quantity}: the speeds given open the loops, or the position{place} is too near a singular one;"
        f" the closure equations leave {left[where]:.2g} of the result (see singularities)"
    )


_NUMBERS = {reason: number for number, reason in enumerate(WORDS)}


class Linkage:
    """Positions, speeds and accelerations of a mechanism with closed loops, from those of its driven coordinates.

    Of the closure equations as many independent ones as there are passive coordinates are solved by Newton's method, in one
    compiled function; all of them are checked in the same function afterwards. A floating base stays where it is.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    driven : sequence of int or str, optional
        Joint coordinates that are given, by name or index, as many as there are degrees of freedom, in the order in which u
        has them. Without, those whose passive ones are best conditioned, joints with motors or limits before others.
    q0 : (nq,) array_like, optional
        Where positions start from: the closed position that `assemble` finds from it, near by if there is one, is kept as
        `q0`. Zero, closed, where it is left out.
    seed : int
        Of what is drawn to find it.

    Attributes
    ----------
    mechanism : Mechanism
        What was given.
    driven, passive : tuple of str
        Names of the coordinates that are given, in their order, and of those that follow, in that of `mechanism.names`.
    q0 : ndarray (nq,)
        A closed position.
    rows : tuple of int
        Which closure equations are solved.

    Raises
    ------
    ArgumentError
        Where no closed position was found, the number of driven coordinates is wrong, or they cannot drive.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> linkage = Linkage(robots.four_bar(), ["crank"])
    >>> linkage.passive
    ('coupler', 'rocker')
    >>> turn = linkage.trace(np.linspace(0.0, 2.0 * np.pi, 73))
    >>> bool(turn.success.all()), bool(abs(turn.q[-1, 2] - turn.q[0, 2]) < 1e-9)
    (True, True)
    """

    def __init__(
        self,
        mechanism: Tree,
        driven: Sequence[int | str] | None = None,
        q0: npt.ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        mechanism.require_numbers("Linkage")
        if not mechanism.loops:
            raise ArgumentError(f"{mechanism.name!r} has no loops; every coordinate of it is driven")
        if isinstance(driven, (str, int, np.integer)):
            driven = [driven]
        self._task = closing(mechanism)
        assembled = assemble(mechanism, q0, seed)
        if assembled.q.ndim != 1:
            raise ArgumentError(f"q0 has the shape {assembled.q.shape}; expected ({mechanism.nq},)")
        if not assembled.success:
            raise ArgumentError(
                f"no position of {mechanism.name!r} was found with loops closed to {CLOSED:g}; the nearest is open by"
                f" {assembled.closure_error:.3g}, q = {assembled.q.round(6).tolist()}"
                f"{repeating(self._task, assembled.closure_error)}"
            )
        self.mechanism = mechanism
        self.q0 = assembled.q
        self._rank, self._generic = self._positions(seed)
        if self._freedoms == 0 and q0 is None:  # (an assembly that is stuck; another one may move)
            self.q0 = generic_positions(self._task)[0]
            self._rank, self._generic = self._positions(seed)
        self.q0.flags.writeable = False
        jacobians = self._task.jacobian(self._generic)
        if self._freedoms == 0:
            raise ArgumentError(f"{mechanism.name!r} has no degree of freedom (see mobility); there is nothing to drive")
        chosen = driven_coordinates(self._task, jacobians, driven)
        passive, self._idle = passive_speeds(self._task, jacobians, self._rank, chosen)
        able = [jac for jac in jacobians if rank_of(np.linalg.svd(jac[:, passive], compute_uv=False)) == self._rank]
        self.rows = independent_columns(np.swapaxes(np.array(able), -1, -2)[:, list(passive)], self._rank)
        self._system = LinkageEquations(self._task, chosen, passive, self.rows)

    def _positions(self, seed: int) -> tuple[int, FloatArray]:
        """The rank of the closure equations around q0, and closed positions (k, nq) with this rank, there and elsewhere."""
        near, far = generic_positions(self._task, self.q0), closed_samples(self._task, seed=seed)
        samples = np.vstack([near, far])
        ranks = ranks_at(self._task, samples)
        return int(ranks[0]), samples[ranks == ranks[0]]

    @property
    def _freedoms(self) -> int:
        return driven_count(self._task, self._task.jacobian(self._generic[0]), self._rank)

    # ── what is driven ────────────────────────────────────────────────────────────────────────────

    @property
    def driven(self) -> tuple[str, ...]:
        """Names of the coordinates that are given."""
        return tuple(self._task.names[k] for k in self._system.driven)

    @property
    def passive(self) -> tuple[str, ...]:
        """Names of the coordinates that follow; of joints with quaternions, of their speeds."""
        return tuple(self._task.names[k] for k in self._system.passive)

    @property
    def equations(self) -> LinkageEquations:
        """What is solved, over scalars."""
        return self._system

    @property
    def idle(self) -> tuple[str, ...]:
        """Names of the speeds of joints with quaternions that stay zero: what the loops leave free, as the spin of a rod."""
        return tuple(self._task.names[k] for k in self._idle)

    def driven_part(self, q: npt.ArrayLike) -> FloatArray:
        """The driven coordinates (..., m) of positions (..., nq)."""
        coordinates = numbers("q", q, f"real numbers (..., {self.mechanism.nq})")
        return np.asarray(coordinates[..., [self._task.shift + k for k in self._system.driven]])

    # ── positions ─────────────────────────────────────────────────────────────────────────────────

    def position(self, u: npt.ArrayLike, q0: npt.ArrayLike | None = None) -> LinkageSolution:
        """The position at driven coordinates u (..., m), on the branch of q0.

        From a closed q0 the branch is followed in as many steps as it takes to be sure of it; a warm call is one compiled
        step. From an open one the loops are closed by damped least squares first, on whichever branch is near. The way is
        the straight one in the driven coordinates: where it meets a toggle position another one may lead there; see `trace`.

        Parameters
        ----------
        u : (..., m) array_like
            Driven coordinates, rad or m, in the order of `driven`; one number where there is one.
        q0 : (..., nq) array_like, optional
            Where to start; `Linkage.q0` by default.

        Raises
        ------
        ArgumentError
            Where shapes do not fit, or what is given is no finite number.

        Examples
        --------
        >>> from linkwise import robots
        >>> linkage = Linkage(robots.slider_crank(), ["crank"])
        >>> linkage.position([0.3]).success
        True
        """
        start = self.q0 if q0 is None else q0
        if type(u) is np.ndarray and type(start) is np.ndarray and u.ndim == start.ndim == 1:
            q, error, code = self._step(u, start)
            if code == DONE:
                return LinkageSolution.of(
                    q=q, success=True, reason="converged", closure_error=float(error), iterations=STEPS
                )
        return self._solved(u, start)

    def trace(self, u: npt.ArrayLike, q0: npt.ArrayLike | None = None) -> LinkageSolution:
        """Positions (T, nq) along driven coordinates u (T, m), or (T,) where there is one, each from the one before.

        Where the branch ends the rest is not tried: those positions repeat the last one, without success.

        Parameters
        ----------
        u : (T, m) array_like
            Driven coordinates, instant by instant.
        q0 : (nq,) array_like, optional
            Where to start; `Linkage.q0` by default.
        """
        path = numbers("u", u, f"real numbers (T, {len(self._system.driven)})")
        path = path[:, None] if path.ndim == 1 and len(self._system.driven) == 1 else path
        if path.ndim != 2 or path.shape[1] != len(self._system.driven):
            raise ArgumentError(f"u has the shape {np.shape(u)}; expected (T, {len(self._system.driven)})")
        here = self.q0 if q0 is None else vectors("q0", q0, self.mechanism.nq)
        if here.ndim != 1:
            raise ArgumentError(f"q0 has the shape {here.shape}; expected ({self.mechanism.nq},)")
        q = np.empty((len(path), self.mechanism.nq))
        reasons = np.empty(len(path), dtype=np.intp)
        errors, taken = np.empty(len(path)), np.zeros(len(path), dtype=np.intp)
        for k, wanted in enumerate(path):
            step = self.position(wanted, here)
            here, reasons[k] = step.q, _NUMBERS[step.reason]
            q[k], errors[k], taken[k] = here, step.closure_error, step.iterations
            if reasons[k] not in {CONVERGED, LIMITS}:
                q[k:], reasons[k:], errors[k:] = here, reasons[k], step.closure_error
                break
        return shaped(q, reasons, errors, taken, (len(path),))

    # ── speeds and accelerations ──────────────────────────────────────────────────────────────────

    def velocity(self, q: npt.ArrayLike, ud: npt.ArrayLike) -> FloatArray:
        """Speeds qd (..., nv) at closed positions q (..., nq) for driven speeds ud (..., m).

        Raises
        ------
        ArgumentError
            Where loops are open at q, or q is a toggle position, in which the driven coordinates cannot drive.

        Examples
        --------
        >>> from linkwise import robots
        >>> linkage = Linkage(robots.slider_crank(), ["crank"])
        >>> q = linkage.position([0.0]).q
        >>> abs(float(linkage.velocity(q, [1.0])[2])) < 1e-12  # the slider stands still in its dead point
        True
        """
        qd, gap, left = self._velocity(*given_rates(self.mechanism, q, ud=ud))
        if np.ndim(gap) == 0 and gap <= NEARLY and left <= LEFT:
            return np.asarray(qd)
        return checked_rates("velocity", self, q, np.asarray(qd), (gap, left), ud=ud)

    def acceleration(self, q: npt.ArrayLike, qd: npt.ArrayLike, udd: npt.ArrayLike) -> FloatArray:
        """Accelerations qdd (..., nv) at closed positions q and speeds qd (..., nv) for driven accelerations udd (..., m).

        Raises
        ------
        ArgumentError
            Where loops are open at q, speeds would open them, or q is a toggle position.
        """
        qdd, gap, left = self._acceleration(*given_rates(self.mechanism, q, qd=qd, udd=udd))
        if np.ndim(gap) == 0 and gap <= NEARLY and left <= LEFT:
            return np.asarray(qdd)
        return checked_rates("acceleration", self, q, np.asarray(qdd), (gap, left), qd=qd, udd=udd)

    def singularities(self, q: npt.ArrayLike, output: int | str | None = None) -> Singularities:
        """How near a closed position q (nq,) is to toggle positions and dead points.

        Parameters
        ----------
        q : (nq,) array_like
            A closed position.
        output : int or str, optional
            A link whose motion matters, by name or index; ``"tool"`` the tool.

        Raises
        ------
        ArgumentError
            Where loops are open at q.

        Examples
        --------
        >>> from linkwise import robots
        >>> linkage = Linkage(robots.slider_crank(), ["crank"])
        >>> linkage.singularities(linkage.position([0.0]).q).still
        ('slider',)
        """
        return singularities_at(self._task, self._system, (self._rank, self._generic), q, output)

    # ── how it is done ────────────────────────────────────────────────────────────────────────────

    @cached_property
    def step_kernel(self) -> Kernel:
        """The compiled step: (u, q) to the next q, the closure error, and a code that is 0 where all is well."""
        return self._system.kernel("step")

    @cached_property
    def _step(self) -> Any:
        return _entry(self.step_kernel)

    @cached_property
    def _velocity(self) -> Any:
        return _entry(self._system.kernel("velocity"))

    @cached_property
    def _acceleration(self) -> Any:
        return _entry(self._system.kernel("acceleration"))

    @cached_property
    def _follower(self) -> BranchFollower:
        which = (np.array(part, dtype=np.intp) for part in (self._system.driven, self._system.passive))
        return BranchFollower(self._task, self.step_kernel, *which)

    def _solved(self, u: npt.ArrayLike, q0: npt.ArrayLike) -> LinkageSolution:
        """The position by every means, for batches and for what one step does not reach."""
        count = len(self._system.driven)
        wanted, start = numbers("u", u, f"real numbers (..., {count})"), vectors("q0", q0, self.mechanism.nq)
        wanted = wanted[None] if wanted.ndim == 0 and count == 1 else wanted
        if wanted.shape[-1:] != (count,):
            names = members(self.driven)
            raise ArgumentError(f"u has the shape {np.shape(u)}; expected (..., {count}), for {names}")
        batch = common_batch(u=wanted.shape[:-1], q0=start.shape[:-1])
        wanted = np.broadcast_to(wanted, (*batch, count)).reshape(-1, count)
        start = np.broadcast_to(start, (*batch, self.mechanism.nq)).reshape(-1, self.mechanism.nq)
        q, reasons, errors, taken = self._follower.follow(wanted, start)
        return shaped(q, reasons, errors, taken, batch)

    def __repr__(self) -> str:
        return f"<Linkage {self.mechanism.name!r}: driven {members(self.driven)}; passive {members(self.passive)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.mechanism, self.driven, self.q0)


def _entry(kernel: Kernel) -> Any:
    """The kernel by its compiled entry; a singular position gives NaN without a warning, and is recognised by that."""

    def quiet(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return kernel(*args)

    return kernel.entry(quiet) or quiet
