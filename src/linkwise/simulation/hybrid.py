"""Motion by modes: dry friction that sticks, and end stops that are hit, located as events of an adaptive integrator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.extras import optional
from linkwise.model.spring import EndStop
from linkwise.simulation.adaptive import Law, Rates
from linkwise.simulation.loop_closure import projected
from linkwise.simulation.modal import ModalRollout
from linkwise.simulation.plant import Plant
from linkwise.simulation.task import Task
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import Event

#: Rebounds lower than this many absolute tolerances are none: the joint stays at its stop.
LOW_REBOUND = 100.0

#: Relative velocity after an impact that counts as rounding in a coordinate at rest.
ROUNDING = 1e-13

#: Share of the forces by which a force has to be inside its limits for a joint to hold again after it broke away.
BEYOND = 1e-10


@dataclass(frozen=True)
class UnilateralLaws:
    """Limits of force and position of each velocity (nv,).

    Attributes
    ----------
    forward, backward : ndarray (nv,)
        Coulomb friction at positive and at negative velocity, N m or N: >= 0 and <= 0.
    upward, downward : ndarray (nv,)
        Greatest friction at rest against positive and against negative efforts, N m or N: >= 0 and <= 0.
    limits : ndarray (nv, 2)
        Coordinates where stops are hit, infinite where there are none.
    restitution : ndarray (nv, 2)
        At each of them.
    """

    forward: FloatArray
    backward: FloatArray
    upward: FloatArray
    downward: FloatArray
    limits: FloatArray
    restitution: FloatArray

    @classmethod
    def of(cls, plant: Plant) -> UnilateralLaws:
        """Build the laws of a mechanism, from its motors and end stops."""
        tree = plant.tree
        first = tree.nv - tree.n
        forward, backward, upward, downward = np.zeros((4, tree.nv))
        restitution = np.zeros((tree.nv, 2))
        limits = np.tile([-np.inf, np.inf], (tree.nv, 1))
        for drive, ratio in zip(tree.drives, tree.drive_ratios, strict=True):
            up, down = drive.motor.reflected_coulomb
            if up < 0 or down > 0:
                name = tree.velocity_names[first + drive.coordinate]
                raise ArgumentError(f"simulate: the Coulomb friction of {name!r} is {(up, down)}; expected >= 0 and <= 0")
            for sides, sums in (((up, down), (forward, backward)), (drive.motor.reflected_breakaway, (upward, downward))):
                for total, side in zip(sums, sides if ratio >= 0 else sides[::-1], strict=True):
                    total[first + drive.coordinate] += ratio * side
        for term in tree.force_terms:
            if isinstance(term.element, EndStop) and term.element.impulsive and term.element.limits:
                ((k, ratio),) = term.ratios
                if not ratio:  # (a mimic joint with ratio 0 is at rest)
                    continue
                ends = sorted((end - term.shift) / ratio for end in term.element.limits)
                for side, end in enumerate(ends):
                    if (end > limits[first + k, 0]) if side == 0 else (end < limits[first + k, 1]):
                        limits[first + k, side], restitution[first + k, side] = end, term.element.restitution
        return cls(forward, backward, upward, downward, limits, restitution)

    @property
    def dry(self) -> npt.NDArray[np.bool_]:
        """Mask of Coulomb friction (nv,)."""
        return np.asarray((self.upward != 0) | (self.downward != 0))

    def slipping(self, direction: FloatArray) -> FloatArray:
        """The effort of friction (nv,) on coordinates that move in a direction; 0 for those that do not."""
        return np.where(direction > 0, -self.forward, np.where(direction < 0, -self.backward, 0.0))


@dataclass(frozen=True)
class Mode:
    """State of friction and stops between two events.

    Attributes
    ----------
    direction : ndarray (nv,)
        Direction of the coordinates with friction that slip, 1 or -1; 0 for others.
    stuck : ndarray (k,) of int
        Velocities that stay zero.
    bounds : ndarray (2, k)
        Between which efforts.
    """

    direction: FloatArray
    stuck: npt.NDArray[np.intp]
    bounds: FloatArray


class HybridRollout(ModalRollout):
    """Integration of one initial state through all instants, from event to event.

    Between events each coordinate with Coulomb friction slips one way or is held, and so is one that rests against a stop.
    A held joint breaks away at its greatest friction at rest, and slips against its Coulomb friction.
    At an event the next mode follows from the complementarity of forces and accelerations (F. Pfeiffer, Ch. Glocker,
    *Multibody Dynamics with Unilateral Contacts*, 1996, chapters 5 and 6): of efforts within their limits those that leave
    the least acceleration, measured by the mass matrix. Impacts follow Newton's law of restitution (ibid., chapter 8).
    """

    def __init__(self, task: Task, rates: Rates, law: Any, row: int) -> None:
        super().__init__(task, rates, law, row)
        tree = task.plant.tree
        self.laws, self.nv, self.shift = UnilateralLaws.of(task.plant), tree.nv, tree.nq - tree.nv
        self.names = [*tree.velocity_names[: tree.nv - tree.n], *tree.names]
        self.stopped: dict[int, int] = {}
        self.released: set[int] = set()
        self._check_start()

    @staticmethod
    def moving(plant: Plant) -> Plant:
        """The plant without the friction that modes give."""
        return plant.without_coulomb()

    def _check_start(self) -> None:
        for i in np.flatnonzero(np.isfinite(self.laws.limits).any(axis=1)):
            value, (low, high) = self.q[0, i + self.shift], self.laws.limits[i]
            if not low <= value <= high:
                ends = f"its end stops are at {low:g} and {high:g}"
                raise ArgumentError(f"simulate: q0 of {self.names[i]!r} is {value:g}; {ends}")
            self.stopped |= {int(i): side for side, end in enumerate((low, high)) if value == end}

    # ── the dynamics of a mode ────────────────────────────────────────────────────────────────────

    def _response(self, q: FloatArray, qd: FloatArray, tau: FloatArray, stuck: Any) -> tuple[FloatArray, FloatArray]:
        """Accelerations (nv,) under efforts, and per unit of effort on some velocities (nv, k): they are affine in it."""
        unit = max(1.0, float(np.abs(tau).max(initial=0.0)))
        efforts = np.tile(tau, (len(stuck) + 1, 1))
        efforts[np.arange(1, len(stuck) + 1), stuck] += unit
        qdd = np.asarray(self.rates(q, qd, efforts))[:, self.nq :]
        return qdd[0], (qdd[1:] - qdd[0]).T / unit

    def _efforts(self, mode: Mode, tau: FloatArray, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Efforts of friction and stops (nv,)."""
        efforts = self.laws.slipping(mode.direction)
        if len(mode.stuck):
            qdd, per_unit = self._response(q, qd, tau + efforts, mode.stuck)
            efforts[mode.stuck] = np.linalg.lstsq(per_unit[mode.stuck], -qdd[mode.stuck], rcond=None)[0]
        return efforts

    def _derivative_in(self, mode: Mode, law: Law) -> Any:
        free = super()._derivative_in(mode, law)

        def derivative(t: float, y: FloatArray) -> FloatArray:
            rate: FloatArray = free(t, y)
            rate[mode.stuck + self.nq] = 0.0
            rate[mode.stuck[mode.stuck >= self.nv - self.plant.tree.n] + self.shift] = 0.0  # (not of quaternions)
            return rate

        return derivative

    # ── events ────────────────────────────────────────────────────────────────────────────────────

    def _mode_events(self, mode: Mode, law: Law, begin: float) -> list[tuple[str, int, Any]]:
        """Events that end a mode: kind, velocity, and a function that falls to zero."""
        stuck, event = set(mode.stuck.tolist()), partial(self._falling, begin=begin)

        def margin(k: int) -> Any:
            def value(t: float, q: FloatArray, qd: FloatArray) -> float:
                effort = self._efforts(mode, law(t, q, qd), q, qd)[mode.stuck[k]]
                return float(min(effort - mode.bounds[0, k], mode.bounds[1, k] - effort))

            return value

        events = [("slip", i, event(margin(k))) for k, i in enumerate(mode.stuck.tolist())]
        for i in np.flatnonzero(mode.direction).tolist():
            events.append(("stick", i, event(lambda _t, _q, qd, i=i: mode.direction[i] * qd[i])))
        for i, side in np.argwhere(np.isfinite(self.laws.limits)).tolist():
            if i not in stuck:
                sign = 1.0 - 2.0 * side
                end = self.laws.limits[i, side] - sign * self.task.tolerances["atol"] * (i in self.released)
                gap = lambda _t, q, _qd, at=i + self.shift, end=end, sign=sign: sign * (q[at] - end)  # noqa: E731
                events.append(("hit high" if side else "hit low", i, event(gap)))
        return events

    def _change(
        self, time: float, q: FloatArray, qd: FloatArray, law: Law, occurred: Any = ()
    ) -> tuple[FloatArray, FloatArray, Mode, float | None]:
        """The state and the mode after events, and the first step to take in it."""
        q, qd = q.copy(), qd.copy()
        near, atol = np.abs(q[self.shift :, None] - self.laws.limits).min(axis=1), self.task.tolerances["atol"]
        self.released = {i for i in self.released if near[i] <= atol}
        for kind, i in occurred:
            if kind == "stick":
                qd[i] = 0.0
            elif kind != "slip":
                side = int(kind == "hit high")
                q[i + self.shift], self.stopped[i] = self.laws.limits[i, side], side
        if self.plant.projects:
            q, qd = self._closed(q, qd)
        rebounding = self._impact(time, q, qd, law)
        released = {i for kind, i in occurred if kind == "slip"}
        mode, qdd = self._mode(time, q, qd, law, released)
        for kind, i in sorted(occurred):
            word = kind.split()[0] if kind != "stick" or i in mode.stuck else "reverse"
            self.events.append(Event(f"{word} {self.names[i]}", time, q.copy(), qd.copy(), self.member))
        steps = [abs(qd[i] / qdd[i]) for i in rebounding if qdd[i] * qd[i] < 0]
        return q, qd, mode, min(steps) if steps else None

    def _resting(self, qd: FloatArray) -> npt.NDArray[np.intp]:
        """Velocities that are zero, and may stick there."""
        return np.array(
            [i for i in range(self.nv) if qd[i] == 0.0 and (self.laws.dry[i] or i in self.stopped)], dtype=np.intp
        )

    def _closed(self, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The nearest state with loops closed in which the same coordinates rest."""
        still = self._resting(qd)
        q, qd = projected(self.plant.tree, q, qd)
        if len(still):
            _, per_unit = self._response(q, qd, np.zeros(self.nv), still)
            qd = qd - per_unit @ np.linalg.lstsq(per_unit[still], qd[still], rcond=None)[0]
            qd[still] = 0.0
        return q, qd

    def _mode(self, time: float, q: FloatArray, qd: FloatArray, law: Law, released: set[int]) -> tuple[Mode, FloatArray]:
        """The mode of a state, and its accelerations."""
        laws, tau = self.laws, law(time, q, qd)
        direction = np.where(laws.dry, np.sign(qd), 0.0)
        still = self._resting(qd)
        bounds = np.array([-laws.upward[still], -laws.downward[still]])
        for k, i in enumerate(still):
            if i in self.stopped:
                bounds[1 - self.stopped[i], k] = np.inf if self.stopped[i] == 0 else -np.inf
        within = bounds.copy()
        for k, i in enumerate(still):
            if i in released:
                room = BEYOND * (1.0 + np.abs(tau).max(initial=0.0))
                within[:, k] += np.where(np.isfinite(bounds[:, k]), [room, -room], 0.0)
        active = np.ones(len(still), dtype=np.intp)
        while active.any():  # friction of a slipping joint is less than before, so that others may break away too
            qdd, per_unit = self._response(q, qd, tau + laws.slipping(direction), still)
            _, active = complementary(per_unit[still], qdd[still], within)
            for i, side in zip(still, active, strict=True):
                if side:
                    direction[i] = -side if laws.dry[i] else 0.0
                    if self.stopped.pop(int(i), None) is not None:  # (an integrator's error is no hit)
                        self.released.add(int(i))
            still, bounds, within = still[active == 0], bounds[:, active == 0], within[:, active == 0]
        mode = Mode(direction, still, bounds)
        return mode, np.asarray(self.rates(q, qd, tau + self._efforts(mode, tau, q, qd)))[self.nq :]

    def _impact(self, time: float, q: FloatArray, qd: FloatArray, law: Law) -> list[int]:
        """Change the velocities where stops are hit; the coordinates that rebound."""
        at = np.array(sorted(self.stopped), dtype=np.intp)
        sides = np.array([self.stopped[int(i)] for i in at], dtype=np.intp)
        inward = 1.0 - 2.0 * sides
        if not np.any(inward * qd[at] < 0):
            self.stopped = {i: side for i, side in self.stopped.items() if qd[i] == 0.0}
            return []
        restitution, before, tau = self.laws.restitution[at, sides], qd.copy(), law(time, q, qd)
        for _ in range(2):  # again for those that rebound too little to leave
            _, per_unit = self._response(q, before, tau, at)
            rows = inward[:, None] * per_unit[at] * inward
            approach = inward * before[at]
            impulse, _ = complementary(rows, approach * (1.0 + restitution), np.array([[0.0], [np.inf]]) + np.zeros(len(at)))
            qd[:] = before + per_unit @ (inward * impulse)
            hit = impulse > 0
            qd[at[hit]] = (-restitution * before[at])[hit]
            rounding = ROUNDING * np.abs(before).max()
            qd[(before == 0.0) & (np.abs(qd) < rounding)] = 0.0
            slip = self.laws.slipping(np.where(self.laws.dry, np.sign(qd), 0.0))
            toward = -inward * np.asarray(self.rates(q, qd, tau + slip))[self.nq :][at]
            low = hit & (qd[at] ** 2 < 2.0 * toward * LOW_REBOUND * self.task.tolerances["atol"]) & (restitution > 0)
            if not low.any():
                break
            restitution = np.where(low, 0.0, restitution)
        self.total += 0.5 * float((inward * impulse) @ (before[at] + qd[at]))
        self.stopped = {int(i): int(side) for i, side in zip(at, sides, strict=True) if qd[i] == 0.0}
        return [int(i) for i in at[hit] if qd[i] != 0.0]


def complementary(matrix: FloatArray, right: FloatArray, bounds: FloatArray) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Return the efforts x (k,) within bounds (2, k) for which matrix x + right is zero, >= 0 at the lower bound, or <= 0.

    They are those of the least x' matrix x / 2 + right' x, with a symmetric matrix >= 0. Also where x is at a bound: -1 at
    the lower, 1 at the upper one, else 0.
    """
    if not len(right):
        return np.zeros(0), np.zeros(0, dtype=np.intp)
    solve = optional("scipy.optimize", "stiction and impacts need SciPy", "scipy").lsq_linear
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    kept = values > 1e-13 * values[-1]
    root = np.sqrt(values[kept])
    half = root[:, None] * vectors[:, kept].T
    goal = -(vectors[:, kept].T @ right) / root
    solution = solve(half, goal, bounds=(bounds[0], bounds[1]), method="bvls", tol=1e-14)

    return np.asarray(solution.x), np.asarray(solution.active_mask, dtype=np.intp)
