"""The modules that graphs come from, by their text: part of the key under which a kernel is found without tracing it."""

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

#: Folders, besides the modules at the top, of algorithms and of everything that they import.
FOLDERS = (
    "clearance",
    "arrays",
    "dynamics",
    "expr",
    "inverse_kinematics",
    "kernel",
    "kinematics",
    "looped",
    "loops",
    "model",
    "solve",
    "spatial",
    "sweeps",
    "workspace",
)

ROOT = Path(__file__).parents[1]

#: Start of this process, s; later changes, or changes shortly before, need not be in the running code.
_STARTED, _IMPORTING = time.time(), 1.0

#: Validity of a scan of the files, s.
_HOLDS = 1.0

_seen: list[tuple[float, str | None]] = []


def is_own(item: Any) -> bool:
    """True if a class or a function is defined in these modules under its own name."""
    module = sys.modules.get(item.__module__)
    try:
        parts = Path(getattr(module, "__file__", None) or "").relative_to(ROOT).parts
    except ValueError:
        return False
    return (len(parts) == 1 or parts[0] in FOLDERS) and getattr(module, item.__qualname__, None) is item


def sources_digest(*, again: bool = False) -> str | None:
    """A digest of the text of these modules, and of the Python, NumPy and processor that they run on.

    Times and sizes of the files tell whether the text is one that was read before.

    Parameters
    ----------
    again : bool
        Whether to look at the files even if that was done just now.

    Returns
    -------
    str or None
        None where there is no text, or it has changed since this process began, which may run the older one.
    """
    now = time.monotonic()
    last = _seen[:]  # (another thread may scan at the same time)
    if again or not last or now - last[0][0] > _HOLDS:
        last[:] = _seen[:] = [(now, _digest())]
    return last[0][1]


def _digest() -> str | None:
    try:
        files = _files()
        if not files or max(max(times) for _, _, *times in files) > 1e9 * (_STARTED - _IMPORTING):
            return None
        key = _hash("sources", str(ROOT), files).decode()
        text = disk.load(key)
        if text is None:
            text = _hash(*[(path, hashlib.sha256((ROOT / path).read_bytes()).digest()) for path, *_ in files])
            disk.store(key, text)
    except OSError:
        return None
    return _hash(text, sys.version, np.__version__, _features()).decode()


@cache
def _features() -> list[tuple[str, bool]]:
    """Processor features, by which NumPy chooses its code."""
    return sorted(np._core._multiarray_umath.__cpu_features__.items())  # type: ignore[attr-defined]


def _files() -> list[tuple[str, int, int, int]]:
    """Path, size and times of modification and of change, ns, of each module, sorted."""
    files, waiting = [], ["", *FOLDERS]
    while waiting:
        folder = waiting.pop()
        with os.scandir(ROOT / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    files.append((path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
                elif folder and "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(path)
    return sorted(files)


def _hash(*parts: Any) -> bytes:
    return hashlib.sha256(repr(parts).encode()).hexdigest().encode()
