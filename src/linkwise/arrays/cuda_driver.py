"""NVIDIA's driver, by its C interface alone: devices, memory, modules, launches. No toolkit is needed."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cache, cached_property
from math import gcd
from typing import Any

from linkwise.errors import KernelError

#: Called functions with their argument types; all return an error code.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuCtxPushCurrent_v2": (c_void_p,),
    "cuCtxPopCurrent_v2": (POINTER(c_void_p),),
    "cuPointerGetAttribute": (c_void_p, c_int, c_uint64),
    "cuMemAlloc_v2": (POINTER(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuModuleLoadDataEx": (POINTER(c_void_p), c_char_p, c_uint, POINTER(c_int), POINTER(c_void_p)),
    "cuModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuLaunchKernel": (c_void_p, *(c_uint,) * 7, c_void_p, POINTER(c_void_p), POINTER(c_void_p)),
    "cuStreamSynchronize": (c_void_p,),
}

#: The oldest compute capability, times ten, of a device that takes the PTX that is written.
OLDEST = 70

#: Greatest alignment of a row that loads and stores make use of, bytes.
ALIGNED = 16

#: The version of CUDA from which on drivers take the PTX that is written.
VERSION = 11000

#: Attributes of a device and of an address; options of loading a module: buffer and size of its error log.
MULTIPROCESSORS, MAJOR, MINOR, ORDINAL, ERROR_LOG, ERROR_LOG_SIZE = 16, 75, 76, 9, 5, 6

#: Threads of a block, and greatest number of blocks per multiprocessor: beyond, a thread processes several rows.
BLOCK, BLOCKS = 128, 64

_ADVICE = "NVIDIA's driver must be installed (nvidia-smi lists its GPUs), or arrays of NumPy be used"


class Driver:
    """The driver of this machine.

    Parameters
    ----------
    library : object
        Has the `FUNCTIONS`.

    Raises
    ------
    KernelError
        Where it is too old, or there is no device.
    """

    def __init__(self, library: Any) -> None:
        self.library = library
        version, count = c_int(), c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        if version.value < VERSION:
            here, needed = (f"{number // 1000}.{number % 1000 // 10}" for number in (version.value, VERSION))
            raise KernelError(f"NVIDIA's driver is of CUDA {here}; expected {needed} or newer: it must be updated")
        try:
            self.call("cuInit", 0)
        except KernelError as error:
            raise KernelError(f"{error}: {_ADVICE}") from error
        self.call("cuDeviceGetCount", ctypes.byref(count))
        self.devices = [Device(self, number) for number in range(count.value)]
        if not self.devices:
            raise KernelError(f"there is no GPU of NVIDIA: {_ADVICE}")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function.

        Raises
        ------
        KernelError
            Where it returns an error: its name.
        """
        code = getattr(self.library, name)(*arguments)
        if code:
            text = c_char_p()
            self.library.cuGetErrorName(code, ctypes.byref(text))
            raise KernelError(f"NVIDIA's driver: {name} failed with {(text.value or b'').decode()} ({code})")

    def device_of(self, address: int, number: int | None = None) -> Device | None:
        """The device of a number, or else that which has an address; None for one that is on none."""
        if number is None and address:
            ordinal = c_int(-1)
            where = ctypes.cast(ctypes.byref(ordinal), c_void_p)
            failed = self.library.cuPointerGetAttribute(where, ORDINAL, address)
            number = None if failed else ordinal.value
        return self.devices[number] if number is not None and 0 <= number < len(self.devices) else None


class Device:
    """One device: its primary context, shared with all libraries that use the CUDA runtime."""

    def __init__(self, driver: Driver, number: int) -> None:
        self.driver, self.number = driver, number
        handle = c_int()
        driver.call("cuDeviceGet", ctypes.byref(handle), number)
        self.handle = handle.value

    def attribute(self, which: int) -> int:
        """A number that describes it."""
        value = c_int()
        self.driver.call("cuDeviceGetAttribute", ctypes.byref(value), which, self.handle)
        return value.value

    @cached_property
    def capability(self) -> int:
        """Its compute capability, times ten.

        Raises
        ------
        KernelError
            Where it is too old.
        """
        value = 10 * self.attribute(MAJOR) + self.attribute(MINOR)
        if value < OLDEST:
            expected = f"{OLDEST // 10}.{OLDEST % 10}"
            raise KernelError(
                f"the GPU {self.number} has the compute capability {value // 10}.{value % 10}; expected {expected} or more"
            )
        return value

    @cached_property
    def blocks(self) -> int:
        """Most blocks of a launch."""
        return BLOCKS * self.attribute(MULTIPROCESSORS)

    @cached_property
    def _context(self) -> c_void_p:
        context = c_void_p()
        self.driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.handle)
        return context

    @contextmanager
    def current(self) -> Iterator[None]:
        """Have its context be that of this thread, to the end of the block."""
        self.driver.call("cuCtxPushCurrent_v2", self._context)
        try:
            yield
        finally:
            self.driver.call("cuCtxPopCurrent_v2", ctypes.byref(c_void_p()))

    def load(self, ptx: bytes) -> c_void_p:
        """The function ``kernel`` of PTX, for this device, which the driver compiles; it lives as long as the process.

        Raises
        ------
        KernelError
            Where the driver does not take it: what it says.
        """
        module, function = c_void_p(), c_void_p()
        log = ctypes.create_string_buffer(4096)
        names = (c_int * 2)(ERROR_LOG, ERROR_LOG_SIZE)
        values = (c_void_p * 2)(ctypes.addressof(log), len(log))
        with self.current():
            try:
                self.driver.call("cuModuleLoadDataEx", ctypes.byref(module), ptx, 2, names, values)
            except KernelError as error:
                raise KernelError(f"{error}: {' '.join(log.value.decode(errors='replace').split())}") from error
            self.driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"kernel")
        return function

    def launch(self, function: c_void_p, stream: int, count: int, parameters: Sequence[Any]) -> None:
        """Launch a function on a stream, with at most one thread per row; it returns at once."""
        if not count:
            return
        blocks = min(-(-count // BLOCK), self.blocks)
        pointers = (c_void_p * len(parameters))(*(ctypes.addressof(parameter) for parameter in parameters))
        with self.current():
            self.driver.call("cuLaunchKernel", function, blocks, 1, 1, BLOCK, 1, 1, 0, c_void_p(stream), pointers, None)

    def wait(self, stream: int) -> None:
        """Wait until a stream has done all its work."""
        with self.current():
            self.driver.call("cuStreamSynchronize", c_void_p(stream))

    def allocate(self, size: int) -> int:
        """The address of new memory of so many bytes, at least one."""
        address = c_uint64()
        with self.current():
            self.driver.call("cuMemAlloc_v2", ctypes.byref(address), max(1, size))
        return address.value

    def free(self, address: int) -> None:
        """Free memory; the driver waits for pending uses."""
        with self.current():
            self.driver.call("cuMemFree_v2", address)


def row_alignment(size: int) -> int:
    """The alignment (bytes) that rows of so many bytes must have."""
    return gcd(ALIGNED, size)


@cache
def driver() -> Driver:
    """The driver of this machine.

    Raises
    ------
    KernelError
        Where it is missing or too old, or there is no device.
    """
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
        for function, takes in FUNCTIONS.items():
            getattr(library, function).argtypes = takes
    except (OSError, AttributeError) as error:
        missing = f"{error.args[0]}" if isinstance(error, AttributeError) else f"{name} was not found"
        raise KernelError(f"there is no driver for GPUs ({missing}): {_ADVICE}") from error
    return Driver(library)
