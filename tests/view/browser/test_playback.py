"""The clock of a motion: deterministic, and right at its edges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.errors import ArgumentError
from linkwise.view.browser.viewer import Playback


def test_it_stands_until_told_to_play():
    clock = Playback(4.0)
    assert [clock.time(now) for now in (10.0, 11.0, 50.0)] == [0.0, 0.0, 0.0]
    clock.play(50.0)
    assert clock.playing
    assert [clock.time(now) for now in (50.5, 52.0)] == [0.5, 2.0]
    clock.pause(52.5)
    assert [clock.time(now) for now in (52.5, 60.0)] == [2.5, 2.5]
    assert not clock.playing


@pytest.mark.parametrize("speed", [0.01, 0.5, 1.0, 10.0, -0.01, -10.0])
def test_speed_is_seconds_of_the_motion_in_a_second(speed):
    clock = Playback(100.0, speed=speed)
    clock.seek(50.0, 0.0)
    clock.play(0.0)
    assert clock.time(4.0) == 50.0 + 4.0 * speed


def test_it_stops_at_the_end_and_begins_again_when_played():
    clock = Playback(2.0)
    clock.play(0.0)
    assert (clock.time(2.0), clock.playing) == (2.0, False)
    assert clock.time(9.0) == 2.0
    clock.play(9.0)
    assert (clock.time(9.0), clock.time(9.5), clock.playing) == (0.0, 0.5, True)


def test_backwards_it_stops_at_the_beginning_and_begins_again_at_the_end():
    clock = Playback(2.0, speed=-1.0)
    clock.play(0.0)
    assert (clock.time(0.0), clock.time(0.5)) == (2.0, 1.5)
    assert (clock.time(2.5), clock.playing) == (0.0, False)
    clock.play(3.0)
    assert clock.time(3.25) == 1.75


def test_repeating_goes_round_both_ways():
    clock = Playback(2.0, repeat=True)
    clock.play(0.0)
    assert [clock.time(now) for now in (1.5, 2.0, 2.5, 9.0)] == [1.5, 0.0, 0.5, 1.0]
    clock.speed = -1.0
    assert [clock.time(now) for now in (9.5, 10.5)] == [0.5, 1.5]
    clock.repeat = False
    assert (clock.time(20.0), clock.playing) == (0.0, False)


def test_seeking_while_it_plays_goes_on_from_there():
    clock = Playback(10.0)
    clock.play(0.0)
    clock.seek(7.0, 1.0)
    assert clock.playing
    assert clock.time(2.0) == 8.0
    clock.seek(-3.0, 2.0)
    assert clock.time(2.0) == 0.0
    clock.seek(99.0, 2.0)
    assert clock.time(2.0) == 10.0
    clock.seek(4.0, 3.0)  # it had come to its end at 2.0, and stands
    assert (clock.time(5.0), clock.playing) == (4.0, False)


def test_another_speed_counts_from_the_last_time_told():
    clock = Playback(10.0)
    clock.play(0.0)
    assert clock.time(2.0) == 2.0
    clock.speed = 0.5
    assert clock.time(4.0) == 3.0


def test_a_clock_that_goes_back_stands_still_meanwhile():
    clock = Playback(10.0)
    clock.play(5.0)
    assert [clock.time(now) for now in (6.0, 5.5, 6.0, 7.0)] == [1.0, 1.0, 1.0, 2.0]


def test_a_motion_of_one_instant_does_not_play():
    clock = Playback(0.0, repeat=True)
    clock.play(0.0)
    assert (clock.time(3.0), clock.playing) == (0.0, False)


@given(
    st.lists(
        st.tuples(st.sampled_from(["time", "play", "pause", "seek", "speed", "repeat"]), st.floats(0.1, 10.0)), max_size=12
    )
)
@settings(max_examples=60, deadline=None)
def test_it_never_leaves_the_motion_and_is_the_same_every_time(steps):
    def run():
        clock, now, seen = Playback(3.0), 0.0, []
        for what, value in steps:
            now += value
            if what == "speed":
                clock.speed = -value
            elif what == "repeat":
                clock.repeat = not clock.repeat
            elif what == "seek":
                clock.seek(value - 2.0, now)
            else:
                getattr(clock, what)(now)
            seen.append((clock.time(now), clock.playing))
        return seen

    seen = run()
    assert seen == run()
    assert all(0.0 <= time <= 3.0 for time, _ in seen)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Playback(-1.0), "duration is -1.0"),
        (lambda: Playback(float("inf")), "duration is inf"),
        (lambda: Playback(True), "duration is True"),
        (lambda: Playback(1.0, speed=0.0), "speed is 0.0; expected 0.01 to 10"),
        (lambda: Playback(1.0, speed=11.0), "speed is 11.0"),
        (lambda: Playback(1.0).time(float("nan")), "now is nan"),
        (lambda: Playback(1.0).seek("x", 0.0), "time is 'x'"),
    ],
)
def test_what_is_no_time_is_refused(make, said):
    with pytest.raises(ArgumentError, match=said):
        make()


def test_it_says_how_it_stands():
    assert repr(Playback(2.0)) == "<Playback: standing at 0 of 2 s, speed 1>"
