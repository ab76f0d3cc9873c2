"""The attributes of MJCF elements as numbers and words; what is wrong with them is gathered, with its line."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from linkwise.errors import FileProblem, choices, members, shown
from linkwise.files.mjcf.schema import INSIDE
from linkwise.files.numbers import number, whole, why_not
from linkwise.files.unused import Unused
from linkwise.files.xml_tree import Element

MAIN = "main"
"""The default class that all elements without another one are of."""

MOST_NAMED = 20
"""How many names one message lists."""

MOST_GUESSES = 100
"""After this many problems no more is guessed at what may be meant: the comparison is slow."""


@dataclass(slots=True, eq=False)
class Included(Element):
    """An element that comes from an included file: that file, and the line of the main one that includes it."""

    file: str = ""
    at: int = 0


class Told:
    """Gathers what is wrong, what is odd, and what is left out."""

    def __init__(self) -> None:
        self.problems: list[FileProblem] = []
        self._told: set[FileProblem] = set()
        self.odd: list[FileProblem] = []
        self.unused = Unused()

    def report(self, element: Element, message: str) -> None:
        """Something that keeps the file from being read; told once, however often it is met."""
        problem = FileProblem(line(element), where(element) + message)
        if problem not in self._told:
            self._told.add(problem)
            self.problems.append(problem)

    def remark(self, element: Element, message: str) -> None:
        """Something that a user should know."""
        self.odd.append(FileProblem(line(element), where(element) + message))

    def leave(self, element: Element, what: str, why: str) -> None:
        """Something that is no part of a mechanism."""
        self.unused.note(what, line(element), why)

    @property
    def remarks(self) -> list[FileProblem]:
        """All that is not wrong, by its line."""
        return sorted([*self.odd, *self.unused.remarks()], key=lambda remark: remark.line)


def line(element: Element) -> int:
    """The line of the main file where an element stands, or where it is included."""
    return element.at if isinstance(element, Included) else element.line


def where(element: Element) -> str:
    """What a message has before it for an element of an included file."""
    return f"in {element.file!r}, line {element.line}: " if isinstance(element, Included) else ""


def place(element: Element) -> str:
    """Where an element stands, as a message says it: ``line 3``."""
    return f"line {element.line}" + (f" of {element.file!r}" if isinstance(element, Included) else "")


@dataclass(frozen=True)
class Said:
    """The text of an attribute, and the element that says it: the element's own or that of its default class."""

    text: str
    element: Element
    item: str


class Attributes:
    """What an element says of itself, over what its default class says of its kind.

    Parameters
    ----------
    element : Element
        The element.
    item : str
        How messages call it: ``"joint 'elbow'"``.
    told : Told
        Where problems go.
    known : iterable of str
        The attributes that there are; others are reported.
    defaults : mapping of str to Said
        What the default class says.
    """

    def __init__(
        self, element: Element, item: str, told: Told, known: Iterable[str], defaults: Mapping[str, Said] | None = None
    ) -> None:
        self.element, self.item, self.told = element, item, told
        check_known(element, item, told, known)
        inside = INSIDE.get(element.tag)
        for child in element.children if inside is not None else ():
            check_tag(child, item, told, inside or ())
        self.own = frozenset(element.attributes)
        self.contested: str | None = None  # how its default class says the orientation that it says by quat
        self.said = {**(defaults or {}), **{key: Said(text, element, item) for key, text in element.attributes.items()}}

    def __contains__(self, key: str) -> bool:
        return key in self.said

    def report(self, message: str, key: str | None = None) -> None:
        """Something wrong with the element, at the line of an attribute if one is named."""
        said = self.said.get(key) if key else None
        self.told.report(said.element if said else self.element, f"{said.item if said else self.item}: {message}")

    def text(self, key: str) -> str | None:
        """The text as it stands, or None where there is none or it is empty."""
        return self.said[key].text if key in self.said and self.said[key].text else None

    def number(self, key: str, default: float = 0.0) -> float:
        """One number."""
        found = self.row(key, 1, [default])
        return found[0] if found else default

    def row(self, key: str, size: int, default: Sequence[float]) -> list[float]:
        """That many numbers; the default where the attribute is missing or wrong."""
        return self.numbers(key, size, size) or list(default)

    def numbers(self, key: str, least: int, most: int) -> list[float] | None:
        """Numbers separated by blanks, or None where the attribute is missing or wrong."""
        if key not in self.said:
            return None
        words = self.said[key].text.split()
        values = [real(word) for word in words]
        bad = next((word for word, value in zip(words, values, strict=True) if value is None), None)
        if bad is not None:
            why = f"{shown(bad)} is not a number" if number(bad) is not None else why_not(bad)
            self.report(f"{key} is {shown(self.said[key].text)}: {why}", key)
            return None
        if not least <= len(values) <= most:
            count = f"{least}" if least == most else f"{least} to {most}"
            expected = f"{count} number{'s' if most > 1 else ''}"
            self.report(f"{key} is {shown(self.said[key].text)}; expected {expected}", key)
            return None
        return [value for value in values if value is not None]

    def whole(self, key: str, default: int = 0) -> int:
        """One whole number."""
        if key not in self.said:
            return default
        found = whole(self.said[key].text.strip())
        if found is None:
            self.report(f"{key} is {shown(self.said[key].text)}; expected a whole number", key)
        return default if found is None else found

    def word(self, key: str, allowed: Sequence[str], default: str) -> str:
        """One of the words that there are."""
        if key not in self.said:
            return default
        if self.said[key].text not in allowed:
            self.report(f"{key} is {shown(self.said[key].text)}; expected {choices(allowed)}", key)
            return default
        return self.said[key].text

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        return self.word(key, ("true", "false"), "true" if default else "false") == "true"

    def tried(self, key: str, check: Callable[[float], bool], expected: str, default: float = 0.0) -> float:
        """One number that a check accepts."""
        found = self.number(key, default)
        if not check(found):
            self.report(f"{key} is {found!r}; expected {expected}", key)
            return default
        return found


def check_known(element: Element, item: str, told: Told, known: Iterable[str]) -> None:
    """Report attributes that there are not: misspelt, one would be silently without effect."""
    names = list(known)
    for key in element.attributes:
        if key not in names:
            listed = f"; it has {members(names)}" if 0 < len(names) < 12 else ""
            told.report(element, f"{item} has no attribute {shown(key)}{guess(told, key, names) or listed}")


def check_tag(element: Element, place: str, told: Told, known: Sequence[str]) -> bool:
    """Whether an element is one of those that there are in a place; any other is reported."""
    if element.tag in known:
        return True
    told.report(element, f"there is no element <{element.tag}> in {place}{guess(told, element.tag, known, '<{}>')}")
    return False


def guess(told: Told, name: str, names: Sequence[str], form: str = "{!r}") -> str:
    """A hint at the name that may be meant; empty where none is near."""
    close = difflib.get_close_matches(name[:40], names, 1) if len(told.problems) < MOST_GUESSES else []
    return f" (did you mean {form.format(close[0])}?)" if close else ""


def offered(names: Collection[str], say: Callable[[Iterable[str]], str] = choices) -> str:
    """The names that there are, as a message lists them: the first ones of many.

    Examples
    --------
    >>> offered(["a", "b"]), offered([f"j{k}" for k in range(500)])[-18:]
    ("'a' or 'b'", "'j19' and 480 more")
    """
    listed = list(islice(names, MOST_NAMED))
    left = len(names) - len(listed)
    return f"{', '.join(map(repr, listed))} and {left} more" if left else say(listed)


def real(word: str) -> float | None:
    """The finite number that a word says, or None; MJCF has no exponents with a D.

    Examples
    --------
    >>> real("-1.5e-3"), real("1d3"), real("inf")
    (-0.0015, None, None)
    """
    return None if "d" in word.lower() else number(word)


def degrees(value: float) -> float:
    """Degrees in rad, as MuJoCo computes it."""
    return value / 180.0 * math.pi


def named(element: Element) -> str:
    """How messages call an element."""
    name = element.get("name")
    return f"{element.tag} {shown(name)}" if name else f"<{element.tag}>"
