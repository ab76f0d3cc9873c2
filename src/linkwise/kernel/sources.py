"""What this package computes graphs by: its own sources, and whose work they do. Part of the key of whatever is kept of it."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.kernel import cache as disk

_ROOT = Path(__file__).parents[1]

#: When this process began to read the sources, s; they are known to be what runs here if they are older by more than that.
_STARTED, _IMPORT = time.time(), 1.0

#: For so long a look at the files holds, s.
_HOLDS = 1.0

_seen: tuple[float, str | None] | None = None


def is_own(item: Any) -> bool:
    """Whether a class or a function is defined by this package, and stands where its name says, not replaced by another."""
    module = sys.modules.get(item.__module__)
    path = getattr(module, "__file__", None) or ""
    return path.startswith(f"{_ROOT}{os.sep}") and getattr(module, item.__qualname__, None) is item


def sources_digest(*, again: bool = False) -> str | None:
    """A digest of the text of all modules of this package, and of the Python, NumPy and processor that they run on.

    A look at the times and sizes of the files tells whether they are those whose text was read last.

    Parameters
    ----------
    again : bool
        Whether to look at the files even if that was done just now.

    Returns
    -------
    str or None
        None where the text is not there, or has changed since this process began, which then may run an older one.
    """
    global _seen
    now = time.monotonic()
    if again or _seen is None or now - _seen[0] > _HOLDS:
        _seen = (now, _digest())
    return _seen[1]


def _digest() -> str | None:
    try:
        rows = _status(str(_ROOT))
    except OSError:
        return None
    if not rows or max(max(times) for _, _, *times in rows) > 1e9 * (_STARTED - _IMPORT):
        return None
    rows.sort()
    key = _hash("sources", rows).decode()
    text = disk.load(key)
    if text is None:
        try:
            text = _hash([(path[len(str(_ROOT)) :], hashlib.sha256(Path(path).read_bytes()).digest()) for path, *_ in rows])
        except OSError:
            return None
        disk.store(key, text)
    return _hash(text, sys.version, np.__version__, _features()).decode()


@cache
def _features() -> list[tuple[str, bool]]:
    """What the processor can do, by which NumPy chooses how it computes."""
    return sorted(np._core._multiarray_umath.__cpu_features__.items())  # type: ignore[attr-defined]


def _status(folder: str) -> list[tuple[str, int, int, int]]:
    """Path, size and times of modification and of change, ns, of every module below a folder."""
    rows, waiting = [], [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    rows.append((entry.path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    return rows


def _hash(*parts: Any) -> bytes:
    return hashlib.sha256(repr(parts).encode()).hexdigest().encode()
