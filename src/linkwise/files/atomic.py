"""Atomic file writing: a file is written under a temporary name and renamed only when complete."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from linkwise.errors import FileError
from linkwise.files.text import cannot_open, refused


def write_text(path: str | Path, parts: Iterable[str]) -> None:
    """Write text in UTF-8 as `write_bytes` does.

    Parameters
    ----------
    path : str or Path
        The file.
    parts : iterable of str
        The text.

    Raises
    ------
    FileError
        Where the file cannot be written, or the text holds what UTF-8 has no bytes for.
    """

    def encoded() -> Iterator[bytes]:
        try:
            for part in parts:
                yield part.encode()
        except UnicodeEncodeError as error:
            raise refused(path, f"the text holds {error.object[error.start]!r}, which UTF-8 cannot encode") from error

    write_bytes(path, encoded())


def write_bytes(path: str | Path, parts: bytes | Iterable[bytes]) -> None:
    """Write a file atomically; its folder must exist, symbolic links and permissions are preserved.

    Parameters
    ----------
    path : str or Path
        The file.
    parts : bytes or iterable of bytes
        The content.

    Raises
    ------
    FileError
        Where the file cannot be written; what was there before is unchanged then.
    """
    with _refusals(path, ValueError, RuntimeError):  # (a zero byte in the name; a loop of links, before Python 3.13)
        if os.path.isdir(Path(path)):
            raise cannot_open(path, IsADirectoryError())
        target = Path(path).resolve()
        if target.is_symlink():  # (a loop of links, which Python 3.13 does not refuse)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        pending = TextFile(target, _mode(target))
    try:
        with _refusals(path):
            pending.file.writelines([parts] if isinstance(parts, bytes) else parts)
            pending.settle()
    finally:
        pending.drop()


class Folder:
    """The folder of a run's results, a context: on leaving, the files get their names, or vanish if it failed.

    So does a folder that was made for them.

    Parameters
    ----------
    path : Path
        Created if it does not exist.

    Raises
    ------
    FileError
        Where the folder or a file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: list[TextFile] = []
        self._created = [folder for folder in (path, *path.parents) if not os.path.exists(folder)]
        with _refusals(path, ValueError):
            path.mkdir(parents=True, exist_ok=True)

    def open(self, name: str) -> TextFile:
        """Begin a text file."""
        with _refusals(self.path / name, ValueError):
            self._files.append(TextFile(self.path / name, _new_mode()))
        return self._files[-1]

    def write(self, name: str, data: bytes) -> None:
        """Write a file at once."""
        self.open(name).write_bytes(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            for action in (TextFile.close, TextFile.settle) if kind is None else ():
                for file in self._files:
                    with _refusals(file.path):
                        action(file)
        finally:
            for file in self._files:
                file.drop()
            with suppress(OSError):  # (a folder in which there is something stays)
                for folder in self._created if kind is not None else ():
                    folder.rmdir()


class TextFile:
    """Text file under a temporary name beside its target; errors of the operating system become `FileError`."""

    def __init__(self, path: Path, mode: int) -> None:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:60]}.", suffix=".part")
        self.file, self.temporary, self.path, self.mode = os.fdopen(handle, "wb"), Path(name), path, mode

    def write(self, text: str) -> None:
        """Append text, in UTF-8."""
        self.write_bytes(text.encode("utf-8", "backslashreplace"))

    def write_bytes(self, data: bytes) -> None:
        """Append bytes."""
        with _refusals(self.path):
            self.file.write(data)

    def close(self) -> None:
        """Close it; a full disk may show only now."""
        if not self.file.closed:
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()

    def settle(self) -> None:
        """Give the finished file its name and permissions."""
        self.close()
        os.chmod(self.temporary, self.mode)
        os.replace(self.temporary, self.path)

    def drop(self) -> None:
        """Remove a file that has not got its name."""
        with suppress(OSError):
            self.file.close()
        self.temporary.unlink(missing_ok=True)


@contextmanager
def _refusals(path: str | Path, *kinds: type[Exception]) -> Iterator[None]:
    """Convert errors of the operating system, and their equivalents of other classes, into `FileError`."""
    refusals: tuple[type[Exception], ...] = (OSError, *kinds)
    try:
        yield
    except FileError:
        raise
    except refusals as error:
        raise cannot_write(path, error) from error


def _mode(target: Path) -> int:
    """Return the permissions of the existing target, or those of a new file."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        return _new_mode()


def _new_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def cannot_write(path: str | Path, error: Exception) -> FileError:
    """The error for a file that the operating system does not take."""
    if isinstance(error, FileNotFoundError):
        return refused(path, f"there is no folder {str(Path(path).parent)!r} to write it in")
    return refused(path, f"cannot be written: {getattr(error, 'strerror', None) or error}")


#: The byte that Windows locks, beyond the content of any file, which others may read.
BEHIND = 2**30


@contextmanager
def locked(file: int, *, wait: bool = True) -> Iterator[None]:
    """Lock an open file against other processes; where one has locked it, wait, or raise the system's `OSError`."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, BEHIND, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield
    finally:
        if sys.platform == "win32":
            os.lseek(file, BEHIND, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_UN)
