"""Functions of a mechanism and of tensors as one operator of graphs of `torch.compile`.

What such a function does between its arrays is not traced: the graph has the operator, which calls the function when it
runs. Its derivatives, of any order, are those that torch takes of the function then, and operators again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import Signature, signature
from types import SimpleNamespace
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from linkwise.arrays.framework import PLAIN, Shape, of, shape_of
from linkwise.torch_graphs import constant_in_graphs, is_traced, known, no_graph, refuse

Given = ParamSpec("Given")
Result = TypeVar("Result")


class GraphOutput(NamedTuple):
    """A result of a function in graphs: its shape without the batch, its type, and whether it is differentiable.

    Of texts the type is the tuple of all that there are, and the result their places there.
    """

    shape: Shape = ()
    kind: str | tuple[str, ...] = "float64"
    differentiable: bool = True

    @property
    def tracked(self) -> bool:
        """True if the operator differentiates it."""
        return self.differentiable and self.kind == "float64"


class GraphFunction(NamedTuple):
    """A function that is an operator in graphs.

    Attributes
    ----------
    function : callable
        ``function(mechanism, **arrays, **options)`` returns an object whose attributes are the outputs.
    signature : Signature
        How it is called, the mechanism first.
    arguments : tuple of str
        The names of its arguments, without the mechanism.
    defaults : mapping of str to object
        What those are that have a default.
    inputs : callable
        ``inputs(mechanism, **arguments)`` returns the shapes of what may be tensors by their names, without the batch:
        sizes, names of attributes of the mechanism, or ``...`` for what the tensor has.
    outputs : callable
        ``outputs(mechanism, **arguments)`` returns the results by their names; of tensors it gets the shapes.
    build : callable
        ``build(mechanism, tensors, options, **results)`` returns what the function returns.
    narrow : bool
        Whether it computes in float32 where all tensors are.
    in_parts : callable, optional
        ``in_parts(arguments)`` returns arguments by name that tensors are taken out of, for the function.
    """

    function: Callable[..., Any]
    signature: Signature
    arguments: tuple[str, ...]
    defaults: Mapping[str, Any]
    inputs: Callable[..., Mapping[str, tuple[Any, ...]]]
    outputs: Callable[..., Mapping[str, GraphOutput]]
    build: Callable[..., Any]
    narrow: bool = False
    in_parts: Callable[[dict[str, Any]], dict[str, Any]] | None = None


#: By the names of the functions.
GRAPH_FUNCTIONS: dict[str, GraphFunction] = {}


def in_graphs(
    inputs: Mapping[str, tuple[Any, ...]] | Callable[..., Mapping[str, tuple[Any, ...]]],
    outputs: Callable[..., Mapping[str, GraphOutput]],
    build: Callable[..., Any],
    *,
    operator: Callable[..., Any] | None = None,
    narrow: bool = False,
    in_parts: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Declare that a function of a mechanism is an operator in graphs; see `GraphFunction`.

    ``operator(function, mechanism, **arguments)`` is what it calls in the place of the function.
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        name, bound = function.__name__, signature(function)
        parameters = list(bound.parameters.values())[1:]
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        called, names = partial(operator, function) if operator else function, tuple(p.name for p in parameters)
        shapes = inputs if callable(inputs) else lambda *_, **__: inputs
        GRAPH_FUNCTIONS[name] = GraphFunction(called, bound, names, defaults, shapes, outputs, build, narrow, in_parts)
        if hasattr(function, "__wrapped__"):  # (by `by_library`, which forwards the traced function)
            return function

        @wraps(function)
        def call(*args: Given.args, **options: Given.kwargs) -> Result:
            if is_traced():
                return call_in_graph(name, args[0], args[1:], options)  # type: ignore[no-any-return]
            return function(*args, **options)

        return call

    return decorate


def array_in_graphs(
    shape: Shape | tuple[str, ...], **inputs: tuple[Any, ...]
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """The same of a function that returns one array, in float32 where all tensors are."""

    def rows(mechanism: Any, **_: Any) -> dict[str, GraphOutput]:
        return {"array": GraphOutput(shape_of(mechanism, shape, ()))}

    def build(mechanism: Any, tensors: Any, options: Any, *, array: Any) -> Any:
        return array

    def operator(function: Callable[..., Any], mechanism: Any, **arguments: Any) -> Any:
        return SimpleNamespace(array=function(mechanism, **arguments))

    return in_graphs(inputs, rows, build, operator=operator, narrow=True)


def call_in_graph(name: str, mechanism: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Function as traced by `torch.compile`.

    Raises
    ------
    ArgumentError
        Where something else than its arrays is a tensor, or a function.
    TypeError
        Where it has no such arguments, as outside.
    """
    from linkwise.arrays.torch import in_graph

    _check_call(name, len(args), tuple(kwargs))
    torch, declared = sys.modules["torch"], GRAPH_FUNCTIONS[name]
    values = {**dict(zip(declared.arguments, args, strict=False)), **kwargs}
    values.update({key: value for key, value in declared.defaults.items() if key not in values})
    if declared.in_parts is not None:
        values = declared.in_parts(values)
    inputs, tensors, trailing = declared.inputs(mechanism, **values), {}, []
    if all(map(_is_constant, values.values())):
        refuse(f"{name}: there is no tensor among its arguments; expected one within torch.compile")
    for key, value in values.items():
        if key in inputs and isinstance(value, (torch.Tensor, np.ndarray, list, tuple)):
            tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value, dtype=torch.float64)
            tensors[key] = tensor.double() if tensor.dtype == torch.float32 and not declared.narrow else tensor
            rank = len(inputs[key]) if ... in inputs[key] else 0
            trailing.append(tuple([known(size) for size in tensor.shape[max(tensor.dim() - rank, 0) :]]))
        elif not _is_constant(value):
            refuse(f"{name}: {key} is a {type(value).__name__}; expected numbers and words within torch.compile")
    options = {key: known(value) for key, value in values.items() if key not in tensors}
    shapes = [(key, inputs[key]) for key in tensors]
    key, kinds = _prepared(name, mechanism, tuple(shapes), tuple(trailing), tuple(options), *options.values())
    results = in_graph(key, list(tensors.values()))
    rows = {}
    for (output, kind), result in zip(kinds, results if isinstance(results, tuple) else (results,), strict=True):
        rows[output] = result if kind is True else result != 0.0 if kind == "bool" else result.detach()
        if kind == "int64" or isinstance(kind, tuple):
            rows[output] = rows[output].long()
    return declared.build(mechanism, tensors, options, **rows)


@constant_in_graphs
def _check_call(name: str, count: int, keywords: tuple[str, ...]) -> None:
    """Raise `TypeError` for arguments that the function does not have: so many without a keyword, and these."""
    try:
        GRAPH_FUNCTIONS[name].signature.bind(None, *[None] * count, **dict.fromkeys(keywords))
    except TypeError as error:
        raise TypeError(f"{name}(): {error}") from None


def _is_constant(value: Any) -> bool:
    """True if it is known when a graph is made; functions do not count."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_constant, value))
    if isinstance(value, dict):
        return all(map(_is_constant, value.values()))
    return not isinstance(value, (sys.modules["torch"].Tensor, np.ndarray)) and (
        not callable(value) or isinstance(value, type)
    )


@constant_in_graphs
def _prepared(
    name: str,
    mechanism: Any,
    tensors: tuple[tuple[str, tuple[Any, ...]], ...],
    trailing: tuple[Shape, ...],
    options: tuple[str, ...],
    *values: Any,
) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """Key of the operator for one choice of arguments, and the declarations of its results."""
    from linkwise.arrays.torch import key_of
    from linkwise.arrays.traced_function import TracedFunction, row

    declared, chosen = GRAPH_FUNCTIONS[name], dict(zip(options, values, strict=True))
    inputs = {tensor: shape_of(mechanism, core, shape) for (tensor, core), shape in zip(tensors, trailing, strict=True)}
    outputs = declared.outputs(mechanism, **chosen, **inputs)

    def run(*arrays: Any) -> tuple[Any, ...]:
        result = declared.function(mechanism, **dict(zip(inputs, arrays, strict=True)), **chosen)
        batch = arrays[0].shape[: arrays[0].dim() - len(next(iter(inputs.values())))]
        return tuple(row(result, output, spec, batch, arrays) for output, spec in outputs.items())

    def make() -> TracedFunction:
        return TracedFunction(name, inputs, {output: spec.shape for output, spec in outputs.items()}, run)

    key = (name, *inputs.items(), *((option, _Constant.of(value)) for option, value in chosen.items()))
    kinds = tuple((output, spec.tracked or spec.kind) for output, spec in outputs.items())
    return key_of(mechanism.memo("graph", key, make)), kinds


class _Constant:
    """An argument as part of a key: equal where it is the same object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    @classmethod
    def of(cls, value: Any) -> Any:
        """Freeze numbers and words, also in lists and dicts, by value; other objects by identity."""
        if isinstance(value, (list, tuple)):
            return tuple(map(cls.of, value))
        if isinstance(value, dict):
            return tuple((key, cls.of(part)) for key, part in value.items())
        return repr(value) if isinstance(value, (str, int, float, type(None))) else cls(value)


def method_in_graph(name: str, mechanism: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Method of a mechanism as traced by `torch.compile`, if it can be part of a graph."""
    if name not in GRAPH_FUNCTIONS:
        refuse(no_graph(name))
    return call_in_graph(name, mechanism, args, kwargs)


def by_library(run: Callable[..., Any], *names: str) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Declare that a function of a mechanism and arrays takes arrays of other libraries too.

    Parameters
    ----------
    run : callable
        ``run(library, function, *args, **options)`` is called in its place where there are such arrays; it calls the
        function with those of NumPy.
    *names : str
        The keyword arguments that are arrays; so are all arguments without a keyword but the mechanism.
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(function)
        def call(*args: Given.args, **options: Given.kwargs) -> Result:
            if is_traced():
                return method_in_graph(function.__name__, args[0], args[1:], options)  # type: ignore[no-any-return]
            kinds = {type(value) for value in args[1:]}
            if options:
                kinds.update(type(options[name]) for name in names if name in options)
            if not kinds <= PLAIN:
                library = of(function.__name__, (*args[1:], *map(options.get, names)))
                if library is not None:
                    return run(library, function, *args, **options)  # type: ignore[no-any-return]
            return function(*args, **options)

        return call

    return decorate
