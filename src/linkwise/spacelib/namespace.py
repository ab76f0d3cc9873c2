"""How the namespaces of the C and Maple releases find their names: in the table, when first asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np

from linkwise.errors import members
from linkwise.spacelib import constants
from linkwise.spacelib.names import RELEASES, Name, names_of


def found_in(release: str, name: str) -> Any:
    """What a release calls by a name: a function, or a constant.

    Raises
    ------
    AttributeError
        For another name; the message says which are close, or what a name of another release is here.
    """
    names = names_of(release)
    if name in names:
        return names[name].found()
    if hasattr(constants, name) and _is_constant(name):
        return _exactly(getattr(constants, name)) if release == "maple" else getattr(constants, name)
    raise AttributeError(_unknown(release, name, names), name=name, obj=None)


def _exactly(value: Any) -> Any:
    """A constant as Maple has it: turns as multiples of SymPy's pi, whole numbers in matrices."""
    if isinstance(value, float):
        from linkwise.spatial.with_sympy import sympy_module

        sympy = sympy_module()
        return sympy.Rational(round(2 * value / math.pi), 2) * sympy.pi
    if isinstance(value, np.ndarray):
        made = value.astype(int).astype(object)
        made.flags.writeable = False
        return made
    return value


def listed_in(release: str) -> list[str]:
    """The names of all functions of a release, and of the constants."""
    return sorted({*names_of(release), *(name for name in vars(constants) if _is_constant(name))})


def alias(name: str) -> Any:
    """What any release calls by a name, where all that have it mean the same function.

    Raises
    ------
    AttributeError
        For another name, and for one that is one function in one release and another in the next.
    """
    rows = {release: names_of(release)[name] for release in RELEASES if name in names_of(release)}
    if len({row.function for row in rows.values()}) == 1:
        return next(iter(rows.values())).found()
    if not rows:
        close = _close(name, {*aliases(), *_own_names()})
        told = f"; close are {members(close)}" if close else ""
        raise AttributeError(f"SpaceLib has no {name!r}{told}; dir(linkwise.spacelib) lists all names", name=name, obj=None)
    meant = " and ".join(f"{row.function} in {RELEASES[release]} (spacelib.{release})" for release, row in rows.items())
    raise AttributeError(f"{name!r} is {meant}", name=name, obj=None)


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


def _own_names() -> list[str]:
    from linkwise import spacelib

    return list(spacelib.__all__)


def _is_constant(name: str) -> bool:
    return not name.startswith("_") and isinstance(getattr(constants, name), (int, float, np.ndarray))


def _unknown(release: str, name: str, names: dict[str, Name]) -> str:
    told = f"SpaceLib has no {name!r} in its {RELEASES[release]} release"
    for other, title in RELEASES.items():
        row = names_of(other).get(name)
        if row is not None:
            own = getattr(row, release)
            here = f"which is {members(own)} there" if own else "which that release lacks"
            return f"{told}; it is a name of the {title} release, {here}"
    close = _close(name, names)
    listed = f"dir(linkwise.spacelib.{release}) lists all {len(names)} functions"
    return f"{told}; {f'close are {members(close)}; ' if close else ''}{listed}"
