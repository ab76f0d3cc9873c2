"""Forces and impulses of contacts with dry friction: opening, sliding or sticking of several contacts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwise.extras import optional
from linkwise.spatial.scalar import FloatArray

#: Compliance of rigid contacts that share a load, relative to the greatest eigenvalue.
COMPLIANCE = 1e-11

#: Relative velocity or acceleration that counts as zero, and convergence tolerance.
NONE, SETTLED = 1e-7, 1e-8

#: Slides so much faster than without forces do not settle.
DIVERGED = 1e6

#: Greatest number of sliding iterations, interval of extrapolation, and greatest number of directions of a cone.
ITERATIONS, AHEAD, DIRECTIONS = 200, 10, 40

#: Parts of a change of the slides that are taken, one after the other where the slides swing without settling.
RELAXATIONS = 1.0, 0.3, 0.1, 0.02


@dataclass(frozen=True)
class Cone:
    """Friction cone of a contact.

    Attributes
    ----------
    rows : slice
        Its rows among those of all contacts: three, or one along the normal.
    normal : ndarray (3,) or (1,)
        The axis.
    friction : float
        Coefficient; infinite where the contact sticks as long as it is pressed.
    direction : ndarray (3,), optional
        Where the contact slides already: the unit vector of its velocity.
    """

    rows: slice
    normal: FloatArray
    friction: float
    direction: FloatArray | None = None

    def across(self, value: FloatArray) -> FloatArray:
        """The part of a vector in the plane of the contact."""
        return np.asarray(value - (self.normal @ value) * self.normal)

    def edges(self) -> list[FloatArray]:
        """Vectors whose nonnegative combinations lie in the cone: all of it, or its part at `steepest`."""
        if self.direction is not None:
            return [self.normal - self.friction * self.direction]
        if len(self.normal) == 1 or self.friction == 0.0:
            return [self.normal]
        plane = np.linalg.svd(self.normal[None])[2][1:]
        sides = [*plane, *-plane]
        return [self.normal, *sides] if np.isinf(self.friction) else [self.normal + self.friction * side for side in sides]

    def steepest(self, value: FloatArray) -> FloatArray | None:
        """The edge of a round cone along which a vector (3,) falls most."""
        if self.direction is not None or len(self.normal) == 1 or self.friction == 0.0 or np.isinf(self.friction):
            return None
        across = self.across(value)
        size = float(np.linalg.norm(across))
        return self.normal - self.friction * across / size if size else None

    def slide(self, value: FloatArray) -> float:
        """Deficit of the normal component of a motion (3,) by Coulomb's law against one orthogonal to its force."""
        if self.direction is not None:
            return float(self.friction * (self.direction @ value))
        return 0.0 if np.isinf(self.friction) else float(self.friction * np.linalg.norm(self.across(value)))


def coulomb(matrix: FloatArray, free: FloatArray, cones: Sequence[Cone]) -> tuple[FloatArray, FloatArray]:
    """Return the forces f (k,) and motions u = matrix f + free (k,) of contacts with dry friction.

    Along normals u >= 0, f >= 0 and u f = 0; in the plane f is at most the friction, and against u where there is one (C.-A.
    de Coulomb), or against the ``direction`` of a contact that slides already. Forces at given slides are those of a convex
    problem, of least squares over cones; slides follow by iteration (F. Cadoux, *Méthodes d'optimisation pour la dynamique
    non-régulière*, 2009, chapter 4, with the change of variables of G. de Saxcé and Z.-Q. Feng, 1998). Forces are NaN where
    the slides do not settle, as in P. Painlevé's paradox, and where no finite force within the cones will do.

    Parameters
    ----------
    matrix : ndarray (k, k)
        The Delassus matrix: symmetric, >= 0.
    free : ndarray (k,)
        Accelerations or velocities without forces.
    cones : sequence of Cone
        One for each contact.

    Examples
    --------
    >>> cone = Cone(slice(0, 3), np.array([0.0, 0.0, 1.0]), 0.5)
    >>> force, motion = coulomb(np.eye(3), np.array([3.0, 0.0, -2.0]), [cone])
    >>> force.round(6), motion.round(6) + 0.0
    (array([-1.,  0.,  2.]), array([2., 0., 0.]))
    """
    forces, motion = _converged(matrix, free, cones)
    least = NONE * float(np.abs(free).max(initial=0.0))
    clinging = [cone for cone in cones if np.isinf(cone.friction) and cone.normal @ motion[cone.rows] > least]
    if clinging:  # (contacts with unlimited friction stick in the plane too)
        pressed = [cone for cone in cones if cone not in clinging]
        held = np.array([row for cone in pressed for row in np.arange(len(free))[cone.rows]], dtype=np.intp)
        ends = np.cumsum([0, *(len(cone.normal) for cone in pressed)])
        placed = [replace(cone, rows=slice(ends[k], ends[k + 1])) for k, cone in enumerate(pressed)]
        others = np.zeros(len(free))
        others[held] = coulomb(matrix[np.ix_(held, held)], free[held], placed)[0]
        moving = matrix @ others + free
        if all(cone.normal @ moving[cone.rows] >= -least for cone in clinging):
            return others, moving
    return forces, motion


def _converged(matrix: FloatArray, free: FloatArray, cones: Sequence[Cone]) -> tuple[FloatArray, FloatArray]:
    """`coulomb`, where contacts that stick without limit may cling in the plane while they open."""
    if not cones:
        return np.zeros(0), np.zeros(0)
    values, axes = np.linalg.eigh(0.5 * (matrix + matrix.T))
    yielding = COMPLIANCE * max(float(values[-1]), 1e-300)
    root = np.sqrt(np.maximum(values, 0.0) + yielding)
    half, scale = root[:, None] * axes.T, float(np.abs(free).max(initial=0.0)) or 1.0
    edges = [(cone, edge) for cone in cones for edge in cone.edges()]
    for relaxation in RELAXATIONS:
        slides, step = np.zeros(len(cones)), np.zeros(len(cones))
        for iteration in range(ITERATIONS):
            shifted = free.copy()
            for cone, slide in zip(cones, slides, strict=True):
                shifted[cone.rows] += slide * cone.normal
            forces = _least(half, axes.T @ shifted / root, shifted, matrix, cones, edges)
            motion = matrix @ forces + free
            last, step = step, np.array([cone.slide(motion[cone.rows]) for cone in cones]) - slides
            change = float(np.abs(step).max(initial=0.0))
            if change <= SETTLED * scale:
                break
            slides, step = slides + relaxation * step, relaxation * step
            if not np.abs(slides).max() < DIVERGED * scale:
                break
            ratio = float(last @ step / (last @ last)) if last.any() else 0.0
            if iteration % AHEAD == AHEAD - 1 and 0.0 < ratio < 1.0:  # near a jam they converge slowly: extrapolate
                slides, step = slides + ratio / (1.0 - ratio) * step, np.zeros(len(cones))
        if max(change, yielding * float(np.abs(forces).max())) <= NONE * scale:  # (shared forces creep)
            return forces, motion
    return np.full(len(free), np.nan), motion


def _least(
    half: FloatArray,
    goal: FloatArray,
    shifted: FloatArray,
    matrix: FloatArray,
    cones: Sequence[Cone],
    edges: list[tuple[Cone, FloatArray]],
) -> FloatArray:
    """The forces (k,) in the cones with the least f' matrix f / 2 + shifted' f; round cones get edges where needed."""
    solve = optional("scipy.optimize", "contacts that land need SciPy", "scipy").nnls
    scale = float(np.abs(shifted).max(initial=0.0)) or 1.0
    base = sum(len(cone.edges()) for cone in cones)
    for _ in range(DIRECTIONS):
        spread = np.zeros((len(goal), len(edges)))
        for column, (cone, edge) in enumerate(edges):
            spread[cone.rows, column] = edge
        weights = solve(half @ spread, -goal, maxiter=50 * len(edges) + 100)[0]
        forces = np.asarray(spread @ weights)
        edges[:] = [pair for k, pair in enumerate(edges) if k < base or weights[k] > 0.0]
        motion, added = matrix @ forces + shifted, False
        for cone in cones:
            steepest = cone.steepest(motion[cone.rows])
            if steepest is not None and steepest @ motion[cone.rows] < -0.01 * SETTLED * scale:
                edges.append((cone, steepest))
                added = True
        if not added:
            break
    return forces


def still_rows(cones: Sequence[Cone], size: int) -> FloatArray:
    """Rows (rows, k) of contacts at rest without motion: along the normal, and in the plane where they do not slide."""
    identity = np.eye(size)
    rows = [
        cone.normal[None] @ identity[cone.rows]
        if cone.direction is not None or cone.friction == 0.0
        else identity[cone.rows]
        for cone in cones
    ]
    return np.concatenate([np.zeros((0, size)), *rows])


def on_cones(matrix: FloatArray, free: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The forces (k,) with which all contacts stay, those with a ``direction`` sliding on against the friction's cone."""
    identity, rows, spread = np.eye(len(free)), still_rows(cones, len(free)), []
    for cone in cones:
        if cone.direction is not None or cone.friction == 0.0:
            slope = 0.0 if cone.direction is None else cone.friction * cone.direction
            spread.append((cone.normal - slope)[None] @ identity[cone.rows])
        else:
            spread.append(identity[cone.rows])
    columns = np.concatenate([np.zeros((0, len(free))), *spread]).T
    return np.asarray(columns @ np.linalg.lstsq(rows @ matrix @ columns, -rows @ free, rcond=COMPLIANCE)[0])


def refined(matrix: FloatArray, free: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The forces of `coulomb`, with the equations solved of those contacts that stay, slide and stick."""
    forces, motion = coulomb(matrix, free, cones)
    scale = float(np.abs(free).max(initial=0.0))
    goal = motion
    for _ in range(5):  # (slides turn a little)
        placed = []
        for cone in cones:
            if cone.normal @ motion[cone.rows] > NONE * scale:
                continue
            across = cone.across(motion[cone.rows])
            size = float(np.linalg.norm(across))
            slides = size > NONE * scale and len(across) == 3 and np.isfinite(cone.friction)
            placed.append(replace(cone, direction=across / size if slides else None))
        closer = on_cones(matrix, free, placed)
        motion = matrix @ closer + free
        if not np.abs(motion - goal).max(initial=0.0) <= 10.0 * NONE * scale:
            return forces
    return closer
