"""The search for a function by a word (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 2.1.1)."""

from __future__ import annotations

import inspect

from linkwise.errors import ArgumentError, shown
from linkwise.spacelib.names import NAMES, RELEASES, Name


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
    found = [row.function for row in NAMES if asked in f"{lines[row.function]} {_text(row)}".lower()]
    if not found:
        raise ArgumentError(f"lookfor: no function has {shown(word)} in its name or description; 'spacelib' finds them all")
    print("\n".join(lines[function] for function in sorted(found, key=str.lower)))


def _text(row: Name) -> str:
    """What is searched of a function besides the line that is printed."""
    names = [name for release in RELEASES for name in getattr(row, release)]
    purpose = (inspect.getdoc(row.found()) or "").split("\n", 1)[0] if callable(row.found()) else ""
    return " ".join([*names, row.group, purpose])
