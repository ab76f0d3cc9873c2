"""A file read in blocks of whole words or lines: its numbers, the line of a byte, and lines that are uneven."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np

from linkwise.errors import FileError, FileProblem, shown
from linkwise.files.numbers import Token, number, why_not
from linkwise.files.text import BOM, line_at
from linkwise.spatial.scalar import FloatArray

BLOCK = 1 << 18
"""Bytes read at a time."""

LONGEST = 1 << 16
"""The longest word or line, bytes; a file without any break is not read into memory as one."""

LONGEST_NUMBER = 60
"""The longest word that is read as a number, bytes."""

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

    def numbers(self, words: Sequence[bytes], text: bytes) -> FloatArray | None:
        """All words of a text as finite numbers at once; None where they are looked at one by one, to find that at fault."""
        if b"_" in text:
            return None
        try:
            values = np.fromiter(map(float, words), np.float64, len(words))
        except ValueError:
            return None
        return values if np.isfinite(values).all() else None

    def number(self, offset: int, word: bytes, item: str = "") -> float:
        """The number that a word is; `item` stands before what is wrong with it."""
        value = number(word_shown(word)) if len(word) <= LONGEST_NUMBER else None
        if value is None:
            why = why_not(word_shown(word)) if len(word) <= LONGEST_NUMBER else f"{quoted(word)} is not a number"
            self.fail(offset, f"{item}{why if word else 'the cell is empty'}")
        return value


def word_shown(word: bytes) -> str:
    """A word of the file as text, whatever its bytes."""
    return word[:60].decode("utf-8", "backslashreplace")


def quoted(word: bytes) -> str:
    """A word of the file as it stands in a message."""
    return shown(word_shown(word))


OFTEN = 0.1
"""A count of numbers that so many of the lines hold is usual."""


def uneven_motion(source: Source) -> tuple[int, str] | None:
    """The first line of a .MOT that holds another count of numbers than is usual in it, and what to say of it.

    Usual are multiples of three, q qd qdd of one joint or more, that many lines hold. Where they are not those of most
    lines the numbers stand in no such lines, and nothing is told.
    """
    seen, first = Counter[int](), dict[int, int]()
    try:
        for line, count in _counts(source):
            seen[count] += 1
            first.setdefault(count, line)
    except FileError:  # (a line of any length: it says nothing)
        return None
    usual = sorted(count for count, often in seen.items() if count % 3 == 0 and often >= OFTEN * seen.total())
    if 2 * sum(seen[count] for count in usual) <= seen.total():
        return None
    odd = min((first[count], count) for count in seen if count not in usual) if len(seen) > len(usual) else None
    return odd and (odd[0], _told(*odd, " or ".join(map(str, usual)), "the others have"))


def _counts(source: Source) -> Iterator[tuple[int, int]]:
    """Every line that is not blank, with how many numbers it holds beside the time step, which comes first."""
    source.file.seek(source.start)
    line, step, last = 0, 1, b""
    for _, piece in source.pieces(b"\n\r"):
        whole = piece[1:] if last == b"\r" and piece[:1] == b"\n" else piece
        last = piece[-1:]
        for words in map(bytes.split, whole.splitlines()):
            line += 1
            if len(words) > step:
                yield line, len(words) - step
            step = 0 if words else step


def uneven_description(words: Sequence[Token], links: int, size: int) -> str:
    """What to say of the line of a .DAT that does not hold as many numbers as the same line of the other links.

    Nothing where more lines than one differ, or the links are not laid out alike.

    Parameters
    ----------
    words : sequence of Token
        All of the file: the count of links, `size` numbers of each of the `links`, and what follows.
    links, size : int
        The file has too few numbers, or too many.
    """
    counts = sorted(Counter(word.line for word in words).items())
    for end in range(1, len(counts)):
        rows, left = counts[1 : len(counts) - end], (len(counts) - 1 - end) % links
        each = len(rows) // links
        if left or not each:
            continue
        for choose in (max, min):
            usual = [choose(count for _, count in rows[place::each]) for place in range(each)]
            odd = [(*row, usual[k % each]) for k, row in enumerate(rows) if row[1] != usual[k % each]]
            if len(odd) == 1 and sum(usual) == size:
                line, count, expected = odd[0]
                return _told(line, count, str(expected), "the same line of every other link has")
    return ""


def _told(line: int, count: int, usual: str, where: str) -> str:
    return f"line {line} has {count} number{'s' * (count != 1)} where {where} {usual}"
