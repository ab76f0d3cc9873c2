"""Every name of SpaceLib, in its three releases, with its function here: the table, its search, and look-ups by name.

The table follows appendix A of G. Legnani et al., *SpaceLib for MATLAB, User's Manual*; names that are printed there with a
blank are joined by an underscore, as in the programs. Its rows are the declarations of the functions.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, members, shown
from linkwise.spacelib import constants
from linkwise.spacelib.function import DECLARED, Name, spacelib

spacelib("A.3", "the origin, a point", "np.array([0.0, 0.0, 0.0, 1.0])", name="Origin", c="")(constants.ORIGIN)

#: All functions, in the order of the manual's sections, then those that only its appendix A names.
NAMES: tuple[Name, ...] = tuple(row for rows in DECLARED.values() for row in rows)

#: The three releases: their keys here, and their names.
RELEASES = {"matlab": "MATLAB", "c": "C", "maple": "Maple"}

#: The constants by name.
CONSTANTS = {name: getattr(constants, name) for name in constants.__all__}


@cache
def names_of(release: str) -> dict[str, Name]:
    """Every name of a release, ``"matlab"``, ``"c"`` or ``"maple"``, with its row of the table.

    Examples
    --------
    >>> names_of("c")["cardanto_OMEGA"].function, names_of("maple")["cardanto_OMEGA"].function
    ('cardtoom', 'cardtome')
    """
    return {name: row for row in NAMES for name in getattr(row, release)}


def listed_in(release: str) -> list[str]:
    """The names of all functions of a release, and of the constants."""
    return sorted({*names_of(release), *CONSTANTS})


def found_in(release: str, name: str) -> Any:
    """The function or constant that a release calls by a name.

    Raises
    ------
    AttributeError
        For another name; the message says which are close, or what a name of another release is here.
    """
    names = names_of(release)
    if name in names:
        return names[name].value
    if name in CONSTANTS:
        return _exactly(CONSTANTS[name]) if release == "maple" else CONSTANTS[name]
    raise AttributeError(_unknown(release, name, names), name=name, obj=None)


def _exactly(value: Any) -> Any:
    """A constant as Maple has it: turns as multiples of SymPy's pi, whole numbers in matrices."""
    if isinstance(value, float):
        from linkwise.extras import sympy_module

        sympy = sympy_module()
        return sympy.Rational(round(2 * value / math.pi), 2) * sympy.pi
    if isinstance(value, np.ndarray):
        whole = value.astype(int).astype(object)
        whole.flags.writeable = False
        return whole
    return value


def alias(name: str, public: Iterable[str]) -> Any:
    """The function that any release calls by a name, where all that have it mean the same one.

    Raises
    ------
    AttributeError
        For another name, and for one that is one function in one release and another in the next. The first message lists
        close names, also of the public ones of the package.
    """
    rows = {release: names_of(release)[name] for release in RELEASES if name in names_of(release)}
    if len({row.function for row in rows.values()}) == 1:
        return next(iter(rows.values())).value
    if not rows:
        close = _close(name, {*aliases(), *public})
        hint = f"; close are {members(close)}" if close else ""
        raise AttributeError(f"SpaceLib has no {name!r}{hint}; dir(linkwise.spacelib) lists all names", name=name, obj=None)
    meanings = " and ".join(f"{row.function} in {RELEASES[key]} (spacelib.{key})" for key, row in rows.items())
    raise AttributeError(f"{name!r} is {meanings}", name=name, obj=None)


@cache
def aliases() -> tuple[str, ...]:
    """All names that `alias` finds."""
    meanings: dict[str, set[str]] = {}
    for release in RELEASES:
        for name, row in names_of(release).items():
            meanings.setdefault(name, set()).add(row.function)
    return tuple(name for name, functions in meanings.items() if len(functions) == 1)


def _close(name: str, names: Iterable[str]) -> list[str]:
    """Names that are nearly the same, or the same but for capitals."""
    by_letters: dict[str, list[str]] = {}
    for known in sorted(names):
        by_letters.setdefault(known.lower(), []).append(known)
    return [known for letters in get_close_matches(name.lower(), by_letters, n=3) for known in by_letters[letters]]


def _unknown(release: str, name: str, names: dict[str, Name]) -> str:
    message = f"SpaceLib has no {name!r} in its {RELEASES[release]} release"
    for other, title in RELEASES.items():
        row = names_of(other).get(name)
        if row is not None:
            names_here = getattr(row, release)
            here = f"which is {members(names_here)} there" if names_here else "which that release lacks"
            return f"{message}; it is a name of the {title} release, {here}"
    close = _close(name, names)
    listed = f"dir(linkwise.spacelib.{release}) lists all {len(names)} functions"
    return f"{message}; {f'close are {members(close)}; ' if close else ''}{listed}"


def lookfor(word: str) -> None:
    """Print every function that has a word in a name, in what it does, or in its heading (manual, section 2.1.1).

    Names of all three releases count, capitals do not. ``lookfor("spacelib")`` prints all functions; ``help(dhtom)``, or in
    Jupyter ``dhtom?``, shows the page of one.

    Parameters
    ----------
    word : str
        A word, or a part of one.

    Raises
    ------
    ArgumentError
        For what is no text, or no function has.

    Examples
    --------
    >>> lookfor("gravity")
    gtom (Spacelib): gravity as an acceleration matrix.
    >>> lookfor("velacc")
    vactowh2 (Spacelib): W and H of a joint about a frame axis.
    vactowh3 (Spacelib): W and H of a joint about an axis through a point.
    veactowh (Spacelib): W and H of a joint about its z axis.
    """
    if not isinstance(word, str) or not word.strip():
        raise ArgumentError(f"lookfor: word is {shown(word)}; expected a word, such as 'cardan'")
    lines = {row.function: f"{row.function} (Spacelib): {row.does}." for row in NAMES}
    asked = word.strip().lower()
    functions = [row.function for row in NAMES if asked in f"{lines[row.function]} {_text(row)}".lower()]
    if not functions:
        raise ArgumentError(f"lookfor: no function has {shown(word)} in its name or description; 'spacelib' finds them all")
    print("\n".join(lines[function] for function in sorted(functions, key=str.lower)))


def _text(row: Name) -> str:
    """The text searched for a function in addition to the printed line."""
    names = [name for release in RELEASES for name in getattr(row, release)]
    purpose = (inspect.getdoc(row.value) or "").split("\n", 1)[0] if callable(row.value) else ""
    return " ".join([*names, row.group, purpose])
