"""Labelled arrays of xarray: names and coordinates of the batch stay, also where Dask computes later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray

from linkwise.arrays.framework import Framework, Shape, Signature, batch_shape, of
from linkwise.errors import ArgumentError


class XarrayFramework(Framework):
    """DataArrays: their last dimensions are those of one configuration, as in NumPy; the others are a batch by name."""

    name = "xarray"
    contains = frozenset({"dask"})

    def owns(self, value: Any) -> bool:
        """True if it is a DataArray."""
        return isinstance(value, xarray.DataArray)

    def function(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as a function of DataArrays; results with one number per coordinate, as q and tau, keep its dimension."""
        inputs, outputs, labels = kernel.tape.inputs, kernel.tape.outputs, kernel.tape.labels

        def call(*arguments: Any) -> Any:
            if len(arguments) != len(inputs):
                batch_shape(kernel, list(map(np.shape, arguments)))
            names = [_core(kernel.name, name, x, shape) for (name, shape), x in zip(inputs.items(), arguments, strict=True)]
            along = {
                shape: core
                for (name, shape), core, x in zip(inputs.items(), names, arguments, strict=True)
                if name in labels and name != "parameters" and self.owns(x)
            }
            new = [
                along.get(shape, _axes(name, shape)) if name in labels else _axes(name, shape)
                for name, shape in outputs.items()
            ]
            results = _applied(kernel, arguments, names, new)
            results = tuple(result.rename(name) for name, result in zip(outputs, results, strict=True))
            return results if len(results) > 1 else results[0]

        return call

    def batch(self, name: str, array: Any, core: Shape) -> Any:
        """See `Framework`: the dimensions of the batch get the name."""
        return xarray.DataArray(array, dims=[*_axes(name, array.shape[: array.ndim - len(core)]), *_axes("number", core)])

    def check(self, subject: str, arguments: Mapping[str, tuple[Any, Shape]]) -> None:
        """See `Framework`; also for arguments without names of the batch."""
        super().check(subject, arguments)
        for name, (value, core) in arguments.items():
            _core(subject, name, value, core)

    def map(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function of NumPy arrays by names of the batch."""
        names = [
            _core("map", f"argument {k}", x, shape)
            for k, (x, shape) in enumerate(zip(arguments, signature.inputs, strict=True))
        ]
        called = signature.names or tuple(f"result{k}" for k in range(len(signature.outputs)))
        new = [_axes(name, shape) for name, shape in zip(called, signature.outputs, strict=True)]

        def computed(*arrays: Any) -> Any:
            library = of("map", arrays)
            results = library.map(function, signature, arrays) if library else function(*arrays)
            return results if len(results) > 1 else results[0]

        results = _applied(computed, arguments, names, new)
        return tuple(result.rename(name) for name, result in zip(called, results, strict=True))


FRAMEWORK = XarrayFramework()


def _applied(
    function: Any, arguments: Sequence[Any], inputs: Sequence[list[str]], outputs: Sequence[list[str]]
) -> tuple[Any, ...]:
    results = xarray.apply_ufunc(
        function, *arguments, input_core_dims=inputs, output_core_dims=outputs, join="exact", dask="allowed"
    )
    return results if isinstance(results, tuple) else (results,)


def _core(subject: str, name: str, value: Any, shape: Shape) -> list[str]:
    """The names of the axes of one configuration."""
    axes = getattr(value, "dims", None)
    if axes is not None and len(axes) >= len(shape):
        return list(axes[len(axes) - len(shape) :])
    if np.shape(value) == shape:
        return _axes(name, shape)
    expected = f"a DataArray whose last dimensions have the sizes {shape}, or an array of that shape"
    raise ArgumentError(f"{subject}: {name} has the shape {np.shape(value)}, and no names for a batch; expected {expected}")


def _axes(name: str, shape: Shape) -> list[str]:
    return [f"{name}_{axis}" for axis in range(len(shape))]
