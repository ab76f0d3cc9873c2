"""Data files that are a stream of numbers, each with a meaning: read one after the other, every mistake with its line.

Blanks and line breaks mean the same; there are no comments. The robot's .DAT and the .MOT have readers of their own, see
`linkwise.files`.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from linkwise.errors import FileError, FileProblem, shown
from linkwise.files.numbers import Token, number, tokens, whole, why_not
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.spatial.scalar import FloatArray


class NumberFile:
    """The numbers of a file, taken in their order; `finish` raises for all that was wrong.

    Parameters
    ----------
    path : str or Path
        The file.

    Raises
    ------
    FileError
        Where the file cannot be opened or ends too early.

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

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.words: list[Token] = tokens(read_text(path, LARGEST_DESCRIPTION))
        self.at = 0
        self.problems: list[FileProblem] = []

    @property
    def left(self) -> int:
        """How many words have not been taken."""
        return len(self.words) - self.at

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
            self.problems.append(FileProblem(word.line, f"{name}: {why_not(word.text)}"))
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
            self.problems.append(FileProblem(word.line, f"{name} is {shown(word.text)}; expected {span}"))
            raise self._error()
        return value

    def array(self, name: str, *shape: int) -> FloatArray:
        """Take an array, row after row; messages count its entries from 1, as ``A(2,3)``."""
        found = np.empty(shape)
        for place in np.ndindex(*shape):
            found[place] = self.number(f"{name}({','.join(str(k + 1) for k in place)})")
        return found

    def finish(self) -> None:
        """End the reading.

        Raises
        ------
        FileError
            With every word that was no number, and where there are words left.
        """
        if self.left:
            extra = self.words[self.at]
            said = f"{shown(extra.text)} comes after the last number; {self.at} numbers were expected, there are "
            self.problems.append(FileProblem(extra.line, f"{said}{len(self.words)} words"))
        if self.problems:
            raise self._error()

    def _next(self, name: str) -> Token:
        if not self.left:
            what = f"the file ends where {name} should follow" if self.words else f"the file is empty; expected {name}"
            self.problems.append(FileProblem(self.words[-1].line if self.words else 0, what))
            raise self._error()
        self.at += 1
        return self.words[self.at - 1]

    def _error(self) -> FileError:
        return FileError(self.path, self.problems)
