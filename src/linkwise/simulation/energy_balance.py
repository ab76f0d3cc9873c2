"""Energy balance of a simulated motion: the error of the integrator, in joules."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from linkwise.errors import warn
from linkwise.kernel.tape import Shape
from linkwise.kinematics.configuration import difference
from linkwise.model.tree import Tree
from linkwise.simulation.events import member
from linkwise.simulation.plant import Plant
from linkwise.spatial.scalar import FloatArray

LARGE = 0.1
"""Share of the energy exchanged above which an energy error is worth a warning: not even the first digit is right then. With
steps of 1 ms a falling planar arm is at 1e-10 by the fourth order method, at 1e-2 by those of the first."""

SMALL = 1e-3
"""Share of the kinetic and potential energy below which an error is worth no warning, where next to nothing is exchanged."""

INSTANTS, ROLLOUTS = 8, 64
"""At how many recorded instants at most, of how many rollouts, energies are looked at where they are not recorded: this
takes some hundredths of a millisecond."""


Energies = tuple[FloatArray, FloatArray, FloatArray]
"""Kinetic and potential energy and energy error (..., R), J."""


def energy_error(
    plant: Plant, t: FloatArray, q: FloatArray, qd: FloatArray, tau: FloatArray, energy: FloatArray
) -> FloatArray:
    """Energy less that at the start, less the work of motors, friction and the external wrench since then.

    The torque of an instant holds until the next; its work is exact. Viscous friction and wrench are integrated by Simpson's
    rule, the motion between two instants taken as the cubic that has q and qd at both: an error of the fourth power of the
    interval. What is done on a floating base has one of the second power, for its axes turn.

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
    path = difference(plant.tree, q[..., :-1, :], q[..., 1:, :]) if plant.tree.floating else np.diff(q, axis=-2)
    work = (tau[..., :-1, :] * path).sum(axis=-1)
    if _has_friction(plant.tree) or plant.external is not None:
        middle = 1.5 * path / step - 0.25 * (qd[..., :-1, :] + qd[..., 1:, :])
        at_instants = _power(plant, q, qd)
        half = plant.kernel("integrate")(q[..., :-1, :], _first_half(path, qd, step, floating=plant.tree.floating), 1.0)
        between = _power(plant, half, middle)
        work = work + (at_instants[..., :-1] + 4.0 * between + at_instants[..., 1:]) * step[:, 0] / 6.0
    done = np.concatenate([np.zeros((*work.shape[:-1], 1)), np.cumsum(work, axis=-1)], axis=-1)
    return np.asarray(energy - energy[..., :1] - done)


def _first_half(path: FloatArray, qd: FloatArray, step: FloatArray, *, floating: bool) -> FloatArray:
    """The path to the middle of each interval: of the cubic, of a floating base half of the whole."""
    half = 0.5 * path + 0.125 * step * (qd[..., :-1, :] - qd[..., 1:, :])
    return np.concatenate([0.5 * path[..., :6], half[..., 6:]], axis=-1) if floating else half


def jumps(tree: Tree) -> bool:
    """Whether any motor has Coulomb friction: within a step it jumps, and its work does not follow from the record."""
    return any(any(drive.motor.coulomb) for drive in tree.drives)


def _has_friction(tree: Tree) -> bool:
    return any(drive.motor.viscous for drive in tree.drives)


def _power(plant: Plant, q: FloatArray, qd: FloatArray) -> FloatArray:
    """Power (...,) of friction and of the external wrench, W."""
    power = (
        -(plant.kernel("friction_torque")(qd) * qd).sum(axis=-1) if _has_friction(plant.tree) else np.zeros(qd.shape[:-1])
    )
    if plant.external is not None:
        twist = (plant.kernel("jacobian", frame="body")(q) @ qd[..., None])[..., 0]
        power = power + twist @ np.asarray(plant.external)
    return np.asarray(power)


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
        or _has_friction(plant.tree)
        or (driven and plant.tree.floating)
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
