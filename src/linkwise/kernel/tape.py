"""A graph with named, shaped inputs and outputs in linear order, the input of every lowering."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import KernelError, members
from linkwise.expr.canonicalize import made_anew
from linkwise.expr.count import counted, operation_count
from linkwise.expr.node import Expr, build, origins_of, symbol
from linkwise.expr.ordering import schedule
from linkwise.expr.simplify import LARGEST, shortened
from linkwise.spatial.scalar import Array

Shape = tuple[int, ...]


class Instruction(NamedTuple):
    """One operation of a tape with the slots that it reads; it writes the next slot."""

    op: str
    args: tuple[int, ...]


@dataclass(frozen=True)
class Tape:
    """A function as a flat list of operations.

    Slots count first the elements of the inputs, then the constants, then one per instruction.

    Attributes
    ----------
    name : str
        Name of the function.
    inputs, outputs : mapping of str to shape
        In order.
    constants : tuple of float
        The numbers that occur.
    code : tuple of Instruction
        Operands always stand before.
    results : tuple of int
        The slot of each element of the outputs.
    labels : mapping of str to tuple of str
        Names of the elements of inputs and outputs, in C order, where they are known. They change nothing that is computed.
    operations_before : mapping of str to int
        Operations that the algorithm itself took, before the graph was shortened; empty where that is not known.
    origins : mapping of str to sympy.Symbol
        By the names of parameters, the symbols that they were read from and that `to_sympy` writes again.
    """

    name: str
    inputs: Mapping[str, Shape]
    outputs: Mapping[str, Shape]
    constants: tuple[float, ...]
    code: tuple[Instruction, ...]
    results: tuple[int, ...]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    operations_before: Mapping[str, int] = field(default_factory=dict, compare=False)
    origins: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @cached_property
    def input_count(self) -> int:
        """Number of input scalars."""
        return sum(prod(shape) for shape in self.inputs.values())

    @cached_property
    def output_count(self) -> int:
        """Number of scalars that come out."""
        return sum(prod(shape) for shape in self.outputs.values())

    @cached_property
    def length(self) -> int:
        """Number of instructions."""
        return len(self.code)

    @cached_property
    def first_result(self) -> int:
        """The slot of the first instruction."""
        return self.input_count + len(self.constants)

    def constant(self, slot: int) -> float | None:
        """The constant in a slot, None if it is computed or an input."""
        k = slot - self.input_count
        return self.constants[k] if 0 <= k < len(self.constants) else None

    @cached_property
    def operations(self) -> dict[str, int]:
        """Number of operations of one evaluation, by kind; subtractions count as ``add``."""
        return counted(instruction.op for instruction in self.code)

    @cached_property
    def nonzeros(self) -> dict[str, list[int]]:
        """Positions (C order) of the elements of each output that are not zero whatever the inputs."""
        sparsity, results = {}, iter(self.results)
        for name, shape in self.outputs.items():
            slots = enumerate(islice(results, prod(shape)))
            sparsity[name] = [k for k, slot in slots if self.constant(slot) != 0.0]
        return sparsity

    def without_zeros(self) -> Tape:
        """The same function; an array is the vector of its `nonzeros`, and one that is zero throughout is no output.

        Raises
        ------
        KernelError
            Where all outputs are zero.
        """
        shapes: dict[str, Shape] = {}
        results: list[int] = []
        labels = {name: self.labels[name] for name in self.inputs if name in self.labels}
        start = 0
        for name, shape in self.outputs.items():
            kept = self.nonzeros[name]
            if kept:
                shapes[name] = (len(kept),) if shape else ()
                results += [self.results[start + k] for k in kept]
                if name in self.labels:
                    labels[name] = tuple(self.labels[name][k] for k in kept)
            start += prod(shape)
        if not results:
            raise KernelError(f"{self.name} is zero whatever its inputs")
        name = f"{self.name}_nonzeros"
        return replace(self, name=name, outputs=shapes, results=tuple(results), labels=labels, operations_before={})

    @cached_property
    def digest(self) -> str:
        """The same for the same function, in any process."""
        code = [(instruction.op, instruction.args) for instruction in self.code]
        numbers = [value.hex() for value in self.constants]
        text = repr((self.name, list(self.inputs.items()), list(self.outputs.items()), numbers, code, self.results))
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def from_graph(
        cls,
        name: str,
        inputs: Mapping[str, Array],
        outputs: Mapping[str, Array],
        labels: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Tape:
        """Write a graph flat.

        Parameters
        ----------
        name : str
            Name of the function.
        inputs : mapping of str to array of symbols
            Every symbol that the outputs depend on must be among them.
        outputs : mapping of str to array of scalars
            What is computed.
        labels : mapping of str to tuple of str, optional
            Names of elements: see the attribute.

        Raises
        ------
        KernelError
            Where a symbol is among no input, or a number is not finite.
        """
        symbols = [node for array in inputs.values() for node in np.asarray(array, dtype=object).ravel()]
        wanted = [node for array in outputs.values() for node in np.asarray(array, dtype=object).ravel()]
        nodes = schedule(wanted)
        slot: dict[Expr, int] = {node: k for k, node in enumerate(symbols)}
        values = dict.fromkeys(node.value for node in nodes if node.op == "const")
        values.update(dict.fromkeys(float(node) + 0.0 for node in wanted if not isinstance(node, Expr)))
        constants = list(values)
        if not np.all(np.isfinite(constants)):
            raise KernelError(f"{name} contains a number that is not finite; check what it is computed from")
        place = {value: len(symbols) + k for k, value in enumerate(constants)}
        code: list[Instruction] = []
        for node in nodes:
            if node.op == "const":
                slot[node] = place[node.value]
            elif not node.args and node not in slot:
                raise KernelError(f"{name} depends on the symbol {node}, which is not among its inputs {members(inputs)}")
            elif node.args:
                slot[node] = len(symbols) + len(constants) + len(code)
                code.append(Instruction(node.op, tuple(slot[arg] for arg in node.args)))
        results = tuple(slot[node] if isinstance(node, Expr) else place[float(node) + 0.0] for node in wanted)
        return cls(name, _shapes(inputs), _shapes(outputs), tuple(constants), tuple(code), results, labels or {})

    def graph(self, arguments: Sequence[Any]) -> list[Any]:
        """The results as expressions, or numbers, one for each element of the outputs.

        Parameters
        ----------
        arguments : sequence of Expr or float
            What goes in, one for each element of the inputs.

        Examples
        --------
        >>> from linkwise.expr.node import parameter
        >>> made = trace(lambda x: x * x, "square", {"x": (1,)}, {"y": (1,)})
        >>> made.graph([parameter("a")])
        [Expr(a * a)]
        """
        if len(arguments) != self.input_count:
            raise ValueError(f"{self.name} takes {self.input_count} scalars; {len(arguments)} were given")
        values = [*arguments, *self.constants]
        for instruction in self.code:
            values.append(build(instruction.op, *(values[arg] for arg in instruction.args)))
        return [values[slot] for slot in self.results]


@contextmanager
def without_collection() -> Iterator[None]:
    """Suspend Python's cyclic garbage collector: a graph has no cycles, and the collector takes a fifth of tracing it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@without_collection()
def trace(
    function: Callable[..., Any],
    name: str,
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, Shape] | None = None,
    *,
    parameters: Sequence[Expr] = (),
    labels: Mapping[str, tuple[str, ...]] | None = None,
    shorten: bool = False,
) -> Tape:
    """Trace a function over scalars: run it once on symbols and record its operations.

    Parameters
    ----------
    function : callable
        Takes one array per input, returns one array or a tuple of them.
    name : str
        Name of the result.
    inputs : mapping of str to shape
        In the order in which the function takes them.
    outputs : mapping of str to shape, optional
        In the order in which it gives them. Without, they are called ``result1``, ``result2``, ..., of whatever shape.
    parameters : sequence of Expr, optional
        Symbols that the function finds in what it computes with; they become the last input, ``"parameters"``.
    labels : mapping of str to tuple of str, optional
        Names of the elements of inputs and outputs.
    shorten : bool
        Whether the graph is rewritten to fewer operations, see `linkwise.expr.simplify`. Not for a function that repeats or
        refines something for the sake of rounding: that would be seen to change nothing, and be left out.
    """
    symbols = {key: _symbols(key, shape) for key, shape in inputs.items()}
    results = function(*symbols.values())
    arrays = results if isinstance(results, tuple) else (results,)
    if outputs is None:
        outputs = {f"result{k}": np.shape(array) for k, array in enumerate(arrays, 1)}
    named = {key: np.asarray(array, dtype=object) for key, array in zip(outputs, arrays, strict=True)}
    for key, shape in outputs.items():
        if named[key].shape != shape:
            raise ValueError(f"{name} gave {key} of shape {named[key].shape}; it declares {shape}")
    scalars = [node for array in named.values() for node in array.ravel()]
    named_elements = dict(labels or {})
    if parameters:
        scalars, renamed = made_anew(scalars, parameters)
        symbols["parameters"] = np.array(renamed, dtype=object)
        named_elements["parameters"] = tuple(str(node.value) for node in parameters)
    shorter = in_shapes(outputs, shortened(scalars) if shorten else scalars)
    tape = Tape.from_graph(name, symbols, shorter, named_elements)
    before = operation_count(scalars) if shorten and tape.length <= LARGEST else {}
    return replace(tape, operations_before=before, origins=origins_of(parameters))


def in_shapes(shapes: Mapping[str, Shape], scalars: Iterable[Any]) -> dict[str, Array]:
    """Arrays of these shapes, filled in order."""
    left = iter(scalars)
    arrays = {key: np.empty(shape, dtype=object) for key, shape in shapes.items()}
    for array in arrays.values():
        for index in np.ndindex(array.shape):
            array[index] = next(left)
    return arrays


def _shapes(arrays: Mapping[str, Array]) -> dict[str, Shape]:
    return {key: tuple(np.shape(array)) for key, array in arrays.items()}


def _symbols(name: str, shape: Shape) -> Array:
    symbols = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        symbols[index] = symbol(f"{name}[{','.join(map(str, index))}]")
    return symbols
