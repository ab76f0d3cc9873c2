"""Kernels as functions of torch tensors on the CPU, with derivatives of any order in reverse and forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np
import torch

from linkwise.arrays.framework import Framework, Signature
from linkwise.errors import ArgumentError

#: The numbers that kernels compute with, by the names of torch.
NUMBERS = ("float32", "float64")


class TorchFramework(Framework):
    """Tensors of PyTorch on the CPU."""

    name = "torch"

    def owns(self, value: Any) -> bool:
        """Whether it is a tensor."""
        return isinstance(value, torch.Tensor)

    def function(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as a function of tensors; see `linkwise.kernel.Kernel.torch`."""
        return _function(kernel)

    def map(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function of NumPy arrays with the numbers of tensors."""
        results = function(*[x.numpy(force=True) if self.owns(x) else np.asarray(x) for x in arguments])
        return tuple(
            torch.from_numpy(np.asarray(result, dtype)) for result, dtype in zip(results, signature.dtypes, strict=True)
        )


FRAMEWORK = TorchFramework()


def _function(kernel: Any) -> Callable[..., Any]:
    apply = _autograd_function(kernel).apply
    cores = list(kernel.tape.inputs.values())

    def call(*args: Any) -> Any:
        tensors = [arg if isinstance(arg, torch.Tensor) else torch.as_tensor(np.asarray(arg)) for arg in args]
        splits = [tensor.dim() - len(core) for tensor, core in zip(tensors, cores, strict=False)]
        shapes = [tuple(tensor.shape) for tensor in tensors]
        fits = [shape[split:] == core for shape, split, core in zip(shapes, splits, cores, strict=False)]
        if len(tensors) != len(cores) or min(splits, default=0) < 0 or not all(fits):
            return kernel(*[np.zeros(shape) for shape in shapes])  # (raises: it says what is wrong)
        batches = {shape[:split] for shape, split in zip(shapes, splits, strict=True)}
        if len(batches) > 1:
            batch = np.broadcast_shapes(*batches)
            tensors = [tensor.expand(*batch, *core) for tensor, core in zip(tensors, cores, strict=True)]
        number = _number_type(kernel, tensors)
        return apply(*[tensor if tensor.dtype == number else tensor.to(number) for tensor in tensors])

    call.__name__ = call.__qualname__ = kernel.name
    call.__doc__ = kernel.doc
    return call


def _number_type(kernel: Any, tensors: Sequence[Any]) -> Any:
    """The type that all tensors are computed in: float64 unless all are float32."""
    for name, tensor in zip(kernel.tape.inputs, tensors, strict=True):
        kind = str(tensor.dtype).removeprefix("torch.")
        if tensor.device.type != "cpu":
            raise ArgumentError(f"{kernel.name}: {name} is on the device {tensor.device}; expected a tensor on the CPU")
        if kind not in NUMBERS and (tensor.is_floating_point() or tensor.is_complex()):
            raise ArgumentError(f"{kernel.name}: {name} holds {kind}; expected float32 or float64")
    return torch.float32 if all(tensor.dtype == torch.float32 for tensor in tensors) else torch.float64


def _autograd_function(kernel: Any) -> Any:
    """The class that torch differentiates by: its derivatives are `vjp` and `jvp` of the kernel, as functions of tensors."""
    names = tuple(kernel.tape.inputs)

    def forward(*tensors: Any) -> Any:
        results = kernel(*[tensor.numpy(force=True) for tensor in tensors])
        parts = tuple(
            torch.from_numpy(np.asarray(result)) for result in (results if isinstance(results, tuple) else (results,))
        )
        return parts if isinstance(results, tuple) else parts[0]

    vars(forward)["__signature__"] = signature(forward)  # (torch asks for it in each call)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def backward(ctx: Any, *bars: Any) -> Any:
        by = [name for name, needed in zip(names, ctx.needs_input_grad, strict=True) if needed]
        product = kernel.vjp.by(*by, tangent=False).torch()(*ctx.saved_tensors, *bars)
        results = dict(zip(by, product if isinstance(product, tuple) else (product,), strict=True))
        return tuple(results.get(name) for name in names)

    def jvp(ctx: Any, *dots: Any) -> Any:
        by = [name for name, dot in zip(names, dots, strict=True) if dot is not None]
        return kernel.jvp.by(*by, tangent=False).torch()(*ctx.saved_tensors, *[dot for dot in dots if dot is not None])

    def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
        first = [x if dim is None else x.movedim(dim, 0) for x, dim in zip(tensors, in_dims, strict=True)]
        results = kernel.torch()(*first)
        return results, tuple(0 for _ in results) if isinstance(results, tuple) else 0

    methods = (forward, setup_context, backward, jvp, vmap)
    return type(kernel.name, (torch.autograd.Function,), {method.__name__: staticmethod(method) for method in methods})
