"""Arrays on GPUs of NVIDIA, of CuPy or any owner of a CUDA array: kernels run there, on the stream of the caller.

An array says so by ``__cuda_array_interface__`` (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html) or
by DLPack (https://dmlc.github.io/dlpack/latest/). Results are arrays of the library of the arguments.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, ClassVar

import numpy as np

from linkwise.arrays.cuda_driver import Device, driver, row_alignment
from linkwise.arrays.framework import Framework, Shape, Signature, batch_shape, library_name
from linkwise.errors import ArgumentError

#: The address of an array, and the bytes from row to row.
Rows = tuple[int, int]

NUMBERS = ("float32", "float64")

_WANTED = "expected an array on a GPU, of CuPy, PyTorch or JAX"


@dataclass(frozen=True)
class View:
    """An array in the memory of a device: its strides in bytes; `keep` must live until it has been read.

    The device is a number, or None where only the driver knows it.
    """

    value: Any
    shape: Shape
    strides: Shape
    dtype: str
    address: int
    stream: int | None = None
    keep: Any = None
    device: int | None = None

    def rows(self, batch: Shape, core: Shape) -> Rows | None:
        """Address and strides of rows of the shape `core` over a batch; None if they are irregular or in a wrong layout."""
        size, item = prod(core), np.dtype(self.dtype).itemsize
        split = len(self.shape) - len(core)
        expected = item
        for length, stride in zip(self.shape[split:][::-1], self.strides[split:][::-1], strict=True):
            if length > 1 and stride != expected:
                return None
            expected *= length
        steps = [(0, 0)] * (len(batch) - split) + list(zip(self.shape[:split], self.strides[:split], strict=True))
        axes = [
            (length, step if extent > 1 else 0) for length, (extent, step) in zip(batch, steps, strict=True) if length > 1
        ]
        if any(step != length * inner for (_, step), (length, inner) in pairwise(axes)):
            return None
        step, align = axes[-1][1] if axes else 0, row_alignment(size * item)
        return None if self.address % align or step % align else (self.address, step)


# ── the libraries that arrays are of ──────────────────────────────────────────────────────────────


class Library:
    """A library of arrays on one device, and its stream there; this one is any other than those below."""

    name: ClassVar[str] = "cuda"
    waits: ClassVar[bool] = True
    """Whether a call waits for its result, since nobody keeps the order on a stream."""

    def __init__(self, device: Device, views: Sequence[View] = ()) -> None:
        self.device = device
        self.stream = self.current(views)

    def current(self, views: Sequence[View]) -> int:
        """The stream that the caller works on; 0 where that is not known."""
        return next((view.stream for view in views if view.stream), 0)

    def empty(self, shape: Shape, dtype: str) -> Any:
        """A new array."""
        return DeviceArray(self.device, shape, dtype)

    def copied(self, array: Any, shape: Shape) -> Any:
        """The same numbers side by side, broadcast to a shape."""
        raise ArgumentError("rows are not evenly spaced in memory; expected a contiguous array with the whole batch")

    def asarray(self, array: Any) -> Any:
        """An array of NumPy on the device."""
        raise ArgumentError(f"arrays of {self.name} take none of NumPy; {_WANTED}")

    def cast(self, array: Any, dtype: str) -> Any:
        """The array with elements of another type."""
        return array.astype(dtype)


class CupyArrays(Library):
    """CuPy: the stream that is current there."""

    name, waits = "cupy", False

    def __init__(self, device: Device, views: Sequence[View] = ()) -> None:
        self.module = sys.modules["cupy"]
        super().__init__(device, views)

    def current(self, views: Sequence[View]) -> int:
        """See `Library`."""
        with self.module.cuda.Device(self.device.number):
            return int(self.module.cuda.get_current_stream().ptr)

    def empty(self, shape: Shape, dtype: str) -> Any:
        """See `Library`."""
        with self.module.cuda.Device(self.device.number):
            return self.module.empty(shape, dtype)

    def copied(self, array: Any, shape: Shape) -> Any:
        """See `Library`."""
        with self.module.cuda.Device(self.device.number):
            return self.module.array(self.module.broadcast_to(array, shape), order="C")

    def asarray(self, array: Any) -> Any:
        """See `Library`."""
        with self.module.cuda.Device(self.device.number):
            return self.module.asarray(array)


class TorchArrays(Library):
    """PyTorch: the stream that is current there."""

    name, waits = "torch", False

    def __init__(self, device: Device, views: Sequence[View] = ()) -> None:
        self.module, self.place = sys.modules["torch"], f"cuda:{device.number}"
        super().__init__(device, views)

    def current(self, views: Sequence[View]) -> int:
        """See `Library`."""
        return int(self.module.cuda.current_stream(self.place).cuda_stream)

    def empty(self, shape: Shape, dtype: str) -> Any:
        """See `Library`."""
        return self.module.empty(shape, dtype=getattr(self.module, dtype), device=self.place)

    def copied(self, array: Any, shape: Shape) -> Any:
        """See `Library`."""
        return array.detach().expand(shape).clone(memory_format=self.module.contiguous_format)

    def asarray(self, array: Any) -> Any:
        """See `Library`."""
        return self.module.as_tensor(np.array(array), device=self.place)

    def cast(self, array: Any, dtype: str) -> Any:
        """See `Library`."""
        return array.to(getattr(self.module, dtype))


class JaxArrays(Library):
    """JAX, whose streams are hidden: a result is a new array of zeros, filled before it is shared."""

    name = "jax"

    def empty(self, shape: Shape, dtype: str) -> Any:
        """See `Library`."""
        module = sys.modules["jax"]
        array = module.numpy.zeros(shape, dtype, device=self._place()).block_until_ready()
        if array.dtype != dtype:
            raise ArgumentError("JAX holds no float64 unless jax_enable_x64 is set")
        return array

    def copied(self, array: Any, shape: Shape) -> Any:
        """See `Library`."""
        module = sys.modules["jax"]
        return module.numpy.array(module.numpy.broadcast_to(array, shape), copy=True)

    def asarray(self, array: Any) -> Any:
        """See `Library`."""
        return sys.modules["jax"].device_put(np.array(array), self._place())

    def _place(self) -> Any:
        devices = sys.modules["jax"].local_devices(backend="cuda")
        return next(device for device in devices if device.local_hardware_id == self.device.number)


#: By the names of `linkwise.arrays.framework.LIBRARIES`.
LIBRARIES: dict[str | None, type[Library]] = {"cuda": CupyArrays, "torch": TorchArrays, "jax": JaxArrays}


class DeviceArray:
    """An array on a device for libraries that are not known here: it has ``__cuda_array_interface__``, and no arithmetic."""

    def __init__(self, device: Device, shape: Shape, dtype: str) -> None:
        self.device, self.shape, self.dtype = device, shape, np.dtype(dtype)
        self.address = device.allocate(prod(shape) * self.dtype.itemsize)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = (self.address if prod(self.shape) else 0, False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "strides": None, "version": 3, "stream": None}

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self.device.free(self.address)


# ── where arrays are ──────────────────────────────────────────────────────────────────────────────


def view(subject: str, name: str, value: Any) -> View:
    """Memory layout of an array.

    Raises
    ------
    ArgumentError
        For what is on no device, or holds no float32 or float64.
    """
    library = library_name(value)
    if library == "torch":
        result = _of_torch(subject, name, value) if value.device.type == "cuda" else None
    else:
        if library == "jax":  # (pending writes of XLA, whose streams are hidden)
            value.block_until_ready()
        interface = getattr(value, "__cuda_array_interface__", None)
        result = _by_dlpack(value) if interface is None else _by_interface(value, interface)
    if result is None:
        where = "on the CPU" if hasattr(value, "__array__") or hasattr(value, "__dlpack__") else f"a {type(value).__name__}"
        raise ArgumentError(f"{subject}: {name} is {where}; {_WANTED}")
    if result.dtype not in NUMBERS:
        raise ArgumentError(f"{subject}: {name} holds {result.dtype}; expected float32 or float64")
    return result


def _of_torch(subject: str, name: str, tensor: Any) -> View:
    if tensor.requires_grad and sys.modules["torch"].is_grad_enabled():
        advice = "expected kernel.torch() in place of kernel.cuda(), or .detach()"
        raise ArgumentError(f"{subject}: {name} requires a gradient, and there is none here; {advice}")
    plain = tensor.resolve_neg()  # (memory may hold the numbers with the other sign)
    item, dtype = plain.element_size(), str(plain.dtype).removeprefix("torch.")
    strides = tuple(item * stride for stride in plain.stride())
    return View(plain, tuple(plain.shape), strides, dtype, plain.data_ptr(), device=plain.device.index)


def _packed(shape: Shape, item: int) -> Shape:
    return tuple(item * prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _by_interface(value: Any, interface: dict[str, Any]) -> View:
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    strides = interface.get("strides") or _packed(shape, dtype.itemsize)
    name = dtype.name if dtype.isnative else f"{dtype.name} in the other order of bytes"
    if interface.get("mask") is not None:
        name = f"{name} with a mask"
    place = value.device.id if library_name(value) == "cuda" else None
    return View(value, shape, tuple(strides), name, int(interface["data"][0]), interface.get("stream"), device=place)


class _DLTensor(ctypes.Structure):
    """``DLTensor`` of dlpack.h, with which a managed tensor begins."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


#: ``kDLCUDA`` and ``kDLCUDAManaged``; the stream that DLPack calls 1 is the one that the driver calls 0.
_ON_DEVICE, _DEFAULT_STREAM = (2, 13), 1

_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}


def _by_dlpack(value: Any) -> View | None:
    if not hasattr(value, "__dlpack__"):
        return None
    kind, device = value.__dlpack_device__()
    if kind not in _ON_DEVICE:
        return None
    capsule = value.__dlpack__(stream=_DEFAULT_STREAM)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    item = tensor.bits // 8
    strides = tuple(item * tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else _packed(shape, item)
    dtype = f"{_KINDS.get(tensor.code, 'opaque')}{tensor.bits}{'' if tensor.lanes == 1 else f'x{tensor.lanes}'}"
    return View(value, shape, strides, dtype, (tensor.data or 0) + tensor.byte_offset, keep=capsule, device=device)


@dataclass(frozen=True)
class DeviceArguments:
    """Arguments of one call on a device.

    Attributes
    ----------
    library : Library
        Whose they are.
    dtype : str
        What they hold.
    views : tuple of View
        Where they are.
    """

    library: Library
    dtype: str
    views: tuple[View, ...]

    def rows(self, k: int, batch: Shape, core: Shape) -> tuple[Rows, Any]:
        """Rows of an argument, copied if their layout is invalid; and the objects that must stay alive."""
        here = self.views[k]
        rows = here.rows(batch, core)
        if rows is None:
            here = view("copy", "it", self.library.copied(here.value, (*batch, *core)))
            rows = here.rows(batch, core)
            assert rows is not None
        return rows, here

    def new(self, shape: Shape) -> tuple[Any, int]:
        """An array for a result, and its address."""
        array = self.library.empty(shape, self.dtype)
        return array, view("result", "it", array).address

    def finish(self) -> None:
        """Synchronize if the library does not order the work itself."""
        if self.library.waits:
            self.library.device.wait(self.library.stream)


def placed(subject: str, arguments: dict[str, Any]) -> DeviceArguments:
    """Locate the arguments of a call.

    Raises
    ------
    ArgumentError
        For arguments of different libraries, devices or types: which.
    """
    views = {name: view(subject, name, value) for name, value in arguments.items()}
    libraries = {name: LIBRARIES.get(library_name(value), Library) for name, value in arguments.items()}
    devices = {name: driver().device_of(here.address, here.device) for name, here in views.items()}
    first = next((device for device in devices.values() if device is not None), driver().devices[0])
    (reference, library), *_ = libraries.items()
    for name, here in views.items():
        if libraries[name] is not library:
            raise ArgumentError(
                f"{subject}: {reference} is of {library.name} and {name} of {libraries[name].name}; expected one library"
            )
        if here.dtype != views[reference].dtype:
            raise ArgumentError(
                f"{subject}: {reference} holds {views[reference].dtype} and {name} {here.dtype}; expected one type"
            )
        if devices[name] is not first and (here.address or devices[name] is not None):
            where = "no device" if (other := devices[name]) is None else f"device {other.number}"
            raise ArgumentError(f"{subject}: {name} is on {where}; expected it on device {first.number}, with the others")
    result = library(first, tuple(views.values()))
    for here in views.values():  # (pending writes of other streams)
        source = 0 if here.keep is not None else here.stream
        if library is Library and source is not None and source != result.stream:
            first.wait(source)
    return DeviceArguments(result, views[reference].dtype, tuple(views.values()))


# ── kernels ───────────────────────────────────────────────────────────────────────────────────────


class CudaFramework(Framework):
    """Arrays on a GPU."""

    name = "cuda"

    def owns(self, value: Any) -> bool:
        """True if an array has a `__cuda_array_interface__`."""
        return hasattr(type(value), "__cuda_array_interface__")

    def on_device(self, arguments: Sequence[Any]) -> bool:
        """True if an argument is an array of a known library, on a GPU."""
        return any(
            value.device.type == "cuda" if library == "torch" else library in LIBRARIES and self.owns(value)
            for value in arguments
            for library in [library_name(value)]
        )

    def function(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as a function of arrays on a GPU; see `linkwise.kernel.Kernel.cuda`."""
        launcher = kernel.launcher()
        inputs, outputs = kernel.tape.inputs, list(kernel.tape.outputs.values())

        def call(*arguments: Any) -> Any:
            if len(arguments) != len(inputs):
                batch_shape(kernel, list(map(np.shape, arguments)))
            here = placed(kernel.name, dict(zip(inputs, arguments, strict=True)))
            batch = batch_shape(kernel, [view.shape for view in here.views])
            rows = [here.rows(k, batch, core) for k, core in enumerate(inputs.values())]
            item = np.dtype(here.dtype).itemsize
            results = [(here.new((*batch, *core)), item * prod(core)) for core in outputs]
            places = [place for place, _ in rows] + [(address, step) for (_, address), step in results]
            launcher.rows(here.library.device, here.library.stream, here.dtype, prod(batch), places)
            here.finish()
            del rows
            arrays = tuple(array for (array, _), _ in results)
            return arrays if len(arrays) > 1 else arrays[0]

        return call

    def map(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Refuse: a function of NumPy arrays does not run on a GPU.

        Raises
        ------
        ArgumentError
            Always.
        """
        raise ArgumentError("there is no code for a GPU for this; expected arrays of NumPy: cupy.asnumpy(...)")


FRAMEWORK = CudaFramework()
