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
from linkwise.simulation.arguments import flat, inputs_of, torque_rows
from linkwise.simulation.feedback import Feedback
from linkwise.simulation.loop import Ask
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class Torque:
    """A source of torque.

    Attributes
    ----------
    arrays : dict of str to ndarray (..., rows, size)
        What is read at each instant: the torque itself, or the inputs of the law.
    batches : dict of str to tuple of int
        The batch shape of each.
    law : Feedback or None
        Compiled in.
    function : callable or None
        Asked at each step.
    """

    arrays: dict[str, FloatArray]
    batches: dict[str, Shape]
    law: Feedback | None = None
    function: Callable[..., Any] | None = None

    @classmethod
    def of(cls, mech: Tree, torque: Any, steps: int, batch: Shape) -> Torque:
        """From what `simulate` is given; `batch` is the batch shape of the initial states."""
        if isinstance(torque, Feedback):
            inputs = inputs_of(torque, steps)
            shapes = {name: (*value.batch, value.rows, prod(value.shape)) for name, value in inputs.items()}
            arrays = {name: value.values.reshape(shapes[name]) for name, value in inputs.items()}
            return cls(arrays, {name: value.batch for name, value in inputs.items()}, law=torque)
        if callable(torque):
            return cls({}, {}, function=torque)
        rows = torque_rows(mech, torque, steps, batch)
        return cls({"torque": rows}, {"torque": rows.shape[:-2]})

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


def asked(function: Callable[..., Any], batch: Shape, nv: int) -> Ask:
    """The user's function for rollouts laid out flat: it sees and gives the batch shape.

    What it gives is checked: real numbers of a shape that fits, at each call; finite ones at the first, where the state
    surely is finite.
    """
    name = f"simulate: what torque {getattr(function, '__name__', type(function).__name__)!r} gives"
    first = True

    def ask(t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
        nonlocal first
        given = function(t, q.reshape(*batch, q.shape[-1]), qd.reshape(*batch, nv))
        expected = f"real numbers of the shape {(*batch, nv)}, or of one that broadcasts to it"
        made = numbers(name, given, expected, finite=first, copy=False)
        first = False
        try:
            return np.broadcast_to(made, (*batch, nv)).reshape(prod(batch), nv)
        except ValueError as error:
            raise ArgumentError(f"{name} has the shape {made.shape}; expected {expected}") from error

    return ask
