"""Status line of a run, updated by a thread; errors go to the log."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

from linkwise.server.log import LOG, LimitedLog
from linkwise.server.scheduler import Counts
from linkwise.server.service import Service, State

#: Interval of updates of the line, s.
EVERY = 0.5

#: Greatest time that the cycle waits for this thread to yield, s.
SWITCH = 1e-4

_NEWS = {
    "stalled": "the server does not respond; the cycle goes on",
    "ended": "the server has ended; the cycle goes on without",
    "serving": "the server responds again",
}


@dataclass
class Status:
    """The status line, a context manager: the line is shown from entering to leaving.

    Attributes
    ----------
    counts : Counts
        Of the run.
    server : Server, optional
        Who serves.
    stream : file
        Where to, where that is a terminal; elsewhere there is no line.
    reason : callable
        Why the last cycle is unsolved.
    unsolved : int
        Cycles that left something lacking so far.
    """

    counts: Counts
    server: Service | None
    stream: TextIO
    reason: Callable[[], str] = str
    unsolved: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)
    _state: State = "serving"
    _seen: tuple[float, int] = (0.0, 0)
    _known: tuple[int, int, int, str] = (0, 0, 0, "")
    _failed: int = 0
    _log: LimitedLog = field(default_factory=lambda: LimitedLog(LOG.log))

    def line(self, now: float) -> str:
        """Status: rate since the last time, late cycles, missed deadlines, unsolved cycles and clients."""
        before, cycles = self._seen
        self._seen = (now, self.counts.cycles)
        rate = (self.counts.cycles - cycles) / max(now - before, 1e-9)
        text = f"{rate:7.1f} Hz  {self.counts.cycles:,} cycles  {self.counts.late:,} late  {self.counts.overruns:,} overruns"
        text += f"  {self.unsolved:,} unsolved"
        return text if self.server is None else f"{text}  {self.server.counts['sessions']} clients"

    def look(self) -> None:
        """Log errors since the last time: of the cycles, the server, and client writes."""
        server, (unsolved, overruns, stopped, refusal) = self.server, self._known
        state: State = "serving" if server is None else server.state
        stops, last = (0, "") if server is None else (server.stopped, server.last_refusal)
        self._known = (self.unsolved, self.counts.overruns, stops, last)
        if state != self._state:
            self._log("server", _NEWS[state], logging.INFO if state == "serving" else logging.ERROR)
            self._state = state
        if self.unsolved > unsolved and not self._failed:
            self._log("unsolved", f"cycles are unsolved, at cycle {self.counts.cycles:,}: {self.reason()}", logging.WARNING)
        self._failed += self.unsolved - unsolved
        if self.unsolved == unsolved and self._failed:
            self._log("unsolved", f"solved again, after {self._failed:,} unsolved cycles")
            self._failed = 0
        if self.counts.overruns > overruns:
            self._log("deadlines", f"deadlines missed: {self.counts.overruns - overruns:,}", logging.WARNING)
        if stops > stopped:
            self._log("hold", f"velocities set to zero that no client wrote any more: {stops - stopped:,}", logging.WARNING)
        if last != refusal:
            self._log("write", f"a write of a client is refused: {last}", logging.WARNING)
        self._log.flush()

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
        self.look()  # (report the last cycles)
        sys.setswitchinterval(self._interval)
        if self._terminal:
            self._say("\r\x1b[K")

    def _show(self) -> None:
        while not self._ended.wait(EVERY):
            self.look()
            if self._terminal:
                self._say(f"\r\x1b[K{self.line(time.monotonic())}")

    def _say(self, text: str) -> None:
        """Write the line, if the terminal is still open."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(text)
            self.stream.flush()
