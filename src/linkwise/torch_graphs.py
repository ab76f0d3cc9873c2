"""Graphs of `torch.compile`: whether it traces, what is constant to it, and errors that come through it as they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from linkwise.errors import ArgumentError

Function = TypeVar("Function", bound=Callable[..., Any])


def is_traced() -> bool:
    """Whether `torch.compile` traces the function that asks; what it calls for a constant runs as it is."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_dynamo_compiling())


def constant_in_graphs(function: Function) -> Function:
    """Mark a function that `torch.compile` calls when it traces: what it returns is a constant of the graph."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]  # (as torch.compiler.assume_constant_result)
    return function


@constant_in_graphs
def refuse(message: str) -> NoReturn:
    """Raise `ArgumentError`, also where `torch.compile` traces: it calls this, so the error comes through as it is."""
    raise ArgumentError(message)


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
