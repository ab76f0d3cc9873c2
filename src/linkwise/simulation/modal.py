"""Motion from event to event: modes between which an adaptive integrator is stopped, and started again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.simulation.adaptive import STUCK, AdaptiveRollout, Law, Rates, StuckError, ode_solver
from linkwise.simulation.energy_balance import power
from linkwise.simulation.task import ADAPTIVE, Task
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import State
from linkwise.trajectory.trajectory import Trajectory

#: Changes of mode within `LEAST` of the whole time, after which the motion counts as one that does not get on.
PATIENCE, LEAST = 1000, 1e-9


class UnsolvedError(Exception):
    """There is no next mode; its arguments are the time, s, and the reason."""


@dataclass(frozen=True)
class Piece:
    """The motion from one event to the next, as dense output of the integrator."""

    begin: float
    end: float
    solution: Any
    mode: Any
    law: Law


@dataclass(frozen=True)
class _Standing:
    """One state (nq + nv + 1,) in the place of dense output."""

    state: FloatArray

    def __call__(self, time: Any) -> FloatArray:
        return np.multiply.outer(self.state, np.ones(np.shape(time)))


class ModalRollout(AdaptiveRollout):
    """Integration of one initial state through all instants, from event to event; a subclass defines the modes."""

    def __init__(self, task: Task, rates: Rates, law: Any, row: int) -> None:
        super().__init__(task, rates, law, row)
        self.plant = self.moving(task.plant)
        self.pieces: list[Piece] = []
        self.work, self.total = np.full(len(task.every), np.nan), 0.0
        self.work[0] = 0.0
        self.goes_on = self._patience()

    @property
    def stuck(self) -> str:
        """The reason where the solver does not get on."""
        return STUCK

    @abstractmethod
    def _efforts(self, mode: Any, tau: FloatArray, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Efforts in a mode besides those (nv,) of the motors."""

    @abstractmethod
    def _mode_events(self, mode: Any, law: Law, begin: float) -> list[tuple[str, Any, Any]]:
        """Events that end a mode: kind, index, and a function that falls to zero."""

    @abstractmethod
    def _change(
        self, time: float, q: FloatArray, qd: FloatArray, law: Law, occurred: Any = ()
    ) -> tuple[FloatArray, FloatArray, Any, float | None]:
        """The state and the mode after events, and the first step to take in it."""

    def _derivative_in(self, mode: Any, law: Law) -> Any:
        def derivative(t: float, y: FloatArray) -> FloatArray:
            q, qd = y[: self.nq], y[self.nq : -1]
            tau = law(t, q, qd)
            total = tau + self._efforts(mode, tau, q, qd)
            work = total @ qd + power(self.plant, q, qd) if self.task.energies else 0.0
            return np.append(self.rates(q, qd, total), work)

        return derivative

    def _guarded(self, derivative: Any) -> Any:
        """The derivative, as one that raises `StuckError` where time hardly moves on."""

        def guarded(t: float, y: FloatArray) -> FloatArray:
            self.goes_on(t)
            return np.asarray(derivative(t, y))

        return guarded

    def _falling(self, value: Any, begin: float) -> Any:
        """Event function for SciPy that falls to zero at the end of a mode; a zero at its begin does not count."""

        def above(t: float, q: FloatArray, qd: FloatArray) -> float:
            result = float(value(t, q, qd))
            return max(result, 1.0) if t == begin else result  # (not tiny: a root would be seen at the beginning)

        return self._watched(above, True, -1.0)

    def _piece(self, first: int, following: int) -> bool:
        pieces = len(self.pieces)
        try:
            goes_on = self._followed(first, following)
        except UnsolvedError as unsolved:
            self._stop(*unsolved.args)
            goes_on = False
        except StuckError as stuck:
            self._stop(stuck.args[0], self.stuck)
            goes_on = False
        self._fill(first, following, self.pieces[pieces:])
        return bool(goes_on and np.isfinite(self.q[following]).all())

    def _followed(self, first: int, following: int) -> bool:
        """Integrate from one instant to another, mode after mode; return False at the end of the motion."""
        times = self.task.every[first : following + 1]
        time, last, law = float(times[0]), float(times[-1]), self._law_from(first)
        begun, changes, goes_on = time, 0, True
        q, qd, mode, first_step = self._change(time, self.q[first], self.qd[first], law)
        while time < last and goes_on:
            watched = [self._event_function(watch, time) for watch in self.task.events]
            changing = self._mode_events(mode, law, time)
            options: dict[str, Any] = {"method": ADAPTIVE[self.task.method], **self.task.tolerances, "dense_output": True}
            if self.task.torque.is_law and not self.task.hold:  # (what rests would let steps pass over pushes)
                options["max_step"] = float(np.diff(times).max())
            if first_step is not None:
                options["first_step"] = min(first_step, last - time, options.get("max_step", np.inf))
            y = np.concatenate([q, qd, [self.total]])
            functions = [*watched, *(function for _, _, function in changing)]
            solution = ode_solver()(
                self._guarded(self._derivative_in(mode, law)), (time, last), y, events=functions or None, **options
            )
            self._add_missed(solution, watched)
            if solution.status < 0:
                self._stop(float(solution.t[-1]), solution.message)
                break
            self.pieces.append(Piece(time, float(solution.t[-1]), solution.sol, mode, law))
            time, (q, qd, (self.total,)) = float(solution.t[-1]), np.split(solution.y[:, -1], [self.nq, self.nq + self.nv])
            goes_on = self._goes_on(solution)
            if solution.status == 0 or not goes_on:
                break
            changes = changes + 1 if time - begun < LEAST * float(self.task.every[-1] - self.task.every[0]) else 0
            begun = begun if changes else time
            if changes > PATIENCE:
                self._stop(time, f"{PATIENCE} changes of mode without getting on")
                break
            fired = zip(changing, solution.t_events[len(watched) :], strict=True)
            occurred = {(kind, i) for (kind, i, _), at in fired if len(at)}
            q, qd, mode, first_step = self._change(time, q, qd, law, occurred)
            if time == last:  # (the next piece begins with the state after the event)
                self.pieces.append(Piece(time, time, _Standing(np.concatenate([q, qd, [self.total]])), mode, law))
        return goes_on

    def _fill(self, first: int, following: int, pieces: list[Piece]) -> None:
        """The states at the instants of some pieces."""
        times = self.task.every[first + 1 : following + 1]
        for piece in pieces:
            inside = np.flatnonzero((times >= piece.begin) & (times <= piece.end)) + first + 1
            if len(inside):
                values = piece.solution(self.task.every[inside]).T
                self.q[inside], self.qd[inside] = values[:, : self.nq], values[:, self.nq : -1]
                self.work[inside] = values[:, -1]

    def efforts(self, t: FloatArray, tau: FloatArray) -> FloatArray:
        """Efforts (R, nv) besides those (R, nv) of the motors at some instants."""
        result = np.full_like(tau, np.nan)
        for row, time in enumerate(t):
            piece = self._piece_at(float(time))
            if piece is not None:
                values = piece.solution(time)
                result[row] = self._efforts(piece.mode, tau[row], values[: self.nq], values[self.nq : -1])
        return result

    def state(self, t: FloatArray) -> State:
        """Q (K, nq), qd and qdd (K, nv) at times; NaN after the end."""
        q, qd, qdd = (np.full((len(t), size), np.nan) for size in (self.nq, self.nv, self.nv))
        for row, time in enumerate(t):
            piece = self._piece_at(float(time))
            if piece is not None:
                y = piece.solution(time)
                q[row], qd[row] = y[: self.nq], y[self.nq : -1]
                qdd[row] = self._derivative_in(piece.mode, piece.law)(float(time), y)[self.nq : -1]
        return q, qd, qdd

    def _piece_at(self, time: float) -> Piece | None:
        """The piece of a time, that which begins there if one ends and one begins."""
        k = int(np.searchsorted([piece.begin for piece in self.pieces], time, side="right")) - 1
        k = max(k, 0)
        return self.pieces[k] if self.pieces and time <= self.pieces[k].end else None

    def _goes_on(self, solution: Any) -> bool:
        """Record the events of a piece; return False at the end of the motion."""
        latest = self._note(solution)
        for watch in self.task.events:
            if watch.terminal and sum(event.name == watch.name for event in self.events) >= watch.terminal:
                self.end = latest
                return False
        return True


@dataclass(frozen=True, eq=False)
class ModalMotion:
    """The evaluator of a trajectory that jumps at events: dense output between them."""

    rollouts: tuple[ModalRollout, ...]
    batch: tuple[int, ...]

    def __call__(self, time: FloatArray) -> State:
        """Return q, qd, qdd (..., K, ·) at times (K,)."""
        states = zip(*(rollout.state(time) for rollout in self.rollouts), strict=True)
        q, qd, qdd = (np.reshape(values, (*self.batch, *values[0].shape)) for values in states)
        return q, qd, qdd


def modal_motion(task: Task, motion: Trajectory, rollouts: Sequence[ModalRollout]) -> Trajectory:
    """The trajectory with its evaluator, and with its energy error if energies are recorded."""
    records = {}
    if motion.energy is not None:
        work = np.array([rollout.work[:: task.record] for rollout in rollouts]).reshape(motion.energy.shape)
        records["energy_error"] = motion.energy - motion.energy[..., :1] - work
    return replace(motion, evaluate=ModalMotion(tuple(rollouts), task.batch), **records)
