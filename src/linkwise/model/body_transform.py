"""Transform between a body and its parent at given coordinates, for vectors, forces and inertias.

Six-vectors hold the linear part first: a motion is (velocity of the origin, angular velocity), a force is (force, moment
about the origin), both in the axes of one body and about its origin (R. Featherstone, *Rigid Body Dynamics Algorithms*,
2008, chapter 2, with the halves exchanged). Inertias and momenta are the 4x4 matrices of the matrix method, which pass to
another frame as T X T' (G. Legnani et al., Mech. Mach. Theory 31(5), 1996, part 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linkwise.model.body import Bodies, Body, Freedom, motion_of, rotation_of
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, is_number, is_zero


@dataclass(frozen=True)
class JointTransform:
    """A joint at some coordinates: T_parent_body = placement @ motion, applied in its two steps, and its motion subspace.

    Each of the two steps has zeros of its own.

    Attributes
    ----------
    fixed, shift : ndarray (3, 3), (3,)
        The constant placement.
    turn, slide : ndarray (3, 3), (3,)
        The joint's own motion.
    planar : tuple or None
        Cosine and sine where the joint turns about z alone, else None.
    freedoms : tuple of Freedom
        The columns of the motion subspace S.
    changes : callable or None
        From the velocities qd (nv,) of the mechanism the columns of dS/dt; None where S is constant.
    """

    fixed: Array
    shift: Array
    turn: Array
    slide: Array
    planar: tuple[Any, Any] | None = None
    freedoms: tuple[Freedom, ...] = ()
    changes: Callable[[Array], tuple[Freedom, ...]] | None = None

    @property
    def rotation(self) -> Array:
        """R_parent_body (3, 3)."""
        return np.asarray(self.fixed @ self.turn)

    @property
    def origin(self) -> Array:
        """The body's origin (3,) in the parent's frame."""
        return np.asarray(self.shift + self.fixed @ self.slide)

    def rate(self, qd: Array) -> Array:
        """The motion (6,) of the body relative to its parent: S qd, or S qdd."""
        return motion_of(self.freedoms, qd)

    def rates(self, qd: Array) -> tuple[Freedom, ...]:
        """The columns of dS/dt."""
        if self.changes is not None:
            return self.changes(qd)
        return tuple(Freedom(freedom.speed, np.zeros(3), np.zeros(3)) for freedom in self.freedoms)

    def bias(self, qd: Array) -> Array:
        """dS/dt qd (6,)."""
        return motion_of(() if self.changes is None else self.changes(qd), qd)

    def vector_from_parent(self, vector: Array) -> Array:
        """A free vector (3,) from the parent's axes to the body's."""
        return np.asarray(self.turn.T @ (self.fixed.T @ vector))

    def vector_to_parent(self, vector: Array) -> Array:
        """A free vector (3,), such as the moment of a couple, from the body's axes to the parent's."""
        return np.asarray(self.fixed @ (self.turn @ vector))

    def motion_from_parent(self, motion: Array) -> Array:
        """A motion (6,) of the parent in the body's frame, at constant joint position."""
        linear, angular = motion[:3], motion[3:]
        linear, angular = self.fixed.T @ (linear + cross(angular, self.shift)), self.fixed.T @ angular
        return np.concatenate([self.turn.T @ (linear + cross(angular, self.slide)), self.turn.T @ angular])

    def force_to_parent(self, wrench: Array) -> Array:
        """A force (6,) on the body as it acts on the parent."""
        force, moment = self.turn @ wrench[:3], self.turn @ wrench[3:]
        moment = moment + cross(self.slide, force)
        force, moment = self.fixed @ force, self.fixed @ moment
        return np.concatenate([force, moment + cross(self.shift, force)])

    def moment_to_parent(self, moment: Array) -> Array:
        """First moment and mass (4,) about the parent's origin in its axes."""
        first, mass = self.turn @ moment[:3] + self.slide * moment[3], moment[3]
        return np.concatenate([self.fixed @ first + self.shift * mass, [mass]])

    def inertia_to_parent(self, inertia: Array) -> Array:
        """A pseudo-inertia (4, 4), symmetric, about the parent's origin in its axes."""
        block, first, mass = inertia[:3, :3], inertia[:3, 3], inertia[3, 3]
        block = _turned(block, *self.planar) if self.planar else _congruent(self.turn, block)
        block, first = _shifted(block, self.turn @ first, mass, self.slide)
        block, first = _shifted(_congruent(self.fixed, block), self.fixed @ first, mass, self.shift)
        return pseudo(block, first, mass)

    def momentum_to_parent(self, momentum: Array) -> Array:
        """The upper half (3, 4) of a momentum matrix W J, about the parent's origin in its axes."""
        block, linear = momentum[:, :3], self.turn @ momentum[:, 3]
        block = self.turn @ block @ self.turn.T + np.outer(linear, self.slide)
        linear = self.fixed @ linear
        block = self.fixed @ block @ self.fixed.T + np.outer(linear, self.shift)
        return np.concatenate([block, linear[:, None]], axis=1)


def joint_transform(body: Body, q: Array) -> JointTransform:
    """The transform of one body at the coordinates q (nq,)."""
    fixed, shift = body.placement[:3, :3], body.placement[:3, 3]
    motion = body.motion(q)
    if body.parent >= 0:
        fixed, motion = body.turned_motion(fixed, q)
    turn, slide = motion[:3, :3], motion[:3, 3]
    changes = None if body.joint is None or body.joint.screws is not None else partial(body.rates_at, q)
    return JointTransform(fixed, shift, turn, slide, _planar(turn), body.freedoms_at(q), changes)


def joint_transforms(bodies: Bodies, q: Array) -> list[JointTransform]:
    """The transform of every body."""
    return [joint_transform(body, q) for body in bodies.bodies]


def _planar(turn: Array) -> tuple[Any, Any] | None:
    """Cosine and sine of a rotation that is about z by its structure, and is not the identity."""
    corner = (turn[2, 2], *turn[2, :2], *turn[:2, 2])
    if not all(is_number(value) and value == known for value, known in zip(corner, (1, 0, 0, 0, 0), strict=True)):
        return None
    return None if is_zero(turn[1, 0]) and is_number(turn[0, 0]) and turn[0, 0] == 1 else (turn[0, 0], turn[1, 0])


def turned_inertia(inertia: Array, c: Any, s: Any) -> Array:
    """A pseudo-inertia (4, 4) turned about z by an angle with this cosine and sine."""
    return pseudo(_turned(inertia[:3, :3], c, s), rotation_of(c, s) @ inertia[:3, 3], inertia[3, 3])


def pseudo(block: Array, first: Array, mass: Any) -> Array:
    """The pseudo-inertia (4, 4) of the integral of r r' dm, the first moment, and the mass."""
    return np.concatenate([np.concatenate([block, first[:, None]], axis=1), [[*first, mass]]])


def _turned(block: Array, c: Any, s: Any) -> Array:
    """R S R' for a rotation about z: the 2x2 corner turns by the double angle, and R(2a) u = 2 cos(a) R(a) u - u."""
    difference, twice = block[0, 0] - block[1, 1], 2.0 * block[0, 1]
    along = c * (c * difference - s * twice)
    across = c * (s * difference + c * twice) - block[0, 1]
    xz, yz = c * block[0, 2] - s * block[1, 2], s * block[0, 2] + c * block[1, 2]
    return np.array([[block[1, 1] + along, across, xz], [across, block[0, 0] - along, yz], [xz, yz, block[2, 2]]])


def _congruent(rotation: Array, block: Array) -> Array:
    """R S R' for a symmetric S (3, 3); the lower half is the upper one."""
    half = rotation @ block
    result = np.empty((3, 3), dtype=object)
    for i in range(3):
        for j in range(i, 3):
            result[i, j] = result[j, i] = half[i] @ rotation[j]
    return result


def _shifted(block: Array, first: Array, mass: Any, shift: Array) -> tuple[Array, Array]:
    """Second and first moment about a point from which the old one is seen at ``shift``."""
    moved = first + mass * shift
    result = np.empty((3, 3), dtype=object)
    for i in range(3):
        for j in range(i, 3):
            result[i, j] = result[j, i] = block[i, j] + moved[i] * shift[j] + shift[i] * first[j]
    return result, moved
