"""Where each table and key of a TOML text stands: the line numbers that `tomllib` does not keep.

The text must already have been accepted by `tomllib`, so this scanner checks nothing and only keeps count.
"""

from __future__ import annotations

import re
from typing import Any

from linkwise.files.description import Place

_BLANK = re.compile(r"(?:[ \t\n]+|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}\n#]*")
STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""["]{0,2}' r"|'''.*?'''[']{0,2}" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'",
    re.DOTALL,
)


def toml_lines(text: str) -> dict[Place, int]:
    r"""The line, counted from 1, of every table and key; items of arrays go by their index.

    Examples
    --------
    >>> toml_lines('[[link]]\nname = "a"\nmotor = {inertia = 1}')[("link", 0, "motor", "inertia")]
    3
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Place, int] = {}
        self.counts: dict[Place, int] = {}
        self.line = 1
        self.counted = 0

    def document(self) -> None:
        table: Place = ()
        while True:
            self._blanks()
            if self.at >= len(self.text):
                return
            if self.text.startswith("[[", self.at):
                table = self._header(2)
            elif self.text.startswith("[", self.at):
                table = self._header(1)
            else:
                self._pair(table)

    def _header(self, brackets: int) -> Place:
        """A table's header; one of an array of tables gets the next index."""
        self.at += brackets
        place: Place = ()
        keys = self._keys()
        for k, key in enumerate(keys):
            place = (*place, key)
            last = k == len(keys) - 1
            if last and brackets == 2:
                self.counts[place] = self.counts.get(place, -1) + 1
            if place in self.counts:
                self.lines.setdefault(place, self._line())
                place = (*place, self.counts[place])
            self.lines.setdefault(place, self._line())
        self._blanks()
        self.at += brackets
        return place

    def _pair(self, table: Place) -> None:
        """A key, maybe dotted, and its value."""
        place = table
        for key in self._keys():
            place = (*place, key)
            self.lines.setdefault(place, self._line())
        self.at += 1
        self._value(place)

    def _keys(self) -> list[str]:
        """The parts of a dotted key, the position left at what follows."""
        found = []
        while True:
            self._blanks()
            quoted = STRING.match(self.text, self.at)
            bare = quoted or _BARE.match(self.text, self.at)
            if bare is None:
                raise ValueError("no key")
            found.append(_unquoted(bare.group()) if quoted else bare.group())
            self.at = bare.end()
            self._blanks()
            if not self.text.startswith(".", self.at):
                return found
            self.at += 1

    def _value(self, place: Place) -> None:
        self._blanks()
        first = self.text[self.at : self.at + 1]
        if first == "[":
            self._array(place)
        elif first == "{":
            self._inline(place)
        else:
            match = STRING.match(self.text, self.at) or _PLAIN.match(self.text, self.at)
            self.at = match.end() if match else self.at + 1

    def _array(self, place: Place) -> None:
        self.at += 1
        index = 0
        while self._more("]"):
            self.lines.setdefault((*place, index), self._line())
            self._value((*place, index))
            index += 1

    def _inline(self, place: Place) -> None:
        self.at += 1
        while self._more("}"):
            self._pair(place)

    def _more(self, end: str) -> bool:
        """Step over commas; whether another item follows before the closing bracket, which is stepped over."""
        self._blanks()
        while self.text.startswith(",", self.at):
            self.at += 1
            self._blanks()
        if self.at < len(self.text) and not self.text.startswith(end, self.at):
            return True
        self.at += 1
        return False

    def _blanks(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _line(self) -> int:
        """The line of the present position."""
        self.line += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.line


def _unquoted(key: str) -> str:
    import tomllib

    document: dict[str, Any] = tomllib.loads(f"{key} = 0")
    return next(iter(document))
