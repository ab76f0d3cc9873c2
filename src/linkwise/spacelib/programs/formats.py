"""Formats of the sample programs: streams of numbers, printed pages, the OUT file, and the manual's data files.

Numbers are read one after the other, every mistake with its line. Blanks and line breaks mean the same; there are no
comments. The robot's .DAT and the .MOT have readers of their own, see `linkwise.files`.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*: tables 4.2 (INP.DAT), 7.2 (SCARA.DAT), 7.3 (SCARA.MOT), 7.4
(SMART.DAT, SMART.MOT), 7.6 (TEST.DAT), 7.10 (ELBOW.DAT) and 7.12 (GUESS.1ST), digits as printed.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem, choices, members, shown
from linkwise.files.atomic import write_text
from linkwise.files.spacelib_out import LABELS
from linkwise.files.text import LARGEST_DESCRIPTION, Token, begins_as_number, each_token, number, read_text, whole, why_not
from linkwise.spacelib.printing import fprintm
from linkwise.spacelib.programs.rob_mat import PRINTED
from linkwise.spatial.scalar import FloatArray

#: Greatest number of reported errors; reading then stops.
MANY = 20


def save_numbers(path: str | Path, rows: Iterable[Iterable[float]]) -> None:
    """Write rows of numbers with all their digits, atomically.

    Whole numbers given as int have no point, as those that count have none in the manual's files.

    Raises
    ------
    FileError
        Where it cannot be written.
    """
    write_text(path, (" ".join(repr(value + 0) for value in row) + "\n" for row in rows))


class NumberFile:
    """The numbers of a file, taken in order; `finish` raises all errors.

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
        """True if there are words that have not been taken."""
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
            Where it is not such a number: what follows is then unknown.
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
            raise FileError(self.path, self.problems, f"Only the first {MANY} mistakes are listed.")

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
            message = f"{shown(extra.text)} comes after the last number; {self._taken} numbers were expected, there are "
            self.problems.append(FileProblem(extra.line, f"{message}{total} words"))
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


#: Numbers that are all smaller are written with an exponent: six decimals would not say much of them.
SMALL = 1e-3


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
    """Yield a program's output at each instant: a head, then the array of each part at that instant under its title."""
    for k, head in enumerate(heads):
        page = io.StringIO()
        page.write(head)
        for title, values in parts.items():
            fprintm(page, title, values[k], fixed=fixed)
        yield page.getvalue()


def rounded(value: float, size: float = 1.0) -> str:
    """Format a number with six decimals, without trailing zeros; negligible ones become zero.

    Parameters
    ----------
    value : float
        The number.
    size : float
        Size of the greatest number beside it: where that is small, the digits are counted from it.

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


#: Bytes of the largest OUT file that is read.
LARGEST = 1 << 30


@dataclass(frozen=True)
class OutFile:
    """Contents of an OUT file, to the four printed decimals.

    Attributes
    ----------
    matrices : dict of str to ndarray (k, L, 4, 4)
        At k instants, of L links: ``A``, ``T``, ``W``, ``WO``, ``WA``, ``H``, ``HO``, ``HA``, ``J``, ``JO``, ``FI``,
        ``ACTO`` (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, table 7.1). The times are not in the file.
    """

    matrices: dict[str, FloatArray]

    def __getitem__(self, name: str) -> FloatArray:
        return self.matrices[name]


def read_out(path: str | Path) -> OutFile:
    """Read an OUT file as `linkwise.spacelib.programs.rob_mat.write` lays it out; the original's labels will do too.

    A matrix is recognised by its place, and its label by its last word, in which the original's differ.

    Raises
    ------
    FileError
        Where the file cannot be opened, or is no such file: the first line that is not as it must be.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linkwise.spacelib.programs import formats, rob_mat
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "SCARA.OUT"
    >>> rob_mat.write(path, rob_mat.run(formats.path("SCARA.DAT"), formats.path("SCARA.MOT")))
    >>> read_out(path)["ACTO"].shape
    (2, 3, 4, 4)
    """
    lines = [(k, line.strip()) for k, line in enumerate(read_text(path, LARGEST).splitlines(), 1) if line.strip()]
    width = 1 + 5 * len(LABELS)
    collected, link, links, instants = [], 0, 0, 0
    for start in range(0, len(lines), width):
        block = lines[start : start + width]
        link = _link(path, block[0], _next(link, links, instants))
        instants += link == 1
        links = max(links, link)
        collected.append(_matrices(path, block))
    if not collected:
        raise FileError(path, [FileProblem(0, "the file is empty; expected the matrices of at least one link")])
    if len(collected) != instants * links:
        raise FileError(path, [FileProblem(lines[-1][0], f"the file ends before link {links} of instant {instants}")])
    values = np.array(collected).reshape(instants, links, len(LABELS), 4, 4)
    return OutFile({name: values[:, :, k] for k, name in enumerate(PRINTED)})


def _next(link: int, links: int, instants: int) -> list[int]:
    """Valid numbers of the next link: the number of links is known when the second instant begins."""
    if instants == 1:
        return [link + 1, 1]
    return [1 if link == links else link + 1]


def _link(path: str | Path, line: tuple[int, str], allowed: list[int]) -> int:
    """Number of the link whose matrices begin here, one of those allowed."""
    place, text = line
    for number_of_link in allowed:
        if text.split() == ["Link", str(number_of_link)]:
            return number_of_link
    raise FileError(path, [FileProblem(place, f"{shown(text, 60)}; expected {choices(f'Link {k}' for k in allowed)}")])


def _matrices(path: str | Path, block: list[tuple[int, str]]) -> FloatArray:
    """The matrices (12, 4, 4) of one link at one instant."""
    rows: list[list[float]] = []
    for k, label in enumerate(LABELS):
        part = block[1 + 5 * k : 6 + 5 * k]
        if len(part) < 5:
            raise FileError(path, [FileProblem(block[-1][0], f"the file ends within {block[0][1]}, {label!r}")])
        for place, text in part[1:]:
            values = [number(word) for word in text.split()]
            row = [value for value in values if value is not None]
            if len(values) != 4 or len(row) != 4:
                raise FileError(path, [FileProblem(place, f"{shown(text, 60)}; expected four numbers of {label!r}")])
            rows.append(row)
    return np.array(rows).reshape(len(LABELS), 4, 4)


#: Contents of each file.
MEANINGS = {
    "SCARA.DAT": "a SCARA robot: frames, masses, gravity (table 7.2)",
    "SCARA.MOT": "two instants of its joints (table 7.3)",
    "SMART.DAT": "a robot with six joints (table 7.4)",
    "SMART.MOT": "one instant of its joints (table 7.4)",
    "TEST.DAT": "two links that float, with their initial motion (table 7.6)",
    "ELBOW.DAT": "lengths of the links of the elbow robot (table 7.10)",
    "GUESS.1ST": "first guess of its joint angles (table 7.12)",
    "INP.DAT": "a system of four equations in five unknowns (table 4.2)",
}

#: Files of which the manual prints only the beginning, and the commands that write them.
WRITTEN_BY = {"TEST.MOT": "test-mot", "JOINT.MOT": "joint-mot", "GRIPPER.MOT": "elb-d-dh"}


def names() -> tuple[str, ...]:
    """Names of the bundled files.

    Examples
    --------
    >>> names()[:2]
    ('SCARA.DAT', 'SCARA.MOT')
    """
    return tuple(MEANINGS)


def path(name: str) -> Path:
    """Path of a bundled file.

    Parameters
    ----------
    name : str
        As in `names`; small letters will do.

    Raises
    ------
    ArgumentError
        Naming the files there are.

    Examples
    --------
    >>> path("guess.1st").read_text().split()
    ['.0', '.1', '.2', '.0', '.1', '.0']
    """
    known = name.upper()
    if known not in MEANINGS:
        raise ArgumentError(f"no bundled file {shown(name)}; there are {members(MEANINGS)}{_hint(known)}")
    return Path(str(files("linkwise.spacelib").joinpath("data", known)))


def found(name: str | Path) -> tuple[Path, bool]:
    """File of that name, and whether it is a bundled one, which is used if no file of the name exists.

    Parameters
    ----------
    name : str or Path
        A path, or the bare name of a bundled file.

    Raises
    ------
    FileError
        Where there is neither.
    """
    here = Path(name)
    if os.path.exists(here):
        return here, False
    known = str(here).upper()
    if known in MEANINGS:
        return path(known), True
    message = f"there is no such file; bundled are {members(MEANINGS)}{_hint(known)}"
    raise FileError(here, [FileProblem(0, message)])


def _hint(known: str) -> str:
    return f"; linkwise spacelib {WRITTEN_BY[known]} writes {known}" if known in WRITTEN_BY else ""


def copy(chosen: Sequence[str], folder: str | Path = ".", *, overwrite: bool = False) -> list[Path]:
    """Copy bundled files into a folder; existing ones are not changed.

    Parameters
    ----------
    chosen : sequence of str
        Their names; all where there is none.
    folder : str or Path
        Where to; made if needed.
    overwrite : bool
        Whether files that are there already may be replaced.

    Returns
    -------
    list of Path
        The files written; what is missing in it was left.

    Raises
    ------
    ArgumentError
        For a name that is not formats.
    FileError
        Where a file cannot be written.
    """
    targets = {Path(folder) / source.name: source for source in (path(name) for name in chosen or names())}
    try:
        written = [target for target in targets if overwrite or not os.path.exists(target)]
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, [FileProblem(0, f"cannot be made: {error.strerror or error}")]) from error
    for target in written:
        write_text(target, [read_text(targets[target])])
    return written
