"""Kernels on tensors of torch, with derivatives of any order in reverse and forward mode.

Torch has two ways to learn of a function, and neither is enough: an `autograd.Function` goes through all transformations of
`torch.func` but not through `torch.compile`; an operator of a library goes through the compiler, but not in forward mode.
Tensors of the compiler take the operator, others the `autograd.Function`; where nothing is differentiated neither is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import torch

from linkwise.arrays.framework import DifferentiableFramework, Signature, by_name
from linkwise.errors import ArgumentError

#: The numbers that kernels compute with.
NUMBERS = {torch.float32, torch.float64}

#: The kernels that compiled graphs may call, by their keys, and those that they do.
KERNELS: WeakValueDictionary[str, Any] = WeakValueDictionary()
COMPILED: set[Any] = set()

_PLAIN = {torch.Tensor, torch.nn.Parameter}


class TorchFramework(DifferentiableFramework):
    """Tensors of PyTorch on the CPU, or on a GPU of NVIDIA."""

    name = "torch"

    def owns(self, value: Any) -> bool:
        """Whether it is a tensor."""
        return isinstance(value, torch.Tensor)

    def on_device(self, arguments: Sequence[Any]) -> bool:
        """Whether one is a tensor on a GPU of NVIDIA."""
        return any(isinstance(x, torch.Tensor) and x.device.type == "cuda" for x in arguments)

    def function(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as a function of tensors; see `linkwise.kernel.Kernel.torch`."""
        return _function(kernel)

    def map(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function of NumPy arrays with the numbers of tensors; texts stay with NumPy, None within `torch.func`."""
        tensors = [_tensor(x).detach() for x in arguments]
        if any(tensor.device.type != "cpu" for tensor in tensors):
            raise ArgumentError("there is no code for a GPU for this; expected tensors on the CPU: .cpu()")
        if not torch._C._are_functorch_transforms_active():
            return _mapped(function, signature, tensors)
        numeric = tuple(np.dtype(dtype).kind != "U" for dtype in signature.dtypes)
        results = iter(_opaque_function(function, signature, numeric).apply(*tensors))
        return tuple(next(results) if flag else None for flag in numeric)

    def differentiates(self, arguments: Sequence[Any]) -> bool:
        """Whether one requires a gradient, or a transformation of `torch.func` or forward mode is under way."""
        return _differentiated([x for x in arguments if self.owns(x)])

    def constant(self, array: Any, *, near: Any = None) -> Any:
        """A tensor without its history."""
        tensor = _tensor(array).detach()
        return tensor if near is None or near.device == tensor.device else tensor.to(near.device)

    def where(self, flags: Any, array: Any, other: Any) -> Any:
        """See the protocol."""
        return torch.where(flags, array, other)

    def scan(self, step: Callable[[Any, Any], tuple[Any, Any]], state: Any, rows: Any) -> tuple[Any, Any]:
        """Segments of as many steps as there are segments, each recomputed when its gradient is taken."""
        from torch.utils.checkpoint import checkpoint

        count = len(rows[0])
        length = max(1, round(count**0.5))

        def segment(first: int, *state: Any) -> Any:
            outputs = []
            for k in range(first, min(first + length, count)):
                state, output = step(state, tuple(row[k] for row in rows))
                outputs.append(output)
            return state, outputs

        whole = []
        plain = torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0
        for first in range(0, count, length):
            run = segment(first, *state) if plain else checkpoint(segment, first, *state, use_reentrant=False)
            state, outputs = run
            whole += outputs
        return state, tuple(torch.stack(column) for column in zip(*whole, strict=True))


FRAMEWORK = TorchFramework()


def _function(kernel: Any) -> Callable[..., Any]:
    names, cores = list(kernel.tape.inputs), list(kernel.tape.inputs.values())
    single = len(kernel.tape.outputs) == 1
    key = f"{kernel.name}-{kernel.tape.digest}"
    kernel = KERNELS.setdefault(key, kernel)
    apply = _autograd_function(kernel).apply

    def call(*args: Any) -> Any:
        tensors = _same_numbers(kernel.name, names, args)
        splits = [tensor.dim() - len(core) for tensor, core in zip(tensors, cores, strict=False)]
        shapes = [tuple(tensor.shape) for tensor in tensors]
        fits = [shape[split:] == core for shape, split, core in zip(shapes, splits, cores, strict=False)]
        if len(tensors) != len(cores) or min(splits, default=0) < 0 or not all(fits):
            return kernel(*[np.zeros(shape) for shape in shapes])  # (raises: it says what is wrong)
        batches = [shape[:split] for shape, split in zip(shapes, splits, strict=True)]
        if any(batch != batches[0] for batch in batches):
            batch = torch.broadcast_shapes(*batches)
            tensors = [tensor.expand(*batch, *core) for tensor, core in zip(tensors, cores, strict=True)]
        if torch.compiler.is_compiling() or any(type(tensor) not in _PLAIN for tensor in tensors):
            results = torch.ops.linkwise.kernel(tensors, key)
            return results[0] if single else tuple(results)
        if _differentiated(tensors):
            return apply(*tensors)
        results = _computed(kernel, tensors)
        return results[0] if single else results

    call.__name__ = call.__qualname__ = kernel.name
    call.__doc__ = kernel.doc
    return call


def _tensor(value: Any) -> Any:
    """The value as a tensor; what NumPy keeps from being written to is copied, for torch knows nothing of that."""
    if isinstance(value, torch.Tensor):
        return value
    array = np.asarray(value)
    return torch.from_numpy(array if array.flags.writeable and array.ndim else np.array(array))


def _same_numbers(subject: str, names: Sequence[str], args: Sequence[Any]) -> list[Any]:
    """The arguments as tensors of one type: float64, or float32 where all tensors and arrays are."""
    held, place = set(), _device(subject, names, args)
    for name, arg in zip(names, args, strict=False):
        if isinstance(arg, torch.Tensor):
            if arg.dtype not in NUMBERS:
                kind = str(arg.dtype).removeprefix("torch.")
                raise ArgumentError(f"{subject}: {name} holds {kind}; expected float32 or float64: .double()")
            held.add(arg.dtype)
        elif isinstance(arg, np.ndarray) and arg.dtype != np.float32:
            held.add(torch.float64)
    number = torch.float32 if held == {torch.float32} else torch.float64
    tensors = [_tensor(arg) for arg in args]
    return [
        tensor if tensor.dtype == number and tensor.device.type == place.type else tensor.to(place, number)
        for tensor in tensors
    ]


def _device(subject: str, names: Sequence[str], args: Sequence[Any]) -> Any:
    """The device of all tensors: the CPU, or a GPU of NVIDIA; numbers and arrays of NumPy go there, and tensors of one."""
    places = {
        name: arg.device
        for name, arg in zip(names, args, strict=False)
        if isinstance(arg, torch.Tensor) and (arg.dim() or arg.device.type != "cpu")
    }
    first = next(iter(places.values()), torch.device("cpu"))
    for name, place in places.items():
        if place.type not in {"cpu", "cuda"}:
            raise ArgumentError(f"{subject}: {name} is on the device {place}; expected a tensor on the CPU: .cpu()")
        if place != first:
            one = next(iter(places))
            raise ArgumentError(f"{subject}: {one} is on the device {first} and {name} on {place}; expected one device")
    return first


def _differentiated(tensors: Sequence[Any]) -> bool:
    """Whether derivatives are taken now, or a transformation of `torch.func` is under way."""
    return (
        (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors))
        or torch._C._are_functorch_transforms_active()
        or torch.autograd.forward_ad._current_level >= 0
    )


def _computed(kernel: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    if tensors[0].device.type == "cuda":
        results = by_name("cuda").of_kernel(kernel)(*tensors)
        return results if isinstance(results, tuple) else (results,)
    results = kernel(*[tensor.numpy(force=True) for tensor in tensors])
    parts = results if isinstance(results, tuple) else (results,)
    return tuple(torch.from_numpy(np.asarray(part)) for part in parts)


def _product(
    kernel: Any, mode: str, needed: Sequence[bool], tensors: Sequence[Any], vectors: Sequence[Any]
) -> tuple[Any, ...]:
    """The derivatives by some inputs times vectors."""
    by = [name for name, wanted in zip(kernel.tape.inputs, needed, strict=True) if wanted]
    product = getattr(kernel, mode).by(*by, tangent=False)
    result = FRAMEWORK.of_kernel(product)(*tensors, *vectors)
    return result if isinstance(result, tuple) else (result,)


# ── without the compiler ──────────────────────────────────────────────────────────────────────────


def _autograd_function(kernel: Any) -> Any:
    """The class that torch differentiates by: its derivatives are `vjp` and `jvp` of the kernel, as functions of tensors."""

    def forward(*tensors: Any) -> Any:
        parts = _computed(kernel, tensors)
        return parts if len(kernel.tape.outputs) > 1 else parts[0]

    vars(forward)["__signature__"] = signature(forward)  # (torch asks for it in each call)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def backward(ctx: Any, *bars: Any) -> Any:
        results = iter(_product(kernel, "vjp", ctx.needs_input_grad, ctx.saved_tensors, bars))
        return tuple(next(results) if needed else None for needed in ctx.needs_input_grad)

    def jvp(ctx: Any, *dots: Any) -> Any:
        given = [dot for dot in dots if dot is not None]
        results = _product(kernel, "jvp", [dot is not None for dot in dots], ctx.saved_tensors, given)
        return results if len(kernel.tape.outputs) > 1 else results[0]

    def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
        results = FRAMEWORK.of_kernel(kernel)(*_batched_first(tensors, in_dims))
        return results, tuple(0 for _ in results) if isinstance(results, tuple) else 0

    methods = (forward, setup_context, backward, jvp, vmap)
    return type(kernel.name, (torch.autograd.Function,), {method.__name__: staticmethod(method) for method in methods})


def _batched_first(tensors: Sequence[Any], in_dims: Sequence[Any]) -> list[Any]:
    """The tensors with the dimension that is mapped over in front.

    One whose batch has fewer dimensions broadcasts to the right of it, as all of them had one batch shape before.
    """
    return [x if dim is None else x.movedim(dim, 0) for x, dim in zip(tensors, in_dims, strict=True)]


def _mapped(function: Callable[..., Any], signature: Signature, tensors: Sequence[Any]) -> tuple[Any, ...]:
    results = [np.asarray(x, dtype) for x, dtype in zip(function(*map(_numbers, tensors)), signature.dtypes, strict=True)]
    return tuple(x if x.dtype.kind == "U" else _tensor(x) for x in results)


def _numbers(tensor: Any) -> Any:
    return tensor.numpy(force=True)


def _opaque_function(function: Callable[..., Any], signature: Signature, numeric: Sequence[bool]) -> Any:
    """A function of NumPy arrays without derivatives, which the transformations of `torch.func` pass through."""

    def forward(*tensors: Any) -> Any:
        results = zip(_mapped(function, signature, tensors), numeric, strict=True)
        return tuple(result for result, flag in results if flag)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(*output)

    def backward(ctx: Any, *bars: Any) -> Any:
        return tuple(None for _ in signature.inputs)

    def jvp(ctx: Any, *dots: Any) -> Any:
        return tuple(None for flag in numeric if flag)

    def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
        ranks = [
            x.dim() - len(core) - (dim is not None) for x, core, dim in zip(tensors, signature.inputs, in_dims, strict=True)
        ]
        first = [
            x if dim is None else x.movedim(dim, 0)[(slice(None), *(None,) * (max(ranks) - rank))]
            for x, dim, rank in zip(tensors, in_dims, ranks, strict=True)
        ]
        results = _opaque_function(function, signature, numeric).apply(*first)
        return results, tuple(0 for _ in results)

    methods = (forward, setup_context, backward, jvp, vmap)
    return type("Opaque", (torch.autograd.Function,), {method.__name__: staticmethod(method) for method in methods})


# ── with the compiler ─────────────────────────────────────────────────────────────────────────────


def _operator(arguments: list[Any], key: str) -> list[Any]:
    return list(_computed(KERNELS[key], arguments))


def _shapes(arguments: list[Any], key: str) -> list[Any]:
    """Empty results, for the compiler to know their shapes."""
    if torch.autograd.forward_ad._current_level >= 0:
        raise NotImplementedError(
            f"{key.partition('-')[0]}: no forward mode inside of torch.compile; expected reverse mode, or jacfwd without it"
        )
    COMPILED.add(KERNELS[key])
    tape = KERNELS[key].tape
    core = len(next(iter(tape.inputs.values())))
    batch = arguments[0].shape[: arguments[0].dim() - core]
    return [arguments[0].new_empty((*batch, *shape)) for shape in tape.outputs.values()]


def _setup_operator(ctx: Any, inputs: Any, output: Any) -> None:
    arguments, ctx.key = inputs
    ctx.save_for_backward(*arguments)


def _differentiate_operator(ctx: Any, bars: list[Any]) -> Any:
    needed = ctx.needs_input_grad[0]
    results = iter(_product(KERNELS[ctx.key], "vjp", needed, ctx.saved_tensors, bars))
    return [next(results) if wanted else None for wanted in needed], None


def _map_operator(info: Any, in_dims: Any, arguments: list[Any], key: str) -> Any:
    results = FRAMEWORK.of_kernel(KERNELS[key])(*_batched_first(arguments, in_dims[0]))
    results = list(results) if isinstance(results, tuple) else [results]
    return results, [0 for _ in results]


_defined = torch.library.custom_op(
    "linkwise::kernel",
    _operator,
    mutates_args=(),
    device_types=("cpu", "cuda"),
    schema="(Tensor[] arguments, str key) -> Tensor[]",
)
_defined.register_fake(_shapes)
_defined.register_autograd(_differentiate_operator, setup_context=_setup_operator)
_defined.register_vmap(_map_operator)
