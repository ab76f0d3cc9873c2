"""A NumPy generalised ufunc from function pointers, through NumPy's own C interface."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from linkwise.kernel.tape import Shape, Tape

LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""``void loop(char **args, npy_intp *dimensions, npy_intp *steps, void *data)``."""

_FROM_DATA_AND_SIGNATURE = 31
_NUMBERS = {"float32": 11, "float64": 12}
_NO_IDENTITY = -1


class Gufunc:
    """A gufunc with one loop per scalar type, and the memory that it stands on.

    NumPy keeps pointers into that memory and never frees a ufunc's; this object must live as long as the ufunc.

    Attributes
    ----------
    ufunc : numpy.ufunc
        What is called.
    """

    def __init__(self, tape: Tape, loops: Sequence[tuple[str, Any]], doc: str) -> None:
        count = len(loops)
        arguments = len(tape.inputs) + len(tape.outputs)
        self._loops = [loop for _, loop in loops]
        self._functions = (ctypes.c_void_p * count)(*[_pointer(loop) for loop in self._loops])
        self._data = (ctypes.c_void_p * count)()
        numbers = [_NUMBERS[dtype] for dtype, _ in loops for _ in range(arguments)]
        self._types = (ctypes.c_char * (count * arguments))(*[bytes([number]) for number in numbers])
        self._texts = [text.encode() for text in (tape.name, doc, signature(tape))]
        name, documentation, core = self._texts
        self.ufunc: Any = _maker()(
            self._functions, self._data, self._types, count, len(tape.inputs), len(tape.outputs), _NO_IDENTITY,
            name, documentation, 0, core,
        )  # fmt: skip

    def replace_loop(self, index: int, loop: Any) -> None:
        """Put another loop in the place of one that was there (a stand-in that compiles at first use)."""
        self._loops.append(loop)
        self._functions[index] = _pointer(loop)


def signature(tape: Tape) -> str:
    """The gufunc signature with sizes as numbers, as in ``(6),(6),(6)->(6)``; a size 0 gets a name.

    Examples
    --------
    >>> signature(Tape("f", {"q": (6,)}, {"T": (4, 4)}, (), (), (0,) * 16))
    '(6)->(4,4)'
    """

    def group(shapes: Sequence[Shape]) -> str:
        return ",".join("(" + ",".join(str(size) if size else "none" for size in shape) + ")" for shape in shapes)

    return f"{group(list(tape.inputs.values()))}->{group(list(tape.outputs.values()))}"


def _pointer(loop: Any) -> int | None:
    return loop if isinstance(loop, int) else ctypes.cast(loop, ctypes.c_void_p).value


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
