"""Arrays by name in an .npz file. What each array claims to be is checked before it is read; nothing is ever unpickled."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, FileError, FileProblem, choices, shown
from linkwise.files.atomic import write_bytes
from linkwise.files.text import read_bytes

#: Bytes of all arrays that are read without being asked for: what a file of a few bytes may expand to.
LARGEST = 96 << 20

#: A file may hold so many times its own size where that is more: recorded numbers are seldom compressed further.
EXPANSION = 8

#: Bytes of an array of text, four a character: text becomes Python objects, which take several times as much.
LARGEST_TEXT = 8 << 20

#: Kinds of elements, as NumPy calls them.
NUMBERS, TEXT, FLAGS = "biuf", "U", "b"

_MOST_MEMBERS = 1000
_LONGEST_HEADER = 10_000
_MOST_DIMENSIONS = 32
_PIECE = 1 << 20
_ENTRY = b"PK\x01\x02"
_MAGIC = b"\x93NUMPY"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADER = re.compile(
    r"\{'descr': ?'([<>|=]?(?:b1|[iu][1248]|f[248]|U[1-9]\d{0,7}))', ?'fortran_order': ?(True|False), ?"
    r"'shape': ?\(([\d, ]*)\),? ?\}\s*"
)


class _Header(NamedTuple):
    """What an array in a file claims to be."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool

    def fits(self, content: int) -> bool:
        """Whether it takes so many bytes. Of an empty array the other dimensions are bounded, too: not any shape can be."""
        if 0 in self.shape:
            return not content and math.prod(length for length in self.shape if length) < LARGEST
        return math.prod(self.shape) * self.dtype.itemsize == content


def packed(arrays: Mapping[str, Any]) -> bytes:
    """Arrays of numbers, and texts, as the bytes of an .npz."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def read(path: str | Path, wanted: Mapping[str, str], max_bytes: int | None = None) -> dict[str, Any]:
    """The arrays of an .npz that are wanted and there, by name; others are left unread.

    Parameters
    ----------
    path : str or Path
        The file.
    wanted : mapping of str to str
        The names, each with the kinds of elements that its array may have: `NUMBERS`, `TEXT` or `FLAGS`.
    max_bytes : int, optional
        The bytes of these arrays at most; `LARGEST`, or `EXPANSION` times the size of the file where that is more, if left
        out. They are known, and held against the headers of the arrays, before any content is read.

    Raises
    ------
    ArgumentError
        Where max_bytes is no positive whole number.
    FileError
        Where the file cannot be read, an array is of another kind, or they are too large.
    """
    check_limit(max_bytes)
    data = read_bytes(path)
    if data.startswith(_MAGIC):
        raise refused(path, "this is one array, not an .npz file")
    if data.count(_ENTRY) > _MOST_MEMBERS:
        raise refused(path, f"the archive has more than {_MOST_MEMBERS:,} members")
    most = max(LARGEST, EXPANSION * len(data)) if max_bytes is None else max_bytes
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _arrays(path, archive, wanted, most)
    except FileError:
        raise
    except Exception as error:  # (whatever zipfile and zlib raise on bytes that are no archive: versions differ in it)
        raise refused(path, "this is not an .npz file of arrays, or it is damaged") from error


def check_limit(max_bytes: Any) -> None:
    """Raise `ArgumentError` unless it is None or a positive whole number."""
    whole = isinstance(max_bytes, (int, np.integer)) and not isinstance(max_bytes, bool)
    if max_bytes is not None and not (whole and max_bytes > 0):
        raise ArgumentError(f"max_bytes is {shown(max_bytes)}; expected a positive whole number of bytes")


def require(path: str | Path, held: Mapping[str, Any], needed: Sequence[str]) -> None:
    """Raise `FileError` where arrays are missing."""
    if missing := [name for name in needed if name not in held]:
        raise refused(path, f"there is no array {choices(missing)} in it")


def refused(path: str | Path, message: str) -> FileError:
    """The error for a file as a whole."""
    return FileError(path, [FileProblem(0, message)])


def _arrays(path: str | Path, archive: zipfile.ZipFile, wanted: Mapping[str, str], most: int) -> dict[str, Any]:
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in wanted or name == member.filename:
            continue
        if name in members:
            raise refused(path, f"there are two arrays {name!r} in it")
        members[name] = member
    total = sum(member.file_size for member in members.values())
    if total > most:
        size = f"it holds {total / 2**20:,.1f} MB of arrays, and at most {most / 2**20:,.1f} MB are read"
        advice = "where the file is to be trusted, max_bytes of the call sets another limit"
        raise FileError(path, [FileProblem(0, size)], advice)
    for name, member in members.items():
        if wanted[name] == TEXT and member.file_size > LARGEST_TEXT:
            said = f"{name} has {member.file_size / 2**20:,.1f} MB of text, and at most {LARGEST_TEXT >> 20} MB are read"
            raise refused(path, said)
    return {name: _array(path, name, archive, member, wanted[name]) for name, member in members.items()}


def _array(path: str | Path, name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo, kinds: str) -> npt.NDArray[Any]:
    """One array, read into memory of the size that its header and the archive's directory agree on."""
    if member.compress_type not in _METHODS:
        raise refused(path, f"{name} is compressed by method {member.compress_type}; expected deflate, or none")
    with archive.open(member) as stream:
        text = _header_text(stream)
        header = None if text is None else _header(text)
        if header is None or (header.dtype.kind not in kinds and 0 not in header.shape):  # (NumPy takes () for numbers)
            claimed = "no header of an array" if text is None else f"the header {' '.join(text.split())[:120]}"
            expected = {TEXT: "text", FLAGS: "True and False"}.get(kinds, "real numbers")
            raise refused(path, f"{name} has {claimed}; expected that of an array of {expected}")
        content = member.file_size - stream.tell()
        if not header.fits(content):
            claimed = f"its header says {header.shape} of {header.dtype}"
            raise refused(path, f"{name} has {content:,} bytes; {claimed}: it is damaged")
        return _filled(stream, header)


def _filled(stream: Any, header: _Header) -> npt.NDArray[Any]:
    """The array's content; at its end the archive's checksum is compared."""
    made = np.empty(math.prod(header.shape), header.dtype)
    view, at = made.view(np.uint8).data, 0
    while piece := stream.read(_PIECE):
        view[at : at + len(piece)] = piece
        at += len(piece)
    if at < len(view):
        raise EOFError
    if not header.dtype.isnative:
        made = made.astype(header.dtype.newbyteorder("="))
    code, highest = {"U": (np.uint32, 0x10FFFF), "b": (np.uint8, 1)}.get(header.dtype.kind, (None, 0))
    if code is not None and (made.view(code) > highest).any():
        raise ValueError("an element that is none")
    return made.reshape(header.shape, order="F" if header.fortran else "C")


def _header_text(stream: Any) -> str | None:
    """The header of an .npy file; None where it begins otherwise."""
    start = stream.read(8)
    if start[:6] != _MAGIC or start[6:] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        return None
    length = int.from_bytes(stream.read(2 if start[6] == 1 else 4), "little")
    return stream.read(length).decode("latin-1") if length <= _LONGEST_HEADER else None


def _header(text: str) -> _Header | None:
    """What a header says; None where that is none of an array of numbers or text."""
    found = _HEADER.fullmatch(text)
    if found is None:
        return None
    lengths = found[3].replace(" ", "").removesuffix(",").split(",") if found[3].strip() else []
    if len(lengths) > _MOST_DIMENSIONS or not all(length.isdecimal() and len(length) < 19 for length in lengths):
        return None
    return _Header(np.dtype(found[1]), tuple(map(int, lengths)), found[2] == "True")


VERSION = 1


def write_archive(path: str | Path, what: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays and texts, under a temporary name first.

    Parameters
    ----------
    path : str or Path
        The file; its name ends in ``.npz``.
    what : str
        What it is of, such as ``"state"``.
    arrays : mapping
        Arrays of numbers, or texts.

    Raises
    ------
    FileError
        Where the name has another ending, or the file cannot be written.
    """
    if Path(path).suffix.lower() != ".npz":
        raise refused(path, f"cannot tell the format from the suffix {Path(path).suffix!r}; expected '.npz'")
    write_bytes(path, [packed({"linkwise": np.array(f"{what} {VERSION}"), **arrays})])


def read_archive(
    path: str | Path, what: str, needed: Sequence[str], wanted: Mapping[str, str], max_bytes: int | None = None
) -> dict[str, Any]:
    """The arrays that `write_archive` wrote; `wanted` and `max_bytes` as for `linkwise.files.npz.read`.

    Raises
    ------
    FileError
        Where the file cannot be read, is of something else, or lacks one of those needed.
    """
    held = read(path, {"linkwise": TEXT, **wanted}, max_bytes)
    said = str(held.pop("linkwise", ""))
    if said != f"{what} {VERSION}":
        raise refused(path, f"this is {f'a {said!r}' if said else 'an .npz file'}, not the '{what} {VERSION}' of a chain")
    require(path, held, needed)
    return held


def texts(path: str | Path, name: str, held: Mapping[str, Any]) -> dict[str, Any]:
    """An array that is a text, read as a JSON object."""
    try:
        found = json.loads(str(held[name]))
    except (ValueError, RecursionError) as error:
        raise refused(path, f"{name} cannot be read") from error
    if not isinstance(found, dict):
        raise refused(path, f"{name} cannot be read")
    return found


def numbers(path: str | Path, name: str, held: Mapping[str, Any], dimensions: int, dtype: type = np.float64) -> Any:
    """An array of numbers of the type that was written."""
    found = held[name]
    if found.dtype != dtype or found.ndim != dimensions:
        told = f"{name} is {found.ndim}-dimensional, of {found.dtype}"
        raise refused(path, f"{told}; expected {dimensions} dimensions of {np.dtype(dtype)}")
    return found
