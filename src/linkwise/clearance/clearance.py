"""Signed distances of a mechanism from itself and from obstacles, with witness points and gradients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.clearance.exact import exact_pairs
from linkwise.clearance.kernels import box_gaps, distance_kernel, frames_at, link_jacobians, segment_gaps
from linkwise.clearance.pairs import collision_shapes, placed, require_in_world
from linkwise.clearance.shapes import CapsuleSet, CollisionShapes, LeftOut, Obstacles, obstacle_set
from linkwise.errors import ArgumentError, shown
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag, vectors

#: A vector from one axis to another that is shorter, m, is rounding, and has no direction.
NO_DIRECTION = 1e-12


class Distances:
    """Common part of results with a distance of each pair: the least distance, and its pair."""

    distance: FloatArray
    pairs: tuple[tuple[str, str], ...]

    @property
    def least(self) -> FloatArray:
        """Least distance (...,), m; infinite without pairs."""
        return np.asarray(self.distance.min(axis=-1, initial=np.inf))

    @property
    def nearest(self) -> Any:
        """Names of the two of the least distance: a pair, or for a batch an array (..., 2)."""
        if not self.pairs:
            raise ArgumentError("there is no pair of shapes or obstacles to check")
        return np.array(self.pairs)[self.distance.argmin(axis=-1)]


@dataclass(frozen=True, eq=False, repr=False)
class Clearance(Distances):
    """Signed distances between pairs of shapes, at one configuration or at a batch.

    Attributes
    ----------
    q : ndarray (..., nq)
        Configurations, rad or m.
    distance : ndarray (..., P)
        Distance of each pair, m; negative where they overlap: by how much they must be moved apart.
    pairs : tuple of (str, str)
        Names of the shapes (P): of two of the mechanism, or of one and an obstacle.
    excess : ndarray (P,)
        How much greater the distance of the true shapes is at most, m, where they do not overlap: what their capsules reach
        beyond both. 0 for spheres and capsules, and for exact distances.
    left_out : tuple of LeftOut
        The pairs of the mechanism's own shapes that are not looked at, and why.

    Examples
    --------
    >>> import linkwise as lw
    >>> rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    >>> arm = lw.robots.planar_2r().with_shapes(rods)
    >>> arm.clearance([0.0, 0.0], [lw.Shape("world", "sphere", 0.1, origin=(2.0, 0.5, 0.0), name="obstacle")])
    <Clearance: least 0.35 m between link2 and obstacle, 2 pairs>
    """

    q: FloatArray
    distance: FloatArray
    pairs: tuple[tuple[str, str], ...]
    excess: FloatArray
    left_out: tuple[LeftOut, ...]
    shapes: CollisionShapes = field(repr=False)
    obstacles: CapsuleSet = field(repr=False)
    exact: tuple[FloatArray, FloatArray] | None = None

    @cached_property
    def points(self) -> FloatArray:
        """The witness points (..., P, 2, 3): on each of the two shapes that nearest to the other, world frame, m."""
        return self._witnesses[0]

    @cached_property
    def gradient(self) -> FloatArray:
        """The derivative of each distance (..., P, nv) by the velocities: m/rad or 1.

        Where the axes of two capsules meet, or nearest points jump, it is that of one of the sides.
        """
        tree, points, normals = self.shapes.tree, *self._witnesses
        links = sorted({link for link in self.shapes.links if link >= 0})
        result = np.zeros((*self.distance.shape, tree.nv))
        if not links:
            return result
        frames, jacobians = frames_at(tree, self.q), link_jacobians(tree, links, self.q)
        base = _base_jacobian(tree, self.q) if tree.floating else None
        places = range(len(self.shapes.links))
        for k, ends in enumerate(self.shapes.each_pair(places, [None] * len(self.obstacles.names))):
            for side, shape in enumerate(ends):
                link = None if shape is None else self.shapes.links[shape]
                if link is None or (link < 0 and base is None):
                    continue
                jac = base if link < 0 else jacobians[..., links.index(link), :, :]
                arm = points[..., k, side, :] - frames[..., link, :3, 3]
                normal = normals[..., k, :] * (1.0 if side else -1.0)
                moment = np.cross(arm, normal)
                result[..., k, :] += (np.concatenate([normal, moment], axis=-1)[..., None, :] @ jac)[..., 0, :]
        return result

    @cached_property
    def _witnesses(self) -> tuple[FloatArray, FloatArray]:
        """Witness points (..., P, 2, 3), and the unit vectors (..., P, 3) from the first shape to the second."""
        if self.exact is not None:
            return self.exact
        bodies, others = self.shapes.own, self.obstacles
        starts, vectors = placed(bodies, self.shapes.links, frames_at(self.shapes.tree, self.q))
        rows = others.rows
        batch = self.distance.shape[:-1]
        points, normals = np.empty((*self.distance.shape, 2, 3)), np.empty((*self.distance.shape, 3))
        shapes, obstacles = ([(j, is_own) for j in range(len(s.names))] for s, is_own in ((bodies, True), (others, False)))
        for k, ((i, _), (j, is_own)) in enumerate(self.shapes.each_pair(shapes, obstacles)):
            a = np.flatnonzero(bodies.owners == i)
            if not is_own and not others.capsules[j]:
                box = rows[others.owners == j].ravel()
                points[..., k, :, :], normals[..., k, :] = _beside(
                    box, starts[..., a, :], vectors[..., a, :], bodies.rows[a, 6]
                )
                continue
            b = np.flatnonzero((bodies if is_own else others).owners == j)
            a, b = (np.ravel(x) for x in np.meshgrid(a, b, indexing="ij"))
            p, d = starts[..., a, :], vectors[..., a, :]
            second = (starts[..., b, :], vectors[..., b, :]) if is_own else (rows[b, :3], rows[b, 3:6])
            s, g = (np.broadcast_to(part, (*batch, len(b), 3)) for part in second)
            radii = bodies.rows[a, 6], (bodies.rows if is_own else rows)[b, 6]
            between, apart, u, v = segment_gaps(p, d, s, g)
            chosen = (between - radii[0] - radii[1]).argmin(axis=-1)[..., None]
            candidates = (apart, d, g, p + d * u[..., None], s + g * v[..., None])
            of_axes = [np.take_along_axis(x, chosen[..., None], -2)[..., 0, :] for x in candidates]
            normal, first_axis, second_axis = _normals(*of_axes[:3]), of_axes[3], of_axes[4]
            points[..., k, 0, :] = first_axis + normal * radii[0][chosen]
            points[..., k, 1, :] = second_axis - normal * radii[1][chosen]
            normals[..., k, :] = normal
        return points, normals

    def __repr__(self) -> str:
        if not self.pairs:
            return "<Clearance: no pairs>"
        if not self.least.ndim:
            return f"<Clearance: least {self.least:.4g} m between {' and '.join(self.nearest)}, {len(self.pairs)} pairs>"
        least = self.least.min(initial=np.inf)
        return f"<Clearance: {self.least.shape} configurations, least {least:.4g} m, {len(self.pairs)} pairs>"


def _beside(box: FloatArray, starts: FloatArray, vectors: FloatArray, radii: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Witness points (..., 2, 3) and normal (..., 3) of that of some capsules (..., A) that is nearest to a box (16,)."""
    distance, apart, _, first, second = box_gaps(starts, vectors, box)
    chosen = (distance - radii).argmin(axis=-1)[..., None]
    apart, first, second = (np.take_along_axis(x, chosen[..., None], -2)[..., 0, :] for x in (apart, first, second))
    normal = _normals(apart, np.broadcast_to(box[[0, 3, 6]], apart.shape), np.broadcast_to(box[[1, 4, 7]], apart.shape))
    return np.stack([first + normal * radii[chosen], second], axis=-2), normal


def _normals(apart: FloatArray, d: FloatArray, g: FloatArray) -> FloatArray:
    """Unit vectors along (..., 3); where those are zero to rounding, across both axes, or across one."""
    length = np.linalg.norm(apart, axis=-1, keepdims=True)
    across = np.cross(d, g)
    other = np.linalg.norm(across, axis=-1, keepdims=True)
    axis = np.where(np.linalg.norm(d, axis=-1, keepdims=True) > 0, d, g)
    least = np.eye(3)[np.abs(axis).argmin(axis=-1)]
    alone = np.cross(axis, least)
    third = np.linalg.norm(alone, axis=-1, keepdims=True)
    fallback = np.where(other > 0, across / np.where(other > 0, other, 1.0), alone / np.where(third > 0, third, 1.0))
    fallback = np.where((other > 0) | (third > 0), fallback, np.array([0.0, 0.0, 1.0]))
    known = length > NO_DIRECTION
    return np.asarray(np.where(known, apart / np.where(known, length, 1.0), fallback))


def _base_jacobian(tree: Tree, q: FloatArray) -> FloatArray:
    """The Jacobian (..., 6, nv) of a floating base: its velocities are in its own axes."""
    result = np.zeros((*q.shape[:-1], 6, tree.nv))
    rotation = frames_at(tree, q)[..., -1, :3, :3]
    result[..., :3, :3] = result[..., 3:, 3:6] = rotation
    return result


def clearance(
    mechanism: Tree,
    q: npt.ArrayLike,
    obstacles: Obstacles = (),
    *,
    disabled: Iterable[Any] | None = None,
    seed: int = 0,
    exact: bool = False,
) -> Clearance:
    """Signed distances between the shapes of a mechanism, and from obstacles.

    By default each shape is replaced by spheres or capsules that contain it, obstacles that are boxes apart: distances of
    spheres and capsules from each other and from boxes are exact, and all others are lower bounds, by at most
    `Clearance.excess` too small. Of shapes that overlap the depth is that of two of their capsules, and of an axis that
    enters a box that to the nearest face. They are one compiled kernel; witness points and gradients are computed when they
    are asked for.

    Parameters
    ----------
    mechanism : Mechanism
        With collision shapes: `Mechanism.shapes`.
    q : (..., nq) array_like
        Configurations, rad or m. That loops are closed is not looked at.
    obstacles : sequence of Shape, or mapping of str to Shape
        Bodies that stand in the world frame.
    disabled : iterable of pairs of str, optional
        Links that are not checked against each other, as ``read_srdf(...).disabled_collisions`` has them. Without it, pairs
        of shapes are left out that overlap in all of 2,000 random configurations, or stay apart in all of them by more than
        a twentieth of the mechanism's reach. Neighbours, joined by a joint or a loop, are always left out.
    seed : int
        Seed of these configurations.
    exact : bool
        Whether the shapes themselves are measured, one pair after the other, by the library coal (extra ``collision``).

    Returns
    -------
    Clearance

    Raises
    ------
    ArgumentError
        Where the mechanism has no collision shapes; for what is no configuration or no obstacle, and for an obstacle on a
        link that moves.
    MissingExtraError
        Where exact distances are asked for and coal is not installed.

    Examples
    --------
    >>> import linkwise as lw
    >>> rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    >>> arm = lw.robots.planar_2r().with_shapes(rods)
    >>> result = clearance(arm, [[0.0, 0.0], [0.5, 0.0]], {"obstacle": lw.Shape("world", "sphere", 0.1, origin=(2, 0.5, 0))})
    >>> result.distance.round(3).tolist(), result.pairs
    ([[0.968, 0.35], [0.973, 0.37]], (('link1', 'obstacle'), ('link2', 'obstacle')))
    >>> result.gradient[0].round(3).tolist()
    [[-0.447, 0.0], [-2.0, -1.0]]
    """
    others = obstacle_set(obstacles)
    shapes = collision_shapes(mechanism, disabled, seed)
    require_in_world(mechanism, others)
    at = vectors("q", q, mechanism.nq)
    return measured(shapes, others, at, exact=flag("exact", exact))


def measured(shapes: CollisionShapes, obstacles: CapsuleSet, q: FloatArray, *, exact: bool = False) -> Clearance:
    """The distances of all pairs at configurations (..., nq)."""
    names, excess = _pairs(shapes, obstacles)
    if exact:
        distance, points, normals = exact_pairs(shapes, obstacles, q)
        none = np.zeros(len(names))
        return Clearance(q, distance, names, none, shapes.left_out, shapes, obstacles, exact=(points, normals))
    distance = distances_at(shapes, obstacles, q) if names else np.empty((*q.shape[:-1], 0))
    return Clearance(q, distance, names, excess, shapes.left_out, shapes, obstacles)


def distances_at(shapes: CollisionShapes, obstacles: CapsuleSet, q: FloatArray, *, least: bool = False) -> FloatArray:
    """Distances (..., P) of all pairs, or the least of them (...,), at configurations (..., nq)."""
    kernel = distance_kernel(shapes, obstacles.kinds, least=least)
    result = kernel(q, obstacles.rows.ravel()) if obstacles.names else kernel(q)
    return np.asarray(result)


def _pairs(shapes: CollisionShapes, others: CapsuleSet) -> tuple[tuple[tuple[str, str], ...], FloatArray]:
    """Names of the pairs, and upper bounds of the deficit of their distances (P,)."""
    for name in others.names:
        if name in shapes.own.names:
            raise ArgumentError(
                f"the obstacle {shown(name)} has the name of a shape of {shapes.tree.name!r}; expected another"
            )
    sums = np.reshape(shapes.each_pair(shapes.own.excess.tolist(), others.excess.tolist()), (-1, 2)).sum(axis=1)
    return tuple(shapes.each_pair(shapes.own.names, others.names)), sums
