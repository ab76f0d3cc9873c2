"""Expanding xacro, the macro language of URDF, with the library of that name.

Expanding evaluates Python expressions and includes any file that the text names: do it with files that you trust.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from linkwise.errors import FileError, FileProblem, MissingExtraError
from linkwise.files.packages import Folders, package_folder
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.files.xml_tree import XmlError, read_xml

_LOCK = threading.Lock()
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def expand(
    path: str | Path, arguments: Mapping[str, str] | None = None, package_dirs: Folders = ()
) -> tuple[str, list[FileProblem]]:
    """The URDF that a xacro file makes, and what the library warns of.

    Parameters
    ----------
    path : str or Path
        The file. What it includes is found from the folder of the file that includes it; ``$(find package)`` by the rules of
        `linkwise.files.packages.package_folders`.
    arguments : mapping of str to str, optional
        Values of its ``<xacro:arg>``.
    package_dirs : sequence of str or Path
        Folders that hold packages.

    Raises
    ------
    FileError
        Where the file cannot be read or expanded.
    MissingExtraError
        Without the library.
    """
    try:
        library = importlib.import_module("xacro")
        substitution = importlib.import_module("xacro.substitution_args")
    except ImportError as error:
        raise MissingExtraError("xacro files need the library xacro: pip install 'linkwise[xacro]'") from error
    text = read_text(path, LARGEST_DESCRIPTION)
    try:
        read_xml(text)
    except XmlError as error:
        raise FileError(path, [error.problem]) from error
    said = io.StringIO()
    missing: list[FileError] = []

    def find(name: str) -> str:
        try:
            return str(package_folder(name, path, package_dirs))
        except FileError as error:
            missing.append(error)  # (the library wraps it)
            raise

    with _LOCK, _finding(substitution, find):
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                made = library.process_file(str(path), mappings=dict(arguments or {})).toxml()
        except Exception as error:  # (whatever an expression of the file raises)
            if missing:
                raise missing[0] from error
            what = " ".join(str(error).split()) or type(error).__name__
            raise FileError(path, [FileProblem(0, f"xacro cannot expand it: {what}")]) from error
    warned = [line.strip() for line in _COLOURS.sub("", said.getvalue()).splitlines()]
    return made, [FileProblem(0, f"xacro says: {line}") for line in dict.fromkeys(warned) if line]


@contextlib.contextmanager
def _finding(substitution: Any, find: Callable[[str], str]) -> Iterator[None]:
    """Let the library find packages by our rules, for its own need ROS."""
    name, table = "_eval_find", substitution._eval_dict
    own, listed = getattr(substitution, name), table["find"]
    setattr(substitution, name, find)
    table["find"] = find
    try:
        yield
    finally:
        setattr(substitution, name, own)
        table["find"] = listed
