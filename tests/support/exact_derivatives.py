"""Exact derivatives of an algorithm, by the chain rule over its own graph: a reference that knows nothing of mechanics."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise import Mechanism
from linkwise.algorithm import find
from linkwise.expr import evaluate
from linkwise.expr.derivative import derivative
from linkwise.expr.node import symbol
from support.random_mechanisms import direct, parts


def gradients(mech: Mechanism, name: str, args: tuple[Any, ...], over: int, **options: Any) -> list[np.ndarray]:
    """For each output its derivative by input number ``over``: (its own shape, shape of the input) (..., size)."""
    numbers = [np.asarray(arg, dtype=float) for arg in args]
    given = []
    for k, array in enumerate(numbers):
        names = [symbol(f"{name}_{k}_{i}") for i in range(array.size)]
        given.append(np.array(names, dtype=object).reshape(array.shape))
    found = parts(find(name).function(mech, *given, **options))
    symbols = [node for made in given for node in made.ravel()]
    values = dict(zip(symbols, np.concatenate([array.ravel() for array in numbers]), strict=True))
    flat = [node for array in found for node in np.asarray(array, dtype=object).ravel()]
    table = derivative(flat, list(given[over].ravel()))
    known = np.array(evaluate(list(table.ravel()), values)).reshape(table.shape)
    made, start = [], 0
    for array in found:
        size = np.asarray(array, dtype=object).size
        made.append(known[start : start + size].reshape(*np.shape(array), -1))
        start += size
    return made


def along(mech: Mechanism, name: str, args: tuple[Any, ...], steps: tuple[Any, ...], **options: Any) -> np.ndarray:
    """The derivative of the first output as each argument moves by its step in a unit of time."""
    time = symbol("time")
    given = [
        np.asarray(arg, dtype=object) + np.asarray(step, dtype=object) * time for arg, step in zip(args, steps, strict=True)
    ]
    found = np.asarray(parts(find(name).function(mech, *given, **options))[0], dtype=object)
    table = derivative(list(found.ravel()), [time])
    return np.array(evaluate(list(table.ravel()), {time: 0.0})).reshape(found.shape)


def rates(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    """E (nq, nv) with dq/dt = E qd."""
    return np.stack([direct(mech, "configuration_rate", q, unit) for unit in np.eye(mech.nv)], axis=1)


def by_motion(mech: Mechanism, name: str, *args: Any, **options: Any) -> np.ndarray:
    """The derivative (..., nv) of the first output by a small motion from the configuration, the first argument."""
    return gradients(mech, name, args, 0, **options)[0] @ rates(mech, np.asarray(args[0]))
