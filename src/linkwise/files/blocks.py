"""A file read in blocks of whole words or lines, and the error that names the line of a byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

from linkwise.errors import FileError, FileProblem, shown
from linkwise.files.text import BOM, line_at

BLOCK = 1 << 18
"""Bytes read at a time."""

LONGEST = 1 << 16
"""The longest word or line, bytes; a file without any break is not read into memory as one."""

BLANKS = b" \t\n\v\f\r"


class Source:
    """An open file, read in pieces that end at a break between words or lines."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.file = file
        self.start = len(BOM) if file.read(len(BOM)) == BOM else 0
        file.seek(self.start)

    def pieces(self, breaks: bytes) -> Iterator[tuple[int, bytes]]:
        """Pieces of the file from the present position on, each with its offset and ending in a break, except the last.

        Raises
        ------
        FileError
            Where there is no break for too long.
        """
        offset, rest = self.file.tell(), b""
        while block := self.file.read(BLOCK):
            data = rest + block
            end = 1 + max(data.rfind(bytes([one])) for one in breaks)
            if len(data) - end > LONGEST:
                self.fail(offset + end, f"{len(data) - end} bytes without a break; this is not a motion file")
            if end:
                yield offset, data[:end]
            offset, rest = offset + end, data[end:]
        if rest:
            yield offset, rest

    def fail(self, offset: int, message: str) -> NoReturn:
        """Raise the error that names the line of a byte, found by reading up to there once more."""
        raise FileError(self.path, [FileProblem(self.line(offset), message)])

    def line(self, offset: int) -> int:
        """The line of a byte, counted from 1."""
        self.file.seek(0)
        found, last, left = 1, b"", offset
        while left > 0 and (data := self.file.read(min(left, BLOCK))):
            found += line_at(last + data, len(data) + len(last)) - line_at(last, len(last))
            last, left = data[-1:], left - len(data)
        return found


def word_shown(word: bytes) -> str:
    """A word of the file as text, whatever its bytes."""
    return word[:60].decode("utf-8", "backslashreplace")


def quoted(word: bytes) -> str:
    """A word of the file as it stands in a message."""
    return shown(word_shown(word))
