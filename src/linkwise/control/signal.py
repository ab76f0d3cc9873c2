"""Description of a port's numbers, shared by recordings, saved states, and their files."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.control.port import DIRECTIONS, KINDS, LARGEST_WHOLE, Port, element_names
from linkwise.errors import ArgumentError, members, shown
from linkwise.files.report import some
from linkwise.spatial.scalar import FloatArray


class Channel(NamedTuple):
    """Properties of a port on which the meaning of its numbers depends.

    Attributes
    ----------
    name, kind, shape, unit, choices
        As of the `Port`.
    direction : {"in", "out", ""}
        As of the port; empty where it is not known, as in a .csv file.
    """

    name: str
    kind: str = "float"
    shape: tuple[int, ...] = ()
    unit: str = "1"
    choices: tuple[str, ...] = ()
    direction: str = ""

    @classmethod
    def of(cls, port: Port) -> Channel:
        """The channel of a port."""
        return cls(port.name, port.kind, port.shape, port.unit, port.choices, port.direction)

    @property
    def size(self) -> int:
        """Number of elements of a value."""
        return math.prod(self.shape)

    @property
    def elements(self) -> tuple[str, ...]:
        """The name of each number."""
        return element_names(self.name, self.shape)

    def admits(self, numbers: FloatArray) -> bool:
        """True if numbers of any shape are valid for this kind; bounds are ignored."""
        if self.kind == "float":
            return True
        most = {"int": LARGEST_WHOLE, "bool": 1.0, "choice": len(self.choices) - 1.0}[self.kind]
        least = -most if self.kind == "int" else 0.0
        return bool(((numbers >= least) & (numbers <= most) & (np.floor(numbers) == numbers)).all())

    def codes(self, numbers: FloatArray) -> npt.NDArray[np.int64]:
        """The numbers of an int, a bool or a choice as whole ones.

        Raises
        ------
        ArgumentError
            Where one is no value of this kind.
        """
        if not self.admits(numbers):
            raise ArgumentError(f"{self.name!r} contains a value that is not of kind {self.kind!r}")
        return numbers.astype(np.int64)

    def decode(self, numbers: FloatArray) -> npt.NDArray[Any]:
        """A history (T, size) as an array (T, ...) of floats, ints, bools or words."""
        values = numbers.reshape(len(numbers), *self.shape)
        if self.kind == "float":
            return values.copy()
        if self.kind == "choice":
            return np.array(self.choices)[self.codes(values)]
        return self.codes(values) if self.kind == "int" else self.codes(values) != 0


def differences(ours: Sequence[Channel], theirs: Sequence[Channel], directions: bool = True) -> str:
    """Describe the differences of two sequences of channels; empty if they agree.

    Examples
    --------
    >>> differences([Channel("arm.theta", unit="rad"), Channel("arm.d", unit="m")], [Channel("arm.theta", unit="m")])
    "it lacks 'arm.d'; 'arm.theta' has the unit 'm' there and 'rad' here"
    """
    left, right = ({channel.name: channel for channel in side} for side in (ours, theirs))
    messages = []
    if missing := [name for name in left if name not in right]:
        messages.append(f"it lacks {some(missing, 6, members)}")
    if further := [name for name in right if name not in left]:
        messages.append(f"there is no {some(further, 6, members)} here")
    for name in left:
        for field in Channel._fields if directions else Channel._fields[:-1]:
            if name in right and (here := getattr(left[name], field)) != (there := getattr(right[name], field)):
                messages.append(f"{name!r} has the {field} {shown(there)} there and {shown(here)} here")
    if not messages and list(left) != list(right):
        messages.append("the ports stand in another order")
    return "; ".join(messages[:6])


def to_json(channels: Iterable[Channel]) -> str:
    """Channels as text, for a file."""
    return json.dumps(list(channels), ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> tuple[Channel, ...]:
    """Parse channels.

    Raises
    ------
    ValueError
        Where it says something else.
    """
    try:
        rows = json.loads(text)
    except RecursionError as error:
        raise ValueError("lists nested too deeply") from error
    return tuple(_channel(row) for row in _listed(rows))


def digest(channels: Iterable[Channel]) -> str:
    """A number in hexadecimal digits (SHA-256) that differs where channels do."""
    return hashlib.sha256(to_json(channels).encode("utf-8", "surrogatepass")).hexdigest()


def _channel(row: Any) -> Channel:
    fields = _listed(row)
    if len(fields) != len(Channel._fields):
        raise ValueError(f"a channel of {len(fields)} fields")
    name, kind, shape, unit, words, direction = fields
    texts = [name, kind, unit, direction, *_listed(words)]
    if not all(isinstance(text, str) for text in texts) or not all(type(size) is int for size in _listed(shape)):
        raise ValueError("a field of another type")
    channel = Channel(name, kind, tuple(shape), unit, tuple(words), direction)
    # a channel is valid if it is valid as a port
    port = Port(name, "in", channel.kind, channel.shape, unit, initial=None, finite=False, choices=channel.choices)  # type: ignore[arg-type]
    if direction not in (*DIRECTIONS, "") or kind not in KINDS:
        raise ValueError(f"direction {direction!r}")
    return channel._replace(unit=port.unit)


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("no list")
    return value
