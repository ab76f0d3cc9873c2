"""The line that tells how a run is doing, kept up to date by a thread beside it."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TextIO

from linkwise.control.serve.server import Server, State
from linkwise.control.serve.timing import Counts

EVERY = 0.5
"""How often the line is renewed, s."""

SWITCH = 1e-4
"""So long at most the cycle waits for this thread to yield, s."""

_NEWS = {
    "stalled": "The server does not respond; the cycle goes on.",
    "ended": "The server has ended; the cycle goes on without.",
    "serving": "The server responds again.",
}


@dataclass
class Status:
    """What is told, a context: it is shown from entering to leaving.

    Attributes
    ----------
    counts : Counts
        Of the run.
    server : Server, optional
        Who serves.
    stream : file
        Where to; the line only where that is a terminal, what happens to the server in any case.
    unsolved : int
        Cycles that left something lacking so far.
    """

    counts: Counts
    server: Server | None
    stream: TextIO
    unsolved: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)
    _state: State = "serving"
    _seen: tuple[float, int] = (0.0, 0)

    def line(self, now: float) -> str:
        """How it is: rate since the last time, late cycles, missed deadlines, unsolved cycles and clients."""
        before, cycles = self._seen
        self._seen = (now, self.counts.cycles)
        rate = (self.counts.cycles - cycles) / max(now - before, 1e-9)
        told = f"{rate:7.1f} Hz  {self.counts.cycles:,} cycles  {self.counts.late:,} late  {self.counts.overruns:,} overruns"
        told += f"  {self.unsolved:,} unsolved"
        return told if self.server is None else f"{told}  {self.server.counts['sessions']} clients"

    def news(self) -> str:
        """What became of the server since the last time; empty where it is as it was."""
        state = self._state if self.server is None else self.server.state
        said = "" if state == self._state else _NEWS[state]
        self._state = state
        return said

    def __enter__(self) -> Status:
        self._seen = (time.monotonic(), self.counts.cycles)
        self._interval, self._terminal = sys.getswitchinterval(), self.stream.isatty()
        sys.setswitchinterval(SWITCH)
        self._thread = threading.Thread(target=self._show, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join(2 * EVERY)
        sys.setswitchinterval(self._interval)
        if self._terminal:
            self._say("\r\x1b[K")

    def _show(self) -> None:
        while not self._ended.wait(EVERY):
            said = self.news()
            if said:
                self._say(f"\r\x1b[K{said}\n" if self._terminal else said + "\n")
            if self._terminal:
                self._say(f"\r\x1b[K{self.line(time.monotonic())}")

    def _say(self, text: str) -> None:
        """Say it, if there is still somebody to hear it: a terminal may be closed."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(text)
            self.stream.flush()
