"""Shared memory of the control and the server process: a snapshot buffer and a write queue.

A sequence lock over four places in turn (after L. Lamport, Concurrent reading and writing, 1977). The number of the snapshot
stands before and after its values. Where the processor may let one write be seen before an earlier one, which those of the
x86-64 kind do not, a checksum over number and values has the last word. A reader that is overtaken tries again.

One process posts, the other takes; neither waits for the other. The outcome of an entry is reported after the cycle that
took it has published its values: a client whose write was accepted finds its effect there. An entry that the cycle does not
take in time is void, so that a cycle that stood still does not act on commands of long ago. The cycle leaves the numbers
that an input had before in the entry that changed them. Cycles in which an output had a value that is watched for are
counted, so that none is missed by a reader that looks less often.
"""

from __future__ import annotations

import mmap
import os
import platform
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

WORD = 8
COUNTERS = 64
SLOTS = 4
SLOT_HEAD = 4
ENTRY_HEAD = 4

# Each line of the processor's cache is written by one side only.
#: Written by the cycle: the number of the newest snapshot.
BOARD_HEAD = 0

#: Written by the cycle: the last entry taken, and counts of outcomes.
MAIL_TAIL, REFUSED, ACCEPTED, EXPIRED, BROKEN = 8, 9, 10, 11, 12

#: Written by the server: the last entry posted, its last heartbeat, clients, and its own rejections.
MAIL_HEAD, HEARTBEAT, SESSIONS, CONNECTIONS, DENIED, TURNED_AWAY = 16, 17, 18, 19, 20, 21


@dataclass(frozen=True)
class MemoryLayout:
    """Layout of the shared memory, in words of eight bytes.

    Attributes
    ----------
    values : int
        Numbers of a chain.
    width : int
        Numbers of its largest input.
    entries : int
        How many writes may wait.
    watched : int
        How many outputs are watched for a value.
    """

    values: int
    width: int
    entries: int = 256
    watched: int = 0

    @property
    def board(self) -> int:
        """Offset of the snapshots."""
        return COUNTERS

    @property
    def slot(self) -> int:
        """Words of a snapshot, whole cache lines."""
        return -(-(SLOT_HEAD + self.values) // 8) * 8

    @property
    def mail(self) -> int:
        """Offset of the mailbox entries."""
        return self.board + SLOTS * self.slot

    @property
    def entry(self) -> int:
        """Words of an entry."""
        return -(-(ENTRY_HEAD + self.width) // 8) * 8

    @property
    def outcomes(self) -> int:
        """Offset of the outcomes of entries."""
        return self.mail + self.entries * self.entry

    @property
    def words(self) -> int:
        """Number of words."""
        return self.watches + self.watched if self.watched else self.outcomes + self.entries

    @property
    def watches(self) -> int:
        """Offset of the counts of watched values."""
        return -(-(self.outcomes + self.entries) // 8) * 8


class SharedMemory:
    """Anonymous shared memory, initially zero; it is released with the last process that uses it.

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
        """Close the handle; existing views remain valid."""
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


FIRST, STAMP, SUM, LAST = range(SLOT_HEAD)
TRIES = 16

#: True if the processor makes writes visible in order (Intel 64 manual, volume 3, memory ordering).
ORDERED = platform.machine().lower() in ("x86_64", "amd64")

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


def watch_counts(memory: SharedMemory) -> npt.NDArray[np.int64]:
    """Counts (w,) of cycles in which each watched condition held: of the newest snapshot, or later."""
    begin = memory.layout.watches
    return np.frombuffer(memory.words[begin : begin + memory.layout.watched], dtype=np.int64)


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
    watches : sequence of (int, float)
        Places among the values, and what each is watched for.
    """

    def __init__(
        self,
        memory: SharedMemory,
        values: FloatArray,
        summed: bool = not ORDERED,
        watches: Sequence[tuple[int, float]] = (),
    ) -> None:
        slots = Slots(memory)
        self._head = slots.head
        self._all, self._watched = values, np.array([place for place, _ in watches], dtype=np.intp)
        self._wanted, self._counts = np.array([value for _, value in watches]), watch_counts(memory)
        self._places = tuple(zip(slots.heads, slots.stamps, slots.numbers, strict=True))
        self._values = values.data
        self._bytes = self._values.cast("B")
        self._count, self._summed = 0, summed

    def publish(self) -> None:
        """Put the values up as they are now."""
        if len(self._watched) and self._count:  # (the first snapshot is before any cycle)
            self._counts += self._all[self._watched] == self._wanted
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
        """Take the newest snapshot; False if there is no new one."""
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
        """Copy a snapshot; return its time, or None if it was overwritten meanwhile."""
        head, stamps, numbers = self._places[count % SLOTS]
        if head[FIRST] != count:
            return None
        self._view[:] = numbers
        stamp = stamps[0]
        if not head[FIRST] == head[LAST] == count:
            return None
        return None if self._summed and head[SUM] != zlib.crc32(self._bytes, count & _MASK) else stamp


TICKET, PORT, POSTED, ENTRY_SUM = range(ENTRY_HEAD)

#: Number of cycles in which an incomplete entry is read again before it is dropped.
PATIENCE = 3

_CODES = 8

#: The outcome of an entry is kept until its place was reused this many times.
KEPT = 4


class Outcome(IntEnum):
    """Outcome of an entry."""

    waiting = 0
    accepted = 1
    refused = 2
    expired = 3
    broken = 4


class ChainCommand(IntEnum):
    """Command of a client other than a write, encoded in the entry's field of the input."""

    reset = -1
    save = -2
    restore = -3


#: The word that counts each outcome that is final, by its number.
_COUNTED = (0, ACCEPTED, REFUSED, EXPIRED, BROKEN)


class Mail:
    """The entries and their outcomes, as views of both sides."""

    def __init__(self, memory: SharedMemory) -> None:
        layout = memory.layout
        begins = [layout.mail + k * layout.entry for k in range(layout.entries)]
        self.entries, self.width = layout.entries, layout.width
        self.words = memory.words
        self.heads = [memory.words[begin : begin + ENTRY_HEAD] for begin in begins]
        self.numbers = [memory.numbers[begin + ENTRY_HEAD : begin + ENTRY_HEAD + layout.width] for begin in begins]
        self.outcomes = memory.words[layout.outcomes : layout.outcomes + layout.entries]

    def sum(self, place: int, ticket: int) -> int:
        """Checksum of an entry: over its port, its time, and its numbers."""
        head = self.heads[place][PORT:ENTRY_SUM]
        return zlib.crc32(self.numbers[place].cast("B"), zlib.crc32(head.cast("B"), ticket & _MASK))


class Sender:
    """The server's side. The outcome of an entry is saved for its waiting client before its place is reused."""

    def __init__(self, memory: SharedMemory) -> None:
        self._mail = Mail(memory)
        self._count = 0
        self._settled: dict[int, tuple[Outcome, list[float] | None]] = {}

    def post(self, port: int, numbers: Sequence[float]) -> int | None:
        """Post numbers for the input of a place; its ticket, or None where too many wait already."""
        mail = self._mail
        if self._count - mail.words[MAIL_TAIL] >= mail.entries:
            return None
        self._count = ticket = self._count + 1
        place, before = ticket % mail.entries, ticket - mail.entries
        if before > 0:
            self._settled[before] = self.outcome(before), self.numbers(before)
            self._settled.pop(before - KEPT * mail.entries, None)
        head, slots = mail.heads[place], mail.numbers[place]
        for k in range(mail.width):
            slots[k] = numbers[k] if k < len(numbers) else 0.0
        head[TICKET], head[PORT], head[POSTED] = ticket, port, time.monotonic_ns()
        head[ENTRY_SUM] = mail.sum(place, ticket)
        mail.words[MAIL_HEAD] = ticket
        return ticket

    def outcome(self, ticket: int) -> Outcome:
        """Outcome of a ticket."""
        if ticket in self._settled:
            return self._settled[ticket][0]
        known, code = divmod(self._mail.outcomes[ticket % self._mail.entries], _CODES)
        return Outcome(code) if known == ticket else Outcome.waiting

    def numbers(self, ticket: int) -> list[float] | None:
        """The numbers of the entry of a ticket, after an accepted write those that the input had before; None where lost."""
        if ticket in self._settled:
            return self._settled[ticket][1]
        place = ticket % self._mail.entries
        numbers = list(self._mail.numbers[place])
        return numbers if self._mail.heads[place][TICKET] == ticket else None


class Receiver:
    """The side of the cycle.

    Parameters
    ----------
    memory : SharedMemory
        Where from.
    accept : callable
        Given the place of an input, or a `ChainCommand`, and its numbers, as a memoryview, in which it may leave others;
        whether it takes them.
    lifetime : float
        How long an entry stays good, s.
    most : int
        So many are taken in a cycle; the others wait.
    """

    def __init__(
        self, memory: SharedMemory, accept: Callable[[int, memoryview[float]], bool], lifetime: float = 1.0, most: int = 16
    ) -> None:
        self._mail = Mail(memory)
        self._words = memory.words
        self._accept, self._lifetime, self._most = accept, round(lifetime * 1e9), most
        self._tail = self._tries = 0
        self.taken: list[tuple[int, int]] = []

    def take(self) -> None:
        """Take the new entries."""
        if self._words[MAIL_HEAD] != self._tail:
            self._take()

    def tell(self) -> None:
        """Publish the outcomes of the entries taken, after the cycle has published its values."""
        for place, outcome in self.taken:
            self._mail.outcomes[place] = outcome
        self.taken.clear()
        self._words[MAIL_TAIL] = self._tail

    def _take(self) -> None:
        mail, words = self._mail, self._words
        for _ in range(self._most):
            if words[MAIL_HEAD] == self._tail:
                return
            ticket = self._tail + 1
            place = ticket % mail.entries
            outcome = self._outcome(place, ticket)
            if outcome is Outcome.waiting:
                return
            self._tail, self._tries = ticket, 0
            words[_COUNTED[outcome]] += 1
            self.taken.append((place, ticket * _CODES + outcome))

    def _outcome(self, place: int, ticket: int) -> Outcome:
        mail = self._mail
        head = mail.heads[place]
        if head[TICKET] != ticket or head[ENTRY_SUM] != mail.sum(place, ticket):
            self._tries += 1
            return Outcome.waiting if self._tries < PATIENCE else Outcome.broken
        if time.monotonic_ns() - head[POSTED] > self._lifetime:
            return Outcome.expired
        return Outcome.accepted if self._accept(head[PORT], mail.numbers[place]) else Outcome.refused
