"""One step of the iteration that solves a chain in each cycle, over scalars.

Damped least squares (K. Levenberg 1944, D. Marquardt 1963) with damping in proportion to the squared error (T. Sugihara,
"Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5), 2011). Every
iterate is within the limits, and none has a greater error than the one before: what stops early, or cannot arrive, is the
best of those on its way. A joint at a limit rests there while the slope leads beyond. The step is a combination of the rows,
so that what no row asks for stays as it came in, and nothing drifts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.control.cycle.rows import Problem, Rows
from linkwise.dynamics.factor import factor
from linkwise.solve.constraints.constraint import View, squared
from linkwise.spatial.scalar import Array, greatest, least, select

DAMPING, EASED, STRICTER, HOPELESS = 0.1, 0.2, 10.0, 1e12
"""The first damping per squared error, its factor after a good step and after a bad one, and where it is given up."""

MOST_ERROR, LEAST_DAMPING = 10.0, 1e-13
"""The squared error beyond which the damping does not grow, and the damping that is left at the solution."""

WIDEST = 1.0
"""No joint turns further in a step, rad, or slides, in units of the mechanism's size: near singular positions steps are too
long, and would wind joints up."""

AT_REST = 1e-16
"""The squared slope along the free joints, as a share of the squared error, below which it is at rest."""

CONVERGED, UNREACHABLE, LIMIT, ITERATIONS = 1.0, -1.0, -2.0, -3.0
"""What a status says."""


def track(problem: Problem, p: Array, q0: Array, settings: Array, q: Array, aux: Array) -> tuple[Array, Array, Any]:
    """One step: p are the limits low (n,) and high (n,) and the numbers of the problem; aux the steps and the damping.

    The settings are the square of the precision (m2, rad2), and the most steps.
    """
    n = problem.tree.n
    low, high, numbers = p[:n], p[n : 2 * n], p[2 * n :]
    q = within(q, low, high)
    weights = problem.weights()
    rows = problem.rows(View(problem.tree, q), numbers)
    residual, rates = _together(rows, weights, n)
    error, here = squared(residual), _met(problem, rows, settings)
    damping = select(aux[0] - 0.5, aux[1], DAMPING)
    slope = rates.T @ residual
    shares, leaning = free(q, low, high, slope)
    step = pseudo_step(rates * shares, residual, damping * least(error, MOST_ERROR) + LEAST_DAMPING)
    tried = within(q + step / greatest(1.0, _widest(problem, step) / WIDEST), low, high)
    rows = problem.rows(View(problem.tree, tried), numbers)
    after, there = squared(_together(rows, weights, n)[0]), _met(problem, rows, settings)
    better = select(error - after, 1.0, there)
    still = select(squared(slope * shares) - AT_REST * error, 0.0, 1.0)
    steps, then = aux[0] + (1.0 - here), select(better, damping * EASED, damping * STRICTER)
    lost = select(still, 1.0, select(then * error - HOPELESS, 1.0, 0.0))
    spent = select(steps - settings[1] + 0.5, ITERATIONS, 0.0)
    given_up = select(lost, select(leaning, LIMIT, UNREACHABLE), spent)
    status = select(here, CONVERGED, select(there, CONVERGED, given_up))
    stays = select(here, 1.0, 1.0 - better)
    where = np.array([select(stays, a, b) for a, b in zip(q, tried, strict=True)], dtype=object)
    return where, np.array([steps, then], dtype=object), status


def combined(problem: Problem, view: View, numbers: Array) -> tuple[Array, Array]:
    """Residual (m,) and rates (m, n) of all rows at a configuration, weighted."""
    return _together(problem.rows(view, numbers), problem.weights(), problem.tree.n)


def pseudo_step(rates: Array, residual: Array, damping: Any) -> Array:
    """The step (n,) ``J' (J J' + damping)^-1 e``: a combination of the rows, whatever the rank of J (m, n)."""
    if not len(residual):
        return np.zeros(rates.shape[1])
    return np.asarray(rates.T @ factor(rates @ rates.T + damping * np.eye(len(residual))).solve(residual))


def _widest(problem: Problem, step: Array) -> Any:
    """The greatest part of a step (n,), rad or in units of the mechanism's size."""
    made: Any = 0.0
    for part, slides in zip(step, problem.tree.slides, strict=True):
        made = greatest(made, abs(part) / (problem.length if slides else 1.0))
    return made


def within(q: Array, low: Array, high: Array) -> Array:
    """Coordinates (n,) brought into limits (n,); what has none has infinite ones."""
    return np.array([least(greatest(a, b), c) for a, b, c in zip(q, low, high, strict=True)], dtype=object)


def free(q: Array, low: Array, high: Array, way: Array) -> tuple[Array, Any]:
    """For each joint 1, or 0 where it is at a limit and the way (n,) leads beyond; and how many of these there are."""
    shares = np.array(
        [
            select(a - b, select(c - a, 1.0, select(d, 0.0, 1.0)), select(c - b, select(-d, 0.0, 1.0), 0.0))
            for a, b, c, d in zip(q, low, high, way, strict=True)
        ],
        dtype=object,
    )
    return shares, len(shares) - sum(shares)


def _together(rows: Sequence[Rows], weights: Array, n: int) -> tuple[Array, Array]:
    """Residual (m,) and rates (m, n) of all groups, weighted."""
    if not rows:
        return np.zeros(0), np.zeros((0, n))
    residual, rates = np.concatenate([r.residual for r in rows]), np.concatenate([r.rates for r in rows])
    return residual * weights, rates * weights[:, None]


def _met(problem: Problem, rows: Sequence[Rows], settings: Array) -> Any:
    """1 where what is lacking is within the precision, both in all and as angles; else 0, also for NaN."""
    far, turned = problem.squares(rows)
    return select(settings[0] - far, 1.0, 0.0) * select(settings[0] - turned, 1.0, 0.0)
