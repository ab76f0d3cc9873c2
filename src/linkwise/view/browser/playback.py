"""Playback clock of a motion: play, pause, seek, speed and repeat, from a monotonic time that the caller supplies."""

from __future__ import annotations

import sys

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.validation import number_within

MOST = sys.float_info.max
"""The largest number of seconds."""

SLOWEST, FASTEST = 0.01, 10.0
"""The speeds that there are, as parts of real time; backwards with a minus sign."""


class Playback:
    """Where a motion is that is being played.

    No method asks for the time: ``now`` is handed in, in s of any clock that does not go back, such as `time.monotonic`. A
    ``now`` before the last one counts as the last one. The same calls therefore give the same answers.

    Parameters
    ----------
    duration : float
        Of the motion, s; 0 or more.
    speed : float
        How many seconds of the motion go by in one second: 0.01 to 10, or -10 to -0.01 for backwards.
    repeat : bool
        Whether it begins again at its end.

    Attributes
    ----------
    duration : float
        As given.
    repeat : bool
        May be set at any time.
    playing : bool
        Whether it ran when it was last asked or told.

    Raises
    ------
    ArgumentError
        Where a number is none of these.

    Examples
    --------
    >>> clock = Playback(2.0)
    >>> clock.play(100.0)
    >>> clock.time(101.5), clock.time(103.0), clock.playing
    (1.5, 2.0, False)
    """

    def __init__(self, duration: float, *, speed: float = 1.0, repeat: bool = False) -> None:
        self.duration = _number("duration", duration, 0.0)
        self.repeat = bool(repeat)
        self.playing = False
        self._speed = _speed(speed)
        self._at = 0.0
        """How far it was (s from the beginning, 0 to the duration) when it was last looked at."""
        self._now: float | None = None
        """When that was."""

    @property
    def speed(self) -> float:
        """How many seconds of the motion go by in one second; setting it takes effect at the last ``now``."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._speed = _speed(speed)

    def play(self, now: float) -> None:
        """Run from where it stands; from the other end where it stands at the end that it runs to."""
        self._advance(now)
        if not self.repeat and self._at == self._last:
            self._at = self.duration - self._last
        self.playing = self.duration > 0.0

    def pause(self, now: float) -> None:
        """Stand still."""
        self._advance(now)
        self.playing = False

    def seek(self, time: float, now: float) -> None:
        """Go to a time of the motion, s from its beginning, or to the nearer end; it goes on playing, or standing, there."""
        self._advance(now)
        self._at = min(max(_number("time", time), 0.0), self.duration)

    def time(self, now: float) -> float:
        """Time of the motion, s from its beginning: 0 to `duration`."""
        self._advance(now)
        return self._at

    @property
    def _last(self) -> float:
        """The end that it runs to, s from the beginning."""
        return self.duration if self._speed > 0.0 else 0.0

    def _advance(self, now: float) -> None:
        """Let the time go by since it was last looked at."""
        here = _number("now", now)
        passed = 0.0 if self._now is None else max(here - self._now, 0.0)
        self._now = here if self._now is None else max(here, self._now)
        if not self.playing or not passed:
            return
        at = self._at + passed * self._speed
        if 0.0 < at < self.duration:
            self._at = at
        elif self.repeat:
            self._at = at % self.duration
        else:
            self._at, self.playing = self._last, False

    def __repr__(self) -> str:
        does = "playing" if self.playing else "standing"
        return f"<Playback: {does} at {self._at:g} of {self.duration:g} s, speed {self._speed:g}>"


def _number(name: str, value: object, least: float = -MOST) -> float:
    return number_within(name, value, least, MOST, "0 or more, in s" if least == 0.0 else "a finite number, in s")


def _speed(value: object) -> float:
    expected = f"{SLOWEST:g} to {FASTEST:g}, or as much below 0 for backwards"
    speed = number_within("speed", value, -FASTEST, FASTEST, expected)
    if abs(speed) < SLOWEST:
        raise ArgumentError(f"speed is {shown(value)}; expected {expected}")
    return speed
