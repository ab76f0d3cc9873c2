"""Arrays by name in an .npz file; nothing in it is ever run."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import FileError, FileProblem, choices
from linkwise.files.text import read_bytes

UNREADABLE = (
    *(ValueError, KeyError, OverflowError, MemoryError, EOFError, OSError),
    *(RuntimeError, NotImplementedError, struct.error, zipfile.BadZipFile, zlib.error),
)
"""What NumPy and zipfile raise on a file that was not written by them, or not so."""


def packed(arrays: Mapping[str, Any]) -> bytes:
    """Arrays of numbers, and texts, as the bytes of an .npz."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def read(path: str | Path) -> dict[str, Any]:
    """All arrays of an .npz, by name.

    Raises
    ------
    FileError
        Where the file cannot be read.
    """
    data = read_bytes(path)
    try:
        file = np.load(io.BytesIO(data), allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise refused(path, "this is one array, not an .npz file")
        with file:
            return {name: file[name] for name in file.files}
    except FileError:
        raise
    except UNREADABLE as error:
        raise refused(path, "this is not an .npz file of arrays, or it is damaged") from error


def require(path: str | Path, held: Mapping[str, Any], needed: Sequence[str]) -> None:
    """Raise `FileError` where arrays are missing."""
    if missing := [name for name in needed if name not in held]:
        raise refused(path, f"there is no array {choices(missing)} in it")


def refused(path: str | Path, message: str) -> FileError:
    """The error for a file as a whole."""
    return FileError(path, [FileProblem(0, message)])
