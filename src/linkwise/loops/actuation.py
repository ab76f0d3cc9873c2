"""Choice of the driven and the passive coordinates of closed loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.errors import ArgumentError, members, shown
from linkwise.loops.loop_solver import LoopEquations
from linkwise.model.tree import Tree
from linkwise.solve.validation import joint_index
from linkwise.spatial.linear import independent_columns, rank_of
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import listed

#: Preference of a joint as a passive one, relative to 1: with a motor or an effort limit; with limits; without mass on it.
_MOTOR, _LIMITS, _HELPER = 1e-3, 0.3, 10.0

#: Preference of the velocities of joints with quaternions: they are never driven, and passive where possible.
_MANIFOLD = 1e6


def driven_coordinates(
    task: LoopEquations, jacobians: FloatArray, driven_joints: Sequence[int | str] | None
) -> tuple[int, ...]:
    """Indices, among the velocities of the task, of the driven joint coordinates, in the given order.

    Parameters
    ----------
    task : LoopEquations
        The closure equations.
    jacobians : ndarray (S, K, s)
        At several closed positions.
    driven_joints : sequence of int or str, optional
        By name or index; by default what `automatic` gives.

    Raises
    ------
    ArgumentError
        Where the number is wrong, a name unknown, or the set cannot drive, saying which could.
    """
    tree = task.mechanism
    rank = rank_of(np.linalg.svd(jacobians[0], compute_uv=False))
    if driven_joints is None:
        return automatic(task, jacobians, rank)
    expected = f"different coordinates of {tree.name!r}, by name or index"
    chosen = tuple(task.first + joint_index(tree, "driven", item) for item in listed("driven", driven_joints, expected))
    if len(set(chosen)) < len(chosen):
        raise ArgumentError(f"driven is {shown(driven_joints)}; expected {expected}")
    freedoms = driven_count(task, jacobians[0], rank)
    names = [task.names[k] for k in chosen]
    if len(chosen) != freedoms:
        could = members(task.names[k] for k in automatic(task, jacobians, rank, chosen))
        raise ArgumentError(
            f"{tree.name!r} has {freedoms} degree{'s' * (freedoms != 1)} of freedom, so {freedoms}"
            f" {'coordinate is' if freedoms == 1 else 'coordinates are'} driven,"
            f" not {len(chosen)}{f' ({members(names)})' if names else ''}; {could} could be"
        )
    passive = [k for k in range(len(task.speeds)) if k not in chosen]
    if all(rank_of(np.linalg.svd(jac[:, passive], compute_uv=False)) < rank for jac in jacobians):
        raise ArgumentError(f"{members(names)} cannot drive {tree.name!r}; {_could(task, jacobians, rank, chosen)}")
    return chosen


def driven_count(task: LoopEquations, jacobian: FloatArray, rank: int) -> int:
    """Number of driven coordinates: the freedoms of the joints without quaternions.

    Where these rest, joints with quaternions may still move by themselves, as a rod between two balls spins.
    """
    return task.mechanism.n - rank + rank_of(np.linalg.svd(jacobian[:, : task.first], compute_uv=False))


def passive_speeds(
    task: LoopEquations, jacobians: FloatArray, rank: int, driven: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Indices of the passive velocities, and of those of joints with quaternions that are idle."""
    others = np.array([k for k in range(len(task.speeds)) if k not in driven], dtype=np.intp)
    if not task.manifold:
        return tuple(others.tolist()), ()
    passive = others[list(independent_columns(jacobians[..., others], rank, _weights(task)[others]))]
    return tuple(passive.tolist()), tuple(sorted({*others.tolist()} - {*passive.tolist()}))


def automatic(task: LoopEquations, jacobians: FloatArray, rank: int, preferred: Sequence[int] = ()) -> tuple[int, ...]:
    """Driven coordinates whose passive ones are best conditioned at the worst of some positions.

    Joints with a motor or a greatest effort are taken before others, then those with limits.
    """
    weights = _weights(task)
    weights[list(preferred)] = _MOTOR**2
    passive = independent_columns(jacobians, rank, weights)
    return tuple(k for k in range(task.first, len(task.speeds)) if k not in passive)


def _weights(task: LoopEquations) -> FloatArray:
    """Preference of each velocity (s,) as a passive one."""
    tree = task.mechanism
    driven_by = {drive.coordinate for drive in tree.drives}
    limited = np.isfinite(tree.q_min) & np.isfinite(tree.q_max)
    weights = np.where(limited, _LIMITS, 1.0)
    weights[[k in driven_by or np.isfinite(effort) for k, effort in enumerate(tree.tau_max)]] = _MOTOR
    weights[_massless(tree)] = _HELPER
    return np.concatenate([np.full(task.first, _MANIFOLD), weights])


def _massless(tree: Tree) -> list[int]:
    """Coordinates of joints whose own link has no mass: they only help to place another."""
    pairs = zip(tree.links, tree.coordinates, strict=True)
    massless = [(k, link.body.is_zero) for link, k in pairs if k >= 0 and not link.mimic]
    return [k for k, empty in massless if empty] if not all(empty for _, empty in massless) else []


def _could(task: LoopEquations, jacobians: FloatArray, rank: int, chosen: Sequence[int]) -> str:
    """List the possible driven sets: all, if one coordinate drives, else the one nearest to the choice."""
    if len(chosen) != 1:
        return f"{members(task.names[k] for k in automatic(task, jacobians, rank, chosen))} could, for instance"
    able = []
    for k in range(task.first, len(task.speeds)):
        others = [j for j in range(len(task.speeds)) if j != k]
        if any(rank_of(np.linalg.svd(jac[:, others], compute_uv=False)) == rank for jac in jacobians):
            able.append(task.names[k])
    return f"{members(able)} could"
