"""Client writes on their way to the cycle: validated, posted, acknowledged and audited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.control.ports import Ports
from linkwise.errors import FileError
from linkwise.server.audit import AuditLog, AuditRecord, now
from linkwise.server.shared_memory import ChainCommand, Outcome, Sender
from linkwise.spatial.scalar import FloatArray

#: An answer is waited for this many times longer than an entry in the mailbox is good for: then it is void for certain.
PATIENCE = 1.5

#: Polling interval of outcomes, s.
LOOK = 1e-3


@dataclass(frozen=True)
class Author:
    """Author of a write: the user's name, the address, and the server ("opcua" or "view")."""

    user: str
    address: str
    by: str


@dataclass(frozen=True)
class Write:
    """A write to an input, checked already, or a command.

    Attributes
    ----------
    target : str or ChainCommand
        The input's name.
    numbers : ndarray
        What is written, as `Port.check` gives it.
    """

    target: str | ChainCommand
    numbers: FloatArray = field(default_factory=lambda: np.zeros(0))


class ClientWrites:
    """Forwards client writes.

    Parameters
    ----------
    ports : Ports
        The server's own copy of the table.
    sender : Sender
        The mailbox to the cycle.
    stale : float
        So long an entry in it is good, s.
    audit : AuditLog, optional
        Where it is put on record. While that cannot be written nothing is passed on.
    failed : callable
        Called with the reason why the record cannot be written.
    """

    def __init__(
        self,
        ports: Ports,
        sender: Sender,
        stale: float,
        audit: AuditLog | None = None,
        failed: Callable[[str], object] = str,
    ) -> None:
        self._ports, self._sender, self._patience = ports, sender, PATIENCE * stale
        self._audit, self._failed, self._unwritten = audit, failed, False
        self._places = {name: place for place, name in enumerate(ports)}
        self._sending: set[asyncio.Task[list[Outcome | None]]] = set()

    async def send(self, writes: Sequence[Write], author: Author) -> list[Outcome | None]:
        """Forward writes to the cycle; return the outcome of each, None if too many wait or the audit log fails.

        They are put on record also where the caller is cancelled meanwhile, as for a client whose connection ends.
        """
        task = asyncio.create_task(self._send(writes, author))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait until all that was passed on is on record."""
        await asyncio.gather(*self._sending, return_exceptions=True)

    async def _send(self, writes: Sequence[Write], author: Author) -> list[Outcome | None]:
        if self._unwritten and not await self._recorded(()):
            return [None] * len(writes)
        tickets = [self._post(write) for write in writes]
        outcomes: list[Outcome | None] = [Outcome.waiting if ticket else None for ticket in tickets]
        before: list[list[float] | None] = [None] * len(tickets)
        deadline = time.monotonic() + self._patience
        while True:
            for k, ticket in enumerate(tickets):
                if ticket and outcomes[k] is Outcome.waiting:
                    outcomes[k], before[k] = self._sender.outcome(ticket), self._sender.numbers(ticket)
            if Outcome.waiting not in outcomes or time.monotonic() >= deadline:
                break
            await asyncio.sleep(LOOK)
        if self._audit is not None:
            known = zip(writes, outcomes, before, strict=True)
            await self._recorded([self._record(w, o, b, author) for w, o, b in known if o is not None])
        return outcomes

    def _post(self, write: Write) -> int | None:
        if isinstance(write.target, ChainCommand):
            return self._sender.post(int(write.target), ())
        return self._sender.post(self._places[write.target], write.numbers.ravel().tolist())

    def _record(self, write: Write, outcome: Outcome, before: list[float] | None, author: Author) -> AuditRecord:
        who = (now(), author.user, author.address, author.by)
        if isinstance(write.target, ChainCommand):
            return AuditRecord(*who, write.target.name, None, None, None, outcome.name)
        old = None if before is None or outcome is not Outcome.accepted else self._value(write.target, np.array(before))
        return AuditRecord(*who, "write", write.target, old, self._value(write.target, write.numbers.ravel()), outcome.name)

    def _value(self, name: str, numbers: FloatArray) -> Any:
        port = self._ports[name]
        value: Any = port.decode(numbers[: port.size].reshape(port.shape))
        return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value

    async def _recorded(self, records: Sequence[AuditRecord]) -> bool:
        """Write records to the disk in a thread, as that may take long; return the success."""
        assert self._audit is not None
        try:
            await asyncio.to_thread(self._audit.append, records)
            self._unwritten = False
        except FileError as error:
            self._unwritten = True
            self._failed(f"writes are refused, for none can be recorded: {error}")
        return not self._unwritten
