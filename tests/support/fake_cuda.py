"""A driver of GPUs that is none: its devices' memory is that of the process, and kernels run on the processor.

Arguments go through ctypes, as to a library in C. A module is not PTX but the LLVM text that PTX is made from (`install` has
it so), compiled for the processor by the same passes. A launch runs it as a few threads, one after the other, whatever the
grid is.
"""

from __future__ import annotations

import ctypes
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from linkwise.arrays import cuda_driver as driver
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.nvptx import launch, lowering, xla_handler

THREADS = 3

#: What was loaded, by the numbers of modules from 1: kernels keep these, whichever fake comes next.
KERNELS: list[OnProcessor] = []
NOT_FOUND, NO_DEVICE, INVALID_VALUE, INVALID_PTX, UNKNOWN = 500, 100, 1, 218, 999


class OnProcessor:
    """LLVM text of threads as a function of this process, which takes what ``cuLaunchKernel`` does."""

    def __init__(self, text: str) -> None:
        names = re.search(r"define void @(rows|rollout|loop_double)\((.*?)\)", text)
        assert names is not None
        self.name, takes = names.groups()
        self.count = takes.count(",") + 1 - 2
        self.parameters = {"rows": self.count, "rollout": 1, "loop_double": 3}[self.name]
        host, target = llvm.host(), llvm.binding().Target.from_default_triple()
        machine = target.create_target_machine(cpu=host.cpu, features=host.features, opt=2, jit=True)  # (the engine owns it)
        self.engine = llvm.binding().create_mcjit_compiler(lowering.optimized(text, machine, self.name), machine)
        self.engine.finalize_object()
        kinds = [ctypes.c_int64] * (self.count + 2)
        self.function = ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address(self.name))

    def __call__(self, addresses: list[int]) -> None:
        words = [address if self.name != "rows" else ctypes.c_int64.from_address(address).value for address in addresses]
        words += [0] * (self.count - len(words))
        for thread in range(THREADS):
            self.function(*words, thread, THREADS)


def rows_of(tape: Any, *arrays: Any, dtype: str = "float64") -> Any:
    """What threads compute of one array of rows for each input."""
    arrays = tuple(np.ascontiguousarray(array, dtype) for array in arrays)
    results = [np.full((len(arrays[0]), *shape), np.nan, dtype) for shape in tape.outputs.values()]
    words = [len(arrays[0])]
    for array in (*arrays, *results):
        words += [array.ctypes.data, array.strides[0]]
    memory = np.array(words)
    OnProcessor(lowering.assembly(tape, dtype))([memory.ctypes.data + 8 * k for k in range(len(words))])
    return results if len(results) > 1 else results[0]


class FakeCuda:
    """What the driver's library has, with any number of devices; `calls` are the functions that were called."""

    def __init__(self, *, version: int = 12040, devices: int = 1, capability: int = 90) -> None:
        self.version, self.devices, self.capability = version, devices, capability
        self.calls: list[str] = []
        self.launches: list[tuple[Any, ...]] = []
        self.waited: list[int] = []
        self.fail: dict[str, int] = {}
        self.memory: dict[int, tuple[Any, int]] = {}
        self.contexts: list[int] = []

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("cu"):
            return object.__getattribute__(self, name)
        self.calls.append(name)
        if name in self.fail:
            return lambda *_: self.fail[name]
        method = object.__getattribute__(self, name)

        def call(*arguments: Any) -> int:
            try:
                return method(*arguments) or 0
            except (AssertionError, LookupError):
                return UNKNOWN

        return ctypes.CFUNCTYPE(ctypes.c_int, *driver.FUNCTIONS[name])(call)

    def place(self, array: Any, device: int = 0) -> int:
        """Have an array of NumPy stand for memory of a device; its address."""
        self.memory[array.ctypes.data] = (array, device)
        return int(array.ctypes.data)

    def cuInit(self, flags: int) -> int:
        return 0 if self.devices else NO_DEVICE

    def cuDriverGetVersion(self, version: Any) -> None:
        version[0] = self.version

    def cuGetErrorName(self, code: int, text: Any) -> None:
        text[0] = {NO_DEVICE: b"CUDA_ERROR_NO_DEVICE", INVALID_PTX: b"CUDA_ERROR_INVALID_PTX"}.get(code, b"CUDA_ERROR")

    def cuDeviceGetCount(self, count: Any) -> None:
        count[0] = self.devices

    def cuDeviceGet(self, handle: Any, number: int) -> None:
        handle[0] = 40 + number

    def cuDeviceGetAttribute(self, value: Any, attribute: int, handle: int) -> None:
        assert handle >= 40
        value[0] = {16: 132, 75: self.capability // 10, 76: self.capability % 10}[attribute]

    def cuDevicePrimaryCtxRetain(self, context: Any, handle: int) -> None:
        context[0] = 1000 + handle

    def cuCtxPushCurrent_v2(self, context: Any) -> None:
        self.contexts.append(context)

    def cuCtxPopCurrent_v2(self, context: Any) -> None:
        context[0] = self.contexts.pop()

    def cuPointerGetAttribute(self, value: Any, attribute: int, address: int) -> int:
        for start, (array, device) in self.memory.items():
            if start <= address < start + max(1, array.nbytes):
                ctypes.c_int.from_address(value).value = device
                return 0
        return INVALID_VALUE

    def cuMemAlloc_v2(self, address: Any, size: int) -> None:
        assert self.contexts
        address[0] = self.place(np.empty(size // 8 + 2, dtype=np.float64), self.contexts[-1] - 1040)

    def cuMemFree_v2(self, address: int) -> int:
        return 0 if self.memory.pop(address, None) else INVALID_VALUE

    def cuModuleLoadDataEx(self, module: Any, text: bytes, count: int, names: Any, values: Any) -> int:
        assert names[:count] == [driver.ERROR_LOG, driver.ERROR_LOG_SIZE]
        assert self.contexts
        if b"define" not in text:
            ctypes.memmove(values[0], b"ptxas: line 1\nerror\0", 20)
            return INVALID_PTX
        KERNELS.append(OnProcessor(text.decode()))
        module[0] = len(KERNELS)
        return 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        function[0] = module
        return 0 if name == b"kernel" else NOT_FOUND

    def cuLaunchKernel(self, function: int, *arguments: Any) -> int:
        *grid, shared, stream, parameters, extra = arguments
        if grid[1:3] != [1, 1] or grid[4:] != [1, 1] or not 0 < grid[3] <= 1024 or shared or extra:
            return INVALID_VALUE
        self.launches.append((grid[0], grid[3], stream or 0, self.contexts[-1] - 1040))
        kernel = KERNELS[function - 1]
        kernel(parameters[: kernel.parameters])
        return 0

    def cuStreamSynchronize(self, stream: Any) -> None:
        self.waited.append(stream or 0)


def install(monkeypatch: pytest.MonkeyPatch, **options: Any) -> FakeCuda:
    """Have the fake be the driver of this process, for one test."""
    fake = FakeCuda(**options)
    one = driver.Driver(fake)
    monkeypatch.setattr("linkwise.arrays.cuda.driver", lambda: one)
    monkeypatch.setattr(xla_handler, "driver", lambda: one)
    monkeypatch.setattr(launch, "ptx", lambda program, dtype, capability: lowering.assembly(program, dtype).encode())
    return fake


class Cupy:
    """What is used of CuPy, on memory of the fake."""

    def __init__(self, fake: FakeCuda) -> None:
        self.fake, self.device, self.stream = fake, 0, 7
        self.cuda = self
        outer = self

        class ndarray:  # noqa: N801
            def __init__(self, array: Any, device: int) -> None:
                self.array, self.place = array, device
                outer.fake.place(array, device)

            @property
            def __cuda_array_interface__(self) -> dict[str, Any]:
                interface = dict(self.array.__array_interface__)
                return {**interface, "version": 3, "stream": outer.stream}

            shape = property(lambda self: self.array.shape)
            device = property(lambda self: SimpleNamespace(id=self.place))

            def __getitem__(self, key: Any) -> Any:
                return ndarray(self.array[key], self.place)

            def __setitem__(self, key: Any, value: Any) -> None:
                self.array[key] = getattr(value, "array", value)

            def __getattr__(self, name: str) -> Any:
                def call(*arguments: Any, **options: Any) -> Any:
                    values = [getattr(x, "array", x) for x in arguments]
                    return ndarray(np.asarray(getattr(self.array, name)(*values, **options)), self.place)

                return call

        for name in ("le", "gt", "eq", "and", "sub", "pow"):
            method = f"__{name}__"
            setattr(ndarray, method, lambda self, other, method=method: self.__getattr__(method)(other))
        ndarray.__module__ = "cupy"
        self.ndarray = ndarray

    def Device(self, number: int) -> Any:
        self.device = number
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.device = 0

    def get_current_stream(self) -> Any:
        class Stream:
            ptr = self.stream

        return Stream

    def asarray(self, array: Any) -> Any:
        return self.ndarray(_aligned(np.array(array)), self.device)

    def asnumpy(self, array: Any) -> Any:
        return array.array

    def empty(self, shape: Any, dtype: Any) -> Any:
        return self.ndarray(_aligned(np.empty(shape, dtype)), self.device)

    def broadcast_to(self, array: Any, shape: Any) -> Any:
        return self.ndarray(np.broadcast_to(array.array, shape), array.place)

    def array(self, array: Any, order: str) -> Any:
        return self.ndarray(_aligned(np.array(array.array, order="C")), array.place)


def _aligned(array: Any) -> Any:
    """The same at a multiple of 256 bytes, as memory of a device is."""
    room = np.empty(array.nbytes + 256, np.uint8)
    start = -room.ctypes.data % 256
    here = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    here[...] = array
    return here
