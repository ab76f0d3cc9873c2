"""Where the energy of a simulated motion went: motors, friction, what acts on the tool, and the error of the integration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.simulation.energy_balance import jumps
from linkwise.spatial.scalar import FloatArray

UNEXPLAINED, SMALL = 0.01, 1e-6
"""Share of the loss in friction, and of the greatest energy that occurred, that may be left unexplained."""


@dataclass(frozen=True)
class EnergyAccount:
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
        """The error of the integration: gain of energy, less all work, and what friction took."""
        gain = self.kinetic[1] - self.kinetic[0] + self.potential[1] - self.potential[0]
        return gain - (self.work or 0.0) - (self.external or 0.0) + (self.lost or 0.0)


def energy_account(mechanism: Any, motion: Any, external: FloatArray | None = None) -> EnergyAccount:
    """Add up where the energy of a simulated motion went, that under a force and moment (6,) on the tool if there are any.

    Powers are integrated over each recorded interval by Simpson's rule, efforts taken as linear there.

    Parameters
    ----------
    mechanism : Mechanism
        What moved.
    motion : Trajectory
        Its motion, with records of efforts and energies.
    external : ndarray (6,), optional
        Force and moment on the tool, tool axes.

    Raises
    ------
    ArgumentError
        Where the motion has no such records.
    """
    kinetic, potential, tau = energies(motion)
    ends = [(float(energy[0]), float(energy[-1])) for energy in (kinetic, potential)]
    steps = np.diff(motion.t)
    halfway, between, _ = motion.at(0.5 * (motion.t[1:] + motion.t[:-1]))
    states = ((motion.q, motion.qd), (halfway, between))

    def integral(efforts: tuple[FloatArray, FloatArray]) -> float:
        """Simpson's rule for the power of efforts (k, nv) at the instants and (k - 1, nv) between them."""
        at, middle = (np.einsum("ij,ij->i", effort, qd) for effort, (_, qd) in zip(efforts, states, strict=True))
        return float(np.sum(steps / 6.0 * (at[:-1] + 4.0 * middle + at[1:])))

    work = integral((tau, 0.5 * (tau[1:] + tau[:-1]))) if tau.any() else None
    lost = pushed = None
    if has_friction(mechanism):
        lost = integral((mechanism.friction_torque(motion.qd), mechanism.friction_torque(between)))
    if external is not None and external.any():
        pushed = integral((external_efforts(mechanism, motion.q, external), external_efforts(mechanism, halfway, external)))
    greatest = float(np.max(np.abs([kinetic, potential])))
    return EnergyAccount(ends[0], ends[1], work, lost, pushed, greatest)


def external_efforts(mechanism: Any, q: FloatArray, external: FloatArray) -> FloatArray:
    """Efforts (..., nv) that act as the force and moment (6,) on the tool do, tool axes, at coordinates q (..., nq)."""
    still = np.zeros((*q.shape[:-1], mechanism.nv))
    held = mechanism.inverse_dynamics(q, still, still, external)
    return np.asarray(mechanism.inverse_dynamics(q, still, still) - held)


def energies(motion: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return kinetic and potential energy (k,) and efforts (k, nv) of a motion that was simulated with energies.

    Raises
    ------
    ArgumentError
        Where the motion has no record of them.
    """
    if motion.kinetic is None or motion.potential is None or motion.tau is None:
        raise ArgumentError(f"{motion!r} has no record of its efforts and energies")
    return motion.kinetic, motion.potential, motion.tau


def has_friction(tree: Tree) -> bool:
    """Whether any motor has friction."""
    return jumps(tree) or any(drive.motor.viscous for drive in tree.drives)


def unexplained(tree: Tree, account: EnergyAccount) -> str | None:
    """Say it where the energies do not add up because Coulomb friction was not followed."""
    if not jumps(tree) or account.lost is None:
        return None
    if abs(account.drift) <= max(UNEXPLAINED * abs(account.lost), SMALL * account.greatest):
        return None
    why = "Coulomb friction jumps where a joint comes to rest, and a step does not see it"
    return f"the energies do not add up, by {abs(account.drift):.4g} J: {why}; a shorter --dt may help"
