"""Compile, load and run one kernel: ``python -m linkwise.kernel.backends.llvm.trial``.

`loaders` does that in a child process, with the loader that is on trial in an environment variable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.kernel.backends.llvm.loaders import STARTED
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.tape import trace
from linkwise.spatial.scalar import atan2, cos_sin


def run() -> None:
    """Run a kernel that has every kind of section, in both precisions and by its entry, against NumPy.

    Raises
    ------
    ArithmeticError
        Where it computes something else.
    """

    def function(x: Any) -> Any:
        c, s = cos_sin(x[0])
        return np.array([c * x[1] + 0.1, atan2(s, x[1]), np.sqrt(x[1] * x[1] + 2.0)])

    tape = trace(function, "trial", {"x": (2,)}, {"y": (3,)})
    kernel = Kernel(tape, "llvm")
    x = np.random.default_rng(0).uniform(-9.0, 9.0, (21, 2))
    expected = Kernel(tape, "numpy")(x)
    solutions = {"float64": kernel(x), "float32": kernel(x.astype(np.float32))}
    entry = kernel.entry(kernel.ufunc)
    if entry is not None:
        solutions["entry"] = np.array([entry(row) for row in x])
    for part, solution in solutions.items():
        bound = 1e-5 if part == "float32" else 1e-14  # some roundings of numbers below 10, and of an angle of 9 rad
        if not np.abs(solution - expected).max() < bound:
            raise ArithmeticError(f"{part}: {solution.tolist()} is not {expected.tolist()}")


if __name__ == "__main__":
    print(STARTED.decode(), flush=True)
    run()
