"""Which of the six directions of a frame count: along x, y, z, and about x, y, z."""

from __future__ import annotations

import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.spatial.validation import numbers

MASKS = {
    "all": (True,) * 6,
    "translation": (True, True, True, False, False, False),
    "rotation": (False, False, False, True, True, True),
}
"""The masks that have a word."""


def mask_of(mask: npt.ArrayLike | None) -> tuple[bool, ...]:
    """Six flags from six numbers 0 or 1, from a word of `MASKS`, or from None for all.

    Raises
    ------
    ArgumentError
        For anything else, and where no direction counts.

    Examples
    --------
    >>> mask_of("rotation") == mask_of([0, 0, 0, 1, 1, 1])
    True
    """
    if mask is None:
        return MASKS["all"]
    if isinstance(mask, str):
        return MASKS[word_of(mask)]
    expected = "six of 0 or 1, not all 0: x, y, z, about x, about y, about z; or 'all', 'translation' or 'rotation'"
    values = numbers("mask", mask, expected)
    if values.shape != (6,) or not ((values == 0.0) | (values == 1.0)).all() or not values.any():
        raise ArgumentError(f"mask is {shown(mask)}; expected {expected}")
    return tuple(bool(value) for value in values)


def rows_of(mask: npt.ArrayLike | None) -> tuple[int, ...]:
    """The rows of a Jacobian that count.

    Examples
    --------
    >>> rows_of("translation"), rows_of([1, 0, 0, 0, 0, 1])
    ((0, 1, 2), (0, 5))
    """
    return tuple(row for row, counts in enumerate(mask_of(mask)) if counts)


def word_of(mask: str) -> str:
    """The word itself, where a mask must be one of `MASKS`; an error lists them."""
    if not isinstance(mask, str) or mask not in MASKS:
        raise ArgumentError(f"mask is {shown(mask)}; expected {choices(MASKS)}")
    return mask
