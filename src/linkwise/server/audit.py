"""Audit log of writes to a chain: a JSON object a line, flushed to disk before the client is answered."""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from linkwise.errors import FileError, FileProblem
from linkwise.files.atomic import locked
from linkwise.files.text import cannot_open, open_file, refused
from linkwise.server.authentication import require_private

#: Bytes read from the end of a file to find the end of its last complete line; no line is longer.
LONGEST_LINE = 1 << 16

#: Begin of each line.
BEGINNING = b'{"time": '


@dataclass(frozen=True)
class AuditRecord:
    """A line of the file.

    Attributes
    ----------
    time : str
        When the outcome was known, UTC, as of ISO 8601 with microseconds.
    user, address, by : str
        Who; from where; through what: "opcua" or "view".
    action : str
        "write", or "reset", "save", "restore".
    port : str or None
        What was written to.
    old, new : value or None
        What the port held before the write, as the cycle found it, and what was written; None for no port, and `old` for a
        write that the cycle did not take. Numbers that are not finite are the texts "inf", "-inf" and "nan".
    outcome : str
        "accepted", "refused", "expired" (no cycle took it in time), "broken", or "waiting": it was not known in time.
    """

    time: str
    user: str
    address: str
    by: str
    action: str
    port: str | None
    old: Any
    new: Any
    outcome: str

    def line(self) -> str:
        """The line, with its end.

        Examples
        --------
        >>> now = "2026-11-27T12:00:00.000000+00:00"
        >>> record = AuditRecord(now, "anna", "", "view", "write", "tool.max_speed", math.inf, 0.5, "accepted")
        >>> record.line().partition('"old"')[2].strip()
        ': "inf", "new": 0.5, "outcome": "accepted"}'
        """
        return json.dumps(_plain(asdict(self)), ensure_ascii=False, allow_nan=False) + "\n"


def now() -> str:
    """Time in the format of a record."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class AuditLog:
    """Appends records to a file.

    A call writes all its lines at once and returns when they are on the disk. Where that fails the file is as it was before,
    and the next call writes them first. What an interrupted write left of a line, after a loss of power or of one of several
    processes that append to the file, is cut off when it is opened or appended to again.

    Parameters
    ----------
    path : str or Path
        The file; made where there is none, with mode 600.

    Raises
    ------
    FileError
        Where it cannot be opened or written, is no file of this kind, or others than its owner may read or write it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._pending: list[str] = []
        self._lock = threading.Lock()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as error:
            raise cannot_open(path, error) from error
        try:
            require_private(self.path, os.fstat(self._file))
            with locked(self._file):
                self._mend()
            _keep_entry(self.path)
        except OSError as error:
            os.close(self._file)
            raise refused(path, f"cannot be written: {error.strerror or error}") from error
        except FileError:
            os.close(self._file)
            raise

    def append(self, records: Sequence[AuditRecord] = ()) -> None:
        """Append records, after those that could not be written before.

        Raises
        ------
        FileError
            Where they cannot be written; they are kept for the next call.
        """
        with self._lock:
            self._pending += [record.line() for record in records]
            if not self._pending:
                return
            data = "".join(self._pending).encode("utf-8", "backslashreplace")
            try:
                with locked(self._file):
                    self._mend()
                    self._write(data)
            except OSError as error:
                raise refused(self.path, f"cannot be written: {error.strerror or error}") from error
            self._pending.clear()

    def _write(self, data: bytes) -> None:
        end = os.fstat(self._file).st_size
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
            os.fsync(self._file)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, end)
            raise

    def _mend(self) -> None:
        """Remove an incomplete last line; reject a file whose last line is not a record."""
        size = os.fstat(self._file).st_size
        begin = max(size - LONGEST_LINE, 0)
        os.lseek(self._file, begin, os.SEEK_SET)
        last = os.read(self._file, LONGEST_LINE)
        whole = last.rfind(b"\n") + 1
        line, torn = last[last.rfind(b"\n", 0, max(whole - 1, 0)) + 1 : whole], last[whole:]
        if (whole and not line.startswith(BEGINNING)) or (begin and not whole) or torn[:9] != BEGINNING[: len(torn)]:
            raise refused(self.path, "is not an audit log: it does not contain lines of JSON")
        if torn:
            os.ftruncate(self._file, begin + whole)
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_audit(path: str | Path) -> list[AuditRecord]:
    """The records of a file; the last line is left out where it is being written.

    Raises
    ------
    FileError
        Where it cannot be read, or a line is none of an audit log.
    """
    with open_file(path) as file:
        lines = file.read().decode("utf-8", "replace").split("\n")[:-1]
    records, problems = [], []
    for number, line in enumerate(lines, 1):
        try:
            records.append(AuditRecord(**json.loads(line)))
        except (ValueError, TypeError):
            problems.append(FileProblem(number, "is no record; expected a JSON object of time, user, port, old and new"))
    if problems:
        raise FileError(path, problems)
    return records


def _plain(value: Any) -> Any:
    """A value with texts in the place of numbers that JSON has none for."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _keep_entry(path: Path) -> None:
    """Put the file's entry in its folder on the disk, where folders can be; a new file is lost with it otherwise."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
