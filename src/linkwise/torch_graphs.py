"""Graphs of `torch.compile`: detection of tracing, constants, and errors that pass through it unchanged."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from linkwise.errors import ArgumentError

Function = TypeVar("Function", bound=Callable[..., Any])


def is_traced() -> bool:
    """True if `torch.compile` traces the caller; functions that it calls for constants run normally."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_dynamo_compiling())


def constant_in_graphs(function: Function) -> Function:
    """Mark a function that `torch.compile` calls when it traces: its result is a constant of the graph."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]  # (as torch.compiler.assume_constant_result)
    return function


@constant_in_graphs
def refuse(message: str) -> NoReturn:
    """Raise `ArgumentError`, also under `torch.compile`: it calls this function, so that the error passes unchanged."""
    raise ArgumentError(message)


def known(value: Any) -> Any:
    """The value, with symbolic numbers of the compiler replaced by their present values, also in lists and dicts."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        parts = [known(part) for part in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, dict):
        return {key: known(part) for key, part in value.items()}
    return next(iter({value: None})) if isinstance(value, (int, float)) else value


def no_graph(subject: str) -> str:
    """The error message for a function that `torch.compile` cannot trace."""
    return f"{subject} is not part of a graph of torch.compile; expected torch.compiler.disable() around the call"


def outside_graphs(subject: str) -> Callable[[Function], Function]:
    """Mark a function that is no part of graphs: they break there; with ``fullgraph=True`` the error names the subject."""

    def mark(function: Function) -> Function:
        function._torchdynamo_disable = True  # type: ignore[attr-defined]  # (as torch.compiler.disable)
        function._torchdynamo_disable_msg = no_graph(subject)  # type: ignore[attr-defined]
        return function

    return mark
