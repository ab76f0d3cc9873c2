"""Derivatives of a tape as tapes: all of them, and their products with vectors from either side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from linkwise.expr.derivative import derivative, pullback, rates
from linkwise.expr.node import Expr, symbol
from linkwise.kernel.tape import Shape, Tape, in_shapes
from linkwise.spatial.scalar import Array


def full_derivative(tape: Tape, by: str) -> Tape:
    """The derivatives of all outputs by one input.

    Parameters
    ----------
    tape : Tape
        The function.
    by : str
        Name of the input.

    Returns
    -------
    Tape
        With the same inputs; an output ``Y`` of shape s becomes ``dY_dX`` of shape s + the shape of X.
    """
    inputs = _symbols(tape.inputs)
    table = derivative(_graph(tape, inputs), list(inputs[by].ravel()))
    shapes = {f"d{name}_d{by}": (*shape, *tape.inputs[by]) for name, shape in tape.outputs.items()}
    return _tape(tape, f"{tape.name}_by_{by}", inputs, in_shapes(shapes, table.ravel()))


@dataclass(frozen=True)
class Directions:
    """The inputs by which a function is differentiated, and the directions in which each varies.

    Attributes
    ----------
    names : tuple of str
        The inputs.
    motions : mapping of str to Tape
        For an input that moves on less than all of its numbers, a configuration with quaternions: its rate as a function of
        itself and a velocity, linear in the velocity. The derivatives are by that velocity; without, by the numbers.
    """

    names: tuple[str, ...]
    motions: Mapping[str, Tape] = field(default_factory=dict)

    def shapes(self, tape: Tape) -> dict[str, Shape]:
        """The shape of a tangent, and of a cotangent, of each input."""
        return {name: self._tangents(name) or tape.inputs[name] for name in self.names}

    def rates(self, name: str, value: Array, tangent: Array) -> Array:
        """The rates of the numbers of an input along a tangent, both flat."""
        return np.array(self.motions[name].graph([*value, *tangent]), dtype=object) if name in self.motions else tangent

    def cotangent(self, name: str, value: Array, weights: Array) -> list[Any]:
        """The cotangent of an input with weights on its numbers, both flat."""
        if name not in self.motions:
            return list(weights)
        tangent = list(_symbols({"tangent": self._tangents(name)})["tangent"])
        return pullback(list(self.rates(name, value, np.array(tangent))), list(weights), tangent)

    def _tangents(self, name: str) -> Shape:
        """The shape of the velocity that an input moves with; empty where it moves on all of its numbers."""
        return tuple(self.motions[name].inputs.values())[1] if name in self.motions else ()


def vector_jacobian_product(tape: Tape, directions: Directions) -> Tape:
    """The transposed derivatives of all outputs times a vector for each output: reverse mode.

    Parameters
    ----------
    tape : Tape
        The function.
    directions : Directions
        By what.

    Returns
    -------
    Tape
        Inputs: those of the function, then a cotangent ``Y_bar`` of the shape of each output Y. Outputs: a cotangent
        ``X_bar`` of each input X.
    """
    inputs = _symbols(tape.inputs)
    bars = _symbols(fresh(tape.outputs, "bar", tape.inputs))
    variables = {name: inputs[name].ravel() for name in directions.names}
    weights = pullback(_graph(tape, inputs), _scalars(bars), [node for array in variables.values() for node in array])
    by_input = in_shapes({name: array.shape for name, array in variables.items()}, weights)
    results = [node for name, array in variables.items() for node in directions.cotangent(name, array, by_input[name])]
    shapes = fresh(directions.shapes(tape), "bar", [*inputs, *bars])
    return _tape(tape, f"{tape.name}_vjp", inputs | bars, in_shapes(shapes, results))


def jacobian_vector_product(tape: Tape, directions: Directions) -> Tape:
    """The derivatives of all outputs times a vector for each input: forward mode.

    Parameters
    ----------
    tape : Tape
        The function.
    directions : Directions
        By what.

    Returns
    -------
    Tape
        Inputs: those of the function, then a tangent ``X_dot`` of each input X. Outputs: the tangent ``Y_dot`` of each
        output Y, of its shape.
    """
    inputs = _symbols(tape.inputs)
    dots = _symbols(fresh(directions.shapes(tape), "dot", tape.inputs))
    seeds: dict[Expr, Any] = {}
    for name, dot in zip(directions.names, dots.values(), strict=True):
        value = inputs[name].ravel()
        seeds |= zip(value, directions.rates(name, value, dot.ravel()), strict=True)
    shapes = fresh(tape.outputs, "dot", [*inputs, *dots])
    return _tape(tape, f"{tape.name}_jvp", inputs | dots, in_shapes(shapes, rates(_graph(tape, inputs), seeds)))


#: The products by the names of the attributes of a kernel.
PRODUCTS: dict[str, Callable[[Tape, Directions], Tape]] = {"vjp": vector_jacobian_product, "jvp": jacobian_vector_product}


def fresh(shapes: Mapping[str, Shape], suffix: str, taken: Iterable[str]) -> dict[str, Shape]:
    """The shapes by new names: with the suffix, and a number behind it where a derivative of a derivative has that name.

    Examples
    --------
    >>> fresh({"q": (2,)}, "dot", ["q"]), fresh({"q": (2,)}, "dot", ["q", "q_dot"])
    ({'q_dot': (2,)}, {'q_dot2': (2,)})
    """
    known = set(taken)
    result: dict[str, Shape] = {}
    for name, shape in shapes.items():
        names = (f"{name}_{suffix}{k}" for k in ("", *range(2, len(known) + len(shapes) + 2)))
        result[next(new for new in names if new not in known and new not in result)] = shape
    return result


def _symbols(shapes: Mapping[str, Shape]) -> dict[str, Array]:
    return in_shapes(shapes, (symbol(f"{name}[{k}]") for name, shape in shapes.items() for k in range(prod(shape))))


def _scalars(arrays: Mapping[str, Array]) -> list[Any]:
    return [node for array in arrays.values() for node in array.ravel()]


def _graph(tape: Tape, inputs: Mapping[str, Array]) -> list[Any]:
    return tape.graph(_scalars(inputs))


def _tape(source: Tape, name: str, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> Tape:
    """Build a tape that keeps the source's data on its inputs."""
    labels = {key: names for key, names in source.labels.items() if key in source.inputs}
    return replace(Tape.from_graph(name, inputs, outputs, labels), origins=source.origins)
