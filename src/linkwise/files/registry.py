"""The protocol of description formats and their registry.

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

import os
import pkgutil
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TypedDict

from linkwise.errors import ArgumentError, FileError, FileProblem, choices
from linkwise.files.losses import Losses
from linkwise.files.packages import Folders
from linkwise.files.report import Description, Reading
from linkwise.files.text import refused
from linkwise.files.xml_tree import XmlError, read_xml, root_tag
from linkwise.spatial.validation import flag


class Options(TypedDict, total=False):
    """The keyword options of `read`, `load`, `loads`, `check` and `remarks`, of the types in `ReadOptions`."""

    root: str | None
    xacro: Mapping[str, object] | None
    package_dirs: Folders
    include_root: str | Path | None
    swap_limits: bool
    bare_free_joints: bool
    drop_unknown: bool


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading a description.

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
    bare_free_joints : bool
        Whether armature, damping, friction and spring of free joints of an MJCF file are left out, with a remark.
    drop_unknown : bool
        Whether what has no counterpart here, or is not there, is left out with a remark, as other programs do in silence:
        equalities of MJCF (what they tie moves freely), a ``<mimic>`` of URDF that names no joint with a coordinate (so it
        moves freely), an ``<inertia>`` that a URDF lacks (the mass is that of a point), added masses and limits that are no
        numbers of SDF, the second of two elements of URDF and SDF of which there may be one, and what follows the root
        element of a text.

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
    bare_free_joints: bool = False
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
        for name in ("physical", "swap_limits", "bare_free_joints", "drop_unknown"):
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


#: Default options.
USUAL = ReadOptions()


def _require_folder(name: str, folder: object) -> None:
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"{name} is or holds {folder!r}; expected the path of a folder")
    if not os.path.isdir(Path(folder)):
        raise ArgumentError(f"{name}: there is no folder {os.fspath(folder)!r}")


#: Path of a text that is not in a file.
TEXT = "<text>"

XML = re.compile(r"\s*<")

#: Begin of an XML text, and of a text of numbers.
NUMERIC = re.compile(r"\s*[+-]?\.?\d[^\s=]*(\s|$)")


class Format:
    """One description format; a subclass reads, and writes if it can.

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
        """True if the text, which is not empty, is of this format."""
        return bool(self.tag) and XML.match(text) is not None and root_tag(text) == self.tag

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:
        r"""Read a text: line ends are ``\n``, `path` is its origin, or `TEXT`."""
        raise NotImplementedError

    def losses(self, description: Description) -> Losses:
        """Return the features that the format cannot represent."""
        return Losses()

    def write(self, description: Description) -> Iterator[str]:
        """Yield the parts of the text, without the losses."""
        raise NotImplementedError


#: All formats, in the order in which they were registered.
FORMATS: list[Format] = []


def register(form: Format) -> Format:
    """Register a format; those registered later take precedence."""
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
    """Return all formats in the order of registration."""
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
