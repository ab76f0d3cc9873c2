"""Log of the server: connections, logins, rejections, errors; no passwords, and a bounded number of lines of each kind."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

#: Logger of the server; `linkwise serve` writes it to standard error, other programs configure it by `logging`.
LOG = logging.getLogger("linkwise.server")

LOG.addHandler(logging.NullHandler())

#: Takes the level of `logging` and the text of a line.
Write: TypeAlias = Callable[[int, str], object]

#: Greatest number of lines of one kind within a window, s: repeated connections do not fill a disk.
LINES, WINDOW = 20, 60.0

#: The most lines that wait to be written.
WAITING = 200


@dataclass
class _Kind:
    """Lines of one kind in the present period."""

    since: float
    lines: int = 0
    level: int = logging.INFO


class LimitedLog:
    """Forwards a bounded number of lines of each kind, and counts the others.

    Parameters
    ----------
    write : callable
        Where lines go.
    clock : callable
        The time, s.

    Examples
    --------
    >>> log = LimitedLog(lambda level, text: print(text), clock=lambda: 0.0)
    >>> log("connection", "connection from 10.0.0.7:50000")
    connection from 10.0.0.7:50000
    """

    def __init__(self, write: Write, clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._kinds: dict[str, _Kind] = {}

    def __call__(self, kind: str, text: str, level: int = logging.INFO) -> None:
        """Log a line of a kind, unless there were many of that kind lately."""
        self.flush()
        of_kind = self._kinds.setdefault(kind, _Kind(self._clock()))
        of_kind.lines += 1
        of_kind.level = max(of_kind.level, level)
        if of_kind.lines <= LINES:
            self._write(level, text)

    def flush(self) -> None:
        """Log the number of suppressed lines of each kind whose period is over."""
        now = self._clock()
        for name, kind in [*self._kinds.items()]:
            if now - kind.since >= WINDOW:
                del self._kinds[name]
                if kind.lines > LINES:
                    self._write(kind.level, f"{kind.lines - LINES:,} more of this kind ({name}) within {WINDOW:g} s")


class Relay:
    """Forwards lines to a function in a thread; lines are dropped, without waiting, if it is too slow.

    Parameters
    ----------
    write : callable
        Where lines go.
    """

    def __init__(self, write: Write) -> None:
        self._lines: queue.Queue[tuple[int, str]] = queue.Queue(WAITING)
        self._write = write
        threading.Thread(target=self._run, daemon=True).start()

    def __call__(self, level: int, text: str) -> None:
        """Log a line."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait((level, text))

    def _run(self) -> None:
        while True:
            try:
                self._write(*self._lines.get())
            except OSError:  # (the listener has closed its end)
                return


def peer_name(peer: object) -> str:
    """Format the address of a peer for the log.

    Examples
    --------
    >>> peer_name(("10.0.0.7", 50000)), peer_name(("fe80::1", 50000, 0, 2)), peer_name(None)
    ('10.0.0.7:50000', '[fe80::1]:50000', 'an unknown address')
    """
    if not isinstance(peer, tuple) or len(peer) < 2:
        return "an unknown address"
    host, port = str(peer[0]), peer[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
