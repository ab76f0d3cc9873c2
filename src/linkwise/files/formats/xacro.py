"""Expanding xacro, the macro language of URDF, with the library of that name.

Expanding evaluates Python expressions and includes any file that the text names: do it with files that you trust.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from linkwise.errors import FileError, FileProblem, MissingExtraError, choices, install_hint, members
from linkwise.files.packages import Folders, Manifests, package_folder
from linkwise.files.registry import XML, Format, ReadOptions, register, stem
from linkwise.files.report import Reading
from linkwise.files.text import LARGEST_DESCRIPTION, read_text, refused
from linkwise.files.xml_tree import XmlError, read_xml, without_comments

_LOCK = threading.Lock()
_UNDEFINED = re.compile(r"Undefined substitution argument (\w+)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def expand(
    path: str | Path, arguments: Mapping[str, object] | None = None, package_dirs: Folders = ()
) -> tuple[str, list[FileProblem]]:
    """Expand a xacro file to a URDF; return also the library's warnings.

    Parameters
    ----------
    path : str or Path
        The file. What it includes is found from the folder of the file that includes it; ``$(find package)`` by the rules of
        `linkwise.files.packages.package_folders`.
    arguments : mapping of str to str, optional
        Values of its ``<xacro:arg>``; numbers and truth values are taken as text.
    package_dirs : sequence of str or Path
        Folders that hold packages.

    Returns
    -------
    text : str
        The URDF.
    remarks : list of FileProblem
        The library's warnings.

    Raises
    ------
    FileError
        Where the file cannot be read or expanded, or declares no argument of a name that is given.
    MissingExtraError
        Without the library.
    """
    values = ReadOptions(xacro=arguments, package_dirs=package_dirs).arguments()
    _library()  # (first, so that a missing one is reported whatever is in the file)
    return expand_text(read_text(path, LARGEST_DESCRIPTION), path, values, package_dirs)


def expand_text(
    text: str, path: str | Path, arguments: Mapping[str, str] | None = None, package_dirs: Folders = ()
) -> tuple[str, list[FileProblem]]:
    """Expand a text as `expand` does; `path` is its file, to which included paths are relative."""
    library, substitution = _library()
    try:
        read_xml(text)
    except XmlError as error:
        raise FileError(path, [error.problem]) from error
    output = io.StringIO()
    failures: list[FileError] = []
    values = _Arguments(arguments or {})
    manifests = Manifests()

    def find(name: str) -> str:
        return _noting(failures, lambda: str(package_folder(name, path, package_dirs, manifests)))

    def parse(source: Any, filename: str | None = None) -> Any:
        if source is None and filename is not None and os.path.exists(filename):
            source = _noting(failures, lambda: read_text(str(filename), LARGEST_DESCRIPTION))
        return parse_document(without_comments(source) if isinstance(source, str) else source, filename)

    def open_text(name: str, *mode: Any) -> Any:
        """Open a file of YAML with the permissions checked; the library expects its own error for a missing one."""
        if mode or not os.path.exists(Path(name)):
            return open(name, *mode)
        return io.StringIO(_noting(failures, lambda: read_text(name, LARGEST_DESCRIPTION)))

    parse_document = library.parse
    table = substitution._eval_dict
    with _LOCK, _replaced(vars(substitution), "_eval_find", find), _replaced(table, "find", find):
        try:
            with (
                _replaced(vars(library), "parse", parse),
                _replaced(vars(library), "open", open_text),
                contextlib.redirect_stderr(output),
                contextlib.redirect_stdout(output),
            ):
                library.init_stacks(str(path))
                document = library.parse(text, str(path))
                library.process_doc(document, mappings=values)
                expanded = document.toxml()
        except Exception as error:  # (whatever an expression of the file raises)
            if failures:  # (the library wraps it)
                raise failures[0] from error
            reason = " ".join(str(error).split()) or type(error).__name__
            undefined = _UNDEFINED.fullmatch(reason)
            reason += f"; xacro={{{undefined[1]!r}: ...}} gives its value" if undefined else ""
            raise refused(path, f"xacro cannot expand it: {reason}") from error
    values.refuse_undeclared(path)
    warned = [line.strip() for line in _COLOURS.sub("", output.getvalue()).splitlines()]
    return expanded, [FileProblem(0, f"xacro says: {line}") for line in dict.fromkeys(warned) if line]


def _library() -> tuple[Any, Any]:
    """The library, and its module of substitutions."""
    try:
        return importlib.import_module("xacro"), importlib.import_module("xacro.substitution_args")
    except ImportError as error:
        raise MissingExtraError(f"xacro files need the library xacro: {install_hint('xacro')}") from error


def _noting(failures: list[FileError], make: Callable[[], str]) -> str:
    """Return the result of `make`; keep its error."""
    try:
        return make()
    except FileError as error:
        failures.append(error)
        raise


class _Arguments(dict[str, str]):
    """Values of arguments; records which of them the file uses."""

    def __init__(self, arguments: Mapping[str, str]) -> None:
        super().__init__(arguments)
        self.names = tuple(arguments)
        self.asked: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        self.asked[str(name)] = None
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked[name] = None
        return super().__getitem__(name)

    def refuse_undeclared(self, path: str | Path) -> None:
        """Reject a value that the file never uses: a misspelt name would have no effect."""
        unknown = [name for name in self.names if name not in self.asked]
        if unknown:
            raise refused(path, f"there is no xacro argument {choices(unknown)}; the file has {members(self.asked)}")


@contextlib.contextmanager
def _replaced(names: dict[str, Any], name: str, value: Any) -> Iterator[None]:
    """Put another function in the place of one of the library's, or of Python's for the library alone.

    The library's own need ROS, wait for pipes, and take XML less widely than we do.
    """
    original = names.get(name)
    names[name] = value
    try:
        yield
    finally:
        if original is None:
            del names[name]
        else:
            names[name] = original


class Xacro(Format):
    """The macro language of URDF; the lines of its output are not those of the file, and are not reported."""

    name, suffixes, options, named = "a URDF", (".xacro",), frozenset({"root", "xacro"}), True
    refusal = "xacro is read only; write a .urdf"

    def sniff(self, text: str, options: ReadOptions) -> bool:  # noqa: D102
        return options.xacro is not None and XML.match(text) is not None

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:  # noqa: D102
        from linkwise.files.formats.urdf.reader import parse

        expanded, warned = expand_text(text, path, options.arguments(), options.package_dirs)
        name = stem(path).split(".")[0]
        reading = parse(expanded, name, options)
        problems, remarks = (
            [FileProblem(0, f"after expansion: {note.message}") for note in notes]
            for notes in (reading.problems, reading.remarks)
        )
        return Reading(reading.description, problems, {}, [*warned, *remarks], reading.between)


register(Xacro())
