"""Numbers of options, with commas between them: angles also in degrees, as in 90deg, lengths also in mm or cm."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import click

from linkwise.errors import choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linkwise.mechanism import Mechanism

DEGREE = math.pi / 180.0

LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
ANGLES = {"rad": 1.0, "deg": DEGREE, "°": DEGREE}

UNITS = {"length": LENGTHS, "angle": ANGLES, "": {}}
"""The units that may stand behind a number of each kind, and what one of them is in SI; without one it is in m or rad."""

_UNIT = re.compile(r"(?<=[0-9.])(mm|cm|m|deg|°|rad)$")


def coordinates(text: str | None, mechanism: Mechanism, option: str = "--q") -> list[float] | None:
    """Read the coordinates (nq,), rad or m; None where none are given.

    Those of the joints alone leave a floating base in its origin. Its quaternion may have any length.
    """
    if text is None:
        return None
    more = mechanism.nq - mechanism.n
    found = numbers(text, option, _kinds(mechanism), ["length"] * 3 + [""] * 4)
    if len(found) == mechanism.n:
        return [*mechanism.neutral[:more].tolist(), *found]
    if len(found) != mechanism.nq:
        raise click.BadParameter(_miscounted(len(found), mechanism, mechanism.nq), param_hint=option)
    length = math.hypot(*found[3:7])
    if length == 0:
        raise click.BadParameter("the quaternion qw, qx, qy, qz is zero; expected an orientation", param_hint=option)
    return [*found[:3], *(value / length for value in found[3:7]), *found[7:]]


def speeds(text: str | None, mechanism: Mechanism, option: str = "--qd") -> list[float] | None:
    """Read the speeds (nv,), rad/s or m/s; those of the joints alone leave a floating base at rest."""
    if text is None:
        return None
    found = numbers(text, option, _kinds(mechanism), ["length"] * 3 + ["angle"] * 3)
    if len(found) == mechanism.n:
        return [0.0] * (mechanism.nv - mechanism.n) + found
    if len(found) != mechanism.nv:
        raise click.BadParameter(_miscounted(len(found), mechanism, mechanism.nv), param_hint=option)
    return found


def _miscounted(count: int, mechanism: Mechanism, whole: int) -> str:
    joints = f"{mechanism.n} joint{'' if mechanism.n == 1 else 's'}"
    base = f" ({whole} with those of the floating base before them)" if mechanism.floating else ""
    return f"{count} number{'' if count == 1 else 's'} for {joints}{base}"


def _kinds(mechanism: Mechanism) -> list[str]:
    return ["length" if slides else "angle" for slides in mechanism.slides]


def numbers(text: str, option: str, kinds: Sequence[str] = (), before: Sequence[str] = ()) -> list[float]:
    """Read numbers with commas between them, in m and rad; angles also as in 90deg, lengths as in 400mm or 40cm.

    Parameters
    ----------
    text : str
        What was given.
    option : str
        Whose text it is, for messages.
    kinds : sequence of {"length", "angle", ""}
        What each number is, so that no length is taken for an angle; "" takes no unit. Any unit is taken where they do not
        match the count.
    before : sequence of {"length", "angle", ""}
        What stands before these where there are as many numbers more.

    Examples
    --------
    >>> numbers("0.5, 400mm, 90deg", "--q")
    [0.5, 0.4, 1.5707963267948966]
    """
    words = [word for word in re.split(r"[,\s]+", text.strip()) if word]
    known: Sequence[str] = ()
    if kinds and len(words) in (len(kinds), len(before) + len(kinds)):
        known = kinds if len(words) == len(kinds) else [*before, *kinds]
    return [_number(word, option, known[k] if known else None) for k, word in enumerate(words)]


def _number(word: str, option: str, kind: str | None) -> float:
    found = _UNIT.search(word)
    unit, bare = (found[0], word[: found.start()]) if found else ("", word)
    try:
        value = float(bare)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise click.BadParameter(f"{word!r} is not a number (1.57, 90deg, 400mm)", param_hint=option)
    if unit and kind is not None and unit not in UNITS[kind]:
        raise click.BadParameter(f"{word!r}: {_wanted(kind)}", param_hint=option)
    return value * {"": 1.0, **LENGTHS, **ANGLES}[unit]


def _wanted(kind: str) -> str:
    if not kind:
        return "a number without a unit stands here"
    article = "an angle" if kind == "angle" else "a length"
    return f"{article} stands here; expected a number in {'rad' if kind == 'angle' else 'm'}, or with {choices(UNITS[kind])}"
