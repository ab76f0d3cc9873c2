"""One step of the two iterations that solve constraints, over scalars: towards a solution, and to the nearest there is.

Both are damped least squares (K. Levenberg 1944, D. Marquardt 1963). The first damps in proportion to the squared error
(T. Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5),
2011), which needs no trial steps and converges quadratically, and does not know limits of what turns: whole turns are taken
off, and what arrives outside is given up for another start. Joints of narrow ranges are kept inside; so are all of them on a
second way from q0, where the mechanism is redundant: one at its limit rests there while the slope leads beyond. The second
iteration keeps every coordinate in its limits and takes no step that raises the error, so that it comes to rest where the
constraints are met best.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.dynamics.factor import factor
from linkwise.expr.count import operation_count
from linkwise.expr.derivative import derivative
from linkwise.kinematics.configuration import integrate
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Constraint, View, squared
from linkwise.solve.joint_ranges import JointRanges
from linkwise.spatial.scalar import Array, least, select

DAMPING = 0.1
"""Damping per squared error, of a mechanism as large as one radian is long."""

MOST_ERROR = 10.0
"""The squared error beyond which the damping does not grow: what slides far would come no nearer otherwise."""

LEAST_DAMPING = 1e-13
"""Damping that is left at the solution: enough for a factorisation where rows depend on each other."""

PATIENCE, AGAIN, PROGRESS = 8.0, 6.0, 0.1
"""Steps of a start before its squared error is written down, steps from then on between one look and the next, and the share
to which it must have fallen in between."""

FIRST_DAMPING, EASED, STRICTER, HOPELESS = 1e-2, 0.2, 4.0, 1e10
"""Of the second iteration: the first damping, its factor after a good step and after a bad one, and where it gives up."""

AT_REST = 1e-14
"""The squared slope along the joints that are free, as a share of the squared error, at which it is at rest. A step along a
slope of 1e-16 of it is lost in the rounding of the error."""

LONGEST_SLIDE = 100.0
"""A slide counts to the size of a mechanism with this many times what the rest of it measures, at most: where the limits of
one are so wide that they are none, the rest would not count beside it."""

MOST_OPERATIONS = 20_000
"""Operations up to which the second iteration takes the second derivative; beyond, the product of the rates."""

LONGEST = 500.0
"""Most steps of the second iteration."""


class Task:
    """Constraints on a mechanism as functions of scalars: numbers (p,), coordinates (nq,).

    Parameters
    ----------
    tree : Tree
        The mechanism.
    constraints : sequence of Constraint
        What must hold; of their numbers only the count is used, and kept.
    limits : bool
        Whether joint limits hold.
    """

    def __init__(self, tree: Tree, constraints: Sequence[Constraint], *, limits: bool = True) -> None:
        self.tree, self.constraints = tree, tuple(constraint.kind() for constraint in constraints)
        self.counts = [int(constraint.numbers.shape[-1]) for constraint in constraints]
        self.ranges = JointRanges.of(tree, limits=limits)
        self.ranges.turning[[i for constraint in constraints for i in constraint.counted(tree)]] = False
        self.length = size_of(tree)
        self.free = tree.nq - tree.n
        self.held_always = np.concatenate([np.zeros(tree.nv - tree.n, dtype=bool), self.ranges.turning & self.ranges.narrow])
        self.bounded = bool(np.isfinite([self.ranges.low, self.ranges.high]).any())

    def split(self, p: Array) -> list[Array]:
        """The numbers of each constraint."""
        ends = np.cumsum(self.counts)
        return [p[end - count : end] for end, count in zip(ends, self.counts, strict=True)]

    def equations(self, q: Array, p: Array, *, exact: bool = False) -> tuple[Array, Array, list[bool]]:
        """Residuals (m,), lengths in units of the mechanism's size, their rates (m, nv), and which are angles.

        The rates are those for a step to a solution, or, exact, minus the derivative of the residuals.
        """
        view = View(self.tree, q)
        found = [c.equations(view, part) for c, part in zip(self.constraints, self.split(p), strict=True)]
        angles = [angle for made in found for angle in made.angles]
        scale = np.array([1.0 if angle else 1.0 / self.length for angle in angles])
        residual = np.concatenate([made.residual for made in found]) * scale
        rates = [made.exact if exact and made.exact is not None else made.rates for made in found]
        return residual, np.concatenate(rates) * scale[:, None], angles

    def errors(self, q: Array, p: Array) -> tuple[Any, Any]:
        """Squares of the distance (m2) and of the angle (rad2) from holding, over all constraints."""
        view = View(self.tree, q)
        pairs = [c.errors(view, part) for c, part in zip(self.constraints, self.split(p), strict=True)]
        return sum((pair[0] for pair in pairs), 0.0), sum((pair[1] for pair in pairs), 0.0)

    def moved(self, q: Array, dq: Array) -> Array:
        """Q after a step dq (nv,)."""
        return integrate(self.tree, q, dq, 1.0) if self.free else q + dq

    def held(self, q: Array) -> Array:
        """Q (nq,), at their limits the coordinates that are beyond."""
        return np.concatenate([q[: self.free], [self.ranges.held(value, i) for i, value in enumerate(q[self.free :])]])

    def met(self, residual: Array, angles: Sequence[bool], settings: Array) -> Any:
        """1 where the residuals are within the tolerances, the roots of the first two settings; else 0, also for NaN."""
        far = squared(np.array([value for value, angle in zip(residual, angles, strict=True) if not angle]))
        turned = squared(np.array([value for value, angle in zip(residual, angles, strict=True) if angle]))
        near = select(settings[0] - far * self.length**2, 1.0, 0.0)
        return near * select(settings[1] - turned, 1.0, 0.0)


def reach(task: Task, p: Array, q0: Array, settings: Array, q: Array, aux: Array) -> tuple[Array, Array, Any]:
    """One step towards a solution.

    The settings are the squares of two tolerances (m2, rad2), and how far outside its limits a coordinate may be. Of aux the
    first is the number of steps, the second the squared error when it was last looked at, the third when it will be again.
    The fourth is 1 on the way from q0, and 2 on a second way from there, which stays in the limits: it is taken where more
    joints move than are needed and the first way was in vain, for the solution near q0 may have a joint at its limit.
    """
    residual, rates, angles = task.equations(q, p)
    error, here = squared(residual), task.met(residual, angles, settings)
    joints, going, twice = q[task.free :], aux[0] - 0.5, task.bounded and rates.shape[0] < rates.shape[1]
    way = select(going, aux[3], select(squared(q - q0), 0.0, 1.0)) if twice else 0.0
    shares = np.array(_free(task, q, rates.T @ residual))
    for i in np.flatnonzero(~task.held_always):
        shares[i] = select(way - 1.5, shares[i], 1.0) if twice else 1.0
    onward = task.moved(q, damped_step(rates * shares, residual, _damping(error)))
    turned = np.concatenate([onward[: task.free], task.ranges.wrapped(onward[task.free :], q0[task.free :])])
    onward = _chosen(way - 1.5, task.held(onward), turned) if twice else turned
    inside = select(task.ranges.outside(joints, settings[2]), 0.0, 1.0)
    wait, mark = select(going, aux[2], PATIENCE), select(going, aux[1], 1e300)
    lost = select(wait - 0.5, 0.0, select(PROGRESS * mark - error, 0.0, 1.0))
    mark, wait = select(wait - 0.5, mark, error), select(wait - 0.5, wait - 1.0, AGAIN)
    status, where = select(here, select(inside, 1.0, -1.0), -lost), _chosen(here, task.held(q), onward)
    if not twice:
        return where, np.array([aux[0] + (1.0 - here), mark, wait, way]), status
    anew = select(-status, select(way - 0.5, select(way - 1.5, 0.0, 1.0), 0.0), 0.0)
    steps = aux[0] + select(anew, 1.0, 1.0 - here)
    aux = np.array([steps, select(anew, 1e300, mark), select(anew, PATIENCE, wait), way + anew])
    return _chosen(anew, task.held(q0), where), aux, select(anew, 0.0, status)


def approach(task: Task, p: Array, q0: Array, settings: Array, q: Array, aux: Array) -> tuple[Array, Array, Any]:
    """One step to where the constraints are met best within the limits; aux is the number of steps, and the damping."""
    residual, rates, angles = task.equations(q, p, exact=True)
    error, here = squared(residual), task.met(residual, angles, settings)
    damping = select(aux[0] - 0.5, aux[1], FIRST_DAMPING)
    slope = rates.T @ residual
    free = _free(task, q, slope)
    normal = rates.T @ rates if task.free or _is_long(slope) else _curvature(slope, q)
    for i, share in enumerate(free):
        if isinstance(share, float):
            normal[i, i] = normal[i, i] + damping
            continue
        for j in range(len(free)):
            if j != i:
                normal[i, j] = normal[j, i] = normal[i, j] * share
        normal[i, i] = select(share, normal[i, i] + damping, 1.0)
    slope = slope * np.array(free, dtype=object)
    step = factor(normal).solve(slope)
    tried = task.held(task.moved(q, step))
    after = squared(task.equations(tried, p)[0])
    better = error - after
    where = _chosen(here, q, _chosen(better, tried, q))
    eased = select(damping * EASED - LEAST_DAMPING, damping * EASED, LEAST_DAMPING)
    then = select(better, eased, damping * STRICTER)
    rest = select(squared(slope) - AT_REST * error, 0.0, 1.0)
    over = select(aux[0] - LONGEST, 1.0, select(then - HOPELESS, 1.0, rest))
    return where, np.array([aux[0] + (1.0 - here), then]), select(here, 1.0, -1.0 * over)


def _damping(error: Any) -> Any:
    """Of a step towards a solution."""
    return DAMPING * least(error, MOST_ERROR) + LEAST_DAMPING


def _chosen(condition: Any, one: Array, other: Array) -> Array:
    """The first of two arrays of scalars where the condition is above zero, else the second."""
    return np.array([select(condition, a, b) for a, b in zip(one, other, strict=True)])


def damped_step(rates: Array, residual: Array, damping: Any) -> Array:
    """The step dq (n,) with (J'J + damping) dq = J'e, through the smaller of J'J and JJ'."""
    m, n = rates.shape
    if m < n:
        return np.asarray(rates.T @ factor(rates @ rates.T + damping * np.eye(m)).solve(residual))
    return factor(rates.T @ rates + damping * np.eye(n)).solve(rates.T @ residual)


def _is_long(slope: Array) -> bool:
    """Whether its derivative would take too long to compile."""
    return sum(operation_count(list(slope)).values()) * len(slope) > MOST_OPERATIONS


def _curvature(slope: Array, q: Array) -> Array:
    """The second derivative (n, n) of half the squared residual, exactly, from minus the first (n,)."""
    made = -derivative(list(slope), list(q))
    for i in range(len(q)):
        made[i, :i] = made[:i, i]
    return np.asarray(made)


def _free(task: Task, q: Array, slope: Array) -> list[Any]:
    """For each speed 1, or 0 where its joint is at a limit and the slope leads beyond."""
    shares: list[Any] = [1.0] * len(slope)
    first = len(slope) - task.tree.n
    for i in range(task.tree.n):
        low, high, value, down = task.ranges.low[i], task.ranges.high[i], q[task.free + i], slope[first + i]
        share: Any = 1.0
        if np.isfinite(low):
            share = select(value - low, 1.0, select(down, 1.0, 0.0))
        if np.isfinite(high):
            share = select(high - value, share, select(-down, share, 0.0))
        shares[first + i] = share
    return shares


def size_of(tree: Tree) -> float:
    """A length that belongs to the mechanism, m: half of how far its frames stand apart, added up; 1 where they do not."""
    total = float(np.linalg.norm(tree.tool[:3, 3]))
    slides = 0.0
    for link in tree.links:
        total += float(np.linalg.norm(link.before[:3, 3]) + np.linalg.norm(link.after[:3, 3]))
        if link.joint == "prismatic" and link.limits is not None:
            slides += float(max(abs(bound) if np.isfinite(bound) else 0.0 for bound in link.limits))
    return 0.5 * (total + min(slides, LONGEST_SLIDE * (total or 1.0))) or 1.0
