"""Kernels as functions of CasADi: an external function with exact derivatives, and the expanded graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from linkwise.extras import optional
from linkwise.kernel.tape import Shape
from linkwise.kernel.writers import writer

#: The operations of tapes on symbols of CasADi, which has the others as operators, or under their own names.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda _, x, y: x + y,
    "sub": lambda _, x, y: x - y,
    "mul": lambda _, x, y: x * y,
    "div": lambda _, x, y: x / y,
    "neg": lambda _, x: -x,
    "abs": lambda casadi, x: casadi.fabs(x),
    "select": lambda casadi, c, x, y: casadi.if_else(c > 0, x, y),
}


@writer("casadi")
def to_casadi(kernel: Any, *, expand: bool = False) -> Any:
    """A kernel as a ``casadi.Function``; see `linkwise.kernel.Kernel.to_casadi`."""
    return _functions(kernel, bool(expand))


@cache  # (CasADi itself keeps no callback alive)
def _functions(kernel: Any, expand: bool) -> Any:
    casadi = optional("casadi", f"{kernel.name}.to_casadi() needs CasADi", "casadi")
    return _expanded(casadi, kernel) if expand else _callback(casadi)(kernel)


def matrix_shape(shape: Shape) -> tuple[int, int]:
    """CasADi's matrix of an array: a vector is a column, matrices of a stack are stacked vertically.

    Examples
    --------
    >>> matrix_shape(()), matrix_shape((6,)), matrix_shape((3, 4, 4))
    ((1, 1), (6, 1), (12, 4))
    """
    return (prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (prod(shape), 1)


def _output_names(inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> list[str]:
    """The names of the outputs, others than those of inputs: CasADi has no name twice."""
    return [f"{name}_result" if name in inputs else name for name in outputs]


def _expanded(casadi: Any, kernel: Any) -> Any:
    """The operations of the tape as a graph of SX."""
    tape = kernel.tape
    inputs = [casadi.SX.sym(name, *matrix_shape(shape)) for name, shape in tape.inputs.items()]
    values = [matrix[i, j] for matrix in inputs for i, j in np.ndindex(*matrix.shape)]  # (row by row, as arrays count)
    values += map(casadi.SX, tape.constants)
    for step in tape.code:
        arguments = (values[slot] for slot in step.args)
        operation = OPERATIONS.get(step.op)
        values.append(operation(casadi, *arguments) if operation else getattr(casadi, step.op)(*arguments))
    results = iter(tape.results)
    outputs = []
    for shape in map(matrix_shape, tape.outputs.values()):
        rows = [casadi.horzcat(*(values[next(results)] for _ in range(shape[1]))) for _ in range(shape[0])]
        outputs.append(casadi.vertcat(*rows))
    return casadi.Function(kernel.name, inputs, outputs, [*tape.inputs], _output_names(tape.inputs, tape.outputs))


@cache
def _callback(casadi: Any) -> Any:
    """The class of external functions; their derivatives are those of `Kernel.jvp` and `Kernel.vjp`."""

    class KernelCallback(casadi.Callback):  # type: ignore[misc]
        def __init__(self, kernel: Any) -> None:
            super().__init__()
            self.kernel, self.names = kernel, tuple(kernel.tape.inputs)
            inputs, outputs = kernel.tape.inputs, kernel.tape.outputs
            self.shapes = list(map(matrix_shape, inputs.values())), list(map(matrix_shape, outputs.values()))
            self.arrays = list(inputs.values())
            self.labels = list(inputs), _output_names(inputs, outputs)
            self.construct(kernel.name, {})

        def get_n_in(self) -> int:
            return len(self.names)

        def get_n_out(self) -> int:
            return len(self.shapes[1])

        def get_name_in(self, k: int) -> str:
            return str(self.labels[0][k])

        def get_name_out(self, k: int) -> str:
            return str(self.labels[1][k])

        def get_sparsity_in(self, k: int) -> Any:
            return casadi.Sparsity.dense(*self.shapes[0][k])

        def get_sparsity_out(self, k: int) -> Any:
            return casadi.Sparsity.dense(*self.shapes[1][k])

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arg: Sequence[Any], res: Sequence[Any]) -> int:
            """Compute on CasADi's own memory, column by column; missing arguments are zero."""
            arrays = [
                np.zeros(array) if buffer is None else _array(buffer, shape).reshape(array)
                for buffer, shape, array in zip(arg, self.shapes[0], self.arrays, strict=True)
            ]
            results = self.kernel(*arrays)
            for buffer, shape, result in zip(
                res, self.shapes[1], results if isinstance(results, tuple) else (results,), strict=True
            ):
                if buffer is not None:
                    _array(buffer, shape)[...] = np.reshape(result, shape)
            return 0

        def has_forward(self, _: int) -> bool:
            return True

        def has_reverse(self, _: int) -> bool:
            return True

        def get_forward(self, n: int, *names: Any) -> Any:
            return self._along(self.kernel.jvp, self.shapes[0], n, *names)

        def get_reverse(self, n: int, *names: Any) -> Any:
            return self._along(self.kernel.vjp, self.shapes[1], n, *names)

        def _along(self, product: Any, seeded: Any, n: int, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
            """The derivatives along n directions, each a call of one external function, which has derivatives again."""
            product_at = to_casadi(product.by(*self.names, tangent=False))
            sizes = [*self.shapes[0], *self.shapes[1], *((rows, columns * n) for rows, columns in seeded)]
            symbols = [casadi.MX.sym(label, *size) for label, size in zip(inputs, sizes, strict=True)]
            at, seeds = symbols[: len(self.names)], symbols[len(self.names) + len(self.shapes[1]) :]
            parts = [casadi.horzsplit(seed, size[1]) for seed, size in zip(seeds, seeded, strict=True)]
            results = [product_at.call([*at, *direction]) for direction in zip(*parts, strict=True)]
            columns = [casadi.horzcat(*column) for column in zip(*results, strict=True)]
            return casadi.Function(name, symbols, columns, inputs, outputs, options)

    return KernelCallback


def _array(buffer: Any, shape: tuple[int, int]) -> Any:
    return np.frombuffer(buffer, np.float64).reshape(shape[::-1]).T
