"""What evaluates a motion at any time, and that for one motion of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from linkwise.spatial.scalar import FloatArray

State = tuple[FloatArray, FloatArray, FloatArray]
"""q, qd, qdd at some instants."""

Evaluator = Callable[[FloatArray], State]
"""Takes times (K,) within a motion, gives q, qd, qdd (..., K, :)."""


def of_member(whole: Evaluator | None, place: tuple[int, ...]) -> Evaluator | None:
    """The evaluator of one motion of a batch: the evaluator's own `member`, if it has one, or the whole, picked from."""
    own = getattr(whole, "member", None)
    made: Evaluator | None = own(place) if own else None if whole is None else OfMember(whole, place)
    return made


def of_first(whole: Evaluator | None, kept: int) -> Evaluator | None:
    """The evaluator of the first so many instants: the evaluator's own `first`, if it has one, or the whole."""
    own = getattr(whole, "first", None)
    made: Evaluator | None = own(kept) if own else whole
    return made


@dataclass(frozen=True)
class OfMember:
    """The evaluator of one motion of a batch."""

    whole: Evaluator
    place: tuple[int, ...]

    def __call__(self, time: FloatArray) -> State:
        """Return what the whole gives, of this one."""
        q, qd, qdd = self.whole(time)
        return q[self.place], qd[self.place], qdd[self.place]
