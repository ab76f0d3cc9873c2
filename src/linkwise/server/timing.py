"""How well a cycle kept its time: counts in fixed buckets, so that a cycle leaves nothing behind in memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

_BITS = 4
_STEPS = 1 << _BITS
_OCTAVES = 60


class Histogram:
    """Durations counted in buckets, sixteen to a doubling: what comes out is at most a sixteenth too large.

    Examples
    --------
    >>> seen = Histogram()
    >>> for duration in (10, 20, 30, 1000):
    ...     seen.add(duration)
    >>> seen.quantile(0.5), seen.worst
    (20, 1000)
    """

    def __init__(self) -> None:
        self.counts = [0] * (_STEPS * _OCTAVES)
        self.total = 0
        self.worst = 0

    def add(self, duration: int) -> None:
        """Count a duration, ns; a negative one as 0."""
        if duration > self.worst:  # noqa: PLR1730  (a call takes longer)
            self.worst = duration
        exponent = duration.bit_length() - _BITS - 1
        if duration < 2 * _STEPS:
            self.counts[duration if duration > 0 else 0] += 1
        else:
            self.counts[(exponent << _BITS) + (duration >> exponent)] += 1
        self.total += 1

    def quantile(self, fraction: float) -> int:
        """The duration, ns, that this fraction of them does not exceed; 0 where there are none."""
        wanted, seen = fraction * self.total, 0
        for place, count in enumerate(self.counts):
            seen += count
            if seen and seen >= wanted:
                return min(_upper(place), self.worst)
        return 0

    def spread(self) -> Spread:
        """The figures of it that people ask for."""
        median, most, nearly_all = (self.quantile(fraction) * 1e-9 for fraction in (0.5, 0.99, 0.999))
        return Spread(median, most, nearly_all, self.worst * 1e-9)


@dataclass(frozen=True)
class Spread:
    """Durations of many cycles, s: the median, what 99 % and 99.9 % do not exceed, and the longest."""

    median: float
    p99: float
    p999: float
    worst: float


@dataclass
class Counts:
    """What a run has counted so far."""

    cycles: int = 0
    late: int = 0
    overruns: int = 0


@dataclass(frozen=True)
class Timing:
    """How a run kept its time.

    Attributes
    ----------
    period : float
        What was asked for, s.
    cycles : int
        How many there were.
    late : int
        Those that began more than a tenth of a period after their deadline.
    overruns : int
        Deadlines that passed while a cycle was still at work. They are left out: no cycle makes up for one.
    lateness : Spread
        From a deadline to the begin of its cycle, s.
    step : Spread
        What the chain's step itself took, s.
    ended : str
        Why it ended: ``"cycles"``, ``"stop"``, ``"SIGINT"`` or ``"SIGTERM"``.
    """

    period: float
    cycles: int
    late: int
    overruns: int
    lateness: Spread
    step: Spread
    ended: str

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self)


def _upper(place: int) -> int:
    """The largest duration that falls in a bucket."""
    if place < 2 * _STEPS:
        return place
    exponent = (place >> _BITS) - 1
    return (((place & (_STEPS - 1)) + _STEPS + 1) << exponent) - 1
