"""The clock is made up, so that what is asserted is exact and no test waits."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable

import pytest

from linkwise.errors import ArgumentError
from linkwise.server import scheduler as pacing
from linkwise.server.scheduler import Counts

MS = 1_000_000


class Clock:
    """Each look takes 100 ns; a sleep lasts as long as asked and a little more."""

    def __init__(self, oversleep: int = 0) -> None:
        self.time, self.oversleep, self.sleeps = 7 * MS, oversleep, 0

    def now(self) -> int:
        self.time += 100
        return self.time

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.sleeps += 1
        self.time += round(seconds * 1e9) + self.oversleep


class Stepper:
    """Each step takes the time that it is told, and notes when it began."""

    def __init__(self, clock: Clock, lasting: Callable[[int], int] = lambda k: 0) -> None:
        self.clock, self.lasting = clock, lasting
        self.began: list[int] = []
        self.given: list[float] = []

    def step(self, dt: float) -> None:
        self.began.append(self.clock.time)
        self.given.append(dt)
        self.clock.time += self.lasting(len(self.began) - 1)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pacing, "now", made.now)
    monkeypatch.setattr(pacing.time, "sleep", made.sleep)
    monkeypatch.setattr(pacing.gc, "collect", lambda: 0)  # which would look through all that the tests before left
    return made


def ticks(began: list[int], period: int) -> list[int]:
    """Which deadline each began at; none may be off by more than the looks at the clock take, 2 us."""
    found = [round((at - began[0]) / period) for at in began]
    assert all(abs(at - began[0] - k * period) <= 2_000 for at, k in zip(began, found, strict=True))
    return found


def test_cycles_begin_at_deadlines_that_stand_fixed(clock: Clock) -> None:
    chain = Stepper(clock, lambda k: 100_000 + 500_000 * (k % 2))
    told = pacing.run(chain, 1e-3, cycles=50)
    assert ticks(chain.began, MS) == list(range(50))
    assert (told.cycles, told.late, told.overruns, told.ended) == (50, 0, 0, "cycles")
    assert told.lateness.worst <= 2e-6


def test_the_step_is_given_the_period_whatever_happened(clock: Clock) -> None:
    chain = Stepper(clock, lambda k: 5 * MS if k == 2 else 0)
    pacing.run(chain, 1e-3, cycles=5)
    assert chain.given == [1e-3] * 5


def test_missed_deadlines_are_left_out_and_counted_never_made_up_for(clock: Clock) -> None:
    chain = Stepper(clock, lambda k: 3_400_000 if k == 4 else 0)
    told = pacing.run(chain, 1e-3, cycles=8)
    assert ticks(chain.began, MS) == [0, 1, 2, 3, 4, 8, 9, 10]
    assert (told.overruns, told.late) == (3, 0)
    assert told.step.worst == pytest.approx(3.4e-3, abs=2e-7)


def test_a_cycle_just_longer_than_the_period_loses_every_other_deadline(clock: Clock) -> None:
    chain = Stepper(clock, lambda k: 1_010_000)
    told = pacing.run(chain, 1e-3, cycles=5)
    assert ticks(chain.began, MS) == [0, 2, 4, 6, 8]
    assert told.overruns == 5


def test_late_is_more_than_a_tenth_of_a_period(clock: Clock) -> None:
    clock.oversleep = 90_000  # (sleeping ends 100 us before the deadline: the spin waits for the rest)
    assert pacing.run(Stepper(clock), 1e-3, cycles=20).late == 0
    clock.oversleep = 150_000
    told = pacing.run(Stepper(clock), 1e-3, cycles=20, spin=0.0)
    assert (told.late, told.overruns) == (19, 0)  # (the first has nothing to sleep for)
    assert told.lateness.median == pytest.approx(150e-6, rel=1 / 16)


def test_a_rate_that_no_number_of_nanoseconds_has_does_not_drift(clock: Clock) -> None:
    """A third of a millisecond is not a whole number of ns: rounding each would be off by 4 us after 12,000 cycles."""
    chain = Stepper(clock)
    pacing.run(chain, 1 / 3000, cycles=12_001)
    assert abs(chain.began[-1] - chain.began[0] - 4_000 * MS) <= 1_000


def test_before_and_after_stand_around_each_step(clock: Clock) -> None:
    seen: list[str] = []

    class Noting:
        def step(self, dt: float) -> None:
            seen.append("step")

    pacing.run(Noting(), 1e-3, cycles=2, before=lambda: seen.append("before"), after=lambda: seen.append("after"))
    assert seen == ["before", "step", "after"] * 2


def test_stop_is_asked_before_every_cycle_and_in_long_waits(clock: Clock) -> None:
    chain = Stepper(clock)
    told = pacing.run(chain, 10.0, stop=lambda: clock.time > 12_000 * MS)
    assert (told.cycles, told.ended) == (2, "stop")
    assert clock.time < 12_300 * MS  # (it did not wait for the deadline at 20 s)


def test_no_cycle_at_all(clock: Clock) -> None:
    chain = Stepper(clock)
    told = pacing.run(chain, 1e-3, cycles=0)
    assert (told.cycles, chain.began, told.lateness.worst) == (0, [], 0.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_after_the_cycle_at_hand(clock: Clock, number: signal.Signals) -> None:
    before = signal.getsignal(number)
    chain = Stepper(clock, lambda k: signal.raise_signal(number) or 0 if k == 3 else 0)
    done: list[int] = []
    told = pacing.run(chain, 1e-3, after=lambda: done.append(1))
    assert (told.cycles, len(done), told.ended) == (4, 4, number.name)
    assert signal.getsignal(number) is before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
@pytest.mark.parametrize("ignored", [False, True])
def test_a_closed_terminal_ends_it_unless_that_is_ignored(clock: Clock, ignored: bool) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        chain = Stepper(clock, lambda k: signal.raise_signal(signal.SIGHUP) or 0 if k == 3 else 0)
        told = pacing.run(chain, 1e-3, cycles=10)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert (told.cycles, told.ended) == ((10, "cycles") if ignored else (4, "SIGHUP"))


def test_a_second_interrupt_breaks_a_step_that_hangs(clock: Clock) -> None:
    before = signal.getsignal(signal.SIGINT)

    class Hanging:
        def step(self, dt: float) -> None:
            while True:
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        pacing.run(Hanging(), 1e-3)
    assert signal.getsignal(signal.SIGINT) is before
    assert gc.isenabled()


def test_beside_the_main_thread_signals_are_left_alone(clock: Clock) -> None:
    told = []
    thread = threading.Thread(target=lambda: told.append(pacing.run(Stepper(clock), 1e-3, cycles=3)))
    thread.start()
    thread.join()
    assert told[0].cycles == 3


def test_the_garbage_collector_is_off_meanwhile_and_as_before_afterwards(clock: Clock) -> None:
    seen: list[bool] = []
    frozen = gc.get_freeze_count()
    pacing.run(Stepper(clock), 1e-3, cycles=1, before=lambda: seen.append(gc.isenabled() or not gc.get_freeze_count()))
    assert (seen, gc.isenabled(), gc.get_freeze_count()) == ([False], True, frozen)
    gc.disable()
    try:
        pacing.run(Stepper(clock), 1e-3, cycles=1)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_error_in_a_step_is_passed_on_and_everything_restored(clock: Clock) -> None:
    before = signal.getsignal(signal.SIGTERM)

    class Failing:
        def step(self, dt: float) -> None:
            raise ZeroDivisionError("in the step")

    with pytest.raises(ZeroDivisionError, match="in the step"):
        pacing.run(Failing(), 1e-3)
    assert gc.isenabled()
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.skipif(sys.platform != "linux", reason="priorities of Linux")
def test_the_priority_is_asked_for_and_given_back_and_a_refusal_told(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(pacing.os, "sched_setscheduler", lambda who, how, what: asked.append((how, what.sched_priority)))
    before = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
    pacing.run(Stepper(clock), 1e-3, cycles=1, priority=7)
    assert asked == [(os.SCHED_FIFO, 7), before]

    def refuse(*given: object) -> None:
        raise PermissionError

    monkeypatch.setattr(pacing.os, "sched_setscheduler", refuse)
    with pytest.raises(ArgumentError, match="the priority 7 is not allowed to this user"):
        pacing.run(Stepper(clock), 1e-3, cycles=1, priority=7)
    assert gc.isenabled()


def test_counts_are_kept_up_to_date_for_others(clock: Clock) -> None:
    counts, seen = Counts(), []
    chain = Stepper(clock, lambda k: 2_500_000 if k == 1 else 0)
    pacing.run(chain, 1e-3, cycles=3, before=lambda: seen.append((counts.cycles, counts.overruns)), counts=counts)
    assert seen == [(0, 0), (1, 0), (2, 2)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"period": 0.0}, "the period is 0.0; expected seconds from 1e-06 to 3600"),
        ({"period": float("nan")}, "the period is nan"),
        ({"period": "1"}, "the period is '1'"),
        ({"cycles": -1}, "the number of cycles is -1"),
        ({"cycles": True}, "the number of cycles is True"),
        ({"cycles": 1.0}, "the number of cycles is 1.0"),
        ({"spin": -1e-3}, "the spin is -0.001; expected seconds from 0"),
        ({"spin": float("inf")}, "the spin is inf"),
        ({"priority": 0}, "the priority is 0; expected a whole number from 1 to 99, or None"),
        ({"priority": 1.5}, "the priority is 1.5"),
    ],
)
def test_what_cannot_be_is_told(clock: Clock, arguments: dict[str, object], told: str) -> None:
    with pytest.raises(ArgumentError, match=told.replace(".", r"\.")):
        pacing.run(Stepper(clock), **{"period": 1e-3, **arguments})  # type: ignore[arg-type]


def test_on_the_real_clock_it_lasts_as_long_as_its_cycles() -> None:
    """Only that no cycle begins too soon: how late they are is the machine's affair."""
    import time

    begun = time.monotonic()
    assert pacing.run(Stepper(Clock()), 2e-3, cycles=26).cycles == 26
    assert time.monotonic() - begun >= 25 * 2e-3
