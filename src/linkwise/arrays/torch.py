"""Kernels on tensors of torch, with derivatives of any order in reverse and forward mode.

A kernel is an operator, ``torch.ops.linkwise.kernel``, whose derivatives are kernels too. `torch.compile` and the
transformations of `torch.func` see the operator; where neither is at work, tensors skip torch's dispatcher, and where
nothing is differentiated they go to the kernel at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad

from linkwise.arrays.framework import DifferentiableFramework, Shape, Signature, by_name, no_derivatives
from linkwise.arrays.traced_function import TracedFunction
from linkwise.errors import ArgumentError, KernelError
from linkwise.torch_graphs import constant_in_graphs, known, refuse

#: The numbers that kernels compute with.
NUMBERS = {torch.float32, torch.float64}

#: The kernels that the operator may call, by their keys. Compiled graphs keep the last 256 of theirs alive, also where the
#: mechanism is gone.
KERNELS: WeakValueDictionary[str, Any] = WeakValueDictionary()
COMPILED: deque[Any] = deque(maxlen=256)
_KEYS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

_transformed = torch._C._are_functorch_transforms_active

_PLAIN = {torch.Tensor, torch.nn.Parameter}


class TorchFramework(DifferentiableFramework):
    """Tensors of PyTorch on the CPU, or on a GPU of NVIDIA."""

    name = "torch"
    functions: ClassVar[Any] = torch

    def owns(self, value: Any) -> bool:
        """True if it is a tensor."""
        return isinstance(value, torch.Tensor)

    def on_device(self, arguments: Sequence[Any]) -> bool:
        """True if one is a tensor on a GPU of NVIDIA."""
        return any(isinstance(x, torch.Tensor) and x.device.type == "cuda" for x in arguments)

    def function(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as a function of tensors; see `linkwise.kernel.Kernel.torch`."""
        return _function(kernel)

    def map(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function of NumPy arrays with the numbers of tensors; texts stay with NumPy, None within `torch.func`."""
        tensors = [_tensor(x).detach() for x in arguments]
        if any(tensor.device.type != "cpu" for tensor in tensors):
            raise ArgumentError("there is no code for a GPU for this; expected tensors on the CPU: .cpu()")
        if not _transformed():
            return _mapped(function, signature, tensors)
        numeric = tuple(np.dtype(dtype).kind != "U" for dtype in signature.dtypes)

        def run(*tensors: Any) -> tuple[Any, ...]:
            results = _mapped(function, signature, tensors)
            return tuple(result for result, flag in zip(results, numeric, strict=True) if flag)

        results = iter(_opaque_function(run, signature).apply(*tensors))
        return tuple(next(results) if flag else None for flag in numeric)

    def opaque(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """See the protocol."""
        run = _opaque_function(function, signature).apply if _transformed() else function
        return tuple(run(*map(self.constant, arguments)))

    def placed(self, array: Any) -> AbstractContextManager[Any]:
        """The device of a tensor."""
        return super().placed(array) if array.device.type == "cpu" else array.device

    def differentiates(self, arguments: Sequence[Any]) -> bool:
        """True if one requires a gradient, or under `torch.func` or forward mode."""
        return _differentiated([x for x in arguments if self.owns(x)])

    def without_derivatives(self, subject: str, array: Any) -> Any:
        """A tensor that requires no gradient, and moves along no tangent."""
        if isinstance(array, torch.Tensor) and (
            (torch.is_grad_enabled() and array.requires_grad)
            or (forward_ad._current_level >= 0 and forward_ad.unpack_dual(array).tangent is not None)
        ):
            raise no_derivatives(subject, self.name)
        return array

    def constant(self, array: Any, *, near: Any = None) -> Any:
        """A tensor without its history."""
        tensor = _tensor(array).detach()
        return tensor if near is None or near.device == tensor.device else tensor.to(near.device)

    def scan(self, step: Callable[[Any, Any], tuple[Any, Any]], state: Any, rows: Any) -> tuple[Any, Any]:
        """Segments of as many steps as there are segments, each recomputed for its gradient."""
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
        plain = _transformed() or forward_ad._current_level >= 0
        for first in range(0, count, length):
            run = segment(first, *state) if plain else checkpoint(segment, first, *state, use_reentrant=False)
            state, outputs = run
            whole += outputs
        return state, tuple(torch.stack(column) for column in zip(*whole, strict=True))


FRAMEWORK = TorchFramework()


def _function(kernel: Any) -> Callable[..., Any]:
    key = key_of(kernel)
    kernel, inputs = KERNELS[key], dict(kernel.tape.inputs)
    ranks = [(len(core), core) for core in inputs.values()]

    def call(*args: Any) -> Any:
        if torch.compiler.is_compiling():
            return in_graph(key, args)
        arrays = _plain_arrays(args)
        if arrays is not None:
            return _as_tensors(kernel(*arrays))
        tensors = args if _alike(ranks, args) else _fitting(kernel, inputs, args)
        results = _applied(kernel, key, tensors)
        return results[0] if len(results) == 1 else tuple(results)

    return call


def _plain_arrays(args: Sequence[Any]) -> list[Any] | None:
    """The arrays of tensors that nothing is differentiated by, and that NumPy takes as they are; None if one is none."""
    if _transformed() or forward_ad._current_level >= 0:
        return None
    differentiated = torch.is_grad_enabled()
    arrays = []
    for arg in args:
        if type(arg) not in _PLAIN or arg.dtype not in NUMBERS or arg.device.type != "cpu":
            return None
        if differentiated and arg.requires_grad:
            return None
        try:
            arrays.append((arg.detach() if arg.requires_grad else arg).numpy())
        except (TypeError, RuntimeError):  # (sparse, or with a sign that is still to be applied)
            return None
    return arrays


def _alike(ranks: Sequence[tuple[int, Shape]], args: Sequence[Any]) -> bool:
    """True if the arguments are tensors of one type and batch shape, as required."""
    batch = dtype = None
    for (rank, core), arg in zip(ranks, args, strict=False):
        if (
            type(arg) not in _PLAIN
            or arg.dtype not in NUMBERS
            or arg.device.type != "cpu"
            or arg.layout is not torch.strided
        ):
            return False
        shape = arg.shape
        split = len(shape) - rank
        if split < 0 or shape[split:] != core or (batch is not None and (shape[:split] != batch or arg.dtype is not dtype)):
            return False
        batch, dtype = shape[:split], arg.dtype
    return len(args) == len(ranks)


def _applied(kernel: Any, key: str, tensors: Sequence[Any]) -> Any:
    """The results of tensors of one type and batch shape."""
    transformed = torch.compiler.is_compiling() or _transformed()
    if transformed or any(type(tensor) not in _PLAIN for tensor in tensors):
        return torch.ops.linkwise.kernel(tensors, key)
    if _differentiated(tensors):
        return KernelFunction.apply(None, key, *tensors)
    return _computed(kernel, tensors)


def _fitting(kernel: Any, inputs: Mapping[str, Shape], args: Sequence[Any]) -> list[Any]:
    """The arguments as tensors of one type and one batch shape."""
    cores = list(inputs.values())
    tensors = _same_numbers(kernel, list(inputs), args)
    shapes = [tuple(tensor.shape) for tensor in tensors]
    splits = [len(shape) - len(core) for shape, core in zip(shapes, cores, strict=False)]
    fits = [shape[split:] == core for shape, split, core in zip(shapes, splits, cores, strict=False)]
    if len(tensors) != len(cores) or min(splits, default=0) < 0 or not all(fits):
        kernel(*[np.broadcast_to(0.0, shape) for shape in shapes])  # (raises the error)
    batches = [shape[:split] for shape, split in zip(shapes, splits, strict=True)]
    if all(batch == batches[0] for batch in batches):
        return tensors
    longest = max(map(len, batches))
    columns = zip(*((1,) * (longest - len(b)) + b for b in batches), strict=True)
    sizes = [[size for size in column if size != 1] or [1] for column in columns]
    if any(size != some[0] for some in sizes for size in some):
        kernel(*[np.broadcast_to(0.0, shape) for shape in shapes])  # (raises the error)
    batch = [some[0] for some in sizes]
    return [tensor.expand(*batch, *core) for tensor, core in zip(tensors, cores, strict=True)]


def _tensor(value: Any) -> Any:
    """Convert to a tensor; read-only NumPy arrays are copied, as torch ignores the flag."""
    if isinstance(value, torch.Tensor):
        return value
    array = np.asarray(value)
    direct = array.flags.writeable and array.ndim and min(array.strides) >= 0
    return torch.from_numpy(array if direct else np.array(array))


def _same_numbers(kernel: Any, names: Sequence[str], args: Sequence[Any]) -> list[Any]:
    """The arguments as tensors of one type: float64, or float32 where all tensors and arrays are."""
    held, place, compiling = set(), _device(kernel.name, names, args), torch.compiler.is_compiling()
    for name, arg in zip(names, args, strict=False):
        if isinstance(arg, torch.Tensor):
            if arg.dtype not in NUMBERS:
                kind, remedy = str(arg.dtype).removeprefix("torch."), ".real" if arg.is_complex() else ".double()"
                refuse(f"{kernel.name}: {name} holds {kind}; expected float32 or float64: {remedy}")
            if arg.layout != torch.strided:
                kind = str(arg.layout).removeprefix("torch.")
                refuse(f"{kernel.name}: {name} is laid out as {kind}; expected a dense tensor: .to_dense()")
            held.add(arg.dtype)
        else:
            kernel.check_other(name, arg) if compiling else FRAMEWORK.check_other(kernel, name, arg)
            if isinstance(arg, np.ndarray) and arg.dtype != np.float32:
                held.add(torch.float64)
    number = torch.float32 if held == {torch.float32} else torch.float64
    if compiling:
        return [torch.as_tensor(arg, dtype=number, device=place) for arg in args]
    array = np.float32 if held == {torch.float32} else np.float64
    tensors = [arg if isinstance(arg, torch.Tensor) else _tensor(np.asarray(arg, array)) for arg in args]
    return [
        tensor if tensor.dtype == number and tensor.device.type == place.type else tensor.to(place, number)
        for tensor in tensors
    ]


def _device(subject: str, names: Sequence[str], args: Sequence[Any]) -> Any:
    """Common device of all tensors: the CPU, or a GPU of NVIDIA; numbers and NumPy arrays are moved there."""
    places = {
        name: arg.device
        for name, arg in zip(names, args, strict=False)
        if isinstance(arg, torch.Tensor) and (arg.dim() or arg.device.type != "cpu")
    }
    first = next(iter(places.values()), torch.device("cpu"))
    for name, place in places.items():
        if place.type not in {"cpu", "cuda"}:
            refuse(f"{subject}: {name} is on the device {place}; expected a tensor on the CPU: .cpu()")
        if place != first:
            reference = next(iter(places))
            refuse(f"{subject}: {reference} is on the device {first} and {name} on {place}; expected one device")
    return first


def _differentiated(tensors: Sequence[Any]) -> bool:
    """True if derivatives are being recorded, or under `torch.func`."""
    return (
        (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors))
        or _transformed()
        or forward_ad._current_level >= 0
    )


def _computed(kernel: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(kernel, TracedFunction):
        return kernel(*tensors)
    if tensors[0].device.type == "cuda":
        results = by_name("cuda").of_kernel(kernel)(*tensors)
    else:
        results = _as_tensors(kernel(*[tensor.numpy(force=True) for tensor in tensors]))
    return results if isinstance(results, tuple) else (results,)


def _as_tensors(results: Any) -> Any:
    """The results of a kernel: a tensor, or a tuple of tensors."""
    if type(results) is np.ndarray:
        return torch.from_numpy(results)
    return tuple(map(_as_tensors, results)) if type(results) is tuple else torch.from_numpy(np.asarray(results))


# ── the operator ──────────────────────────────────────────────────────────────────────────────────


def key_of(kernel: Any) -> str:
    """Name of a kernel for the operator, the same in every process: by its content, or its derivation from another."""
    key = _KEYS.get(kernel)
    if key is None:
        derived = kernel.source is not None and not (kernel.tangent and kernel.source.motions)
        key = f"{kernel.name}-{kernel.identity}"
        if derived:
            key = "|".join([key_of(kernel.source), kernel.mode, *kernel.names])
        _KEYS[kernel] = key
    KERNELS.setdefault(key, kernel)
    return key


def kernel_of(key: str) -> Any:
    """Kernel of a name; derivatives are rebuilt in a process that received their graph."""
    kernel = KERNELS.get(key)
    if kernel is None:
        parts = key.split("|")
        place = max((k for k, part in enumerate(parts) if part in {"vjp", "jvp"}), default=0)
        if not place:
            raise KernelError(
                f"{key.partition('-')[0]}: no kernel of this name is here; expected one whose torch() was called"
            )
        source = kernel_of("|".join(parts[:place]))
        kernel = KERNELS[key] = source.product(parts[place], tuple(parts[place + 1 :]), tangent=False)
    return kernel


class KernelFunction(torch.autograd.function._SingleLevelFunction):
    """Differentiable function for torch: the derivatives are `vjp` and `jvp` of the kernel, by the operator again.

    It is a function of one level of `torch.func`, as those of torch itself, whose operators the dispatcher takes through the
    levels; `forward` computes at the next one.
    """

    @staticmethod
    def forward(ctx: Any, keys: Any, key: str, *tensors: Any) -> tuple[Any, ...]:
        """Compute; `keys` are those of the dispatcher, None where it is not at work."""
        ctx.kernel = kernel_of(key)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        return _computed(ctx.kernel, tensors) if keys is None else tuple(_below(keys, tensors, key))

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        """Reverse mode."""
        needed = ctx.needs_input_grad[2:]
        results = iter(_product(ctx.kernel, "vjp", needed, ctx.saved_tensors, bars))
        return None, None, *(next(results) if wanted else None for wanted in needed)

    @staticmethod
    def jvp(ctx: Any, *dots: Any) -> Any:
        """Forward mode; torch has processed this level, but not the others."""
        moved = [dot is not None for dot in dots[2:]]
        with forward_ad._set_fwd_grad_enabled(True):
            fixed = [
                forward_ad.unpack_dual(tensor, level=0).primal if moves else tensor
                for tensor, moves in zip(ctx.saved_tensors, moved, strict=True)
            ]
            return tuple(_product(ctx.kernel, "jvp", moved, fixed, [dot for dot in dots[2:] if dot is not None]))


def _product(kernel: Any, mode: str, needed: Sequence[bool], tensors: Sequence[Any], vectors: Sequence[Any]) -> Any:
    """The derivatives by some inputs times vectors."""
    by = tuple(name for name, wanted in zip(kernel.tape.inputs, needed, strict=True) if wanted)
    product = kernel.product(mode, by, tangent=False)
    return _applied(product, key_of(product), [*tensors, *vectors])


def _below(keys: Any, tensors: Sequence[Any], key: str) -> Any:
    """The operator without derivatives at this level."""
    with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True), torch._C._AutoDispatchBelowAutograd():
        return torch.ops.linkwise.kernel.default.redispatch(keys & torch._C._after_autograd_keyset, list(tensors), key)


def _differentiate(keys: Any, arguments: list[Any], key: str) -> Any:
    if not _differentiated(arguments):
        with torch._C._AutoDispatchBelowAutograd():
            operator = torch.ops.linkwise.kernel.default
            return operator.redispatch(keys & torch._C._after_autograd_keyset, arguments, key)
    with enable_single_level_autograd_function():
        return list(KernelFunction.apply(keys, key, *arguments))


def _operator(arguments: list[Any], key: str) -> list[Any]:
    return list(_computed(kernel_of(key), arguments))


def _shapes(arguments: list[Any], key: str) -> list[Any]:
    """Empty results, for the compiler to know their shapes."""
    kernel = kernel_of(key)
    if kernel not in COMPILED:
        COMPILED.append(kernel)
    core = len(next(iter(kernel.tape.inputs.values())))
    batch = arguments[0].shape[: arguments[0].dim() - core]
    return [arguments[0].new_empty((*batch, *shape)) for shape in kernel.tape.outputs.values()]


def _map(info: Any, in_dims: Any, arguments: list[Any], key: str) -> Any:
    """Add a leading batch dimension; all arguments had one batch shape before, so the others broadcast."""
    kernel = kernel_of(key)
    moved = [x if dim is None else x.movedim(dim, 0) for x, dim in zip(arguments, in_dims[0], strict=True)]
    results = torch.ops.linkwise.kernel(_fitting(kernel, kernel.tape.inputs, moved), key)
    return results, [0 for _ in results]


_LIBRARY = torch.library.Library("linkwise", "DEF")
_LIBRARY.define("kernel(Tensor[] arguments, str key) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
for _device_key in ("CPU", "CUDA"):
    _LIBRARY.impl("kernel", _operator, _device_key)
_LIBRARY.impl("kernel", _differentiate, "Autograd", with_keyset=True)
torch.library.register_fake("linkwise::kernel", _shapes, lib=_LIBRARY)
torch.library.register_vmap("linkwise::kernel", _map, lib=_LIBRARY)


class _InGraph:
    """Placeholder of a kernel while `torch.compile` traces: its name, and the errors of its arguments."""

    def __init__(self, key: str) -> None:
        self.key, self.name = key, key.partition("-")[0]

    def check_other(self, name: str, value: Any) -> None:
        """Raise `ArgumentError` for values that are neither tensors nor numbers."""
        if not isinstance(value, (int, float, list, tuple)):
            refuse(f"{self.name}: {name} is a {type(value).__name__}; expected a tensor or numbers within torch.compile")

    def __call__(self, *arrays: Any) -> None:
        """Raise the kernel's errors for arrays of these shapes."""
        _refuse_shapes(self.key, known(tuple([tuple(array.shape) for array in arrays])))


def in_graph(key: str, args: Sequence[Any]) -> Any:
    """The results of a kernel where `torch.compile` traces."""
    tensors = [torch.as_tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    results = torch.ops.linkwise.kernel(_fitting(_InGraph(key), dict(_inputs(key)), tensors), key)
    return results[0] if len(results) == 1 else tuple(results)


@constant_in_graphs
def _inputs(key: str) -> tuple[tuple[str, Shape], ...]:
    return tuple(kernel_of(key).tape.inputs.items())


@constant_in_graphs
def _refuse_shapes(key: str, shapes: Sequence[Shape]) -> None:
    kernel_of(key)(*[np.broadcast_to(0.0, shape) for shape in shapes])


# ── functions of NumPy arrays ─────────────────────────────────────────────────────────────────────


def _mapped(function: Callable[..., Any], signature: Signature, tensors: Sequence[Any]) -> tuple[Any, ...]:
    results = [np.asarray(x, dtype) for x, dtype in zip(function(*map(_numbers, tensors)), signature.dtypes, strict=True)]
    return tuple(x if x.dtype.kind == "U" else _tensor(x) for x in results)


def _numbers(tensor: Any) -> Any:
    return tensor.numpy(force=True)


def _opaque_function(function: Callable[..., tuple[Any, ...]], signature: Signature) -> Any:
    """A function of tensors without derivatives, which the transformations of `torch.func` pass through."""

    def forward(*tensors: Any) -> Any:
        return function(*tensors)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.count = len(output)
        ctx.mark_non_differentiable(*output)

    def backward(ctx: Any, *bars: Any) -> Any:
        return tuple(None for _ in signature.inputs)

    def jvp(ctx: Any, *dots: Any) -> Any:
        return (None,) * ctx.count

    def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
        ranks = [
            x.dim() - len(core) - (dim is not None) for x, core, dim in zip(tensors, signature.inputs, in_dims, strict=True)
        ]
        first = [
            x if dim is None else x.movedim(dim, 0)[(slice(None), *(None,) * (max(ranks) - rank))]
            for x, dim, rank in zip(tensors, in_dims, ranks, strict=True)
        ]
        results = _opaque_function(function, signature).apply(*first)
        return results, tuple(0 for _ in results)

    methods = (forward, setup_context, backward, jvp, vmap)
    return type("Opaque", (torch.autograd.Function,), {method.__name__: staticmethod(method) for method in methods})
