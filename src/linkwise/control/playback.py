"""Running a chain again on what was recorded: the same inputs, the same steps, and every port it has then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from linkwise.control.ports import Ports
from linkwise.control.recording import Recording
from linkwise.control.ring_buffer import Recorder
from linkwise.control.signal import differences
from linkwise.control.state import State
from linkwise.errors import ArgumentError, members, shown
from linkwise.files.report import some


class Cyclic(Protocol):
    """What replaying needs of a chain."""

    @property
    def ports(self) -> Ports:
        """Its ports; ``step`` applies the routes, reads the inputs and writes the outputs."""

    def step(self, dt: float) -> Any:
        """One cycle of dt seconds."""

    def restore(self, state: State) -> Any:
        """Go on from a state."""


def replay(chain: Cyclic, recording: Recording | Recorder, *, from_state: State | None = None) -> Recording:
    """Run the recorded cycles again.

    Every recorded input is given what it was, whether it was written or routed; routed inputs that were not recorded are fed
    as ever. The chain is left where the last cycle leaves it, with its routes.

    Parameters
    ----------
    chain : Chain
        The chain that was recorded, or another one made alike.
    recording : Recording or Recorder
        Every cycle, with all inputs that are not routed. A recorder pauses meanwhile.
    from_state : State, optional
        What the chain goes on from. If left out, the state kept with the recording, or else the chain as it stands.

    Returns
    -------
    Recording
        All ports of the chain, cycle by cycle. ``recording.differing(...)`` of it tells what came out otherwise: nothing, to
        the bit, where the chain goes on from the same state.

    Raises
    ------
    ArgumentError
        Where the recording lacks an input, has a port that the chain has not or has otherwise, leaves out cycles, or
        lost its first ones and no state is given.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> arm = control.Chain(robots.planar_2r(), control.FixedPosition("hold", "tool", [1.0, 1.0, 0.0]), q0=[0.1, 1.4])
    >>> recorder = arm.record(100)
    >>> [arm.step(0.01) for _ in range(3)]
    [True, True, True]
    >>> recorder.recording().differing(replay(arm, recorder))
    {}
    """
    if isinstance(recording, Recorder):
        before, recording.paused = recording.paused, True
        try:
            return replay(chain, recording.recording(), from_state=from_state)
        finally:
            recording.paused = before
    if not isinstance(recording, Recording):
        raise ArgumentError(f"replay: recording is {shown(recording)}; expected a Recording or a Recorder")
    if from_state is not None and not isinstance(from_state, State):
        raise ArgumentError(f"replay: from_state is {shown(from_state)}; expected a State, as save() gives it")
    state = from_state if from_state is not None else recording.start
    _check(chain.ports, recording, state)
    if state is not None:
        chain.restore(state)
    return _run(chain, recording, state)


def _run(chain: Cyclic, recording: Recording, state: State | None) -> Recording:
    ports = chain.ports
    fed = [(ports.slice_of(name), recording.columns(name)) for name in recording.names if ports[name].direction == "in"]
    history = Recorder(ports, max(1, len(recording)))
    routes = ports.routes
    ports.reroute({target: source for target, source in routes.items() if target not in recording.names})
    try:
        for k, (time, dt) in enumerate(zip(recording.times.tolist(), recording.periods.tolist(), strict=True)):
            for place, columns in fed:
                ports.values[place] = recording.values[k, columns]
            chain.step(dt)
            history.take(time, dt)
    finally:
        ports.reroute(routes)
    made = history.recording()
    return Recording(made.channels, made.times, made.periods, recording.cycles, made.values, state)


def _check(ports: Ports, recording: Recording, state: State | None) -> None:
    """Refuse what cannot come out the same."""
    ours = [channel for channel in ports.channels if channel.name in set(recording.names)]
    theirs = sorted(recording.channels, key=lambda channel: list(ports).index(channel.name) if channel.name in ports else -1)
    if told := differences(ours, theirs, directions=False):
        raise ArgumentError(f"replay: the recording is of another chain: {told}")
    routes: Mapping[str, str] = ports.routes if state is None else state.routes
    inputs = [name for name, port in ports.items() if port.direction == "in"]
    if lacking := [name for name in inputs if name not in recording.names and name not in routes]:
        listed = some(lacking, 8, members)
        raise ArgumentError(f"replay: the recording lacks the inputs {listed}; record them, or all ports")
    if recording.every != 1:
        raise ArgumentError(f"replay: one cycle in {recording.every} was recorded; expected every one")
    if len(gaps := np.flatnonzero(np.diff(recording.cycles) != 1)):
        before, after = recording.cycles[gaps[0] : gaps[0] + 2].tolist()
        raise ArgumentError(f"replay: cycle {before + 1} was not recorded, the next one is {after}; expected no pause")
    if recording.lost and state is None:
        lost = f"replay: the first {recording.lost} cycles were overwritten or left out"
        raise ArgumentError(f"{lost}; expected from_state, what the chain went on from after them")
