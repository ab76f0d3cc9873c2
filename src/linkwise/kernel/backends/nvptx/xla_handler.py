"""A handler of XLA's foreign function interface that launches a kernel on its stream; nothing is copied or waited for.

It is a function of Python, which XLA calls when it puts work on its stream, not when that is done. The structures are those
of the header ``xla/ffi/api/c_api.h``, as in `linkwise.kernel.backends.llvm.xla_handler`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from linkwise.arrays.cuda_driver import driver, row_alignment
from linkwise.errors import KernelError
from linkwise.kernel.backends.llvm.xla_handler import EXECUTE, METADATA, OFFSETS
from linkwise.kernel.tape import Shape, Tape

#: Offsets of the table of functions and the context in a frame, and of functions in the table, in bytes.
API, CONTEXT, ERROR_CREATE, STREAM_GET = 16, 24, 48, 80

#: Bytes of ``XLA_FFI_Error_Create_Args`` and ``XLA_FFI_Stream_Get_Args``; ``XLA_FFI_Error_Code_INTERNAL``.
ERROR_SIZE, STREAM_SIZE, INTERNAL = 28, 32, 13

#: Type of such a function: it takes an address, and returns that of an error, or none.
HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class _XlaError(Exception):
    """An error of XLA, at an address."""


def handler(launch: Callable[..., None], tape: Tape, dtype: str, version: tuple[int, int]) -> Any:
    """The handler of a tape, for a version of the interface; `launch` is that of a `Launcher`."""
    size = np.dtype(dtype).itemsize
    ports = [("frame.arguments", k, core) for k, core in enumerate(tape.inputs.values())]
    ports += [("frame.results", k, core) for k, core in enumerate(tape.outputs.values())]

    def execute(frame: int) -> None:
        buffers = [_buffer(_word(_word(frame + OFFSETS[kind]) + 8 * k), core, size) for kind, k, core in ports]
        count = buffers[len(tape.inputs)][1]
        place = next((address for address, _, step in buffers[len(tape.inputs) :] if address and step), 0)
        if not count or not place:
            return
        device = driver().device_of(place)
        if device is None:
            raise KernelError(f"{tape.name}: XLA's memory is on no GPU")
        rows = [(address, 0 if few == 1 else step) for address, few, step in buffers]
        launch(device, _stream(frame), dtype, count, rows)

    def call(frame: int) -> int | None:
        try:
            extension = _word(frame + OFFSETS["frame.extension"])
            if extension and _number(extension + OFFSETS["extension.type"]) == METADATA:
                metadata = _word(extension + OFFSETS["extension.metadata"])
                for place, value in zip(("metadata.major", "metadata.minor"), version, strict=True):
                    ctypes.c_int32.from_address(metadata + OFFSETS[place]).value = value
            elif _number(frame + OFFSETS["frame.stage"]) == EXECUTE:
                execute(frame)
        except _XlaError as error:
            return int(error.args[0])
        except BaseException as error:  # (nothing may escape into XLA)
            return _failed(frame, f"{type(error).__name__}: {error}")
        return None

    return HANDLER(call)


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _number(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def _buffer(buffer: int, core: Shape, size: int) -> tuple[int, int, int]:
    """Address of a buffer, its number of rows, and the bytes of one."""
    address, step = _word(buffer + OFFSETS["buffer.data"]), size * prod(core)
    batch = _word(buffer + OFFSETS["buffer.rank"]) - len(core)
    sizes = (ctypes.c_int64 * batch).from_address(_word(buffer + OFFSETS["buffer.sizes"])) if batch else ()
    if step and address % row_alignment(step):
        raise KernelError(f"XLA's memory at {address:#x} is not aligned to {row_alignment(step)} bytes")
    return address, prod(sizes), step


def _call(frame: int, place: int, words: ctypes.Array[Any]) -> int | None:
    result: int | None = HANDLER(_word(_word(frame + API) + place))(ctypes.addressof(words))
    return result


def _stream(frame: int) -> int:
    """The stream of this call."""
    words = (ctypes.c_uint64 * 4)(STREAM_SIZE, 0, _word(frame + CONTEXT), 0)
    if error := _call(frame, STREAM_GET, words):
        raise _XlaError(error)
    return words[3]


def _failed(frame: int, message: str) -> int | None:
    """An error of XLA with a message, which XLA copies."""
    text = ctypes.create_string_buffer(message.encode())
    words = (ctypes.c_uint64 * 4)(ERROR_SIZE, 0, ctypes.addressof(text), INTERNAL)
    return _call(frame, ERROR_CREATE, words)
