"""Feet on the ground: contacts that switch on where they land, and off where the ground would have to pull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from linkwise.dynamics.closed_loops.nullspace import free_motions
from linkwise.errors import ArgumentError
from linkwise.simulation.adaptive import STUCK, Law, Rates
from linkwise.simulation.coulomb import NONE, Cone, coulomb, on_cones, refined, still_rows
from linkwise.simulation.energy_balance import jumps
from linkwise.simulation.loop_closure import projected
from linkwise.simulation.modal import ModalRollout, UnsolvedError
from linkwise.simulation.task import Task
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import Event

#: Greatest initial depth of a contact below the ground, m, and height up to which it counts as touching.
TOUCHING = 1e-9

#: Rebounds lower than this many absolute tolerances are none.
LOW_REBOUND = 100.0

#: Depth, m, by which a released contact must descend to land again: rounding of its height.
RELEASED = 1e-12

#: Relative push of a jamming contact.
SHORT = 1e-6

#: A row of a constraint is dependent below this part of the greatest.
DEPENDENT = 1e-9

#: Share of the forces by which the ground may seem to pull, or a force to leave its cone: rounding.
ROUNDING = 1e-9

#: Slower, m/s, a point does not slide, nor leave the ground.
SLOW = 1e-9

#: Slower, m/s, the friction turns from the velocity to where the slide began: no explicit method follows turns at a halt.
TURNING = 1e-4

#: A slide that has turned by more than this cosine, and has become slow, ends as soon as a force in the cone can hold it.
TURNED = 0.99

#: The same, m/s, where another point has come to rest at the same time: of a body that stops, all points do.
ABOUT_SLOW = 1e-6


@dataclass(frozen=True)
class Stance:
    """Contact state between two events.

    Attributes
    ----------
    standing : tuple of str
        The contacts on the ground.
    sliding : dict of str to ndarray (3,)
        Those of them that slide, with the direction at the beginning.
    shared : bool
        Whether other forces hold as well, as of more contacts than are needed, or of a point that cannot move everywhere.
    """

    standing: tuple[str, ...]
    sliding: dict[str, FloatArray]
    shared: bool = False


class GroundRollout(ModalRollout):
    """Integration of one initial state through all instants, from landing to lift-off.

    At each event the next mode follows from the complementarity of forces and accelerations under Coulomb's law, `coulomb`
    (F. Pfeiffer, Ch. Glocker, *Multibody Dynamics with Unilateral Contacts*, 1996, chapter 6), and velocities after impacts
    from that of impulses and velocities, with the rebound of I. Newton's law (ibid., chapter 8). Where that law would raise
    the kinetic energy, which with friction it can (T. R. Kane, D. A. Levinson, *Dynamics: Theory and Applications*, 1985),
    or jams, the impulse is 1 + restitution times that without restitution (J. J. Moreau, "Unilateral contact and dry
    friction in finite freedom dynamics", 1988), which never does.
    """

    def __init__(self, task: Task, rates: Rates, law: Any, row: int) -> None:
        super().__init__(task, rates, law, row)
        assert task.ground is not None
        self.ground, self.contacts = task.ground, task.ground.contacts.equations
        self.stance = Stance((), {})
        self.below = dict.fromkeys(self.contacts.names, 0.0)
        gaps = {name: self.ground.gap(self.q[0], name) for name in self.contacts.names}
        for name, gap in gaps.items():
            if gap < -TOUCHING:
                raise ArgumentError(f"simulate: contact {name!r} is {-gap:.3g} m below the ground at q0")
        self.touching = tuple(name for name, gap in gaps.items() if gap <= TOUCHING)

    @property
    def stuck(self) -> str:
        """The reason where the solver does not get on, and what helps."""
        advice = "give its motor a transition_speed, or take without_friction(viscous=False)"
        rests = f", as where a joint comes to rest under Coulomb friction; {advice}" if jumps(self.task.plant.tree) else ""
        return f"{STUCK}{rests}"

    def _cones(self, standing: Sequence[str], directions: Mapping[str, FloatArray]) -> list[Cone]:
        """The cones of contacts, of which some slide already."""
        return [
            Cone(rows, self.ground.axis(name), self.ground.friction(name), directions.get(name))
            for name, rows in self.contacts.rows(standing)
        ]

    def _ground_forces(self, mode: Stance, tau: FloatArray, q: FloatArray, qd: FloatArray) -> FloatArray:
        """The forces (k,) of the ground: those of sliding points lie on their friction cones, against the velocity.

        Where the contacts are more than are needed, forces that would leave their cones are shared otherwise.
        """
        if not mode.standing:
            return np.zeros(0)
        jac = self.contacts.jacobian(q, mode.standing)
        speeds, directions = self.contacts.by_name(jac @ qd, mode.standing), {}
        for name, begun in mode.sliding.items():
            speed = self._across(name, speeds[name])
            toward = speed + max(TURNING - float(np.linalg.norm(speed)), 0.0) * begun
            directions[name] = toward / (np.linalg.norm(toward) or 1.0)
        free = jac @ self.rates(q, qd, tau)[self.nq :] + self.contacts.bias(q, qd, mode.standing)
        matrix, cones = self.contacts.delassus(q, mode.standing), self._cones(mode.standing, directions)
        forces = on_cones(matrix, free, cones)
        if mode.shared and self._contact_margin(forces, mode) < -ROUNDING * np.abs(forces).max(initial=0.0):
            shared = coulomb(matrix, free, cones)[0]
            return shared if np.isfinite(shared).all() else forces
        return forces

    def _contact_margin(self, forces: FloatArray, mode: Stance) -> float:
        """Smallest normal force, or margin of sliding, of the contacts, N."""
        pressures = self.ground.along(forces, mode.standing).values()
        sticking = (name for name in mode.standing if name not in mode.sliding)
        return min([*pressures, *(self.ground.margin(forces, mode.standing, name) for name in sticking)])

    def _across(self, name: str, value: FloatArray) -> FloatArray:
        """The part of a vector (3,) in the plane of a contact."""
        normal = self.ground.normal(name)
        return np.asarray(value - (normal @ value) * normal)

    def _closed(self, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state, or the nearest one that closes the loops where that keeps them closed."""
        return projected(self.plant.tree, q, qd) if self.plant.projects else (q, qd)

    def _efforts(self, mode: Any, tau: FloatArray, q: FloatArray, qd: FloatArray) -> FloatArray:
        if not mode.standing:
            return np.zeros(self.nv)
        q, qd = self._closed(q, qd)
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):  # (the integrator tries a shorter step)
            return np.full(self.nv, np.nan)
        return np.asarray(self.contacts.jacobian(q, mode.standing).T @ self._ground_forces(mode, tau, q, qd))

    def _mode_events(self, mode: Any, law: Law, begin: float) -> list[tuple[str, Any, Any]]:
        def event(value: Any) -> Any:
            return self._falling(lambda t, q, qd: value(t, *self._closed(q, qd)), begin)

        def pressure(t: float, q: FloatArray, qd: FloatArray, name: str) -> float:
            return self.ground.along(self._ground_forces(mode, law(t, q, qd), q, qd), mode.standing)[name]

        def margin(t: float, q: FloatArray, qd: FloatArray, name: str, mode: Stance = mode) -> float:
            return self.ground.margin(self._ground_forces(mode, law(t, q, qd), q, qd), mode.standing, name)

        def holding(t: float, q: FloatArray, qd: FloatArray) -> float:
            tau = law(t, q, qd)
            forces = self._ground_forces(mode, tau, q, qd)
            room = self._contact_margin(forces, mode)
            if room > 0.0:
                return room
            moved, scale = self._error(mode, forces, tau, q, qd)
            return NONE * scale - moved

        def gap(_t: float, q: FloatArray, _qd: FloatArray, name: str) -> float:
            return self.ground.gap(q, name) - self.below[name]

        def slide(t: float, q: FloatArray, qd: FloatArray, name: str) -> float:
            speed = self._across(name, self.contacts.jacobian(q, [name]) @ qd)
            ahead, size = float(mode.sliding[name] @ speed), float(np.linalg.norm(speed))
            if size < ABOUT_SLOW and ahead < TURNED * size:  # (an explicit method follows no slide that turns at a halt)
                still = replace(mode, sliding={x: along for x, along in mode.sliding.items() if x != name}, shared=False)
                if margin(t, q, qd, name, still) > 0.0:
                    return -1.0
            return ahead + SLOW  # (it begins with none)

        events: list[tuple[str, Any, Any]] = []
        for name in self.contacts.names:
            if name not in mode.standing:
                events.append(("land", name, event(partial(gap, name=name))))
                continue
            if not mode.shared:
                events.append(("lift", name, event(partial(pressure, name=name))))
            if name in mode.sliding:
                events.append(("stick", name, event(partial(slide, name=name))))
            elif self.ground.has_cone(name) and not mode.shared:
                events.append(("slip", name, event(partial(margin, name=name))))
        return [*events, ("give", None, event(holding))] if mode.shared else events

    def _error(
        self, mode: Stance, forces: FloatArray, tau: FloatArray, q: FloatArray, qd: FloatArray
    ) -> tuple[float, float]:
        """Greatest acceleration that should be zero under some forces (k,), and the acceleration scale without forces."""
        jac = self.contacts.jacobian(q, mode.standing)
        free = jac @ self.rates(q, qd, tau)[self.nq :] + self.contacts.bias(q, qd, mode.standing)
        rows = still_rows(self._cones(mode.standing, mode.sliding), len(free))
        motion = rows @ (self.contacts.delassus(q, mode.standing) @ forces + free)
        return float(np.abs(motion).max(initial=0.0)), self._size(free)

    def _size(self, rates: FloatArray) -> float:
        """Acceleration scale, m/s2: the greatest of the accelerations (k,) and gravity."""
        gravity = float(np.linalg.norm(self.plant.tree.gravity))
        return max(float(np.abs(rates).max(initial=0.0)), gravity or 1.0)

    def _change(
        self, time: float, q: FloatArray, qd: FloatArray, law: Law, occurred: Any = ()
    ) -> tuple[FloatArray, FloatArray, Any, float | None]:
        q, qd = self._closed(q, qd)
        before, tau = self.stance, law(time, q, qd)
        landed = [*(name for kind, name in occurred if kind == "land"), *self.touching]
        if landed:  # a foot that comes down flat does so with all its points at once
            others = [n for n in self.contacts.names if n not in landed and n not in before.standing]
            speeds = self.ground.along(self.contacts.jacobian(q, others) @ qd, others)
            landed += [name for name in others if speeds[name] < -SLOW and self.ground.gap(q, name) <= TOUCHING]
        self.touching = ()
        touching = [name for name in self.contacts.names if name in landed or name in before.standing]
        begun, mass = qd, self.contacts.mass_matrix(q)
        qd, hop = self._impact(time, q, qd.copy(), tau, touching, landed)
        leaving = self.ground.along(self.contacts.jacobian(q, touching) @ qd, touching)
        standing = [name for name in touching if leaving[name] <= SLOW]
        stance = self._stance(q, qd, tau, standing, occurred)
        if stance is None:  # nearly stopped sliding contacts jam and stop
            stopped = self._without_drift(q, qd, Stance(tuple(standing), {}), ())
            if np.abs(self.contacts.jacobian(q, standing) @ (qd - stopped)).max() < TURNING:
                qd, stance = stopped, self._stance(q, stopped, tau, standing, occurred)
        if stance is None:  # sliding contacts jam, like chalk pushed over a board
            qd = self._after_impact(time, q, qd, standing, 0.0, self.rates(q, qd, tau)[self.nq :])
            stance = self._stance(q, qd, tau, standing, occurred)
        if stance is None:
            raise UnsolvedError(time, f"no forces of friction hold the contacts {', '.join(standing)}")
        self.stance, qd = stance, self._without_drift(q, qd, stance, occurred)
        self.total += 0.5 * float((qd - begun) @ mass @ (qd + begun))
        self._note_changes(time, q, qd, before, landed)
        gaps = {name: self.ground.gap(q, name) for name in self.contacts.names}
        self.below = {name: min(0.0, gap) - (RELEASED if name in standing else 0.0) for name, gap in gaps.items()}
        return q, qd, self.stance, hop

    def _without_drift(self, q: FloatArray, qd: FloatArray, stance: Stance, occurred: Any) -> FloatArray:
        """Remove integration errors from velocities at contacts that stick, or slide from rest."""
        jac = self.contacts.jacobian(q, stance.standing)
        speeds = self.contacts.by_name(jac @ qd, stance.standing)
        moving = {
            x: along
            for x, along in stance.sliding.items()
            if np.linalg.norm(self._across(x, speeds[x])) > _slow(occurred, x)
        }
        rows = still_rows(self._cones(stance.standing, moving), len(jac)) @ jac
        return self._projected(q, rows, qd)

    def _projected(self, q: FloatArray, rows: FloatArray, qd: FloatArray) -> FloatArray:
        """The velocities (nv,) nearest to some, measured by the mass matrix, at which rows @ velocities is zero."""
        if not len(rows):
            return qd
        response = self.contacts.response(q, rows)
        return np.asarray(qd - response @ np.linalg.lstsq(rows @ response, rows @ qd, rcond=DEPENDENT)[0])

    def _stance(self, q: FloatArray, qd: FloatArray, tau: FloatArray, standing: list[str], occurred: Any) -> Stance | None:
        """Determine which of the touching contacts stay, and which of these slide; None if no forces are possible."""
        jac = self.contacts.jacobian(q, standing)
        speeds = self.contacts.by_name(jac @ qd, standing)
        sliding = {}
        for name in filter(self.ground.has_cone, standing):
            across = self._across(name, speeds[name])
            if (size := float(np.linalg.norm(across))) > _slow(occurred, name):
                sliding[name] = across / size
        free = jac @ self.rates(q, qd, tau)[self.nq :] + self.contacts.bias(q, qd, standing)
        forces, motion = coulomb(self.contacts.delassus(q, standing), free, self._cones(standing, sliding))
        if not np.isfinite(forces).all():
            return None
        none = 0.1 * NONE * self._size(free)
        rounding = 10.0 * NONE * float(np.abs(forces).max(initial=0.0))
        pressures, leaving = self.ground.along(forces, standing), self.ground.along(motion, standing)
        rates, pushes, stays = self.contacts.by_name(motion, standing), self.contacts.by_name(forces, standing), []
        for name in standing:
            if leaving[name] > none or (("lift", name) in occurred and pressures[name] <= rounding):
                sliding.pop(name, None)
                continue
            stays.append(name)
            if not self.ground.has_cone(name) or name in sliding:
                continue
            begun, push = self._across(name, rates[name]), self._across(name, pushes[name])
            if (size := float(np.linalg.norm(begun))) > none:
                sliding[name] = begun / size
            elif ("slip", name) in occurred and self.ground.margin(forces, standing, name) <= rounding and push.any():
                sliding[name] = -push / np.linalg.norm(push)
        return Stance(tuple(stays), sliding, self._is_shared(q, stays, sliding))

    def _is_shared(self, q: FloatArray, standing: list[str], sliding: Mapping[str, FloatArray]) -> bool:
        """True where other forces hold as well; of a single point those that press it harder, not across the plane alone."""
        if not standing:
            return False
        jac, cones = self.contacts.jacobian(q, standing), self._cones(standing, sliding)
        rows = still_rows(cones, len(jac))
        vectors, values, _ = np.linalg.svd(rows @ jac @ free_motions(self.plant.tree, q))
        others = rows.T @ vectors[:, int(np.sum(values > DEPENDENT * values.max(initial=0.0))) :]
        return bool(others.size and (len(standing) > 1 or np.abs(cones[0].normal @ others).max() > DEPENDENT))

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
        self, time: float, q: FloatArray, qd: FloatArray, tau: FloatArray, touching: list[str], landed: list[str]
    ) -> tuple[FloatArray, float | None]:
        """Velocities after the impact of landing contacts, and the approximate duration of the shortest rebound."""
        jac = self.contacts.jacobian(q, touching)
        arriving = self.ground.along(jac @ qd, touching)
        if not any(arriving[name] < 0.0 for name in landed):
            return qd, None
        free = self.ground.along(jac @ self.rates(q, qd, tau)[self.nq :], touching)
        falling = {name: max(-free[name], 0.0) for name in touching}
        low = 2.0 * LOW_REBOUND * self.task.tolerances["atol"]

        def rebounds(velocities: FloatArray) -> dict[str, float]:
            return {x: v for x, v in self.ground.along(jac @ velocities, touching).items() if v > SLOW}

        def too_low(velocities: FloatArray) -> bool:
            speeds = rebounds(velocities)
            return bool(speeds) and all(v * v <= low * falling[x] for x, v in speeds.items())

        after = self._after_impact(time, q, qd, touching, self.ground.restitution)
        if too_low(after) and self.ground.restitution:
            after = self._after_impact(time, q, qd, touching, 0.0)
        if too_low(after):  # it rocks no more
            most, speeds = max(rebounds(after).values()), self.contacts.by_name(jac @ after, touching)
            slides = {x: v for x, v in speeds.items() if self.ground.has_cone(x) and np.linalg.norm(v) > 2.0 * most}
            after = self._projected(q, still_rows(self._cones(touching, slides), len(jac)) @ jac, after)
        times = [v / falling[x] for x, v in rebounds(after).items() if falling[x]]
        return after, min(times) if times else None

    def _after_impact(
        self, time: float, q: FloatArray, qd: FloatArray, touching: list[str], restitution: float, rates: Any = None
    ) -> FloatArray:
        """Velocities (nv,) after an impact, or, with contact-free accelerations, after friction stops sliding abruptly.

        Then the impulse is that which a push by these accelerations calls for, however short (F. Génot, B. Brogliato, "New
        results on Painlevé paradoxes", European Journal of Mechanics A 18, 1999).
        """
        jac, cones, mass = self.contacts.jacobian(q, touching), self._cones(touching, {}), self.contacts.mass_matrix(q)
        arriving, matrix = jac @ qd, self.contacts.delassus(q, touching)
        free = arriving.copy()
        if rates is not None:
            pushed = jac @ rates
            free += SHORT * np.abs(arriving).max() / np.abs(pushed).max() * pushed
        for cone in cones:
            free[cone.rows] += restitution * min(float(cone.normal @ arriving[cone.rows]), 0.0) * cone.normal
        after = self.contacts.after(q, qd, refined(matrix, free, cones), touching)
        if not (after - qd) @ mass @ (after + qd) <= ROUNDING * (qd @ mass @ qd):  # (it rises, or there is no impulse)
            impulses = (1.0 + restitution) * refined(matrix, free if rates is not None else arriving, cones)
            after = self.contacts.after(q, qd, impulses, touching)
        if not np.isfinite(after).all():
            raise UnsolvedError(time, f"no impulses of friction stop the contacts {', '.join(touching)}")
        return after


def _slow(occurred: Any, name: str) -> float:
    """Speed, m/s, below which a point counts as resting, given what occurred."""
    if ("stick", name) in occurred:  # (it has reversed, slower than the direction of its friction is known)
        return TURNING
    return ABOUT_SLOW if any(kind == "stick" for kind, _ in occurred) else SLOW
