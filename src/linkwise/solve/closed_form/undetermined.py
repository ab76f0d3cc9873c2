"""Where an equation leaves its unknown free: the conditions, collected while the equations are written.

An equation that holds for every angle takes the angle handed in as `free`. Only the function that solves an equation knows
where it does so; it hands the condition to whoever collects.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from linkwise.spatial.scalar import select

MARGIN = 1e-7
"""An unknown counts as free a little before it is: an angle at the end of a side as short as this (of unit vectors, m or m2)
has lost half its digits, and the equations after it lose the others."""

_collected: ContextVar[list[Any] | None] = ContextVar("collected", default=None)


@contextmanager
def conditions() -> Iterator[list[Any]]:
    """Collect the conditions of what is solved inside, in their order: each above zero where the unknown is determined.

    Examples
    --------
    >>> with conditions() as collected:
    ...     require(0.5)
    >>> collected
    [0.4999999]
    """
    collected: list[Any] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def require(size: Any, margin: float = MARGIN) -> None:
    """Add the condition that a scalar is greater than a margin."""
    collected = _collected.get()
    if collected is not None:
        collected.append(size - margin)


def select_free(condition: Any, value: Any, free: Any) -> Any:
    """The value where the condition is above zero, else the free one."""
    require(condition)
    return select(condition, value, free)
