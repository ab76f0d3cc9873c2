"""Which coordinates of a linkage are driven: those that the user names, checked, or a set that drives well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, members, shown
from linkwise.loops.loop_solver import LoopEquations
from linkwise.model.tree import Tree
from linkwise.spatial.linear.rank import independent_columns, rank_of
from linkwise.spatial.scalar import FloatArray

_MOTOR, _LIMITS, _HELPER = 1e-3, 0.3, 10.0
"""What a joint is worth as a passive one, against 1: with a motor or a greatest effort; with limits; without mass on it."""


def driven_coordinates(task: LoopEquations, jacobians: FloatArray, given: Sequence[int | str] | None) -> tuple[int, ...]:
    """Indices of the driven joint coordinates, in the order given.

    Parameters
    ----------
    task : LoopEquations
        The closure equations.
    jacobians : ndarray (S, K, n)
        At several closed positions.
    given : sequence of int or str, optional
        What the user wants; by default what `automatic` gives.

    Raises
    ------
    ArgumentError
        Where the number is wrong, a name unknown, or the set cannot drive, saying which could.
    """
    tree = task.mechanism
    rank = rank_of(np.linalg.svd(jacobians[0], compute_uv=False))
    if given is None:
        return automatic(tree, jacobians, rank)
    chosen = tuple(coordinate_index(tree, item) for item in given)
    if len(set(chosen)) < len(chosen):
        raise ArgumentError(f"driven is {shown(given)}; expected different coordinates of {tree.name!r}")
    freedoms = tree.n - rank
    names = [tree.names[k] for k in chosen]
    if len(chosen) != freedoms:
        could = members(tree.names[k] for k in automatic(tree, jacobians, rank, chosen))
        raise ArgumentError(
            f"{tree.name!r} has {freedoms} degree{'s' * (freedoms != 1)} of freedom, so {freedoms}"
            f" {'coordinate is' if freedoms == 1 else 'coordinates are'} driven,"
            f" not {len(chosen)}{f' ({members(names)})' if names else ''}; {could} could be"
        )
    passive = [k for k in range(tree.n) if k not in chosen]
    if all(rank_of(np.linalg.svd(jac[:, passive], compute_uv=False)) < rank for jac in jacobians):
        raise ArgumentError(f"{members(names)} cannot drive {tree.name!r}; {_could(tree, jacobians, rank, chosen)}")
    return chosen


def automatic(tree: Tree, jacobians: FloatArray, rank: int, preferred: Sequence[int] = ()) -> tuple[int, ...]:
    """The driven coordinates whose passive ones are best conditioned at the worst of some positions.

    Joints with a motor or a greatest effort are taken before others, then those with limits.
    """
    driven_by = {drive.coordinate for drive in tree.drives}
    limited = np.isfinite(tree.q_min) & np.isfinite(tree.q_max)
    weights = np.where(limited, _LIMITS, 1.0)
    weights[[k in driven_by or np.isfinite(effort) for k, effort in enumerate(tree.tau_max)]] = _MOTOR
    weights[_massless(tree)] = _HELPER
    weights[list(preferred)] = _MOTOR**2
    passive = independent_columns(jacobians, rank, weights)
    return tuple(k for k in range(tree.n) if k not in passive)


def _massless(tree: Tree) -> list[int]:
    """Coordinates of joints whose own link has no mass: they only help to place another."""
    pairs = zip(tree.links, tree.coordinates, strict=True)
    found = [(k, link.body.is_zero) for link, k in pairs if k >= 0 and not link.mimic]
    return [k for k, empty in found if empty] if not all(empty for _, empty in found) else []


def _could(tree: Tree, jacobians: FloatArray, rank: int, chosen: Sequence[int]) -> str:
    """Which sets could drive: all, where one coordinate does, else the one nearest to what was chosen."""
    if tree.n - rank != 1:
        return f"{members(tree.names[k] for k in automatic(tree, jacobians, rank, chosen))} could, for instance"
    able = []
    for k in range(tree.n):
        rest = [j for j in range(tree.n) if j != k]
        if any(rank_of(np.linalg.svd(jac[:, rest], compute_uv=False)) == rank for jac in jacobians):
            able.append(tree.names[k])
    return f"{members(able)} could"


def coordinate_index(tree: Tree, item: Any) -> int:
    """Index of a joint coordinate, from 0, given by its name or by an index that may count from the end.

    Raises
    ------
    ArgumentError
        Naming the coordinates there are.
    """
    if isinstance(item, str) and item in tree.names:
        return tree.names.index(item)
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool) and -tree.n <= item < tree.n:
        return int(item) % tree.n
    raise ArgumentError(f"no coordinate {item!r}; this mechanism has {members(tree.names)}, or indices 0 to {tree.n - 1}")
