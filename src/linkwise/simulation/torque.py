"""Where the torque comes from: an array, a function of Python, or a law that is compiled in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.kernel.tape import Shape
from linkwise.model.tree import Tree
from linkwise.simulation.feedback import Feedback
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers

TorqueFunction = Callable[[float, FloatArray, FloatArray], FloatArray]
"""``function(t, q, qd) -> tau`` over all rollouts at once: (B, nq), (B, nv) -> (B, nv)."""


@dataclass(frozen=True)
class Torque:
    """A source of torque.

    Attributes
    ----------
    arrays : dict of str to ndarray (..., rows, size)
        What is read at each instant: the torque itself, or the inputs of the law.
    law : Feedback or None
        Compiled in.
    function : callable or None
        Called at each step.
    """

    arrays: dict[str, FloatArray]
    law: Feedback | None = None
    function: Callable[..., Any] | None = None

    @classmethod
    def of(cls, tree: Tree, torque: Any, steps: int, batch: Shape) -> Torque:
        """Check what `simulate` was given; `batch` is the batch shape of the initial states."""
        if isinstance(torque, Feedback):
            arrays = {}
            for name, value in torque.inputs.items():
                if value.rows not in {1, steps, steps + 1}:
                    raise ArgumentError(
                        f"simulate: {name} of {torque!r} has {value.rows} instants; expected {steps} (one per step), "
                        f"{steps + 1} or 1"
                    )
                arrays[name] = value.values.reshape(*value.batch, value.rows, prod(value.shape))
            return cls(arrays, law=torque)
        if callable(torque):
            return cls({}, function=torque)
        return cls({"torque": _rows(torque, tree.nv, steps, batch)})

    @property
    def batches(self) -> dict[str, Shape]:
        """The batch shape of each array."""
        return {name: array.shape[:-2] for name, array in self.arrays.items()}

    @property
    def is_law(self) -> bool:
        """Whether it follows from the state."""
        return self.law is not None or self.function is not None

    @property
    def varies(self) -> bool:
        """Whether it is read anew at the instants."""
        return any(array.shape[-2] > 1 for array in self.arrays.values())

    def reads(self, batch: Shape) -> list[FloatArray]:
        """The arrays as (B or 1, rows, size)."""
        return [flat(array, batch, 2) for array in self.arrays.values()]

    def checked_function(self, batch: Shape, nv: int) -> TorqueFunction | None:
        """The user's function for rollouts laid out flat, if there is one: it sees and gives the batch shape.

        What it gives is checked: real numbers of a shape that fits, at each call; finite ones at the first, where the state
        surely is finite.
        """
        function = self.function
        if function is None:
            return None
        item = f"simulate: what torque {getattr(function, '__name__', type(function).__name__)!r} gives"
        shape = (*batch, nv)
        expected = f"real numbers of the shape {shape}, or of one that broadcasts to it"
        first = True

        def torque(t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
            nonlocal first
            result = function(t, q.reshape(*batch, q.shape[-1]), qd.reshape(shape))
            tau = numbers(item, result, expected, finite=first, copy=False)
            first = False
            try:
                return np.broadcast_to(tau, shape).reshape(prod(batch), nv)
            except ValueError as error:
                raise ArgumentError(f"{item} has the shape {tau.shape}; expected {expected}") from error

        return torque


def flat(array: FloatArray, batch: Shape, axes: int) -> FloatArray:
    """The array broadcast to (B, ...) with so many axes after the batch; (1, ...) where it has no batch."""
    split = array.ndim - axes
    if prod(array.shape[:split]) == 1:
        return array.reshape(1, *array.shape[split:])
    return np.broadcast_to(array, (*batch, *array.shape[split:])).reshape(prod(batch), *array.shape[split:])


def _rows(torque: Any, nv: int, steps: int, batch: Shape) -> FloatArray:
    """Torques as (..., rows, nv), rows 1 or one per instant."""
    if torque is None:
        return np.zeros((1, nv))
    tau = numbers("simulate: torque", torque, copy=False)
    kinds = f"({nv},), (..., {steps}, {nv}) with one row per step, or (..., 1, {nv}) for what is constant"
    if tau.ndim == 1 and tau.size == nv:
        return tau[None]
    rows = tau.shape[-2] if tau.ndim > 1 else 0
    per_step = rows in {1, steps, steps + 1}
    per_rollout = 1 < rows == (batch or (0,))[-1] and tau.ndim - 1 <= len(batch)
    if not (per_step or per_rollout) or tau.shape[-1] != nv:
        raise ArgumentError(f"simulate: torque has the shape {tau.shape}; expected {kinds}")
    if per_step and per_rollout:
        raise ArgumentError(
            f"simulate: torque {tau.shape} may mean {rows} instants or {rows} rollouts; say torque[None] for one row per "
            "step, torque[..., None, :] for one per rollout"
        )
    return tau[..., None, :] if per_rollout else tau
