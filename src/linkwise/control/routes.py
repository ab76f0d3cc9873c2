"""Copying values from place to place in one vector, all at once: what the routes of a chain do at the start of a cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

Indices = npt.NDArray[np.intp]


class Place(NamedTuple):
    """From where to where, and between which bounds a number must be to be copied; None where any may."""

    source: slice
    target: slice
    interval: tuple[float, float] | None


class Copies:
    """Copies in one vector; every number is read before any is written, so that their order does not matter.

    A number out of bounds is not copied: what stood at its target stays.

    Parameters
    ----------
    values : ndarray, shape (N,)
        The vector, read and written in place.
    places : sequence of Place
        What is copied.

    Attributes
    ----------
    run : callable
        Copies once. Nothing that it makes outlives the call.
    """

    def __init__(self, values: FloatArray, places: Sequence[Place]) -> None:
        self.run: Callable[[], None] = _nothing
        self._order = sorted(range(len(places)), key=lambda k: places[k].interval is None)  # those with bounds first
        self._sizes = [places[k].target.stop - places[k].target.start for k in self._order]
        self._fits = np.ones(0, dtype=np.bool_)
        if not places:
            return
        sources = _indices([places[k].source for k in self._order])
        targets = _indices([places[k].target for k in self._order])
        bounds = [interval for k in self._order if (interval := places[k].interval)]
        if bounds:
            low, high = (np.repeat([pair[end] for pair in bounds], self._sizes[: len(bounds)]) for end in (0, 1))
            self.run, self._fits = _guarded(values, sources, targets, low, high)
        elif (np.diff(sources) == 1).all() and (np.diff(targets) == 1).all():
            self.run = _block(values, sources, targets)
        else:
            self.run = _scattered(values, sources, targets)

    def refused(self) -> list[int]:
        """Which of the places were not copied in full the last time, a number being out of bounds."""
        wrong = ~self._fits.all(axis=0) if self._fits.size else np.zeros(0, dtype=np.bool_)
        which = np.searchsorted(np.cumsum(self._sizes), np.flatnonzero(wrong), side="right")
        return sorted({self._order[k] for k in which})


def _nothing() -> None:
    pass


def _block(values: FloatArray, sources: Indices, targets: Indices) -> Callable[[], None]:
    """One run of numbers to another; NumPy looks after runs that overlap."""
    source, target = (values[at[0] : at[-1] + 1] for at in (sources, targets))

    def run() -> None:
        target[...] = source

    return run


def _scattered(values: FloatArray, sources: Indices, targets: Indices) -> Callable[[], None]:
    """Numbers from anywhere to anywhere: gathered first; mode "clip" because "raise" would copy the buffer."""
    fresh, gather = np.empty(len(sources)), values.take

    def run() -> None:
        gather(sources, 0, fresh, "clip")
        values[targets] = fresh

    return run


def _guarded(
    values: FloatArray, sources: Indices, targets: Indices, low: FloatArray, high: FloatArray
) -> tuple[Callable[[], None], npt.NDArray[np.bool_]]:
    """The same, but the first numbers only where they are between bounds; beside it, which of them were, by either bound.

    The comparisons are written into bytes, which Python searches for a zero far sooner than NumPy does.
    """
    fresh, kept, gather = np.empty(len(sources)), np.empty(len(low)), values.take
    looked, behind = fresh[: len(low)], targets[: len(low)]
    told = bytearray(b"\1" * (2 * len(low)))
    fits = np.frombuffer(told, dtype=np.bool_).reshape(2, len(low))
    above, below = fits
    at_least, at_most = np.greater_equal, np.less_equal

    def run() -> None:
        gather(sources, 0, fresh, "clip")
        at_least(looked, low, above)
        at_most(looked, high, below)
        if 0 in told:
            gather(behind, 0, kept, "clip")
            np.copyto(looked, kept, where=~(above & below))
        values[targets] = fresh

    return run, fits


def _indices(places: Sequence[slice]) -> Indices:
    return np.concatenate([np.arange(place.start, place.stop, dtype=np.intp) for place in places])
