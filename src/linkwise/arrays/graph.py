"""Functions of a mechanism and of tensors as one operator of graphs of `torch.compile`.

What such a function does between its arrays is not traced: the graph has the operator, which calls the function when it
runs. Its derivatives, of any order, are those that torch takes of the function then, and operators again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from linkwise.arrays.framework import PLAIN, Shape, constant_in_graphs, is_traced, no_graph, of, refuse, shape_of

Given = ParamSpec("Given")
Result = TypeVar("Result")


class GraphFunction(NamedTuple):
    """A function that is an operator in graphs.

    Attributes
    ----------
    function : callable
        ``function(mechanism, **arrays, **options)`` returns an object whose attributes are the outputs.
    arguments : tuple of str
        The names of its arguments that need no keyword, but the mechanism.
    inputs : mapping of str to tuple
        The shapes of what may be tensors, without the batch: sizes, or names of attributes of the mechanism.
    outputs : callable
        ``outputs(mechanism, **options)`` returns the shapes of results by their names.
    build : callable
        ``build(mechanism, options, **results)`` returns what the function returns.
    """

    function: Callable[..., Any]
    arguments: tuple[str, ...]
    inputs: Mapping[str, tuple[Any, ...]]
    outputs: Callable[..., Mapping[str, Shape]]
    build: Callable[..., Any]


#: By the names of the functions.
GRAPH_FUNCTIONS: dict[str, GraphFunction] = {}


def call_in_graph(name: str, mechanism: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `torch.compile` traces in the place of a function.

    Raises
    ------
    ArgumentError
        Where something else than its arrays is a tensor, or a function.
    """
    from linkwise.arrays.torch import in_graph

    declared = GRAPH_FUNCTIONS[name]
    values = {**dict(zip(declared.arguments, args, strict=False)), **kwargs}
    tensors = {key: value for key, value in values.items() if hasattr(value, "detach")}
    options = {key: value for key, value in values.items() if key not in tensors}
    for key, value in values.items():
        if (key in tensors and key not in declared.inputs) or (callable(value) and not isinstance(value, type)):
            refuse(f"{name}: {key} is a {type(value).__name__}; expected numbers and words within torch.compile")
    if not tensors:
        refuse(f"{name}: there is no tensor among its arguments; expected one within torch.compile")
    trailing = [tuple(tensor.shape[max(tensor.dim() - 2, 0) :]) for tensor in tensors.values()]
    key, names = _prepared(name, mechanism, tuple(tensors), tuple(trailing), tuple(options), *options.values())
    results = in_graph(key, [tensor.double() for tensor in tensors.values()])
    whole = dict(zip(names, results if isinstance(results, tuple) else (results,), strict=True))
    return declared.build(mechanism, options, **whole)


@constant_in_graphs
def _prepared(
    name: str, mechanism: Any, tensors: tuple[str, ...], trailing: tuple[Shape, ...], options: tuple[str, ...], *values: Any
) -> tuple[str, tuple[str, ...]]:
    """The key of the operator for one choice of arguments, and the names of its results."""
    from linkwise.arrays.torch import key_of
    from linkwise.arrays.traced_function import TracedFunction

    declared, chosen = GRAPH_FUNCTIONS[name], dict(zip(options, values, strict=True))
    inputs = {
        tensor: shape_of(mechanism, declared.inputs[tensor], shape) for tensor, shape in zip(tensors, trailing, strict=True)
    }
    outputs = dict(declared.outputs(mechanism, **chosen))

    def run(*arrays: Any) -> tuple[Any, ...]:
        result = declared.function(mechanism, **dict(zip(tensors, arrays, strict=True)), **chosen)
        return tuple(getattr(result, output).double() for output in outputs)

    def make() -> TracedFunction:
        return TracedFunction(name, inputs, outputs, run)

    return key_of(mechanism.memo("graph", (name, *inputs.items(), *map(repr, chosen.items())), make)), tuple(outputs)


def method_in_graph(name: str, mechanism: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `torch.compile` traces in the place of a function of a mechanism, if it can be part of a graph."""
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
