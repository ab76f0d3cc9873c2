"""Joint wrenches with closed loops: those that links receive from their parents, and those through the cut joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_inverse_dynamics
from linkwise.dynamics.closed_loops.nullspace import cut_open
from linkwise.dynamics.external import External, loaded_kernel
from linkwise.kinematics.forward_kinematics import base_poses
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class ClosedJointWrenches:
    """Forces and moments in all joints, those that were cut to describe the mechanism too; moments about the world origin.

    Attributes
    ----------
    tau : ndarray (..., nv)
        Efforts of the driven coordinates, zero elsewhere.
    forces : ndarray (..., K)
        As `constraint_forces` gives them.
    joints : ndarray (..., L, 6)
        Force and moment that each link receives from its parent, world axes.
    loops : ndarray (..., loops, 6)
        Force and moment that the second link of each loop receives from the first, world axes.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> bars, still = robots.four_bar(), np.zeros(3)
    >>> wrenches = closed_joint_wrenches(bars, bars.neutral, still, still)
    >>> wrenches.tau.shape, wrenches.forces.shape
    ((3,), (5,))
    """

    tau: FloatArray
    forces: FloatArray
    joints: FloatArray
    loops: FloatArray


def closed_joint_wrenches(
    mechanism: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    driven: Sequence[int | str] | int | str | None = None,
    external: External | None = None,
    *,
    name: str = "closed_joint_wrenches",
) -> ClosedJointWrenches:
    """Return the wrenches through all joints, cut joints included, in a motion with closed loops.

    The wrenches of the tree, cut open, less what the loops' forces do to the links that each joint carries. Where closure
    equations repeat others, as those across the plane of a planar linkage, the laws of rigid bodies do not determine
    all of them: the loops then take the least that is possible, see `constraint_forces`.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    q : (..., nq) array_like
        Coordinates with loops closed, rad or m.
    qd, qdd : (..., nv) array_like
        Velocities and accelerations that keep them closed.
    driven : sequence of int or str, optional
        The coordinates that have an effort: see `closed_inverse_dynamics`.
    external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
        As for `Mechanism.inverse_dynamics`.
    name : str
        What messages call the function.

    Raises
    ------
    ArgumentError
        As `closed_inverse_dynamics`.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> bars, still = robots.four_bar(), np.zeros(3)
    >>> wrenches = closed_joint_wrenches(bars, bars.neutral, still, still)
    >>> wrenches.joints.shape, wrenches.loops.shape
    ((3, 6), (1, 6))
    """
    tau, forces = closed_inverse_dynamics(mechanism, q, qd, qdd, driven, external, name=name)
    loops = _in_world(mechanism, np.asarray(q), forces)
    joints = loaded_kernel(cut_open(mechanism), "joint_wrenches", external)(q, qd, qdd)
    return ClosedJointWrenches(tau, forces, joints - _carried(mechanism) @ loops, loops)


def _in_world(tree: Tree, q: FloatArray, forces: FloatArray) -> FloatArray:
    """The forces (..., K) of the loops as wrenches (..., loops, 6) about the world origin, in world axes."""
    poses, result, first = kernel_of(tree, "link_poses")(q), [], 0
    for loop in tree.loops:
        count = CLOSURE_ROWS[loop.kind]
        carrier = base_poses(tree, q) if loop.first == "base" else poses[..., tree.link_index(loop.first), :, :]
        pose = carrier @ loop.first_frame
        both = np.zeros((*forces.shape[:-1], 6))
        both[..., :count] = forces[..., first : first + count]
        force, moment = ((pose[..., :3, :3] @ both[..., k : k + 3, None])[..., 0] for k in (0, 3))
        result.append(np.concatenate([force, moment + np.cross(pose[..., :3, 3], force)], axis=-1))
        first += count
    return np.stack(result, axis=-2)


def _carried(tree: Tree) -> FloatArray:
    """Incidence (L, loops): 1 if the link carries the second link of a loop, or is it, minus 1 if it carries the first."""
    result = np.zeros((len(tree.links), len(tree.loops)))
    for column, loop in enumerate(tree.loops):
        for link, sign in ((loop.second, 1.0), (loop.first, -1.0)):
            k = -1 if link == "base" else tree.link_index(link)
            while k >= 0:
                result[k, column] += sign
                k = tree.parents[k]
    return result
