"""Functions that load, check and save descriptions of mechanisms."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem, shown, warn
from linkwise.files.atomic import write_text
from linkwise.files.mechanism_remarks import remarks_on
from linkwise.files.registry import TEXT, Options, ReadOptions, format_of, written_format
from linkwise.files.report import Description, Reading, all_shapes, with_collision_shapes
from linkwise.files.text import LARGEST_DESCRIPTION, read_text, refused, too_large
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import action
from linkwise.model.shape import Shape
from linkwise.model.tree import require_tree
from linkwise.model.validation import frozen
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import readable

#: Most problems reported of one file.
MOST_PROBLEMS = 100


def read(path: str | Path, *, physical: bool = True, **options: Unpack[Options]) -> Description:
    """Read a description: Linkwise .toml, SpaceLib .DAT, URDF, MJCF or SDF, recognised by content, not by name.

    A name that ends in .xacro, or the option `xacro`, is an exception: the file is expanded first, which evaluates the
    expressions in it and includes other files (see `linkwise.files.formats.xacro`).

    Parameters
    ----------
    path : str or Path
        The file.
    physical : bool
        Whether every inertia must be that of a body that can exist (unless the file marks it ``physical = false``).
        False accepts a .DAT in which only the moments that matter were filled in, and the wrong tensors of many a URDF.
    **options
        ``root``, ``xacro``, ``package_dirs``, ``include_root``, ``swap_limits``, ``bare_free_joints``,
        ``drop_unknown``: see
        `linkwise.files.ReadOptions`.

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
    return _description(path, parse(path, ReadOptions(physical=physical, **options)))


def load(path: str | Path, *, physical: bool = True, **options: Unpack[Options]) -> Mechanism:
    """The mechanism of a description file; see `read`, which also describes the options.

    What the file says to act on the tool (``[external]``, the end of a .DAT) is no part of a Mechanism: `read` gives it,
    and it has to be passed to the functions of the mechanism and to `save`.

    Warns
    -----
    LinkwiseWarning
        Where the file says that something acts on the tool, which the mechanism does not hold, and where the mechanism lacks
        a mass that the file describes. The other results of `remarks` are no warnings.

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
    return _mechanism(path, parse(path, ReadOptions(physical=physical, **options)))


def loads(text: str, *, physical: bool = True, **options: Unpack[Options]) -> Mechanism:
    """The mechanism of a description in a text: URDF, MJCF, SDF, xacro, Linkwise .toml or .DAT, recognised by content.

    A URDF with elements of xacro is expanded where the option `xacro` is given, be it empty; what it includes is found from
    the working folder. Files that an MJCF or SDF text includes are looked up in the folder `include_root`; a text
    without it can include none.

    Parameters
    ----------
    text : str
        The text.
    physical, **options
        As for `read`.

    Warns
    -----
    LinkwiseWarning
        As for `load`.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line; its path is ``<text>``.

    Examples
    --------
    >>> loads('<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
    ...       '<parent link="a"/><child link="b"/></joint></robot>').names
    ('j',)
    """
    if not isinstance(text, str):
        raise ArgumentError(f"text is {shown(text)}; expected str (load takes a path)")
    if len(text) > LARGEST_DESCRIPTION:
        raise too_large(TEXT, LARGEST_DESCRIPTION)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _mechanism(TEXT, _parse_text(TEXT, lines, ReadOptions(physical=physical, **options)))


def _description(path: str | Path, reading: Reading) -> Description:
    """The description, or everything that is wrong."""
    if reading.description is None:
        raise FileError(path, reading.problems)
    return reading.description


def all_remarks(reading: Reading) -> list[FileProblem]:
    """Return all remarks on a readable file: those of its reader and those on the mechanism."""
    assert reading.description is not None
    remarks = [*remarks_on(reading.description.mechanism, reading), *reading.remarks]
    return sorted(remarks, key=lambda remark: remark.line)


def _mechanism(path: str | Path, reading: Reading) -> Mechanism:
    """Return the mechanism alone; warn of features of the file that it lacks."""
    description = _description(path, reading)
    place = "" if path == TEXT else f"{path}: "
    for lacking in reading.lacking:
        warn(f"{place}{lacking}")
    if description.external.any():
        lost = f"what acts on the tool, {action(description.external)}, is no part of the Mechanism"
        hint = f"; linkwise.files.read({str(path)!r}).external has it, for inverse_dynamics(q, qd, qdd, external)"
        warn(f"{place}{lost}{hint if place else ''}")
    return description.mechanism


def check(path: str | Path, *, physical: bool = True, **options: Unpack[Options]) -> list[FileProblem]:
    """List all errors of a description file with their lines; empty when the file can be read.

    The options are those of `read`.

    Examples
    --------
    >>> check("/no/such/file.toml")
    [FileProblem(line=0, message='there is no such file')]
    """
    try:
        return parse(path, ReadOptions(physical=physical, **options)).problems
    except FileError as error:
        return list(error.problems)


def remarks(path: str | Path, *, physical: bool = True, **options: Unpack[Options]) -> list[FileProblem]:
    """List suspicious but valid features of a readable description file: moving links without mass, and the like.

    The options are those of `read`.
    A link that carries a rotor gets a remark where its inertia is too small to contain the rotor's, as it must where the
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
    reading = parse(path, ReadOptions(physical=physical, **options))
    _description(path, reading)
    return all_remarks(reading)


def save(
    mechanism: Mechanism,
    path: str | Path,
    *,
    external: Any = None,
    source: Sequence[str] = (),
    shapes: Sequence[Shape] = (),
    allow_loss: bool = False,
) -> None:
    """Write a description in the format of the suffix: ``.toml`` represents all, ``.dat``, ``.urdf``, ``.xml`` (MJCF) less.

    The file appears whole or not at all. A .DAT names neither the mechanism (the file's name stands for it) nor the
    source of its numbers, nor do a URDF and an MJCF file name the latter.

    Parameters
    ----------
    mechanism : Mechanism
        What to write.
    path : str or Path
        The file.
    external : (6,) array_like, optional
        Force (N) and moment (N m) on the tool, tool axes. A Mechanism does not hold them; zero unless given here.
    source : sequence of str
        Sources of the numbers, a line each.
    shapes : sequence of Shape
        What the links look like and collide with, as `read` gives them, beside the shapes of the mechanism. A .toml, a URDF
        and an MJCF file hold them.
    allow_loss : bool
        Write a .DAT even if it cannot hold the names, limits, motors, base, tool or payload, a URDF even if it cannot hold
        the gravity or the motors, an MJCF file even if it cannot hold greatest velocities or gear ratios, and a .DAT without
        the shapes. What would make it a file
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
    _refuse_kind(path)
    require_tree(mechanism, "save: mechanism")
    mechanism.require_numbers("a file")
    form = written_format(path)
    shapes = all_shapes(mechanism, shapes)
    if shapes and not form.holds_shapes and not allow_loss:
        suffix = form.suffixes[0]
        message = f"would be lost in a {suffix} file: what the links look like and collide with (shapes)"
        advice = "save as .urdf, which holds them, leave them out, or allow_loss=True"
        raise refused(path, message, advice=advice)
    description = Description(mechanism, _wrench(external), tuple(source), shapes)
    form.losses(description).check(path, form.name, allow_loss)
    write_text(path, form.write(description))


def _wrench(external: Any) -> FloatArray:
    wrench = np.zeros(6) if external is None else np.array(readable("external", external), dtype=np.float64)
    if wrench.shape != (6,) or not np.all(np.isfinite(wrench)):
        raise ArgumentError(f"external is {external!r}; expected 6 finite numbers, force then moment")
    return frozen(wrench)


def parse(path: str | Path, options: ReadOptions) -> Reading:
    """Parse a file as far as possible; of many problems the first ones are kept."""
    _refuse_kind(path)
    _refuse_name(path)
    return _parse_text(path, read_text(path, LARGEST_DESCRIPTION), options)


def _parse_text(path: str | Path, text: str, options: ReadOptions) -> Reading:
    """Parse a text; `path` is its origin, or `TEXT`."""
    form = format_of(path, text, options)
    options.refuse_unused(path, form.name, form.options)
    reading = with_collision_shapes(form.read(text, path, options), "" if path == TEXT else os.fspath(path))
    left = len(reading.problems) - MOST_PROBLEMS
    reading.problems[MOST_PROBLEMS:] = [FileProblem(0, f"and {left} problems more")] if left > 0 else []
    return reading


def _refuse_kind(path: object) -> None:
    """Reject arguments that are not paths: the operating system would accept numbers and bytes."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentError(f"path is {shown(path)}; expected the path of a file")


def _refuse_name(path: str | Path) -> None:
    """Raise an error with the right call where a missing file's name is that of a bundled robot, or is a text."""
    if os.path.exists(Path(path)):
        return
    name = str(path).lower()
    robots = resources.files("linkwise").joinpath("robots", "data")
    if name.isidentifier() and len(name) < 40 and robots.joinpath(f"{name}.toml").is_file():
        raise refused(path, f"there is no such file; the bundled robot of that name is lw.robots.load({name!r})")
    if isinstance(path, str) and ("\n" in path or path.lstrip().startswith("<")):
        raise ArgumentError(f"path is {shown(path)}, a text; linkwise.loads(text) reads a text")
