"""One way in and out for every description format: reading by content, writing by suffix."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem, LinkwiseWarning, choices
from linkwise.files.atomic import write_text
from linkwise.files.description import Description, Reading
from linkwise.files.dh.table import undecided
from linkwise.files.remarks import remarks_on
from linkwise.files.shape import Shape
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.files.xml_tree import XmlError, read_xml, root_tag
from linkwise.mechanism import Mechanism
from linkwise.model.checks import frozen
from linkwise.model.table import action
from linkwise.spatial.numbers import unmasked
from linkwise.spatial.scalar import FloatArray

READERS = {
    ".toml": "linkwise.files.linkwise_toml",
    ".dat": "linkwise.files.spacelib_dat",
    ".urdf": "linkwise.files.urdf",
    ".xml": "linkwise.files.mjcf",
}
"""The module that reads each format, by the usual suffix; imported when such a file is read."""

XML_FORMATS = {"robot": ".urdf", "mujoco": ".xml"}
"""The format of an XML file by the tag of its root element."""

WRITTEN = (".toml", ".dat", ".urdf")
"""The suffixes of what can be written."""

MOST_PROBLEMS = 100
"""How many problems of one file are told at most."""

_NUMERIC = re.compile(r"\s*[+-]?\.?\d[^\s=]*(\s|$)")
_TOML = re.compile(r"(?m)^[ \t]*(\[\[?[^\[\]\n]+\]\]?[ \t]*(#.*)?$|[A-Za-z0-9_\"'.-]+[ \t]*=)")
_XML = re.compile(r"\s*<")


def read(path: str | Path, *, physical: bool = True) -> Description:
    """Read a description: Linkwise .toml, SpaceLib .DAT, URDF or MJCF, told apart by what is in the file, not its name.

    A name that ends in .xacro is an exception: the file is expanded first, which evaluates the expressions in it and
    includes other files (see `linkwise.files.xacro`).

    Parameters
    ----------
    path : str or Path
        The file.
    physical : bool
        Whether every inertia must be that of a body that can exist (unless the file marks it ``physical = false``).
        False accepts a .DAT in which only the moments that matter were filled in, and the wrong tensors of many a URDF.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.
    MissingExtraError
        Where a .xacro file needs its library.

    Examples
    --------
    >>> import linkwise as lw, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> save(lw.Mechanism([lw.Link.dh(a=0.5, convention="standard", mass=1.0)], name="arm"), folder / "arm.toml")
    >>> read(folder / "arm.toml").mechanism.names
    ('link1',)
    """
    reading = _parse(path, physical)
    if reading.description is None:
        raise FileError(path, _some(reading.problems))
    return reading.description


def load(path: str | Path, *, physical: bool = True) -> Mechanism:
    """The mechanism of a description file; see `read`.

    What the file says to act on the tool (``[external]``, the end of a .DAT) is no part of a Mechanism: `read` gives it,
    and it has to be passed to the functions of the mechanism and to `save`.

    Warns
    -----
    LinkwiseWarning
        Where the file says that something acts on the tool, which the mechanism does not hold.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise import robots
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.toml"
    >>> save(robots.planar_2r(), path)
    >>> load(path).names
    ('link1', 'link2')
    """
    found = read(path, physical=physical)
    if found.external.any():
        told = f"{path}: what acts on the tool, {action(found.external)}, is no part of the Mechanism"
        hint = f"linkwise.files.read({str(path)!r}).external has it, for inverse_dynamics(q, qd, qdd, external)"
        warnings.warn(f"{told}; {hint}", LinkwiseWarning, stacklevel=2)
    return found.mechanism


def check(path: str | Path, *, physical: bool = True) -> list[FileProblem]:
    """Everything that is wrong with a description file, each with its line; empty when it can be read.

    Examples
    --------
    >>> check("/no/such/file.toml")
    [FileProblem(line=0, message='there is no such file')]
    """
    try:
        return _some(_parse(path, physical).problems)
    except FileError as error:
        return list(error.problems)


def remarks(path: str | Path, *, physical: bool = True) -> list[FileProblem]:
    """What is odd but not wrong in a description file that can be read: moving links without mass, and the like.

    Of a link that carries a rotor it is told where its inertia is too small to contain the rotor's, as it must where the
    rotor has no body of its own.

    Raises
    ------
    FileError
        Where the file cannot be read at all.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.urdf"
    >>> _ = path.write_text('<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
    ...                     '<parent link="a"/><child link="b"/></joint></robot>')
    >>> [remark.message for remark in remarks(path)]
    ['no link has a mass: this is a description of kinematics alone']
    """
    reading = _parse(path, physical)
    if reading.description is None:
        raise FileError(path, _some(reading.problems))
    found = [*remarks_on(reading.description.mechanism, reading), *reading.remarks]
    return sorted(found, key=lambda remark: remark.line)


def save(
    mechanism: Mechanism,
    path: str | Path,
    *,
    external: Any = None,
    source: Sequence[str] = (),
    shapes: Sequence[Shape] = (),
    allow_loss: bool = False,
) -> None:
    """Write a description, as the suffix says: ``.toml`` holds everything, ``.dat`` and ``.urdf`` what those can say.

    The file appears whole or not at all. A .DAT names neither the mechanism (the file's name stands for it) nor the
    source of its numbers, nor does a URDF name the latter.

    Parameters
    ----------
    mechanism : Mechanism
        What to write.
    path : str or Path
        The file.
    external : (6,) array_like, optional
        Force (N) and moment (N m) on the tool, tool axes. A Mechanism does not hold them; zero unless given here.
    source : sequence of str
        Where the numbers come from, a line each.
    shapes : sequence of Shape
        What the links look like and collide with, as `read` gives them. Only a URDF holds them.
    allow_loss : bool
        Write a .DAT even if it cannot hold the names, limits, motors, base, tool or payload, a URDF even if it cannot hold
        the gravity or the motors, and either or a .toml without the shapes. What would make it a file
        of another mechanism (branches, a floating base), or one that cannot be read again, is refused all the same.

    Raises
    ------
    FileError
        Where the format cannot hold the mechanism, naming everything that would be lost, or nothing can be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise import robots
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.toml"
    >>> save(robots.planar_2r(), path, source=["a sketch"])
    >>> path.read_text().splitlines()[:2]
    ['format = "linkwise 1"', 'name = "planar_2r"']
    """
    mechanism.require_numbers("a file")
    suffix = Path(path).suffix.lower()
    if suffix == ".xml":
        from linkwise.files.mjcf import cannot_save

        raise cannot_save(path)
    if suffix == ".csv":
        raise FileError(path, [FileProblem(0, "a table needs its dialect named; write it with files.save_dh")])
    if suffix not in WRITTEN:
        raise FileError(
            path, [FileProblem(0, f"cannot tell the format from the suffix {suffix!r}; expected {choices(WRITTEN)}")]
        )
    wrench = _wrench(external)
    if shapes and suffix != ".urdf" and not allow_loss:
        said = f"would be lost in a {suffix} file: what the links look like and collide with (shapes)"
        raise FileError(path, [FileProblem(0, said)], "save as .urdf, which holds them, leave them out, or allow_loss=True")
    if suffix == ".urdf":
        from linkwise.files import urdf

        write_text(path, [urdf.render(path, mechanism, wrench, shapes, allow_loss)])
    elif suffix == ".dat":
        from linkwise.files import spacelib_dat

        write_text(path, [spacelib_dat.render(path, mechanism, wrench, allow_loss)])
    else:
        from linkwise.files import toml_write

        write_text(path, list(toml_write.render(Description(mechanism, wrench, tuple(source)))))


def _wrench(external: Any) -> FloatArray:
    made = np.zeros(6) if external is None else np.array(unmasked("external", external), dtype=np.float64)
    if made.shape != (6,) or not np.all(np.isfinite(made)):
        raise ArgumentError(f"external is {external!r}; expected 6 finite numbers, force then moment")
    return frozen(made)


def _parse(path: str | Path, physical: bool) -> Reading:
    _refuse_robot(path)
    if Path(path).suffix.lower() == ".xacro":
        return _expanded(path, physical)
    text = read_text(path, LARGEST_DESCRIPTION)
    suffix = _format(path, text)
    parser = import_module(READERS[suffix]).parse
    if suffix == ".xml":
        parser = partial(parser, folder=Path(path).parent)  # (of the files that it includes)
    made: Reading = parser(text, Path(path).stem, physical)
    return made


def _expanded(path: str | Path, physical: bool) -> Reading:
    """What a xacro file makes; the lines of what it makes are not those of the file, and are not told."""
    from linkwise.files import urdf, xacro

    text, warnings = xacro.expand(path)
    made = urdf.parse(text, Path(path).name.split(".")[0], physical)
    problems, remarks = (
        [FileProblem(0, f"after expansion: {told.message}") for told in found] for found in (made.problems, made.remarks)
    )
    return Reading(made.description, problems, {}, [*warnings, *remarks], made.between)


def _refuse_robot(path: str | Path) -> None:
    """Say how a bundled robot is loaded where its bare name is given for a file that is not there."""
    from linkwise import robots

    name = str(path).lower()
    if name in robots.names() and not Path(path).exists():
        why = f"there is no such file; the bundled robot of that name is lw.robots.load({name!r})"
        raise FileError(path, [FileProblem(0, why)])


def _format(path: str | Path, text: str) -> str:
    """The suffix of the format that the content asks for; where the content says nothing, the suffix decides."""
    if not text.strip():
        raise FileError(path, [FileProblem(0, "the file is empty")])
    if Path(path).suffix.lower() == ".csv":
        raise FileError(path, [undecided(text)], "read it with files.read_dh(path, dialect=...), or --dialect")
    if _NUMERIC.match(text):
        return ".dat"
    if _XML.match(text):
        return _xml_format(path, text)
    suffix = Path(path).suffix.lower()
    if _TOML.search(text):
        return ".toml"
    if suffix in READERS:
        return suffix
    raise FileError(path, [FileProblem(1, _unknown(text))])


def _xml_format(path: str | Path, text: str) -> str:
    """The suffix of the format that the root element asks for."""
    tag = root_tag(text)
    if tag in XML_FORMATS:
        return XML_FORMATS[tag]
    try:
        root = read_xml(text)
    except XmlError as error:
        raise FileError(path, [error.problem]) from error
    known = " or ".join(f"<{tag}> ({suffix})" for tag, suffix in XML_FORMATS.items())
    raise FileError(path, [FileProblem(root.line, f"the root element is <{root.tag}>; expected {known}")])


def _unknown(text: str) -> str:
    first = text.split(maxsplit=1)[0]
    start = first if len(first) <= 20 else first[:20] + "..."
    tried = "Linkwise .toml (keys and [tables]), SpaceLib .DAT (numbers only), URDF and MJCF (XML)"
    return f"the format is not known; it starts with {start!r}; tried {tried}"


def _some(problems: Sequence[FileProblem]) -> list[FileProblem]:
    left = len(problems) - MOST_PROBLEMS
    return list(problems) if left <= 0 else [*problems[:MOST_PROBLEMS], FileProblem(0, f"and {left} problems more")]
