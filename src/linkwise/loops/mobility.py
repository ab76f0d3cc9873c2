"""Mobility: the degrees of freedom that closed loops leave, by rank and by counting, and why the two differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.kinematics.loop_constraints import loop_frames, own_bodies
from linkwise.loops.loop_solver import CLOSED, LoopEquations, closed_near, closed_samples, closing
from linkwise.model.coupling import coupling
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.linear import rank_of
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import shaped

#: Tolerance of zero: sines of angles, and lengths relative to the distance to the farthest joint.
SAME = 1e-9

#: Whether a joint rotates about its axis, whether it translates along it, a point on the axis (3,), and its direction (3,).
Axis = tuple[bool, bool, FloatArray, FloatArray]


def loop_axes(tree: Tree, q: FloatArray) -> list[Axis]:
    """The axes of all joints that closed loops run over, closures among them, in the world frame at q (nq,)."""
    bodies = own_bodies(tree)
    full = coupling(tree).coordinates(q) if tree.coupled else q
    poses = {k: np.asarray(pose, dtype=np.float64) for k, pose in body_poses(bodies, full).items()}
    axes: list[Axis] = []
    crossed: set[int] = set()
    for loop in tree.loops:
        (first, t1), (two, _) = loop_frames(tree, bodies, loop)
        crossed |= set(bodies.path(first)) ^ set(bodies.path(two))
        frame = poses[first] @ t1
        if loop.kind != "full":
            axes.append((loop.kind == "hinge", False, frame[:3, 3], frame[:3, 2]))
    moving = ((bodies.bodies[k], poses[k]) for k in sorted(crossed))
    return [*((bool(body.turn), body.advances, pose[:3, 3], pose[:3, 2]) for body, pose in moving), *axes]


def planar_loops(tree: Tree, q: FloatArray) -> bool:
    """True if all loops lie in planes of one direction: axes parallel, slides and ball joints in the plane."""
    axes = loop_axes(tree, q)
    turning = [z for turns, _, _, z in axes if turns]
    if not turning or any(turns and advances for turns, advances, _, _ in axes):
        return False
    normal = turning[0]
    level = [abs(float(normal @ z)) for _, advances, _, z in axes if advances]
    return all(float(np.linalg.norm(np.cross(normal, z))) < SAME for z in turning) and max(level, default=0.0) < SAME


def spherical_loops(tree: Tree, q: FloatArray) -> bool:
    """True if the axes of all loops intersect in one point, and nothing slides."""
    axes = loop_axes(tree, q)
    if len(axes) < 3 or any(advances or not turns for turns, advances, _, _ in axes):
        return False
    across = [np.eye(3) - np.outer(z, z) for *_, z in axes]
    right = np.concatenate([block @ p for block, (*_, p, _) in zip(across, axes, strict=True)])
    centre, _, rank, _ = np.linalg.lstsq(np.concatenate(across), right, rcond=1e-9)
    size = max(float(np.linalg.norm(p)) for *_, p, _ in axes)
    off = [float(np.linalg.norm(block @ (p - centre))) for block, (*_, p, _) in zip(across, axes, strict=True)]
    return rank == 3 and max(off) <= SAME * size


#: Number of equations of each kind of closure in a plane, or on a sphere.
PLANAR_ROWS = {"full": 3, "point": 2, "hinge": 2}

#: Step, rad or longest offsets, of the test for singular positions: well above the root of `CLOSED`, the error of positions
#: near a singular one.
_STEP = 1e-2

#: Positions of one rank that are looked at.
_LOOKED_AT = 4

_WHY = {
    "planar": "the axes of all loops are parallel, so the mechanism is planar and needs no equations out of its plane",
    "spherical": "the axes of all loops meet in one point, so the mechanism is spherical and needs none for that point",
    "": "its dimensions are such that the loops close all the same (it is overconstrained)",
}


@dataclass(frozen=True, repr=False)
class Mobility:
    """Degrees of freedom of a mechanism at a position, by rank and by counting.

    `int` makes the number of degrees of freedom of it.

    Attributes
    ----------
    freedoms : int
        Speeds less the rank of the closure Jacobian, at this position.
    generic : int
        The same by the least rank at closed positions around it that is tested not to be singular, else by the greatest
        rank found, which is not tested; less than `freedoms` where this position is singular.
    counted : int
        Gruebler's and Kutzbach's count in space: 6 (N - 1 - j) plus the freedoms of the j joints between N links, the base
        among them; closures are joints. It is the speeds less the closure equations.
    counted_planar : int or None
        The same count in a plane, 3 (N - 1 - j) plus the freedoms, where the axes of all loops are parallel, or on a sphere,
        where they meet in one point; else None.
    speeds, equations, rank : int
        Of the tree; of the loops; how many equations are independent at this position.
    smallest : float
        The smallest singular value that counts as not zero, over the greatest; lengths in longest offsets. Below 1e-9
        they count as zero.
    reason : str
        In words, why count and rank agree or differ.

    Examples
    --------
    >>> from linkwise import robots
    >>> found = mobility(robots.four_bar())
    >>> int(found), found.counted, found.counted_planar
    (1, -2, 1)
    """

    freedoms: int
    generic: int
    counted: int
    counted_planar: int | None
    speeds: int
    equations: int
    rank: int
    smallest: float
    reason: str

    def __int__(self) -> int:
        return self.freedoms

    def __index__(self) -> int:
        return self.freedoms

    @property
    def singular(self) -> bool:
        """True if there are more freedoms at this position than around it."""
        return self.freedoms > self.generic

    @property
    def redundant(self) -> int:
        """Number of redundant closure equations, at any position."""
        return self.equations - (self.speeds - self.generic)

    def __repr__(self) -> str:
        plane = "" if self.counted_planar is None else f", {self.counted_planar} in its own plane or sphere"
        degrees = f"{self.freedoms} degree{'' if self.freedoms == 1 else 's'} of freedom"
        return f"<Mobility: {degrees}; counted {self.counted}{plane}. {self.reason}>"


def mobility(mechanism: Tree, q: npt.ArrayLike | None = None) -> Mobility:
    """Degrees of freedom by the rank of the closure equations, with Gruebler's count and the reason where they differ.

    The count is that of M. Gruebler (1917) and K. Kutzbach (1929), who reckon that every equation is worth one freedom.

    Parameters
    ----------
    mechanism : Mechanism
        With loops or without.
    q : (nq,) array_like, optional
        A position with closed loops. Where it is left out some are searched for, and one counts that moves most freely
        of those tested not to be singular, else one of the greatest rank: of several assemblies, some may be stuck.

    Raises
    ------
    ArgumentError
        Where loops are open at q, or no closed position was found.

    Examples
    --------
    >>> from linkwise import robots
    >>> int(mobility(robots.stewart()))
    6
    """
    require_numeric_tree(mechanism, "mobility")
    if not mechanism.loops:
        _ = q is None or shaped("q", q, mechanism.nq)
        only = "without loops every speed is free"
        return Mobility(mechanism.nv, mechanism.nv, mechanism.nv, None, mechanism.nv, 0, 0, 1.0, only)
    task = closing(mechanism)
    around = _around(task, q)
    values = [np.linalg.svd(task.jacobian(position), compute_uv=False) for position in around]
    ranks = [rank_of(value) for value in values]
    best = regular_rank(task, around, unloaded=q is not None)
    first = ranks.index(best) if q is None else 0
    rank, smallest_of = ranks[first], values[first]
    equations, speeds = len(task.rows), mechanism.nv
    shape = "" if task.manifold else _shape(mechanism, around[:3])
    flat = speeds - sum(PLANAR_ROWS[loop.kind] for loop in mechanism.loops) if shape else None
    reason = _reason(shape, rank, best, equations, 0 if flat is None else speeds - best - flat)
    smallest = float(smallest_of[rank - 1] / smallest_of[0]) if rank else 0.0
    return Mobility(speeds - rank, speeds - best, speeds - equations, flat, speeds, equations, rank, smallest, reason)


def generic_positions(task: LoopEquations, q: npt.ArrayLike | None = None) -> FloatArray:
    """Closed positions (k, nq) at which the closure equations have the rank that `regular_rank` returns."""
    around = _around(task, q)
    return np.asarray(around[ranks_at(task, around) == regular_rank(task, around, unloaded=q is not None)])


def ranks_at(task: LoopEquations, q: FloatArray) -> npt.NDArray[np.intp]:
    """The rank of the closure equations at closed positions (k, nq)."""
    return np.array([rank_of(values) for values in np.linalg.svd(task.jacobian(q), compute_uv=False)], dtype=np.intp)


def regular_rank(task: LoopEquations, q: FloatArray, *, unloaded: bool = False) -> int:
    """Least rank of the closure equations at regular closed positions (k, nq) among those tested, else the greatest.

    The greatest rank is not tested: where all positions have one rank, the mechanism may be unable to move from any of them.
    With `own` the others are around the first one, and where that is not singular its own rank is the answer. At
    a position that is not, each motion that the equations allow at first order goes on: a step along it closes, further on,
    with the same rank. Where the greatest rank was taken instead, an assembly that happens to be stuck would decide, or
    a position beside a singular one whose loops are closed up to rounding only.
    """
    ranks = ranks_at(task, q)
    if unloaded and _moves_on(task, q[0], int(ranks[0])):
        return int(ranks[0])
    for rank in np.unique(ranks)[:-1]:
        if any(_moves_on(task, position, int(rank)) for position in q[ranks == rank][:_LOOKED_AT]):
            return int(rank)
    return int(ranks.max())


def _moves_on(task: LoopEquations, q: FloatArray, rank: int) -> bool:
    """True if steps along all first-order motions at a closed position (nq,) lead to closed ones of the same rank."""
    free = np.linalg.svd(task.jacobian(q))[2][rank:]
    if not len(free):
        return True
    starts = task.moved(np.tile(q, (2 * len(free), 1)), _STEP * task.columns * np.vstack([free, -free]))
    inside = ~task.beyond(starts, 0.0)
    closed, error, _ = closed_near(task, starts[inside], iterations=60)
    moved = np.linalg.norm(task.apart(np.broadcast_to(q, closed.shape), closed), axis=1)
    good = (error <= CLOSED) & (moved >= 0.5 * _STEP)
    return bool(inside.any() and good.all() and (ranks_at(task, closed) == rank).all())


def closed_position(task: LoopEquations, q: npt.ArrayLike) -> FloatArray:
    """A position (nq,) that the user gave, checked.

    Raises
    ------
    ArgumentError
        Where the shape is wrong, or loops are open.
    """
    position = shaped("q", q, task.mechanism.nq)
    task.require_closed(position, advice=" (assemble finds a closed position)")
    return position


def _around(task: LoopEquations, q: npt.ArrayLike | None) -> FloatArray:
    """Closed positions (k, nq): the given one first, then others around it; without one, any closed positions."""
    if q is not None:
        position = closed_position(task, q)
        return np.vstack([position[None], closed_samples(task, position)])
    samples = closed_samples(task)
    if not len(samples):
        raise ArgumentError(
            f"no position of {task.mechanism.name!r} was found with loops closed to {CLOSED:g}; give one as q, or see"
            " assemble, which says how near it came"
        )
    return samples


def _shape(mechanism: Tree, positions: FloatArray) -> str:
    """Shape of the loops at all of these positions, ``"planar"`` or ``"spherical"``, else empty."""
    kinds = {"planar": planar_loops, "spherical": spherical_loops}
    return next((name for name, holds in kinds.items() if all(holds(mechanism, q) for q in positions)), "")


def _reason(shape: str, rank: int, best: int, equations: int, more: int) -> str:
    """Reason why count and rank agree or differ; `more` equations are redundant besides those of the shape."""
    sentences = []
    if best == equations:
        sentences.append("All closure equations are independent, as the count takes them to be.")
    else:
        several = f"{equations - best} of the {equations} closure equations repeat others"
        why = _WHY[shape] + (f"; {more} of them because of its dimensions alone (it is overconstrained)" if more else "")
        sentences.append(f"{several}: {why}.")
    if rank < best:
        lost = best - rank
        sentences.append(
            f"This position is singular: {lost} more equation{'s' * (lost > 1)} repeat{'s' * (lost == 1)} others"
            " here than at closed positions around it, so branches of motion meet, or it can only shake."
        )
    return " ".join(sentences)
