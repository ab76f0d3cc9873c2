"""Bounds on what a message may make the library read: no few bytes may take it minutes and gigabytes."""

from __future__ import annotations

from typing import Any

from asyncua.common.utils import Buffer, NotEnoughData
from asyncua.ua import ua_binary

ELEMENTS = 16
"""The most elements that the dimensions of an array may say, beyond those that come; no port has more than nine."""

_read = Buffer.read


def bound() -> None:
    """Set the bounds in this process, for good.

    The library takes a negative length as it comes, and goes back in the message: an array that says to have 2^31 elements
    of such strings is read without end. An array of nothing, 2^31 times, takes no bytes at all.
    """
    Buffer.read = _read_on
    ua_binary.MAX_RESHAPE_ELEMENTS = ELEMENTS
    ua_binary.Primitives1.Null = _Nothing()
    ua_binary._create_uatype_array_deserializer.cache_clear()


def _read_on(self: Buffer, size: int) -> bytes:
    """Read, but never backwards."""
    if size < 0:
        raise NotEnoughData(f"a length of {size}")
    return bytes(_read(self, size))


class _Nothing:
    """An array of nothing has no elements."""

    @staticmethod
    def pack_array(data: Any) -> bytes:
        """Write one."""
        return bytes(ua_binary.Primitives.Int32.pack(-1 if data is None else 0))

    @staticmethod
    def unpack_array(data: Buffer, length: int) -> tuple[()]:
        """Read one."""
        if length > 0:
            raise NotEnoughData(f"{length} elements of no size")
        return ()
