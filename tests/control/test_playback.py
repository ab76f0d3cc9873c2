"""Recorded cycles run again: the same to the bit, or refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import control, robots
from linkwise.control.port import Port
from linkwise.control.recording import Recorder, Recording, replay
from linkwise.errors import ArgumentError
from support.feedback_chain import PORTS, AChain, run

INPUTS = ["arm.theta", "chain.mode", "chain.limit", "target.*", "wind.speed"]


def recorded(cycles: int = 40, length: int = 100, **options: Any) -> tuple[AChain, Recorder]:
    chain = AChain()
    run(chain, 7, seed=1)  # it does not begin at the beginning
    recorder = chain.record(length, **options)
    run(chain, cycles)
    return chain, recorder


def test_a_replay_is_the_same_to_the_bit() -> None:
    chain, recorder = recorded()
    made = recorder.recording()
    again = replay(chain, recorder)
    assert len(again) == 40
    assert again.differing(made) == {}
    assert np.array_equal(again.values.view(np.uint64), made.values.view(np.uint64))
    for name in ("times", "periods", "cycles"):
        assert np.array_equal(getattr(again, name), getattr(made, name))
    assert not recorder.paused
    assert recorder.recording().differing(made) == {}  # replaying was not recorded
    assert replay(chain, again).differing(made) == {}  # a replay can be replayed


def test_a_replay_in_another_process(tmp_path: Path) -> None:
    """By way of files, on a chain made alike; a .csv needs the state from elsewhere."""
    chain = AChain()
    run(chain, 7, seed=1)
    start = chain.save()
    recorder = chain.record(100)
    run(chain, 40)
    for suffix, state in ((".npz", None), (".csv", start)):
        recorder.write(tmp_path / f"a{suffix}")
        again = replay(AChain(), Recording.load(tmp_path / f"a{suffix}"), from_state=state)
        assert again.differing(recorder.recording()) == {}
    assert replay(AChain(), Recording.load(tmp_path / "a.csv")).differing(recorder.recording())  # from elsewhere it differs


def test_inputs_alone_bring_all_outputs_back() -> None:
    whole, part = AChain(), AChain()
    everything, inputs = whole.record(40), part.record(40, INPUTS)
    run(whole, 40)
    run(part, 40)
    again = replay(part, inputs)
    assert again.names == tuple(part.ports)
    assert again.differing(everything.recording()) == {}


def test_routed_inputs_need_not_be_recorded() -> None:
    whole, part = AChain(), AChain()
    everything, inputs = whole.record(40), part.record(40, INPUTS[1:])
    run(whole, 40)
    run(part, 40)
    assert replay(part, inputs).differing(everything.recording()) == {}


def test_routes_that_came_and_went() -> None:
    """A recorded input is given what it was, whoever gave it."""
    chain, recorder = recorded(10)
    chain.ports.unroute("arm.theta")
    chain.ports.write("arm.theta", 0.5)
    run(chain, 10, seed=8)
    again = replay(chain, recorder)
    assert again.differing(recorder.recording()) == {}
    assert chain.ports.routes == {"arm.theta": "arm.theta_solved"}  # those of the state that the replay began with


def test_a_chain_that_is_otherwise_is_told() -> None:
    chain, recorder = recorded()
    made = recorder.recording()
    bent = made.values.copy()
    bent[20, made.columns("target.position")] += 1e-9
    differing = replay(chain, replace(made, values=bent)).differing(made)
    assert differing["target.position"] == 20
    assert differing["arm.theta_solved"] in range(20, 24)  # where it is enabled
    assert min(differing.values()) == 20


def test_from_a_state_after_the_first_were_lost(tmp_path: Path) -> None:
    """A .csv has no state."""
    chain = AChain()
    recorder = chain.record(15)
    run(chain, 10)
    middle = chain.save()
    run(chain, 15, seed=9)
    assert recorder.lost == 10
    recorder.write(tmp_path / "a.csv")
    read = Recording.load(tmp_path / "a.csv")
    with pytest.raises(ArgumentError, match=r"replay.*10.*from_state"):
        replay(chain, read)
    assert replay(chain, read, from_state=middle).differing(recorder.recording()) == {}


@pytest.mark.parametrize("names", [None, INPUTS, ["*.*_solved", *INPUTS], INPUTS[1:]])
@pytest.mark.parametrize("cycles", [14, 15, 16, 17, 31, 40])
def test_the_state_at_the_windows_start_is_kept(tmp_path: Path, names: Any, cycles: int) -> None:
    """However much was overwritten: the state is the one that the first kept cycle began with, in a file too."""
    chain, states = AChain(), []
    run(chain, 7, seed=1)
    recorder = chain.record(15, names)
    for k in range(cycles):
        states.append(chain.save())
        run(chain, 1, seed=k)
    end = chain.save()
    made = recorder.recording()
    recorder.write(tmp_path / "a.npz")
    first = states[max(cycles - 15, 0)]
    assert made.start is not None
    assert made.start.carry.tobytes() == first.carry.tobytes()
    assert (made.start.routes, made.start.settings) == (first.routes, first.settings)
    again = replay(chain, made)
    assert (len(again), again.differing(made)) == (min(cycles, 15), {})
    assert chain.save() == end
    assert replay(AChain(), Recording.load(tmp_path / "a.npz")).differing(made) == {}


@pytest.mark.parametrize("changed", [4, 24, 25, 26])
def test_routes_that_changed_are_those_at_the_windows_start(changed: int) -> None:
    """Window from cycle 25 on: the route to an input that was not recorded ended before it, or in it."""
    chain = AChain()
    chain.ports.route("arm.theta_solved", "arm.theta")
    recorder = chain.record(15)
    for k in range(40):
        if k == changed:
            chain.ports.unroute("arm.theta")
        run(chain, 1, seed=k)
    made = recorder.recording()
    assert made.start is not None
    assert made.start.routes == ({} if changed <= 25 else {"arm.theta": "arm.theta_solved"})
    assert replay(chain, made).differing(made) == {}


def paused_between(before: int, between: int, after: int, length: int) -> tuple[AChain, Recorder]:
    chain = AChain()
    recorder = chain.record(length)
    run(chain, before)
    recorder.paused = True
    run(chain, between, seed=4)
    recorder.paused = False
    run(chain, after, seed=5)
    return chain, recorder


@pytest.mark.parametrize(("after", "length"), [(7, 10), (1, 10), (9, 10), (10, 100)])
def test_a_pause_in_the_window_is_refused(tmp_path: Path, after: int, length: int) -> None:
    """Cycles 8 to 12 are left out, with rows overwritten before them or none; said of a file too."""
    chain, recorder = paused_between(8, 5, after, length)
    stood = chain.save()
    made = recorder.recording()
    assert made.cycles.tolist() == [*range(8), *range(13, 13 + after)][-length:]
    for suffix in (".csv", ".npz"):
        recorder.write(tmp_path / f"a{suffix}")
        for recording in (recorder, Recording.load(tmp_path / f"a{suffix}")):
            with pytest.raises(ArgumentError, match=r"replay.*8.*13"):
                replay(chain, recording, from_state=stood)
    assert chain.save() == stood


@pytest.mark.parametrize(("before", "length"), [(8, 10), (0, 10), (0, 100)])
def test_a_pause_just_before_the_window_leaves_no_state(before: int, length: int) -> None:
    """The row before the window, or the state at the beginning, does not lead to it; one cycle later the row does."""
    chain, recorder = paused_between(before, 5, 10, length)
    made = recorder.recording()
    assert (made.start, made.lost) == (None, before + 5)
    with pytest.raises(ArgumentError, match=f"replay: the first {before + 5} cycles"):
        replay(chain, recorder)
    if length == 10:
        run(chain, 1, seed=6)
        made = recorder.recording()
        assert made.start is not None
        assert replay(chain, made).differing(made) == {}


def test_a_state_restored_in_a_pause_is_a_gap() -> None:
    """No cycle went by, but the rows after it do not follow those before it."""
    arm = control.Chain(robots.planar_2r())
    begun = arm.save()
    recorder = arm.record(100)
    for _ in range(3):
        arm.step(0.01)
    recorder.paused = True
    arm.restore(begun)
    recorder.paused = False
    arm.step(0.01)
    with pytest.raises(ArgumentError, match=r"replay: cycle 3 was not recorded"):
        replay(arm, recorder)


def test_what_cannot_be_replayed_takes_no_memory_for_it() -> None:
    for options in ({"names": "arm.*"}, {"every": 2}):
        chain, recorder = recorded(40, 15, **options)
        assert recorder.recording().start is None
        assert chain.recorder is recorder


def test_nothing_recorded_is_nothing_replayed() -> None:
    chain = AChain()
    recorder = chain.record(5)
    before = chain.save()
    assert len(replay(chain, recorder)) == 0
    assert chain.save() == before


def test_the_routes_come_back_when_a_cycle_fails() -> None:
    chain, recorder = recorded(5)

    def broken(dt: float) -> None:
        raise RuntimeError("broken")

    chain.step = broken  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="broken"):
        replay(chain, recorder)
    assert chain.ports.routes == {"arm.theta": "arm.theta_solved"}
    assert not recorder.paused


def without(name: str) -> tuple[Port, ...]:
    return tuple(port for port in PORTS if port.name != name)


@pytest.mark.parametrize(
    ("options", "ports", "message"),
    [
        (
            {"names": "arm.*"},
            PORTS,
            "the recording lacks the inputs 'chain.mode', 'chain.limit', 'target.position', 'target.en",
        ),
        (
            {"names": "target.*"},
            PORTS,
            "the recording lacks the inputs 'chain.mode', 'chain.limit' and 'wind.speed'; record them",
        ),
        ({"every": 2}, PORTS, "one cycle in 2 was recorded; expected every one"),
        ({}, without("wind.speed"), "the recording belongs to another chain: there is no 'wind.speed' here"),
        ({}, (*PORTS, Port("sea.level", "in")), "the recording lacks the inputs 'sea.level'; record them, or all ports"),
        (
            {},
            (*without("wind.speed"), Port("wind.speed", "in", unit="km/h", finite=False)),
            "the recording belongs to another chain: 'wind.speed' has the unit 'm/s' there and 'km/h' here",
        ),
    ],
)
def test_what_cannot_be_replayed(options: dict[str, Any], ports: tuple[Port, ...], message: str) -> None:
    recording = recorded(**options)[1].recording()
    chain = AChain(ports=ports)
    before = chain.save()
    with pytest.raises(ArgumentError) as caught:
        replay(chain, replace(recording, start=None))
    assert str(caught.value).startswith(f"replay: {message}")
    assert chain.save() == before


def test_what_is_no_recording() -> None:
    with pytest.raises(ArgumentError, match=r"replay.*recording.*3.*Recording"):
        replay(AChain(), 3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"replay: from_state is 3; expected a State"):
        replay(AChain(), recorded()[1], from_state=3)  # type: ignore[arg-type]
