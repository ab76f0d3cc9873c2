"""`linkwise.symbols`: names for numbers that are not known yet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, overload

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import parameter

#: Characters that a name may have.
LONGEST = 200


@overload
def symbols(names: str) -> Any: ...
@overload
def symbols(names: Iterable[str]) -> tuple[Any, ...]: ...
def symbols(names: str | Iterable[str]) -> Any:
    """Symbols in place of numbers of a mechanism: masses, lengths, gravity, motor data.

    A kernel of a mechanism with symbols takes their values as its last input, ``parameters``, in the order of
    `Mechanism.symbols`. Equal names are one symbol. Symbols compute like numbers: ``2 * m1 * l1**2``, ``alpha.cos()``.

    Parameters
    ----------
    names : str or sequence of str
        Separated by spaces or commas; as a sequence, names may hold spaces: ``symbols(["link mass"])``. Any text may be a
        name (Greek letters, words of Python or C, ``I``): what is exported is renamed, and says so.

    Returns
    -------
    Expr or tuple of Expr
        One for a text with one name; a tuple of all otherwise.

    Raises
    ------
    ArgumentError
        For an empty name, one with line breaks or other control characters, longer than 200 characters, or a number.

    Examples
    --------
    >>> m, l = symbols("m l")
    >>> str(m * l**2 / 3), symbols("m") is m
    ('m * l * l / 3', True)
    """
    if isinstance(names, str):
        items = [name for name in re.split(r"[\s,]+", names) if name]
        if not items:
            raise ArgumentError(f"names is {shown(names)}; expected names, separated by spaces or commas")
        results = tuple(parameter(checked_name(name)) for name in items)
        return results[0] if len(results) == 1 and "," not in names else results
    if not isinstance(names, Iterable):
        raise ArgumentError(f"names is {shown(names)}; expected text, or a sequence of texts")
    return tuple(parameter(checked_name(name)) for name in names)


def checked_name(name: object) -> str:
    """The name of a symbol as it is kept.

    Raises
    ------
    ArgumentError
        Where it is none: see `symbols`.
    """
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or name != name.strip():
        raise ArgumentError(f"{shown(name)} is not a name of a symbol; expected printable text, no spaces at its ends")
    if len(name) > LONGEST:
        raise ArgumentError(f"{shown(name)} is not a name of a symbol: {len(name)} characters, more than {LONGEST}")
    try:
        float(name)
    except ValueError:
        return unicodedata.normalize("NFC", name)  # composed and decomposed accents are one name
    raise ArgumentError(f"{shown(name)} is not a name of a symbol: it reads as a number")
