"""Watched conditions in the outputs of a chain: unsolved cycles, active limits, faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from linkwise.control.ports import Ports

Topic: TypeAlias = Literal["unsolved", "limit", "fault"]


@dataclass(frozen=True)
class WatchedValue:
    """A value of an output that is an event.

    Attributes
    ----------
    port : str
        The output.
    value : float
        What it is watched for, as it stands among the values.
    topic : {"unsolved", "limit", "fault"}
        What it is then.
    severity : int
        Of the event, 1 to 1000 (OPC 10000-5, 6.4.2).
    begins, ends : str
        Its description.
    """

    port: str
    value: float
    topic: Topic
    severity: int
    begins: str
    ends: str


#: Watched conditions by the suffix of the output's name, after a dot; the first match counts. A word is one of the port's
#: choices, and ``{}`` the name's prefix.
_WATCHED: tuple[tuple[str, float | str, Topic, int, str, str], ...] = (
    (".chain.unsolved", 1.0, "unsolved", 600, "constraints do not hold", "all constraints hold again"),
    (".chain.reason", "input", "fault", 800, "an input is not a finite number", "all inputs are numbers again"),
    (".chain.limited", 1.0, "limit", 200, "a limit of speed or acceleration binds", "no limit of speed binds any more"),
    (".chain.kept", 0.0, "fault", 700, "a limit could not be kept", "all limits are kept again"),
    (".limited", 1.0, "limit", 500, "contact is near: the chain is held back", "no contact is near any more"),
    (".limits.reached", 1.0, "limit", 300, "{} is at a limit", "{} is off its limit"),
)


def watches_of(ports: Ports) -> tuple[WatchedValue, ...]:
    """Watched conditions of a chain's outputs.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> arm = control.Chain(robots.planar_2r())
    >>> [(watch.port, watch.topic) for watch in watches_of(arm.ports)][:3]
    [('chain.unsolved', 'unsolved'), ('chain.reason', 'fault'), ('chain.limited', 'limit')]
    """
    watched = []
    for name, port in ports.items():
        for ending, value, topic, severity, begins, ends in _WATCHED if port.direction == "out" else ():
            code = float(port.choices.index(value)) if value in port.choices else value
            if f".{name}".endswith(ending) and not isinstance(code, str):
                entity = name.removesuffix(ending)
                watched.append(WatchedValue(name, code, topic, severity, begins.format(entity), ends.format(entity)))
                break
    return tuple(watched)


@dataclass(frozen=True)
class Occurrence:
    """Begin or end of a watched condition.

    Attributes
    ----------
    watch : WatchedValue
        What is watched for.
    begins : bool
        Whether it begins.
    cycles : int
        In how many cycles it was so, at an end.
    """

    watch: WatchedValue
    begins: bool
    cycles: int = 0


class WatchReader:
    """Detects begins and ends from the counts of cycles and the newest values, also of conditions of a single cycle.

    Parameters
    ----------
    watches : sequence of WatchedValue
        What is watched for.
    places : sequence of int
        Where each stands among the values.

    Examples
    --------
    >>> watch = WatchedValue("chain.unsolved", 1.0, "unsolved", 600, "begins", "ends")
    >>> reader = WatchReader([watch], [0])
    >>> [(seen.begins, seen.cycles) for seen in reader.read(np.array([3]), np.array([0.0]))]
    [(True, 0), (False, 3)]
    """

    def __init__(self, watches: tuple[WatchedValue, ...] | list[WatchedValue], places: list[int]) -> None:
        self._watches, self._places = watches, np.array(places, dtype=np.intp)
        self._wanted = np.array([watch.value for watch in watches])
        self._counts = self._begun = np.zeros(len(watches), dtype=np.int64)
        self.active = np.zeros(len(watches), dtype=bool)

    def read(self, counts: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> list[Occurrence]:
        """Return begins and ends since the last time, from counts (w,) that were read before the values."""
        more, now = counts > self._counts, values[self._places] == self._wanted
        begins = more & ~self.active
        ends = (self.active | begins) & ~now
        occurrences = []
        if begins.any() or ends.any():
            self._begun = np.where(begins, self._counts, self._begun)
            for k in np.flatnonzero(begins | ends).tolist():
                if begins[k]:
                    occurrences.append(Occurrence(self._watches[k], True))
                if ends[k]:
                    occurrences.append(Occurrence(self._watches[k], False, int(counts[k] - self._begun[k])))
            self.active = (self.active | begins) & ~ends
        self._counts = counts.copy()
        return occurrences
