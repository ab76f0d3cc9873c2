"""What a simulation tells: the state at its ends, and where the energy went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwise.cli.base_tables import momentum, state_lines
from linkwise.cli.columns import joint_columns
from linkwise.cli.layout import new_table, short
from linkwise.cli.tables import Titled
from linkwise.errors import ArgumentError
from linkwise.mechanism import Mechanism
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Trajectory

if TYPE_CHECKING:
    from rich.table import Table

UNEXPLAINED, SMALL = 0.01, 1e-6
"""Share of the loss in friction, and of the greatest energy that occurred, that may be left unexplained."""


@dataclass(frozen=True)
class Balance:
    """Where the energy of a motion went, J.

    Attributes
    ----------
    kinetic, potential : tuple of float
        At the first instant and at the last.
    work : float or None
        Done by the efforts of the motors; None where there were none.
    lost : float or None
        In friction; None where there is none.
    external : float or None
        Done by what acts on the tool; None where nothing does.
    greatest : float
        The greatest energy that occurred, kinetic or potential, without its sign.
    """

    kinetic: tuple[float, float]
    potential: tuple[float, float]
    work: float | None
    lost: float | None
    external: float | None = None
    greatest: float = 0.0

    @property
    def drift(self) -> float:
        """What the integration made (or lost, where negative): gain of energy, less all work, and what friction took."""
        gain = self.kinetic[1] - self.kinetic[0] + self.potential[1] - self.potential[0]
        return gain - (self.work or 0.0) - (self.external or 0.0) + (self.lost or 0.0)


def balance(mechanism: Mechanism, motion: Trajectory, external: FloatArray | None = None) -> Balance:
    """Add up where the energy of a simulated motion went, that under a force and moment (6,) on the tool if there are any.

    Powers are integrated over each recorded interval by Simpson's rule, efforts taken as linear there.
    """
    kinetic, potential, tau = recorded(motion)
    ends = [(float(energy[0]), float(energy[-1])) for energy in (kinetic, potential)]
    steps = np.diff(motion.t)
    halfway, between, _ = motion.at(0.5 * (motion.t[1:] + motion.t[:-1]))
    work = float(np.sum(_simpson(_power(tau, motion.qd), _power(0.5 * (tau[1:] + tau[:-1]), between), steps)))
    lost = None
    if rubs(mechanism):
        at, mid = (_power(mechanism.friction_torque(qd), qd) for qd in (motion.qd, between))
        lost = float(np.sum(_simpson(at, mid, steps)))
    pushed = None
    if external is not None and external.any():
        at, mid = (_power(pushes(mechanism, q, external), qd) for q, qd in ((motion.q, motion.qd), (halfway, between)))
        pushed = float(np.sum(_simpson(at, mid, steps)))
    greatest = float(np.max(np.abs([kinetic, potential])))
    return Balance(ends[0], ends[1], work if tau.any() else None, lost, pushed, greatest)


def pushes(mechanism: Mechanism, q: FloatArray, external: FloatArray) -> FloatArray:
    """Efforts (..., nv) that act as the force and moment (6,) on the tool do, tool axes, at coordinates q (..., nq)."""
    rest = np.zeros((*q.shape[:-1], mechanism.nv))
    held = mechanism.inverse_dynamics(q, rest, rest, external)
    return np.asarray(mechanism.inverse_dynamics(q, rest, rest) - held)


def recorded(motion: Trajectory) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return kinetic and potential energy (k,) and efforts (k, nv) of a motion that was simulated with energies."""
    if motion.kinetic is None or motion.potential is None or motion.tau is None:
        raise ArgumentError(f"{motion!r} has no record of its efforts and energies")
    return motion.kinetic, motion.potential, motion.tau


def rubs(mechanism: Tree) -> bool:
    """Whether any motor has friction."""
    return any(drive.motor.viscous or any(drive.motor.coulomb) for drive in mechanism.drives)


def unexplained(mechanism: Tree, balanced: Balance) -> str | None:
    """Say it where the energies do not add up because Coulomb friction was not followed."""
    jumps = any(any(drive.motor.coulomb) for drive in mechanism.drives)
    if not jumps or balanced.lost is None:
        return None
    if abs(balanced.drift) <= max(UNEXPLAINED * abs(balanced.lost), SMALL * balanced.greatest):
        return None
    size = short(abs(balanced.drift))
    why = "Coulomb friction jumps where a joint comes to rest, and a step does not see it"
    return f"the energies do not add up, by {size} J: {why}; a shorter --dt may help"


def _power(efforts: FloatArray, speeds: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", efforts, speeds))


def _simpson(values: FloatArray, between: FloatArray, steps: FloatArray) -> FloatArray:
    """Integrals over the intervals (k - 1,) of what is known at their ends (k,) and in their middle (k - 1,)."""
    return np.asarray(steps / 6.0 * (values[:-1] + 4.0 * between + values[1:]))


def tables(mechanism: Mechanism, motion: Trajectory, balanced: Balance) -> Iterator[Titled]:
    """Make the tables: a base that floats, the joints, the energy."""
    end = f"at the end, t = {short(float(motion.t[-1]))} s"
    if mechanism.floating:
        base = new_table("", "x", "y", "z", "unit", left=(0, 4))
        for what, values, unit in state_lines(motion.q[-1], motion.qd[-1]):
            base.add_row(what, *map(short, values), unit)
        yield f"floating base {end}: its pose in the base frame, all else in its own axes", base
    if mechanism.n:
        yield f"joints from the start to the end, t = {short(float(motion.t[-1]))} s", _joints(mechanism, motion)
    if mechanism.floating:
        yield "momentum in the axes of the world frame, the angular about the centre of mass", momentum(mechanism, motion)
    energy = new_table("energy [J]", "kinetic", "potential", "sum")
    for what, k in (("at the start", 0), ("at the end", 1)):
        each = balanced.kinetic[k], balanced.potential[k]
        energy.add_row(what, *map(_joules, each), _joules(sum(each)), end_section=k == 1)
    for what, value in (
        ("work of the motors", balanced.work),
        ("work on the tool", balanced.external),
        ("lost in friction", balanced.lost),
    ):
        if value is not None:
            energy.add_row(what, "", "", _joules(value))
    energy.add_row("drift", "", "", f"{balanced.drift:.2g}")
    yield "energy; drift is the gain that nothing explains, the error of the integration", energy


def _joints(mechanism: Mechanism, motion: Trajectory) -> Table:
    table = new_table("joint", "from", "to", "least .. greatest", "", "speed from", "to", "peak speed", "")
    for name, slide, k, v in joint_columns(mechanism):
        q, qd, unit = motion.q[:, k], motion.qd[:, v], "m" if slide else "rad"
        place = (*map(short, (q[0], q[-1])), f"{short(q.min())} .. {short(q.max())}", unit)
        table.add_row(name, *place, *map(short, (qd[0], qd[-1], np.abs(qd).max())), f"{unit}/s")
    return table


def _joules(value: float) -> str:
    return f"{value + 0.0:.8g}"
