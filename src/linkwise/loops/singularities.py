"""Singular positions of a linkage: of the driven coordinates (toggles), and of their output (dead points).

C. Gosselin, J. Angeles, "Singularity analysis of closed-loop kinematic chains", IEEE Trans. Robotics and Automation 6(3),
1990: with A x' = B u' between what comes out and what drives, A loses rank in a toggle position, B in a dead point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import members
from linkwise.loops.loop_solver import LoopEquations
from linkwise.loops.mobility import closed_position
from linkwise.loops.step_kernels import LinkageEquations
from linkwise.spatial.linear import RANK, rank_of
from linkwise.spatial.scalar import Array, FloatArray

#: A measure up to here is called singular.
SINGULAR = 1e-6

#: Number of positions at which motions are tested.
_SAMPLES = 4

#: A velocity ratio above this is a motion.
_MOVES = 1e-3

#: A measure up to here is called close to singular.
CLOSE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Singularities:
    """Distance of a position of a linkage from singular ones. All measures are relative: 0 is singular.

    Attributes
    ----------
    driving : float
        The smallest singular value of the closure Jacobian's columns of the passive coordinates, over the greatest of all
        its columns; lengths in longest offsets. Zero in a toggle position: there the driven coordinates, held still, do not
        hold the rest, and cannot drive it.
    closure : float
        The same for all columns: zero where closure equations depend on each other that elsewhere do not, so that branches
        of motion meet.
    ratios : ndarray (n - m, m)
        Speed of each passive coordinate per driven velocity; infinite in a toggle position.
    still : tuple of str
        Passive coordinates in a dead point: they move elsewhere, but stand still here whatever the driven ones do. If one of
        them drove instead, this would be its toggle position.
    output : float or None
        The smallest singular value, over the greatest, of the velocity of the link that was asked for per driven velocity (m
        over longest offset, rad): zero where it lacks a motion that it has elsewhere. None where no link was asked for.

    Examples
    --------
    >>> from linkwise import robots
    >>> crank = robots.slider_crank().linkage(["crank"])
    >>> found = crank.singularities(crank.position([0.5]).q)
    >>> found.driving > 0.1, found.still
    (True, ())
    """

    driving: float
    closure: float
    ratios: FloatArray
    still: tuple[str, ...]
    output: float | None

    @property
    def toggle(self) -> bool:
        """True if the driven coordinates cannot drive here."""
        return self.driving <= SINGULAR

    @property
    def dead_point(self) -> bool:
        """True if a passive coordinate, or the output link, has no velocity for any driven velocity."""
        return bool(self.still) or (self.output is not None and self.output <= SINGULAR)

    @property
    def branching(self) -> bool:
        """True if branches of motion meet here."""
        return self.closure <= SINGULAR

    def explain(self) -> str:
        """Describe the singularities in words."""
        parts = [_describe(self.driving, "a toggle position", "the driven coordinates cannot drive the others")]
        if self.branching:
            parts.append("branches of motion meet: closure equations depend on each other here")
        if self.still:
            parts.append(f"a dead point: {members(self.still)} {'stands' if len(self.still) == 1 else 'stand'} still")
        if self.output is not None:
            parts.append(
                _describe(self.output, "a dead point of the link asked for", "it lacks a motion that it has elsewhere")
            )
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"<Singularities: {self.explain()}>"


def _describe(measure: float, name: str, meaning: str) -> str:
    value = f"smallest singular value {measure:.3g}"
    if measure <= SINGULAR:
        return f"{name} ({value}): {meaning}"
    return f"{'close to' if measure <= CLOSE else 'not'} {name} ({value})"


def singularities_at(
    task: LoopEquations,
    system: LinkageEquations,
    generic: tuple[int, FloatArray],
    q: npt.ArrayLike,
    output: int | str | None,
) -> Singularities:
    """Measure a closed position q (nq,).

    Parameters
    ----------
    task, system : LoopEquations, LinkageEquations
        The closure equations, and which coordinates are driven.
    generic : pair of int and ndarray (k, nq)
        The rank of the closure Jacobian at most positions, and some of these: what rests there too is left out.
    q : (nq,) array_like
        The position.
    output : int or str, optional
        The link whose motion matters.
    """
    here, (rank, elsewhere) = closed_position(task, q), generic
    movable, motions = np.zeros(len(task.speeds), dtype=bool), 0
    for position in elsewhere[:_SAMPLES]:
        _, values, ratios, whole = _driven_motion(task, system, position, output)
        if values.size and values[-1] <= RANK * values[0]:
            continue
        movable[list(system.passive)] |= np.abs(ratios).max(axis=1, initial=0.0) > _MOVES
        motions = max(motions, rank_of(whole))
    all_values, values, ratios, whole = _driven_motion(task, system, here, output)
    driving = float(values[-1] / all_values[0]) if values.size else 1.0
    toggle, largest = driving <= SINGULAR, max(1.0, float(np.abs(ratios).max(initial=0.0)))
    pairs = zip(system.passive, np.abs(ratios).max(axis=1, initial=0.0), strict=True)
    still = [task.names[k] for k, size in pairs if movable[k] and size <= SINGULAR * largest]
    measure = None
    if output is not None:
        measure = float(whole[motions - 1] / whole[0]) if motions and whole[0] > SINGULAR else 0.0
    closure = float(all_values[rank - 1] / all_values[0])
    if toggle:
        return Singularities(driving, closure, np.full_like(ratios, np.inf), (), measure)
    return Singularities(driving, closure, ratios, tuple(still), measure)


def _driven_motion(
    task: LoopEquations, system: LinkageEquations, q: FloatArray, output: int | str | None
) -> tuple[Array, Array, Array, Array]:
    """Singular values of the closure Jacobian and of its passive columns, ratios of velocities, values of the link."""
    driven, passive = list(system.driven), list(system.passive)
    jac = task.jacobian(q)
    whole = np.linalg.svd(jac, compute_uv=False)
    left, values, right = np.linalg.svd(jac[:, passive], full_matrices=False)
    good = values > RANK * whole[0]
    ratios = -((right.T[:, good] / values[good]) @ left.T[good]) @ jac[:, driven]
    if output is None:
        return whole, values, ratios, np.zeros(0)
    mech = task.mechanism
    moved = kernel_of(mech, "jacobian", None, {"link": output})(q)[:, task.speeds] * task.columns
    moved = moved * np.repeat([1.0 / task.size, 1.0], 3)[:, None]
    return whole, values, ratios, np.linalg.svd(moved[:, driven] + moved[:, passive] @ ratios, compute_uv=False)
