"""Arrays by name in an .npz file that says what it is of; nothing in it is ever run."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import FileError, FileProblem, choices
from linkwise.files.atomic import write_bytes
from linkwise.files.text import read_bytes

VERSION = 1
UNREADABLE = (
    *(ValueError, KeyError, OverflowError, MemoryError, EOFError, OSError),
    *(RuntimeError, NotImplementedError, struct.error, zipfile.BadZipFile, zlib.error),
)
"""What NumPy and zipfile raise on a file that was not written by them, or not so."""


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
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{"linkwise": np.array(f"{what} {VERSION}"), **arrays})
    write_bytes(path, [buffer.getvalue()])


def read_archive(path: str | Path, what: str, needed: Sequence[str]) -> dict[str, Any]:
    """The arrays that `write_archive` wrote.

    Raises
    ------
    FileError
        Where the file cannot be read, is of something else, or lacks one of those needed.
    """
    data = read_bytes(path)
    try:
        file = np.load(io.BytesIO(data), allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise refused(path, "this is one array, not an .npz file")
        with file:
            held: dict[str, Any] = {name: file[name] for name in file.files}
    except FileError:
        raise
    except UNREADABLE as error:
        raise refused(path, "this is not an .npz file of arrays, or it is damaged") from error
    said = str(held.pop("linkwise", ""))
    if said != f"{what} {VERSION}":
        raise refused(path, f"this is {f'a {said!r}' if said else 'an .npz file'}, not the '{what} {VERSION}' of a chain")
    if missing := [name for name in needed if name not in held]:
        raise refused(path, f"there is no array {choices(missing)} in it")
    return held


def texts(path: str | Path, name: str, held: Mapping[str, Any]) -> dict[str, Any]:
    """An array that is a text, read as a JSON object."""
    try:
        found = json.loads(str(held[name]))
    except ValueError as error:
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


def refused(path: str | Path, message: str) -> FileError:
    """The error for a file as a whole."""
    return FileError(path, [FileProblem(0, message)])
