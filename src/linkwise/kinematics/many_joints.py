"""Configurations of mechanisms with many joints: compiled code for one ball joint loops over all, NumPy over the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from linkwise import algorithm, arrays
from linkwise.kernel import Kernel, Tape
from linkwise.kernel.kernel import check_arguments, check_count
from linkwise.kernel.sources import is_own
from linkwise.model.joints.joint import Joint
from linkwise.model.link import Link
from linkwise.model.tree import ManifoldJoint, Tree

#: Ball joints from which on their code is not written out for each: to compile it takes 40 ms a joint.
JOINTS = 32

#: Velocities from which on the same holds whatever the joints: code for 1,000 of them takes 5 s to compile.
VELOCITIES = 256


def goes_over_joints(tree: Tree, args: Sequence[Any]) -> bool:
    """True for many ball joints or velocities, no quaternions of types from outside, and NumPy arrays."""
    if arrays.is_traced() or (len(joints := tree.manifold_joints) < JOINTS and tree.nv < VELOCITIES):
        return False
    return all(map(is_own, {type(at.joint) for at in joints})) and arrays.of("", args) is None


def integrate(tree: Tree, q: Any, qd: Any, dt: Any) -> Any:
    """Coordinates (..., nq) after the time dt (...,) at the velocities qd (..., nv), as `linkwise.kinematics.integrate`."""
    q, qd, dt = _checked(tree, "integrate", {"q": (tree.nq,), "qd": (tree.nv,), "dt": ()}, (q, qd, dt))
    sums = q[..., tree.nq - tree.n :] + qd[..., tree.nv - tree.n :] * dt[..., None]
    result = np.empty((*sums.shape[:-1], tree.nq), sums.dtype)
    result[..., tree.nq - tree.n :] = sums
    for kernel, at_q, at_v in _groups(tree, "integrate"):
        result[..., at_q] = kernel(q[..., at_q], qd[..., at_v], dt[..., None])
    return result


def difference(tree: Tree, q0: Any, q1: Any) -> Any:
    """Velocities (..., nv) from q0 to q1 (..., nq) in one second, as `linkwise.kinematics.difference`."""
    q0, q1 = _checked(tree, "difference", {"q0": (tree.nq,), "q1": (tree.nq,)}, (q0, q1))
    differences = q1[..., tree.nq - tree.n :] - q0[..., tree.nq - tree.n :]
    result = np.empty((*differences.shape[:-1], tree.nv), differences.dtype)
    result[..., tree.nv - tree.n :] = differences
    for kernel, at_q, at_v in _groups(tree, "difference"):
        result[..., at_v] = kernel(q0[..., at_q], q1[..., at_q])
    return result


def _checked(tree: Tree, name: str, shapes: dict[str, tuple[int, ...]], args: Sequence[Any]) -> list[Any]:
    """The arguments as arrays of one type, float32 or float64; errors as those of a kernel."""
    tape = Tape(name, shapes, {}, (), (), ())
    check_count(tape, args)
    check_arguments(tape, args)
    values = [np.asarray(arg) for arg in args]
    kinds = [arg if type(arg) in {int, float} else value for arg, value in zip(args, values, strict=True)]
    return [value.astype(np.result_type(np.float32, *kinds), copy=False) for value in values]


def _groups(tree: Tree, name: str) -> list[tuple[Kernel, Any, Any]]:
    """The kernel of each type of joint, and the indices of its coordinates (joints, nq) and velocities (joints, nv)."""

    def grouped() -> list[tuple[type[Joint], Any, Any]]:
        groups: dict[type[Joint], list[ManifoldJoint]] = {}
        for at in tree.manifold_joints:
            groups.setdefault(type(at.joint), []).append(at)
        return [(kind, *map(_columns, ([at.q for at in of], [at.v for at in of]))) for kind, of in groups.items()]

    groups = tree.memo("configuration", "groups", grouped)
    return [(_one_joint(kind, name), at_q, at_v) for kind, at_q, at_v in groups]


def _columns(slices: Sequence[slice]) -> Any:
    return np.array([range(part.start, part.stop) for part in slices])


@cache
def _one_joint(kind: type[Joint], name: str) -> Kernel:
    """The kernel of a mechanism with one joint."""
    return algorithm.kernel_of(Tree([Link(joint=kind.kind)]), name, None, {})
