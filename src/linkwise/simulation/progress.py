"""Whether an integrator that chooses its own steps still gets on."""

from __future__ import annotations

PATIENCE = 20_000
"""Evaluations in which some of the way must be gone."""

LEAST = 1e-4
"""The part of the whole time that is some of the way."""


class Stuck(Exception):  # noqa: N818  (a signal between two files)
    """Raised in the evaluation at which patience ends; ``time`` is how far the motion got, s."""

    def __init__(self, time: float) -> None:
        self.time = time
        super().__init__(time)


class Progress:
    """Counts evaluations, and raises `Stuck` where the time hardly moves on.

    Where a joint comes to rest under Coulomb friction the acceleration jumps with every sign of the speed, and steps that a
    tolerance chooses shrink without end.

    Examples
    --------
    >>> progress = Progress(0.0, 1.0)
    >>> for _ in range(PATIENCE + 1):
    ...     progress.at(0.5)
    >>> progress.at(0.5)
    Traceback (most recent call last):
    linkwise.simulation.progress.Stuck: 0.5
    """

    def __init__(self, start: float, end: float) -> None:
        self.least = LEAST * (end - start)
        self.time, self.left = start, PATIENCE

    def at(self, time: float) -> None:
        """Note an evaluation."""
        self.left -= 1
        if time > self.time + self.least:
            self.time, self.left = time, PATIENCE
        elif self.left < 0:
            raise Stuck(time)
