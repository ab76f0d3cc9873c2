"""The text of a TOML file: parsed into a document with the line of every key, and written."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from linkwise.errors import FileProblem

#: Location in a document: ``("link", 2, "mass")``, ``("gravity",)``.
Place = tuple[object, ...]

#: Greatest nesting of tables and arrays; a description has fewer than ten levels.
DEEPEST = 16

TOO_DEEP = "tables nested too deeply"

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_STRING = (
    r'"""(?:\\.|[^\\])*?"""["]{0,2}' r"|'''.*?'''[']{0,2}" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'"
)  # (where . is any character)
_KEY_PART = r"""(?>[A-Za-z0-9_-]++|"(?>[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = rf"(?P<deep>{_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{DEEPEST}}})"
_MAYBE_DEEP = re.compile(rf"(?m)(?:^|[\[{{,])[ \t]*+{_DEEP_KEY}")

#: Lexemes: dotted keys with too many parts (parsing time is quadratic in their number), strings, comments, words, and the
#: characters between them.
_LEXEME = re.compile(rf"{_DEEP_KEY}|{_STRING}|#[^\n]*+|[A-Za-z0-9_-]++|[^\"'#A-Za-z0-9_-]++|.", re.DOTALL)

_TOKEN = re.compile(rf"{_STRING}|#[^\n]*|\n|[\[\]{{}},=]|[^\s\[\]{{}},=#\"']+", re.DOTALL)
_KEY = re.compile(rf"{_STRING}|[A-Za-z0-9_-]+", re.DOTALL)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f]')


def parsed(source: str) -> tuple[dict[str, Any], Mapping[Place, int], list[FileProblem]]:
    """Parse a TOML text: the document, the lines of its parts, and its problems."""
    lexemes = _LEXEME.finditer(source) if _MAYBE_DEEP.search(source) else ()
    deep = next((lexeme for lexeme in lexemes if lexeme["deep"]), None)
    if deep is not None:
        line = 1 + source.count("\n", 0, deep.start())
        return {}, {}, [FileProblem(line, f"a key of more than {DEEPEST} parts: {TOO_DEEP}")]
    try:
        document = tomllib.loads(source)
        if not _is_deep(document):
            return document, Lines(source), []
    except RecursionError:  # some Pythons give up here already
        pass
    except ValueError as error:
        return {}, {}, [_syntax_problem(source, str(error))]
    return {}, {}, [FileProblem(0, TOO_DEEP)]


def _is_deep(document: dict[str, Any]) -> bool:
    """True if more than `DEEPEST` tables and arrays are nested."""
    level: list[Any] = [document]
    for _ in range(DEEPEST):
        values = (value for node in level for value in (node.values() if isinstance(node, dict) else node))
        level = [value for value in values if isinstance(value, dict | list)]
        if not level:
            return False
    return True


def _syntax_problem(source: str, message: str) -> FileProblem:
    """Convert the parser's message, with its line number taken out."""
    place = _PLACE.search(message)
    if not place:
        return FileProblem(0, f"not valid TOML: {message}")
    message = message[: place.start()]
    if place.group(1) is None:
        return FileProblem(source.rstrip("\n").count("\n") + 1, f"not valid TOML: {message} (at the end of the file)")
    return FileProblem(int(place.group(1)), f"not valid TOML: {message} (column {place.group(2)})")


# ── lines ─────────────────────────────────────────────────────────────────────────────────────────


def line_of(lines: Mapping[Place, int], place: Place) -> int:
    """The line of a place, or of the nearest place around it; 0 for none.

    Examples
    --------
    >>> line_of({("link", 0): 4}, ("link", 0, "mass"))
    4
    """
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 0)


def toml_lines(source: str) -> dict[Place, int]:
    r"""Return the line, counted from 1, of every table and key; items of arrays have their index as key.

    Parameters
    ----------
    source : str
        Text that `tomllib` accepts, line ends as ``\n``.

    Examples
    --------
    >>> toml_lines("a = 1\n[[b]]\nc = {d = 2}")
    {('a',): 1, ('b',): 2, ('b', 0): 2, ('b', 0, 'c'): 3, ('b', 0, 'c', 'd'): 3}
    """
    return _Lines(source).lines


class Lines(Mapping[Place, int]):
    """Lazy `toml_lines` of a text: a file without mistakes never needs them."""

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def _lines(self) -> dict[Place, int]:
        return toml_lines(self._source)

    def __getitem__(self, place: Place) -> int:
        return self._lines[place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


class _Lines:
    """Scanner of a valid text; `token` is the current one, on `line`."""

    def __init__(self, source: str) -> None:
        self.lines: dict[Place, int] = {}
        self.counts: dict[Place, int] = {}
        self.tokens = _TOKEN.finditer(source)
        self.token: str | None = ""
        self.line = self.following = 1
        self._advance()
        table: Place = ()
        while self.token is not None:
            if self.token == "[":
                table = self._header()
            else:
                self._pair(table)

    def _advance(self) -> None:
        """Go to the next token that is no line end and no comment."""
        for match in self.tokens:
            token = match.group()
            self.line = self.following
            self.following += token.count("\n")
            if token != "\n" and token[0] != "#":
                self.token = token
                return
        self.token = None

    def _keys(self, end: str) -> list[str]:
        """The parts of a dotted key, up to and over the token that ends it."""
        words = []
        while self.token != end:
            words.append(self.token or "")
            self._advance()
        self._advance()
        return [_unquoted(match.group()) for match in _KEY.finditer("".join(words))]

    def _header(self) -> Place:
        """A table's header; one of an array of tables gets the next index."""
        self._advance()
        is_array = self.token == "["
        if is_array:
            self._advance()
        line, keys = self.line, self._keys("]")
        place: Place = ()
        for k, key in enumerate(keys):
            place = (*place, key)
            if is_array and k == len(keys) - 1:
                self.counts[place] = self.counts.get(place, -1) + 1
            self.lines.setdefault(place, line)
            if place in self.counts:
                place = (*place, self.counts[place])
                self.lines.setdefault(place, line)
        if is_array:
            self._advance()
        return place

    def _pair(self, place: Place) -> None:
        """A key, maybe dotted, and its value."""
        line = self.line
        for key in self._keys("="):
            place = (*place, key)
            self.lines.setdefault(place, line)
        self._value(place)

    def _value(self, place: Place) -> None:
        opening, line = self.token, self.line
        self._advance()
        if opening not in ("[", "{"):
            while self.token is not None and self.line == line and self.token not in ("]", "}", ","):
                self._advance()  # (a date, a blank and a time)
            return
        index = 0
        while self.token not in ("]", "}"):
            if self.token == ",":
                self._advance()
            elif opening == "{":
                self._pair(place)
            else:
                self.lines.setdefault((*place, index), self.line)
                self._value((*place, index))
                index += 1
        self._advance()


def _unquoted(key: str) -> str:
    return next(iter(tomllib.loads(f"{key} = 0"))) if key[0] in "\"'" else key


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def text(value: str) -> str:
    r"""Text in the quotes and escapes of TOML.

    Examples
    --------
    >>> print(text('a "b"'))
    "a \"b\""
    """
    return '"' + _TO_ESCAPE.sub(lambda match: _ESCAPES.get(match[0], f"\\u{ord(match[0]):04x}"), value) + '"'


def real(value: Any) -> str:
    """A number with all its digits, ``inf`` included.

    Examples
    --------
    >>> real(1), real(float("-inf"))
    ('1.0', '-inf')
    """
    return repr(float(value))


def row(values: Iterable[Any]) -> str:
    """A list of numbers."""
    return "[" + ", ".join(map(real, values)) + "]"
