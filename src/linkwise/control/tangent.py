"""Configurations (nq,) and velocities (nv,) of a chain over scalars: steps, and the velocities of its joints.

The velocity of a joint with a quaternion is in the axes of its link. A way with constant velocities, ``integrate(q, w s)``,
turns each such joint about one axis, which stands in both of its links, so w is the velocity all along the way.
"""

from __future__ import annotations

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.scalar import Array
from linkwise.spatial.vector import chosen


def integrate(tree: Tree, q: Array, step: Array) -> Array:
    """Configuration (nq,) after a step (nv,); a joint whose step is zero keeps all bits.

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


def blocks(tree: Tree, velocities: Array) -> list[Array]:
    """The velocities (nv,) of joints one by one: (3,) of those with quaternions, linear ones first, (1,) of the others."""
    first = tree.nv - tree.n
    return [*velocities[:first].reshape(-1, 3), *velocities[first:].reshape(-1, 1)]


def block_count(tree: Tree) -> int:
    """Number of blocks."""
    for at in tree.manifold_joints:
        if at.joint.quaternion is None or at.joint.nv not in {3, 6}:
            raise ArgumentError(
                f"a chain has no joints of the kind {at.joint.kind!r}: expected a quaternion, or a position before it"
            )
    return (tree.nv - tree.n) // 3 + tree.n
