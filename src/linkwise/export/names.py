"""Names that are valid in a language and unique, made of names that people gave."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from linkwise.errors import ArgumentError, choices, shown

_LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma_final sigma tau upsilon phi chi
psi omega
"""
_GREEK = {name: chr(code) for code, name in enumerate(_LETTERS.split(), 0x3B1)}
SPELT = {
    **{letter: name for name, letter in _GREEK.items()},
    **{letter.upper(): name.capitalize() for name, letter in _GREEK.items() if name != "sigma_final"},
    "\u03c2": "sigma",
    "\u03d1": "theta",
    "\u03d5": "phi",
    "\u03f5": "epsilon",
    "\u00b5": "mu",
    "\u0307": "_dot",
    "\u00df": "ss",
    "\u00f8": "o",
    "\u00e6": "ae",
}
"""How letters that are not ASCII are written: Greek ones, and some others."""


WORDS: dict[str, frozenset[str]] = {}
"""What a name must not be, by language; see `linkwise.export.language.language`."""


def spelt(text: str) -> str:
    """Write a name with ASCII letters, digits and single underscores, beginning with a letter.

    Greek letters are spelt out, accents fall away, and whatever is left becomes an underscore. Two underscores in a row, and
    one in front, belong to the compiler in C and C++, so there are none.

    Examples
    --------
    >>> spelt("link mass"), spelt("θ̇₁"), spelt("2nd arm"), spelt("")
    ('link_mass', 'theta_dot1', 'n2nd_arm', 'unnamed')
    """
    plain = "".join(SPELT.get(letter, letter) for letter in unicodedata.normalize("NFKD", text))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    if not plain:
        return "unnamed"
    return plain if plain[0].isalpha() else f"n{plain}"


class Names:
    """One scope of one language: hands out names, each once, none of them a reserved word.

    Parameters
    ----------
    language : str
        The name of a language, whose words are reserved.
    taken : iterable of str
        Names of an outer scope, and others that must not come back.

    Examples
    --------
    >>> names = Names("c", taken=("mass_matrix",))
    >>> [names.new(text) for text in ("q", "lambda", "double", "y0", "q", "mass_matrix")]
    ['q', 'lambda', 'double_v', 'y0_v', 'q_2', 'mass_matrix_2']
    """

    def __init__(self, language: str, taken: Iterable[str] = ()) -> None:
        if language not in WORDS:
            raise ArgumentError(f"language is {shown(language)}; expected {choices(WORDS)}")
        self.language = language
        self.words = WORDS[language]
        self.used = set(taken)

    def new(self, text: str) -> str:
        """A name like a text that no one has yet."""
        base = spelt(text)
        if base in self.words:
            base = f"{base}_v"
        name, count = base, 1
        while name in self.used or name in self.words:
            count += 1
            name = f"{base}_{count}"
        self.used.add(name)
        return name

    def inner(self) -> Names:
        """A scope within this one, which hides none of its names."""
        return Names(self.language, self.used)
