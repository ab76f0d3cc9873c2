"""The values of all joints of a chain at once, as arrays over the vector of its ports."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from linkwise.control.cycle.layout import Layout
from linkwise.control.ports import Ports
from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import unmasked


class JointValues:
    """Views (n,) of what the ports of a chain hold for its joints, in the order of the coordinates.

    Parameters
    ----------
    layout : Layout
        Of the chain.

    Attributes
    ----------
    solved, predicted, speeds : ndarray (n,)
        The solved values, the predicted ones and the calculated speeds: as they stand in the ports, changed by each cycle.
    """

    def __init__(self, layout: Layout) -> None:
        self._inputs = tuple(f"{link}.{letter}" for link, letter in layout.joints)
        self._rates = tuple(f"{name}_speed" for name in self._inputs)
        self._routed = frozenset((*self._inputs, *self._rates))
        self.solved = _view(layout.ports, [f"{name}_solved" for name in self._inputs])
        self.predicted = _view(layout.ports, [f"{link}.predicted_{letter}" for link, letter in layout.joints])
        self.speeds = _view(layout.ports, [f"{link}.calculated_{letter}_speed" for link, letter in layout.joints])
        self._at = _view(layout.ports, self._inputs)
        self._rate_places = [layout.ports.slice_of(name).start for name in self._rates]

    def feed(self, ports: Ports, q: npt.ArrayLike, qd: npt.ArrayLike | None) -> None:
        """Write the joint values (n,), and speeds (n,) if any; no route leads to them any more."""
        at = self._numbers("q", q)
        rates = None if qd is None else self._numbers("qd", qd)
        if not self._routed.isdisjoint(routed := ports.routed):
            for name in (*self._inputs, *(self._rates if rates is not None else ())):
                if name in routed:
                    ports.unroute(name)
        self._at[:] = at
        if rates is not None:
            ports.values[self._rate_places] = rates

    def _numbers(self, field: str, value: npt.ArrayLike) -> FloatArray:
        """One number for each joint; any, for the cycle tells of what is none."""
        n = len(self._inputs)
        try:
            made = np.asarray(unmasked(field, value), dtype=np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(f"{field} is {shown(value)}; expected {n} numbers, one for each joint") from None
        if made.shape != (n,):
            raise ArgumentError(f"{field} has the shape {made.shape}; expected ({n},), a number for each joint")
        return made


def _view(ports: Ports, names: Sequence[str]) -> FloatArray:
    """The numbers of ports that lie side by side."""
    places = [ports.slice_of(name) for name in names]
    assert all(one.stop == other.start for one, other in pairwise(places))
    return ports.values[places[0].start : places[-1].stop]
