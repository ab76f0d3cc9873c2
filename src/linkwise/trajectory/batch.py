"""Picking a motion out of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError


def place_in(batch: tuple[int, ...], index: Any) -> tuple[int, ...]:
    """An index into a batch shape as a tuple of numbers >= 0."""
    place = index if isinstance(index, tuple) else (index,)
    sizes = batch[: len(place)]
    if len(sizes) < len(place) or not all(
        isinstance(k, (int, np.integer)) and not isinstance(k, bool) and -m <= k < m
        for k, m in zip(place, sizes, strict=True)
    ):
        raise ArgumentError(f"there is no member {index!r}; the trajectory has the batch shape {batch}")
    return tuple(int(k) % m for k, m in zip(place, sizes, strict=True))
