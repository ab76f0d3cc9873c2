"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from linkwise.errors import FileError, FileProblem
from linkwise.files.text import cannot_open


def write_text(path: str | Path, parts: Iterable[str]) -> None:
    """Write text in UTF-8 as `write_bytes` does.

    Raises
    ------
    FileError
        Where the folder or the file may not be written, or the text holds what UTF-8 cannot say.
    """

    def encoded() -> Iterator[bytes]:
        try:
            for part in parts:
                yield part.encode()
        except UnicodeEncodeError as error:
            what = f"the text holds {error.object[error.start]!r}, which UTF-8 cannot say"
            raise FileError(path, [FileProblem(0, what)]) from error

    write_bytes(path, encoded())


def write_bytes(path: str | Path, parts: Iterable[bytes]) -> None:
    """Write under a temporary name in the same folder, then give the file its name.

    Where anything fails, a file that had the name before stays as it was.

    Raises
    ------
    FileError
        Where the folder or the file may not be written.
    """
    try:
        if os.path.isdir(Path(path)):
            raise cannot_open(path, IsADirectoryError())
        target = Path(path).resolve()  # a link to a file stays a link
        if target.is_symlink():  # (a loop of links, which Python 3.13 does not refuse)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except FileError:
        raise
    except (OSError, ValueError, RuntimeError) as error:  # (a zero byte in the name; a loop of links, before Python 3.13)
        raise cannot_write(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that stood there, or what a new file would get."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def cannot_write(path: str | Path, error: Exception) -> FileError:
    """The error for a file that the operating system does not take."""
    if isinstance(error, FileNotFoundError):
        return FileError(path, [FileProblem(0, f"there is no folder {str(Path(path).parent)!r} to write it in")])
    return FileError(path, [FileProblem(0, f"cannot be written: {getattr(error, 'strerror', None) or error}")])
