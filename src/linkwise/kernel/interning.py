"""Objects that a process unpickles once: later copies become the first object, with everything compiled for it."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

#: Number of most recent objects that are kept.
KEPT = 64

_objects: OrderedDict[str, Any] = OrderedDict()
_lock = threading.RLock()


def interned(key: str | None, make: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Result of ``__reduce__`` for an immutable object.

    Parameters
    ----------
    key : str or None
        The same for the same content alone; None for an object that is unpickled anew each time.
    make, arguments
        What makes it, and of what: they are read where the process does not have it yet.
    """
    return (make, arguments) if key is None else (_once, (key, pickle.dumps((make, arguments))))


def _once(key: str, content: bytes) -> Any:
    with _lock:
        if key not in _objects:
            make, arguments = pickle.loads(content)
            _objects[key] = make(*arguments)
        _objects.move_to_end(key)
        while len(_objects) > KEPT:
            _objects.popitem(last=False)
        return _objects[key]
