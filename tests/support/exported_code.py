"""Tapes for the tests of exported code: every operation, hostile names, parameters; how they are computed and compared."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from linkwise.export.samples import Samples, samples
from linkwise.expr.operations import OPERATIONS
from linkwise.kernel import Tape, trace
from linkwise.spatial.scalar import atan2, greatest, root, select


def one_at_a_time(tape: Tape, point: Any) -> list[float]:
    """The reference: operation after operation on floats."""
    values = [*map(float, point), *tape.constants]
    for instruction in tape.code:
        values.append(OPERATIONS[instruction.op].value(*(values[arg] for arg in instruction.args)))
    return [values[slot] for slot in tape.results]


def everything(q: Any, weight: Any, parameters: Any) -> Any:
    """Every operation, a result that is an input, one that is a constant, one input that is not used."""
    length = root(parameters[0] * parameters[0] + abs(parameters[1] * parameters[2]) + 0.25)
    high = atan2(q[1] * length, q[0] + weight)
    rows = [
        [length * np.sin(q[0]) + q[1] / parameters[2], high, np.cos(q[0] - q[1])],
        [select(q[0], length, q[1] / q[0]).sign(), parameters[1] * abs(q[0]) - 1e-7 * -q[1], greatest(q[0], q[1])],
    ]
    return np.array(rows, dtype=object), np.array([q[1], 2.5, q[0]], dtype=object), -(q[0] - (q[1] - (length - 0.75)))


@cache
def hostile() -> Tape:
    """Everything, under names that no language takes as they are, some of which collide once cleaned."""
    inputs = {"q": (2,), "lambda": (), "λ": (3,), "parameters": (4,)}
    outputs = {"double": (2, 3), "y0": (3,), "I am": ()}
    labels = {"q": ("gamma", "2 θ̇ */"), "parameters": ("m 1", "m_1", "int", 'unused \\ """')}
    return trace(lambda q, weight, _, given: everything(q, weight, given), "fn for", inputs, outputs, labels=labels)


@cache
def plain() -> Tape:
    """Everything, under ordinary names and without parameters that are set apart."""
    inputs = {"q": (2,), "weight": (), "p": (4,)}
    return trace(everything, "plain", inputs, {"A": (2, 3), "b": (3,), "c": ()})


@cache
def random_tape(seed: int, steps: int = 60) -> Tape:
    """Sums, differences, products, quotients and negatives in any nesting, with what is used once and more often."""

    def compute(x: Any) -> Any:
        rng = np.random.default_rng(seed)
        values = [*x, 0.5, -0.25]
        for _ in range(steps):
            a, b = (values[-1 - k] for k in rng.integers(0, min(9, len(values)), 2))
            made = [a + b, a - b, a * b, a / (2.0 + b * b), -a, a - (b - a), a * (b + 1.5), -(a + b)][rng.integers(0, 8)]
            values.append(made)
        return np.array(values[-5:], dtype=object) + x[0]

    return trace(compute, f"random{seed}", {"x": (4,)}, {"y": (5,)})


def arguments(tape: Tape, drawn: Samples, row: int | slice = slice(None)) -> list[np.ndarray]:
    """The inputs of a tape at the points of its samples, or at one of them."""
    ends = np.cumsum([prod(shape) for shape in tape.inputs.values()])
    pieces = np.split(drawn.inputs[row], ends[:-1], axis=-1)
    return [piece.reshape((*piece.shape[:-1], *shape)) for piece, shape in zip(pieces, tape.inputs.values(), strict=True)]


def off(drawn: Samples, found: Any, row: int | slice = slice(None)) -> float:
    """The largest difference from the samples, in units of what rounding allows; above 1 where one is too large."""
    parts = found if isinstance(found, tuple) else (found,)
    wanted, allowed = drawn.wanted[row], drawn.allowed[row]
    flat = np.concatenate([np.reshape(part, (*wanted.shape[:-1], -1)) for part in parts], axis=-1).astype(float)
    assert flat.shape == wanted.shape
    same = (flat == wanted) | (np.isnan(flat) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        share = np.where(same, 0.0, np.abs(flat - wanted) / allowed)
    return float(np.where(np.isnan(share), np.inf, share).max(initial=0.0))


@cache
def drawn_for(tape_name: str, precision: str = "double") -> Samples:
    """Samples of `plain` or `hostile`."""
    return samples({"plain": plain, "hostile": hostile}[tape_name](), precision=precision)
