"""Configurations (nq,) and velocities (nv,) of a chain over scalars: steps, differences, and the velocities of its joints.

The velocity of a joint with a quaternion is in the axes of its link. A way with constant velocities, ``integrate(q, w s)``,
turns each such joint about one axis, which stands in both of its links, so w is the velocity all along the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.joints import Joint
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.quaternion import quaternion_product, quaternion_rotation
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, atan2, root, select
from linkwise.spatial.vector import chosen

#: Squares of the sine of half an angle below this take the limit of the angle over it.
STILL = 1e-60

#: Half angles whose sine has a smaller square take the series.
SMALL = 2.5e-3


def integrate(tree: Tree, q: Array, step: Array) -> Array:
    """The configuration (nq,) after a step (nv,); a joint whose step is zero keeps all bits.

    Examples
    --------
    >>> from linkwise import robots
    >>> integrate(robots.planar_2r(), np.array([0.1, 0.2]), np.array([0.5, 0.0])).tolist()
    [0.6, 0.2]
    """
    base = tree.nq - tree.n
    if not base:
        return np.asarray(q + step)
    pairs = ((at, q[at.q], step[at.v]) for at in tree.manifold_joints)
    joints = [chosen(squared(part), at.joint.integrate(here, part), here) for at, here, part in pairs]
    return np.concatenate([*joints, q[base:] + step[tree.nv - tree.n :]])


def difference(tree: Tree, q0: Array, q1: Array) -> Array:
    """The step (nv,) from q0 to q1 (nq,), the shorter way round; exactly zero where they are equal.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> wrist = Mechanism([Link(joint="ball")])
    >>> difference(wrist, wrist.neutral, np.array([0.0, 0.0, 0.0, 1.0])).round(9).tolist()
    [0.0, 0.0, 3.141592654]
    """
    base = tree.nq - tree.n
    if not base:
        return np.asarray(q1 - q0)
    joints = [_between(at.joint, q0[at.q], q1[at.q]) for at in tree.manifold_joints]
    return np.concatenate([*joints, q1[base:] - q0[base:]])


def blocks(tree: Tree, velocities: Array) -> list[Array]:
    """The velocities (nv,) of joints one by one: (3,) of those with quaternions, linear ones first, (1,) of the others."""
    first = tree.nv - tree.n
    return [*velocities[:first].reshape(-1, 3), *velocities[first:].reshape(-1, 1)]


def block_count(tree: Tree) -> int:
    """How many there are."""
    return (tree.nv - tree.n) // 3 + tree.n


def _between(joint: Joint, q0: Array, q1: Array) -> Array:
    """The velocities (nv,) that lead from q0 to q1 (nq,) of a joint with a quaternion in a unit of time."""
    part = joint.quaternion
    if part is None or joint.nv != part.start + 3 or part.start not in {0, 3}:
        raise ArgumentError(
            f"a chain has no joints of the kind {joint.kind!r}: expected a quaternion, or a position before it"
        )
    angular, c, s = _rotation_vector(q0[part], q1[part])
    if not part.start:
        return angular
    shift = quaternion_rotation(q0[part]).T @ (q1[:3] - q0[:3])
    across = cross(angular, shift)
    return np.concatenate([shift - 0.5 * across + _second(c, s) * cross(angular, across), angular])


def _rotation_vector(q0: Array, q1: Array) -> tuple[Array, Any, Any]:
    """The rotation vector (3,) between unit quaternions, rad, with cosine and sine of half its length.

    The vector part of q0* q1 is that of q0* (q1 - q0), in which nothing cancels.
    """
    c = q0 @ q1
    sign = select(-c, -1.0, 1.0)
    c, (w, x, y, z) = abs(c), q0
    turn = quaternion_product([w, -x, -y, -z], sign * q1 - q0)[1:]
    square = squared(turn)
    s = root(square)
    return np.asarray(turn * select(square - STILL, 2.0 * atan2(s, c) / s, 2.0)), c, s


def _second(c: Any, s: Any) -> Any:
    """(1 - x/2 cot(x/2)) / x^2 from cosine and sine of x/2 (see `Floating.difference`)."""
    half = atan2(s, c)
    square = half * half
    series = (1.0 / 12.0) + square * (1.0 / 180.0 + square * (1.0 / 1890.0 + square / 18900.0))
    return select(s * s - SMALL, (1.0 - half * c / s) / (4.0 * square), series)
