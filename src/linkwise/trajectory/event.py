"""What was watched for during a motion."""

from __future__ import annotations

from typing import NamedTuple

from linkwise.spatial.scalar import FloatArray


class Event(NamedTuple):
    """Something that was watched for and happened during a motion.

    Attributes
    ----------
    name : str
        What it was.
    time : float
        When, s.
    q, qd : ndarray (nq,), (nv,)
        The state at that instant.
    member : tuple of int
        In which motion of a batch; () where there is only one.

    Examples
    --------
    >>> event = Event("landed", 0.5, [0.0], [-1.0])
    >>> event.name, event.time, event.member
    ('landed', 0.5, ())
    """

    name: str
    time: float
    q: FloatArray
    qd: FloatArray
    member: tuple[int, ...] = ()
