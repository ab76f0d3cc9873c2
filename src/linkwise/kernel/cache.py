"""Object code kept on disk, per user: never trusted before its owner, its permissions and its checksum are checked.

When the files grow above a limit, those that have not been used for the longest time are deleted. No lock is needed for
that: a file is there whole or not at all, what a process has opened it can read to the end, and what it does not find it
compiles.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import stat
import tempfile
import time
from pathlib import Path

#: Environment variable that names another directory; empty switches the cache off.
VARIABLE = "LINKWISE_CACHE_DIR"

#: Environment variable with the greatest size of the cache, MB.
LIMIT_VARIABLE = "LINKWISE_CACHE_MB"

#: Default greatest size, MB.
LIMIT_MB = 512.0

#: Share of the limit kept by a deletion, so that not every new file causes another one.
_KEEP = 0.8

#: Age in s of an abandoned unfinished file, and age from which a use is recorded again.
_STALE, _FRESH = 86400.0, 3600.0

#: A folder is scanned again after one new file for this many existing ones.
_FILES_A_LOOK = 64

_MARK = b"linkwise object 1\n"

#: Files and bytes that may be written before the next scan of a folder, for its limit.
_unseen: dict[tuple[str, float], tuple[int, float]] = {}


def directory() -> Path | None:
    """Folder of object code; None if the cache is off."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen) if chosen else None
    import platformdirs

    try:
        place = Path(platformdirs.user_cache_dir("linkwise", appauthor=False))
    except RuntimeError:  # (neither the environment nor the system has a home folder for this user)
        return None
    return place / "kernels" if place.is_absolute() else None


def load(key: str) -> bytes | None:
    """Read the object code of a key; None if it is missing or not trusted. A damaged entry is removed."""
    place = directory()
    if place is None or not _is_private(place):
        return None
    path = place / f"{key}.o"
    content = _read_private(path)
    if content is None:
        return None
    code = content[len(_MARK) + 32 :]
    if content[: len(_MARK)] == _MARK and content[len(_MARK) : len(_MARK) + 32] == _checksum(key, code):
        _note_use(path)
        return code
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def store(key: str, code: bytes) -> None:
    """Keep the object code of a key, whole or not at all; a cache that cannot be written is not an error."""
    place = directory()
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(place):
            return
        handle, name = tempfile.mkstemp(dir=place, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MARK + _checksum(key, code) + code)
            os.replace(name, place / f"{key}.o")
        except OSError:
            Path(name).unlink(missing_ok=True)
        _prune_at_times(place, f"{key}.o", len(code))


def remove(key: str) -> None:
    """Remove the entry of a key."""
    place = directory()
    if place is not None and _is_private(place):
        with contextlib.suppress(OSError):
            (place / f"{key}.o").unlink()


def limit() -> float:
    """Greatest size of the cache, bytes."""
    with contextlib.suppress(ValueError):
        chosen = float(os.environ.get(LIMIT_VARIABLE, LIMIT_MB))
        if not math.isnan(chosen):
            return 1e6 * max(0.0, chosen)
    return 1e6 * LIMIT_MB


def prune(place: Path, newest: str = "") -> tuple[int, float]:
    """Delete the least recently used entries above the limit, and old unfinished files.

    Parameters
    ----------
    place : Path
        The folder.
    newest : str
        Name of a file that stays whatever its size.

    Returns
    -------
    files : int
        How many files of object code there were.
    room : float
        How many bytes fit until there is too much again.
    """
    objects, now = [], time.time()
    with os.scandir(place) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    continue
                if entry.name.endswith(".o"):
                    objects.append((status.st_mtime, status.st_size, entry.name))
                elif entry.name.endswith(".tmp") and now - status.st_mtime > _STALE:
                    os.unlink(entry.path)
    total = sum(size for _, size, _ in objects)
    most = limit()
    if total > most:
        for _, size, name in sorted(objects):
            if total <= _KEEP * most:
                break
            if name != newest:
                with contextlib.suppress(OSError):
                    os.unlink(place / name)
                    total -= size
    return len(objects), most - total


def _prune_at_times(place: Path, newest: str, size: int) -> None:
    """Prune after writing a file, unless a recent scan left room: scanning thousands of files takes long."""
    where = str(place), limit()
    files, room = _unseen.get(where, (0, 0.0))
    if files > 0 and size < room:
        _unseen[where] = files - 1, room - size
    else:
        files, room = prune(place, newest)
        _unseen[where] = files // _FILES_A_LOOK, room


def _note_use(path: Path) -> None:
    """Write down, as the time of the file, that it was used; not again within the hour."""
    with contextlib.suppress(OSError):
        if time.time() - os.stat(path).st_mtime > _FRESH:
            os.utime(path)


def _checksum(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + code).digest()


def _is_private(place: Path) -> bool:
    """True if a directory is not a link and only this user can write to it."""
    try:
        status = os.lstat(place)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _only_ours(status)


def _read_private(path: Path) -> bytes | None:
    """The content of a regular file that only this user can write to; symbolic links are not followed."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _only_ours(status):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return None
    finally:
        os.close(handle)


def _only_ours(status: os.stat_result) -> bool:
    """True if owned by this user and writable by nobody else (on Windows by the profile's access list, not these bits)."""
    if os.name != "posix":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
