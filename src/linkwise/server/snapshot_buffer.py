"""The board: the cycle puts all its values up at once, whoever reads gets those of one cycle or none, and nobody waits.

A sequence lock over four places in turn (after L. Lamport, Concurrent reading and writing, 1977). The number of the snapshot
stands before and after its values. Where the processor may let one write be seen before an earlier one, which those of the
x86-64 kind do not, a checksum over number and values has the last word. A reader that is overtaken tries again.
"""

from __future__ import annotations

import platform
import time
import zlib

from linkwise.server.shared_memory import BOARD_HEAD, SLOT_HEAD, SLOTS, SharedMemory
from linkwise.spatial.scalar import FloatArray

FIRST, STAMP, SUM, LAST = range(SLOT_HEAD)
TRIES = 16
ORDERED = platform.machine().lower() in ("x86_64", "amd64")
"""Whether the processor lets writes be seen in their order (Intel 64 manual, volume 3, memory ordering)."""
_MASK = 0xFFFFFFFF


class Slots:
    """The places for snapshots, as views."""

    def __init__(self, memory: SharedMemory) -> None:
        layout = memory.layout
        begins = [layout.board + k * layout.slot for k in range(SLOTS)]
        self.head = memory.words[BOARD_HEAD : BOARD_HEAD + 1]
        self.heads = [memory.words[begin : begin + SLOT_HEAD] for begin in begins]
        self.stamps = [memory.numbers[begin + STAMP : begin + STAMP + 1] for begin in begins]
        self.numbers = [memory.numbers[begin + SLOT_HEAD : begin + SLOT_HEAD + layout.values] for begin in begins]


class Publisher:
    """The side of the cycle.

    Parameters
    ----------
    memory : SharedMemory
        Where to.
    values : ndarray (N,)
        The vector that is put up each time.
    summed : bool
        Whether with a checksum.
    """

    def __init__(self, memory: SharedMemory, values: FloatArray, summed: bool = not ORDERED) -> None:
        slots = Slots(memory)
        self._head = slots.head
        self._places = tuple(zip(slots.heads, slots.stamps, slots.numbers, strict=True))
        self._values = values.data
        self._bytes = self._values.cast("B")
        self._count, self._summed = 0, summed

    def publish(self) -> None:
        """Put the values up as they are now."""
        self._count = count = self._count + 1
        head, stamp, numbers = self._places[count % SLOTS]
        head[FIRST] = count
        numbers[:] = self._values
        stamp[0] = time.time()
        if self._summed:
            head[SUM] = zlib.crc32(self._bytes, count & _MASK)
        head[LAST] = count
        self._head[0] = count


class Snapshots:
    """The side of the server.

    Parameters
    ----------
    memory, values, summed
        As of `Publisher`.

    Attributes
    ----------
    values : ndarray (N,)
        The newest values that were whole.
    count, stamp : int, float
        Their number, 0 before there are any, and when they were put up, s since 1970.
    torn : int
        How often a snapshot was not whole and was read again.
    """

    def __init__(self, memory: SharedMemory, values: FloatArray, summed: bool = not ORDERED) -> None:
        slots = Slots(memory)
        self._head, self._summed = slots.head, summed
        self._places = tuple(zip(slots.heads, slots.stamps, slots.numbers, strict=True))
        self.values = values
        self._new = values.copy()
        self._view = self._new.data
        self._bytes = self._view.cast("B")
        self.count, self.stamp, self.torn = 0, 0.0, 0

    def read(self) -> bool:
        """Take the newest snapshot; False where there is none that is newer than the last."""
        for _ in range(TRIES):
            count = self._head[0]
            if count == self.count:
                return False
            stamp = self._copy(count)
            if stamp is not None:
                self.values[:] = self._new
                self.count, self.stamp = count, stamp
                return True
            self.torn += 1
        return False

    def _copy(self, count: int) -> float | None:
        """Copy a snapshot aside; when it was put up, or None where it is not whole."""
        head, stamps, numbers = self._places[count % SLOTS]
        if head[FIRST] != count:
            return None
        self._view[:] = numbers
        stamp = stamps[0]
        if not head[FIRST] == head[LAST] == count:
            return None
        return None if self._summed and head[SUM] != zlib.crc32(self._bytes, count & _MASK) else stamp
