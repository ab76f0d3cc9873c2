"""Arrays by name in an .npz file that says what it is of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.files import npz
from linkwise.files.atomic import write_bytes

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
        raise npz.refused(path, f"cannot tell the format from the suffix {Path(path).suffix!r}; expected '.npz'")
    write_bytes(path, [npz.packed({"linkwise": np.array(f"{what} {VERSION}"), **arrays})])


def read_archive(
    path: str | Path, what: str, needed: Sequence[str], wanted: Mapping[str, str], max_bytes: int | None = None
) -> dict[str, Any]:
    """The arrays that `write_archive` wrote; `wanted` and `max_bytes` as for `linkwise.files.npz.read`.

    Raises
    ------
    FileError
        Where the file cannot be read, is of something else, or lacks one of those needed.
    """
    held = npz.read(path, {"linkwise": npz.TEXT, **wanted}, max_bytes)
    said = str(held.pop("linkwise", ""))
    if said != f"{what} {VERSION}":
        raise npz.refused(
            path, f"this is {f'a {said!r}' if said else 'an .npz file'}, not the '{what} {VERSION}' of a chain"
        )
    npz.require(path, held, needed)
    return held


def texts(path: str | Path, name: str, held: Mapping[str, Any]) -> dict[str, Any]:
    """An array that is a text, read as a JSON object."""
    try:
        found = json.loads(str(held[name]))
    except (ValueError, RecursionError) as error:
        raise npz.refused(path, f"{name} cannot be read") from error
    if not isinstance(found, dict):
        raise npz.refused(path, f"{name} cannot be read")
    return found


def numbers(path: str | Path, name: str, held: Mapping[str, Any], dimensions: int, dtype: type = np.float64) -> Any:
    """An array of numbers of the type that was written."""
    found = held[name]
    if found.dtype != dtype or found.ndim != dimensions:
        told = f"{name} is {found.ndim}-dimensional, of {found.dtype}"
        raise npz.refused(path, f"{told}; expected {dimensions} dimensions of {np.dtype(dtype)}")
    return found
