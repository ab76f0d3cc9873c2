"""Making answers exact, and checking them, over scalars: by the forward pass of the mechanism as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.problem import ROWS
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.linear.ldl import factor
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, root, select
from linkwise.spatial.vector import inner

DAMPING = 1e-13
"""Share of the squared length of a column of the Jacobian that is added to it: what keeps a step finite where the Jacobian
lacks rank, and shortens the others by nothing that matters."""

LONGEST = 0.1
"""Steps longer than this (rad, m) are not taken: they leave the branch."""

ENOUGH = 1e-15
"""Nothing is gained by a step where what is missed (rad, shares of the chain's size) is less than this."""

STEPS = 2
"""Gauss-Newton steps: each squares the error."""


def errors(reached: Array, wanted: Array) -> tuple[Any, Any]:
    """Distance (m) and angle (rad) between two poses (4, 4).

    The angle is taken as twice the sine of its half, from the difference of the matrices: exact where it is small.
    """
    way = wanted[:3, 3] - reached[:3, 3]
    turn = (wanted[:3, :3] - reached[:3, :3]).ravel()
    return root(inner(way, way)), root(0.5 * inner(turn, turn))


def refined(
    tree: Tree,
    link: int | str,
    wanted: Array,
    q: Array,
    columns: Sequence[int],
    size: float,
    asks: str = "pose",
) -> Array:
    """Coordinates (n,) moved by Gauss-Newton steps towards a pose (4, 4), or the part of it that is asked for.

    `columns` are those that may move. The step is the damped least-squares one of C. W. Wampler (1986), with a damping that
    is almost nothing; where steps lead away, as they may in a singular position, the nearest of the positions counts.
    """
    best, least = q, None
    for _ in range(STEPS):
        reached = np.asarray(forward_kinematics(tree, q, link=link))
        gap = _gap(reached, wanted, size)[ROWS[asks]]
        missed = inner(gap, gap)
        best, least = (q, missed) if least is None else _better(best, least, q, missed)
        rates = np.asarray(jacobian(tree, q, link=link))[:, list(columns)]
        step = damped_step(np.concatenate([rates[:3] * (1.0 / size), rates[3:]])[ROWS[asks]], gap)
        taken = select(missed - ENOUGH * ENOUGH, select(LONGEST * LONGEST - inner(step, step), 1.0, 0.0), 0.0)
        moved = q.copy()
        for k, value in zip(columns, step, strict=True):
            moved[k] = q[k] + select(taken, value, 0.0)
        q = moved
    gap = _gap(np.asarray(forward_kinematics(tree, q, link=link)), wanted, size)[ROWS[asks]]
    return q if least is None else _better(best, least, q, inner(gap, gap))[0]


def _gap(reached: Array, wanted: Array, size: float) -> Array:
    """What is left of the way, in sizes of the chain, and of the turn (rad, to first order), six numbers."""
    way = (wanted[:3, 3] - reached[:3, 3]) * (1.0 / size)
    turn = 0.5 * sum(cross(reached[:3, k], wanted[:3, k]) for k in range(3))
    return np.concatenate([way, turn])


def _better(best: Array, least: Any, q: Array, missed: Any) -> tuple[Array, Any]:
    """Whichever of two coordinates (n,) misses less, and by how much."""
    nearer = least - missed
    chosen = [old if old is new else select(nearer, new, old) for old, new in zip(best, q, strict=True)]
    return np.array(chosen, dtype=object), select(nearer, missed, least)


def damped_step(rates: Array, errors: Array) -> Array:
    """The step (m,) with (J'J + d) step = J' e."""
    normal = rates.T @ rates
    for i in range(len(normal)):
        normal[i, i] = normal[i, i] * (1.0 + DAMPING) + DAMPING
    return factor(normal).solve(rates.T @ errors)
