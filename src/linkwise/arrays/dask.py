"""Arrays of Dask: functions of NumPy arrays as lazy tasks, one for each chunk of the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isnan
from typing import Any

import dask.array
import numpy as np

from linkwise.arrays.framework import Framework, Signature, batch_shape
from linkwise.errors import ArgumentError


class DaskFramework(Framework):
    """Dask arrays: chunks of leading axes stay, the axes of one configuration become one chunk."""

    name = "dask"

    def owns(self, value: Any) -> bool:
        """True if it is a Dask array."""
        return isinstance(value, dask.array.Array)

    def function(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as a function of Dask arrays."""
        inputs, outputs = tuple(kernel.tape.inputs.values()), tuple(kernel.tape.outputs.values())

        def call(*arguments: Any) -> Any:
            arrays = [x if self.owns(x) else np.asarray(x) for x in arguments]
            _check(kernel, arrays)
            narrow = all(np.can_cast(array.dtype, np.float32) for array in arrays)  # (as NumPy chooses the loop of a ufunc)
            dtypes = ("float32" if narrow else "float64",) * len(outputs)
            results = self.map(partial(_results, kernel), Signature(inputs, outputs, dtypes), arrays)
            return results if len(results) > 1 else results[0]

        return call

    def map(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function of NumPy arrays on each chunk."""
        inputs, outputs = (
            [[f"{side}{k}_{axis}" for axis in range(len(shape))] for k, shape in enumerate(shapes)]
            for side, shapes in (("in", signature.inputs), ("out", signature.outputs))
        )
        sizes = {
            name: size
            for names, shape in zip(outputs, signature.outputs, strict=True)
            for name, size in zip(names, shape, strict=True)
        }
        text = "->".join(",".join(f"({','.join(names)})" for names in side) for side in (inputs, outputs))
        pairs: list[Any] = []
        for x, names in zip(arguments, inputs, strict=True):
            array = dask.array.asarray(x)
            array = array.rechunk(dict.fromkeys(range(array.ndim - len(names), array.ndim), -1))
            pairs += [array, (*range(len(names) - array.ndim, 0), *names)]
        try:
            _, whole = dask.array.core.unify_chunks(*pairs)
        except ValueError as error:
            batches = [x.shape[: x.ndim - len(core)] for x, core in zip(pairs[::2], signature.inputs, strict=True)]
            shapes = ", ".join(map(str, batches))
            raise ArgumentError(f"the batch shapes of arrays of dask do not fit each other: {shapes}") from error
        single = len(outputs) == 1
        results = dask.array.apply_gufunc(
            partial(_first, function) if single else function,
            text,
            *whole,
            output_sizes=sizes,
            output_dtypes=signature.dtypes[0] if single else list(signature.dtypes),
        )
        return (results,) if single else tuple(results)


FRAMEWORK = DaskFramework()


def _results(kernel: Any, *arrays: Any) -> tuple[Any, ...]:
    results = kernel(*arrays)
    return results if isinstance(results, tuple) else (results,)


def _first(function: Callable[..., Any], *arrays: Any) -> Any:
    return function(*arrays)[0]


def _check(kernel: Any, arrays: Sequence[Any]) -> None:
    """Raise the kernel's errors for such arrays; unknown sizes are accepted."""
    shapes = [tuple(1 if isnan(size) else size for size in array.shape) for array in arrays]
    if not all(np.can_cast(array.dtype, np.float64) for array in arrays):
        kernel(*[np.broadcast_to(np.zeros((), array.dtype), shape) for shape, array in zip(shapes, arrays, strict=True)])
    batch_shape(kernel, shapes)
