"""What goes wrong while time passes."""

from __future__ import annotations

from linkwise.errors import LinkwiseError


class SimulationError(LinkwiseError):
    """A motion that cannot be followed: which rollout, at which time, and why.

    Attributes
    ----------
    rollout : tuple of int
        Index into the batch, () where there is only one.
    time : float
        The first instant with a state that is not finite, or that was not reached, s.
    """

    def __init__(self, rollout: tuple[int, ...], time: float, message: str) -> None:
        self.rollout, self.time = rollout, time
        super().__init__(message)

    def __reduce__(self) -> tuple[type[SimulationError], tuple[tuple[int, ...], float, str]]:
        return type(self), (self.rollout, self.time, str(self))
