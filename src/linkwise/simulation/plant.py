"""`Plant`: a mechanism and what acts on it beside its motors and gravity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.forward_dynamics import closed_motion
from linkwise.dynamics.external import Wrenches
from linkwise.dynamics.forward_dynamics import cheapest
from linkwise.kernel import Kernel
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray


@dataclass(frozen=True)
class Plant:
    """A mechanism under constant wrenches on its links, or under none.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    external : tuple of floats, or None
        Force (N) and moment (N m) of each wrench.
    wrenches : tuple, optional
        On which frames they act, and in which axes: see `linkwise.dynamics.external`; by default one on the tool.
    """

    tree: Tree
    external: tuple[float, ...] | None = None
    wrenches: Wrenches = None

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        """Return qdd (nv,) over scalars: the forward dynamics, the external wrench as constants in it.

        With loops, also at a stage of an integrator that stands a little beside the closed states.
        """
        if self.tree.loops:
            return closed_motion(self.tree, q, qd, tau, self.loads, self.wrenches, checked=False)[0]
        return cheapest(self.tree, q, qd, tau, self.loads, self.wrenches)

    def compiled_accelerations(self, q: FloatArray, qd: FloatArray, tau: FloatArray) -> FloatArray:
        """Return qdd (..., nv) at many states, by the kernel that the mechanism keeps."""
        if self.loads is None:
            return np.asarray(self.kernel("forward_dynamics")(q, qd, tau))
        return np.asarray(self.kernel("forward_dynamics_external", **self.options)(q, qd, tau, self.loads))

    def kernel(self, name: str, **options: Any) -> Kernel:
        """The compiled function of an algorithm."""
        return kernel_of(self.tree, name, None, options)

    @property
    def loads(self) -> FloatArray | None:
        """The values of the wrenches (6,) or (W, 6)."""
        if self.external is None:
            return None
        return np.reshape(self.external, (6,) if self.wrenches is None else (len(self.wrenches), 6))

    @property
    def options(self) -> dict[str, Any]:
        """Those of an algorithm that takes wrenches."""
        return {} if self.wrenches is None else {"wrenches": self.wrenches}
