"""Feet on the ground: contacts that switch on where they land, and off where the ground would have to pull."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel
from linkwise.simulation.adaptive import Law
from linkwise.simulation.modal import ModalRollout
from linkwise.simulation.task import Task
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import Event

#: How far below the ground a contact may begin, m, and how far above it counts as standing on it.
TOUCHING = 1e-9

#: Rebounds lower than this many absolute tolerances are none.
LOW_REBOUND = 100.0

#: Share of the forces by which the ground may seem to pull, or a force to leave its cone: rounding.
ROUNDING = 1e-9

#: Slower, m/s, a point does not slide, nor leave the ground.
SLOW = 1e-8


@dataclass(frozen=True)
class Stance:
    """What holds from one event to the next.

    Attributes
    ----------
    standing : tuple of str
        The contacts on the ground.
    sliding : dict of str to ndarray (3,)
        Those of them that slide, with the direction at the beginning.
    """

    standing: tuple[str, ...]
    sliding: dict[str, FloatArray]


class GroundRollout(ModalRollout):
    """One initial state carried through all instants, from landing to lift-off.

    Where a contact would be pulled it is let go, the one that is pulled most first (R. Featherstone, *Rigid Body Dynamics
    Algorithms*, 2008, chapter 11). Impacts are those of `Contacts.impact`; where an impulse would leave its cone the point
    slides through it, the way it came (E. J. Routh, *Dynamics of a System of Rigid Bodies*, 1905, chapter 4).
    """

    def __init__(self, task: Task, rates: Kernel, law: Any, row: int) -> None:
        super().__init__(task, rates, law, row)
        assert task.ground is not None
        self.ground, self.contacts = task.ground, task.ground.contacts
        self.stance = Stance((), {})
        self.below = dict.fromkeys(self.contacts.names, 0.0)
        gaps = {name: self.ground.gap(self.q[0], name) for name in self.contacts.names}
        for name, gap in gaps.items():
            if gap < -TOUCHING:
                raise ArgumentError(f"simulate: contact {name!r} is {-gap:.3g} m below the ground at q0")
        self.touching = tuple(name for name, gap in gaps.items() if gap <= TOUCHING)

    def _held(self, mode: Stance, tau: FloatArray, q: FloatArray, qd: FloatArray) -> FloatArray:
        """The forces (k,) of the ground: those of sliding points lie on their friction cones, against the velocity."""
        free = self.rates(q, qd, tau)[self.nq :]
        if not mode.sliding:
            return self.contacts.constrained(q, qd, free, mode.standing)[1]
        jac = self.contacts.jacobian(q, mode.standing)
        speeds = self.contacts.by_name(jac @ qd, mode.standing)
        directions = {}
        for name, begun in mode.sliding.items():
            speed = self._across(name, speeds[name])
            directions[name] = speed / np.linalg.norm(speed) if speed @ begun > SLOW else begun
        right = -self.contacts.bias(q, qd, mode.standing) - jac @ free
        return self._on_cones(q, mode.standing, directions, right)

    def _across(self, name: str, value: FloatArray) -> FloatArray:
        """The part of a vector (3,) in the plane of a contact."""
        normal = self.ground.normal(name)
        return np.asarray(value - (normal @ value) * normal)

    def _on_cones(
        self, q: FloatArray, standing: Sequence[str], directions: dict[str, FloatArray], right: FloatArray
    ) -> FloatArray:
        """The forces (k,) that give accelerations (k,) at the contacts, or impulses that change velocities.

        Where points slide in these directions, along the normal alone, with forces on the cones against them.
        """
        rows, spread = [], []
        for name, place in self.contacts.rows(standing):
            select = along = np.eye(len(right))[place]
            if name in directions:
                normal = self.ground.normal(name)
                along = (normal - self.ground.friction(name) * directions[name])[None] @ select
                select = normal[None] @ select
            rows.append(select)
            spread.append(along)
        across, forces = np.concatenate(rows), np.concatenate(spread).T
        matrix = across @ self.contacts.delassus(q, standing) @ forces
        return np.asarray(forces @ np.linalg.lstsq(matrix, across @ right, rcond=1e-11)[0])

    def _efforts(self, mode: Any, tau: FloatArray, q: FloatArray, qd: FloatArray) -> FloatArray:
        if not mode.standing:
            return np.zeros(self.nv)
        return np.asarray(self.contacts.jacobian(q, mode.standing).T @ self._held(mode, tau, q, qd))

    def _mode_events(self, mode: Any, law: Law, begin: float) -> list[tuple[str, Any, Any]]:
        event = partial(self._falling, nq=self.nq, begin=begin)

        def pressure(t: float, q: FloatArray, qd: FloatArray, name: str) -> float:
            return self.ground.along(self._held(mode, law(t, q, qd), q, qd), mode.standing)[name]

        def margin(t: float, q: FloatArray, qd: FloatArray, name: str) -> float:
            return self.ground.margin(self._held(mode, law(t, q, qd), q, qd), mode.standing, name)

        def gap(_t: float, q: FloatArray, _qd: FloatArray, name: str) -> float:
            return self.ground.gap(q, name) - self.below[name]

        def slide(_t: float, q: FloatArray, qd: FloatArray, name: str) -> float:
            return float(mode.sliding[name] @ (self.contacts.jacobian(q, [name]) @ qd)) + SLOW  # (it begins with none)

        events: list[tuple[str, Any, Any]] = []
        for name in self.contacts.names:
            if name not in mode.standing:
                events.append(("land", name, event(partial(gap, name=name))))
                continue
            events.append(("lift", name, event(partial(pressure, name=name))))
            if name in mode.sliding:
                events.append(("stick", name, event(partial(slide, name=name))))
            elif self.ground.has_cone(name):
                events.append(("slip", name, event(partial(margin, name=name))))
        return events

    def _change(
        self, time: float, q: FloatArray, qd: FloatArray, law: Law, occurred: Any = ()
    ) -> tuple[FloatArray, FloatArray, Any, float | None]:
        landed = [*(name for kind, name in occurred if kind == "land"), *self.touching]
        if landed:  # a foot that comes down flat does so with all its points at once
            others = [n for n in self.contacts.names if n not in landed and n not in self.stance.standing]
            speeds = self.ground.along(self.contacts.jacobian(q, others) @ qd, others)
            landed += [name for name in others if speeds[name] < -SLOW and self.ground.gap(q, name) <= TOUCHING]
        lifted = {name for kind, name in occurred if kind == "lift"}
        before, self.touching = self.stance, ()
        touching = [
            name for name in self.contacts.names if name in landed or (name in before.standing and name not in lifted)
        ]
        qd, rebounding, hop = self._impact(time, q, qd.copy(), law, touching, landed)
        stopped, slipping = ({name for kind, name in occurred if kind == word} for word in ("stick", "slip"))
        still = [name for name in before.standing if name in touching and (name in stopped or name not in before.sliding)]
        if still and not landed:
            qd = self.contacts.impact(q, qd, still)[0]  # (what integration has left)
        standing = [name for name in touching if name not in rebounding]
        self.stance = self._stance(q, qd, law(time, q, qd), standing, slipping)
        self._note_changes(time, q, qd, before, landed)
        self.below = {name: min(0.0, self.ground.gap(q, name)) for name in self.contacts.names}
        return q, qd, self.stance, hop

    def _stance(self, q: FloatArray, qd: FloatArray, tau: FloatArray, standing: list[str], slipping: set[str]) -> Stance:
        """Which of the contacts that touch stand on, and which of these slide."""
        sliding: dict[str, FloatArray] = {}
        speeds = self.contacts.by_name(self.contacts.jacobian(q, standing) @ qd, standing)
        for name in filter(self.ground.has_cone, standing):
            if (size := float(np.linalg.norm(speeds[name]))) > SLOW:
                sliding[name] = speeds[name] / size
        while standing:
            mode = Stance(tuple(standing), {name: sliding[name] for name in standing if name in sliding})
            forces = self._held(mode, tau, q, qd)
            rounding = ROUNDING * np.abs(forces).max(initial=0.0)
            pressures = self.ground.along(forces, mode.standing)
            least = min(pressures, key=lambda name: pressures[name])
            room = {name: rounding * (1 if name in slipping else -1) for name in standing if name not in sliding}
            slips = [name for name in room if self.ground.margin(forces, mode.standing, name) < room[name]]
            if pressures[least] < -rounding:
                standing = [name for name in standing if name != least]
            elif slips:
                across = self._across(slips[0], self.contacts.by_name(forces, mode.standing)[slips[0]])
                sliding[slips[0]] = -across / np.linalg.norm(across)
            else:
                return mode
        return Stance((), {})

    def _note_changes(self, time: float, q: FloatArray, qd: FloatArray, before: Stance, landed: list[str]) -> None:
        for name in self.contacts.names:
            stood, stands = name in before.standing, name in self.stance.standing
            slid, slides = name in before.sliding, name in self.stance.sliding
            words = ["land"] if name in landed else []
            words += ["lift"] if stood and not stands else []
            words += ["slip"] if slides and not slid else ["stick"] if slid and stands and not slides else []
            for word in words:
                self.events.append(Event(f"{word} {name}", time, q.copy(), qd.copy(), self.member))

    def _impact(
        self, time: float, q: FloatArray, qd: FloatArray, law: Law, touching: list[str], landed: list[str]
    ) -> tuple[FloatArray, set[str], float | None]:
        """The velocities after contacts have landed, those that rebound, and how long the shortest rebound about takes."""
        speeds = self.ground.along(self.contacts.jacobian(q, touching) @ qd, touching)
        if not any(speeds[name] < 0.0 for name in landed):
            return qd, {name for name in landed if speeds[name] > SLOW}, None
        free = self.ground.along(
            self.contacts.jacobian(q, touching) @ self.rates(q, qd, law(time, q, qd))[self.nq :], touching
        )
        falling = {name: max(-free[name], 0.0) for name in landed}
        restitution = self.ground.restitution
        low = 2.0 * LOW_REBOUND * self.task.tolerances["atol"]
        if all((restitution * speeds[name]) ** 2 <= low * falling[name] for name in landed):
            restitution = 0.0
        hit, sliding = list(touching), dict[str, FloatArray]()
        after, impulses = qd, np.zeros(0)
        while hit:
            after, impulses = self.contacts.impact(q, qd, hit, restitution)
            if sliding:
                arriving = self.contacts.jacobian(q, hit) @ qd
                right = np.concatenate([
                    -part - restitution * (self.ground.normal(name) @ part) * self.ground.normal(name) if len(part) == 3
                    else -(1.0 + restitution) * part
                    for name, part in self.contacts.by_name(arriving, hit).items()
                ])  # fmt: skip
                impulses = self._on_cones(q, hit, {name: sliding[name] for name in hit if name in sliding}, right)
                after = self.contacts.after(q, qd, impulses, hit)
            pushes, rounding = self.ground.along(impulses, hit), ROUNDING * np.abs(impulses).max(initial=0.0)
            least = min(pushes, key=lambda name: pushes[name])
            beyond = [x for x in hit if x not in sliding and self.ground.margin(impulses, hit, x) < -rounding]
            if pushes[least] < -rounding:
                hit.remove(least)
                after, impulses = qd, np.zeros(0)
            elif beyond:
                name = beyond[0]
                speed = self._across(name, self.contacts.jacobian(q, [name]) @ qd)
                if np.linalg.norm(speed) <= SLOW:
                    speed = -self._across(name, self.contacts.by_name(impulses, hit)[name])
                sliding[name] = speed / np.linalg.norm(speed)
            else:
                break
        jac = self.contacts.jacobian(q, hit)
        self.total += 0.5 * float(impulses @ (jac @ (qd + after)))
        leaving = self.ground.along(self.contacts.jacobian(q, touching) @ after, touching)
        rebounding = {name for name in touching if leaving[name] > SLOW}
        times = [leaving[name] / falling[name] for name in rebounding if falling.get(name)]
        return after, rebounding, min(times) if times else None
