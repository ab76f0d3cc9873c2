"""Steps as long as a tolerance allows: SciPy's integrators over the compiled dynamics, one rollout after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linkwise.dynamics.closed_loops.projection import project_to_loops
from linkwise.errors import MissingExtraError, SimulationError, install_hint
from linkwise.kernel import Kernel
from linkwise.kernel.rollout import Recorded
from linkwise.kernel.tape import Shape, trace
from linkwise.kinematics.configuration import configuration_rate
from linkwise.model.tree import Tree
from linkwise.simulation.arguments import Start
from linkwise.simulation.closed import projected
from linkwise.simulation.events import member, watch
from linkwise.simulation.moved import Moved
from linkwise.simulation.progress import PATIENCE, Progress, Stuck
from linkwise.simulation.scheme import normalised
from linkwise.simulation.torque import Torque, asked
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.trajectory import Event

METHODS = {"rk23": "RK23", "rk45": "RK45", "dop853": "DOP853", "radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}
"""Our names of SciPy's methods."""

_STUCK = (
    f"{PATIENCE} evaluations without getting on, as where a joint comes to rest under Coulomb friction; take fixed steps"
    " (method='rk4'), or nofriction()"
)

Law = Callable[[float, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Task:
    """What is to be integrated, and how.

    Attributes
    ----------
    moved : Moved
        The mechanism, and what pushes it.
    t : ndarray (T,)
        Instants, s.
    start : Start
        Initial states.
    torque : Torque
        What drives it.
    hold : bool
        Whether the torque is that of the last instant.
    events : mapping of str to callable
        What is watched.
    solver : dict
        Method and tolerances, as SciPy calls them.
    mark : bool
        Whether what cannot be followed is left as NaN, instead of raising.
    backend : str or None
        Of the kernels.
    """

    moved: Moved
    t: FloatArray
    start: Start
    torque: Torque
    hold: bool
    events: Mapping[str, Any]
    solver: dict[str, Any]
    mark: bool
    backend: str | None

    @property
    def mech(self) -> Tree:
        """The mechanism."""
        return self.moved.tree


def integrate(task: Task) -> tuple[Recorded, tuple[Event, ...], FloatArray]:
    """Integrate every rollout; what is recorded at the instants, the events, and when each rollout ends.

    Raises
    ------
    MissingExtraError
        Where SciPy is not installed.
    SimulationError
        Where the solver gives up, unless the task says to mark that.
    """
    made = Recorded.empty(len(task.start.q), len(task.t), task.mech.nq, task.mech.nv)
    events: list[Event] = []
    ends = np.full(len(task.start.q), np.inf)
    rates, laws = _rates_kernel(task.moved, task.backend), _laws(task)
    for row in range(len(task.start.q)):
        one = _Rollout(task, rates, partial(laws, row), row)
        one.run()
        made.q[row], made.qd[row] = one.q, one.qd
        for k in range(len(task.t)):
            reached = np.isfinite(one.qd[k]).all()
            made.tau[row, k] = laws(row, k)(float(task.t[k]), one.q[k], one.qd[k]) if reached else np.nan
        ends[row] = one.end
        events += one.found
    made.qdd[...] = rates(made.q, made.qd, made.tau)[..., task.mech.nq :]
    return made, tuple(events), ends


def _rates_kernel(moved: Moved, backend: str | None) -> Kernel:
    """The derivative in time of the state, compiled once for a mechanism and what pushes it."""
    mech = moved.tree
    kept = mech.__dict__.setdefault("_rollouts", {})
    key = ("rates", backend, moved.external)
    if key not in kept:
        inputs = {"q": (mech.nq,), "qd": (mech.nv,), "tau": (mech.nv,)}
        kept[key] = Kernel(trace(partial(_rates, moved), "rates", inputs, {"rate": (mech.nq + mech.nv,)}), backend)
    made: Kernel = kept[key]
    return made


def _rates(moved: Moved, q: Array, qd: Array, tau: Array) -> Array:
    """Derivatives in time of the state (nq + nv,); with loops, of the nearest one that closes them."""
    if moved.tree.loops:
        q, qd = project_to_loops(moved.tree, q, qd)
    return np.concatenate([configuration_rate(moved.tree, q, qd), moved.accelerations(q, qd, tau)])


def _laws(task: Task) -> Callable[[int, int], Law]:
    """What gives the torque of a rollout from an instant on."""
    torque, mech = task.torque, task.mech
    if torque.function is not None:
        ask = asked(torque.function, (), mech.nv)
        return lambda row, k: lambda t, q, qd: ask(t, q, qd)[0]
    reads = torque.reads(task.start.batch)

    def read(array: FloatArray, row: int, k: int) -> FloatArray:
        return np.asarray(array[min(row, len(array) - 1), min(k, array.shape[1] - 1)])

    if torque.law is None:
        return lambda row, k: lambda t, q, qd: read(reads[0], row, k)
    law = torque.law
    kernel = law.kernel(mech, task.backend)
    shapes = [value.shape for value in law.inputs.values()]

    def compiled(row: int, k: int) -> Law:
        given = [read(array, row, k).reshape(shape) for array, shape in zip(reads, shapes, strict=True)]
        return lambda t, q, qd: np.asarray(kernel(t, q, qd, *given))

    return compiled


class _Rollout:
    """One initial state carried through all instants."""

    def __init__(self, task: Task, rates: Kernel, law: Callable[[int], Law], row: int) -> None:
        self.task, self.rates, self.law = task, rates, law
        self.member: Shape = member(row, task.start.batch)
        self.nq, instants = task.mech.nq, len(task.t)
        self.q = np.full((instants, task.mech.nq), np.nan)
        self.qd = np.full((instants, task.mech.nv), np.nan)
        self.q[0], self.qd[0] = task.start.q[row], task.start.qd[row]
        self.end = np.inf
        self.found: list[Event] = []
        self.seen = dict.fromkeys(task.events, 0)

    def run(self) -> None:
        """From the first instant to the last, at once where the torque does not change at instants."""
        last = len(self.task.t) - 1
        by_instant = self.task.torque.varies or (self.task.hold and self.task.torque.is_law)
        pieces = [(k, k + 1) for k in range(last)] if by_instant else [(0, last)] if last else []
        for first, then in pieces:
            if not self._piece(first, then):
                break
        if self.task.mech.loops:
            self.q[...], self.qd[...] = projected(self.task.mech, self.q, self.qd)
        if self.task.mech.floating:
            self.q[...] = np.moveaxis(normalised(np.moveaxis(self.q, -1, 0)), 0, -1)

    def _piece(self, first: int, then: int) -> bool:
        """From one instant to another; whether it goes on."""
        t, solve = self.task.t[first : then + 1], _solver()
        y = np.concatenate([self.q[first], self.qd[first]])
        law = self.law(first)
        if self.task.hold and self.task.torque.is_law:
            tau = law(float(t[0]), self.q[first], self.qd[first])
            law = _constant(tau)
        watches = self._watches(float(t[0])) or None
        try:
            made = solve(self._derivative(law), (t[0], t[-1]), y, t_eval=t, events=watches, **self.task.solver)
        except Stuck as stuck:
            self._stop(stuck.time, _STUCK)
            return False
        reached = len(made.t)
        self.q[first : first + reached], self.qd[first : first + reached] = np.split(made.y.T, [self.nq], axis=1)
        self._note(made)
        if made.status < 0:
            self._stop(float(self.task.t[min(first + reached, then)]), made.message)
        return bool(made.status == 0)

    def _stop(self, time: float, why: str) -> None:
        """Raise what stopped the solver, unless what cannot be followed is only marked."""
        if not self.task.mark:
            where = f" in rollout {self.member}" if self.member else ""
            raise SimulationError(self.member, time, f"simulate: the solver stopped before t = {time:g} s{where}: {why}")

    def _derivative(self, law: Law) -> Callable[[float, FloatArray], FloatArray]:
        rates, nq = self.rates, self.nq
        progress = Progress(float(self.task.t[0]), float(self.task.t[-1]))

        def derivative(t: float, y: FloatArray) -> FloatArray:
            progress.at(t)
            q, qd = y[:nq], y[nq:]
            return np.asarray(rates(q, qd, law(t, q, qd)))

        return derivative

    def _watches(self, begin: float) -> list[Any]:
        """The events as SciPy wants them; one that begins at zero does not count as a crossing there."""
        made: list[Any] = []
        for name, function in self.task.events.items():
            made.append(_watch(name, function, self.nq, begin))
            needed = int(getattr(function, "terminal", False))
            left = needed - self.seen[name]
            made[-1].terminal = False if not needed else True if left <= 1 else left
            made[-1].direction = getattr(function, "direction", 0)
        return made

    def _note(self, made: Any) -> None:
        """Keep the events of a piece, in the order of time."""
        fresh = []
        for name, times, states in zip(self.task.events, made.t_events or (), made.y_events or (), strict=False):
            self.seen[name] += len(times)
            for time, y in zip(times, states, strict=True):
                fresh.append(Event(name, float(time), y[: self.nq].copy(), y[self.nq :].copy(), self.member))
        self.found += sorted(fresh, key=lambda event: event.time)
        if made.status == 1:
            self.end = max(event.time for event in fresh)


def _watch(name: str, function: Any, nq: int, begin: float) -> Callable[[float, FloatArray], float]:
    def value(t: float, y: FloatArray) -> float:
        found = float(watch(name, function, t, y[:nq], y[nq:], finite=t == begin))
        return np.nan if t == begin and found == 0.0 else found

    return value


def _constant(tau: FloatArray) -> Law:
    return lambda t, q, qd: tau


def _solver() -> Any:
    try:
        from scipy.integrate import solve_ivp
    except ImportError as error:
        raise MissingExtraError(
            f"the methods {', '.join(map(repr, METHODS))} need SciPy: {install_hint('scipy')}"
        ) from error
    return solve_ivp
