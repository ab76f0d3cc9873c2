"""Steps as long as a tolerance allows: SciPy's integrators over the compiled dynamics, one rollout after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from linkwise.dynamics.closed_loops.projection import project_to_loops
from linkwise.errors import SimulationError
from linkwise.extras import optional
from linkwise.kernel import Kernel
from linkwise.kernel.rollout import Recorded
from linkwise.kernel.tape import trace
from linkwise.kinematics.configuration import with_unit_quaternions
from linkwise.simulation.events import Watch, member
from linkwise.simulation.loop_closure import projected
from linkwise.simulation.missed_crossings import add_missed
from linkwise.simulation.plant import BatchPlant, Plant
from linkwise.simulation.task import ADAPTIVE, Task
from linkwise.simulation.torque import compiled
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.trajectory.motion import Event

#: Evaluations in which the solver must get on.
PATIENCE = 20_000

#: The part of the whole time by which it must get on.
LEAST = 1e-4

#: How many values of an event function are kept: more than a step and the search for a zero in it ask for.
SEEN = 1000

STUCK = f"{PATIENCE} evaluations without getting on"

Law = Callable[[float, FloatArray, FloatArray], FloatArray]


R = TypeVar("R", bound="AdaptiveRollout")

#: The derivatives in time (..., nq + nv) of states under efforts: q, qd, tau.
Rates = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def integrate(task: Task, kind: type[R]) -> tuple[Recorded, list[R]]:
    """Integrate every rollout; return the record at the instants, and the rollouts with their events and ends.

    Raises
    ------
    MissingExtraError
        Where SciPy is not installed.
    SimulationError
        Where the solver gives up, unless the task says to mark that.
    """
    tree, recorded_instants = task.plant.tree, slice(None, None, task.record)
    recorded = Recorded.empty(len(task.q), len(task.t), tree.nq, tree.nv)
    rollouts: list[R] = []
    rates, laws = _rates_kernel(kind.moving(task.plant), task.backend), _laws(task)
    efforts = np.zeros_like(recorded.tau)
    for row in range(len(task.q)):
        rollout = kind(task, rates, partial(laws, row), row)
        rollout.run()
        recorded.q[row], recorded.qd[row] = rollout.q[recorded_instants], rollout.qd[recorded_instants]
        for k, (time, q, qd) in enumerate(zip(task.t, recorded.q[row], recorded.qd[row], strict=True)):
            law = laws(row, k * task.record)
            recorded.tau[row, k] = law(float(time), q, qd) if np.isfinite(qd).all() else np.nan
        efforts[row] = rollout.efforts(task.t, recorded.tau[row])
        rollouts.append(rollout)
    recorded.qdd[...] = rates(recorded.q, recorded.qd, recorded.tau + efforts)[..., tree.nq :]
    return recorded, rollouts


def _rates_kernel(plant: Plant, backend: str | None) -> Rates:
    """Derivative of the state by time, compiled once for a plant; for many bodies from existing kernels."""
    tree = plant.tree
    if backend is None and plant.is_looped:
        return partial(_rates, BatchPlant(**vars(plant)))
    inputs = {"q": (tree.nq,), "qd": (tree.nv,), "tau": (tree.nv,)}
    tape = partial(trace, partial(_rates, plant), "rates", inputs, {"rate": (tree.nq + tree.nv,)})
    return compiled(tree, None, ("rates", backend, *plant.choices), lambda: Kernel(tape(), backend))


def _rates(plant: Plant, q: Array, qd: Array, tau: Array) -> Array:
    """Derivatives in time of the state (nq + nv,), or of the nearest one that closes the loops."""
    if plant.projects:
        q, qd = project_to_loops(plant.tree, q, qd)
    rate, qdd = plant.configuration_rate(q, qd), plant.accelerations(q, qd, tau)
    return np.concatenate([np.broadcast_to(rate, (*qdd.shape[:-1], rate.shape[-1])), qdd], axis=-1)


def _laws(task: Task) -> Callable[[int, int], Law]:
    """Torque function of each rollout."""
    torque, tree = task.torque, task.plant.tree
    if function := torque.checked_function((), tree.nv):
        return lambda row, k: lambda t, q, qd: function(t, q, qd)[0]
    reads = torque.reads(task.batch)

    def read(array: FloatArray, row: int, k: int) -> FloatArray:
        return np.asarray(array[min(row, len(array) - 1), min(k, array.shape[1] - 1)])

    if torque.law is None:
        return lambda row, k: lambda t, q, qd: read(reads[0], row, k)
    kernel = torque.law.kernel(tree, task.backend)
    shapes = [value.shape for value in torque.law.inputs.values()]

    def law(row: int, k: int) -> Law:
        parameters = [read(array, row, k).reshape(shape) for array, shape in zip(reads, shapes, strict=True)]
        return lambda t, q, qd: np.asarray(kernel(t, q, qd, *parameters))

    return law


class StuckError(Exception):
    """Time hardly moves on; its argument is the time reached, s."""


class AdaptiveRollout:
    """Integration of one initial state through all instants."""

    def __init__(self, task: Task, rates: Rates, law: Callable[[int], Law], row: int) -> None:
        self.task, self.rates, self.law = task, rates, law
        self.member = member(row, task.batch)
        tree, instants = task.plant.tree, len(task.every)
        self.nq, self.nv = tree.nq, tree.nv
        self.q, self.qd = np.full((instants, tree.nq), np.nan), np.full((instants, tree.nv), np.nan)
        self.q[0], self.qd[0] = task.q[row], task.qd[row]
        self.end = np.inf
        self.events: list[Event] = []

    @staticmethod
    def moving(plant: Plant) -> Plant:
        """The plant that is integrated."""
        return plant

    @property
    def stuck(self) -> str:
        """The reason where the solver does not get on, and what helps."""
        advice = "take fixed steps (method='rk4'), or without_friction()"
        return f"{STUCK}, as where a joint comes to rest under Coulomb friction; {advice}"

    def efforts(self, t: FloatArray, tau: FloatArray) -> FloatArray:
        """Efforts other than those of that plant and of the motors (R, nv) at some instants."""
        return np.zeros_like(tau)

    def run(self) -> None:
        """Integrate from the first instant to the last, in one piece if the torque is continuous."""
        last, tree = self.task.steps, self.task.plant.tree
        pieces = [(k, k + 1) for k in range(last)] if self.task.zero_order_hold else [(0, last)] if last else []
        for first, following in pieces:
            if not self._piece(first, following):
                break
        if self.task.plant.projects:
            self.q[...], self.qd[...] = projected(tree, self.q, self.qd)
        if tree.manifold_joints:
            self.q[...] = np.moveaxis(with_unit_quaternions(tree, np.moveaxis(self.q, -1, 0)), 0, -1)

    def _piece(self, first: int, following: int) -> bool:
        """Integrate from one instant to another; return False at the end of the motion."""
        t, solve = self.task.every[first : following + 1], ode_solver()
        law = self._law_from(first)
        y = np.concatenate([self.q[first], self.qd[first]])
        events = [self._event_function(watch, float(t[0])) for watch in self.task.events] or None
        options = {"method": ADAPTIVE[self.task.method], **self.task.tolerances, "dense_output": events is not None}
        try:
            # (of two instants the second state is the step's own: that of dense output may be on another side of an event)
            looked_at = t if len(t) > 2 else None
            solution = solve(self._derivative(law), (t[0], t[-1]), y, t_eval=looked_at, events=events, **options)
        except StuckError as stuck:
            self._stop(stuck.args[0], self.stuck)
            return False
        self._add_missed(solution, events or [])
        kept = np.searchsorted(solution.t, t[t <= max(solution.t, default=-np.inf)], side="right") - 1
        reached = first + len(kept)
        if len(kept):
            self.q[first:reached], self.qd[first:reached] = np.split(solution.y.T[kept], [self.nq], axis=1)
        latest = self._note(solution)
        if solution.status == 1:
            self.end = latest
        if solution.status < 0:
            self._stop(float(self.task.every[min(reached, following)]), solution.message)
        return bool(solution.status == 0)

    def _law_from(self, first: int) -> Law:
        """Torque law of a piece; under zero-order hold the efforts at the piece's begin."""
        law = self.law(first)
        if self.task.hold and self.task.torque.is_law:
            tau = law(float(self.task.every[first]), self.q[first], self.qd[first])
            return lambda _t, _q, _qd: tau
        return law

    def _stop(self, time: float, reason: str) -> None:
        """Raise the solver's error, unless incomplete rollouts are to be marked only."""
        if not self.task.mark:
            where = f" in rollout {self.member}" if self.member else ""
            text = f"simulate: the solver stopped before t = {time:g} s{where}: {reason}"
            raise SimulationError(self.member, time, text)

    def _derivative(self, law: Law) -> Callable[[float, FloatArray], FloatArray]:
        """The rates as SciPy wants them."""
        goes_on = self._patience()

        def derivative(t: float, y: FloatArray) -> FloatArray:
            goes_on(t)
            q, qd = np.split(y, [self.nq])
            return np.asarray(self.rates(q, qd, law(t, q, qd)))

        return derivative

    def _patience(self) -> Callable[[float], None]:
        """A function of the time of each evaluation, which raises `StuckError` where it hardly moves on.

        Where a joint comes to rest under Coulomb friction the acceleration jumps with every sign of the velocity, and steps
        that a tolerance chooses shrink without end.
        """
        latest, left = float(self.task.every[0]), PATIENCE
        least = LEAST * float(self.task.every[-1] - self.task.every[0])

        def goes_on(t: float) -> None:
            nonlocal latest, left
            left -= 1
            if t > latest + least:
                latest, left = t, PATIENCE
            elif left < 0:
                raise StuckError(t)

        return goes_on

    def _event_function(self, watch: Watch, begin: float) -> Any:
        """A watched function as SciPy wants it; one that begins at zero does not count as a crossing there."""

        def value(t: float, q: FloatArray, qd: FloatArray) -> float:
            result = float(watch(t, q, qd, finite=t == begin))
            return np.nan if t == begin and result == 0.0 else result

        return self._watched(value, self._left(watch), watch.direction)

    def _left(self, watch: Watch) -> int:
        """After how many more events of one kind the motion ends; 0 for never."""
        left = watch.terminal - sum(event.name == watch.name for event in self.events)
        return max(left, 1) if watch.terminal else 0

    def _add_missed(self, solution: Any, functions: Sequence[Any]) -> None:
        """Add crossings within steps to the events of a piece, and end it at a terminal one."""
        if functions and len(solution.sol.ts) > 1:
            add_missed(solution, self.task.events, functions, [self._left(watch) for watch in self.task.events])

    def _watched(self, value: Any, terminal: int, direction: float) -> Any:
        """A function of t, q and qd as SciPy wants it, which has one value at each time.

        The dense output at the ends of a step may round to another sign than the step itself.
        """
        seen: dict[float, float] = {}

        def function(t: float, y: FloatArray) -> float:
            if t not in seen:
                if len(seen) == SEEN:
                    del seen[next(iter(seen))]
                seen[t] = float(value(t, y[: self.nq], y[self.nq : self.nq + self.nv]))
            return seen[t]

        watched: Any = function
        watched.terminal, watched.direction = terminal, direction
        return watched

    def _note(self, solution: Any) -> float:
        """Record events of a piece, in the order of time; return the time of the last."""
        end = self.nq + self.nv
        fresh = [
            Event(watch.name, float(time), y[: self.nq].copy(), y[self.nq : end].copy(), self.member)
            for watch, times, states in zip(self.task.events, solution.t_events or (), solution.y_events or (), strict=False)
            for time, y in zip(times, states, strict=True)
        ]
        self.events += sorted(fresh, key=lambda event: event.time)
        return max((event.time for event in fresh), default=np.inf)


def ode_solver() -> Any:
    """SciPy's `solve_ivp`."""
    need = f"the methods {', '.join(map(repr, ADAPTIVE))} need SciPy"
    return optional("scipy.integrate", need, "scipy").solve_ivp
