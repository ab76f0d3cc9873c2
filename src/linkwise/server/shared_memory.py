"""SharedMemory that the process of the cycle and the process of the server share, and what stands where in it."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from dataclasses import asdict, dataclass

WORD = 8
COUNTERS = 64
SLOTS = 4
SLOT_HEAD = 4
ENTRY_HEAD = 4

# Each line of the processor's cache is written by one side only.
BOARD_HEAD = 0
"""Written by the cycle: the number of the newest snapshot."""
MAIL_TAIL, REFUSED, ACCEPTED, EXPIRED, BROKEN = 8, 9, 10, 11, 12
"""Written by the cycle: the last entry taken, and what became of all."""
MAIL_HEAD, HEARTBEAT, SESSIONS, CONNECTIONS, DENIED, TURNED_AWAY = 16, 17, 18, 19, 20, 21
"""Written by the server: the last entry posted, when it was last well, who is there, what it refused by itself."""


@dataclass(frozen=True)
class MemoryLayout:
    """What stands where, in words of eight bytes.

    Attributes
    ----------
    values : int
        Numbers of a chain.
    width : int
        Numbers of its largest input.
    entries : int
        How many writes may wait.
    """

    values: int
    width: int
    entries: int = 256

    @property
    def board(self) -> int:
        """Where the snapshots begin."""
        return COUNTERS

    @property
    def slot(self) -> int:
        """Words of a snapshot, whole cache lines."""
        return -(-(SLOT_HEAD + self.values) // 8) * 8

    @property
    def mail(self) -> int:
        """Where the entries of the mailbox begin."""
        return self.board + SLOTS * self.slot

    @property
    def entry(self) -> int:
        """Words of an entry."""
        return -(-(ENTRY_HEAD + self.width) // 8) * 8

    @property
    def outcomes(self) -> int:
        """Where the outcomes of the entries begin."""
        return self.mail + self.entries * self.entry

    @property
    def words(self) -> int:
        """How many there are."""
        return self.outcomes + self.entries

    def as_dict(self) -> dict[str, int]:
        """It as plain numbers."""
        return asdict(self)


class SharedMemory:
    """A piece of shared memory, zero at first. It has no name on any disk: it is gone with the last process that holds it.

    Parameters
    ----------
    layout : MemoryLayout
        What is to find place in it.
    handle : int or str, optional
        What the other process was given; new memory if left out.

    Attributes
    ----------
    words, numbers : memoryview
        All of it as int64, and as float64.
    handle : int or str
        What another process needs: a file descriptor to be inherited, or on Windows a name.
    """

    def __init__(self, layout: MemoryLayout, handle: int | str | None = None) -> None:
        self.layout = layout
        size = layout.words * WORD
        if sys.platform == "win32":
            self.handle: int | str = handle or f"Local\\linkwise-{os.getpid()}-{os.urandom(8).hex()}"
            self._map = mmap.mmap(-1, size, tagname=str(self.handle))
        else:
            self.handle = _anonymous(size) if handle is None else int(handle)
            self._map = mmap.mmap(self.handle, size)
        self.words = memoryview(self._map).cast("q")
        self.numbers = memoryview(self._map).cast("d")

    def close(self) -> None:
        """Give up the handle; views that are still held stay good."""
        if isinstance(self.handle, int) and self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


def _anonymous(size: int) -> int:
    """A file of a size that has no name, or has lost it already."""
    if sys.platform == "linux":
        handle = os.memfd_create("linkwise")
    else:
        with tempfile.TemporaryFile() as file:
            handle = os.dup(file.fileno())
    os.ftruncate(handle, size)
    return handle
