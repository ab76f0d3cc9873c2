"""Making the compiled entry of a kernel callable from Python, where this Python and NumPy are laid out as it expects."""

from __future__ import annotations

import ctypes
import struct
import sys
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkwise.kernel.llvm_entry import FLAGS, OFFSETS

_FASTCALL_KEYWORDS = 0x0080 | 0x0002


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _HandOver(tuple[Any, ...]):
    """What a compiled entry is bound to: the fallback, and all that must live as long as the function.

    A tuple, for the garbage collector never empties one before its time. Pickling the function leads back to the method.
    """

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self[0](*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        owner = getattr(self[0], "__self__", None)
        if owner is None:
            raise TypeError("this compiled entry does not pickle; its kernel does")
        return _itself, (owner,)


def _itself(owner: Any) -> Any:
    return owner


def make_callable(address: int, fallback: Callable[..., Any], name: str, doc: str, keep: tuple[Any, ...]) -> Any:
    """Wrap a compiled entry as a Python function; calls that it does not take go to the fallback.

    Parameters
    ----------
    address : int
        Of the machine code.
    fallback : callable
        Takes the same arguments, any way they may come.
    name, doc : str
        Of the function.
    keep : tuple
        What must live as long as the function.
    """
    method = _MethodDef(name.encode(), address, _FASTCALL_KEYWORDS, doc.encode())
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return new(ctypes.addressof(method), _HandOver((fallback, method, *keep)), None)


@cache
def usable() -> bool:
    """Whether array objects in this process are laid out as the compiled entry reads them: tried on a known array."""
    plain = (
        sys.implementation.name == "cpython"
        and struct.calcsize("P") == 8
        and sys.byteorder == "little"
        and not hasattr(sys, "gettotalrefcount")
        and getattr(sys, "_is_gil_enabled", lambda: True)()
    )
    if not plain:
        return False
    known = np.array([1.5, 2.5, 3.5])
    held = [np.empty(3)]
    count = ctypes.c_int32.from_address(id(held[0])).value
    weakrefs = id(known) + OFFSETS["weakrefs"]
    before = ctypes.c_void_p.from_address(weakrefs).value
    reference = weakref.ref(known)
    after = ctypes.c_void_p.from_address(weakrefs).value

    def at(field: str, form: str) -> int:
        return int(struct.unpack(form, ctypes.string_at(id(known) + OFFSETS[field], struct.calcsize(form)))[0])

    array_type, descr = id(np.ndarray), id(np.dtype(np.float64))
    looks_right = (
        at("type", "P") == array_type
        and count == 1
        and before is None
        and after == id(reference)
        and at("data", "P") == known.ctypes.data
        and at("nd", "i") == 1
        and at("descr", "P") == descr
        and at("flags", "i") & FLAGS == FLAGS
    )
    return looks_right and ctypes.c_ssize_t.from_address(at("dimensions", "P")).value == known.size
