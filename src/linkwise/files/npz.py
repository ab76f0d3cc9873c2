"""Arrays by name in an .npz file. What each array claims to be is checked before it is read; nothing is ever unpickled."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from linkwise.errors import ArgumentError, FileError, choices, shown
from linkwise.files.atomic import write_bytes
from linkwise.files.text import read_bytes, refused

#: Greatest size of all arrays together without an explicit limit, bytes: a small file may expand to much more.
LARGEST = 96 << 20

#: A file may hold so many times its own size where that is more: recorded numbers are seldom compressed further.
EXPANSION = 8

#: Bytes of an array of text, four a character: text becomes Python objects, which take several times as much.
LARGEST_TEXT = 8 << 20

#: Kinds of elements, as NumPy calls them.
NUMBERS, TEXT, FLAGS = "biuf", "U", "b"

_NOUNS = {TEXT: "text", FLAGS: "True and False"}

_MOST_MEMBERS = 1000
_LONGEST_HEADER = 10_000
_PIECE = 1 << 20
_ENTRY = b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


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
    if data.startswith(npy.MAGIC_PREFIX):
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
        raise refused(path, size, advice=advice)
    for name, member in members.items():
        if wanted[name] == TEXT and member.file_size > LARGEST_TEXT:
            message = f"{name} has {member.file_size / 2**20:,.1f} MB of text, and at most {LARGEST_TEXT >> 20} MB are read"
            raise refused(path, message)
    return {name: _array(path, name, archive, member, wanted[name]) for name, member in members.items()}


def _array(path: str | Path, name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo, kinds: str) -> npt.NDArray[Any]:
    """Read one array into memory of the size on which its header and the archive's directory agree."""
    if member.compress_type not in _METHODS:
        raise refused(path, f"{name} is compressed by method {member.compress_type}; expected deflate, or none")
    with archive.open(member) as stream:
        expected = f"expected that of an array of {_NOUNS.get(kinds, 'real numbers')}"
        try:
            version = npy.read_magic(stream)
            read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, is_fortran, dtype = read_header(stream, max_header_size=_LONGEST_HEADER)
        except ValueError as error:
            raise refused(path, f"{name} has no header of an array; {expected}") from error
        if dtype.kind not in (NUMBERS + TEXT if 0 in shape else kinds) or not dtype.itemsize:  # (NumPy takes () for numbers)
            raise refused(path, f"{name} has the header {dtype.str!r} {shape}; {expected}")
        content = member.file_size - stream.tell()
        # of an empty array the other dimensions are bounded, too: not any shape can be
        empty = 0 in shape and math.prod(length for length in shape if length) < LARGEST
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != content or (0 in shape and not empty):
            raise refused(path, f"{name} has {content:,} bytes; its header says {shape} of {dtype}: it is damaged")
        return _filled(stream, shape, dtype, "F" if is_fortran else "C")


def _filled(stream: Any, shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"]) -> npt.NDArray[Any]:
    """The array's content; at its end the archive's checksum is compared."""
    array = np.empty(math.prod(shape), dtype)
    view, at = array.view(np.uint8).data, 0
    while piece := stream.read(_PIECE):
        view[at : at + len(piece)] = piece
        at += len(piece)
    if at < len(view):
        raise EOFError
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    code, highest = {"U": (np.uint32, 0x10FFFF), "b": (np.uint8, 1)}.get(dtype.kind, (None, 0))
    if code is not None and (array.view(code) > highest).any():
        raise ValueError("an element that is none")
    return array.reshape(shape, order=order)


VERSION = 1


def write_archive(path: str | Path, subject: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays and texts, under a temporary name first.

    Parameters
    ----------
    path : str or Path
        The file; its name ends in ``.npz``.
    subject : str
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
    write_bytes(path, [packed({"linkwise": np.array(f"{subject} {VERSION}"), **arrays})])


def read_archive(
    path: str | Path, subject: str, needed: Sequence[str], wanted: Mapping[str, str], max_bytes: int | None = None
) -> dict[str, Any]:
    """The arrays that `write_archive` wrote; `wanted` and `max_bytes` as for `linkwise.files.npz.read`.

    Raises
    ------
    FileError
        Where the file cannot be read, is of something else, or lacks one of those needed.
    """
    held = read(path, {"linkwise": TEXT, **wanted}, max_bytes)
    kind = str(held.pop("linkwise", ""))
    if kind != f"{subject} {VERSION}":
        raise refused(path, f"this is {f'a {kind!r}' if kind else 'an .npz file'}, not the '{subject} {VERSION}' of a chain")
    require(path, held, needed)
    return held


def texts(path: str | Path, name: str, held: Mapping[str, Any]) -> dict[str, Any]:
    """An array that is a text, read as a JSON object."""
    try:
        values = json.loads(str(held[name]))
    except (ValueError, RecursionError) as error:
        raise refused(path, f"{name} cannot be read") from error
    if not isinstance(values, dict):
        raise refused(path, f"{name} cannot be read")
    return values


def numbers(path: str | Path, name: str, held: Mapping[str, Any], dimensions: int, dtype: type = np.float64) -> Any:
    """An array of numbers of the type that was written."""
    array = held[name]
    if array.dtype != dtype or array.ndim != dimensions:
        message = f"{name} is {array.ndim}-dimensional, of {array.dtype}"
        raise refused(path, f"{message}; expected {dimensions} dimensions of {np.dtype(dtype)}")
    return array
