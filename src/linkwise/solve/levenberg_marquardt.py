"""One Levenberg-Marquardt step over scalars, and the policies of its iterations.

With "always" (`REACH`) limits of what turns are not known on the way: whole turns are taken off, and what arrives outside is
given up for another start. Joints of narrow ranges are kept inside; so are all of them on a second way from q0, where the
mechanism is redundant: one at its limit rests there while the slope leads beyond. With "decrease" every iterate is within
the limits, and no step raises the error, so that it comes to rest where the constraints are met best.

A policy is constant while a step is traced: what it leaves out adds no operation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from linkwise.expr.count import operation_count
from linkwise.expr.derivative import derivative
from linkwise.solve.constraints.constraint import squared
from linkwise.solve.problem import ConstraintProblem
from linkwise.spatial.linear import factor
from linkwise.spatial.scalar import Array, greatest, least, select
from linkwise.spatial.vector import chosen, total


@dataclass(frozen=True)
class Damping:
    """The damping of a step (K. Levenberg 1944, D. Marquardt 1963).

    Attributes
    ----------
    initial : float
        Of the first step.
    decrease, increase : float
        Its factors after a step that is accepted, and after one that is not; 1 keeps it.
    floor : float
        The least damping; with `times_error` what is added to it.
    times_error : bool
        Whether it is in proportion to the squared error, which keeps the end quadratic (T. Sugihara,
        "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5), 2011;
        where rows depend on each other N. Yamashita, M. Fukushima, Computing Suppl. 15, 2001).
    most_error : float
        The squared error beyond which the damping does not grow: what slides far would come no nearer otherwise.
    hopeless : float
        Where a start is given up.
    """

    initial: float
    decrease: float = 1.0
    increase: float = 1.0
    floor: float = 1e-13
    times_error: bool = True
    most_error: float = 10.0
    hopeless: float = 1e12


@dataclass(frozen=True)
class Policy:
    """Policy of an iteration; see the presets below.

    Attributes
    ----------
    accept : {"always", "decrease"}
        "always": every step is taken, whole turns are taken off on the way, and a start that does not progress is given up.
        "decrease": every iterate is within the bounds, and none has a greater error than the one before.
    damping : Damping
        Damping of the steps.
    model : {"gauss_newton", "newton"}
        Whether the second derivative of the residual counts, where it is not too long and there is no floating base.
    by_rows : bool
        Whether a step is computed as a combination of the rows, whatever their number: what no row asks for stays to the
        last bit then. Otherwise through the smaller of the two normal matrices.
    max_step : float or None
        No joint turns further in a step, rad, or slides, in units of the problem's length.
    at_rest : float
        The squared slope along the free joints, as a share of the squared error, at which it is at rest. A step along a
        slope of 1e-16 of it is lost in the rounding of the error.
    early : bool
        Whether a step that arrives is the last; otherwise the next one looks.
    """

    accept: Literal["always", "decrease"]
    damping: Damping
    model: Literal["gauss_newton", "newton"] = "gauss_newton"
    by_rows: bool = False
    max_step: float | None = None
    at_rest: float = 1e-14
    early: bool = False


#: Towards a solution: needs no trial steps, and converges quadratically.
REACH = Policy("always", Damping(0.1))

#: To where the constraints are met best within the limits.
BEST_FIT = Policy(
    "decrease",
    Damping(1e-2, decrease=0.2, increase=4.0, floor=1e-13, times_error=False, hopeless=1e10),
    model="newton",
    at_rest=1e-13,
)

#: In each cycle of a chain: an early stop, or failure, leaves the best iterate.
TRACK = Policy("decrease", Damping(0.1, decrease=0.2, increase=10.0), by_rows=True, max_step=1.0, at_rest=1e-16, early=True)

#: To closed loops, lengths in units of the longest offset; run over arrays by `linkwise.loops.loop_solver`, for a step of a
#: large mechanism is two to three times as fast in matrices as instruction by instruction, and needs no tracing.
CLOSE = Policy(
    "decrease",
    Damping(1.0, decrease=0.2, increase=8.0, floor=1e-15, most_error=1.0, hopeless=1e9),
    max_step=0.5,
)


#: Steps of a start before its squared error is recorded, steps between later checks, and the required reduction in between.
PATIENCE, AGAIN, PROGRESS = 8.0, 6.0, 0.1

#: Operations up to which the second derivative is used; beyond, the product of the rates.
MOST_OPERATIONS = 20_000

#: Status of a step: solved, stationary, stationary with a joint pressed against its bound, too many steps.
CONVERGED, UNREACHABLE, LIMIT, ITERATIONS = 1.0, -1.0, -2.0, -3.0

#: Auxiliary numbers of a step besides q.
AUX = {"always": 4, "decrease": 2}

#: (p, q0, settings, q, aux) to (q, aux, status), over scalars.
StepFunction = Callable[[Array, Array, Array, Array, Array], tuple[Array, Array, Any]]


def make_step(problem: ConstraintProblem, policy: Policy) -> StepFunction:
    """Build one step of an iteration.

    The settings are the squares of two tolerances (m2, rad2), then, with "always", how far outside its limits a coordinate
    may be, with "decrease" the most steps. The first of aux is the number of steps.
    """
    return partial(_advance if policy.accept == "always" else _descend, problem, policy)


def _advance(
    problem: ConstraintProblem, policy: Policy, p: Array, q0: Array, settings: Array, q: Array, aux: Array
) -> tuple[Array, Array, Any]:
    """Step that is always accepted.

    Of aux the second is the squared error when it was last looked at, the third when it will be again. The fourth is 1 on
    the way from q0, and 2 on a second way from there, which stays in the limits: it is taken where more joints move than are
    needed and the first way was in vain, for the solution near q0 may have a joint at its limit.
    """
    base, ranges = problem.base, problem.ranges
    parts = problem.parts(problem.at(q), p)
    residual, rates = problem.stacked(parts, gains=_gains(problem, p))
    error, here = squared(residual), problem.met(parts, residual, settings)
    going, twice = aux[0] - 0.5, problem.bounded and rates.shape[0] < rates.shape[1]
    attempt = select(going, aux[3], select(squared(q - q0), 0.0, 1.0)) if twice else 0.0
    shares = problem.shares(ranges, q, combined(rates, residual))
    leaving = np.concatenate([np.ones(problem.tree.nv - problem.tree.n, bool), ~(ranges.turning & ranges.narrow)])
    shares[leaving] = chosen(attempt - 1.5, shares[leaving], 1.0) if twice else 1.0
    onward = problem.retract(q, damped_step(rates * shares, residual, _damping(policy.damping, error)))
    turned = np.concatenate([problem.in_cones(onward), ranges.wrapped(onward[base:], q0[base:])])
    onward = chosen(attempt - 1.5, problem.within(ranges, onward), turned) if twice else turned
    inside = select(problem.outside(q, settings[2]), 0.0, 1.0)
    wait, mark = select(going, aux[2], PATIENCE), select(going, aux[1], 1e300)
    lost = select(wait - 0.5, 0.0, select(PROGRESS * mark - error, 0.0, 1.0))
    mark, wait = select(wait - 0.5, mark, error), select(wait - 0.5, wait - 1.0, AGAIN)
    status, where = select(here, select(inside, 1.0, -1.0), -lost), chosen(here, problem.within(ranges, q), onward)
    if not twice:
        return where, _state(aux[0] + (1.0 - here), mark, wait, attempt), status
    anew = select(-status, select(attempt - 0.5, select(attempt - 1.5, 0.0, 1.0), 0.0), 0.0)
    steps = aux[0] + select(anew, 1.0, 1.0 - here)
    aux = _state(steps, select(anew, 1e300, mark), select(anew, PATIENCE, wait), attempt + anew)
    return chosen(anew, problem.within(ranges, q0), where), aux, select(anew, 0.0, status)


def _descend(
    problem: ConstraintProblem, policy: Policy, p: Array, q0: Array, settings: Array, q: Array, aux: Array
) -> tuple[Array, Array, Any]:
    """Step that is accepted if it reduces the error; the second element of aux is the damping."""
    bounds, damping = problem.bounds(p), policy.damping
    q = problem.within(bounds, q)
    parts = problem.parts(problem.at(q), p)
    gains = _gains(problem, p)
    residual, rates = problem.stacked(parts, exact=policy.model == "newton", gains=gains)
    error, here = squared(residual), problem.met(parts, residual, settings)
    now = select(aux[0] - 0.5, aux[1], damping.initial)
    slope = combined(rates, residual)
    shares = problem.shares(bounds, q, slope)
    step = _direction(problem, policy, q, (residual, rates, slope, shares), _damping(damping, error, now))
    tried = problem.within(bounds, problem.retract(q, _shortened(problem, policy, step)))
    parts = problem.parts(problem.at(tried), p)
    after_residual = problem.stacked(parts, gains=gains)[0]
    after = squared(after_residual)
    there = problem.met(parts, after_residual, settings) if policy.early else 0.0
    better = select(error - after, 1.0, there) if policy.early else error - after
    eased = now * damping.decrease if damping.times_error else greatest(now * damping.decrease, damping.floor)
    steps, then = aux[0] + (1.0 - here), select(better, eased, now * damping.increase)
    still = select(squared(slope * shares) - policy.at_rest * error, 0.0, 1.0)
    hopeless = then * error if damping.times_error else then
    lost = select(still, 1.0, select(hopeless - damping.hopeless, 1.0, 0.0))
    spent = select(steps - settings[2] + 0.5, ITERATIONS, 0.0)
    given_up = select(lost, select(len(shares) - total(shares), LIMIT, UNREACHABLE), spent)
    status = select(here, CONVERGED, select(there, CONVERGED, given_up))
    where = chosen(here, q, chosen(better, tried, q))
    return where, _state(steps, then), status


def _state(*scalars: Any) -> Array:
    """Scalars, or those of a batch, as an array (k,) or (k, N)."""
    return np.stack(np.broadcast_arrays(*scalars))


def _gains(problem: ConstraintProblem, p: Array) -> list[Any] | None:
    """The gains of the constraints; None where they have no weights."""
    return problem.gains(p) if problem.weighted else None


def _direction(
    problem: ConstraintProblem, policy: Policy, q: Array, rows: tuple[Array, Array, Array, Array], damping: Any
) -> Array:
    """Step (nv,) of the model, with joints of share 0 locked."""
    residual, rates, slope, shares = rows
    if policy.by_rows:
        return by_rows(rates * shares, residual, damping)
    if policy.model == "gauss_newton" or problem.base or _is_long(slope):
        return damped_step(rates * shares, residual, damping)
    normal = _curvature(slope, q)
    for i, share in enumerate(shares):
        if isinstance(share, float):
            normal[i, i] = normal[i, i] + damping
            continue
        for j in range(len(shares)):
            if j != i:
                normal[i, j] = normal[j, i] = normal[i, j] * share
        normal[i, i] = select(share, normal[i, i] + damping, 1.0)
    return factor(normal).solve(slope * shares)


def _damping(damping: Damping, error: Any, now: Any = None) -> Any:
    """Damping of a step, from the squared error and the current factor."""
    factor_now = damping.initial if now is None else now
    return factor_now * least(error, damping.most_error) + damping.floor if damping.times_error else factor_now


def _shortened(problem: ConstraintProblem, policy: Policy, step: Array) -> Array:
    """Scale a step (nv,) so that its greatest element is at most the limit, rad or in units of the problem's length."""
    if policy.max_step is None:
        return step
    widest: Any = 0.0
    for part, is_length in zip(step[len(step) - problem.tree.n :], problem.tree.is_length, strict=True):
        widest = greatest(widest, abs(part) / (problem.length if is_length else 1.0))
    return np.asarray(step / greatest(1.0, widest / policy.max_step))


def by_rows(rates: Array, residual: Array, damping: Any) -> Array:
    """The step (n,) ``J' (J J' + damping)^-1 e``: a combination of the rows, whatever the rank of J (m, n)."""
    if not len(residual):
        return np.zeros(rates.shape[1])
    return combined(rates, factor(_damped(_gram(rates), damping)).solve(residual))


def combined(rates: Array, factors: Array) -> Array:
    """Linear combination (n,) of the rows of rates (m, n) with factors (m,); of a batch along the last axis."""
    return np.asarray(total(rates * factors[:, None]))


def _gram(rates: Array) -> Array:
    """The products (m, m) of the rows of rates (m, n); or those of a batch."""
    if rates.ndim == 2:
        return np.asarray(rates @ rates.T)
    rows = np.ascontiguousarray(np.moveaxis(rates, -1, 0))
    return np.moveaxis(rows @ rows.swapaxes(1, 2), 0, -1)


def _damped(normal: Array, damping: Any) -> Array:
    """A matrix (n, n), or those of a batch, with the damping added to the diagonal."""
    diagonal = np.arange(len(normal))
    normal[diagonal, diagonal] = normal[diagonal, diagonal] + damping
    return normal


def damped_step(rates: Array, residual: Array, damping: Any) -> Array:
    """The step dq (n,) with (J'J + damping) dq = J'e, through the smaller of J'J and JJ'."""
    if rates.shape[0] < rates.shape[1]:
        return by_rows(rates, residual, damping)
    return factor(_damped(_gram(rates.swapaxes(0, 1)), damping)).solve(combined(rates, residual))


def _is_long(slope: Array) -> bool:
    """True if its derivative would take too long to compile; False for numbers."""
    return slope.ndim > 1 or sum(operation_count(list(slope)).values()) * len(slope) > MOST_OPERATIONS


def _curvature(slope: Array, q: Array) -> Array:
    """The second derivative (n, n) of half the squared residual, exactly, from minus the first (n,)."""
    hessian = -derivative(list(slope), list(q))
    for i in range(len(q)):
        hessian[i, :i] = hessian[:i, i]
    return np.asarray(hessian)
