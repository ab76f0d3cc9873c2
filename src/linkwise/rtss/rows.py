"""The legacy rows of the Robotics Toolbox: the kinematics, or all the numbers, of one link in a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.numbers import real
from linkwise.spatial.scalar import FloatArray

CONVENTIONS = ("standard", "modified")
"""By the number that the toolbox gives them: mdh = 0 and 1."""

DH_SIZES = (4, 5)
DYN_SIZES = (16, 17, 18, 19, 20)


def convention_number(word: Any) -> int:
    """The mdh number, 0 or 1, that a word means: ``"standard"``, ``"modified"``, or a beginning of one.

    A beginning has at least three letters. (The original looks at the first three alone, whatever follows.)

    Raises
    ------
    ArgumentError
        Naming the words there are.

    Examples
    --------
    >>> convention_number("stand"), convention_number("mod")
    (0, 1)
    >>> convention_number("std")
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: convention is 'std'; expected 'standard' or 'modified', or a beginning of ...
    """
    if isinstance(word, str) and len(word) >= 3:
        for value, name in enumerate(CONVENTIONS):
            if name.startswith(word):
                return value
    raise ArgumentError(
        f"convention is {shown(word)}; expected 'standard' or 'modified', or a beginning of one with three letters or more"
        " ('sta', 'mod')"
    )


def means_convention(word: Any) -> bool:
    """Whether a word means a convention: see `convention_number`."""
    return isinstance(word, str) and len(word) >= 3 and any(name.startswith(word.lower()) for name in CONVENTIONS)


def row_fields(row: Any) -> dict[str, Any]:
    """The fields that a DH row (4 or 5 numbers) or a DYN row (16 to 20) sets; the values are not checked yet.

    ``alpha A theta D [sigma]``, and for the whole row
    ``alpha A theta D sigma m rx ry rz Ixx Iyy Izz Ixy Iyz Ixz Jm [G [B [Tc+ [Tc-]]]]``.
    What is left out at the end is sigma = 0, G = 1, B = 0, Tc = 0; Tc- alone is -Tc+.

    Raises
    ------
    ArgumentError
        Where it is no row of that many numbers.
    """
    numbers = _numbers(row).tolist()
    fields: dict[str, Any] = dict(zip(("alpha", "A", "theta", "D", "sigma"), [*numbers[:5], 0.0][:5], strict=True))
    if len(numbers) in DH_SIZES:
        return fields
    tail = numbers[15:]
    jm, ratio, viscous, *friction = tail + [0.0, 1.0, 0.0, 0.0][len(tail) :]
    fields |= {"m": numbers[5], "r": numbers[6:9], "I": numbers[9:15], "Jm": jm, "G": ratio, "B": viscous}
    return fields | {"Tc": friction if len(friction) == 2 else friction[0]}


def _numbers(row: Any) -> FloatArray:
    try:
        made = real(row)
    except TypeError as error:
        raise ArgumentError(f"{_SIZES}; {shown(row)} {error}") from error
    if made.ndim == 0:
        raise ArgumentError(f"{_SIZES}; this is the number {float(made):.6g}, and link(q) is the transform of a link at q")
    made = made[0] if made.ndim == 2 and made.shape[0] == 1 else made
    if made.ndim != 1:
        raise ArgumentError(f"{_SIZES}; this is an array of shape {made.shape} (link(q) is the transform of a link at q)")
    if made.size not in DH_SIZES + DYN_SIZES:
        raise ArgumentError(f"{_SIZES}; this one has {made.size} (link(q) is the transform of a link at q)")
    return np.asarray(made)


_SIZES = "a link is made from a row of 4 or 5 numbers (alpha A theta D sigma), or of 16 to 20 (those, m r I Jm G B Tc)"
