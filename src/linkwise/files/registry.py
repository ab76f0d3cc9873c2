"""The protocol of description formats, their registry, and the functions that load, check and save descriptions.

A format is one module or folder in `linkwise.files.formats` that registers an instance of its `Format`; it is found there by
its name alone. A format of another package calls `register` itself.

Examples
--------
>>> class Bare(Format):
...     name, title, suffixes = "a .bare", "bare (a name)", (".bare",)
...
...     def sniff(self, text, options):
...         return text.startswith("bare ")
...
...     def read(self, text, path, options):
...         from linkwise import Link, Mechanism
...
...         return Reading(Description(Mechanism([Link(name=text.split()[1])])), [], {})
>>> _ = register(Bare())
>>> from linkwise.files import loads
>>> loads("bare arm").link_names
('arm',)
>>> _ = FORMATS.pop()
"""

from __future__ import annotations

import math
import os
import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import import_module, resources
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem, choices, shown, warn
from linkwise.files.atomic import write_text
from linkwise.files.mechanism_remarks import remarks_on
from linkwise.files.packages import Folders
from linkwise.files.report import Description, Reading, all_shapes, with_collision_shapes
from linkwise.files.text import LARGEST_DESCRIPTION, read_text, refused, too_large
from linkwise.files.xml_tree import XmlError, read_xml, root_tag
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import action, number
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.shape import Shape
from linkwise.model.validation import frozen
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag, unmasked


class Options(TypedDict, total=False):
    """The keyword options of `read`, `load`, `loads`, `check` and `remarks`, of the types in `ReadOptions`."""

    root: str | None
    xacro: Mapping[str, object] | None
    package_dirs: Folders
    include_root: str | Path | None
    swap_limits: bool
    drop_free_armature: bool
    drop_unknown: bool


@dataclass(frozen=True)
class ReadOptions:
    """How a description is read.

    Attributes
    ----------
    physical : bool
        Whether every inertia must be that of a body that can exist.
    root : str, optional
        URDF: the link at the root, of a file that describes several mechanisms. MJCF: the body in the world, likewise. SDF:
        such a link, or a model. Linkwise .toml: a link on the base. What does not hang on it is left out, with a remark.
    xacro : mapping of str to str, optional
        Values of the ``<xacro:arg>`` of the file. With it (be it empty) a file is expanded whatever its name.
    package_dirs : sequence of str or Path
        Folders that hold packages, or are packages, for ``$(find package)`` of xacro and ``model://`` of SDF.
    include_root : str or Path, optional
        A folder from which, and from all below it, an MJCF file may include files; without it from its own folder only. Of
        a text: the folder that included files are looked up from.
    swap_limits : bool
        Whether reversed limits of a URDF or SDF (lower above upper) are exchanged, with a remark.
    drop_free_armature : bool
        Whether the armature of a free joint of an MJCF file is left out, with a remark.
    drop_unknown : bool
        Whether what has no counterpart here, or is not there, is left out with a remark, as other programs do in silence:
        equalities of MJCF (what they tie moves freely), a ``<mimic>`` of URDF that names no joint with a coordinate (so it
        moves freely), an ``<inertia>`` that a URDF lacks (the mass is that of a point), added masses and limits that are no
        numbers of SDF.

    Raises
    ------
    ArgumentError
        Where an option is of another kind, or a folder is not there.

    Examples
    --------
    >>> import linkwise as lw
    >>> text = '<robot name="r"><link name="pelvis"/><link name="table"/></robot>'
    >>> lw.loads(text, root="pelvis").link_names
    ('pelvis',)
    """

    physical: bool = True
    root: str | None = None
    xacro: Mapping[str, object] | None = None
    package_dirs: Folders = ()
    include_root: str | Path | None = None
    swap_limits: bool = False
    drop_free_armature: bool = False
    drop_unknown: bool = False

    def __post_init__(self) -> None:
        if self.root is not None and not isinstance(self.root, str):
            raise ArgumentError(f"root is {self.root!r}; expected the name of a link or body")
        if isinstance(self.package_dirs, str | bytes) or not isinstance(self.package_dirs, Sequence):
            raise ArgumentError(f"package_dirs is {self.package_dirs!r}; expected a sequence of folders")
        for folder in self.package_dirs:
            _require_folder("package_dirs", folder)
        if self.include_root is not None:
            _require_folder("include_root", self.include_root)
        for name in ("physical", "swap_limits", "drop_free_armature", "drop_unknown"):
            flag(name, getattr(self, name))
        self.arguments()

    def arguments(self) -> dict[str, str]:
        """The xacro arguments as text.

        Examples
        --------
        >>> ReadOptions(xacro={"name": "ur5e", "gripper": False}).arguments()
        {'name': 'ur5e', 'gripper': 'False'}
        """
        values = {} if self.xacro is None else self.xacro
        if not isinstance(values, Mapping):
            raise ArgumentError(f"xacro is {values!r}; expected a mapping of argument names to values")
        for name, value in values.items():
            if not isinstance(name, str) or not isinstance(value, str | bool | int | float):
                raise ArgumentError(f"xacro is {dict(values)!r}; expected names with text, numbers or truth values")
        return {name: str(value) for name, value in values.items()}

    def refuse_unused(self, path: str | Path, form: str, known: Collection[str] = ()) -> None:
        """Refuse options without effect on a format, where their silent loss would give another mechanism.

        Parameters
        ----------
        path : str or Path
            The file.
        form : str
            What a message calls its format.
        known : collection of str
            Which of ``root`` and ``xacro`` the format knows.

        Raises
        ------
        FileError
            Naming the option.
        """
        if self.xacro is not None and "xacro" not in known:
            raise refused(path, f"xacro arguments were given, but this is {form}, not xacro")
        if self.root is not None and "root" not in known:
            hint = "only Linkwise .toml, URDF, MJCF and SDF have several roots"
            raise refused(path, f"root={self.root!r} was given, but {form} describes one mechanism; {hint}")


#: How a description is read where nothing else is asked for.
USUAL = ReadOptions()


def _require_folder(name: str, folder: object) -> None:
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"{name} is or holds {folder!r}; expected the path of a folder")
    if not os.path.isdir(Path(folder)):
        raise ArgumentError(f"{name}: there is no folder {os.fspath(folder)!r}")


#: What stands for the path of a text that is in no file.
TEXT = "<text>"

XML = re.compile(r"\s*<")

#: How an XML text begins, and a text of numbers.
NUMERIC = re.compile(r"\s*[+-]?\.?\d[^\s=]*(\s|$)")


@dataclass
class Losses:
    """What a format cannot hold of a description.

    Attributes
    ----------
    lost : list of str
        What would be left out.
    never : list of str
        What keeps the file from being written: it would describe another mechanism, or could not be read again.
    """

    lost: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)

    def check(self, path: str | Path, form: str, allow_loss: bool) -> None:
        """Raise `FileError` naming everything that would be lost, unless that is allowed, and what cannot be written."""
        if self.never or (self.lost and not allow_loss):
            messages = [f"would be lost in {form}: {part}" for part in self.lost]
            messages += [f"cannot be written in {form} at all: {part}" for part in self.never]
            problems = [FileProblem(0, message) for message in messages]
            raise FileError(path, problems, self.advice("allow the loss (allow_loss=True)"))

    def advice(self, allow: str) -> str:
        """What can be done; `allow` is how the loss is allowed, where that helps."""
        return "save as .toml, which holds everything" + ("" if self.never else f", or {allow}")


class Format:
    """One format of descriptions; a subclass reads, and writes if it can.

    Attributes
    ----------
    name : str
        What messages call a file of it: ``"a URDF"``.
    title : str
        What it is, where all formats are listed.
    suffixes : tuple of str
        Its usual suffixes, in small letters; the first one is written.
    tag : str
        Tag of the root element of an XML format.
    options : frozenset of str
        Which of ``root`` and ``xacro`` it knows; others are refused, for without effect they would give another mechanism.
    named : bool
        Whether the suffix alone decides that a file is of it.
    holds_shapes : bool
        Whether it holds what links look like.
    refusal : str
        Why `save` does not write it; empty for a format that it writes.
    """

    name = ""
    title = ""
    suffixes: tuple[str, ...] = ()
    tag = ""
    options: frozenset[str] = frozenset()
    named = False
    holds_shapes = False
    refusal = ""

    def sniff(self, text: str, options: ReadOptions) -> bool:
        """Whether the text, which is not empty, is of this format."""
        return bool(self.tag) and XML.match(text) is not None and root_tag(text) == self.tag

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:
        r"""What a text holds: line ends are ``\n``, `path` is where it comes from, or `TEXT`."""
        raise NotImplementedError

    def losses(self, description: Description) -> Losses:
        """What the format cannot hold of a description."""
        return Losses()

    def write(self, description: Description) -> Iterator[str]:
        """The text of a description, in parts, without what cannot be held."""
        raise NotImplementedError


#: All formats, in the order in which they were registered.
FORMATS: list[Format] = []


def register(form: Format) -> Format:
    """Make a format known; one that is registered later is asked first."""
    FORMATS.append(form)
    return form


@cache
def _load_own() -> None:
    """Register the formats of `linkwise.files.formats`."""
    folder = import_module("linkwise.files.formats")
    names = [f"{folder.__name__}.{module.name}" for module in pkgutil.iter_modules(folder.__path__)]
    for name in names:
        import_module(name)
    order = {name: k for k, name in enumerate(names)}
    FORMATS.sort(key=lambda form: order.get(type(form).__module__, len(order)))  # (before others, however imported)


def formats() -> list[Format]:
    """All formats, in the order in which they were registered."""
    _load_own()
    return FORMATS


def format_of(path: str | Path, text: str, options: ReadOptions) -> Format:
    """The format that the content asks for; where the content does not decide, the suffix does.

    Raises
    ------
    FileError
        Where neither decides.
    """
    suffix = Path(path).suffix.lower()
    known = list(reversed(formats()))
    if not text.strip():
        raise refused(path, "the file is empty")
    named = (form for form in known if form.named and suffix in form.suffixes)
    form = next(chain(named, (form for form in known if form.sniff(text, options))), None)
    if form is None and XML.match(text):
        raise FileError(path, [_unknown_root(text)])
    form = form or next((form for form in known if suffix in form.suffixes), None)
    if form is None:
        first = text.split(maxsplit=1)[0]
        start = first if len(first) <= 20 else first[:20] + "..."
        tried = ", ".join(form.title for form in FORMATS if form.title)
        raise refused(path, f"the format is not known; it starts with {start!r}; tried {tried}", 1)
    return form


def written_format(path: str | Path) -> Format:
    """The format that a suffix asks `save` for.

    Raises
    ------
    FileError
        Where there is none, or it is not written.
    """
    suffix = Path(path).suffix.lower()
    form = next((form for form in reversed(formats()) if suffix in form.suffixes), None)
    if form is None:
        known = [form.suffixes[0] for form in FORMATS if not form.refusal]
        message = f"cannot tell the format from the suffix {suffix!r}; expected {choices(known)}"
    else:
        message = form.refusal
    if form is None or message:
        raise refused(path, message)
    return form


def _unknown_root(text: str) -> FileProblem:
    try:
        root = read_xml(text)
    except XmlError as error:
        return error.problem
    known = " or ".join(f"<{form.tag}> ({form.suffixes[0]})" for form in FORMATS if form.tag)
    return FileProblem(root.line, f"the root element is <{root.tag}>; expected {known}")


def stem(path: str | Path) -> str:
    """The name of a file without its suffix; empty for a text that is in no file."""
    return "" if path == TEXT else Path(path).stem


# ── losses that formats share ─────────────────────────────────────────────────────────────────────


def motor_losses(motor: Motor, whose: str) -> Iterator[str]:
    """What a format leaves out of a motor that holds its friction at the joint, the same both ways, and nothing else."""
    up, down = motor.reflected_coulomb
    tests = {
        f"{whose} carrier": motor.carrier is not None,
        f"{whose} friction rule": motor.friction_rule != "reflected",
        f"{whose} transition speed": motor.transition_speed != 0,
        f"{whose} breakaway friction": motor.breakaway is not None,
        "its Coulomb friction by direction (the mean of both is written)": up != -down,
    }
    return (part for part, lost in tests.items() if lost)


def chain_losses(mechanism: Mechanism, holds: Collection[str]) -> Losses:
    """What a format leaves out that holds a chain of links by their Denavit-Hartenberg rows.

    Parameters
    ----------
    mechanism : Mechanism
        What is to be written.
    holds : collection of str
        What it holds of ``name``, ``offset``, ``limits``, ``motor``, ``physical`` and ``gravity``.
    """
    losses = Losses()
    for k, link in enumerate(mechanism.links):
        rounded = link.dh_row is not None and link.moves and with_offset(link) is None
        parts = {
            "its name (only link1, link2, ... are implied)": "name" not in holds and link.name != f"link{k + 1}",
            "its offset (it cannot be added to theta or d without rounding)": "offset" not in holds and rounded,
            "the name of its joint": link.joint_name is not None,
            "its limits": "limits" not in holds and link.limits is not None,
            "its greatest speed": link.qd_max is not None,
            "its greatest acceleration": link.qdd_max is not None,
            "its greatest effort": link.tau_max is not None,
            "its mark physical=False": "physical" not in holds and not link.body.physical,
        }
        if link.motor is not None and "motor" not in holds:
            parts[f"its motor{rotor_text(link.motor)}"] = True
        elif link.motor is not None:
            parts["the rotor's body and where it is carried"] = link.motor.carrier is not None
        losses.lost += [f"link {link.name!r}: {part}" for part, lost in parts.items() if lost]
        if link.mimic is not None:
            losses.never.append(f"link {link.name!r}: its joint, which follows another")
    whole = {
        "its base (it is not the identity)": not np.array_equal(mechanism.base, np.eye(4)),
        "its tool (it is not the identity)": not np.array_equal(mechanism.tool, np.eye(4)),
        "its tool (it is not on the last link)": mechanism.tool_link is not None,
        "its payload": not mechanism.payload.is_zero,
        "its springs": bool(mechanism.springs),
    }
    losses.lost += [part for part, lost in whole.items() if lost]
    losses.lost += [f"its motor of {motor.joint!r}{rotor_text(motor)}" for motor in mechanism.motors]
    impossible = {
        "its branches (the links are not one chain in order)": mechanism.parents
        != tuple(range(-1, len(mechanism.links) - 1)),
        "its floating base": mechanism.floating,
        "its closed loops": bool(mechanism.loops),
    }
    losses.never += [part for part, there in impossible.items() if there]
    return losses


def rotor_text(motor: Motor) -> str:
    """What of the rotor is lost with its motor."""
    if motor.carrier is None:
        return ""
    carrier = repr(motor.carrier) if isinstance(motor.carrier, str) else f"link {motor.carrier} (from 0)"
    return f", whose rotor is carried by {carrier}" + ("" if motor.locked.is_zero else f" ({number(motor.mass)} kg)")


def with_offset(link: Link) -> float | None:
    """The parameter of a link's row that its joint varies, with the offset added; None where the sum would be rounded."""
    return exact_sum(getattr(link.dh_row, str(link.joint_model.dh_parameter)), link.offset)


def exact_sum(first: float, second: float) -> float | None:
    """The sum of two numbers, or None where it would be rounded.

    Examples
    --------
    >>> exact_sum(0.5, 0.25), exact_sum(0.1, 0.2)
    (0.75, None)
    """
    total = first + second
    exact = math.isfinite(total) and Fraction(first) + Fraction(second) == Fraction(total)
    return total if exact else None


def texts(values: Iterable[float]) -> str:
    """Numbers with all their digits, between blanks."""
    return " ".join(repr(float(value)) for value in values)


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
        ``root``, ``xacro``, ``package_dirs``, ``include_root``, ``swap_limits``, ``drop_free_armature``,
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
    """What is odd about a file that could be read: what its reader remarks, and what the mechanism shows."""
    assert reading.description is not None
    remarks = [*remarks_on(reading.description.mechanism, reading), *reading.remarks]
    return sorted(remarks, key=lambda remark: remark.line)


def _mechanism(path: str | Path, reading: Reading) -> Mechanism:
    """The mechanism alone, with warnings of what it lacks of the description."""
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
    """Everything that is wrong with a description file, each with its line; empty when it can be read.

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
    """What is odd but not wrong in a description file that can be read: moving links without mass, and the like.

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
    """Write a description, as the suffix says: ``.toml`` holds everything, ``.dat``, ``.urdf``, ``.xml`` (MJCF) less.

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
        Where the numbers come from, a line each.
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
    wrench = np.zeros(6) if external is None else np.array(unmasked("external", external), dtype=np.float64)
    if wrench.shape != (6,) or not np.all(np.isfinite(wrench)):
        raise ArgumentError(f"external is {external!r}; expected 6 finite numbers, force then moment")
    return frozen(wrench)


def parse(path: str | Path, options: ReadOptions) -> Reading:
    """Read a file as far as it goes; of many problems the first ones are kept."""
    _refuse_kind(path)
    _refuse_name(path)
    return _parse_text(path, read_text(path, LARGEST_DESCRIPTION), options)


def _parse_text(path: str | Path, text: str, options: ReadOptions) -> Reading:
    """Read a text; `path` is where it comes from, or `TEXT`."""
    form = format_of(path, text, options)
    options.refuse_unused(path, form.name, form.options)
    reading = with_collision_shapes(form.read(text, path, options), "" if path == TEXT else os.fspath(path))
    left = len(reading.problems) - MOST_PROBLEMS
    reading.problems[MOST_PROBLEMS:] = [FileProblem(0, f"and {left} problems more")] if left > 0 else []
    return reading


def _refuse_kind(path: object) -> None:
    """Refuse what is no path: the operating system takes numbers and bytes too."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentError(f"path is {shown(path)}; expected the path of a file")


def _refuse_name(path: str | Path) -> None:
    """Say how a bundled robot is loaded, or a text read, where that is given and there is no such file."""
    if os.path.exists(Path(path)):
        return
    name = str(path).lower()
    robots = resources.files("linkwise").joinpath("robots", "data")
    if name.isidentifier() and len(name) < 40 and robots.joinpath(f"{name}.toml").is_file():
        raise refused(path, f"there is no such file; the bundled robot of that name is lw.robots.load({name!r})")
    if isinstance(path, str) and ("\n" in path or path.lstrip().startswith("<")):
        raise ArgumentError(f"path is {shown(path)}, a text; linkwise.loads(text) reads a text")
