"""Names in printed equations: results, sines and cosines, intermediate values; and their LaTeX form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from linkwise.equations.document import element_name

_LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
"""
GREEK = _LETTERS.split()

_DOTS = {"qd": r"\dot{q}", "qdd": r"\ddot{q}", "w": r"\omega", "wd": r"\dot{\omega}"}
_PARTS = re.compile(r"([A-Za-z]+)_?(\d+(?:[m_]\d+)*)?([a-z]{0,2})")
_SPECIAL = re.compile(r"([#$%&_{}])")


class Names:
    """Names that are in use, and free ones like those that are wanted.

    Parameters
    ----------
    taken : iterable of str
        Names that are given.

    Examples
    --------
    >>> names = Names(["c1"])
    >>> names.unique("c1"), names.unique("c1"), names.unique("s1"), names.next("t"), names.next("t")
    ('c1_', 'c1__', 's1', 't1', 't2')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """Reserve the wanted name, lengthened until it is free."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted

    def next(self, letter: str) -> str:
        """The next free name of a row: t1, t2, and so on."""
        while True:
            self._counts[letter] = self._counts.get(letter, 0) + 1
            name = f"{letter}{self._counts[letter]}"
            if name not in self._taken:
                return self.unique(name)


def input_names(name: str, shape: Sequence[int]) -> list[str]:
    """Default names of the elements of an input.

    Examples
    --------
    >>> input_names("qd", (2,)), input_names("A", (1, 2)), input_names("x", ())
    (['qd1', 'qd2'], ['A11', 'A12'], ['x'])
    """
    import numpy as np

    return [element_name(name, index) for index in np.ndindex(*shape)]


def wave_name(function: str, multiples: Mapping[int, int]) -> str:
    """Name of a sine or cosine of an integer combination of coordinates, counted from 1.

    Examples
    --------
    >>> wave_name("cos", {2: 1, 3: 1}), wave_name("sin", {1: 2}), wave_name("cos", {2: 1, 3: -1})
    ('c23', 's11', 'c2m3')
    >>> wave_name("sin", {9: 1, 10: 1})
    's9_10'
    """
    joint = "_" if max(multiples) > 9 else ""
    text = ""
    for k, count in sorted(multiples.items(), key=lambda pair: (pair[1] < 0, pair[0])):
        for _ in range(abs(count)):
            text += "m" if count < 0 else joint if text else ""
            text += str(k)
    return function[0] + text


class LatexNames:
    r"""LaTeX form of names; distinct names never look alike.

    Examples
    --------
    >>> names = LatexNames()
    >>> [names(text) for text in ("q1", "qdd2", "c23", "XX2", "lambda", "link mass", "q_1")]
    ['q_{1}', '\\ddot{q}_{2}', 'c_{23}', '\\mathrm{XX}_{2}', '\\lambda', '\\mathrm{link\\ mass}', '\\mathtt{q\\_1}']
    """

    def __init__(self) -> None:
        self._written: dict[str, str] = {}
        self._used: set[str] = set()

    def __call__(self, text: str) -> str:
        """Write one name."""
        if text not in self._written:
            written = _latex(text)
            if written in self._used:
                written = rf"\mathtt{{{_escaped(text)}}}"
            while written in self._used:
                written = rf"{{{written}}}'"
            self._used.add(written)
            self._written[text] = written
        return self._written[text]


def _latex(text: str) -> str:
    alone = text[:1] if not text[1:2].isalpha() else ""
    plain = (_spelled(alone) if alone else text[:1]) + text[1:]
    two = re.fullmatch(r"([A-Za-z]+)_([A-Za-z][A-Za-z0-9]*)", plain)
    if plain[:2] == "lc" and plain[2:].isdigit():
        return f"l_{{c{plain[2:]}}}"  # the distance to a centre of mass, as books call it
    if two is not None and two[1] not in _DOTS:
        return f"{_head(two[1])}_{{{_head(two[2])}}}"
    match = _PARTS.fullmatch(plain)
    if match is None:
        return rf"\mathrm{{{_escaped(text)}}}"
    head, numbers, axes = match.groups()
    if numbers is None and axes:
        head, axes = head + axes, ""
    below = (numbers or "").replace("m", "-").replace("_", ",") + axes
    base = _DOTS[head] if head in _DOTS and below else _head(head)
    return f"{base}_{{{below}}}" if below else base


def _head(word: str) -> str:
    if word in GREEK:
        return rf"\{word}"
    return word if len(word) == 1 else rf"\mathrm{{{word}}}"


def _spelled(letter: str) -> str:
    """A Greek letter as its name, other letters as they are."""
    words = unicodedata.name(letter, "").split()
    if len(words) == 4 and words[0] == "GREEK" and words[1] in {"SMALL", "CAPITAL"} and words[2] == "LETTER":
        name = words[3].lower().replace("lamda", "lambda")
        name = name if words[1] == "SMALL" else name.capitalize()
        return name if name in GREEK else letter
    return letter


def _escaped(text: str) -> str:
    """A name letter by letter, as TeX and its relatives in browsers take it."""
    escaped = ""
    for letter in text:
        if letter == " ":
            escaped += r"\ "
        elif letter == "\\":
            escaped += r"\backslash{}"
        elif letter in "^~":
            escaped += rf"\{'hat' if letter == '^' else 'tilde'}{{\ }}"
        elif _SPECIAL.match(letter):
            escaped += "\\" + letter
        elif letter.isascii() and letter.isprintable():
            escaped += letter
        else:
            spelled = _spelled(letter)
            escaped += rf"\{spelled} " if spelled in GREEK else f"U{ord(letter):04X}"
    return escaped
