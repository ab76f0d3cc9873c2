"""Files that appear whole or not at all: written under temporary names, given their own when all is done."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from linkwise.errors import FileError, FileProblem
from linkwise.files.atomic import cannot_write


class Folder:
    """The folder of a run's results, a context: on leaving, the files get their names, or vanish if it failed.

    So does a folder that was made for them.

    Parameters
    ----------
    path : Path
        Made if it is not there.

    Raises
    ------
    FileError
        Where the folder or a file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[tuple[IO[bytes], Path, Path]] = []
        self._made = [folder for folder in (path, *path.parents) if not os.path.exists(folder)]
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise cannot_write(path, error) from error

    def open(self, name: str) -> TextFile:
        """Begin a text file."""
        return TextFile(self._begin(name), self.path / name)

    def write(self, name: str, data: bytes) -> None:
        """Write a file at once."""
        TextFile(self._begin(name), self.path / name).write_bytes(data)

    def _begin(self, name: str) -> IO[bytes]:
        target = self.path / name
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path, prefix=f".{name[:60]}.", suffix=".part")
        except (OSError, ValueError) as error:
            raise cannot_write(target, error) from error
        file = os.fdopen(handle, "wb")
        self._waiting.append((file, Path(temporary), target))
        return file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            for file, _, target in self._waiting:
                _close(file, target)
            for _, temporary, target in self._waiting if kind is None else ():
                _settle(temporary, target)
        finally:
            for file, temporary, _ in self._waiting:
                with suppress(OSError):
                    file.close()
                temporary.unlink(missing_ok=True)
            with suppress(OSError):  # (a folder in which there is something stays)
                for folder in self._made if kind is not None else ():
                    folder.rmdir()


class TextFile:
    """A file being written; what the disk refuses becomes a `FileError`."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file = file
        self.path = path

    def write(self, text: str) -> None:
        """Append text, in UTF-8."""
        self.write_bytes(text.encode("utf-8", "backslashreplace"))

    def write_bytes(self, data: bytes) -> None:
        """Append bytes."""
        try:
            self._file.write(data)
        except OSError as error:
            raise cannot_write(self.path, error) from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write one file, whole or not at all; its folder must be there.

    Raises
    ------
    FileError
        Where it cannot be written.
    """
    if not os.path.isdir(path.parent):
        raise FileError(path, [FileProblem(0, f"there is no folder {str(path.parent)!r} to write it in")])
    with Folder(path.parent) as folder:
        folder.write(path.name, data)


def _settle(temporary: Path, target: Path) -> None:
    """Give a finished file its name, and the permissions of a file made in the ordinary way."""
    mask = os.umask(0)
    os.umask(mask)
    try:
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except OSError as error:
        raise cannot_write(target, error) from error


def _close(file: IO[bytes], target: Path) -> None:
    """Close a file; a full disk may show only now."""
    try:
        file.close()
    except OSError as error:
        raise cannot_write(target, error) from error
