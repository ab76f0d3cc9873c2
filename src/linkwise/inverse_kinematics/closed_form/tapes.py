"""Functions of a module as kernels and compiled loops, traced where the disk does not know them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from linkwise.kernel import Kernel, trace
from linkwise.kernel.deferred_tape import tape_by_name
from linkwise.kernel.iteration import Descent, IterationProgram
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

#: The settings of iterations that have none.
NO_SETTINGS: FloatArray = np.zeros(1)


def kept_tape(module: str, function: Any, name: str, inputs: Any, outputs: Any) -> Tape:
    """The tape of a function of a module, traced where the disk does not know it."""
    return tape_by_name((module, name), partial(trace, function, name, inputs, outputs))


class Functions(dict[str, Kernel]):
    """Functions of a module, compiled, by name.

    Parameters
    ----------
    module : str
        The module.
    declared : mapping
        By name the function over scalars, the shapes of its inputs and those of its outputs.
    suffix : str
        What tells their tapes from those of the same functions with other options.
    """

    def __init__(self, module: str, declared: Mapping[str, tuple[Any, Any, Any]], suffix: str = "") -> None:
        super().__init__(
            (name, Kernel(kept_tape(module, function, name + suffix, inputs, outputs)))
            for name, (function, inputs, outputs) in declared.items()
        )

    @cached_property
    def ufuncs(self) -> dict[str, Any]:
        """The gufuncs, which cost less to call and are never divided among threads."""
        return {name: kernel.ufunc for name, kernel in self.items()}

    def for_rows(self, count: int) -> dict[str, Any]:
        """Choose the callable for a number of rows: the kernels, for one row the gufuncs."""
        return self if count > 1 else self.ufuncs


def iteration(module: str, step: Any, p: int, n: int, a: int, name: str) -> Descent:
    """Compile a step of a module as a loop over parameters (p,), a state (n,) and auxiliary values (a,)."""
    inputs = {"parameters": (p,), "q0": (n,), "settings": (1,), "q": (n,), "aux": (a,)}
    return Descent(IterationProgram(kept_tape(module, step, name, inputs, {"q": (n,), "aux": (a,), "status": ()})))
