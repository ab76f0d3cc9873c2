"""Energy balance of a simulated motion: work of motors, friction and loads, and the integration error."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, warn
from linkwise.kernel.tape import Shape
from linkwise.model.tree import Tree
from linkwise.simulation.events import member
from linkwise.simulation.plant import Plant
from linkwise.spatial.scalar import FloatArray

#: Share of the energy exchanged above which an energy error is worth a warning: not even the first digit is right then. With
#: steps of 1 ms a falling planar arm is at 1e-10 by the fourth order method, at 1e-2 by those of the first.
LARGE = 0.1

#: Share of the kinetic and potential energy below which an error is worth no warning, where next to nothing is exchanged.
SMALL = 1e-3

#: Greatest numbers of recorded instants and rollouts at which energies are computed if they are not recorded: this takes
#: some hundredths of a millisecond.
INSTANTS, ROLLOUTS = 8, 64


#: Kinetic and potential energy and energy error (..., R), J.
Energies = tuple[FloatArray, FloatArray, FloatArray]


def energy_error(
    plant: Plant, t: FloatArray, q: FloatArray, qd: FloatArray, tau: FloatArray, energy: FloatArray
) -> FloatArray:
    """Energy less that at the start, less the work of motors, friction and the external wrench since then.

    The torque of an instant holds until the next; its work is exact. Viscous friction and wrench are integrated by Simpson's
    rule, the motion between two instants taken as the cubic that has q and qd at both: an error of the fourth power of the
    interval. What is done on a floating base or a ball joint has one of the second power, for its axes turn.

    Parameters
    ----------
    plant : Plant
        What moves.
    t : ndarray (R,)
        Instants, s.
    q, qd, tau : ndarray (..., R, nq), (..., R, nv), (..., R, nv)
        What is recorded there.
    energy : ndarray (..., R)
        Kinetic and potential energy there, J.

    Returns
    -------
    ndarray (..., R)
        J; 0 at the first instant.
    """
    step = np.diff(t)[:, None]
    path = plant.kernel("difference")(q[..., :-1, :], q[..., 1:, :]) if plant.tree.manifold_joints else np.diff(q, axis=-2)
    work = (tau[..., :-1, :] * path).sum(axis=-1)
    if has_friction(plant.tree) or plant.external is not None:
        middle = 1.5 * path / step - 0.25 * (qd[..., :-1, :] + qd[..., 1:, :])
        at_instants = power(plant, q, qd)
        half = plant.kernel("integrate")(q[..., :-1, :], _first_half(plant.tree, path, qd, step), 1.0)
        between = power(plant, half, middle)
        work = work + (at_instants[..., :-1] + 4.0 * between + at_instants[..., 1:]) * step[:, 0] / 6.0
    done = np.concatenate([np.zeros((*work.shape[:-1], 1)), np.cumsum(work, axis=-1)], axis=-1)
    return np.asarray(energy - energy[..., :1] - done)


def _first_half(tree: Tree, path: FloatArray, qd: FloatArray, step: FloatArray) -> FloatArray:
    """Path to the middle of each interval: of the cubic; for quaternions half of the total motion."""
    half = 0.5 * path + 0.125 * step * (qd[..., :-1, :] - qd[..., 1:, :])
    first = tree.nv - tree.n
    return np.concatenate([0.5 * path[..., :first], half[..., first:]], axis=-1)


def jumps(tree: Tree) -> bool:
    """True if a motor has discontinuous Coulomb friction: its work within a step does not follow from the record."""
    return any(drive.motor.jumps for drive in tree.drives)


def has_friction(tree: Tree) -> bool:
    """True if a motor has friction, or a spring a damper."""
    return any(drive.motor.viscous or any(drive.motor.coulomb) for drive in tree.drives) or _damped(tree)


def _damped(tree: Tree) -> bool:
    return any(element.dissipates for element in tree.springs)


def losing(mechanism: Any, q: FloatArray, qd: FloatArray) -> FloatArray:
    """The efforts (..., nv) of friction and dampers, of a mechanism or a plant."""
    efforts, torque = mechanism.kernel("friction_torque")(qd), mechanism.kernel("spring_torque")
    return np.asarray(efforts + torque(q, qd) - torque(q, np.zeros_like(qd)))


def power(plant: Plant, q: FloatArray, qd: FloatArray) -> FloatArray:
    """Power (...,) of friction and of the external wrench, W."""
    total = -(losing(plant, q, qd) * qd).sum(axis=-1) if has_friction(plant.tree) else np.zeros(qd.shape[:-1])
    if plant.loads is not None:
        total = total + (plant.kernel("external_efforts", **plant.options)(q, plant.loads) * qd).sum(axis=-1)
    return np.asarray(total)


def check_energy(energies: Energies, batch: Shape, advice: str) -> None:
    """Warn where the energy error (..., R) of a motion is large beside the energy that was exchanged.

    That is the most of kinetic energy, of the change of potential energy, and of the work. All are NaN after the end of a
    motion; `advice` is what the warning recommends.
    """
    kinetic, potential, error = energies
    if np.abs(error).max(initial=0.0) <= LARGE * kinetic.max(axis=-1, initial=0.0).min(initial=np.inf):
        return  # the usual case
    most = np.fmax.reduce  # (that is no NaN)
    change = potential - potential[..., :1]
    work = kinetic + change - kinetic[..., :1] - error
    exchanged = most(np.maximum(np.maximum(kinetic, np.abs(change)), np.abs(work)), axis=-1)
    size = most(np.abs(error), axis=-1)
    large = (size > LARGE * exchanged) & (size > SMALL * most(np.abs(potential) + kinetic, axis=-1))
    if large.any():
        share = np.divide(size, exchanged, out=np.zeros_like(size), where=large)
        worst = int(np.argmax(share))
        place = member(worst, batch)
        which = f" in rollout {place}" if place else ""
        text = f"{size.flat[worst]:.3g} J{which}, {share.flat[worst]:.0%} of the energy exchanged; {advice}"
        warn(f"simulate: the energy error is {text}")


def sampled(plant: Plant, q: FloatArray, qd: FloatArray, tau: FloatArray, *, driven: bool) -> Energies | None:
    """Kinetic and potential energy and energy error at some recorded instants of rollouts (B, R, ·), the first `ROLLOUTS`.

    None where the work takes more than the record, with friction, an external wrench, or torque on a floating base; and
    where a rollout ended early.
    """
    q, qd, tau = q[:ROLLOUTS], qd[:ROLLOUTS], tau[:ROLLOUTS]
    if (
        plant.external is not None
        or has_friction(plant.tree)
        or (driven and plant.tree.manifold_joints)
        or not np.isfinite(q[:, -1]).all()
    ):
        return None
    last = q.shape[1] - 1
    chosen = sorted({k * last // (INSTANTS - 1) for k in range(INSTANTS)})
    kinetic = np.asarray(plant.kernel("kinetic_energy")(q[:, chosen], qd[:, chosen]))
    potential = np.asarray(plant.kernel("potential_energy")(q[:, chosen]))
    energy = kinetic + potential
    error = energy - energy[:, :1]
    if driven:
        for k, (start, end) in enumerate(pairwise(chosen), 1):
            error[:, k:] -= np.einsum("btn,btn->b", tau[:, start:end], np.diff(q[:, start : end + 1], axis=1))[:, None]
    return kinetic, potential, error


#: Tolerance of the energy balance, relative to the loss in friction, and to the greatest energy.
UNEXPLAINED, SMALL_SHARE = 0.01, 1e-6


@dataclass(frozen=True)
class EnergyAccount:
    """Energy balance of a motion, J.

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
        """Integration error: gain of energy, minus all work, plus friction losses."""
        gain = self.kinetic[1] - self.kinetic[0] + self.potential[1] - self.potential[0]
        return gain - (self.work or 0.0) - (self.external or 0.0) + (self.lost or 0.0)


def energy_account(mechanism: Any, motion: Any, external: FloatArray | None = None) -> EnergyAccount:
    """Add up where the energy of a simulated motion went, that under a force and moment (6,) on the tool if there are any.

    Powers are integrated over each recorded interval by Simpson's rule, efforts taken as linear there.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
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
        lost = integral((losing(mechanism, motion.q, motion.qd), losing(mechanism, halfway, between)))
    if external is not None and external.any():
        efforts = mechanism.kernel("external_efforts")
        pushed = integral((efforts(motion.q, external), efforts(halfway, external)))
    if lost is not None and jumps(mechanism) and motion.energy_error is not None:  # (stiction: events bound what is smooth)
        gain = sum(end - start for start, end in ends)
        lost = (work or 0.0) + (pushed or 0.0) - gain + float(motion.energy_error[-1])
    greatest = float(np.max(np.abs([kinetic, potential])))
    return EnergyAccount(ends[0], ends[1], work, lost, pushed, greatest)


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


def unexplained(tree: Tree, account: EnergyAccount) -> str | None:
    """Say it where the energies do not add up because Coulomb friction was not followed."""
    if not jumps(tree) or account.lost is None:
        return None
    if abs(account.drift) <= max(UNEXPLAINED * abs(account.lost), SMALL_SHARE * account.greatest):
        return None
    why = "Coulomb friction jumps where a joint comes to rest, and a step does not see it"
    return f"the energies do not add up, by {abs(account.drift):.4g} J: {why}; a shorter --dt may help"
