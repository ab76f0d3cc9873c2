"""Cycles at fixed deadlines, and statistics of their timing in fixed buckets."""

from __future__ import annotations

import gc
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from types import FrameType
from typing import Any, Protocol

from linkwise.errors import ArgumentError
from linkwise.spatial.validation import number_within

_BITS = 4
_STEPS = 1 << _BITS
_OCTAVES = 60


class Histogram:
    """Durations counted in buckets, sixteen per doubling, so that results are at most a sixteenth too large.

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
    """Durations of many cycles, s: median, 99 % and 99.9 % quantiles, and maximum."""

    median: float
    p99: float
    p999: float
    worst: float


@dataclass
class Counts:
    """Counts of a run so far."""

    cycles: int = 0
    late: int = 0
    overruns: int = 0


@dataclass(frozen=True)
class Timing:
    """Timing of a run.

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
        """All fields as plain values, for JSON."""
        return asdict(self)


def _upper(place: int) -> int:
    """The largest duration that falls in a bucket."""
    if place < 2 * _STEPS:
        return place
    exponent = (place >> _BITS) - 1
    return (((place & (_STEPS - 1)) + _STEPS + 1) << exponent) - 1


#: A cycle is late when it begins more than this part of a period after its deadline: a tenth.
LATE = 10

#: Time before a deadline at which sleeping ends and the clock is polled, s: a sleep may overrun by some 50 us.
SPIN = 1e-4

#: Interval, ns, at which a long wait checks for its end.
LONGEST_SLEEP = 100_000_000

now = time.monotonic_ns


class Steppable(Protocol):
    """Interface of objects that can be run: a step."""

    def step(self, dt: float, /) -> Any:
        """Do one cycle."""


def run(
    chain: Steppable,
    period: float,
    *,
    cycles: int | None = None,
    before: Callable[[], object] | None = None,
    after: Callable[[], object] | None = None,
    stop: Callable[[], bool] | None = None,
    spin: float = SPIN,
    priority: int | None = None,
    counts: Counts | None = None,
) -> Timing:
    """Step a chain at a fixed rate until it is enough.

    Deadlines stand fixed from the start. A cycle that lasts beyond the next deadline, or several, makes those be left out:
    the cycle after it begins at the first deadline still to come. The garbage collector is off meanwhile, and everything
    that is there is set aside from it; both are as before afterwards. In the main thread SIGINT and SIGTERM end the run
    after the cycle at hand, and so does SIGHUP, which comes when a terminal is closed, unless it is ignored (nohup); a
    second SIGINT interrupts it.

    Parameters
    ----------
    chain : Steppable
        What has ``step(dt)``. It is always given the period, also after deadlines were left out.
    period : float
        From deadline to deadline, s.
    cycles : int, optional
        How many; without end if left out.
    before, after : callable, optional
        Called in every cycle just before and just after the step.
    stop : callable, optional
        Asked before every cycle; True ends the run.
    spin : float
        How long before each deadline to stop sleeping and watch the clock, s. 0 leaves the processor to others and begins
        cycles some 50 us later.
    priority : int, optional
        Real-time priority of this thread meanwhile, 1 to 99 (SCHED_FIFO of POSIX): everything of a lower one has to wait for
        the cycle. It takes the right to, such as a limit ``rtprio``.
    counts : Counts, optional
        Kept up to date, for another thread to show.

    Returns
    -------
    Timing
        What it was.

    Raises
    ------
    ArgumentError
        Where the period, the number of cycles, the spin or the priority cannot be. What the step raises ends the run and is
        passed on.

    Examples
    --------
    >>> class Still:
    ...     def step(self, dt):
    ...         pass
    >>> run(Still(), 1e-3, cycles=5).cycles
    5
    """
    _check(period, cycles, spin)
    with _prior(priority), _undisturbed(), _signals() as heard:
        return _run(period, _Ended(heard, stop, cycles), (before, chain.step, after), round(spin * 1e9), counts or Counts())


def _run(period: float, ended: _Ended, work: tuple[Any, Any, Any], spin: int, counts: Counts) -> Timing:
    """Run until it ends; sleeping ends ``spin`` nanoseconds before a deadline."""
    before, step, after = work
    lateness, steps = Histogram(), Histogram()
    # (as a fraction, so that 1/3000 s does not drift)
    nanoseconds, per = (Fraction(period).limit_denominator(10**9) * 10**9).as_integer_ratio()
    allowed = nanoseconds // (LATE * per)
    origin, tick = now(), 0
    while not (counts.cycles == ended.cycles or ended.asked()):
        deadline = origin + tick * nanoseconds // per
        if not _wait(deadline, spin, ended):
            continue
        begun = now()
        if before is not None:
            before()
        at = now()
        step(period)
        steps.add(now() - at)
        if after is not None:
            after()
        lateness.add(begun - deadline)
        counts.cycles += 1
        counts.late += begun - deadline > allowed
        tick += 1
        behind = now() - origin - tick * nanoseconds // per
        if behind > 0:
            missed = behind * per // nanoseconds + 1
            counts.overruns += missed
            tick += missed
    return Timing(period, counts.cycles, counts.late, counts.overruns, lateness.spread(), steps.spread(), ended.why)


def _wait(deadline: int, spin: int, ended: _Ended) -> bool:
    """Wait for a deadline; whether it came, or something else ended the wait."""
    left = deadline - now()
    while left > spin:
        time.sleep(min(left - spin, LONGEST_SLEEP) * 1e-9)
        left = deadline - now()
        if left > spin and ended.asked():
            return False
    while now() < deadline:
        pass
    return not ended.heard


@dataclass
class _Ended:
    """Termination of a run."""

    heard: list[str]
    stop: Callable[[], bool] | None
    cycles: int | None
    stopped: bool = False

    def asked(self) -> bool:
        """True if a stop was requested."""
        if not self.stopped and self.stop is not None:
            self.stopped = bool(self.stop())
        return self.stopped or bool(self.heard)

    @property
    def why(self) -> str:
        return self.heard[0] if self.heard else "stop" if self.stopped else "cycles"


@contextmanager
def _prior(priority: int | None) -> Iterator[None]:
    """Run with a real-time scheduling priority, if one is given."""
    if priority is None:
        yield
        return
    number_within("the priority", priority, 1, 99, "a whole number from 1 to 99, or None", whole=True)
    if sys.platform != "linux":
        raise ArgumentError(f"there is no real-time priority on {sys.platform}; leave it out")
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError as error:
        raise ArgumentError(f"the priority {priority} is not allowed to this user (see rtprio in limits.conf)") from error
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Run without the garbage collector."""
    was_on, was_frozen = gc.isenabled(), gc.get_freeze_count()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
        if not was_frozen:
            gc.unfreeze()


@contextmanager
def _signals() -> Iterator[list[str]]:
    """Collect signals instead of handling them; only possible in the main thread."""
    heard: list[str] = []

    def note(number: int, frame: FrameType | None) -> None:
        if heard and number == signal.SIGINT:
            raise KeyboardInterrupt
        heard.append(signal.Signals(number).name)

    if threading.current_thread() is not threading.main_thread():
        yield heard
        return
    heeded = [signal.SIGINT, signal.SIGTERM]
    if os.name == "posix" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        heeded.append(signal.SIGHUP)
    before = {number: signal.signal(number, note) for number in heeded}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _check(period: float, cycles: int | None, spin: float) -> None:
    number_within("the period", period, 1e-6, 3600, "seconds from 1e-06 to 3600")
    if cycles is not None:
        number_within("the number of cycles", cycles, 0, math.inf, "a whole number from 0, or None", whole=True)
    number_within("the spin", spin, 0.0, sys.float_info.max, "seconds from 0")
