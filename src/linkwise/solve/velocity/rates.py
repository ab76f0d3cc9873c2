"""From a checked task and its numbers to rates that a forward pass has confirmed."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.solve.velocity.box import library, nearest_in_box
from linkwise.solve.velocity.kernel import motion_kernel
from linkwise.solve.velocity.solution import RateSolution
from linkwise.solve.velocity.task import RateTask
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

SLACK = 1e-12
"""By which share of its bound a rate may pass it before a quadratic program is set up."""


def vectors(field: str, value: Any, n: int) -> FloatArray:
    """Finite numbers (..., n)."""
    made = numbers(field, value, copy=False)
    if made.shape[-1:] != (n,):
        raise ArgumentError(f"{field} has the shape {made.shape}; expected (..., {n})")
    return made


def solved(
    task: RateTask,
    states: tuple[FloatArray, ...],
    wanted: FloatArray,
    secondary: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    limits: str | None,
) -> RateSolution:
    """Compute rates for a batch of states and confirm them."""
    if limits == "qp":
        library()
    low, high = bounds if limits == "scale" else task.endless
    rates, given, tells = task.solve(*states, wanted, task.shares, secondary, low, high, task.filter)
    if limits == "qp":
        _bounded(task, states, wanted, secondary, bounds, (rates, given, tells))
    low, high = bounds if limits else task.endless
    return RateSolution(task, states, wanted, secondary, rates, given, tells, low, high, limits)


def _bounded(
    task: RateTask,
    states: tuple[FloatArray, ...],
    wanted: FloatArray,
    secondary: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    made: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Solve again, each by its quadratic program, where bounds are passed, in place."""
    rates, given, tells = made
    low, high = (np.broadcast_to(bound, rates.shape) for bound in bounds)
    passed = np.any((rates > high * (1.0 + SLACK)) | (rates < low * (1.0 + SLACK)), axis=-1)
    np.clip(rates, low, high, out=rates, where=~passed[..., None])
    if not passed.any():
        return
    batch = rates.shape[:-1]
    *some, asked, own = (np.broadcast_to(part, (*batch, part.shape[-1]))[passed] for part in (*states, wanted, secondary))
    rates[passed] = _nearest(task, some, asked, own, low[passed], high[passed])
    given[passed] = motion_kernel(task.mechanism, task.order, task.link, task.frame)(*some, rates[passed])
    left = np.where(np.isin(np.arange(6), task.rows), given[passed] - asked, 0.0)
    tells[passed, :2] = 1.0, np.nan
    tells[passed, 4], tells[passed, 5] = np.linalg.norm(left[:, :3], axis=-1), np.linalg.norm(left[:, 3:], axis=-1)


def _nearest(
    task: RateTask, states: list[FloatArray], wanted: FloatArray, own: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """The rates (k, n) of as many quadratic programs; joints of infinite weight rest."""
    moves = np.isfinite(task.weights)
    shares = task.shares[moves]
    matrices = task.matrix(states[0])[..., moves]
    right = (wanted - _bias(task, states))[:, list(task.rows)] * task.unit
    low, high, own = low[:, moves], high[:, moves], own[:, moves]
    made = np.zeros((len(right), task.n))
    for k, matrix in enumerate(matrices):
        box = nearest_in_box(matrix, right[k], own[k] / shares, low[k] / shares, high[k] / shares, task.filter)
        made[k, moves] = np.clip(box * shares, low[k], high[k])
    return made


def _bias(task: RateTask, states: list[FloatArray]) -> FloatArray:
    """What the frame's acceleration is without joint accelerations; zero for speeds."""
    if task.order == 1:
        return np.zeros(6)
    rate = task.mechanism.jacobian_dot(states[0], states[1], task.link, task.frame)
    return np.asarray((rate @ states[1][..., None])[..., 0])
