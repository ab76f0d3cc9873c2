"""From recorded motions and efforts to base parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.dynamics.closed_loops.nullspace import driven_speeds, refuse_driven
from linkwise.errors import ArgumentError, shown
from linkwise.identification.condition import check_excited, condition_numbers
from linkwise.identification.estimate import MotionEquations, equations, estimate
from linkwise.identification.parameters import spring_efforts, unknowns
from linkwise.identification.result import Identification, M
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, whole


def identify(
    mech: M,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    known: str | Iterable[str] = (),
    effort_std: npt.ArrayLike | None = None,
    essential: float | None = None,
    decimate: int = 1,
    least_speed: npt.ArrayLike = 0.0,
    driven: Sequence[int | str] | int | str | None = None,
) -> Identification[M]:
    """Estimate the base parameters of a mechanism from motions and the efforts that they took, by weighted least squares.

    Each joint's equations are weighted by the scatter of its efforts, found from the residuals (M. Gautier, "Dynamic
    identification of robots with power model", ICRA 1997). With loops there are those of the driven coordinates alone, in
    which the forces of the loops do no work, and the base parameters are those of the positions recorded. The deviations
    that come with the values hold if what is wrong with `tau` is independent from sample to sample, and what is wrong with
    q, qd and qdd matters little beside it. Springs of the mechanism are known, and what they take is subtracted first.

    Parameters
    ----------
    mech : Mechanism
        Its geometry, gravity, gear ratios, and which joints have motors count; its masses, inertias and frictions
        count only where they are `known`.
    q : (..., T, nq) array_like
        Coordinates, rad or m: one motion of T samples, or several.
    qd, qdd : (..., T, nv) array_like
        Velocities and accelerations; `differentiate` finds them from measured positions.
    tau : (..., T, nv) array_like
        Efforts of the motors at the joints, N m or N (motor torque times gear ratio).
    known : str or sequence of str
        Parameters that are as `mech` says and are not to be found: names from ``mech.parameter_names`` (``"M2"``), kinds
        (``"Tc+"``), ``"friction"`` (B, Tc+ and Tc-) or ``"rotors"`` (Jm). With ``mech.without_friction()`` and
        ``known="friction"`` there is none.
    effort_std : float or (nv,) array_like, optional
        Standard deviation of the measured efforts, where it is known; it then says the weights and the deviations.
    essential : float, optional
        Leave out, one after another, the parameters whose deviation is above this share of their value (0.3, say).
    decimate : int
        Filter efforts and regressor alike, and keep every so many samples (needs SciPy): removes from measured
        efforts what is faster than the motion.
    least_speed : float or (n,) array_like
        Leave out the equation of a joint wherever it is slower than this, rad/s or m/s: near zero, where Coulomb friction
        jumps, a small error of the speed is a large one of the effort.
    driven : sequence of int or str, optional
        With loops, whose equations are taken: as many coordinates as there are degrees of freedom, by name or by the index
        of their speed; by default those with motors. Efforts of all others count too, and are zero where nothing drives.

    Returns
    -------
    Identification

    Raises
    ------
    ArgumentError
        Where shapes or values do not fit, or a motion opens loops; where samples are too few; where the motion does not tell
        all base parameters apart, naming those that it does not.
    MissingExtraError
        Where `decimate` is asked for and SciPy is not installed.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> found = identify(arm, q, qd, qdd, arm.inverse_dynamics(q, qd, qdd))
    >>> [(name, abs(round(float(value), 9))) for name, value in zip(found.names, found.values)][:2]
    [('MX1 + M1 + M2', 1.5), ('MY1', 0.0)]
    """
    mech.require_numbers("identify")
    motion = _checked(mech, q=q, qd=qd, qdd=qdd, tau=tau)
    if mech.springs:
        motion["tau"] = motion["tau"] - spring_efforts(mech, motion["q"], motion["qd"], motion["qdd"])
    parameters = unknowns(mech, known, motion["q"] if mech.loops else None)
    share = None if essential is None else float(_number("essential", essential, ()))
    deviation = None if effort_std is None else np.broadcast_to(_number("effort_std", effort_std, (mech.nv,)), mech.nv)
    every = whole("decimate", decimate, 1)
    slowest = np.zeros(mech.nv)
    slowest[mech.nv - mech.n :] = _number("least_speed", least_speed, (mech.n,), zero=True)
    refuse_driven(mech, driven, "identify")
    at = driven_speeds(mech, driven, "identify") if mech.loops else None
    system = equations(mech, parameters, motion, every, slowest, at)
    check_excited(system.table.reshape(-1, len(parameters.base)), parameters.labels)
    estimated = estimate(system, deviation, share)
    size, succession = _residuals(system, estimated.values)
    conditions = condition_numbers(system.table)
    return Identification(mech, parameters, estimated, *conditions, system.counts, size, succession, at)


def _checked(tree: Tree, **arrays: Any) -> dict[str, FloatArray]:
    """The four arrays, of the same samples."""
    if not tree.nv:
        raise ArgumentError(f"{tree.name!r} has no joints: no parameter can be identified")
    motion = {}
    for field, value in arrays.items():
        size = tree.nq if field == "q" else tree.nv
        motion[field] = numbers(field, value, f"finite real numbers (..., T, {size})", copy=False)
        if motion[field].ndim < 2 or motion[field].shape[-1] != size:
            raise ArgumentError(f"{field} has the shape {motion[field].shape}; expected (..., T, {size}), T samples")
    if len({array.shape[:-1] for array in motion.values()}) > 1:
        shapes = ", ".join(f"{field} {array.shape}" for field, array in motion.items())
        raise ArgumentError(f"the shapes are {shapes}; expected the same samples in each")
    return motion


def _number(field: str, value: Any, shape: tuple[int, ...], *, zero: bool = False) -> FloatArray:
    """A positive number, or as many as a shape says."""
    expected = f"a number {'>=' if zero else '>'} 0" + (f", or {shape[0]} of them" if shape else "")
    array = numbers(field, value, expected)
    if array.shape not in {(), shape} or not np.all((array > 0) | (zero & (array == 0))):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return array


def _residuals(system: MotionEquations, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Root mean square (nv,) of the residual of each effort, and its correlation with the next in time."""
    residual = system.residual(values)
    squares, products = (residual**2).sum(axis=0), (residual[1:] * residual[:-1]).sum(axis=0)
    safe = np.where(squares > 0, squares, 1.0)
    return np.asarray(np.sqrt(squares / np.maximum(system.counts, 1))), np.asarray(products / safe)
