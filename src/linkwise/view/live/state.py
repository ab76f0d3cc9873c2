"""State of a chain for the live view: pose, targets, active limits, and the history of every port."""

from __future__ import annotations

import numpy as np

from linkwise.control.constraints import angles_rotation
from linkwise.control.ports import Ports
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.motion_buffer import SECONDS
from linkwise.view.live.settings import LiveSettings, Target

#: Relative distance from a velocity limit within which it counts as reached.
NEAR = 1e-6


class LiveState:
    """State of a chain by its newest values.

    Parameters
    ----------
    settings : LiveSettings
        Settings of the chain.
    ports : Ports
        Its ports, with the newest values.
    """

    def __init__(self, settings: LiveSettings, ports: Ports) -> None:
        self._settings, self.ports = settings, ports
        self._solved = np.concatenate([_places(ports, name) for name in settings.solved])

    @property
    def q(self) -> FloatArray:
        """The solved values of all joints (nq,)."""
        return np.asarray(self.ports.values[self._solved])

    @property
    def start(self) -> FloatArray:
        """The pose (4, 4) of the chain's start in the world."""
        return self._pose("start")

    def target(self, target: Target) -> FloatArray:
        """Pose (4, 4) of a target in the world; parts that it does not prescribe are those of the constrained end."""
        pose = np.eye(4)
        if target.position:
            pose[:3, 3] = self.ports.read(f"{target.name}.position")
        else:
            pose[:3, 3] = self.ports.read(f"{target.link}.world_position")
        if target.angles:
            pose[:3, :3] = angles_rotation(self.ports.read(f"{target.name}.angles"), self._settings.angles)
        return pose

    def reached(self, target: Target) -> bool:
        """True if a target is reached, or its constraint is switched off."""
        if not self.ports.read(f"{target.name}.enabled"):
            return True
        errors = [f"{target.name}.{word}" for word in ("distance", "angle") if f"{target.name}.{word}" in self.ports]
        precision = 10.0 * float(self.ports.read("chain.calculation_precision"))
        return all(float(self.ports.read(name)) <= precision for name in errors)

    def at_limits(self) -> list[str]:
        """Links whose joints are at a limit."""
        names = (link for link, _, _ in self._settings.joints)
        return [link for link in dict.fromkeys(names) if self._reached(f"{link}.limits.reached")]

    def held_back(self) -> bool:
        """True if clearance limits the chain."""
        keeping = self._settings.keeping
        return keeping is not None and bool(self.ports.read(f"{keeping.name}.limited"))

    def _reached(self, name: str) -> bool:
        return name in self.ports and bool(self.ports.read(name))

    def at_speeds(self) -> list[tuple[str, float, str]]:
        """The joints and ends that are as fast as they may be: each with its speed and the unit."""
        fast = []
        ends = [(end, f"{end}.calculated_velocity.predicted", f"{end}.max_speed") for end in self._settings.ends]
        for name, velocity, greatest in (*self._settings.joints, *ends):
            speed, most = float(np.linalg.norm(self.ports.read(velocity))), float(self.ports.read(greatest))
            if np.isfinite(most) and speed >= most * (1.0 - NEAR) and speed > 0.0:
                fast.append((name, speed, self.ports[greatest].unit))
        return fast

    def _pose(self, name: str) -> FloatArray:
        pose = np.eye(4)
        pose[:3, :3] = angles_rotation(self.ports.read(f"{name}.angles"), self._settings.angles)
        pose[:3, 3] = self.ports.read(f"{name}.position")
        return pose


class Past:
    """The values of all ports of the last seconds.

    Parameters
    ----------
    size : int
        Number of values.
    rate : float
        How often a second they are added.

    Examples
    --------
    >>> past = Past(2, rate=1.0)
    >>> for k in range(30):
    ...     past.add(float(k), np.array([k, -k]))
    >>> t, columns = past.series(np.array([1]))
    >>> len(t), float(t[-1]), columns[-1].tolist()
    (10, 29.0, [-29.0])
    """

    def __init__(self, size: int, rate: float) -> None:
        rows = max(2, round(SECONDS * rate))
        self._t, self._values = np.full(rows, np.nan), np.zeros((rows, size))
        self._count = 0

    def add(self, t: float, values: FloatArray) -> None:
        """Add values (N,) at a time, s."""
        row = self._count % len(self._t)
        self._t[row], self._values[row] = t, values
        self._count += 1

    def series(self, places: FloatArray, most: int = 300) -> tuple[FloatArray, FloatArray]:
        """The times (m,) and the values (m, k) at places among all values, the oldest first."""
        first = max(self._count - len(self._t), 0)
        rows = np.arange(first, self._count) % len(self._t)
        rows = rows[:: -(-len(rows) // most)] if len(rows) else rows
        return self._t[rows], self._values[np.ix_(rows, np.asarray(places, dtype=np.intp))]


def _places(ports: Ports, name: str) -> FloatArray:
    place = ports.slice_of(name)
    return np.arange(place.start, place.stop)
