"""Functions of a module as kernels and compiled loops, traced where the disk does not know them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from linkwise.kernel import trace
from linkwise.kernel.deferred_tape import tape_by_name
from linkwise.kernel.iteration import Descent, IterationProgram
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

#: The settings of iterations that have none.
NO_SETTINGS: FloatArray = np.zeros(1)


def kept_tape(module: str, function: Any, name: str, inputs: Any, outputs: Any) -> Tape:
    """The tape of a function of a module, traced where the disk does not know it."""
    return tape_by_name((module, name), partial(trace, function, name, inputs, outputs))


def iteration(module: str, step: Any, p: int, n: int, a: int, name: str) -> Descent:
    """A step of a module in a compiled loop: of parameters (p,), a state (n,) and what is kept beside it (a,)."""
    inputs = {"parameters": (p,), "q0": (n,), "settings": (1,), "q": (n,), "aux": (a,)}
    return Descent(IterationProgram(kept_tape(module, step, name, inputs, {"q": (n,), "aux": (a,), "status": ()})))
