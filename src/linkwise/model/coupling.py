"""Mimic joints: the same mechanism with every joint free, and the map from independent to all coordinates.

With E (nv of the free mechanism, nv) constant and qd_free = E qd, what the algorithms give for the free mechanism becomes
that of the coupled one without a second recursion: efforts are E' tau, the mass matrix is E' M E, Jacobians are J E (the
principle of virtual work; R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray


@dataclass(frozen=True)
class Coupling:
    """Map from the coordinates of a mechanism to those of all joints.

    Attributes
    ----------
    uncoupled : Tree
        The mechanism with a coordinate for every joint.
    spread : ndarray (nv of `uncoupled`, nv)
        E, with qd_free = E qd.
    shift : ndarray (n of `uncoupled`,)
        Where the joints are when the coordinates are zero.
    base : int
        How many coordinates stand before those of the joints: of a floating base and of joints with quaternions.
    """

    uncoupled: Tree
    spread: FloatArray
    shift: FloatArray
    base: int

    def coordinates(self, q: Array) -> Array:
        """Q of the free mechanism from q (nq,)."""
        rows, columns = len(self.shift), len(q) - self.base
        joints = self.spread[len(self.spread) - rows :, self.spread.shape[1] - columns :] @ q[self.base :] + self.shift
        return np.concatenate([q[: self.base], joints])

    def speeds(self, qd: Array) -> Array:
        """Qd of the free mechanism from qd (nv,), or qdd from qdd."""
        return np.asarray(self.spread @ qd)

    def gathered(self, values: Array, shape: str) -> Array:
        """Contract each axis of length ``nv`` of a result of the free mechanism to the velocities of the coupled one."""
        free = result = np.asarray(values)
        for axis, letter in enumerate(shape.split()):
            if letter == "nv":
                result = np.moveaxis(np.tensordot(result, self.spread, axes=(axis, 0)), -1, axis)
        if shape == "nv nv" and all(_same(free[i, j], free[j, i]) for i in range(len(free)) for j in range(i)):
            lower = np.tril_indices(len(result), -1)
            result[lower] = result.T[lower]
        return result


def _same(a: Any, b: Any) -> bool:
    """True if two scalars are one node of a graph, or equal numbers."""
    return a is b or (isinstance(a, float) and isinstance(b, float) and a == b)


def coupling(tree: Tree) -> Coupling:
    """Map from the coordinates of a mechanism to those of all joints, cached."""
    return tree.memo("model", "coupling", lambda: _coupling(tree))


def _coupling(tree: Tree) -> Coupling:
    links = [link.replace(mimic=None) if link.mimic else link for link in tree.links]
    pairs = zip(tree.links, tree.followers, strict=True)
    moving = [(at, joint) for x, joint in pairs for at, _ in enumerate(x.coordinate_names, joint.coordinate)]
    floating = tree.nv - tree.n
    spread = np.zeros((floating + len(moving), tree.nv))
    spread[:floating, :floating] = np.eye(floating)
    for row, (at, joint) in enumerate(moving):
        spread[floating + row, floating + at] = joint.ratio
    free = tree.replace(links=links, loops=())
    return Coupling(free, spread, np.array([joint.shift for _, joint in moving]), tree.nq - tree.n)
