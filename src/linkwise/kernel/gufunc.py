"""A NumPy generalised ufunc from function pointers, through NumPy's own C interface."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from linkwise.kernel.tape import Tape

LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""``void loop(char **args, npy_intp *dimensions, npy_intp *steps, void *data)``."""

_FROM_DATA_AND_SIGNATURE = 31
_NUMBERS = {"float32": 11, "float64": 12}
_NO_IDENTITY = -1


@dataclass(frozen=True)
class Face:
    """What NumPy is told of a function: its name, and its inputs and outputs, whose sizes are numbers or letters."""

    name: str
    inputs: Mapping[str, tuple[int | str, ...]]
    outputs: Mapping[str, tuple[int | str, ...]]


class Memory:
    """What NumPy keeps pointers to: loops, types, texts. A gufunc holds it, and it holds no gufunc."""

    def __init__(self, tape: Tape | Face, loops: Sequence[tuple[str, Any]], doc: str) -> None:
        count, arguments = len(loops), len(tape.inputs) + len(tape.outputs)
        self.held: list[Any] = []
        self.functions = (ctypes.c_void_p * count)()
        self.data = (ctypes.c_void_p * count)()
        numbers = [_NUMBERS[dtype] for dtype, _ in loops for _ in range(arguments)]
        self.types = (ctypes.c_char * (count * arguments))(*[bytes([number]) for number in numbers])
        self.texts = [text.encode() for text in (tape.name, doc, signature(tape))]
        for index, (_, loop) in enumerate(loops):
            self.set_loop(index, loop)

    def set_loop(self, index: int, loop: Any) -> None:
        """Put a loop in its place; one that was there stays alive, for it may be running."""
        self.held.append(loop)
        self.functions[index] = ctypes.cast(loop, ctypes.c_void_p).value


def make(memory: Memory, inputs: int, outputs: int) -> Any:
    """Make the gufunc that stands on this memory and keeps it alive."""
    name, doc, core = memory.texts
    ufunc = _maker()(
        memory.functions, memory.data, memory.types, len(memory.functions), inputs, outputs, _NO_IDENTITY, name, doc, 0, core
    )  # fmt: skip
    try:
        ufunc.__dict__["linkwise"] = memory
    except (AttributeError, TypeError):  # older ufuncs take no attributes
        _kept.append(memory)
    return ufunc


_kept: list[Memory] = []


def signature(tape: Tape | Face) -> str:
    """The gufunc signature, as in ``(6),(6),(6)->(6)``; a size 0 gets a name.

    Examples
    --------
    >>> signature(Tape("f", {"q": (6,)}, {"T": (4, 4)}, (), (), (0,) * 16))
    '(6)->(4,4)'
    """

    def group(shapes: Sequence[tuple[int | str, ...]]) -> str:
        return ",".join("(" + ",".join(str(size) if size else "none" for size in shape) + ")" for shape in shapes)

    return f"{group(list(tape.inputs.values()))}->{group(list(tape.outputs.values()))}"


@cache
def _maker() -> Any:
    """PyUFunc_FromFuncAndDataAndSignature, out of the table that NumPy offers to extensions."""
    capsule: Any = np._core._multiarray_umath._UFUNC_API  # type: ignore[attr-defined]
    c = ctypes
    kind = c.PYFUNCTYPE(
        c.py_object, c.c_void_p, c.c_void_p, c.c_void_p, c.c_int, c.c_int, c.c_int, c.c_int, c.c_char_p, c.c_char_p, c.c_int,
        c.c_char_p,
    )  # fmt: skip
    return kind(api_table(capsule)[_FROM_DATA_AND_SIGNATURE])


def api_table(capsule: Any) -> Any:
    """The array of pointers inside a capsule."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))
