"""Denavit-Hartenberg tables as text with separators (.csv), in dialects that must be named."""

from __future__ import annotations

from pathlib import Path

from linkwise.errors import ArgumentError, FileError, FileProblem, ModelError, choices
from linkwise.files.atomic import write_text
from linkwise.files.description import Description, Place, Reading
from linkwise.files.dh.dialects import DIALECTS, Dialect, meanings
from linkwise.files.dh.lines import Column, Line, header_columns, is_header, lines_of, names_unit, no_header
from linkwise.files.dh.rows import Rows
from linkwise.files.dh.write import rendered
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.mechanism import Mechanism
from linkwise.model.link import CONVENTIONS

MOST = 100
"""How many problems are told at most."""


def read_dh(
    path: str | Path,
    *,
    dialect: str | None = None,
    convention: str | None = None,
    angles: str | None = None,
    physical: bool = True,
) -> Mechanism:
    r"""Read a Denavit-Hartenberg table. Its dialect must be named: the same numbers mean another robot in another one.

    Parameters
    ----------
    path : str or Path
        The file: a row a link, cells separated by semicolons, tabs, commas or blanks; ``#`` and ``%`` begin a comment.
    dialect : str
        "linkwise", "matlab", "python" or "toolbox7"; see the page on tables. A header with the units in brackets says
        "linkwise" by itself. Without either the error shows what the first row would mean in each.
    convention : {"standard", "modified"}, optional
        Must be said where the table does not: "python" holds it in its column mdh, "linkwise" may in a column.
    angles : {"rad", "deg"}, optional
        What the angles are in. The toolboxes take rad, which is so unless said; a header of "linkwise" says it itself.
    physical : bool
        Whether every inertia must be that of a body that can exist.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.
    ArgumentError
        Where there is no such dialect, convention or unit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.csv"
    >>> _ = path.write_text("0, 0.3, 0, 90, 0\n0, 0, 0.5, 0, 0\n")
    >>> print(read_dh(path, dialect="matlab", convention="standard", angles="deg"))
    arm: 2 joints (RR)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    <BLANKLINE>
    link   joint  theta    d    a  alpha
    link1  R      q1     0.3  0      90°
    link2  R      q2     0    0.5     0°
    """
    text = read_text(path, LARGEST_DESCRIPTION)
    dialect = dialect or said_dialect(text)
    if dialect is None:
        raise FileError(path, [undecided(text)])
    reading = parse(text, Path(path).stem, dialect=dialect, convention=convention, angles=angles, physical=physical)
    if reading.description is None:
        raise FileError(path, reading.problems[:MOST])
    return reading.description.mechanism


def save_dh(mechanism: Mechanism, path: str | Path, dialect: str, *, allow_loss: bool = False) -> None:
    """Write a Denavit-Hartenberg table in a dialect, rad and m, with all digits.

    Parameters
    ----------
    mechanism : Mechanism
        A chain of links made from rows.
    path : str or Path
        The file.
    dialect : str
        "linkwise" holds names, limits, masses and motors; the others what their toolboxes do.
    allow_loss : bool
        Write it even if something is left out; what would make it a table of another robot is refused all the same.

    Raises
    ------
    FileError
        Naming everything that the dialect cannot hold.
    ArgumentError
        Where there is no such dialect.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise import Mechanism
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.dh"
    >>> save_dh(Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 1, 0)], convention="standard"), path, "linkwise")
    >>> read_dh(path, dialect="linkwise").n
    2
    """
    mechanism.require_numbers("a file")
    write_text(path, [rendered(path, mechanism, dialect_of(dialect), allow_loss)])


def parse(
    text: str,
    name: str,
    *,
    dialect: str,
    convention: str | None = None,
    angles: str | None = None,
    physical: bool = True,
) -> Reading:
    r"""Read the text of a table, line ends as ``\n``; see `read_dh`."""
    spoken = dialect_of(dialect)
    _check_choice("convention", convention, CONVENTIONS)
    _check_choice("angles", angles, ("rad", "deg"))
    if spoken.has_header and angles is not None:
        raise ArgumentError(f"angles is {angles!r}; the header of a table in the dialect 'linkwise' says its units itself")
    lines = lines_of(text)
    if not lines:
        return Reading(None, [FileProblem(0, "the file holds no row")], {})
    rows = Rows(spoken, convention, angles or "rad", physical)
    links = [rows.link(line, columns, k) for k, (line, columns) in enumerate(_with_columns(lines, spoken, rows.problems))]
    if rows.undecided:
        rows.problems.append(FileProblem(0, f"the table does not say its convention; say convention={choices(CONVENTIONS)}"))
    if not links and not rows.problems:
        rows.problems.append(FileProblem(lines[0].number, "there is no row below the header"))
    if rows.problems:
        return Reading(None, sorted(rows.problems, key=lambda problem: problem.line), {})
    try:
        made = Mechanism([link for link in links if link is not None], name=name or None)
    except ModelError as error:
        return Reading(None, [FileProblem(0, str(problem)) for problem in error.problems], {})
    first = 1 if spoken.has_header else 0
    places: dict[Place, int] = {("link", k): line.number for k, line in enumerate(lines[first:])}
    return Reading(Description(made), [], places)


def _with_columns(lines: list[Line], dialect: Dialect, problems: list[FileProblem]) -> list[tuple[Line, list[Column]]]:
    """The rows with what their cells are; rows of another length are reported."""
    found = []
    named = header_columns(lines[0], problems) if dialect.has_header else None
    if named is not None and problems:
        return []
    if named is None and is_header(lines[0]):
        problems.append(no_header(lines[0], dialect))
        lines = lines[1:]
    for line in lines[1:] if named is not None else lines:
        columns = dialect.columns(len(line.cells))
        if named is not None and len(line.cells) == len(named):
            found.append((line, named))
        elif columns is not None:
            found.append((line, [Column(name) for name in columns]))
        else:
            wanted = f"the header has {len(named)}" if named is not None else f"expected {dialect.counts}"
            problems.append(FileProblem(line.number, f"{len(line.cells)} cells; {wanted}"))
    return found


def undecided(text: str) -> FileProblem:
    """What is said of a table whose dialect was not named."""
    lines = lines_of(text)
    known = choices(DIALECTS)
    if lines and is_header(lines[0]) and any(names_unit(cell) for cell in lines[0].cells):
        said = "this is a header of the dialect 'linkwise': name that one"
        why = next(iter(_header_problems(lines[0])), None)
        return FileProblem(lines[0].number, f"{said} ({why.message})" if why else said)
    row = next((line for line in lines if not is_header(line)), None)
    if row is None:
        return FileProblem(0, f"a Denavit-Hartenberg table needs its dialect named: {known}")
    said = "; ".join(meanings(row.cells[:40]))
    return FileProblem(row.number, f"which dialect this table is in must be said: {known}. This row would mean: {said}")


def said_dialect(text: str) -> str | None:
    """The dialect that a table says by itself: "linkwise", where its header names all columns with their units.

    Examples
    --------
    >>> said_dialect("theta [deg], d [mm], a [mm], alpha [deg]"), said_dialect("0, 0, 0, 0")
    ('linkwise', None)
    """
    lines = lines_of(text)
    return "linkwise" if lines and is_header(lines[0]) and not _header_problems(lines[0]) else None


def _header_problems(line: Line) -> list[FileProblem]:
    problems: list[FileProblem] = []
    header_columns(line, problems)
    return problems


def dialect_of(name: str) -> Dialect:
    """The dialect of that name; ArgumentError where there is none."""
    if name not in DIALECTS:
        raise ArgumentError(f"dialect is {name!r}; expected {choices(DIALECTS)}")
    return DIALECTS[name]


def _check_choice(what: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise ArgumentError(f"{what} is {value!r}; expected {choices(allowed)}")
