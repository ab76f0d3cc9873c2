"""The mailbox: what clients write to inputs waits here until the cycle takes it, and learns what became of it.

One process posts, the other takes; neither waits for the other. What became of an entry is told after the cycle that took it
has put its values up: who hears that a write was accepted finds its effect there. An entry that the cycle does not take in
time is void, so that a cycle that stood still does not act on commands of long ago.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from enum import IntEnum

from linkwise.server.shared_memory import ACCEPTED, BROKEN, ENTRY_HEAD, EXPIRED, MAIL_HEAD, MAIL_TAIL, REFUSED, SharedMemory

TICKET, PORT, POSTED, SUM = range(ENTRY_HEAD)
PATIENCE = 3
"""So many cycles an entry that is not whole is looked at again before it is given up."""
_CODES = 8
_MASK = 0xFFFFFFFF


class Outcome(IntEnum):
    """What became of an entry."""

    waiting = 0
    accepted = 1
    refused = 2
    expired = 3
    broken = 4


_COUNTED = (0, ACCEPTED, REFUSED, EXPIRED, BROKEN)
"""The word that counts each outcome that is final, by its number."""


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
        """The checksum of an entry as it stands: over its port, when it was posted, and its numbers."""
        head = self.heads[place][PORT:SUM]
        return zlib.crc32(self.numbers[place].cast("B"), zlib.crc32(head.cast("B"), ticket & _MASK))


class Sender:
    """The side of the server."""

    def __init__(self, memory: SharedMemory) -> None:
        self._mail = Mail(memory)
        self._count = 0

    def post(self, port: int, numbers: Sequence[float]) -> int | None:
        """Post numbers for the input of a place; its ticket, or None where too many wait already."""
        mail = self._mail
        if self._count - mail.words[MAIL_TAIL] >= mail.entries:
            return None
        self._count = ticket = self._count + 1
        place = ticket % mail.entries
        head, slots = mail.heads[place], mail.numbers[place]
        for k in range(mail.width):
            slots[k] = numbers[k] if k < len(numbers) else 0.0
        head[TICKET], head[PORT], head[POSTED] = ticket, port, time.monotonic_ns()
        head[SUM] = mail.sum(place, ticket)
        mail.words[MAIL_HEAD] = ticket
        return ticket

    def outcome(self, ticket: int) -> Outcome:
        """What became of a ticket."""
        known, code = divmod(self._mail.outcomes[ticket % self._mail.entries], _CODES)
        return Outcome(code) if known == ticket else Outcome.waiting


class Receiver:
    """The side of the cycle.

    Parameters
    ----------
    memory : SharedMemory
        Where from.
    accept : callable
        Given the place of an input and its numbers, as a memoryview; whether it takes them.
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
        """Take what has come."""
        if self._words[MAIL_HEAD] != self._tail:
            self._take()

    def tell(self) -> None:
        """Tell what became of what was taken: when the cycle is done and its values are up."""
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
        if head[TICKET] != ticket or head[SUM] != mail.sum(place, ticket):
            self._tries += 1
            return Outcome.waiting if self._tries < PATIENCE else Outcome.broken
        if time.monotonic_ns() - head[POSTED] > self._lifetime:
            return Outcome.expired
        return Outcome.accepted if self._accept(head[PORT], mail.numbers[place]) else Outcome.refused
