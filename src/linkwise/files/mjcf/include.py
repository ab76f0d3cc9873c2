"""The files that an MJCF file includes, put in where they are included."""

from __future__ import annotations

import os
from pathlib import Path

from linkwise.errors import FileError, FileProblem, shown
from linkwise.files.inside import is_absolute
from linkwise.files.mjcf.attributes import Included, Told, check_known, line
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.files.xml_tree import DEEPEST, Element, XmlError, read_xml

MOST_FILES = 200
"""How many files one file may include."""


class Includer:
    """Replaces every ``<include>`` by what is in its file.

    Paths are relative to the folder of the main file, or else to that of the including one, and may not leave the former, or
    another folder that is named; no file is included twice, so there is no ring.

    Parameters
    ----------
    folder : Path, optional
        The main file's folder; without one nothing can be included.
    told : Told
        Where problems go.
    include_root : str or Path, optional
        Another folder from which, and from all below it, files may be included.
    """

    def __init__(self, folder: Path | None, told: Told, include_root: str | Path | None = None) -> None:
        self.folder, self.told, self.include_root = folder, told, include_root
        self.seen: set[Path] = set()
        self.size = 0

    def expand(self, element: Element, depth: int = 0) -> None:
        """Replace the includes among an element's children, and theirs."""
        if depth > DEEPEST:
            self.told.report(element, f"<{element.tag}> is nested deeper than {DEEPEST} elements")
            element.children = []
        made = []
        for child in element.children:
            if child.tag == "include":
                made += self._included(child, depth + 1)
            else:
                self.expand(child, depth + 1)
                made.append(child)
        element.children = made

    def _included(self, element: Element, depth: int) -> list[Element]:
        """What stands in the file that an element includes."""
        check_known(element, "<include>", self.told, ("file",))
        said = element.get("file")
        if not said:
            self.told.report(element, "<include> has no file; expected file = the name of a file beside this one")
            return []
        path = self._path(element, said)
        if path is None:
            return []
        if path in self.seen or len(self.seen) >= MOST_FILES:
            why = "it is included already" if path in self.seen else f"{MOST_FILES} files are included already"
            self.told.report(element, f"<include> of {shown(said)}: {why}")
            return []
        self.seen.add(path)
        try:
            text = read_text(path, LARGEST_DESCRIPTION)
            self.size += len(text)
            if self.size > LARGEST_DESCRIPTION:
                most = LARGEST_DESCRIPTION // 1024**2
                raise FileError(path, [FileProblem(0, f"with it the included files are larger than {most} MB together")])
            root = read_xml(text)
        except (FileError, XmlError) as error:
            problems = error.problems if isinstance(error, FileError) else (error.problem,)
            for problem in problems:
                self.told.report(element, f"<include> of {shown(said)}: {problem}")
            return []
        file = Path(os.path.relpath(path, self._root())).as_posix()
        top = Element(root.tag, {}, root.line, [_marked(child, file, line(element)) for child in root.children])
        self.expand(top, depth)
        return top.children

    def _root(self) -> Path:
        """The main file's folder, as it is once links are followed."""
        return (self.folder or Path()).resolve()

    def _path(self, element: Element, said: str) -> Path | None:
        """The file meant, seen from the main file's folder, else from that of the file which includes it."""
        if self.folder is None:
            self.told.report(element, f"<include> of {shown(said)}: the folder of this text is not known")
            return None
        absolute = is_absolute(said)
        try:
            folder = self._root()
            opened = None if self.include_root is None else Path(self.include_root).resolve()
            path = (folder / said).resolve()
            if isinstance(element, Included) and not os.path.exists(path):
                path = (folder / element.file).parent.joinpath(said).resolve()
        except (OSError, ValueError, RuntimeError):
            self.told.report(element, f"<include> of {shown(said)}: this is no path of a file")
            return None
        inside = opened is not None and path.is_relative_to(opened)
        if not inside and (absolute or not path.is_relative_to(folder)):
            why = (
                "the path leaves the folder of the main file, and only files in it or below it are read; include_root names"
            )
            why += " another folder that may be read" if opened is None else f" {str(opened)!r}, which it leaves too"
            self.told.report(element, f"<include> of {shown(said)}: {why}")
            return None
        return path


def _marked(element: Element, file: str, at: int) -> Included:
    """The same element, knowing the file that it comes from."""
    children: list[Element] = [_marked(child, file, at) for child in element.children]
    return Included(element.tag, element.attributes, element.line, children, element.text, file, at)
