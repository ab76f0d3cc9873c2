"""The text of a file: decoded, with line ends made alike; every way that reading can fail is one clear error."""

from __future__ import annotations

import codecs
import os
import re
import stat
import warnings
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO

from linkwise.errors import FileError, FileProblem

BOM = codecs.BOM_UTF8
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SHELL_PIPE = re.compile(r"/dev/stdin|/(dev|proc/self)/fd/\d+", re.ASCII)
_DECLARATION = re.compile(rb"\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")
_ASCII = bytes(range(128)) + rb" \x41 \u0041 +AEE- ~{VPND~} .xn--bcher-kva."
"""Bytes that an encoding must read as ASCII does: escapes and shifts of other encodings are none."""

LARGEST_DESCRIPTION = 32 * 1024 * 1024
"""Bytes of the largest description that is read: a larger file describes no mechanism."""


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
            raise FileError(path, [FileProblem(0, f"this is {kind}; expected a regular file")])
        if from_shell:
            os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(path: str | Path, most: int | None = None) -> bytes:
    """All bytes of a file.

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


def too_large(path: str | Path, most: int) -> FileError:
    """The error for more than `most` bytes."""
    said = f"the file is larger than {most // 1024**2} MB; no description of a mechanism needs that"
    return FileError(path, [FileProblem(0, said)])


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
        raise FileError(path, [FileProblem(1, "the text is in UTF-32; save it as UTF-8")])
    if data.startswith(_WIDE):
        text = _decoded(path, data, "utf-16")
        if not text.lstrip().startswith("<"):
            raise FileError(path, [FileProblem(1, "the text is in UTF-16; save it as UTF-8")])
    elif b"\0" in data:
        raise FileError(path, [FileProblem(line_at(data, data.index(b"\0")), "a zero byte: this is not a text file")])
    elif data.startswith(BOM):
        text = _decoded(path, data, "utf-8", len(BOM))
    else:
        text = _decoded(path, data, _declared_encoding(path, data))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _declared_encoding(path: str | Path, data: bytes) -> str:
    """The encoding that an XML declaration names; UTF-8 where there is none, or where it cannot be that of these bytes.

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
        said = f"the declared encoding is {name!r}, which is not one that is read here; save the file as UTF-8"
        raise FileError(path, [FileProblem(line_at(data, declaration.start(1)), said)])
    return name


def _decoded(path: str | Path, data: bytes, encoding: str, start: int = 0) -> str:
    """The text of the bytes from `start` on."""
    try:
        return data[start:].decode(encoding)
    except UnicodeDecodeError as error:
        at = min(start + error.start, len(data) - 1)
        name = encoding.upper()
        advice = "" if name == "UTF-16" else "; save the file as UTF-8"
        message = f"byte 0x{data[at]:02x} is not text in {name}{advice}"
        raise FileError(path, [FileProblem(line_at(data, at), message)]) from error


def line_at(data: bytes, offset: int) -> int:
    r"""The line, counted from 1, of a byte; ``\n``, ``\r\n`` and ``\r`` end a line."""
    before = data[:offset]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def cannot_open(path: str | Path, error: Exception) -> FileError:
    """The error for a file that the operating system does not give."""
    if isinstance(error, FileNotFoundError):
        return FileError(path, [FileProblem(0, f"there is no such file{bundled_hint(path)}")])
    if isinstance(error, IsADirectoryError) or os.path.isdir(Path(path)):
        return FileError(path, [FileProblem(0, "this is a folder, not a file")])
    if isinstance(error, PermissionError):
        return FileError(path, [FileProblem(0, "permission denied")])
    return FileError(path, [FileProblem(0, f"cannot be opened: {getattr(error, 'strerror', None) or error}")])


def bundled_hint(path: str | Path) -> str:
    """What to say of a file that is not there and has the name of one that the manual of SpaceLib prints; else nothing.

    Examples
    --------
    >>> bundled_hint("scara.dat"), bundled_hint("arm.dat")
    (" (linkwise spacelib data --to . writes the manual's SCARA.DAT)", '')
    """
    name = Path(path).name.upper()
    known = name.isprintable() and len(name) < 40 and files("linkwise").joinpath("spacelib", "data", name).is_file()
    return f" (linkwise spacelib data --to . writes the manual's {name})" if known else ""
