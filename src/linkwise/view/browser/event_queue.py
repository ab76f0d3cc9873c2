"""Queue of user events that keeps the latest value of each key; many threads write, one reads."""

from __future__ import annotations

import threading
import time
from typing import Any


class Inbox:
    """Requests by their key: a newer one takes the place of an older one that nobody has read yet.

    A slider or a target that is dragged speaks a hundred times a second; only where it is now counts. Nothing waits in a
    queue, so the picture never lags behind the hand.

    Examples
    --------
    >>> inbox = Inbox()
    >>> inbox.put("speed", 1.0)
    >>> inbox.put("joint 0", 0.1)
    >>> inbox.put("speed", 2.0)
    >>> inbox.take(0.0)
    {'joint 0': 0.1, 'speed': 2.0}
    """

    def __init__(self) -> None:
        self._asked: dict[Any, Any] = {}
        self._filled = threading.Condition()

    def put(self, key: Any, value: Any) -> None:
        """Ask for something."""
        with self._filled:
            self._asked.pop(key, None)  # the newest goes last
            self._asked[key] = value
            self._filled.notify()

    def offer(self, key: Any, value: Any) -> None:
        """Ask for something unless something newer has been asked for under the same key."""
        with self._filled:
            if key not in self._asked:
                self._asked[key] = value
                self._filled.notify()

    def take(self, timeout: float) -> dict[Any, Any]:
        """Return what was asked for since the last time, waiting for it up to timeout (s); empty where nothing was."""
        until = time.monotonic() + timeout
        with self._filled:
            while not self._asked:
                left = until - time.monotonic()
                if left <= 0 or not self._filled.wait(left):
                    break
            asked, self._asked = self._asked, {}
        return asked
