"""Complete state of a chain as data: copied, compared, written to a file, and restored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from linkwise.control import signal as channels_of
from linkwise.control.ports import Ports
from linkwise.control.signal import Channel, differences
from linkwise.errors import ArgumentError, shown
from linkwise.files.npz import NUMBERS, TEXT, numbers, read_archive, texts, write_archive
from linkwise.files.text import refused
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import shaped

Setting: TypeAlias = str | int | float | bool

#: Members of a state's file, with their kinds.
ARRAYS = {"values": NUMBERS, "carry": NUMBERS, "channels": TEXT, "digest": TEXT, "routes": TEXT, "settings": TEXT}


@dataclass(frozen=True, eq=False)
class State:
    """Complete state of a chain.

    Two states are equal where all of it is, the numbers to the bit (NaN equals the same NaN).

    Attributes
    ----------
    channels : tuple of Channel
        Which numbers `values` are; a chain with others refuses the state.
    values : ndarray, shape (N,)
        The values of all ports, read-only.
    carry : ndarray, shape (M,)
        What the cycle keeps for itself, read-only.
    routes : mapping
        The routed inputs, each with the port that feeds it.
    settings : mapping
        What else makes the chain what it is; a chain with others refuses the state.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> arm = control.Chain(robots.planar_2r(), control.FixedPosition("hold", "tool", [1.0, 1.0, 0.0]), q0=[0.1, 1.4])
    >>> before = arm.save()
    >>> arm.step(0.01)
    True
    >>> arm.save() == before
    False
    >>> arm.restore(before)
    >>> arm.save() == before
    True
    """

    channels: tuple[Channel, ...]
    values: FloatArray
    carry: FloatArray
    routes: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("values", "carry"):
            values = shaped(f"state: {name}", getattr(self, name), ..., finite=False)
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        for name in ("routes", "settings"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for name, value in self.settings.items():
            if not isinstance(name, str) or not isinstance(value, (str, int, float, bool)):
                raise ArgumentError(f"state: setting {name!r} is {shown(value)}; expected a text, a number, True or False")
        width = sum(channel.size for channel in self.channels)
        if self.values.shape != (width,) or self.carry.ndim != 1:
            shapes = f"{self.values.shape} and {self.carry.shape}"
            raise ArgumentError(f"state: values and carry have the shapes {shapes}; expected ({width},) and one dimension")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        mine, its = (
            (s.channels, dict(s.routes), dict(s.settings), s.values.tobytes(), s.carry.tobytes()) for s in (self, other)
        )
        return mine == its

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<State: {len(self.channels)} ports, {len(self.values)} + {len(self.carry)} numbers,"
            f" {len(self.routes)} routed, table {self.digest[:12]}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.channels, self.values, self.carry, dict(self.routes), dict(self.settings))

    @property
    def digest(self) -> str:
        """A number in hexadecimal digits that is the same for the same ports."""
        return channels_of.digest(self.channels)

    def write(self, path: str | Path) -> None:
        """Write an .npz file atomically.

        Raises
        ------
        FileError
            Where the name has another ending, or the file cannot be written.
        """
        write_archive(path, "state", self.arrays())

    @classmethod
    def read(cls, path: str | Path) -> State:
        """Read the .npz file that `write` wrote.

        Raises
        ------
        FileError
            Where it cannot be read, or is no state.
        """
        return cls.from_arrays(path, read_archive(path, "state", tuple(ARRAYS), ARRAYS))

    def arrays(self) -> dict[str, Any]:
        """All contents as arrays and texts, for a file."""
        return {
            "values": self.values,
            "carry": self.carry,
            "channels": np.array(channels_of.to_json(self.channels)),
            "digest": np.array(self.digest),
            "routes": np.array(json.dumps(dict(self.routes), ensure_ascii=False)),
            "settings": np.array(json.dumps(dict(self.settings), ensure_ascii=False)),
        }

    @classmethod
    def from_arrays(cls, path: str | Path, held: Mapping[str, Any]) -> State:
        """The state that `arrays` gave; `path` is for the message."""
        channels = read_channels(path, held)
        if channels_of.digest(channels) != str(held["digest"]):
            raise refused(path, "the digest is not that of the ports in it: it is damaged")
        values, carry = (numbers(path, name, held, 1) for name in ("values", "carry"))
        routes, settings = (texts(path, name, held) for name in ("routes", "settings"))
        if not all(isinstance(source, str) for source in routes.values()):
            raise refused(path, "routes cannot be read")
        try:
            state = cls(channels, values, carry, routes, settings)
        except ArgumentError as error:
            raise refused(path, str(error)) from error
        check_kinds(path, channels, state.values[None])
        return state


def save(ports: Ports, carry: FloatArray, settings: Mapping[str, Setting] | None = None) -> State:
    """Copy the complete state of a chain.

    Parameters
    ----------
    ports : Ports
        The chain's ports.
    carry : ndarray, shape (M,)
        What its cycle keeps for itself.
    settings : mapping, optional
        What else makes it what it is.

    Examples
    --------
    >>> from linkwise.control.port import Port
    >>> ports, carry = Ports([Port("arm.theta", "in", unit="rad")]), np.zeros(2)
    >>> kept = save(ports, carry)
    >>> ports.write("arm.theta", 0.5)
    >>> save(ports, carry) == kept
    False
    >>> restore(ports, carry, kept)
    >>> ports.read("arm.theta"), save(ports, carry) == kept
    (0.0, True)
    """
    return State(ports.channels, ports.values, carry, ports.routes, settings or {})


def restore(ports: Ports, carry: FloatArray, state: State, settings: Mapping[str, Setting] | None = None) -> None:
    """Give a chain its state back, in place; nothing is changed where it is refused.

    Raises
    ------
    ArgumentError
        Where the state is of a chain with other ports, settings or cycle; says which.
    """
    if not isinstance(state, State):
        raise ArgumentError(f"state is {shown(state)}; expected a State, as save() gives it")
    if state.channels is not ports.channels and (difference := differences(ports.channels, state.channels)):
        raise ArgumentError(f"the state is of another chain: {difference}")
    for name in {**(settings or {}), **state.settings}:
        there, here = (held.get(name, "not set") for held in (state.settings, settings or {}))
        if (type(there), there) != (type(here), here):
            raise ArgumentError(f"the state is of another chain: {name} is {shown(there)} there and {shown(here)} here")
    if state.carry.shape != carry.shape:
        raise ArgumentError(
            f"the state belongs to another chain: its cycle has {state.carry.size} numbers, not {carry.size}"
        )
    ports.reroute(state.routes)
    ports.values[...] = state.values
    carry[...] = state.carry


def read_channels(path: str | Path, held: Mapping[str, Any]) -> tuple[Channel, ...]:
    """The channels in a file's arrays."""
    try:
        channels = channels_of.from_json(str(held["channels"]))
    except ValueError as error:
        raise refused(path, f"channels cannot be read: {error}") from error
    if len({channel.name for channel in channels}) < len(channels):
        raise refused(path, "channels cannot be read: one is repeated")
    return channels


def check_kinds(path: str | Path, channels: tuple[Channel, ...], table: FloatArray) -> None:
    """Reject a history (T, N) with invalid numbers, such as half a bool."""
    at = 0
    for channel in channels:
        if not channel.admits(table[:, at : at + channel.size]):
            raise refused(path, f"{channel.name!r} contains a value that is not of kind {channel.kind!r}")
        at += channel.size
