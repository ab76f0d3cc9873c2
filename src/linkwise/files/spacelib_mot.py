"""SpaceLib's joint motion .MOT: the time step dt, then q qd qdd of each joint, for one instant after the other.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.1, table 7.3. The words may stand in any lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np

from linkwise.files.text import BLANKS, Source, uneven_motion
from linkwise.spatial.scalar import FloatArray

_WORD = re.compile(rb"[^ \t\n\v\f\r]+")
_ROWS = 4096


class MotReader:
    """Reads the motion of n joints; `dt` is known after construction."""

    def __init__(self, source: Source, n: int) -> None:
        self.source = source
        self.n = n
        self.dt: float | None = None
        self.words = self._words()
        self.remaining = np.empty(0)
        self._head()

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """The instants in order, some thousand at a time."""
        width, done = 3 * self.n, 0
        for values in chain([np.empty(0)], (values for _, values in self.words)):
            self.remaining = np.concatenate((self.remaining, values)) if self.remaining.size else values
            rows = self.remaining.size // width
            for start in range(0, rows, _ROWS):
                stop = min(rows, start + _ROWS)
                yield self._instants(self.remaining[start * width : stop * width], done)
                done += stop - start
            self.remaining = self.remaining[rows * width :].copy()
        if self.remaining.size or not done:
            self._incomplete(done)

    def _head(self) -> None:
        """Take the time step off the first words."""
        offset, values = next(self.words, (self.source.start, np.empty(0)))
        if not values.size:
            self.source.fail(offset, "the file is empty; expected the time step dt, then q qd qdd of each joint")
        self.dt, self.remaining = float(values[0]), values[1:]
        if not self.dt > 0:
            hint = "is the first number, the time step, missing?"
            self.source.fail(offset, f"the time step dt is {self.dt!r}; expected a number > 0; {hint}")

    def _instants(self, values: FloatArray, first: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        table = values.reshape(-1, self.n, 3)
        with np.errstate(over="ignore"):
            t = np.arange(first, first + len(table), dtype=np.float64) * np.float64(self.dt or 0.0)
        if not np.isfinite(t[-1]):
            message = f"the time step dt is {self.dt!r}: the time of the last instants is not finite"
            self.source.fail(self.source.start, message)
        q, qd, qdd = (np.ascontiguousarray(table[:, :, k]) for k in range(3))
        return t, q, qd, qdd

    def _words(self) -> Iterator[tuple[int, FloatArray]]:
        """The numbers of each piece, with the offset of the first."""
        for offset, piece in self.source.pieces(BLANKS):
            words = piece.split()
            if words:
                yield offset + piece.index(words[0]), self._numbers(offset, piece, words)

    def _numbers(self, offset: int, piece: bytes, words: list[bytes]) -> FloatArray:
        """Parse all words at once; on failure, parse one by one to find the invalid word."""
        values = self.source.numbers(words, piece)
        if values is not None:
            return values
        return np.array([self.source.number(offset + match.start(), match.group()) for match in _WORD.finditer(piece)])

    def _incomplete(self, done: int) -> None:
        """The file ends within an instant, or before the first."""
        width, size = 3 * self.n, self.source.file.seek(0, 2)
        start = max(0, size - (1 << 16))
        self.source.file.seek(start)
        last = start + len(self.source.file.read().rstrip())  # (the last word, near enough to name its line)
        if not self.remaining.size:
            self.source.fail(last, "the file ends after the time step; expected q qd qdd of each joint")
        missing = f"{width - self.remaining.size} of {width} numbers are missing"
        joints = f"{self.n} joint{'s' if self.n > 1 else ''}"
        uneven = uneven_motion(self.source)
        hint = f"; {uneven[1]}" if uneven else ""
        self.source.fail(last, f"the file ends within instant {done + 1}: {missing} (q qd qdd of {joints}){hint}")


def render(dt: float, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> Iterator[str]:
    """The text of a .MOT file, in parts: a line for each joint, an empty line between instants."""
    yield f"{dt!r}\n"
    table = np.stack((q, qd, qdd), axis=-1)
    for instant in table:
        yield "\n" + "".join(f"{a!r} {b!r} {c!r}\n" for a, b, c in instant.tolist())
