"""Data files that are a stream of numbers, each with a meaning, and printed pages of results.

Numbers are read one after the other, every mistake with its line. Blanks and line breaks mean the same; there are no
comments. The robot's .DAT and the .MOT have readers of their own, see `linkwise.files`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import FileError, FileProblem, shown
from linkwise.files.atomic import write_text
from linkwise.files.numbers import Token, begins_as_number, each_token, number, whole, why_not
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.spacelib.printing import fprintm
from linkwise.spatial.scalar import FloatArray

MANY = 20
"""So many mistakes are told; a file with more is read no further."""


def save_numbers(path: str | Path, rows: Iterable[Iterable[float]]) -> None:
    """Write rows of numbers, each so that it reads back as the same; the file is there whole or not at all.

    Whole numbers given as int have no point, as those that count have none in the manual's files.

    Raises
    ------
    FileError
        Where it cannot be written.
    """
    write_text(path, (" ".join(repr(value + 0) for value in row) + "\n" for row in rows))


class NumberFile:
    """The numbers of a file, taken in their order; `finish` raises for all that was wrong.

    Parameters
    ----------
    path : str or Path
        The file.
    largest : int
        How many bytes it may have.

    Attributes
    ----------
    line : int
        Where the last word stands that was taken.
    problems : list of FileProblem
        What was wrong so far.

    Raises
    ------
    FileError
        Where the file cannot be opened, is too large or ends too early, and at the twentieth mistake.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "guess"
    >>> _ = path.write_text("2  0.5 1.5")
    >>> file = NumberFile(path)
    >>> count = file.whole("how many there are")
    >>> file.array("q", count).tolist(), file.finish()
    ([0.5, 1.5], None)
    """

    def __init__(self, path: str | Path, largest: int = LARGEST_DESCRIPTION) -> None:
        self.path = Path(path)
        self.line = 0
        self.problems: list[FileProblem] = []
        self._words = each_token(read_text(path, largest))
        self._coming: Token | None = next(self._words, None)
        self._taken = 0

    @property
    def more(self) -> bool:
        """Whether there are words that have not been taken."""
        return self._coming is not None

    def number(self, name: str) -> float:
        """Take the next number, NaN where the word is none.

        Parameters
        ----------
        name : str
            What it means, as messages say it.
        """
        word = self._next(name)
        value = number(word.text)
        if value is None:
            self.wrong(f"{name}: {why_not(word.text)}")
        return math.nan if value is None else value

    def whole(self, name: str, least: int = 0, most: int | None = None) -> int:
        """Take the next whole number.

        Parameters
        ----------
        name : str
            What it means.
        least, most : int
            Between what it must be.

        Raises
        ------
        FileError
            Where it is not such a number: what follows can then not be told.
        """
        word = self._next(name)
        value = whole(word.text)
        if value is None or value < least or (most is not None and value > most):
            span = f"a whole number >= {least}" if most is None else f"a whole number from {least} to {most}"
            self.wrong(f"{name} is {shown(word.text)}; expected {span}")
            raise self._error()
        return value

    def wrong(self, message: str) -> None:
        """Note a mistake in the line of the last word.

        Raises
        ------
        FileError
            Where there are many by now.
        """
        self.problems.append(FileProblem(self.line, message))
        if len(self.problems) == MANY:
            raise FileError(self.path, self.problems, f"Only the first {MANY} mistakes are told.")

    def array(self, name: str, *shape: int) -> FloatArray:
        """Take an array, row after row; messages count its entries from 1, as ``A(2,3)``."""
        values = np.empty(shape)
        for place in np.ndindex(*shape):
            values[place] = self.number(f"{name}({','.join(str(k + 1) for k in place)})")
        return values

    def finish(self) -> None:
        """End the reading; a text after the last number is not read, as SpaceLib does not read it.

        Raises
        ------
        FileError
            With every word that was no number, and where there are numbers left.
        """
        if self._coming is not None and begins_as_number(self._coming.text):
            extra, total = self._coming, self._taken + 1 + sum(1 for _ in self._words)
            said = f"{shown(extra.text)} comes after the last number; {self._taken} numbers were expected, there are "
            self.problems.append(FileProblem(extra.line, f"{said}{total} words"))
        if self.problems:
            raise self._error()

    def _next(self, name: str) -> Token:
        word = self._coming
        if word is None:
            message = f"the file ends where {name} should follow" if self._taken else f"the file is empty; expected {name}"
            self.problems.append(FileProblem(self.line, message))
            raise self._error()
        self.line, self._taken, self._coming = word.line, self._taken + 1, next(self._words, None)
        return word

    def _error(self) -> FileError:
        return FileError(self.path, self.problems)


SMALL = 1e-3
"""Numbers that are all smaller are written with an exponent: six decimals would not say much of them."""


class Sheet:
    """Text that grows; ``str`` of it is the page."""

    def __init__(self) -> None:
        self._text = io.StringIO()

    def line(self, text: str = "") -> None:
        """Add a line."""
        self._text.write(f"{text}\n")

    def matrix(self, title: str, values: Any) -> None:
        """Add a matrix under its title, as `fprintm` writes it."""
        fprintm(self._text, title, np.asarray(values))

    def vector(self, title: str, values: Any) -> None:
        """Add a vector in one line."""
        entries = np.asarray(values).tolist()
        size = max(map(abs, entries), default=0.0)
        self.line(f"{title} = [{' '.join(rounded(value, size) for value in entries)}]")

    def angle(self, title: str, radians: float) -> None:
        """Add an angle, rad, in radians and in degrees."""
        self.line(f"{title} = {rounded(radians)} rad = {rounded(math.degrees(radians))} deg")

    def value(self, title: str, value: float, unit: str = "") -> None:
        """Add a number with its unit."""
        self.line(f"{title} = {rounded(value)} {unit}".rstrip())

    def __str__(self) -> str:
        return self._text.getvalue()


def pages(heads: Iterable[str], parts: Mapping[str, FloatArray], *, fixed: bool = False) -> Iterator[str]:
    """What a program prints at each instant: a head, then the array of each part at that instant under its title."""
    for k, head in enumerate(heads):
        page = io.StringIO()
        page.write(head)
        for title, values in parts.items():
            fprintm(page, title, values[k], fixed=fixed)
        yield page.getvalue()


def rounded(value: float, size: float = 1.0) -> str:
    """Write a number to six decimals, without the zeros at its end; what is below shows as zero.

    Parameters
    ----------
    value : float
        The number.
    size : float
        Of the greatest number beside it: where that is small, the digits are counted from it.

    Examples
    --------
    >>> rounded(1.5707963), rounded(-1.0), rounded(-1e-17)
    ('1.570796', '-1', '0')
    >>> rounded(2.5e-7, 2.5e-7), rounded(-1e-20, 2.5e-7)
    ('2.5e-07', '0')
    """
    if 0.0 < size < SMALL:
        return f"{value:.7g}" if abs(value) > 1e-6 * size else "0"
    text = f"{round(value, 6) + 0.0:.6f}".rstrip("0").rstrip(".")
    return text if abs(value) < 1e9 else repr(value)
