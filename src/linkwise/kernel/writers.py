"""Output formats of kernels, by name: other languages and printed equations."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from linkwise.errors import ArgumentError, choices, shown

#: Writers by name: functions of a kernel and options.
WRITERS: dict[str, Callable[..., Any]] = {}

#: Modules that register writers; they are imported when a kernel is first written, and more may be added.
MODULES = ["linkwise.export", "linkwise.equations.writers"]


def writer(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of a kernel and of options as ``kernel.write(name, **options)``."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        WRITERS[name] = function
        return function

    return register


def write(kernel: Any, name: str, **options: Any) -> Any:
    """Write a kernel.

    Raises
    ------
    ArgumentError
        For a name that no writer has, with those there are.
    """
    for module in MODULES if name not in WRITERS else ():
        import_module(module)
    if name not in WRITERS:
        raise ArgumentError(f"a kernel is not written as {shown(name)}; expected {choices(sorted(WRITERS))}")
    return WRITERS[name](kernel, **options)
