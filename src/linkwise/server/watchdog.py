"""A watchdog: velocities that clients stop writing are set to zero."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from linkwise.control.ports import Ports

#: Last words of the names of velocity inputs.
SPEEDS: tuple[str, ...] = (
    "velocity",
    "angular_velocity",
    "speed",
    "theta_speed",
    "d_speed",
    "joint_linear_velocity",
    "joint_angular_velocity",
)


class Watchdog:
    """Knows when each speed was last written, and lets none be older than it may.

    Parameters
    ----------
    ports : Ports
        The chain's; inputs that are speeds are looked after once a client has written them.
    after : float
        How old a speed may be, s.
    clock : callable
        The time, s.

    Attributes
    ----------
    stopped : int
        How often a speed was set to zero.

    Examples
    --------
    >>> from linkwise.control.port import Port
    >>> ports, now = Ports([Port("jog.velocity", "in", shape=(3,), unit="m/s")]), [0.0]
    >>> dog = Watchdog(ports, 0.5, clock=lambda: now[0])
    >>> ports.write("jog.velocity", [0.1, 0.0, 0.0])
    >>> dog.written("jog.velocity")
    >>> now[0] = 0.6
    >>> dog.look()
    >>> ports.read("jog.velocity").tolist(), dog.stopped
    ([0.0, 0.0, 0.0], 1)
    """

    def __init__(self, ports: Ports, after: float, clock: Callable[[], float] = time.monotonic) -> None:
        speeds = [name for name, port in ports.items() if port.direction == "in" and name.rpartition(".")[2] in SPEEDS]
        self._ports, self._after, self._clock = ports, after, clock
        self._speeds = frozenset(speeds)
        self._written: dict[str, float] = {}
        self.stopped = 0

    def written(self, name: str) -> None:
        """Note that a client has written an input."""
        if name in self._speeds:
            self._written[name] = self._clock()

    def restored(self) -> None:
        """Note that all inputs are again as they once were: speeds that clients wrote may be back."""
        self._written = dict.fromkeys(self._written, self._clock())

    def look(self) -> None:
        """Set inputs to zero that have not been written for too long, once until they are written again."""
        now = self._clock()
        for name, then in self._written.items():
            if now - then <= self._after:
                continue
            self._written[name] = math.inf
            if name not in self._ports.routes:
                moved = bool(self._ports.view(name).any())
                self._ports.view(name)[...] = 0.0
                self.stopped += moved
