"""What listings, and with them kernels, are written as: each writer registers itself by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from linkwise.equations.recursive.document_from_tape import recursive_listing
from linkwise.kernel import Kernel
from linkwise.kernel import writers as kernels

Write = TypeVar("Write", bound=Callable[..., Any])

#: By name, from a listing and options to what is written.
WRITERS: dict[str, Callable[..., Any]] = {}


def writer(name: str) -> Callable[[Write], Write]:
    """Register a function of a listing and options; what it writes of a kernel is the kernel's recursive form."""

    def register(function: Write) -> Write:
        WRITERS[name] = function

        @kernels.writer(name)
        def write(kernel: Kernel, **options: Any) -> Any:
            return function(recursive_listing(kernel.tape, title=kernel.name), **options)

        return function

    return register
