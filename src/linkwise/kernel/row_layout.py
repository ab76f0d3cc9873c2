"""Names for parts of a row of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array


class RowLayout:
    """Parts of a row, one behind the other.

    Parameters
    ----------
    lengths : mapping of str to int
        How many numbers each part is.
    """

    def __init__(self, lengths: Mapping[str, int]) -> None:
        ends = np.cumsum(list(lengths.values()))
        pairs = zip(lengths.items(), ends, strict=True)
        self.parts = {name: slice(int(end) - count, int(end)) for (name, count), end in pairs}
        self.size = int(ends[-1])

    def read(self, row: Array, name: str) -> Array:
        """Return one part of a row."""
        return row[self.parts[name]]

    def number(self, row: Array, name: str) -> Any:
        """A part that is one number."""
        return row[self.parts[name]][0]

    def row(self, parts: Mapping[str, Any]) -> Array:
        """Concatenate all parts to one row."""
        return np.concatenate([np.atleast_1d(np.asarray(parts[name], dtype=object)).ravel() for name in self.parts])
