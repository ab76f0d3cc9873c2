"""The OUT file of ROB_MAT, read back: for every instant and link its twelve matrices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwise.errors import FileError, FileProblem, choices, shown
from linkwise.files.numbers import number
from linkwise.files.spacelib_out import LABELS
from linkwise.files.text import read_text
from linkwise.spacelib.programs.rob_mat import PRINTED
from linkwise.spatial.scalar import FloatArray

LARGEST = 1 << 30
"""Bytes of the largest OUT file that is read."""


@dataclass(frozen=True)
class OutFile:
    """What an OUT file holds, to the four decimals that are printed.

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

    A matrix is told by where it stands, and its label by its last word, in which the original's differ.

    Raises
    ------
    FileError
        Where the file cannot be opened, or is no such file: the first line that is not as it must be.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linkwise.spacelib.programs import bundled, rob_mat
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "SCARA.OUT"
    >>> rob_mat.write(path, rob_mat.run(bundled.path("SCARA.DAT"), bundled.path("SCARA.MOT")))
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
    """The numbers that the next link may have: how many links there are is known when the second instant begins."""
    if instants == 1:
        return [link + 1, 1]
    return [1 if link == links else link + 1]


def _link(path: str | Path, line: tuple[int, str], allowed: list[int]) -> int:
    """The number of the link whose matrices begin here, one of those allowed."""
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
