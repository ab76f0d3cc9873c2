"""Text of a file: decoding, numbers separated by blanks, and blocks of long files."""

from __future__ import annotations

import codecs
import math
import os
import re
import stat
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np

from linkwise.errors import FileError, FileProblem, shown
from linkwise.spatial.scalar import FloatArray

BOM = codecs.BOM_UTF8
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SHELL_PIPE = re.compile(r"/dev/stdin|/(dev|proc/self)/fd/\d+", re.ASCII)
_DECLARATION = re.compile(rb"\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")

#: Bytes that an encoding must read as ASCII does: escapes and shifts of other encodings are none.
_ASCII = bytes(range(128)) + rb" \x41 \u0041 +AEE- ~{VPND~} .xn--bcher-kva."

#: Bytes of the largest description that is read: a larger file describes no mechanism.
LARGEST_DESCRIPTION = 32 * 1024 * 1024


def open_file(path: str | Path, *, pipes: bool = False) -> BinaryIO:
    """Open a file for reading bytes, without waiting for one: a named pipe would wait for a writer, perhaps for ever.

    Parameters
    ----------
    path : str or Path
        The file.
    pipes : bool
        Whether the pipe of a shell (``/dev/stdin``, ``<(command)``: a path in ``/dev/fd``) is read too; it cannot be
        read twice.

    Raises
    ------
    FileError
        Where there is no such file, it may not be read, or it is a folder, a device or a named pipe.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise cannot_open(path, error) from error
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise cannot_open(path, IsADirectoryError())
        from_shell = pipes and stat.S_ISFIFO(mode) and _SHELL_PIPE.fullmatch(str(Path(path))) is not None
        if not (stat.S_ISREG(mode) or from_shell):
            kind = "a named pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
            raise refused(path, f"this is {kind}; expected a regular file")
        if from_shell:
            os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(path: str | Path, most: int | None = None) -> bytes:
    """Read all bytes of a file.

    Parameters
    ----------
    path : str or Path
        The file.
    most : int, optional
        How many bytes it may have at most; no more than that is ever read.

    Raises
    ------
    FileError
        Where there is no such file, it is a folder, it may not be read, or it is larger than `most`.
    """
    with open_file(path, pipes=True) as file:
        try:
            data = file.read() if most is None else file.read(most + 1)
        except OSError as error:
            raise cannot_open(path, error) from error
    if most is not None and len(data) > most:
        raise too_large(path, most)
    return data


def refused(path: str | Path, message: str, line: int = 0, advice: str = "") -> FileError:
    """The error for one problem of a file: of a line, counted from 1, or with 0 of the file as a whole."""
    return FileError(path, [FileProblem(line, message)], advice)


def too_large(path: str | Path, most: int) -> FileError:
    """The error for more than `most` bytes."""
    return refused(path, f"the file is larger than {most // 1024**2} MB; no description of a mechanism needs that")


def read_text(path: str | Path, most: int | None = None) -> str:
    r"""The text of a file, see `decode`, every line end as ``\n``; `most` as for `read_bytes`.

    Raises
    ------
    FileError
        Where the file cannot be opened, is too large, or is not text in its encoding.
    """
    return decode(path, read_bytes(path, most))


def decode(path: str | Path, data: bytes) -> str:
    r"""The bytes of a file as text: UTF-8 with or without a byte order mark; XML also in UTF-16 with one, or as it declares.

    Parameters
    ----------
    path : str or Path
        For messages.
    data : bytes
        The content of the file.

    Raises
    ------
    FileError
        Where the bytes are not text in that encoding, with the line.

    Examples
    --------
    >>> decode("arm.urdf", b"<?xml version='1.0' encoding='ISO-8859-1'?><robot name='b\xf6rse'/>")[-21:]
    "<robot name='börse'/>"
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise refused(path, "the text is in UTF-32; save it as UTF-8", 1)
    if data.startswith(_WIDE):
        text = _decoded(path, data, "utf-16")
        if not text.lstrip().startswith("<"):
            raise refused(path, "the text is in UTF-16; save it as UTF-8", 1)
    elif b"\0" in data:
        raise refused(path, "a zero byte: this is not a text file", line_at(data, data.index(b"\0")))
    elif data.startswith(BOM):
        text = _decoded(path, data, "utf-8", len(BOM))
    else:
        text = _decoded(path, data, _declared_encoding(path, data))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _declared_encoding(path: str | Path, data: bytes) -> str:
    """Return the encoding of an XML declaration; UTF-8 if there is none, or if it cannot be that of these bytes.

    A text of single bytes that is declared UTF-16 is in UTF-8: some programs write so.
    """
    declaration = _DECLARATION.match(data)
    if declaration is None:
        return "utf-8"
    name = declaration[1].decode("ascii")
    if re.fullmatch(r"(?i)(u|ucs|utf|iso-10646-ucs)[-_]?(2|4|8|16|32)([-_]?[lb]e)?", name):
        return "utf-8"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # (of escapes that are none)
            is_text = _ASCII.decode(name) == _ASCII.decode("ascii")
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        message = f"the declared encoding is {name!r}, which is not one that is read here; save the file as UTF-8"
        raise refused(path, message, line_at(data, declaration.start(1)))
    return name


def _decoded(path: str | Path, data: bytes, encoding: str, start: int = 0) -> str:
    """The text of the bytes from `start` on."""
    try:
        return data[start:].decode(encoding)
    except UnicodeDecodeError as error:
        at = min(start + error.start, len(data) - 1)
        name = encoding.upper()
        advice = "" if name == "UTF-16" else "; save the file as UTF-8"
        raise refused(path, f"byte 0x{data[at]:02x} is not text in {name}{advice}", line_at(data, at)) from error


def line_at(data: bytes, offset: int) -> int:
    r"""The line, counted from 1, of a byte; ``\n``, ``\r\n`` and ``\r`` end a line."""
    before = data[:offset]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def cannot_open(path: str | Path, error: Exception) -> FileError:
    """The error for a file that the operating system does not give."""
    if isinstance(error, FileNotFoundError):
        return refused(path, f"there is no such file{bundled_hint(path)}")
    if isinstance(error, IsADirectoryError) or os.path.isdir(Path(path)):
        return refused(path, "this is a folder, not a file")
    if isinstance(error, PermissionError):
        return refused(path, "permission denied")
    return refused(path, f"cannot be opened: {getattr(error, 'strerror', None) or error}")


def bundled_hint(path: str | Path) -> str:
    """Return a hint for a missing file with the name of one printed in SpaceLib's manual; else an empty text.

    Examples
    --------
    >>> bundled_hint("scara.dat"), bundled_hint("arm.dat")
    (" (linkwise spacelib data --to . writes the manual's SCARA.DAT)", '')
    """
    name = Path(path).name.upper()
    known = name.isprintable() and len(name) < 40 and files("linkwise").joinpath("spacelib", "data", name).is_file()
    return f" (linkwise spacelib data --to . writes the manual's {name})" if known else ""


_TOKEN = re.compile(r"[^ \t\n\v\f]+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eEdD][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d*,\d+([eEdD][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_BEGIN = re.compile(r"[+-]?[.,]?(\d|(nan|inf|infinity)(?![a-z]))", re.IGNORECASE | re.ASCII)
_NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class Token:
    """A word of a file and its line, counted from 1."""

    text: str
    line: int


def tokens(text: str) -> list[Token]:
    r"""Return the words of a text whose lines end in ``\n``."""
    return list(each_token(text))


def each_token(text: str) -> Iterator[Token]:
    r"""Yield the words of a text whose lines end in ``\n`` one at a time, so that a long file needs no list of them."""
    for number, line in enumerate(text.split("\n"), 1):
        for match in _TOKEN.finditer(line):
            yield Token(match.group(), number)


def number(text: str) -> float | None:
    """Parse a finite number, or return None; the exponent may be Fortran's D.

    Examples
    --------
    >>> number("1.5D-3"), number("three")
    (0.0015, None)
    """
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace("D", "e").replace("d", "e"))
    return value if math.isfinite(value) else None


def whole(text: str) -> int | None:
    """Parse an integer, also written as "3.0", or return None.

    Examples
    --------
    >>> whole("3"), whole("3.0"), whole("3.5")
    (3, 3, None)
    """
    if _WHOLE.fullmatch(text):
        return int(text)
    value = number(text)
    return int(value) if value is not None and value.is_integer() and abs(value) < 1e15 else None


def begins_as_number(text: str) -> bool:
    """True if a word looks like a number; a text, such as a comment, does not.

    Examples
    --------
    >>> begins_as_number("0,5"), begins_as_number("--")
    (True, False)
    """
    return _BEGIN.match(text) is not None


def why_not(text: str) -> str:
    """Return the reason why a word is not a valid number.

    Examples
    --------
    >>> why_not("0,5")
    "'0,5' has a decimal comma; write '0.5'"
    """
    if _COMMA.fullmatch(text):
        return f"{shown(text)} has a decimal comma; write {shown(text.replace(',', '.'))}"
    if _NUMBER.fullmatch(text):
        return f"{shown(text)} is too large for a number"
    if _NO_NUMBER.fullmatch(text):
        return f"{shown(text)} is not a finite number"
    return f"{shown(text)} is not a number"


#: Bytes read at a time.
BLOCK = 1 << 18

#: The longest word or line, bytes; a file without any break is not read into memory as one.
LONGEST = 1 << 16

#: The longest word that is read as a number, bytes.
LONGEST_NUMBER = 60

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
        offset, unfinished = self.file.tell(), b""
        while block := self.file.read(BLOCK):
            data = unfinished + block
            end = 1 + max(data.rfind(bytes([code])) for code in breaks)
            if len(data) - end > LONGEST:
                self.fail(offset + end, f"{len(data) - end} bytes without a break; this is not a motion file")
            if end:
                yield offset, data[:end]
            offset, unfinished = offset + end, data[end:]
        if unfinished:
            yield offset, unfinished

    def fail(self, offset: int, message: str) -> NoReturn:
        """Raise the error at the line of a byte, which is counted by reading up to it again."""
        raise refused(self.path, message, self.line(offset))

    def line(self, offset: int) -> int:
        """The line of a byte, counted from 1."""
        self.file.seek(0)
        number_of_line, last, left = 1, b"", offset
        while left > 0 and (data := self.file.read(min(left, BLOCK))):
            number_of_line += line_at(last + data, len(data) + len(last)) - line_at(last, len(last))
            last, left = data[-1:], left - len(data)
        return number_of_line

    def numbers(self, words: Sequence[bytes], text: bytes) -> FloatArray | None:
        """Parse all words of a text as finite numbers; None if some are invalid and must be checked one by one."""
        if b"_" in text:
            return None
        try:
            values = np.fromiter(map(float, words), np.float64, len(words))
        except ValueError:
            return None
        return values if np.isfinite(values).all() else None

    def number(self, offset: int, word: bytes, item: str = "") -> float:
        """Parse one number; `item` begins the error message."""
        value = number(word_shown(word)) if len(word) <= LONGEST_NUMBER else None
        if value is None:
            why = why_not(word_shown(word)) if len(word) <= LONGEST_NUMBER else f"{quoted(word)} is not a number"
            self.fail(offset, f"{item}{why if word else 'the cell is empty'}")
        return value


def word_shown(word: bytes) -> str:
    """A word of the file as text, whatever its bytes."""
    return word[:60].decode("utf-8", "backslashreplace")


def quoted(word: bytes) -> str:
    """Quote a word of the file for a message."""
    return shown(word_shown(word))


#: A count of numbers that so many of the lines hold is usual.
OFTEN = 0.1


def uneven_motion(source: Source) -> tuple[int, str] | None:
    """Return the first line of a .MOT with an unusual count of numbers, and the message for it.

    Usual are multiples of three, q qd qdd of one joint or more, that many lines hold. Where they are not those of most
    lines the numbers stand in no such lines, and nothing is reported.
    """
    seen, first = Counter[int](), dict[int, int]()
    try:
        for line, count in _counts(source):
            seen[count] += 1
            first.setdefault(count, line)
    except FileError:  # (a line of any length: not the expected one)
        return None
    usual = sorted(count for count, often in seen.items() if count % 3 == 0 and often >= OFTEN * seen.total())
    if 2 * sum(seen[count] for count in usual) <= seen.total():
        return None
    odd = min((first[count], count) for count in seen if count not in usual) if len(seen) > len(usual) else None
    return odd and (odd[0], _count_message(*odd, " or ".join(map(str, usual)), "the others have"))


def _counts(source: Source) -> Iterator[tuple[int, int]]:
    """Yield every line that is not blank, with its count of numbers apart from the time step, which comes first."""
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
    """Return the message for the line of a .DAT whose number count differs from that of the other links.

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
        lines_each = len(rows) // links
        if left or not lines_each:
            continue
        for choose in (max, min):
            usual = [choose(count for _, count in rows[place::lines_each]) for place in range(lines_each)]
            odd = [(*row, usual[k % lines_each]) for k, row in enumerate(rows) if row[1] != usual[k % lines_each]]
            if len(odd) == 1 and sum(usual) == size:
                line, count, expected = odd[0]
                return _count_message(line, count, str(expected), "the same line of every other link has")
    return ""


def _count_message(line: int, count: int, usual: str, where: str) -> str:
    return f"line {line} has {count} number{'s' * (count != 1)} where {where} {usual}"
