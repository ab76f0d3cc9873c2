"""`Linkage`: a mechanism with closed loops, whose motion follows from its driven coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members
from linkwise.kernel import Kernel
from linkwise.loops.actuation import driven_coordinates, driven_count, passive_speeds
from linkwise.loops.assembly_modes import CONVERGED, LIMITS, WORDS, LinkageSolution, assemble, shaped
from linkwise.loops.continuation import BranchFollower
from linkwise.loops.loop_solver import CLOSED, NEARLY, closed_samples, closing, repeating
from linkwise.loops.mobility import generic_positions, ranks_at
from linkwise.loops.singularities import Singularities, singularities_at
from linkwise.loops.step_kernels import DONE, STEPS, LinkageEquations
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.linear import RANK, independent_columns, rank_of
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch, first_place, numbers, vectors

#: Relative residual of velocities and accelerations in all closure equations.
LEFT = 1e-9


def given_rates(tree: Tree, q: npt.ArrayLike, **rates: npt.ArrayLike) -> list[Any]:
    """Positions and rates for the kernels; a single number may mean one driven coordinate."""
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
        Their name in messages.
    linkage : Linkage
        Whose they are.
    q, result : array_like
        Positions (..., nq) and rates.
    measures : pair of array_like
        How far loops are open at q (...), and what all closure equations leave of the rates (...).
    **rates : array_like
        The other arguments, by name.

    Raises
    ------
    ArgumentError
        For numbers that are not finite; for the first position at which loops are open, or the driven coordinates cannot
        drive, or rates open the loops.
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
        f"{quantity}: the given velocities open the loops, or the position{place} is too near a singular one;"
        f" the closure equations leave {left[where]:.2g} of the result (see singularities)"
    )


_NUMBERS = {reason: number for number, reason in enumerate(WORDS)}


class Linkage:
    """Positions, velocities and accelerations of a mechanism with closed loops, from those of its driven coordinates.

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
        Seed of the random starts.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
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
        require_numeric_tree(mechanism, "Linkage")
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
        """Names of the driven coordinates."""
        return tuple(self._task.names[k] for k in self._system.driven)

    @property
    def passive(self) -> tuple[str, ...]:
        """Names of the passive coordinates; of joints with quaternions, those of their velocities."""
        return tuple(self._task.names[k] for k in self._system.passive)

    @property
    def equations(self) -> LinkageEquations:
        """The solved equations, over scalars."""
        return self._system

    @property
    def idle(self) -> tuple[str, ...]:
        """Names of the velocities of joints with quaternions that stay zero: idle freedoms, as the spin of a rod."""
        return tuple(self._task.names[k] for k in self._idle)

    def driven_part(self, q: npt.ArrayLike) -> FloatArray:
        """The driven coordinates (..., m) of positions (..., nq)."""
        coordinates = vectors("q", q, self.mechanism.nq)
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
            Start configuration; `Linkage.q0` by default.

        Raises
        ------
        ArgumentError
            Where shapes do not fit, or what is given is not a finite number.

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
        """Positions (T, nq) along driven coordinates u (T, m), or (T,) for a single one, each continued from the last.

        Where the branch ends the rest is not tried: those positions repeat the last one, without success.

        Parameters
        ----------
        u : (T, m) array_like
            Driven coordinates, instant by instant.
        q0 : (nq,) array_like, optional
            Start configuration; `Linkage.q0` by default.
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

    # ── velocities and accelerations ──────────────────────────────────────────────────────────────────

    def velocity(self, q: npt.ArrayLike, ud: npt.ArrayLike) -> FloatArray:
        """Velocities qd (..., nv) at closed positions q (..., nq) for driven velocities ud (..., m).

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
        """Accelerations qdd (..., nv) at closed positions q and velocities qd, for driven accelerations udd (..., m).

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
        """Distance of a closed position q (nq,) from toggle positions and dead points.

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
        """Position by all methods, for batches and where one step fails."""
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
