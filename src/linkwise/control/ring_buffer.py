"""The bounded history of a running chain: a ring of rows, filled without allocating, the oldest overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from linkwise.control.ports import Ports
from linkwise.control.recording import Recording
from linkwise.control.state import State
from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray


class Recorder:
    """Keeps the last cycles of a chain.

    All memory is taken when it is made: `take` copies one row.

    Parameters
    ----------
    ports : Ports
        The chain's ports.
    length : int
        How many rows it keeps.
    names : str or sequence of str, optional
        Ports or patterns as of `Ports.find`; all if left out.
    every : int
        A row is taken each so many cycles, the first included.
    start : State, optional
        What the chain goes on from; kept with the recording, so that it can be replayed.
    carry : ndarray (M,), optional
        What the cycle keeps for itself, the array itself. Where `start` is given and each cycle is recorded with all inputs
        that are not routed, it is recorded too; the recording then can be replayed also after its first rows were
        overwritten.

    Attributes
    ----------
    paused : bool
        Whether `take` counts cycles without keeping them, as while the recording is replayed.

    Raises
    ------
    ArgumentError
        Where no port fits a name, or a number is not a whole number above 0.

    Examples
    --------
    >>> from linkwise.control.port import Port
    >>> ports = Ports([Port("arm.theta", "in", unit="rad")])
    >>> recorder = Recorder(ports, 2)
    >>> for k in range(3):
    ...     ports.write("arm.theta", 0.1 * k)
    ...     recorder.take(0.01 * k, 0.01)
    >>> recorder.read("arm.theta"), recorder.lost
    (array([0.1, 0.2]), 1)
    """

    def __init__(
        self,
        ports: Ports,
        length: int,
        names: str | Sequence[str] | None = None,
        *,
        every: int = 1,
        start: State | None = None,
        carry: FloatArray | None = None,
    ) -> None:
        length, self._every = _whole("length", length), _whole("every", every)
        chosen = tuple(ports) if names is None else ports.find(*([names] if isinstance(names, str) else names))
        if not chosen:
            raise ArgumentError(f"recorder: names is {shown(names)}; expected at least one port")
        self._channels = tuple(channel for channel in ports.channels if channel.name in set(chosen))
        places = np.concatenate([np.arange(len(ports.values), dtype=np.intp)[ports.slice_of(name)] for name in chosen])
        self._ports, self._values, self._places = ports, ports.values, places
        self._part = ports.values[places[0] : places[-1] + 1] if (np.diff(places) == 1).all() else None
        self._length = length
        inputs = {name for name, port in ports.items() if port.direction == "in"}
        if start is None or self._every > 1 or not inputs <= {*chosen, *start.routes}:
            carry = None
        # one row more than is kept: what the chain went on from after it is what the oldest row kept began with;
        # filled, so that the operating system gives the memory now and not in a cycle
        rows = length + (carry is not None)
        self._rows = np.full((rows, len(places)), np.nan)
        self._times, self._periods = np.full(rows, np.nan), np.full(rows, np.nan)
        self._carry, self._carries = carry, None if carry is None else np.full((rows, len(carry)), np.nan)
        partial = carry is not None and len(places) < len(ports.values)
        self._wholes = np.full((rows, len(ports.values)), np.nan) if partial else None
        self._routes: list[tuple[int, Mapping[str, str]]] = []
        self._routing: object = None
        self.paused = False
        self._at = self._taken = self._wait = 0
        self._skipped = [(0, 0)]
        self._start = start

    def take(self, time: float, dt: float) -> None:
        """Keep the values of this cycle: its time and its step, s. While paused only count it."""
        if self.paused:
            self._skip()
            return
        if self._wait:
            self._wait -= 1
            return
        self._wait = self._every - 1
        at = self._at
        if self._part is None:
            self._values.take(self._places, 0, self._rows[at], "clip")
        else:
            self._rows[at] = self._part
        if self._carries is not None:
            self._carries[at] = self._carry
            if self._wholes is not None:
                self._wholes[at] = self._values
            if self._ports.routing is not self._routing:
                self._note_routes()
        self._times[at] = time
        self._periods[at] = dt
        self._at = at + 1 if at + 1 < len(self._rows) else 0
        self._taken += 1

    def clear(self, start: State | None = None) -> None:
        """Forget everything; the next cycle is number 0, and `start` what the chain goes on from."""
        self._at = self._taken = self._wait = 0
        self._skipped = [(0, 0)]
        self._routes.clear()
        self._routing = None
        self._start = start

    def __len__(self) -> int:
        return min(self._taken, self._length)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: the copy would record a chain that nobody moves."""
        raise TypeError("a recorder belongs to one chain; copy its recording()")

    def __bool__(self) -> bool:
        """True: there is a recorder, whether it holds something or not."""
        return True

    def __repr__(self) -> str:
        ports = f"{len(self._channels)} port{'s' * (len(self._channels) != 1)}"
        return f"<Recorder: {len(self)} of {self._length} rows of {ports}, {self.lost} rows lost>"

    @property
    def names(self) -> tuple[str, ...]:
        """The ports recorded, in the order of the chain's values."""
        return tuple(channel.name for channel in self._channels)

    @property
    def lost(self) -> int:
        """How many rows were overwritten."""
        return self._taken - len(self)

    @property
    def times(self) -> FloatArray:
        """The time of each row, s, oldest first."""
        return self._times[self._order()]

    @property
    def periods(self) -> FloatArray:
        """The step dt of each row's cycle, s, oldest first."""
        return self._periods[self._order()]

    def read(self, name: str) -> npt.NDArray[Any]:
        """The history of a port, oldest first; see `Recording.read`."""
        return self.recording().read(name)

    def recording(self) -> Recording:
        """What is kept now, copied."""
        order = self._order()
        cycles = self._cycles(self.lost, self._taken)
        return Recording(self._channels, self._times[order], self._periods[order], cycles, self._rows[order], self._began())

    def write(self, path: str | Path) -> None:
        """Write what is kept as .csv or .npz; see `Recording.write`."""
        self.recording().write(path)

    @staticmethod
    def load(path: str | Path, *, max_bytes: int | None = None) -> Recording:
        """Read a file that was written; see `Recording.load`."""
        return Recording.load(path, max_bytes=max_bytes)

    def _note_routes(self) -> None:
        """Note which routes there are from this row on, and forget those that no row is left of."""
        self._routing = self._ports.routing
        self._routes.append((self._taken, self._ports.routes))
        while len(self._routes) > 1 and self._routes[1][0] <= self._taken - self._length:
            del self._routes[0]

    def _skip(self) -> None:
        """Note that one more cycle is left out before the next row, and forget what is before all rows kept."""
        since, cycles = self._skipped[-1]
        if since == self._taken:
            self._skipped[-1] = (since, cycles + 1)
            return
        self._skipped.append((self._taken, cycles + 1))
        while self._skipped[1][0] < self._taken - self._length:
            del self._skipped[0]

    def _cycles(self, first: int, end: int) -> npt.NDArray[np.int64]:
        """The numbers of the cycles of rows from the first to before the end, those left out counted too."""
        rows = np.arange(first, end, dtype=np.int64)
        since, cycles = np.array(self._skipped, dtype=np.int64).T
        return np.asarray(rows * self._every + cycles[np.searchsorted(since, rows, side="right") - 1])

    def _began(self) -> State | None:
        """What the chain went on from in the oldest row that is kept; None where the cycle before it was left out."""
        if not self.lost:
            return self._start if self._cycles(0, 1)[0] == 0 else None
        if self._carries is None or self._start is None:
            return None
        if np.diff(self._cycles(self.lost - 1, self.lost + 1))[0] != 1:
            return None
        before = (self._at - self._length - 1) % len(self._rows)
        values = (self._rows if self._wholes is None else self._wholes)[before]
        routes = [routes for since, routes in self._routes if since <= self.lost][-1]
        return State(self._start.channels, values, self._carries[before], routes, self._start.settings)

    def _order(self) -> npt.NDArray[np.intp]:
        """The rows, oldest first."""
        return (np.arange(len(self), dtype=np.intp) + self._at - len(self)) % len(self._rows)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ArgumentError(f"recorder: {name} is {shown(value)}; expected a whole number above 0")
    return int(value)
