"""From a checked task and its numbers to rates that a forward pass has confirmed."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.solve.velocity.box import library, nearest_in_box
from linkwise.solve.velocity.frame_motion import frame_motion
from linkwise.solve.velocity.solution import RateSolution
from linkwise.solve.velocity.task import RateTask
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import Array, FloatArray

_making = threading.RLock()

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
    return RateSolution(task, states, wanted, rates, given, tells, low, high, limits)


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
    some = [np.broadcast_to(state, (*batch, state.shape[-1]))[passed] for state in states]
    asked, own = (np.broadcast_to(part, (*batch, part.shape[-1]))[passed] for part in (wanted, secondary))
    picked = list(task.rows)
    moves = np.isfinite(task.weights)
    shares = task.shares[moves]
    matrices = task.matrix(some[0])[..., moves]
    right = (asked - _bias(task, some))[:, picked] * task.unit
    answers = np.zeros((len(asked), rates.shape[-1]))
    boxes = (low[passed][:, moves] / shares, high[passed][:, moves] / shares)
    for k, matrix in enumerate(matrices):
        box = nearest_in_box(matrix, right[k], own[k, moves] / shares, boxes[0][k], boxes[1][k], task.filter)
        answers[k, moves] = box * shares
    rates[passed] = np.clip(answers, low[passed], high[passed])
    given[passed] = motion_kernel(task)(*some, rates[passed])
    left = np.zeros_like(asked)
    left[:, picked] = (given[passed] - asked)[:, picked]
    about = tells[passed]
    about[:, 0], about[:, 1] = 1.0, np.nan
    about[:, 4], about[:, 5] = np.linalg.norm(left[:, :3], axis=-1), np.linalg.norm(left[:, 3:], axis=-1)
    tells[passed] = about


def _bias(task: RateTask, states: list[FloatArray]) -> FloatArray:
    """What the frame's acceleration is without joint accelerations; zero for speeds."""
    if task.order == 1:
        return np.zeros(6)
    rate = task.mechanism.jacobian_dot(states[0], states[1], task.link, task.frame)
    return np.asarray((rate @ states[1][..., None])[..., 0])


def motion_kernel(task: RateTask) -> Kernel:
    """The compiled forward pass: q and rates (for accelerations q, qd and rates) to six components."""
    tree = task.mechanism
    key = (task.order, task.link, task.frame)
    kept: dict[Any, Kernel] = tree.__dict__.get("_frame_motions", {})
    if key not in kept:
        with _making:
            kept = tree.__dict__.setdefault("_frame_motions", {})
            inputs = dict.fromkeys(("q", "qd", "qdd")[: task.order + 1], (tree.n,))
            kept[key] = Kernel(trace(partial(_forward, task), "frame_motion", inputs, {"motion": (6,)}))
    return kept[key]


def _forward(task: RateTask, q: Array, qd: Array, qdd: Array | None = None) -> Array:
    return frame_motion(task.mechanism, q, qd, qdd, task.link, task.frame)[task.order - 1]
