"""Machine code of tapes in memory: read from the disk cache, or compiled and stored."""

from __future__ import annotations

import ctypes
import itertools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from linkwise.errors import KernelError
from linkwise.kernel import cache as disk
from linkwise.kernel.backends.llvm import loaders, processor
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.fastcall import POOL
from linkwise.kernel.backends.llvm.linker import Image, Mapped, link
from linkwise.kernel.backends.llvm.text import RUNTIME, SUPPORT
from linkwise.kernel.gufunc import LOOP, Entry, Face, Memory, api_table, make
from linkwise.kernel.tape import Shape, Tape

_NEW_ARRAY, _NEW_SCALAR = 93, 60
_numbers = itertools.count()


class Code(Protocol):
    """Machine code in memory."""

    def address(self, name: str) -> int:
        """Address of a symbol; 0 if it is unknown."""


def load(tape: Tape, dtype: str, lanes: int | None = None) -> Code:
    """Machine code of a tape for one scalar type, its runtime table filled in."""
    return load_made(
        cache_key(tape, dtype, lanes), lambda: llvm.object_code(tape, dtype, lanes), lambda: llvm.vectors(dtype, lanes).tag
    )


def load_made(key: str, object_code: Callable[[], bytes], vectors: Callable[[], str] = str) -> Code:
    """Load machine code of a key from the disk cache, or compile it now; fill in its runtime table.

    `vectors` is asked for the tag of the vectors that a new one works on; empty where it needs no support.
    """
    kept = disk.load(key)
    unpacked = None if kept is None else _unpacked(kept)
    if unpacked is not None:
        code, tag = unpacked
    else:
        if not loaders.usable():
            raise KernelError('machine code does not run on this machine; backend="numpy" computes without it')
        loader = object_code()
        image = link(loader) if loaders.works("image") else None
        tag = vectors()
        disk.store(key, _packed(loader, image, tag))
        code = Linked(loader) if image is None else Mapped(image)
    fill_runtime(code, runtime_pointers() | (_support(tag)[1] if tag else {}))
    return code


def gufunc_of(code: Code, face: Face) -> Callable[..., Any]:
    """The gufunc in float64 of machine code that defines ``loop_double``."""
    memory = Memory(face, [("float64", LOOP(code.address("loop_double")))], "")
    memory.held.append(code)
    gufunc: Callable[..., Any] = make(memory, len(face.inputs), len(face.outputs))
    return gufunc


def loop_gufunc(face: Face, parts: Callable[[], Sequence[str]], version: str) -> Callable[..., Any]:
    """As `load_made` of LLVM text, generated only if the disk cache lacks its code; its version is part of the key."""
    key = processor.machine_key(f"{face.name} {version}", "float64")
    return gufunc_of(load_made(key, lambda: llvm.compiled(llvm.module(parts()))), face)


@cache
def _support(tag: str) -> tuple[Code, dict[str, int]]:
    """Code shared by kernels on the same vectors, never unloaded, and its addresses."""
    code = load_made(processor.machine_key("support", tag), lambda: llvm.compiled(llvm.support(tag)))
    return code, {name: code.address(name) for name in SUPPORT}


def fill_runtime(code: Code, values: Mapping[str, int]) -> None:
    """Fill the runtime table of a kernel."""
    table = (ctypes.c_void_p * len(RUNTIME)).from_address(code.address("runtime"))
    for name, value in values.items():
        table[RUNTIME.index(name)] = value


def entry_with_pool(code: Code, shapes: Sequence[Shape], *keep: Any) -> Entry:
    """The compiled entry, with the arrays that it hands out again and again: ``pool`` has their addresses, and flags."""
    kept = [[np.empty(shape) for _ in range(POOL)] for shape in shapes if shape]
    words = [word for arrays in kept for word in (*map(id, arrays), arrays[0].flags.num)]
    table = (ctypes.c_void_p * max(1, len(words))).from_address(code.address("pool"))
    for k, word in enumerate(words):
        table[k] = word
    return Entry(code.address("call"), (code, tuple(array for arrays in kept for array in arrays), *keep))


def cache_key(tape: Tape, dtype: str, lanes: int | None = None) -> str:
    """Key of the machine code of a tape: see `processor.machine_key`."""
    return processor.machine_key(laned(tape.digest, lanes), dtype)


def laned(digest: str, lanes: int | None) -> str:
    """The suffix that identifies a program where it is compiled for so many lanes; None for as many as the processor has."""
    return digest if lanes is None else f"{digest} {lanes}"


#: Symbols that modules may define; each defines ``runtime``.
SYMBOLS = ("runtime", "pool", "place", "call", "loop_double", "loop_float", "rollout", *SUPPORT)


class Linked:
    """Machine code loaded through LLVM, for systems that cannot run an `Image`."""

    def __init__(self, code: bytes) -> None:
        self._names = [name for name in SYMBOLS if name.encode() + b"\0" in code]
        builder = llvm.binding().JITLibraryBuilder().add_object_img(code)
        for name in self._names:
            builder = builder.export_symbol(name)
        self._tracker = builder.link(_compiler(), f"kernel{next(_numbers)}")

    def address(self, name: str) -> int:
        """Address of a symbol; 0 if it is unknown."""
        return int(self._tracker[name]) if name in self._names else 0


@cache
def _compiler() -> Any:
    return llvm.binding().create_lljit_compiler(llvm.target_machine(), use_jit_link=loaders.of_llvm() == "jit_link")


def _packed(code: bytes, image: Image | None, tag: str) -> bytes:
    """Content of an entry of the disk cache: a header line, then the code, for vectors of this tag."""
    head: dict[str, Any] = {"object": True}
    if image is not None:
        head = {"writable": image.writable, "size": image.size, "symbols": image.symbols}
    head |= {"processor": processor.known(), "vectors": tag}
    return json.dumps(head).encode() + b"\n" + (code if image is None else image.content)


def _unpacked(kept: bytes) -> tuple[Code, str] | None:
    """The code that was kept, and the tag of its vectors; None where it is none, or not for this machine."""
    try:
        line, content = kept.split(b"\n", 1)
        head = json.loads(line)
        if head["processor"] != processor.known():
            return None
        if head.get("object"):
            return Linked(content), str(head["vectors"])
        if not loaders.works("image"):
            return None
        return Mapped(Image(content, head["writable"], head["size"], head["symbols"])), str(head["vectors"])
    except (ValueError, TypeError, KeyError, AttributeError, OSError, RuntimeError, KernelError):
        return None


@cache
def runtime_pointers() -> dict[str, int]:
    """Addresses in this process that kernels need, by the names in `RUNTIME`."""
    table = api_table(np._core._multiarray_umath._ARRAY_API)  # type: ignore[attr-defined]
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    return {
        "array_type": id(np.ndarray),
        "float_type": id(float),
        "descr": id(np.dtype(np.float64)),
        "new_array": int(table[_NEW_ARRAY]),
        "new_scalar": int(table[_NEW_SCALAR]),
        "new_tuple": _address(ctypes.pythonapi.PyTuple_New),
        "set_item": _address(ctypes.pythonapi.PyTuple_SetItem),
        "decref": _address(ctypes.pythonapi.Py_DecRef),
        "vectorcall": _address(ctypes.pythonapi.PyObject_Vectorcall),
        "sin": _address(library.sin),
        "cos": _address(library.cos),
        "malloc": _address(library.malloc),
        "free": _address(library.free),
        "memset": _address(library.memset),
    }


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
