"""Cones of ball joints: how far an axis leans on the way of a step, and what is left of the opening."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.control.tangent import integrate
from linkwise.kinematics.configuration import difference
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, atan2, greatest, root, select
from linkwise.spatial.vector import chosen

#: By so much an axis may lean beyond its cone by rounding, rad.
CONE_ROUNDING = 1e-12

#: Added to squares of vectors that are divided by their lengths.
TINY = 1e-60


class Cones:
    """The cones of the ball joints of a mechanism over scalars, in the order of their joints (c,).

    Parameters
    ----------
    tree : Tree
        The mechanism.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.joints = [at for at in tree.manifold_joints if at.joint.cone_axis is not None]

    def __len__(self) -> int:
        return len(self.joints)

    def clipped(self, q: Array, openings: Array) -> Array:
        """The first of the coordinates q (nq,), those of joints with quaternions, brought into their cones (c,)."""
        widths = iter(openings)
        parts = [
            at.joint.clipped(q[at.q], next(widths) + CONE_ROUNDING) if at.joint.cone_axis is not None else q[at.q]
            for at in self.tree.manifold_joints
        ]
        return np.concatenate([np.zeros(0), *parts])

    def widened(self, q: Array, step: Array, openings: Array) -> Array:
        """The cones (c,), wider where axes lean beyond them at q (nq,), or on the way of a step (nv,) that is taken."""
        leans = [self._most(at, q, step) for at in self.joints]
        pairs = zip(leans, openings, strict=True)
        return np.array([select(lean - most - 2.0 * CONE_ROUNDING, lean, most) for lean, most in pairs], dtype=object)

    def detour(self, q: Array, goal: Array, openings: Array) -> tuple[Array, Any]:
        """A goal (nq,) to which the straight way stays in the cones (c,), and above zero where it is not the one given.

        Where the turn from q to the goal leaves a cone, the axis first goes upright: from there every turn of less than half
        a turn leans further and further, so at the latest then the way to the goal is free.
        """
        step, turned, blocked = difference(self.tree, q, goal), goal.copy(), 0.0
        for at, most in zip(self.joints, openings, strict=True):
            beyond = select(self._most(at, q, step) - most - 2.0 * CONE_ROUNDING, 1.0, 0.0)
            turned[at.q] = chosen(beyond, at.joint.clipped(q[at.q], 0.0), goal[at.q])
            blocked = blocked + beyond
        return turned, blocked

    def scale(self, *steps: Array) -> Array:
        """One over the angles (c,) of some steps (nv,) in all."""
        return np.array([1.0 / (sum(root(squared(step[at.v])) for step in steps) + 1e-200) for at in self.joints])

    def room(self, q: Array, step: Array, openings: Array, scale: Array) -> list[Any]:
        """What is left of each cone on the way of a step (nv,) from q (nq,), times a scale (c,)."""
        triples = zip(self.joints, openings, scale, strict=True)
        return [(most + CONE_ROUNDING - self._most(at, q, step)) * factor for at, most, factor in triples]

    def _most(self, at: ManifoldJoint, q: Array, step: Array) -> Any:
        """The most that the axis leans on the way of a step, rad.

        The axis goes along a circle about that of the turn, with the angles `tilt` and `lean` from it to the axis and to the
        axis of the cone: furthest from the latter on the side away from it, by the sum of both or what is left of a turn.
        """
        axis, turn = at.joint.cone_axis, step[at.v]
        assert axis is not None
        begin, end = (at.joint.excess(here[at.q], 0.0) for here in (q, integrate(self.tree, q, step)))
        upright = quaternion_rotation(q[at.q]).T @ axis
        angle = root(squared(turn) + TINY)
        about = turn / angle
        own_out, upright_out = axis - about * (about @ axis), upright - about * (about @ upright)
        tilt, lean = (_angle(about, vector) for vector in (axis, upright))
        # The angle of the turn from where the axis is to the side away from that of the cone, 0 to 2 pi.
        away = atan2(-(about @ cross(own_out, upright_out)), -(own_out @ upright_out))
        away = select(away, away, away + 2.0 * np.pi)
        widest = tilt + lean
        widest = select(widest - np.pi, 2.0 * np.pi - widest, widest)
        return greatest(greatest(begin, end), select(angle - away, widest, 0.0))


def _angle(first: Array, second: Array) -> Any:
    """The angle of two vectors, rad."""
    return atan2(root(squared(cross(first, second))), first @ second)
