"""The face that users hold: a mechanism's data, with one line per algorithm."""

from __future__ import annotations

from typing import Any

from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.algorithm import find
import numpy as np


class Mechanism(Tree):
    """Links and joints, and everything that can be computed about them."""

    def kernel(self, name, **options):
        a = find(name)
        shapes = list(a.shapes(self, a.inputs).values())

        def call(*args):
            args = [np.asarray(x, dtype=float) for x in args]
            batch = np.broadcast_shapes(*[x.shape[: x.ndim - len(s)] for x, s in zip(args, shapes)])
            args = [np.broadcast_to(x, batch + s) for x, s in zip(args, shapes)]
            outs = [np.zeros(batch + s) for s in a.shapes(self, a.outputs).values()]
            for i in np.ndindex(batch):
                r = a.function(self, *[x[i] for x in args], **options)
                r = r if isinstance(r, tuple) else (r,)
                for o, v in zip(outs, r):
                    o[i] = v
            return tuple(outs) if len(outs) > 1 else outs[0]

        return call

    def forward_kinematics(self, q, link=-1):
        return self.kernel("forward_kinematics", link=link)(q)

    def link_poses(self, q):
        return self.kernel("link_poses")(q)

    def jacobian(self, q, link=-1, frame="base"):
        return self.kernel("jacobian", link=link, frame=frame)(q)

    def jacobian_dot(self, q, qd, link=-1, frame="base"):
        return self.kernel("jacobian_dot", link=link, frame=frame)(q, qd)

    def motion(self, q, qd, qdd):
        return self.kernel("motion")(q, qd, qdd)

    def manipulability(self, q):
        return np.prod(np.linalg.svd(self.jacobian(q), compute_uv=False), axis=-1)

    def inverse_dynamics(self, q, qd, qdd, external=None):
        return (
            self.kernel("inverse_dynamics")(q, qd, qdd)
            if external is None
            else self.kernel("inverse_dynamics_external")(q, qd, qdd, external)
        )

    def joint_actions(self, q, qd, qdd, external=None):
        return (
            self.kernel("joint_actions")(q, qd, qdd)
            if external is None
            else self.kernel("joint_actions_external")(q, qd, qdd, external)
        )

    @classmethod
    def from_dh(cls, rows, *, convention, order=("theta", "d", "a", "alpha"), joints=None, **rest):
        from linkwise.model.link import Link

        kinds = {"R": "revolute", "P": "prismatic", "F": "fixed"}
        rows = list(rows)
        joints = joints or "R" * len(rows)
        return cls(
            [Link.dh(**dict(zip(order, row)), convention=convention, joint=kinds[j]) for row, j in zip(rows, joints)], **rest
        )
