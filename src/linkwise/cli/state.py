"""The options --q and --qd: numbers with commas between them, angles also in degrees, as in 90deg."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism


def coordinates(text: str | None, mechanism: Mechanism, option: str = "--q") -> list[float] | None:
    """Read the coordinates (nq,), rad or m; None where none are given.

    Those of the joints alone leave a floating base in its origin. Its quaternion may have any length.
    """
    if text is None:
        return None
    found = numbers(text, option)
    more = mechanism.nq - mechanism.n
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
    found = numbers(text, option)
    if len(found) == mechanism.n:
        return [0.0] * (mechanism.nv - mechanism.n) + found
    if len(found) != mechanism.nv:
        raise click.BadParameter(_miscounted(len(found), mechanism, mechanism.nv), param_hint=option)
    return found


def _miscounted(count: int, mechanism: Mechanism, whole: int) -> str:
    joints = f"{mechanism.n} joint{'' if mechanism.n == 1 else 's'}"
    base = f" ({whole} with those of the floating base before them)" if mechanism.floating else ""
    return f"{count} number{'' if count == 1 else 's'} for {joints}{base}"


def numbers(text: str, option: str) -> list[float]:
    """Read numbers with commas between them, angles also in degrees."""
    return [_number(word, option) for word in re.split(r"[,\s]+", text.strip()) if word]


def _number(word: str, option: str) -> float:
    bare = word.removesuffix("deg").removesuffix("°")
    try:
        value = float(bare)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise click.BadParameter(f"{word!r} is not a number (1.57, 90deg)", param_hint=option)
    return value if bare == word else math.radians(value)
