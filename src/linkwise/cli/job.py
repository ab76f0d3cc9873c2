"""The work of ``linkwise run``: a motion goes in a piece at a time, each piece through everything that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from linkwise.cli import csv_files
from linkwise.cli.base_tables import roundings_of
from linkwise.cli.output import Folder, TextFile
from linkwise.cli.results import Results, compute
from linkwise.cli.summary import Summary
from linkwise.errors import MissingExtraError
from linkwise.files.motion_remarks import MotionRemarks
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view import curves, spacelib_out
from linkwise.view.figure import rendered
from linkwise.view.thinned import Thinned

if TYPE_CHECKING:
    from linkwise.files import Description, Motion
    from linkwise.files.motion import Block
    from linkwise.mechanism import Mechanism

FEW = 3
"""Up to this many instants, every link is printed at each."""

MOST_OUT, MOST_LINKS = 1_000, 100_000
"""Up to this many instants the .OUT file and links.csv are written unasked: beyond, they would fill a disk."""

NO_OUT = "SpaceLib's layout has no place for a base that floats"
"""Why such a mechanism gets no .OUT file."""

LINK_INSTANTS = 8192
"""Links times instants computed at a time."""


@dataclass(frozen=True)
class Wanted:
    """What a run shall write.

    Attributes
    ----------
    folder : Path
        Where.
    name : str
        Of the .OUT file, without its suffix.
    figures : str or None
        Their format, ``png`` or ``svg``; None for no figures.
    links, out : bool or None
        Whether to write links.csv and the .OUT file; None leaves it to the length of the motion.
    """

    folder: Path
    name: str
    figures: str | None = "png"
    links: bool | None = None
    out: bool | None = None


@dataclass
class Report:
    """What a run has done: the files, what is to be said of them, the summary, the results if they are few, what was odd."""

    summary: Summary
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    few: Results | None = None
    remarks: list[str] = field(default_factory=list)


class Sink(Protocol):
    """Something that takes in results as they come."""

    def add(self, results: Results) -> None:
        """Take in the next instants."""


def execute(found: Description, motion: Motion, wanted: Wanted, progress: Callable[[], None] = lambda: None) -> Report:
    """Run a motion through a mechanism and write what is wanted; memory does not grow with the motion.

    Raises
    ------
    FileError
        Where the motion is wrong somewhere, or a file cannot be written; nothing is left behind then.
    """
    tree = found.mechanism
    report = Report(Summary(tree))
    drawn, odd = Drawn(tree), MotionRemarks(tree, motion)
    with Folder(wanted.folder) as folder:
        sinks: list[Sink] = []
        for block in motion:
            odd.add(*block)
            if not sinks:
                sinks = [report.summary, *_writers(tree, wanted, folder, report, _expected(motion, len(block[0])))]
                sinks += [drawn] if wanted.figures else []
            for piece in _pieces(block, max(16, LINK_INSTANTS // len(tree.links))):
                results = compute(found, *piece)
                for sink in sinks:
                    sink.add(results)
                report.few = results if report.summary.count == len(results.t) <= FEW else None
            progress()
        report.remarks = [remark.message for remark in odd.told()]
        if wanted.figures:
            _draw(drawn, wanted.figures, folder, report, tree)
    return report


def _expected(motion: Motion, first: int) -> int:
    """How many instants there will be, judged by the share of the file that the first ones took."""
    return first if motion.consumed >= motion.size else int(first * motion.size / max(motion.consumed, 1))


def _pieces(block: Block, size: int) -> Iterator[Block]:
    t, q, qd, qdd = block
    for start in range(0, len(t), size):
        piece = slice(start, start + size)
        yield t[piece], q[piece], qd[piece], qdd[piece]


# ── text files ────────────────────────────────────────────────────────────────────────────────────


def _writers(tree: Tree, wanted: Wanted, folder: Folder, report: Report, expected: int) -> Iterator[Sink]:
    yield _Writer(_begin(folder, "joints.csv", csv_files.joints_header(tree), report), csv_files.joints_rows)
    if tree.floating and wanted.out is None:
        report.notes.append(f"{wanted.name}.OUT left out: {NO_OUT}")
    out = False if tree.floating else wanted.out
    choices = (
        ("links.csv", wanted.links, MOST_LINKS, "--links", csv_files.links_header(), _links_rows(tree)),
        (f"{wanted.name}.OUT", out, MOST_OUT, "--out", "", _out_text(tree)),
    )
    for name, asked, most, option, header, rows in choices:
        if asked or (asked is None and expected <= most):
            yield _Writer(_begin(folder, name, header, report), rows)
        elif asked is None:
            report.notes.append(f"{name} left out: {_about(expected)} instants make a large file; {option} writes it")


def _about(count: int) -> str:
    """Write a count to two digits."""
    return f"about {int(float(f'{count:.1e}')):,}"


def _begin(folder: Folder, name: str, header: str, report: Report) -> TextFile:
    file = folder.open(name)
    file.write(header)
    report.files.append(file.path)
    return file


def _links_rows(tree: Tree) -> Callable[[Results], Iterator[str]]:
    return lambda results: csv_files.links_rows(tree, results)


def _out_text(tree: Tree) -> Callable[[Results], Iterator[str]]:
    def rows(results: Results) -> Iterator[str]:
        r = results
        size = max(1, 2048 // len(tree.links))
        for start in range(0, len(r.t), size):
            k = slice(start, start + size)
            yield from spacelib_out.text(
                spacelib_out.matrices(tree, r.qd[k], r.qdd[k], r.T[k], r.W[k], r.H[k], r.actions[k])
            )

    return rows


class _Writer:
    """A text file and what makes text of results."""

    def __init__(self, file: TextFile, rows: Callable[[Results], Iterator[str]]) -> None:
        self.file = file
        self.rows = rows

    def add(self, results: Results) -> None:
        for text in self.rows(results):
            self.file.write(text)


# ── figures ───────────────────────────────────────────────────────────────────────────────────────


class Drawn:
    """The curves of a run, thinned as they come."""

    def __init__(self, tree: Tree) -> None:
        self.joints = Thinned(tree.nq + 3 * tree.nv)
        self.links = Thinned(2 * len(tree.links))

    def add(self, results: Results) -> None:
        """Take in the next instants."""
        self.joints.add(results.t, np.concatenate((results.q, results.qd, results.qdd, results.tau), axis=1))
        magnitudes = [np.linalg.norm(vectors, axis=2) for vectors in (results.forces, results.joint_moments)]
        self.links.add(results.t, np.concatenate(magnitudes, axis=1))


def _draw(drawn: Drawn, suffix: str, folder: Folder, report: Report, tree: Mechanism) -> None:
    try:
        figures = list(_figures(drawn, tree, report.summary))
    except MissingExtraError as error:
        report.notes.append(f"no figures: {error}")
        return
    for name, made in figures:
        folder.write(f"{name}.{suffix}", rendered(made, suffix))
        report.files.append(folder.path / f"{name}.{suffix}")


def _figures(drawn: Drawn, tree: Mechanism, summary: Summary) -> Iterator[tuple[str, object]]:
    small = roundings_of(tree, summary) if tree.floating else (np.zeros(tree.nv), 0.0, 0.0)
    if tree.nv:
        t, values = drawn.joints.points()
        quantities = np.split(values, tree.nq + tree.nv * np.arange(3), axis=1)
        quantities[-1] = _quieted(quantities[-1], small[0])
        rows = [_panels(tree, title, t, v) for title, v in zip(curves.UNITS, quantities, strict=True)]
        also = "the base and " if tree.floating else ""
        yield "joints", curves.plot(rows, [*tree.names, *curves.BASE_LABELS], f"{tree.name}: {also}the joints")
    t, values = drawn.links.points()
    force, moment = map(_quieted, np.split(values, 2, axis=1), small[1:])
    every = range(len(tree.links))
    rows = [
        [curves.Curves("force", "N", t, force, every)],
        [curves.Curves("moment\nabout the joint", "N m", t, moment, every)],
    ]
    title = f"{tree.name}: magnitude of what each link receives from its parent"
    yield "joint_forces", curves.plot(rows, tree.link_names, title)


def _quieted(values: FloatArray, small: FloatArray | float) -> FloatArray:
    """Return curves (k, m), zero where they never come above what is rounding."""
    return np.where(np.abs(values).max(axis=0, initial=0.0) <= small, 0.0, values)


def _panels(tree: Tree, title: str, t: FloatArray, values: FloatArray) -> list[curves.Curves]:
    """Make the panels of one quantity: a floating base, joints that turn, joints that slide."""
    first = values.shape[1] - tree.n
    base = curves.base_panels(title, t, values[:, :first], tree.n) if first else []
    return base + curves.joint_panels(title, t, values[:, first:], list(tree.slides))
